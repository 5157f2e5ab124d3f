"""Rows of a comparison of libraries: their order, the exit code, and that JSON keeps all of them."""

from __future__ import annotations

import json

import pytest

from isoform.model.library_diff import Answer, LibraryDiff, Place, Row, row_as_json, row_from_json


def place(name: str, size: int = 16) -> Place:
    return Place("lib.so", None, name, name, 0x1000, size, "a.c", 3, "00")


def row(name: str, answer: Answer, size: int = 16, accepted: str | None = None) -> Row:
    old, new = place(name, size), place(name, size)
    return Row(
        None if answer is Answer.ADDED else old, None if answer is Answer.REMOVED else new, answer, accepted=accepted
    )


def diff(*rows: Row, complete: bool = True) -> LibraryDiff:
    return LibraryDiff("old.so", "new.so", rows, 0.0, {}, complete)


def test_what_a_person_wants_first() -> None:
    rows = [
        row("same", Answer.IDENTICAL),
        row("small", Answer.UNKNOWN, 8),
        row("proved", Answer.EQUIVALENT),
        row("large", Answer.BOUNDED, 800),
        row("new", Answer.ADDED),
        row("caller", Answer.AFFECTED),
        row("bug", Answer.DIFFERENT),
    ]
    shown = [one.name for one in diff(*rows).ordered]
    assert shown == ["bug", "caller", "large", "small", "new", "proved", "same"]
    assert diff(*rows).counts == {one: 1 for one in Answer if one is not Answer.REMOVED}


@pytest.mark.parametrize(
    ("answers", "complete", "code"),
    [
        ((Answer.IDENTICAL, Answer.EQUIVALENT, Answer.ADDED, Answer.REMOVED), True, 0),
        ((Answer.IDENTICAL, Answer.UNKNOWN), True, 3),
        ((Answer.BOUNDED,), True, 3),
        ((Answer.AFFECTED,), True, 3),
        ((Answer.IDENTICAL,), False, 3),
        ((Answer.UNKNOWN, Answer.DIFFERENT), True, 1),
    ],
)
def test_exit_code(answers: tuple[Answer, ...], complete: bool, code: int) -> None:
    assert diff(*(row("f", answer) for answer in answers), complete=complete).exit_code == code


def test_what_is_accepted_is_no_reason_to_fail() -> None:
    assert diff(row("f", Answer.DIFFERENT, accepted="it is meant")).exit_code == 0


def test_json_keeps_every_row() -> None:
    for answer in Answer:
        kept = row("f", answer)
        assert row_from_json(json.loads(json.dumps(row_as_json(kept)))) == kept
