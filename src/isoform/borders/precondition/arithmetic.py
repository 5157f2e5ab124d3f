"""C's arithmetic on typed terms: conversions, operators and comparisons."""

from __future__ import annotations

from isoform.borders.precondition.tree import (
    Choice,
    Comparison,
    Condition,
    Constant,
    Indicator,
    Narrowed,
    Not,
    Operation,
    Operator,
    Relation,
    Term,
    Widened,
)
from isoform.model.signature import CType, TypeKind
from isoform.model.values import dataclass

INT = CType(TypeKind.INTEGER, 32, True, "int")

OPERATORS: dict[str, tuple[Operator, Operator]] = {
    "+": (Operator.ADD, Operator.ADD),
    "-": (Operator.SUB, Operator.SUB),
    "*": (Operator.MUL, Operator.MUL),
    "/": (Operator.UDIV, Operator.SDIV),
    "%": (Operator.UREM, Operator.SREM),
    "&": (Operator.AND, Operator.AND),
    "|": (Operator.OR, Operator.OR),
    "^": (Operator.XOR, Operator.XOR),
    "<<": (Operator.SHL, Operator.SHL),
    ">>": (Operator.LSHR, Operator.ASHR),
}
"""The operator on unsigned and on signed operands."""

ORDER = ("<", "<=", ">", ">=")
EQUALITY = ("==", "!=")


@dataclass(frozen=True)
class Typed:
    """An expression with its C type: integer, bool or pointer."""

    term: Term
    type: CType


def mask(bits: int) -> int:
    return (1 << bits) - 1


def truth(value: Typed) -> Condition:
    if isinstance(value.term, Indicator):
        return value.term.condition
    return Not(Comparison(Relation.EQUAL, value.term, Constant(0, value.type.bits)))


def converted(value: Typed, to: CType) -> Typed:
    bits = value.type.bits
    if bits == to.bits:
        return Typed(value.term, to)
    if bits < to.bits:
        return Typed(Widened(value.term, to.bits, value.type.signed), to)
    return Typed(Narrowed(value.term, to.bits), to)


def balanced(left: Typed, right: Typed) -> tuple[Typed, Typed]:
    """The usual arithmetic conversions, on promoted operands."""
    first, second = left.type, right.type
    if first.signed == second.signed:
        to = first if first.bits >= second.bits else second
    else:
        unsigned, signed = (second, first) if first.signed else (first, second)
        to = unsigned if unsigned.bits >= signed.bits else signed
    return converted(left, to), converted(right, to)


def calculated(symbol: str, left: Typed, right: Typed) -> Typed:
    left, right = balanced(left, right)
    operator = OPERATORS[symbol][left.type.signed]
    return Typed(Operation(operator, left.term, right.term, left.type.bits), left.type)


def shifted(symbol: str, left: Typed, right: Typed) -> Typed:
    """The width is the left operand's, and the count is brought to it without losing that it is out of range."""
    bits = left.type.bits
    if right.type.bits <= bits:
        count = Widened(right.term, bits, right.type.signed) if right.type.bits < bits else right.term
    else:
        # A count that does not fit is out of range: so is the all-ones one put in its place.
        limit = Comparison(Relation.ULT, right.term, Constant(bits, right.type.bits))
        count = Choice(limit, Narrowed(right.term, bits), Constant(mask(bits), bits))
    operator = OPERATORS[symbol][left.type.signed]
    return Typed(Operation(operator, left.term, count, bits), left.type)


def compared(symbol: str, left: Typed, right: Typed) -> Condition:
    if symbol in EQUALITY:
        equal = Comparison(Relation.EQUAL, left.term, right.term)
        return equal if symbol == "==" else Not(equal)
    if symbol in (">", ">="):
        left, right = right, left
    strict = symbol in ("<", ">")
    if left.type.signed:
        return Comparison(Relation.SLT if strict else Relation.SLE, left.term, right.term)
    return Comparison(Relation.ULT if strict else Relation.ULE, left.term, right.term)
