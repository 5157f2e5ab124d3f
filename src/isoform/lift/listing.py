"""Instructions as a person reads them: targets of jumps and addresses by name, with lines of source."""

from __future__ import annotations

import re
from collections.abc import Sequence

from isoform.lift.function import Function
from isoform.load.image import Image
from isoform.model.listing import ListingRow, View
from isoform.model.microop import Instruction, Kind, Space

_JUMPS = (Kind.BRANCH, Kind.CBRANCH, Kind.CALL)
_NUMBER = re.compile(r"0x[0-9a-f]+")


def views_of(functions: Sequence[Function]) -> tuple[View, ...]:
    return tuple(
        view_of([f.instructions[a] for a in sorted(f.instructions)], f.image, f.name, f.entry.address)
        for f in functions
    )


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
        place = (line.file, line.number) if line is not None else before
        source = _source_line(image, place) if place != before else None
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
