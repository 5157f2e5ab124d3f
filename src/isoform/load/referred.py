"""What the addresses in the code of a linked file refer to."""

from __future__ import annotations

from functools import cached_property

from isoform.load.fields import MOST_RANGES, Reference
from isoform.load.image import Image


class LinkedReferences:
    def __init__(self, image: Image) -> None:
        self._image = image

    def to(self, address: int) -> Reference | None:
        """What an address in the code of a linked file that can be anywhere refers to: an object that was moved, or one
        of the section's others. (A file with fixed addresses may hold a number that only looks like one.)"""
        if not self._image.base:
            return None
        own = self._image.own_address(address)
        section = self._image.section_at(own)
        if section is None or section.executable:
            return None
        if own != address:
            start = self._image.moved_ranges.own_start(address)
            ranges = self._moved_alike.get(address - own, ())
            name = self._image.name_at(start) if len(ranges) == 1 else None
            return Reference(address, False, name or section.name, ranges) if len(ranges) <= MOST_RANGES else None
        ranges = self._ranges_of_sections.get(section.address, ())
        if not any(low <= address < high for low, high in ranges):
            return None  # what has no name has no size: a jump table
        return Reference(address, False, section.name, ranges) if 0 < len(ranges) <= MOST_RANGES else None

    @cached_property
    def _ranges_of_sections(self) -> dict[int, tuple[tuple[int, int], ...]]:
        """By the address of a section: where its objects are, those next to each other together. Among constants those
        without a name count: a jump table may be anywhere between the named ones."""
        moved = {start for start, _, _ in self._image.moved}
        found: dict[int, list[tuple[int, int]]] = {}
        for symbol in self._image.data_symbols[1]:
            section = self._image.section_at(symbol.address)
            if section is None or symbol.address in moved:
                continue
            ranges = found.setdefault(section.address, [])
            end = symbol.address + symbol.size
            if ranges and symbol.address <= ranges[-1][1]:
                ranges[-1] = (ranges[-1][0], max(end, ranges[-1][1]))
            else:
                ranges.append((symbol.address, end))
        unnamed = not self._image.names_variables
        whole = [s for s in self._image.sections if s.address in found and (not s.writable or unnamed)]
        return {at: tuple(ranges) for at, ranges in found.items()} | {s.address: ((s.address, s.end),) for s in whole}

    @cached_property
    def _moved_alike(self) -> dict[int, tuple[tuple[int, int], ...]]:
        """By the distance that objects were moved by: where they are now. An address in one of them may be meant for
        another one: `t[i - 1]` is counted from a base before `t`."""
        found: dict[int, list[tuple[int, int]]] = {}
        for start, end, shared in self._image.moved:
            section = self._image.section_at(start)
            if section is not None and not section.executable:
                found.setdefault(shared - start, []).append((shared, shared + end - start))
        return {distance: tuple(sorted(ranges)) for distance, ranges in found.items()}
