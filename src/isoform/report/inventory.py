"""`isoform list`: the functions of a file in a terminal."""

from __future__ import annotations

import shutil
import sys
from typing import TextIO

from isoform.model.contract import SignatureSource
from isoform.model.inventory import Inventory, ListedFunction
from isoform.report.terminal import Span, Spans, cut, print_lines

PIPED_WIDTH = None
MARKS = {SignatureSource.LIVENESS: "~ "}
NARROWEST = 40


def print_inventory(inventory: Inventory, stream: TextIO | None = None) -> None:
    stream = stream if stream is not None else sys.stdout
    width = shutil.get_terminal_size((100, 24)).columns if stream.isatty() else PIPED_WIDTH
    files = dict.fromkeys(function.file for function in inventory.functions)
    lines: list[Spans] = []
    for file in files:
        own = [function for function in inventory.functions if function.file == file]
        if len(files) > 1:
            lines.append((Span(file, "name"),))
        lines += _table(own, width)
    print_lines([*lines, (), *_closing(inventory)], stream)


def _table(functions: list[ListedFunction], width: int | None) -> list[Spans]:
    address = max(len(f"{f.address:#x}") for f in functions)
    size = max(len(str(f.size)) for f in functions)
    room = None if width is None else max(width - address - size - 7, NARROWEST)
    return [_row(function, address, size, room) for function in functions]


def _row(function: ListedFunction, address: int, size: int, room: int | None) -> Spans:
    mark = MARKS.get(function.source, "  ") if function.source is not None else "? "
    missing = f"   no semantics: {', '.join(function.missing)}" if function.missing else ""
    text = function.signature or function.shown
    shown = text if room is None else cut(text, max(room - len(missing), NARROWEST // 2))
    return (
        Span(f"  {function.address:#{address}x}  {function.size:>{size}}  ", "dim"),
        Span(mark, "marker"),
        Span(shown, "dim" if function.is_local else ""),
        Span(missing, "unknown"),
    )


def _closing(inventory: Inventory) -> list[Spans]:
    functions = inventory.functions
    complete = f" for {inventory.machine}; in {inventory.complete} of them every instruction has semantics."
    lines: list[Spans] = [(Span(f"{len(functions)} functions", "name"), Span(complete))]
    if any(f.source is SignatureSource.LIVENESS for f in functions):
        lines.append((Span("~ no debug information: parameters and result are those that the code shows.", "dim"),))
    if any(f.source is None for f in functions):
        lines.append((Span("? neither debug information nor the code shows a signature: --json says why.", "dim"),))
    return lines
