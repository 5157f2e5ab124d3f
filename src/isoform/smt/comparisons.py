"""Comparisons: decided where they can be, and at no more width than the operands need."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from bitwuzla import Kind as K  # noqa: N817 (it stands in every line below)

from isoform.smt.division import signed_width, unsigned_width
from isoform.smt.leaves import Term

if TYPE_CHECKING:
    from isoform.smt.terms import Terms


def equal(terms: Terms, left: Term, right: Term) -> Term:
    if left == right:
        return terms.true
    a, b = terms.value(left), terms.value(right)
    if a is not None and b is not None:
        return terms.false
    known = terms.layout.are_equal(left, right) if terms.layout else None
    if known is not None:
        return terms.true if known else terms.false
    if a is not None:
        left, right, b = right, left, a
    if b is not None:
        folded = _equals_constant(terms, left, b)
        if folded is not None:
            return folded
    else:
        (x, m), (y, n) = terms.split_sum(left), terms.split_sum(right)
        if x is not None and x == y:
            return terms.true if m == n else terms.false
        if right.id() < left.id():
            left, right = right, left
    return terms.make(K.EQUAL, [left, right], [], 0, ("eq", left, right))


def _equals_constant(terms: Terms, term: Term, value: int) -> Term | None:
    width = terms.width(term)
    match terms.shape(term):
        case ("ite", condition, then, otherwise):
            a, b = terms.value(then), terms.value(otherwise)
            if a is not None and b is not None:
                hits = (a == value, b == value)
                if hits == (True, True):
                    return terms.true
                if hits == (False, False):
                    return terms.false
                return condition if hits[0] else terms.negate(condition)
            if a is not None and a != value:
                return terms.conj(terms.negate(condition), terms.eq(otherwise, terms.bv(value, width)))
            if b is not None and b != value:
                return terms.conj(condition, terms.eq(then, terms.bv(value, width)))
        case ("zext", inner):
            inside = terms.width(inner)
            return terms.false if value >> inside else terms.eq(inner, terms.bv(value, inside))
        case ("add", base, constant) if (offset := terms.value(constant)) is not None:
            return terms.eq(base, terms.bv(value - offset, width))
        case ("sub", a, b) if value == 0:
            return terms.eq(a, b)
        case ("neg", inner):
            return terms.eq(inner, terms.bv(-value, width))
        case ("not", inner):
            return terms.eq(inner, terms.bv(~value, width))
        case ("xor", a, b) if value == 0:
            return terms.eq(a, b)
        case ("concat", top, bottom):
            split = terms.width(bottom)
            return terms.conj(
                terms.eq(top, terms.bv(value >> split, width - split)), terms.eq(bottom, terms.bv(value, split))
            )
    return None


def compare(
    terms: Terms, kind: Any, name: str, left: Term, right: Term, holds: Callable[[int, int, int], bool]
) -> Term:
    if left == right:
        return terms.false
    width = terms.width(left)
    a, b = terms.value(left), terms.value(right)
    if a is not None and b is not None:
        return terms.true if holds(a, b, width) else terms.false
    if name == "ult":
        if b == 0:
            return terms.false
        if b == 1:
            return terms.eq(left, terms.bv(0, width))
        if a == 0:
            return terms.negate(terms.eq(right, left))
        narrowed = _less_extended(terms, left, right, a, b, width)
        if narrowed is not None:
            return narrowed
    else:
        narrowed = _less_sign_extended(terms, kind, left, right, holds)
        if narrowed is not None:
            return narrowed
    return terms.make(kind, [left, right], [], 0, (name, left, right))


def _less_sign_extended(
    terms: Terms, kind: Any, left: Term, right: Term, holds: Callable[[int, int, int], bool]
) -> Term | None:
    narrow = max(signed_width(terms, left), signed_width(terms, right))
    if narrow >= terms.width(left):
        return None
    return compare(terms, kind, "slt", terms.extract(left, narrow - 1, 0), terms.extract(right, narrow - 1, 0), holds)


def _less_extended(terms: Terms, left: Term, right: Term, a: int | None, b: int | None, width: int) -> Term | None:
    narrow = max(unsigned_width(terms, left), unsigned_width(terms, right))
    if narrow >= width:
        return None
    if b is not None and b >> unsigned_width(terms, left):
        return terms.true
    if a is not None and a >> unsigned_width(terms, right):
        return terms.false
    return terms.ult(terms.extract(left, narrow - 1, 0), terms.extract(right, narrow - 1, 0))
