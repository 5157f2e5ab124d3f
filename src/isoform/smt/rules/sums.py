"""Sums and differences. Operands have no constants added to them: `Terms.add` and `Terms.sub` take those out first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from isoform.smt.constructors import Constructors
from isoform.smt.leaves import Term
from isoform.smt.rules.quotient import raised_as_quotient, rounded_as_quotient
from isoform.smt.shapes import Add, Negative, Shape, SignExtend, Subtract, ZeroExtend

# -- term + other, by the shape of the term; in a sum either operand is the term --------------------


def opposites_cancel(terms: Constructors, shape: Negative, term: Term, other: Term) -> Term | None:
    """-x + x = 0."""
    return terms.bv(0, terms.width(term)) if shape.inner == other else None


def plus_opposite(terms: Constructors, shape: Negative, term: Term, other: Term) -> Term | None:
    """-y + x = x - y."""
    return terms.subtract_bases(other, shape.inner)


def subtrahend_added_back(terms: Constructors, shape: Subtract, term: Term, other: Term) -> Term | None:
    """(x - y) + y = x."""
    return shape.left if shape.right == other else None


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
    """The summands of a term, with their signs."""
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


# -- term - other, by the shape of the term ---------------------------------------------------------


def summand_taken_away(terms: Constructors, shape: Add, term: Term, other: Term) -> Term | None:
    """(x + y) - y = x, and (x + y) - x = y."""
    if shape.right == other:
        return shape.left
    return shape.right if shape.left == other else None


def opposite_of_quotient(terms: Constructors, shape: SignExtend, term: Term, other: Term) -> Term | None:
    """x - y = -(y - x), where y - x is a quotient by `rounded_as_quotient`."""
    found = rounded_as_quotient(terms, shape, term, other)
    return None if found is None else terms.neg(found)


# -- other - term, by the shape of the term ---------------------------------------------------------


def difference_taken_away(terms: Constructors, shape: Subtract, term: Term, other: Term) -> Term | None:
    """x - (x - y) = y."""
    return shape.right if shape.left == other else None


# -- -term, by its shape ----------------------------------------------------------------------------


def opposite_of_opposite(terms: Constructors, shape: Negative, term: Term) -> Term | None:
    """-(-x) = x."""
    return shape.inner


def opposite_of_difference(terms: Constructors, shape: Subtract, term: Term) -> Term | None:
    """-(x - y) = y - x."""
    return terms.subtract_bases(shape.right, shape.left)


def opposite_of_sum(terms: Constructors, shape: Add, term: Term) -> Term | None:
    """-(x + k) = -x + -k, where k is a constant: it stays outermost."""
    constant = terms.value(shape.right)
    return None if constant is None else terms.add(terms.neg(shape.left), terms.bv(-constant, terms.width(term)))


_Rule = Callable[[Constructors, Any, Term, Term], Term | None]
_Negating = Callable[[Constructors, Any, Term], Term | None]

ADDED: dict[type[Shape] | type[None], tuple[_Rule, ...]] = {
    Negative: (opposites_cancel, plus_opposite),
    Subtract: (subtrahend_added_back,),
    ZeroExtend: (raised_as_quotient,),
}
TAKEN_FROM: dict[type[Shape] | type[None], tuple[_Rule, ...]] = {
    Add: (summand_taken_away,),
    SignExtend: (opposite_of_quotient,),
}
TAKEN_AWAY: dict[type[Shape] | type[None], tuple[_Rule, ...]] = {
    Subtract: (difference_taken_away,),
    SignExtend: (rounded_as_quotient,),
}
NEGATED: dict[type[Shape] | type[None], _Negating] = {
    Negative: opposite_of_opposite,
    Subtract: opposite_of_difference,
    Add: opposite_of_sum,
}
