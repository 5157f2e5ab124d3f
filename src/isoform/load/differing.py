"""Constants that have one address in both images of a question, but not the same contents."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence

from isoform.load.image import Image, Section
from isoform.model.machine import Order

Range = tuple[int, int]
WORD = 8
_LOWER_BYTES = 3
"""Of an address. Addresses of one object mostly agree in all other bytes, which are searched for."""


def differing(left: Image, right: Image, unseen: Sequence[Range]) -> list[Range]:
    """Ranges of addresses that are constant in both images but hold other bytes, or constant in one only, where an
    address can be seen; and those that lead there. A range is a whole section, in an object file that is one object:
    its start leads to all of it."""
    found = []
    data = [[s for s in image.sections if not s.executable] for image in (left, right)]
    ordered = [sorted(group, key=lambda s: s.address) for group in data]
    i = j = 0
    while i < len(ordered[0]) and j < len(ordered[1]):
        a, b = ordered[0][i], ordered[1][j]
        start, end = max(a.address, b.address), min(a.end, b.end)
        same = a.writable == b.writable and (
            a.writable or _content(a, start, end, unseen) == _content(b, start, end, unseen)
        )
        if start < end and not same:
            found.append((min(a.address, b.address), max(a.end, b.end)))
        if a.end <= b.end:
            i += 1
        else:
            j += 1
    constants = [s for group in data for s in group if not s.writable]
    return _with_those_that_lead_there(constants, found, left.byte_order)


def leading_to(images: Sequence[Image], ranges: Sequence[Range]) -> list[Range]:
    """These ranges of addresses, and those of constants that lead there."""
    constants = [s for image in images for s in image.sections if not s.writable and not s.executable]
    return _with_those_that_lead_there(constants, list(dict.fromkeys(ranges)), images[0].byte_order)


def _content(section: Section, start: int, end: int, unseen: Sequence[Range]) -> bytes:
    content = bytearray(section.data[start - section.address : end - section.address].ljust(end - start, b"\0"))
    for low, high in unseen:
        low, high = max(low, start), min(high, end)
        if low < high:
            content[low - start : high - start] = bytes(high - low)
    return bytes(content)


def _with_those_that_lead_there(constants: Sequence[Section], found: list[Range], order: Order) -> list[Range]:
    """A table of addresses, or of distances from itself, has the same bytes on both sides and yet leads to others."""
    pending = list(found)
    while pending:
        new = [
            (s.address, s.end)
            for s in constants
            if not any(low <= s.address and s.end <= high for low, high in found) and _leads_to(s, pending, order)
        ]
        pending = list(dict.fromkeys(new))
        found += pending
    return found


def _leads_to(section: Section, ranges: Iterable[Range], order: Order) -> bool:
    return any(
        _holds_address(section, low, high, order) or _holds_distance(section, low, high, order) for low, high in ranges
    )


def _holds_address(section: Section, low: int, high: int, order: Order) -> bool:
    """Whether eight bytes of it, aligned or not, are an address from `low` up to `high`, which is one past the end."""
    for upper in range(low >> 8 * _LOWER_BYTES, (high >> 8 * _LOWER_BYTES) + 1):
        wanted = upper.to_bytes(WORD - _LOWER_BYTES, order)
        before = _LOWER_BYTES if order == "little" else 0
        at = section.data.find(wanted, before)
        while at >= 0:
            word = section.data[at - before : at - before + WORD]
            if len(word) == WORD and low <= int.from_bytes(word, order) <= high:
                return True
            at = section.data.find(wanted, at + 1)
    return False


def _holds_distance(section: Section, low: int, high: int, order: Order) -> bool:
    """Whether four bytes of it are such an address, or a distance to one from its start or from themselves."""
    whole = section.data[: len(section.data) // 4 * 4]
    for index, (word,) in enumerate(struct.iter_unpack("<I" if order == "little" else ">I", whole)):
        signed = word - (1 << 32) if word >> 31 else word
        if (
            low <= word <= high
            or low <= section.address + signed <= high
            or low <= section.address + 4 * index + signed <= high
        ):
            return True
    return False
