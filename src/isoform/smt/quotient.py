"""Recognising division by a constant in the shapes that compilers give it (see `magic.py`).

gcc and clang multiply by a reciprocal; `-Os` and plain code divide. Both become the same division here, so that the
solver never has to find out about reciprocals, which bit-blasting does not do in useful time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from isoform.smt.magic import signed_divisor, unsigned_divisor

if TYPE_CHECKING:
    from isoform.smt.terms import Term, Terms


class _Scaled(NamedTuple):
    """floor(x · multiplier / 2^shift), where nothing was lost."""

    x: Term
    multiplier: int
    shift: int
    same_sign: tuple[Term, ...] = ()
    """Terms on the way that are negative exactly if a signed x is: the multiplier is positive."""


def high_bits_as_quotient(terms: Terms, product: Term, high: int, low: int) -> Term | None:
    """Bits `high` to `low` of zext(x)·m as those of x / d."""
    shape = terms.shape(product)
    width = terms.width(product)
    multiplier = terms.value(shape[2])
    inner = terms.shape(shape[1])
    if multiplier is None or inner[0] != "zext" or high != width - 1:
        return None
    x = inner[1]
    bits = terms.width(x)
    if bits + multiplier.bit_length() > width:
        return None
    divisor = unsigned_divisor(multiplier, low, bits)
    if divisor is None:
        return None
    return _resized(terms, terms.udiv(x, terms.bv(divisor, bits)), high - low + 1)


def halved_sum_as_quotient(terms: Terms, total: Term, high: int, low: int) -> Term | None:
    """Bits of t + ((x - t) >> 1), t the high half of x·m: a multiplier with one bit more than the register."""
    _, one, other = terms.shape(total)
    for t, half in ((one, other), (other, one)):
        x = _halved_difference(terms, half, t)
        scaled = _high_half(terms, t, "zext") if x is not None else None
        if scaled is None or scaled.x != x or high != terms.width(total) - 1:
            continue
        bits = terms.width(x)
        divisor = unsigned_divisor(scaled.multiplier + (1 << bits), bits + 1 + low, bits)
        if divisor is not None:
            return _resized(terms, terms.udiv(x, terms.bv(divisor, bits)), high - low + 1)
    return None


def _halved_difference(terms: Terms, half: Term, t: Term) -> Term | None:
    """x, if `half` is (x - t) >> 1."""
    shape = terms.shape(half)
    if shape[0] != "zext":
        return None
    inner = terms.shape(shape[1])
    if inner[0] != "extract" or inner[3] != 1 or inner[2] != terms.width(inner[1]) - 1:
        return None
    difference = terms.shape(inner[1])
    return difference[1] if difference[0] == "sub" and difference[2] == t else None


def _high_half(terms: Terms, term: Term, extension: str) -> _Scaled | None:
    """A term that is the upper half of ext(x)·m."""
    shape = terms.shape(term)
    if shape[0] != "extract":
        return None
    _, product, high, low = shape
    inner = terms.shape(product)
    if inner[0] != "mul" or high != terms.width(product) - 1 or 2 * low != terms.width(product):
        return None
    multiplier = terms.value(inner[2])
    factor = terms.shape(inner[1])
    if multiplier is None or factor[0] != extension or terms.width(factor[1]) != low:
        return None
    return _Scaled(factor[1], multiplier, low)


def rounded_as_quotient(terms: Terms, floor: Term, correction: Term) -> Term | None:
    """floor(x·m / 2^k) - (x < 0 ? -1 : 0) as x / d. `correction` is what is subtracted: the sign of x, spread."""
    return _signed_quotient(terms, floor, correction, "sext")


def raised_as_quotient(terms: Terms, floor: Term, correction: Term) -> Term | None:
    """The same with the sign bit added: the sign may be taken from x or from the product."""
    return _signed_quotient(terms, floor, correction, "zext")


def _signed_quotient(terms: Terms, floor: Term, correction: Term, extension: str) -> Term | None:
    """x / d, if `floor` is floor(x·m / 2^k) and `correction` the sign of x, extended."""
    shape = terms.shape(correction)
    if shape[0] != extension or terms.width(shape[1]) != 1:
        return None
    scaled = _scaled_signed(terms, floor)
    if scaled is None or shape[1] not in (_top_bit(terms, t) for t in (scaled.x, *scaled.same_sign)):
        return None
    bits = terms.width(scaled.x)
    divisor = signed_divisor(scaled.multiplier, scaled.shift, bits)
    if divisor is None or terms.width(floor) != bits:
        return None
    return terms.sdiv(scaled.x, terms.bv(divisor, bits))


def _top_bit(terms: Terms, term: Term) -> Term:
    top = terms.width(term) - 1
    return terms.extract(term, top, top)


def _fits(terms: Terms, product: Term, x: Term, multiplier: int | None) -> bool:
    return multiplier is not None and terms.width(x) + multiplier.bit_length() <= terms.width(product)


def _scaled_signed(terms: Terms, term: Term) -> _Scaled | None:
    """A term that is floor(x·m / 2^k) for a signed x: high bits of sext(x)·m, or of x + the high half."""
    shape = terms.shape(term)
    if shape[0] == "sext":
        term = shape[1]
        shape = terms.shape(term)
    if shape[0] == "extract" and shape[2] == terms.width(shape[1]) - 1:
        inner = terms.shape(shape[1])
        if inner[0] == "mul":
            return _signed_product(terms, shape[1], shape[3])
        if inner[0] == "add":
            raised = _sum_with_high_half(terms, shape[1])
            return raised._replace(shift=raised.shift + shape[3]) if raised is not None else None
    return _sum_with_high_half(terms, term) if shape[0] == "add" else None


def _signed_product(terms: Terms, product: Term, low: int) -> _Scaled | None:
    _, left, right = terms.shape(product)
    multiplier, factor = terms.value(right), terms.shape(left)
    if multiplier is None or factor[0] != "sext" or not _fits(terms, product, factor[1], multiplier):
        return None
    return _Scaled(factor[1], multiplier, low, (product,))


def _sum_with_high_half(terms: Terms, total: Term) -> _Scaled | None:
    """x + the high half of x·m with m negative: the high half of x·(m + 2^n), which does not overflow as that
    multiplier is between 0 and 2^n."""
    _, one, other = terms.shape(total)
    for t, x in ((one, other), (other, one)):
        scaled = _high_half(terms, t, "sext")
        if scaled is None or scaled.x != x:
            continue
        bits = terms.width(x)
        negative = scaled.multiplier - (1 << (2 * bits))
        if -(1 << bits) < negative < 0:
            return _Scaled(x, negative + (1 << bits), bits, (total,))
    return None


def _resized(terms: Terms, term: Term, width: int) -> Term:
    have = terms.width(term)
    return terms.zext(term, width) if have <= width else terms.extract(term, width - 1, 0)
