"""The rows of `isoform grade` in a terminal: fitted to its width there, one line a row where output is piped."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterator
from typing import TextIO

from isoform.model.grades import Grades, Row, Standing
from isoform.report.grade_words import (
    SYMBOLS,
    causes_in_words,
    missed_in_words,
    note_of,
    summary_of_grades,
    tests_in_words,
    time_of_grades,
)
from isoform.report.summary import duration
from isoform.report.terminal import Span, Spans, print_lines, printable

STYLES = {
    Standing.EQUIVALENT: "equivalent",
    Standing.DIFFERENT: "different",
    Standing.BOUNDED: "bounded",
    Standing.UNKNOWN: "unknown",
    Standing.REJECTED: "unknown",
    Standing.NO_ANSWER: "unknown",
    Standing.CRASHED: "unknown",
}
NARROWEST_NAME = 12
NARROWEST_NOTE = 24


def print_grades(grades: Grades, quiet: bool = False, stream: TextIO | None = None) -> None:
    stream = stream if stream is not None else sys.stdout
    width = shutil.get_terminal_size((100, 24)).columns if stream.isatty() else None
    table = [] if quiet else [*_table(grades, width), ()]
    print_lines([*table, *_closing(grades)], stream)


def _table(grades: Grades, width: int | None) -> Iterator[Spans]:
    if not grades.rows:
        return
    names = [printable(row.name) for row in grades.rows]
    widest = max(map(len, names))
    name = min(widest, max(width // 5, NARROWEST_NAME)) if width is not None else widest
    word = max(len(row.answer.standing.value) for row in grades.rows)
    tests = max(len(tests_in_words(row)) for row in grades.rows)
    before = name + 2 + word + 2 + 2 + (tests + 2 if tests else 0) + 8 + 2
    room = max(width - before - 1, NARROWEST_NOTE) if width is not None else None
    for shown, row in zip(names, grades.rows, strict=True):
        yield from _row(row, _cut(shown, name), (name, word, tests), before, room)


def _row(row: Row, name: str, widths: tuple[int, int, int], before: int, room: int | None) -> Iterator[Spans]:
    standing = row.answer.standing
    note = printable(note_of(row))
    lines = textwrap.wrap(note, room, break_on_hyphens=False) if room is not None else [note]
    first, *others = lines or [""]
    tests = f"{tests_in_words(row):>{widths[2]}}  " if widths[2] else ""
    yield (
        Span(f"{SYMBOLS[standing]} {standing.value:<{widths[1]}}  ", STYLES[standing]),
        Span(f"{name:<{widths[0]}}  ", "name"),
        Span(tests, "different" if row.missed_by_tests else ""),
        Span(f"{duration(row.answer.seconds):>8}  ", "dim"),
        Span(first),
    )
    for line in others:
        yield (Span(" " * before), Span(line))


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _closing(grades: Grades) -> Iterator[Spans]:
    yield (Span(summary_of_grades(grades), "name"), Span(f"   {time_of_grades(grades)}", "dim"))
    missed = missed_in_words(grades)
    if missed:
        yield (Span(missed),)
    yield from ((Span(line),) for line in causes_in_words(grades))
