"""Random expressions for the tests of adaptors."""

from __future__ import annotations

import random
from collections.abc import Sequence

from isoform.model.expression import Change, Constant, Conversion, Expression, Operation, Operator, Variable


def boundary(bits: int) -> list[int]:
    top = 1 << bits
    usual = [0, 1, 2, 3, 7, bits - 1, bits, bits + 1, top // 2 - 1, top // 2, top // 2 + 1, top - 2, top - 1]
    return sorted({value % top for value in usual})


def random_expression(
    chosen: random.Random,
    leaves: Sequence[Variable],
    bits: int,
    depth: int,
    operators: Sequence[Operator] = tuple(Operator),
    widths: Sequence[int] = (),
) -> Expression:
    """Of so many bits; with `widths`, conversions from these may be anywhere."""
    if widths and depth > 1 and chosen.random() < 0.2:
        inner = random_expression(chosen, leaves, chosen.choice(widths), depth - 1, operators, widths)
        changes = [Change.TRUTH]
        changes += [Change.SIGN_EXTENDED, Change.ZERO_EXTENDED] if inner.bits < bits else []
        changes += [Change.TRUNCATED] if inner.bits > bits else []
        return Conversion(chosen.choice(changes), inner, bits)
    if depth == 1 or chosen.random() < 0.1:
        number = chosen.choice([*boundary(bits), chosen.getrandbits(bits)])
        choices: list[Expression] = [leaf for leaf in leaves if leaf.bits == bits]
        return chosen.choice([*choices, Constant(number, bits)])
    operator = chosen.choice(operators)
    count = 1 if operator.is_unary else 2
    operands = [random_expression(chosen, leaves, bits, depth - 1, operators, widths) for _ in range(count)]
    return Operation(operator, tuple(operands))
