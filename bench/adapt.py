"""What an adaptor takes, in the shape of seed 001, section 4.2: the loop that clears the lowest 1 bit against the
identity, with the seed's figures beside.

    python bench/adapt.py [--repeat N] [--budget SECONDS] [--only PART]

`answers`: whole searches. `operators`, `constants` (table 4.4), `iterations` (figures 4.3 and 4.5) and `depths` (figure
4.4): the counterexample-guided loop alone, as in the seed, with the small expressions that are enumerated first left
out. `restrictions`: what each part of the search saves. Seconds are processor time in a process that has imported what
it needs; medians."""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

from adaptfile import FOLDER
from isoform import api
from isoform.adapt import search
from isoform.adapt.adapt import OF_ARGUMENTS, AdaptOptions, _Finding
from isoform.adapt.formula import OpenFormula
from isoform.adapt.search import Search, _Attempt
from isoform.adapt.space import ALL_OPERATORS
from isoform.adapt.symbolic import Tree
from isoform.borders.question import Options
from isoform.load.open import LoadOptions
from isoform.model.adaptor import Answered, Family
from isoform.model.expression import Operator
from isoform.smt.incremental import PathSolver

SEED_ORDER = ["-", "&", "+", "|", "^", "neg", "~", "<<", ">>u", ">>s"]
"""Table 4.4 allows the first so many of these."""
BY_OPERATORS = {2: (11.4, 65.0), 5: (14.6, 91.0), 7: (19.2, 127.0), 10: (17.5, 179.7)}
"""The seed's iterations and seconds at depth 3."""
BY_CONSTANTS = {2: (4.6, 30.6), 8: (11.4, 93.2), 16: (12.4, 102.8), 24: (15.2, 136.4), 32: (17.5, 179.7)}
"""The same by the bits of constants, with 10 operators."""
ZIG = LoadOptions(cc="zig")
PARTS = ("answers", "operators", "constants", "iterations", "depths", "restrictions")


@dataclass
class Measured:
    """One search."""

    seconds: float = 0.0
    proposals: list[float] = field(default_factory=list)
    """Seconds of each proposal."""
    counterexamples: list[float] = field(default_factory=list)
    proofs: list[float] = field(default_factory=list)
    answer: str = ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--budget", type=float, default=60.0)
    parser.add_argument("--only", choices=PARTS, action="append")
    given = parser.parse_args()
    measured(AdaptOptions(families=OF_ARGUMENTS), 60.0)  # imports
    shown = given.only or PARTS
    for part, show in zip(PARTS, (answers, operators, constants, iterations, depths, restrictions), strict=True):
        if part in shown:
            show(given)


# -- tables ---------------------------------------------------------------------------------------


def answers(given: argparse.Namespace) -> None:
    print(f"\n{'whole searches':<34} {'seconds':>8} {'seed 001':>9}  answer")
    by_seed = f"{BY_OPERATORS[10][1]:.1f}"
    for title, depth, chosen, families, seed in (
        ("depth 3, 10 operators", 3, first(10), OF_ARGUMENTS, by_seed),
        ("depth 3, all 15 operators", 3, ALL_OPERATORS, OF_ARGUMENTS, ""),
        ("depth 4, 10 operators", 4, first(10), OF_ARGUMENTS, ""),
        ("depth 2, all 15 operators", 2, ALL_OPERATORS, OF_ARGUMENTS, ""),
        ("substitution and width", 1, (), OF_ARGUMENTS[:2], ""),
    ):
        runs = repeated(given, AdaptOptions(families=families, depth=depth, operators=chosen))
        print(f"{title:<34} {middle(runs):8.2f} {seed:>9}  {runs[0].answer}", flush=True)


def operators(given: argparse.Namespace) -> None:
    head("table 4.4: operators, depth 3")
    for count, seed in BY_OPERATORS.items():
        row(given, f"{count} operators", with_loop_alone(), 3, first(count), seed)


def constants(given: argparse.Namespace) -> None:
    head("table 4.4: constants, depth 3")
    for bits, seed in BY_CONSTANTS.items():
        row(given, f"{bits} bits", [*with_loop_alone(), with_constants(bits)], 3, first(10), seed)


def depths(given: argparse.Namespace) -> None:
    head("figure 4.4: depth, 10 operators")
    for depth in (3, 4):
        row(given, f"depth {depth}", with_loop_alone(), depth, first(10), BY_OPERATORS[10] if depth == 3 else None)


def restrictions(given: argparse.Namespace) -> None:
    head("what each part saves: depth 3, 10 operators")
    row(given, "all of it", [], 3, first(10))
    row(given, "without enumeration", with_loop_alone(), 3, first(10))
    row(given, "and equal trees not excluded", [*with_loop_alone(), without_rules()], 3, first(10))
    row(given, "and a new solver each time", [*with_loop_alone(), with_new_solvers()], 3, first(10))
    row(given, "and all operators at once", [*with_loop_alone(), with_one_tier()], 3, first(10))


def iterations(given: argparse.Namespace) -> None:
    """Seconds of each proposal and counterexample in one search, with the solver's knowledge kept and without."""
    for title, more in (("kept", []), ("a new solver each time (figure 4.5)", [with_new_solvers()])):
        found = measured(how(3, first(10)), given.budget, [*with_loop_alone(), *more])
        print(f"\nfigure 4.3: seconds by iteration, {title}")
        print("  proposals       " + " ".join(f"{one:.3f}" for one in found.proposals))
        print("  counterexamples " + " ".join(f"{one:.3f}" for one in found.counterexamples))
        print("  proof           " + " ".join(f"{one:.3f}" for one in found.proofs), flush=True)


def head(title: str) -> None:
    columns = ("iterations", "seconds", "proposals", "counterex.", "proof", "seed: it.", "seconds")
    print(f"\n{title:<44} " + " ".join(f"{one:>10}" for one in columns) + "  answer")


def row(
    given: argparse.Namespace,
    title: str,
    changes: list[Any],
    depth: int,
    chosen: tuple[Operator, ...],
    seed: tuple[float, float] | None = None,
) -> None:
    runs = repeated(given, how(depth, chosen), changes)
    beside = f"{seed[0]:10.1f} {seed[1]:10.1f}" if seed else " " * 21
    numbers: list[Callable[[Measured], float]] = [
        lambda one: len(one.proposals),
        lambda one: one.seconds,
        lambda one: sum(one.proposals),
        lambda one: sum(one.counterexamples),
        lambda one: sum(one.proofs),
    ]
    own = " ".join(f"{statistics.median(map(number, runs)):10.2f}" for number in numbers)
    print(f"{title:<44} {own} {beside}  {runs[0].answer}", flush=True)


# -- measuring ------------------------------------------------------------------------------------


def how(depth: int, chosen: tuple[Operator, ...]) -> AdaptOptions:
    return AdaptOptions(families=(Family.ARITHMETIC,), depth=depth, operators=chosen)


def first(count: int) -> tuple[Operator, ...]:
    by_word = {operator.value: operator for operator in Operator}
    return tuple(by_word[word] for word in SEED_ORDER[:count])


def repeated(given: argparse.Namespace, options: AdaptOptions, changes: list[Any] | None = None) -> list[Measured]:
    return [measured(options, given.budget, changes) for _ in range(given.repeat)]


def middle(runs: list[Measured]) -> float:
    return statistics.median(one.seconds for one in runs)


def measured(options: AdaptOptions, budget: float, changes: list[Any] | None = None) -> Measured:
    found = Measured()
    with ExitStack() as stack:
        for change in changes or ():
            stack.enter_context(change())
        stack.enter_context(timed(_Attempt, "_propose", found.proposals))
        stack.enter_context(timed(OpenFormula, "verify", found.counterexamples))
        stack.enter_context(timed(_Finding, "_compared", found.proofs))
        begun = time.process_time()
        found.answer = ask(options, budget).word
        found.seconds = time.process_time() - begun
    return found


def ask(options: AdaptOptions, budget: float) -> Answered:
    source = FOLDER / "seed.c"
    return api.adapt(f"{source}:clear_lowest", f"{source}:identity", Options(budget=budget), options, ZIG, ZIG)


@contextmanager
def timed(owner: type, name: str, seconds: list[float]) -> Iterator[None]:
    """Notes what each call of a method takes."""
    method = getattr(owner, name)

    def noted(*given: Any, **named: Any) -> Any:
        begun = time.process_time()
        try:
            return method(*given, **named)
        finally:
            seconds.append(time.process_time() - begun)

    with mock.patch.object(owner, name, noted):
        yield


# -- the search without a part of it --------------------------------------------------------------


def with_loop_alone() -> list[Any]:
    return [lambda: mock.patch.object(Search, "_enumerated", return_value=None)]


def without_rules() -> Any:
    return lambda: mock.patch.object(Tree, "_operand_rules", return_value=())


def with_one_tier() -> Any:
    return lambda: mock.patch.object(search, "TIERS", (ALL_OPERATORS,))


def with_new_solvers() -> Any:
    """Nothing that a query learned is kept for the next one."""
    kept = PathSolver.check_after

    def check_after(self: PathSolver, *given: Any) -> Any:
        self.__dict__.update(PathSolver(self._terms, self._budget, self._always).__dict__)
        return kept(self, *given)

    return lambda: mock.patch.object(PathSolver, "check_after", check_after)


def with_constants(bits: int) -> Any:
    """Constants of so many bits, with a sign."""
    rules = Tree.rules

    def limited(self: Tree) -> Iterator[Any]:
        yield from rules(self)
        terms = self._terms
        for constant in self.constants():
            width = terms.width(constant)
            if bits < width:
                moved = terms.add(constant, terms.bv(1 << (bits - 1), width))
                yield terms.ult(moved, terms.bv(1 << bits, width))

    return lambda: mock.patch.object(Tree, "rules", limited)


if __name__ == "__main__":
    main()
