"""Constants that instructions compute with, so that a cause can be about one of them."""

from __future__ import annotations

from collections.abc import Sequence

from isoform.model.microop import Kind, MicroOp, Space, Var

_COMPUTING = frozenset(
    {
        Kind.INT_ADD,
        Kind.INT_SUB,
        Kind.INT_AND,
        Kind.INT_OR,
        Kind.INT_XOR,
        Kind.INT_EQUAL,
        Kind.INT_NOTEQUAL,
        Kind.INT_LESS,
        Kind.INT_SLESS,
        Kind.INT_LESSEQUAL,
        Kind.INT_SLESSEQUAL,
        Kind.INT_SEXT,
    }
)
"""Micro-ops whose constant operand is written in the instruction. INT_SEXT stands for multiplications, which
extend their constant first; INT_MULT itself also scales addresses, and is left out."""
_SHIFTS = frozenset({Kind.INT_LEFT, Kind.INT_RIGHT, Kind.INT_SRIGHT})
"""Left out: their flags are made of other constants that follow from the one that is written, or, with `cl`, of the
mask of the count."""


def computing_with_constant(ops: Sequence[MicroOp]) -> MicroOp | None:
    """The first micro-op of an instruction that computes from data and a constant, if it is the first that computes at
    all. Addresses do not count: what is loaded, and where something is stored, are values of their own."""
    if any(op.kind in _SHIFTS for op in ops):
        return None
    addresses = {op.ins[0] for op in ops if op.kind in (Kind.LOAD, Kind.STORE)}
    for op in ops:
        if op.kind in _COMPUTING and op.out not in addresses:
            if constant_of(op) is not None and _reads_data(op, ops):
                return op
            if op.kind is not Kind.INT_SEXT:
                return None
    return None


def constant_of(op: MicroOp) -> Var | None:
    constants = [var for var in op.ins if var.space is Space.CONST]
    return constants[0] if len(constants) == 1 else None


def _reads_data(op: MicroOp, ops: Sequence[MicroOp]) -> bool:
    """Whether its other operand comes from a register or from memory."""
    other = next((var for var in op.ins if var.space is not Space.CONST), None)
    if other is None or other.space is Space.REGISTER:
        return True
    made = next((before for before in ops if before.out == other), None)
    return made is not None and made.kind is Kind.LOAD


def with_operand(op: MicroOp, like: MicroOp, value: Var) -> MicroOp:
    """A micro-op with another variable in the place of the constant, if it reads what `like` reads: that computes the
    result, others of these the flags."""
    constant = constant_of(like)
    if sorted(op.ins) != sorted(like.ins) or constant is None:
        return op
    return MicroOp(op.kind, op.out, tuple(value if var == constant else var for var in op.ins))
