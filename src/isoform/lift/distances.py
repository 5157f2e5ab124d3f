"""Tables of distances in object files: jump tables, and tables of objects beside which they lie.

An entry is the distance from the table to something in another section. isoform has placed both, and a linker puts them
elsewhere, so that neither the entry nor the address of the table is a number that code may compute with. Their sum is
the place that is meant. So code may read entries, add them to the address of the table, and put all of these away in
registers and in its frame. Of anything else that is computed from them, nothing may depend: flags of the addition are
computed, too.

A forward data flow over registers and slots of the frame: what may be in each. Code is refused where a value leaves
these: it is stored elsewhere, an address, a condition, an argument or a result. Registers for arguments often hold an
entry that was used; which of them a callee reads is known where the call is executed (`entries_at_calls`).
"""

from __future__ import annotations

from enum import Enum, auto
from functools import cached_property

from isoform.lift.function import Block, BlockId, Function, Return, Switch, outside_call
from isoform.lift.liveness import Liveness
from isoform.lift.simplify import overlaps
from isoform.model.microop import Kind, MicroOp, Space, Var, number_of
from isoform.model.values import dataclass


@dataclass(frozen=True)
class EntriesAtCall:
    """What jumps left behind."""

    registers: frozenset[str]
    """Those for arguments that may hold an entry of a table of distances."""
    slots: frozenset[int]
    """Of the stack, by their distance from the stack pointer."""


class What(Enum):
    TABLE = auto()
    """The address of a table."""
    PLACE = auto()
    """That of an entry: something was added."""
    ENTRY = auto()
    REMAINDER = auto()
    """An entry that is still in the register from which a jump through the table took it."""
    MEANT = auto()
    """The sum of a table's address and an entry."""
    NUMBER = auto()
    """What else was computed."""


_Values = frozenset[What]
_Key = Var | int
"""A register or temporary, or the distance of a slot of the frame from the stack pointer at entry."""
_NOTHING: _Values = frozenset()
_SAME = (Kind.COPY, Kind.INT_ZEXT, Kind.INT_SEXT, Kind.SUBPIECE)
_DECIDING = (Kind.LOAD, Kind.CBRANCH, Kind.SELECT, Kind.BRANCHIND, Kind.CALLIND)
"""By their first operand; a conditional branch by its last."""
_NUMBER_BYTES = 4
"""The smallest register that holds numbers; flags are smaller."""
_ENTRIES = frozenset({What.ENTRY, What.REMAINDER})
_NUMBERS = _ENTRIES | {What.NUMBER}
_IN_TABLE = frozenset({What.TABLE, What.PLACE})
_MAY_BE_ADDED = {
    (What.TABLE, None): What.PLACE,
    (What.PLACE, None): What.PLACE,
    (What.TABLE, What.ENTRY): What.MEANT,
    (What.MEANT, None): What.MEANT,
}


def computes_with_distances(function: Function) -> bool:
    """Whether code may do anything else with a table of distances than to add an entry to the table's address."""
    if not function.image.distances or function.machine.convention.stack_pointer is None:
        return False
    flow = _Flow(function)
    return flow.has_tables() and flow.is_misused()


def entries_at_calls(function: Function) -> dict[BlockId, EntriesAtCall]:
    """For blocks that end with a call of an outside function."""
    if not function.image.distances or function.machine.convention.stack_pointer is None:
        return {}
    flow = _Flow(function)
    if not flow.has_tables() or flow.is_misused():
        return {}
    return flow.at_calls


class _State:
    def __init__(self, held: dict[_Key, _Values], stack: dict[Var, int]) -> None:
        self.held = held
        self.stack = stack
        """Registers with addresses of the frame, by their distance from the stack pointer at entry."""

    def copy(self) -> _State:
        return _State(dict(self.held), dict(self.stack))

    def joined(self, other: _State) -> _State:
        """With what either may hold. Of the frame what both agree on."""
        held = dict(self.held)
        for key, values in other.held.items():
            held[key] = held.get(key, _NOTHING) | values
        return _State(held, {var: at for var, at in self.stack.items() if other.stack.get(var) == at})

    def drop_temps(self) -> None:
        """A temporary's number means nothing outside its instruction."""
        self.held = {k: v for k, v in self.held.items() if isinstance(k, int) or k.space is not Space.TEMP}
        self.stack = {k: v for k, v in self.stack.items() if k.space is not Space.TEMP}

    def is_as(self, other: _State) -> bool:
        return self.held == other.held and self.stack == other.stack


class _Flow:
    def __init__(self, function: Function) -> None:
        self._function = function
        self._distances = function.image.distances
        name = function.machine.convention.stack_pointer
        assert name is not None
        self._stack_pointer = function.machine.registers[name]
        self.at_calls: dict[BlockId, EntriesAtCall] = {}

    @cached_property
    def _liveness(self) -> Liveness:
        convention = self._function.machine.convention
        return Liveness(self._function, (*convention.result, *convention.float_result), calls_read=False)

    def has_tables(self) -> bool:
        ops = (op for instruction in self._function.instructions.values() for op in instruction.ops)
        return any(self._is_table(var) for op in ops for var in op.ins)

    def is_misused(self) -> bool:
        function = self._function
        entries: dict[BlockId, _State] = {function.entry: _State({}, {self._stack_pointer: 0})}
        pending = [function.entry]
        while pending:
            block = function.blocks[pending.pop()]
            state = entries[block.id].copy()
            if self._is_misused_in(block, state):
                return True
            call = outside_call(block.exit)
            for successor in block.successors:
                came_back = call is not None and not call.system and successor == call.then
                state_after = self._after_call(state) if came_back else state
                after = self._used_after(successor, state_after, isinstance(block.exit, Switch))
                known = entries.get(successor)
                merged = after.copy() if known is None else known.joined(after)
                if known is None or not merged.is_as(known):
                    entries[successor] = merged
                    pending.append(successor)
        return False

    def _used_after(self, block: BlockId, state: _State, has_jumped: bool) -> _State:
        """At the start of a block. A jump leaves the address of its table behind, in registers that may hold something
        else on other paths, so that only those are followed further that code reads. Numbers may also be results and
        arguments."""
        live = self._liveness.entry.get(block, 0)
        held = {}
        for key, values in state.held.items():
            if has_jumped and not isinstance(key, int) and What.ENTRY in values:
                values = values - {What.ENTRY} | {What.REMAINDER}
            if isinstance(key, int) or self._liveness.mask(key) & live:
                held[key] = values
            elif values & _NUMBERS and self._is_in_number(key):
                held[key] = values & _NUMBERS
        return _State(held, state.stack)

    def _is_in_number(self, var: Var) -> bool:
        """Whether it is part of a register that holds numbers, and no flag."""
        machine = self._function.machine
        if var.space is not Space.REGISTER or var.offset not in machine.containers_by_byte:
            return False
        return machine.container_vars()[machine.containers_by_byte[var.offset]].size >= _NUMBER_BYTES

    def _after_call(self, state: _State) -> _State:
        after = state.copy()
        convention, registers = self._function.machine.convention, self._function.machine.registers
        for name in (*convention.scratch_after_call, *convention.result, *convention.float_result):
            _forget(after, registers[name])
        if self._stack_pointer in after.stack:
            after.stack[self._stack_pointer] += convention.stack_adjustment
        return after

    def _is_misused_in(self, block: Block, state: _State) -> bool:
        # As listed: simplified code has the numbers that it computes from a table's address.
        for address in block.steps:
            ops = self._function.instructions[address].ops
            for op in ops:
                aligned = self._is_aligned_target(op, ops)
                if self._is_misused_by(MicroOp(Kind.COPY, op.out, op.ins[:1]) if aligned else op, state):
                    return True
            state.drop_temps()
        return self._leaves(block, state)

    def _is_aligned_target(self, op: MicroOp, ops: tuple[MicroOp, ...]) -> bool:
        """Whether this is the target of a jump with the bits cleared that are 0 in every address of an instruction."""
        mask = -self._function.machine.instruction_alignment % (1 << 64)
        if op.kind is not Kind.INT_AND or number_of(op.ins[1]) != mask:
            return False
        return any(one.kind is Kind.BRANCHIND and one.ins[0] == op.out for one in ops)

    def _is_misused_by(self, op: MicroOp, state: _State) -> bool:
        values = [self._of(state, var) for var in op.ins]
        if op.kind is Kind.STORE:
            return self._stores(state, op, values)
        if op.kind in _DECIDING and values[-1 if op.kind is Kind.CBRANCH else 0] & _NUMBERS:
            return True
        result, at = self._result(state, op, values), self._frame_offset(op, state)
        if op.out is not None:
            _forget(state, op.out)
            if result:
                state.held[op.out] = result
            if at is not None:
                state.stack[op.out] = at
        return False

    def _result(self, state: _State, op: MicroOp, values: list[_Values]) -> _Values:
        if op.kind is Kind.LOAD:
            where = state.stack.get(op.ins[0])
            if where is not None:
                return state.held.get(where, _NOTHING)
            return frozenset({What.ENTRY}) if values[0] & _IN_TABLE else _NOTHING
        if not any(values):
            return _NOTHING
        if op.kind in (Kind.INT_XOR, Kind.INT_SUB) and op.ins[0] == op.ins[1]:
            return _NOTHING
        if op.kind in _SAME:
            return _as_entries(values[0]) if self._moves(op) else values[0]
        if op.kind is Kind.SELECT:
            return values[1] | values[2]
        return (_sum(values) if op.kind is Kind.INT_ADD else None) or frozenset({What.NUMBER})

    def _moves(self, op: MicroOp) -> bool:
        """From one register to another."""
        found, machine = op.ins[0], self._function.machine
        if found.space is not Space.REGISTER or op.out is None or op.out.space is not Space.REGISTER:
            return False
        return machine.containers_by_byte.get(found.offset) != machine.containers_by_byte.get(op.out.offset)

    def _leaves(self, block: Block, state: _State) -> bool:
        """Whether a number is a result, or was put where an argument is. (What a jump leaves there may be none.)"""
        convention = self._function.machine.convention
        if isinstance(block.exit, Return):
            names = (*convention.result, *convention.float_result)
            return any(self._in_register(state, name) & _NUMBERS for name in names)
        if outside_call(block.exit) is None:
            return False
        names = (*convention.integer_arguments, *convention.float_arguments)
        entries = {name for name in names if self._in_register(state, name) & _ENTRIES}
        here = state.stack.get(self._stack_pointer)
        slots = {key - (here or 0) for key, v in state.held.items() if isinstance(key, int) and What.ENTRY in v}
        if slots and here is None:
            return True
        self.at_calls[block.id] = EntriesAtCall(frozenset(entries), frozenset(slots))
        return any(self._in_register(state, name) & {What.ENTRY, What.NUMBER} for name in names)

    def _in_register(self, state: _State, name: str) -> _Values:
        return self._of(state, self._function.machine.registers[name])

    def _stores(self, state: _State, op: MicroOp, values: list[_Values]) -> bool:
        where = state.stack.get(op.ins[0])
        if where is None:
            return bool(values[0] & (_NUMBERS | _IN_TABLE) or values[1] & (_NUMBERS | _IN_TABLE))
        size = op.ins[1].size
        for key in [k for k in state.held if isinstance(k, int) and where - 8 < k < where + size]:
            del state.held[key]
        if values[1]:
            state.held[where] = values[1]
        return False

    def _frame_offset(self, op: MicroOp, state: _State) -> int | None:
        """Where in the frame the address is that a micro-op makes, if it does and that is known."""
        if op.kind is Kind.COPY:
            return state.stack.get(op.ins[0])
        if op.kind in (Kind.INT_ADD, Kind.INT_SUB) and op.ins[0] in state.stack:
            number = number_of(op.ins[1])
            if number is not None:
                bits = 8 * op.ins[1].size
                number -= (1 << bits) if number >> (bits - 1) else 0
                return state.stack[op.ins[0]] + (number if op.kind is Kind.INT_ADD else -number)
        return None

    def _is_table(self, var: Var) -> bool:
        number = number_of(var)
        return number is not None and var.size >= 4 and number in self._distances

    def _of(self, state: _State, var: Var) -> _Values:
        if number_of(var) is not None:
            return frozenset({What.TABLE}) if self._is_table(var) else _NOTHING
        if var in state.held:
            return state.held[var]
        found = (v for k, v in state.held.items() if isinstance(k, Var) and overlaps(k, var))
        return frozenset().union(*found)


def _as_entries(values: _Values) -> _Values:
    return values - {What.REMAINDER} | {What.ENTRY} if What.REMAINDER in values else values


def _sum(values: list[_Values]) -> _Values | None:
    """What the sum of two values may be, None if it is nothing that is meant."""
    found = set()
    left, right = (_as_entries(one) for one in values)
    for one in left or {None}:
        for other in right or {None}:
            kind = _MAY_BE_ADDED.get((one, other)) or _MAY_BE_ADDED.get((other, one))  # type: ignore[arg-type]
            if kind is None:
                return None
            found.add(kind)
    return frozenset(found)


def _forget(state: _State, written: Var) -> None:
    """What is overwritten in part may still hold the rest."""
    for var in [k for k in state.held if isinstance(k, Var) and overlaps(k, written)]:
        covered = written.offset <= var.offset and var.offset + var.size <= written.offset + written.size
        if covered:
            del state.held[var]
    for var in [k for k in state.stack if overlaps(k, written)]:
        del state.stack[var]
