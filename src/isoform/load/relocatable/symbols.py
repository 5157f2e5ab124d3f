"""The targets of references by the name of a symbol."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from isoform.load.blocks import Key, object_keys
from isoform.load.fields import WeakSymbol
from isoform.load.gathered import Destination, Gathered
from isoform.load.objects import PlacedObject
from isoform.load.parsed import (
    ABSOLUTE_SECTION,
    COMMON_SECTION,
    IFUNC,
    LOCAL,
    SECTION_SYMBOL,
    THREAD_LOCAL,
    UNDEFINED_SECTION,
    FileSymbol,
)
from isoform.load.relocatable.data import DataTargets
from isoform.load.relocatable.functions import Functions, is_function
from isoform.load.relocatable.placed import PlacedFile
from isoform.load.relocatable.relocations import Relocations, UnknownFieldError
from isoform.load.thread import GET_ADDRESS
from isoform.model.microop import CODE_ORIGIN


class SymbolTargets:
    def __init__(
        self,
        placed: PlacedFile,
        functions: Functions,
        relocations: Relocations,
        data: DataTargets,
        gathered: Gathered,
    ) -> None:
        self._placed = placed
        self._file = placed.file
        self._functions = functions
        self._relocations = relocations
        self._data = data
        self._gathered = gathered

    def of(self, symbol: FileSymbol, index: int, branches: bool) -> Destination:
        if symbol.section == ABSOLUTE_SECTION or index == 0:
            return Destination(symbol.value)
        if symbol.section == UNDEFINED_SECTION:
            return self._external(symbol.name)
        if symbol.kind == IFUNC:
            return self._resolved(symbol)
        if symbol.kind == THREAD_LOCAL:
            raise UnknownFieldError(f"takes the address of thread-local '{symbol.name}'")
        if symbol.section == COMMON_SECTION:
            return self._common(symbol, index)
        if symbol.section in self._placed.code:
            code = self._placed.code[symbol.section] + symbol.value
            if branches:
                return Destination(code)
            return self.function(symbol.name, code) if is_function(symbol) else Destination(code, CODE_ORIGIN)
        return self._in_data(symbol, index)

    def function(self, name: str, code: int) -> Destination:
        """The address that stands for a function of this name on both sides. A name used twice has none."""
        if name not in self._functions.by_name:
            return Destination(code, CODE_ORIGIN)
        address = self._placed.shared.by_name(name)
        self._gathered.aliases[address] = code
        return self._known_by_name(name, address)

    def _known_by_name(self, name: str, address: int) -> Destination:
        """The address of something of which only the name is known."""
        item = PlacedObject(name, address, 0, self._placed.shared.room_at(address), 1)
        return self._gathered.counted_from(item, address)

    def _external(self, name: str) -> Destination:
        shared = self._placed.shared
        if name == GET_ADDRESS:
            return Destination(self._gathered.add_loader_code(shared.loader_code(self._file.linkage.loader_code)))
        address = shared.by_name(name)
        self._gathered.externals[address] = name
        if name in shared.weak:
            bit = shared.weak[name]
            if bit is None:
                raise UnknownFieldError(f"is to '{name}', one of more weak symbols than isoform counts")
            self._gathered.weak[name] = WeakSymbol(bit, address)
        return self._known_by_name(name, address)

    def _resolved(self, symbol: FileSymbol) -> Destination:
        """A function that a resolver chooses. A local name that means several functions is private to this side."""
        if symbol.section not in self._placed.code:
            raise UnknownFieldError(f"refers to '{symbol.name}', whose resolver is no code")
        entry = self._placed.code[symbol.section] + symbol.value
        resolvers = {(s.section, s.value) for s in self._file.symbols if s.kind == IFUNC and s.name == symbol.name}
        own = f"{symbol.name} ({self._placed.side}, {entry:#x})"
        found = self._external(symbol.name if len(resolvers) == 1 else own)
        self._gathered.resolvers[found.address] = entry
        return found

    def _common(self, symbol: FileSymbol, index: int) -> Destination:
        blocks = self._placed.data.of_section(-1 - index)
        if not blocks:
            raise UnknownFieldError(f"refers to '{symbol.name}', a common symbol that has no place")
        item = PlacedObject(symbol.name, blocks[0].address, symbol.size, symbol.size, blocks[0].alignment)
        return self._gathered.counted_from(item, item.start)

    def _in_data(self, symbol: FileSymbol, index: int) -> Destination:
        home = self._file.sections.get(symbol.section)
        if home is None:
            raise UnknownFieldError(f"refers to '{symbol.name}', which is in no section that is in memory")
        found = self._data.at(home, symbol.value)
        if index in self._apart and not self._relocations.are_shared_by_content(home):
            alignment = min(home.alignment, symbol.value & -symbol.value or home.alignment)
            item = PlacedObject(symbol.name, found.address, symbol.size, symbol.size, alignment)
            found = self._gathered.counted_from(item, found.address)
        is_unseen = self._relocations.is_table_of_distances(home, symbol.value)
        return Destination(found.address) if is_unseen else found

    @cached_property
    def object_keys(self) -> dict[int, Key]:
        return object_keys(self._file)

    @cached_property
    def _apart(self) -> frozenset[int]:
        """Global objects that no reference by section can mean: a linker could put each of them anywhere. (It is not
        always clear what a reference by section means; otherwise a section is therefore one object.)"""
        hits = self._named_by_section
        found = {}
        for index, symbol in enumerate(self._file.symbols):
            if symbol.binding == LOCAL or symbol.size == 0 or index not in self.object_keys:
                continue
            if not any(symbol.value <= hit < symbol.value + symbol.size for hit in hits.get(symbol.section, ())):
                found[index] = symbol
        return frozenset(_without_overlaps(found))

    @property
    def _named_by_section(self) -> dict[int, list[int]]:
        """By section: the target offsets of references that name only the section."""
        hits: dict[int, list[int]] = {}
        for index, rows in self._file.relocations.items():
            section = self._file.sections[index]
            for relocation in rows:
                symbol = self._relocations.symbol(relocation)
                if symbol is not None and symbol.kind == SECTION_SYMBOL and symbol.section not in self._placed.code:
                    offset = self._relocations.named_offset(section, relocation)
                    hits.setdefault(symbol.section, []).append(offset)
        return hits


def _without_overlaps(symbols: Mapping[int, FileSymbol]) -> set[int]:
    """Those that share no byte with another: two names of one object are not two objects."""
    ordered = sorted(symbols, key=lambda index: (symbols[index].section, symbols[index].value))
    kept, overlapping = set(ordered), set()
    last: int | None = None
    for index in ordered:
        here = symbols[index]
        before = symbols[last] if last is not None and symbols[last].section == here.section else None
        if before is not None and last is not None and here.value < before.value + before.size:
            overlapping |= {last, index}
            if here.value + here.size <= before.value + before.size:
                continue
        last = index
    return kept - overlapping
