"""Which accesses are meant to be inside which object, as ASSUMEs before them.

An access belongs to an object if its address is the object's plus something computed; a forward data flow over the
registers finds these addresses (`object_flow.py`). An access that it cannot classify gets no ASSUME.

The rule concerns the access, not the number in an instruction: `t[i - 1]` may be compiled with a base before `t`. A
base that the file gives only as a distance from the start of a section may therefore belong to any object of that
section (`Image.references`), and a base in the frame to any array there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from isoform.lift.function import Block, BlockId, Bound, Function
from isoform.lift.object_flow import FIRST_TEMP, FlowState, ObjectFlow, ObjectPointer, drop_temps
from isoform.load.described import Local
from isoform.load.fields import Reference
from isoform.model.microop import Kind, MicroOp, Space, Var, const, linked_address

MOST_BLOCKS = 4000
_Context = tuple[int, ...]
"""The calls through which the code of a block is inlined."""


def with_bounds(function: Function) -> Function:
    """The function with an ASSUME before every access that is meant to be inside an object."""
    image, machine = function.image, function.machine
    if not (image.references or image.arrays or image.base) or machine.convention.stack_pointer is None:
        return function
    if len(function.blocks) > MOST_BLOCKS:
        return function
    flow = ObjectFlow(function)
    flow.solve()
    likely = flow
    if flow.doubts:
        likely = ObjectFlow(function, is_trusting=True)
        likely.solve()
    writer = _Writer(function, flow, likely)
    blocks = {block_id: writer.written(block) for block_id, block in function.blocks.items()}
    return replace(function, blocks=blocks, bounds=tuple(writer.bounds)) if writer.bounds else function


def _start(number: int, origin: int | None) -> Var:
    return const(number, 8) if origin is None else linked_address(number, origin, 8)


def _each(bound: Bound, reference: Reference) -> list[Bound]:
    """If one of several objects is meant: the one that begins at the address, which is hardly ever meant for another;
    or else each of them."""
    begins = [extent for extent in reference.objects if extent[0] == reference.target]
    if begins:
        return [bound._replace(ranges=(begins[0],), is_sure=False)]
    return [bound._replace(ranges=(extent,), is_sure=False, meant_by=reference.target) for extent in reference.objects]


class _Writer:
    """Writes the ASSUMEs."""

    def __init__(self, function: Function, sure: ObjectFlow, likely: ObjectFlow) -> None:
        """A proof may only rest on what `sure` says; `likely` is enough to keep a run from showing a difference."""
        self._function = function
        self._sure = sure
        self._flow = likely
        self._temps = 0
        self._arrays: dict[int, list[Local]] = {}
        """By the address of their function."""
        for local in (local for local in function.image.arrays if not local.from_body):
            self._arrays.setdefault(local.start, []).append(local)
        self._variables_in = cache(self._find_variables)
        self._unsure = self._find_shared_places()
        self.bounds: list[Bound] = []
        self._numbers: dict[Bound, int] = {}

    def written(self, block: Block) -> Block:
        state = self._flow.entries.get(block.id)
        if state is None:
            return block
        state, sure = dict(state), dict(self._sure.entries.get(block.id, {}))
        ops: list[MicroOp] = []
        addresses: list[int] = []
        for op, address, is_first in block.in_order():
            if is_first:
                drop_temps(state)
                drop_temps(sure)
            if op.kind in (Kind.LOAD, Kind.STORE):
                is_sure = self._sure.value(sure, op.ins[0], address) == self._flow.value(state, op.ins[0], address)
                ops += self._check(block.id.context, state, op, address, is_sure)
            ops.append(op)
            addresses += [address] * (len(ops) - len(addresses))
            self._flow.step(state, op, address)
            self._sure.step(sure, op, address)
        return replace(block, ops=tuple(ops), addresses=tuple(addresses)) if len(ops) > len(block.ops) else block

    def _check(self, context: _Context, state: FlowState, op: MicroOp, address: int, is_sure: bool) -> list[MicroOp]:
        pointer = self._flow.value(state, op.ins[0], address)
        if not isinstance(pointer, ObjectPointer) or not pointer.indexed:
            return []
        size = op.out.size if op.out is not None else op.ins[1].size
        is_store, where = op.kind is Kind.STORE, op.ins[0]
        if pointer.reference is not None:
            reference = pointer.reference
            bound = Bound(reference.name, reference.ranges, size, False, is_store, reference.is_sure and is_sure)
            return [op for one in (bound, *_each(bound, reference)) for op in self._assume_object(one, pointer, where)]
        here = [v for v in self._variables_in(context) if v.can_be_indexed and v.start <= address < v.end]
        # Compilers count to an object from the place of another one that lies beside it, and debug information does not
        # list all objects of a frame: which one an address is meant for is never sure.
        access = Bound("", (), size, True, is_store, is_sure=False)
        return self._check_local(here, state, pointer, where, access)

    def _assume_object(self, bound: Bound, pointer: ObjectPointer, where: Var) -> list[MicroOp]:
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
                    drop_temps(state)
                if op.kind in (Kind.LOAD, Kind.STORE):
                    found |= set(self._shared_with(block.id.context, state, op, address))
                self._flow.step(state, op, address)
        return found

    def _shared_with(self, context: _Context, state: FlowState, op: MicroOp, address: int) -> Iterator[int]:
        pointer = self._flow.value(state, op.ins[0], address)
        if not isinstance(pointer, ObjectPointer) or pointer.reference is not None:
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
            if isinstance(top, ObjectPointer) and top.reference is None and not top.indexed:
                found += [replace(array, offset=array.offset + top.offset) for array in arrays]
        return found

    def _check_local(
        self, here: list[Local], state: FlowState, pointer: ObjectPointer, where: Var, access: Bound
    ) -> list[MicroOp]:
        named = [a for a in here if a.offset <= pointer.offset < a.offset + a.size]
        if any(a.offset in self._unsure for a in named):
            return []
        top = state.get(self._flow.stack_pointer)
        if not named or not isinstance(top, ObjectPointer) or top.indexed or top.reference is not None:
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
        return Var(Space.TEMP, FIRST_TEMP + 16 * self._temps, size)
