"""From one cut to the next ones: merged symbolic execution of one side that starts at a block and notes its state at
every station."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection

from isoform.engines.loops.align.cuts import Stop
from isoform.engines.loops.observe.stations import cut_order
from isoform.lift.function import Block, BlockId, Function
from isoform.model.budget import Budget
from isoform.model.callee import Callees
from isoform.model.errors import Unsupported
from isoform.smt.terms import Term
from isoform.sym.chain import Base
from isoform.sym.execute import Execution, Summary
from isoform.sym.frame import SLOT_BYTES, Frame
from isoform.sym.state import Side, State
from isoform.sym.step import Temps

Place = str | int
"""A container by name, or an eight-byte slot of the frame by its distance from the stack pointer at entry."""


class Segment(Execution):
    """Every path from `start` on, until it has passed `horizon` stations or comes to a station that is not in
    `onward`, or has ended. Since every loop goes through a station, what lies between two of them has no loops."""

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
        super().__init__(side, function, budget, 0, callees)
        self.arrivals: dict[Stop, State] = {}
        """The state at the n-th station passed, by n and block."""
        self.finals: dict[int, Summary] = {}
        """The states at return, by how many stations were passed before."""
        self._stations = stations
        self._horizon = horizon
        self._onward = onward
        order = cut_order(function, stations)
        assert order is not None, "every loop goes through a station"
        self._blocks = order
        self._order = {block: index for index, block in enumerate(order)}
        self._arrive(start, state, {}, 0)
        self._follow()

    def _follow(self) -> None:
        while self._queue:
            if self.budget.exhausted:
                raise Unsupported(f"{self.budget.why_exhausted()} while encoding {self.function.name}")
            layer, position = heapq.heappop(self._queue)
            self._layer = layer
            state, temps = self._merge(self._waiting.pop((layer, position)))
            block = self._blocks[position]
            if layer and block in self._stations:
                self.arrivals[layer, block] = state.fork(state.condition)
                if layer >= self._horizon or (layer, block) not in self._onward:
                    continue
            if state.condition != self.terms.false:
                self._block(self.function.blocks[block], state, temps, layer)

    def _finish(self, target: Term, state: State) -> None:
        whole = self.summary
        empty = Summary(self.side, aborts=self.terms.false, recursive=whole.recursive)
        self.summary = self.finals.setdefault(self._layer, empty)
        super()._finish(target, state.fork(state.condition))
        self.summary = whole
        super()._finish(target, state)

    def _go(self, block: Block, target: BlockId, state: State, temps: Temps, layer: int) -> None:
        if state.condition == self.terms.false:
            return
        if target not in self._stations:
            self._arrive(target, state, temps, layer)
        elif layer < self._horizon:
            self._arrive(target, state, temps, layer + 1)


def start_state(side: Side, known: Callable[[Place], Term], memory: Term) -> State:
    """A state in which every register and every slot of the frame is what `known` says."""
    terms, machine = side.terms, side.world.machine
    values = {index: known(name) for index, name in enumerate(machine.containers)}
    # What is as at entry is left out: reading it there may rest on an assumption, which is noted then.
    registers = {index: value for index, value in values.items() if value != side.initial_register(index)}

    def initial(offset: int, size: int, epoch: int) -> Term:
        if epoch:
            return side.initial_frame(offset, size, epoch)
        slot, byte = divmod(offset, SLOT_BYTES)
        return terms.extract(known(SLOT_BYTES * slot), 8 * (byte + size) - 1, 8 * byte)

    def no_array() -> Term:
        raise Unsupported("a loop goes on with an array on the stack that is indexed")

    frame = Frame(side.frame_chain, initial, no_array, side.next_epoch)
    return State(side, registers, frame, Base(lambda: memory, side.constant_byte), terms.true)
