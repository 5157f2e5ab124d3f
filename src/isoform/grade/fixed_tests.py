"""Fixed inputs, the black-box tests of a course: read from a file, run on the reference and on a submission.

One test a line, values in the order of the parameters or as `name=value`; `#` starts a comment. Or a JSON list of
lists or objects. A test passes if the submission does what the reference does.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from isoform.borders.question import Question
from isoform.model.budget import Budget
from isoform.model.contract import Argument, Contract, SignatureSource
from isoform.model.errors import UserError
from isoform.model.grades import FailedTest, FixedTestResults
from isoform.model.outcome import Inputs, Outcome, Status
from isoform.model.placement import put_argument
from isoform.model.values import dataclass

FILE_LIMIT = 1 << 22
MOST_TESTS = 10_000
SHOWN_FAILURES = 10
_UNDECIDED = (Status.OUT_OF_FUEL, Status.UNSUPPORTED)


@dataclass(frozen=True)
class FixedTest:
    where: str
    """For messages: `tests.txt line 3`."""
    values: tuple[int, ...] = ()
    named: tuple[tuple[str, int], ...] = ()

    def arguments(self, arguments: Sequence[Argument]) -> tuple[int, ...]:
        """The value of each parameter."""
        names = [argument.name for argument in arguments]
        wanted = f"the reference takes {len(names)} ({', '.join(names) or 'none'})"
        if self.named:
            given = dict(self.named)
            if sorted(given) != sorted(names):
                raise UserError(f"{self.where} gives {', '.join(given)}, but {wanted}.")
            values = tuple(given[name] for name in names)
        elif len(self.values) != len(names):
            raise UserError(f"{self.where} gives {len(self.values)} values, but {wanted}.")
        else:
            values = self.values
        return tuple(self._fitting(value, argument) for value, argument in zip(values, arguments, strict=True))

    def _fitting(self, value: int, argument: Argument) -> int:
        bits = 8 * sum(place.size for place in argument.places)
        if not -(1 << (bits - 1)) <= value < 1 << bits:
            raise UserError(f"{self.where}: {value} does not fit the {bits} bits of {argument.name}.")
        return value & ((1 << bits) - 1)


# -- the file -------------------------------------------------------------------------------------


def read_tests(path: Path) -> tuple[FixedTest, ...]:
    try:
        if path.stat().st_size > FILE_LIMIT:
            raise UserError(f"--tests {path} is too large: {FILE_LIMIT >> 20} MiB is the most.")
        if not path.is_file():
            raise UserError(f"--tests {path} is not an ordinary file.")
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UserError(f"--tests {path} cannot be read: {error.strerror or error}.") from None
    except UnicodeDecodeError:
        raise UserError(f"--tests {path} is not text in UTF-8.") from None
    tests = tuple(_from_json(text, path) if text.lstrip().startswith("[") else _from_lines(text, path))
    if not tests:
        raise UserError(f"--tests {path} has no tests: write one a line, as in '3 -4' or '$1=3 $2=-4'.")
    if len(tests) > MOST_TESTS:
        raise UserError(f"--tests {path} has {len(tests)} tests: {MOST_TESTS} is the most.")
    return tests


def _from_lines(text: str, path: Path) -> Iterator[FixedTest]:
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split("#", 1)[0].replace(",", " ").split()
        if words:
            yield _from_words(words, f"{path} line {number}")


def _from_words(words: list[str], where: str) -> FixedTest:
    pairs = [word.partition("=") for word in words]
    if not any(equals for _, equals, _ in pairs):
        return FixedTest(where, tuple(_number(word, where) for word in words))
    if not all(name and equals for name, equals, _ in pairs):
        raise UserError(f"{where} mixes values and name=value: write one or the other, without spaces around '='.")
    return _named([(name, _number(value, where)) for name, _, value in pairs], where)


def _from_json(text: str, path: Path) -> Iterator[FixedTest]:
    try:
        items = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UserError(f"--tests {path} starts like JSON but is not: {error}.") from None
    for number, item in enumerate(items, start=1):
        where = f"{path} test {number}"
        if isinstance(item, dict):
            yield _named([(name, _json_number(value, where)) for name, value in item.items()], where)
        elif isinstance(item, list):
            yield FixedTest(where, tuple(_json_number(value, where) for value in item))
        else:
            raise UserError(f"{where} is neither a list of values nor an object of names and values.")


def _named(pairs: list[tuple[str, int]], where: str) -> FixedTest:
    if len({name for name, _ in pairs}) != len(pairs):
        raise UserError(f"{where} gives a parameter twice.")
    return FixedTest(where, named=tuple(pairs))


def _json_number(value: Any, where: str) -> int:
    if isinstance(value, str):
        return _number(value, where)
    if not isinstance(value, int) or isinstance(value, bool):
        raise UserError(f"{where}: {json.dumps(value)[:40]} is not a whole number.")
    return value


def _number(word: str, where: str) -> int:
    try:
        if len(word) > 80:
            raise ValueError
        return int(word, 0)
    except ValueError:
        raise UserError(f"{where}: '{word[:40]}' is not a number: they are decimal, 0x… or negative.") from None


# -- running them ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class BoundTest:
    """A test with its values where the convention puts them."""

    test: FixedTest
    inputs: Inputs
    shown: str


def bind_tests(tests: Sequence[FixedTest], contract: Contract) -> tuple[BoundTest, ...]:
    if tests and contract.source is SignatureSource.LIVENESS:
        raise UserError("--tests needs to know the parameters, and the reference does not say: give --signature.")
    return tuple(_bound(test, contract) for test in tests)


def _bound(test: FixedTest, contract: Contract) -> BoundTest:
    values = test.arguments(contract.arguments)
    registers: dict[str, int] = {}
    memory: dict[int, int] = {}
    for argument, value in zip(contract.arguments, values, strict=True):
        put_argument(contract.machine, argument, value, registers, memory, 0)
    given = test.values or tuple(dict(test.named)[a.name] for a in contract.arguments)
    shown = ", ".join(f"{a.name} = {value}" for a, value in zip(contract.arguments, given, strict=True))
    return BoundTest(test, Inputs(registers, memory), shown)


def refuse_useless_tests(tests: Sequence[BoundTest], question: Question) -> None:
    """A test that the reference itself cannot answer grades nobody. `question` has the reference on both sides."""
    for test in tests:
        if not question.admits(test.inputs):
            raise UserError(f"{test.test.where} is an input that --assume excludes: drop one of the two.")
        outcome, _ = question.run_both((test.inputs, test.inputs))
        if outcome.status in _UNDECIDED:
            ending = outcome_in_words(outcome, question)
            raise UserError(f"{test.test.where}: the reference {ending}: fix the test or raise --fuel.")


def run_fixed_tests(tests: Sequence[BoundTest], question: Question, budget: Budget) -> FixedTestResults:
    """How many pass. A submission that does not stop where the reference does has failed that test."""
    passed = ran = 0
    failures: list[FailedTest] = []
    for number, test in enumerate(tests, start=1):
        if budget.exhausted:
            break
        ran += 1
        failure = _failure(test, question)
        if failure is None:
            passed += 1
        elif len(failures) < SHOWN_FAILURES:
            failures.append(FailedTest(number, test.shown, *failure))
    return FixedTestResults(passed, ran, tuple(failures), ran == len(tests))


def separating_test(tests: Sequence[BoundTest], question: Question, budget: Budget) -> BoundTest | None:
    """The first test on which both stop and differ."""
    for test in tests:
        if budget.exhausted:
            return None
        if question.contract.differences(*question.run_both((test.inputs, test.inputs))):
            return test
    return None


def _failure(test: BoundTest, question: Question) -> tuple[str, str] | None:
    """What the reference does and what the submission does instead."""
    reference, submission = question.run_both((test.inputs, test.inputs))
    if submission.status in _UNDECIDED and reference.status not in _UNDECIDED:
        return outcome_in_words(reference, question), outcome_in_words(submission, question)
    differences = question.contract.differences(reference, submission)
    if not differences:
        return None
    first = differences[0]
    if first.what in ("return value", "how it ends"):
        return outcome_in_words(reference, question), outcome_in_words(submission, question)
    return f"{first.what}: {first.target}", f"{first.what}: {first.rewrite}"


def outcome_in_words(outcome: Outcome, question: Question) -> str:
    if outcome.status is Status.DONE:
        contract = question.contract
        if not contract.results:
            return "returns"
        return f"returns {contract.show_result(contract.result_value(outcome))}"
    if outcome.status is Status.OUT_OF_FUEL:
        return f"does not stop within {question.options.fuel} steps"
    if outcome.status is Status.EXITED:
        return f"calls {outcome.reason}"
    reason = f" ({outcome.reason})" if outcome.reason else ""
    return f"{'aborts' if outcome.status is Status.ABORTED else outcome.status.value}{reason}"


def tests_digest(tests: Sequence[FixedTest]) -> Sequence[Mapping[str, Any]]:
    """The tests without where they stand, for a key."""
    return [{"values": test.values, "named": test.named} for test in tests]
