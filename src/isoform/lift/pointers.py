"""Which declared pointer a call goes through: types of values tracked through registers, frame and structures.

Only clear cases are tracked: parameters, and values loaded through typed pointers and from global variables, kept in
registers or in the frame. Everything else has no type here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from isoform.lift.function import Block, BlockId, Call, Function, Switch, outside_call
from isoform.lift.simplify import overlaps
from isoform.load.image import Image
from isoform.model.microop import Kind, MicroOp, Space, Var, number_of
from isoform.model.signature import CType, Signature, TypeKind
from isoform.model.values import dataclass

Passed = tuple[tuple[str | None, int, CType], ...]
"""The parameters that are one word: register (None: on the stack), offset in it and type."""
_WORD = 8
INDEXED_ROOM = 128
"""Bytes that count as stack arguments above an address there that is indexed, or that escapes."""


@dataclass(frozen=True)
class _Stack:
    """An address of the frame, relative to the stack pointer at entry."""

    offset: int


@dataclass(frozen=True)
class _Indexed:
    """An address at a computed distance from one of the frame."""

    offset: int


@dataclass(frozen=True)
class _Aligned:
    """An address that is `rest` modulo `modulus`, a power of two."""

    modulus: int
    rest: int


@dataclass(frozen=True)
class _Typed:
    """A value of a declared type."""

    type: CType


@dataclass(frozen=True)
class _Inside:
    """An address at this offset in an object of a type."""

    type: CType
    offset: int


_Value = _Stack | _Indexed | _Aligned | _Typed | _Inside
_Values = dict[Var | int, _Value]
"""By register or temp, and by offset of a slot of the frame."""


def with_pointer_types(function: Function, passed: Passed) -> Function:
    """The function with the types of the pointers that it calls through, if they are clear."""
    if function.machine.convention.stack_pointer is None:
        return function
    exits = [b.exit for b in function.blocks.values()]
    if not any(isinstance(e, Switch) or (isinstance(e, Call) and e.callee is None) for e in exits):
        return replace(function, passed=passed)
    types: dict[str, Signature] = {}
    blocks = dict(function.blocks)
    for number, values in _Flow(function, passed, with_variables=True).at_exit().items():
        block = blocks[number]
        if not isinstance(block.exit, (Switch, Call)) or (
            isinstance(block.exit, Call) and block.exit.callee is not None
        ):
            continue
        value = values.get(block.exit.value)
        if isinstance(value, _Typed) and value.type.function is not None:
            key = repr(value.type.function)  # not its spelling: `T` may be another type in another scope or file
            types[key] = value.type.function
            blocks[number] = replace(block, exit=_typed(block.exit, key))
    return replace(function, blocks=blocks, passed=passed, pointer_types=types)


def _typed(exit_: Switch | Call, key: str) -> Switch | Call:
    if isinstance(exit_, Switch) and exit_.elsewhere is not None:
        exit_ = replace(exit_, elsewhere=replace(exit_.elsewhere, through=key))
    return replace(exit_, through=key)


class _Flow:
    def __init__(self, function: Function, passed: Passed, with_variables: bool = False) -> None:
        """`with_variables`: addresses of variables count as values of known type."""
        self._with_variables = with_variables and bool(function.image.pointers.variables)
        self._variables: dict[int, _Value | None] = {}
        self._function = function
        self._image = function.image
        self._passed = passed
        machine = function.machine
        self._registers = machine.registers
        convention = machine.convention
        assert convention.stack_pointer is not None
        self._pointer = machine.registers[convention.stack_pointer]
        self._adjustment = convention.stack_adjustment
        kept = {*convention.callee_saved, convention.stack_pointer}
        self._lost = [machine.registers[name] for name in machine.containers if name not in kept]

    def at_exit(self) -> dict[BlockId, _Values]:
        return self._states()[1]

    def steps(self) -> Iterator[tuple[MicroOp, _Values]]:
        """Every micro-op with what is known before it."""
        for _, _, op, values in self.numbered_steps():
            yield op, values

    def numbered_steps(self) -> Iterator[tuple[BlockId, int, MicroOp, _Values]]:
        """The same with the block of each micro-op and its index there."""
        for number, start in self._states()[0].items():
            values = dict(start)
            for index, op in enumerate(self._function.blocks[number].ops):
                yield number, index, op, values
                self._step(op, values)

    def _states(self) -> tuple[dict[BlockId, _Values], dict[BlockId, _Values]]:
        """What is known where each block begins and ends."""
        starts: dict[BlockId, _Values] = {self._function.entry: self._at_entry()}
        ends: dict[BlockId, _Values] = {}
        pending = [self._function.entry]
        while pending:
            block = self._function.blocks[pending.pop()]
            values = dict(starts[block.id])
            for op in block.ops:
                self._step(op, values)
            ends[block.id] = values
            for successor in block.successors:
                after = self._after(block, successor, values)
                before = starts.get(successor)
                joined = after if before is None else {k: v for k, v in before.items() if after.get(k) == v}
                if joined != before:
                    starts[successor] = joined
                    pending.append(successor)
        return starts, ends

    def _at_entry(self) -> _Values:
        values: _Values = {self._pointer: _Stack(0)}
        for register, offset, ctype in self._passed:
            place: Var | int = offset if register is None else self._registers[register]
            values[place] = _Typed(ctype)
        return values

    def _after(self, block: Block, successor: BlockId, values: _Values) -> _Values:
        kept = {k: v for k, v in values.items() if isinstance(k, int) or k.space is Space.REGISTER}
        call = outside_call(block.exit)
        if call is None or call.system or call.then != successor:
            return kept
        overwritten = [k for k in kept if isinstance(k, Var) and any(overlaps(k, lost) for lost in self._lost)]
        for place in overwritten:
            del kept[place]
        pointer = kept.get(self._pointer)
        moved = _moved(pointer, self._adjustment) if isinstance(pointer, (_Stack, _Aligned)) else None
        if moved is not None:
            kept[self._pointer] = moved
        return kept

    def _step(self, op: MicroOp, values: _Values) -> None:
        if op.kind is Kind.STORE:
            self._store(op, values)
        if op.out is None:
            return
        made = self._made(op, values) if op.out.size == _WORD else None
        for place in [k for k in values if isinstance(k, Var) and overlaps(k, op.out)]:
            del values[place]
        if made is not None:
            values[op.out] = made

    def _store(self, op: MicroOp, values: _Values) -> None:
        where = values.get(op.ins[0])
        if not isinstance(where, _Stack):
            return
        size = op.ins[1].size
        for slot in [k for k in values if isinstance(k, int) and where.offset - _WORD < k < where.offset + size]:
            del values[slot]
        value = self._value(op.ins[1], values)
        if value is not None and size == _WORD:
            values[where.offset] = value

    def _made(self, op: MicroOp, values: _Values) -> _Value | None:
        if op.kind is Kind.COPY:
            return self._value(op.ins[0], values)
        if op.kind is Kind.LOAD:
            return self._loaded(op.ins[0], values)
        if op.kind is Kind.INT_AND and op.ins[1].space is Space.CONST:
            return _masked(values.get(op.ins[0]), op.ins[1].offset)
        if op.kind in (Kind.INT_ADD, Kind.INT_SUB):
            left, right = op.ins
            if left.space is Space.CONST and op.kind is Kind.INT_ADD:
                left, right = right, left
            if right.space is Space.CONST:
                distance = _signed(right.offset)
                return _moved(values.get(left), distance if op.kind is Kind.INT_ADD else -distance)
            if op.kind is Kind.INT_ADD:
                return _indexed(values.get(left)) or _indexed(values.get(right))
        return None

    def _value(self, var: Var, values: _Values) -> _Value | None:
        """What is known of a word. An address of a variable leads to what is declared there: unoptimised code passes it
        on to a function that it calls, where others use the variable by name. C lets nobody access a declared variable
        as an object of another type, whatever the pointer to it is cast to."""
        number = number_of(var)
        if number is None or not self._with_variables or var.space is not Space.ADDRESS:
            return values.get(var)
        if number not in self._variables:
            self._variables[number] = _in_variable(self._image, number)
        return self._variables[number]

    def _loaded(self, address: Var, values: _Values) -> _Value | None:
        number = number_of(address)
        if number is not None:
            return _of_variable(self._image, number)
        value = values.get(address)
        if isinstance(value, _Stack):
            return values.get(value.offset)
        inside = _moved(value, 0) if isinstance(value, _Typed) else value
        return _member(inside.type, inside.offset) if isinstance(inside, _Inside) else None


def stack_argument_bytes(function: Function) -> int:
    """Bytes above the return address that the code reads or writes, or whose address it takes. How far such an address,
    or an index, leads is not known: some room is added."""
    convention = function.machine.convention
    if convention.stack_pointer is None:
        return 0
    first, end = convention.stack_arguments_offset, 0
    for op, values in _Flow(function, ()).steps():
        for position, var in enumerate(op.ins):
            value = values.get(var)
            if not isinstance(value, (_Stack, _Indexed)):
                continue
            accesses = op.kind in (Kind.LOAD, Kind.STORE) and position == 0
            size = op.out.size if op.out is not None else op.ins[-1].size
            if accesses and isinstance(value, _Stack) and value.offset + size > first:
                end = max(end, value.offset + size)
            elif value.offset >= first and (accesses or not _is_followed(op)):
                end = max(end, value.offset + INDEXED_ROOM)
    return max(0, end - first)


def stack_accesses(function: Function) -> Iterator[int]:
    """The ends of all accesses to the stack at a known distance from the stack pointer at entry."""
    convention = function.machine.convention
    if convention.stack_pointer is None:
        return
    for op, values in _Flow(function, ()).steps():
        where = values.get(op.ins[0]) if op.kind in (Kind.LOAD, Kind.STORE) else None
        if isinstance(where, _Stack):
            yield where.offset + (op.out.size if op.out is not None else op.ins[-1].size)


def stack_loads(function: Function) -> Iterator[tuple[int, int]]:
    """Start and end of all loads from the stack at a known distance from the stack pointer at entry."""
    if function.machine.convention.stack_pointer is None:
        return
    for op, values in _Flow(function, ()).steps():
        where = values.get(op.ins[0]) if op.kind is Kind.LOAD else None
        if isinstance(where, _Stack) and op.out is not None:
            yield where.offset, where.offset + op.out.size


def stack_alignments(function: Function) -> Iterator[tuple[BlockId, int, tuple[int, int]]]:
    """All accesses to the stack whose alignment is known: block, index of the micro-op, and a modulus with the
    remainder of the address."""
    convention = function.machine.convention
    if convention.stack_pointer is None:
        return
    modulus, first = convention.stack_alignment, convention.stack_arguments_offset
    for number, index, op, values in _Flow(function, ()).numbered_steps():
        where = values.get(op.ins[0]) if op.kind in (Kind.LOAD, Kind.STORE) else None
        if isinstance(where, _Stack):
            yield number, index, (modulus, (where.offset - first) % modulus)
        elif isinstance(where, _Aligned):
            yield number, index, (where.modulus, where.rest)


def _is_followed(op: MicroOp) -> bool:
    """Whether its result on an address is an address that is tracked in turn."""
    return op.kind in (Kind.COPY, Kind.INT_ADD, Kind.INT_SUB) and op.out is not None


def _indexed(value: _Value | None) -> _Value | None:
    return _Indexed(value.offset) if isinstance(value, (_Stack, _Indexed)) else None


def _masked(value: _Value | None, mask: int) -> _Value | None:
    """A stack pointer with its lowest bits cleared."""
    modulus = mask & -mask
    is_rounded = isinstance(value, (_Stack, _Aligned)) and modulus > 1 and mask + modulus == 1 << 64
    return _Aligned(modulus, 0) if is_rounded else None


def _moved(value: _Value | None, distance: int) -> _Value | None:
    if isinstance(value, _Aligned):
        return _Aligned(value.modulus, (value.rest + distance) % value.modulus)
    if isinstance(value, _Indexed):
        return _Indexed(value.offset + distance)
    if isinstance(value, _Stack):
        return _Stack(value.offset + distance)
    if isinstance(value, _Inside):
        return _Inside(value.type, value.offset + distance)
    if isinstance(value, _Typed) and value.type.kind is TypeKind.POINTER and value.type.pointee is not None:
        return _Inside(value.type.pointee, distance)
    return None


def _member(ctype: CType, offset: int) -> _Value | None:
    """The type of a word loaded from inside an object."""
    if ctype.kind is not TypeKind.STRUCT:
        return _Typed(ctype) if offset == 0 else None
    for _, start, member in ctype.fields:
        if start <= offset < start + max(1, member.bits // 8):
            return _member(member, offset - start)
    return None


def _of_variable(image: Image, address: int) -> _Value | None:
    """A word loaded from a variable."""
    inside = _in_variable(image, address)
    return None if inside is None else _member(inside.type, inside.offset)


def _start_outside(image: Image, address: int) -> int | None:
    """Where a variable of another file begins that an address is in."""
    item = image.objects.around(address)
    return None if item is None else item.start


def _in_variable(image: Image, address: int) -> _Inside | None:
    own = image.own_address(address)
    for name, ctype in image.pointers.variables.items():
        symbol = next((s for s in image.symbols if s.name == name and s.address <= own < s.address + s.size), None)
        if symbol is not None and ctype.bits:
            return _Inside(ctype, (own - symbol.address) % (ctype.bits // 8))
        if symbol is None and image.externals.get(own) == name:
            return _Inside(ctype, 0)
        start = _start_outside(image, own) if symbol is None else None
        if start is not None and image.externals.get(start) == name and own - start < ctype.bits // 8:
            return _Inside(ctype, own - start)
    return None


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value
