"""Recognising division by a constant in the shapes that compilers give it (see `magic.py`).

gcc and clang multiply by a reciprocal; `-Os` and plain code divide. Both become the same division here, so that the
solver never has to find out about reciprocals, which bit-blasting does not do in useful time.
"""

from __future__ import annotations

from typing import NamedTuple

from isoform.smt.constructors import Constructors
from isoform.smt.leaves import Term
from isoform.smt.rules.magic import signed_divisor, unsigned_divisor
from isoform.smt.rules.widths import signed
from isoform.smt.shapes import Add, Extension, Extract, Multiply, Shape, SignExtend, Subtract, ZeroExtend


class _Scaled(NamedTuple):
    """floor(x · multiplier / 2^shift), where nothing was lost."""

    x: Term
    multiplier: int
    shift: int
    same_sign: tuple[Term, ...] = ()
    """Intermediate terms that are negative exactly if the signed product is."""
    is_negated: bool = False
    """Whether the multiplier is meant with the opposite sign: the product is negative exactly if x is positive."""


# -- unsigned, as parts of a product or a sum -------------------------------------------------------


def high_bits_as_quotient(terms: Constructors, shape: Multiply, high: int, low: int, depth: int) -> Term | None:
    """(zext(x)·m)[h:l] = x / d, h the top bit, where m is 2^l / d rounded up and the product does not wrap: the error
    of the reciprocal is too small to reach the next integer (`unsigned_divisor`)."""
    width = terms.width(shape.left)
    multiplier, inner = terms.value(shape.right), terms.shape(shape.left)
    if multiplier is None or not isinstance(inner, ZeroExtend) or high != width - 1:
        return None
    bits = terms.width(inner.inner)
    if bits + multiplier.bit_length() > width:
        return None
    divisor = unsigned_divisor(multiplier, low, bits)
    if divisor is None:
        return None
    return _resized(terms, terms.udiv(inner.inner, terms.bv(divisor, bits)), high - low + 1)


def halved_sum_as_quotient(terms: Constructors, shape: Add, high: int, low: int, depth: int) -> Term | None:
    """(t + ((x - t) >> 1))[h:l] = x / d, h the top bit, where t is the high half of zext(x)·m with m < 2^n. The product
    does not wrap and t is at most x, so that neither does x - t: the sum is floor((x + t) / 2) without its carry, and
    its bits from l on are floor(x·(m + 2^n) / 2^(n+1+l)). That is a multiplier with one bit more than the register, for
    which `unsigned_divisor` gives d."""
    for t, half in ((shape.left, shape.right), (shape.right, shape.left)):
        x = _halved_difference(terms, half, t)
        scaled = _high_half(terms, t, ZeroExtend) if x is not None else None
        if x is None or scaled is None or scaled.x != x or high != terms.width(t) - 1:
            continue
        bits = terms.width(x)
        if scaled.multiplier >> bits:
            continue
        divisor = unsigned_divisor(scaled.multiplier + (1 << bits), bits + 1 + low, bits)
        if divisor is not None:
            return _resized(terms, terms.udiv(x, terms.bv(divisor, bits)), high - low + 1)
    return None


def _halved_difference(terms: Constructors, half: Term, t: Term) -> Term | None:
    """x, if `half` is (x - t) >> 1."""
    shape = terms.shape(half)
    inner = terms.shape(shape.inner) if isinstance(shape, ZeroExtend) else None
    if not isinstance(inner, Extract) or inner.low != 1 or inner.high != terms.width(inner.whole) - 1:
        return None
    difference = terms.shape(inner.whole)
    return difference.left if isinstance(difference, Subtract) and difference.right == t else None


def _high_half(terms: Constructors, term: Term, extension: type[Extension]) -> _Scaled | None:
    """A term that is the upper half of ext(x)·m. The product may have wrapped: callers ask how large m is."""
    shape = terms.shape(term)
    product = terms.shape(shape.whole) if isinstance(shape, Extract) else None
    if not isinstance(shape, Extract) or not isinstance(product, Multiply):
        return None
    width = terms.width(shape.whole)
    if shape.high != width - 1 or 2 * shape.low != width:
        return None
    multiplier, factor = terms.value(product.right), terms.shape(product.left)
    if multiplier is None or not isinstance(factor, extension) or terms.width(factor.inner) != shape.low:
        return None
    return _Scaled(factor.inner, multiplier, shape.low)


# -- signed, as a sum or difference with the sign ---------------------------------------------------


def rounded_as_quotient(terms: Constructors, shape: SignExtend, correction: Term, floor: Term) -> Term | None:
    """floor(x·m / 2^k) - (x < 0 ? -1 : 0) = x / d, truncated, for the d that `signed_divisor` gives: rounding down and
    rounding towards zero differ by one, for negative x. `correction` is what is subtracted: the sign of x, spread."""
    return _signed_quotient(terms, floor, shape.inner)


def raised_as_quotient(terms: Constructors, shape: ZeroExtend, correction: Term, floor: Term) -> Term | None:
    """floor(x·m / 2^k) + (x < 0 ? 1 : 0) = x / d, truncated, likewise. The sign may be taken from x or from the
    product, which has the same. With -m for m, and the sign of the product, it is -(x / d): of a positive x the
    quotient is not a whole number, as `signed_divisor` has a positive error, so that rounding down and adding one
    rounds up."""
    return _signed_quotient(terms, floor, shape.inner)


def _signed_quotient(terms: Constructors, floor: Term, sign: Term) -> Term | None:
    """x / d or -(x / d), if `floor` is floor(x·m / 2^k) or floor(x·(-m) / 2^k), and `sign` is the sign bit of the
    product."""
    if terms.width(sign) != 1:
        return None
    scaled = _scaled_signed(terms, floor)
    if scaled is None:
        return None
    signs = scaled.same_sign if scaled.is_negated else (scaled.x, *scaled.same_sign)
    if sign not in (_top_bit(terms, t) for t in signs):
        return None
    bits = terms.width(scaled.x)
    divisor = signed_divisor(scaled.multiplier, scaled.shift, bits, scaled.is_negated)
    if divisor is None or terms.width(floor) != bits:
        return None
    quotient = terms.sdiv(scaled.x, terms.bv(divisor, bits))
    return terms.neg(quotient) if scaled.is_negated else quotient


def _top_bit(terms: Constructors, term: Term) -> Term:
    top = terms.width(term) - 1
    return terms.extract(term, top, top)


def _scaled_signed(terms: Constructors, term: Term) -> _Scaled | None:
    """A term that is floor(x·m / 2^k) for a signed x: high bits of sext(x)·m, or of the high half + x or - x."""
    shape = terms.shape(term)
    if isinstance(shape, SignExtend):
        shape = terms.shape(term := shape.inner)
    if isinstance(shape, Extract) and shape.high == terms.width(shape.whole) - 1:
        inner = terms.shape(shape.whole)
        if isinstance(inner, Multiply):
            return _signed_product(terms, shape.whole, inner, shape.low)
        found = _with_high_half(terms, shape.whole, inner)
        return found._replace(shift=found.shift + shape.low) if found is not None else None
    return _with_high_half(terms, term, shape)


def _with_high_half(terms: Constructors, total: Term, shape: Shape | None) -> _Scaled | None:
    if isinstance(shape, Add):
        return _sum_with_high_half(terms, total, shape)
    return _high_half_less(terms, total, shape) if isinstance(shape, Subtract) else None


def _signed_product(terms: Constructors, product: Term, shape: Multiply, low: int) -> _Scaled | None:
    """sext(x)·m without its lowest bits, if the product does not wrap."""
    multiplier, factor = terms.value(shape.right), terms.shape(shape.left)
    if multiplier is None or not isinstance(factor, SignExtend):
        return None
    number = signed(multiplier, terms.width(product))
    if terms.width(factor.inner) + number.bit_length() > terms.width(product):
        return None
    return _Scaled(factor.inner, abs(number), low, (product,), is_negated=number < 0)


def _sum_with_high_half(terms: Constructors, total: Term, shape: Add) -> _Scaled | None:
    """x + the high half of x·m with m negative: the high half of x·(m + 2^n), which does not overflow as that
    multiplier is between 0 and 2^n."""
    for t, x in ((shape.left, shape.right), (shape.right, shape.left)):
        scaled = _high_half(terms, t, SignExtend)
        if scaled is None or scaled.x != x:
            continue
        bits = terms.width(x)
        negative = scaled.multiplier - (1 << (2 * bits))
        if -(1 << bits) < negative < 0:
            return _Scaled(x, negative + (1 << bits), bits, (total,))
    return None


def _high_half_less(terms: Constructors, total: Term, shape: Subtract) -> _Scaled | None:
    """The high half of x·m, less x, with m positive: the high half of x·(m - 2^n), which does not overflow either."""
    scaled = _high_half(terms, shape.left, SignExtend)
    if scaled is None or scaled.x != shape.right:
        return None
    bits = terms.width(scaled.x)
    if not 0 < scaled.multiplier < 1 << bits:
        return None
    return _Scaled(scaled.x, (1 << bits) - scaled.multiplier, bits, (total,), is_negated=True)


def _resized(terms: Constructors, term: Term, width: int) -> Term:
    have = terms.width(term)
    return terms.zext(term, width) if have <= width else terms.extract(term, width - 1, 0)
