"""Vector instructions controlled by an immediate, half by half: shuffles, blends, shifts of bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from isoform.isa.x86_64.builder import Builder
from isoform.isa.x86_64.lanes import HALF, split, sum_of_differences
from isoform.model.microop import Var, const

UnaryImmediate = Callable[[Builder, Var, int], Var]
BinaryImmediate = Callable[[Builder, Var, Var, int], Var]


def _field(control: int, number: int) -> int:
    return control >> (2 * number) & 3


def shuffle_dwords(b: Builder, half: Var, control: int) -> Var:
    return b.join(*(b.piece(half, 4 * _field(control, n), 4) for n in range(4)))


def shuffle_low_words(b: Builder, half: Var, control: int) -> Var:
    return b.join(*(b.piece(half, 2 * _field(control, n), 2) for n in range(4)), b.piece(half, 8, 8))


def shuffle_high_words(b: Builder, half: Var, control: int) -> Var:
    return b.join(b.piece(half, 0, 8), *(b.piece(half, 8 + 2 * _field(control, n), 2) for n in range(4)))


def shift_bytes_left(b: Builder, half: Var, count: int) -> Var:
    if count >= HALF:
        return const(0, HALF)
    return b.join(const(0, count), b.piece(half, 0, HALF - count)) if count else half


def shift_bytes_right(b: Builder, half: Var, count: int) -> Var:
    if count >= HALF:
        return const(0, HALF)
    return b.join(b.piece(half, count, HALF - count), const(0, count)) if count else half


def shuffle_singles(b: Builder, left: Var, right: Var, control: int) -> Var:
    sources = (left, left, right, right)
    return b.join(*(b.piece(sources[n], 4 * _field(control, n), 4) for n in range(4)))


def shuffle_doubles(b: Builder, left: Var, right: Var, control: int) -> Var:
    return b.join(b.piece(left, 8 * (control & 1), 8), b.piece(right, 8 * (control >> 1 & 1), 8))


def permute_doubles(b: Builder, half: Var, control: int) -> Var:
    return shuffle_doubles(b, half, half, control)


def align(b: Builder, upper: Var, lower: Var, count: int) -> Var:
    """`palignr`: 16 bytes from byte `count` of the two, with zeros above."""
    parts = [*split(b, lower, 1), *split(b, upper, 1)]
    chosen = parts[count : count + HALF] if count < 2 * HALF else []
    if len(chosen) < HALF:
        chosen = [*chosen, const(0, HALF - len(chosen))]
    return b.join(*chosen)


def blend(size: int) -> BinaryImmediate:
    def on_half(b: Builder, left: Var, right: Var, control: int) -> Var:
        choices = (right if control >> n & 1 else left for n in range(HALF // size))
        return b.join(*(b.piece(half, size * n, size) for n, half in enumerate(choices)))

    return on_half


def insert_single(b: Builder, left: Var, right: Var, control: int) -> Var:
    """`insertps` with a register: one of four elements replaces one of four, then the mask clears elements."""
    parts = split(b, left, 4)
    parts[control >> 4 & 3] = b.piece(right, 4 * (control >> 6 & 3), 4)
    return b.join(*(const(0, 4) if control >> n & 1 else part for n, part in enumerate(parts)))


def block_differences(b: Builder, left: Var, right: Var, control: int) -> Var:
    """`mpsadbw`: four bytes of the right operand against eight overlapping places of the left one."""
    pattern = split(b, b.piece(right, 4 * (control & 3), 4), 1)
    start = 4 * (control >> 2 & 1)
    bytes_ = [b.piece(left, start + n, 1) for n in range(11)]
    return b.join(*(sum_of_differences(b, bytes_[n : n + 4], pattern) for n in range(8)))


def carryless_product(b: Builder, left: Var, right: Var, control: int) -> Var:
    """`pclmulqdq`: a product of polynomials over one bit."""
    x = b.piece(left, 8 * (control & 1), 8)
    y = b.zext(b.piece(right, 8 * (control >> 4 & 1), 8), HALF)
    total: Var = const(0, HALF)
    for number in range(64):
        total = b.xor(total, b.select(b.bit(x, number), b.shl(y, number), const(0, HALF)))
    return total


UNARY_IMMEDIATE: Mapping[str, tuple[int, UnaryImmediate]] = {
    "PSHUFD": (0, shuffle_dwords),
    "PSHUFLW": (0, shuffle_low_words),
    "PSHUFHW": (0, shuffle_high_words),
}
SHIFTED_BYTES: Mapping[str, UnaryImmediate] = {"PSLLDQ": shift_bytes_left, "PSRLDQ": shift_bytes_right}
BINARY_IMMEDIATE: Mapping[str, tuple[int, BinaryImmediate]] = {
    "SHUFPS": (0, shuffle_singles),
    "SHUFPD": (2, shuffle_doubles),
    "PALIGNR": (0, align),
    "PBLENDW": (0, blend(2)),
    "BLENDPS": (4, blend(4)),
    "BLENDPD": (2, blend(8)),
    "MPSADBW": (3, block_differences),
    "PCLMULQDQ": (0, carryless_product),
}
"""With the number of control bits per half; 0 if both halves use the same ones."""
