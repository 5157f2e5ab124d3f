"""The meaning of the floating-point micro-ops on concrete numbers, given and taken as bit patterns.

Python's floats are IEEE doubles. A single result computed in double and rounded once more is the correctly rounded one
for + - * / and square root: double has more than twice the bits of single and two to spare.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence

from isoform.model.microop import ROUNDING_MODES, Kind

_FORMATS = {4: ("<f", "<I"), 8: ("<d", "<Q")}
_FRACTION_BITS = {4: 23, 8: 52}
DOUBLE_PRECISION = 53

Rule = Callable[[int, Sequence[int], Sequence[int]], int]


def sign_bit(size: int) -> int:
    return 1 << (8 * size - 1)


def infinity(size: int) -> int:
    """The bit pattern of positive infinity: all ones in the exponent."""
    return sign_bit(size) - (1 << _FRACTION_BITS[size])


def quiet_bit(size: int) -> int:
    return 1 << (_FRACTION_BITS[size] - 1)


def canonical_nan(size: int) -> int:
    return infinity(size) | quiet_bit(size)


def is_nan(bits: int, size: int) -> bool:
    return bits & ~sign_bit(size) > infinity(size)


def to_float(bits: int, size: int) -> float:
    value, pattern = _FORMATS[size]
    return float(struct.unpack(value, struct.pack(pattern, bits))[0])


def to_bits(number: float, size: int) -> int:
    if math.isnan(number):
        return canonical_nan(size)
    value, pattern = _FORMATS[size]
    try:
        data = struct.pack(value, number)
    except OverflowError:
        return infinity(size) | (sign_bit(size) if number < 0 else 0)
    return int(struct.unpack(pattern, data)[0])


def _arithmetic(f: Callable[[float, float], float]) -> Rule:
    return lambda out, sizes, v: to_bits(f(to_float(v[0], sizes[0]), to_float(v[1], sizes[1])), out)


def _divide(a: float, b: float) -> float:
    if b != 0:
        return a / b
    if a == 0 or math.isnan(a):
        return math.nan
    return math.copysign(math.inf, math.copysign(1.0, a) * math.copysign(1.0, b))


def _square_root(out: int, sizes: Sequence[int], v: Sequence[int]) -> int:
    number = to_float(v[0], sizes[0])
    return to_bits(math.nan if number < 0 else math.sqrt(number), out)


def _comparison(f: Callable[[float, float], bool]) -> Rule:
    return lambda out, sizes, v: int(f(to_float(v[0], sizes[0]), to_float(v[1], sizes[1])))


def _from_int(out: int, sizes: Sequence[int], v: Sequence[int]) -> int:
    top = sign_bit(sizes[0])
    number = (v[0] ^ top) - top
    magnitude = abs(number)
    spare = magnitude.bit_length() - DOUBLE_PRECISION
    if out == 4 and spare > 0:
        # What a double cannot hold only decides on which side of a halfway point the number is.
        kept = magnitude >> spare
        magnitude = (kept | 1 if magnitude & ((1 << spare) - 1) else kept) << spare
    return to_bits(math.copysign(float(magnitude), number), out)


def _to_int(whole: Callable[[float], int]) -> Rule:
    def rule(out: int, sizes: Sequence[int], v: Sequence[int]) -> int:
        number = to_float(v[0], sizes[0])
        limit = sign_bit(out)
        if not math.isfinite(number):
            return limit
        result = whole(number)
        return result if -limit <= result < limit else limit

    return rule


_WHOLE: dict[str, Callable[[float], int]] = {"nearest": round, "down": math.floor, "up": math.ceil, "zero": math.trunc}


def _round(out: int, sizes: Sequence[int], v: Sequence[int]) -> int:
    number = to_float(v[0], sizes[0])
    if not math.isfinite(number):
        return to_bits(number, out)
    return to_bits(math.copysign(float(_WHOLE[ROUNDING_MODES[v[1]]](number)), number), out)


FLOAT_RULES: dict[Kind, Rule] = {
    Kind.FLOAT_ADD: _arithmetic(lambda a, b: a + b),
    Kind.FLOAT_SUB: _arithmetic(lambda a, b: a - b),
    Kind.FLOAT_MUL: _arithmetic(lambda a, b: a * b),
    Kind.FLOAT_DIV: _arithmetic(_divide),
    Kind.FLOAT_SQRT: _square_root,
    Kind.FLOAT_EQUAL: _comparison(lambda a, b: a == b),
    Kind.FLOAT_LESS: _comparison(lambda a, b: a < b),
    Kind.FLOAT_LESSEQUAL: _comparison(lambda a, b: a <= b),
    Kind.FLOAT_NAN: lambda out, sizes, v: int(is_nan(v[0], sizes[0])),
    Kind.FLOAT_FROM_FLOAT: lambda out, sizes, v: to_bits(to_float(v[0], sizes[0]), out),
    Kind.FLOAT_FROM_INT: _from_int,
    Kind.FLOAT_TO_INT: _to_int(math.trunc),
    Kind.FLOAT_ROUND_TO_INT: _to_int(round),
    Kind.FLOAT_ROUND: _round,
}
