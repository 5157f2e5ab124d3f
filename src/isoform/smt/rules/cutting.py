"""Parts of terms, by what the whole is.

A rule takes the shape of the whole, the highest and the lowest bit of the part (never the whole itself), and how many
operators were passed already.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from isoform.smt.constructors import Constructors
from isoform.smt.leaves import Term
from isoform.smt.rules.quotient import halved_sum_as_quotient, high_bits_as_quotient
from isoform.smt.shapes import (
    Add,
    And,
    Bitwise,
    Choice,
    Concat,
    Extract,
    Multiply,
    Negative,
    Not,
    Or,
    Scaled,
    Shape,
    SignExtend,
    Subtract,
    Xor,
    ZeroExtend,
)

PUSH_DEPTH = 24
"""How many operators an extraction is pushed through."""


def part(terms: Constructors, term: Term, high: int, low: int, depth: int) -> Term | None:
    """The result of the rules for an extraction; None if none applies."""
    shape = terms.shape(term)
    if shape is None:
        return None
    if type(shape) is Choice:
        return part_of_choice(terms, term, high, low, depth)
    for rule in _BY_SHAPE.get(type(shape), ()):
        found = rule(terms, shape, high, low, depth)
        if found is not None:
            return found
    return None


# -- joined and cut before --------------------------------------------------------------------------


def part_of_top(terms: Constructors, shape: Concat, high: int, low: int, depth: int) -> Term | None:
    """(x ∘ y)[h:l] = x[h-|y| : l-|y|] if l ≥ |y|: all of the bits are above y."""
    split = terms.width(shape.bottom)
    return terms.extract(shape.top, high - split, low - split, depth) if low >= split else None


def part_of_bottom(terms: Constructors, shape: Concat, high: int, low: int, depth: int) -> Term | None:
    """(x ∘ y)[h:l] = y[h:l] if h < |y|: all of the bits are those of y."""
    return terms.extract(shape.bottom, high, low, depth) if high < terms.width(shape.bottom) else None


def part_of_shifted(terms: Constructors, shape: Concat, high: int, low: int, depth: int) -> Term | None:
    """(x ∘ 0)[h:0] is x at the width of the part, shifted left: a product by a power of two stays one at a smaller
    width, since bits of a product do not depend on those above them."""
    if low or high < terms.width(shape.bottom) or terms.value(shape.bottom) != 0:
        return None
    top, width = shape.top, high + 1
    inner = terms.shape(top)
    if isinstance(inner, ZeroExtend):
        top = inner.inner
    fits = terms.width(top) <= width
    whole = terms.zext(top, width) if fits else terms.extract(top, width - 1, 0, depth)
    return terms.shift_left(whole, terms.width(shape.bottom))


def part_of_both(terms: Constructors, shape: Concat, high: int, low: int, depth: int) -> Term | None:
    """(x ∘ y)[h:l] = x[h-|y| : 0] ∘ y[|y|-1 : l] if l < |y| ≤ h."""
    split = terms.width(shape.bottom)
    if not low < split <= high:
        return None
    upper = terms.extract(shape.top, high - split, 0, depth)
    return terms.concat(upper, terms.extract(shape.bottom, split - 1, low, depth))


def part_of_part(terms: Constructors, shape: Extract, high: int, low: int, depth: int) -> Term | None:
    """x[a:b][h:l] = x[h+b : l+b]."""
    return terms.extract(shape.whole, high + shape.low, low + shape.low, depth)


# -- extensions -------------------------------------------------------------------------------------


def zeros_above(terms: Constructors, shape: ZeroExtend, high: int, low: int, depth: int) -> Term | None:
    """zext(x)[h:l] = 0 if l ≥ |x|."""
    return terms.bv(0, high - low + 1) if low >= terms.width(shape.inner) else None


def part_below_zeros(terms: Constructors, shape: ZeroExtend, high: int, low: int, depth: int) -> Term | None:
    """zext(x)[h:l] = x[h:l] if h < |x|."""
    return terms.extract(shape.inner, high, low, depth) if high < terms.width(shape.inner) else None


def part_with_zeros(terms: Constructors, shape: ZeroExtend, high: int, low: int, depth: int) -> Term | None:
    """zext(x)[h:l] = zext(x[|x|-1 : l]) if l < |x| ≤ h."""
    inside = terms.width(shape.inner)
    if not low < inside <= high:
        return None
    return terms.zext(terms.extract(shape.inner, inside - 1, low, depth), high - low + 1)


def part_below_sign(terms: Constructors, shape: SignExtend, high: int, low: int, depth: int) -> Term | None:
    """sext(x)[h:l] = x[h:l] if h < |x|."""
    return terms.extract(shape.inner, high, low, depth) if high < terms.width(shape.inner) else None


def part_with_sign(terms: Constructors, shape: SignExtend, high: int, low: int, depth: int) -> Term | None:
    """sext(x)[h:0] = sext(x) at the smaller width, if h ≥ |x|."""
    return terms.sext(shape.inner, high + 1) if low == 0 and high >= terms.width(shape.inner) else None


# -- operators --------------------------------------------------------------------------------------


def part_of_bitwise(terms: Constructors, shape: Bitwise, high: int, low: int, depth: int) -> Term | None:
    """(x ⊙ y)[h:l] = x[h:l] ⊙ y[h:l] for and, or, exclusive or: each bit depends on the bits at its place."""
    if depth >= PUSH_DEPTH:
        return None
    left, right = (terms.extract(operand, high, low, depth + 1) for operand in (shape.left, shape.right))
    match shape:
        case And():
            return terms.and_(left, right)
        case Or():
            return terms.or_(left, right)
    return terms.xor_(left, right)


def part_of_complement(terms: Constructors, shape: Not, high: int, low: int, depth: int) -> Term | None:
    """(~x)[h:l] = ~x[h:l]."""
    return terms.not_(terms.extract(shape.inner, high, low, depth + 1)) if depth < PUSH_DEPTH else None


def low_part_of_sum(terms: Constructors, shape: Add, high: int, low: int, depth: int) -> Term | None:
    """(x + y)[h:0] = x[h:0] + y[h:0]: truncation is a homomorphism of rings, from the integers modulo one power of two
    to those modulo a smaller one."""
    if low or depth >= PUSH_DEPTH:
        return None
    return terms.add(terms.extract(shape.left, high, 0, depth + 1), terms.extract(shape.right, high, 0, depth + 1))


def low_part_of_difference(terms: Constructors, shape: Subtract, high: int, low: int, depth: int) -> Term | None:
    """(x - y)[h:0] = x[h:0] - y[h:0], as for sums."""
    if low or depth >= PUSH_DEPTH:
        return None
    return terms.sub(terms.extract(shape.left, high, 0, depth + 1), terms.extract(shape.right, high, 0, depth + 1))


def low_part_of_product(terms: Constructors, shape: Multiply, high: int, low: int, depth: int) -> Term | None:
    """(x · y)[h:0] = x[h:0] · y[h:0], as for sums."""
    if low or depth >= PUSH_DEPTH:
        return None
    return terms.mul(terms.extract(shape.left, high, 0, depth + 1), terms.extract(shape.right, high, 0, depth + 1))


def low_part_of_negative(terms: Constructors, shape: Negative, high: int, low: int, depth: int) -> Term | None:
    """(-x)[h:0] = -x[h:0], as for sums."""
    return terms.neg(terms.extract(shape.inner, high, 0, depth + 1)) if low == 0 and depth < PUSH_DEPTH else None


# -- shifts left by a known number of bits ----------------------------------------------------------


def zeros_below(terms: Constructors, shape: Scaled, high: int, low: int, depth: int) -> Term | None:
    """(x·2^k)[h:l] = 0 if h < k."""
    return terms.bv(0, high - low + 1) if high < shape.bits else None


def part_above_zeros(terms: Constructors, shape: Scaled, high: int, low: int, depth: int) -> Term | None:
    """(x·2^k)[h:l] = x[h-k : l-k] if l ≥ k."""
    return terms.extract(shape.inner, high - shape.bits, low - shape.bits, depth) if low >= shape.bits else None


def low_part_of_scaled(terms: Constructors, shape: Scaled, high: int, low: int, depth: int) -> Term | None:
    """(x·2^k)[h:0] = x[h:0]·2^k, as for products."""
    if low or high < shape.bits:
        return None
    return terms.shl(terms.extract(shape.inner, high, 0, depth), terms.bv(shape.bits, high + 1))


def part_with_zeros_below(terms: Constructors, shape: Scaled, high: int, low: int, depth: int) -> Term | None:
    """(x·2^k)[h:l] = x[h-k : 0] ∘ 0, of which k-l bits are 0, if l < k ≤ h."""
    if not low < shape.bits <= high:
        return None
    return terms.concat(terms.extract(shape.inner, high - shape.bits, 0, depth), terms.bv(0, shape.bits - low))


# -- choices ----------------------------------------------------------------------------------------


def part_of_choice(terms: Constructors, term: Term, high: int, low: int, depth: int) -> Term | None:
    """(c ? x : y)[h:l] = c ? x[h:l] : y[h:l], where x or y is a constant: else the choice would only be doubled.
    Choices are nested as deeply as code has branches: this does not call itself for them."""
    if not _is_choice_to_cut(terms, term):
        return None
    pending = [term]
    while pending:
        shape = terms.shape(pending[-1])
        assert isinstance(shape, Choice)
        missing = [
            branch
            for branch in shape.branches
            if (branch, high, low) not in terms.parts and _is_choice_to_cut(terms, branch)
        ]
        if missing:
            pending += missing
            continue
        then, otherwise = (terms.extract(branch, high, low, depth) for branch in shape.branches)
        terms.parts[pending.pop(), high, low] = terms.ite(shape.condition, then, otherwise)
    return terms.parts[term, high, low]


def _is_choice_to_cut(terms: Constructors, term: Term) -> bool:
    shape = terms.shape(term)
    return isinstance(shape, Choice) and any(terms.value(branch) is not None for branch in shape.branches)


_Rule = Callable[[Constructors, Any, int, int, int], Term | None]
_BY_SHAPE: dict[type[Shape], tuple[_Rule, ...]] = {
    Concat: (part_of_top, part_of_bottom, part_of_shifted, part_of_both),
    Extract: (part_of_part,),
    ZeroExtend: (zeros_above, part_below_zeros, part_with_zeros),
    SignExtend: (part_below_sign, part_with_sign),
    And: (part_of_bitwise,),
    Or: (part_of_bitwise,),
    Xor: (part_of_bitwise,),
    Not: (part_of_complement,),
    Add: (low_part_of_sum, halved_sum_as_quotient),
    Subtract: (low_part_of_difference,),
    Multiply: (low_part_of_product, high_bits_as_quotient),
    Negative: (low_part_of_negative,),
    Scaled: (zeros_below, part_above_zeros, low_part_of_scaled, part_with_zeros_below),
}
"""In the order in which they are tried; a rule gets shapes of the class that it is listed under."""
