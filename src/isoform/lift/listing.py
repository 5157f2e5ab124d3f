"""Instructions as a person reads them: targets of jumps and addresses by name, with lines of source."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace

from isoform.lift.function import Function
from isoform.load.image import Image, Symbol
from isoform.model.listing import ListingRow, View
from isoform.model.microop import Instruction, Kind, Space

_JUMPS = (Kind.BRANCH, Kind.CBRANCH, Kind.CALL)
_NUMBER = re.compile(r"0x[0-9a-f]+")


def views_of(functions: Sequence[Function]) -> tuple[View, ...]:
    return tuple(
        view_of([f.instructions[a] for a in sorted(f.instructions)], f.image, f.name, f.entry.address)
        for f in functions
    )


def with_lines_of_callees(function: Function) -> Function:
    """The function with the source lines of all functions whose code is part of it."""
    image = function.image
    if image.lines_between is None:
        return function
    callees = functions_of([a for a in function.instructions if a not in image.lines], image)
    if not callees:
        return function
    from isoform.load.debug.lines import source_text

    lines = dict(image.lines)
    for symbol in callees:
        lines |= image.lines_between(symbol.address, symbol.address + symbol.size)
    return replace(function, image=replace(image, lines=lines, source={**source_text(lines), **image.source}))


def functions_of(addresses: Iterable[int], image: Image) -> list[Symbol]:
    """The functions that contain them."""
    ordered = sorted(image.functions.values(), key=lambda symbol: symbol.address)
    starts = [symbol.address for symbol in ordered]
    before = {bisect_right(starts, address) - 1 for address in addresses}
    return [ordered[index] for index in sorted(before) if index >= 0]


def view_of(instructions: Sequence[Instruction], image: Image, title: str, entry: int | None = None) -> View:
    """`instructions` in the order they are to be shown; `entry` is the first one's address if not given."""
    if not instructions:
        return View(title, (), entry)
    start = entry if entry is not None else instructions[0].address
    inside = frozenset(i.address for i in instructions)
    rows = []
    before: tuple[str, int] | None = None
    for instruction in instructions:
        line = image.lines.get(instruction.address)
        symbol = image.symbol_at(instruction.address) if instruction.address != start else None
        is_callee = symbol is not None and symbol.is_function
        place = (line.file, line.number) if line is not None else None if is_callee else before
        source = _source_line(image, place) if place != before or is_callee else None
        if source is None and is_callee and symbol is not None:
            source = f"{symbol.name}:"
        text, note = _readable(instruction, image, inside, start)
        rows.append(ListingRow(instruction.address, text, source, note))
        before = place
    return View(title, tuple(rows), start)


def _source_line(image: Image, place: tuple[str, int] | None) -> str | None:
    if place is None:
        return None
    text = image.source.get(place[0], ())
    return text[place[1] - 1].strip() or None if 0 < place[1] <= len(text) else None


def _readable(instruction: Instruction, image: Image, inside: frozenset[int], start: int) -> tuple[str, str]:
    """The text with jump targets as offsets or names, and the name of a symbol that it mentions otherwise."""
    text = instruction.text
    targets = {op.ins[0].offset for op in instruction.ops if op.kind in _JUMPS and op.ins[0].space is Space.CODE}
    for target in targets:
        shown = f"{target - start:+#x}" if target in inside else image.name_at(target)
        if shown is not None:
            text = shown.join(re.split(rf"\b{target:#x}\b", text))
    names = (image.name_at(int(number, 16)) for number in _NUMBER.findall(text) if number not in ("0x0", "0x1"))
    note = next((name for name in names if name is not None), "") if not targets else ""
    return text, note
