"""The certificate of functions that are the same code: a listing, which `isoform check` derives from the files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from isoform.check.same_code.certificate import FORMAT, VERSION, digest_of
from isoform.check.same_code.instructions import NotTheSame
from isoform.check.same_code.listing import Extent, Pair, SameCode
from isoform.diff.identical import JUMP_TABLES, RETURN_ADDRESSES, TEXTS, Differs
from isoform.diff.unit import Unit
from isoform.engines.same_code import SAME_UNDEFINED
from isoform.model.errors import Unsupported, UserError
from isoform.model.verdict import Assumption, merged_assumptions
from isoform.sym.state import VALID_MEMORY

IN_OBJECTS = Assumption("addresses-in-objects", "an address of data in the code is meant for the object that it is in")
_KNOWN = (IN_OBJECTS, JUMP_TABLES, RETURN_ADDRESSES, SAME_UNDEFINED, TEXTS, VALID_MEMORY)
Named = tuple[str, Pair, Sequence[Assumption]]
"""Functions that are the same code: their name, or both, their entries, and what that rests on."""


def refuse_other_folder(folder: Path) -> None:
    """A certificate replaces an older one, and nothing else."""
    if not folder.exists():
        return
    others = [path.name for path in folder.iterdir() if path.name != "index.json"] if folder.is_dir() else [folder.name]
    if others:
        raise UserError(f"--cert {folder}: there is something else than a listing; name another folder.")


class Listing:
    """Of many units. Functions that the checker does not confirm are left out, and counted."""

    def __init__(self) -> None:
        self._files: list[dict[str, Any]] = []
        self._assumptions: list[Assumption] = []
        self.left_out = 0

    def add(self, unit: Unit, named: Sequence[Named]) -> None:
        left, right = (library.image for library in unit.pair.together)
        tables: dict[Pair, tuple[Extent, ...]] = {}
        checker = SameCode((left, right), tables)
        functions: list[dict[str, Any]] = []
        code: dict[Pair, dict[str, Any]] = {}
        for name, entries, assumptions in named:
            try:
                tables.update(_tables(unit, entries))
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
            sides = [
                {"path": member.shown, "sha256": digest}
                for member, digest in zip(unit.members, unit.digests, strict=True)
            ]
            label = unit.members[0].label
            file = {"label": label, "target": sides[0], "rewrite": sides[1], "functions": functions}
            self._files.append({**file, "code": list(code.values())})

    def write(self, folder: Path, old: str, new: str) -> None:
        index: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "verdict": "equivalent",
            "engine": "same-code",
            "target": {"path": old, "function": "*"},
            "rewrite": {"path": new, "function": "*"},
            "assumptions": [{"name": one.name, "why": one.why} for one in self._assumptions],
            "left_out": self.left_out,
            "files": self._files,
        }
        index["digest"] = digest_of(index)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "index.json").write_text(json.dumps(index, indent=None, separators=(",", ":")) + "\n")
        except OSError as error:
            raise UserError(f"--cert {folder} cannot be written: {error.strerror or error}.") from None


def _tables(unit: Unit, entries: Pair) -> Iterator[tuple[Pair, tuple[Extent, ...]]]:
    for pair in unit.identical.leads_to(entries):
        found = unit.identical.tables(pair)
        if found:
            yield pair, found
