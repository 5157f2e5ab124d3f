"""What the addresses in the code of a linked file refer to."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from isoform.load.fields import MOST_RANGES, Reference
from isoform.load.image import Image
from isoform.model.microop import Instruction


def references_in(instruction: Instruction, image: Image) -> Iterator[tuple[Reference, int]]:
    """The objects that an instruction names, and the numbers that stand for them in its micro-ops."""
    for field in range(instruction.address, instruction.next_address):
        reference = image.references.get(field)
        if reference is not None:
            rest = instruction.next_address - field if reference.relative else 0
            yield reference, reference.target + rest


class LinkedReferences:
    def __init__(self, image: Image) -> None:
        self._image = image

    def to(self, address: int) -> Reference | None:
        """What an address in the code of a position-independent linked file refers to: an object that was moved, or one
        of the others in the section. (In a file at fixed addresses, a number may only look like an address.)"""
        if not self._image.base:
            return None
        own = self._image.own_address(address)
        section = self._image.section_at(own)
        if section is None or section.executable:
            return None
        if own != address:
            objects = self._moved_alike(address)
            start = self._image.moved_ranges.last_up_to(address)[2]
            name = self._image.name_at(start) if len(objects) == 1 else None
            ranges, each = _joined(objects), tuple(objects) if 1 < len(objects) <= MOST_RANGES else ()
            if len(ranges) > MOST_RANGES:
                return None
            return Reference(address, False, name or section.name, ranges, each, is_sure=False)
        ranges = self._ranges_of_sections.get(section.address, ())
        if not any(low <= address < high for low, high in ranges):
            return None  # what has no name has no size, such as a jump table
        if not 0 < len(ranges) <= MOST_RANGES:
            return None
        return Reference(address, False, section.name, ranges, is_sure=False)

    @cached_property
    def _ranges_of_sections(self) -> dict[int, tuple[tuple[int, int], ...]]:
        """By the address of a section: the places of its objects, adjacent ones together. Among constants, nameless
        data counts too: a jump table may be anywhere between the named ones."""
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

    def _moved_alike(self, address: int) -> list[tuple[int, int]]:
        """Places of the objects that were moved by the same distance as what is at an address. The address may be meant
        for another object than the one it is in: `t[i - 1]` has a base before `t`, where another object may be."""
        found = []
        for low, high, start in self._image.moved_ranges.alike(address):
            section = self._image.section_at(start)
            if section is not None and not section.executable:
                found.append((low, min(high, low + self._sizes.get(start, high - low))))
        return found

    @cached_property
    def _sizes(self) -> dict[int, int]:
        """Sizes of objects by their start. A moved range may also include padding."""
        found: dict[int, int] = {}
        for symbol in self._image.data_symbols[1]:
            found[symbol.address] = max(symbol.size, found.get(symbol.address, 0))
        return found


def _joined(ranges: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """In order; adjacent ranges are joined."""
    found: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if found and low <= found[-1][1]:
            found[-1] = found[-1][0], max(high, found[-1][1])
        else:
            found.append((low, high))
    return tuple(found)
