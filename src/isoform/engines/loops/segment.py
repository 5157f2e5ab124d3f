"""From one cut to the next ones: merged symbolic execution of one side that starts at a block and records its state at
every station."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import field

from isoform.engines.loops.align.cuts import Stop
from isoform.engines.loops.observe.stations import cut_order
from isoform.lift.function import BlockId, Function
from isoform.model.budget import Budget
from isoform.model.callee import Callees
from isoform.model.errors import Unsupported
from isoform.model.values import dataclass
from isoform.smt.terms import Term
from isoform.sym.chain import Base
from isoform.sym.execute import Execution
from isoform.sym.frame import SLOT_BYTES, Frame
from isoform.sym.policy import Policy
from isoform.sym.scope import Scope
from isoform.sym.side import Side
from isoform.sym.state import State
from isoform.sym.summary import Summary

Place = str | int
"""A container by name, or an eight-byte slot of the frame by its distance from the stack pointer at entry."""


class Segment:
    """Every path from `start`, until it has passed `horizon` stations, or reaches a station that is not in `onward`, or
    ends."""

    def __init__(
        self,
        side: Side,
        function: Function,
        budget: Budget,
        callees: Callees,
        start: BlockId,
        state: State,
        stations: frozenset[BlockId],
        horizon: int,
        onward: Collection[Stop],
    ) -> None:
        self.side = side
        self.function = function
        policy = _ToStations(entry=lambda side: state, first=start, stations=stations, horizon=horizon, onward=onward)
        self.arrivals = policy.arrivals
        self.finals = policy.finals
        self.summary = Execution(Scope(side, function, callees), budget, policy).run()


@dataclass(kw_only=True)
class _ToStations(Policy):
    """Every loop contains a station, so there are no loops between two of them: the layer is the number of stations
    that were passed."""

    first: BlockId
    stations: frozenset[BlockId]
    horizon: int
    onward: Collection[Stop]
    arrivals: dict[Stop, State] = field(default_factory=dict)
    """The state at the n-th station passed, by n and block."""
    finals: dict[int, Summary] = field(default_factory=dict)
    """The states at return, by how many stations were passed before."""

    def start(self, scope: Scope) -> BlockId:
        return self.first

    def order(self, function: Function) -> Sequence[BlockId]:
        order = cut_order(function, self.stations)
        assert order is not None, "every loop goes through a station"
        return order

    def goes_on(self, scope: Scope, state: State) -> bool:
        layer, block = stop = scope.layer, scope.block.id
        if not layer or block not in self.stations:
            return True
        self.arrivals[stop] = state.fork(state.condition)
        return layer < self.horizon and stop in self.onward

    def follow(self, scope: Scope, target: BlockId, state: State) -> int | None:
        if target not in self.stations:
            return scope.layer
        return scope.layer + 1 if scope.layer < self.horizon else None

    def finish(self, scope: Scope, target: Term, state: State) -> None:
        empty = Summary(scope.side, aborts=scope.terms.false, recursive=scope.summary.recursive)
        self.finals.setdefault(scope.layer, empty).add_return(target, state.fork(state.condition))
        scope.summary.add_return(target, state)


def start_state(side: Side, known: Callable[[Place], Term], memory: Term) -> State:
    """A state in which every register and every slot of the frame is what `known` says."""
    terms, machine = side.terms, side.machine
    values = {index: known(name) for index, name in enumerate(machine.containers)}
    # Values that are as at entry are left out: reading them there may rest on an assumption, which is recorded then.
    registers = {index: value for index, value in values.items() if value != side.initial_register(index)}

    def initial(offset: int, size: int, epoch: int) -> Term:
        if epoch:
            return side.initial_frame(offset, size, epoch)
        slot, byte = divmod(offset, SLOT_BYTES)
        return terms.extract(known(SLOT_BYTES * slot), 8 * (byte + size) - 1, 8 * byte)

    def no_array() -> Term:
        raise Unsupported("an array on the stack is indexed while a loop runs")

    frame = Frame(side.frame_chain, initial, no_array, side.next_epoch)
    return State(side, registers, frame, Base(lambda: memory, side.constant_byte), terms.true)
