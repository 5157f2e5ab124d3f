"""Objects whose address a linker decides.

isoform places every object at a number so that code can run, but a linker may choose another one. An address is known
only by the object it is in, its distance from the object's start, the object's alignment, and the fact that objects do
not overlap.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from functools import cached_property

from isoform.model.values import dataclass


class PlacedNumber(int):
    """A number at which isoform placed something. It serves to find the object and for nothing else."""


@dataclass(frozen=True)
class PlacedObject:
    """What moves as a whole: a named object, a section, a literal, a function's entry, or what another file defines."""

    name: str
    start: int
    """Where isoform placed it."""
    size: int
    """Bytes known to belong to it; 0 where the file does not say."""
    room: int
    """Bytes from its start at which isoform placed nothing else."""
    alignment: int
    is_low: bool = False
    """Whether code holds its address in 32 bits, so that it must be below 2 GiB."""
    skipped: int = 0
    """Bytes from its start that are not part of it."""
    homes: frozenset[tuple[int, int]] = frozenset()
    """What may contain it, and how far from its start: the linked file that has it, unless another file's definition
    replaces it; or a literal with the same end, if a linker merges them."""

    def holds(self, offset: int, size: int) -> bool:
        """Whether bytes at an offset are known to be inside."""
        return offset >= self.skipped and offset + size <= (self.size or self.room)


def merged(left: PlacedObject, right: PlacedObject) -> PlacedObject:
    """One object as two files describe it: only what both say is known."""
    return replace(
        left,
        size=max(left.size, right.size),
        room=max(left.room, right.room),
        alignment=min(left.alignment, right.alignment),
        is_low=left.is_low or right.is_low,
        skipped=min(left.skipped, right.skipped),
        homes=left.homes | right.homes,
    )


@dataclass(frozen=True)
class PlacedObjects:
    """The objects of the images of a question, by where they start."""

    by_start: Mapping[int, PlacedObject] = field(default_factory=dict)

    @classmethod
    def of(cls, groups: Iterable[Iterable[PlacedObject]]) -> PlacedObjects:
        found: dict[int, PlacedObject] = {}
        for group in groups:
            for item in group:
                known = found.get(item.start)
                found[item.start] = item if known is None else merged(known, item)
        return cls(found)

    @cached_property
    def _starts(self) -> list[int]:
        return sorted(self.by_start)

    def with_merged_literals(self, literals: Mapping[bytes, int]) -> PlacedObjects:
        """Literals of one kind by content: a linker may merge one into another that has the same end."""
        found = dict(self.by_start)
        lengths = {len(content) for content in literals}
        for content, start in literals.items():
            for length in lengths:
                inner = found.get(literals.get(content[-length:], -1)) if 0 < length < len(content) else None
                if inner is not None:
                    found[inner.start] = replace(inner, homes=inner.homes | {(start, len(content) - length)})
        return PlacedObjects(found)

    def around(self, number: int) -> PlacedObject | None:
        """The object placed around a number: the innermost one, if a section contains objects with origins of their
        own."""
        for index in range(bisect_right(self._starts, number) - 1, -1, -1):
            found = self.by_start[self._starts[index]]
            if found.holds(number - found.start, 1):
                return found
        return None
