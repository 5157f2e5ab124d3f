"""Long runs. Cuts and invariants need a few iterations of each loop, not all: of a run with many iterations we observe
windows, at its beginning, around each step from one station to another that is new, and at its end."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from isoform.borders.question import Options, Question
from isoform.engines.loops.observe.stations import Stations
from isoform.engines.loops.observe.traces import Traces
from isoform.engines.loops.tuning import (
    ITERATIONS_IN_WINDOW,
    LONG_FUEL_STEPS,
    LONGEST_HALF_WINDOW,
    MOST_VISITS,
    MOST_WINDOWS,
    NEW_STEPS_SEEN,
)
from isoform.lift.function import BlockId
from isoform.model.outcome import Inputs, Outcome, Status
from isoform.model.values import dataclass
from isoform.run.observe import TooManySnapshotsError, observe_some, visits
from isoform.run.runner import RunOptions

Both = tuple[Inputs, Inputs]


@dataclass(frozen=True)
class Window:
    """Consecutive stations of each side, by number; the entry has number 0 and is in no window."""

    target: range
    rewrite: range
    begins: bool
    ends: bool


@dataclass(frozen=True)
class LongRun:
    """The stations that both sides pass, and how they end."""

    stations: Stations
    passed: tuple[Sequence[BlockId], Sequence[BlockId]]
    outcomes: tuple[Outcome, Outcome]

    @property
    def is_done(self) -> bool:
        return all(outcome.status is Status.DONE for outcome in self.outcomes)


def long_run(question: Question, inputs: Both, stations: Stations) -> LongRun | None:
    """Run both on inputs that make their loops iterate often. None if even that takes too many steps."""
    ran = []
    for program, side, watched in zip(question.programs, inputs, stations, strict=True):
        try:
            ran.append(visits(program, side, _options(question), question.callees, watched, MOST_VISITS))
        except TooManySnapshotsError:
            return None
        if ran[-1][1].status is Status.OUT_OF_FUEL:
            return None
    (target, ends), (rewrite, other_ends) = ran
    return LongRun(stations, (target, rewrite), (ends, other_ends))


def windows_of(question: Question, inputs: Both, run: LongRun) -> list[Traces]:
    """What a long run shows in its windows."""
    chosen = list(windows(run.passed[0], run.passed[1]))
    left, right = (
        observe_some(program, side, _options(question), question.callees, watched, {0, *numbers})
        for program, side, watched, numbers in zip(
            question.programs,
            inputs,
            run.stations,
            ({n for w in chosen for n in w.target}, {n for w in chosen for n in w.rewrite}),
            strict=True,
        )
    )
    iterations = _iterations(run.passed[0]), _iterations(run.passed[1])
    counts = Counter(run.passed[0][1:]), Counter(run.passed[1][1:])
    return [
        Traces(
            (left[0], *(left[n] for n in window.target)),
            (right[0], *(right[n] for n in window.rewrite)),
            begins=window.begins,
            ends=window.ends,
            in_all=counts,
            iterations=(
                [0, *(iterations[0][n] for n in window.target)],
                [0, *(iterations[1][n] for n in window.rewrite)],
            ),
        )
        for window in chosen
    ]


def long_fuel(question: Question) -> int:
    """Steps of a long run. A `--fuel` below the default is respected."""
    fuel = question.options.fuel
    return fuel if fuel < Options.fuel else max(fuel, LONG_FUEL_STEPS)


def _options(question: Question) -> RunOptions:
    return RunOptions(long_fuel(question), False, False, question.contract.stack_argument_bytes)


def windows(target: Sequence[BlockId], rewrite: Sequence[BlockId]) -> Iterator[Window]:
    """Windows of the side that passes more stations, and what the other side does meanwhile. Neither need be exact: an
    alignment begins and ends in a window where both agree."""
    sides = target, rewrite
    lead = 0 if len(target) >= len(rewrite) else 1
    leading, other = sides[lead], sides[1 - lead]
    meanwhile = _Meanwhile(leading, other)
    several = len(leading) / max(1, len(other))
    half = min(LONGEST_HALF_WINDOW, max(2 * ITERATIONS_IN_WINDOW, round(several * ITERATIONS_IN_WINDOW)))
    back = _Meanwhile(other, leading)
    new = {*_new_steps(leading), *(back.at(n) for n in _new_steps(other)), 1, len(leading) - 1}
    for first, last in _merged([*sorted(new)[:MOST_WINDOWS], len(leading) - 1], half, len(leading) - 1):
        begins, ends = first == 1, last == len(leading) - 1
        low = 1 if begins else meanwhile.at(first)
        high = len(other) - 1 if ends else min(meanwhile.at(last), len(other) - 1)
        ranges = range(first, last + 1), range(max(1, low), high + 1)
        yield Window(ranges[lead], ranges[1 - lead], begins, ends)


def _new_steps(passed: Sequence[BlockId]) -> list[int]:
    """Where one station follows another for the first times."""
    seen: Counter[tuple[BlockId, BlockId]] = Counter()
    found = []
    for number, step in enumerate(pairwise(passed), 1):
        seen[step] += 1
        if seen[step] <= NEW_STEPS_SEEN:
            found.append(number)
    return found


def _iterations(passed: Sequence[BlockId]) -> list[int]:
    """For each station, how many times in a row it was passed before."""
    return [0, *(number for _, run in groupby(passed[1:]) for number, _ in enumerate(run))]


def _merged(centres: Sequence[int], half: int, last: int) -> Iterator[tuple[int, int]]:
    """Windows around some stations; those that overlap are one."""
    begun: tuple[int, int] | None = None
    for centre in centres:
        first, end = max(1, centre - half), min(last, centre + half)
        if begun is not None and first <= begun[1] + 1:
            begun = begun[0], max(end, begun[1])
            continue
        if begun is not None:
            yield begun
        begun = first, end
    if begun is not None:
        yield begun


class _Meanwhile:
    """An estimate of where the other side is while one side passes a station: in proportion to the whole run, or
    loop by loop if both move equally often from one loop to another."""

    def __init__(self, passed: Sequence[BlockId], other: Sequence[BlockId]) -> None:
        self._own, self._others = _starts(passed), _starts(other)
        if len(self._own) != len(self._others):
            self._own, self._others = [1, len(passed)], [1, len(other)]

    def at(self, number: int) -> int:
        loop = min(max(0, bisect_right(self._own, number) - 1), max(0, len(self._own) - 2))
        if len(self._own) < 2:
            return 0
        first, end = self._own[loop : loop + 2]
        there, until = self._others[loop : loop + 2]
        return there + (number - first) * (until - there) // max(1, end - first)


def _starts(passed: Sequence[BlockId]) -> list[int]:
    """Where each uninterrupted sequence of iterations of one loop begins, and the end of the last."""
    found = [1]
    for _, run in groupby(passed[1:]):
        found.append(found[-1] + sum(1 for _ in run))
    return found
