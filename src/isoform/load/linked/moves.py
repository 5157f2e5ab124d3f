"""Functions and objects of a linked file that both sides have and that are therefore at another address in the
image."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Set
from functools import cached_property

from isoform.load.gathered import Destination, Gathered
from isoform.load.linked.contents import LinkedContents
from isoform.load.linked.names import LinkedNames
from isoform.load.objects import PlacedObject
from isoform.load.parsed import OBJECT, FileSymbol, ParsedFile
from isoform.load.shared import Shared

BASES = (0x5555_0000_0000, 0x5556_0000_0000)
"""Where the position-independent file of each side starts."""
NEAR_BASES, NEAR_SPAN = (0x8000_0000, 0x8780_0000), 0x0780_0000
"""The same for files of at most this many bytes: within reach of the addresses that both sides share, so that the CPU
model that replays witnesses can run code that names those."""
MOST_PADDING = 31
"""Most bytes between two objects that can be alignment: compilers align large arrays to 32."""

Move = tuple[int, int, int]
"""Own start, own end, shared start."""


def base_of(file: ParsedFile, side: int) -> int:
    if file.fixed:
        return 0
    span = max((section.address + section.size for section in file.sections.values()), default=0)
    return NEAR_BASES[side] if span <= NEAR_SPAN else BASES[side]


class Moves:
    """`common` are the names that the other side has too."""

    def __init__(
        self,
        names: LinkedNames,
        side: int,
        contents: LinkedContents,
        shared: Shared,
        common: Set[str],
        gathered: Gathered,
    ) -> None:
        self._names = names
        self._file = names.file
        self._side = side
        self._contents = contents
        self._shared = shared
        self._gathered = gathered
        self._origins: dict[int, int] = {}
        """By the shared start of an object: the start of its origin."""
        self.base = base_of(names.file, side)
        self.ranges = sorted(self._all(common))
        self._starts = [start for start, _, _ in self.ranges]
        self._object_starts = sorted(gathered.objects)

    def _all(self, common: Set[str]) -> Iterator[Move]:
        yield from self._copies()
        for name, symbol in self._names.shareable.items() if common else ():
            if name not in common or symbol.value in self._names.copied:
                continue
            if self._names.is_function(symbol):
                yield self._function(name, symbol.value)
            elif not self._file.fixed:
                yield self._object(name, symbol)
        if self._shared.of_two or self._file.fixed:
            yield from self._own_functions(common)

    def _copies(self) -> Iterator[Move]:
        for value, symbol in self._names.copied.items():
            own = self.base + value
            shared = own if self._file.fixed else self._shared.by_name(symbol.name)
            self._gathered.externals[shared] = symbol.name
            if not self._file.fixed:
                yield own, own + symbol.size, shared

    def _function(self, name: str, value: int) -> Move:
        start = self.base + value
        shared = self.named(name, frozenset({(self.base, value)}))
        self._gathered.aliases[shared] = start
        return start, start + 1, shared

    def _object(self, name: str, symbol: FileSymbol) -> Move:
        shared = self._shared.by_object(("object", name), symbol.size)
        if name in self._shared.groups:
            return self._member(name, symbol, shared)
        alignment = min(self._file.sections[symbol.section].alignment, symbol.value & -symbol.value or 1)
        homes = frozenset({(self.base, symbol.value)})
        item = PlacedObject(name, shared, symbol.size, symbol.size, alignment, homes=homes)
        self._gathered.objects[shared] = item
        self._origins[shared] = shared
        start = self.base + symbol.value
        return start, start + symbol.size, shared

    def _member(self, name: str, symbol: FileSymbol, shared: int) -> Move:
        """An object that moves with others, with the padding after it."""
        group, first = self._shared.groups[name]
        low, high = group.extents[name]
        homes = frozenset({(self.base, symbol.value - low - group.skipped)})
        item = PlacedObject(
            group.title, first, group.size, group.size, group.alignment, skipped=group.skipped, homes=homes
        )
        self._gathered.objects[first] = item
        self._origins[shared] = first
        start = self.base + symbol.value
        return start, start + high - low, shared

    def _own_functions(self, common: Set[str]) -> Iterator[Move]:
        """Entries of functions that only this file has. Each gets an address that is private to this side, and of which
        nothing is known: in a program at fixed addresses the other side may have another function at the same one."""
        shared = {symbol.value for name, symbol in self._names.shareable.items() if name in common}
        own = {s.value: s.name for s in self._names.defined if self._names.is_function(s)}
        for value in sorted(own.keys() - shared):
            yield self._function(f"{own[value]} at {value:#x} of side {self._side}", value)

    def named(self, name: str, homes: frozenset[tuple[int, int]] = frozenset()) -> int:
        """The address of something of which only the name is known."""
        address = self._shared.by_name(name)
        if address not in self._gathered.objects:
            room = self._shared.room_at(address)
            self._gathered.objects[address] = PlacedObject(name, address, 0, room, 1, homes=homes)
        return address

    def translate(self, address: int) -> int:
        index = bisect_right(self._starts, address) - 1
        if index >= 0 and address < self.ranges[index][1]:
            return address - self.ranges[index][0] + self.ranges[index][2]
        return address

    def target(self, address: int, addend: int = 0) -> Destination:
        """A number that is counted from an address of the image."""
        return Destination(address + addend, self._origin(address))

    def _origin(self, number: int) -> int | None:
        """The object that a pointer is relative to; None for code, and in a file at fixed addresses."""
        objects, starts = self._gathered.objects, self._object_starts
        if number in objects:
            return number
        index = bisect_right(starts, number) - 1
        if index >= 0 and number < starts[index] + objects[starts[index]].size:
            return starts[index]
        section = self._contents.section_of(number - self.base)
        is_code = section.executable if section is not None else number in range(*self._gathered.loader_code)
        return None if self._file.fixed or is_code else self.base

    # Where objects end

    def end_of_moved(self, address: int) -> tuple[int, int] | None:
        """The address one past the moved object that ends just before an address, and that object."""
        index = bisect_right(self._starts, address - 1) - 1
        start, end, shared = self.ranges[index] if index >= 0 else (0, 0, 0)
        origin = self._origins.get(shared)
        is_moved_alike = self.translate(address) == shared + end - start
        return None if end != address or origin is None or is_moved_alike else (shared + end - start, origin)

    @cached_property
    def own_ends(self) -> set[int]:
        """Ends of the objects that stay where this file has them."""
        moved = {*self._starts}
        own = (s for s in self._names.defined if s.kind == OBJECT and s.size)
        return {s.value + s.size for s in own if self.base + s.value not in moved}

    def nothing_starts_at(self, value: int) -> bool:
        """Whether there is at most padding at an address of the file."""
        section = self._contents.section_of(value)
        if section is None:
            return True
        starts = self._names.object_starts
        following = bisect_right(starts, value - 1)
        if following == len(starts):
            return False
        offset, gap = value - section.address, starts[following] - value
        return 0 < gap <= MOST_PADDING and not any(section.data[offset : offset + gap])
