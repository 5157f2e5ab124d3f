"""Runs with very many iterations. A proof that fails may fail because a narrow counter wraps, or a sum overflows."""

from __future__ import annotations

from itertools import islice

from isoform.borders.question import Question
from isoform.engines.loops.observe.inputs import LoopInputs
from isoform.engines.loops.tuning import MANY_SECONDS, MANY_SHARE, MANY_STEPS, MANY_STRETCH, MANY_TESTS
from isoform.engines.separate import differs
from isoform.model.budget import Budget
from isoform.model.outcome import Pair, Status


def differing_after_many_iterations(question: Question, budget: Budget) -> Pair | None:
    """Inputs on which loops make tens of thousands of iterations and the two end differently."""
    until = budget.left - min(MANY_SECONDS, MANY_SHARE * budget.left)
    inputs = LoopInputs(question, question.options.seed)
    inputs.stretch, inputs.mostly_largest = MANY_STRETCH, True
    steps = 0
    for both in islice(inputs, MANY_TESTS):
        if budget.exhausted or budget.left < until or steps > MANY_STEPS:
            break
        if not question.admits(both[0]):
            continue
        outcomes = question.run_both(both)
        steps += sum(outcome.steps for outcome in outcomes)
        ended = all(outcome.status is Status.DONE for outcome in outcomes)
        if ended and question.differences(*outcomes) and differs(question, both):
            return both
    return None
