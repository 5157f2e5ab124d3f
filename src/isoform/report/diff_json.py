"""What `isoform diff` found, as one JSON object, or as one object a line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from isoform import __version__
from isoform.model.library_diff import FunctionPlace, LibraryDiff, Row
from isoform.report.json import as_text


def diff_dumps(found: LibraryDiff) -> str:
    return as_text(diff_as_json(found))


def diff_as_json(found: LibraryDiff) -> dict[str, Any]:
    return {
        "old": found.old,
        "new": found.new,
        "summary": {answer.value: number for answer, number in found.counts.items()},
        "functions": [row_for_scripts(row) for row in found.ordered],
        "seconds": round(found.seconds, 3),
        "complete": found.complete,
        "why_ended": found.why_ended or None,
        "options": dict(found.options),
        "version": __version__,
    }


def diff_as_lines(found: LibraryDiff) -> Iterator[str]:
    """One function a line, each an object of its own."""
    for row in found.ordered:
        yield json.dumps(row_for_scripts(row))


def row_for_scripts(row: Row) -> dict[str, Any]:
    return {
        "name": row.name,
        "status": row.answer.value,
        "why": row.why,
        "matched_by": row.how_matched or None,
        "confidence": row.confidence,
        "affected_by": list(row.affected_by),
        "accepted": row.accepted,
        "seconds": round(row.seconds, 3),
        "kept": row.is_kept,
        "old": _place(row.old),
        "new": _place(row.new),
        "verdict": row.verdict,
    }


def _place(place: FunctionPlace | None) -> dict[str, Any] | None:
    if place is None:
        return None
    return {
        "file": place.file,
        "name": place.name,
        "address": hex(place.address),
        "size": place.size,
        "source": None if place.source_file is None else {"file": place.source_file, "line": place.source_line},
        "digest": place.digest,
    }
