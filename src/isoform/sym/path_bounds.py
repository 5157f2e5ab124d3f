"""How large a value can be on a path: the bounds check that compilers put before a table, and nothing cleverer."""

from __future__ import annotations

from collections.abc import Iterator

from isoform.smt.shapes import Choice, Concat, Conjunction, Equal, Negation, SignExtend, UnsignedLess, ZeroExtend
from isoform.smt.terms import Term, Terms

_MOST_CONDITIONS = 64
"""Conditions of a path that are looked at, the last ones first."""
_MOST_CHOICES = 4
"""Choices of which both operands are looked at, one inside the other."""

Interval = tuple[int, int]
"""The least and the largest number, unsigned."""


def most(terms: Terms, path: Term, value: Term) -> int:
    """A number that the value does not exceed, unsigned, wherever the path's condition holds."""
    return bounds(terms, path, value)[1]


def bounds(terms: Terms, path: Term, value: Term, choices: int = _MOST_CHOICES) -> Interval:
    """Numbers that the value lies between, unsigned, wherever the path's condition holds."""
    known = terms.value(value)
    if known is not None:
        return known, known
    width = terms.width(value)
    found = [(0, (1 << width) - 1), _checked(terms, path, value)]
    shape = terms.shape(value)
    if isinstance(shape, ZeroExtend):
        found.append(bounds(terms, path, shape.inner, choices))
    elif isinstance(shape, SignExtend):
        least, largest = bounds(terms, path, shape.inner, choices)
        if largest < 1 << (terms.width(shape.inner) - 1):  # it is not negative
            found.append((least, largest))
    elif isinstance(shape, Concat):
        above, below = (bounds(terms, path, part, choices) for part in (shape.top, shape.bottom))
        scale = terms.width(shape.bottom)
        found.append(((above[0] << scale) + below[0], (above[1] << scale) + below[1]))
    elif isinstance(shape, Choice) and choices:
        # Each operand is looked at on the same path: that it was chosen is not used.
        either = [bounds(terms, path, part, choices - 1) for part in (shape.then, shape.otherwise)]
        found.append((min(low for low, _ in either), max(high for _, high in either)))
    else:
        found.append(_moved(terms, path, value, choices))
    return max(low for low, _ in found), min(high for _, high in found)


def _moved(terms: Terms, path: Term, value: Term, choices: int) -> Interval:
    """The bounds of a sum with a constant, from those of the rest: both ends move alike, unless one of them wraps and
    the other does not."""
    space = 1 << terms.width(value)
    base, constant = terms.split_sum(value)
    if base is None or not constant:
        return 0, space - 1
    low, high = (bound + constant for bound in bounds(terms, path, base, choices))
    return (low % space, high % space) if low // space == high // space else (0, space - 1)


def _checked(terms: Terms, path: Term, value: Term) -> Interval:
    """The bounds that conditions of the path have for this value."""
    least, largest = 0, (1 << terms.width(value)) - 1
    for low, high in _conditions(terms, path, value):
        least, largest = max(least, low), min(largest, high)
    return least, largest


def _conditions(terms: Terms, path: Term, value: Term) -> Iterator[Interval]:
    """`value < 5`, `4 < value` or `value == 4`, or one of these that does not hold."""
    largest = (1 << terms.width(value)) - 1
    pending, left = [path], _MOST_CONDITIONS
    while pending and left:
        left -= 1
        shape = terms.shape(pending.pop())
        if isinstance(shape, Conjunction):
            pending += (shape.left, shape.right)
            continue
        holds = not isinstance(shape, Negation)
        order = terms.shape(shape.inner) if isinstance(shape, Negation) else shape
        if isinstance(order, Equal) and value in (order.left, order.right):
            number = terms.value(order.right if order.left == value else order.left)
            if number is not None and holds:
                yield number, number
            elif number in (0, largest):  # `value < 1` is the same as `value == 0`
                yield (1, largest) if number == 0 else (0, largest - 1)
        elif isinstance(order, UnsignedLess) and value in (order.left, order.right):
            is_left = bool(order.left == value)
            limit = terms.value(order.right if is_left else order.left)
            if limit is not None and is_left:
                yield (0, limit - 1) if holds else (limit, largest)
            elif limit is not None:
                yield (limit + 1, largest) if holds else (0, limit)
