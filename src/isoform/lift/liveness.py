"""Which registers and temporaries are live at each point: those that some path may still read.

Sets are integers with one bit for each byte of a container and one for each temporary, so that joining two costs one
machine operation per word. A micro-op that only moves bytes of registers reads only the bytes that are live in its
result.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from isoform.lift.cfg import SELF
from isoform.lift.function import (
    Block,
    BlockId,
    Branch,
    Call,
    Exit,
    Function,
    Return,
    Stop,
    Switch,
    Unfolded,
    outside_call,
)
from isoform.model.machine import Machine
from isoform.model.microop import Kind, MicroOp, Space, Var

Bits = int

_EFFECTS = frozenset({Kind.STORE, Kind.ABORT, Kind.ASSUME, Kind.UNSUPPORTED})
_MOVES = frozenset({Kind.COPY, Kind.PIECE, Kind.INT_ZEXT, Kind.SUBPIECE})
"""Every byte of the result is one byte of an input, or zero."""


class Liveness:
    """Backward data flow over a function. `at_exit` are the containers, and `parts` the parts of containers, that are
    outputs of the function. Outside calls read every argument register except those in `not_passed`. Without
    `calls_read`, only what the code itself reads is live, not what an outside function, or unknown code that it jumps
    to, may read."""

    def __init__(
        self,
        function: Function,
        at_exit: Iterable[str],
        parts: Iterable[Var] = (),
        not_passed: Iterable[str] = (),
        calls_read: bool = True,
    ) -> None:
        self._function = function
        self._calls_read = calls_read
        self._positions = function.machine.byte_positions
        self._masks = function.machine.masks
        self._temps: dict[int, Bits] = {}
        self._next_temp = len(self._positions)
        machine = function.machine
        self._all_registers = (1 << self._next_temp) - 1
        self._outputs = self.mask_of(machine, at_exit)
        for part in parts:
            self._outputs |= self.mask(part)
        convention = machine.convention
        # If only one address ends the program, a return to another one is a computed jump.
        self._is_computed = convention.return_address in machine.initial
        self._at_return = self._all_registers if self._is_computed else self._outputs
        pointer = (convention.stack_pointer,) if convention.stack_pointer else ()
        arguments = (*convention.integer_arguments, *convention.float_arguments, *convention.result[:1])
        # What a callee relies on besides its arguments.
        expected = (*convention.as_at_entry, *pointer)
        self._read_by_calls = self.mask_of(machine, (*(arguments if calls_read else ()), *expected))
        self._read_by_calls &= ~self.mask_of(machine, not_passed)
        self._read_by_leaving = self.mask_of(machine, (*(convention.result[:1] if calls_read else ()), *expected))
        self._lost_in_calls = self.mask_of(machine, (*convention.scratch_after_call, *convention.result))
        self._results = self.mask_of(machine, (*convention.result, *convention.float_result))
        system = convention.system_arguments if calls_read else ()  # a service need not take all of them
        self._read_by_system = self.mask_of(machine, (*system, *pointer))
        self._lost_in_system = self.mask_of(machine, (*convention.scratch_after_system, *convention.result[:1]))
        self.entry: dict[BlockId, Bits] = {}
        """What is live at the start of each block."""
        self._solve()

    def mask_of(self, machine: Machine, names: Iterable[str]) -> Bits:
        bits = 0
        for name in names:
            bits |= self.mask(machine.registers[name])
        return bits

    def mask(self, var: Var) -> Bits:
        if var.space is Space.REGISTER:
            found = self._masks.get(var)
            if found is None:
                found = self._masks[var] = self._register_mask(var)
            return found
        if var.space is Space.TEMP:
            if var.offset not in self._temps:
                self._temps[var.offset] = 1 << self._next_temp
                self._next_temp += 1
            return self._temps[var.offset]
        return 0

    def _register_mask(self, var: Var) -> Bits:
        bits = 0
        for byte in range(var.offset, var.offset + var.size):
            bits |= 1 << self._positions[byte]
        return bits

    def live_out(self, block: Block) -> Bits:
        """What is live after the last micro-op of `block`, before its exit is taken."""
        live = 0
        for successor in block.successors:
            live |= self.entry.get(successor, 0)
        live = self._before_exit(block.exit, live)
        # A function that calls itself reads at its start everything it needs, argument or not.
        return live | self.entry.get(self._function.entry, 0) if _calls_itself(block) else live

    def _before_exit(self, exit_: Exit, live: Bits) -> Bits:
        match exit_:
            case Branch(condition, _, _):
                return live | self.mask(condition)
            case Switch(value, _):
                # The candidates may be incomplete: nothing is known about other targets.
                return (self._all_registers if self._calls_read else live) | self.mask(value)
            case Return(value, to):
                # An inlined function may return elsewhere, too.
                return self.mask(value) | (self._at_return if to is None or self._is_computed else live)
            case Call(system=True):
                return (live & ~self._lost_in_system) | self._read_by_system
            case Call(unfolded=Unfolded.ENTERED):
                return live | self._read_by_calls
            case Call(unfolded=Unfolded.LEFT | Unfolded.OWN_LEFT):
                return (live & ~self._lost_in_calls) | self._read_by_leaving | self._results
            case Call(carried_out=True, pure=pure):
                results = () if pure is None else tuple(result.register for result in pure.results)
                computed = self.mask_of(self._function.machine, results)
                return (live & ~self._lost_in_calls) | self._read_by_leaving | computed
            case Call(_, value, _):
                return (live & ~self._lost_in_calls) | self._read_by_calls | self.mask(value)
            case Stop():
                return 0
            case _:
                return live

    def before(self, op: MicroOp, live: Bits) -> Bits:
        read = 0
        if op.out is not None:
            out = self.mask(op.out)
            if op.kind in _MOVES and op.out.space is Space.REGISTER and out & ~live:
                return (live & ~out) | self._moved(op, live)
            live &= ~out
        for var in op.ins:
            read |= self.mask(var)
        return live | read

    def _moved(self, op: MicroOp, live: Bits) -> Bits:
        """What a move to a register reads of its inputs, given what is read of the result. A temporary is read whole:
        whatever mentions it must find it set."""
        assert op.out is not None
        read = sum({self.mask(var) for var in op.ins if var.space is Space.TEMP})
        for byte, source in enumerate(sources(op)):
            if source is not None and source.space is Space.REGISTER and self.mask(byte_of(op.out, byte)) & live:
                read |= self.mask(source)
        return read

    def needed(self, op: MicroOp, live_after: Bits) -> bool:
        return op.out is None or op.kind in _EFFECTS or bool(self.mask(op.out) & live_after)

    def _solve(self) -> None:
        """Successors first, so that without loops every block is visited once."""
        position = {block: index for index, block in enumerate(reversed(self._function.order))}
        deeper = [block for block in position if _calls_itself(self._function.blocks[block])]
        queue = list(position.values())
        blocks = list(position)
        queued = set(queue)
        while queue:
            index = heapq.heappop(queue)
            queued.discard(index)
            block_id = blocks[index]
            live = self._live_in(self._function.blocks[block_id])
            if live == self.entry.get(block_id):
                continue
            self.entry[block_id] = live
            for before in (
                *self._function.predecessors[block_id],
                *(deeper if block_id == self._function.entry else ()),
            ):
                if before in position and position[before] not in queued:
                    queued.add(position[before])
                    heapq.heappush(queue, position[before])

    def _live_in(self, block: Block) -> Bits:
        live = self.live_out(block)
        for op in reversed(block.ops):
            if self.needed(op, live):
                live = self.before(op, live)
        return live

    def is_live_at_entry(self, var: Var) -> bool:
        return bool(self.entry[self._function.entry] & self.mask(var))


def _calls_itself(block: Block) -> bool:
    call = outside_call(block.exit)
    return call is not None and call.callee == SELF


def sources(op: MicroOp) -> list[Var | None]:
    """For a move: for each byte of its result, lowest first, the source byte; None for a zero."""
    assert op.out is not None
    match op.kind:
        case Kind.PIECE:
            high, low = op.ins
            parts = [*bytes_of(low), *bytes_of(high)]
        case Kind.SUBPIECE:
            parts = bytes_of(op.ins[0])[op.ins[1].offset :]
        case _:
            parts = bytes_of(op.ins[0])
    return [parts[byte] if byte < len(parts) else None for byte in range(op.out.size)]


def bytes_of(var: Var) -> list[Var]:
    return [byte_of(var, byte) for byte in range(var.size)]


def byte_of(var: Var, byte: int) -> Var:
    if var.space is Space.CONST:
        return Var(Space.CONST, var.offset >> (8 * byte) & 0xFF, 1)
    return Var(var.space, var.offset + byte, 1)


def output_containers(machine: Machine, results: Iterable[str]) -> tuple[str, ...]:
    """What a caller can see in registers at exit: the given results and everything that must be restored."""
    convention = machine.convention
    pointer = (convention.stack_pointer,) if convention.stack_pointer else ()
    return (*results, *convention.callee_saved, *pointer)
