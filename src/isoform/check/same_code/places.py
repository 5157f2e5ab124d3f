"""What an address in a file stands for, in words that two files share."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from functools import cached_property
from typing import NamedTuple

from isoform.load.image import Image, Symbol
from isoform.load.section_names import has_no_variables, is_offset_table

SLOT_BYTES = 8
_NUMBER = re.compile(r"\.\d+$")
_MOST_TEXT = 1 << 16
_LITERAL = ".rodata.str"
"""The section of one literal of an object file."""


class OutsideName(NamedTuple):
    name: str
    is_weak: bool
    version: str | None


class FunctionAt(NamedTuple):
    entry: int
    names: frozenset[str]


class ObjectAt(NamedTuple):
    start: int
    size: int
    offset: int
    names: frozenset[str]
    is_writable: bool
    is_unique: bool

    @property
    def plain_names(self) -> frozenset[str]:
        """Without the numbers that compilers add to the names of constants (`t.0`)."""
        return frozenset(_NUMBER.sub("", name) for name in self.names)


class ConstantAt(NamedTuple):
    """In constants, and without a name."""

    own: int


class SlotAt(NamedTuple):
    """An entry of the global offset table."""

    holds: OutsideName | FunctionAt | ObjectAt


Thing = OutsideName | FunctionAt | ObjectAt | ConstantAt | SlotAt


class WordsForAddresses:
    """Of one file."""

    def __init__(self, image: Image) -> None:
        self.image = image
        self._functions: dict[int, set[str]] = {}
        for symbol in image.symbols:
            if symbol.is_function:
                self._functions.setdefault(symbol.address, set()).add(symbol.name)
        self._names = Counter(name for name, _ in {(s.name, s.address) for s in image.symbols})

    def thing_at(self, number: int) -> Thing | None:
        """None if it is not known what is there."""
        image = self.image
        entry = image.aliases.get(number, number)
        if entry in image.resolvers or number in image.resolvers:
            return None
        if entry in image.externals:
            name = image.externals[entry]
            return OutsideName(name, name in image.weak, image.versions.get(name))
        if entry in self._functions and image.code_at(entry):
            return FunctionAt(entry, frozenset(self._functions[entry]))
        own = image.own_address(number)
        section = image.section_at(own)
        if section is None or section.executable:
            return None
        if is_offset_table(section.name):
            return self._slot(own)
        item = self._object(own, section.writable)
        return item if item is not None or section.writable else ConstantAt(own)

    def _slot(self, own: int) -> SlotAt | None:
        content = self.content(own, SLOT_BYTES)
        if len(content) < SLOT_BYTES or own in self.image.broken:
            return None
        held = self.thing_at(int.from_bytes(content, "little"))
        return SlotAt(held) if isinstance(held, OutsideName | FunctionAt | ObjectAt) else None

    @cached_property
    def _objects(self) -> list[Symbol]:
        found = [s for s in self.image.symbols if s.size and not s.is_function and self._is_data(s.address)]
        return sorted(found, key=lambda s: s.address)

    def _is_data(self, address: int) -> bool:
        section = self.image.section_at(address)
        return section is not None and not section.executable and not has_no_variables(section.name)

    def _object(self, own: int, is_writable: bool) -> ObjectAt | None:
        """The object that begins last before the address and has it in it."""
        last = bisect_right(self._objects, own, key=lambda s: s.address)
        around = [s for s in self._objects[:last] if own < s.address + s.size]
        if not around:
            return None
        start = max(s.address for s in around)
        size = max(s.size for s in around if s.address == start)
        names = frozenset(s.name for s in around if s.address == start and s.size == size)
        return ObjectAt(start, size, own - start, names, is_writable, all(self._names[name] == 1 for name in names))

    def ended_at(self, number: int) -> ObjectAt | None:
        """The object that ends at an address."""
        last = self.image.own_address(number) - 1
        section = self.image.section_at(last)
        item = self._object(last, section.writable) if section is not None else None
        return item if item is not None and item.offset + 1 == item.size else None

    def content(self, own: int, size: int) -> bytes:
        section = self.image.section_at(own)
        if section is None:
            return b""
        at = own - section.address
        return section.data[at : at + size].ljust(min(size, section.size - at), b"\0")

    def text(self, own: int) -> tuple[bytes, bytes] | None:
        """The text at an address, with its zero; of a literal of an object file, all of it. Before it, what lies
        between it and the last zero: an address may be in the middle of a text."""
        content = self.content(own, _MOST_TEXT)
        end, section = content.find(b"\0"), self.image.section_at(own)
        is_text = end > 0 and all(32 <= byte < 127 or byte in b"\t\n\r\x1b" for byte in content[:end])
        if not is_text or section is None:
            return None
        if section.name.startswith(_LITERAL):
            return section.data[: own - section.address], section.data[own - section.address :]
        start = max(section.address, own - _MOST_TEXT, *(s.address + s.size for s in self._objects if s.address < own))
        before = self.content(start, own - start)
        return before[before.rfind(b"\0") + 1 :], content[: end + 1]

    def begun_at(self, own: int) -> Thing | None:
        """What begins at an address, as the entry of a table of distances may lead to."""
        section = self.image.section_at(own)
        if section is None or has_no_variables(section.name):
            return None
        found = self.thing_at(self.image.shared_address(own))
        if isinstance(found, ObjectAt) and found.offset:
            return None
        return found if isinstance(found, FunctionAt | ObjectAt | ConstantAt) else None

    def parts_around(self, address: int) -> set[tuple[int, int]]:
        """The parts of the function that an address is in."""
        around = [s for s in self.image.symbols if s.is_function and s.address <= address < s.address + s.size]
        names = {s.name.partition(".cold")[0] for s in around}
        entries = {s.address for s in self.image.symbols if s.is_function and s.name in names} | {
            s.address for s in around
        }
        return {part for entry in entries for part in self.parts_of(entry)} if around else set()

    def parts_of(self, entry: int) -> set[tuple[int, int]]:
        """Where the function at an address begins and ends, and the parts that a compiler put elsewhere."""
        names = self._functions.get(entry, set())
        return {
            (s.address, s.address + s.size)
            for s in self.image.symbols
            if s.is_function and s.size and (s.address == entry or s.name.partition(".cold")[0] in names)
        }
