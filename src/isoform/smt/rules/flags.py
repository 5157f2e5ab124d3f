"""Conditions as numbers: 1 or 0."""

from __future__ import annotations

from isoform.smt.conditions import Conditions
from isoform.smt.leaves import Term
from isoform.smt.shapes import Choice


def flag_condition(terms: Conditions, term: Term) -> Term | None:
    """When a number is 1, if it can only be 1 or 0: c of c ? 1 : 0, ¬c of c ? 0 : 1."""
    value = terms.value(term)
    if value is not None:
        return terms.true if value == 1 else terms.false if value == 0 else None
    shape = terms.shape(term)
    if not isinstance(shape, Choice):
        return None
    values = terms.value(shape.then), terms.value(shape.otherwise)
    if values == (1, 0):
        return shape.condition
    return terms.negate(shape.condition) if values == (0, 1) else None


def flag_conditions(terms: Conditions, left: Term, right: Term) -> tuple[Term, Term] | None:
    """When each of two numbers is 1, if both can only be 1 or 0."""
    one = flag_condition(terms, left)
    other = flag_condition(terms, right) if one is not None else None
    return None if one is None or other is None else (one, other)
