"""Facts about bits and lanes: exclusive or, and the greatest, least or any of the lanes of a vector."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, reduce

from isoform.engines.loops.guess.data import Data
from isoform.engines.loops.guess.facts import Among, Compare, ExclusiveOrFact, Fold, FoldBy, Relation
from isoform.engines.loops.guess.features import Column, Feature
from isoform.engines.loops.guess.kernel import Kernel


class Lanes:
    def __init__(self, data: Data) -> None:
        self._data = data
        self._invariant = data.invariant

    def exclusive(self) -> None:
        """Equations over exclusive or: every bit of every row is an observation."""
        for bits in (8, 16, 32, 64):
            free = [f for f in self._data.free() if f.bits == bits]
            if not 3 <= len(free) <= 24 or len({f.tag for f in free}) < 2:
                continue
            kernel = Kernel(len(free), 1)
            reference = self._data.rows[0]
            for row in self._data.rows[1:]:
                changes = [row[f] ^ reference[f] for f in free]
                for bit in range(bits):
                    kernel.add([c >> bit & 1 for c in changes])
            for generator in kernel.generators:
                chosen = tuple(f for f, c in zip(free, generator, strict=True) if c)
                if len(chosen) < 2:
                    continue
                constant = 0
                for f in chosen:
                    constant ^= reference[f]
                fact = ExclusiveOrFact(chosen, constant)
                if chosen[-1] in self._invariant.definitions:
                    self._invariant.add(fact)
                else:
                    self._invariant.define(chosen[-1], fact)

    def folds(self) -> None:
        """A feature of one side that is the greatest, least … of the lanes of the other's vectors."""
        free = self._data.free()
        for tag, other in (("a", "b"), ("b", "a")):
            groups = _lane_groups([f for f in free if f.tag == other])
            for feature in [f for f in free if f.tag == tag]:
                for lanes in (g for g in groups if g[0].bits <= feature.bits):
                    same = lanes[0].bits == feature.bits
                    if self._fold(feature, lanes) or (same and self._extreme(feature, lanes)):
                        break

    def flags(self) -> None:
        """The same for lanes with a single live bit, before equations: sums of such bits mean nothing."""
        free = self._data.free()
        for tag, other in (("a", "b"), ("b", "a")):
            groups = _lane_groups([f for f in free if f.tag == other and f.bits == 1])
            for feature in [f for f in free if f.tag == tag and max(self._data.values(f)) == 1]:
                for lanes in reversed(groups):
                    if self._fold(feature, lanes):
                        break

    def _fold(self, feature: Feature, lanes: tuple[Feature, ...]) -> bool:
        for by in FoldBy:
            combine = partial(_combined, by, lanes[0].bits)
            fold = Fold(feature, by, lanes)
            turned = (1 << lanes[0].bits) - 1 if by.is_complement else 0
            holds = all(
                reduce(combine, (row[lane] for lane in lanes)) ^ turned == row[feature] for row in self._data.rows
            )
            if holds and fold not in self._invariant.banned:
                self._invariant.define(feature, fold)
                return True
        return False

    def _extreme(self, feature: Feature, lanes: tuple[Feature, ...]) -> bool:
        if not all(any(row[lane] == row[feature] for lane in lanes) for row in self._data.rows):
            return False
        column, bits = Column(feature), feature.bits
        for relation in (Relation.LESS_OR_EQUAL, Relation.AT_MOST):
            for up in (True, False):
                bounds = [(Column(lane), column) if up else (column, Column(lane)) for lane in lanes]
                if all(
                    relation.numbers(one.of_row(row, bits), other.of_row(row, bits), bits)
                    for row in self._data.rows
                    for one, other in bounds
                ):
                    self._invariant.add(Among(feature, lanes))
                    for one, other in bounds:
                        self._invariant.add(Compare(one, relation, other, bits))
                    return True
        return False


def _combined(by: FoldBy, bits: int, a: int, b: int) -> int:
    return by.numbers(a, b, bits)


def _lane_groups(features: Sequence[Feature]) -> list[tuple[Feature, ...]]:
    """The lanes of each vector register, and all lanes of one width together."""
    by_place: dict[tuple[str | int, int], list[Feature]] = {}
    for feature in features:
        by_place.setdefault((feature.place, feature.bits), []).append(feature)
    groups = [tuple(lanes) for lanes in by_place.values() if len(lanes) > 1]
    for bits in {f.bits for f in features}:
        every = tuple(f for lanes in groups for f in lanes if f.bits == bits)
        if every and every not in groups:
            groups.append(every)
    return groups
