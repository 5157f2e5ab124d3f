"""The greatest and the least of several words: choices between two words by a comparison of them.

The order and number of comparisons do not matter. Such a choice is therefore identified by its kind and its set of
words, and equal ones become one term: a reduction in vector lanes and a sequential one are then the same.
"""

from __future__ import annotations

from bitwuzla import Kind, Term

from isoform.model.values import dataclass

_LESS = {
    Kind.BV_SLT: (True, False),
    Kind.BV_SLE: (True, False),
    Kind.BV_ULT: (False, False),
    Kind.BV_ULE: (False, False),
    Kind.BV_SGT: (True, True),
    Kind.BV_SGE: (True, True),
    Kind.BV_UGT: (False, True),
    Kind.BV_UGE: (False, True),
}
"""Comparisons: whether of signed numbers, and whether of the right operand with the left one."""
ORDERS = frozenset(_LESS)
MOST_WORDS = 64


@dataclass(frozen=True)
class Extreme:
    """Of some words, by number, the greatest or the least."""

    signed: bool
    greatest: bool
    words: frozenset[int]


def extreme(choice: Term) -> Extreme | None:
    """What a choice between two words is, if it is made by how they compare."""
    condition, then, otherwise = choice.children()
    if condition.kind() is Kind.NOT:
        condition, then, otherwise = condition[0], otherwise, then
    known = _LESS.get(condition.kind())
    if known is None or condition.num_children() != 2:
        return None
    signed, swapped = known
    lesser, greater = condition.children()[::-1] if swapped else condition.children()
    # If the two are equal it does not matter which one is chosen, so `<` and `≤` are the same here.
    if (then.id(), otherwise.id()) == (greater.id(), lesser.id()):
        return Extreme(signed, True, frozenset((then.id(), otherwise.id())))
    if (then.id(), otherwise.id()) == (lesser.id(), greater.id()):
        return Extreme(signed, False, frozenset((then.id(), otherwise.id())))
    return None
