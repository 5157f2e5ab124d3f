"""Which values are addresses of which objects: a forward data flow over the registers.

A value is the address of an object plus something computed, or a number that was computed from addresses in another
way. A value that is neither, as far as is known, has no entry.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache, cached_property
from heapq import heappop, heappush

from isoform.lift.function import Block, BlockId, Function, outside_call
from isoform.load.fields import Reference
from isoform.load.referred import LinkedReferences, references_in
from isoform.model.errors import Unsupported
from isoform.model.microop import Kind, MicroOp, Space, Var, number_of, origin_of
from isoform.model.values import dataclass

DISTANCE_BYTES = 4
"""Size of the smallest number that may be a distance between two objects."""
MOST_CONSTANTS = 1 << 16
"""Bytes that are searched for distances."""
FIRST_TEMP = 1 << 23
"""Temporaries of the micro-ops of an ASSUME: no others have numbers this large."""
COMPARISONS = frozenset(
    {
        Kind.INT_EQUAL,
        Kind.INT_NOTEQUAL,
        Kind.INT_LESS,
        Kind.INT_LESSEQUAL,
        Kind.INT_SLESS,
        Kind.INT_SLESSEQUAL,
        Kind.INT_CARRY,
        Kind.INT_SCARRY,
        Kind.INT_SBORROW,
    }
)
"""What says something of numbers in one bit: nothing that can be added to an address comes out."""


@dataclass(frozen=True)
class ObjectPointer:
    """The address of an object, or of the frame, plus a constant, plus something unknown if `indexed`."""

    reference: Reference | None
    """None: the stack pointer at entry."""
    offset: int
    """The added constant. For an object it only tells whether two pointers are the same."""
    indexed: bool = False
    origin: int | None = None
    """The object that the address is relative to, if a linker decides it (see `load/objects.py`)."""


@dataclass(frozen=True)
class Mixed:
    """A number that is computed from addresses by other operations, for example the distance between two objects: added
    to an address it may give an address of another object. Or one of several addresses, and it is not known which."""

    bases: frozenset[int] = frozenset()
    """The addresses in the code that it may come from."""


FlowValue = ObjectPointer | Mixed | None
"""None: a number that was not made from addresses here."""
FlowState = dict[Var, "ObjectPointer | Mixed"]


def bases_of(*values: FlowValue) -> frozenset[int]:
    """The addresses in the code that values come from, as far as it is not sure which object each is meant for."""
    return frozenset().union(*(_bases(value) for value in values))


def _bases(value: FlowValue) -> frozenset[int]:
    if isinstance(value, Mixed):
        return value.bases
    if value is None or value.reference is None or value.reference.is_sure:
        return frozenset()
    return frozenset({value.reference.target})


class ObjectFlow:
    """The data flow over one function. Afterwards `entries` has what registers hold where each block begins."""

    def __init__(
        self,
        function: Function,
        refers: Callable[[int], Reference | None] | None = None,
        is_trusting: bool = False,
    ) -> None:
        """`refers`: what a number in the code of a linked file refers to. With `is_trusting` no number in a variable is
        taken for a distance between objects, as hardly any is: tables of distances are constants."""
        self._is_trusting = is_trusting
        self.doubts = False
        """Whether some number in memory was taken for such a distance, perhaps wrongly."""
        self._refers = LinkedReferences(function.image).to if refers is None else refers
        self._function = function
        self._image = function.image
        name = function.machine.convention.stack_pointer
        assert name is not None
        self.stack_pointer = function.machine.registers[name]
        self.entries: dict[BlockId, FlowState] = {}
        self._may_hold_distances = cache(self._find_distances)
        self._constant = cache(self._find_constant)
        ops = (op for block in function.blocks.values() for op in block.ops)
        self._overlapping = _Overlapping([self.stack_pointer, *(op.out for op in ops if op.out is not None)])
        self._hides_distances = False
        """Whether a mixed number was stored: a loaded value may then be one, too."""

    @cached_property
    def _by_slot(self) -> dict[int, Reference]:
        """Objects of a linked file that the code names by slots of the global offset table only, by where they start: a
        slot is for one symbol."""
        found: dict[int, Reference] = {}
        named: set[int] = set()
        for op in (op for instruction in self._function.instructions.values() for op in instruction.ops):
            where = number_of(op.ins[0]) if op.kind is Kind.LOAD and self._image.base else None
            reference = None if where is None else self._image.references.get(where)
            if reference is not None and self._image.linked_words.get(where or 0) == reference.target:
                found[reference.target] = reference
            is_access = op.kind in (Kind.LOAD, Kind.STORE)
            named |= {origin_of(var) for var in op.ins[is_access:] if var.space is Space.ADDRESS}
        return {origin: reference for origin, reference in found.items() if origin not in named}

    def solve(self) -> None:
        self._solve()
        if self._hides_distances:
            self.entries = {}
            self._solve()

    def _solve(self) -> None:
        function = self._function
        self.entries[function.entry] = {self.stack_pointer: ObjectPointer(None, 0)}
        order = self._order
        pending = [order[function.entry]]
        while pending:
            block = self._in_order[heappop(pending)]
            state = dict(self.entries[block.id])
            for op, address, is_first in block.in_order():
                if is_first:
                    drop_temps(state)
                self.step(state, op, address)
            drop_temps(state)
            call = outside_call(block.exit)
            for successor in block.successors:
                came_back = call is not None and not call.system and successor == call.then
                known, after = self.entries.get(successor), self._after_call(state) if came_back else state
                merged = after if known is None else _met(known, after)
                if merged != known:
                    self.entries[successor] = dict(merged)
                    if order[successor] not in pending:
                        heappush(pending, order[successor])

    @cached_property
    def _in_order(self) -> list[Block]:
        """The blocks in reverse postorder: a block comes after what leads to it, but for the ways back of loops."""
        blocks, entry = self._function.blocks, self._function.entry
        seen, finished = {entry}, []
        stack = [(entry, iter(blocks[entry].successors))]
        while stack:
            block_id, left = stack[-1]
            successor = next(left, None)
            if successor is None:
                finished.append(blocks[block_id])
                stack.pop()
            elif successor not in seen:
                seen.add(successor)
                stack.append((successor, iter(blocks[successor].successors)))
        return finished[::-1]

    @cached_property
    def _order(self) -> dict[BlockId, int]:
        return {block.id: number for number, block in enumerate(self._in_order)}

    def _after_call(self, before: FlowState) -> FlowState:
        state = dict(before)
        convention, registers = self._function.machine.convention, self._function.machine.registers
        lost = (*convention.scratch_after_call, *convention.result, *convention.float_result)
        for name in lost:
            self._forget(state, registers[name])
        pointer = state.get(self.stack_pointer)
        if isinstance(pointer, ObjectPointer):
            state[self.stack_pointer] = replace(pointer, offset=pointer.offset + convention.stack_adjustment)
        return state

    def step(self, state: FlowState, op: MicroOp, address: int) -> None:
        if op.kind is Kind.STORE and isinstance(self.value(state, op.ins[1], address), Mixed):
            self._hides_distances = True
        if op.out is None:
            return
        result = self.result(state, op, address)
        self._forget(state, op.out)
        if result is not None:
            state[op.out] = result

    def _forget(self, state: FlowState, written: Var) -> None:
        """Drop what is overwritten. The rest of a partly overwritten value is still derived from it."""
        for var in self._overlapping[written]:
            old = state.pop(var, None)
            covered = written.offset <= var.offset and var.offset + var.size <= written.offset + written.size
            if not covered and old is not None:
                state[var] = Mixed(bases_of(old))

    def result(self, state: FlowState, op: MicroOp, address: int) -> FlowValue:
        """What a micro-op computes, other than a store."""
        if op.kind is Kind.LOAD:
            assert op.out is not None
            source = self.value(state, op.ins[0], address)
            reference = source.reference if isinstance(source, ObjectPointer) else None
            if reference is not None and op.out.size >= DISTANCE_BYTES and self._may_hold_distances(reference):
                self.doubts = True
                return Mixed()
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
            case kind:
                return None if kind in COMPARISONS else Mixed(bases_of(*values))

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
        if content is None:
            return not self._is_trusting
        start = image.own_address(low)
        end = start + high - low
        if bisect_left(self._relocated, end) > bisect_left(self._relocated, start):
            return True
        for offset in range(0, len(content) - DISTANCE_BYTES + 1, DISTANCE_BYTES):
            distance = int.from_bytes(content[offset : offset + DISTANCE_BYTES], image.byte_order, signed=True)
            if not start <= start + distance < end and image.section_at(start + distance) is not None:
                return True
        return False

    @cached_property
    def _relocated(self) -> list[int]:
        return sorted(self._image.relocated)

    def _loaded(self, op: MicroOp) -> FlowValue:
        where = number_of(op.ins[0])
        if where is not None and op.out is not None and op.out.size == 8:
            reference = self._image.references.get(where)
            if reference is not None:
                return ObjectPointer(reference, reference.target, origin=self._image.linked_words.get(where))
        self.doubts = self.doubts or self._hides_distances
        return Mixed() if self._hides_distances else None

    def value(self, state: FlowState, var: Var, address: int) -> FlowValue:
        number = number_of(var)
        if number is not None:
            return self._constant(var, number, address)
        found = state.get(var)
        if found is not None:
            return found
        parts = [state[known] for known in self._overlapping[var] if known in state]
        return Mixed(bases_of(*parts)) if parts else None

    def _find_constant(self, var: Var, number: int, address: int) -> FlowValue:
        origin = origin_of(var) if var.space is Space.ADDRESS else None
        by_slot = None if origin is None else self._by_slot.get(origin)
        if by_slot is not None:
            return ObjectPointer(by_slot, number, origin=origin)
        in_linked_file = self._refers(number) if var.size == 8 else None
        if in_linked_file is not None:
            return ObjectPointer(in_linked_file, number, origin=origin)
        if var.size not in (4, 8) or not self._image.references:
            return None
        instruction = self._function.instructions.get(address)
        for reference, expected in references_in(instruction, self._image) if instruction is not None else ():
            if number == expected % (1 << (8 * var.size)):
                pointer = ObjectPointer(_at(reference, expected), expected, origin=origin)
                return pointer if var.size == 8 else Mixed(bases_of(pointer))
        return None


def _at(reference: Reference, address: int) -> Reference:
    """A reference of an object file by the address that it gives, with the object that begins there, if one does."""
    begins = tuple(extent for extent in reference.objects if extent[0] == address)
    return reference._replace(target=address, relative=False, objects=begins)


def is_of_bound(op: MicroOp) -> bool:
    """Whether something is computed for an ASSUME, and not by the function."""
    return op.out is not None and op.out.space is Space.TEMP and op.out.offset >= FIRST_TEMP


def drop_temps(state: FlowState) -> None:
    """A temporary's number means nothing outside its instruction."""
    for var in [v for v in state if v.space is Space.TEMP]:
        del state[var]


def _sum(values: list[FlowValue], ins: tuple[Var, ...], sign: int) -> FlowValue:
    for value, other, var in ((values[0], values[1], ins[1]), (values[1], values[0], ins[0])):
        if isinstance(value, ObjectPointer) and other is None:
            if var.space is not Space.CONST:
                return replace(value, indexed=True)
            number = var.offset - (1 << (8 * var.size)) if var.offset >> (8 * var.size - 1) else var.offset
            return replace(value, offset=value.offset + sign * number)
    return Mixed(bases_of(*values))


class _Overlapping(dict[Var, tuple[Var, ...]]):
    """For a variable: those of the variables that a function writes that share a byte with it, itself among them."""

    def __init__(self, written: Iterable[Var]) -> None:
        super().__init__()
        self._at: dict[tuple[Space, int], list[Var]] = {}
        for var in dict.fromkeys(written):
            for offset in range(var.offset, var.offset + var.size):
                self._at.setdefault((var.space, offset), []).append(var)

    def __missing__(self, var: Var) -> tuple[Var, ...]:
        at = ((var.space, offset) for offset in range(var.offset, var.offset + var.size))
        found = self[var] = tuple(dict.fromkeys(other for byte in at for other in self._at.get(byte, ())))
        return found


def _met(one: FlowState, other: FlowState) -> FlowState:
    found: FlowState = {}
    for var in one.keys() | other.keys():
        found[var] = _met_value(one.get(var), other.get(var))
    return found


def _met_value(one: FlowValue, other: FlowValue) -> ObjectPointer | Mixed:
    if isinstance(one, ObjectPointer) and isinstance(other, ObjectPointer) and one.reference == other.reference:
        if one == other:
            return one
        if one.reference is not None and one.origin == other.origin:
            return ObjectPointer(one.reference, 0, indexed=True, origin=one.origin)
    return Mixed(bases_of(one, other))
