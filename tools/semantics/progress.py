"""What a long run has done so far, as lines of a file: the next run with the same file goes on from there.

A line is written when a form is done, so that a run may be killed at any time. A form is named by all that makes it up,
its seed and the number of states: with another seed or number the file holds nothing for it.
"""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from isoform.model.errors import UserError
from semantics.campaign import Report, Standing
from semantics.encoding import Template
from semantics.prefixes import PrefixReport
from semantics.x87_forms import Report as X87Report

_PREFIXES = "prefixes"


class Progress:
    """Reports of earlier runs, and those of this one as they come. Without a path nothing is kept."""

    def __init__(self, path: Path | None, states: int, seed: int) -> None:
        self._path = path
        self._start = f"{seed} {states}"
        self._found: dict[str, dict[str, Any]] = _read(path) if path is not None else {}

    def form(self, template: Template) -> Report | None:
        found = self._found.get(self._key(template))
        if found is None:
            return None
        return Report(
            template,
            Standing[found["standing"]],
            found["states"],
            set(found["asked"]),
            found["disagreements"],
            found["oracle_quarrels"],
        )

    def add_form(self, report: Report) -> None:
        kept = {field.name: getattr(report, field.name) for field in fields(report) if field.name != "template"}
        kept |= {"standing": report.standing.name, "asked": sorted(report.asked)}
        self._add(self._key(report.template), kept)

    def x87(self, name: str) -> X87Report | None:
        found = self._found.get(self._key(name))
        return X87Report(**found) if found is not None else None

    def add_x87(self, report: X87Report) -> None:
        self._add(self._key(report.name), asdict(report))

    def prefixes(self, part: int) -> PrefixReport | None:
        found = self._found.get(self._key(f"{_PREFIXES} {part}"))
        return PrefixReport(**found) if found is not None else None

    def add_prefixes(self, part: int, report: PrefixReport) -> None:
        self._add(self._key(f"{_PREFIXES} {part}"), asdict(report))

    def _key(self, what: Template | str) -> str:
        return f"{self._start} {what}"

    def _add(self, key: str, kept: dict[str, Any]) -> None:
        self._found[key] = kept
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"key": key, "report": kept}) + "\n")


def _read(path: Path) -> dict[str, dict[str, Any]]:
    """Every whole line. The last one of a run that was killed may be cut off; anything else is another file."""
    if not path.exists():
        return {}
    found = {}
    lines = path.read_text(encoding="utf-8").split("\n")
    for number, line in enumerate(lines):
        try:
            entry = json.loads(line) if line else None
        except ValueError:
            if number < len(lines) - 1:
                raise UserError(f"{path} is not a state file of ./scripts/semantics (line {number + 1})") from None
            path.write_text("\n".join(lines[:-1]) + "\n", encoding="utf-8")
            entry = None
        if entry is not None:
            found[entry["key"]] = entry["report"]
    return found
