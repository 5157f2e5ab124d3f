"""`python -m soundness`: see `--help`."""

from __future__ import annotations

import sys

from soundness.campaign import main

if __name__ == "__main__":
    sys.exit(main())
