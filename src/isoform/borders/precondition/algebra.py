"""What a precondition is evaluated over: any values with the operations of SMT-LIB's bit-vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeVar

Value = TypeVar("Value")
Truth = TypeVar("Truth")


class Algebra(Protocol[Value, Truth]):
    """Bit-vectors as in SMT-LIB: both operands of an operation have the same width, which its result has too."""

    def constant(self, value: int, bits: int, /) -> Value: ...
    def add(self, left: Value, right: Value, /) -> Value: ...
    def sub(self, left: Value, right: Value, /) -> Value: ...
    def mul(self, left: Value, right: Value, /) -> Value: ...
    def udiv(self, left: Value, right: Value, /) -> Value: ...
    def sdiv(self, left: Value, right: Value, /) -> Value: ...
    def urem(self, left: Value, right: Value, /) -> Value: ...
    def srem(self, left: Value, right: Value, /) -> Value: ...
    def and_(self, left: Value, right: Value, /) -> Value: ...
    def or_(self, left: Value, right: Value, /) -> Value: ...
    def xor(self, left: Value, right: Value, /) -> Value: ...
    def not_(self, operand: Value, /) -> Value: ...
    def neg(self, operand: Value, /) -> Value: ...
    def shl(self, left: Value, right: Value, /) -> Value: ...
    def lshr(self, left: Value, right: Value, /) -> Value: ...
    def ashr(self, left: Value, right: Value, /) -> Value: ...
    def equal(self, left: Value, right: Value, /) -> Truth: ...
    def ult(self, left: Value, right: Value, /) -> Truth: ...
    def ule(self, left: Value, right: Value, /) -> Truth: ...
    def slt(self, left: Value, right: Value, /) -> Truth: ...
    def sle(self, left: Value, right: Value, /) -> Truth: ...
    def conj(self, left: Truth, right: Truth, /) -> Truth: ...
    def disj(self, left: Truth, right: Truth, /) -> Truth: ...
    def negate(self, operand: Truth, /) -> Truth: ...
    def ite(self, condition: Truth, yes: Value, no: Value, /) -> Value: ...
    def zero_extend(self, operand: Value, bits: int, /) -> Value:
        """`bits` is the width of the result, here and in `sign_extend`."""

    def sign_extend(self, operand: Value, bits: int, /) -> Value: ...
    def extract(self, operand: Value, high: int, low: int, /) -> Value:
        """Bits `high` down to `low`, both included."""

    def load(self, address: Value, size: int, /) -> Value:
        """`size` bytes of memory at entry, in the machine's byte order."""


class Number(NamedTuple):
    """An unsigned number below 2**bits."""

    value: int
    bits: int


def _mask(bits: int) -> int:
    return (1 << bits) - 1


def _signed(number: Number) -> int:
    value, bits = number
    return value - (1 << bits) if value >> (bits - 1) else value


def _number(value: int, bits: int) -> Number:
    return Number(value & _mask(bits), bits)


def _no_memory(address: int, size: int) -> int:
    raise ValueError("this precondition reads memory, and none was given")


class ConcreteAlgebra:
    """Plain numbers: tests are filtered with this."""

    def __init__(self, load: Callable[[int, int], int] | None = None) -> None:
        self._load = load or _no_memory

    def constant(self, value: int, bits: int) -> Number:
        return _number(value, bits)

    def add(self, left: Number, right: Number) -> Number:
        return _number(left.value + right.value, left.bits)

    def sub(self, left: Number, right: Number) -> Number:
        return _number(left.value - right.value, left.bits)

    def mul(self, left: Number, right: Number) -> Number:
        return _number(left.value * right.value, left.bits)

    def udiv(self, left: Number, right: Number) -> Number:
        return _number(left.value // right.value if right.value else -1, left.bits)

    def urem(self, left: Number, right: Number) -> Number:
        return _number(left.value % right.value if right.value else left.value, left.bits)

    def sdiv(self, left: Number, right: Number) -> Number:
        numerator, denominator = _signed(left), _signed(right)
        if denominator == 0:
            return _number(1 if numerator < 0 else -1, left.bits)
        quotient = abs(numerator) // abs(denominator)
        return _number(quotient if (numerator < 0) == (denominator < 0) else -quotient, left.bits)

    def srem(self, left: Number, right: Number) -> Number:
        numerator, denominator = _signed(left), _signed(right)
        if denominator == 0:
            return left
        remainder = abs(numerator) % abs(denominator)
        return _number(-remainder if numerator < 0 else remainder, left.bits)

    def and_(self, left: Number, right: Number) -> Number:
        return Number(left.value & right.value, left.bits)

    def or_(self, left: Number, right: Number) -> Number:
        return Number(left.value | right.value, left.bits)

    def xor(self, left: Number, right: Number) -> Number:
        return Number(left.value ^ right.value, left.bits)

    def not_(self, operand: Number) -> Number:
        return _number(~operand.value, operand.bits)

    def neg(self, operand: Number) -> Number:
        return _number(-operand.value, operand.bits)

    def shl(self, left: Number, right: Number) -> Number:
        return _number(left.value << min(right.value, left.bits), left.bits)

    def lshr(self, left: Number, right: Number) -> Number:
        return Number(left.value >> min(right.value, left.bits), left.bits)

    def ashr(self, left: Number, right: Number) -> Number:
        return _number(_signed(left) >> min(right.value, left.bits), left.bits)

    def equal(self, left: Number, right: Number) -> bool:
        return left.value == right.value

    def ult(self, left: Number, right: Number) -> bool:
        return left.value < right.value

    def ule(self, left: Number, right: Number) -> bool:
        return left.value <= right.value

    def slt(self, left: Number, right: Number) -> bool:
        return _signed(left) < _signed(right)

    def sle(self, left: Number, right: Number) -> bool:
        return _signed(left) <= _signed(right)

    def conj(self, left: bool, right: bool) -> bool:
        return left and right

    def disj(self, left: bool, right: bool) -> bool:
        return left or right

    def negate(self, operand: bool) -> bool:
        return not operand

    def ite(self, condition: bool, yes: Number, no: Number) -> Number:
        return yes if condition else no

    def zero_extend(self, operand: Number, bits: int) -> Number:
        return Number(operand.value, bits)

    def sign_extend(self, operand: Number, bits: int) -> Number:
        return _number(_signed(operand), bits)

    def extract(self, operand: Number, high: int, low: int) -> Number:
        return _number(operand.value >> low, high - low + 1)

    def load(self, address: Number, size: int) -> Number:
        return _number(self._load(address.value, size), 8 * size)
