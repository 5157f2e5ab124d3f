"""The family `return`: the rewrite is called with parameters of the target, and an expression over these and what it
returned is the result.

Here an adaptor is tried on runs, one choice of arguments after the other: what the rewrite returns in a case is then a
number, and the expression must turn it into what the target returns. An expression that does not use the result would
say nothing about the rewrite and is no adaptor.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from itertools import islice, product

from isoform.adapt.cases import Cases
from isoform.adapt.space import Space
from isoform.adapt.symbolic import Tree
from isoform.model.budget import Budget
from isoform.model.contract import Reading, ReturnAs
from isoform.model.expression import RESULT, Expression, Variable, evaluate, parts_of
from isoform.model.outcome import Outcome, Status
from isoform.model.values import dataclass
from isoform.smt.incremental import PathSolver
from isoform.smt.solver import Answer
from isoform.smt.terms import Term, Terms

MOST_CHOICES = 64
"""Of arguments that are tried."""
MOST_OPERATORS = 7
FIRST_KNOWN = 3
"""Cases that the solver begins with."""
SECONDS = 2.0
"""Counted, for one query."""


@dataclass(frozen=True)
class Returned:
    """What the two returned in a case."""

    values: dict[str, int]
    """Of the target's parameters, and of the rewrite's result."""
    wanted: int


@dataclass
class ResultSearch:
    """The search for the result's expression, for one choice of arguments."""

    cases: Cases
    """Of a question that does not compare results."""
    readings: tuple[Reading, Reading]
    arguments: tuple[Expression, ...]
    space: Space
    return_as: ReturnAs
    budget: Budget
    constants: Sequence[int] = ()
    excluded: list[Expression] = field(default_factory=list)
    has_results: bool = False
    """Whether expressions were tried on results: else the arguments alone were refuted."""

    def returned(self) -> list[Returned] | None:
        """What both return in each case. None if the rewrite does something else there besides."""
        found = []
        for case in self.cases.found:
            outcome = self.cases.outcome(case, self.arguments)
            if not self.cases.fits(case, self.arguments):
                return None
            if case.outcome.status is Status.DONE and outcome.status is Status.DONE:
                values = {**case.values, RESULT: self._value(outcome, 1)}
                found.append(Returned(values, self._value(case.outcome, 0)))
        return found

    @property
    def is_certain(self) -> bool:
        """Whether no case rests on undefined values or outside functions: what they show is then true of all runs."""
        return all(self.cases.are_certain(case, self.arguments, self.readings) for case in self.cases.found)

    def _value(self, outcome: Outcome, side: int) -> int:
        contract = replace(self.cases.question.contract, return_as=ReturnAs.VALUE)
        return contract.result_value(outcome, self.readings[side])

    def proposals(self) -> Iterator[Expression | None]:
        """Expressions that fit all cases, simplest first; None where it is not known whether there are more. What is
        learned meanwhile counts."""
        while not self.budget.exhausted:
            returned = self.returned()
            if returned is None:
                return
            self.has_results = True
            found = self._enumerated(returned) or self._solved(returned)
            if found is None:
                return
            yield found if not isinstance(found, _Open) else None
            if isinstance(found, _Open):
                return

    def _enumerated(self, returned: Sequence[Returned]) -> Expression | None:
        from isoform.adapt.enumerate import constants_to_try, expressions_with  # numpy takes a while to import

        constants = constants_to_try(self.constants, self.space.bits)
        wanted = [(one.values, self._is_wanted(one)) for one in returned]
        for expression in expressions_with(self.space, constants, wanted, self.budget):
            if expression not in self.excluded and _uses_result(expression):
                return expression
        return None

    def _is_wanted(self, one: Returned) -> tuple[int, bool]:
        return one.wanted, self.return_as is ReturnAs.BOOL

    def _solved(self, returned: Sequence[Returned]) -> Expression | _Open | None:
        """What the solver finds, with any constants; None if there is nothing. It knows few cases at first, and each
        one that its proposal does not fit."""
        terms = Terms()
        tree = Tree(terms, self.space, "result")
        solver = PathSolver(terms, self.budget, [*tree.rules(), tree.uses(_uses_result)])
        path = [tree.differs_from(expression) for expression in self.excluded]
        path += [self._fits(terms, tree, one) for one in returned[:FIRST_KNOWN]]
        size = terms.bv(0, 8)
        flags = [*tree.operators_used()]
        for flag in flags:
            size = terms.add(size, terms.flag(flag))
        for most in range(min(len(flags), MOST_OPERATORS) + 1):
            while (answer := solver.check_after(path, [terms.ule(size, terms.bv(most, 8))], SECONDS)) is Answer.SAT:
                found = tree.read(solver)
                misfit = next((one for one in returned if not self._gives(found, one)), None)
                if misfit is None:
                    return found
                path.append(self._fits(terms, tree, misfit))
            if answer is Answer.UNKNOWN:
                return _Open()
        return None

    def _gives(self, expression: Expression, one: Returned) -> bool:
        value = evaluate(expression, one.values)
        return bool(value) == bool(one.wanted) if self.return_as is ReturnAs.BOOL else value == one.wanted

    def _fits(self, terms: Terms, tree: Tree, one: Returned) -> Term:
        widths = {v.name: v.bits for leaf in self.space.leaves for v in parts_of(leaf) if isinstance(v, Variable)}
        values = {name: terms.bv(one.values[name], bits) for name, bits in widths.items()}
        value, wanted = tree.value(values), terms.bv(one.wanted, self.space.bits)
        if self.return_as is ReturnAs.BOOL:
            zero = terms.bv(0, self.space.bits)
            return terms.negate(terms.exclusive(terms.eq(value, zero), terms.eq(wanted, zero)))
        return terms.eq(value, wanted)


@dataclass(frozen=True)
class _Open:
    """Neither an expression nor that there is none was found in time."""


def _uses_result(expression: Expression) -> bool:
    return any(isinstance(part, Variable) and part.name == RESULT for part in parts_of(expression))


def argument_choices(spaces: Sequence[Space]) -> tuple[list[tuple[Expression, ...]], bool]:
    """Arguments that are parameters of the target, those in its own order first; and whether these are all."""
    leaves = [space.leaves for space in spaces]
    found = sorted(islice(product(*leaves), 16 * MOST_CHOICES), key=lambda choice: _disorder(choice, leaves))
    total = 1
    for one in leaves:
        total *= len(one)
    return found[:MOST_CHOICES], total <= MOST_CHOICES


def _disorder(choice: Sequence[Expression], leaves: Sequence[Sequence[Expression]]) -> tuple[int, int]:
    """How often a parameter is repeated, and how far the choice is from the first ones."""
    places = [one.index(e) for e, one in zip(choice, leaves, strict=True)]
    return len(choice) - len(set(map(str, choice))), sum(abs(place - n) for n, place in enumerate(places))
