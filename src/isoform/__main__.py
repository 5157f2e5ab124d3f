"""`isoform` and `python -m isoform` are the command line. Ctrl-C is no traceback, not even while it is being loaded."""

from __future__ import annotations

import sys


def main() -> None:
    try:
        from isoform.cli import main as run

        run()
    except KeyboardInterrupt:
        print("isoform: interrupted.", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
