"""`python -m hostile`: see `--help`."""

from __future__ import annotations

import sys

from hostile.campaign import main

if __name__ == "__main__":
    sys.exit(main())
