"""Functions that call themselves, with code in the place of the deeper calls.

Three rules, each an induction on the number of nested calls (`docs/engines/recursion.md` has the arguments):

- *unfolded*: a side's own code stands in the place of its deeper calls, some levels deep. What remains are deeper calls
  on which the two agree by induction: `f(x - 1) + 1` twice makes the same deeper call as `f(x - 2) + 2`.
- *replaced*: the other side's code stands in the place of the deeper calls. If A with B for its deeper calls is
  equivalent to B, then A and B are equivalent wherever A ends, by induction on the depth of A's calls. The question
  that remains is one about loops if B is a loop.
- Both together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from isoform.borders.question import Question
from isoform.engines.finding import Failed, Finding, Found, Proved
from isoform.engines.grounds import Unfolding
from isoform.engines.loopfree import Loopfree
from isoform.engines.separate import differs
from isoform.engines.witness import confirm
from isoform.lift.function import Function
from isoform.lift.unfold import deeper_calls, final_calls, unfolded
from isoform.model.budget import Budget
from isoform.model.errors import Unsupported
from isoform.model.outcome import Status
from isoform.model.values import dataclass
from isoform.model.verdict import Witness
from isoform.run.runner import run_traced
from isoform.sym.recursion import calls_itself

MOST_RUNS = 100
"""Runs in which to see a deeper call that ends. Those that do not end take the most time, 10 ms each."""
NOT_PROVED = "it was not proved, with code in the place of deeper calls, that the two do the same"
_ENDED = (Status.DONE, Status.ABORTED, Status.EXITED)
LOOPFREE_SECONDS = 5.0
"""For a question without loops: most are decided in less than one."""

HOW = {
    "unfolded": "In the place of the deeper calls of a side stands its own code, to the depth that the index says. "
    "The deeper calls that remain are the same on both sides by induction on the number of nested calls.",
    "replaced": "In the place of deeper calls of one side stands the code of the other. By induction on the depth of "
    "the calls of that side, the two are equivalent wherever it ends.",
}


@dataclass(frozen=True)
class _Attempt:
    """A question with code in the place of deeper calls, that answers the question itself."""

    question: Question
    unfolding: Unfolding

    @property
    def has_loop(self) -> bool:
        return self.question.target.has_loop or self.question.rewrite.has_loop


class Recursion:
    def answer(self, question: Question, budget: Budget) -> Finding:
        question.require_one_machine("recursion")
        if not calls_itself(question.target, question.rewrite):
            raise Unsupported("neither function calls itself")
        failed: Failed | None = None
        attempts = [*_attempts(question)]
        for number, attempt in enumerate(attempts):
            if budget.exhausted:
                break
            part = budget.part(budget.left / min(3, len(attempts) - number))
            finding = _settled(question, attempt, part)
            if not isinstance(finding, Failed):
                return finding
            failed = failed or finding
        return failed or Failed("no code could be put in the place of the deeper calls")


def _settled(question: Question, attempt: _Attempt, budget: Budget) -> Finding:
    try:
        finding = _asked(attempt, budget)
    except Unsupported as reason:
        return Failed(str(reason))
    if isinstance(finding, Proved):
        side = attempt.unfolding.side
        if side is not None and not _has_ended(question, side, budget):
            name = (question.target, question.rewrite)[side].name
            return Failed(f"in no test does {name} call itself and end: that the two agree where it ends says little")
        how = f"{HOW[attempt.unfolding.rule]} {finding.grounds.how}"
        said = f"{finding.said}, {attempt.unfolding.said}"
        return replace(finding, grounds=replace(finding.grounds, how=how, unfolding=attempt.unfolding), said=said)
    if isinstance(finding, Failed) and not finding.is_bug:
        return Failed(finding.why, finding.helps)
    if not isinstance(finding, Found):
        return Failed(NOT_PROVED)  # that a changed function does not run as the code of its file does is no bug
    # The other side's code is not what this side does: only the functions as they are show a difference.
    inputs = finding.witness.inputs, finding.witness.inputs
    witness = confirm(question, inputs, budget) if differs(question, inputs) else None
    if isinstance(witness, Witness):
        return replace(finding, witness=witness)
    return Failed(NOT_PROVED)


def _has_ended(question: Question, side: int, budget: Budget) -> bool:
    """Whether some run of a side, as it is, makes a deeper call and ends. The rule `replaced` shows nothing of a
    function that never ends: it must not be called equivalent to everything."""
    from isoform.engines.loops.observe.inputs import LoopInputs

    program = question.programs[side]
    calls = frozenset(deeper_calls(program.function))
    for inputs in islice(LoopInputs(question, question.options.seed), MOST_RUNS):
        if budget.exhausted:
            return False
        if not question.admits(inputs[0]):
            continue
        traced = run_traced(program, inputs[side], question.run_options(side), question.callees)
        if traced.outcome.status in _ENDED and any(v.program.ids[v.number] in calls for v in traced.visits):
            return True
    return False


def _asked(attempt: _Attempt, budget: Budget) -> Finding:
    question = attempt.question
    question.options.progress(f"proving by induction, {attempt.unfolding.said}")
    if not attempt.has_loop:
        return Loopfree().answer(question, budget.part(min(LOOPFREE_SECONDS, budget.left)))
    from isoform.engines.loops.engine import Loops

    return Loops().answer(question, budget)


# -- what to try -----------------------------------------------------------------------------------


def _attempts(question: Question) -> Iterator[_Attempt]:
    """Those that can be made, simplest first."""
    sides = question.target, question.rewrite
    recursive = [calls_itself(side) for side in sides]
    both = all(recursive)
    plain = [(1, 0), (0, 1), (2, 0), (0, 2), (1, 1), (1, 2), (2, 1)] if both else []
    has_loop = any(side.has_loop for side in sides)
    if both and not has_loop:
        yield from _unfolded(question, plain)
    for side in (0, 1):
        if recursive[side]:
            yield from _replaced(question, side, levels=0)
    if both and has_loop:
        yield from _unfolded(question, plain[:2])
    for side in (0, 1):
        if recursive[side] and not both:
            yield from _replaced(question, side, levels=1)


def _unfolded(question: Question, levels: list[tuple[int, int]]) -> Iterator[_Attempt]:
    for pair in levels:
        try:
            target, rewrite = (
                _levels(side, count) for side, count in zip((question.target, question.rewrite), pair, strict=True)
            )
        except Unsupported:
            continue
        yield _Attempt(_changed(question, target, rewrite), Unfolding("unfolded", pair))


def _replaced(question: Question, side: int, levels: int) -> Iterator[_Attempt]:
    """The deeper calls of a side replaced by the other side: those at its end, or all of them."""
    functions = question.target, question.rewrite
    try:
        own = _levels(functions[side], levels)
        other = functions[1 - side]
        every, last = deeper_calls(own), final_calls(own)
        choices = [last, every] if last and len(last) < len(every) else [every]
        for calls in choices:
            made = unfolded(own, other, calls)
            # The target may leave its objects on what only deeper calls of the rewrite are given.
            pair = (made, other) if side == 0 else (_with_no_bounds(other), made)
            changed = replace(_changed(question, *pair), changed=question.changed | {side})
            which = "last" if len(calls) < len(every) else "all"
            yield _Attempt(changed, Unfolding("replaced", (levels, 0) if side == 0 else (0, levels), side, which))
    except Unsupported:
        return


def _with_no_bounds(function: Function) -> Function:
    """The function, whose proof may not rest on that its accesses are inside objects."""
    return replace(function, bounds=tuple(bound._replace(is_sure=False) for bound in function.bounds))


def _levels(function: Function, levels: int) -> Function:
    found = function
    for _ in range(levels):
        found = unfolded(found, function, deeper_calls(found))
    return found


def _changed(question: Question, target: Function, rewrite: Function) -> Question:
    """What a changed question finds out about runs is not about the functions: it keeps that for itself."""
    return replace(question, target=target, rewrite=rewrite, versions=(), unreplayed=[], discovery=None)
