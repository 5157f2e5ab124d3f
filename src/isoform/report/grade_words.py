"""What a report of `isoform grade` says in words, apart from how it looks."""

from __future__ import annotations

from collections.abc import Iterator

from isoform.model.grades import GradedAnswer, Grades, Row, Standing
from isoform.report.summary import duration

SYMBOLS = {
    Standing.EQUIVALENT: "✓",
    Standing.DIFFERENT: "✗",
    Standing.BOUNDED: "~",
    Standing.UNKNOWN: "?",
    Standing.REJECTED: "!",
    Standing.NO_ANSWER: "!",
    Standing.CRASHED: "!",
}
MOST_NAMED = 5


def inputs_in_words(answer: GradedAnswer) -> str:
    return ", ".join(f"{name} = {value}" for name, value in answer.inputs)


def tests_in_words(row: Row) -> str:
    tests = row.answer.tests
    return f"{tests.passed}/{tests.ran}" if tests is not None else ""


def where_in_words(row: Row) -> str:
    """The place of the divergent instruction."""
    if row.line is not None:
        return f"line {row.line}"
    return next((f"at {line.label}" for line in row.listing if line.divergent), "")


def note_of(row: Row) -> str:
    """The one thing to know about a row."""
    answer = row.answer
    if answer.standing is Standing.DIFFERENT:
        note = _difference(row)
    elif answer.not_stopping:
        note = f"does not stop where the reference does: {answer.not_stopping}"
    elif answer.standing is Standing.EQUIVALENT:
        note = ""
    else:
        note = answer.why.splitlines()[0] if answer.why else ""
    same = f"same code as {row.same_code_as}" if row.same_code_as is not None else ""
    return "; ".join(part for part in (note.removesuffix("."), same) if part)


def _difference(row: Row) -> str:
    answer = row.answer
    tests = answer.tests
    given = inputs_in_words(answer) or "every input"
    outcome = ""
    if answer.observables:
        first = answer.observables[0]
        what = "" if first.what in ("return value", "how it ends") else f"{first.what}: "
        outcome = f": {what}reference {first.reference}, submission {first.submission}"
    missed = f"passes all {tests.ran} tests, but " if row.missed_by_tests and tests is not None else ""
    where = where_in_words(row)
    return f"{missed}differs on {given}{outcome}" + (f" ({where})" if where else "")


def summary_of_grades(grades: Grades) -> str:
    """`12 submissions: 3 equivalent, …`."""
    done = len(grades.rows)
    counted = f"{done} of {grades.total} submissions" if grades.interrupted else _plural(done, "submission")
    parts = ", ".join(f"{count} {standing.value}" for standing, count in grades.counts().items())
    return f"{counted}: {parts}" if parts else counted


def time_of_grades(grades: Grades) -> str:
    kept = f", {grades.resumed} kept from before" if grades.resumed else ""
    return duration(grades.seconds) + kept


def missed_in_words(grades: Grades) -> str:
    """What fixed tests did not see."""
    if not grades.tests:
        return ""
    names = [row.name for row in grades.rows if row.missed_by_tests]
    tests = _plural(grades.tests, "test")
    if not names:
        return f"No submission that passes all of the {tests} was found to differ."
    shown = ", ".join(names[:MOST_NAMED]) + (f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else "")
    whose = "submission passes" if len(names) == 1 else "submissions pass"
    return f"{len(names)} {whose} all of the {tests} and yet {'differs' if len(names) == 1 else 'differ'}: {shown}."


def _plural(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def causes_in_words(grades: Grades) -> Iterator[str]:
    """A line for each cause that several submissions share, with one example."""
    shared = [group for group in grades.causes() if len(group.members) > 1]
    if shared:
        yield "Submissions with the same cause:"
    for group in shared:
        names = ", ".join(group.members[:MOST_NAMED]) + (" …" if len(group.members) > MOST_NAMED else "")
        yield f"  {len(group.members)} × {group.kind}, reference {group.place}: {names}"
        yield f"      e.g. {group.example}"
