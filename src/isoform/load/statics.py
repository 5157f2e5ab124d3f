"""What refers to the writable sections of an object file, collected while relocations are applied."""

from __future__ import annotations

from isoform.load.blocks import PlacedData
from isoform.load.fields import Statics
from isoform.load.parsed import LOCAL, OBJECT, SECTION_SYMBOL, FileSymbol, ParsedFile, Relocation

Range = tuple[int, int]


class StaticUses:
    def __init__(self, file: ParsedFile, data: PlacedData) -> None:
        self._file = file
        self._data = data
        self._fields: dict[int, list[tuple[int, Range | None]]] = {}
        self._pointed: dict[int, list[int]] = {}
        self._unclear: set[int] = set()

    def note(self, relocation: Relocation, in_code: bool, address: int, value: int) -> None:
        """A field at `address` that leads to a symbol's section; for data, with the address that it holds."""
        symbol = self._symbol(relocation)
        home = self._home(symbol)
        if symbol is None or home is None:
            return
        if in_code:
            self._fields.setdefault(home, []).append((address, self._range(symbol)))
        else:
            self._pointed.setdefault(home, []).append(value)

    def note_unclear(self, relocation: Relocation) -> None:
        """A field that leads there in a way that is not understood."""
        home = self._home(self._symbol(relocation))
        if home is not None:
            self._unclear.add(home)

    def _symbol(self, relocation: Relocation) -> FileSymbol | None:
        return self._file.symbols[relocation.symbol] if relocation.symbol < len(self._file.symbols) else None

    def _home(self, symbol: FileSymbol | None) -> int | None:
        section = self._file.sections.get(symbol.section) if symbol is not None else None
        writable = section is not None and section.writable and not section.executable and not section.thread_local
        return section.index if section is not None and writable else None

    def _range(self, symbol: FileSymbol) -> Range | None:
        """The place of a symbol's object. A section with only one object stands for that object."""
        if symbol.kind == SECTION_SYMBOL:
            inside = [s for s in self._file.symbols if s.section == symbol.section and s.kind != SECTION_SYMBOL]
            whole = len(inside) == 1 and inside[0].size == self._file.sections[symbol.section].size
            return self._range(inside[0]) if whole else None
        if not symbol.size:
            return None
        block = self._data.around(symbol.section, symbol.value)
        if block is None or block.torn or symbol.value + symbol.size > block.end:
            return None
        start = block.address + symbol.value - block.start
        return start, start + symbol.size

    def found(self) -> tuple[Statics, ...]:
        statics = []
        for index in sorted({home for symbol in self._file.symbols if (home := self._home(symbol)) is not None}):
            objects = tuple(self._objects(index))
            blocks = self._data.of_section(index)
            if objects and blocks:
                extents = tuple((block.address, block.address + block.size) for block in blocks)
                fields, pointed = tuple(self._fields.get(index, ())), tuple(self._pointed.get(index, ()))
                is_unclear = index in self._unclear or any(block.torn for block in blocks)
                statics.append(Statics(objects, extents, fields, pointed, is_unclear))
        return tuple(statics)

    def _objects(self, index: int) -> list[tuple[str, int, int]]:
        """The local variables of a section, except those that overlap a symbol that other files can name."""
        symbols = [s for s in self._file.symbols if s.section == index and s.kind != SECTION_SYMBOL]
        shown = [(s.value, s.value + max(s.size, 1)) for s in symbols if s.binding != LOCAL]
        found = []
        for symbol in symbols:
            extent = self._range(symbol) if symbol.binding == LOCAL and symbol.kind == OBJECT else None
            low, high = symbol.value, symbol.value + symbol.size
            if extent is not None and not any(start < high and low < end for start, end in shown):
                found.append((symbol.name, *extent))
        return found
