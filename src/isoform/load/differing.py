"""Which constants the two images of a question do not share, though they have one address in both."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from isoform.load.image import Image, Section

Range = tuple[int, int]


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
    return _with_those_that_lead_there([s for group in data for s in group if not s.writable], found)


def leading_to(images: Sequence[Image], ranges: Sequence[Range]) -> list[Range]:
    """These ranges of addresses, and those of constants that lead there."""
    constants = [s for image in images for s in image.sections if not s.writable and not s.executable]
    return _with_those_that_lead_there(constants, list(dict.fromkeys(ranges)))


def _content(section: Section, start: int, end: int, unseen: Sequence[Range]) -> bytes:
    content = bytearray(section.data[start - section.address : end - section.address].ljust(end - start, b"\0"))
    for low, high in unseen:
        low, high = max(low, start), min(high, end)
        if low < high:
            content[low - start : high - start] = bytes(high - low)
    return bytes(content)


def _with_those_that_lead_there(constants: Sequence[Section], found: list[Range]) -> list[Range]:
    """A table of addresses, or of distances from itself, has the same bytes on both sides and yet leads to others."""
    pending = list(found)
    while pending:
        new = [
            (s.address, s.end)
            for s in constants
            if not any(low <= s.address and s.end <= high for low, high in found) and _leads_to(s, pending)
        ]
        pending = list(dict.fromkeys(new))
        found += pending
    return found


def _leads_to(section: Section, ranges: Iterable[Range]) -> bool:
    return any(_holds_address(section, low, high) or _holds_distance(section, low, high) for low, high in ranges)


def _holds_address(section: Section, low: int, high: int) -> bool:
    """Whether eight bytes of it, aligned or not, are an address from `low` up to `high`, which is one past the end."""
    shift = 24
    for upper in range(low >> shift, (high >> shift) + 1):
        wanted = upper.to_bytes(8 - shift // 8, "little")
        at = section.data.find(wanted, shift // 8)
        while at >= 0:
            start = at - shift // 8
            if low <= int.from_bytes(section.data[start : start + 8], "little") <= high:
                return True
            at = section.data.find(wanted, at + 1)
    return False


def _holds_distance(section: Section, low: int, high: int) -> bool:
    """Whether four bytes of it are such an address, or a distance to one from its start or from themselves."""
    whole = section.data[: len(section.data) // 4 * 4]
    if len(whole) < 4:
        return False
    for index, word in enumerate(memoryview(whole).cast("I")):
        signed = word - (1 << 32) if word >> 31 else word
        if (
            low <= word <= high
            or low <= section.address + signed <= high
            or low <= section.address + 4 * index + signed <= high
        ):
            return True
    return False
