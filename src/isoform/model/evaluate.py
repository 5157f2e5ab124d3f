"""The meaning of every value-producing micro-op on concrete numbers: the definition that others must agree with.

The compiled runner and the symbolic step must agree with this table (`tests/test_evaluate.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from isoform.model.evaluate_floats import FLOAT_RULES
from isoform.model.microop import Kind


def mask(size: int) -> int:
    return (1 << (8 * size)) - 1


def signed(value: int, size: int) -> int:
    return value - (1 << (8 * size)) if value >> (8 * size - 1) else value


def evaluate(kind: Kind, out_size: int, sizes: Sequence[int], values: Sequence[int]) -> int:
    """The result of `kind` on `values`, whose widths in bytes are `sizes`."""
    return _TABLE[kind](out_size, sizes, values) & mask(out_size)


def can_evaluate(kind: Kind) -> bool:
    return kind in _TABLE


Rule = Callable[[int, Sequence[int], Sequence[int]], int]


def _unsigned(f: Callable[[int, int], int]) -> Rule:
    return lambda out, sizes, v: f(v[0], v[1])


def _signed(f: Callable[[int, int], int]) -> Rule:
    return lambda out, sizes, v: f(signed(v[0], sizes[0]), signed(v[1], sizes[1]))


def _overflow(f: Callable[[int, int], int]) -> Rule:
    def rule(out: int, sizes: Sequence[int], v: Sequence[int]) -> int:
        exact = f(signed(v[0], sizes[0]), signed(v[1], sizes[1]))
        limit = 1 << (8 * sizes[0] - 1)
        return int(not -limit <= exact < limit)

    return rule


def _divide(a: int, b: int) -> int:
    """Truncating, as every machine here divides; by zero as in SMT-LIB."""
    if b == 0:
        return 1 if a < 0 else -1
    quotient = abs(a) // abs(b)
    return -quotient if (a < 0) != (b < 0) else quotient


def _remainder(a: int, b: int) -> int:
    return a if b == 0 else a - b * _divide(a, b)


def _shift_left(out: int, sizes: Sequence[int], v: Sequence[int]) -> int:
    return v[0] << v[1] if v[1] < 8 * sizes[0] else 0


def _shift_right(out: int, sizes: Sequence[int], v: Sequence[int]) -> int:
    return v[0] >> v[1] if v[1] < 8 * sizes[0] else 0


def _shift_right_signed(out: int, sizes: Sequence[int], v: Sequence[int]) -> int:
    return signed(v[0], sizes[0]) >> min(v[1], 8 * sizes[0] - 1)


_TABLE: dict[Kind, Rule] = {
    Kind.COPY: lambda out, sizes, v: v[0],
    Kind.SELECT: lambda out, sizes, v: v[1] if v[0] else v[2],
    Kind.INT_EQUAL: _unsigned(lambda a, b: a == b),
    Kind.INT_NOTEQUAL: _unsigned(lambda a, b: a != b),
    Kind.INT_LESS: _unsigned(lambda a, b: a < b),
    Kind.INT_LESSEQUAL: _unsigned(lambda a, b: a <= b),
    Kind.INT_SLESS: _signed(lambda a, b: a < b),
    Kind.INT_SLESSEQUAL: _signed(lambda a, b: a <= b),
    Kind.INT_ZEXT: lambda out, sizes, v: v[0],
    Kind.INT_SEXT: lambda out, sizes, v: signed(v[0], sizes[0]),
    Kind.INT_ADD: _unsigned(lambda a, b: a + b),
    Kind.INT_SUB: _unsigned(lambda a, b: a - b),
    Kind.INT_CARRY: lambda out, sizes, v: int(v[0] + v[1] > mask(sizes[0])),
    Kind.INT_SCARRY: _overflow(lambda a, b: a + b),
    Kind.INT_SBORROW: _overflow(lambda a, b: a - b),
    Kind.INT_2COMP: lambda out, sizes, v: -v[0],
    Kind.INT_NEGATE: lambda out, sizes, v: ~v[0],
    Kind.INT_XOR: _unsigned(lambda a, b: a ^ b),
    Kind.INT_AND: _unsigned(lambda a, b: a & b),
    Kind.INT_OR: _unsigned(lambda a, b: a | b),
    Kind.INT_LEFT: _shift_left,
    Kind.INT_RIGHT: _shift_right,
    Kind.INT_SRIGHT: _shift_right_signed,
    Kind.INT_MULT: _unsigned(lambda a, b: a * b),
    Kind.INT_DIV: _unsigned(lambda a, b: a // b if b else -1),
    Kind.INT_REM: _unsigned(lambda a, b: a % b if b else a),
    Kind.INT_SDIV: _signed(_divide),
    Kind.INT_SREM: _signed(_remainder),
    Kind.BOOL_NEGATE: lambda out, sizes, v: v[0] ^ 1,
    Kind.BOOL_XOR: _unsigned(lambda a, b: a ^ b),
    Kind.BOOL_AND: _unsigned(lambda a, b: a & b),
    Kind.BOOL_OR: _unsigned(lambda a, b: a | b),
    Kind.PIECE: lambda out, sizes, v: v[0] << (8 * sizes[1]) | v[1],
    Kind.SUBPIECE: lambda out, sizes, v: v[0] >> (8 * v[1]),
    Kind.POPCOUNT: lambda out, sizes, v: v[0].bit_count(),
    Kind.LZCOUNT: lambda out, sizes, v: 8 * sizes[0] - v[0].bit_length(),
    **FLOAT_RULES,
}
