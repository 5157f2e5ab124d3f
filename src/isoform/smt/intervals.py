"""What is known about a term's value without asking a solver: bounds as an unsigned and as a signed number.

Only what shows that an extended sum or product does not wrap: extensions, masks, shifts by constants.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from bitwuzla import Kind, Term

from isoform.smt.ring import Interval, shift_to_fit

DEPTH = 12
"""How many operators deep bounds are computed. Beyond that a term may have any value."""


class Bounds(NamedTuple):
    unsigned: Interval
    signed: Interval


def any_value(width: int) -> Bounds:
    half = 1 << (width - 1)
    return Bounds((0, 2 * half - 1), (-half, half - 1))


def from_unsigned(low: int, high: int, width: int) -> Bounds:
    half = 1 << (width - 1)
    if low < 0 or high >= 2 * half:
        return any_value(width)
    return Bounds((low, high), (low, high) if high < half else (-half, half - 1))


def from_signed(low: int, high: int, width: int) -> Bounds:
    half = 1 << (width - 1)
    if low < -half or high >= half:
        return any_value(width)
    return Bounds((low, high) if low >= 0 else (0, 2 * half - 1), (low, high))


def polynomial_bounds(readings: Iterable[Interval], width: int) -> Bounds:
    """Bounds of a polynomial from its bounds over the integers, under several readings of its atoms."""
    best = any_value(width)
    for reading in readings:
        for is_signed in (False, True):
            shift = shift_to_fit(reading, width, is_signed)
            if shift is not None:
                make = from_signed if is_signed else from_unsigned
                best = _tighter(best, make(reading[0] + shift, reading[1] + shift, width))
    return best


def _tighter(left: Bounds, right: Bounds) -> Bounds:
    return Bounds(
        *(min(pair, key=lambda interval: interval[1] - interval[0]) for pair in zip(left, right, strict=True))
    )


def literal(term: Term) -> int | None:
    """The value of a bit-vector constant, unsigned; None for every other term."""
    if not term.is_value() or not term.sort().is_bv():
        return None
    return int(term.value(10))


def opaque_bounds(term: Term, bounds_of: Callable[[Term], Bounds]) -> Bounds:
    """Bounds of a bit-vector term from those of its operands."""
    width = term.sort().bv_size()
    rule = _RULES.get(term.kind())
    if rule is None:
        return any_value(width)
    return rule(term, width, bounds_of) or any_value(width)


_Rule = Callable[[Term, int, Callable[[Term], Bounds]], "Bounds | None"]


def _value(term: Term, width: int, _: Callable[[Term], Bounds]) -> Bounds:
    value = literal(term)
    assert value is not None
    return Bounds((value, value), (value - (1 << width),) * 2 if value >> (width - 1) else (value, value))


def _zero_extend(term: Term, width: int, bounds_of: Callable[[Term], Bounds]) -> Bounds:
    return from_unsigned(*bounds_of(term[0]).unsigned, width)


def _sign_extend(term: Term, width: int, bounds_of: Callable[[Term], Bounds]) -> Bounds:
    return from_signed(*bounds_of(term[0]).signed, width)


def _and(term: Term, width: int, bounds_of: Callable[[Term], Bounds]) -> Bounds:
    return from_unsigned(0, min(bounds_of(child).unsigned[1] for child in term.children()), width)


def _or_xor(term: Term, width: int, bounds_of: Callable[[Term], Bounds]) -> Bounds:
    bits = max(bounds_of(child).unsigned[1].bit_length() for child in term.children())
    return from_unsigned(0, (1 << bits) - 1, width)


def _if_then_else(term: Term, width: int, bounds_of: Callable[[Term], Bounds]) -> Bounds:
    left, right = bounds_of(term[1]), bounds_of(term[2])
    return Bounds(_hull(left.unsigned, right.unsigned), _hull(left.signed, right.signed))


def _hull(left: Interval, right: Interval) -> Interval:
    return min(left[0], right[0]), max(left[1], right[1])


def _logical_shift_right(term: Term, width: int, bounds_of: Callable[[Term], Bounds]) -> Bounds | None:
    count = literal(term[1])
    if count is None:
        return None
    low, high = bounds_of(term[0]).unsigned
    return from_unsigned(low >> count, high >> count, width)


def _arithmetic_shift_right(term: Term, width: int, bounds_of: Callable[[Term], Bounds]) -> Bounds | None:
    count = literal(term[1])
    if count is None:
        return None
    low, high = bounds_of(term[0]).signed
    return from_signed(low >> count, high >> count, width)


def _divide(term: Term, width: int, bounds_of: Callable[[Term], Bounds]) -> Bounds | None:
    divisor = literal(term[1])
    if not divisor:
        return None
    low, high = bounds_of(term[0]).unsigned
    return from_unsigned(low // divisor, high // divisor, width)


def _remainder(term: Term, width: int, bounds_of: Callable[[Term], Bounds]) -> Bounds | None:
    divisor = literal(term[1])
    return from_unsigned(0, divisor - 1, width) if divisor else None


def _extract(term: Term, width: int, bounds_of: Callable[[Term], Bounds]) -> Bounds:
    low, high = (bound >> term.indices()[1] for bound in bounds_of(term[0]).unsigned)
    return from_unsigned(low, high, width)


def _concat(term: Term, width: int, bounds_of: Callable[[Term], Bounds]) -> Bounds:
    shift = term[1].sort().bv_size()
    upper, lower = bounds_of(term[0]).unsigned, bounds_of(term[1]).unsigned
    return from_unsigned((upper[0] << shift) + lower[0], (upper[1] << shift) + lower[1], width)


_RULES: dict[Kind, _Rule] = {
    Kind.VALUE: _value,
    Kind.BV_ZERO_EXTEND: _zero_extend,
    Kind.BV_SIGN_EXTEND: _sign_extend,
    Kind.BV_AND: _and,
    Kind.BV_OR: _or_xor,
    Kind.BV_XOR: _or_xor,
    Kind.ITE: _if_then_else,
    Kind.BV_SHR: _logical_shift_right,
    Kind.BV_ASHR: _arithmetic_shift_right,
    Kind.BV_UDIV: _divide,
    Kind.BV_UREM: _remainder,
    Kind.BV_EXTRACT: _extract,
    Kind.BV_CONCAT: _concat,
}
