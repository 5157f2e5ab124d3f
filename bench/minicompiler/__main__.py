"""Write a folder of submissions for `isoform grade`: `PYTHONPATH=bench python -m minicompiler FOLDER`."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from minicompiler.submissions import make_submissions


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m minicompiler", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    made = make_submissions(arguments.folder, arguments.count, arguments.seed)
    kinds = Counter(submission.expected.value for submission in made.by_name.values())
    print(f"{made.reference} and {made.folder}: " + ", ".join(f"{kind} {n}" for kind, n in sorted(kinds.items())))


if __name__ == "__main__":
    main()
