"""Expressions as a person would write them: no `x + 0`, no double negation, parameters before compound operands and
constants. Every step keeps the value for all inputs and adds no operator."""

from __future__ import annotations

from isoform.model.expression import (
    Change,
    Constant,
    Conversion,
    Expression,
    Operation,
    Operator,
    Variable,
    apply,
    converted,
)

_FLOATS = (Change.FROM_SIGNED, Change.TO_SIGNED, Change.RESIZED_FLOAT)
_NEUTRAL_RIGHT = {
    Operator.ADD: 0,
    Operator.SUBTRACT: 0,
    Operator.OR: 0,
    Operator.XOR: 0,
    Operator.MULTIPLY: 1,
    Operator.UNSIGNED_DIVIDE: 1,
    Operator.SIGNED_DIVIDE: 1,
}


def normal(expression: Expression) -> Expression:
    match expression:
        case Conversion(change, operand, bits):
            inner = normal(operand)
            if isinstance(inner, Constant) and change not in _FLOATS:
                return Constant(converted(change, inner.value, inner.bits, bits), bits)
            return Conversion(change, inner, bits)
        case Operation(operator, (operand,)):
            return _unary(operator, normal(operand))
        case Operation(operator, (left, right)):
            return _binary(operator, normal(left), normal(right))
        case _:
            return expression


def _unary(operator: Operator, operand: Expression) -> Expression:
    match operand:
        case Constant(value, bits):
            return Constant(apply(operator, bits, value), bits)
        case Operation(inner, (again,)) if inner is operator:
            return again
        case _:
            return Operation(operator, (operand,))


def _binary(operator: Operator, left: Expression, right: Expression) -> Expression:
    bits = left.bits
    if isinstance(left, Constant) and isinstance(right, Constant):
        return Constant(apply(operator, bits, left.value, right.value), bits)
    if operator.is_commutative and _rank(right) < _rank(left):
        left, right = right, left
    if isinstance(right, Constant):
        if operator.is_shift:
            right = Constant(right.value % bits, bits)
            if not right.value:
                return left
        if right.value == _NEUTRAL_RIGHT.get(operator) or (operator is Operator.AND and right.value == (1 << bits) - 1):
            return left
        if operator is Operator.SUBTRACT:
            return Operation(Operator.ADD, (left, Constant(-right.value % (1 << bits), bits)))
        if operator is Operator.XOR and right.value == (1 << bits) - 1:
            return _unary(Operator.NOT, left)
        if operator is Operator.MULTIPLY and right.value == (1 << bits) - 1:
            return _unary(Operator.NEGATE, left)
    if operator is Operator.SUBTRACT and left == Constant(0, bits):
        return _unary(Operator.NEGATE, right)
    if operator is Operator.SUBTRACT and left == Constant((1 << bits) - 1, bits):
        return _unary(Operator.NOT, right)
    if operator is Operator.ADD and isinstance(right, Operation) and right.operator is Operator.NEGATE:
        return Operation(Operator.SUBTRACT, (left, right.operands[0]))
    return Operation(operator, (left, right))


def _rank(expression: Expression) -> int:
    """Which operand comes first: parameters, then what is computed, then constants."""
    match expression:
        case Variable():
            return 0
        case Constant():
            return 3
        case Conversion():
            return 1
        case _:
            return 2
