"""One symbolic pass over exactly the blocks that a run executed (seed 000, sections 4.1 and 4.2).

The run decides each branch; the pass collects the conditions. Constants fold as terms are built, so conditions that no
input decides never appear, and terms are in single-assignment form by nature.
"""

from __future__ import annotations

from dataclasses import replace

from isoform.engines.concolic.follow import Following
from isoform.engines.concolic.path import COMPLETE, DecisionKind, End, Path, PathSnapshot
from isoform.engines.concolic.record import EndOfPathError, Record
from isoform.engines.concolic.targets import Targets
from isoform.lift.function import Block, Function
from isoform.model.budget import Budget
from isoform.model.callee import Callees
from isoform.model.errors import Unsupported
from isoform.model.outcome import Status
from isoform.run.runner import Traced
from isoform.smt.terms import Terms
from isoform.sym.execute import Execution
from isoform.sym.scope import Scope
from isoform.sym.side import Side
from isoform.sym.summary import Summary


class Walker:
    """Walks the runs of one function: executes the blocks of a run one after the other."""

    def __init__(
        self, side: Side, function: Function, budget: Budget, callees: Callees, depth: int, targets: Targets
    ) -> None:
        self._scope = Scope(side, function, callees)
        self._policy = Following(self._scope, targets)
        self._execution = Execution(self._scope, budget, self._policy)
        self._budget = budget
        self._depth = depth

    def walk(self, traced: Traced, resume: PathSnapshot | None = None) -> Path:
        """The path of a run; from `resume` if it took the same path until there."""
        record = Record(self._scope, self._policy.entry, self._depth, traced, resume)
        self._policy.record = record
        path = record.path
        try:
            self._follow(record)
        except EndOfPathError:
            pass
        except Unsupported as reason:
            path.end, path.why = End.LOST, str(reason)
        if path.end in COMPLETE:
            _check_code(path, self._scope)
        path.last = record.snapshot()
        path.condition = record.state.condition
        free = [decision.edge for decision in path.decisions if decision.kind is not DecisionKind.VALID]
        path.free_condition = self._scope.terms.all_of(free)
        _settle(path.summary, self._scope.terms)
        return path

    def _follow(self, record: Record) -> None:
        traced = record.path.traced
        for position in range(record.position, len(traced.visits)):
            if position % 256 == 0:
                self._budget.require(f"following a run of {self._scope.function.name}")
            record.enter(position)
            if not self._execution.ops(record.state, record.temps, self._scope.number):
                record.end_as(End.LOST, "the run and its formulas disagree")
            if position >= len(traced.targets):
                break
            self._execution.leave(record.state, record.temps)
            self._scope.number = 0
        if traced.outcome.status is Status.OUT_OF_FUEL:
            record.end_as(End.FUEL)
        record.end_as(End.LOST, traced.outcome.reason or traced.outcome.status.value)


def _settle(summary: Summary, terms: Terms) -> None:
    """What the summary says holds on this path; the path's condition stands apart from it."""
    if summary.final is not None:
        summary.final = summary.final.fork(terms.true)
    if summary.aborts != terms.false:
        summary.aborts = terms.true
    summary.faults = [replace(fault, condition=terms.true) for fault in summary.faults]
    summary.endings = [replace(ending, condition=terms.true) for ending in summary.endings]


def _check_code(path: Path, scope: Scope) -> None:
    """Code that was found by jumping there is guarded only from then on: nothing may have been stored to it before, for
    any input that takes this path."""
    visits = path.traced.visits
    first = visits[0].program
    others = [visit for visit in visits if visit.program is not first]
    if not others or not path.stores:
        return
    code = {byte for visit in others for byte in _bytes(visit.block, visit.program.function)}
    for address, size in path.stores:
        where = scope.terms.layout.placed(address, size)
        if where is None or not code.isdisjoint(range(where, where + size)):
            path.why = f"{scope.function.name} may write to its own code"
            return


def _bytes(block: Block, function: Function) -> set[int]:
    return {byte for address in block.steps for byte in range(address, function.instructions[address].next_address)}
