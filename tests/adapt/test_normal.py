"""`normal` keeps what an expression is worth, and makes it no larger."""

from __future__ import annotations

import random
from itertools import product

import pytest

from isoform.adapt.normal import normal
from isoform.model.adaptor import expression_text
from isoform.model.expression import (
    Constant,
    Expression,
    Operation,
    Operator,
    Variable,
    depth_of,
    evaluate,
    operands_of,
    parts_of,
)
from made_expressions import random_expression

BITS = 4
X, Y = Variable("x", BITS), Variable("y", BITS)
ALL = [{"x": x, "y": y} for x, y in product(range(1 << BITS), repeat=2)]


def operations(expression: Expression) -> int:
    return sum(isinstance(part, Operation) for part in parts_of(expression))


def require_kept(expression: Expression) -> None:
    made = normal(expression)
    assert made.bits == expression.bits
    assert [evaluate(made, row) for row in ALL] == [evaluate(expression, row) for row in ALL], expression
    assert operations(made) <= operations(expression)
    assert depth_of(made) <= depth_of(expression)
    assert normal(made) == made, expression


@pytest.mark.parametrize("operator", Operator)
def test_all_small_expressions(operator: Operator) -> None:
    """With every constant on either side, and with one more unary operator inside."""
    leaves: list[Expression] = [X, Y, *(Constant(value, BITS) for value in range(1 << BITS))]
    inner = [Operation(unary, (leaf,)) for unary in (Operator.NEGATE, Operator.NOT) for leaf in (X, Y)]
    for left, right in product([*leaves, *inner], repeat=2):
        require_kept(Operation(operator, (left,) if operator.is_unary else (left, right)))


@pytest.mark.parametrize("seed", range(4))
def test_random_expressions(seed: int) -> None:
    chosen = random.Random(seed)
    for _ in range(100):
        require_kept(random_expression(chosen, [X, Y], BITS, 4, widths=(BITS, 8)))


def test_texts_tell_expressions_apart() -> None:
    """Two expressions that a person reads alike must mean the same."""
    chosen = random.Random(5)
    read: dict[str, Expression] = {}
    for _ in range(700):
        made = normal(random_expression(chosen, [X, Y], BITS, 3))
        other = read.setdefault(expression_text(made), made)
        assert [evaluate(made, row) for row in ALL] == [evaluate(other, row) for row in ALL], (made, other)
    assert len(read) > 200


def test_a_person_would_write_them_so() -> None:
    one, minus_one, zero = Constant(1, BITS), Constant(15, BITS), Constant(0, BITS)
    assert (
        expression_text(normal(Operation(Operator.AND, (Operation(Operator.SUBTRACT, (X, one)), X)))) == "x & (x - 1)"
    )
    assert normal(Operation(Operator.ADD, (X, zero))) == X
    assert normal(Operation(Operator.NEGATE, (Operation(Operator.NEGATE, (X,)),))) == X
    assert expression_text(normal(Operation(Operator.XOR, (X, minus_one)))) == "~x"
    assert expression_text(normal(Operation(Operator.ADD, (X, Operation(Operator.NEGATE, (Y,)))))) == "x - y"
    assert operands_of(normal(Operation(Operator.ADD, (one, X)))) == (X, one)
