"""Traces for guessing: both functions run on inputs on which their loops turn a few times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice

from isoform.budget import Budget
from isoform.engines.loops.align import Traces
from isoform.engines.loops.inputs import LoopInputs
from isoform.engines.loops.stations import Stations, heads
from isoform.outcome import Inputs, Outcome, Status
from isoform.question import Question
from isoform.run.observe import MOST_SNAPSHOTS, Snapshot, TooManySnapshotsError, observe
from isoform.run.runner import RunOptions

WANTED = 16
_MOST_TRIED = 160
_LONGEST = 60
"""Stations of one side in a test that is used."""
_FUEL = 3000
_MOST_SECONDS = 6.0
_TURNED = "the loops turned more than"


@dataclass
class Gathered:
    """The traces, and what was seen on the way."""

    traces: list[Traces] = field(default_factory=list)
    inputs: list[tuple[Inputs, Inputs]] = field(default_factory=list)
    differing: tuple[Inputs, Inputs] | None = None
    """Inputs on which the two end in different ways."""
    ended: Counter[str] = field(default_factory=Counter)
    """How runs ended that were of no use."""
    ran: int = 0
    excluded: int = 0
    """Inputs that the preconditions do not allow."""
    own: int = 0
    own_excluded: int = 0
    own_unused: list[str] = field(default_factory=list)
    """Why some of the user's tests were of no use."""

    def note(self, what: str, number: int) -> None:
        """The test of this number was of no use."""
        self.ended[what] += 1
        if number <= self.own:
            self.own_unused.append(f"on test {number} of --tests {what}")


def gather(question: Question, budget: Budget, seed: int, own: Sequence[tuple[Inputs, Inputs]] = ()) -> Gathered:
    """Run both on `own` inputs and then on made-up ones until there are enough traces."""
    found = Gathered(own=len(own))
    stations = heads(question.target), heads(question.rewrite)
    options = _run_options(question)
    until = budget.left - _MOST_SECONDS
    lengths: Counter[tuple[int, int]] = Counter()
    wanted = max(WANTED, min(len(own), WANTED) + WANTED // 2)
    for number, inputs in enumerate(chain(own, islice(LoopInputs(question, seed), _MOST_TRIED)), 1):
        if len(found.traces) >= wanted or budget.exhausted or budget.left < until:
            break
        is_own = number <= len(own)
        if not question.admits(inputs[0]):
            found.excluded += 1
            found.own_excluded += is_own
            continue
        found.ran += 1
        ran = _observe(question, inputs, options, stations)
        if ran is None:
            found.note(_why_so_long(question, inputs) if is_own else f"{_TURNED} {MOST_SNAPSHOTS} times", number)
            continue
        (left, target), (right, rewrite) = ran
        if target.status is not Status.DONE or rewrite.status is not Status.DONE:
            found.note(_how_it_ended(target, rewrite, options.fuel), number)
            if target.status is not rewrite.status and _differ(question, target, rewrite):
                found.differing = found.differing or _without_results(inputs)
            continue
        if _differ(question, target, rewrite):
            found.differing = _without_results(inputs)
            break
        length = len(left), len(right)
        if max(length) > _LONGEST:
            found.note(f"{_TURNED} {_LONGEST} times", number)
            continue
        if lengths[length] >= 3 and not is_own:
            continue
        lengths[length] += 1
        found.traces.append(Traces(tuple(left), tuple(right)))
        found.inputs.append(inputs)
    return found


def _why_so_long(question: Question, inputs: tuple[Inputs, Inputs]) -> str:
    target, rewrite = question.run_both(inputs)
    if Status.OUT_OF_FUEL in (target.status, rewrite.status):
        return _how_it_ended(target, rewrite, question.options.fuel)
    return f"{_TURNED} {MOST_SNAPSHOTS} times"


def _how_it_ended(target: Outcome, rewrite: Outcome, fuel: int) -> str:
    side, outcome = ("target", target) if target.status is not Status.DONE else ("rewrite", rewrite)
    if outcome.status is Status.OUT_OF_FUEL:
        return f"the {side} did not stop within {fuel} steps"
    return f"the {side} {outcome.status.value}" + (f" ({outcome.reason})" if outcome.reason else "")


def traced_again(question: Question, gathered: Gathered, stations: Stations) -> list[Traces]:
    """The same tests, seen at other stations."""
    found = []
    for inputs in gathered.inputs:
        ran = _observe(question, inputs, _run_options(question), stations)
        if ran is not None and max(len(ran[0][0]), len(ran[1][0])) <= _LONGEST:
            found.append(Traces(tuple(ran[0][0]), tuple(ran[1][0])))
    return found


def _run_options(question: Question) -> RunOptions:
    fuel = min(_FUEL, question.options.fuel)
    return RunOptions(fuel, False, False, question.contract.stack_argument_bytes)


def _without_results(inputs: tuple[Inputs, Inputs]) -> tuple[Inputs, Inputs]:
    """A witness must not rest on what outside calls were made to return."""
    return replace(inputs[0], call_seed=0), replace(inputs[1], call_seed=0)


def _differ(question: Question, target: Outcome, rewrite: Outcome) -> bool:
    return bool(question.contract.differences(target, rewrite))


def _observe(
    question: Question,
    inputs: tuple[Inputs, Inputs],
    options: RunOptions,
    stations: Stations,
) -> tuple[tuple[list[Snapshot], Outcome], tuple[list[Snapshot], Outcome]] | None:
    try:
        left, right = (
            observe(program, side, options, question.callees, watched)
            for program, side, watched in zip(question.programs, inputs, stations, strict=True)
        )
    except TooManySnapshotsError:
        return None
    return left, right
