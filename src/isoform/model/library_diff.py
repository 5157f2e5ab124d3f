"""Which functions of a library changed what they do: one row for each function."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields, replace
from enum import StrEnum
from typing import Any

from isoform.model.values import dataclass


class FunctionAnswer(StrEnum):
    """What was found out about one function, in the order in which a person wants to see it."""

    DIFFERENT = "different"
    """There is an input on which the two do different things; it was replayed."""
    AFFECTED = "affected"
    """Undecided, and a function that it calls differs (or is affected itself)."""
    UNKNOWN = "unknown"
    BOUNDED = "bounded"
    """No difference within a bound."""
    ADDED = "added"
    REMOVED = "removed"
    EQUIVALENT = "equivalent"
    """They do the same on every input: proved by an engine."""
    IDENTICAL = "identical"
    """The same instructions, and everything that these name is the same."""


SETTLED = (FunctionAnswer.EQUIVALENT, FunctionAnswer.IDENTICAL)
OPEN = (FunctionAnswer.AFFECTED, FunctionAnswer.UNKNOWN, FunctionAnswer.BOUNDED)
_ORDER = {
    answer: place
    for place, answer in enumerate((FunctionAnswer.DIFFERENT, FunctionAnswer.AFFECTED, FunctionAnswer.UNKNOWN))
}
_ORDER |= {FunctionAnswer.BOUNDED: _ORDER[FunctionAnswer.UNKNOWN], FunctionAnswer.ADDED: 3, FunctionAnswer.REMOVED: 4}
_ORDER |= {FunctionAnswer.EQUIVALENT: 5, FunctionAnswer.IDENTICAL: 6}


@dataclass(frozen=True)
class FunctionPlace:
    """One function of one file."""

    path: str
    member: str | None
    """In an archive or a package: the file in there."""
    name: str
    """As the symbol is spelled."""
    shown: str
    """As a person writes it: C++ names are demangled."""
    address: int
    """In the file: an address of a linked file, an offset in the section of an object file."""
    size: int
    source_file: str | None = None
    source_line: int | None = None
    digest: str = ""
    """If it was asked about: of its code and of all that its answer depends on. Else of its own code, or empty."""

    @property
    def file(self) -> str:
        """The file, with the member where there is one."""
        return self.path if self.member is None else f"{self.path}:{self.member}"


@dataclass(frozen=True)
class Row:
    """One function, in both versions or in one of them."""

    old: FunctionPlace | None
    new: FunctionPlace | None
    answer: FunctionAnswer
    how_matched: str = ""
    """Why these two belong together, as a short phrase."""
    confidence: float = 1.0
    """How sure that is: 0 to 1."""
    why: str = ""
    """One sentence."""
    seconds: float = 0.0
    affected_by: tuple[str, ...] = ()
    """Functions that it calls and that differ."""
    verdict: Mapping[str, Any] | None = None
    """The object that `compare --json` prints."""
    listings: Mapping[str, Any] | None = None
    """Of a difference: `{"target": LISTING, "rewrite": LISTING}`. A LISTING is a list of lines, by address:
    `{"address": int, "text": str, "file": str | null, "line": int | null, "on_path": bool, "is_cause": bool}`, where
    `on_path` says whether the run of the witness executes the instruction. `target_path` and `rewrite_path`, where
    present, are the addresses that it executes, in order."""
    accepted: str | None = None
    """Why the difference is meant, in the words of the file of accepted ones."""
    is_kept: bool = False
    """Whether the answer is from the store."""

    @property
    def place(self) -> FunctionPlace:
        """The new one, if there is one."""
        found = self.new or self.old
        assert found is not None
        return found

    @property
    def name(self) -> str:
        """What the function is called, by both names if they differ."""
        if self.old is None or self.new is None or self.old.shown == self.new.shown:
            return self.place.shown
        return f"{self.old.shown} → {self.new.shown}"

    @property
    def size(self) -> int:
        return max(place.size for place in (self.old, self.new) if place is not None)

    @property
    def is_open(self) -> bool:
        return self.answer in OPEN and self.accepted is None

    @property
    def is_different(self) -> bool:
        """Whether it differs, and nobody said that this is meant."""
        return self.answer is FunctionAnswer.DIFFERENT and self.accepted is None


@dataclass(frozen=True)
class LibraryDiff:
    old: str
    new: str
    rows: tuple[Row, ...]
    seconds: float
    options: Mapping[str, Any]
    complete: bool
    """False if the time was up, or the command interrupted, before everything was asked."""
    why_ended: str = ""

    @property
    def counts(self) -> dict[FunctionAnswer, int]:
        """By answer; those that no row has are left out."""
        return {answer: n for answer in FunctionAnswer if (n := sum(row.answer is answer for row in self.rows))}

    @property
    def ordered(self) -> tuple[Row, ...]:
        """As a person wants them: differences, what they affect, then what is open with the largest first, then the
        rest by name."""
        return tuple(sorted(self.rows, key=_rank))

    @property
    def changed(self) -> LibraryDiff:
        """Without the functions whose code is the same."""
        return replace(self, rows=tuple(row for row in self.rows if row.answer is not FunctionAnswer.IDENTICAL))

    @property
    def exit_code(self) -> int:
        """0 all the same, 1 some differ, 3 some are open. What is only in one version is a difference of the files that
        no function shows: it counts for neither."""
        if any(row.is_different for row in self.rows):
            return 1
        return 3 if not self.complete or any(row.is_open for row in self.rows) else 0


def _rank(row: Row) -> tuple[int, int, str, str]:
    by_size = -row.size if row.answer in (FunctionAnswer.UNKNOWN, FunctionAnswer.BOUNDED) else 0
    return _ORDER[row.answer], by_size, row.place.shown, row.place.file


# -- as JSON ----------------------------------------------------------------------------------------


def row_as_json(row: Row) -> dict[str, Any]:
    """With all that a row has; `row_from_json` gives the row back."""
    content = {field.name: getattr(row, field.name) for field in fields(row)}
    content |= {"answer": row.answer.value, "affected_by": list(row.affected_by)}
    return content | {side: None if place is None else asdict(place) for side, place in _sides(row)}


def _sides(row: Row) -> Iterable[tuple[str, FunctionPlace | None]]:
    return ("old", row.old), ("new", row.new)


def row_from_json(content: Mapping[str, Any]) -> Row:
    sides = {side: None if content[side] is None else FunctionPlace(**content[side]) for side in ("old", "new")}
    others = {"answer": FunctionAnswer(content["answer"]), "affected_by": tuple(content["affected_by"])}
    return Row(**{**content, **sides, **others})
