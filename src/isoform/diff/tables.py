"""Jump tables of compilers, by their contents."""

from __future__ import annotations

from isoform.load.image import Image

MOST_ENTRIES = 4096
_DISTANCE, _WORD = 4, 8


def table_targets(image: Image, number: int, extent: tuple[int, int]) -> tuple[int, ...]:
    """Where the entries of a table at an address lead, if it is one of the function at `extent`: distances from the
    table's start, or addresses. The first entry that does not lead into the function ends the table."""
    if extent[0] >= extent[1] or _is_named(image, number):
        return ()
    section = image.section_at(image.own_address(number))
    if section is None or section.executable or section.writable:
        return ()
    own = image.own_address(number)
    known = image.relocated.get(own)
    if known is not None and known.width == _WORD:
        return _entries(image, own, _WORD, 0, extent)
    return _entries(image, own, _DISTANCE, own, extent)


def _is_named(image: Image, number: int) -> bool:
    symbol = image.symbol_at(image.own_address(number))
    return symbol is not None and bool(symbol.size) and not symbol.is_function


def _entries(image: Image, start: int, width: int, added: int, extent: tuple[int, int]) -> tuple[int, ...]:
    found: list[int] = []
    for index in range(MOST_ENTRIES):
        data = image.constant_bytes(start + index * width, width)
        if data is None:
            break
        target = int.from_bytes(data, image.byte_order, signed=width == _DISTANCE) + added
        target = image.aliases.get(target, target)
        if not extent[0] < target < extent[1]:
            break
        found.append(target)
    return tuple(found)
