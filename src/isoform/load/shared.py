"""Addresses that both sides of a question have in common: by name, and by content for literals."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import field

from isoform.load.blocks import Region
from isoform.load.image import Section
from isoform.load.section_names import LOADER_CODE
from isoform.load.thread import ThreadLayout
from isoform.model.values import dataclass

EXTERNAL_ROOM = ((64, 1 << 20), (40_000, 1 << 12))
"""(number of names, bytes for each of them). The size of an external is not known, so the first ones get much room and
the rest only an address of their own."""
SHOWN_NAMES = 4


@dataclass(frozen=True)
class Group:
    """Objects at the same distances from each other in two linked files, which move as one."""

    extents: dict[str, tuple[int, int]]
    """By name, in order: the start of each, and its end (the next one's start, or the end of what follows the last
    one), relative to the first one's start."""
    behind: int
    """Bytes after the last one that belong to nothing in either file."""
    alignment: int
    """The alignment in both files of the first one's start minus `skipped` bytes."""
    skipped: int

    @property
    def size(self) -> int:
        """From `skipped` bytes before the first object to the end."""
        return self.skipped + max(end for _, end in self.extents.values())

    @property
    def title(self) -> str:
        return ", ".join([*self.extents][:SHOWN_NAMES]) + (", …" if len(self.extents) > SHOWN_NAMES else "")


@dataclass
class Shared:
    data: Region
    names: Region
    of_two: bool = False
    """Whether two files are compared, and not one looked at alone."""
    addresses: dict[str, int] = field(default_factory=dict)
    """Of globals and externals, and of functions whose address is taken."""
    contents: dict[Hashable, int] = field(default_factory=dict)
    objects: dict[Hashable, int] = field(default_factory=dict)
    """Of named data objects, by the keys of `blocks.object_keys`."""
    groups: dict[str, tuple[Group, int]] = field(default_factory=dict)
    """For each object that moves with others: its group, and the address where the group begins."""
    rooms: dict[int, int] = field(default_factory=dict)
    fixed_conflict: str = ""
    """Why numbers in programs at fixed addresses do not tell variables apart; empty if they do."""
    thread: ThreadLayout = field(default_factory=ThreadLayout)
    weak: dict[str, int | None] = field(default_factory=dict)
    """Names that may have no definition at all, with a number for each (see `Image.weak`); None once the numbers are
    used up."""

    def by_name(self, name: str) -> int:
        if name not in self.addresses:
            room = next((size for count, size in EXTERNAL_ROOM if len(self.addresses) < count), 0)
            self.addresses[name] = self.names.take(room, 16)
            self.rooms[self.addresses[name]] = room
        return self.addresses[name]

    def room_at(self, address: int) -> int:
        """Bytes at an address of `by_name` that nothing else uses; an object that a file defines has its own size."""
        return self.rooms.get(address, 0)

    def by_content(self, key: Hashable, size: int, alignment: int) -> int:
        if key not in self.contents:
            self.contents[key] = self.data.take(size, alignment)
        return self.contents[key]

    def literals(self) -> Iterator[dict[bytes, int]]:
        """The places of texts by content, separately for each character width."""
        kinds: dict[int, dict[bytes, int]] = {}
        for key, address in self.contents.items():
            match key:
                case ("string", int() as unit, bytes() as content):
                    kinds.setdefault(unit, {})[content] = address
        yield from kinds.values()

    def by_object(self, key: Hashable, size: int) -> int:
        if key not in self.objects:
            self.objects[key] = self.data.take(size, 64)
        return self.objects[key]

    def place_group(self, group: Group) -> None:
        start = self.data.take(group.size, max(group.alignment, 64))
        for name, (offset, _) in group.extents.items():
            self.objects["object", name] = start + group.skipped + offset
            self.groups[name] = group, start

    def loader_code(self, code: bytes) -> Section:
        """The code that stands for what a loader provides, at one place on both sides."""
        address = self.by_content(("loader", code), len(code), 16)
        return Section(LOADER_CODE, address, code, len(code), writable=False, executable=True)
