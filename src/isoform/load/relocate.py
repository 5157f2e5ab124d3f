"""The image of one object file: its blocks at their addresses, with relocations applied."""

from __future__ import annotations

import string
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Set
from dataclasses import replace
from functools import cached_property
from hashlib import sha256

from isoform.load.blocks import Block, Part, PlacedData, is_name, object_keys
from isoform.load.elf import (
    ABSOLUTE_SECTION,
    COMMON_SECTION,
    DEFAULT_VISIBILITY,
    FUNCTION,
    IFUNC,
    LOCAL,
    NOTYPE,
    OBJECT,
    SECTION_SYMBOL,
    THREAD_LOCAL,
    UNDEFINED_SECTION,
    WEAK,
    FileSection,
    FileSymbol,
    ParsedFile,
    Relocation,
    unusable,
)
from isoform.load.image import MOST_RANGES, Field, Image, Meant, Reference, Section, Symbol, WeakSymbol
from isoform.load.objects import Objects, PlacedObject
from isoform.load.shared import Shared
from isoform.load.statics import StaticUses
from isoform.load.thread import (
    GET_ADDRESS,
    MODULE,
    MODULE_BASE,
    ThreadConflictError,
    ThreadObject,
    loader_sections,
    note_thread_pointer,
    object_around,
    thread_keys,
    thread_objects,
)
from isoform.model.linkage import FieldUses, Formula, Rule, Use
from isoform.model.machine import Order
from isoform.model.outcome import THREAD_POINTER

SCALAR = 4
"""A pointer past the end of an object of at most this many bytes is not expected."""
STRING_LIMIT = 1 << 16
_TEXT = frozenset(string.printable.encode())


_DISTANCE_BYTES = 4


class _UnknownFieldError(Exception):
    """The value of a field cannot be determined; the message completes "the reference at … "."""


class ObjectImage:
    """Builds the Image of one object file. `code` gives the address of each executable section, `common` the
    names that the other side has too."""

    def __init__(
        self,
        file: ParsedFile,
        side: int,
        data: PlacedData,
        code: Mapping[int, int],
        shared: Shared,
        common: Set[str] = frozenset(),
    ) -> None:
        self.file = file
        self.linkage = file.linkage
        self.side = side
        self.data = data
        self.code = code
        self.shared = shared
        self.common = common
        self.externals: dict[int, str] = {}
        self.aliases: dict[int, int] = {}
        self.broken: dict[int, str] = {}
        self.extra: dict[int, Section] = {}
        self.references: dict[int, Reference] = {}
        self.meant: dict[int, Meant] = {}
        self.relocated: dict[int, Field] = {}
        self.weak: dict[str, WeakSymbol] = {}
        self.weak_fields: dict[int, tuple[str, int]] = {}
        self.linked_fields: dict[int, int] = {}
        self.linked_words: dict[int, int] = {}
        self.objects: dict[int, PlacedObject] = {}
        self._origin: int | None = None
        """Start of the object that the reference at hand was resolved to."""
        self.loader_code = 0, 0
        self.resolvers: dict[int, int] = {}
        self._readers: dict[int, FieldUses] = {}
        self.statics = StaticUses(file, data)

    def build(self) -> Image:
        moved = tuple(sorted(self._moves()))
        sections = [self._code_section(self.file.sections[index]) for index in self.code]
        sections.extend(self._data_section(block) for block in self.data.blocks)
        sections.extend(self._thread_section(one) for one in self._placed_thread_objects)
        sections.extend(loader_sections(self.shared.thread, self.file.byte_order))
        sections.extend(self.extra.values())
        thread_origin = note_thread_pointer(self.shared.thread, self.objects, self.linked_words)
        return Image(
            path=self.file.path,
            machine=self.file.machine,
            sections=tuple(sorted((s for s in sections if s.size), key=lambda s: s.address)),
            symbols=tuple(sorted(self._symbols(), key=lambda s: (s.address, s.name))),
            externals=self.externals,
            aliases=self.aliases,
            broken=self.broken,
            references=self.references,
            meant=self.meant,
            relocated=self.relocated,
            statics=self.statics.found(),
            at_loading=tuple(section.address for section in sections if section.name == ".init" and section.size),
            weak=self.weak,
            weak_fields=self.weak_fields,
            moved=moved,
            linked_fields=self.linked_fields,
            linked_words=self.linked_words,
            objects=Objects.of([self.objects.values()]),
            resolvers=self.resolvers,
            loader_code=self.loader_code,
            thread_origin=thread_origin,
            thread_conflict=self.shared.thread.conflicts.get(self.side, ""),
            from_source=self.file.from_source,
            has_handlers=self.file.has_handlers,
        )

    def _moves(self) -> Iterator[tuple[int, int, int]]:
        """Function entries: code that takes the address of a function in its own section needs no relocation."""
        for name, symbol in self._functions.items() if not self.linkage.splits_addresses else ():
            if name in self.common:
                code = self.code[symbol.section] + symbol.value
                yield code, code + 1, self._alias(name, code)

    # Sections

    def _code_section(self, section: FileSection) -> Section:
        content = bytearray(section.data)
        for relocation in self.file.relocations.get(section.index, ()):
            address = self.code[section.index] + relocation.offset
            self._apply(section, relocation, content, relocation.offset, address)
        for start, end in self.linkage.own_addresses(section.data):
            where = range(self.code[section.index] + start, self.code[section.index] + end)
            why = f"{self.file.path}: the code at {section.name}+{start:#x} forms an address of its own"
            self.broken.update(dict.fromkeys(where, why))
        return Section(section.name, self.code[section.index], bytes(content), section.size, False, True)

    def _data_section(self, block: Block) -> Section:
        if block.section < 0:
            return Section("COMMON", block.address, b"", block.size, True, False)
        section = self.file.sections[block.section]
        content = bytearray(section.data[block.start : block.end])
        for relocation in self._relocations_between(block.section, block.start, block.end):
            offset = relocation.offset - block.start
            self._apply(section, relocation, content, offset, block.address + offset)
        return Section(section.name, block.address, bytes(content), block.size, section.writable, False)

    def _relocations_between(self, section: int, start: int, end: int) -> list[Relocation]:
        ordered = self._ordered_relocations.get(section)
        if ordered is None:
            rows = self.file.relocations.get(section, ())
            ordered = self._ordered_relocations[section] = sorted(rows, key=lambda r: r.offset)
        first = bisect_left(ordered, start, key=lambda r: r.offset)
        return ordered[first : bisect_left(ordered, end, key=lambda r: r.offset)]

    @cached_property
    def _ordered_relocations(self) -> dict[int, list[Relocation]]:
        return {}

    def _apply(
        self, section: FileSection, relocation: Relocation, content: bytearray, offset: int, address: int
    ) -> None:
        rule = self._rule(relocation)
        width = rule.width if rule.is_known else 1
        if rule.formula is Formula.NOTHING:
            return
        if not 0 <= offset <= len(content) - width:
            raise unusable(self.file.path, f"a relocation lies outside section {section.index}")
        self._origin = None
        try:
            value = self._value(section, relocation, address)
        except _UnknownFieldError as error:
            self.statics.note_unclear(relocation)
            self._break(relocation, address, f"the reference at {section.name}+{relocation.offset:#x} {error}")
            return
        if rule.is_slot or (rule.is_relative and not section.executable):
            self.statics.note_unclear(relocation)
        else:
            self.statics.note(relocation, section.executable, address, value)
        field = _field(rule, bytes(content[offset : offset + width]), value, self.file.byte_order)
        if field is None:
            self._break(relocation, address, f"the value at {section.name}+{relocation.offset:#x} is too large")
            return
        content[offset : offset + width] = field
        symbol = self.file.symbols[relocation.symbol]
        home = self.file.sections.get(symbol.section)
        is_thread = symbol.kind == THREAD_LOCAL or (home is not None and home.thread_local)
        of_thread = f"{symbol.name} {relocation.addend}" if is_thread else ""
        name = self._name_of_target(symbol, relocation) if rule.is_encoded else of_thread
        self.relocated[address] = Field(width, rule.is_relative, name)
        if section.executable and not (rule.is_slot or rule.is_branch or rule.is_thread):
            target = value + address if rule.is_relative else value
            self._refer(address, symbol, relocation.symbol, target, rule.is_relative)
        if symbol.name in self.weak and not rule.is_slot and not self._branches(section, relocation):
            self.weak_fields[address] = (symbol.name, width)
            if not section.executable:
                self._break(relocation, address, f"a table holds the address of '{symbol.name}', a weak symbol")
        self._note_meant(relocation, symbol, address)
        if self._origin is not None:
            self._note_reference(section, relocation, address, self._origin)

    def _name_of_target(self, symbol: FileSymbol, relocation: Relocation) -> str:
        """What a field in several instructions leads to: an outside name, or whatever the file has there."""
        if symbol.section == UNDEFINED_SECTION:
            return f"{symbol.name} {relocation.addend}"
        return f"{symbol.section}+{symbol.value + relocation.addend:#x} of {sha256(self.file.data).hexdigest()}"

    def _rule(self, relocation: Relocation) -> Rule:
        return self.linkage.rule(relocation.kind)

    def _break(self, relocation: Relocation, address: int, why: str) -> None:
        """Note that no byte of a field is known."""
        width = self._rule(relocation).width
        self.broken.update(dict.fromkeys(range(address, address + width), f"{self.file.path}: {why}"))

    # Objects that a linker places

    def _note_meant(self, relocation: Relocation, symbol: FileSymbol, address: int) -> None:
        rule = self._rule(relocation)
        if rule.is_slot or rule.is_thread_slot or self._origin in self.extra:
            return  # the address of a table, or of a literal
        found = self._meant_by_symbol.get(relocation.symbol)
        if found is None:
            found = self._meant_by_symbol[relocation.symbol] = self._find_meant(symbol, relocation.symbol)
        if found.ranges:
            self.meant[address] = found

    @cached_property
    def _meant_by_symbol(self) -> dict[int, Meant]:
        return {}

    def _find_meant(self, symbol: FileSymbol, index: int) -> Meant:
        """The object of a symbol; of a section, or a label without a size, all that is in the section."""
        if symbol.kind == THREAD_LOCAL and symbol.section != UNDEFINED_SECTION and symbol.size:
            start = THREAD_POINTER + self._thread_distance(symbol, 0)
            return Meant(((start, start + symbol.size),), is_one=True)
        home = self.file.sections.get(symbol.section)
        if symbol.section == COMMON_SECTION:
            blocks = self.data.of_section(-1 - index)
        elif home is None or home.index in self.code or home.thread_local or self._shared_by_content(home):
            return Meant((), is_one=False)
        else:
            blocks = self.data.of_section(symbol.section)
        start = 0 if symbol.section == COMMON_SECTION else symbol.value
        end = start + symbol.size if symbol.size and symbol.kind != SECTION_SYMBOL else 0
        inside = [
            (max(block.start, start), min(block.end, end), block) if end else (block.start, block.end, block)
            for block in blocks
        ]
        ranges = [(b.address + low - b.start, b.address + high - b.start) for low, high, b in inside if low < high]
        return Meant(tuple(ranges), is_one=bool(end))

    def _note_reference(self, section: FileSection, relocation: Relocation, address: int, origin: int) -> None:
        """Distances in tables stay the numbers they are: what they are added to is where they are counted from."""
        rule = self._rule(relocation)
        if rule.is_branch and rule.is_encoded:
            return  # the number is used up by the jump itself
        if section.executable:
            self.linked_fields[address] = origin
            if rule.formula is Formula.ABSOLUTE and rule.width == 4:
                self.objects[origin] = replace(self.objects[origin], is_low=True)
        elif rule.width == 8 and rule.formula in (Formula.ABSOLUTE, Formula.THREAD_DISTANCE):
            self.linked_words[address] = origin

    def _meant(self, item: PlacedObject) -> None:
        """The reference at hand is to this."""
        self._origin = item.start
        self.objects.setdefault(item.start, item)

    def _meant_block(self, home: FileSection, block: Block) -> None:
        name, alignment = self._block_name(home, block), block.origin_alignment
        self._meant(PlacedObject(name, block.origin, block.room, block.room, alignment, skipped=block.skipped))

    def _meant_name(self, name: str, address: int) -> None:
        """What is known of something only by its name."""
        self._meant(PlacedObject(name, address, 0, self.shared.room_at(address), 1))

    def _block_name(self, home: FileSection, block: Block) -> str:
        names = [part.key[-1] for part in block.parts]
        return str(names[0]) if len(names) == 1 and block.parts[0].named else f"{home.name} of {self.file.path}"

    def _refer(self, field: int, symbol: FileSymbol, index: int, target: int, relative: bool) -> None:
        """Note which object a field refers to, where that is known. A symbol says it. A section and a distance do not:
        the base of an index may lie in another object, or in none."""
        home = self.file.sections.get(symbol.section)
        if symbol.section != COMMON_SECTION and (home is None or home.index in self.code or home.thread_local):
            return
        key = -1 - index if symbol.section == COMMON_SECTION else symbol.section
        if symbol.kind == SECTION_SYMBOL:
            assert home is not None
            if self._shared_by_content(home):
                return
            name, ranges = home.name, self._ranges_of_section(home)
        elif symbol.size:
            start = 0 if key < 0 else symbol.value
            name, ranges = symbol.name, self._ranges(key, start, start + symbol.size)
        else:
            return
        if ranges:
            self.references[field] = Reference(target, relative, name, ranges)

    def _ranges_of_section(self, home: FileSection) -> tuple[tuple[int, int], ...]:
        """Where the objects of a section are. Constants without a name, such as jump tables, lie between and behind the
        named ones, and a short one of zeros cannot be told from padding."""
        blocks = self.data.of_section(home.index)
        if not any(part.named for block in blocks for part in block.parts):
            return ()
        if not home.writable and any(block.end - block.start > _covered(block.parts) for block in blocks):
            return _joined((block.address, block.address + block.end - block.start) for block in blocks)
        return self._ranges(home.index, 0, home.size)

    def _ranges(self, section: int, start: int, end: int) -> tuple[tuple[int, int], ...]:
        """Where the objects are that overlap a part of a section."""
        return _joined(
            (block.address + part.start, block.address + part.end)
            for block in self.data.of_section(section)
            for part in block.parts
            if part.start < part.end and block.start + part.start < end and start < block.start + part.end
        )

    # Values

    def _value(self, section: FileSection, relocation: Relocation, address: int) -> int:
        rule = self._rule(relocation)
        if not rule.is_known:
            raise _UnknownFieldError(f"has relocation type {relocation.kind}, which isoform has no rule for")
        if relocation.symbol >= len(self.file.symbols):
            raise unusable(self.file.path, f"a relocation of section {section.index} names no symbol")
        symbol = self.file.symbols[relocation.symbol]
        if rule.formula is Formula.THREAD_DISTANCE:
            return self._thread_distance(symbol, relocation.addend)
        if rule.is_thread_slot:
            return self._thread_slot(symbol, rule.formula) + relocation.addend - address
        if rule.is_slot:
            return self._slot(symbol, relocation.symbol) + relocation.addend - address
        if symbol.kind == SECTION_SYMBOL:
            target = self._in_section(section, relocation, symbol)
        else:
            branches = self._branches(section, relocation)
            target = self._of_symbol(symbol, relocation.symbol, branches) + relocation.addend
        return target - address if rule.is_relative else target

    def _branches(self, section: FileSection, relocation: Relocation) -> bool:
        """Whether a field is the target of a direct call or jump."""
        rule = self._rule(relocation)
        if not section.executable or rule.is_branch:
            return section.executable
        is_distance = rule.formula is Formula.RELATIVE and rule.width == 4
        return is_distance and self.linkage.is_branch(section.data, relocation.offset)

    def _of_symbol(self, symbol: FileSymbol, index: int, branches: bool) -> int:
        if symbol.section == ABSOLUTE_SECTION or index == 0:
            return symbol.value
        if symbol.section == UNDEFINED_SECTION:
            return self._external(symbol.name)
        if symbol.kind == IFUNC:
            return self._resolved(symbol)
        if symbol.kind == THREAD_LOCAL:
            raise _UnknownFieldError(f"takes the address of thread-local '{symbol.name}'")
        if symbol.section == COMMON_SECTION:
            blocks = self.data.of_section(-1 - index)
            if not blocks:
                raise _UnknownFieldError(f"refers to '{symbol.name}', a common symbol that has no place")
            self._meant(PlacedObject(symbol.name, blocks[0].address, symbol.size, symbol.size, blocks[0].alignment))
            return blocks[0].address
        home = self.file.sections.get(symbol.section)
        if home is None:
            raise _UnknownFieldError(f"refers to '{symbol.name}', which is in no section that is in memory")
        if home.index in self.code:
            code = self.code[home.index] + symbol.value
            return code if branches or not _is_function(symbol) else self._alias(symbol.name, code)
        address = self._data_address(home, symbol.value)
        if index in self._apart and not self._shared_by_content(home):
            alignment = min(home.alignment, symbol.value & -symbol.value or home.alignment)
            self._meant(PlacedObject(symbol.name, address, symbol.size, symbol.size, alignment))
        if self._is_table_of_distances(home, symbol.value):
            self._origin = None
        return address

    @cached_property
    def _apart(self) -> frozenset[int]:
        """Global objects that no reference means which names only their section: a linker could put each of them
        anywhere. (What such a reference means is not always plain, so that a section is otherwise one object.)"""
        hits: dict[int, list[int]] = {}
        for index, rows in self.file.relocations.items():
            section = self.file.sections[index]
            for relocation in rows:
                symbol = self.file.symbols[relocation.symbol] if relocation.symbol < len(self.file.symbols) else None
                if symbol is not None and symbol.kind == SECTION_SYMBOL and symbol.section not in self.code:
                    hits.setdefault(symbol.section, []).append(self._named_offset(section, relocation))
        found = {}
        for index, symbol in enumerate(self.file.symbols):
            if symbol.binding == LOCAL or symbol.size == 0 or index not in self._object_keys:
                continue
            if not any(symbol.value <= hit < symbol.value + symbol.size for hit in hits.get(symbol.section, ())):
                found[index] = symbol
        return frozenset(_without_overlaps(found))

    def _named_offset(self, section: FileSection, relocation: Relocation) -> int:
        """The offset in its section that a reference leads to."""
        if not self._rule(relocation).is_relative:
            return relocation.addend
        use = self._reader(section).use(relocation.offset) if section.executable else None
        return relocation.addend + (4 + use.trailing if use is not None else 0)

    def _external(self, name: str) -> int:
        if name == GET_ADDRESS:
            return self._loader_code().address
        address = self.shared.by_name(name)
        self.externals[address] = name
        if name in self.shared.weak:
            bit = self.shared.weak[name]
            if bit is None:
                raise _UnknownFieldError(f"is to '{name}', one of more weak symbols than isoform counts")
            self.weak[name] = WeakSymbol(bit, address)
        self._meant_name(name, address)
        return address

    def _resolved(self, symbol: FileSymbol) -> int:
        """A function that a resolver chooses. A local name is this side's alone if it means several."""
        if symbol.section not in self.code:
            raise _UnknownFieldError(f"refers to '{symbol.name}', whose resolver is no code")
        entry = self.code[symbol.section] + symbol.value
        resolvers = {(s.section, s.value) for s in self.file.symbols if s.kind == IFUNC and s.name == symbol.name}
        address = self._external(symbol.name if len(resolvers) == 1 else f"{symbol.name} ({self.side}, {entry:#x})")
        self.resolvers[address] = entry
        return address

    def _alias(self, name: str, code: int) -> int:
        """The address that stands for a function of this name on both sides. A name used twice has none."""
        if name not in self._functions:
            return code
        address = self.shared.by_name(name)
        self.aliases[address] = code
        self._meant_name(name, address)
        return address

    def _slot(self, symbol: FileSymbol, index: int) -> int:
        if symbol.kind in (SECTION_SYMBOL, THREAD_LOCAL):
            raise _UnknownFieldError("goes through the global offset table in a way isoform has no rule for")
        content = self._of_symbol(symbol, index, branches=False).to_bytes(8, self.file.byte_order, signed=False)
        slot = self.shared.by_content(("slot", content), 8, 8)
        if self._origin is not None:
            self.linked_words[slot] = self._origin
        self._origin = None  # nobody sees where the table is
        self.extra[slot] = Section(".got", slot, content, 8, False, False)
        self.relocated[slot] = Field(8, relative=False)
        if symbol.name in self.weak:
            self.weak_fields[slot] = (symbol.name, 8)
        self._refer(slot, symbol, index, int.from_bytes(content, self.file.byte_order), relative=False)
        return slot

    # Thread-local objects

    def _thread_distance(self, symbol: FileSymbol, addend: int) -> int:
        """From the thread pointer to an object and so many bytes further."""
        layout = self.shared.thread
        if self.side in layout.conflicts:
            raise _UnknownFieldError("is to thread-local data that the other file has elsewhere")
        if symbol.name == MODULE_BASE:
            return addend
        if symbol.kind == SECTION_SYMBOL:
            one = object_around(self._thread_objects, symbol.section, addend)
            if one is None:
                raise _UnknownFieldError("refers to thread-local data without a name")
            self._meant_thread(layout.distances[one.key], one.name)
            return layout.distances[one.key] + addend - one.start
        key = self._thread_keys.get((symbol.name, symbol.section, symbol.value), ("thread", symbol.name))
        if symbol.section != UNDEFINED_SECTION and key not in layout.distances:
            raise _UnknownFieldError(f"refers to '{symbol.name}', which is in no section that is in memory")
        if symbol.section == UNDEFINED_SECTION and symbol.name in self.shared.weak:
            raise _UnknownFieldError(f"is to thread-local '{symbol.name}', a weak symbol that nothing may define")
        try:
            distance = layout.distance(key)
        except ThreadConflictError as error:
            raise _UnknownFieldError(f"is to thread-local data: the file {error}") from error
        self._meant_thread(distance, symbol.name)
        return distance + addend

    def _meant_thread(self, distance: int, name: str) -> None:
        """The reference at hand is the distance of this from the thread pointer."""
        item = self.shared.thread.origin(distance, name)
        if item is not None:
            self._meant(item)

    def _thread_slot(self, symbol: FileSymbol, formula: Formula) -> int:
        """An entry of the global offset table by which an object is found; addends count from the field only."""
        distance = 0 if formula is Formula.THREAD_MODULE else self._thread_distance(symbol, 0)
        word = (distance % (1 << 64)).to_bytes(8, self.file.byte_order)
        if formula is Formula.THREAD_DESCRIPTOR:
            descriptor = self._loader_code().address + self.linkage.descriptor_start
            content = descriptor.to_bytes(8, self.file.byte_order) + word
        else:
            content = word if formula is Formula.THREAD_SLOT else MODULE.to_bytes(8, self.file.byte_order) + word
        slot = self.shared.by_content(("thread", content), len(content), 16)
        if self._origin is not None:
            self.linked_words[slot + len(content) - len(word)] = self._origin
        self._origin = None  # nobody sees where the table is
        self.extra[slot] = Section(".got", slot, content, len(content), False, False)
        return slot

    def _loader_code(self) -> Section:
        section = self.shared.loader_code(self.linkage.loader_code)
        self.extra[section.address] = section
        self.loader_code = section.address, section.end
        return section

    @cached_property
    def _thread_objects(self) -> list[ThreadObject]:
        return thread_objects(self.file, self.side)

    @cached_property
    def _thread_keys(self) -> dict[tuple[str, int, int], Hashable]:
        return thread_keys(self.file, self.side)

    def _thread_section(self, one: ThreadObject) -> Section:
        section = self.file.sections[one.section]
        address = THREAD_POINTER + self.shared.thread.distances[one.key]
        content = bytearray(section.data[one.start : one.start + one.size])
        for relocation in self._relocations_between(one.section, one.start, one.start + one.size):
            offset = relocation.offset - one.start
            self._apply(section, relocation, content, offset, address + offset)
        return Section(section.name, address, bytes(content), one.size, writable=True, executable=False)

    def _thread_symbols(self) -> Iterator[Symbol]:
        for one in self._placed_thread_objects:
            start = THREAD_POINTER + self.shared.thread.distances[one.key] - one.start
            for _, symbol in one.symbols:
                yield Symbol(symbol.name, start + symbol.value, symbol.size, False, is_replaceable(symbol))

    @property
    def _placed_thread_objects(self) -> list[ThreadObject]:
        return [] if self.side in self.shared.thread.conflicts else self._thread_objects

    def _data_address(self, home: FileSection, offset: int) -> int:
        block = self.data.around(home.index, offset)
        if self._shared_by_content(home) and (block is None or offset >= block.end):
            return self._content_address(home, offset)
        if block is None:
            raise _UnknownFieldError(f"refers to {home.name}+{offset:#x}, where there is nothing")
        if block.torn:
            raise _UnknownFieldError(f"refers to data in {home.name} whose names overlap differently on the other side")
        self._meant_block(home, block)
        return block.address + offset - block.start

    # References that name a section and a distance

    def _in_section(self, section: FileSection, relocation: Relocation, symbol: FileSymbol) -> int:
        home = self.file.sections.get(symbol.section)
        if home is None or home.thread_local:
            raise _UnknownFieldError("refers to a section that is not in memory")
        if home.index in self.code:
            return self._in_code(section, relocation, home)
        block = self.data.around(home.index, relocation.addend)
        if block is not None and block.whole and not self._shared_by_content(home):
            return self._in_whole(section, relocation, home, block)
        if not section.executable and self._rule(relocation).is_relative:
            return self._in_table(section, relocation, home)
        use = Use(0, True) if not section.executable else self._reader(section).use(relocation.offset)
        if use is None:
            raise _UnknownFieldError("is in code that cannot be decoded")
        target = relocation.addend + (4 + use.trailing if self._rule(relocation).is_relative else 0)
        if self._is_ambiguous(home, target, use, section.executable):
            raise _UnknownFieldError(
                f"may mean more than one object at {home.name}+{target:#x}; build the file with -fdata-sections"
            )
        if self._may_hold_distances(home, target):
            raise _UnknownFieldError(
                f"may refer to distances between objects of {home.name}; build the file with -fdata-sections"
            )
        address = self._data_address(home, target) + relocation.addend - target
        if self._is_table_of_distances(home, target):
            self._origin = None
        return address

    def _may_hold_distances(self, home: FileSection, target: int) -> bool:
        """Whether there may be a table of distances from its own start to objects beside it, in a section that was cut:
        an assembler leaves no relocation for them. clang gives such a table a name of its own, or none."""
        block = self.data.around(home.index, target)
        if home.writable or block is None or block.whole or self._shared_by_content(home):
            return False
        objects = [s for s in self.file.symbols if s.section == home.index and s.kind == OBJECT]
        names = [s.name for s in objects if s.value == block.start]
        if names and not any(name.endswith(".rel") or name.startswith("reltable.") for name in names):
            return False
        starts = {s.value for s in objects}
        words = range(block.start, block.end - _DISTANCE_BYTES + 1, _DISTANCE_BYTES)
        order = self.file.byte_order
        distances = [int.from_bytes(home.data[at : at + _DISTANCE_BYTES], order, signed=True) for at in words]
        return any(block.start + distance in starts for distance in distances)

    def _in_code(self, section: FileSection, relocation: Relocation, home: FileSection) -> int:
        base, rule = self.code[home.index], self._rule(relocation)
        if section.executable and (
            self.linkage.is_branch(section.data, relocation.offset) or (rule.is_branch and rule.is_encoded)
        ):
            return base + relocation.addend
        if not section.executable and rule.is_relative:
            return base + relocation.addend  # a jump table: distances between labels
        target = relocation.addend + (4 if rule.is_relative else 0)
        function = self._function_starts.get((home.index, target))
        if function is None:
            return base + relocation.addend
        return self._alias(function, base + target) + relocation.addend - target

    def _in_whole(self, section: FileSection, relocation: Relocation, home: FileSection, block: Block) -> int:
        if block.torn:
            raise _UnknownFieldError(f"refers to data in {home.name} whose names overlap differently on the other side")
        target = self._formed_target(section, relocation)
        if target is not None and not home.writable:
            literal = self._literal(home, target, block)
            if literal is not None:
                return self._string_address(literal, 1) + relocation.addend - target
            if self._is_inner_text(home, target, block):
                raise _UnknownFieldError(f"forms an address in {home.name} of what is not plainly one literal")
        if not self._is_table_of_distances(home, self._named_offset(section, relocation)):
            self._meant_block(home, block)
        return block.address + relocation.addend

    def _is_table_of_distances(self, home: FileSection, offset: int) -> bool:
        """Whether distances to other sections are there, as in a jump table: added to the table's address they give
        those places wherever the table is, so that its number serves as well as another."""
        rows = self._relocations_between(home.index, offset, offset + 4)
        if not rows or rows[0].offset != offset or not self._rule(rows[0]).is_relative:
            return False
        return self.file.symbols[rows[0].symbol].section != home.index

    def _in_table(self, section: FileSection, relocation: Relocation, home: FileSection) -> int:
        """A table of distances from its own start: entry i of a table at `start` holds target - start, written
        as target + i - field, where i is the entry's offset in the table."""
        block = self.data.around(section.index, relocation.offset)
        part = block.part_at(relocation.offset - block.start) if block is not None else None
        if block is not None and part is not None and part.named:
            inside = relocation.offset - block.start - part.start
            return self._data_address(home, relocation.addend - inside) + inside
        starts_one = relocation.addend == 0 or home.data[relocation.addend - 1 : relocation.addend] == b"\0"
        if self._shared_by_content(home) and home.strings and starts_one:
            # Assemblers name the section of a literal only where nothing is added to the literal's own address.
            return self._data_address(home, relocation.addend)
        raise _UnknownFieldError("is a distance in a table without a name")

    def _is_ambiguous(self, home: FileSection, target: int, use: Use, in_code: bool) -> bool:
        """Whether another object than the one around `target` may be meant. Where the file is cut this matters: an
        address that is only formed may lie past the end of its object or (as a base for an index) before it."""
        if not use.forms_address or self._shared_by_content(home):
            return False
        block = self.data.around(home.index, target)
        if block is None or block.whole:
            return False
        if target == block.start:
            before = self.data.before(block)
            return before is not None and before.size > SCALAR and not self._is_jump_table(before)
        return in_code and target < block.end

    def _is_jump_table(self, block: Block) -> bool:
        """Whether nameless data is nothing but places in code: nobody takes the address of its end."""
        rows = self._relocations_between(block.section, block.start, block.end)
        width = 8 if rows and self._rule(rows[0]).is_pointer else 4
        targets = {self.file.symbols[r.symbol].section for r in rows if r.symbol < len(self.file.symbols)}
        return not block.parts[0].named and len(rows) * width == block.size and targets <= self.code.keys()

    def _reader(self, section: FileSection) -> FieldUses:
        if section.index not in self._readers:
            starts = [offset for index, offset in self._function_starts if index == section.index]
            self._readers[section.index] = self.linkage.field_uses(section.data, starts)
        return self._readers[section.index]

    # Literals

    def _shared_by_content(self, home: FileSection) -> bool:
        return home.mergeable and not self.file.relocations.get(home.index)

    def _content_address(self, home: FileSection, offset: int) -> int:
        if not 0 <= offset < home.size:
            raise _UnknownFieldError(f"refers to {home.name}+{offset:#x}, outside the section")
        unit = home.entry_size
        start = offset // unit * unit
        if not home.strings:
            content = home.data[start : start + unit]
            address = self.shared.by_content(("constant", content), unit, max(unit & -unit, home.alignment))
            self._meant(PlacedObject(f"constant {content.hex()}", address, unit, unit, home.alignment))
            self.extra[address] = Section(home.name, address, content, len(content), False, False)
            return address + offset - start
        start, end = _string_bounds(home.data, offset, unit)
        return self._string_address(home.data[start:end], unit) + offset - start

    def _string_address(self, content: bytes, unit: int) -> int:
        address = self.shared.by_content(("string", unit, content), len(content), 16)
        self._meant(PlacedObject(f"literal at {address:#x}", address, len(content), len(content), unit))
        self.extra[address] = Section(".rodata.str", address, content, len(content), False, False)
        return address

    def _formed_target(self, section: FileSection, relocation: Relocation) -> int | None:
        """Where a reference points that plainly only forms an address: lea, mov of an immediate, a data pointer."""
        rule = self._rule(relocation)
        if section.executable:
            if rule.is_relative:
                return relocation.addend + 4 if self.linkage.forms_distance(section.data, relocation.offset) else None
            return relocation.addend if self.linkage.forms_number(section.data, relocation.offset) else None
        return relocation.addend if rule.is_pointer else None

    def _literal(self, home: FileSection, target: int, block: Block) -> bytes | None:
        """The string literal at `target` of a section that is not mergeable (compilers put them there without
        optimization): text up to the zero, filling the room up to the next reference, outside all objects."""
        starts = self._literal_starts.get(home.index, [])
        part = block.part_at(target)
        if part is None or part.named or (target > part.start and home.data[target - 1]):
            return None
        index = bisect_right(starts, target)
        end = min(part.end, starts[index] if index < len(starts) else part.end)
        inside = self._relocations_between(home.index, target, end)
        end = inside[0].offset if inside else end
        if end - target > STRING_LIMIT:
            return None
        room = home.data[target:end]
        text = room[: room.find(b"\0") + 1]
        filled = text and not any(room[len(text) :]) and len(room) - len(text) < 8
        readable = _TEXT.issuperset(text[:-1]) or _is_utf8(text[:-1])
        return text if filled and readable and (len(text) > 1 or len(room) == 1) else None

    def _is_inner_text(self, home: FileSection, target: int, block: Block) -> bool:
        """Whether `target` is among literals rather than in a jump table: see `Part.inner`."""
        part = block.part_at(target)
        return part is not None and part.inner and not self._relocations_between(home.index, target, target + 1)

    @cached_property
    def _literal_starts(self) -> dict[int, list[int]]:
        """By section, the offsets that references which only form an address point to."""
        found: dict[int, set[int]] = {}
        for index, rows in self.file.relocations.items():
            section = self.file.sections[index]
            for relocation in rows:
                symbol = self.file.symbols[relocation.symbol] if relocation.symbol < len(self.file.symbols) else None
                if symbol is not None and symbol.kind == SECTION_SYMBOL:
                    target = self._formed_target(section, relocation)
                    if target is not None:
                        found.setdefault(symbol.section, set()).add(target)
        return {section: sorted(targets) for section, targets in found.items()}

    # Symbols

    @cached_property
    def _function_symbols(self) -> list[FileSymbol]:
        return function_symbols(self.file)

    @cached_property
    def _functions(self) -> dict[str, FileSymbol]:
        return object_functions(self.file)

    @cached_property
    def _function_starts(self) -> dict[tuple[int, int], str]:
        return {(s.section, s.value): s.name for s in reversed(self._function_symbols)}

    def _symbols(self) -> list[Symbol]:
        found = [
            Symbol(
                s.name,
                self.code[s.section] + s.value,
                s.size or self._extent(s),
                True,
                is_replaceable(s),
                s.binding == LOCAL,
            )
            for s in self._function_symbols
        ]
        functions = set(self._function_symbols)
        for index, symbol in enumerate(self.file.symbols):
            if symbol in functions or not is_name(symbol.name):
                continue
            if symbol.section in self.code and symbol.kind == NOTYPE:
                found.append(Symbol(symbol.name, self.code[symbol.section] + symbol.value, 0, False))
            elif index in self._object_keys or symbol.section == COMMON_SECTION:
                try:
                    address = self._of_symbol(symbol, index, False)
                    found.append(Symbol(symbol.name, address, symbol.size, False, is_replaceable(symbol)))
                except _UnknownFieldError:
                    continue
        return [*found, *self._thread_symbols()]

    @cached_property
    def _object_keys(self) -> dict[int, object]:
        return dict(object_keys(self.file))

    @cached_property
    def _starts_by_section(self) -> dict[int, list[int]]:
        found: dict[int, set[int]] = {}
        for section, start in self._function_starts:
            found.setdefault(section, {self.file.sections[section].size}).add(start)
        return {section: sorted(starts) for section, starts in found.items()}

    def _extent(self, symbol: FileSymbol) -> int:
        """Size of a function that the file gives none: up to the next one."""
        starts = self._starts_by_section[symbol.section]
        index = bisect_right(starts, symbol.value)
        return starts[index] - symbol.value if index < len(starts) else 0


def _covered(parts: Iterable[Part]) -> int:
    """Bytes that named objects of one block take."""
    return sum(high - low for low, high in _merged((part.start, part.end) for part in parts if part.named))


def _joined(ranges: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    found = _merged(ranges)
    return tuple(found) if len(found) <= MOST_RANGES else ()


def _merged(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """In order, those that touch or overlap together."""
    merged: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return merged


def _field(rule: Rule, before: bytes, value: int, order: Order) -> bytes | None:
    """A field with a value in it; None where that does not fit."""
    if rule.put is not None:
        return rule.put(before, value)
    limit = 1 << (8 * rule.width - 1)
    if rule.width == 4 and not -limit <= value < (2 * limit if rule.is_unsigned else limit):
        return None
    return (value % (2 * limit)).to_bytes(rule.width, order)


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
        raise _UnknownFieldError(f"is into a string of more than {STRING_LIMIT} bytes")
    return start, end


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


def function_symbols(file: ParsedFile) -> list[FileSymbol]:
    """Functions; where the file (an assembly text, say) declares none, every label of its code."""
    in_code = [s for s in file.symbols if is_name(s.name) and _is_in_code(file, s)]
    declared = [s for s in in_code if _is_function(s)]
    return declared or [s for s in in_code if s.kind == NOTYPE]


def object_functions(file: ParsedFile) -> dict[str, FileSymbol]:
    """Functions whose name stands for one of them only."""
    symbols = function_symbols(file)
    uses = Counter(s.name for s in symbols)
    return {s.name: s for s in symbols if uses[s.name] == 1}


def is_replaceable(symbol: FileSymbol) -> bool:
    """Whether a definition in an object file may give way to another one: a weak one to any other, and what is visible
    outside a shared library to one that is loaded earlier."""
    return symbol.binding == WEAK or (symbol.binding != LOCAL and symbol.visibility == DEFAULT_VISIBILITY)


def _is_in_code(file: ParsedFile, symbol: FileSymbol) -> bool:
    home = file.sections.get(symbol.section)
    return home is not None and home.executable and symbol.kind in (NOTYPE, FUNCTION)


def _is_function(symbol: FileSymbol) -> bool:
    return symbol.kind == FUNCTION or (symbol.kind == NOTYPE and symbol.binding != LOCAL)


def _is_utf8(text: bytes) -> bool:
    try:
        return text.decode().isprintable()
    except UnicodeDecodeError:
        return False
