"""What `isoform diff` found as one self-contained HTML page: filter, sort, and for each difference both listings with
the path of the witness and the cause.

Everything is JSON that the script turns into text, and only as far as it is looked at, so that a page with thousands of
functions opens at once. Files are hostile: the page forbids itself anything from elsewhere, and every script but its
own.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from isoform.model.library_diff import SETTLED, LibraryDiff, Row
from isoform.report.diff_page import DIFF_SCRIPT, DIFF_STYLE
from isoform.report.diff_words import SYMBOLS, entries_of, matched_in_words, observables_of, title_of
from isoform.report.html import STYLE, escaped
from isoform.report.summary import duration
from isoform.report.terminal import printable

MOST_LINES = 400
"""Of one listing."""
BEFORE_PATH = 20
"""Lines that are kept before the first one of interest, where a listing is cut."""
LONGEST_LINE = 300


def library_diff_as_html(diff: LibraryDiff) -> str:
    rows = diff.ordered
    title = title_of(diff)
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{_digest(DIFF_SCRIPT)}'"
    return "\n".join(
        (
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escaped(title)}</title><style>{STYLE}{DIFF_STYLE}</style></head><body>",
            f'<h1>{escaped(title)} <span class="soft">{escaped(duration(diff.seconds))}</span></h1>',
            f"<p><code>{escaped(diff.old)}</code> → <code>{escaped(diff.new)}</code>{_unfinished(diff)}</p>",
            _bar(diff),
            _table(),
            '<p class="none" hidden>No function fits the filter.</p>',
            '<button id="more" hidden></button><noscript>This page needs its script to show the table.</noscript>',
            _data("rows", {"symbols": SYMBOLS, "rows": [_row(row) for row in rows]}),
            *(_data(f"d{number}", _details(row)) for number, row in enumerate(rows) if _has_details(row)),
            f"<script>{DIFF_SCRIPT}</script></body></html>\n",
        )
    )


def _digest(script: str) -> str:
    return b64encode(sha256(script.encode()).digest()).decode()


def _unfinished(diff: LibraryDiff) -> str:
    return "" if diff.complete else f'<br><b class="unknown">Not everything was asked: {escaped(diff.why_ended)}.</b>'


def _bar(diff: LibraryDiff) -> str:
    counts = diff.counts
    # What is the same is hidden at first, unless there is nothing else.
    folds = any(answer not in SETTLED for answer in counts)
    boxes = "".join(
        f'<label class="{answer.value}"><input type="checkbox" value="{answer.value}"'
        f"{'' if folds and answer in SETTLED else ' checked'}> {SYMBOLS[answer]} {answer.value} {count}</label>"
        for answer, count in counts.items()
    )
    search = '<input type="search" placeholder="name, file or reason" aria-label="filter">'
    return f'<div class="bar">{search}{boxes}<span class="soft" id="shown"></span></div>'


def _table() -> str:
    columns = (
        ("number", "answer", "9rem", ""),
        ("name", "function", "20%", ""),
        ("", "why", "", ""),
        ("", "matched by", "12%", "wide"),
        ("size", "bytes", "6rem", "wide number"),
        ("seconds", "time", "6rem", "wide number"),
    )
    head = "".join(_head(*column) for column in columns)
    return f'<table class="diff"><thead><tr>{head}</tr></thead><tbody></tbody></table>'


def _head(key: str, text: str, width: str, kind: str) -> str:
    sort = f' data-key="{key}"' if key else ""
    content = f"<button>{text}</button>" if key else text
    return f'<th class="{kind}"{sort} style="width: {width or "auto"}">{content}</th>'


def _row(row: Row) -> list[Any]:
    """As the script reads it."""
    place, accepted = row.place, row.accepted is not None
    where = place.file + (f", {place.source_file}:{place.source_line}" if place.source_file else "")
    why = row.why + (f" Accepted: {row.accepted}" if accepted else "")
    time = duration(row.seconds) if row.seconds else ""
    words = _cut(row.name), _cut(where), _cut(why), _cut(matched_in_words(row))
    return [row.answer.value, *words, row.size, round(row.seconds, 3), time, _has_details(row), accepted]


def _has_details(row: Row) -> bool:
    return row.verdict is not None or row.listings is not None or bool(row.affected_by)


def _details(row: Row) -> dict[str, Any]:
    return {
        "entries": [[label, [_cut(line) for line in lines]] for label, lines in entries_of(row)],
        "observables": [[_cut(cell) for cell in cells] for cells in observables_of(row)],
        "sides": _sides(row),
    }


def _data(name: str, content: Any) -> str:
    """Nothing inside a script element of data is HTML, except what may end it: `<` is written as JSON escapes it."""
    text = json.dumps(content, separators=(",", ":")).replace("<", "\\u003c")
    return f'<script type="application/json" id="{name}">{text}</script>'


def _sides(row: Row) -> list[dict[str, Any]]:
    if row.listings is None:
        return []
    places = ("target", "old", row.old), ("rewrite", "new", row.new)
    return [
        {"title": printable(f"{word}: {place.shown}" if place else word), "lines": _lines(row.listings.get(side) or ())}
        for side, word, place in places
    ]


def _lines(listing: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Kind, offset and text of each line; a line of its own where the source line changes."""
    found: list[list[str]] = []
    start = int(listing[0]["address"]) if listing else 0
    source = None
    for line in _most_telling(listing):
        where = f"{line['file']}:{line['line']}" if line.get("file") and line.get("line") else None
        if where is not None and where != source:
            found.append(["where", "", _cut(where)])
        source = where
        kind = ("taken" if line.get("on_path") else "skipped") + (" cause" if line.get("is_cause") else "")
        found.append([kind, f"{int(line['address']) - start:+#x}", _cut(str(line["text"]))])
    return found


def _most_telling(listing: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """As many lines as a page should have, from shortly before the cause, or else before the path."""
    if len(listing) <= MOST_LINES:
        return listing
    causes = [index for index, line in enumerate(listing) if line.get("is_cause")]
    taken = [index for index, line in enumerate(listing) if line.get("on_path")]
    first = max(0, (causes or taken or [0])[0] - BEFORE_PATH)
    first = min(first, len(listing) - MOST_LINES)
    return listing[first : first + MOST_LINES]


def _cut(text: str) -> str:
    shown = printable(text.expandtabs())
    return shown if len(shown) <= LONGEST_LINE else f"{shown[:LONGEST_LINE]}…"
