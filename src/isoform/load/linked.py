"""The image of a linked file: sections at their own addresses, imports resolved to their names."""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from isoform.load.blocks import is_name, is_numbered
from isoform.load.elf import (
    FILE_SYMBOL,
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
from isoform.load.image import Field, Image, Reference, Section, Symbol, WeakSymbol
from isoform.load.objects import Objects, PlacedObject
from isoform.load.shared import Shared
from isoform.load.thread import (
    GET_ADDRESS,
    MODULE,
    ThreadObject,
    bare,
    loader_sections,
    note_thread_pointer,
    thread_extent,
    thread_keys,
    thread_objects,
)
from isoform.load.versions import imported_versions
from isoform.model.linkage import Dynamic
from isoform.model.outcome import THREAD_POINTER

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
WORD = 8
MOST_PADDING = 31
"""Bytes between two objects that are there for alignment: compilers align large arrays to 32."""

_THREAD = (Dynamic.MODULE, Dynamic.OFFSET, Dynamic.DISTANCE, Dynamic.DESCRIPTOR)
_VARIABLES = (".data", ".bss", ".ldata", ".lbss", ".sdata", ".sbss")


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
    plain = Counter(s.name.rpartition(".")[0] for s in wanted if is_numbered(s))
    wanted = [s for s in wanted if not is_numbered(s) or plain[s.name.rpartition(".")[0]] == 1]
    uses = Counter(s.name for s in wanted)
    found = {s.name: s for s in wanted if uses[s.name] == 1}
    sources = _source_files(file) if len(found) < len(wanted) else {}
    local = [(f"{s.name} of {sources[s.name, s.value]}", s) for s in wanted if (s.name, s.value) in sources]
    by_source = Counter(name for name, _ in local)
    return found | {name: s for name, s in local if uses[s.name] > 1 and by_source[name] == 1}


def _source_files(file: ParsedFile) -> dict[tuple[str, int], str]:
    """By name and value of a local symbol: the source file that the symbol table says it is from."""
    found: dict[tuple[str, int], str] = {}
    source = ""
    for symbol in file.symbols:
        if symbol.kind == FILE_SYMBOL:
            source = symbol.name
        elif symbol.binding == LOCAL and source:
            found[symbol.name, symbol.value] = source
    return found


def copied_objects(file: ParsedFile) -> dict[int, FileSymbol]:
    """Objects of other files for which a program has the room, by address: copied there when it is loaded."""
    found: dict[int, FileSymbol] = {}
    meanings = file.linkage.dynamic
    for relocation in file.relocations.get(0, ()):
        if meanings.get(relocation.kind) is Dynamic.COPY and 0 < relocation.symbol < len(file.dynamic_symbols):
            symbol = file.dynamic_symbols[relocation.symbol]
            start, end = relocation.offset, relocation.offset + symbol.size
            inside = any(s.address <= start and end <= s.address + s.size for s in file.sections.values())
            if symbol.size and inside:
                found[relocation.offset] = symbol
    return found


def _part(section: Section, start: int, end: int) -> Section:
    if (start, end) == (section.address, section.end):
        return section
    data = section.data[start - section.address : end - section.address]
    return replace(section, address=start, data=data, size=end - start)


def _is_function(file: ParsedFile, symbol: FileSymbol) -> bool:
    home = file.sections[symbol.section]
    inside = home.address <= symbol.value < home.address + home.size
    global_label = symbol.kind == NOTYPE and symbol.binding != LOCAL and home.executable and inside
    return symbol.kind == FUNCTION or global_label


def _is_writable_object(file: ParsedFile, symbol: FileSymbol) -> bool:
    return symbol.kind == OBJECT and symbol.size > 0 and file.sections[symbol.section].writable


def variable_ranges(file: ParsedFile) -> list[tuple[int, int]]:
    """Where a file has its writable variables (the sections, their ends included), and what it copies from libraries:
    of that, constants are in sections that are not writable."""
    found = [s for s in file.sections.values() if s.size and s.writable and s.name.startswith(_VARIABLES)]
    copied = [(start, start + symbol.size) for start, symbol in sorted(copied_objects(file).items())]
    return [*((section.address, section.address + section.size) for section in found), *copied]


def fixed_conflict(files: Sequence[ParsedFile]) -> str:
    """Why a number in a program at fixed addresses does not tell which variable it is the address of: nothing in the
    program says which numbers are addresses, so that all variables must be at the same ones on both sides."""
    if len(files) < 2 or not any(file.fixed for file in files):
        return ""
    if all(file.fixed for file in files) and _variables(files[0]) == _variables(files[1]):
        return ""
    return "the variables of a program at fixed addresses are elsewhere in the other file; link it with -pie"


def _variables(file: ParsedFile) -> tuple[set[tuple[str, int, int]], list[tuple[int, int]]]:
    named = {(s.name, s.value, s.size) for s in defined_symbols(file) if _is_writable_object(file, s)}
    copied = {(symbol.name, start, symbol.size) for start, symbol in copied_objects(file).items()}
    return named | copied, variable_ranges(file)


def _numbers_from(content: bytes, low: int, high: int) -> Iterator[tuple[int, int]]:
    """Offset and value of every number of 32 bits in a range, wherever it begins."""
    for shift in range(4):
        words = memoryview(content[shift : shift + (len(content) - shift) // 4 * 4]).cast("I")
        yield from ((4 * index + shift, word) for index, word in enumerate(words) if low <= word <= high)


class LinkedImage:
    """Builds the Image of one linked file. `common` are the names that the other side has too."""

    def __init__(self, file: ParsedFile, side: int, shared: Shared, common: set[str]) -> None:
        self.file = file
        self.side = side
        self.linkage = file.linkage
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
        self.loader_code = 0, 0
        self.references: dict[int, Reference] = {}
        self.resolvers: dict[int, int] = {}
        self.relocated: dict[int, Field] = {}
        self.imports: dict[int, str] = {}
        self.own_slots: dict[int, int] = {}
        self.copied = copied_objects(file)
        self.conflict = shared.fixed_conflict
        self.linked_words: dict[int, int] = {}
        self.objects: dict[int, PlacedObject] = {}
        self.ends: dict[int, tuple[int, int]] = {}
        self.moved = sorted(self._moves(common))
        self.moved_starts = [start for start, _, _ in self.moved]
        self.shared_starts = sorted(self.objects)

    def build(self) -> Image:
        for relocation in self.file.relocations.get(0, ()):
            self._apply(relocation)
        if self.file.fixed:
            self._fill_fixed_words()
        stubs = list(self._linkage())
        thread_origin = note_thread_pointer(self.shared.thread, self.objects, self.linked_words)
        return Image(
            path=self.file.path,
            machine=self.file.machine,
            sections=self._all_sections(),
            symbols=tuple(sorted(self._symbols(), key=lambda s: (s.address, s.name))),
            externals=self.externals,
            aliases=self.aliases,
            broken=self.broken,
            relocated=self.relocated,
            references=self.references,
            weak=self.weak,
            weak_fields=self.weak_fields,
            at_loading=tuple(self.base + address for address in self.file.at_loading),
            base=self.base,
            is_linked=True,
            is_fixed=self.file.fixed,
            unclear=tuple((low, high, self.conflict) for low, high in variable_ranges(self.file) if self.conflict),
            moved=tuple(sorted([*self.moved, *stubs])),
            resolvers=self.resolvers,
            loader_code=self.loader_code,
            thread_origin=thread_origin,
            thread_conflict=self.shared.thread.conflicts.get(self.side, ""),
            linked_words=self.linked_words,
            spans=tuple(self._spans()),
            objects=Objects.of([self.objects.values()]),
            ends=self.ends,
            from_source=self.file.from_source,
            has_handlers=self.file.has_handlers,
            versions=imported_versions(self.file),
        )

    def _linkage(self) -> Iterator[tuple[int, int, int]]:
        """What stubs lead to; their addresses, which a program may use as those of the functions, as in `moved`."""
        for section in self.sections:
            if not section.executable or not section.name.startswith(".plt"):
                continue
            for start, slot_at in self.linkage.stubs(section.data, section.entry_size):
                stub, slot = self.base + section.address + start, section.address + slot_at
                if slot in self.own_slots:
                    self.aliases[stub] = self.own_slots[slot]
                if slot not in self.imports:
                    continue
                self.externals[stub] = self.imports[slot]
                address = self.shared.by_name(self.imports[slot])
                if address in self.resolvers:
                    self.resolvers[stub] = self.resolvers[address]
                if self.file.is_program and self._translate(stub) == stub:
                    yield stub, stub + 1, address

    def _all_sections(self) -> tuple[Section, ...]:
        found = [part for s in self.sections if not s.thread_local for part in self._without_copies(self._placed(s))]
        found.extend(self._thread_section(one) for one in self._placed_thread_objects)
        found.extend(loader_sections(self.shared.thread, self.file.byte_order))
        if self.loader_code != (0, 0):
            found.append(self.shared.loader_code(self.linkage.loader_code))
        return tuple(sorted((s for s in found if s.size), key=lambda s: s.address))

    def _without_copies(self, section: Section) -> Iterator[Section]:
        """What another file defines is not here, though room was made for it."""
        at = section.address
        for value, symbol in sorted(self.copied.items()):
            start, end = self.base + value, self.base + value + symbol.size
            if section.address <= start and end <= section.end and at <= start:
                yield _part(section, at, start)
                at = end
        yield _part(section, at, section.end)

    def _placed(self, section: FileSection) -> Section:
        content = bytes(self.contents[section.index])
        address = self.base + section.address
        return Section(section.name, address, content, section.size, section.writable, section.executable)

    def _moves(self, common: set[str]) -> Iterator[tuple[int, int, int]]:
        for value, symbol in self.copied.items():
            shared = self.base + value if self.file.fixed else self.shared.by_name(symbol.name)
            self.externals[shared] = symbol.name
            if not self.file.fixed:
                yield self.base + value, self.base + value + symbol.size, shared
        for name, symbol in shareable_names(self.file).items():
            is_left = self.file.fixed and not _is_function(self.file, symbol)
            if name not in common or symbol.value in self.copied or is_left:
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
        if self.file.fixed:
            yield from self._own_functions(common)

    def _own_functions(self, common: set[str]) -> Iterator[tuple[int, int, int]]:
        """Entries of functions that the other side has not, in a program at fixed addresses: there another function of
        the other side may be, so that each gets an address that is this side's alone."""
        shared = {symbol.value for name, symbol in shareable_names(self.file).items() if name in common}
        own = {s.value: s.name for s in defined_symbols(self.file) if _is_function(self.file, s)}
        for value in sorted(own.keys() - shared):
            address = self._named(f"{own[value]} at {value:#x} of side {self.side}", frozenset({(self.base, value)}))
            self.aliases[address] = self.base + value
            yield self.base + value, self.base + value + 1, address

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
        is_code = section.executable if section is not None else number in range(*self.loader_code)
        return None if self.file.fixed or is_code else self.base

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
        means = self.linkage.dynamic.get(relocation.kind)
        if means in (Dynamic.NOTHING, Dynamic.COPY):
            return
        if section is None or relocation.offset + 8 > section.address + section.size:
            raise unusable(self.file.path, f"a relocation lies outside every section, at {relocation.offset:#x}")
        content = self.contents[section.index]
        offset = relocation.offset - section.address
        if offset + 8 > len(content):
            content.extend(bytes(offset + 8 - len(content)))
        there = int.from_bytes(content[offset : offset + 8], self.file.byte_order)
        meant = self._meant(relocation, there)
        if meant is None:
            why = f"relocation type {relocation.kind}, which isoform has no rule for, fills {section.name}+{offset:#x}"
            self._break(relocation.offset, 2 * WORD if means in _THREAD else WORD, why)
            return
        value, origin = meant
        content[offset : offset + 8] = (value % (1 << 64)).to_bytes(8, self.file.byte_order)
        of_thread = means in _THREAD and relocation.symbol < len(self.file.dynamic_symbols)
        name = self.file.dynamic_symbols[relocation.symbol].name if of_thread else ""
        self.relocated[self.base + relocation.offset] = Field(8, relative=False, name=name)
        if origin is not None:
            self.linked_words[self.base + relocation.offset] = origin

    def _break(self, place: int, width: int, why: str) -> None:
        """Note that no byte of a field is known."""
        start = self.base + place
        self.broken.update(dict.fromkeys(range(start, start + width), f"{self.file.path}: {why}"))

    def _fill_fixed_words(self) -> None:
        """A program at fixed addresses has no relocations for pointers in its data. A word that is the address of a
        function stands for it (assumption `fixed-addresses`). What else may be the address of a function, or of
        variables that the other side has elsewhere, is not known."""
        for section in self.sections:
            if section.executable:
                continue
            content = self.contents[section.index]
            for offset, number in _numbers_from(bytes(content), *self._fixed_range):
                place = section.address + offset
                shared = self._translate(number)
                if place in self.relocated:
                    continue
                is_word = place % 8 == 0 and not any(content[offset + 4 : offset + 8]) and not section.thread_local
                if shared != number and is_word:
                    content[offset : offset + 8] = shared.to_bytes(8, self.file.byte_order)
                    self.relocated[place] = Field(8, relative=False, name="")
                elif shared != number or (self.conflict and self._is_variable(number)):
                    why = self.conflict or "it may hold the address of a function in a packed structure or in 32 bits"
                    where = f"{section.name}+{offset:#x}: {why}"
                    if section.thread_local:
                        self.shared.thread.conflicts.setdefault(self.side, f"{self.file.path}: {where}")
                    self._break(place, 4, where)

    @cached_property
    def _fixed_range(self) -> tuple[int, int]:
        starts = [section.address for section in self.sections]
        ends = [section.address + section.size for section in self.sections]
        return min(starts, default=0), max(ends, default=0)

    def _is_variable(self, number: int) -> bool:
        return any(low <= number <= high for low, high in variable_ranges(self.file))

    def _meant(self, relocation: Relocation, there: int) -> tuple[int, int | None] | None:
        """What a field is filled with, and the object that it is counted from, if it is an address."""
        if relocation.kind == PACKED_RELATIVE:
            return self._pointer(relocation.offset, self.base + there)
        means = self.linkage.dynamic.get(relocation.kind)
        if means in _THREAD:
            return self._thread_value(relocation)
        if means is Dynamic.RELATIVE:
            return self._pointer(relocation.offset, self.base + relocation.addend)
        if means is Dynamic.RESOLVED:
            return self._at(self._resolved(relocation.offset, relocation.addend))
        if means not in (Dynamic.ABSOLUTE, Dynamic.GLOBAL_DATA, Dynamic.JUMP_SLOT):
            return None
        symbol = self._dynamic_symbol(relocation)
        addend = relocation.addend if means is Dynamic.ABSOLUTE else 0
        if symbol.kind == IFUNC and symbol.section != UNDEFINED_SECTION:
            return self._at(self._resolved(relocation.offset, symbol.value), addend)
        if symbol.section == UNDEFINED_SECTION:
            return self._at(self._import(relocation.offset, symbol.name), addend)
        self.looked_up.add(symbol.value)
        if symbol.kind == OBJECT and symbol.size and means is Dynamic.GLOBAL_DATA:
            start = self._translate(self.base + symbol.value)
            self.references[self.base + relocation.offset] = Reference(
                start, False, symbol.name, ((start, start + symbol.size),)
            )
        if symbol.kind == FUNCTION:
            self.own_slots[relocation.offset] = self.base + symbol.value
        return self._at(self._translate(self.base + symbol.value), addend)

    def _pointer(self, field: int, address: int) -> tuple[int, int | None]:
        """A pointer of which the file gives only the number: to what starts there, unless nothing does. If a moved
        object ends there, it may also be one past that one (see `ends.py`)."""
        end = self._end_of_moved(address)
        section = self._section_of(field)
        if section is not None and section.name.startswith(".got"):
            return self._at(self._translate(address))
        if end is None and self._translate(address) != address and address - self.base in self._own_ends:
            why = "may be to the start of one object or one past another"
            self._break(field, WORD, f"the pointer at {field:#x} {why}")
        if end is None:
            return self._at(self._translate(address))
        if self._nothing_starts_at(address - self.base):
            return end
        self.ends[self.base + field] = end
        return self._at(self._translate(address))

    @cached_property
    def _own_ends(self) -> set[int]:
        """Where objects end that stay where this file has them."""
        moved = {*self.moved_starts}
        own = (s for s in defined_symbols(self.file) if s.kind == OBJECT and s.size)
        return {s.value + s.size for s in own if self.base + s.value not in moved}

    def _end_of_moved(self, address: int) -> tuple[int, int] | None:
        """One past the object that was moved from just before an address, and that object."""
        index = bisect_right(self.moved_starts, address - 1) - 1
        start, end, shared = self.moved[index] if index >= 0 else (0, 0, 0)
        if end != address or shared not in self.objects or not self.objects[shared].size:
            return None
        return shared + end - start, shared

    def _nothing_starts_at(self, value: int) -> bool:
        """Whether there is at most padding at an address of the file."""
        section = self._section_of(value)
        if section is None:
            return True
        following = bisect_right(self._object_starts, value - 1)
        if following == len(self._object_starts):
            return False
        offset, gap = value - section.address, self._object_starts[following] - value
        return 0 < gap <= MOST_PADDING and not any(section.data[offset : offset + gap])

    @cached_property
    def _object_starts(self) -> list[int]:
        return sorted({s.value for s in defined_symbols(self.file) if s.kind in (OBJECT, NOTYPE)})

    def _at(self, address: int, addend: int = 0) -> tuple[int, int | None]:
        return address + addend, self._origin(address)

    def _resolved(self, slot: int, resolver: int) -> int:
        """A function that a resolver chooses: by its name, or else as this side's alone."""
        names = self._resolved_names.get(resolver, set())
        name = next(iter(names)) if len(names) == 1 else ""
        if not name or len(self._resolvers_by_name[name]) > 1:
            name = f"function chosen by {self.base + resolver:#x}"
        address = self._import(slot, name)
        self.resolvers[address] = self.base + resolver
        return address

    @cached_property
    def _resolved_names(self) -> dict[int, set[str]]:
        """Names of functions by their resolvers' addresses."""
        found: dict[int, set[str]] = {}
        for symbol in (*self.file.dynamic_symbols, *self.file.symbols):
            if symbol.kind == IFUNC and symbol.section != UNDEFINED_SECTION and is_name(symbol.name):
                found.setdefault(symbol.value, set()).add(bare(symbol.name))
        return found

    @cached_property
    def _resolvers_by_name(self) -> dict[str, set[int]]:
        found: dict[str, set[int]] = {}
        for resolver, names in self._resolved_names.items():
            for name in names:
                found.setdefault(name, set()).add(resolver)
        return found

    def _dynamic_symbol(self, relocation: Relocation) -> FileSymbol:
        if relocation.symbol >= len(self.file.dynamic_symbols):
            raise unusable(self.file.path, f"the relocation at {relocation.offset:#x} names no symbol")
        return self.file.dynamic_symbols[relocation.symbol]

    # Thread-local objects

    def _thread_value(self, relocation: Relocation) -> tuple[int, int | None] | None:
        """The first word of an entry of the global offset table, by which an object is found; of a pair the
        second too, as far as no other relocation fills it. If the word is a distance, the second item is the start of
        the object that it leads to."""
        layout = self.shared.thread
        if self.side in layout.conflicts:
            return None
        symbol = self._dynamic_symbol(relocation) if relocation.symbol else None
        if symbol is not None and symbol.section == UNDEFINED_SECTION and symbol.name in self.shared.weak:
            return None  # where it is if nothing defines it depends on how it is found
        if symbol is not None:
            key = self._thread_keys.get(
                (bare(symbol.name), symbol.section, symbol.value), ("thread", bare(symbol.name))
            )
            distance, name = layout.distance(key), bare(symbol.name)
        elif self.side in layout.bases:
            distance, name = layout.bases[self.side], ""
        else:
            return None
        item = layout.origin(distance, name)
        if item is not None:
            self.objects[item.start] = item
        origin = None if item is None else item.start
        match self.linkage.dynamic[relocation.kind]:
            case Dynamic.MODULE:
                if symbol is None:
                    self._add_to_word(relocation.offset + 8, distance)
                    self._note_distance(relocation.offset + 8, origin)
                return MODULE, None
            case Dynamic.DESCRIPTOR:
                self._write_word(relocation.offset + 8, distance + relocation.addend)
                self._note_distance(relocation.offset + 8, origin)
                return self._loader_address() + self.linkage.descriptor_start, None
            case _:
                return distance + relocation.addend, origin

    def _note_distance(self, address: int, origin: int | None) -> None:
        if origin is not None:
            self.linked_words[self.base + address] = origin

    def _add_to_word(self, address: int, amount: int) -> None:
        self._write_word(address, amount, kept=True)

    def _write_word(self, address: int, value: int, kept: bool = False) -> None:
        section = self._section_of(address)
        if section is None or address + 8 > section.address + section.size:
            raise unusable(self.file.path, f"a relocation lies outside every section, at {address:#x}")
        content, offset = self.contents[section.index], address - section.address
        content.extend(bytes(max(0, offset + 8 - len(content))))
        before = int.from_bytes(content[offset : offset + 8], self.file.byte_order) if kept else 0
        content[offset : offset + 8] = ((value + before) % (1 << 64)).to_bytes(8, self.file.byte_order)

    def _loader_address(self) -> int:
        section = self.shared.loader_code(self.linkage.loader_code)
        self.loader_code = section.address, section.end
        return section.address

    @cached_property
    def _thread_keys(self) -> dict[tuple[str, int, int], Hashable]:
        return thread_keys(self.file, self.side)

    @cached_property
    def _placed_thread_objects(self) -> list[ThreadObject]:
        return [] if self.side in self.shared.thread.conflicts else thread_objects(self.file, self.side)

    def _thread_section(self, one: ThreadObject) -> Section:
        home = self.file.sections[one.section]
        address = THREAD_POINTER + self.shared.thread.distances[one.key]
        start = thread_extent(self.file)[0] + one.start - home.address
        content = bytes(self.contents.get(one.section, b"")[start : start + one.size])
        return Section(home.name, address, content, one.size, writable=True, executable=False)

    def _thread_symbols(self) -> Iterator[Symbol]:
        for one in self._placed_thread_objects:
            start = THREAD_POINTER + self.shared.thread.distances[one.key] - one.start
            for _, symbol in one.symbols:
                yield Symbol(symbol.name, start + symbol.value, symbol.size, False)

    def _import(self, slot: int, name: str) -> int:
        if name == GET_ADDRESS:
            self.own_slots[slot] = self._loader_address()
            return self.own_slots[slot]
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
            self._break(slot, WORD, f"a table holds the address of '{name}', a weak symbol")

    def _symbols(self) -> Iterator[Symbol]:
        for symbol in defined_symbols(self.file):
            home = self.file.sections[symbol.section]
            if symbol.value in self.copied:
                continue
            address = self.base + symbol.value
            if symbol.kind in (FUNCTION, OBJECT) or _is_function(self.file, symbol):
                is_function = _is_function(self.file, symbol) and home.executable
                is_local = symbol.binding == LOCAL
                size = symbol.size or (self._extent(symbol, home) if is_function else 0)
                yield Symbol(symbol.name, address, size, is_function, self._is_replaceable(symbol), is_local)
            elif symbol.kind == NOTYPE and home.executable:
                yield Symbol(symbol.name, address, 0, False)
        yield from self._thread_symbols()

    def _extent(self, symbol: FileSymbol, home: FileSection) -> int:
        """Size of a function that the file gives none: up to the next one."""
        starts = self._function_starts
        index = bisect_right(starts, symbol.value)
        end = home.address + home.size
        return min(end, starts[index]) - symbol.value if index < len(starts) else end - symbol.value

    @cached_property
    def _function_starts(self) -> list[int]:
        return sorted({s.value for s in defined_symbols(self.file) if _is_function(self.file, s)})

    def _is_replaceable(self, symbol: FileSymbol) -> bool:
        """Whether the file itself looks a symbol up when it is loaded, and so may get another file's definition."""
        return not self.file.binds_itself and symbol.value in self.looked_up
