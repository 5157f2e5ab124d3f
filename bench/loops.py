"""How long the loops of `tests/pairs/loops` take, and where: trace, guess and solve, in seconds.

    python bench/loops.py [PAIR-OR-FOLDER-OR-WORD...] [--budget SECONDS]
    python bench/loops.py --growth

A word selects the pair of that name, else every pair with that word in its name: `bench/loops.py unroll sha1`. For the
rows that seed 003 measured (its Tables 1 to 3 and its OpenSSL case) its seconds and its number of tests stand beside
ours, measured on another machine, so as orientation only. `--growth` shows how the time of a proof grows with the size
of the loop body.

A report, not a test: nothing here asserts a time.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import re
import resource
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from isoform import LoadOptions, Options
from isoform.engines.answer import lifted, subject
from isoform.engines.ladder import Ladder
from isoform.engines.pose import pose
from isoform.lift.discovery import Discovery
from isoform.load.open import open_pair
from isoform.model.budget import Budget
from isoform.model.errors import Unsupported
from isoform.model.verdict import Equivalent, Verdict
from pairfile import PAIRS, Pair, read_all
from pairs import arguments_of

LOOPS = PAIRS / "loops"
PARTS = ("trace", "guess", "solve")
BODIES = (1, 2, 4, 8, 16, 32)


@dataclass(frozen=True)
class Published:
    """A row of seed 003: its name there, seconds, and the number of tests its proof needed, where it says so."""

    name: str
    seconds: float
    tests: str = ""


PUBLISHED = {
    "strength": Published("lerner1a1b", 19.39),
    "nested": Published("lerner3b3c", 102.89),
    "unroll": Published("unroll", 75.04),
    "off-by-one-broken": Published("off-by-one", 0.13),
    "strength-gcc-o0-o2": Published("lerner1a", 12.94, "4"),
    "nested-gcc-o0-o2": Published("lerner3b", 53.72, "5"),
    "bansal-gcc-o0-o2": Published("bansal", 9.89, "2"),
    "chomp-gcc-o0-o2": Published("chomp", 11.00, "3"),
    "fannkuch-gcc-o0-o2": Published("fannkuch", 17.03, "4"),
    "knucleotide-gcc-o0-o2": Published("knucleotide", 6.56, "3"),
    "lists-reverse-gcc-o0-o2": Published("lists", 1.40, "3"),
    "nsievebits-gcc-o0-o2": Published("nsievebits*", 36.44, "5"),
    "nsieve-gcc-o0-o2": Published("nsieve*", 166.31, "5"),
    "qsort-gcc-o0-o2": Published("qsort*", 140.87, "7"),
    "sha1-gcc-o0-o2": Published("sha1*", 12888.87, "8"),
    "cached-pointer": Published("Bansal, stoke", 5492.75),
    "hoisted-constant": Published("SAXPY, stoke", 0.62),
    "bignum-gcc-o0-o3": Published("openssl", 7200.0, "6-8"),
}
"""By the name of our pair. A star: jumps had to be made alike by hand. The OpenSSL case took "about two hours"."""


@dataclass
class Row:
    name: str
    verdict: str
    seconds: float
    parts: dict[str, float] = field(default_factory=dict)
    tests: int | None = None
    obligations: int | None = None
    instructions: int = 0


def measure(name: str, a: str, b: str, options: Options, load_a: LoadOptions, load_b: LoadOptions) -> Row:
    started = time.perf_counter()
    row = Row(name, "unknown", 0.0)
    loaded = open_pair(a, b, load_a, load_b)
    budget = Budget(options.budget)

    def ask(discovery: Discovery) -> tuple[Ladder, Verdict]:
        functions = [lifted(side, hints=discovery.hints(number)) for number, side in enumerate(loaded)]
        row.instructions = sum(len(f.instructions) for f in functions)
        question = pose(functions[0], functions[1], options, budget, discovery)
        ladder = Ladder(question, (subject(loaded[0]), subject(loaded[1])), budget)
        return ladder, ladder.climb()

    with contextlib.suppress(Unsupported):
        ladder, verdict = Discovery(budget).fixpoint(ask)
        row.verdict = verdict.word
        row.parts = {part: ladder.timings[part] for part in PARTS if part in ladder.timings}
        if isinstance(verdict, Equivalent):
            row.obligations = len(verdict.proof.obligations)
            row.tests = tests_used(ladder)
    row.seconds = time.perf_counter() - started
    return row


def tests_used(ladder: Ladder) -> int | None:
    """How many tests the loops engine says its proof was guessed from."""
    said = " ".join(tried.said for tried in ladder.tried if tried.engine == "loops")
    found = re.search(r"(\d+) tests", said)
    return int(found[1]) if found else None


def measure_pair(pair: Pair, budget: float | None) -> Row:
    a, b, options, load_a, load_b = arguments_of(pair)
    return measure(stem(pair), a, b, options if budget is None else replace(options, budget=budget), load_a, load_b)


def stem(pair: Pair) -> str:
    return pair.name.rpartition("/")[2]


def chosen(words: Iterable[str]) -> list[Pair]:
    """Pairs by file, by folder, or by a part of their names; all of them without words."""
    every = [pair for pair in read_all([LOOPS]) if not pair.missing]
    found: dict[str, Pair] = {}
    for word in words:
        place = Path(word)
        if place.is_dir() or place.suffix == ".pair":
            here = read_all([place])
        else:
            here = [pair for pair in every if stem(pair) == word] or [pair for pair in every if word in stem(pair)]
        found |= {pair.name: pair for pair in here}
    return list(found.values()) if words else every


def cell(value: Any, width: int) -> str:
    shown = "-" if value is None else f"{value:.2f}" if isinstance(value, float) else str(value)
    return f"{shown:>{width}}"


def print_pairs(pairs: list[Pair], budget: float | None) -> None:
    heads = "".join(f"{name:>9}" for name in ("total", *PARTS, "tests", "obligs"))
    print(f"{'pair':40} {'verdict':11} {'wanted':11}{heads}   {'seed 003':14}{'seconds':>10}{'tests':>6}{'ratio':>8}")
    right = 0
    for pair in pairs:
        row = measure_pair(pair, budget)
        right += row.verdict == pair.verdict
        times = "".join(cell(value, 9) for value in (row.seconds, *(row.parts.get(part) for part in PARTS)))
        counts = cell(row.tests, 9) + cell(row.obligations, 9)
        print(
            f"{row.name[:40]:40} {row.verdict:11} {pair.verdict:11}{times}{counts}   {beside(row)}".rstrip(), flush=True
        )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{right} of {len(pairs)} as they should be; at most {peak} MiB of memory")


def beside(row: Row) -> str:
    """The seed's own row, and how many times longer it took, where both settled the question."""
    there = PUBLISHED.get(row.name)
    if there is None:
        return ""
    settled = row.verdict in ("equivalent", "different")
    ratio = f"{there.seconds / row.seconds:.3g}x" if settled else ""
    return f"{there.name:14}{there.seconds:10.2f}{there.tests:>6}{ratio:>8}"


def loop_source(statements: int) -> str:
    """A loop over an array whose body has so many statements that depend on each other."""
    rnd = random.Random(statements)
    lines = []
    for _ in range(statements):
        left, other = (rnd.choice("xyz") for _ in range(2))
        lines.append(f"    {left} = ({left} {rnd.choice('+-^')} ({other} >> {rnd.randrange(1, 31)})) + a[i];")
    head = "unsigned f(const unsigned *a, int n, unsigned x, unsigned y, unsigned z) {"
    return "\n".join([head, "  for (int i = 0; i < n; i++) {", *lines, "  }", "  return x + 3 * y + 5 * z;", "}", ""])


def print_growth(budget: float) -> None:
    heads = "".join(f"{name:>9}" for name in ("total", *PARTS, "obligs"))
    print(f"{'statements':>10} {'instructions':>13}  {'verdict':11}{heads}")
    with tempfile.TemporaryDirectory() as folder:
        for statements in BODIES:
            source = Path(folder) / f"body{statements}.c"
            source.write_text(loop_source(statements))
            levels = [LoadOptions(cflags=(level,)) for level in ("-O0", "-O2")]
            row = measure(source.stem, f"{source}:f", f"{source}:f", Options(budget=budget), levels[0], levels[1])
            values = (row.seconds, *(row.parts.get(part) for part in PARTS), row.obligations)
            times = "".join(cell(value, 9) for value in values)
            print(f"{statements:10} {row.instructions:13}  {row.verdict:11}{times}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", metavar="PAIR", help="a file, a folder, or a part of a name")
    parser.add_argument("--budget", type=float, help="seconds for each question; the pair's own by default")
    parser.add_argument("--growth", action="store_true", help="generated loop bodies of growing size instead of pairs")
    arguments = parser.parse_args()
    if arguments.growth:
        print_growth(arguments.budget or Options().budget)
        return
    pairs = chosen(arguments.words)
    if not pairs:
        parser.error(f"no pair has {' or '.join(arguments.words)} in its name")
    print_pairs(pairs, arguments.budget)


if __name__ == "__main__":
    main()
