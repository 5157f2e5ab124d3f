"""What an adaptor takes, in the shape of seed 001, section 4.2: the loop that clears the lowest 1 bit against the
identity, for each depth and with more and more operators, with the seed's seconds beside.

    python bench/adapt.py [--repeat N] [--budget SECONDS]

Seconds are processor time of a whole search in a process that has imported what it needs; medians."""

from __future__ import annotations

import argparse
import statistics
import time

from adaptfile import FOLDER
from isoform import api
from isoform.adapt.adapt import OF_ARGUMENTS, AdaptOptions
from isoform.adapt.space import ALL_OPERATORS
from isoform.borders.question import Options
from isoform.load.open import LoadOptions
from isoform.model.adaptor import Answered, Family
from isoform.model.expression import Operator

SEED_ORDER = ["-", "&", "+", "|", "^", "neg", "~", "<<", ">>u", ">>s"]
"""Table 4.4 allows the first so many of these."""
BY_OPERATORS = {2: 65.0, 5: 91.0, 7: 127.0, 10: 179.7}
"""The seed's seconds at depth 3."""
ZIG = LoadOptions(cc="zig")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--budget", type=float, default=60.0)
    given = parser.parse_args()
    print(f"{'question':<34} {'seconds':>8} {'seed 001':>9}  answer")
    for count, seconds in BY_OPERATORS.items():
        show(given, f"depth 3, {count} operators", 3, first(count), f"{seconds:.1f}")
    show(given, "depth 3, all operators", 3, ALL_OPERATORS)
    show(given, "depth 4, 10 operators", 4, first(10))
    show(given, "depth 2, all operators", 2, ALL_OPERATORS)
    show(given, "substitution and width", 1, (), families=(Family.SUBSTITUTION, Family.WIDTH))


def first(count: int) -> tuple[Operator, ...]:
    by_word = {operator.value: operator for operator in Operator}
    return tuple(by_word[word] for word in SEED_ORDER[:count])


def show(
    given: argparse.Namespace,
    title: str,
    depth: int,
    operators: tuple[Operator, ...],
    seed: str = "",
    families: tuple[Family, ...] = OF_ARGUMENTS,
) -> None:
    how = AdaptOptions(families=families, depth=depth, operators=operators)
    times: list[float] = []
    for _ in range(given.repeat):
        begun = time.process_time()
        answer = ask(how, given.budget)
        times.append(time.process_time() - begun)
    print(f"{title:<34} {statistics.median(times):8.2f} {seed:>9}  {answer.word}", flush=True)


def ask(how: AdaptOptions, budget: float) -> Answered:
    source = FOLDER / "seed.c"
    return api.adapt(f"{source}:clear_lowest", f"{source}:identity", Options(budget=budget), how, ZIG, ZIG)


if __name__ == "__main__":
    main()
