"""The places of the objects that references of an object file mean."""

from __future__ import annotations

from collections.abc import Iterable

from isoform.load.blocks import BlockPart
from isoform.load.fields import MOST_RANGES, Meant, Reference
from isoform.load.parsed import COMMON_SECTION, SECTION_SYMBOL, THREAD_LOCAL, UNDEFINED_SECTION, FileSection, FileSymbol
from isoform.load.relocatable.placed import PlacedFile
from isoform.load.relocatable.relocations import Relocations
from isoform.load.relocatable.threads import ThreadTargets
from isoform.model.outcome import THREAD_POINTER

Range = tuple[int, int]


class Extents:
    def __init__(self, placed: PlacedFile, relocations: Relocations, threads: ThreadTargets) -> None:
        self._placed = placed
        self._file = placed.file
        self._data = placed.data
        self._relocations = relocations
        self._threads = threads
        self._meant: dict[int, Meant] = {}

    def reference(self, symbol: FileSymbol, index: int, target: int, relative: bool) -> Reference | None:
        """Which object a field refers to, if that is known. A symbol tells it. A section and a distance do not: the
        base of an index may lie in another object, or in none."""
        home = self._file.sections.get(symbol.section)
        is_common = symbol.section == COMMON_SECTION
        if not is_common and (home is None or home.index in self._placed.code or home.thread_local):
            return None
        if symbol.kind == SECTION_SYMBOL:
            assert home is not None
            ranges = () if self._relocations.are_shared_by_content(home) else self._of_section(home)
            return Reference(target, relative, home.name, ranges, self._each_of(home)) if ranges else None
        section, start = (-1 - index, 0) if is_common else (symbol.section, symbol.value)
        ranges = self._between(section, start, start + symbol.size) if symbol.size else ()
        return Reference(target, relative, symbol.name, ranges) if ranges else None

    def _of_section(self, home: FileSection) -> tuple[Range, ...]:
        """The places of the objects of a section. Nameless constants, such as jump tables, lie between and after the
        named ones, and a short run of zeros cannot be told from padding."""
        blocks = self._data.of_section(home.index)
        if not any(part.named for block in blocks for part in block.parts):
            return ()
        if not home.writable and any(block.end - block.start > _covered(block.parts) for block in blocks):
            return _joined((block.address, block.address + block.end - block.start) for block in blocks)
        return self._between(home.index, 0, home.size)

    def _each_of(self, home: FileSection) -> tuple[Range, ...]:
        """The places of the variables of a section, each by itself. (Constants may be reached by distances from a table
        of them.)"""
        return tuple(
            (block.address + part.start, block.address + part.end)
            for block in self._data.of_section(home.index)
            for part in block.parts
            if home.writable and part.named and part.start < part.end
        )

    def _between(self, section: int, start: int, end: int) -> tuple[Range, ...]:
        """The places of the objects that overlap a part of a section."""
        return _joined(
            (block.address + part.start, block.address + part.end)
            for block in self._data.of_section(section)
            for part in block.parts
            if part.start < part.end and block.start + part.start < end and start < block.start + part.end
        )

    def meant(self, symbol: FileSymbol, index: int) -> Meant:
        """The object of a symbol. For a section, or a label without a size: everything in the section."""
        if index not in self._meant:
            self._meant[index] = self._find_meant(symbol, index)
        return self._meant[index]

    def _find_meant(self, symbol: FileSymbol, index: int) -> Meant:
        if symbol.kind == THREAD_LOCAL and symbol.section != UNDEFINED_SECTION and symbol.size:
            start = THREAD_POINTER + self._threads.distance(symbol, 0).address
            return Meant(((start, start + symbol.size),), is_one=True)
        is_common = symbol.section == COMMON_SECTION
        if not is_common and not self._is_data(symbol):
            return Meant((), is_one=False)
        blocks = self._data.of_section(-1 - index if is_common else symbol.section)
        start = 0 if is_common else symbol.value
        end = start + symbol.size if symbol.size and symbol.kind != SECTION_SYMBOL else 0
        inside = [
            (max(block.start, start), min(block.end, end), block) if end else (block.start, block.end, block)
            for block in blocks
        ]
        ranges = [(b.address + low - b.start, b.address + high - b.start) for low, high, b in inside if low < high]
        return Meant(tuple(ranges), is_one=bool(end))

    def _is_data(self, symbol: FileSymbol) -> bool:
        home = self._file.sections.get(symbol.section)
        if home is None or home.index in self._placed.code or home.thread_local:
            return False
        return not self._relocations.are_shared_by_content(home)


def _covered(parts: Iterable[BlockPart]) -> int:
    """Bytes that named objects of one block take."""
    return sum(high - low for low, high in _merged((part.start, part.end) for part in parts if part.named))


def _joined(ranges: Iterable[Range]) -> tuple[Range, ...]:
    found = _merged(ranges)
    return tuple(found) if len(found) <= MOST_RANGES else ()


def _merged(ranges: Iterable[Range]) -> list[Range]:
    """In order; ranges that touch or overlap are joined."""
    merged: list[Range] = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return merged
