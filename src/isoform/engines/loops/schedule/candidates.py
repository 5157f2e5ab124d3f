"""Which attempts there are, and their order."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TypeVar

from isoform.borders.question import Question
from isoform.engines.loops.align.alignments import alignments, as_counted
from isoform.engines.loops.align.cuts import Alignment
from isoform.engines.loops.guess.invariant import Order
from isoform.engines.loops.observe.stations import Stations, choices, heads, multiplications, straight_iterations
from isoform.engines.loops.observe.tests import GatheredTraces, traced_again
from isoform.engines.loops.observe.traces import Traces
from isoform.engines.loops.schedule.attempt import Attempt, Run
from isoform.engines.loops.tuning import MOST_ALIGNMENTS, MOST_ATTEMPTS
from isoform.lift.function import Function
from isoform.model.budget import Budget, processor_time

Guess = TypeVar("Guess")
Paired = tuple[Stations, list[Traces], list[Alignment]]
"""A choice of stations, the traces observed at them, and alignments of these."""


class Candidates:
    """Attempts with what some tests showed."""

    def __init__(self, question: Question, gathered: GatheredTraces) -> None:
        self._question = question
        self._gathered = gathered
        self.seconds = 0.0
        """On the wall clock, spent on aligning traces."""

    def __iter__(self) -> Iterator[Attempt]:
        """Equations first, then with comparisons that the code makes; the same with other stations; then with other
        alignments; then with all comparisons; then with products, which come earlier if one side multiplies in its
        loops what the other does not, or does without a loop: then it must compute the product differently."""
        sides = self._question.target, self._question.rewrite
        early = self._question.options.degree > 1 and not _multiply_alike(*sides)
        single = frozenset.union(*map(straight_iterations, sides))
        found: list[Paired] = []
        pairings: list[Iterator[Alignment]] = []
        for stations in choices(*sides):
            # If iterations are straight code on one side, the number of remaining iterations decides everything.
            is_single = bool(single & (stations[0] | stations[1]))
            first = (Order.COMPARED,) if is_single else (Order.NONE, Order.COMPARED)
            traces = self._timed(partial(traced_again, self._question, self._gathered, stations))
            found.append((stations, traces, []))
            pairings.append(as_counted(traces) if is_single else islice(alignments(traces), MOST_ALIGNMENTS))
            yield from self._paired(found[-1], pairings[-1], first)
            yield from _with(found[-1:], 2, (Order.COMPARED,) if early else ())
        for one, others in zip(found, pairings, strict=True):
            yield from self._other_pairings(one, others)
        yield from _with(found, 1, (Order.ALL,))
        for degree in range(2, self._question.options.degree + 1):
            orders = [order for order in Order if not (early and degree == 2 and order is Order.COMPARED)]
            yield from _with(found, degree, orders)

    def _other_pairings(self, one: Paired, others: Iterator[Alignment]) -> Iterator[Attempt]:
        while len(one[2]) < MOST_ALIGNMENTS:
            known = len(one[2])
            yield from self._paired(one, others, (Order.COMPARED,))
            if len(one[2]) == known:
                break

    def _paired(self, one: Paired, pairings: Iterator[Alignment], orders: Iterable[Order]) -> Iterator[Attempt]:
        """With the next alignment at some stations, if there is one."""
        stations, traces, candidates = one
        alignment = self._timed(partial(next, pairings, None))
        if alignment is not None:
            candidates.append(alignment)
            yield from _with([(stations, traces, [alignment])], 1, orders)

    def _timed(self, guess: Callable[[], Guess]) -> Guess:
        started = time.perf_counter()
        found = guess()
        self.seconds += time.perf_counter() - started
        return found


def _multiply_alike(target: Function, rewrite: Function) -> bool:
    return multiplications(target) == multiplications(rewrite) and all(map(heads, (target, rewrite)))


def _with(found: Sequence[Paired], degree: int, orders: Iterable[Order]) -> Iterator[Attempt]:
    for stations, traces, candidates in found:
        for alignment in candidates:
            for order in orders:
                yield Attempt(stations, traces, alignment, degree, order)


class Coming:
    """Attempts that are still to be begun."""

    def __init__(self, attempts: Iterable[Attempt], known: Collection[Hashable]) -> None:
        self._attempts = iter(attempts)
        self._known = set(known)
        self._begun = 0
        self._pairings: list[Alignment] = []
        self._seconds = 0.0
        """Seconds of processor time to find the last one."""

    @property
    def best(self) -> float:
        """The cost of the best alignment so far."""
        return min((pairing.cost for pairing in self._pairings if pairing.is_comparable), default=1.0)

    def cost(self, least: float) -> float:
        return max(len(self._pairings), self._begun - 1) * (least + self._seconds)

    def stronger(self, run: Run, budget: Budget) -> Run | None:
        """After an attempt that had its invariants, but did not suffice: the same with all comparisons, if that is
        still to come. Its alignment is most likely right."""
        attempt = replace(run.attempt, order=Order.ALL)
        if not run.is_settled or run.attempt.order is not Order.COMPARED or attempt.key in self._known:
            return None
        self._known.add(attempt.key)
        return Run(attempt, run.number, run.place, budget.part(0.0))

    def begin(self, budget: Budget) -> Run | None:
        """The next one, if there is one."""
        started = processor_time()
        attempt = next((a for a in self._attempts if a.key not in self._known), None)
        self._seconds = processor_time() - started
        if attempt is None or self._begun == MOST_ATTEMPTS:
            return None
        self._begun += 1
        pairing = attempt.alignment
        if pairing not in self._pairings:
            self._pairings.append(pairing)
        return Run(attempt, self._begun, self._pairings.index(pairing) + 1, budget.part(0.0))
