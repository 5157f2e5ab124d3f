"""Candidates on concrete runs: for functions whose behaviour is no formula over numbers, with memory or outside calls.

The simplest combinations of leaves, usual constants and single operators are run on the cases. As in `enumerate.py`
this proves nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, product

from isoform.adapt.normal import normal
from isoform.adapt.space import Space
from isoform.model.adaptor import Adaptor
from isoform.model.expression import Constant, Expression, Operation

FEW_CONSTANTS = 8
MOST_OF_ONE = 400
"""Expressions for one argument."""
MOST_SWEPT = 4_000
"""Combinations that are run."""


def candidates(spaces: Sequence[Space], constants: Sequence[int]) -> Iterator[tuple[Expression, ...]]:
    """Arguments to try, simplest first: parameters only, then with constants, then with one operator in one place."""
    leaves = [_leaves(space, constants) for space in spaces]
    plain = sorted(islice(product(*leaves), 16 * MOST_SWEPT), key=_cost)
    yield from plain[:MOST_SWEPT]
    for place, space in enumerate(spaces):
        others = [[leaf for leaf in one if not isinstance(leaf, Constant)] or one for one in leaves]
        others[place] = [*_single(space, leaves[place])][:MOST_OF_ONE]
        yield from islice(product(*others), MOST_SWEPT)


def _leaves(space: Space, constants: Sequence[int]) -> list[Expression]:
    numbers = [Constant(c % (1 << space.bits), space.bits) for c in constants[:FEW_CONSTANTS]]
    return [*space.leaves, *(dict.fromkeys(numbers) if space.has_constants else ())]


def _single(space: Space, leaves: Sequence[Expression]) -> Iterator[Expression]:
    """Expressions of one operator."""
    if space.depth < 2:
        return
    for operator in space.operators:
        for left in leaves:
            rights: Sequence[Expression] = (left,) if operator.is_unary else leaves
            for right in rights:
                made = normal(Operation(operator, (left,) if operator.is_unary else (left, right)))
                if isinstance(made, Operation):
                    yield made


def _cost(arguments: tuple[Expression, ...]) -> tuple[int, ...]:
    """Fewest constants first, each parameter once, and in the target's order."""
    names = [str(e) for e in arguments if not isinstance(e, Constant)]
    constants = len(arguments) - len(names)
    return (constants, len(names) - len(set(names)), *Adaptor(tuple(("", e) for e in arguments)).cost)
