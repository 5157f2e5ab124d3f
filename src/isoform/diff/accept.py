"""Differences that were looked at and are meant: a file that says which, and why.

    [[accepted]]
    function = "inflate"
    answer = "different"
    old = "3f0c5a8e11d2"    # what the code of both sides was when somebody looked
    new = "91aa02b7c3f4"
    reason = "the new version rejects empty blocks"

An entry counts for these two versions of the code and of how it is declared, and for no others.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from string import hexdigits
from typing import Any

from isoform.load.resolve import read_file
from isoform.model.errors import UserError
from isoform.model.library_diff import FunctionAnswer, Row
from isoform.model.names import spellings, without_spaces
from isoform.model.values import dataclass

LEAST_DIGITS = 12
"""Of a digest: fewer may fit other code by chance."""
_FIELDS = ("function", "answer", "old", "new", "reason")
_ACCEPTABLE = (FunctionAnswer.DIFFERENT, FunctionAnswer.AFFECTED, FunctionAnswer.UNKNOWN, FunctionAnswer.BOUNDED)


@dataclass(frozen=True)
class Accepted:
    function: str
    answer: FunctionAnswer
    old: str
    new: str
    reason: str

    def fits(self, row: Row) -> bool:
        if row.old is None or row.new is None or row.answer is not self.answer:
            return False
        names = {*spellings(row.old.name), *spellings(row.new.name), without_spaces(row.name)}
        return (
            without_spaces(self.function) in names
            and row.old.digest.startswith(self.old)
            and row.new.digest.startswith(self.new)
        )


def read_accepted(path: str) -> tuple[Accepted, ...]:
    try:
        content = tomllib.loads(read_file(Path(path)).decode("utf-8"))
    except RecursionError:
        raise UserError(f"--accept {path} must have nothing but [[accepted]] tables.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"--accept {path} is not TOML: {error}.") from None
    entries = content.get("accepted", [])
    if not isinstance(entries, list) or content.keys() - {"accepted"}:
        raise UserError(f"--accept {path} must have nothing but [[accepted]] tables.")
    return tuple(_entry(entry, path, number) for number, entry in enumerate(entries, 1))


def _entry(entry: Any, path: str, number: int) -> Accepted:
    where = f"--accept {path}, entry {number}"
    if not isinstance(entry, dict) or entry.keys() != set(_FIELDS):
        raise UserError(f"{where} must have {', '.join(_FIELDS)}, and nothing else.")
    if not all(isinstance(entry[name], str) and entry[name] for name in _FIELDS):
        raise UserError(f"{where}: every value must be a text.")
    if entry["answer"] not in _ACCEPTABLE:
        known = ", ".join(one.value for one in _ACCEPTABLE)
        raise UserError(f"{where}: answer must be one of {known}.")
    if min(len(entry["old"]), len(entry["new"])) < LEAST_DIGITS:
        raise UserError(f"{where}: old and new must have at least {LEAST_DIGITS} digits of the digests.")
    if not set(entry["old"] + entry["new"]) <= set(hexdigits.lower()):
        raise UserError(f"{where}: old and new must be digits of the digests as `isoform diff --json` prints them.")
    return Accepted(**{**entry, "answer": FunctionAnswer(entry["answer"])})
