"""What is known about one submission, as plain values that survive a pipe and a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, field
from enum import Enum
from typing import Any

from isoform.model.cause_groups import CauseGroup, CauseLabel, grouped
from isoform.model.presenting import presenter
from isoform.model.values import dataclass


class Standing(Enum):
    """The result for a submission: one of the four verdicts, or why there is none."""

    EQUIVALENT = "equivalent"
    DIFFERENT = "different"
    BOUNDED = "bounded"
    UNKNOWN = "unknown"
    REJECTED = "rejected"
    """It does not assemble or compile, or has not the function asked for."""
    NO_ANSWER = "no answer"
    """It was stopped at its limit of time or memory."""
    CRASHED = "crashed"
    """The process that examined it ended without an answer: a bug in isoform."""


@dataclass(frozen=True)
class Observable:
    what: str
    reference: str
    submission: str


@dataclass(frozen=True)
class FailedTest:
    number: int
    """From 1, in the order of the file."""
    given: str
    reference: str
    submission: str


@dataclass(frozen=True)
class FixedTestResults:
    passed: int
    ran: int
    failures: tuple[FailedTest, ...] = ()
    """The first few."""
    complete: bool = True
    """Whether there was time for all of them."""

    @property
    def all_passed(self) -> bool:
        return self.complete and self.passed == self.ran


@dataclass(frozen=True)
class CodeLine:
    """One line of a listing: of the source where there is one line for each instruction, else of the disassembly."""

    label: str
    """Line number or offset."""
    text: str
    times: int = 0
    """How often it was executed on the separating input."""
    divergent: bool = False
    is_code: bool = True


@dataclass(frozen=True)
class GradedAnswer:
    """The answer about one piece of code. Addresses stay addresses: the same code may come from other text."""

    standing: Standing
    why: str = ""
    engine: str = ""
    seconds: float = 0.0
    inputs: tuple[tuple[str, str], ...] = ()
    memory: tuple[str, ...] = ()
    """Input memory that the difference depends on."""
    observables: tuple[Observable, ...] = ()
    replayed_on: tuple[str, ...] = ()
    assumptions: tuple[tuple[str, str], ...] = ()
    executed: tuple[tuple[int, int], ...] = ()
    """Address of an instruction of the submission, and how often the separating input executes it."""
    divergent: int | None = None
    """Address of the submission's instruction where the difference shows first."""
    divergence: str = ""
    """What that instruction does."""
    not_stopping: str = ""
    """Inputs on which the reference stops and the submission has not within the step bound."""
    listing: tuple[CodeLine, ...] = ()
    tests: FixedTestResults | None = None
    cause: CauseLabel | None = None
    """Of a difference, if it was found."""

    @property
    def is_final(self) -> bool:
        """Whether more time could not help."""
        decided = self.standing in (Standing.EQUIVALENT, Standing.DIFFERENT, Standing.REJECTED)
        return decided and (self.tests is None or self.tests.complete)

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "standing": self.standing.value}


def answer_from_json(data: Mapping[str, Any]) -> GradedAnswer:
    """Raises KeyError, TypeError or ValueError where `data` is not what `to_json` gives."""
    tests = data["tests"]
    return GradedAnswer(
        standing=Standing(data["standing"]),
        why=_text(data["why"]),
        engine=_text(data["engine"]),
        seconds=float(data["seconds"]),
        inputs=_pairs(data["inputs"]),
        memory=tuple(_text(line) for line in data["memory"]),
        observables=tuple(Observable(**_texts(item)) for item in data["observables"]),
        replayed_on=tuple(_text(name) for name in data["replayed_on"]),
        assumptions=_pairs(data["assumptions"]),
        executed=tuple((_number(address), _number(times)) for address, times in data["executed"]),
        divergent=None if data["divergent"] is None else _number(data["divergent"]),
        divergence=_text(data["divergence"]),
        not_stopping=_text(data["not_stopping"]),
        listing=tuple(_code_line(item) for item in data["listing"]),
        tests=None if tests is None else _tests(tests),
        cause=None if data["cause"] is None else CauseLabel(**_texts(data["cause"])),
    )


@dataclass(frozen=True)
class Prepared:
    """A submission that was read, before it is compared."""

    key: str
    """Digest of the code: submissions with the same are answered once."""
    source: tuple[str, ...] = ()
    """Its text, where every instruction has a line of its own."""
    lines: Mapping[int, int] = field(default_factory=dict)
    """Address to line number."""

    def to_json(self) -> dict[str, Any]:
        return {"key": self.key, "source": self.source, "lines": sorted(self.lines.items())}


def prepared_from_json(data: Mapping[str, Any]) -> Prepared:
    lines = {_number(address): _number(number) for address, number in data["lines"]}
    return Prepared(_text(data["key"]), tuple(_text(line) for line in data["source"]), lines)


def _tests(data: Mapping[str, Any]) -> FixedTestResults:
    failures = tuple(
        FailedTest(_number(f["number"]), _text(f["given"]), _text(f["reference"]), _text(f["submission"]))
        for f in data["failures"]
    )
    return FixedTestResults(_number(data["passed"]), _number(data["ran"]), failures, bool(data["complete"]))


def _code_line(data: Mapping[str, Any]) -> CodeLine:
    marks = (bool(data["divergent"]), bool(data["is_code"]))
    return CodeLine(_text(data["label"]), _text(data["text"]), _number(data["times"]), *marks)


def _pairs(items: Sequence[Any]) -> tuple[tuple[str, str], ...]:
    return tuple((_text(name), _text(value)) for name, value in items)


def _texts(data: Mapping[str, Any]) -> dict[str, str]:
    return {key: _text(value) for key, value in data.items()}


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _number(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError
    return value


@dataclass(frozen=True)
class Row:
    """One submission in a report."""

    name: str
    path: str
    answer: GradedAnswer
    line: int | None = None
    """Source line of the divergent instruction, where source has a line for each."""
    listing: tuple[CodeLine, ...] = ()
    same_code_as: str | None = None
    """The first submission, by name, that has the same code."""

    @property
    def missed_by_tests(self) -> bool:
        """Whether it passes every fixed test although it is wrong."""
        tests = self.answer.tests
        return self.answer.standing is Standing.DIFFERENT and tests is not None and tests.all_passed


@dataclass(frozen=True)
class Grades:
    reference: str
    function: str
    folder: str
    rows: tuple[Row, ...]
    """By name."""
    total: int
    """Submissions found: more than there are rows if it was interrupted."""
    tests: int
    """How many fixed tests there are."""
    seconds: float
    resumed: int = 0
    """Rows whose answer was kept from an earlier run."""
    state: str | None = None

    @property
    def interrupted(self) -> bool:
        return len(self.rows) < self.total

    def counts(self) -> dict[Standing, int]:
        found = Counter(row.answer.standing for row in self.rows)
        return {standing: found[standing] for standing in Standing if found[standing]}

    def causes(self) -> tuple[CauseGroup, ...]:
        """Submissions with the same cause, as groups."""
        return grouped((row.name, row.answer.cause) for row in self.rows)

    def to_json(self) -> dict[str, Any]:
        return presenter().grades_as_json(self)
