"""The data at one cut, and the invariant that is being made of it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from isoform.engines.loops.guess.facts import ConstantFact, Same
from isoform.engines.loops.guess.features import Cell, Feature, ObjectStart, Row
from isoform.engines.loops.guess.invariant import GivenAtEntry, Invariant, Kinds
from isoform.model.values import dataclass


@dataclass(frozen=True)
class Data:
    rows: Sequence[Row]
    features: Sequence[Feature]
    given: GivenAtEntry
    constants: Collection[int]
    """Numbers that the code compares with."""
    kinds: Kinds
    invariant: Invariant

    def free(self) -> list[Feature]:
        return [f for f in self.features if f not in self.invariant.definitions]

    def values(self, feature: Feature) -> tuple[int, ...]:
        return tuple(row[feature] for row in self.rows)

    def arguments(self, bits: int) -> list[Feature]:
        return [f for f in self.given.arguments if f.bits <= 64] if bits >= 32 else []

    def still(self, bits: int) -> list[Cell]:
        """Words of memory at constant addresses: what a loop loads in each iteration, or once before it begins. They
        are similar to arguments."""
        found: dict[tuple[int, ...], Cell] = {}
        for cell in self.kinds.cells if bits >= 32 else ():
            if cell.bits <= bits and all(self._stays(column.feature) for _, column in cell.summands):
                found.setdefault(self.values(cell), cell)
        return list(found.values())

    def _stays(self, feature: Feature) -> bool:
        same = self.same_as(feature)
        return not same.tag or isinstance(self.invariant.definitions.get(same, (None,))[0], ConstantFact)

    def object_of(self, feature: Feature) -> ObjectStart | None:
        """The object in which a value is the address of some place in all rows."""
        values = self.values(feature) if feature.bits == 64 else ()
        starts = [start for start in self.given.arguments if isinstance(start, ObjectStart)] if values else []
        near = (s for s in starts if all(s.is_near(v - at) for v, at in zip(values, self.values(s), strict=True)))
        return next(near, None)

    def same_as(self, feature: Feature) -> Feature:
        if isinstance(feature, Cell):
            # Of words that are always equal the first: probably one address that each side computes differently.
            return next(
                c for c in self.kinds.cells if c.bits == feature.bits and self.values(c) == self.values(feature)
            )
        fact = self.invariant.definitions.get(feature, (None, None))[0]
        return self.same_as(fact.right) if isinstance(fact, Same) else feature

    def steers(self, feature: Feature) -> bool:
        return not feature.tag or self.kinds.steering is None or feature in self.kinds.steering
