"""Attempts at a proof take turns: tests, alignments, invariants, proof."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from math import sqrt
from typing import TypeVar

from isoform.borders.question import Question
from isoform.engines.evidence import Evidence
from isoform.engines.finding import Failed, Found, Proved
from isoform.engines.loops.align.alignments import alignments, as_counted
from isoform.engines.loops.align.cuts import Alignment
from isoform.engines.loops.guess.invariant import Order
from isoform.engines.loops.observe.stations import Stations, choices, heads, multiplications, single_turns
from isoform.engines.loops.observe.tests import Gathered, add_test, gather, traced_again
from isoform.engines.loops.observe.traces import Traces
from isoform.engines.loops.observe.untaken import untaken
from isoform.engines.loops.prove.conditions import STATE_AT
from isoform.engines.loops.prove.prover import Prover
from isoform.engines.loops.prove.result import MORE_TIME, NotShownError, Shown
from isoform.engines.loops.prove.simulation import Simulation
from isoform.engines.separate import differs
from isoform.engines.witness import confirm
from isoform.model.budget import Budget, processor_time
from isoform.model.errors import Unsupported
from isoform.model.outcome import Inputs
from isoform.model.verdict import Proof, Witness

Guess = TypeVar("Guess")
Paired = tuple[Stations, list[Traces], list[Alignment]]
"""A choice of stations, the traces cut up at them, and ways to pair these."""

MOST_ALIGNMENTS = 4
"""With one choice of stations."""
MOST_ATTEMPTS = 40
_MOST_LEARNED = 8
"""Tests that are made of models."""
QUICK_SHARE, QUICK_SECONDS = 0.06, 1.0
"""The first turn of an attempt: this share of the budget, but not less than so much."""
BEST, BEST_SECONDS = 2.5, 6.0
"""How much longer the first turn is with the best pairing, and how long at least,"""
_USUAL = (1, Order.COMPARED)
"""if it has the degree, and the comparisons, that most proofs need."""
NEARLY = 8
"""How much less a turn of an attempt counts that has its invariants."""
LONG_SECONDS = 8.0
"""Most proofs take less; what takes longer may be none, and a difference that another engine finds soon."""
MOST_WAITING = 4
"""Attempts of which everything is kept until their next turn."""

HOW = (
    "The two functions are cut up at pairs of points, one in each. The obligations of a cut assert its invariant and "
    "that something goes wrong on the way from it; each is unsatisfiable. 'addresses' says which addresses on the way "
    "are one, and the others write them as one; 'covered' that the two go on to the same next cut, or abort or end "
    "together; 'invariant' and 'memory' that what is claimed at the next cut holds there; the others that at the end "
    "all observables agree. 'ends' says that a number gets smaller whenever one side iterates while the other waits. "
    "From the entry on, by induction, the two stay together for ever or end alike."
)


@dataclass(frozen=True)
class Attempt:
    """One candidate for a proof."""

    stations: Stations
    traces: list[Traces]
    alignment: Alignment
    degree: int
    order: Order

    @property
    def key(self) -> Hashable:
        """What another test may change: where it is the same, it would fail for the same reason."""
        return self.stations, frozenset(self.alignment.edges), self.degree, self.order


@dataclass
class Run:
    """An attempt that was begun. What was learned stays when its time is up."""

    attempt: Attempt
    number: int
    place: int
    """Of its pairing, in the order in which they are found: of two that look alike the first one is better."""
    budget: Budget
    used: float = 0.0
    """Seconds that it got so far."""
    prover: Prover | None = None
    out_of_time: bool = False

    def cost(self, least: float, best: float) -> float:
        """Of its next turn: less for what looks good from the start, with a pairing as good as the `best`, few facts
        and no products; and for what is nearly done."""
        attempt, settled = self.attempt, self.prover is not None and self.prover.settled
        pairing = attempt.alignment.cost / best if attempt.alignment.is_comparable else 1.5
        weight = sqrt(self.place) * pairing * attempt.degree
        if attempt.order is Order.ALL or (attempt.order is Order.NONE and self.used):
            weight *= 2  # without comparisons it succeeds, or fails, soon
        return weight * (self.used + max(least, self.used)) / (NEARLY if settled else 1)

    def turn(self, least: float, best: float) -> float:
        """How long its next turn is: much of one goes to what the one before had not come to the end of. The best
        pairing is the right one more often than not."""
        attempt, pairing = self.attempt, self.attempt.alignment
        is_best = pairing.is_comparable and pairing.cost <= best and (attempt.degree, attempt.order) == _USUAL
        first = max(least * BEST, BEST_SECONDS) if is_best else least
        return max(first, 2 * self.used)


class _Coming:
    """Attempts that are still to be begun."""

    def __init__(self, attempts: Iterator[Attempt], known: Collection[Hashable]) -> None:
        self._attempts = attempts
        self._known = set(known)
        self._begun = 0
        self._pairings: list[Alignment] = []
        self._seconds = 0.0
        """Of processor time, to find the last one."""

    @property
    def best(self) -> float:
        """The cost of the best pairing so far."""
        return min((pairing.cost for pairing in self._pairings if pairing.is_comparable), default=1.0)

    def cost(self, least: float) -> float:
        return max(len(self._pairings), self._begun - 1) * (least + self._seconds)

    def stronger(self, run: Run, budget: Budget) -> Run | None:
        """After an attempt that had its invariants, but not all that it takes: the same with all comparisons, if that
        is still to come. How the two belong together is right then, most likely."""
        attempt = replace(run.attempt, order=Order.ALL)
        settled = run.prover is not None and run.prover.settled
        if not settled or run.attempt.order is not Order.COMPARED or attempt.key in self._known:
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


@dataclass
class Proving:
    """Looks for a proof about two functions that have loops."""

    question: Question
    budget: Budget
    own: Sequence[tuple[Inputs, Inputs]] = ()
    """The user's own tests."""
    meanwhile: Callable[[], bool] | None = None
    """Something else that may settle the question, tried once if a proof takes long. True if it did."""
    timings: dict[str, float] = field(default_factory=dict)
    shown: Shown | None = None
    tests: int = 0
    _settled: bool = False
    _tried: set[Hashable] = field(default_factory=set)
    _waiting: list[Run] = field(default_factory=list)
    """Attempts that were begun. They go on beside those that a further test leads to."""

    def answer(self) -> Proved | Found | Failed:
        if not (heads(self.question.target) or heads(self.question.rewrite)):
            return Failed("neither function has a loop")
        gathered = self._gather()
        if gathered.differing is not None and differs(self.question, gathered.differing):
            result = confirm(self.question, gathered.differing, self.budget)
            if isinstance(result, Witness):
                return _found(result)
        if len(gathered.traces) < 2:
            return _too_few(gathered)
        return self._prove(gathered)

    def _gather(self) -> Gathered:
        started = time.perf_counter()
        self.question.options.progress("running both on inputs on which their loops turn")
        gathered = gather(self.question, self.budget, self.question.options.seed, self.own)
        self.timings["trace"] = time.perf_counter() - started
        self.tests = len(gathered.traces)
        return gathered

    def _prove(self, gathered: Gathered) -> Proved | Found | Failed:
        started = time.perf_counter()
        self.timings["guess"] = 0.0
        reasons: list[tuple[Order, NotShownError]] = []
        # Where a proof fails for want of a test, a model is one: with it everything begins again.
        for _ in range(1 + _MOST_LEARNED):
            if not self._try_all(gathered, reasons) or self._settled:
                break
            if gathered.differs and gathered.differing is not None:
                result = confirm(self.question, gathered.differing, self.budget)
                if isinstance(result, Witness):
                    return _found(result)
                break
        self.timings["solve"] = time.perf_counter() - started - self.timings["guess"]
        self.tests = len(gathered.traces)
        if self.shown is None:
            return self._failed(gathered, reasons)
        return self._proved(self.shown)

    def _try_all(self, gathered: Gathered, reasons: list[tuple[Order, NotShownError]]) -> bool:
        """Attempts take turns: the first ones get more time than later ones, but none waits for long, since the right
        one is often quick. True if one of them led to a test that was missing."""
        waiting = self._waiting
        quick = max(QUICK_SECONDS, self.budget.left * QUICK_SHARE)
        coming = _Coming(self._attempts(gathered), self._tried.union(run.attempt.key for run in waiting))
        learned = False
        while not self.budget.exhausted and not self._is_settled():
            run = min(waiting, key=lambda r: r.cost(quick, coming.best), default=None)
            # Only now: where it cuts the loops, and how the traces go together there, may take a while to find out.
            if run is None or coming.cost(quick) < run.cost(quick, coming.best):
                if learned:
                    return True
                begun = coming.begin(self.budget)
                if begun is not None:
                    waiting.append(begun)
                    continue
            if run is None:
                break
            reason = self._go(run, run.turn(quick, coming.best))
            if reason is None:
                return False
            if not run.out_of_time:
                waiting.remove(run)
                self._tried.add(run.attempt.key)
                stronger = coming.stronger(run, self.budget)
                waiting += [stronger] if stronger is not None else []
            if not run.out_of_time or self.budget.exhausted:
                reasons.append((run.attempt.order, reason))
            learned |= reason.inputs is not None and add_test(self.question, gathered, reason.inputs)
            if gathered.differs:
                return True
            for dropped in sorted(waiting, key=lambda r: r.cost(quick, coming.best))[MOST_WAITING:]:
                dropped.prover = None
        return learned

    def _is_settled(self) -> bool:
        """Whether something else has the answer meanwhile."""
        if self.meanwhile is not None and self.budget.spent >= LONG_SECONDS:
            settles, self.meanwhile = self.meanwhile, None
            self._settled = settles()
        return self._settled

    def _go(self, run: Run, seconds: float) -> NotShownError | None:
        """One turn. None if there is a proof now."""
        self.question.options.progress(f"proving loops, attempt {run.number}")
        budget, attempt = run.budget, run.attempt
        budget.renew(seconds)
        run.used += seconds
        try:
            if run.prover is None:
                simulation = Simulation(
                    self.question,
                    budget,
                    attempt.alignment,
                    attempt.traces,
                    attempt.stations,
                    attempt.degree,
                    attempt.order,
                )
                run.prover = Prover(simulation, budget)
            self.shown = run.prover.prove()
            return None
        except NotShownError as error:
            reason = error
        except Unsupported as error:
            reason = NotShownError(str(error), MORE_TIME if budget.exhausted else "")
        # What was not decided in what was left of a turn may be in the next one, if that is longer.
        run.out_of_time = budget.exhausted or (reason.helps == MORE_TIME and run.used < self.budget.left)
        return reason

    def _failed(self, gathered: Gathered, reasons: Sequence[tuple[Order, NotShownError]]) -> Failed:
        """What stopped the strongest attempt, of several the first."""
        if not reasons:
            return Failed("the traces of the two could not be paired", _helps(gathered, ""))
        reason = max(reasons, key=lambda r: (r[1].helps != MORE_TIME, r[0]))[1]
        missed = untaken(self.question, gathered.inputs) if not self.budget.exhausted else []
        why = f"no proof was found for the loops: {reason.why}"
        return Failed(f"{why}; {missed[0]}" if missed else why, _helps(gathered, reason.helps, bool(missed)))

    def _attempts(self, gathered: Gathered) -> Iterator[Attempt]:
        """Equations first, then with comparisons that the code makes; the same with stations elsewhere; then with other
        pairings; then with all comparisons; then with products, which come earlier where one side multiplies in its
        loops what the other does not, or does without a loop: there it must have come by it in another way."""
        sides = self.question.target, self.question.rewrite
        alike = multiplications(sides[0]) == multiplications(sides[1]) and all(map(heads, sides))
        early = self.question.options.degree > 1 and not alike
        single = frozenset.union(*map(single_turns, sides))
        found: list[Paired] = []
        pairings: list[Iterator[Alignment]] = []
        for stations in choices(self.question.target, self.question.rewrite):
            # Where turns are straight code on one side, how many are left decides everything.
            is_single = bool(single & (stations[0] | stations[1]))
            first = (Order.COMPARED,) if is_single else (Order.NONE, Order.COMPARED)
            traces = self._guessing(partial(traced_again, self.question, gathered, stations))
            found.append((stations, traces, []))
            pairings.append(as_counted(traces) if is_single else islice(alignments(traces), MOST_ALIGNMENTS))
            yield from self._paired(found[-1], pairings[-1], first)
            yield from _with(found[-1:], 2, (Order.COMPARED,) if early else ())
        for one, others in zip(found, pairings, strict=True):
            while len(one[2]) < MOST_ALIGNMENTS:
                known = len(one[2])
                yield from self._paired(one, others, (Order.COMPARED,))
                if len(one[2]) == known:
                    break
        yield from _with(found, 1, (Order.ALL,))
        for degree in range(2, self.question.options.degree + 1):
            orders = [order for order in Order if not (early and degree == 2 and order is Order.COMPARED)]
            yield from _with(found, degree, orders)

    def _paired(
        self,
        one: tuple[Stations, list[Traces], list[Alignment]],
        pairings: Iterator[Alignment],
        orders: Iterable[Order],
    ) -> Iterator[Attempt]:
        """With the next pairing at some stations, if there is one."""
        stations, traces, candidates = one
        alignment = self._guessing(partial(next, pairings, None))
        if alignment is not None:
            candidates.append(alignment)
            yield from _with([(stations, traces, [alignment])], 1, orders)

    def _guessing(self, guess: Callable[[], Guess]) -> Guess:
        started = time.perf_counter()
        found = guess()
        self.timings["guess"] += time.perf_counter() - started
        return found

    def _proved(self, shown: Shown) -> Proved:
        from isoform.engines.loops.prove.words import cuts, invariants

        simulation = shown.simulation
        proof = Proof(tuple(shown.obligations), cuts(simulation), invariants(simulation))
        ends = [part.goal.name for part in shown.asserted if part.place.get("to") == "end"]
        returns = any(not name.startswith(STATE_AT) for name in ends)
        return Proved(
            proof,
            Evidence(simulation.setting.world.terms, shown.asserted, HOW, returns, calls=True),
            said=f"{len(proof.obligations)} obligations shown, with what {self.tests} tests suggested",
            assumptions=tuple(simulation.setting.world.assumptions.values()),
        )


def _found(witness: Witness) -> Found:
    return Found(witness, said="a difference while looking for invariants")


def _with(found: Sequence[Paired], degree: int, orders: Iterable[Order]) -> Iterator[Attempt]:
    for stations, traces, candidates in found:
        for alignment in candidates:
            for order in orders:
                yield Attempt(stations, traces, alignment, degree, order)


def _too_few(gathered: Gathered) -> Failed:
    if not gathered.ran:
        return Failed("no test satisfies the preconditions", _helps(gathered, "tests that do (--tests)"))
    ended = ", ".join(f"on {count} {what}" for what, count in gathered.ended.most_common(3))
    why = f"of {gathered.ran} tests {len(gathered.traces) or 'none'} could be used" + (f": {ended}" if ended else "")
    return Failed(why, _helps(gathered, "a precondition (--assume) or tests (--tests) with which both stop early"))


def _helps(gathered: Gathered, specific: str, missed: bool = False) -> str:
    """What would help, most specific first."""
    if gathered.own and gathered.own_excluded == gathered.own:
        return f"tests that --assume allows: it excludes all {gathered.own} of --tests"
    if gathered.own_unused:
        return f"other tests: {gathered.own_unused[0]}"
    if missed:
        return "tests that go there (--tests), or a precondition that says that nothing does (--assume)"
    return specific or "a precondition (--assume), more tests (--tests), or more time (--budget)"
