"""Values that are one of several constants, as nested choices: targets of computed jumps, format strings, callees."""

from __future__ import annotations

from collections.abc import Collection

from isoform.load.image import Image
from isoform.smt.shapes import Choice
from isoform.smt.terms import Term, Terms

MOST_TARGETS = 64
"""Constants of one choice that are examined."""


def constants_of(terms: Terms, value: Term) -> set[int]:
    """The constants among the branches of a choice, at most `MOST_TARGETS`."""
    found: set[int] = set()
    pending = [value]
    while pending and len(found) < MOST_TARGETS:
        term = pending.pop()
        constant = terms.layout.number(term)
        if constant is not None:
            found.add(constant)
            continue
        shape = terms.shape(term)
        if isinstance(shape, Choice):
            pending += shape.branches
    return found


def are_all_constants(terms: Terms, value: Term, count: int) -> bool:
    """Whether a value is one of so many constants."""
    leaves: set[Term] = set()
    pending = [value]
    while pending and len(leaves) <= MOST_TARGETS:
        shape = terms.shape(top := pending.pop())
        if isinstance(shape, Choice):
            pending += shape.branches
        else:
            leaves.add(top)
    return len(leaves) == count and all(terms.layout.number(leaf) is not None for leaf in leaves)


def numbered(terms: Terms, value: Term) -> Term:
    """A choice between addresses as a choice between the numbers at which isoform placed them, to identify them."""
    shape = terms.shape(value)
    if isinstance(shape, Choice):
        return terms.ite(shape.condition, numbered(terms, shape.then), numbered(terms, shape.otherwise))
    number = terms.layout.number(value)
    return value if number is None else terms.bv(number, terms.width(value))


def without(terms: Terms, value: Term, excluded: Collection[int]) -> Term:
    """A choice without the branches that are one of these constants."""
    shape = terms.shape(value)
    if not isinstance(shape, Choice):
        return value
    branches = [without(terms, branch, excluded) for branch in shape.branches]
    left = [branch for branch in branches if terms.layout.number(branch) not in excluded]
    return left[0] if len(left) == 1 else terms.ite(shape.condition, *branches)


def only_external(terms: Terms, image: Image, value: Term) -> str | None:
    """The outside function that a pointer points to, if it can only be that one or null."""
    names, pending = set(), [value]
    while pending:
        term = pending.pop()
        shape = terms.shape(term)
        if isinstance(shape, Choice):
            pending += shape.branches
        elif (address := terms.layout.number(term)) != 0:
            names.add(image.externals.get(address) if address is not None else None)
    return names.pop() if len(names) == 1 else None
