"""A verdict in a terminal: the answer, why, both functions with the path taken, what differs, what it rests on.

The report is laid out as lines of styled spans. Plain text joins them; on a terminal rich colours them. Code
is cut at the edge and never wrapped; prose wraps under its label.
"""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Iterator
from typing import NamedTuple, TextIO

from isoform.model.differences import Difference
from isoform.model.listing import ListingLine, View, lines_of
from isoform.model.verdict import SearchStep, Verdict
from isoform.report.steps import step_cells
from isoform.report.summary import MOST_OBSERVABLES, Labelled, VerdictSummary, summary_of

LABEL = 14
"""Column where what follows a label begins."""
PIPED_WIDTH = 100
NARROWEST, WIDEST = 60, 140
LINES_WITHOUT_WITNESS = 60

STYLES = {
    "equivalent": "bold green",
    "different": "bold red",
    "bounded": "bold yellow",
    "unknown": "bold magenta",
    "name": "bold",
    "label": "cyan",
    "dim": "bright_black",
    "marker": "yellow",
    "source": "italic bright_black",
    "target": "green",
    "rewrite": "red",
    "cause": "bold yellow",
    "": "",
}
ASCII = str.maketrans(
    {
        "✓": "+", "✗": "x", "≡": "==", "≢": "!=", "≟": "=?", "⋮": ":", "│": "|", "─": "-", "▸": ">", "◆": "*",
        "×": "x", "…": "~", "·": ".", "∧": "&", "∨": "|", "¬": "!", "→": "->", "≤": "<=", "≥": ">=", "≠": "!=",
        "−": "-",
    }
)  # fmt: skip


class Span(NamedTuple):
    text: str
    style: str = ""


Spans = tuple[Span, ...]


def verdict_as_text(verdict: Verdict, width: int = PIPED_WIDTH, color: bool = False, verbose: bool = False) -> str:
    lines = _report(summary_of(verdict), max(width, NARROWEST), verbose)
    return _coloured(lines) if color else "\n".join(_plain(line) for line in lines)


def print_verdict(verdict: Verdict, verbose: bool = False, quiet: bool = False, stream: TextIO | None = None) -> None:
    """Prints to `stream` (standard output), coloured if that is a terminal and NO_COLOR is not set."""
    stream = stream if stream is not None else sys.stdout
    if quiet:
        print(verdict.word, file=stream)
        return
    width = min(shutil.get_terminal_size((PIPED_WIDTH, 24)).columns, WIDEST) if stream.isatty() else PIPED_WIDTH
    text = verdict_as_text(verdict, width, _wants_colour(stream), verbose)
    print(encodable(text, stream.encoding), file=stream)


def print_lines(lines: list[Spans], stream: TextIO | None = None) -> None:
    """Prints lines of styled spans to `stream` (standard output), coloured under the same rules as a verdict."""
    stream = stream if stream is not None else sys.stdout
    lines = [tuple(Span(printable(span.text), span.style) for span in line) for line in lines]
    text = _coloured(lines) if _wants_colour(stream) else "\n".join(_plain(line) for line in lines)
    print(encodable(text, stream.encoding), file=stream)


def _wants_colour(stream: TextIO) -> bool:
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def encodable(text: str, encoding: str | None) -> str:
    """The text with only characters that the encoding has."""
    encoding = encoding or "ascii"
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        encoding = "ascii"
        return text.translate(ASCII).encode(encoding, "backslashreplace").decode(encoding)
    return text


def _plain(line: Spans) -> str:
    return "".join(span.text for span in line).rstrip()


def _coloured(lines: list[Spans]) -> str:
    from io import StringIO

    from rich.console import Console
    from rich.text import Text

    stream = StringIO()
    console = Console(file=stream, force_terminal=True, no_color=False, color_system="standard", highlight=False)
    for line in lines:
        text = Text.assemble(*((span.text, STYLES[span.style]) for span in line))
        text.rstrip()
        console.print(text, soft_wrap=True)
    return stream.getvalue().removesuffix("\n")


def _report(summary: VerdictSummary, width: int, verbose: bool) -> list[Spans]:
    blocks = [list(_heading(summary, width)), list(entry_lines(summary.given, width, verbose))]
    blocks += [_observables(summary.observables, width)]
    if summary.observables or verbose:
        blocks += [_side_by_side(summary, width)]
    if verbose:
        blocks += [_steps(summary.steps, width)]
    blocks += [list(entry_lines(summary.rest, width, verbose))]
    lines: list[Spans] = []
    for block in filter(None, blocks):
        lines += [(), *block] if lines else block
    return [tuple(Span(printable(span.text), span.style) for span in line) for line in lines]


def printable(text: str) -> str:
    """Names come from hostile files: nothing in them may steer the terminal. A byte of a path that is no text is shown
    as that byte (Python has 0xff as U+DCFF)."""
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() else f"\\x{ord(c) & 0xFF if 0xDC80 <= ord(c) < 0xDD00 else ord(c):02x}" for c in text
    )


def _heading(summary: VerdictSummary, width: int) -> Iterator[Spans]:
    target, rewrite = summary.target, summary.rewrite
    if len(target) + len(rewrite) > width - 30:
        target, rewrite = (name.rpartition("/")[2] for name in (target, rewrite))
    yield (
        Span(f"{summary.symbol} {summary.word}", summary.word),
        Span("   "),
        Span(target, "name"),
        Span(f" {summary.relation} "),
        Span(rewrite, "name"),
        Span(f"   {summary.time}", "dim"),
    )
    yield from (
        (Span(line),) for line in textwrap.wrap(summary.why, width - 2, initial_indent="  ", subsequent_indent="  ")
    )


def entry_lines(entries: tuple[Labelled, ...], width: int, verbose: bool) -> Iterator[Spans]:
    for entry in entries:
        if entry.detail and not verbose:
            continue
        label = f"  {entry.label}".ljust(LABEL) + " "
        for text in entry.lines:
            for line in textwrap.wrap(text, width - len(label), subsequent_indent="  ") or [""]:
                yield Span(label, "label"), Span(line)
                label = " " * len(label)


def _observables(differences: tuple[Difference, ...], width: int) -> list[Spans]:
    if not differences:
        return []
    shown = differences[:MOST_OBSERVABLES]
    cells = [("", "target", "rewrite"), *((d.what, d.target, d.rewrite) for d in shown)]
    wide = _fitted([max(map(len, column)) for column in zip(*cells, strict=True)], width - 6)
    wide[0] = max(wide[0], LABEL - 3)
    rows: list[Spans] = []
    for row in cells:
        what, target, rewrite = (cut(cell, size).ljust(size + 2) for cell, size in zip(row, wide, strict=True))
        styles = ("target", "rewrite") if rows else ("label", "label")
        rows.append((Span(f"  {what}"), Span(target, styles[0]), Span(rewrite, styles[1])))
    if len(shown) < len(differences):
        rows.append((Span(f"  … and {len(differences) - len(shown)} more", "dim"),))
    return rows


def _steps(steps: tuple[SearchStep, ...], width: int) -> list[Spans]:
    cells = step_cells(steps)
    if not cells:
        return []
    wide = _fitted([max(map(len, column)) for column in zip(*cells, strict=True)], width - 2 - 2 * len(cells[0]))
    rows: list[Spans] = []
    for row in cells:
        text = "".join(cut(cell, size).ljust(size + 2) for cell, size in zip(row, wide, strict=True))
        rows.append((Span(f"  {text}", "" if rows else "label"),))
    if len(cells) - 1 < len(steps):
        rows.append((Span(f"  … and {len(steps) - len(cells) + 1} more", "dim"),))
    return rows


def _fitted(wide: list[int], room: int) -> list[int]:
    """Column widths that fit the room, taken from the widest column first."""
    while sum(wide) > room:
        wide[wide.index(max(wide))] -= 1
    return wide


def _side_by_side(summary: VerdictSummary, width: int) -> list[Spans]:
    if len(summary.views) != 2:
        return []
    room = (width - 5) // 2
    sides = zip(summary.views, summary.traces, summary.causes, strict=True)
    columns = [_column(view, trace, causes, room) for view, trace, causes in sides]
    left_width = max(len(_plain(line)) for line in columns[0])
    height = max(map(len, columns))
    left, right = (column + [()] * (height - len(column)) for column in columns)
    return [
        (Span("  "), *_padded(one, left_width), Span(" │ ", "dim"), *other)
        for one, other in zip(left, right, strict=True)
    ]


def _column(view: View, trace: tuple[int, ...], causes: frozenset[int], room: int) -> list[Spans]:
    lines = lines_of(view, trace, causes=causes) if trace else lines_of(view, (), LINES_WITHOUT_WITNESS)
    wide = max((len(line.offset) for line in lines), default=0)
    title = (Span(cut(view.title, room), "name"),)
    return [title, *(_code(line, wide, room, bool(trace)) for line in lines)]


def _code(line: ListingLine, wide: int, room: int, marked: bool) -> Spans:
    if not line.is_code:
        return (Span(cut(" " * (wide + 4) + line.text.expandtabs(2), room), "source"),)
    style = "cause" if line.is_cause else "dim" if marked and not line.times else ""
    marker = "◆ " if line.is_cause else "▸ " if line.times else "  "
    remark = (f"  {line.note}" if line.note else "") + (f"  ×{line.times}" if line.times > 1 else "")
    text = cut(line.text, max(room - wide - 4 - len(remark), 12))
    remark = remark[: max(room - wide - 4 - len(text), 0)]
    return Span(marker, "marker"), Span(f"{line.offset:>{wide}}  ", "dim"), Span(text, style), Span(remark, "dim")


def _padded(line: Spans, width: int) -> Spans:
    return (*line, Span(" " * (width - sum(len(span.text) for span in line))))


def cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: max(width - 1, 0)] + "…"
