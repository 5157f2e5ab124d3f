"""Lane-wise integer vector instructions of SSE to SSE4.2, AVX and AVX2: one line each.

A vector is one or two halves of 16 bytes; all of these treat the two halves of a 256-bit register alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from isoform.isa.x86_64.builder import Builder
from isoform.model.microop import Var, const

HALF = 16
Unary = Callable[[Builder, Var], Var]
Binary = Callable[[Builder, Var, Var], Var]


def split(b: Builder, half: Var, size: int) -> list[Var]:
    return [b.piece(half, at, size) for at in range(0, half.size, size)]


def lanes(size: int, operator: Binary) -> Binary:
    def on_half(b: Builder, left: Var, right: Var) -> Var:
        pairs = zip(split(b, left, size), split(b, right, size), strict=True)
        return b.join(*(operator(b, x, y) for x, y in pairs))

    return on_half


def each_lane(size: int, operator: Unary) -> Unary:
    return lambda b, half: b.join(*(operator(b, lane) for lane in split(b, half, size)))


# What happens in one lane


def _limits(size: int) -> tuple[int, int]:
    return -(1 << (8 * size - 1)), (1 << (8 * size - 1)) - 1


def add_signed_saturating(b: Builder, x: Var, y: Var) -> Var:
    low, high = _limits(x.size)
    limit = b.select(b.is_negative(x), const(low, x.size), const(high, x.size))
    return b.select(b.signed_carry(x, y), limit, b.add(x, y))


def subtract_signed_saturating(b: Builder, x: Var, y: Var) -> Var:
    low, high = _limits(x.size)
    limit = b.select(b.is_negative(x), const(low, x.size), const(high, x.size))
    return b.select(b.signed_borrow(x, y), limit, b.sub(x, y))


def add_unsigned_saturating(b: Builder, x: Var, y: Var) -> Var:
    return b.select(b.carry(x, y), const(-1, x.size), b.add(x, y))


def subtract_unsigned_saturating(b: Builder, x: Var, y: Var) -> Var:
    return b.select(b.below(x, y), const(0, x.size), b.sub(x, y))


def average(b: Builder, x: Var, y: Var) -> Var:
    wide = 2 * x.size
    total = b.add(b.add(b.zext(x, wide), b.zext(y, wide)), 1)
    return b.piece(b.shr(total, 1), 0, x.size)


def min_unsigned(b: Builder, x: Var, y: Var) -> Var:
    return b.select(b.below(x, y), x, y)


def max_unsigned(b: Builder, x: Var, y: Var) -> Var:
    return b.select(b.below(x, y), y, x)


def min_signed(b: Builder, x: Var, y: Var) -> Var:
    return b.select(b.less(x, y), x, y)


def max_signed(b: Builder, x: Var, y: Var) -> Var:
    return b.select(b.less(x, y), y, x)


def all_if(b: Builder, condition: Var, size: int) -> Var:
    return b.select(condition, const(-1, size), const(0, size))


def equal(b: Builder, x: Var, y: Var) -> Var:
    return all_if(b, b.equal(x, y), x.size)


def greater_signed(b: Builder, x: Var, y: Var) -> Var:
    return all_if(b, b.less(y, x), x.size)


def absolute(b: Builder, x: Var) -> Var:
    return b.select(b.is_negative(x), b.negative(x), x)


def with_sign_of(b: Builder, x: Var, y: Var) -> Var:
    return b.select(b.is_negative(y), b.negative(x), b.select(b.equal(y, 0), const(0, x.size), x))


def _product(extend: Callable[[Builder, Var, int], Var]) -> Binary:
    return lambda b, x, y: b.mul(extend(b, x, 2 * x.size), extend(b, y, 2 * y.size))


_signed_product, _unsigned_product = _product(Builder.sext), _product(Builder.zext)


def high_signed_product(b: Builder, x: Var, y: Var) -> Var:
    return b.piece(_signed_product(b, x, y), x.size, x.size)


def high_unsigned_product(b: Builder, x: Var, y: Var) -> Var:
    return b.piece(_unsigned_product(b, x, y), x.size, x.size)


def rounded_high_product(b: Builder, x: Var, y: Var) -> Var:
    return b.piece(b.shr(b.add(b.shr(_signed_product(b, x, y), 14), 1), 1), 0, x.size)


def _low_half_product(product: Binary) -> Binary:
    return lambda b, x, y: product(b, b.piece(x, 0, x.size // 2), b.piece(y, 0, y.size // 2))


def sum_of_products(b: Builder, x: Var, y: Var) -> Var:
    """`pmaddwd`: within four bytes, the sum of both 16-bit products; its only overflow wraps."""
    products = [_signed_product(b, p, q) for p, q in zip(split(b, x, 2), split(b, y, 2), strict=True)]
    return b.add(*products)


def mixed_sum_of_products(b: Builder, x: Var, y: Var) -> Var:
    """`pmaddubsw`: unsigned bytes times signed ones, added with saturation."""
    pairs = zip(split(b, x, 1), split(b, y, 1), strict=True)
    products = [b.mul(b.zext(p, 2), b.sext(q, 2)) for p, q in pairs]
    return add_signed_saturating(b, products[0], products[1])


def absolute_difference_sum(b: Builder, x: Var, y: Var) -> Var:
    """`psadbw`: within eight bytes."""
    return b.zext(sum_of_differences(b, split(b, x, 1), split(b, y, 1)), 8)


def sum_of_differences(b: Builder, left: Sequence[Var], right: Sequence[Var]) -> Var:
    total: Var | None = None
    for p, q in zip(left, right, strict=True):
        difference = b.zext(b.select(b.below(p, q), b.sub(q, p), b.sub(p, q)), 2)
        total = difference if total is None else b.add(total, difference)
    assert total is not None
    return total


# What joins neighbouring lanes


def horizontal(size: int, operator: Binary) -> Binary:
    """Neighbours of the left operand give the lower half of the result, those of the right one the upper."""

    def on_half(b: Builder, left: Var, right: Var) -> Var:
        parts = [*split(b, left, size), *split(b, right, size)]
        return b.join(*(operator(b, parts[n], parts[n + 1]) for n in range(0, len(parts), 2)))

    return on_half


def pack(size: int, narrow: Unary) -> Binary:
    """Lanes of `size` bytes to half that, the left operand's below the right one's."""
    return lambda b, left, right: b.join(*(narrow(b, x) for x in (*split(b, left, size), *split(b, right, size))))


def saturated_signed(b: Builder, x: Var) -> Var:
    half = x.size // 2
    low, high = _limits(half)
    kept = b.select(b.less(const(high, x.size), x), const(high, half), b.piece(x, 0, half))
    return b.select(b.less(x, low), const(low, half), kept)


def saturated_unsigned(b: Builder, x: Var) -> Var:
    half = x.size // 2
    highest = (1 << (8 * half)) - 1
    kept = b.select(b.less(const(highest, x.size), x), const(-1, half), b.piece(x, 0, half))
    return b.select(b.is_negative(x), const(0, half), kept)


def interleave(size: int, upper: bool) -> Binary:
    def on_half(b: Builder, left: Var, right: Var) -> Var:
        start = HALF // 2 if upper else 0
        order = range(start, start + HALF // 2, size)
        return b.join(*(b.piece(half, at, size) for at in order for half in (left, right)))

    return on_half


def shuffle_bytes(b: Builder, table: Var, control: Var) -> Var:
    """`pshufb`: a byte with its top bit set gives 0, else its low four bits choose."""
    result = []
    for chooser in split(b, control, 1):
        count = b.shl(b.and_(chooser, 15), 3)
        chosen = b.piece(b.shr(b.hold(table), count), 0, 1)
        result.append(b.select(b.is_negative(chooser), const(0, 1), chosen))
    return b.join(*result)


def and_not(b: Builder, inverted: Var, other: Var) -> Var:
    return b.and_(b.not_(inverted), other)


# fmt: off
BINARY: Mapping[str, Binary] = {
    "PADDB": lanes(1, Builder.add), "PADDW": lanes(2, Builder.add),
    "PADDD": lanes(4, Builder.add), "PADDQ": lanes(8, Builder.add),
    "PSUBB": lanes(1, Builder.sub), "PSUBW": lanes(2, Builder.sub),
    "PSUBD": lanes(4, Builder.sub), "PSUBQ": lanes(8, Builder.sub),
    "PADDSB": lanes(1, add_signed_saturating), "PADDSW": lanes(2, add_signed_saturating),
    "PADDUSB": lanes(1, add_unsigned_saturating), "PADDUSW": lanes(2, add_unsigned_saturating),
    "PSUBSB": lanes(1, subtract_signed_saturating), "PSUBSW": lanes(2, subtract_signed_saturating),
    "PSUBUSB": lanes(1, subtract_unsigned_saturating), "PSUBUSW": lanes(2, subtract_unsigned_saturating),
    "PAVGB": lanes(1, average), "PAVGW": lanes(2, average),
    "PMINUB": lanes(1, min_unsigned), "PMINUW": lanes(2, min_unsigned), "PMINUD": lanes(4, min_unsigned),
    "PMAXUB": lanes(1, max_unsigned), "PMAXUW": lanes(2, max_unsigned), "PMAXUD": lanes(4, max_unsigned),
    "PMINSB": lanes(1, min_signed), "PMINSW": lanes(2, min_signed), "PMINSD": lanes(4, min_signed),
    "PMAXSB": lanes(1, max_signed), "PMAXSW": lanes(2, max_signed), "PMAXSD": lanes(4, max_signed),
    "PCMPEQB": lanes(1, equal), "PCMPEQW": lanes(2, equal), "PCMPEQD": lanes(4, equal), "PCMPEQQ": lanes(8, equal),
    "PCMPGTB": lanes(1, greater_signed), "PCMPGTW": lanes(2, greater_signed),
    "PCMPGTD": lanes(4, greater_signed), "PCMPGTQ": lanes(8, greater_signed),
    "PSIGNB": lanes(1, with_sign_of), "PSIGNW": lanes(2, with_sign_of), "PSIGND": lanes(4, with_sign_of),
    "PMULLW": lanes(2, Builder.mul), "PMULLD": lanes(4, Builder.mul),
    "PMULHW": lanes(2, high_signed_product), "PMULHUW": lanes(2, high_unsigned_product),
    "PMULHRSW": lanes(2, rounded_high_product),
    "PMULUDQ": lanes(8, _low_half_product(_unsigned_product)), "PMULDQ": lanes(8, _low_half_product(_signed_product)),
    "PMADDWD": lanes(4, sum_of_products), "PMADDUBSW": lanes(2, mixed_sum_of_products),
    "PSADBW": lanes(8, absolute_difference_sum),
    "PHADDW": horizontal(2, Builder.add), "PHADDD": horizontal(4, Builder.add),
    "PHADDSW": horizontal(2, add_signed_saturating),
    "PHSUBW": horizontal(2, Builder.sub), "PHSUBD": horizontal(4, Builder.sub),
    "PHSUBSW": horizontal(2, subtract_signed_saturating),
    "PACKSSWB": pack(2, saturated_signed), "PACKSSDW": pack(4, saturated_signed),
    "PACKUSWB": pack(2, saturated_unsigned), "PACKUSDW": pack(4, saturated_unsigned),
    "PUNPCKLBW": interleave(1, upper=False), "PUNPCKHBW": interleave(1, upper=True),
    "PUNPCKLWD": interleave(2, upper=False), "PUNPCKHWD": interleave(2, upper=True),
    "PUNPCKLDQ": interleave(4, upper=False), "PUNPCKHDQ": interleave(4, upper=True),
    "PUNPCKLQDQ": interleave(8, upper=False), "PUNPCKHQDQ": interleave(8, upper=True),
    "UNPCKLPS": interleave(4, upper=False), "UNPCKHPS": interleave(4, upper=True),
    "UNPCKLPD": interleave(8, upper=False), "UNPCKHPD": interleave(8, upper=True),
    "PSHUFB": shuffle_bytes,
    "PAND": Builder.and_, "ANDPS": Builder.and_, "ANDPD": Builder.and_,
    "POR": Builder.or_, "ORPS": Builder.or_, "ORPD": Builder.or_,
    "PXOR": Builder.xor, "XORPS": Builder.xor, "XORPD": Builder.xor,
    "PANDN": and_not, "ANDNPS": and_not, "ANDNPD": and_not,
}
VARIABLE_SHIFTS: Mapping[str, Binary] = {
    "VPSLLVD": lanes(4, Builder.shl), "VPSLLVQ": lanes(8, Builder.shl), "VPSRLVD": lanes(4, Builder.shr),
    "VPSRLVQ": lanes(8, Builder.shr), "VPSRAVD": lanes(4, Builder.sar),
}
UNARY: Mapping[str, Unary] = {
    "PABSB": each_lane(1, absolute), "PABSW": each_lane(2, absolute), "PABSD": each_lane(4, absolute),
}
# fmt: on
