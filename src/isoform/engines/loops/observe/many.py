"""Runs with very many iterations. A proof that fails may fail because a narrow counter wraps, or a sum overflows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, cycle, islice
from random import Random

from isoform.borders.question import Question
from isoform.engines.loops.observe.inputs import LoopInputs
from isoform.engines.loops.tuning import (
    MANY_ITERATIONS,
    MANY_OF_ONE_TESTS,
    MANY_SECONDS,
    MANY_SHARE,
    MANY_STEPS,
    MANY_STRETCH,
    MANY_TESTS,
)
from isoform.engines.separate import differs
from isoform.model.budget import Budget
from isoform.model.contract import Argument
from isoform.model.outcome import Inputs, Pair, Status
from isoform.model.placement import put_argument
from isoform.model.signature import TypeKind
from isoform.model.values import dataclass


@dataclass(frozen=True)
class LongRuns:
    differing: Pair | None
    """Inputs on which the two end differently."""
    agreed: int
    """Runs before on which they do not."""
    longest: int
    """Steps of the longest of them."""

    @property
    def examined(self) -> str:
        return f"{self.agreed} runs of up to {self.longest:,} steps" if self.agreed else ""


def after_many_iterations(question: Question, budget: Budget) -> LongRuns:
    """Runs in which loops make tens of thousands of iterations."""
    until = budget.left - min(MANY_SECONDS, MANY_SHARE * budget.left)
    steps = agreed = longest = 0
    for both in chain(_with_one_large(question), islice(_all_large(question), MANY_TESTS)):
        if budget.exhausted or budget.left < until or steps > MANY_STEPS:
            break
        if not question.admits(both[0]):
            continue
        outcomes = question.run_both(both)
        steps += sum(outcome.steps for outcome in outcomes)
        ended = all(outcome.status is Status.DONE for outcome in outcomes)
        if ended and question.differ(*outcomes):
            if differs(question, both):
                return LongRuns(both, agreed, longest)
        elif ended:
            agreed, longest = agreed + 1, max(longest, *(outcome.steps for outcome in outcomes))
    return LongRuns(None, agreed, longest)


def _all_large(question: Question) -> Iterator[Pair]:
    inputs = LoopInputs(question, question.options.seed)
    inputs.stretch, inputs.mostly_largest = MANY_STRETCH, True
    return iter(inputs)


def _with_one_large(question: Question) -> Iterator[Pair]:
    """Ordinary inputs, with a large number for one argument after the other. Several of each: what overflows shows for
    some numbers only."""
    numbers = [a for a in question.contract.arguments if a.type.kind is TypeKind.INTEGER and a.type.bits >= 32]
    random, inputs = Random(question.options.seed), iter(LoopInputs(question, question.options.seed))
    for argument in islice(cycle(numbers), MANY_OF_ONE_TESTS * len(numbers)):
        value = random.randrange(MANY_ITERATIONS // 2, MANY_ITERATIONS)
        left, right = next(inputs)
        yield _with_value(question, left, argument, value), _with_value(question, right, argument, value)


def _with_value(question: Question, inputs: Inputs, argument: Argument, value: int) -> Inputs:
    registers, memory = dict(inputs.registers), dict(inputs.memory)
    put_argument(question.contract.machine, argument, value, registers, memory, 0)
    return replace(inputs, registers=registers, memory=memory)
