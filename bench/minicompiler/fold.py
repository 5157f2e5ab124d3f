"""Constant folding: never removes a fault, unless a bug says so."""

from __future__ import annotations

from minicompiler.bugs import Bug
from minicompiler.interpret import arithmetic
from minicompiler.rewriter import Rewriter
from minicompiler.tree import Binary, Expression, Name, Number, Program, wrapped

_ZERO, _ONE = Number(0), Number(1)


def folded(program: Program, bug: Bug | None) -> Program:
    return _Folder(bug).program(program)


class _Folder(Rewriter):
    def __init__(self, bug: Bug | None) -> None:
        self._bug = bug

    def on_expression(self, expression: Expression) -> Expression:
        return _binary(expression, self._bug) if isinstance(expression, Binary) else expression


def _binary(expression: Binary, bug: Bug | None) -> Expression:
    wrong = _wrongly_folded(expression, bug)
    if wrong is not None:
        return wrong
    match expression:
        case Binary(operator, Number(left), Number(right)):
            value = arithmetic(operator, wrapped(left), wrapped(right))
            return expression if value is None else Number(value)
        case Binary("+" | "-", kept, right) if right == _ZERO:
            return kept
        case Binary("*" | "/", kept, right) if right == _ONE:
            return kept
        case Binary("+", left, kept) if left == _ZERO:
            return kept
        case Binary("*", left, kept) if left == _ONE:
            return kept
        case Binary("*", Name(), right) if right == _ZERO:
            return _ZERO
        case _:
            return expression


def _wrongly_folded(expression: Binary, bug: Bug | None) -> Expression | None:
    match bug, expression:
        case Bug.REGROUPED, Binary("-", a, Binary("-", b, c)):
            return _binary(Binary("-", _binary(Binary("-", a, b), bug), c), bug)
        case Bug.FOLDED_QUOTIENT_DOWN, Binary("/", Number(left), Number(right)) if right:
            return Number(wrapped(left // right))
        case Bug.CANCELLED_FACTOR, Binary("/", Binary("*", kept, Number(factor)), Number(divisor)) if (
            factor == divisor != 0
        ):
            return kept
        case Bug.SELF_QUOTIENT, Binary("/", Name(left), Name(right)) if left == right:
            return _ONE
        case _:
            return None
