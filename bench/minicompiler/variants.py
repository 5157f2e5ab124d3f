"""The same task written by another hand: rewrites that keep the meaning of a program, and mistakes that change it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from random import Random

from minicompiler.rewriter import Rewriter
from minicompiler.tree import (
    MIRRORED,
    NEGATED,
    Assign,
    Binary,
    Compare,
    Expression,
    If,
    Name,
    Number,
    Procedure,
    Program,
    Statement,
    While,
    wrapped,
)

_CONFUSED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}


def rewritten(program: Program, random: Random) -> Program:
    """Another program of the same meaning."""
    return _Restater(random).program(program)


class _Restater(Rewriter):
    def __init__(self, random: Random) -> None:
        self._random = random

    def _chance(self, share: float) -> bool:
        return self._random.random() < share

    def on_expression(self, expression: Expression) -> Expression:
        match expression:
            case Binary("*", Name() as name, Number(2)) if self._chance(0.5):
                return Binary("+", name, name)
            case Binary("-", left, Number(value)) if self._chance(0.5):
                return Binary("+", left, Number(wrapped(-value)))
            case Binary("+" | "*" as operator, left, right) if self._chance(0.4):
                return Binary(operator, right, left)
            case _:
                return expression

    def on_condition(self, condition: Compare) -> Compare:
        if self._chance(0.3):
            return Compare(MIRRORED[condition.operator], condition.right, condition.left)
        return condition

    def on_statement(self, statement: Statement) -> Iterable[Statement]:
        match statement:
            case If(Compare(operator, left, right), then, otherwise) if self._chance(0.4):
                return (If(Compare(NEGATED[operator], left, right), otherwise, then),)
            case Assign(name, Binary() as value) if self._chance(0.2):
                return (Assign("t", value), Assign(name, Name("t")))
            case _:
                return (statement,)

    def on_procedure(self, procedure: Procedure) -> Procedure:
        if self._chance(0.3):
            unused = Assign("unused", Number(self._random.randint(-100, 100)))
            return replace(procedure, body=(unused, *procedure.body))
        return procedure


def mistaken(program: Program, random: Random) -> Program:
    """The program with one mistake of the kind that people make. It may happen to mean the same."""
    sites = _Mistaker(None, random)
    sites.program(program)
    return _Mistaker(random.randrange(sites.seen), random).program(program) if sites.seen else program


class _Mistaker(Rewriter):
    """Changes the site of a given number; without one it only counts them."""

    def __init__(self, wanted: int | None, random: Random) -> None:
        self._wanted = wanted
        self._random = random
        self.seen = 0

    def _is_it(self) -> bool:
        self.seen += 1
        return self.seen - 1 == self._wanted

    def on_expression(self, expression: Expression) -> Expression:
        match expression:
            case Number(value) if self._is_it():
                return Number(wrapped(value + self._random.choice((-1, 1))))
            case Binary(operator, left, right) if self._is_it():
                return self._random.choice(list(_wrong_arithmetic(operator, left, right)))
            case _:
                return expression

    def on_condition(self, condition: Compare) -> Compare:
        if self._is_it():
            return Compare(_CONFUSED[condition.operator], condition.left, condition.right)
        return condition

    def on_statement(self, statement: Statement) -> Iterable[Statement]:
        match statement:
            case If(condition, then, otherwise) if otherwise and self._is_it():
                return (If(condition, then),)
            case Assign(name, value) if not (name.startswith("i") or isinstance(value, Number)) and self._is_it():
                return ()
            case _:
                return (statement,)


def _wrong_arithmetic(operator: str, left: Expression, right: Expression) -> Iterator[Expression]:
    match operator:
        case "+" | "*":
            yield Binary("-", left, right)
        case "-":
            yield Binary("-", right, left)
            yield Binary("+", left, right)
        case "/":
            yield Binary("%", left, right)
        case _:
            yield Binary("/", left, right)


def endless(program: Program) -> Program:
    """The program after a loop that never ends."""
    forever = While(Compare("==", Number(1), Number(1)), ())
    return replace(program, main=replace(program.main, body=(forever, *program.main.body)))
