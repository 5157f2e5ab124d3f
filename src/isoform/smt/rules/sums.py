"""Sums and differences. Operands have no constants added to them: `Terms.add` and `Terms.sub` take those out first."""

from __future__ import annotations

from collections.abc import Iterator

from isoform.smt.constructors import Constructors
from isoform.smt.leaves import Term
from isoform.smt.rules.quotient import raised_as_quotient, rounded_as_quotient
from isoform.smt.shapes import Add, Negative, Subtract

# -- left + right -----------------------------------------------------------------------------------


def opposites_cancel(terms: Constructors, left: Term, right: Term) -> Term | None:
    """-x + x = 0."""
    one, other = terms.shape(left), terms.shape(right)
    if isinstance(one, Negative) and one.inner == right:
        return terms.bv(0, terms.width(left))
    if isinstance(other, Negative) and other.inner == left:
        return terms.bv(0, terms.width(left))
    return None


def plus_opposite(terms: Constructors, left: Term, right: Term) -> Term | None:
    """x + -y = x - y."""
    other = terms.shape(right)
    if isinstance(other, Negative):
        return terms.subtract_bases(left, other.inner)
    one = terms.shape(left)
    return terms.subtract_bases(right, one.inner) if isinstance(one, Negative) else None


def subtrahend_added_back(terms: Constructors, left: Term, right: Term) -> Term | None:
    """(x - y) + y = x."""
    one = terms.shape(left)
    if isinstance(one, Subtract) and one.right == right:
        return one.left
    other = terms.shape(right)
    return other.left if isinstance(other, Subtract) and other.right == left else None


def added_as_quotient(terms: Constructors, left: Term, right: Term) -> Term | None:
    """Either way round, see `raised_as_quotient`."""
    found = raised_as_quotient(terms, left, right)
    return found if found is not None else raised_as_quotient(terms, right, left)


ADDED = (opposites_cancel, plus_opposite, subtrahend_added_back, added_as_quotient)


def without_thread_pointer(terms: Constructors, thread: Term, left: Term, right: Term) -> Term | None:
    """(t + x) + (y - t) = x + y, with any number of summands in x and y: the thread pointer t cancels."""
    one, other = list(_summands(terms, left)), list(_summands(terms, right))
    for here, there in ((one, other), (other, one)):
        if (1, thread) in here and (-1, thread) in there:
            here.remove((1, thread))
            there.remove((-1, thread))
            total = terms.bv(0, terms.width(left))
            for sign, part in (*one, *other):
                total = terms.add(total, part) if sign > 0 else terms.sub(total, part)
            return total
    return None


def _summands(terms: Constructors, term: Term) -> Iterator[tuple[int, Term]]:
    """What is added up in a term, and with which sign."""
    pending = [(1, term)]
    while pending:
        sign, top = pending.pop()
        shape = terms.shape(top)
        if isinstance(shape, Add):
            pending += [(sign, shape.right), (sign, shape.left)]
        elif isinstance(shape, Subtract):
            pending += [(-sign, shape.right), (sign, shape.left)]
        elif isinstance(shape, Negative):
            pending.append((-sign, shape.inner))
        else:
            yield sign, top


# -- left - right -----------------------------------------------------------------------------------


def summand_taken_away(terms: Constructors, left: Term, right: Term) -> Term | None:
    """(x + y) - y = x, and (x + y) - x = y."""
    one = terms.shape(left)
    if not isinstance(one, Add):
        return None
    if one.right == right:
        return one.left
    return one.right if one.left == right else None


def difference_taken_away(terms: Constructors, left: Term, right: Term) -> Term | None:
    """x - (x - y) = y."""
    other = terms.shape(right)
    return other.right if isinstance(other, Subtract) and other.left == left else None


def subtracted_as_quotient(terms: Constructors, left: Term, right: Term) -> Term | None:
    """Either way round, see `rounded_as_quotient`: x - y = -(y - x)."""
    found = rounded_as_quotient(terms, left, right)
    if found is not None:
        return found
    found = rounded_as_quotient(terms, right, left)
    return None if found is None else terms.neg(found)


SUBTRACTED = (summand_taken_away, difference_taken_away, subtracted_as_quotient)


# -- -term ------------------------------------------------------------------------------------------


def opposite_of_opposite(terms: Constructors, term: Term) -> Term | None:
    """-(-x) = x."""
    shape = terms.shape(term)
    return shape.inner if isinstance(shape, Negative) else None


def opposite_of_difference(terms: Constructors, term: Term) -> Term | None:
    """-(x - y) = y - x."""
    shape = terms.shape(term)
    return terms.subtract_bases(shape.right, shape.left) if isinstance(shape, Subtract) else None


def opposite_of_sum(terms: Constructors, term: Term) -> Term | None:
    """-(x + k) = -x + -k, where k is a constant: it stays outermost."""
    base, constant = terms.split_sum(term)
    if base is None or base == term:
        return None
    return terms.add(terms.neg(base), terms.bv(-constant, terms.width(term)))


NEGATED = (opposite_of_opposite, opposite_of_difference, opposite_of_sum)
