"""What code does with the addresses of data in it: how far it counts from each, and which ones it gives away."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from isoform.lift.function import Block, Exit, Function, Return, outside_call
from isoform.lift.object_flow import (
    COMPARISONS,
    FlowState,
    FlowValue,
    Mixed,
    ObjectFlow,
    ObjectPointer,
    bases_of,
    drop_temps,
    is_of_bound,
)
from isoform.lift.simplify import overlaps
from isoform.load.fields import Reference
from isoform.model.machine import Convention
from isoform.model.microop import Kind, MicroOp, Space, Var

_CHOOSES = (Kind.COPY, Kind.SELECT)
"""What gives one of its operands."""


class Moving:
    """Of the addresses in the code of which it is not sure what object they are meant for."""

    def __init__(self) -> None:
        self.bases: dict[int, int | None] = {}
        """How far code counts from each; None where that may be anything, or it counts downwards."""
        self.counted: dict[int, int | None] = {}
        """Those of the bases that the code itself counts from. The others are only stored."""
        self.given: set[int] = set()
        """Those that are passed on, returned or compared, with or without something added."""
        self.begin_block()

    def begin_block(self) -> None:
        self._largest = Largest()
        self._added: dict[Var, int] = {}
        """For pointers of the block: an upper bound for the part of what was added that is not constant."""

    def note(self, base: int, most: int | None, is_stored: bool = False) -> None:
        for bases in (self.bases,) if is_stored else (self.bases, self.counted):
            known = bases.get(base, 0)
            bases[base] = None if most is None or known is None else max(most, known)

    def note_all(self, bases: Iterable[int], are_stored: bool = False) -> None:
        """Code may count anywhere from these."""
        for base in bases:
            self.note(base, None, are_stored)

    def note_result(self, op: MicroOp, values: Sequence[FlowValue], result: FlowValue) -> None:
        added = self.step(op, [v.indexed if isinstance(v, ObjectPointer) else None for v in values])
        if op.kind in COMPARISONS:
            self.given |= bases_of(*values)
        elif isinstance(result, ObjectPointer):
            for base in bases_of(result):
                most = added if result.indexed else 0
                is_upward = most is not None and result.offset >= base
                self.note(base, result.offset - base + most if most is not None and is_upward else None)
        elif isinstance(result, Mixed) and op.kind not in _CHOOSES:
            self.note_all(bases_of(*values))

    def step(self, op: MicroOp, indexed: Sequence[bool | None]) -> int | None:
        """An upper bound for the non-constant distance of the result of a copy or a sum from its object. `indexed` has
        one item per operand: whether something was added to it; None if it is not a pointer."""
        assert op.out is not None
        found = self._sum(op, indexed) if op.kind in (Kind.COPY, Kind.INT_ADD) else None
        for var in [v for v in self._added if overlaps(v, op.out)]:
            del self._added[var]
        if found is not None and any(one is not None for one in indexed):
            self._added[op.out] = found
        self._largest.step(op)
        return found

    def _sum(self, op: MicroOp, indexed: Sequence[bool | None]) -> int | None:
        found = 0
        for var, is_indexed in zip(op.ins, indexed, strict=True):
            if is_indexed is not None:
                most = self._added.get(var) if is_indexed else 0
            else:
                most = 0 if var.space is Space.CONST else self._largest.of(var)
            if most is None:
                return None
            found += most
        return found


def moving_bases(function: Function) -> Moving:
    """What a function of a linked file does with the addresses of data in it."""
    moving = Moving()
    convention, image = function.machine.convention, function.image
    if convention.stack_pointer is None:
        return moving

    def refers(number: int) -> Reference | None:
        section = image.section_at(image.own_address(number))
        is_data = section is not None and not section.executable
        return Reference(number, False, "", ((number, number + 1),), is_sure=False) if is_data else None

    flow = ObjectFlow(function, refers)
    flow.solve()
    for block in function.blocks.values():
        state = dict(flow.entries.get(block.id, {}))
        _note_block(moving, flow, block, state)
        given = [function.machine.registers[name] for name in _given(block.exit, convention)]
        moving.given |= bases_of(*(flow.value(state, register, 0) for register in given))
    return moving


def _note_block(moving: Moving, flow: ObjectFlow, block: Block, state: FlowState) -> None:
    moving.begin_block()
    for op, address, is_first in block.in_order():
        if is_first:
            drop_temps(state)
        values = [flow.value(state, var, address) for var in op.ins]
        if op.kind is Kind.STORE:
            moving.note_all(
                bases_of(values[1]), are_stored=True
            )  # what becomes of it after it is read again is not followed
        elif op.out is not None and not is_of_bound(op):
            # An access is at the address itself.
            values = [None] if op.kind is Kind.LOAD else values
            moving.note_result(op, values, flow.result(state, op, address))
        flow.step(state, op, address)


def _given(exit_: Exit, convention: Convention) -> Iterator[str]:
    """The registers that code outside may read after the end of a block."""
    if isinstance(exit_, Return) and exit_.to is None:
        yield from (*convention.result, *convention.float_result)
    call = outside_call(exit_)
    if call is not None:
        yield from convention.changeable.difference(convention.callee_saved)
        yield from convention.system_arguments if call.system else ()


class Largest:
    """Upper bounds for the values of one block, as far as single instructions show them: masks, extensions, shifts.
    Unsigned; a value that is not known here may be anything."""

    def __init__(self) -> None:
        self._known: dict[Var, int] = {}

    def of(self, var: Var) -> int | None:
        if var.space is Space.CONST:
            return var.offset
        exact = self._known.get(var)
        if exact is not None:
            return exact
        wider = (v for v in self._known if v.space is var.space and v.offset == var.offset and v.size > var.size)
        return next((self._known[v] for v in wider), None)

    def step(self, op: MicroOp) -> None:
        if op.out is None:
            return
        found = self._result(op)
        for var in [v for v in self._known if overlaps(v, op.out)]:
            del self._known[var]
        if found is not None and found < 1 << (8 * op.out.size):
            self._known[op.out] = found

    def _result(self, op: MicroOp) -> int | None:
        ins = [self.of(var) for var in op.ins]
        match op.kind, ins:
            case Kind.COPY, [int() as value]:
                return value
            case Kind.INT_ZEXT, [value]:
                return value if value is not None else (1 << (8 * op.ins[0].size)) - 1
            case Kind.INT_SEXT, [int() as value] if value < 1 << (8 * op.ins[0].size - 1):
                return value
            case Kind.INT_AND, [*_]:
                return min((value for value in ins if value is not None), default=None)
            case Kind.INT_ADD, [int() as left, int() as right]:
                return left + right
            case Kind.INT_MULT, [int() as left, int() as right]:
                return left * right
            case Kind.INT_LEFT, [int() as left, int() as right] if right < 64 and op.ins[1].space is Space.CONST:
                return left << right
            case Kind.INT_RIGHT, [value, int() as right] if right < 64 and op.ins[1].space is Space.CONST:
                return (value if value is not None else (1 << (8 * op.ins[0].size)) - 1) >> right
        return None
