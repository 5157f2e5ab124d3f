"""Constants folded and copies propagated inside a block; dead writes removed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from isoform.lift.thread import address_sum
from isoform.load.image import Image
from isoform.model.evaluate import can_evaluate, evaluate
from isoform.model.evaluate_floats import FLOAT_RULES
from isoform.model.microop import Kind, MicroOp, Space, Var, const, linked_address, number_of, origin_of

Known = dict[Var, Var]
"""What a register or temp is known to equal: a constant, or another register or temp not written since."""

_SAME_OPERANDS = {
    Kind.INT_XOR: 0,
    Kind.INT_SUB: 0,
    Kind.INT_EQUAL: 1,
    Kind.INT_NOTEQUAL: 0,
    Kind.INT_LESS: 0,
    Kind.INT_SLESS: 0,
    Kind.INT_LESSEQUAL: 1,
    Kind.INT_SLESSEQUAL: 1,
    Kind.INT_SBORROW: 0,
}
"""Value of an operator whose two operands are the same variable."""

_NEUTRAL_RIGHT = {
    Kind.INT_ADD: 0,
    Kind.INT_SUB: 0,
    Kind.INT_XOR: 0,
    Kind.INT_OR: 0,
    Kind.INT_LEFT: 0,
    Kind.INT_RIGHT: 0,
    Kind.INT_SRIGHT: 0,
    Kind.INT_MULT: 1,
    Kind.BOOL_OR: 0,
    Kind.BOOL_AND: 1,
    Kind.BOOL_XOR: 0,
}
"""The right operand with which the operator returns its left operand."""


def overlaps(a: Var, b: Var) -> bool:
    return a.space is b.space and a.offset < b.offset + b.size and b.offset < a.offset + a.size


def propagate(ops: Iterable[MicroOp], image: Image | None, known: Known) -> list[MicroOp]:
    """The same micro-ops with the values of `known` substituted; `known` is updated in place."""
    return [_step(op, image, known) for op in ops]


def _step(op: MicroOp, image: Image | None, known: Known) -> MicroOp:
    op = _fold(MicroOp(op.kind, op.out, tuple(known_value(v, known) for v in op.ins)), image)
    if op.out is not None:
        forget(op.out, known)
        if op.kind is Kind.COPY and not overlaps(op.out, op.ins[0]):
            known[op.out] = op.ins[0]
    return op


def known_value(var: Var, known: Mapping[Var, Var]) -> Var:
    if var.space not in (Space.REGISTER, Space.TEMP):
        return var
    exact = known.get(var)
    if exact is not None:
        return exact
    for whole, value in known.items():
        if (
            value.space is Space.CONST
            and whole.space is var.space
            and whole.offset <= var.offset
            and var.offset + var.size <= whole.offset + whole.size
        ):
            return const(value.offset >> (8 * (var.offset - whole.offset)), var.size)
    return var


def forget(written: Var, known: Known) -> None:
    for var in [v for v, value in known.items() if overlaps(v, written) or overlaps(value, written)]:
        del known[var]


def _fold(op: MicroOp, image: Image | None) -> MicroOp:
    if op.out is None:
        return op
    if op.kind is Kind.LOAD:
        return _fold_load(op, image)
    # How constants round depends on the control word: whoever executes the operation names that assumption.
    if not can_evaluate(op.kind) or op.kind in FLOAT_RULES:
        return op
    if all(v.space is Space.CONST for v in op.ins):
        value = evaluate(op.kind, op.out.size, [v.size for v in op.ins], [v.offset for v in op.ins])
        return MicroOp(Kind.COPY, op.out, (const(value, op.out.size),))
    if any(v.space is Space.ADDRESS for v in op.ins):
        return _fold_address(op, image)
    if op.kind is Kind.SELECT:
        return _fold_select(op)
    if len(op.ins) == 2:
        return _fold_binary(op, *op.ins)
    return op


def _fold_address(op: MicroOp, image: Image | None) -> MicroOp:
    """Of an address that a linker decides, only distances are known."""
    moved = None
    if op.kind is Kind.INT_ADD:
        moved = address_sum(op.ins[0], op.ins[1], image)
    elif op.kind is Kind.INT_SUB and op.ins[1].space is Space.CONST:
        moved = address_sum(op.ins[0], const(-op.ins[1].offset, op.ins[1].size), image)
    return op if moved is None else MicroOp(Kind.COPY, op.out, (moved,))


def _fold_binary(op: MicroOp, left: Var, right: Var) -> MicroOp:
    assert op.out is not None
    if left == right and op.kind in _SAME_OPERANDS:
        return MicroOp(Kind.COPY, op.out, (const(_SAME_OPERANDS[op.kind], op.out.size),))
    if right.space is Space.CONST and _NEUTRAL_RIGHT.get(op.kind) == right.offset:
        return MicroOp(Kind.COPY, op.out, (left,))
    if op.kind is Kind.INT_AND and right.space is Space.CONST and right.offset == (1 << (8 * right.size)) - 1:
        return MicroOp(Kind.COPY, op.out, (left,))
    if op.kind is Kind.SUBPIECE and right.offset == 0 and op.out.size == left.size:
        return MicroOp(Kind.COPY, op.out, (left,))
    return op


def _fold_select(op: MicroOp) -> MicroOp:
    condition, then, otherwise = op.ins
    if condition.space is Space.CONST:
        return MicroOp(Kind.COPY, op.out, (then if condition.offset else otherwise,))
    return MicroOp(Kind.COPY, op.out, (then,)) if then == otherwise else op


def _fold_load(op: MicroOp, image: Image | None) -> MicroOp:
    """A load from the file's own constants (a GOT slot, a literal)."""
    assert op.out is not None
    where = number_of(op.ins[0])
    if image is None or where is None or not _is_inside(op.ins[0], op.out.size, image):
        return op
    data = image.constant_bytes(where, op.out.size)
    if data is None:
        return op
    value = int.from_bytes(data, image.byte_order)
    pointers = image.pointers_in(where, op.out.size)
    if not pointers:
        return MicroOp(Kind.COPY, op.out, (const(value, op.out.size),))
    if op.out.size != 8 or pointers[0][0]:
        return op
    return MicroOp(Kind.COPY, op.out, (linked_address(value, pointers[0][1], 8),))


def _is_inside(address: Var, size: int, image: Image) -> bool:
    """Whether the bytes at an address belong to the object that it is relative to."""
    if address.space is not Space.ADDRESS:
        return True
    found = image.objects.by_start.get(origin_of(address))
    number = number_of(address)
    return found is not None and number is not None and found.holds(number - found.start, size)
