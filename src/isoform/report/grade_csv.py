"""The rows of `isoform grade` as CSV: the same bytes for the same submissions, options and seed (no times, no order
of work). Cells are text from hostile files, so none may start a formula in a spreadsheet."""

from __future__ import annotations

import csv
from io import StringIO

from isoform.model.grades import Grades, Row, Standing
from isoform.report.grade_words import inputs_in_words, note_of
from isoform.report.terminal import printable

COLUMNS = (
    "submission",
    "file",
    "verdict",
    "inputs",
    "differs_in",
    "reference",
    "submission_does",
    "line",
    "tests_passed",
    "tests_run",
    "missed_by_tests",
    "same_code_as",
    "note",
)
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def grades_as_csv(grades: Grades) -> str:
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in grades.rows:
        writer.writerow([_cell(value) for value in _values(row)])
    return out.getvalue()


def _values(row: Row) -> tuple[str, ...]:
    answer = row.answer
    first = answer.observables[0] if answer.observables else None
    tests = answer.tests
    missed = "" if tests is None or answer.standing is not Standing.DIFFERENT else str(row.missed_by_tests).lower()
    return (
        row.name,
        row.path,
        answer.standing.value,
        inputs_in_words(answer),
        first.what if first else "",
        first.reference if first else "",
        first.submission if first else "",
        "" if row.line is None else str(row.line),
        "" if tests is None else str(tests.passed),
        "" if tests is None else str(tests.ran),
        missed,
        row.same_code_as or "",
        note_of(row),
    )


def _cell(value: str) -> str:
    value = printable(value)
    return f"'{value}" if value.startswith(_FORMULA) and not _is_number(value) else value


def _is_number(value: str) -> bool:
    """Also as reports write large ones: `-5 (0xfffffffb)`."""
    digits = value.partition(" (0x")[0]
    return digits.removeprefix("-").isdecimal()
