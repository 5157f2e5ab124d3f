"""Where the time goes for every pair in `tests/pairs`: load, lift, test, encode, solve, total, in milliseconds.

    python bench/pairs.py [FOLDER-OR-PAIR...] [--repeat N]

A report, not a test: nothing here asserts a time.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import shlex
import statistics
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from isoform import api
from isoform.borders.settle import settle
from isoform.cli import app
from isoform.engines.answer import lifted, subject
from isoform.engines.ladder import Ladder
from isoform.model.budget import Budget
from isoform.model.errors import Unsupported

ROOT = Path(__file__).resolve().parent.parent / "tests" / "pairs"
COLUMNS = ("load", "lift", "test", "encode", "solve", "rest", "total")


@dataclass
class Row:
    name: str
    verdict: str
    milliseconds: dict[str, float] = field(default_factory=dict)


def read_pair(path: Path) -> dict[str, str]:
    lines = (line.split(":", 1) for line in path.read_text().splitlines() if ":" in line and not line.startswith("#"))
    return {key.strip(): value.strip() for key, value in lines}


def parse_options(path: Path, pair: dict[str, str]) -> dict[str, Any]:
    """What the command line would pass to the API for this pair."""
    seen: dict[str, Any] = {}

    def record(*arguments: Any) -> Any:
        seen["arguments"] = arguments
        raise Unsupported("only the options are wanted")

    real, api.compare = api.compare, record
    words = ["compare", str(path.parent / pair["a"]), str(path.parent / pair["b"])]
    try:
        with contextlib.redirect_stderr(io.StringIO()), contextlib.suppress(Unsupported, SystemExit):
            app([*words, *shlex.split(pair.get("options", ""))], standalone_mode=False)
    finally:
        api.compare = real
    return seen


def measure(path: Path) -> Row:
    pair = read_pair(path)
    a, b, options, load_a, load_b = parse_options(path, pair)["arguments"]
    spent: dict[str, float] = {}
    started = clock = time.perf_counter()

    def lap(name: str) -> None:
        nonlocal clock
        now = time.perf_counter()
        spent[name] = 1000 * (now - clock)
        clock = now

    loaded = api.open_pair(a, b, load_a, load_b)
    lap("load")
    word = "unknown"
    with contextlib.suppress(Unsupported):
        functions = [lifted(side) for side in loaded]
        lap("lift")
        ladder = Ladder(
            settle(functions[0], functions[1], options),
            (subject(loaded[0]), subject(loaded[1])),
            Budget(options.budget),
        )
        word = ladder.climb().word
        spent |= {name: 1000 * seconds for name, seconds in ladder.timings.items()}
    spent["total"] = 1000 * (time.perf_counter() - started)
    spent["rest"] = spent["total"] - sum(spent.get(name, 0.0) for name in COLUMNS[:5])
    return Row(str(path.relative_to(ROOT)) if ROOT in path.parents else path.name, word, spent)


def best_of(path: Path, repeat: int) -> Row:
    """The quickest of several runs: the first one also pays for imports."""
    return min((measure(path) for _ in range(repeat)), key=lambda row: row.milliseconds["total"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("places", nargs="*", type=Path, default=[ROOT])
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    paths = [p for place in arguments.places for p in (sorted(place.rglob("*.pair")) if place.is_dir() else [place])]
    print(f"{'pair':44} {'verdict':11}" + "".join(f"{name:>9}" for name in COLUMNS))
    rows = []
    for path in paths:
        row = best_of(path.resolve(), arguments.repeat)
        rows.append(row)
        times = "".join(f"{row.milliseconds.get(name, 0.0):9.1f}" for name in COLUMNS)
        print(f"{row.name[:44]:44} {row.verdict:11}{times}", flush=True)
    if rows:
        medians = "".join(f"{statistics.median(r.milliseconds.get(n, 0.0) for r in rows):9.1f}" for n in COLUMNS)
        print(f"{'median':44} {'':11}{medians}")


if __name__ == "__main__":
    main()
