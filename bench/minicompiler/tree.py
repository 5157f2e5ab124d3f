"""The syntax tree of the language: 32-bit integers, procedures that call only earlier ones, no globals.

Variables start as 0. Division cuts towards zero and faults on a zero divisor, as the machine's does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

ARITHMETIC = ("+", "-", "*", "/", "%")
NEGATED = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}
MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!="}


@dataclass(frozen=True)
class Number:
    value: int
    """Signed, 32 bits."""


@dataclass(frozen=True)
class Name:
    name: str


@dataclass(frozen=True)
class Binary:
    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Call:
    name: str
    arguments: tuple[Expression, ...]


Expression = Number | Name | Binary | Call


@dataclass(frozen=True)
class Compare:
    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Assign:
    name: str
    value: Expression


@dataclass(frozen=True)
class If:
    condition: Compare
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...] = ()


@dataclass(frozen=True)
class While:
    condition: Compare
    body: tuple[Statement, ...]


Statement = Assign | If | While


@dataclass(frozen=True)
class Procedure:
    name: str
    parameters: tuple[str, ...]
    body: tuple[Statement, ...]
    result: Expression

    @cached_property
    def locals(self) -> tuple[str, ...]:
        """The variables that are no parameters, in order of appearance."""
        names = [name for statement in self.body for name in _names(statement)] + list(names_in(self.result))
        return tuple(name for name in dict.fromkeys(names) if name not in self.parameters)

    @cached_property
    def calls(self) -> bool:
        return any(has_call(e) for e in (*expressions(self.body), self.result))


@dataclass(frozen=True)
class Program:
    """`main` takes the machine's two inputs."""

    main: Procedure
    procedures: tuple[Procedure, ...] = ()

    @property
    def all(self) -> tuple[Procedure, ...]:
        return (self.main, *self.procedures)


def wrapped(value: int) -> int:
    """The signed 32-bit number that is congruent to `value`."""
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)


def has_call(expression: Expression) -> bool:
    match expression:
        case Call():
            return True
        case Binary(_, left, right):
            return has_call(left) or has_call(right)
        case _:
            return False


def names_in(expression: Expression) -> Iterator[str]:
    match expression:
        case Name(name):
            yield name
        case Binary(_, left, right):
            yield from names_in(left)
            yield from names_in(right)
        case Call(_, arguments):
            for argument in arguments:
                yield from names_in(argument)
        case Number():
            pass


def expressions(statements: Sequence[Statement]) -> Iterator[Expression]:
    """Every outermost expression of some statements."""
    for statement in statements:
        match statement:
            case Assign(_, value):
                yield value
            case If(condition, then, otherwise):
                yield from (condition.left, condition.right)
                yield from expressions((*then, *otherwise))
            case While(condition, body):
                yield from (condition.left, condition.right)
                yield from expressions(body)


def _names(statement: Statement) -> Iterator[str]:
    if isinstance(statement, Assign):
        yield statement.name
        yield from names_in(statement.value)
        return
    yield from names_in(statement.condition.left)
    yield from names_in(statement.condition.right)
    inner = (*statement.then, *statement.otherwise) if isinstance(statement, If) else statement.body
    for each in inner:
        yield from _names(each)
