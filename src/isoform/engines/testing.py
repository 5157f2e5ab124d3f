"""The first rung: boundary and random inputs on both functions. Most different pairs end here."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import field, replace
from itertools import chain, islice
from math import inf

from isoform.borders.question import Question
from isoform.borders.restrict_space import as_promised
from isoform.engines.finding import Failed, Finding, Found, WithinBound
from isoform.engines.inputs import InputMaker
from isoform.engines.separate import NOT_COMPARED, differs
from isoform.engines.witness import NotConfirmed, confirm
from isoform.model.budget import Budget
from isoform.model.contract import BoundsRule
from isoform.model.outcome import Inputs, Pair, Status
from isoform.model.values import dataclass
from isoform.model.verdict import Witness

QUICK_TESTS = 24
THOROUGH_TESTS = 20_000
STUCK_TESTS = 5
"""If this many tests, besides the user's own, did not end, no other will."""
QUICK_STEPS = 250_000
"""A quick look, of a quarter of a second: longer runs are for the engines that reason."""
CALL_STEPS = 100
"""What an outside call counts as: its results and what it leaves undefined take as long to make up. (gz_comp of zlib
has a loop of calls that ends only by chance: tests of it took 6 s before.)"""
OVERLAP_TESTS, OVERLAP_STEPS = 400, 250_000
"""The same for buffers that overlap at every small distance: two pointers have 128 such tests, three 384."""


@dataclass(frozen=True)
class Tested:
    """What testing found. `witness` is None if nothing separates the two."""

    witness: Witness | None
    unconfirmed: NotConfirmed | None
    ran: int
    undecided: int
    """Tests on which a side did not stop, or reached something without semantics."""
    why_undecided: str = ""
    iterations_vary: bool = False
    """Whether the target took so many more steps on some inputs than on others that its loops must have made more
    iterations."""
    never_ends: bool = False
    """Whether in every test one side did not stop within the step bound."""

    def sentence(self) -> str:
        if self.witness is not None:
            return f"a difference at test {self.ran}"
        if self.unconfirmed is not None:
            return f"no difference that could be confirmed: {self.unconfirmed.sentence()}"
        said = f"no difference in {self.ran} tests"
        return said + (f", {self.undecided} of them undecided ({self.why_undecided})" if self.undecided else "")


@dataclass(frozen=True)
class Testing:
    """The engine as the ladder asks it. `thorough`: no other one will be asked."""

    own: Sequence[tuple[Inputs, Inputs]] = ()
    thorough: bool = True

    def answer(self, question: Question, budget: Budget) -> Finding:
        started = time.perf_counter()
        tested = run_tests(question, budget, self.thorough, self.own)
        timings = {"test": time.perf_counter() - started}
        finding = _finding(tested, question.options.fuel)
        decided = tested.ran - tested.undecided if tested.witness is None and tested.unconfirmed is None else 0
        return replace(
            finding,
            said=tested.sentence(),
            timings=timings,
            iterations_vary=tested.iterations_vary,
            never_ends=tested.never_ends,
            examined=f"{decided} tests" if decided else "",
        )


def _finding(tested: Tested, fuel: int) -> Finding:
    if tested.witness is not None:
        return Found(tested.witness)
    if tested.unconfirmed is not None:
        return Failed(tested.unconfirmed.sentence())
    if tested.ran == 0:
        return Failed("no test satisfies the preconditions", "drop --engine testing")
    decided = tested.ran - tested.undecided
    if not decided:
        why = f"in none of {tested.ran} tests did both end ({tested.why_undecided})"
        return Failed(why, "another engine, or a larger --fuel, may help")
    bound = {"tests": tested.ran, "undecided": tested.undecided, "fuel": fuel}
    undecided = f" ({tested.undecided} more were undecided)" if tested.undecided else ""
    why = f"no difference in {decided} tests{undecided}; nothing is claimed about other inputs"
    return WithinBound(bound, why)


def run_tests(
    question: Question, budget: Budget, thorough: bool = False, own: Sequence[tuple[Inputs, Inputs]] = ()
) -> Tested:
    """Run both on many inputs, the user's `own` first. Inputs that the preconditions exclude do not count."""
    maker = InputMaker(question.contract, question.options.seed)
    wanted = THOROUGH_TESTS if thorough else QUICK_TESTS
    half = budget.left / 2
    most_steps = inf if thorough else QUICK_STEPS
    # A witness must not rest on the invented results of outside calls.
    mine = [(replace(left, call_seed=0), replace(right, call_seed=0)) for left, right in own]
    so_far = Trials(question, budget, STUCK_TESTS + len(mine))
    for number, inputs in enumerate(chain(mine, islice(maker, 4 * wanted))):
        if budget.exhausted or budget.left < half or (number >= len(mine) and so_far.steps > most_steps):
            break
        if so_far.ran >= wanted + len(mine):
            break
        kept = as_promised(question, inputs)
        if question.admits(kept[0]) and so_far.test(kept):
            return so_far.tested()
    if so_far.may_overlap:
        _test_overlaps(so_far, islice(maker.overlapping(), OVERLAP_TESTS), half)
    return so_far.tested()


def _test_overlaps(so_far: Trials, tests: Iterable[Pair], half: float) -> None:
    """Loops that were vectorised as if buffers did not overlap differ only if they do, at a distance that is shorter
    than a vector. Random tests find that by chance."""
    question, most = so_far.question, so_far.steps + OVERLAP_STEPS
    for inputs in tests:
        if so_far.budget.exhausted or so_far.budget.left < half or so_far.steps > most:
            return
        if question.admits(inputs[0]) and so_far.test(inputs):
            return


@dataclass
class Trials:
    """What tests have shown so far."""

    question: Question
    budget: Budget
    most_stuck: int
    witness: Witness | None = None
    unconfirmed: NotConfirmed | None = None
    ran: int = 0
    undecided: int = 0
    why: str = ""
    steps: int = 0
    """Of both sides, in all tests; an outside call counts as many."""
    target_steps: list[int] = field(default_factory=list)
    endless: int = 0
    """Tests in which one side did not stop within the step bound."""
    stores: bool = False
    """Whether any test changed memory."""
    trace: bool = False
    """Whether runs record the instructions that they execute."""

    def test(self, inputs: tuple[Inputs, Inputs]) -> bool:
        """Run both. True if no further test is needed."""
        question = self.question
        outcomes = question.run_both(inputs, self.trace)
        self.ran += 1
        self.target_steps.append(outcomes[0].steps)
        self.steps += sum(outcome.steps + CALL_STEPS * len(outcome.results) for outcome in outcomes)
        self.stores |= any(outcome.writes for outcome in outcomes)
        stuck = next((o for o in outcomes if o.status in (Status.OUT_OF_FUEL, Status.UNSUPPORTED)), None)
        left = outcomes[0].outside if question.contract.bounds is BoundsRule.ASSUME else ""
        if left:
            self._not_decided(f"the target {left}")
        elif stuck is not None:
            self.endless += stuck.status is Status.OUT_OF_FUEL
            self._not_decided(stuck.reason or stuck.status.value)
            if self.undecided == self.ran == self.most_stuck:
                return True
        if not question.differ(*outcomes):
            return False
        if differs(question, inputs):
            return self._confirm(inputs)
        if not left and stuck is None:
            self._not_decided(NOT_COMPARED)
        return False

    @property
    def may_overlap(self) -> bool:
        """Whether loops write memory, so that it may matter whether buffers overlap."""
        return self.stores and self.iterations_vary

    @property
    def iterations_vary(self) -> bool:
        steps = self.target_steps
        return max(steps, default=0) - min(steps, default=0) > len(self.question.target.instructions)

    def _not_decided(self, why: str) -> None:
        self.undecided += 1
        self.why = self.why or why

    def _confirm(self, inputs: tuple[Inputs, Inputs]) -> bool:
        found = confirm(self.question, inputs, self.budget)
        if isinstance(found, Witness):
            self.witness = found
            return True
        self.unconfirmed = self.unconfirmed or found
        return found.is_bug

    def tested(self) -> Tested:
        if self.witness is not None:
            return Tested(self.witness, None, self.ran, self.undecided)
        vary, never_ends = self.iterations_vary, 0 < self.ran == self.endless
        return Tested(None, self.unconfirmed, self.ran, self.undecided, self.why, vary, never_ends)
