"""Literals, which have one address on both sides if their contents are equal."""

from __future__ import annotations

import string
from bisect import bisect_right
from functools import cached_property

from isoform.load.blocks import DataBlock
from isoform.load.gathered import Destination, Gathered
from isoform.load.image import Section
from isoform.load.objects import PlacedObject
from isoform.load.parsed import SECTION_SYMBOL, FileSection, ParsedFile
from isoform.load.relocatable.relocations import Relocations, UnknownFieldError
from isoform.load.shared import Shared

STRING_LIMIT = 1 << 16
_TEXT = frozenset(string.printable.encode())


class Literals:
    def __init__(self, file: ParsedFile, relocations: Relocations, shared: Shared, gathered: Gathered) -> None:
        self._file = file
        self._relocations = relocations
        self._shared = shared
        self._gathered = gathered

    def around(self, home: FileSection, offset: int) -> Destination:
        """An offset of a section whose contents are shared."""
        if not 0 <= offset < home.size:
            raise UnknownFieldError(f"refers to {home.name}+{offset:#x}, outside the section")
        unit = home.entry_size
        start = offset // unit * unit
        if not home.strings:
            return self._constant(home, start).plus(offset - start)
        start, end = _string_bounds(home.data, offset, unit)
        return self.text(home.data[start:end], unit).plus(offset - start)

    def _constant(self, home: FileSection, start: int) -> Destination:
        unit = home.entry_size
        content = home.data[start : start + unit]
        address = self._shared.by_content(("constant", content), unit, max(unit & -unit, home.alignment))
        self._gathered.extra[address] = Section(home.name, address, content, len(content), False, False)
        item = PlacedObject(f"constant {content.hex()}", address, unit, unit, home.alignment)
        return self._gathered.counted_from(item, address)

    def text(self, content: bytes, unit: int) -> Destination:
        """The start of the text around an offset, with this many bytes per character."""
        address = self._shared.by_content(("string", unit, content), len(content), 16)
        self._gathered.extra[address] = Section(".rodata.str", address, content, len(content), False, False)
        item = PlacedObject(f"literal at {address:#x}", address, len(content), len(content), unit)
        return self._gathered.counted_from(item, address)

    def text_at(self, home: FileSection, target: int, block: DataBlock) -> bytes | None:
        """The string literal at `target` of a section that is not mergeable (without optimisation, compilers put
        literals there): text up to the zero byte that fills the room up to the next reference, outside all objects."""
        starts = self._starts.get(home.index, [])
        part = block.part_at(target)
        if part is None or part.named or (target > part.start and home.data[target - 1]):
            return None
        index = bisect_right(starts, target)
        end = min(part.end, starts[index] if index < len(starts) else part.end)
        inside = self._relocations.between(home.index, target, end)
        end = inside[0].offset if inside else end
        if end - target > STRING_LIMIT:
            return None
        room = home.data[target:end]
        text = room[: room.find(b"\0") + 1]
        filled = text and not any(room[len(text) :]) and len(room) - len(text) < 8
        readable = _TEXT.issuperset(text[:-1]) or _is_utf8(text[:-1])
        return text if filled and readable and (len(text) > 1 or len(room) == 1) else None

    def is_inner_text(self, home: FileSection, target: int, block: DataBlock) -> bool:
        """Whether `target` is among literals rather than in a jump table: see `BlockPart.inner`."""
        part = block.part_at(target)
        return part is not None and part.inner and not self._relocations.between(home.index, target, target + 1)

    @cached_property
    def _starts(self) -> dict[int, list[int]]:
        """By section, the offsets of references that only form an address."""
        found: dict[int, set[int]] = {}
        for index, rows in self._file.relocations.items():
            section = self._file.sections[index]
            for relocation in rows:
                symbol = self._relocations.symbol(relocation)
                if symbol is not None and symbol.kind == SECTION_SYMBOL:
                    target = self._relocations.formed_target(section, relocation)
                    if target is not None:
                        found.setdefault(symbol.section, set()).add(target)
        return {section: sorted(targets) for section, targets in found.items()}


def _string_bounds(data: bytes, offset: int, unit: int) -> tuple[int, int]:
    """First and past-the-last offset of the zero-ended string around `offset`."""
    start = end = offset // unit * unit
    if unit == 1:
        floor = max(0, offset - STRING_LIMIT)
        start = data.rfind(b"\0", floor, offset) + 1 or floor
        end = data.find(b"\0", offset, offset + STRING_LIMIT) + 1
        if not end and offset + STRING_LIMIT >= len(data):
            end = len(data)
    else:
        zero = bytes(unit)
        while start > 0 and offset - start < STRING_LIMIT and data[start - unit : start] != zero:
            start -= unit
        while end < len(data) and end - offset < STRING_LIMIT and data[end : end + unit] != zero:
            end += unit
        end += unit
    if not end or end - start >= STRING_LIMIT:
        raise UnknownFieldError(f"is into a string of more than {STRING_LIMIT} bytes")
    return start, end


def _is_utf8(text: bytes) -> bool:
    try:
        return text.decode().isprintable()
    except UnicodeDecodeError:
        return False
