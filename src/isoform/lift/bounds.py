"""Which accesses are meant to be inside which object, as ASSUMEs before them.

An access belongs to an object if its address is the object's plus something computed; a forward data flow over the
registers finds these addresses. An access that it cannot classify gets no ASSUME.

The rule concerns the access, not the number in an instruction: `t[i - 1]` may be compiled with a base before `t`. A
base that the file gives only as a distance from the start of a section may therefore belong to any object of that
section (`Image.references`), and a base in the frame to any array there.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, cached_property

from isoform.lift.function import Block, BlockId, Bound, Function, outside_call
from isoform.lift.moving import Moving
from isoform.lift.simplify import overlaps
from isoform.load.described import Local
from isoform.load.fields import Reference
from isoform.load.referred import LinkedReferences, references_in
from isoform.model.errors import Unsupported
from isoform.model.microop import Kind, MicroOp, Space, Var, const, linked_address, number_of, origin_of
from isoform.model.values import dataclass

MOST_BLOCKS = 4000
DISTANCE_BYTES = 4
"""Size of the smallest number that may be a distance between two objects."""
MOST_CONSTANTS = 1 << 16
"""Bytes that are searched for distances."""
_Context = tuple[int, ...]
"""The calls through which the code of a block is inlined."""
_FIRST_TEMP = 1 << 23
"""Temporaries of these micro-ops: no others have numbers this large."""


@dataclass(frozen=True)
class _Pointer:
    """The address of an object, or of the frame, plus a constant, plus something unknown if `indexed`."""

    reference: Reference | None
    """None: the stack pointer at entry."""
    offset: int
    """The added constant. For an object it only tells whether two pointers are the same."""
    indexed: bool = False
    origin: int | None = None
    """The object that the address is relative to, if a linker decides it (see `load/objects.py`)."""


@dataclass(frozen=True)
class _Mixed:
    """A number computed from addresses by other operations, for example the distance between two objects. Added to an
    address, it may give an address of another object."""


_MIXED = _Mixed()
_Value = _Pointer | _Mixed | None
"""None: a number that was not made from addresses here."""
_State = dict[Var, "_Pointer | _Mixed"]


def with_bounds(function: Function) -> Function:
    """The function with an ASSUME before every access that is meant to be inside an object."""
    image, machine = function.image, function.machine
    if not (image.references or image.arrays or image.base) or machine.convention.stack_pointer is None:
        return function
    if len(function.blocks) > MOST_BLOCKS:
        return function
    flow = _Flow(function)
    flow.solve()
    writer = _Writer(function, flow)
    blocks = {block_id: writer.written(block) for block_id, block in function.blocks.items()}
    return replace(function, blocks=blocks, bounds=tuple(writer.bounds)) if writer.bounds else function


def moving_bases(function: Function) -> Moving:
    """Addresses of data in the code to which something computed is added, or from which something is subtracted; and
    how much is added at most, None if that may be anything."""
    if function.machine.convention.stack_pointer is None:
        return Moving()
    image = function.image

    def refers(number: int) -> Reference | None:
        section = image.section_at(image.own_address(number))
        is_data = section is not None and not section.executable
        return Reference(number, False, "", ((number, number + 1),)) if is_data else None

    moving = Moving()
    _Flow(function, refers, moving).solve()
    return moving


class _Flow:
    def __init__(
        self,
        function: Function,
        refers: Callable[[int], Reference | None] | None = None,
        moving: Moving | None = None,
    ) -> None:
        self._refers = LinkedReferences(function.image).to if refers is None else refers
        self._moving = moving
        self._function = function
        self._image = function.image
        name = function.machine.convention.stack_pointer
        assert name is not None
        self.stack_pointer = function.machine.registers[name]
        self.entries: dict[BlockId, _State] = {}
        self._may_hold_distances = cache(self._find_distances)
        self._hides_distances = False
        """Whether a mixed number was stored: a loaded value may then be one, too."""

    def solve(self) -> None:
        self._solve()
        if self._hides_distances:
            self.entries = {}
            self._solve()

    def _solve(self) -> None:
        function = self._function
        self.entries[function.entry] = {self.stack_pointer: _Pointer(None, 0)}
        pending = [function.entry]
        while pending:
            block = function.blocks[pending.pop()]
            state = dict(self.entries[block.id])
            if self._moving is not None:
                self._moving.begin_block()
            for op, address, is_first in block.in_order():
                if is_first:
                    _drop_temps(state)
                self.step(state, op, address)
            _drop_temps(state)
            call = outside_call(block.exit)
            for successor in block.successors:
                came_back = call is not None and not call.system and successor == call.then
                known, after = self.entries.get(successor), self._after_call(state) if came_back else state
                merged = after if known is None else _met(known, after)
                if merged != known:
                    self.entries[successor] = dict(merged)
                    pending.append(successor)

    def _after_call(self, before: _State) -> _State:
        state = dict(before)
        convention, registers = self._function.machine.convention, self._function.machine.registers
        lost = (*convention.scratch_after_call, *convention.result, *convention.float_result)
        for name in lost:
            _forget(state, registers[name])
        pointer = state.get(self.stack_pointer)
        if isinstance(pointer, _Pointer):
            state[self.stack_pointer] = replace(pointer, offset=pointer.offset + convention.stack_adjustment)
        return state

    def step(self, state: _State, op: MicroOp, address: int) -> None:
        if op.kind is Kind.STORE:
            self._note_stored(self.value(state, op.ins[1], address))
        if op.out is None:
            return
        result = self._result(state, op, address)
        if self._moving is not None and not is_of_bound(op):
            self._note_moving(self._moving, state, op, address, result)
        _forget(state, op.out)
        if result is not None:
            state[op.out] = result

    def _note_stored(self, value: _Value) -> None:
        if isinstance(value, _Mixed):
            self._hides_distances = True
        elif isinstance(value, _Pointer) and value.reference is not None and self._moving is not None:
            self._moving.note(value.reference.target, None)  # values that are read back are not tracked

    def _note_moving(self, moving: Moving, state: _State, op: MicroOp, address: int, result: _Value) -> None:
        values = [self.value(state, var, address) for var in op.ins]
        added = moving.step(op, [v.indexed if isinstance(v, _Pointer) else None for v in values])
        if isinstance(result, _Pointer) and result.reference is not None:
            target = result.reference.target
            if result.offset < target:
                moving.note(target, None)
            elif result.indexed:
                moving.note(target, None if added is None else result.offset - target + added)
        elif isinstance(result, _Mixed) and op.kind is not Kind.LOAD:
            for value in values:
                if isinstance(value, _Pointer) and value.reference is not None:
                    moving.note(value.reference.target, None)

    def _result(self, state: _State, op: MicroOp, address: int) -> _Value:
        if op.kind is Kind.LOAD:
            assert op.out is not None
            source = self.value(state, op.ins[0], address)
            reference = source.reference if isinstance(source, _Pointer) else None
            if reference is not None and op.out.size >= DISTANCE_BYTES and self._may_hold_distances(reference):
                return _MIXED
            return self._loaded(op)
        values = [self.value(state, var, address) for var in op.ins]
        if all(value is None for value in values):
            return None
        match op.kind:
            case Kind.COPY:
                return values[0]
            case Kind.INT_ADD:
                return _sum(values, op.ins, 1)
            case Kind.INT_SUB if values[1] is None:
                return _sum(values, op.ins, -1)
            case Kind.INT_EQUAL | Kind.INT_NOTEQUAL | Kind.INT_LESS | Kind.INT_LESSEQUAL:
                return None
            case _:
                return None if op.out is not None and op.out.size == 1 else _MIXED

    def _find_distances(self, reference: Reference) -> bool:
        """Whether an object may hold distances from itself to other objects, as some tables do. Constants do not if
        none of them leads from the object's start to anything else in the file."""
        if sum(high - low for low, high in reference.ranges) > MOST_CONSTANTS:
            return True
        return any(self._leads_elsewhere(low, high) for low, high in reference.ranges)

    def _leads_elsewhere(self, low: int, high: int) -> bool:
        image = self._image
        try:
            content = image.constant_bytes(low, high - low)
        except Unsupported:  # it holds something that is not known
            return True
        start = image.own_address(low)
        end = start + high - low
        if content is None or bisect_left(self._relocated, end) > bisect_left(self._relocated, start):
            return True
        for offset in range(0, len(content) - DISTANCE_BYTES + 1, DISTANCE_BYTES):
            distance = int.from_bytes(content[offset : offset + DISTANCE_BYTES], image.byte_order, signed=True)
            if not start <= start + distance < end and image.section_at(start + distance) is not None:
                return True
        return False

    @cached_property
    def _relocated(self) -> list[int]:
        return sorted(self._image.relocated)

    def _loaded(self, op: MicroOp) -> _Value:
        where = number_of(op.ins[0])
        if where is not None and op.out is not None and op.out.size == 8:
            reference = self._image.references.get(where)
            if reference is not None:
                return _Pointer(reference, reference.target, origin=self._image.linked_words.get(where))
        return _MIXED if self._hides_distances else None

    def value(self, state: _State, var: Var, address: int) -> _Value:
        number = number_of(var)
        if number is not None:
            return self._constant(var, number, address)
        found = state.get(var)
        if found is not None:
            return found
        return _MIXED if any(overlaps(var, known) for known in state) else None

    def _constant(self, var: Var, number: int, address: int) -> _Value:
        origin = origin_of(var) if var.space is Space.ADDRESS else None
        in_linked_file = self._refers(number) if var.size == 8 else None
        if in_linked_file is not None:
            return _Pointer(in_linked_file, number, origin=origin)
        if var.size not in (4, 8) or not self._image.references:
            return None
        instruction = self._function.instructions.get(address)
        for reference, expected in references_in(instruction, self._image) if instruction is not None else ():
            if number == expected % (1 << (8 * var.size)):
                return _Pointer(reference, expected, origin=origin) if var.size == 8 else _MIXED
        return None


def _start(number: int, origin: int | None) -> Var:
    return const(number, 8) if origin is None else linked_address(number, origin, 8)


def is_of_bound(op: MicroOp) -> bool:
    """Whether something is computed for an ASSUME, and not by the function."""
    return op.out is not None and op.out.space is Space.TEMP and op.out.offset >= _FIRST_TEMP


def _drop_temps(state: _State) -> None:
    """A temporary's number means nothing outside its instruction."""
    for var in [v for v in state if v.space is Space.TEMP]:
        del state[var]


def _sum(values: list[_Value], ins: tuple[Var, ...], sign: int) -> _Value:
    for value, other, var in ((values[0], values[1], ins[1]), (values[1], values[0], ins[0])):
        if isinstance(value, _Pointer) and other is None:
            if var.space is not Space.CONST:
                return replace(value, indexed=True)
            number = var.offset - (1 << (8 * var.size)) if var.offset >> (8 * var.size - 1) else var.offset
            return replace(value, offset=value.offset + sign * number)
    return _MIXED


def _forget(state: _State, written: Var) -> None:
    """Drop what is overwritten. The rest of a partly overwritten value is still derived from it."""
    for var in [v for v in state if overlaps(v, written)]:
        old = state.pop(var)
        covered = written.offset <= var.offset and var.offset + var.size <= written.offset + written.size
        if not covered and old is not None:
            state[var] = _MIXED


def _met(one: _State, other: _State) -> _State:
    found: _State = {}
    for var in one.keys() | other.keys():
        found[var] = _met_value(one.get(var), other.get(var))
    return found


def _met_value(one: _Value, other: _Value) -> _Pointer | _Mixed:
    if isinstance(one, _Pointer) and isinstance(other, _Pointer) and one.reference == other.reference:
        if one == other:
            return one
        if one.reference is not None and one.origin == other.origin:
            return _Pointer(one.reference, 0, indexed=True, origin=one.origin)
    return _MIXED


class _Writer:
    """Writes the ASSUMEs."""

    def __init__(self, function: Function, flow: _Flow) -> None:
        self._function = function
        self._flow = flow
        self._temps = 0
        self._arrays: dict[int, list[Local]] = {}
        """By the address of their function."""
        for local in function.image.arrays:
            self._arrays.setdefault(local.start, []).append(local)
        self._variables_in = cache(self._find_variables)
        self._unsure = self._find_shared_places()
        self.bounds: list[Bound] = []
        self._numbers: dict[Bound, int] = {}

    def written(self, block: Block) -> Block:
        state = self._flow.entries.get(block.id)
        if state is None:
            return block
        state = dict(state)
        ops: list[MicroOp] = []
        addresses: list[int] = []
        for op, address, is_first in block.in_order():
            if is_first:
                _drop_temps(state)
            if op.kind in (Kind.LOAD, Kind.STORE):
                ops += self._check(block.id.context, state, op, address)
            ops.append(op)
            addresses += [address] * (len(ops) - len(addresses))
            self._flow.step(state, op, address)
        return replace(block, ops=tuple(ops), addresses=tuple(addresses)) if len(ops) > len(block.ops) else block

    def _check(self, context: _Context, state: _State, op: MicroOp, address: int) -> list[MicroOp]:
        pointer = self._flow.value(state, op.ins[0], address)
        if not isinstance(pointer, _Pointer) or not pointer.indexed:
            return []
        size = op.out.size if op.out is not None else op.ins[1].size
        is_store, where = op.kind is Kind.STORE, op.ins[0]
        if pointer.reference is not None:
            is_sure = not self._function.image.base  # a linker's number does not say which object is meant
            bound = Bound(pointer.reference.name, pointer.reference.ranges, size, False, is_store, is_sure)
            each = [
                bound._replace(ranges=(extent,), is_sure=False, meant_by=pointer.reference.target)
                for extent in pointer.reference.objects
            ]
            return [op for one in (bound, *each) for op in self._assume_object(one, pointer, where)]
        here = [v for v in self._variables_in(context) if v.can_be_indexed and v.start <= address < v.end]
        # Compilers count to an object from the place of another one that lies beside it, and debug information does not
        # list all objects of a frame: which one an address is meant for is never sure.
        access = Bound("", (), size, True, is_store, is_sure=False)
        return self._check_local(here, state, pointer, where, access)

    def _assume_object(self, bound: Bound, pointer: _Pointer, where: Var) -> list[MicroOp]:
        return self._assume(bound, where, [(_start(low, pointer.origin), low) for low, _ in bound.ranges])

    def _find_shared_places(self) -> set[int]:
        """Where in the frame arrays begin in whose place there may be something else, too. Compilers give objects that
        are not alive at the same time one place, and debug information does not list all of them: it lacks compound
        literals and temporaries. Such objects begin where the array begins. One that is longer shows in a store behind
        the array's end, to no variable that is listed there; any shows in an access outside the array's block."""
        found: set[int] = set()
        if not self._arrays:
            return found
        for block in self._function.blocks.values():
            state = dict(self._flow.entries.get(block.id, {}))
            for op, address, is_first in block.in_order():
                if is_first:
                    _drop_temps(state)
                if op.kind in (Kind.LOAD, Kind.STORE):
                    found |= set(self._shared_with(block.id.context, state, op, address))
                self._flow.step(state, op, address)
        return found

    def _shared_with(self, context: _Context, state: _State, op: MicroOp, address: int) -> Iterator[int]:
        pointer = self._flow.value(state, op.ins[0], address)
        if not isinstance(pointer, _Pointer) or pointer.reference is not None:
            return
        size = op.out.size if op.out is not None else op.ins[1].size
        touched = range(pointer.offset, pointer.offset + (1 if pointer.indexed else size))
        is_store = op.kind is Kind.STORE and not pointer.indexed and not self._pushes(address)
        for depth in range(len(context) + 1):
            # In a function that calls the one that is here, this happens at the call.
            here = address if depth == len(context) else context[depth] - 1
            variables = [v for v in self._variables_in(context[:depth]) if v.start <= here < v.end]
            for array in variables:
                if array.can_be_indexed and (
                    array.is_outside_block(touched, here) or (is_store and array.is_behind(touched, variables))
                ):
                    yield array.offset

    def _pushes(self, address: int) -> bool:
        """Whether an instruction moves the stack pointer: it saves a register or a return address."""
        instruction = self._function.instructions.get(address)
        return instruction is not None and any(op.out == self._flow.stack_pointer for op in instruction.ops)

    def _find_variables(self, context: _Context) -> list[Local]:
        """The variables of the functions whose code is here through these calls, with offsets from the stack pointer at
        entry of the function in question."""
        found: list[Local] = []
        for start, arrays in self._arrays.items():
            top = self._flow.entries.get(BlockId(context, start, 0), {}).get(self._flow.stack_pointer)
            if isinstance(top, _Pointer) and top.reference is None and not top.indexed:
                found += [replace(array, offset=array.offset + top.offset) for array in arrays]
        return found

    def _check_local(
        self, here: list[Local], state: _State, pointer: _Pointer, where: Var, access: Bound
    ) -> list[MicroOp]:
        named = [a for a in here if a.offset <= pointer.offset < a.offset + a.size]
        if any(a.offset in self._unsure for a in named):
            return []
        top = state.get(self._flow.stack_pointer)
        if not named or not isinstance(top, _Pointer) or top.indexed or top.reference is not None:
            return []
        ranges = tuple(dict.fromkeys((a.offset, a.offset + a.size) for a in here))
        names = " or ".join(dict.fromkeys(a.name for a in here))
        bound = access._replace(name=names, ranges=ranges)
        ops, starts = [], []
        for low, _ in ranges:
            start = self._temp(8)
            ops.append(MicroOp(Kind.INT_ADD, start, (self._flow.stack_pointer, const(low - top.offset, 8))))
            starts.append((start, low))
        return [*ops, *self._assume(bound, where, starts)]

    def _assume(self, bound: Bound, where: Var, starts: list[tuple[Var, int]]) -> list[MicroOp]:
        flags: list[Var] = []
        ops: list[MicroOp] = []
        for (start, _), (low, high) in zip(starts, bound.ranges, strict=True):
            if high - low < bound.size:
                continue
            distance, flag = self._temp(8), self._temp(1)
            ops.append(MicroOp(Kind.INT_SUB, distance, (where, start)))
            ops.append(MicroOp(Kind.INT_LESSEQUAL, flag, (distance, const(high - low - bound.size, 8))))
            flags.append(flag)
        if not flags and bound.meant_by is None:
            return []
        total = flags[0] if flags else const(0, 1)
        for flag in flags[1:]:
            both = self._temp(1)
            ops.append(MicroOp(Kind.BOOL_OR, both, (total, flag)))
            total = both
        number = self._numbers.setdefault(bound, len(self.bounds))
        if number == len(self.bounds):
            self.bounds.append(bound)
        return [*ops, MicroOp(Kind.ASSUME, None, (total, const(number, 4)))]

    def _temp(self, size: int) -> Var:
        self._temps += 1
        return Var(Space.TEMP, _FIRST_TEMP + 16 * self._temps, size)
