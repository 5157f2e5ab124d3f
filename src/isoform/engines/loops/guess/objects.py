"""Pointers into objects in the data of runs.

A run has every object where isoform placed it; a proof must not rely on that. So that guesses say "the address of x
plus 4·i" and not a number, each row is rewritten with the objects at other addresses: different ones in every row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random

from isoform.engines.loops.guess.features import TAGS, Feature, ObjectStart, Row
from isoform.engines.loops.tuning import MOST_OBJECTS
from isoform.lift.function import Function
from isoform.load.image import POINTER_BYTES
from isoform.model.machine import Machine
from isoform.model.microop import Space, origin_of
from isoform.run.observe import Snapshot

_MOST_STEPS = 1 << 30


class ObjectStarts:
    """The objects that two functions name, and which of them values of runs point into."""

    def __init__(self, functions: Sequence[Function]) -> None:
        starts = {
            origin_of(var)
            for function in functions
            for block in function.blocks.values()
            for op in block.ops
            for var in op.ins
            if var.space is Space.ADDRESS
        }
        known = functions[0].image.objects.by_start
        constant = {start for start in starts for f in functions if f.image.constant_bytes(start, 1) is not None}
        self._objects = [ObjectStart.of(known[start], start in constant) for start in sorted(starts) if start in known]

    def pointed_to(self, feature: Feature, value: int) -> ObjectStart | None:
        """The object that a value may be an address of."""
        if feature.bits != 8 * POINTER_BYTES:
            return None
        near = [o for o in self._objects if o.is_near(value - o.item.start)]
        return min(near, key=lambda o: _outside(o, value - o.item.start), default=None)

    def seen(
        self, features: Iterable[Feature], observed: Sequence[tuple[Snapshot, Snapshot, Snapshot]], machine: Machine
    ) -> list[ObjectStart]:
        """The objects that features point into in some test."""
        found: dict[ObjectStart, None] = {}
        for feature in features if self._objects else ():
            index = TAGS.index(feature.tag) + 1
            for value in {feature.of_snapshot(snapshots[index], machine) for snapshots in observed}:
                item = self.pointed_to(feature, value)
                if item is not None:
                    found[item] = None
        return list(found)[:MOST_OBJECTS]

    def spread(self, row: Row, number: int) -> Row:
        """A row with the objects at other addresses."""
        told: dict[Feature, int] = {}
        for feature, value in row.items():
            item = self.pointed_to(feature, value) if self._objects else None
            told[feature] = value if item is None else value + _moved(item, number)
        return told


def _outside(item: ObjectStart, distance: int) -> int:
    """How many bytes a distance is before an object or beyond its end: a loop that counts down may end before the first
    element, which is also shortly after the object before."""
    return max(-distance, distance - item.item.size + 1, 0)


def _moved(item: ObjectStart, number: int) -> int:
    """How far an object is moved in a row."""
    return item.item.alignment * Random(f"{item.item.start} {number}").randrange(_MOST_STEPS)
