"""The tree of all expressions: what its rules leave out means the same as something that they keep, with no more
operators. Otherwise `none` would be claimed wrongly."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import product

import pytest
from bitwuzla import Bitwuzla, Options, Result

from isoform.adapt.space import Space
from isoform.adapt.symbolic import Tree
from isoform.model.budget import Budget
from isoform.model.expression import (
    Change,
    Constant,
    Conversion,
    Expression,
    Operation,
    Operator,
    Variable,
    evaluate,
    parts_of,
)
from isoform.smt.solver import Answer, Solver
from isoform.smt.terms import Terms

ALONE = [(operator,) for operator in Operator]
SEED_ORDER = (
    *(Operator.SUBTRACT, Operator.AND, Operator.ADD, Operator.OR, Operator.XOR),
    *(Operator.NEGATE, Operator.NOT, Operator.SHIFT_LEFT, Operator.SHIFT_RIGHT, Operator.ARITHMETIC_SHIFT_RIGHT),
)
"""In which seed 001, table 4.4, allows more and more of them."""


def all_expressions(leaves: Sequence[Expression], operators: Sequence[Operator], depth: int) -> list[Expression]:
    found = list(leaves)
    for _ in range(depth - 1):
        found = [*leaves, *_one_more(found, operators)]
    return found


def _one_more(operands: Sequence[Expression], operators: Sequence[Operator]) -> Iterator[Expression]:
    for operator in operators:
        for chosen in product(operands, repeat=1 if operator.is_unary else 2):
            yield Operation(operator, chosen)


def size(expression: Expression) -> int:
    return sum(isinstance(part, Operation) for part in parts_of(expression))


class Admitted:
    """Which expressions the rules of a tree keep."""

    def __init__(self, space: Space) -> None:
        terms = Terms()
        self._tree = Tree(terms, space, "tree")
        self._solver = Bitwuzla(terms.manager, Options())
        for rule in self._tree.rules():
            self._solver.assert_formula(rule)
        self._terms = terms

    def __call__(self, expression: Expression) -> bool:
        is_it = self._terms.negate(self._tree.differs_from(expression))
        return self._solver.check_sat(is_it) == Result.SAT


def require_all_represented(bits: int, names: str, operators: Sequence[Operator], depth: int, some: int = 0) -> None:
    variables = [Variable(name, bits) for name in names]
    rows = [dict(zip(names, values, strict=True)) for values in product(range(1 << bits), repeat=len(names))]
    leaves: list[Expression] = [*variables, *(Constant(value, bits) for value in range(1 << bits))]
    by_value: dict[tuple[int, ...], list[Expression]] = {}
    for expression in all_expressions(leaves, operators, depth):
        by_value.setdefault(tuple(evaluate(expression, row) for row in rows), []).append(expression)
    admitted = Admitted(Space(bits, tuple(variables), tuple(operators), depth))
    groups = list(by_value.values())
    for group in random.Random(1).sample(groups, min(some or len(groups), len(groups))):
        group.sort(key=size)
        smallest = [expression for expression in group if size(expression) == size(group[0])]
        assert any(map(admitted, smallest)), smallest[0]


@pytest.mark.parametrize("operators", [*ALONE, *(SEED_ORDER[:n] for n in (2, 5, 7, 10)), tuple(Operator)])
def test_every_function_of_depth_2_is_kept(operators: tuple[Operator, ...]) -> None:
    require_all_represented(4, "x", operators, 2)
    require_all_represented(2, "xy", operators, 2)


@pytest.mark.parametrize("seed", range(6))
def test_every_function_of_depth_3_is_kept(seed: int) -> None:
    """With few operators and two bits, of which all combinations can be listed."""
    operators = random.Random(seed).sample(list(Operator), 3)
    require_all_represented(2, "x", operators, 3, some=200)


@pytest.mark.parametrize("operator", Operator)
def test_eight_bits(operator: Operator) -> None:
    """All functions of one operator at the width of a byte, with every constant on either side."""
    x = Variable("x", 8)
    admitted = Admitted(Space(8, (x,), (operator,), 2))
    sides = [] if operator.is_unary else [(x, Constant(c, 8)) for c in range(256)]
    by_value: dict[bytes, list[Expression]] = {}
    for operands in [*sides, *((right, left) for left, right in sides), (x,) if operator.is_unary else (x, x)]:
        expression = Operation(operator, operands)
        by_value.setdefault(bytes(evaluate(expression, {"x": v}) for v in range(256)), []).append(expression)
    plain = {bytes(range(256)), *(bytes([c] * 256) for c in range(256))}
    for value, group in by_value.items():
        assert value in plain or any(map(admitted, group)), group[0]


def test_reading_a_tree_gives_what_it_is_worth() -> None:
    """The expression of a model has, on a number, the value that the model gives to the tree."""
    terms = Terms()
    x, narrow = Variable("x", 8), Variable("n", 4)
    space = Space(8, (x, Conversion(Change.SIGN_EXTENDED, narrow, 8)), tuple(Operator), 3)
    tree = Tree(terms, space, "tree")
    solver = Solver(terms, Budget(60))
    chosen = random.Random(2)
    for _ in range(12):
        row = {"x": chosen.getrandbits(8), "n": chosen.getrandbits(4)}
        other = {"x": chosen.getrandbits(8), "n": chosen.getrandbits(4)}
        value, again = (tree.value({"x": terms.bv(one["x"], 8), "n": terms.bv(one["n"], 4)}) for one in (row, other))
        wanted = terms.eq(value, terms.bv(chosen.getrandbits(8), 8))
        unlike = terms.negate(terms.eq(again, value))
        if solver.check([*tree.rules(), wanted, unlike, tree.has_operator]) is Answer.SAT:
            expression = tree.read(solver)
            assert evaluate(expression, row) == solver.value(value)
            assert evaluate(expression, other) == solver.value(again)
            assert not solver.holds(tree.differs_from(expression))
