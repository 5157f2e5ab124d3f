"""Jump tables of compilers, by their contents."""

from __future__ import annotations

from bisect import bisect_right

from isoform.load.image import Image, Symbol
from isoform.model.errors import Unsupported

MOST_ENTRIES = 4096
_DISTANCE, _WORD = 4, 8
_SPLIT = ".cold"

Extents = tuple[tuple[int, int], ...]
"""Where the parts of a function begin and end; the first is that of its entry."""


class Parts:
    """Where the functions of one file are, with what a compiler put elsewhere (`f.cold`)."""

    def __init__(self, image: Image) -> None:
        functions = [symbol for symbol in image.symbols if symbol.is_function and symbol.size]
        self._own: dict[int, list[Symbol]] = {}
        self._split: dict[str, list[tuple[int, int]]] = {}
        for symbol in functions:
            self._own.setdefault(symbol.address, []).append(symbol)
            name, is_split, _ = symbol.name.partition(_SPLIT)
            if is_split:
                self._split.setdefault(name, []).append((symbol.address, symbol.address + symbol.size))
        self._starts = sorted(self._own)

    def of(self, entry: int) -> Extents:
        """Empty if the file does not say where the function ends."""
        own = self._own.get(entry, [])
        if not own:
            return ()
        split = [part for symbol in own for part in self._split.get(symbol.name, ())]
        return ((entry, entry + max(symbol.size for symbol in own)), *split)

    def has(self, address: int) -> bool:
        """Whether an address is in a function."""
        return self.around(address) is not None

    def around(self, address: int) -> int | None:
        """The entry of the function that an address is in."""
        index = bisect_right(self._starts, address) - 1
        is_inside = index >= 0 and any(address < s.address + s.size for s in self._own[self._starts[index]])
        return self._starts[index] if is_inside else None


def table_targets(image: Image, number: int, entry: int, parts: Parts) -> tuple[int, ...]:
    """Where the entries of a table at an address lead, if it is one of a function: distances from the table's start, or
    addresses. The first entry that leads into another function, or to no code, ends the table. Raises `Unsupported`
    for one that leads to code of no function: part of this one may lie there."""
    extents = parts.of(entry)
    if not extents or _is_named(image, number):
        return ()
    section = image.section_at(image.own_address(number))
    if section is None or section.executable or section.writable:
        return ()
    own = image.own_address(number)
    known = image.relocated.get(own)
    if known is not None and known.width == _WORD:
        return _entries(image, own, _WORD, 0, extents, parts)
    return _entries(image, own, _DISTANCE, own, extents, parts)


def _is_named(image: Image, number: int) -> bool:
    symbol = image.symbol_at(image.own_address(number))
    return symbol is not None and bool(symbol.size) and not symbol.is_function


def _entries(image: Image, start: int, width: int, added: int, extents: Extents, parts: Parts) -> tuple[int, ...]:
    found: list[int] = []
    for index in range(MOST_ENTRIES):
        data = image.constant_bytes(start + index * width, width)
        if data is None:
            break
        target = int.from_bytes(data, image.byte_order, signed=width == _DISTANCE) + added
        target = image.aliases.get(target, target)
        if not any(low <= target < high for low, high in extents):
            if found and image.code_at(target) and not parts.has(target):
                raise Unsupported("a jump table in it leads to code without a name")
            break
        found.append(target)
    return tuple(found)
