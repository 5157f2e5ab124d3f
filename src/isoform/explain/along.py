"""How both sides are executed where the target is held to the path that it takes on the witness."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from isoform.lift.function import BlockId, Switch
from isoform.model.budget import Budget
from isoform.model.values import dataclass
from isoform.smt.solver import Answer, Solver
from isoform.smt.terms import Term, Terms
from isoform.sym.policy import Policy, Unrolled
from isoform.sym.scope import Scope
from isoform.sym.state import State
from isoform.sym.summary import Summary

BRANCH_SECONDS = 0.3
"""For each question whether a branch can be taken on the target's path. Most need milliseconds; what is left open is
followed, as everything is without the question."""
SHARE_OF_BRANCHES = 0.2
"""Of what is left of the budget, for all of these questions: on a path of many iterations each takes longer than the
one before."""


def ends(terms: Terms, summary: Summary) -> Term:
    """Inputs on which a function comes to an end on the paths that were followed."""
    returns = [summary.final.condition] if summary.final is not None else []
    return terms.any_of([*returns, summary.aborts, *(ending.condition for ending in summary.endings)])


@dataclass(kw_only=True)
class OnPath(Policy):
    """One path of a function, block by block. Inputs that leave it are not followed, and nothing is said of them."""

    path: Sequence[BlockId] = ()
    summary: Summary | None = field(default=None, init=False)
    """What the execution yields; complete before the other side is executed."""
    _next: int = field(default=1, init=False)

    def start(self, scope: Scope) -> BlockId:
        self.summary = scope.summary
        return super().start(scope)

    def follow(self, scope: Scope, target: BlockId, state: State) -> int | None:
        if self._next >= len(self.path) or target != self.path[self._next]:
            return None
        self._next += 1
        return scope.layer + 1


@dataclass(kw_only=True)
class Beside(Unrolled):
    """The other side, on inputs that take the target along its path: branches that none of them takes are left out.

    This is sound because every obligation asserts that the target comes to an end on its path (`ends`), and the
    conditions on inputs that were there before this side was executed; nothing else is asserted here. So the path
    condition of the only branch that is left may be that of the block before it: the two are the same for all inputs in
    question."""

    along: OnPath | None = None
    budget: Budget | None = None
    _given: tuple[Term, ...] = field(default=(), init=False)
    _solver: Solver | None = field(default=None, init=False)
    _part: Budget | None = field(default=None, init=False)

    def start(self, scope: Scope) -> BlockId:
        if self.along is not None and self.along.summary is not None and self.budget is not None:
            constraints = (term for _, term in scope.side.world.constraints)
            self._given = (*constraints, ends(scope.terms, self.along.summary))
            self._part = self.budget.part(self.budget.left * SHARE_OF_BRANCHES)
            self._solver = Solver(scope.terms, self._part)
        return super().start(scope)

    def branch(self, scope: Scope, state: State, condition: Term) -> tuple[Term, Term]:
        taken, other = super().branch(scope, state, condition)
        if scope.terms.false in (taken, other):
            return taken, other
        if self._is_impossible(taken):
            return scope.terms.false, state.condition
        return (state.condition, scope.terms.false) if self._is_impossible(other) else (taken, other)

    def follow(self, scope: Scope, target: BlockId, state: State) -> int | None:
        """Cases of a switch are asked about here: no branch leads to them."""
        if isinstance(scope.block.exit, Switch) and self._is_impossible(state.condition):
            return None
        return super().follow(scope, target, state)

    def _is_impossible(self, condition: Term) -> bool:
        if self._solver is None or self._part is None or self._part.exhausted:
            return False
        return self._solver.check([*self._given, condition], BRANCH_SECONDS) is Answer.UNSAT
