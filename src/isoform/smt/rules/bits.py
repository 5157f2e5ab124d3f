"""And, or, exclusive or and complement. A constant is the right operand, and neither all zeros nor all ones."""

from __future__ import annotations

from isoform.smt.constructors import Constructors
from isoform.smt.leaves import Term
from isoform.smt.rules.flags import flag_conditions
from isoform.smt.rules.widths import unsigned_width
from isoform.smt.shapes import Choice, Concat, Not, Scaled, Xor, ZeroExtend

MOST_BITS_SUMMED = 32
"""Things in an exclusive or that are brought into one order."""

# -- left & right -----------------------------------------------------------------------------------


def run_of_ones(terms: Constructors, left: Term, right: Term) -> Term | None:
    """x & (2^(h+1) - 2^l) = zext(x[h:l]) ∘ 0, of which l bits are 0: a run of ones selects bits."""
    mask = terms.value(right)
    if mask is None:
        return None
    low, high = (mask & -mask).bit_length() - 1, mask.bit_length() - 1
    if mask != (1 << (high + 1)) - (1 << low):
        return None
    part = terms.zext(terms.extract(left, high, low), terms.width(left) - low)
    return terms.concat(part, terms.bv(0, low)) if low else part


def and_of_flags(terms: Constructors, left: Term, right: Term) -> Term | None:
    """(c ? 1 : 0) & (d ? 1 : 0) = (c ∧ d) ? 1 : 0."""
    flags = flag_conditions(terms, left, right)
    return None if flags is None else terms.flag(terms.conj(*flags), terms.width(left))


def chosen_by_mask(terms: Constructors, left: Term, right: Term) -> Term | None:
    """(c ? -1 : 0) & x = c ? x : 0: vector code chooses by masks."""
    masks = {0, (1 << terms.width(left)) - 1}
    for mask, kept in ((left, right), (right, left)):
        shape = terms.shape(mask)
        if isinstance(shape, Choice) and {terms.value(shape.then), terms.value(shape.otherwise)} == masks:
            return terms.ite(shape.condition, terms.and_(shape.then, kept), terms.and_(shape.otherwise, kept))
    return None


CONJOINED = (run_of_ones, and_of_flags, chosen_by_mask)


# -- left | right -----------------------------------------------------------------------------------


def or_of_disjoint(terms: Constructors, left: Term, right: Term) -> Term | None:
    """x·2^k | y = x ∘ y where y < 2^k: no bit is set in both."""
    found = _above(terms, left, right)
    return found if found is not None else _above(terms, right, left)


def _above(terms: Constructors, upper: Term, lower: Term) -> Term | None:
    """`upper` | `lower`, if `upper` was built as something above zeros, and `lower` fits in their place."""
    split = _above_zeros(terms, upper)
    if split is None or unsigned_width(terms, lower) > split[1]:
        return None
    return terms.concat(split[0], terms.extract(lower, split[1] - 1, 0))


def _above_zeros(terms: Constructors, term: Term) -> tuple[Term, int] | None:
    """x and k, if a term is x ∘ 0 with k zeros, or an extension of that, or x'·2^k."""
    shape, width = terms.shape(term), terms.width(term)
    if isinstance(shape, ZeroExtend):
        shape = terms.shape(shape.inner)
        if not isinstance(shape, Concat):
            return None
    if isinstance(shape, Concat) and terms.value(shape.bottom) == 0:
        zeros = terms.width(shape.bottom)
        return terms.zext(shape.top, width - zeros), zeros
    if isinstance(shape, Scaled):
        return terms.extract(shape.inner, width - 1 - shape.bits, 0), shape.bits
    return None


def or_of_flags(terms: Constructors, left: Term, right: Term) -> Term | None:
    """(c ? 1 : 0) | (d ? 1 : 0) = (c ∨ d) ? 1 : 0."""
    flags = flag_conditions(terms, left, right)
    return None if flags is None else terms.flag(terms.disj(*flags), terms.width(left))


def one_or_the_other(terms: Constructors, left: Term, right: Term) -> Term | None:
    """(c ? x : 0) | (c ? 0 : y) = c ? x : y, and whichever of the four are 0, one on each side."""
    one, other = terms.shape(left), terms.shape(right)
    if not (isinstance(one, Choice) and isinstance(other, Choice) and one.condition == other.condition):
        return None
    for here, there in zip(one.branches, other.branches, strict=True):
        if 0 not in (terms.value(here), terms.value(there)):
            return None
    return terms.ite(one.condition, terms.or_(one.then, other.then), terms.or_(one.otherwise, other.otherwise))


DISJOINED = (or_of_disjoint, or_of_flags, one_or_the_other)


# -- left ^ right -----------------------------------------------------------------------------------


def exclusive_or_of_flags(terms: Constructors, left: Term, right: Term) -> Term | None:
    """(c ? 1 : 0) ^ (d ? 1 : 0) = (c ⊕ d) ? 1 : 0."""
    flags = flag_conditions(terms, left, right)
    return None if flags is None else terms.flag(terms.exclusive(*flags), terms.width(left))


def in_one_order(terms: Constructors, left: Term, right: Term) -> Term | None:
    """An exclusive or of several things in one order, each once: it is associative and commutative, x ^ x = 0, and
    ~x = x ^ -1. Solvers find it very hard to see that two such are the same."""
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
    """What is in an exclusive or an odd number of times, and the constant; None if that is too much."""
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


EXCLUDED = (exclusive_or_of_flags, in_one_order)


# -- ~term ------------------------------------------------------------------------------------------


def complement_of_complement(terms: Constructors, term: Term) -> Term | None:
    """~~x = x."""
    shape = terms.shape(term)
    return shape.inner if isinstance(shape, Not) else None


def complement_of_choice(terms: Constructors, term: Term) -> Term | None:
    """~(c ? k : m) = c ? ~k : ~m, where k and m are constants."""
    shape = terms.shape(term)
    if not isinstance(shape, Choice) or any(terms.value(branch) is None for branch in shape.branches):
        return None
    return terms.ite(shape.condition, terms.not_(shape.then), terms.not_(shape.otherwise))


COMPLEMENTED = (complement_of_complement, complement_of_choice)
