"""Expressions of adaptors: trees over the target's parameters that compute an argument of the rewrite, or a result.

Every operator is total, so that an adaptor never traps and means the same on every machine: dividing by zero gives 0,
dividing the least number by -1 gives that number again, and of a shift amount the low bits count. Integers wrap around.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum

from isoform.model import expression_floats
from isoform.model.microop import Kind
from isoform.model.values import dataclass


class Operator(Enum):
    """The operators of seed 001, table 4.1. The value is what they are called on the command line."""

    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    AND = "&"
    OR = "|"
    XOR = "^"
    UNSIGNED_DIVIDE = "/u"
    SIGNED_DIVIDE = "/s"
    UNSIGNED_REMAINDER = "%u"
    SIGNED_REMAINDER = "%s"
    SHIFT_LEFT = "<<"
    SHIFT_RIGHT = ">>u"
    ARITHMETIC_SHIFT_RIGHT = ">>s"
    NEGATE = "neg"
    NOT = "~"

    @property
    def is_unary(self) -> bool:
        return self in (Operator.NEGATE, Operator.NOT)

    @property
    def is_commutative(self) -> bool:
        return self in (Operator.ADD, Operator.MULTIPLY, Operator.AND, Operator.OR, Operator.XOR)

    @property
    def is_shift(self) -> bool:
        return self in (Operator.SHIFT_LEFT, Operator.SHIFT_RIGHT, Operator.ARITHMETIC_SHIFT_RIGHT)

    @property
    def divides(self) -> bool:
        return self in _DIVIDING

    @property
    def is_signed(self) -> bool:
        """Whether its operands are read as numbers with a sign."""
        return self in (Operator.SIGNED_DIVIDE, Operator.SIGNED_REMAINDER, Operator.ARITHMETIC_SHIFT_RIGHT)


_DIVIDING = frozenset(
    {
        *(Operator.UNSIGNED_DIVIDE, Operator.SIGNED_DIVIDE),
        *(Operator.UNSIGNED_REMAINDER, Operator.SIGNED_REMAINDER),
    }
)


class FloatOperator(Enum):
    """Of numbers in single or double format, rounded to nearest."""

    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    DIVIDE = "/"

    @property
    def kind(self) -> Kind:
        return _FLOAT_KINDS[self]


_FLOAT_KINDS = {
    FloatOperator.ADD: Kind.FLOAT_ADD,
    FloatOperator.SUBTRACT: Kind.FLOAT_SUB,
    FloatOperator.MULTIPLY: Kind.FLOAT_MUL,
    FloatOperator.DIVIDE: Kind.FLOAT_DIV,
}


class Change(Enum):
    """How a value becomes one of another width or format."""

    SIGN_EXTENDED = "sign-extended"
    ZERO_EXTENDED = "zero-extended"
    TRUNCATED = "truncated"
    TRUTH = "truth"
    """1 if it is not zero, else 0."""
    FROM_SIGNED = "to floating point, from a number with a sign"
    """Of 32 or 64 bits."""
    TO_SIGNED = "from floating point to a number with a sign, rounded toward zero"
    """Of 32 or 64 bits; the least number where it does not fit."""
    RESIZED_FLOAT = "to floating point of another size"


@dataclass(frozen=True)
class Variable:
    """A parameter of the target, or what the rewrite returned."""

    name: str
    bits: int
    signed: bool = True


@dataclass(frozen=True)
class Constant:
    value: int
    """From 0 up to, not including, 2 to the power of `bits`."""
    bits: int
    is_float: bool = False
    """Whether it is the bit pattern of a number in single or double format."""

    @property
    def signed_value(self) -> int:
        return signed(self.value, self.bits)


@dataclass(frozen=True)
class Operation:
    operator: Operator
    operands: tuple[Expression, ...]

    @property
    def bits(self) -> int:
        return self.operands[0].bits


@dataclass(frozen=True)
class FloatOperation:
    operator: FloatOperator
    operands: tuple[Expression, ...]
    """Two."""

    @property
    def bits(self) -> int:
        return self.operands[0].bits


@dataclass(frozen=True)
class Conversion:
    change: Change
    operand: Expression
    bits: int


@dataclass(frozen=True)
class Loaded:
    """A member of what a parameter points to, as it is when the wrapper is called."""

    pointer: str
    """The name of the parameter."""
    offset: int
    bits: int
    signed: bool = True
    label: str = ""
    """As a person would write it: `p->x`."""


@dataclass(frozen=True)
class Cell:
    """A member of a structure that a wrapper builds."""

    label: str
    offset: int
    value: Expression
    """What it holds when the rewrite is called, of the width of the member."""
    signed: bool = True
    back: Loaded | None = None
    """Where it is copied to after the call."""


@dataclass(frozen=True)
class Built:
    """The address of a structure in the wrapper's own frame."""

    size: int
    cells: tuple[Cell, ...]
    bits: int = 64


Expression = Variable | Constant | Operation | FloatOperation | Conversion | Loaded | Built

RESULT = "result"
"""The variable for what the rewrite returned, in an expression for the result."""


def operands_of(expression: Expression) -> tuple[Expression, ...]:
    match expression:
        case Operation(_, operands) | FloatOperation(_, operands):
            return operands
        case Conversion(_, operand, _):
            return (operand,)
        case Built(_, cells):
            return tuple(cell.value for cell in cells)
        case _:
            return ()


def parts_of(expression: Expression) -> Iterator[Expression]:
    """The expression and all that it is made of."""
    yield expression
    for operand in operands_of(expression):
        yield from parts_of(operand)


def depth_of(expression: Expression) -> int:
    """As seed 001 counts it: of a leaf 1. A conversion does not count, being part of the leaf that it widens."""
    below = max((depth_of(operand) for operand in operands_of(expression)), default=0)
    return below if isinstance(expression, Conversion) else below + 1


def signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


def evaluate(expression: Expression, values: Mapping[str, int]) -> int:
    """Its value, where each variable has the value given. What is in memory has none here."""
    match expression:
        case Variable(name, bits):
            return values[name] & ((1 << bits) - 1)
        case Constant(value):
            return value
        case Operation(operator, operands):
            numbers = [evaluate(operand, values) for operand in operands]
            return apply(operator, expression.bits, *numbers)
        case FloatOperation(float_operator, (left, right)):
            values_of_both = evaluate(left, values), evaluate(right, values)
            return expression_floats.arithmetic(float_operator.kind, expression.bits, *values_of_both)
        case Conversion(change, operand, bits):
            return converted(change, evaluate(operand, values), operand.bits, bits)
        case _:
            raise TypeError(expression)


def apply(operator: Operator, bits: int, left: int, right: int = 0) -> int:
    """One operator on numbers of so many bits."""
    mask = (1 << bits) - 1
    match operator:
        case Operator.ADD:
            return left + right & mask
        case Operator.SUBTRACT:
            return left - right & mask
        case Operator.MULTIPLY:
            return left * right & mask
        case Operator.AND:
            return left & right
        case Operator.OR:
            return left | right
        case Operator.XOR:
            return left ^ right
        case Operator.NEGATE:
            return -left & mask
        case Operator.NOT:
            return ~left & mask
        case Operator.SHIFT_LEFT:
            return left << right % bits & mask
        case Operator.SHIFT_RIGHT:
            return left >> right % bits
        case Operator.ARITHMETIC_SHIFT_RIGHT:
            return signed(left, bits) >> right % bits & mask
        case _:
            return _divided(operator, bits, left, right) & mask


def _divided(operator: Operator, bits: int, left: int, right: int) -> int:
    if not right:
        return 0
    if operator is Operator.UNSIGNED_DIVIDE:
        return left // right
    if operator is Operator.UNSIGNED_REMAINDER:
        return left % right
    left, right = signed(left, bits), signed(right, bits)
    quotient = abs(left) // abs(right)
    quotient = quotient if (left < 0) == (right < 0) else -quotient
    return quotient if operator is Operator.SIGNED_DIVIDE else left - quotient * right


def converted(change: Change, value: int, bits: int, wanted: int) -> int:
    """A number of `bits` bits as one of `wanted` bits."""
    match change:
        case Change.SIGN_EXTENDED:
            return signed(value, bits) & ((1 << wanted) - 1)
        case Change.ZERO_EXTENDED:
            return value
        case Change.TRUNCATED:
            return value & ((1 << wanted) - 1)
        case Change.TRUTH:
            return int(value != 0)
        case Change.FROM_SIGNED:
            return expression_floats.from_signed(value, bits, wanted)
        case Change.TO_SIGNED:
            return expression_floats.to_signed(value, bits, wanted)
        case Change.RESIZED_FLOAT:
            return expression_floats.resized(value, bits, wanted)
