"""The family `float`, by runs: a finite set of arguments and results is tried on the cases, fewest operations first.
That none of them is left proves that there is no adaptor in the family; what fits is proved by the comparison."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, product

from isoform.adapt.cases import UNCERTAIN, Case
from isoform.adapt.float_space import Step, are_nans, constants, constants_of, conversions, scaled, steps
from isoform.adapt.ignored import ignored_by_rewrite
from isoform.adapt.opened import Opened
from isoform.adapt.pair import plain_result
from isoform.borders.convention import place_signature
from isoform.model.adaptor import Adaptor, Example
from isoform.model.budget import Budget
from isoform.model.contract import ReturnAs
from isoform.model.expression import (
    RESULT,
    Constant,
    Expression,
    FloatOperation,
    FloatOperator,
    Variable,
    evaluate,
    parts_of,
)
from isoform.model.outcome import Status
from isoform.model.signature import CType, Parameter, TypeKind
from isoform.model.verdict import Assumption, Different

MOST_CANDIDATES = 60_000
"""Combinations of arguments and results that are tried: a few seconds."""

Candidate = tuple[tuple[Expression, ...], Expression]


class FloatSearch:
    def __init__(self, opened: Opened, return_as: ReturnAs, budget: Budget) -> None:
        """`opened` does not compare results."""
        self._pair = pair = opened.pair
        self._budget = budget
        self._return_as = return_as
        self._opened = opened
        self._results: dict[tuple[tuple[Expression, ...], int], int | bool | None] = {}
        self._certain: dict[tuple[tuple[Expression, ...], int], bool] = {}
        self._contract = replace(self._opened.cases.question.contract, return_as=ReturnAs.VALUE)
        self._readings = [place_signature(pair.machine, one).results for one in pair.signatures]
        self._ignored = ignored_by_rewrite(pair, budget)
        self.left_out = ""
        """Why not all were tried; empty if they were."""

    @property
    def examples(self) -> list[Example]:
        """Inputs that together exclude everything that was tried."""
        return [self._opened.example(case) for case in self._opened.cases.found]

    def assumptions(self, adaptor: Adaptor) -> tuple[Assumption, ...]:
        return ()

    def learn(self, verdict: Different) -> None:
        self._opened.learn(verdict)

    def proposals(self) -> Iterator[Adaptor]:
        """Adaptors that fit all cases, fewest operations first. What is learned meanwhile counts."""
        candidates = [*islice(self._candidates(), MOST_CANDIDATES + 1)]
        if len(candidates) > MOST_CANDIDATES:
            self.left_out = "not every combination of arguments was tried"
        for arguments, result in sorted(candidates, key=_cost):
            if self._budget.exhausted:
                self.left_out = self._budget.why_exhausted()
                return
            if all(self._fits(case, arguments, result) for case in self._opened.cases.found):
                yield self._adaptor(arguments, result)

    def _adaptor(self, arguments: Sequence[Expression], result: Expression) -> Adaptor:
        names = [parameter.name for parameter in self._pair.signatures[1].parameters]
        given = [(names[n], expression) for n, expression in enumerate(arguments) if n not in self._ignored]
        return Adaptor(tuple(given), plain_result(self._pair, result))

    def _candidates(self) -> Iterator[Candidate]:
        """Conversions and constants with any result; then with one step of scaling for one or several arguments, which
        the result may have too, and the inverse."""
        numbers = constants_of(self._opened.cases.question)
        plain = [self._plain(n, p.type) for n, p in enumerate(self._pair.signatures[1].parameters)]
        fixed = [
            [*one, *(constants(p.type, numbers) if n not in self._ignored else ())] for n, p, one in self._each(plain)
        ]
        for result in self._results_with([None, *steps(numbers)]):
            yield from ((arguments, result) for arguments in product(*fixed))
        for step in steps(numbers):
            several = [[*one, *self._scaled(n, p.type, step)] for n, p, one in self._each(plain)]
            with_step = [arguments for arguments in product(*several) if _operations(arguments)]
            for result in self._results_with([None, *((operator, step[1]) for operator in FloatOperator)]):
                yield from ((arguments, result) for arguments in with_step)

    def _each(self, choices: Sequence[list[Expression]]) -> Iterator[tuple[int, Parameter, list[Expression]]]:
        for n, (parameter, one) in enumerate(zip(self._pair.signatures[1].parameters, choices, strict=True)):
            yield n, parameter, one

    def _plain(self, number: int, wanted: CType) -> list[Expression]:
        if number in self._ignored:
            return [Constant(0, wanted.bits)]
        return conversions(self._pair.typed_parameters, wanted)

    def _scaled(self, number: int, wanted: CType, step: Step) -> list[Expression]:
        return [] if number in self._ignored else scaled(self._pair.typed_parameters, wanted, step)

    def _results_with(self, several: Sequence[Step | None]) -> list[Expression]:
        wanted, given = (signature.result for signature in self._pair.signatures)
        value = Variable(RESULT, given.bits, given.signed)
        if wanted.kind is TypeKind.VOID or self._return_as is ReturnAs.VOID:
            return [value]
        if given.kind is TypeKind.VOID:
            return []
        typed = [(value, given)]
        found = [scaled(typed, wanted, one) if one is not None else conversions(typed, wanted) for one in several]
        return [*dict.fromkeys(e for one in found for e in one)]

    # -- one case ---------------------------------------------------------------------------------

    def _fits(self, case: Case, arguments: tuple[Expression, ...], result: Expression) -> bool:
        """Whether the rewrite so adapted does there what the target does. True where that is not decided."""
        returned = self._returned(case, arguments)
        if isinstance(returned, bool):
            return returned
        if returned is None or self._pair.signatures[0].result.kind is TypeKind.VOID:
            return True
        if self._return_as is ReturnAs.VOID:
            return True
        wanted = self._contract.result_value(case.outcome, self._readings[0])
        found = evaluate(result, {**case.values, RESULT: returned})
        if self._return_as is ReturnAs.BOOL:
            is_alike = bool(wanted) == bool(found)
        else:
            is_alike = wanted == found or are_nans(self._pair.signatures[0].result, wanted, found)
        if not is_alike and not self.left_out and not self._is_certain(case, arguments):
            self.left_out = UNCERTAIN
        return is_alike

    def _is_certain(self, case: Case, arguments: tuple[Expression, ...]) -> bool:
        key = arguments, id(case)
        if key not in self._certain:
            self._certain[key] = self._opened.cases.are_certain(case, arguments, self._readings)
        return self._certain[key]

    def _returned(self, case: Case, arguments: tuple[Expression, ...]) -> int | bool | None:
        """What the rewrite returns; False if it does something else than the target besides, None if one of them does
        not return."""
        key = arguments, id(case)
        if key not in self._results:
            self._results[key] = self._run(case, arguments)
        return self._results[key]

    def _run(self, case: Case, arguments: tuple[Expression, ...]) -> int | bool | None:
        cases = self._opened.cases
        if not cases.fits(case, arguments):
            return False
        outcome = cases.outcome(case, arguments)
        if case.outcome.status is not Status.DONE or outcome.status is not Status.DONE:
            return None
        return self._contract.result_value(outcome, self._readings[1])


def _cost(candidate: Candidate) -> tuple[int, ...]:
    """Fewest operations first, then fewest constants, then each parameter once."""
    arguments, result = candidate
    is_constant = [isinstance(e, Constant) for e in arguments]
    return _operations((*arguments, result)), sum(is_constant), len(arguments) - len(set(arguments))


def _operations(expressions: Sequence[Expression]) -> int:
    return sum(isinstance(part, FloatOperation) for expression in expressions for part in parts_of(expression))
