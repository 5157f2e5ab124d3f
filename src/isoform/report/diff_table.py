"""What `isoform diff` found, for a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TextIO

from isoform.model.library_diff import Answer, LibraryDiff, Row
from isoform.report.summary import duration
from isoform.report.terminal import ASCII, printable

FOLDED = (Answer.EQUIVALENT, Answer.IDENTICAL)
"""Answers of which only the number is shown."""
MOST_NAME = 40
_MARKS = {
    Answer.DIFFERENT: "✗",
    Answer.AFFECTED: "▸",
    Answer.UNKNOWN: "?",
    Answer.BOUNDED: "?",
    Answer.ADDED: "+",
    Answer.REMOVED: "-",
    Answer.EQUIVALENT: "✓",
    Answer.IDENTICAL: "✓",
}


def print_diff(found: LibraryDiff, quiet: bool = False, verbose: bool = False, stream: TextIO | None = None) -> None:
    stream = stream if stream is not None else sys.stdout
    is_plain = not (stream.encoding or "").lower().startswith("utf")
    for line in _lines(found, quiet, verbose):
        shown = printable(line)
        print(shown.translate(ASCII) if is_plain else shown, file=stream)


def _lines(found: LibraryDiff, quiet: bool, verbose: bool) -> Iterator[str]:
    rows = [row for row in found.ordered if verbose or row.answer not in FOLDED]
    several = len({row.place.file for row in found.rows}) > 2
    width = min(max((len(row.name) for row in rows), default=0), MOST_NAME)
    for row in rows if not quiet else ():
        yield from _row(row, width, several)
    if rows and not quiet:
        yield ""
    yield summary_line(found)
    if not found.complete:
        yield f"not everything was asked: {found.why_ended}; run the same command with --store again to go on"


def _row(row: Row, width: int, several: bool) -> Iterator[str]:
    accepted = f" (accepted: {row.accepted})" if row.accepted is not None else ""
    where = f"  [{row.place.file}]" if several else ""
    yield f"{_MARKS[row.answer]} {row.answer.value:10} {row.name:{width}}  {row.why}{accepted}{where}"
    if row.confidence < 1:
        yield f"  {'':10} {'':{width}}  matched by {row.how_matched}, {row.confidence:.0%} sure"
    cause = _cause(row)
    if cause:
        yield f"  {'':10} {'':{width}}  {cause}"


def _cause(row: Row) -> str:
    """Where the two part, if that was found."""
    root = (row.verdict or {}).get("root_cause")
    if not root or not root.get("causes"):
        return ""
    sides = [("old", root["causes"][0].get("target")), ("new", root["causes"][0].get("rewrite"))]
    said = [f"{side}: {_place(place)}" for side, place in sides if place]
    return f"cause: {'; '.join(said)}" if said else ""


def _place(place: dict[str, object]) -> str:
    source = f" ({str(place['file']).rpartition('/')[2]}:{place['line']})" if place.get("file") else ""
    return f"`{place.get('text')}`{source}"


def summary_line(found: LibraryDiff) -> str:
    counts = ", ".join(f"{number} {answer.value}" for answer, number in found.counts.items())
    return f"{len(found.rows)} functions: {counts}; in {duration(found.seconds)}"
