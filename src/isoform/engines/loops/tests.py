"""Traces for guessing: both functions run on inputs on which their loops turn a few times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice

from isoform.budget import Budget
from isoform.engines.loops.align import Traces, heads
from isoform.engines.loops.inputs import LoopInputs
from isoform.lift.function import BlockId
from isoform.outcome import Inputs, Outcome, Status
from isoform.question import Question
from isoform.run.observe import Snapshot, TooManySnapshotsError, observe
from isoform.run.runner import RunOptions

WANTED = 16
_MOST_TRIED = 160
_LONGEST = 60
"""Stations of one side in a test that is used."""
_FUEL = 3000
_MOST_SECONDS = 6.0


@dataclass
class Gathered:
    """The traces, and what was seen on the way."""

    traces: list[Traces] = field(default_factory=list)
    inputs: list[tuple[Inputs, Inputs]] = field(default_factory=list)
    differing: tuple[Inputs, Inputs] | None = None
    """Inputs on which the two end in different ways."""
    ended: Counter[str] = field(default_factory=Counter)
    """How runs ended that were of no use."""


def gather(question: Question, budget: Budget, seed: int, own: Iterable[tuple[Inputs, Inputs]] = ()) -> Gathered:
    """Run both on `own` inputs and then on made-up ones until there are enough traces."""
    found = Gathered()
    stations = heads(question.target), heads(question.rewrite)
    fuel = min(_FUEL, question.options.fuel)
    options = RunOptions(fuel, False, False, question.contract.stack_argument_bytes)
    until = budget.left - _MOST_SECONDS
    lengths: Counter[tuple[int, int]] = Counter()
    for inputs in (*own, *islice(LoopInputs(question, seed), _MOST_TRIED)):
        if len(found.traces) >= WANTED or budget.exhausted or budget.left < until:
            break
        if not question.admits(inputs[0]):
            continue
        ran = _observe(question, inputs, options, stations)
        if ran is None:
            found.ended["turned too often"] += 1
            continue
        (left, target), (right, rewrite) = ran
        if target.status is not Status.DONE or rewrite.status is not Status.DONE:
            found.ended[next(o for o in (target, rewrite) if o.status is not Status.DONE).status.value] += 1
            if target.status is not rewrite.status and _differ(question, target, rewrite):
                found.differing = found.differing or inputs
            continue
        if _differ(question, target, rewrite):
            found.differing = inputs
            break
        length = len(left), len(right)
        if max(length) > _LONGEST or lengths[length] >= 3:
            continue
        lengths[length] += 1
        found.traces.append(Traces(tuple(left), tuple(right)))
        found.inputs.append(inputs)
    return found


def _differ(question: Question, target: Outcome, rewrite: Outcome) -> bool:
    return bool(question.contract.differences(target, rewrite))


def _observe(
    question: Question,
    inputs: tuple[Inputs, Inputs],
    options: RunOptions,
    stations: tuple[frozenset[BlockId], frozenset[BlockId]],
) -> tuple[tuple[list[Snapshot], Outcome], tuple[list[Snapshot], Outcome]] | None:
    try:
        left, right = (
            observe(program, side, options, question.callees, watched)
            for program, side, watched in zip(question.programs, inputs, stations, strict=True)
        )
    except TooManySnapshotsError:
        return None
    return left, right
