"""The image of a linked file: sections at their own addresses, imports resolved to their names."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Set
from dataclasses import replace

from isoform.load.gathered import Gathered
from isoform.load.image import Image, Section, Symbol
from isoform.load.linked.contents import LinkedContents
from isoform.load.linked.fixed import FixedWords
from isoform.load.linked.imports import Imports
from isoform.load.linked.moves import Moves
from isoform.load.linked.names import LinkedNames
from isoform.load.linked.threads import ThreadWords
from isoform.load.linked.words import Words
from isoform.load.objects import PlacedObject, PlacedObjects
from isoform.load.parsed import FUNCTION, LOCAL, NOTYPE, OBJECT, FileSection, FileSymbol
from isoform.load.shared import Shared
from isoform.load.thread import loader_sections, note_thread_pointer
from isoform.load.versions import imported_versions

PAGE = 4096
AROUND = 1 << 28
"""How far outside a file its code may compute an address (`table - 1000` plus an index)."""


class LinkedImage:
    """Builds the Image of one linked file. `common` are the names that the other side has too."""

    def __init__(self, names: LinkedNames, side: int, shared: Shared, common: Set[str]) -> None:
        self._names = names
        self._file = names.file
        self._side = side
        self._shared = shared
        self._gathered = Gathered(names.file.path)
        self._contents = LinkedContents(names.file)
        self._moves = Moves(names, side, self._contents, shared, common, self._gathered)
        self._base = self._moves.base
        self._imports = Imports(self._file, self._contents, self._moves, shared, self._gathered)
        self._threads = ThreadWords(self._file, side, self._base, self._contents, self._imports, shared, self._gathered)
        self._words = Words(self._file, self._contents, self._moves, self._imports, self._threads, self._gathered)

    def build(self) -> Image:
        self._words.fill()
        if self._file.fixed:
            FixedWords(self._names, self._side, self._contents, self._moves, self._shared, self._gathered).fill()
        gathered, thread = self._gathered, self._shared.thread
        stubs = list(self._imports.stubs())
        thread_origin = note_thread_pointer(thread, gathered.objects, gathered.linked_words)
        spans = tuple(self._spans())
        conflict = self._shared.fixed_conflict
        return Image(
            path=self._file.path,
            machine=self._file.machine,
            sections=tuple(sorted((s for s in self._sections() if s.size), key=lambda s: s.address)),
            symbols=tuple(sorted(self._symbols(), key=lambda s: (s.address, s.name))),
            externals=gathered.externals,
            aliases=gathered.aliases,
            broken=gathered.broken,
            relocated=gathered.relocated,
            references=gathered.references,
            weak=gathered.weak,
            weak_fields=gathered.weak_fields,
            at_loading=(
                *sorted({*gathered.resolvers.values(), *self._imports.resolver_entries()}),
                *(self._base + address for address in self._file.at_loading),
            ),
            tables_at_loading=tuple(
                (self._base + start, self._base + start + size) for start, size in self._file.tables_at_loading
            ),
            base=self._base,
            is_linked=True,
            is_fixed=self._file.fixed,
            unclear=tuple((low, high, conflict) for low, high in self._names.variable_ranges if conflict),
            moved=tuple(sorted([*self._moves.ranges, *stubs])),
            resolvers=gathered.resolvers,
            loader_code=gathered.loader_code,
            thread_origin=thread_origin,
            thread_conflict=thread.conflicts.get(self._side, ""),
            linked_words=gathered.linked_words,
            spans=spans,
            objects=PlacedObjects.of([gathered.objects.values()]),
            ends=gathered.ends,
            from_source=self._file.from_source,
            has_handlers=self._file.has_handlers,
            versions=imported_versions(self._file),
        )

    # Sections

    def _sections(self) -> Iterator[Section]:
        for section in self._contents.sections:
            if not section.thread_local:
                yield from self._without_copies(self._placed(section))
        yield from self._threads.sections()
        yield from loader_sections(self._shared.thread, self._file.byte_order)
        yield from self._gathered.extra.values()

    def _placed(self, section: FileSection) -> Section:
        content, address = self._contents.of(section.index), self._base + section.address
        return Section(section.name, address, content, section.size, section.writable, section.executable)

    def _without_copies(self, section: Section) -> Iterator[Section]:
        """What another file defines is not here, even if room was reserved for it."""
        at = section.address
        for value, symbol in sorted(self._names.copied.items()):
            start, end = self._base + value, self._base + value + symbol.size
            if section.address <= start and end <= section.end and at <= start:
                yield _part(section, at, start)
                at = end
        yield _part(section, at, section.end)

    def _spans(self) -> Iterator[tuple[int, int, int]]:
        """Everything but the code of a position-independent file: all of it moves by one distance."""
        sections = self._contents.sections
        if self._file.fixed or not sections:
            return
        end = sections[-1].address + sections[-1].size
        self._gathered.objects[self._base] = PlacedObject(self._file.path, self._base, end, end, PAGE)
        start = -AROUND
        for section in sections:
            if section.executable:
                yield self._base + start, self._base + section.address, self._base
                start = section.address + section.size
        yield self._base + start, self._base + end + AROUND, self._base

    # Symbols

    def _symbols(self) -> Iterator[Symbol]:
        for symbol in self._names.defined:
            home = self._file.sections[symbol.section]
            if symbol.value in self._names.copied:
                continue
            address, is_function = self._base + symbol.value, self._names.is_function(symbol)
            if symbol.kind in (FUNCTION, OBJECT) or is_function:
                is_code = is_function and home.executable
                size = symbol.size or (self._extent(symbol, home) if is_code else 0)
                is_local, has_no_size = symbol.binding == LOCAL, size != symbol.size
                replaceable = self._is_replaceable(symbol)
                yield Symbol(symbol.name, address, size, is_code, replaceable, is_local, has_no_size)
            elif symbol.kind == NOTYPE and home.executable:
                yield Symbol(symbol.name, address, 0, False)
        yield from self._threads.symbols()

    def _extent(self, symbol: FileSymbol, home: FileSection) -> int:
        """Size of a function for which the file gives none: up to the next one."""
        starts = self._names.function_starts
        index = bisect_right(starts, symbol.value)
        end = home.address + home.size
        return min(end, starts[index]) - symbol.value if index < len(starts) else end - symbol.value

    def _is_replaceable(self, symbol: FileSymbol) -> bool:
        """Whether the file looks a symbol up when it is loaded, and so may get another file's definition."""
        return not self._file.binds_itself and symbol.value in self._words.looked_up


def _part(section: Section, start: int, end: int) -> Section:
    if (start, end) == (section.address, section.end):
        return section
    data = section.data[start - section.address : end - section.address]
    return replace(section, address=start, data=data, size=end - start)
