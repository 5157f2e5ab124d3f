"""The certificate of functions that are the same code: a listing, which `isoform check` derives from the files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from isoform.check.same_code.certificate import EVERY, VERSION, digest_of
from isoform.check.same_code.instructions import NotTheSame
from isoform.check.same_code.listing import Extent, Pair, SameCode, name_of_both
from isoform.engines.same_code.assumed import (
    FUNCTION_ADDRESSES,
    JUMP_TABLES,
    RETURN_ADDRESSES,
    SAME_UNDEFINED,
    TEXTS,
)
from isoform.engines.same_code.identical import Differs, Identical
from isoform.model.check_report import LISTING_FORMAT
from isoform.model.errors import Unsupported
from isoform.model.values import dataclass
from isoform.model.verdict import CALLS_AGREE, Assumption, merged_assumptions
from isoform.smt.certificate import put_in_place
from isoform.sym.state import VALID_MEMORY

IN_OBJECTS = Assumption("addresses-in-objects", "an address of data in the code is meant for the object that it is in")
_KNOWN = (
    CALLS_AGREE,
    IN_OBJECTS,
    FUNCTION_ADDRESSES,
    JUMP_TABLES,
    RETURN_ADDRESSES,
    SAME_UNDEFINED,
    TEXTS,
    VALID_MEMORY,
)
Named = tuple[str, Pair, Sequence[Assumption]]
"""Functions that are the same code: their name, or both, their entries, and what that rests on."""


@dataclass(frozen=True)
class ListedFile:
    """One of two files that belong together."""

    shown: str
    sha256: str


class Listing:
    """Of the functions of two files, or of many pairs of files. Functions that the checker does not confirm are left
    out, and counted."""

    def __init__(self) -> None:
        self._files: list[dict[str, Any]] = []
        self._assumptions: list[Assumption] = []
        self.left_out = 0

    def add(
        self, identical: Identical, label: str, files: tuple[ListedFile, ListedFile], named: Sequence[Named]
    ) -> None:
        tables: dict[Pair, tuple[Extent, ...]] = {}
        checker = SameCode(identical.images, tables)
        functions: list[dict[str, Any]] = []
        code: dict[Pair, dict[str, Any]] = {}
        for name, entries, assumptions in named:
            try:
                tables.update(_tables(identical, entries))
                confirmed, needed = checker.confirm(entries)
            except (Differs, NotTheSame, Unsupported):
                self.left_out += 1
                continue
            functions.append({"name": name, "entries": [*entries]})
            for pair, one in confirmed.items():
                code[pair] = {
                    "entries": [*pair],
                    "instructions": sorted([a, b] for a, b in one.instructions),
                    "tables": [[*table] for table in tables.get(pair, ())],
                }
            found = [*assumptions, *(one for one in _KNOWN if one.name in needed)]
            self._assumptions = list(merged_assumptions((*self._assumptions, *found)))
        if functions:
            sides = [{"path": file.shown, "sha256": file.sha256} for file in files]
            file = {"label": label, "target": sides[0], "rewrite": sides[1], "functions": functions}
            self._files.append({**file, "code": list(code.values())})

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        return tuple(self._assumptions)

    @property
    def is_empty(self) -> bool:
        return not self._files

    def write(self, folder: Path, old: str, new: str, names: tuple[str, str] = (EVERY, EVERY)) -> None:
        """`names`: of the two functions that it is about, if these are only two."""
        index: dict[str, Any] = {
            "format": LISTING_FORMAT,
            "version": VERSION,
            "verdict": "equivalent",
            "engine": "same-code",
            "target": {"path": old, "function": names[0]},
            "rewrite": {"path": new, "function": names[1]},
            "assumptions": [{"name": one.name, "why": one.why} for one in self._assumptions],
            "left_out": self.left_out,
            "files": self._files,
        }
        index["digest"] = digest_of(index)
        put_in_place(folder, {"index.json": (json.dumps(index, separators=(",", ":")) + "\n").encode()})


def named(names: tuple[str, str], entries: Pair, assumptions: Sequence[Assumption]) -> Named:
    return name_of_both(*names), entries, assumptions


def _tables(identical: Identical, entries: Pair) -> Iterator[tuple[Pair, tuple[Extent, ...]]]:
    for pair in identical.leads_to(entries):
        found = identical.tables(pair)
        if found:
            yield pair, found
