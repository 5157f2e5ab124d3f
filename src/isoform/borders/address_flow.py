"""What the code of one function does with addresses of some data: a forward data flow over its micro-ops.

It over-approximates: an address that it cannot follow counts as given away. It follows addresses through registers and
slots of the frame. What is loaded through an address of the data is no such address itself: data that holds one has a
relocated field, which `unwritten.py` looks at. Code that no jump leads to counts as well: a callee
reads its arguments on the stack, an exception handler finds the frame and the callee-saved registers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field

from isoform.borders.convention import place_signature
from isoform.borders.objects import Range
from isoform.borders.unusual_returns import may_return_twice
from isoform.lift.function import Block, BlockId, Call, Function, Return, Switch, outside_call
from isoform.model.errors import Unsupported, UserError
from isoform.model.microop import Kind, MicroOp, Space, Var, number_of
from isoform.model.signature import TypeKind
from isoform.model.values import dataclass

MOST_TARGETS = 8
_WHOLE_FRAME = 1 << 63
"""Bytes: more than any frame has."""
_REPORTING = "__ubsan_handle_"
"""Prefix of the sanitizer functions that only print the addresses they are passed."""


@dataclass(frozen=True)
class DataAddress:
    """An address of the data."""

    exact: int | None
    """None: something was added to it that is not a constant."""
    region: Range | None
    """The object that the code names; None where it names a section, and may mean any of its objects."""


@dataclass(frozen=True)
class Stack:
    """An address of the frame, by its distance from the stack pointer at entry."""

    offset: int | None


Targets = frozenset[DataAddress]
Value = Targets | Stack | None
"""None: no address of the data. It may be an address of the frame only if `Flow._is_shown` is set."""

Source = Callable[[int, int], DataAddress | None]
"""By an instruction's address and a constant in it: which address of the data that is."""

_PREDICATES = frozenset(
    {
        *(Kind.INT_EQUAL, Kind.INT_NOTEQUAL, Kind.INT_LESS, Kind.INT_LESSEQUAL, Kind.INT_SLESS, Kind.INT_SLESSEQUAL),
        *(Kind.INT_CARRY, Kind.INT_SCARRY, Kind.INT_SBORROW, Kind.POPCOUNT, Kind.LZCOUNT, Kind.UNDEFINED),
        *(Kind.FLOAT_EQUAL, Kind.FLOAT_LESS, Kind.FLOAT_LESSEQUAL, Kind.FLOAT_NAN),
        *(Kind.BOOL_NEGATE, Kind.BOOL_XOR, Kind.BOOL_AND, Kind.BOOL_OR),
    }
)
"""The result of these is no address, though it may be computed from one."""

_REGISTER, _LOW, _TEMP, _SLOT = "register", "low", "temp", "slot "
FlowState = dict[tuple[str, int], Value]
"""By kind of place and its number: a container, the lowest byte of one where that was written alone, a temp, or so many
bytes of the frame. What is missing holds no address."""


@dataclass
class Flow:
    """Afterwards `written` has the ranges of addresses that the function may write or give away; `everything` says that
    it may be any."""

    function: Function
    source: Source
    written: set[Range] = field(default_factory=set)
    everything: bool = False
    _kept: Targets = frozenset()
    """All addresses of the data that were ever put into the frame."""
    _kept_anywhere: Targets = frozenset()
    """Those of which it is not known where in the frame."""
    _is_shown: bool = False
    """Whether an address of the frame was given away, or lost sight of."""

    def run(self) -> None:
        before: tuple[Targets, Targets] | None = None
        while before != (self._kept, self._kept_anywhere) and not self.everything:
            before = self._kept, self._kept_anywhere
            self._solve()
        if self._is_shown:
            self._give_away(self._kept)

    def _solve(self) -> None:
        function = self.function
        pointer = function.machine.convention.stack_pointer
        assert pointer is not None
        start: FlowState = {(_REGISTER, function.machine.container_positions[pointer]): Stack(0)}
        states: dict[BlockId, FlowState] = {function.entry: start}
        pending = [function.entry]
        while pending:
            block = function.blocks[pending.pop()]
            state = self._block(block, dict(states[block.id]))
            for successor in block.successors:
                known = states.get(successor)
                # Temps mean nothing outside their instruction.
                arriving = state if successor.part else {k: v for k, v in state.items() if k[0] != _TEMP}
                joined = arriving if known is None else self._joined(known, arriving)
                if joined != known:
                    states[successor] = dict(joined)
                    pending.append(successor)

    # -- values ---------------------------------------------------------------------------------

    def _joined(self, one: FlowState, other: FlowState) -> FlowState:
        whole = [self._with_whole_registers(side, than) for side, than in ((one, other), (other, one))]
        joined = {}
        for key in whole[0].keys() | whole[1].keys():
            # A temp that only one path sets is not read on the paths that do not set it.
            values = [side.get(key) for side in whole if key[0] != _TEMP or key in side]
            joined[key] = self._either(values[0], values[-1])
        return joined

    def _with_whole_registers(self, state: FlowState, other: FlowState) -> FlowState:
        """The state with low bytes merged into their registers, where the other state does not keep the two apart."""
        apart = [key for key in state if key[0] == _LOW and key not in other]
        found = {key: value for key, value in state.items() if key not in apart}
        for key in apart:
            place = (_REGISTER, key[1])
            found[place] = self._either(_blurred(found.get(place)), _blurred(state[key]))
        return found

    def _either(self, one: Value, other: Value) -> Value:
        if one == other:
            return one
        if isinstance(one, Stack) and isinstance(other, Stack):
            return Stack(None)
        if isinstance(one, Stack) or isinstance(other, Stack):
            self._is_shown = True
        return _limited(frozenset().union(*(v for v in (one, other) if isinstance(v, frozenset)))) or None

    def _read(self, state: FlowState, var: Var, address: int) -> Value:
        number = number_of(var)
        if number is not None:
            found = self.source(address, number) if var.size >= 4 else None
            return None if found is None else frozenset({found})
        if var.space is Space.TEMP:
            return state.get((_TEMP, var.offset))
        if var.space is not Space.REGISTER:
            return None
        found_here: Value = None
        for position, size, whole in self._containers(var):
            value = state.get((_REGISTER, position))
            low = (_LOW, position)
            if size == 1 and var.size == 1 and low in state and self._is_lowest(var, position):
                value = state[low]
            elif low in state or (size < whole and not (size >= 4 and size == var.size)):
                value = _blurred(self._either(value, state.get(low)))
            found_here = value if found_here is None else self._either(found_here, value)
        return found_here

    def _write(self, state: FlowState, var: Var, value: Value) -> None:
        if var.space is Space.TEMP:
            state[_TEMP, var.offset] = value
            return
        for position, size, whole in self._containers(var):
            key, low = (_REGISTER, position), (_LOW, position)
            if size == whole:
                state.pop(low, None)
                state[key] = value
            elif size == 1 and self._is_lowest(var, position):
                state[low] = value
            else:
                state[key] = self._either(state.get(key), value)

    def _is_lowest(self, var: Var, position: int) -> bool:
        return var.offset == self.function.machine.container_vars()[position].offset

    def _containers(self, var: Var) -> Iterable[tuple[int, int, int]]:
        """Position of each container that a variable has a part of, the size of the part, and the container's."""
        machine = self.function.machine
        parts: dict[int, int] = {}
        for byte in range(var.offset, var.offset + var.size):
            position = machine.containers_by_byte[byte]
            parts[position] = parts.get(position, 0) + 1
        sizes = machine.container_vars()
        return [(position, size, sizes[position].size) for position, size in parts.items()]

    # -- steps ----------------------------------------------------------------------------------

    def _block(self, block: Block, state: FlowState) -> FlowState:
        for op, address in zip(block.ops, block.addresses, strict=True):
            self._step(op, address, state)
        call = outside_call(block.exit)
        if isinstance(block.exit, Switch):
            self._give_away_all(state)
        if call is not None:
            self._call(call, state)
        if isinstance(block.exit, Return):
            for name in self._results():
                self._give_away(state.get((_REGISTER, self.function.machine.container_positions[name])))
        return state

    def _step(self, op: MicroOp, address: int, state: FlowState) -> None:
        if op.kind is Kind.UNSUPPORTED:
            self._give_away_all(state)
            return
        values = [self._read(state, var, address) for var in op.ins]
        if op.kind is Kind.STORE:
            self._store(state, values[0], values[1], op.ins[1].size)
        elif op.kind is Kind.LOAD:
            assert op.out is not None
            self._write(state, op.out, self._loaded(state, values[0], op.out.size))
        elif op.out is not None:
            self._write(state, op.out, self._computed(op, values))

    def _computed(self, op: MicroOp, values: list[Value]) -> Value:
        if op.kind in _PREDICATES or (op.kind in (Kind.INT_XOR, Kind.INT_SUB) and op.ins[0] == op.ins[1]):
            return None
        if op.kind in (Kind.COPY, Kind.INT_ZEXT):
            return values[0]
        if op.kind is Kind.SUBPIECE:
            is_low = op.ins[1].offset == 0 and op.out is not None and op.out.size >= 4
            return values[0] if is_low else _blurred(values[0])
        if op.kind is Kind.SELECT:
            return self._either(values[1], values[2])
        if op.kind in (Kind.INT_ADD, Kind.INT_SUB):
            for here, there in ((0, 1), (1, 0)) if op.kind is Kind.INT_ADD else ((0, 1),):
                if op.ins[there].space is Space.CONST and values[there] is None:
                    amount, bits = op.ins[there].offset, 8 * op.ins[there].size
                    amount -= (1 << bits) if amount >> (bits - 1) else 0
                    return _moved(values[here], amount if op.kind is Kind.INT_ADD else -amount)
        if any(isinstance(value, frozenset) for value in values):
            self._is_shown = self._is_shown or any(isinstance(value, Stack) for value in values)
            return _blurred(frozenset().union(*(v for v in values if isinstance(v, frozenset))))
        return Stack(None) if any(isinstance(value, Stack) for value in values) else None

    def _loaded(self, state: FlowState, where: Value, size: int) -> Value:
        if not isinstance(where, Stack):
            return None
        if where.offset is None:
            return _blurred(self._kept or None)
        parts = {key: state[key] for key in _slots(state, where.offset, size)}
        if not self._kept_anywhere and [*parts] == [(_slot(size), where.offset)]:
            return next(iter(parts.values()))
        found: Value = _blurred(self._kept_anywhere or None)
        for part in parts.values():
            found = _blurred(part) if found is None else self._either(found, _blurred(part))
        return found

    def _store(self, state: FlowState, where: Value, value: Value, size: int) -> None:
        if isinstance(where, frozenset):
            for target in where:
                self._note(target, 0, size)
        kept = value if isinstance(value, frozenset) else frozenset()
        if not isinstance(where, Stack):
            self._give_away(value)
            self._is_shown = self._is_shown or isinstance(value, Stack)
            return
        self._kept = _limited(self._kept | kept)
        if where.offset is None:
            self._kept_anywhere = _limited(self._kept_anywhere | kept)
            return
        for key in _slots(state, where.offset, size):
            covered = where.offset <= key[1] and key[1] + int(key[0].removeprefix(_SLOT)) <= where.offset + size
            if covered:
                del state[key]
        if value is not None:
            state[_slot(size), where.offset] = value

    def _call(self, call: Call, state: FlowState) -> None:
        """Everything in scratch registers counts as given to the callee: its arguments are among them."""
        machine = self.function.machine
        convention = machine.convention
        if may_return_twice(call.callee or ""):
            self.everything = True  # the second time the frame holds what was stored after the first
        if self.function.image.has_handlers and not call.system:
            self._give_away_all(state)
            self._give_away(self._kept_anywhere)
        self._give_arguments_on_stack(call, state)
        for name in (*convention.scratch_after_call, *convention.result, *convention.float_result):
            key = (_REGISTER, machine.container_positions[name])
            value = state.pop(key, None)
            if (call.callee or "").startswith(_REPORTING):
                continue
            self._give_away(value)
            self._is_shown = self._is_shown or isinstance(value, Stack)
        assert convention.stack_pointer is not None
        key = (_REGISTER, machine.container_positions[convention.stack_pointer])
        if not call.system:
            state[key] = _moved(state.get(key), convention.stack_adjustment)

    def _give_arguments_on_stack(self, call: Call, state: FlowState) -> None:
        """Where no declaration says how many bytes of arguments there are, all of the frame may be among them."""
        size = 0 if call.system else self._stack_argument_bytes(call)
        if size == 0:
            return
        convention = self.function.machine.convention
        assert convention.stack_pointer is not None
        pointer = state.get((_REGISTER, self.function.machine.container_positions[convention.stack_pointer]))
        self._give_away(self._kept_anywhere)
        if not isinstance(pointer, Stack) or pointer.offset is None:
            self._give_away(self._kept)
            return
        start = pointer.offset + convention.stack_arguments_offset
        for key in _slots(state, start, _WHOLE_FRAME if size is None else size):
            self._give_away(state[key])
            self._is_shown = self._is_shown or isinstance(state[key], Stack)

    def _stack_argument_bytes(self, call: Call) -> int | None:
        declared = self.function.image.signatures.get(call.callee or "")
        if declared is None or declared.variadic:
            return None
        try:
            return place_signature(self.function.machine, declared).stack_argument_bytes
        except (Unsupported, UserError):
            return None

    def _results(self) -> tuple[str, ...]:
        """The registers in which the function may return something."""
        convention = self.function.machine.convention
        signature = self.function.image.signatures.get(self.function.name)
        if signature is None or signature.result.kind is TypeKind.STRUCT or signature.result.bits > 64:
            return (*convention.result, *convention.float_result)
        return () if signature.result.kind is TypeKind.VOID else (*convention.result[:1], *convention.float_result[:1])

    # -- effects --------------------------------------------------------------------------------

    def _give_away_all(self, state: FlowState) -> None:
        for value in state.values():
            self._give_away(value)

    def _give_away(self, value: Value) -> None:
        """Whoever has an address of an object, or of its end, may write all of it."""
        for target in value if isinstance(value, frozenset) else ():
            self._note(target, -1, 1)

    def _note(self, target: DataAddress, low: int, high: int) -> None:
        region = target.region
        if target.exact is None:
            self.everything = self.everything or region is None
            self.written |= {region} if region is not None else set()
            return
        start, end = target.exact + low, target.exact + high
        if region is not None:
            start, end = min(max(start, region[0]), region[1] - 1), max(min(end, region[1]), region[0] + 1)
        self.written.add((start, end))


def _slot(size: int) -> str:
    return f"{_SLOT}{size}"


def _slots(state: FlowState, offset: int, size: int) -> list[tuple[str, int]]:
    """The parts of the frame that hold an address and overlap one."""
    found = [key for key in state if key[0].startswith(_SLOT) and key[1] < offset + size]
    return [key for key in found if offset < key[1] + int(key[0].removeprefix(_SLOT))]


def _limited(targets: Targets) -> Targets:
    """At most `MOST_TARGETS` of them: many exact addresses become "somewhere in the region". An inexact address absorbs
    the exact ones of its region, so that values only grow and the data flow terminates."""
    anywhere = DataAddress(None, None)
    if anywhere in targets:
        return frozenset({anywhere})
    blurred = {target.region for target in targets if target.exact is None}
    kept = frozenset(t for t in targets if t.exact is None or t.region not in blurred)
    if len(kept) > MOST_TARGETS:
        kept = frozenset(DataAddress(None, target.region) for target in kept)
    return kept if len(kept) <= MOST_TARGETS and anywhere not in kept else frozenset({anywhere})


def _blurred(value: Value) -> Value:
    """The value after an operation that is not followed: some address of the same object."""
    if isinstance(value, Stack):
        return Stack(None)
    return None if value is None else frozenset(DataAddress(None, target.region) for target in value) or None


def _moved(value: Value, amount: int) -> Value:
    if isinstance(value, Stack):
        return Stack(None if value.offset is None else value.offset + amount)
    if value is None:
        return None
    return frozenset(DataAddress(None if t.exact is None else t.exact + amount, t.region) for t in value)
