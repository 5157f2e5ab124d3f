"""Recognising tests of a remainder by a constant that compilers write without a division.

gcc and clang test `x % d == 0` by multiplying with the inverse of d's odd factor and comparing the product, rotated,
with the largest quotient. `-O0`, `-Os` and plain code divide. Both become the same division here, as in `quotient.py`.
"""

from __future__ import annotations

from typing import NamedTuple

from isoform.smt.constructors import Constructors
from isoform.smt.leaves import Term
from isoform.smt.shapes import Add, Concat, Extract, Multiply


class _Multiples(NamedTuple):
    """A number that is at most q exactly if x is one of 0·d, 1·d, …, q·d, each minus `offset` (modulo 2^n)."""

    x: Term
    divisor: int
    offset: int


def rotated_product_at_most(terms: Constructors, left: Term, right: Term) -> Term | None:
    """((x·i + c) rotated right by k bits) ≤ q is x mod d = r, unsigned, or x rem d = 0, signed, where i is the inverse
    of the odd factor of d modulo 2^n and 2^k its even one, if the multiples of d up to q·d, moved, are the numbers with
    this remainder and no others.

    Multiplying by i and rotating permute the numbers of n bits. They take j·d to j if j·d < 2^n: the odd factor and i
    cancel, and what is left, j·2^k, rotates to j. So exactly 0·d, …, q·d become 0, …, q, and x·i + c is
    (x + c·(odd factor))·i."""
    bound, term, holds = terms.value(left), right, False
    if bound is None:
        above = terms.value(right)
        if not above:
            return None
        bound, term, holds = above - 1, left, True
    found = _multiples(terms, term)
    if found is None:
        return None
    condition = _remainder_test(terms, found, bound)
    return condition if condition is None or holds else terms.negate(condition)


def _multiples(terms: Constructors, term: Term) -> _Multiples | None:
    whole, rotation = _unrotated(terms, term)
    shape, added = terms.shape(whole), 0
    if isinstance(shape, Add):
        constant = terms.value(shape.right)
        if constant is None:
            return None
        shape, added = terms.shape(shape.left), constant
    if not isinstance(shape, Multiply):
        return None
    inverse, width = terms.value(shape.right), terms.width(whole)
    if inverse is None or not inverse & 1:
        return None
    odd = pow(inverse, -1, 1 << width)
    divisor = odd << rotation
    if not 1 < divisor < 1 << (width - 1):
        return None
    return _Multiples(shape.left, divisor, added * odd % (1 << width))


def _unrotated(terms: Constructors, term: Term) -> tuple[Term, int]:
    """What is rotated right, and by how many bits."""
    shape = terms.shape(term)
    bottom = terms.shape(shape.bottom) if isinstance(shape, Concat) else None
    if not isinstance(shape, Concat) or not isinstance(bottom, Extract):
        return term, 0
    whole, bits = bottom.whole, bottom.low
    if not bits or terms.width(whole) != terms.width(term) or bottom.high != terms.width(whole) - 1:
        return term, 0
    return (whole, bits) if terms.extract(whole, bits - 1, 0) == shape.top else (term, 0)


def _remainder_test(terms: Constructors, multiples: _Multiples, last: int) -> Term | None:
    """The condition that x is one of the multiples up to `last`·d, if a remainder says that."""
    x, divisor, offset = multiples
    width = terms.width(x)
    numbers, constant = 1 << width, terms.bv(divisor, width)
    remainder = -offset % numbers
    if remainder < divisor and last == (numbers - 1 - remainder) // divisor:
        quotient = terms.udiv(x, constant)
        return terms.eq(terms.sub(x, terms.mul(quotient, constant)), terms.bv(remainder, width))
    most_negative, most_positive = numbers // 2 // divisor, (numbers // 2 - 1) // divisor
    if offset == most_negative * divisor and last == most_negative + most_positive:
        return terms.eq(terms.sub(x, terms.mul(terms.sdiv(x, constant), constant)), terms.bv(0, width))
    return None
