"""The open question of a pair, encoded and with its first cases: where the search for an adaptor begins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from isoform.adapt.cases import Case, Cases
from isoform.adapt.formula import OpenFormula
from isoform.adapt.normal import normal
from isoform.adapt.pair import Pair, posed
from isoform.adapt.space import Space, argument_space
from isoform.borders.convention import place_signature
from isoform.borders.question import Options, Question
from isoform.lift.discovery import Discovery
from isoform.model.adaptor import Adaptor, Example, Family
from isoform.model.budget import Budget
from isoform.model.contract import ReturnAs, show_float
from isoform.model.differences import how_it_ended
from isoform.model.expression import Constant, Expression, Operator
from isoform.model.microop import Space as MicroOpSpace
from isoform.model.outcome import Status
from isoform.model.signature import CType, TypeKind
from isoform.model.verdict import Different
from isoform.smt.solver import Answer

_ANY_NUMBERS = (0, 1, 0x5A5A_0137_9C3B_0100)
"""Arguments with which a rewrite is run to see whether they matter at all."""


class Opened:
    """The open question, encoded, with its cases."""

    def __init__(
        self,
        pair: Pair,
        options: Options,
        result: Expression | None,
        budget: Budget,
        before: Opened | None = None,
    ) -> None:
        """`before`: another open question about the pair, whose cases are cases here too."""
        self.pair = pair
        self.result = result
        self._budget = budget
        question, self.formula = Discovery(budget).fixpoint(partial(self._encoded, options))
        self.formula.refuse_impossible_preconditions()
        self.cases = Cases(question, pair.open_names)
        if before is None:
            self.cases.make(options.seed)
        else:
            self.cases.take_over(before.cases)
        self._parameters = pair.signatures[1].parameters
        compares = options.return_as is not ReturnAs.VOID
        self._used = [n for n, _ in enumerate(self._parameters) if not compares or self.formula.depends_on(n)]
        self.constants = [*dict.fromkeys(_constants(question))]
        self._question = question

    def _encoded(self, options: Options, discovery: Discovery) -> tuple[Question, OpenFormula]:
        question = posed(self.pair.open(self.result), options, self._budget, discovery)
        return question, OpenFormula(question, self.pair.open_names, self._budget)

    def spaces(self, family: Family, depth: int, operators: Sequence[Operator]) -> list[Space]:
        """What each argument may be. One that the rewrite ignores is 0."""
        parameters = self.pair.typed_parameters
        found = []
        for number, parameter in enumerate(self._parameters):
            if number in self._used:
                found.append(argument_space(parameters, parameter.type, family, depth, operators))
            else:
                bits = parameter.type.bits
                found.append(Space(bits, (Constant(0, bits),), has_constants=False))
        return found

    def fits_always(self) -> bool:
        """Whether the rewrite does what the target does whatever its arguments are."""
        for number in _ANY_NUMBERS:
            arguments = [Constant(number % (1 << p.type.bits), p.type.bits) for p in self._parameters]
            if any(not self.cases.fits(case, arguments) for case in self.cases.found):
                return False
        return self.formula.verify_open() is Answer.UNSAT

    def adaptor(self, arguments: Sequence[Expression]) -> Adaptor:
        given = [(self._parameters[n].name, normal(arguments[n])) for n in self._used]
        return Adaptor(tuple(given), self.result)

    def learn(self, verdict: Different, arguments: Sequence[Expression] | None = None) -> None:
        """The witness of a difference is a case from now on, if it shows that these arguments do not fit."""
        inputs = verdict.witness.inputs
        case = self.cases.add((inputs, inputs))
        if case is not None and arguments is not None and self.cases.fits(case, arguments):
            self.cases.found.remove(case)

    def example(self, case: Case) -> Example:
        """The input, and what the target does there, with its result whether or not the question compares it."""
        contract, outcome, wanted = self._question.contract, case.outcome, self.pair.signatures[0].result
        said = how_it_ended(outcome)
        if outcome.status is Status.DONE and contract.results and contract.return_as is not ReturnAs.VOID:
            said = f"returns {contract.show_result(contract.result_value(outcome))}"
        elif outcome.status is Status.DONE and wanted.kind is not TypeKind.VOID:
            reading = place_signature(self.pair.machine, self.pair.signatures[0]).results
            value = replace(contract, return_as=ReturnAs.VALUE).result_value(outcome, reading)
            said = f"returns {shown_value(wanted, value)}"
        kinds = {p.name: p.type for p in self.pair.signatures[0].parameters}
        return Example({name: shown_value(kinds[name], value) for name, value in case.values.items()}, said)


def shown_value(ctype: CType, value: int) -> int | str:
    """A value of a type: a number with its sign, or a text for floating point."""
    if ctype.is_float:
        return show_float(value, ctype.bits)
    is_negative = ctype.signed and bool(value >> (ctype.bits - 1) & 1)
    return value - (1 << ctype.bits) if is_negative else value


def _constants(question: Question) -> Iterator[int]:
    """Numbers in the code of both, those of addresses and flags aside."""
    for function in (question.target, question.rewrite):
        for block in function.blocks.values():
            for op in block.ops:
                yield from (
                    var.offset for var in op.ins if var.space is MicroOpSpace.CONST and 1 < var.offset < 1 << 16
                )
