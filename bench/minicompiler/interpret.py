"""What a program means: an interpreter of the tree that shares nothing with the code generators."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from enum import Enum

from minicompiler.tree import Assign, Binary, Call, Compare, Expression, If, Name, Number, Program, Statement, wrapped


class Ending(Enum):
    """How a run ends that has no result."""

    FAULT = "divides by zero"
    ENDLESS = "does not stop within the bound"


class _EndedError(Exception):
    def __init__(self, ending: Ending) -> None:
        super().__init__(ending.value)
        self.ending = ending


_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


def interpret(program: Program, first: int, second: int, fuel: int = 500) -> int | Ending:
    """The result as a signed number, or how the run ended. `fuel` bounds loop iterations and calls together."""
    try:
        return _Run(program, fuel).call("main", (first, second))
    except _EndedError as ended:
        return ended.ending


class _Run:
    def __init__(self, program: Program, fuel: int) -> None:
        self._procedures = {p.name: p for p in program.all}
        self._fuel = fuel

    def call(self, name: str, arguments: Sequence[int]) -> int:
        self._spend()
        procedure = self._procedures[name]
        variables = dict.fromkeys(procedure.locals, 0)
        variables |= {p: wrapped(v) for p, v in zip(procedure.parameters, arguments, strict=True)}
        self._execute(procedure.body, variables)
        return self._value(procedure.result, variables)

    def _spend(self) -> None:
        self._fuel -= 1
        if self._fuel < 0:
            raise _EndedError(Ending.ENDLESS)

    def _execute(self, statements: Sequence[Statement], variables: dict[str, int]) -> None:
        for statement in statements:
            if isinstance(statement, Assign):
                variables[statement.name] = self._value(statement.value, variables)
            elif isinstance(statement, If):
                holds = self._holds(statement.condition, variables)
                self._execute(statement.then if holds else statement.otherwise, variables)
            else:
                while self._holds(statement.condition, variables):
                    self._spend()
                    self._execute(statement.body, variables)

    def _holds(self, condition: Compare, variables: dict[str, int]) -> bool:
        left, right = self._value(condition.left, variables), self._value(condition.right, variables)
        return _COMPARISONS[condition.operator](left, right)

    def _value(self, expression: Expression, variables: dict[str, int]) -> int:
        match expression:
            case Number(value):
                return wrapped(value)
            case Name(name):
                return variables[name]
            case Call(name, arguments):
                return self.call(name, [self._value(a, variables) for a in arguments])
            case Binary(symbol, left, right):
                result = arithmetic(symbol, self._value(left, variables), self._value(right, variables))
                if result is None:
                    raise _EndedError(Ending.FAULT)
                return result


def arithmetic(symbol: str, left: int, right: int) -> int | None:
    """The result of an operator on signed numbers; None where it faults."""
    match symbol:
        case "+":
            return wrapped(left + right)
        case "-":
            return wrapped(left - right)
        case "*":
            return wrapped(left * right)
    if right == 0:
        return None
    quotient = abs(left) // abs(right)
    quotient = -quotient if (left < 0) != (right < 0) else quotient
    return wrapped(quotient if symbol == "/" else left - quotient * right)
