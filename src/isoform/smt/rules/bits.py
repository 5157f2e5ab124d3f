"""And, or, exclusive or and complement. A constant is the right operand, and neither all zeros nor all ones.

Rules for a shape take the term that has it and the other operand, whichever of them is left.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from isoform.smt.constructors import Constructors
from isoform.smt.leaves import Term
from isoform.smt.rules.flags import flag_conditions
from isoform.smt.rules.widths import unsigned_width
from isoform.smt.shapes import Choice, Concat, Not, Scaled, Shape, Xor, ZeroExtend

MOST_BITS_SUMMED = 32
"""Things in an exclusive or that are brought into one order."""

# -- left & right -----------------------------------------------------------------------------------


def run_of_ones(terms: Constructors, left: Term, mask: int) -> Term | None:
    """x & (2^(h+1) - 2^l) = zext(x[h:l]) ∘ 0, of which l bits are 0: a run of ones selects bits."""
    low, high = (mask & -mask).bit_length() - 1, mask.bit_length() - 1
    if mask != (1 << (high + 1)) - (1 << low):
        return None
    part = terms.zext(terms.extract(left, high, low), terms.width(left) - low)
    return terms.concat(part, terms.bv(0, low)) if low else part


def and_of_flags(terms: Constructors, shape: Choice, term: Term, other: Term) -> Term | None:
    """(c ? 1 : 0) & (d ? 1 : 0) = (c ∧ d) ? 1 : 0."""
    flags = flag_conditions(terms, term, other)
    return None if flags is None else terms.flag(terms.conj(*flags), terms.width(term))


def chosen_by_mask(terms: Constructors, shape: Choice, term: Term, other: Term) -> Term | None:
    """(c ? -1 : 0) & x = c ? x : 0: vector code chooses by masks."""
    if {terms.value(shape.then), terms.value(shape.otherwise)} != {0, (1 << terms.width(term)) - 1}:
        return None
    return terms.ite(shape.condition, terms.and_(shape.then, other), terms.and_(shape.otherwise, other))


# -- left | right -----------------------------------------------------------------------------------


def or_below_zeros(terms: Constructors, shape: Concat, term: Term, other: Term) -> Term | None:
    """(x ∘ 0) | y = x ∘ y, where y fits in the place of the zeros: no bit is set in both."""
    zeros = terms.width(shape.bottom)
    if terms.value(shape.bottom) != 0 or unsigned_width(terms, other) > zeros:
        return None
    top = terms.zext(shape.top, terms.width(term) - zeros)
    return terms.concat(top, terms.extract(other, zeros - 1, 0))


def or_below_extended_zeros(terms: Constructors, shape: ZeroExtend, term: Term, other: Term) -> Term | None:
    """zext(x ∘ 0) | y = zext(x) ∘ y, where y fits in the place of the zeros."""
    inner = terms.shape(shape.inner)
    return or_below_zeros(terms, inner, term, other) if isinstance(inner, Concat) else None


def or_below_scaled(terms: Constructors, shape: Scaled, term: Term, other: Term) -> Term | None:
    """x·2^k | y = x[h-k:0] ∘ y where y < 2^k: no bit is set in both."""
    if unsigned_width(terms, other) > shape.bits:
        return None
    top = terms.extract(shape.inner, terms.width(term) - 1 - shape.bits, 0)
    return terms.concat(top, terms.extract(other, shape.bits - 1, 0))


def or_of_flags(terms: Constructors, shape: Choice, term: Term, other: Term) -> Term | None:
    """(c ? 1 : 0) | (d ? 1 : 0) = (c ∨ d) ? 1 : 0."""
    flags = flag_conditions(terms, term, other)
    return None if flags is None else terms.flag(terms.disj(*flags), terms.width(term))


def one_or_the_other(terms: Constructors, shape: Choice, term: Term, other: Term) -> Term | None:
    """(c ? x : 0) | (c ? 0 : y) = c ? x : y, and whichever of the four are 0, one on each side."""
    second = terms.shape(other)
    if not (isinstance(second, Choice) and shape.condition == second.condition):
        return None
    for here, there in zip(shape.branches, second.branches, strict=True):
        if 0 not in (terms.value(here), terms.value(there)):
            return None
    return terms.ite(shape.condition, terms.or_(shape.then, second.then), terms.or_(shape.otherwise, second.otherwise))


# -- left ^ right -----------------------------------------------------------------------------------


def exclusive_or_of_flags(terms: Constructors, shape: Choice, term: Term, other: Term) -> Term | None:
    """(c ? 1 : 0) ^ (d ? 1 : 0) = (c ⊕ d) ? 1 : 0."""
    flags = flag_conditions(terms, term, other)
    return None if flags is None else terms.flag(terms.exclusive(*flags), terms.width(term))


def in_one_order(terms: Constructors, left: Term, right: Term) -> Term | None:
    """An exclusive or of several terms in one order, each once: it is associative and commutative, x ^ x = 0, and ~x =
    x ^ -1. Solvers find it very hard to see that two such terms are the same."""
    found = _exclusive_parts(terms, left, right)
    if found is None:
        return None
    parts, constant = found
    width = terms.width(left)
    if not parts:
        return terms.bv(constant, width)
    ordered = sorted(parts, key=lambda part: part.id())
    total = ordered[0]
    for part in ordered[1:]:
        total = terms.make(Xor(total, part), width)
    if constant == (1 << width) - 1:
        return terms.not_(total)
    return terms.make(Xor(total, terms.bv(constant, width)), width) if constant else total


def _exclusive_parts(terms: Constructors, left: Term, right: Term) -> tuple[dict[Term, None], int] | None:
    """The terms that occur an odd number of times in an exclusive or, and the constant; None if there are too many."""
    parts: dict[Term, None] = {}
    constant, ones = 0, (1 << terms.width(left)) - 1
    pending = [left, right]
    while pending:
        part = pending.pop()
        shape, value = terms.shape(part), terms.value(part)
        if value is not None:
            constant ^= value
        elif isinstance(shape, Xor):
            pending += (shape.left, shape.right)
        elif isinstance(shape, Not):
            constant ^= ones
            pending.append(shape.inner)
        elif part in parts:
            del parts[part]
        else:
            parts[part] = None
        if len(parts) > MOST_BITS_SUMMED:
            return None
    return parts, constant


# -- ~term ------------------------------------------------------------------------------------------


def complement_of_complement(terms: Constructors, shape: Not) -> Term | None:
    """~~x = x."""
    return shape.inner


def complement_of_choice(terms: Constructors, shape: Choice) -> Term | None:
    """~(c ? k : m) = c ? ~k : ~m, where k and m are constants."""
    if terms.value(shape.then) is None or terms.value(shape.otherwise) is None:
        return None
    return terms.ite(shape.condition, terms.not_(shape.then), terms.not_(shape.otherwise))


_Rule = Callable[[Constructors, Any, Term, Term], Term | None]
_Complementing = Callable[[Constructors, Any], Term | None]

CONJOINED: dict[type[Shape] | type[None], tuple[_Rule, ...]] = {Choice: (and_of_flags, chosen_by_mask)}
DISJOINED: dict[type[Shape] | type[None], tuple[_Rule, ...]] = {
    Concat: (or_below_zeros,),
    ZeroExtend: (or_below_extended_zeros,),
    Scaled: (or_below_scaled,),
    Choice: (or_of_flags, one_or_the_other),
}
EXCLUDED: dict[type[Shape] | type[None], tuple[_Rule, ...]] = {Choice: (exclusive_or_of_flags,)}
COMPLEMENTED: dict[type[Shape] | type[None], _Complementing] = {
    Not: complement_of_complement,
    Choice: complement_of_choice,
}
