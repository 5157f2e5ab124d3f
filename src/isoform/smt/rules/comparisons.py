"""Comparisons: decided where they can be, and at no more width than the operands need."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from isoform.smt.constructors import Constructors
from isoform.smt.leaves import Term
from isoform.smt.rules.divisibility import rotated_product_at_most
from isoform.smt.rules.widths import signed, signed_width, unsigned_width
from isoform.smt.shapes import (
    Add,
    Choice,
    Concat,
    Equal,
    Negative,
    Not,
    Shape,
    SignedLess,
    Subtract,
    UnsignedLess,
    Xor,
    ZeroExtend,
)

# -- equality ---------------------------------------------------------------------------------------


def equal(terms: Constructors, left: Term, right: Term) -> Term:
    """left = right, of terms that are not the same."""
    a, b = terms.value(left), terms.value(right)
    if a is not None and b is not None:
        return terms.false
    if a is not None:
        left, right, b = right, left, a
    if b is None:
        found = same_base(terms, left, right)
        if found is not None:
            return found
        if right.id() < left.id():
            left, right = right, left
        return terms.make(Equal(left, right), 0)
    shape = terms.shape(left)
    for rule in _EQUALS_CONSTANT.get(type(shape), ()):
        found = rule(terms, shape, b, terms.width(left))
        if found is not None:
            return found
    return terms.make(Equal(left, right), 0)


def same_base(terms: Constructors, left: Term, right: Term) -> Term | None:
    """x + k = x + m exactly if k = m."""
    (x, k), (y, m) = terms.split_sum(left), terms.split_sum(right)
    if x is None or x != y:
        return None
    return terms.true if k == m else terms.false


def choice_of_constants_equals(terms: Constructors, shape: Choice, value: int, width: int) -> Term | None:
    """(c ? k : m) = v is c, ¬c, true or false, by which of the constants k and m are v."""
    a, b = terms.value(shape.then), terms.value(shape.otherwise)
    if a is None or b is None:
        return None
    if a == value:
        return terms.true if b == value else shape.condition
    return terms.negate(shape.condition) if b == value else terms.false


def choice_equals(terms: Constructors, shape: Choice, value: int, width: int) -> Term | None:
    """(c ? k : x) = v is ¬c ∧ x = v, where the constant k is not v; and the other way round."""
    a, b = terms.value(shape.then), terms.value(shape.otherwise)
    if a is not None and a != value:
        return terms.conj(terms.negate(shape.condition), terms.eq(shape.otherwise, terms.bv(value, width)))
    if b is not None and b != value:
        return terms.conj(shape.condition, terms.eq(shape.then, terms.bv(value, width)))
    return None


def zero_extended_equals(terms: Constructors, shape: ZeroExtend, value: int, width: int) -> Term | None:
    """zext(x) = v is x = v, and false if v does not fit in |x| bits."""
    inside = terms.width(shape.inner)
    return terms.false if value >> inside else terms.eq(shape.inner, terms.bv(value, inside))


def sum_equals(terms: Constructors, shape: Add, value: int, width: int) -> Term | None:
    """x + k = v is x = v - k."""
    offset = terms.value(shape.right)
    return None if offset is None else terms.eq(shape.left, terms.bv(value - offset, width))


def difference_equals_zero(terms: Constructors, shape: Subtract, value: int, width: int) -> Term | None:
    """x - y = 0 is x = y."""
    return terms.eq(shape.left, shape.right) if value == 0 else None


def negative_equals(terms: Constructors, shape: Negative, value: int, width: int) -> Term | None:
    """-x = v is x = -v."""
    return terms.eq(shape.inner, terms.bv(-value, width))


def complement_equals(terms: Constructors, shape: Not, value: int, width: int) -> Term | None:
    """~x = v is x = ~v."""
    return terms.eq(shape.inner, terms.bv(~value, width))


def exclusive_or_equals_zero(terms: Constructors, shape: Xor, value: int, width: int) -> Term | None:
    """x ^ y = 0 is x = y."""
    return terms.eq(shape.left, shape.right) if value == 0 else None


def joined_equals(terms: Constructors, shape: Concat, value: int, width: int) -> Term | None:
    """x ∘ y = v is x = v[h:|y|] ∧ y = v[|y|-1:0]."""
    split = terms.width(shape.bottom)
    top = terms.eq(shape.top, terms.bv(value >> split, width - split))
    return terms.conj(top, terms.eq(shape.bottom, terms.bv(value, split)))


_Rule = Callable[[Constructors, Any, int, int], Term | None]
_EQUALS_CONSTANT: dict[type[Shape] | type[None], tuple[_Rule, ...]] = {
    Choice: (choice_of_constants_equals, choice_equals),
    ZeroExtend: (zero_extended_equals,),
    Add: (sum_equals,),
    Subtract: (difference_equals_zero,),
    Negative: (negative_equals,),
    Not: (complement_equals,),
    Xor: (exclusive_or_equals_zero,),
    Concat: (joined_equals,),
}
"""In the order in which they are tried; a rule gets shapes of the class that it is listed under."""


# -- order ------------------------------------------------------------------------------------------


def unsigned_less(terms: Constructors, left: Term, right: Term) -> Term:
    if left == right:
        return terms.false
    if terms.value(left) is not None or terms.value(right) is not None:
        for rule in (constants_unsigned_less, less_than_least, least_less_than, rotated_product_at_most):
            found = rule(terms, left, right)
            if found is not None:
                return found
    found = narrow_unsigned_less(terms, left, right)
    return found if found is not None else terms.make(UnsignedLess(left, right), 0)


def constants_unsigned_less(terms: Constructors, left: Term, right: Term) -> Term | None:
    """Two numbers are compared."""
    a, b = terms.value(left), terms.value(right)
    if a is None or b is None:
        return None
    return terms.true if a < b else terms.false


def less_than_least(terms: Constructors, left: Term, right: Term) -> Term | None:
    """x < 0 is false, and x < 1 is x = 0."""
    b = terms.value(right)
    if b == 0:
        return terms.false
    return terms.eq(left, terms.bv(0, terms.width(left))) if b == 1 else None


def least_less_than(terms: Constructors, left: Term, right: Term) -> Term | None:
    """0 < x is x ≠ 0."""
    return terms.negate(terms.eq(right, left)) if terms.value(left) == 0 else None


def narrow_unsigned_less(terms: Constructors, left: Term, right: Term) -> Term | None:
    """zext(x) < zext(y) is x < y at a width that both fit in; a constant that only one needs more bits for decides."""
    one, other = unsigned_width(terms, left), unsigned_width(terms, right)
    narrow = max(one, other)
    if narrow >= terms.width(left):
        return None
    a, b = terms.value(left), terms.value(right)
    if b is not None and b >> one:
        return terms.true
    if a is not None and a >> other:
        return terms.false
    return terms.ult(terms.extract(left, narrow - 1, 0), terms.extract(right, narrow - 1, 0))


def signed_less(terms: Constructors, left: Term, right: Term) -> Term:
    if left == right:
        return terms.false
    for rule in (constants_signed_less, narrow_signed_less):
        found = rule(terms, left, right)
        if found is not None:
            return found
    return terms.make(SignedLess(left, right), 0)


def constants_signed_less(terms: Constructors, left: Term, right: Term) -> Term | None:
    """Two numbers are compared."""
    a, b, width = terms.value(left), terms.value(right), terms.width(left)
    if a is None or b is None:
        return None
    return terms.true if signed(a, width) < signed(b, width) else terms.false


def narrow_signed_less(terms: Constructors, left: Term, right: Term) -> Term | None:
    """sext(x) < sext(y) is x < y, signed, at a width that both fit in."""
    narrow = max(signed_width(terms, left), signed_width(terms, right))
    if narrow >= terms.width(left):
        return None
    return terms.slt(terms.extract(left, narrow - 1, 0), terms.extract(right, narrow - 1, 0))
