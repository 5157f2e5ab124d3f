"""What is found while the relocations of a file are applied: most of an `Image`, under the same names."""

from __future__ import annotations

from dataclasses import field
from typing import NamedTuple

from isoform.load.fields import AddressPart, Field, Meant, Reference, WeakSymbol
from isoform.load.image import Section
from isoform.load.objects import PlacedObject
from isoform.model.values import dataclass


class Destination(NamedTuple):
    """Where a reference leads."""

    address: int
    origin: int | None = None
    """Start of the object that the address is relative to; None if it does not depend on a linker."""

    def plus(self, distance: int) -> Destination:
        return Destination(self.address + distance, self.origin)


@dataclass
class Gathered:
    path: str
    externals: dict[int, str] = field(default_factory=dict)
    aliases: dict[int, int] = field(default_factory=dict)
    broken: dict[int, str] = field(default_factory=dict)
    references: dict[int, Reference] = field(default_factory=dict)
    meant: dict[int, Meant] = field(default_factory=dict)
    relocated: dict[int, Field] = field(default_factory=dict)
    weak: dict[str, WeakSymbol] = field(default_factory=dict)
    weak_fields: dict[int, tuple[str, int]] = field(default_factory=dict)
    linked_fields: dict[int, int] = field(default_factory=dict)
    linked_words: dict[int, int] = field(default_factory=dict)
    address_parts: dict[int, AddressPart] = field(default_factory=dict)
    objects: dict[int, PlacedObject] = field(default_factory=dict)
    resolvers: dict[int, int] = field(default_factory=dict)
    ends: dict[int, tuple[int, int]] = field(default_factory=dict)
    loader_code: tuple[int, int] = (0, 0)
    extra: dict[int, Section] = field(default_factory=dict)
    """Sections that are in no file: literals, entries of the global offset table, and the loader's code."""

    def counted_from(self, item: PlacedObject, address: int) -> Destination:
        """An address in an object, or beside it."""
        self.objects.setdefault(item.start, item)
        return Destination(address, item.start)

    def break_field(self, address: int, width: int, why: str) -> None:
        """Record that no byte of a field is known."""
        self.broken.update(dict.fromkeys(range(address, address + width), f"{self.path}: {why}"))

    def add_loader_code(self, section: Section) -> int:
        self.extra[section.address] = section
        self.loader_code = section.address, section.end
        return section.address
