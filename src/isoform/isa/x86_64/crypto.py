"""AES instructions of x86-64.

The substitution of bytes is a circuit instead of a table: inversion in the field of 256 elements, through the field
of 16 (a byte is a * w + b with w * w = w + 0xc). It works on all 16 bytes at once: number n of its eight
inputs holds bit n of every byte.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from isoform.isa.x86_64.builder import Builder
from isoform.isa.x86_64.lanes import HALF, Binary, split
from isoform.isa.x86_64.operands import Operand
from isoform.isa.x86_64.vectors import VectorSemantics, binary, control, read, unary, write
from isoform.model.microop import Var, const

Bits = list[Var]
"""Bit n of every byte, each in the lowest bit of that byte."""
Matrix = tuple[int, ...]
"""A linear map of bits: entry n is the image of bit n."""


def _each_byte(value: int) -> int:
    return int.from_bytes(bytes([value]) * HALF, "little")


def _each_column(value: bytes) -> int:
    return int.from_bytes(value * (HALF // 4), "little")


def _image(matrix: Matrix, value: int) -> int:
    return reduce(int.__xor__, (column for n, column in enumerate(matrix) if value >> n & 1), 0)


def _product(left: Matrix, right: Matrix) -> Matrix:
    return tuple(_image(left, column) for column in right)


_TO_TOWER: Matrix = (0x01, 0x5A, 0x23, 0x2C, 0x40, 0x92, 0x4A, 0xDA)
_FROM_TOWER: Matrix = (0x01, 0xE0, 0x5D, 0xB0, 0x42, 0xE5, 0x10, 0x82)
_AFFINE: Matrix = tuple(0x1F << n & 0xFF | 0x1F << n >> 8 for n in range(8))
_AFFINE_INVERSE: Matrix = tuple(0x4A << n & 0xFF | 0x4A << n >> 8 for n in range(8))
_CONSTANT = 0x63
_SQUARE: Matrix = (0x1, 0x4, 0x3, 0xC)
_SQUARE_TIMES_12: Matrix = (0xC, 0x5, 0x7, 0xF)
"""In the field of 16 elements, whose polynomial is z^4 + z + 1."""


# The substitution of bytes


def _linear(b: Builder, matrix: Matrix, bits: Bits, size: int) -> Bits:
    def row(number: int) -> Var:
        return _sum(b, [bit for bit, column in zip(bits, matrix, strict=True) if column >> number & 1])

    return [row(number) for number in range(size)]


def _sum(b: Builder, values: Sequence[Var]) -> Var:
    return reduce(b.xor, values)


def _add(b: Builder, x: Bits, y: Bits) -> Bits:
    return [b.xor(left, right) for left, right in zip(x, y, strict=True)]


def _multiply(b: Builder, x: Bits, y: Bits) -> Bits:
    """In the field of 16 elements: z^4 = z + 1, z^5 = z^2 + z, z^6 = z^3 + z^2."""
    powers: list[Var] = []
    for power in range(7):
        terms = [b.and_(x[n], y[power - n]) for n in range(4) if 0 <= power - n < 4]
        powers.append(_sum(b, terms))
    p0, p1, p2, p3, p4, p5, p6 = powers
    upper = b.xor(p4, p5)
    return [b.xor(p0, p4), b.xor(p1, upper), b.xor(p2, b.xor(p5, p6)), b.xor(p3, p6)]


def _inverse_of_16(b: Builder, x: Bits) -> Bits:
    """x^14 = x^2 * x^4 * x^8; zero stays zero."""
    second = _linear(b, _SQUARE, x, 4)
    fourth = _linear(b, _SQUARE, second, 4)
    return _multiply(b, _multiply(b, second, fourth), _linear(b, _SQUARE, fourth, 4))


def _inverse(b: Builder, x: Bits) -> Bits:
    """1 / (a * w + b) = (a * w + a + b) / (a * a * 12 + a * b + b * b)."""
    low, high = x[:4], x[4:]
    norm = _add(b, _linear(b, _SQUARE_TIMES_12, high, 4), _multiply(b, low, _add(b, low, high)))
    scale = _inverse_of_16(b, norm)
    return [*_multiply(b, _add(b, low, high), scale), *_multiply(b, high, scale)]


def _bits_of(b: Builder, value: Var) -> Bits:
    return [b.and_(b.shr(value, n) if n else value, _each_byte(1)) for n in range(8)]


def _bytes_of(b: Builder, bits: Bits) -> Var:
    return reduce(b.or_, (b.shl(bit, n) if n else bit for n, bit in enumerate(bits)))


def substitute(b: Builder, value: Var) -> Var:
    """Each byte through the table of the cipher."""
    inverted = _inverse(b, _linear(b, _TO_TOWER, _bits_of(b, value), 8))
    return b.xor(_bytes_of(b, _linear(b, _product(_AFFINE, _FROM_TOWER), inverted, 8)), _each_byte(_CONSTANT))


def substitute_back(b: Builder, value: Var) -> Var:
    bits = _bits_of(b, b.xor(value, _each_byte(_CONSTANT)))
    inverted = _inverse(b, _linear(b, _product(_TO_TOWER, _AFFINE_INVERSE), bits, 8))
    return _bytes_of(b, _linear(b, _FROM_TOWER, inverted, 8))


# Rows and columns: a column is four bytes side by side, a row every fourth byte


def _shift_rows(b: Builder, value: Var, step: int) -> Var:
    """Row r rotates by r columns."""
    cells = split(b, value, 1)
    return b.join(*(cells[(n + 4 * step * (n % 4)) % HALF] for n in range(HALF)))


def _doubled(b: Builder, value: Var) -> Var:
    """Each byte times x in the field of 256 elements."""
    carry = b.and_(b.shr(value, 7), _each_byte(1))
    kept = b.shl(b.and_(value, _each_byte(0x7F)), 1)
    return _sum(b, [kept, carry, b.shl(carry, 1), b.shl(carry, 3), b.shl(carry, 4)])


def _next_in_column(b: Builder, value: Var, distance: int) -> Var:
    """Each byte is replaced by the one `distance` below it in its column, cyclically."""
    kept = bytes([0xFF] * (4 - distance) + [0] * distance)
    down = b.and_(b.shr(value, 8 * distance), _each_column(kept))
    around = b.and_(b.shl(value, 8 * (4 - distance)), _each_column(bytes(0xFF ^ byte for byte in kept)))
    return b.or_(down, around)


def mix_columns(b: Builder, value: Var) -> Var:
    """2 * x0 + 3 * x1 + x2 + x3, and so on cyclically."""
    below = _next_in_column(b, value, 1)
    both = b.xor(value, below)
    return _sum(b, [_doubled(b, both), below, _next_in_column(b, both, 2)])


def mix_columns_back(b: Builder, value: Var) -> Var:
    """After 4 * (x0 + x2) is added to x0 and x2, and likewise for x1 and x3, the inverse is the forward mix."""
    apart = b.xor(value, _next_in_column(b, value, 2))
    return mix_columns(b, b.xor(value, _doubled(b, _doubled(b, apart))))


# Instructions


def _encrypt(b: Builder, state: Var, key: Var) -> Var:
    return b.xor(mix_columns(b, substitute(b, _shift_rows(b, state, 1))), key)


def _encrypt_last(b: Builder, state: Var, key: Var) -> Var:
    return b.xor(substitute(b, _shift_rows(b, state, 1)), key)


def _decrypt(b: Builder, state: Var, key: Var) -> Var:
    return b.xor(mix_columns_back(b, substitute_back(b, _shift_rows(b, state, -1))), key)


def _decrypt_last(b: Builder, state: Var, key: Var) -> Var:
    return b.xor(substitute_back(b, _shift_rows(b, state, -1)), key)


def _round(operator: Binary) -> VectorSemantics:
    """Sources are copied first: the operators read them in many places."""
    return binary(lambda b, state, key: operator(b, b.hold(state), key))


def key_assist(b: Builder, vex: bool, target: Operand, source: Operand, immediate: Operand) -> None:
    """`aeskeygenassist`: words 1 and 3 substituted, and the same rotated with the constant of the round."""
    value = read(b, source, 1)[0]
    words = split(b, substitute(b, b.hold(value)), 4)
    found = []
    for word in (words[1], words[3]):
        rotated = b.or_(b.shr(word, 8), b.shl(word, 24))
        found += [word, b.xor(rotated, const(control(immediate), 4))]
    write(b, vex, target, [b.join(*found)])


AES: Mapping[str, VectorSemantics] = {
    "AESENC": _round(_encrypt),
    "AESENCLAST": _round(_encrypt_last),
    "AESDEC": _round(_decrypt),
    "AESDECLAST": _round(_decrypt_last),
    "AESIMC": unary(lambda b, x: mix_columns_back(b, b.hold(x))),
    "AESKEYGENASSIST": key_assist,
}
"""With a legacy encoding and, under a name that starts with V, a VEX one."""
