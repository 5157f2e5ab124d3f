"""Numbers of 80 bits as the x87 computes with them, in integer micro-ops: conversions, sums, products, quotients.

A number is a sign, an exponent of 15 bits and a significand of 64 whose highest bit is the one before the point. That
bit may contradict the exponent. If it is 0 and the exponent is not, a processor does not compute with the pattern: the
result is the default NaN. If it is 1 and the exponent is 0, the exponent counts as 1.
Results are rounded to nearest even, to 64 bits (assumption `default-rounding-mode`).
"""

from __future__ import annotations

from typing import NamedTuple

from isoform.isa.x86_64.builder import Builder
from isoform.model.microop import FALSE, Kind, Var, const

SIZE = 10
_BIAS = 16383
_FULL = 0x7FFF
_ONE = 1 << 63
"""The bit before the point."""
_QUIET = 1 << 62
_LEAST_EXPONENT = 1 - _BIAS
_WIDE = 16
DEFAULT_NAN = const(0xFFFF << 64 | _ONE | _QUIET, SIZE)
_FORMATS = {4: (24, 127), 8: (53, 1023)}
"""Of singles and doubles by their bytes: bits of the significand, and the exponent's bias."""


class Unpacked(NamedTuple):
    """The parts of a pattern: significand * 2^(exponent - 63); the significand of every number but 0 starts with a
    one."""

    pattern: Var
    negative: Var
    exponent: Var
    significand: Var
    is_zero: Var
    is_infinite: Var
    is_nan: Var
    is_invalid: Var


def unpacked(b: Builder, pattern: Var) -> Unpacked:
    significand, top = b.piece(pattern, 0, 8), b.piece(pattern, 8, 2)
    field = b.zext(b.and_(top, _FULL), 4)
    without_field, full = b.equal(field, 0), b.equal(field, _FULL)
    has_one = b.is_negative(significand)
    is_whole = b.equal(b.and_(significand, _ONE - 1), 0)
    special = b.both(full, has_one)
    zeros = b.leading_zeros(significand, 4)
    return Unpacked(
        pattern,
        b.is_negative(top),
        b.sub(b.sub(b.select(without_field, const(1, 4), field), _BIAS), zeros),
        b.shl(significand, zeros),
        b.both(without_field, b.equal(significand, 0)),
        b.both(special, is_whole),
        b.both(special, b.negate(is_whole)),
        b.negate(b.either(without_field, has_one)),
    )


def _packed(b: Builder, negative: Var, field: Var, significand: Var) -> Var:
    top = b.or_(b.piece(field, 0, 2), b.select(negative, const(0x8000, 2), const(0, 2)))
    return b.join(significand, top)


def _shifted(b: Builder, value: Var, count: Var) -> Var:
    """Shifts right; the lowest bit is set if a one was lost."""
    kept = b.shr(value, count)
    return b.or_(kept, b.zext(b.differ(b.shl(kept, count), value), value.size))


def _rounds_up(b: Builder, kept: Var, rest: Var) -> Var:
    """Whether the part cut off, as a fraction, is more than half, or half for an odd number."""
    half = 1 << (8 * rest.size - 1)
    return b.either(b.below(const(half, rest.size), rest), b.both(b.equal(rest, half), b.bit(kept, 0)))


def _rounded(b: Builder, negative: Var, exponent: Var, significand: Var) -> Var:
    """The number significand * 2^(exponent - 127), whose 128 bits start with a one."""
    tiny = b.less(exponent, const(_LEAST_EXPONENT, 4))
    below = b.select(tiny, b.sub(const(_LEAST_EXPONENT, 4), exponent), const(0, 4))
    exact = _shifted(b, significand, below)
    kept = b.piece(exact, 8, 8)
    up = _rounds_up(b, kept, b.piece(exact, 0, 8))
    more = b.add(kept, b.zext(up, 8))
    carried = b.both(up, b.equal(more, 0))
    field = b.add(b.add(exponent, _BIAS), b.zext(carried, 4))
    field = b.select(tiny, b.zext(b.is_negative(more), 4), field)
    overflows = b.less(const(_FULL - 1, 4), field)
    ends_whole = b.either(carried, overflows)
    return _packed(b, negative, b.select(overflows, const(_FULL, 4), field), b.select(ends_whole, const(_ONE, 8), more))


def _zero(b: Builder, negative: Var) -> Var:
    return _packed(b, negative, const(0, 4), const(0, 8))


def _infinity(b: Builder, negative: Var) -> Var:
    return _packed(b, negative, const(_FULL, 4), const(_ONE, 8))


def _is_larger(b: Builder, x: Unpacked, y: Unpacked) -> Var:
    """In magnitude."""
    same = b.equal(x.exponent, y.exponent)
    return b.either(b.less(y.exponent, x.exponent), b.both(same, b.below(y.significand, x.significand)))


# Sums, products, quotients


def _quiet(b: Builder, pattern: Var) -> Var:
    return b.or_(pattern, _QUIET)


def _nan_of_two(b: Builder, x: Unpacked, y: Unpacked) -> Var:
    """The operand that is a NaN; of a signalling and a quiet one the quiet one; else the larger, or the positive
    one."""
    x_quiet, y_quiet = (b.bit(n.significand, 62) for n in (x, y))
    larger = b.below(y.significand, x.significand)
    by_size = b.either(larger, b.both(b.equal(x.significand, y.significand), b.negate(x.negative)))
    preferred = b.select(b.exactly_one(x_quiet, y_quiet), x_quiet, by_size)
    chosen = b.both(x.is_nan, b.either(b.negate(y.is_nan), preferred))
    return _quiet(b, b.select(chosen, x.pattern, y.pattern))


def _unless_special(b: Builder, x: Unpacked, y: Unpacked, impossible: Var, result: Var) -> Var:
    result = b.select(impossible, DEFAULT_NAN, result)
    result = b.select(b.either(x.is_nan, y.is_nan), _nan_of_two(b, x, y), result)
    return b.select(b.either(x.is_invalid, y.is_invalid), DEFAULT_NAN, result)


def add(b: Builder, x: Var, y: Var, subtracting: bool = False) -> Var:
    left, right = unpacked(b, x), unpacked(b, y)
    sign = b.negate(right.negative) if subtracting else right.negative
    swapped = _is_larger(b, right, left)

    def of_both(first: Var, second: Var) -> tuple[Var, Var]:
        return b.select(swapped, second, first), b.select(swapped, first, second)

    exponent, smaller_exponent = of_both(left.exponent, right.exponent)
    large, small = (
        b.shl(b.zext(significand, _WIDE), 62) for significand in of_both(left.significand, right.significand)
    )
    small = _shifted(b, small, b.sub(exponent, smaller_exponent))
    apart = b.exactly_one(left.negative, sign)
    total = b.select(apart, b.sub(large, small), b.add(large, small))
    zeros = b.leading_zeros(total, 4)
    negative, _ = of_both(left.negative, sign)
    result = _rounded(b, negative, b.sub(b.add(exponent, 2), zeros), b.shl(total, zeros))
    result = b.select(b.equal(total, 0), _zero(b, b.both(left.negative, sign)), result)
    result = b.select(right.is_infinite, _infinity(b, sign), result)
    result = b.select(left.is_infinite, x, result)
    impossible = b.both(b.both(left.is_infinite, right.is_infinite), apart)
    return _unless_special(b, left, right, impossible, result)


def subtract(b: Builder, x: Var, y: Var) -> Var:
    return add(b, x, y, subtracting=True)


def multiply(b: Builder, x: Var, y: Var) -> Var:
    left, right = unpacked(b, x), unpacked(b, y)
    negative = b.exactly_one(left.negative, right.negative)
    total = b.mul(b.zext(left.significand, _WIDE), b.zext(right.significand, _WIDE))
    zeros = b.leading_zeros(total, 4)
    exponent = b.sub(b.add(b.add(left.exponent, right.exponent), 1), zeros)
    result = _rounded(b, negative, exponent, b.shl(total, zeros))
    nothing, endless = b.either(left.is_zero, right.is_zero), b.either(left.is_infinite, right.is_infinite)
    result = b.select(nothing, _zero(b, negative), result)
    result = b.select(endless, _infinity(b, negative), result)
    return _unless_special(b, left, right, b.both(nothing, endless), result)


def divide(b: Builder, x: Var, y: Var) -> Var:
    left, right = unpacked(b, x), unpacked(b, y)
    negative = b.exactly_one(left.negative, right.negative)
    dividend = b.shl(b.zext(left.significand, 2 * _WIDE), 127)
    divisor = b.zext(right.significand, 2 * _WIDE)
    quotient = b.piece(b.divide(Kind.INT_DIV, dividend, divisor), 0, _WIDE)
    rest = b.differ(b.divide(Kind.INT_REM, dividend, divisor), 0)
    total = b.or_(quotient, b.zext(rest, _WIDE))
    zeros = b.leading_zeros(total, 4)
    exponent = b.sub(b.sub(left.exponent, right.exponent), zeros)
    result = _rounded(b, negative, exponent, b.shl(total, zeros))
    result = b.select(b.either(left.is_zero, right.is_infinite), _zero(b, negative), result)
    result = b.select(b.either(left.is_infinite, right.is_zero), _infinity(b, negative), result)
    alike = b.either(b.both(left.is_zero, right.is_zero), b.both(left.is_infinite, right.is_infinite))
    return _unless_special(b, left, right, alike, result)


def compare(b: Builder, x: Var, y: Var) -> tuple[Var, Var, Var]:
    """Whether they are unordered, whether they are equal, and whether the first is less: at most one holds."""
    left, right = unpacked(b, x), unpacked(b, y)
    unordered = FALSE
    for number in (left, right):
        unordered = b.either(unordered, b.either(number.is_nan, number.is_invalid))
    zeros = b.both(left.is_zero, right.is_zero)
    below, above = _is_larger(b, right, left), _is_larger(b, left, right)
    same = b.negate(b.either(b.either(below, above), b.exactly_one(left.negative, right.negative)))
    from_negative = b.select(right.negative, above, b.negate(zeros))
    less = b.select(left.negative, from_negative, b.both(b.negate(right.negative), below))
    ordered = b.negate(unordered)
    return unordered, b.both(ordered, b.either(zeros, same)), b.both(ordered, less)


# Conversions


def from_integer(b: Builder, value: Var) -> Var:
    wide = b.sext(value, 8)
    negative = b.is_negative(wide)
    magnitude = b.select(negative, b.negative(wide), wide)
    zeros = b.leading_zeros(magnitude, 4)
    field = b.select(b.equal(magnitude, 0), const(0, 4), b.sub(const(_BIAS + 63, 4), zeros))
    return _packed(b, negative, field, b.shl(magnitude, zeros))


def from_float(b: Builder, value: Var, signalling: bool = False) -> Var:
    """From a single or double. A NaN becomes quiet, except as an operand of arithmetic, which has its own rule."""
    bits, bias = _FORMATS[value.size]
    fraction_bits = bits - 1
    wide = b.zext(value, 8)
    fraction = b.and_(wide, (1 << fraction_bits) - 1)
    full = 2 * bias + 1
    field = b.piece(b.and_(b.shr(wide, fraction_bits), full), 0, 4)
    is_full, without_field = b.equal(field, full), b.equal(field, 0)
    zeros = b.leading_zeros(fraction, 4)
    normal = b.or_(b.shl(fraction, 64 - bits), _ONE)
    significand = b.select(without_field, b.shl(fraction, zeros), normal)
    if not signalling:
        is_nan = b.both(is_full, b.differ(fraction, 0))
        significand = b.select(is_nan, b.or_(significand, _QUIET), significand)
    small = b.sub(const(_BIAS + 64 - bias - fraction_bits, 4), zeros)
    small = b.select(b.equal(fraction, 0), const(0, 4), small)
    exponent = b.select(is_full, const(_FULL, 4), b.add(field, _BIAS - bias))
    return _packed(b, b.is_negative(value), b.select(without_field, small, exponent), significand)


def to_float(b: Builder, pattern: Var, size: int) -> Var:
    """To a single or double."""
    bits, bias = _FORMATS[size]
    number = unpacked(b, pattern)
    wide = b.shl(b.zext(number.significand, _WIDE), 64)
    least = const(1 - bias, 4)
    tiny = b.less(number.exponent, least)
    exact = _shifted(b, wide, b.select(tiny, b.sub(least, number.exponent), const(0, 4)))
    kept = b.piece(b.shr(exact, 128 - bits), 0, 8)
    up = _rounds_up(b, kept, b.shl(exact, bits))
    # The bit before the point adds one to the exponent, and so does a carry out of the fraction.
    field = b.select(tiny, const(0, 8), b.sext(b.add(number.exponent, bias - 1), 8))
    result = b.add(b.add(b.shl(field, bits - 1), kept), b.zext(up, 8))
    infinity = ((1 << (8 * size - bits)) - 1) << (bits - 1)
    too_large = b.either(number.is_infinite, b.less(const(bias, 4), number.exponent))
    result = b.select(too_large, const(infinity, 8), result)
    result = b.select(number.is_zero, const(0, 8), result)
    payload = b.and_(b.shr(number.significand, 64 - bits), (1 << (bits - 2)) - 1)
    quiet = infinity | 1 << (bits - 2)
    result = b.select(number.is_nan, b.or_(payload, quiet), result)
    result = b.select(number.is_invalid, const(quiet, 8), result)
    negative = b.either(number.negative, number.is_invalid)
    sign = b.select(negative, const(1 << (8 * size - 1), 8), const(0, 8))
    return b.piece(b.or_(result, sign), 0, size)


def to_integer(b: Builder, pattern: Var, size: int, truncated: bool) -> Var:
    """A value that does not fit gives the number with only its top bit set."""
    number = unpacked(b, pattern)
    too_large = b.less(const(63, 4), number.exponent)
    wide = b.shl(b.zext(number.significand, _WIDE), 64)
    exact = _shifted(b, wide, b.select(too_large, const(0, 4), b.sub(const(63, 4), number.exponent)))
    magnitude = b.piece(exact, 8, 8)
    if not truncated:
        magnitude = b.add(magnitude, b.zext(_rounds_up(b, magnitude, b.piece(exact, 0, 8)), 8))
    limit = 1 << (8 * size - 1)
    most = b.select(number.negative, const(limit, 8), const(limit - 1, 8))
    fits = b.both(b.negate(too_large), b.below_or_equal(magnitude, most))
    for bad in (number.is_nan, number.is_infinite, number.is_invalid):
        fits = b.both(fits, b.negate(bad))
    value = b.select(number.negative, b.negative(magnitude), magnitude)
    return b.select(fits, b.piece(value, 0, size), const(limit, size))
