"""Cases: concrete inputs with what the target does on them, and what the rewrite must then do."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field, replace
from itertools import islice

from isoform.borders.convention import place_signature
from isoform.borders.question import Question
from isoform.engines.bools import rests_on_bools
from isoform.engines.inputs import InputMaker
from isoform.engines.open_bytes import OPEN_BYTES
from isoform.engines.separate import are_certain, differs, in_own_frame, is_stack_argument, shows_frame
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
FILLS = (0, 1)
"""Contents of memory with which it is tried whether the target depends on a parameter. In the second, an index into a
table shows."""
MOST_VALUES = 3
"""Values of a parameter that are tried for this."""
MOST_READ = 256
"""Bytes that the rewrite reads in a case and that its formula knows."""
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
    needed: list[str] = field(default_factory=list)
    """Parameters of the target on which some argument of the rewrite must depend."""
    _read: dict[int, dict[int, None]] = field(default_factory=dict)
    """By the identity of a case: addresses that the rewrite read in runs of it."""

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

    def add(self, inputs: InputPair, fills_differ: bool = False) -> Case | None:
        """The case of these inputs, unless it decides nothing or is there already. `fills_differ`: whether inputs with
        other contents of the memory that they do not name are another case."""
        values = {argument.name: argument_value(argument, inputs[0]) for argument in self._own}
        outcome = self._of_target(inputs[0])
        if outcome is None:
            return None
        case = Case(inputs, values, outcome)
        same = (one for one in self.found if one.values == values and one.inputs[0].memory == inputs[0].memory)
        if any(not fills_differ or one.inputs[0].fill_seed == inputs[0].fill_seed for one in same):
            return None
        self.found.append(case)
        return case

    def _of_target(self, inputs: Inputs) -> Outcome | None:
        """What the target does; None if that is not certain: then nothing can be held against it."""
        question = self.question
        options = replace(question.run_options(0), record_reads=True)
        outcome = run(question.programs[0], inputs, options, question.callees)
        if outcome.status in (Status.OUT_OF_FUEL, Status.UNSUPPORTED):
            return None
        if outcome.outside and question.contract.bounds is BoundsRule.ASSUME:
            return None
        others = (replace(inputs, side_seed=-byte) for byte in OPEN_BYTES)
        again = (run(question.programs[0], one, options, question.callees) for one in others)
        if any(question.differences(outcome, one) or not _is_same_result(question, outcome, one) for one in again):
            return None  # it depends on values that are undefined
        return outcome

    def take_over(self, others: Cases) -> None:
        """The cases of another question about the same target, and what they showed."""
        for case in others.found:
            self.add(case.inputs, fills_differ=True)
        if others.question.contract.return_as is self.question.contract.return_as:
            self.needed = [*others.needed]

    def with_fill(self, case: Case, seed: int) -> Case | None:
        """The same case with other contents of the memory that its input does not name."""
        left, right = (replace(one, fill_seed=seed) for one in case.inputs)
        return self.add((left, right), fills_differ=True) if self.question.admits(left) else None

    # -- parameters that must be passed on --------------------------------------------------------

    def find_needed(self, case: Case) -> None:
        """Note parameters on which the target depends, as two runs show that are the same in all else. If no argument
        of the rewrite depended on such a parameter, it would do the same in both."""
        for argument in self._own:
            if argument.name not in self.needed and self._depends_on(case, argument):
                self.needed.append(argument.name)

    def _depends_on(self, case: Case, argument: Argument) -> bool:
        others = dict.fromkeys(one.values[argument.name] for one in self.found)
        values = [value for value in others if value != case.values[argument.name]][:MOST_VALUES]
        for fill in dict.fromkeys((case.inputs[0].fill_seed, *FILLS)):
            first = replace(case.inputs[0], fill_seed=fill)
            seen = self._certain(first)
            if seen is None:
                continue
            for value in values:
                registers, memory = dict(first.registers), dict(first.memory)
                _put(self.question, argument, value, registers, memory)
                other = self._certain(replace(first, registers=registers, memory=memory))
                if other is not None and self.question.contract.of(0).differences(seen, other):
                    return True
        return False

    def _certain(self, inputs: Inputs) -> Outcome | None:
        """What the target does, if nothing that is made up has a part in it."""
        question = self.question
        if not question.admits(inputs) or rests_on_bools(question, (inputs, inputs)):
            return None
        outcome = self._of_target(inputs)
        if outcome is None or outcome.status is not Status.DONE:
            return None
        if outcome.calls or outcome.results or outcome.overlaps or shows_frame(question.contract.of(0), outcome):
            return None
        touched = (*outcome.reads, *outcome.writes)
        is_valid = all(
            LOWEST_ADDRESS <= at < HIGHEST_ADDRESS and not in_own_frame(question, at)
            for at in touched
            if not is_stack_argument(question, at)
        )
        return outcome if is_valid else None

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

    def misuses_memory(self, case: Case, arguments: Sequence[Expression]) -> bool:
        """Whether the rewrite, called with these arguments, uses memory there that no program may use, where the target
        does not."""
        if case.outcome.status is not Status.DONE or not _is_usable(case.outcome):
            return False
        question = self.question
        options = replace(question.run_options(1), record_reads=True)
        inputs = self._passed(case, arguments)[1]
        return not _is_usable(run(question.programs[1], inputs, options, question.callees))

    def also_read(self, case: Case) -> Collection[int]:
        """Addresses that the rewrite read there, with any of the arguments that were noted. What is there refutes other
        arguments, too: all numbers that are compared with it, say."""
        return self._read.get(id(case), {})

    def note_reads(self, case: Case, arguments: Sequence[Expression]) -> bool:
        """Note what the rewrite, called with these arguments, reads there; whether that is new."""
        question, known = self.question, self._read.setdefault(id(case), {})
        options = replace(question.run_options(1), record_reads=True)
        outcome = run(question.programs[1], self._passed(case, arguments)[1], options, question.callees)
        new = [at for at in sorted(outcome.reads) if at not in known and self._is_input(at)][: MOST_READ - len(known)]
        known.update(dict.fromkeys(new))
        return bool(new)

    def _is_input(self, address: int) -> bool:
        """Whether the contents there come from the input: not from a constant of a file, nor from a frame."""
        images = self.question.target.image, self.question.rewrite.image
        sections = (image.section_at(image.own_address(address)) for image in images)
        constant = any(section is not None and not section.writable for section in sections)
        return not constant and not in_own_frame(self.question, address)

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


def _is_usable(outcome: Outcome) -> bool:
    return all(LOWEST_ADDRESS <= address < HIGHEST_ADDRESS for address in (*outcome.reads, *outcome.writes))


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
