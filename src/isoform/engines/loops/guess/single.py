"""Facts about one feature: a constant, equal to another one, an address of the frame or of an object, an extension."""

from __future__ import annotations

from collections.abc import Sequence

from isoform.engines.loops.guess.data import Data
from isoform.engines.loops.guess.facts import ConstantFact, Linear, OnStack, Same, SameNumber
from isoform.engines.loops.guess.features import Cell, Column, Extend, Feature, ObjectStart
from isoform.model.evaluate_floats import canonical_nan, is_nan
from isoform.model.outcome import FRAME_LIMIT


class Single:
    def __init__(self, data: Data) -> None:
        self._data = data
        self._invariant = data.invariant

    def find(self) -> None:
        """Constants, and features that always equal another one or a value at entry."""
        seen: dict[tuple[int, tuple[int, ...]], Feature] = {}
        for feature in self._data.given.kept:
            if feature.bits > 64:
                continue
            for bits in {feature.bits, *(b for b in (8, 16, 32, 64) if b < feature.bits)}:
                low = Feature(feature.tag, feature.place, feature.low, bits)
                values = tuple(v & ((1 << bits) - 1) for v in self._data.values(feature))
                seen.setdefault((bits, values), low)
        # Remainders of a count, too: code that uses them looks at no more bits.
        for feature in self._data.given.arguments:
            seen.setdefault((feature.bits, self._data.values(feature)), feature)
        for cell in self._data.kinds.cells:
            seen.setdefault((cell.bits, self._data.values(cell)), cell)
        for feature in self._data.features:
            values = self._data.values(feature)
            distance = self._distance(feature, values)
            if distance is not None and self._data.given.pointer is not None:
                self._invariant.define(feature, OnStack(feature, self._data.given.pointer, distance))
                continue
            if self._at_object(feature, values):
                continue
            other = seen.get((feature.bits, values))
            kept = other is not None and other.tag == "" and other.place == feature.place
            if other is not None and (kept or ((other.tag == "" or isinstance(other, Cell)) and len(set(values)) > 1)):
                self._invariant.define(feature, Same(feature, other))
            elif len(set(values)) == 1:
                added = self._data.kinds.code.get((feature.tag, values[0])) if feature.bits == 64 else None
                self._invariant.define(feature, ConstantFact(feature, values[0], added or ""))
            elif other is not None:
                self._invariant.define(feature, Same(feature, other))
            else:
                seen[feature.bits, values] = feature

    def _at_object(self, feature: Feature, values: Sequence[int]) -> bool:
        """Whether a feature is at a fixed distance from an object."""
        starts = [start for start in self._data.given.arguments if isinstance(start, ObjectStart)]
        for start in starts if feature.bits == 64 and values else ():
            distances = {value - at for value, at in zip(values, self._data.values(start), strict=True)}
            distance = distances.pop()
            if not distances and start.is_near(distance):
                unit, modulus = Column(feature), 1 << feature.bits
                fact = Linear(-distance % modulus, ((modulus - 1, Column(start)), (1, unit)), feature.bits)
                self._invariant.define(feature, Same(feature, start) if not distance else fact, unit)
                return True
        return False

    def numbers(self) -> None:
        """Features that always are the same float as another one, if any NaN counts as any other."""
        seen: dict[tuple[int, tuple[int, ...]], Feature] = {}
        for feature in (f for f in self._data.free() if f.bits in (32, 64)):
            size = feature.bits // 8
            values = tuple(canonical_nan(size) if is_nan(v, size) else v for v in self._data.values(feature))
            other = seen.setdefault((feature.bits, values), feature)
            if other != feature and len(set(values)) > 1:
                self._invariant.define(feature, SameNumber(feature, other))

    def extensions(self) -> None:
        """Words that always equal another feature, extended as machines do as a side effect."""
        for bits in (64, 32, 16):
            narrow = [*self._data.kinds.cells, *(f for f in self._data.free() if f.bits in (8, 16, 32))]
            seen: dict[tuple[int, ...], Column] = {}
            for extend in (Extend.ZERO, Extend.SIGN):
                for feature in (f for f in narrow if f.bits < bits):
                    column = Column(feature, extend)
                    seen.setdefault(tuple(column.of_row(row, bits) for row in self._data.rows), column)
            for feature in [f for f in self._data.free() if f.bits == bits]:
                found = seen.get(self._data.values(feature))
                if found is not None and found.feature not in self._invariant.definitions:
                    unit = Column(feature)
                    self._invariant.define(feature, Linear(0, ((-1 % (1 << bits), found), (1, unit)), bits), unit)

    def _distance(self, feature: Feature, values: Sequence[int]) -> int | None:
        """The distance from the stack pointer at entry, if it is the same in all rows and small."""
        if self._data.given.pointer is None or feature.bits != self._data.given.pointer.bits or not values:
            return None
        distances = {
            (v - p) % (1 << feature.bits)
            for v, p in zip(values, self._data.values(self._data.given.pointer), strict=True)
        }
        if len(distances) != 1:
            return None
        distance = distances.pop()
        distance -= 1 << feature.bits if distance >> (feature.bits - 1) else 0
        return distance if -FRAME_LIMIT <= distance < 4096 else None
