"""The data of one image: its objects by address, their initial contents, and what the pointers in them mean."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from functools import cached_property

from isoform.load.fields import Field
from isoform.load.image import Image, Section, Symbol
from isoform.load.section_names import has_no_variables, is_of_loader, is_offset_table, is_run_by_loader
from isoform.model.outcome import THREAD_POINTER

SLOT = 8
"""Bytes of an entry of the global offset table."""
NEAR = 64
"""Bytes around an object in which an address may still be meant for it (`days[month - 1]` starts below its table)."""
_THREAD_SPAN = 1 << 31
"""Bytes around the thread pointer in which thread-local objects are."""

Range = tuple[int, int]

_TEXTS = re.compile(r"\.rodata(\..*)?\.str(\d|$)")
"""Sections of texts that a linker may merge, by the names that compilers give them, and that isoform gives literals."""


def is_thread_local(address: int) -> bool:
    return abs(address - THREAD_POINTER) < _THREAD_SPAN


class DataObjects:
    """The data of one image under the addresses that both sides share."""

    def __init__(self, image: Image) -> None:
        self._image = image
        self.byte_order = image.byte_order
        self.is_linked = bool(image.base) or image.is_fixed
        self._sections = sorted((s for s in image.sections if not s.executable), key=lambda s: s.address)
        self._names: dict[int, str] = {}
        self.extents = sorted({*self._named(), *self._unnamed()})
        self._groups: list[list[Range]] = []
        """Extents that overlap are one group: a symbol may name a part of another symbol's object."""
        end = -1
        for extent in self.extents:
            if extent[0] < end:
                self._groups[-1].append(extent)
            else:
                self._groups.append([extent])
            end = max(end, extent[1])
        self._starts = [group[0][0] for group in self._groups]

    def _symbols(self) -> Iterator[Symbol]:
        for symbol in self._image.symbols:
            if symbol.size and not symbol.is_function and self._home(symbol.address) is not None:
                yield symbol

    def _named(self) -> Iterator[Range]:
        shared = {start: there for start, _, there in self._image.moved}
        for symbol in self._symbols():
            start = shared.get(symbol.address, symbol.address)
            self._names.setdefault(start, symbol.name)
            yield start, start + symbol.size

    def _unnamed(self) -> Iterator[Range]:
        """Stretches of sections that no symbol covers."""
        symbols = sorted((s.address, s.address + s.size) for s in self._symbols())
        position = 0
        for section in self._sections:
            at = section.address
            while position < len(symbols) and symbols[position][0] < section.end:
                low, high = symbols[position]
                if at < low:
                    yield at, low
                at = max(at, high)
                position += 1
            if section.end - at > 2 * SLOT and is_offset_table(section.name):
                yield from ((slot, min(slot + SLOT, section.end)) for slot in range(at, section.end, SLOT))
            elif at < section.end:
                yield at, section.end

    def _home(self, address: int) -> Section | None:
        section = self._image.section_at(self._image.own_address(address))
        return section if section is not None and not section.executable else None

    def is_slot(self, extent: Range) -> bool:
        """Whether it is an entry of the global offset table: code names the one that it uses."""
        home = self._home(extent[0])
        return extent[1] - extent[0] <= 2 * SLOT and home is not None and is_offset_table(home.name)

    def is_for_loader(self, extent: Range) -> bool:
        home = self._home(extent[0])
        return self.is_linked and home is not None and is_of_loader(home.name)

    def is_run_by_loader(self, extent: Range) -> bool:
        """Whether it is a table of constructors or destructors."""
        home = self._home(extent[0])
        return home is not None and is_run_by_loader(home.name)

    def near(self, number: int) -> Iterator[Range]:
        """The objects that a number may be an address of."""
        index = bisect_right(self._starts, number + NEAR) - 1
        while index >= 0:
            group = self._groups[index]
            yield from (extent for extent in group if extent[0] - NEAR <= number < extent[1] + NEAR)
            if max(high for _, high in group) + NEAR <= number:
                return
            index -= 1

    def overlapping(self, extent: Range) -> Iterator[Range]:
        low, high = extent
        index = bisect_right(self._starts, high - 1) - 1
        while index >= 0:
            group = self._groups[index]
            yield from (other for other in group if other[0] < high and low < other[1])
            if max(end for _, end in group) <= low:
                return
            index -= 1

    def around(self, number: int) -> Range | None:
        """The largest object that a number is an address in."""
        found = [extent for extent in self.near(number) if extent[0] <= number < extent[1]]
        return max(found, key=lambda extent: extent[1] - extent[0], default=None)

    def contents(self, extent: Range) -> bytes:
        """The initial contents according to the file."""
        start = self._image.own_address(extent[0])
        section = self._image.section_at(start)
        if section is None:
            return b""
        end = min(start + extent[1] - extent[0], section.end)
        return section.data[start - section.address : end - section.address].ljust(end - start, b"\0")

    def undetermined(self, extent: Range) -> set[int]:
        """Offsets of bytes that are not known."""
        start, size = self._image.own_address(extent[0]), extent[1] - extent[0]
        return {byte - start for byte in self._image.broken if start <= byte < start + size}

    def fields(self, extent: Range) -> Iterator[tuple[int, int, tuple[Range, ...], bool]]:
        """Pointers of an object that say what they are meant for, however far from it they are: offset, number, what
        may be meant, and whether that is one object."""
        image, start = self._image, self._image.own_address(extent[0])
        places = self._places[
            bisect_left(self._places, start) : bisect_left(self._places, start + extent[1] - extent[0])
        ]
        for place in places:
            known = image.relocated.get(place)
            if known is None:
                continue
            number = self._value(place, known)
            meant = image.meant.get(place)
            if meant is not None and meant.is_one:
                yield place - start, number, meant.ranges, True
            elif meant is not None:
                inside = any(low <= number <= high for low, high in self.near(number))
                yield place - start, number, () if inside else meant.ranges, False
            elif image.linked_words[place] == image.base:
                yield place - start, number, tuple(self.meant_in_file(number)), False

    def relocated_numbers(self, extent: Range) -> Iterator[int]:
        """What relocations put into an object, as addresses."""
        start = self._image.own_address(extent[0])
        end = start + extent[1] - extent[0]
        for place in self._relocated[bisect_left(self._relocated, start) : bisect_left(self._relocated, end)]:
            yield self._value(place, self._image.relocated[place])

    def address_fields(self, extent: Range) -> dict[int, int] | None:
        """Offsets and widths of the addresses that a linker or loader puts into an object: all other words are numbers.
        None for a program at fixed addresses, which does not tell the two apart."""
        if self._image.is_fixed:
            return None
        start = self._image.own_address(extent[0])
        places = self._relocated[
            bisect_left(self._relocated, start) : bisect_left(self._relocated, start + extent[1] - extent[0])
        ]
        known = ((place - start, self._image.relocated[place]) for place in places)
        return {offset: one.width for offset, one in known if not one.relative}

    @cached_property
    def _relocated(self) -> list[int]:
        return sorted(self._image.relocated)

    @cached_property
    def _places(self) -> list[int]:
        image = self._image
        linked = (p for p, origin in image.linked_words.items() if origin == image.base) if image.base else ()
        return sorted({*image.meant, *linked})

    def _value(self, place: int, known: Field) -> int:
        section = self._image.section_at(place)
        at = place - section.address if section is not None else 0
        content = section.data[at : at + known.width] if section is not None else b""
        return int.from_bytes(content, self._image.byte_order, signed=known.relative) + (place if known.relative else 0)

    @cached_property
    def variables(self) -> tuple[Range, ...]:
        """Where a linked file has the objects of a program."""
        return tuple(self._variables_of(self._sections))

    @cached_property
    def of_threads(self) -> tuple[Range, ...]:
        near = (s for s in self._sections if is_thread_local(s.address))
        return tuple((s.address, s.end) for s in near)

    def _variables_of(self, sections: Iterable[Section]) -> Iterator[Range]:
        own = [(s.address, s.end) for s in sections if not has_no_variables(s.name)]
        yield from own
        for start, end, there in self._image.moved:
            if any(low <= start < high for low, high in own):
                yield there, there + end - start

    def meant_in_file(self, number: int) -> tuple[Range, ...]:
        """What an address in a position-independent linked file may mean besides the objects near it."""
        if any(low <= number <= high and self.is_named((low, high)) for low, high in self.near(number)):
            return ()
        ended = [(there, there + end - start) for start, end, there in self._image.moved if end == number]
        if ended:
            return tuple(ended)
        home = self._home(number)
        if home is None or has_no_variables(home.name):
            return () if home is not None and is_offset_table(home.name) else self.variables
        return tuple(self._variables_of([home]))

    def moved_alike(self, number: int) -> list[Range]:
        """Objects of a linked file that were moved with what is at an address, which may be meant for any of them."""
        alike = [(low, high) for low, high, _ in self._image.moved_ranges.alike(number)]
        return alike if len(alike) > 1 else []

    def is_writable(self, extent: Range) -> bool:
        home = self._home(extent[0])
        return home is not None and home.writable

    def is_named(self, extent: Range) -> bool:
        return extent[0] in self._names

    def holds_texts(self, extent: Range) -> bool:
        """Whether it is in a section of nothing but texts, each up to its zero, which a linker may merge."""
        home = self._home(extent[0])
        return home is not None and _TEXTS.match(home.name) is not None

    def name(self, extent: Range) -> str:
        return self._names.get(extent[0], f"data at {extent[0]:#x}")
