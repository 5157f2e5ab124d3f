"""What `isoform diff` found, for a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TextIO

from isoform.model.library_diff import SETTLED, LibraryDiff, Row
from isoform.report.diff_words import SYMBOLS, place_in_words
from isoform.report.summary import duration
from isoform.report.terminal import ASCII, printable

MOST_NAME = 40


def print_diff(found: LibraryDiff, quiet: bool = False, verbose: bool = False, stream: TextIO | None = None) -> None:
    stream = stream if stream is not None else sys.stdout
    is_plain = not (stream.encoding or "").lower().startswith("utf")
    for line in _lines(found, quiet, verbose):
        shown = printable(line)
        print(shown.translate(ASCII) if is_plain else shown, file=stream)


def _lines(found: LibraryDiff, quiet: bool, verbose: bool) -> Iterator[str]:
    rows = [row for row in found.ordered if verbose or row.answer not in SETTLED]
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
    yield f"{SYMBOLS[row.answer]} {row.answer.value:10} {row.name:{width}}  {row.why}{accepted}{where}"
    if row.confidence < 1:
        yield f"  {'':10} {'':{width}}  matched by {row.how_matched}, {row.confidence:.0%} sure"
    cause = _cause(row)
    if cause:
        yield f"  {'':10} {'':{width}}  {cause}"


def _cause(row: Row) -> str:
    """The first cause, if one was found."""
    root = (row.verdict or {}).get("root_cause")
    if not root or not root.get("causes"):
        return ""
    sides = [("old", root["causes"][0].get("target")), ("new", root["causes"][0].get("rewrite"))]
    said = [f"{side}: {place_in_words(place)}" for side, place in sides if place]
    return f"cause: {'; '.join(said)}" if said else ""


def summary_line(found: LibraryDiff) -> str:
    counts = ", ".join(f"{number} {answer.value}" for answer, number in found.counts.items())
    functions = len(found.rows)
    return f"{functions} function{'' if functions == 1 else 's'}: {counts}; in {duration(found.seconds)}"
