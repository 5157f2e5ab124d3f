"""Ranges of addresses that both images of a question share, and this image's own addresses for them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import lru_cache


@lru_cache(maxsize=4)
def moved_ranges(moved: tuple[tuple[int, int, int], ...]) -> MovedRanges:
    """Made once for all images that differ in other ways: large libraries have thousands of ranges."""
    return MovedRanges(moved)


class MovedRanges:
    """Of (own start, own end, shared start): see `Image.moved`."""

    def __init__(self, moved: tuple[tuple[int, int, int], ...]) -> None:
        self._moved = moved
        self._shared_starts = {start: shared for start, _, shared in moved}
        self._ranges = sorted((shared, shared + end - start, start) for start, end, shared in moved)
        """(shared start, shared end, own start)"""
        self._starts = [start for start, _, _ in self._ranges]
        self._longest = max((end - start for start, end, _ in self._ranges), default=0)

    def shared_address(self, address: int) -> int:
        """The shared address of what starts at an address of this image."""
        return self._shared_starts.get(address, address)

    def shared_around(self, own: int) -> int:
        """The shared address of what this image has at an address."""
        index = bisect_right(self._moved, (own, 1 << 64, 0)) - 1
        start, end, shared = self._moved[index] if index >= 0 else (0, 0, 0)
        return shared + own - start if own < end else own

    def own_address(self, address: int) -> int:
        """This image's address of what is at a shared address."""
        index = bisect_right(self._starts, address) - 1
        if index < 0 or address >= self._ranges[index][1]:
            return address
        return self._ranges[index][2] + address - self._ranges[index][0]

    def last_up_to(self, address: int) -> tuple[int, int, int]:
        """The last range (shared start, shared end, own start) that begins at or before a shared address."""
        return self._ranges[bisect_right(self._starts, address) - 1]

    def alike(self, address: int) -> list[tuple[int, int, int]]:
        """The ranges (shared start, shared end, own start) that are moved by the same distance as a shared address."""
        distance = address - self.own_address(address)
        return [r for r in self._ranges if r[0] - r[2] == distance] if distance else []

    def between(self, low: int, high: int) -> Iterator[tuple[int, int, int]]:
        """The ranges (shared start, shared end, own start) with an address from `low` up to, not including, `high`."""
        first = bisect_left(self._starts, low - self._longest)
        for start, end, own in self._ranges[first : bisect_left(self._starts, high)]:
            if low < end:
                yield start, end, own
