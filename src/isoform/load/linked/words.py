"""The words of a linked file that a loader fills."""

from __future__ import annotations

import struct

from isoform.load.fields import Field, Reference
from isoform.load.gathered import Destination, Gathered
from isoform.load.linked.contents import WORD, LinkedContents
from isoform.load.linked.imports import Imports
from isoform.load.linked.moves import Moves
from isoform.load.linked.threads import THREAD, ThreadWords
from isoform.load.parsed import (
    FUNCTION,
    IFUNC,
    OBJECT,
    PACKED_RELATIVE,
    UNDEFINED_SECTION,
    FileSymbol,
    ParsedFile,
    Relocation,
    unusable,
)
from isoform.load.section_names import is_offset_table
from isoform.model.linkage import Dynamic

_FILLED = Field(WORD, relative=False)
_NAMED = (Dynamic.ABSOLUTE, Dynamic.GLOBAL_DATA, Dynamic.JUMP_SLOT)


class Words:
    def __init__(
        self,
        file: ParsedFile,
        contents: LinkedContents,
        moves: Moves,
        imports: Imports,
        threads: ThreadWords,
        gathered: Gathered,
    ) -> None:
        self._file = file
        self._base = moves.base
        self._contents = contents
        self._moves = moves
        self._imports = imports
        self._threads = threads
        self._gathered = gathered
        self.looked_up: set[int] = set()
        """Own addresses of definitions that relocations name."""

    def fill(self) -> None:
        """Apply the relocations in order. Most are pointers into the file itself, often the same one again: this loop
        handles the tens of thousands of a large library without a call for each."""
        meanings = self._file.linkage.dynamic
        pointers = {kind for kind, meaning in meanings.items() if meaning is Dynamic.RELATIVE}
        pack = struct.Struct("<Q" if self._file.byte_order == "little" else ">Q").pack_into
        relocated, linked_words, base = self._gathered.relocated, self._gathered.linked_words, self._base
        known: dict[int, Destination | None] = {}
        content, low, high = bytearray(), 0, -1
        for relocation in self._file.relocations.get(0, ()):
            offset, kind, _, addend = relocation
            if kind in pointers and addend not in known:
                known[addend] = self._plain_pointer(addend)
            found = known[addend] if kind in pointers else None
            if found is None:
                self._fill(relocation)
                continue
            if not low <= offset <= high:
                section, content = self._contents.home_of_word(offset)
                low, high = section.address, section.address + len(content) - WORD
            address, origin = found
            pack(content, offset - low, address)
            relocated[base + offset] = _FILLED
            if origin is not None:
                linked_words[base + offset] = origin

    def _plain_pointer(self, value: int) -> Destination | None:
        """The content of a pointer to an address of the file, if it does not depend on the pointer's place; else
        None."""
        address = self._base + value
        if self._contents.section_of(value) is None or self._moves.end_of_moved(address) is not None:
            return None
        translated = self._moves.translate(address)
        is_unclear = translated != address and value in self._moves.own_ends
        return None if is_unclear else self._moves.target(translated)

    def _fill(self, relocation: Relocation) -> None:
        means = self._file.linkage.dynamic.get(relocation.kind)
        if means in (Dynamic.NOTHING, Dynamic.COPY):
            return
        section, _ = self._contents.home_of_word(relocation.offset)
        symbol = self._thread_symbol(relocation) if means in THREAD else None
        if means in THREAD:
            found = self._threads.value(relocation, symbol)
        else:
            found = self._target(relocation, means)
        if found is None:
            where = f"{section.name}+{relocation.offset - section.address:#x}"
            why = f"relocation type {relocation.kind}, which isoform has no rule for, fills {where}"
            self._gathered.break_field(self._base + relocation.offset, 2 * WORD if means in THREAD else WORD, why)
            return
        self._contents.write_word(relocation.offset, found.address)
        place = self._base + relocation.offset
        name = self._file.dynamic_symbols[relocation.symbol].name if means in THREAD else ""
        self._gathered.relocated[place] = Field(WORD, relative=False, name=name) if name else _FILLED
        if found.origin is not None:
            self._gathered.linked_words[place] = found.origin

    def _thread_symbol(self, relocation: Relocation) -> FileSymbol | None:
        """None if all of the file's thread-local data is meant."""
        return self._symbol(relocation) if relocation.symbol else None

    def _symbol(self, relocation: Relocation) -> FileSymbol:
        if relocation.symbol >= len(self._file.dynamic_symbols):
            raise unusable(self._file.path, f"the relocation at {relocation.offset:#x} names no symbol")
        return self._file.dynamic_symbols[relocation.symbol]

    def _target(self, relocation: Relocation, means: Dynamic | None) -> Destination | None:
        """The content of a field."""
        if relocation.kind == PACKED_RELATIVE:
            return self._pointer(relocation.offset, self._base + self._contents.word(relocation.offset))
        if means is Dynamic.RELATIVE:
            return self._pointer(relocation.offset, self._base + relocation.addend)
        if means is Dynamic.RESOLVED:
            return self._moves.target(self._imports.resolved(relocation.offset, relocation.addend))
        if means not in _NAMED:
            return None
        addend = relocation.addend if means is Dynamic.ABSOLUTE else 0
        address = self._address(relocation.offset, self._symbol(relocation), means is Dynamic.GLOBAL_DATA)
        return self._moves.target(address, addend)

    def _address(self, slot: int, symbol: FileSymbol, is_data: bool) -> int:
        """The address of the symbol that a relocation names."""
        if symbol.section == UNDEFINED_SECTION:
            return self._imports.named(slot, symbol.name)
        if symbol.kind == IFUNC:
            return self._imports.resolved(slot, symbol.value)
        self.looked_up.add(symbol.value)
        own = self._base + symbol.value
        found = self._moves.translate(own)
        if symbol.kind == OBJECT and symbol.size and is_data:
            reference = Reference(found, False, symbol.name, ((found, found + symbol.size),))
            self._gathered.references[self._base + slot] = reference
        if symbol.kind == FUNCTION:
            self._imports.note_own(slot, own)
        return found

    def _pointer(self, field: int, address: int) -> Destination:
        """A pointer for which the file gives only a number. It points to what starts there, if anything does. If a
        moved object ends there, it may also be one past that object (see `ends.py`)."""
        translated = self._moves.translate(address)
        section = self._contents.section_of(field)
        if section is not None and is_offset_table(section.name):
            return self._moves.target(translated)
        end = self._moves.end_of_moved(address)
        if end is None:
            if translated != address and address - self._base in self._moves.own_ends:
                why = f"the pointer at {field:#x} may be to the start of one object or one past another"
                self._gathered.break_field(self._base + field, WORD, why)
            return self._moves.target(translated)
        if self._moves.nothing_starts_at(address - self._base):
            return Destination(*end)
        self._gathered.ends[self._base + field] = end
        return self._moves.target(translated)
