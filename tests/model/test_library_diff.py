"""Rows of a comparison of libraries: their order, the exit code, and that JSON keeps all of them."""

from __future__ import annotations

import json

import pytest

from isoform.model.library_diff import FunctionAnswer, FunctionPlace, LibraryDiff, Row, row_as_json, row_from_json


def place(name: str, size: int = 16) -> FunctionPlace:
    return FunctionPlace("lib.so", None, name, name, 0x1000, size, "a.c", 3, "00")


def row(name: str, answer: FunctionAnswer, size: int = 16, accepted: str | None = None) -> Row:
    old, new = place(name, size), place(name, size)
    return Row(
        None if answer is FunctionAnswer.ADDED else old,
        None if answer is FunctionAnswer.REMOVED else new,
        answer,
        accepted=accepted,
    )


def diff(*rows: Row, complete: bool = True) -> LibraryDiff:
    return LibraryDiff("old.so", "new.so", rows, 0.0, {}, complete)


def test_what_a_person_wants_first() -> None:
    rows = [
        row("same", FunctionAnswer.IDENTICAL),
        row("small", FunctionAnswer.UNKNOWN, 8),
        row("proved", FunctionAnswer.EQUIVALENT),
        row("large", FunctionAnswer.BOUNDED, 800),
        row("new", FunctionAnswer.ADDED),
        row("caller", FunctionAnswer.AFFECTED),
        row("bug", FunctionAnswer.DIFFERENT),
    ]
    shown = [one.name for one in diff(*rows).ordered]
    assert shown == ["bug", "caller", "large", "small", "new", "proved", "same"]
    assert diff(*rows).counts == {one: 1 for one in FunctionAnswer if one is not FunctionAnswer.REMOVED}


@pytest.mark.parametrize(
    ("answers", "complete", "code"),
    [
        ((FunctionAnswer.IDENTICAL, FunctionAnswer.EQUIVALENT, FunctionAnswer.ADDED, FunctionAnswer.REMOVED), True, 0),
        ((FunctionAnswer.IDENTICAL, FunctionAnswer.UNKNOWN), True, 3),
        ((FunctionAnswer.BOUNDED,), True, 3),
        ((FunctionAnswer.AFFECTED,), True, 3),
        ((FunctionAnswer.IDENTICAL,), False, 3),
        ((FunctionAnswer.UNKNOWN, FunctionAnswer.DIFFERENT), True, 1),
    ],
)
def test_exit_code(answers: tuple[FunctionAnswer, ...], complete: bool, code: int) -> None:
    assert diff(*(row("f", answer) for answer in answers), complete=complete).exit_code == code


def test_what_is_accepted_is_no_reason_to_fail() -> None:
    assert diff(row("f", FunctionAnswer.DIFFERENT, accepted="it is meant")).exit_code == 0


def test_json_keeps_every_row() -> None:
    for answer in FunctionAnswer:
        kept = row("f", answer)
        assert row_from_json(json.loads(json.dumps(row_as_json(kept)))) == kept
