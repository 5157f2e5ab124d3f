"""Advice for a question that stays open: a precondition with which it is proved, tried before it is offered.

This is no part of a verdict's meaning. The precondition is a guess about what callers pass, and the user has to know
whether they do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import islice, pairwise

from isoform.borders.question import Engine, Options, Question
from isoform.engines.inputs import InputMaker
from isoform.engines.ladder import Ladder
from isoform.model.budget import Budget
from isoform.model.contract import Argument
from isoform.model.errors import Unsupported, UserError
from isoform.model.outcome import Inputs, Pair, Status
from isoform.model.placement import put_argument
from isoform.model.signature import TypeKind
from isoform.model.verdict import Bounded, Equivalent, Unknown, Verdict

ADVISING_SECONDS, ADVISING_SHARE = 6.0, 0.5
"""Of processor time, for trying the precondition, and the largest share of what is left of the budget."""
LEAST_SECONDS = 0.5
"""With less left of the budget nothing is tried."""
LARGEST_COUNT = 15
"""The largest count in the precondition. Loops that make one iteration for each are then unrolled completely."""
_COUNTS = (1, 4, 9, LARGEST_COUNT)
_TRIED_INPUTS = 3
_NARROWEST_BITS = 8

Pose = Callable[[Options, Budget], Question]
"""The same question with other options."""


def with_advice(question: Question, verdict: Verdict, pose: Pose, budget: Budget) -> Verdict:
    """An open verdict with a precondition under which the question is proved, if one is found with what is left of the
    budget. All else of the verdict stays as it is."""
    is_open = isinstance(verdict, (Unknown, Bounded)) and question.options.engine is Engine.AUTO
    if not is_open or budget.interrupted or budget.left < LEAST_SECONDS:
        return verdict
    assert isinstance(verdict, (Unknown, Bounded))
    text = small_counts(question)
    part = budget.part(min(ADVISING_SECONDS, budget.left * ADVISING_SHARE))
    budget.is_closed = False
    try:
        is_proved = text is not None and _is_proved(question, text, pose, verdict, part)
    finally:
        budget.is_closed = True
    if not is_proved:
        return verdict
    advice = f'with --assume "{text}" it is proved in {part.spent:.1f} s'
    return replace(verdict, helps=f"{advice}; else {verdict.helps}" if verdict.helps else advice)


def _is_proved(question: Question, text: str, pose: Pose, verdict: Verdict, budget: Budget) -> bool:
    """Whether the two are equivalent under a further precondition."""
    question.options.progress(f"trying --assume '{text}'")
    assume = (*question.options.assume, text)
    options = replace(question.options, assume=assume, cert=None, so_far=lambda so_far: None)
    try:
        assumed = pose(options, budget)
        return isinstance(Ladder(assumed, (verdict.target, verdict.rewrite), budget).climb(), Equivalent)
    except (Unsupported, UserError):
        return False


# -- which precondition -----------------------------------------------------------------------------


def small_counts(question: Question) -> str | None:
    """That all parameters that say how often loops iterate are small, as a condition in C; None if none does."""
    if not (question.target.has_loop or question.rewrite.has_loop):
        return None
    made = islice(InputMaker(question.contract, question.options.seed), 4 * _TRIED_INPUTS)
    tests = list(islice((pair for pair in made if question.admits(pair[0])), _TRIED_INPUTS))
    found = (_as_count(question, a, tests) for a in question.contract.arguments if _may_count(a))
    return " && ".join(filter(None, found)) or None


def _may_count(argument: Argument) -> bool:
    return argument.type.kind is TypeKind.INTEGER and argument.type.bits >= _NARROWEST_BITS and bool(argument.name)


def _as_count(question: Question, argument: Argument, tests: list[Pair]) -> str:
    """The condition, if runs take longer the greater the parameter is. 0 is left out if it is none of the small counts:
    loops that test after an iteration then wrap around."""
    for test in tests:
        steps = [_steps(question, argument, test, count) for count in _COUNTS]
        if all(steps) and all(one < other for one, other in pairwise(steps)):
            name, zero = argument.name, _steps(question, argument, test, 0)
            if not 0 < zero <= steps[1]:
                return f"1 <= {name} && {name} <= {LARGEST_COUNT}"
            return f"0 <= {name} && {name} <= {LARGEST_COUNT}" if argument.type.signed else f"{name} <= {LARGEST_COUNT}"
    return ""


def _steps(question: Question, argument: Argument, test: Pair, count: int) -> int:
    """How many steps the target makes with this argument; 0 if it does not return."""

    def with_count(inputs: Inputs) -> Inputs:
        registers, memory = dict(inputs.registers), dict(inputs.memory)
        put_argument(question.contract.machine, argument, count, registers, memory, 0)
        return replace(inputs, registers=registers, memory=memory)

    outcome = question.run_both((with_count(test[0]), with_count(test[1])))[0]
    return outcome.steps if outcome.status is Status.DONE else 0
