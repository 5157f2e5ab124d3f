"""Trees made from trees, from the leaves up."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from minicompiler.tree import (
    Assign,
    Binary,
    Call,
    Compare,
    Expression,
    If,
    Procedure,
    Program,
    Statement,
    While,
)


class Rewriter:
    """Rebuilds a program. A subclass says what becomes of each part once the parts inside it are rebuilt."""

    def on_expression(self, expression: Expression) -> Expression:
        return expression

    def on_condition(self, condition: Compare) -> Compare:
        return condition

    def on_statement(self, statement: Statement) -> Iterable[Statement]:
        return (statement,)

    def on_procedure(self, procedure: Procedure) -> Procedure:
        return procedure

    def program(self, program: Program) -> Program:
        return Program(self._procedure(program.main), tuple(self._procedure(p) for p in program.procedures))

    def _procedure(self, procedure: Procedure) -> Procedure:
        body, result = self._block(procedure.body), self._expression(procedure.result)
        return self.on_procedure(replace(procedure, body=body, result=result))

    def _block(self, statements: Iterable[Statement]) -> tuple[Statement, ...]:
        return tuple(new for statement in statements for new in self.on_statement(self._statement(statement)))

    def _statement(self, statement: Statement) -> Statement:
        match statement:
            case Assign(name, value):
                return Assign(name, self._expression(value))
            case If(condition, then, otherwise):
                return If(self._condition(condition), self._block(then), self._block(otherwise))
            case While(condition, body):
                return While(self._condition(condition), self._block(body))

    def _condition(self, condition: Compare) -> Compare:
        left, right = self._expression(condition.left), self._expression(condition.right)
        return self.on_condition(Compare(condition.operator, left, right))

    def _expression(self, expression: Expression) -> Expression:
        match expression:
            case Binary(operator, left, right):
                expression = Binary(operator, self._expression(left), self._expression(right))
            case Call(name, arguments):
                expression = Call(name, tuple(self._expression(a) for a in arguments))
        return self.on_expression(expression)
