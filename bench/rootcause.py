"""How often and how well the root cause of a difference is found: known bugs, in functions of several kinds.

    python bench/rootcause.py [--count N] [--seed S] [--only KIND] [--explain first|all] [--budget SECONDS]
                              [--without witness|runs|models]… [--show] [--show-misses]

A bug of `bench/seededbugs` is one changed line and two builds. Those that do not make the two sides `different` are
left out. All are asked about in one process; nothing is asserted.

Columns: `cause` found at all; `line`: it is of the changed line, on one side at least; `of B`: the changed instruction
of the rewrite is (of a missing store: that of the target); `code`: that instruction is one that the same compiler does
not make of the unchanged source, or it is of the changed line (optimised code often has the line of another statement);
`can be`: some instruction that the change changes, on either side, is of the changed line. Where none is (the compiler
gives it to another statement, or only a table of data changed) no cause can be on that line;
`named`: the line is among the causes, their copies and the candidates left; `trivial`: the result itself, at the end;
`all`, `path`, `here`: the strengths; seconds of processor time on top of the verdict.
"""

from __future__ import annotations

import argparse
import re
import statistics
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import partial
from pathlib import Path

from isoform import compare
from isoform.api import show
from isoform.explain import explain
from isoform.lift.function import Function
from isoform.load.open import LoadOptions
from isoform.model import budget as limits
from isoform.model.cause import Cause, RootCause, Strength, ValuePlace
from isoform.model.verdict import Different
from isoform.report.causes import search_of, sentences_of
from seededbugs import Bug, bugs, changed, kinds, source

_LONGEST = 15
"""Bytes of an instruction."""
_WALL_FACTOR = 100.0
"""Seconds are processor time: on a busy machine the wall clock must not end a search."""
_NUMBER = re.compile(r"[+-]?0x[0-9a-f]+")
SEED_004 = (
    "seed 004: a cause for 12 of 15 and 34 of 46 (at the weakest strength), 15 of 39 for all inputs; 154 s on average"
)
EXPECTED = "expected: a cause in 95 %, on the changed line in 85 %, for all inputs in 70 %; median 2 s"


@dataclass(frozen=True)
class Result:
    bug: Bug
    instructions: int
    root: RootCause
    changed: frozenset[int]
    """Addresses of the rewrite with an instruction that is not made of the unchanged source."""
    changed_lines: frozenset[int]
    """Source lines of those, and of instructions of the target that are not made of the changed source."""

    @property
    def is_on_line(self) -> bool:
        """Whether the first cause is at the changed line, on one side at least."""
        return any(self.bug.change.line in _lines(cause) for cause in self.root.causes)

    @property
    def is_on_rewrite_line(self) -> bool:
        """Whether the changed instruction is of the changed line; of a missing store, the target's is."""
        line = self.bug.change.line
        return any((cause.rewrite or cause.target).line == line for cause in self.root.causes)  # type: ignore[union-attr]

    @property
    def is_on_code(self) -> bool:
        places = [cause.rewrite for cause in self.root.causes if cause.rewrite is not None]
        at = {address for place in places for address in _addresses(place)}
        return bool(at & self.changed) or self.is_on_line

    @property
    def can_be_on_line(self) -> bool:
        return self.bug.change.line in self.changed_lines or self.is_on_line

    @property
    def is_trivial(self) -> bool:
        return any(cause.is_trivial for cause in self.root.causes)

    @property
    def is_named(self) -> bool:
        """Whether the changed line is named at all."""
        named = (*self.root.causes, *self.root.left)
        copies = [place for cause in named for pair in cause.copies for place in pair if place is not None]
        lines = {line for cause in named for line in _lines(cause)} | {place.line for place in copies}
        return self.bug.change.line in lines


def _lines(cause: Cause) -> set[int | None]:
    return {place.line for place in (cause.target, cause.rewrite) if place is not None}


def _addresses(place: ValuePlace) -> set[int]:
    """Of the instruction; of a condition, also of the comparison before it."""
    return {place.address - back for back in range(_LONGEST + 1)} if "; " in place.text else {place.address}


def changed_addresses(rows: Sequence[tuple[int, str]], unchanged: Sequence[str]) -> frozenset[int]:
    """Where a listing has what another one has not."""
    texts = [_NUMBER.sub("#", text) if text[:1] in "jc" and "cmp" not in text else text for _, text in rows]
    others = [_NUMBER.sub("#", text) if text[:1] in "jc" and "cmp" not in text else text for text in unchanged]
    blocks = SequenceMatcher(None, others, texts, autojunk=False).get_matching_blocks()
    same = {n for block in blocks for n in range(block.b, block.b + block.size)}
    return frozenset(address for n, (address, _) in enumerate(rows) if n not in same)


def measure(bug: Bug, folder: Path, explain: str, budget: float) -> Result | None:
    """None if isoform finds no difference."""
    files = folder / "target.c", folder / "rewrite.c"
    for file, lines in zip(files, (source(bug.change.kind), changed(bug.change)), strict=True):
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    sides = [f"{file}:{bug.change.function}" for file in files]
    (cc_a, flags_a), (cc_b, flags_b) = bug.builds
    verdict = compare(
        sides[0],
        sides[1],
        cc_a=cc_a,
        cflags_a=flags_a,
        cc_b=cc_b,
        cflags_b=flags_b,
        budget=10,
        explain=explain,
        explain_budget=budget,
    )
    if not isinstance(verdict, Different) or verdict.root_cause is None:
        return None
    instructions = max(sum(row.text != "" for row in view.rows) for view in verdict.views)
    builds = [LoadOptions(cc=cc, cflags=(flags,)) for cc, flags in bug.builds]
    unchanged, rewrite = show(sides[0], builds[1]), show(sides[1], builds[1])
    rows = [(row.address, row.text) for row in verdict.views[1].rows if row.text]
    own = changed_addresses(rows, [unchanged.instructions[a].text for a in sorted(unchanged.instructions)])
    _, lines = _changed(rewrite, unchanged)
    _, more = _changed(show(sides[0], builds[0]), show(sides[1], builds[0]))
    return Result(bug, instructions, verdict.root_cause, own, lines | more)


def _changed(function: Function, other: Function) -> tuple[frozenset[int], frozenset[int]]:
    """Addresses and source lines of instructions that another build has not."""
    rows = [(address, function.instructions[address].text) for address in sorted(function.instructions)]
    addresses = changed_addresses(rows, [other.instructions[a].text for a in sorted(other.instructions)])
    lines = function.image.lines
    return addresses, frozenset(lines[address].number for address in addresses if address in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--skip", type=int, default=0, help="leave out so many first: to run it in parts")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append", choices=kinds(), default=[])
    parser.add_argument("--explain", choices=("first", "all"), default="first")
    parser.add_argument("--budget", type=float, default=20.0, help="seconds for one cause: those of a plain `compare`")
    parser.add_argument("--without", action="append", choices=("witness", "runs", "models"), default=[])
    parser.add_argument("--show", action="store_true", help="print what is found for each")
    parser.add_argument("--show-misses", action="store_true", help="print those that were not found as they should be")
    options = parser.parse_args()
    print(f"--count {options.count} --seed {options.seed} --budget {options.budget:g}", flush=True)
    if options.without:
        print(f"without {', '.join(options.without)}", flush=True)
        left = {f"by_{step}": False for step in options.without}
        explain.root_cause = partial(explain.root_cause, pruning=replace(explain.ALL_PRUNING, **left))  # type: ignore[assignment]
    limits.WALL_FACTOR = _WALL_FACTOR
    chosen = bugs(options.count, options.seed, options.only)[options.skip :]
    results: list[Result] = []
    asked = 0
    # Ctrl-C ends it with the figures of those that were asked about.
    with tempfile.TemporaryDirectory() as folder, suppress(KeyboardInterrupt):
        for number, bug in enumerate(chosen, options.skip):
            asked += 1
            result = measure(bug, Path(folder), options.explain, options.budget)
            if result is None:
                continue
            results.append(result)
            is_missed = not result.is_on_line or result.root.strength is not Strength.ALL_INPUTS
            if options.show or (options.show_misses and is_missed):
                print("\n".join(described(number, result)), flush=True)
    print("\n".join(summary(results, asked)))


def described(number: int, result: Result) -> Iterator[str]:
    root = result.root
    strength = root.strength.value if root.strength is not None else "none"
    is_code = "code" if result.is_on_code else "elsewhere"
    marks = f"{strength}, {'line' if result.is_on_line else 'named' if result.is_named else is_code}"
    yield f"[{number}] {result.bug}"
    yield f"    {marks}, {result.instructions} instructions, {search_of(root)}"
    yield from (f"    {sentence}" for sentence in sentences_of(root))


# -- figures ------------------------------------------------------------------------------------------


def summary(results: Sequence[Result], asked: int) -> Iterator[str]:
    yield f"\n{asked} bugs, {len(results)} of them different"
    if not results:
        return
    sizes = sorted(result.instructions for result in results)
    yield f"instructions of the larger side: {sizes[0]} to {sizes[-1]}, median {sizes[len(sizes) // 2]}"
    yield _HEADER
    yield from rows("", results, lambda result: "all")
    yield from rows("function: ", results, lambda result: result.bug.change.kind)
    yield from rows("change: ", results, lambda result: result.bug.change.what)
    yield from rows("built ", results, lambda result: "alike" if result.bug.is_built_alike else "differently")
    possible = [result for result in results if result.can_be_on_line]
    if possible:
        yield f"on the changed line, where an instruction is: {share(possible, lambda result: result.is_on_line):.0%}"
    yield ""
    yield from left_after_each_step(results)
    yield SEED_004
    yield EXPECTED


_HEADER = (
    f"\n{'':<26}{'bugs':>5}{'cause':>7}{'line':>7}{'of B':>7}{'code':>7}{'can be':>8}{'named':>7}"
    f"{'trivial':>8}{'all':>6}{'path':>7}{'here':>7}{'median':>9}{'90 %':>9}"
)


def rows(label: str, results: Sequence[Result], group: Callable[[Result], str]) -> Iterator[str]:
    for name in sorted({group(result) for result in results}):
        found = [result for result in results if group(result) == name]
        shares = [share(found, test) for test in _TESTS]
        seconds = sorted(result.root.seconds for result in found)
        shown = "".join(f"{value:>7.0%}" for value in shares)
        most = seconds[min(len(seconds) - 1, int(0.9 * len(seconds)))]
        yield f"{label + name:<26}{len(found):>5}{shown}{statistics.median(seconds):>8.2f}s{most:>8.2f}s"


_TESTS: tuple[Callable[[Result], bool], ...] = (
    lambda result: result.root.strength is not None,
    lambda result: result.is_on_line,
    lambda result: result.is_on_rewrite_line,
    lambda result: result.is_on_code,
    lambda result: result.can_be_on_line,
    lambda result: result.is_named,
    lambda result: result.is_trivial,
    *(lambda result, strength=strength: result.root.strength is strength for strength in Strength),
)


def share(results: Sequence[Result], test: Callable[[Result], bool]) -> float:
    return sum(map(test, results)) / len(results)


def left_after_each_step(results: Sequence[Result]) -> Iterator[str]:
    """Sums and medians of what `RootCause.candidates` counts."""
    names = list(dict.fromkeys(name for result in results for name in result.root.candidates))
    sums: Counter[str] = Counter()
    for result in results:
        sums.update(result.root.candidates)
    for name in names:
        values = [result.root.candidates[name] for result in results if name in result.root.candidates]
        yield f"{name:<42}{sums[name]:>9}, median {statistics.median(values):g}"
    yield ""


if __name__ == "__main__":
    main()
