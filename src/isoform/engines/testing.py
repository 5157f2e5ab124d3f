"""The first rung: boundary and random inputs on both functions. Most different pairs end here."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from math import inf

from isoform.borders.question import Question
from isoform.engines.confirm import NOT_COMPARED, NotConfirmed, confirm, differs
from isoform.engines.finding import Failed, Finding, Found, WithinBound
from isoform.engines.inputs import InputMaker
from isoform.model.budget import Budget
from isoform.model.contract import BoundsRule
from isoform.model.outcome import Inputs, Status
from isoform.model.verdict import Witness

QUICK_TESTS = 24
THOROUGH_TESTS = 20_000
QUICK_STEPS = 250_000
"""A quick look, of a quarter of a second: what takes more steps is for the engines that reason."""


@dataclass(frozen=True)
class Tested:
    """What testing found. `witness` is None if nothing separates the two."""

    witness: Witness | None
    unconfirmed: NotConfirmed | None
    ran: int
    undecided: int
    """Tests on which a side did not stop, or reached something without semantics."""
    why_undecided: str = ""
    turns_vary: bool = False
    """Whether the target took so many more steps on some inputs than on others that its loops must have turned more."""

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
        return replace(finding, said=tested.sentence(), timings=timings, turns_vary=tested.turns_vary)


def _finding(tested: Tested, fuel: int) -> Finding:
    if tested.witness is not None:
        return Found(tested.witness)
    if tested.unconfirmed is not None:
        return Failed(tested.unconfirmed.sentence())
    if tested.ran == 0:
        return Failed("no test satisfies the preconditions", "drop --engine testing")
    decided = tested.ran - tested.undecided
    if not decided:
        why = f"on none of {tested.ran} tests both came to an end ({tested.why_undecided})"
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
    ran = undecided = total = 0
    why = ""
    unconfirmed: NotConfirmed | None = None
    steps: list[int] = []
    # A witness must not rest on what outside calls were made to return.
    mine = [(replace(left, call_seed=0), replace(right, call_seed=0)) for left, right in own]
    for number, inputs in enumerate(chain(mine, islice(maker, 4 * wanted))):
        if budget.exhausted or budget.left < half or (number >= len(mine) and total > most_steps):
            break
        if ran >= wanted + len(mine):
            break
        if not question.admits(inputs[0]):
            continue
        ran += 1
        outcomes = question.run_both(inputs)
        steps.append(outcomes[0].steps)
        total += sum(outcome.steps for outcome in outcomes)
        stuck = next((o for o in outcomes if o.status in (Status.OUT_OF_FUEL, Status.UNSUPPORTED)), None)
        left = outcomes[0].outside if question.contract.bounds is BoundsRule.ASSUME else ""
        if left:
            undecided += 1
            why = why or f"the target {left}"
        elif stuck is not None:
            undecided += 1
            why = why or stuck.reason or stuck.status.value
            if undecided == ran == 5 + len(mine):
                break  # nothing here can be run to its end
        outcomes_differ = bool(question.differences(*outcomes))
        separates = outcomes_differ and differs(question, inputs)
        if outcomes_differ and not separates and not left and stuck is None:
            undecided += 1
            why = why or NOT_COMPARED
        if separates:
            found = confirm(question, inputs, budget)
            if isinstance(found, Witness):
                return Tested(found, None, ran, undecided)
            unconfirmed = unconfirmed or found
            if found.is_bug:
                break
    turns_vary = max(steps, default=0) - min(steps, default=0) > len(question.target.instructions)
    return Tested(None, unconfirmed, ran, undecided, why, turns_vary)
