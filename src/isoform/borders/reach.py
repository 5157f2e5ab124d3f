"""What code can get at by addresses: the functions whose address it takes, and the data it names, on through the
initial contents of that data."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from isoform.lift.function import Function, outside_call
from isoform.load.image import Image, Section, Symbol
from isoform.microop import number_of
from isoform.outcome import THREAD_POINTER

_NEGATIVE = (1 << 33) - 1
"""The upper bits of a word that is a negative number of 32 bits."""
_SLOTS = ".got"
SLOT = 8
"""Bytes of an entry of the global offset table."""
NEAR = 64
"""Bytes around an object in which an address may still be meant for it (`days[month - 1]` starts below its table)."""
BYTE_BY_BYTE = 1 << 16
"""Objects larger than this are searched for addresses at multiples of four only."""
MOST_OBJECTS = 4096

Range = tuple[int, int]


@dataclass(frozen=True)
class Reach:
    """As addresses that both sides share."""

    functions: frozenset[int]
    data: frozenset[Range]
    """Objects at or near one of the addresses."""
    named: frozenset[Range] = frozenset()
    """Those of them that an address is in."""
    complete: bool = True
    """False where there were more objects than are looked at."""
    chosen: frozenset[int] = frozenset()
    """Those of the functions that are called, and that a resolver chooses."""


def reach(function: Function) -> Reach:
    """What a lifted function, with what is inlined into it, can get at."""
    found = reach_from(function.image, set(constants_of(function)))
    chosen = frozenset(_chosen(function))
    return replace(found, functions=found.functions | chosen, chosen=chosen) if chosen else found


def _chosen(function: Function) -> Iterator[int]:
    image = function.image
    calls = (outside_call(block.exit) for block in function.blocks.values()) if image.resolvers else ()
    names = {call.callee for call in calls if call is not None and call.callee is not None}
    for address in image.resolvers:
        if image.externals.get(address) in names and image.section_at(address) is None:
            yield address


def constants_of(function: Function) -> Iterator[int]:
    """The numbers in the code that may be addresses: as they are, and as distances from the thread pointer."""
    for number in _numbers(function):
        yield number
        yield THREAD_POINTER + as_signed(number)


def _numbers(function: Function) -> Iterator[int]:
    for instruction in function.instructions.values():
        for op in instruction.ops:
            for var in op.ins:
                number = number_of(var) if var.size >= 4 else None
                if number is not None:
                    yield number


def reach_from(image: Image, numbers: Iterable[int]) -> Reach:
    functions: set[int] = set()
    seen: set[Range] = set()
    named: set[Range] = set()
    entries = image.aliases.keys() | image.resolvers.keys()
    pending = [number for number in numbers if number in entries or _is_near_data(image, number)]
    objects = Objects(image) if pending else None
    while pending:
        number = pending.pop()
        if number in entries:
            functions.add(number)
        for extent in objects.near(number) if objects is not None else ():
            if extent[0] <= number < extent[1]:
                named.add(extent)
            elif objects is not None and objects.is_slot(extent) and number != extent[0] - SLOT:
                continue  # an entry may have two words
            if extent in seen:
                continue
            if len(seen) >= MOST_OBJECTS:
                return Reach(frozenset(functions), frozenset(seen), frozenset(named), complete=False)
            seen.add(extent)
            pending += addresses_in(objects.contents(extent), extent[0]) if objects is not None else ()
    return Reach(frozenset(functions), frozenset(seen), frozenset(named))


def _is_near_data(image: Image, number: int) -> bool:
    return any(image.section_at(image.own_address(number + distance)) is not None for distance in (-NEAR, 0, NEAR))


def addresses_in(content: bytes, start: int) -> Iterator[int]:
    """Every number in there that may be an address, or a distance to one from its own place or from `start`."""
    if not any(content):
        return
    step = 1 if len(content) <= BYTE_BY_BYTE else 4
    for offset in range(0, len(content) - 3, step):
        word = int.from_bytes(content[offset : offset + 8], "little")
        if word >> 31 == _NEGATIVE:
            yield THREAD_POINTER + as_signed(word)
        if word >> 48 == 0 and word:
            yield word
        if offset % 4 == 0 and (low := word & 0xFFFF_FFFF):
            signed = low - (1 << 32) if low >> 31 else low
            yield from (low, start + signed, start + offset + signed)


def as_signed(word: int) -> int:
    return word - (1 << 64) if word >> 63 else word


_TEXTS = re.compile(r"\.rodata(\..*)?\.str(\d|$)")
"""Sections of texts that a linker may merge, by the names that compilers give them, and that isoform gives literals."""


class Objects:
    """The data of one image under the addresses that both sides share."""

    def __init__(self, image: Image) -> None:
        self._image = image
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
            if section.end - at > 2 * SLOT and section.name.startswith(_SLOTS):
                yield from ((slot, min(slot + SLOT, section.end)) for slot in range(at, section.end, SLOT))
            elif at < section.end:
                yield at, section.end

    def _home(self, address: int) -> Section | None:
        section = self._image.section_at(self._image.own_address(address))
        return section if section is not None and not section.executable else None

    def is_slot(self, extent: Range) -> bool:
        """Whether it is an entry of the global offset table: code names the one that it uses."""
        home = self._home(extent[0])
        return extent[1] - extent[0] <= 2 * SLOT and home is not None and home.name.startswith(_SLOTS)

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
        """What the file says is there at first."""
        start = self._image.own_address(extent[0])
        section = self._image.section_at(start)
        if section is None:
            return b""
        end = min(start + extent[1] - extent[0], section.end)
        return section.data[start - section.address : end - section.address].ljust(end - start, b"\0")

    def undetermined(self, extent: Range) -> list[int]:
        """Offsets of fields whose contents are not known."""
        start, size = self._image.own_address(extent[0]), extent[1] - extent[0]
        return [field - start for field in self._image.broken if start <= field < start + size]

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
