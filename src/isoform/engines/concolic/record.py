"""A path while it is walked: where the walk is, and the decisions of the run so far."""

from __future__ import annotations

from collections.abc import Callable

from isoform.engines.concolic.path import ELSEWHERE, Decision, DecisionKind, End, Key, Path, PathSnapshot
from isoform.lift.function import Block
from isoform.run.compile import Program
from isoform.run.runner import Traced
from isoform.smt.shapes import Negation
from isoform.smt.terms import Term
from isoform.sym.scope import Scope
from isoform.sym.side import Side
from isoform.sym.state import State
from isoform.sym.step import Temps
from isoform.sym.summary import Summary


class EndOfPathError(Exception):
    """The walk is over; the path says how it ended."""


class Record:
    """Started at the entry, or from an earlier path's snapshot. The scope has the block and the micro-op."""

    def __init__(
        self, scope: Scope, entry: Callable[[Side], State], depth: int, traced: Traced, resume: PathSnapshot | None
    ) -> None:
        self._scope = scope
        self._terms = scope.terms
        self._depth = depth
        self.decided: dict[Term, Key] = {}
        self.position = 0
        """In the run, the position of the block."""
        self.memory = 0
        """Loads and stores of the run before."""
        self.state: State
        self.temps: Temps
        self.path = self._begin(traced, entry) if resume is None else self._resume(traced, resume)
        scope.summary = self.path.summary
        self.programs = list(dict.fromkeys(visit.program for visit in traced.visits[: self.position + 1]))
        """The functions whose code the run was in so far."""

    def _begin(self, traced: Traced, entry: Callable[[Side], State]) -> Path:
        self._scope.side.rewind((0, 0))
        self._scope.number = 0
        self.state, self.temps = entry(self._scope.side), {}
        return Path(traced, Summary(self._scope.side, aborts=self._terms.false))

    def _resume(self, traced: Traced, old: PathSnapshot) -> Path:
        before = old.path
        decisions = []
        for decision in before.decisions:
            if decision.before is old:
                break
            decisions.append(decision)
            self._note(decision.term, decision.key)
        self._scope.side.rewind(old.unknowns)
        self._scope.number = old.number
        self.position, self.memory = old.visit, old.memory
        self.state, self.temps = old.state.fork(old.state.condition), dict(old.temps)
        summary = Summary(self._scope.side, aborts=self._terms.false, calls=before.calls[: old.calls])
        return Path(
            traced,
            summary,
            decisions,
            loads=before.loads[: old.loads],
            stores=before.stores[: old.stores],
            pointers=before.pointers[: old.pointers],
            kept=before.kept[: old.kept],
        )

    def enter(self, position: int) -> None:
        """Enter the next block of the run."""
        visit = self.path.traced.visits[position]
        if visit.program not in self.programs:
            self.programs.append(visit.program)
        self.position = position
        self._scope.block, self._scope.layer = visit.block, position
        if self._scope.number == 0:
            self.memory = visit.touched

    @property
    def program(self) -> Program:
        """The function whose code the run is in."""
        return self.path.traced.visits[self.position].program

    @property
    def goes_on(self) -> bool:
        """Whether another block follows."""
        return self.position + 1 < len(self.path.traced.visits)

    def end_as(self, end: End, why: str = "") -> None:
        self.path.end = end
        self.path.why = self.path.why or why
        raise EndOfPathError

    def decide(self, kind: DecisionKind, condition: Term, key: bool) -> None:
        """Record that the run decided a condition as `key` says, unless that was implied before."""
        terms = self._terms
        if condition in (terms.true, terms.false):
            if (condition == terms.true) != key:
                self.end_as(End.LOST, "the run and its formulas disagree")
            return
        shape = terms.shape(condition)
        if isinstance(shape, Negation):
            condition, key = shape.inner, not key
        self.take(kind, condition, key, condition if key else terms.negate(condition))

    def take(self, kind: DecisionKind, term: Term, key: Key, edge: Term) -> None:
        if term in self.decided:
            if self.decided[term] != key:
                self.end_as(End.LOST, "the run and its formulas disagree")
            return
        if kind is not DecisionKind.VALID and self.path.depth >= self._depth:
            self.end_as(End.DEPTH)
        scope = self._scope
        at_exit = scope.number == len(scope.block.ops)
        address = _last_address(scope.block) if at_exit else scope.address
        self.path.decisions.append(Decision(kind, term, key, edge, address, self.snapshot()))
        self._note(term, key)
        self.state.condition = self._terms.conj(self.state.condition, edge)

    def snapshot(self) -> PathSnapshot:
        path, state = self.path, self.state
        return PathSnapshot(
            path,
            state.fork(state.condition),
            dict(self.temps),
            self.position,
            self._scope.number,
            self.memory,
            self._scope.side.mark(),
            len(path.loads),
            len(path.stores),
            len(path.calls),
            len(path.pointers),
            len(path.kept),
        )

    def _note(self, term: Term, key: Key) -> None:
        if key != ELSEWHERE:
            self.decided[term] = key


def _last_address(block: Block) -> int:
    if block.steps:
        return block.steps[-1]
    return block.addresses[-1] if block.addresses else block.id.address
