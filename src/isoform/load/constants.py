"""Constants around an address: the lookup tables that code may mean by it."""

from __future__ import annotations

from bisect import bisect_right

from isoform.load.image import Image

_BELOW = 64
_STRETCH = 4096
"""How far a table without a symbol is taken to go, below and above its base."""
_LARGEST_TABLE = 1 << 16


def constants_near(image: Image, address: int) -> list[tuple[int, int]]:
    """Extents (first and past-the-last address) of the constant objects that `address` is in or next to: the
    lookup tables that an access at a computed distance from it may mean (`days[month - 1]` starts below
    its table). Without a symbol it is a stretch of the section."""
    found: list[tuple[int, int]] = []
    for distance in (0, 1, -1, 2, -2, 4, -4, 8, -8, 16, -16, 64, -64):
        place = address + distance
        shift = place - image.own_address(place)
        extent = _constant_around(image, place - shift, address - shift)
        if extent is not None and (extent[0] + shift, extent[1] + shift) not in found:
            found.append((extent[0] + shift, extent[1] + shift))
    return found[:3]


def _constant_around(image: Image, place: int, address: int) -> tuple[int, int] | None:
    section = image.section_at(place)
    if section is None or section.writable:
        return None
    starts, symbols = image.data_symbols
    index = bisect_right(starts, place) - 1
    if index >= 0 and place < symbols[index].address + symbols[index].size:
        start, end = symbols[index].address, symbols[index].address + symbols[index].size
    else:
        start, end = address - _BELOW, address + _STRETCH
    return max(start, section.address), min(end, section.end, start + _LARGEST_TABLE)
