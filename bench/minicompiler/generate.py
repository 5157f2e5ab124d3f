"""Random programs, a function of the seed alone. Most of them stop on most inputs."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from minicompiler.tree import (
    Assign,
    Binary,
    Call,
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

_OPERATORS = ("+", "+", "+", "-", "-", "-", "*", "*", "/", "%")
_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
_MOST_TURNS = 5


@dataclass(frozen=True)
class Shape:
    """How large programs are."""

    procedures: int = 2
    statements: int = 4
    """In the body of a procedure."""
    depth: int = 2
    """Of expressions and of nested statements."""


def random_program(seed: int, shape: Shape | None = None) -> Program:
    random = Random(seed)
    shape = shape or Shape()
    known: dict[str, int] = {}
    procedures: list[Procedure] = []
    for number in range(random.randint(0, shape.procedures)):
        parameters = tuple(f"p{index}" for index in range(random.randint(1, 3)))
        body_shape = Shape(0, max(1, shape.statements // 2), shape.depth)
        procedures.append(_Maker(random, body_shape, known).procedure(f"f{number}", parameters))
        known = known | {f"f{number}": len(parameters)}
    return Program(_Maker(random, shape, known).procedure("main", ("a", "b")), tuple(procedures))


@dataclass
class _Maker:
    random: Random
    shape: Shape
    procedures: dict[str, int]
    """Those that may be called, and how many arguments each takes."""
    variables: list[str] = field(default_factory=list)
    counters: list[str] = field(default_factory=list)
    """Of the loops around: nothing but the loop itself changes them."""
    loops: int = 0

    def procedure(self, name: str, parameters: tuple[str, ...]) -> Procedure:
        """Variables start from the parameters and all go into the result, so that little is without effect."""
        self.variables = list(parameters)
        starts: list[Statement] = []
        for number in range(self.random.randint(0, 2)):
            starts.append(Assign(f"v{number}", self._binary(1)))
            self.variables.append(f"v{number}")
        body = self._block(self.shape.statements, self.shape.depth)
        result: Expression = Name(self.variables[0])
        for variable in self.variables[1:]:
            result = Binary(self.random.choice("+-"), result, Name(variable))
        return Procedure(name, parameters, (*starts, *body), result)

    def _block(self, most: int, depth: int) -> tuple[Statement, ...]:
        return tuple(s for _ in range(self.random.randint(1, most)) for s in self._statements(depth))

    def _statements(self, depth: int) -> list[Statement]:
        kind = self.random.random()
        if depth == 0 or kind < 0.5:
            return [Assign(self.random.choice(self.variables), self._expression(self.shape.depth))]
        if kind < 0.82:
            otherwise = self._block(2, depth - 1) if self.random.random() < 0.7 else ()
            return [If(self._condition(), self._block(2, depth - 1), otherwise)]
        return self._loop(depth)

    def _loop(self, depth: int) -> list[Statement]:
        """Counts to a small bound, or now and then to one that the inputs decide."""
        counter = f"i{self.loops}"
        self.loops += 1
        bound: Expression = Number(self.random.randint(1, _MOST_TURNS))
        if self.random.random() < 0.4:
            bound = Binary("%", Name(self.random.choice(self.variables)), Number(self.random.randint(2, _MOST_TURNS)))
        elif self.random.random() < 0.1:
            bound = Name(self.random.choice(self.variables))
        self.counters.append(counter)
        body = self._block(2, depth - 1)
        self.counters.pop()
        step = Assign(counter, Binary("+", Name(counter), Number(1)))
        return [Assign(counter, Number(0)), While(Compare("<", Name(counter), bound), (*body, step))]

    def _condition(self) -> Compare:
        operator = self.random.choice(_COMPARISONS)
        left = self._variable() if self.random.random() < 0.5 else self._binary(1)
        right = self._number() if self.random.random() < 0.5 else self._expression(1)
        return Compare(operator, left, right)

    def _expression(self, depth: int) -> Expression:
        kind = self.random.random()
        if depth == 0 or kind < 0.25:
            return self._leaf()
        if self.procedures and kind < 0.4:
            name = self.random.choice(sorted(self.procedures))
            arguments = (self._expression(depth - 1) for _ in range(self.procedures[name]))
            return Call(name, tuple(arguments))
        return self._binary(depth)

    def _binary(self, depth: int) -> Binary:
        operator = self.random.choice(_OPERATORS)
        left = self._variable() if depth == 1 else self._expression(depth - 1)
        if operator in "/%" and self.random.random() < 0.85:
            return Binary(operator, left, Number(self.random.choice((-7, -3, -2, 2, 3, 5, 10, 100))))
        if operator == "*" and self.random.random() < 0.75:
            return Binary(operator, left, self._number())
        return Binary(operator, left, self._expression(depth - 1))

    def _leaf(self) -> Expression:
        if self.random.random() < 0.3:
            return self._number()
        return self._variable()

    def _variable(self) -> Name:
        return Name(self.random.choice([*self.variables, *self.counters]))

    def _number(self) -> Number:
        kind = self.random.random()
        if kind < 0.75:
            return Number(self.random.randint(-10, 20))
        if kind < 0.9:
            return Number(self.random.randint(-1000, 70_000))
        return Number(wrapped(self.random.getrandbits(32)))
