"""What an address in a file stands for, in words that both files share."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from isoform.load.image import Image, Section, Symbol
from isoform.load.section_names import has_no_variables, is_offset_table
from isoform.model.outcome import THREAD_POINTER

SLOT_SIZE = 8
"""Bytes of an address in data, and of an entry of the global offset table."""
DISTANCE = 4
"""Bytes of a distance in a table."""
LEAST_SAME = 64
"""Bytes that are compared at an address where there is neither a text nor a named object."""
MOST_TEXT = 1 << 12
_NUMBER = re.compile(r"\.\d+$")


class Outside(NamedTuple):
    """Something that the file uses and does not define."""

    name: str
    is_weak: bool
    distance: int = 0


class Code(NamedTuple):
    entry: int
    names: frozenset[str]


class Object(NamedTuple):
    """Data with a name."""

    start: int
    """The file's own address."""
    size: int
    offset: int
    names: frozenset[str]
    is_writable: bool
    is_unique: bool
    """Whether nothing else in the file has its name."""

    @property
    def plain_names(self) -> frozenset[str]:
        """Without the numbers that a compiler adds to the names of constants (`t.0`, `CSWTCH.12`)."""
        return frozenset(_NUMBER.sub("", name) for name in self.names)


class Slot(NamedTuple):
    """An entry of the global offset table, and what it holds the address of."""

    holds: Outside | Code | Object


class Unnamed(NamedTuple):
    """A place in constants without a name."""

    own: int


Meaning = Outside | Code | Object | Slot | Unnamed


class Meanings:
    """Of the addresses in one file."""

    def __init__(self, image: Image) -> None:
        self.image = image
        self._functions: dict[int, list[Symbol]] = {}
        for symbol in image.symbols:
            if symbol.is_function:
                self._functions.setdefault(symbol.address, []).append(symbol)
        self._names = Counter(symbol.name for symbol in {(s.name, s.address): s for s in image.symbols}.values())
        _, symbols = image.data_symbols
        self._objects: dict[int, list[Symbol]] = {}
        for symbol in symbols:
            self._objects.setdefault(symbol.address, []).append(symbol)
        self._starts = sorted(self._objects)

    def of(self, number: int) -> Meaning | None:
        """None if that is not known."""
        image = self.image
        if number in image.resolvers:
            return None
        if number in image.externals:
            return self._outside(number, 0)
        entry = image.aliases.get(number, number)
        if entry in image.externals:
            return self._outside(entry, 0)
        if entry in self._functions and image.code_at(entry):
            return Code(entry, frozenset(symbol.name for symbol in self._functions[entry]))
        own = image.own_address(number)
        section = image.section_at(own)
        if section is None or section.executable:
            return None
        if is_offset_table(section.name):
            return self._slot(own, section)
        return self._object(own, section) or (Unnamed(own) if not section.writable else None)

    def _outside(self, number: int, distance: int) -> Outside:
        name = self.image.externals[number]
        return Outside(name, name in self.image.weak, distance)

    def _slot(self, own: int, section: Section) -> Slot | None:
        at = own - section.address
        if own in self.image.broken or at + SLOT_SIZE > len(section.data):
            return None
        held = self.of(int.from_bytes(section.data[at : at + SLOT_SIZE], self.image.byte_order))
        return Slot(held) if isinstance(held, Outside | Code | Object) else None

    def _object(self, own: int, section: Section) -> Object | None:
        index = bisect_right(self._starts, own) - 1
        while index >= 0 and self._starts[index] + self._longest > own:
            symbols = [s for s in self._objects[self._starts[index]] if own < s.address + s.size]
            if symbols:
                start, size = self._starts[index], max(s.size for s in symbols)
                names = frozenset(s.name for s in symbols if s.size == size)
                unique = all(self._names[name] == 1 for name in names)
                return Object(start, size, own - start, names, section.writable, unique)
            index -= 1
        return None

    def ended_at(self, number: int) -> Object | None:
        """The object that ends at an address: in a linked file an address there may belong to it, or to what begins
        there."""
        last = self.image.own_address(number) - 1
        section = self.image.section_at(last)
        item = self._object(last, section) if section is not None else None
        return item if item is not None and item.offset + 1 == item.size else None

    @cached_property
    def _longest(self) -> int:
        return max((s.size for symbols in self._objects.values() for s in symbols), default=0)

    def content(self, own: int, size: int) -> bytes:
        section = self.image.section_at(own)
        if section is None:
            return b""
        at = own - section.address
        end = min(at + size, section.size)
        return section.data[at:end].ljust(end - at, b"\0")

    def begun_at(self, own: int) -> Meaning | None:
        """The function, object or unnamed constant that begins at an address, as a distance in a table leads to."""
        section = self.image.section_at(own)
        if section is None or has_no_variables(section.name):
            return None
        meaning = self.of(self.image.shared_address(own))
        if isinstance(meaning, Object) and meaning.offset:
            return None
        return meaning if isinstance(meaning, Code | Object | Unnamed) else None

    def led_to(self, start: int, content: bytes) -> Iterator[Meaning]:
        """What the numbers in some constants lead to, if they are distances from the constants or from themselves."""
        for at in range(0, len(content) - DISTANCE + 1, DISTANCE):
            distance = int.from_bytes(content[at : at + DISTANCE], self.image.byte_order, signed=True)
            for base in {0, at} if distance else ():
                meaning = self.begun_at(start + base + distance)
                if meaning is not None and not 0 <= base + distance < len(content):
                    yield meaning

    def text(self, own: int) -> bytes | None:
        """The text that begins at an address, if there is one."""
        content = self.content(own, MOST_TEXT)
        end = content.find(b"\0")
        text = content[:end] if end >= 0 else None
        if text is None or not all(32 <= byte < 127 or byte in b"\t\n\r\x1b" for byte in text):
            return None
        return text

    def is_replaceable(self, names: frozenset[str]) -> bool:
        return any(s.replaceable for s in self.image.symbols if s.name in names)

    @cached_property
    def _ordered(self) -> list[Symbol]:
        symbols = [s for symbols in self._objects.values() for s in symbols]
        return sorted(symbols, key=lambda s: (s.name, s.address, s.size))

    @property
    def places(self) -> list[int]:
        return [s.address for s in self._ordered]

    @property
    def sizes(self) -> list[int]:
        return [s.size for s in self._ordered]

    @cached_property
    def layout(self) -> list[tuple[str, int, int]]:
        """Name, distance from the first object, and size of all named data."""
        first = self._starts[0] if self._starts else 0
        return [(s.name, s.address - first, s.size) for s in self._ordered]

    @cached_property
    def gaps(self) -> list[tuple[int, bytes]] | None:
        """Place and contents of all other data, with addresses of data in it as distances; None if it has others."""
        first, found = self._starts[0] if self._starts else 0, list[tuple[int, bytes]]()
        for section in self.image.sections:
            is_own = section.address == THREAD_POINTER  # the same on both sides, whatever the files are
            if not section.executable and not has_no_variables(section.name) and not is_own:
                content = bytearray(section.data.ljust(section.size, b"\0"))
                for symbol in self._ordered:
                    if section.address <= symbol.address < section.end:
                        at = symbol.address - section.address
                        content[at : at + symbol.size] = bytes(symbol.size)
                for place in [place for place in self.image.relocated if self._is_in_gap(section, place)]:
                    at = place - section.address
                    target = self._data_at(place, bytes(content[at : at + 8]))
                    if target is None:
                        return None
                    content[at : at + 8] = bytes(8)
                    found.append((place - first, str(target - first).encode()))
                found.append((section.address - first, bytes(content)))
        return found

    def _data_at(self, place: int, content: bytes) -> int | None:
        """Where in data the address at this place leads."""
        known = self.image.relocated[place]
        if known.width != 8 or known.relative or known.name or len(content) < 8:
            return None
        own = self.image.own_address(int.from_bytes(content, self.image.byte_order))
        section = self.image.section_at(own)
        is_data = section is not None and not section.executable and not has_no_variables(section.name)
        return own if is_data else None

    def _is_in_gap(self, section: Section, place: int) -> bool:
        return section.address <= place < section.end and self._object(place, section) is None
