"""The image of one object file: its blocks at their addresses, with relocations applied."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from isoform.load.blocks import DataBlock, is_name
from isoform.load.gathered import Gathered
from isoform.load.image import Image, Section, Symbol
from isoform.load.objects import PlacedObjects
from isoform.load.parsed import COMMON_SECTION, IFUNC, LOCAL, NOTYPE, FileSection, FileSymbol, Relocation
from isoform.load.relocatable.data import DataTargets
from isoform.load.relocatable.extents import Extents
from isoform.load.relocatable.fields import RelocatedFields
from isoform.load.relocatable.functions import Functions, is_replaceable
from isoform.load.relocatable.literals import Literals
from isoform.load.relocatable.placed import PlacedFile
from isoform.load.relocatable.relocations import Relocations, UnknownFieldError
from isoform.load.relocatable.sections import SectionTargets
from isoform.load.relocatable.symbols import SymbolTargets
from isoform.load.relocatable.threads import ThreadTargets
from isoform.load.thread import ThreadObject, loader_sections, note_thread_pointer
from isoform.model.outcome import THREAD_POINTER


class ObjectImage:
    """Builds the Image of one object file."""

    def __init__(self, placed: PlacedFile) -> None:
        self._placed = placed
        self._file = placed.file
        self._code = placed.code
        self._gathered = Gathered(placed.file.path)
        self._functions = Functions(placed.file)
        self._relocations = Relocations(placed.file, self._functions)
        self._threads = ThreadTargets(placed, self._gathered)
        literals = Literals(placed.file, self._relocations, placed.shared, self._gathered)
        data = DataTargets(placed, self._relocations, literals, self._gathered)
        self._symbols = SymbolTargets(placed, self._functions, self._relocations, data, self._gathered)
        sections = SectionTargets(placed, self._functions, self._relocations, literals, data, self._symbols)
        extents = Extents(placed, self._relocations, self._threads)
        self._fields = RelocatedFields(
            placed, self._relocations, self._symbols, sections, self._threads, extents, self._gathered
        )

    def build(self) -> Image:
        moved = tuple(sorted(self._moves()))
        sections = list(self._sections())
        gathered, thread = self._gathered, self._placed.shared.thread
        sections.extend(gathered.extra.values())
        thread_origin = note_thread_pointer(thread, gathered.objects, gathered.linked_words)
        symbols = sorted((*self._function_symbols(), *self._data_symbols()), key=lambda s: (s.address, s.name))
        return Image(
            path=self._file.path,
            machine=self._file.machine,
            sections=tuple(sorted((s for s in sections if s.size), key=lambda s: s.address)),
            symbols=tuple(symbols),
            externals=gathered.externals,
            aliases=gathered.aliases,
            broken=gathered.broken,
            references=gathered.references,
            meant=gathered.meant,
            relocated=gathered.relocated,
            statics=self._fields.statics.found(),
            at_loading=(
                *sorted(set(self._resolver_entries())),
                *(section.address for section in sections if section.name == ".init" and section.size),
            ),
            weak=gathered.weak,
            weak_fields=gathered.weak_fields,
            moved=moved,
            linked_fields=gathered.linked_fields,
            linked_words=gathered.linked_words,
            address_parts=gathered.address_parts,
            objects=PlacedObjects.of([gathered.objects.values()]),
            resolvers=gathered.resolvers,
            loader_code=gathered.loader_code,
            thread_origin=thread_origin,
            thread_conflict=thread.conflicts.get(self._placed.side, ""),
            from_source=self._file.from_source,
            has_handlers=self._file.has_handlers,
        )

    def _moves(self) -> Iterator[tuple[int, int, int]]:
        """Function entries: code that takes the address of a function in its own section needs no relocation."""
        for name, symbol in self._functions.by_name.items() if not self._file.linkage.splits_addresses else ():
            if name in self._placed.common:
                code = self._code[symbol.section] + symbol.value
                yield code, code + 1, self._symbols.function(name, code).address

    # Sections

    def _sections(self) -> Iterator[Section]:
        """The sections of the file, placed."""
        yield from (self._code_section(self._file.sections[index]) for index in self._code)
        yield from (self._data_section(block) for block in self._placed.data.blocks)
        yield from (self._thread_section(one) for one in self._threads.objects)
        yield from loader_sections(self._placed.shared.thread, self._file.byte_order)

    def _code_section(self, section: FileSection) -> Section:
        address = self._code[section.index]
        rows = self._file.relocations.get(section.index, ())
        content = self._filled(section, rows, 0, section.size, address)
        for start, end in self._file.linkage.own_addresses(section.data):
            if address + start in self._gathered.address_parts:
                continue
            why = f"the code at {section.name}+{start:#x} forms an address of its own"
            self._gathered.break_field(address + start, end - start, why)
        return Section(section.name, address, content, section.size, False, True)

    def _data_section(self, block: DataBlock) -> Section:
        if block.section < 0:
            return Section("COMMON", block.address, b"", block.size, True, False)
        section = self._file.sections[block.section]
        rows = self._relocations.between(block.section, block.start, block.end)
        content = self._filled(section, rows, block.start, block.end, block.address)
        return Section(section.name, block.address, content, block.size, section.writable, False)

    def _thread_section(self, one: ThreadObject) -> Section:
        section = self._file.sections[one.section]
        address, end = THREAD_POINTER + self._placed.shared.thread.distances[one.key], one.start + one.size
        rows = self._relocations.between(one.section, one.start, end)
        content = self._filled(section, rows, one.start, end, address)
        return Section(section.name, address, content, one.size, writable=True, executable=False)

    def _filled(self, section: FileSection, rows: Iterable[Relocation], start: int, end: int, address: int) -> bytes:
        """A part of a section, placed at an address, with its relocations applied."""
        content = bytearray(section.data[start:end])
        for relocation in rows:
            offset = relocation.offset - start
            self._fields.fill(section, relocation, content, offset, address + offset)
        return bytes(content)

    # Symbols

    def _function_symbols(self) -> Iterator[Symbol]:
        for s in self._functions.symbols:
            size = s.size or self._functions.extent(s)
            address = self._code[s.section] + s.value
            yield Symbol(s.name, address, size, True, is_replaceable(s), s.binding == LOCAL)

    def _resolver_entries(self) -> Iterator[int]:
        yield from self._gathered.resolvers.values()
        for symbol in self._file.symbols:
            if symbol.kind == IFUNC and symbol.section in self._code:
                yield self._code[symbol.section] + symbol.value

    def _data_symbols(self) -> Iterator[Symbol]:
        functions = set(self._functions.symbols)
        for index, symbol in enumerate(self._file.symbols):
            if symbol in functions or not is_name(symbol.name):
                continue
            if symbol.section in self._code and symbol.kind == NOTYPE:
                yield Symbol(symbol.name, self._code[symbol.section] + symbol.value, 0, False)
            elif index in self._symbols.object_keys or symbol.section == COMMON_SECTION:
                yield from self._data_symbol(symbol, index)
        yield from self._threads.symbols()

    def _data_symbol(self, symbol: FileSymbol, index: int) -> Iterator[Symbol]:
        """The symbol, if it has a place."""
        try:
            address = self._symbols.of(symbol, index, branches=False).address
        except UnknownFieldError:
            return
        yield Symbol(symbol.name, address, symbol.size, False, is_replaceable(symbol))
