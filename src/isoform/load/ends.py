"""Pointers in linked files that may point to the start of one object or one past another.

Such a pointer is a number. Where one object ends and another starts, it is the address of both. isoform moves the
objects that both files have, and must therefore know which one is meant. It assumes the start, unless the other side
has, at the same place of an object of the same name, a pointer that can only be the end: since the number is the same,
it is then the end here too. Without such a counterpart the pointer is undetermined.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from functools import cached_property

from isoform.load.image import POINTER_BYTES, Image, Symbol

_UNCLEAR = "may be to the start of one object or one past another"


def agreeing_ends(left: Image, right: Image) -> list[Image]:
    """The images, with such pointers resolved alike on both sides if possible."""
    if not left.ends and not right.ends:
        return [left, right]
    sides = _Side(left), _Side(right)
    return [sides[0].settled(sides[1]), sides[1].settled(sides[0])]


class _Side:
    def __init__(self, image: Image) -> None:
        self.image = image

    def settled(self, other: _Side) -> Image:
        pointers: dict[int, tuple[int, int]] = {}
        broken = dict(self.image.broken)
        for own, end in self.image.ends.items():
            there = self._counterpart(other, own)
            if there is None:
                broken.update(self._unclear(own))
                continue
            theirs = other.word(there)
            if there in other.image.ends and theirs != self.word(own):
                # The number has two readings on each side, and only one of them is the same on both sides.
                broken.update(self._unclear(own))
                continue
            if theirs != self.word(own) and end[0] in (theirs, other.image.ends.get(there, (None,))[0]):
                pointers[own] = end
        return replace(_with_pointers(self.image, pointers), broken=broken)

    def _unclear(self, own: int) -> dict[int, str]:
        why = f"{self.image.path}: the pointer at {own - self.image.base:#x} {_UNCLEAR}"
        return dict.fromkeys(range(own, own + POINTER_BYTES), why)

    def _counterpart(self, other: _Side, own: int) -> int | None:
        """The other image's address for what is at an address here: in an object of the same name and size."""
        index = bisect_right(self._starts, own) - 1
        symbol = self._objects[index] if index >= 0 else None
        if symbol is None or own >= symbol.address + symbol.size:
            return None
        named = self._by_name[symbol.name], other._by_name.get(symbol.name, [])
        if [len(found) for found in named] != [1, 1] or named[1][0].size != symbol.size:
            return None
        return named[1][0].address + own - symbol.address

    def word(self, own: int) -> int | None:
        section = self.image.section_at(own)
        if section is None or own + 8 > section.end:
            return None
        return int.from_bytes(section.data[own - section.address :][:8], self.image.byte_order)

    @cached_property
    def _objects(self) -> list[Symbol]:
        found = [s for s in self.image.symbols if not s.is_function and s.size]
        return sorted(found, key=lambda symbol: symbol.address)

    @cached_property
    def _starts(self) -> list[int]:
        return [symbol.address for symbol in self._objects]

    @cached_property
    def _by_name(self) -> dict[str, list[Symbol]]:
        found: dict[str, list[Symbol]] = {}
        for symbol in self._objects:
            found.setdefault(symbol.name, []).append(symbol)
        return found


def _with_pointers(image: Image, pointers: dict[int, tuple[int, int]]) -> Image:
    if not pointers:
        return image
    contents = {section.address: bytearray(section.data) for section in image.sections}
    for own, (number, _) in pointers.items():
        section = image.section_at(own)
        assert section is not None
        at = own - section.address
        contents[section.address][at : at + 8] = number.to_bytes(8, image.byte_order)
    sections = tuple(replace(section, data=bytes(contents[section.address])) for section in image.sections)
    origins = {own: origin for own, (_, origin) in pointers.items()}
    return replace(image, sections=sections, linked_words={**image.linked_words, **origins})
