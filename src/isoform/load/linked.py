"""The image of a linked file: sections at their own addresses, imports resolved to their names."""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from isoform.load.blocks import is_name
from isoform.load.elf import (
    FUNCTION,
    IFUNC,
    LOCAL,
    NOTYPE,
    OBJECT,
    PACKED_RELATIVE,
    UNDEFINED_SECTION,
    FileSection,
    FileSymbol,
    ParsedFile,
    Relocation,
    unusable,
)
from isoform.load.image import Image, Section, Symbol, WeakSymbol
from isoform.load.objects import Objects, PlacedObject
from isoform.load.shared import Shared

BASES = (0x5555_0000_0000, 0x5556_0000_0000)
"""Where the position-independent file of each side starts."""
NEAR_BASES, NEAR_SPAN = (0x8000_0000, 0x8780_0000), 0x0780_0000
"""The same for files of at most so many bytes: within reach of the addresses that both sides share, so that the CPU
model that replays witnesses can be given code which names those."""
SPAN_LIMIT = 1 << 32
PAGE = 4096
AROUND = 1 << 28
"""So far beside a file code may compute an address from where the file is (`table - 1000` and an index)."""
FIXED_LIMIT = 1 << 47

_NONE, _ABSOLUTE, _COPY, _GLOBAL_DATA, _JUMP_SLOT, _RELATIVE, _RESOLVED, _RELATIVE_64 = 0, 1, 5, 6, 7, 8, 37, 38


def base_of(file: ParsedFile, side: int) -> int:
    if file.fixed:
        return 0
    span = max((section.address + section.size for section in file.sections.values()), default=0)
    return NEAR_BASES[side] if span <= NEAR_SPAN else BASES[side]


def loaded_sections(file: ParsedFile) -> list[FileSection]:
    """Sections that take room in memory, by address; checked not to overlap."""
    limit = FIXED_LIMIT if file.fixed else SPAN_LIMIT
    found = [s for s in file.sections.values() if s.size and not (s.thread_local and not s.data)]
    found.sort(key=lambda s: s.address)
    for section in found:
        if section.address + section.size > limit:
            raise unusable(file.path, f"section {section.index} has an impossible address")
    for earlier, later in itertools.pairwise(found):
        if later.address < earlier.address + earlier.size:
            raise unusable(file.path, f"sections {earlier.index} and {later.index} overlap")
    return found


def defined_symbols(file: ParsedFile) -> list[FileSymbol]:
    """Functions and objects of both symbol tables, each once."""
    seen: dict[tuple[str, int], FileSymbol] = {}
    for symbol in (*file.dynamic_symbols, *file.symbols):
        if symbol.section != UNDEFINED_SECTION and symbol.section in file.sections and is_name(symbol.name):
            seen.setdefault((symbol.name.partition("@")[0], symbol.value), symbol)
    return [symbol._replace(name=name) for (name, _), symbol in seen.items()]


def shareable_names(file: ParsedFile) -> dict[str, FileSymbol]:
    """Functions and writable objects by name, as far as a name stands for one thing only."""
    wanted = [s for s in defined_symbols(file) if _is_function(file, s) or _is_writable_object(file, s)]
    uses = Counter(s.name for s in wanted)
    return {s.name: s for s in wanted if uses[s.name] == 1}


def _is_function(file: ParsedFile, symbol: FileSymbol) -> bool:
    home = file.sections[symbol.section]
    global_label = symbol.kind == NOTYPE and symbol.binding != LOCAL and home.executable and bool(symbol.size)
    return symbol.kind == FUNCTION or global_label


def _is_writable_object(file: ParsedFile, symbol: FileSymbol) -> bool:
    return symbol.kind == OBJECT and symbol.size > 0 and file.sections[symbol.section].writable


class LinkedImage:
    """Builds the Image of one linked file. `common` are the names that the other side has too."""

    def __init__(self, file: ParsedFile, side: int, shared: Shared, common: set[str]) -> None:
        self.file = file
        self.base = base_of(file, side)
        self.shared = shared
        self.sections = loaded_sections(file)
        self.starts = [s.address for s in self.sections]
        self.contents = {s.index: bytearray(s.data) for s in self.sections}
        self.externals: dict[int, str] = {}
        self.looked_up: set[int] = set()
        """Own addresses of definitions that relocations name."""
        self.weak: dict[str, WeakSymbol] = {}
        self.weak_fields: dict[int, tuple[str, int]] = {}
        self.aliases: dict[int, int] = {}
        self.broken: dict[int, str] = {}
        self.imports: dict[int, str] = {}
        self.own_slots: dict[int, int] = {}
        self.linked_words: dict[int, int] = {}
        self.objects: dict[int, PlacedObject] = {}
        self.moved = sorted(self._moves(common))
        self.moved_starts = [start for start, _, _ in self.moved]
        self.shared_starts = sorted(self.objects)

    def build(self) -> Image:
        for relocation in self.file.relocations.get(0, ()):
            self._apply(relocation)
        for section in self.sections:
            if section.executable and section.name.startswith(".plt"):
                for stub, slot in self._stubs(section):
                    if slot in self.imports:
                        self.externals[stub] = self.imports[slot]
                    elif slot in self.own_slots:
                        self.aliases[stub] = self.own_slots[slot]
        return Image(
            path=self.file.path,
            machine=self.file.machine,
            sections=tuple(self._placed(section) for section in self.sections),
            symbols=tuple(sorted(self._symbols(), key=lambda s: (s.address, s.name))),
            externals=self.externals,
            aliases=self.aliases,
            broken=self.broken,
            weak=self.weak,
            weak_fields=self.weak_fields,
            base=self.base,
            moved=tuple(self.moved),
            linked_words=self.linked_words,
            spans=tuple(self._spans()),
            objects=Objects.of([self.objects.values()]),
            from_source=self.file.from_source,
        )

    def _placed(self, section: FileSection) -> Section:
        content = bytes(self.contents[section.index])
        address = self.base + section.address
        return Section(section.name, address, content, section.size, section.writable, section.executable)

    def _moves(self, common: set[str]) -> Iterator[tuple[int, int, int]]:
        for name, symbol in shareable_names(self.file).items():
            if name not in common:
                continue
            start = self.base + symbol.value
            if _is_function(self.file, symbol):
                shared = self._named(name, frozenset({(self.base, symbol.value)}))
                self.aliases[shared] = start
                yield start, start + 1, shared
            else:
                shared = self.shared.by_object(("object", name), symbol.size)
                alignment = min(self.file.sections[symbol.section].alignment, symbol.value & -symbol.value or 1)
                item = PlacedObject(name, shared, symbol.size, symbol.size, alignment)
                self.objects[shared] = replace(item, homes=frozenset({(self.base, symbol.value)}))
                yield start, start + symbol.size, shared

    def _named(self, name: str, homes: frozenset[tuple[int, int]] = frozenset()) -> int:
        address = self.shared.by_name(name)
        if address not in self.objects:
            self.objects[address] = PlacedObject(name, address, 0, self.shared.room_at(address), 1, homes=homes)
        return address

    def _spans(self) -> Iterator[tuple[int, int, int]]:
        """All but the code of a file that can be anywhere: it is at one distance from where the file is loaded."""
        if self.file.fixed or not self.sections:
            return
        end = self.sections[-1].address + self.sections[-1].size
        self.objects[self.base] = PlacedObject(self.file.path, self.base, end, end, PAGE)
        start = -AROUND
        for section in self.sections:
            if section.executable:
                yield self.base + start, self.base + section.address, self.base
                start = section.address + section.size
        yield self.base + start, self.base + end + AROUND, self.base

    def _origin(self, number: int) -> int | None:
        """The object that a pointer is counted from; None for code, and in a file that is at fixed addresses."""
        if number in self.objects:
            return number
        index = bisect_right(self.shared_starts, number) - 1
        if index >= 0 and number < self.shared_starts[index] + self.objects[self.shared_starts[index]].size:
            return self.shared_starts[index]
        section = self._section_of(number - self.base)
        return None if self.file.fixed or (section is not None and section.executable) else self.base

    def _translate(self, address: int) -> int:
        index = bisect_right(self.moved_starts, address) - 1
        if index >= 0 and address < self.moved[index][1]:
            return address - self.moved[index][0] + self.moved[index][2]
        return address

    # Relocations

    def _section_of(self, address: int) -> FileSection | None:
        index = bisect_right(self.starts, address) - 1
        if index < 0 or address >= self.sections[index].address + self.sections[index].size:
            return None
        return self.sections[index]

    def _apply(self, relocation: Relocation) -> None:
        section = self._section_of(relocation.offset)
        if relocation.kind in (_NONE, _COPY):
            return
        if section is None or relocation.offset + 8 > section.address + section.size:
            raise unusable(self.file.path, f"a relocation lies outside every section, at {relocation.offset:#x}")
        content = self.contents[section.index]
        offset = relocation.offset - section.address
        if offset + 8 > len(content):
            content.extend(bytes(offset + 8 - len(content)))
        there = int.from_bytes(content[offset : offset + 8], "little")
        meant = self._meant(relocation, there)
        if meant is None:
            why = f"relocation type {relocation.kind}, which isoform has no rule for, fills {section.name}"
            self.broken[self.base + relocation.offset] = f"{self.file.path}: {why}+{offset:#x}"
            return
        address, addend = meant
        content[offset : offset + 8] = ((address + addend) % (1 << 64)).to_bytes(8, "little")
        origin = self._origin(address)
        if origin is not None:
            self.linked_words[self.base + relocation.offset] = origin

    def _meant(self, relocation: Relocation, there: int) -> tuple[int, int] | None:
        """The address that a field is filled with, as that of something and a distance from there."""
        kind = relocation.kind
        if kind == PACKED_RELATIVE:
            return self._translate(self.base + there), 0
        if kind in (_RELATIVE, _RELATIVE_64):
            return self._translate(self.base + relocation.addend), 0
        if kind == _RESOLVED:
            return self._import(relocation.offset, f"ifunc_{relocation.addend:x}"), 0
        if kind not in (_ABSOLUTE, _GLOBAL_DATA, _JUMP_SLOT):
            return None
        if relocation.symbol >= len(self.file.dynamic_symbols):
            raise unusable(self.file.path, f"the relocation at {relocation.offset:#x} names no symbol")
        symbol = self.file.dynamic_symbols[relocation.symbol]
        addend = relocation.addend if kind == _ABSOLUTE else 0
        if symbol.section == UNDEFINED_SECTION or symbol.kind == IFUNC:
            return self._import(relocation.offset, symbol.name), addend
        self.looked_up.add(symbol.value)
        if symbol.kind == FUNCTION:
            self.own_slots[relocation.offset] = self.base + symbol.value
        return self._translate(self.base + symbol.value), addend

    def _import(self, slot: int, name: str) -> int:
        self.imports[slot] = name
        address = self._named(name)
        self.externals[address] = name
        if name in self.shared.weak:
            self._weak(slot, name, self.shared.weak[name], address)
        return address

    def _weak(self, slot: int, name: str, bit: int | None, address: int) -> None:
        section = self._section_of(slot)
        if bit is not None:
            self.weak[name] = WeakSymbol(bit, address)
            self.weak_fields[self.base + slot] = (name, 8)
        if bit is None or section is None or not section.name.startswith(".got"):
            self.broken[self.base + slot] = f"{self.file.path}: a table holds the address of '{name}', a weak symbol"

    def _stubs(self, section: FileSection) -> Iterator[tuple[int, int]]:
        """Linkage stubs, with the slot of the global offset table that each jumps through (`ff 25 distance`)."""
        step = section.entry_size if section.entry_size in (8, 16) else 16
        for start in range(0, len(section.data), step):
            entry = section.data[start : start + step]
            at = entry.find(b"\xff\x25")
            if at < 0 or at + 6 > len(entry):
                continue
            distance = int.from_bytes(entry[at + 2 : at + 6], "little", signed=True)
            yield self.base + section.address + start, section.address + start + at + 6 + distance

    def _symbols(self) -> Iterator[Symbol]:
        for symbol in defined_symbols(self.file):
            home = self.file.sections[symbol.section]
            if symbol.kind in (FUNCTION, OBJECT) or _is_function(self.file, symbol):
                is_function = _is_function(self.file, symbol) and home.executable
                replaceable = self._is_replaceable(symbol)
                yield Symbol(symbol.name, self.base + symbol.value, symbol.size, is_function, replaceable)

    def _is_replaceable(self, symbol: FileSymbol) -> bool:
        """Whether the file itself looks a symbol up when it is loaded, and so may get another file's definition."""
        return not self.file.binds_itself and symbol.value in self.looked_up
