"""How many bits of a term matter."""

from __future__ import annotations

from isoform.smt.leaves import Leaves, Term
from isoform.smt.shapes import SignExtend, ZeroExtend


def unsigned_width(terms: Leaves, term: Term) -> int:
    """A number of bits that the value certainly fits in, at least one."""
    value = terms.value(term)
    if value is not None:
        return max(1, value.bit_length())
    shape = terms.shape(term)
    return terms.width(shape.inner if isinstance(shape, ZeroExtend) else term)


def signed_width(terms: Leaves, term: Term) -> int:
    """A number of bits of which the value is certainly the sign extension."""
    value = terms.value(term)
    if value is not None:
        number = signed(value, terms.width(term))
        return (number if number >= 0 else ~number).bit_length() + 1
    shape = terms.shape(term)
    if isinstance(shape, SignExtend):
        return terms.width(shape.inner)
    if isinstance(shape, ZeroExtend):
        return terms.width(shape.inner) + 1
    return terms.width(term)


def signed(value: int, width: int) -> int:
    """The number that a pattern of bits stands for in two's complement."""
    return value - (1 << width) if value >> (width - 1) else value
