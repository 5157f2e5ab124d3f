"""How many iterations of a loop of one side correspond to one of a loop of the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from isoform.engines.loops.observe.traces import Traces
from isoform.engines.loops.tuning import MOST_STEPS, SEVERAL_VISITS
from isoform.lift.function import BlockId

Ratio = tuple[int, int]
Ratios = dict[tuple[BlockId, BlockId], Ratio]


def hypotheses(tests: Sequence[Traces]) -> Iterator[Ratios]:
    """How many iterations of one loop correspond to one of the other, for each pair of loops that iterated: as counted
    over the tests, and one to one."""
    counts = [test.counts for test in tests]
    pairs = list(
        dict.fromkeys(
            (p, q) for left, right in counts for p in left for q in right if min(left[p], right[q]) >= SEVERAL_VISITS
        )
    )
    again = _again(tests)
    # An outer loop is passed once while an inner one iterates: no number of iterations of one corresponds to the other.
    measured = {(p, q): _ratio((p, q), counts) if (p in again) == (q in again) else (1, 1) for p, q in pairs}
    even = dict.fromkeys(pairs, (1, 1))
    if all(ratio == (1, 1) for ratio in measured.values()):
        yield even
        return
    uneven = [pair for pair in pairs if measured[pair] != (1, 1)]
    # The loop with the smallest ratio to the other one is the one that does several iterations at once.
    single = ([pair] for pair in sorted(uneven, key=lambda p: sum(measured[p])) if len(uneven) > 1)
    for chosen in [uneven, *single]:
        yield even | {pair: measured[pair] for pair in chosen}
    yield even


def _again(tests: Sequence[Traces]) -> set[BlockId]:
    """Stations that are passed twice in a row: of inner loops, or loops that have none inside."""
    sides = (side for test in tests for side in (test.target, test.rewrite))
    return {one.point for side in sides for one, other in pairwise(side[1:]) if one.point == other.point}


def _ratio(pair: tuple[BlockId, BlockId], counts: Sequence[tuple[Counter[BlockId], Counter[BlockId]]]) -> Ratio:
    """The ratio of iterations for which the longer loop leaves the smallest remainder: iterations of a remainder loop
    do not count."""
    counted = [
        (left[pair[0]], right[pair[1]])
        for left, right in counts
        if min(left[pair[0]], right[pair[1]]) >= SEVERAL_VISITS
    ]
    if sum(left for left, _ in counted) >= sum(right for _, right in counted):
        return _iterations_per_one(counted), 1
    return 1, _iterations_per_one([(right, left) for left, right in counted])


def _iterations_per_one(counted: Sequence[tuple[int, int]]) -> int:
    """How many iterations of the longer loop correspond to one of the shorter; if the counts allow several numbers,
    preferably a power of two, as for unrolled and vectorised loops."""
    least = max(many / (few + 1) for many, few in counted)
    most = min(many / few for many, few in counted)
    power = 1 << (int(most).bit_length() - 1) if most >= 1 else 1
    return min(MOST_STEPS, power if power > least else max(1, round(most)))
