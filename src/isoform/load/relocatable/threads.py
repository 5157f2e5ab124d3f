"""The targets of references to the thread-local objects of an object file."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from functools import cached_property

from isoform.load.gathered import Destination, Gathered
from isoform.load.image import Section, Symbol
from isoform.load.objects import PlacedObject
from isoform.load.parsed import SECTION_SYMBOL, UNDEFINED_SECTION, FileSymbol
from isoform.load.relocatable.functions import is_replaceable
from isoform.load.relocatable.placed import PlacedFile
from isoform.load.relocatable.relocations import UnknownFieldError
from isoform.load.thread import (
    MODULE,
    MODULE_BASE,
    ThreadConflictError,
    ThreadObject,
    object_around,
    thread_keys,
    thread_objects,
)
from isoform.model.linkage import Formula
from isoform.model.outcome import THREAD_POINTER


class ThreadTargets:
    def __init__(self, placed: PlacedFile, gathered: Gathered) -> None:
        self._placed = placed
        self._file = placed.file
        self._layout = placed.shared.thread
        self._gathered = gathered

    def distance(self, symbol: FileSymbol, addend: int) -> Destination:
        """The distance from the thread pointer to an object, plus a number of bytes."""
        if self._placed.side in self._layout.conflicts:
            raise UnknownFieldError("is to thread-local data that the other file has elsewhere")
        if symbol.name == MODULE_BASE:
            return Destination(addend)
        if symbol.kind == SECTION_SYMBOL:
            one = object_around(self._objects, symbol.section, addend)
            if one is None:
                raise UnknownFieldError("refers to thread-local data without a name")
            return self._counted(self._layout.distances[one.key], one.name, addend - one.start)
        return self._counted(self._distance_of(symbol), symbol.name, addend)

    def _distance_of(self, symbol: FileSymbol) -> int:
        key = self._keys.get((symbol.name, symbol.section, symbol.value), ("thread", symbol.name))
        if symbol.section != UNDEFINED_SECTION and key not in self._layout.distances:
            raise UnknownFieldError(f"refers to '{symbol.name}', which is in no section that is in memory")
        if symbol.section == UNDEFINED_SECTION and symbol.name in self._placed.shared.weak:
            raise UnknownFieldError(f"is to thread-local '{symbol.name}', a weak symbol that nothing may define")
        try:
            return self._layout.distance(key)
        except ThreadConflictError as error:
            raise UnknownFieldError(f"is to thread-local data: the file {error}") from error

    def _counted(self, distance: int, name: str, addend: int) -> Destination:
        """A number that is the distance of something from the thread pointer."""
        item = self._layout.origin(distance, name)
        number = distance + addend
        return Destination(number) if item is None else self._gathered.counted_from(item, number)

    def slot(self, symbol: FileSymbol, formula: Formula) -> Destination:
        """An entry of the global offset table that leads to an object; addends count from the field only."""
        found = Destination(0) if formula is Formula.THREAD_MODULE else self.distance(symbol, 0)
        order = self._file.byte_order
        word = (found.address % (1 << 64)).to_bytes(8, order)
        if formula is Formula.THREAD_DESCRIPTOR:
            descriptor = self._loader_code() + self._file.linkage.descriptor_start
            content = descriptor.to_bytes(8, order) + word
        else:
            content = word if formula is Formula.THREAD_SLOT else MODULE.to_bytes(8, order) + word
        slot = self._placed.shared.by_content(("thread", content), len(content), 16)
        if found.origin is not None:
            self._gathered.linked_words[slot + len(content) - len(word)] = found.origin
        self._gathered.extra[slot] = Section(".got", slot, content, len(content), False, False)
        item = PlacedObject(
            f"the entry for {symbol.name} in the global offset table", slot, len(content), len(content), 8
        )
        return self._gathered.counted_from(item, slot)

    def _loader_code(self) -> int:
        code = self._placed.shared.loader_code(self._file.linkage.loader_code)
        return self._gathered.add_loader_code(code)

    @cached_property
    def _objects(self) -> list[ThreadObject]:
        return thread_objects(self._file, self._placed.side)

    @cached_property
    def _keys(self) -> dict[tuple[str, int, int], Hashable]:
        return thread_keys(self._file, self._placed.side)

    @property
    def objects(self) -> list[ThreadObject]:
        """The objects that have a place."""
        return [] if self._placed.side in self._layout.conflicts else self._objects

    def symbols(self) -> Iterator[Symbol]:
        for one in self.objects:
            start = THREAD_POINTER + self._layout.distances[one.key] - one.start
            for _, symbol in one.symbols:
                yield Symbol(symbol.name, start + symbol.value, symbol.size, False, is_replaceable(symbol))
