"""Cases: concrete inputs with what the target does on them, and what the rewrite must then do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from itertools import islice

from isoform.borders.convention import place_signature
from isoform.borders.question import Question
from isoform.engines.inputs import InputMaker
from isoform.engines.separate import OPEN_BYTES, are_certain, differs
from isoform.model.contract import Argument, BoundsRule, Reading, ReturnAs, argument_value
from isoform.model.expression import Expression, evaluate
from isoform.model.outcome import Inputs, Outcome, Status
from isoform.model.outcome import Pair as InputPair
from isoform.model.placement import put_argument
from isoform.model.values import dataclass
from isoform.run.runner import run
from isoform.sym.validity import HIGHEST_ADDRESS, LOWEST_ADDRESS

FIRST_CASES = 12
"""Made-up inputs that a search begins with."""
MOST_TRIED = 400
"""Of which so many are tried: preconditions may exclude most."""
UNCERTAIN = "some results rest on undefined values or outside functions, of which runs show one possibility only"
"""Why a family that is searched by runs has not excluded everything."""


@dataclass(frozen=True)
class Case:
    inputs: InputPair
    values: Mapping[str, int]
    """Of the target's parameters."""
    outcome: Outcome
    """Of the target."""


@dataclass
class Cases:
    """The open question on concrete inputs."""

    question: Question
    open_names: Sequence[str]
    found: list[Case] = field(default_factory=list)

    def __post_init__(self) -> None:
        arguments = {argument.name: argument for argument in self.question.contract.arguments}
        self._open = [arguments[name] for name in self.open_names]
        self._own = [argument for name, argument in arguments.items() if name not in set(self.open_names)]

    def make(self, seed: int) -> None:
        """The first ones: boundary values, and random ones. Memory is zero in some of them only."""
        maker = InputMaker(self.question.contract, seed)
        for inputs in islice(maker, MOST_TRIED):
            if len(self.found) >= FIRST_CASES:
                break
            if self.question.admits(inputs[0]):
                self.add(inputs)

    def add(self, inputs: InputPair) -> Case | None:
        """The case of these inputs, unless it decides nothing or is there already."""
        values = {argument.name: argument_value(argument, inputs[0]) for argument in self._own}
        question = self.question
        options = replace(question.run_options(0), record_reads=True)
        outcome = run(question.programs[0], inputs[0], options, question.callees)
        if outcome.status in (Status.OUT_OF_FUEL, Status.UNSUPPORTED):
            return None
        if outcome.outside and question.contract.bounds is BoundsRule.ASSUME:
            return None
        others = (replace(inputs[0], side_seed=-byte) for byte in OPEN_BYTES)
        again = (run(question.programs[0], one, options, question.callees) for one in others)
        if any(question.differences(outcome, one) or not _is_same_result(question, outcome, one) for one in again):
            return None  # it depends on values that are undefined: nothing can be held against it
        case = Case(inputs, values, outcome)
        if any(one.values == values and one.inputs[0].memory == inputs[0].memory for one in self.found):
            return None
        self.found.append(case)
        return case

    def fits(self, case: Case, arguments: Sequence[Expression]) -> bool:
        """Whether the rewrite, called with these arguments, does there what the target does. True where that is not
        decided."""
        if self.seems_to_fit(case, arguments):
            return True
        # What a run shows may be an undefined value, padding, or an address: the engines know what counts.
        left, right = self._passed(case, arguments)
        alike = ((replace(left, side_seed=-byte), replace(right, side_seed=-byte)) for byte in OPEN_BYTES)
        return not any(differs(self.question, inputs) for inputs in alike)

    def seems_to_fit(self, case: Case, arguments: Sequence[Expression]) -> bool:
        """The same by one run alone, which is quick: False may be wrong."""
        return not self.question.differences(case.outcome, self.outcome(case, arguments))

    def keeps_to_memory(self, case: Case, arguments: Sequence[Expression]) -> bool:
        """Whether the rewrite, called with these arguments, uses no memory there that no program may use."""
        question = self.question
        options = replace(question.run_options(1), record_reads=True)
        outcome = run(question.programs[1], self._passed(case, arguments)[1], options, question.callees)
        return all(LOWEST_ADDRESS <= address < HIGHEST_ADDRESS for address in (*outcome.reads, *outcome.writes))

    def are_certain(self, case: Case, arguments: Sequence[Expression], readings: Sequence[Reading]) -> bool:
        """Whether what the two return there rests on nothing that is undefined or made up."""
        return are_certain(self.question, self._passed(case, arguments), readings)

    def outcome(self, case: Case, arguments: Sequence[Expression]) -> Outcome:
        """What the rewrite, called with these arguments, does there."""
        question = self.question
        inputs = self._passed(case, arguments)[1]
        return run(question.programs[1], inputs, question.run_options(1), question.callees)

    def _passed(self, case: Case, arguments: Sequence[Expression]) -> InputPair:
        left, right = case.inputs
        registers, memory = dict(right.registers), dict(right.memory)
        for argument, expression in zip(self._open, arguments, strict=True):
            _put(self.question, argument, evaluate(expression, case.values), registers, memory)
        # Both sides have the same inputs; the target does not look at the arguments of the rewrite.
        return replace(left, registers=registers, memory=memory), replace(right, registers=registers, memory=memory)


def _put(question: Question, argument: Argument, value: int, registers: dict[str, int], memory: dict[int, int]) -> None:
    put_argument(question.contract.machine, argument, value, registers, memory, 0)


def entry_values(question: Question, inputs: Inputs) -> dict[str, int]:
    """What every container that is an input holds at entry."""
    machine = question.contract.machine
    skip = {*machine.initial, machine.convention.stack_pointer, machine.convention.return_address}
    return {name: inputs.registers.get(name, 0) for name in machine.containers if name not in skip}


def _is_same_result(question: Question, one: Outcome, other: Outcome) -> bool:
    """Whether two runs of the target give the same result, whether or not it is compared."""
    contract = question.contract
    if contract.signature is None:
        return True
    results = place_signature(contract.machine, contract.signature).results
    plain = replace(contract, return_as=ReturnAs.VALUE)
    return plain.result_value(one, results) == plain.result_value(other, results)
