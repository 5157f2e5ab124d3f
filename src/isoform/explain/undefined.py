"""What the target leaves open explains nothing: a value that it has by chance is another one wherever it is given."""

from __future__ import annotations

from isoform.smt.simulate import topological
from isoform.smt.terms import Term, Terms

_OPEN = ("undefined_a_", "frame_a", "memory_a_")
"""How names of unknowns begin that the target alone has: undefined results, and memory of its own before it is
written."""


def as_given(terms: Terms, value: Term) -> Term:
    """A value of the target as the rewrite gets it: what the target leaves open is an unknown of its own. A change that
    makes the two agree only if both have the same in what is undefined then does not hold."""
    unknowns = [term for term in topological([value]) if term.is_const() and str(term.symbol()).startswith(_OPEN)]
    if not unknowns:
        return value
    return terms.manager.substitute_term(value, {term: _other(terms, term) for term in unknowns})


def _other(terms: Terms, unknown: Term) -> Term:
    name = f"given_{unknown.symbol()}"
    sort = unknown.sort()
    if sort.is_array():
        return terms.array_variable(name, sort.array_index().bv_size())
    return terms.variable(name, terms.width(unknown))
