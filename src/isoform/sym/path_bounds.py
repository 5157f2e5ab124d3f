"""How large a value can be on a path: the bounds check that compilers put before a jump table, and nothing cleverer."""

from __future__ import annotations

from collections.abc import Iterator

from isoform.smt.shapes import Concat, Conjunction, Negation, UnsignedLess, ZeroExtend
from isoform.smt.terms import Term, Terms

_MOST_CONDITIONS = 64
"""Conditions of a path that are looked at, the last ones first."""


def most(terms: Terms, path: Term, value: Term) -> int:
    """A number that the value does not exceed, unsigned, wherever the path's condition holds."""
    known = terms.value(value)
    if known is not None:
        return known
    shape = terms.shape(value)
    bounds = [(1 << terms.width(value)) - 1]
    if isinstance(shape, ZeroExtend):
        bounds.append(most(terms, path, shape.inner))
    elif isinstance(shape, Concat):
        above, below = (most(terms, path, part) for part in (shape.top, shape.bottom))
        bounds.append((above << terms.width(shape.bottom)) + below)
    else:
        bounds += _checked(terms, path, value)
    return min(bounds)


def _checked(terms: Terms, path: Term, value: Term) -> Iterator[int]:
    """The bounds that conditions of the path have for this value: `value < 5`, or not `4 < value`."""
    pending, left = [path], _MOST_CONDITIONS
    while pending and left:
        left -= 1
        shape = terms.shape(pending.pop())
        if isinstance(shape, Conjunction):
            pending += (shape.left, shape.right)
        elif isinstance(shape, UnsignedLess) and shape.left == value:
            limit = terms.value(shape.right)
            if limit:
                yield limit - 1
        elif isinstance(shape, Negation):
            order = terms.shape(shape.inner)
            limit = terms.value(order.left) if isinstance(order, UnsignedLess) and order.right == value else None
            if limit is not None:
                yield limit
