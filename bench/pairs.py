"""Where the time goes for every pair in `tests/pairs`: load, lift, test, encode, solve, total, in milliseconds.

    python bench/pairs.py [FOLDER-OR-PAIR...] [--repeat N]

A report, not a test: nothing here asserts a time.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import statistics
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

from isoform import api
from isoform.cli.verbs import answered
from isoform.engines.answer import lifted, subject
from isoform.engines.ladder import Ladder
from isoform.engines.pose import pose
from isoform.lift.discovery import Discovery
from isoform.load.open import open_pair
from isoform.model.budget import Budget
from isoform.model.errors import Unsupported
from pairfile import PAIRS, Pair, read_all

COLUMNS = ("load", "lift", "test", "encode", "solve", "rest", "total")


@dataclass
class Row:
    name: str
    verdict: str
    milliseconds: dict[str, float] = field(default_factory=dict)


def arguments_of(pair: Pair) -> tuple[Any, ...]:
    """What the command line would pass to the API for this pair, its compilers included."""
    seen: list[tuple[Any, ...]] = []

    def record(*arguments: Any) -> Any:
        seen.append(arguments)
        raise Unsupported("only the options are wanted")

    with (
        patch.object(api, "compare", record),
        contextlib.redirect_stderr(io.StringIO()),
        contextlib.suppress(Unsupported, SystemExit),
    ):
        answered(pair.command())
    return seen[0]


def measure(pair: Pair) -> Row:
    a, b, options, load_a, load_b = arguments_of(pair)
    spent: dict[str, float] = {}
    started = clock = time.perf_counter()

    def lap(name: str) -> None:
        nonlocal clock
        now = time.perf_counter()
        spent[name] = 1000 * (now - clock)
        clock = now

    loaded = open_pair(a, b, load_a, load_b)
    lap("load")
    word = "unknown"
    budget = Budget(options.budget)

    def ask(discovery: Discovery) -> tuple[Ladder, str]:
        functions = [lifted(side, hints=discovery.hints(number)) for number, side in enumerate(loaded)]
        lap("lift")
        question = pose(functions[0], functions[1], options, budget, discovery)
        ladder = Ladder(question, (subject(loaded[0]), subject(loaded[1])), budget)
        return ladder, ladder.climb().word

    with contextlib.suppress(Unsupported):
        ladder, word = Discovery(budget).fixpoint(ask)
        spent |= {name: 1000 * seconds for name, seconds in ladder.timings.items()}
    spent["total"] = 1000 * (time.perf_counter() - started)
    spent["rest"] = spent["total"] - sum(spent.get(name, 0.0) for name in COLUMNS[:5])
    return Row(pair.name, word, spent)


def best_of(pair: Pair, repeat: int) -> Row:
    """The quickest of several runs: the first one also pays for imports."""
    return min((measure(pair) for _ in range(repeat)), key=lambda row: row.milliseconds["total"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("places", nargs="*", type=Path, default=[PAIRS])
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    print(f"{'pair':44} {'verdict':11}" + "".join(f"{name:>9}" for name in COLUMNS))
    rows = []
    for pair in read_all(arguments.places):
        if pair.missing:
            continue
        row = best_of(pair, arguments.repeat)
        rows.append(row)
        times = "".join(f"{row.milliseconds.get(name, 0.0):9.1f}" for name in COLUMNS)
        print(f"{row.name[:44]:44} {row.verdict:11}{times}", flush=True)
    if rows:
        medians = "".join(f"{statistics.median(r.milliseconds.get(n, 0.0) for r in rows):9.1f}" for n in COLUMNS)
        print(f"{'median':44} {'':11}{medians}")


if __name__ == "__main__":
    main()
