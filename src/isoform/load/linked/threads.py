"""The thread-local objects of a linked file, and the words by which its code finds them."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from functools import cached_property

from isoform.load.gathered import Destination, Gathered
from isoform.load.image import Section, Symbol
from isoform.load.linked.contents import WORD, LinkedContents
from isoform.load.linked.imports import Imports
from isoform.load.parsed import UNDEFINED_SECTION, FileSymbol, ParsedFile, Relocation
from isoform.load.shared import Shared
from isoform.load.thread import MODULE, ThreadObject, bare, thread_extent, thread_keys, thread_objects
from isoform.model.linkage import Dynamic
from isoform.model.outcome import THREAD_POINTER

THREAD = (Dynamic.MODULE, Dynamic.OFFSET, Dynamic.DISTANCE, Dynamic.DESCRIPTOR)


class ThreadWords:
    def __init__(
        self,
        file: ParsedFile,
        side: int,
        base: int,
        contents: LinkedContents,
        imports: Imports,
        shared: Shared,
        gathered: Gathered,
    ) -> None:
        self._file = file
        self._side = side
        self._base = base
        self._contents = contents
        self._imports = imports
        self._shared = shared
        self._layout = shared.thread
        self._gathered = gathered

    def value(self, relocation: Relocation, symbol: FileSymbol | None) -> Destination | None:
        """The first word of an entry of the global offset table that leads to an object; for a pair also the second,
        unless another relocation fills it. A distance is relative to the object that it leads to."""
        if self._side in self._layout.conflicts:
            return None
        distance = self._distance(symbol)
        if distance is None:
            return None
        item = self._layout.origin(distance, "" if symbol is None else bare(symbol.name))
        if item is not None:
            self._gathered.objects[item.start] = item
        origin, second = None if item is None else item.start, relocation.offset + WORD
        match self._file.linkage.dynamic[relocation.kind]:
            case Dynamic.MODULE:
                if symbol is None:
                    self._write(second, self._contents.word(second) + distance, origin)
                return Destination(MODULE)
            case Dynamic.DESCRIPTOR:
                self._write(second, distance + relocation.addend, origin)
                return Destination(self._imports.loader_code() + self._file.linkage.descriptor_start)
            case _:
                return Destination(distance + relocation.addend, origin)

    def _distance(self, symbol: FileSymbol | None) -> int | None:
        """The distance of an object, or of all of the file's; None if it is not known."""
        if symbol is None:
            return self._layout.bases.get(self._side)
        if symbol.section == UNDEFINED_SECTION and symbol.name in self._shared.weak:
            return None  # an undefined object's place depends on the access model
        name = bare(symbol.name)
        return self._layout.distance(self._keys.get((name, symbol.section, symbol.value), ("thread", name)))

    def _write(self, address: int, value: int, origin: int | None) -> None:
        self._contents.write_word(address, value)
        if origin is not None:
            self._gathered.linked_words[self._base + address] = origin

    @cached_property
    def _keys(self) -> dict[tuple[str, int, int], Hashable]:
        return thread_keys(self._file, self._side)

    @cached_property
    def _objects(self) -> list[ThreadObject]:
        """The objects that have a place."""
        return [] if self._side in self._layout.conflicts else thread_objects(self._file, self._side)

    def sections(self) -> Iterator[Section]:
        """With their contents after relocation."""
        first = thread_extent(self._file)[0]
        for one in self._objects:
            home = self._file.sections[one.section]
            address = THREAD_POINTER + self._layout.distances[one.key]
            start = first + one.start - home.address
            content = self._contents.between(one.section, start, start + one.size)
            yield Section(home.name, address, content, one.size, writable=True, executable=False)

    def symbols(self) -> Iterator[Symbol]:
        for one in self._objects:
            start = THREAD_POINTER + self._layout.distances[one.key] - one.start
            for _, symbol in one.symbols:
                yield Symbol(symbol.name, start + symbol.value, symbol.size, False)
