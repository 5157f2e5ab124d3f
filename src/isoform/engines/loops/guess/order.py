"""Signed and unsigned comparisons between values that decide branches."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property, reduce
from itertools import combinations, permutations
from operator import or_

from isoform.engines.loops.guess.compared import links_of, pairs_in
from isoform.engines.loops.guess.data import Data
from isoform.engines.loops.guess.facts import (
    AtLeast,
    Between,
    Bounded,
    Compare,
    ConstantFact,
    Linear,
    OnStack,
    Relation,
    Same,
    Within,
)
from isoform.engines.loops.guess.features import Column, Extend, Feature, ObjectStart
from isoform.engines.loops.guess.invariant import Order
from isoform.engines.loops.tuning import (
    BUFFER_DISTANCES,
    FEW_LOW_BITS,
    LOWER_BOUNDS,
    MOST_BELOW_ZERO,
    MOST_BYTES_LEFT_OVER,
    MOST_LEFT_OVER,
    MOST_ORDERED,
    OBJECT_SLACK_BYTES,
    UPPER_BOUNDS,
)
from isoform.sym.validity import HIGHEST_ADDRESS


class Ordering:
    def __init__(self, data: Data) -> None:
        self._data = data
        self._invariant = data.invariant

    def find(self) -> None:
        self._buffers()
        for feature in self._data.free():
            if feature.bits > 1 and max(self._data.values(feature)) == 1:
                self._invariant.add(Compare(Column(feature), Relation.AT_MOST, 1, feature.bits))
        columns = self._compared()
        for bits in (32, 64):
            mine = [c for c in columns if bits == 64 or (c.feature.bits == 32 and c.extend is Extend.ZERO)]
            self._order([c for c in mine if self._is_of_interest(c.feature)][:MOST_ORDERED], bits)
        self._ends_in_objects()
        for feature in self._narrow():
            if self._is_of_interest(feature):
                self._bounds(Column(feature), self._data.values(feature), feature.bits)
                self._between_letters(Column(feature), self._data.values(feature), feature.bits)

    @property
    def _every(self) -> bool:
        """Whether all is compared with all."""
        return self._data.kinds.order is Order.ALL

    def _is_of_interest(self, feature: Feature) -> bool:
        return self._every or any(feature in features for features in self._named)

    def _order(self, columns: Sequence[Column], bits: int) -> None:
        """Comparisons between numbers of one width."""
        pointers = self._data.kinds.pointers
        numbers = {c: [c.of_row(row, bits) for row in self._data.rows] for c in columns}
        for column in columns:
            if bits // 2 < column.feature.bits <= bits:
                self._bounds(column, numbers[column], bits)
        for left, right in combinations(columns, 2):
            alike = (left.feature in pointers) == (right.feature in pointers)
            if not alike or (bits == 64 and max(left.feature.bits, right.feature.bits) <= 32):
                continue
            self._between(left, right, numbers[left], numbers[right], bits)

    def _between(self, left: Column, right: Column, a: Sequence[int], b: Sequence[int], bits: int) -> None:
        kinds, pair = self._data.kinds, frozenset((left.feature, right.feature))
        if self._every or pair in self._pairs:
            is_in_range = self._range(left, right, bits)
            # Which pointer is greater follows from the range if no buffer wraps around the last address, which solvers
            # take long to see: it is claimed where the code asks for it.
            if self._every or not is_in_range or pair <= kinds.compared.ordered:
                self._pair(left, right, a, b, bits)
            self._distance_between(left, right, a, b, bits)
            if kinds.uneven and not pair & kinds.compared.ordered:
                self._multiple_between(left, right, a, b, bits)
        elif pair in self._linked and left.feature not in kinds.pointers:
            self._pair(left, right, a, b, bits)

    def _buffers(self) -> None:
        """That pointer arguments are some distance apart, and where programs may have memory. This is what a check for
        overlap in the code establishes; proving it once is easier than in each iteration."""
        arguments = [f for f in self._data.given.arguments if not isinstance(f, ObjectStart)]
        passed = [Column(f) for f in arguments if f in self._data.kinds.pointers]
        apart: dict[Column, None] = {}
        for one, other in permutations(passed, 2):
            bits = one.feature.bits
            distances = [(row[one.feature] - row[other.feature]) % (1 << bits) for row in self._data.rows]
            bound = next((number for number in BUFFER_DISTANCES if number <= min(distances)), None)
            if bound is not None:
                self._invariant.add(AtLeast(one, other, bound, bits))
                apart |= dict.fromkeys((one, other))
        for one in apart:
            if max(self._data.values(one.feature)) < HIGHEST_ADDRESS:
                self._invariant.add(Compare(one, Relation.AT_MOST, HIGHEST_ADDRESS - 1, one.feature.bits))

    def _ends_in_objects(self) -> None:
        """Pointers to objects that the code compares. If no counter is known of which both are sums, the order of
        counters does not say where they meet."""
        for left, right in (sorted(pair, key=str) for pair in self._pairs):
            one, other = Column(left), Column(right)
            if not all(f.bits == 64 and (self._is_in_object(f) or self._is_near(f)) for f in (left, right)):
                continue
            if not all(map(self._is_counted, (left, right))):
                a, b = self._data.values(left), self._data.values(right)
                self._pair(one, other, a, b, 64)
                if self._data.kinds.uneven:
                    self._multiple_between(one, other, a, b, 64)

    def _is_counted(self, feature: Feature) -> bool:
        """Whether it is an object's address plus a sum of values that are no addresses in objects."""
        fact = self._invariant.definitions.get(feature, (None, None))[0]
        others = [f for f in fact.features() if f != feature] if isinstance(fact, Linear) else []
        return bool(others) and not any(self._is_near(f) for f in others if not isinstance(f, ObjectStart))

    def _is_near(self, feature: Feature) -> bool:
        return self._data.object_of(feature) is not None

    def _between_letters(self, column: Column, numbers: Sequence[int], bits: int) -> None:
        """Of the bytes that the code distinguishes the nearest on both sides; further away each time one is broken."""
        broken = self._data.kinds.loose.get((column, None), 0)
        below = [letter for letter in self._data.kinds.letters if letter <= min(numbers)]
        above = [letter for letter in self._data.kinds.letters if letter >= max(numbers)]
        if broken < len(below):
            self._invariant.add(AtLeast(column, None, below[-1 - broken], bits))
        if broken < len(above):
            self._invariant.add(Compare(column, Relation.AT_MOST, above[broken], bits))

    def _narrow(self) -> list[Feature]:
        """Bytes and half words: they are compared with numbers only."""
        fixed = (ConstantFact, OnStack, Same)
        known = {f: fact for f, (fact, _) in self._invariant.definitions.items()}
        every = (*self._data.features, *self._data.kinds.cells)
        return [f for f in every if f.bits in (8, 16) and not isinstance(known.get(f), fixed)]

    @cached_property
    def _named(self) -> frozenset[frozenset[Feature]]:
        """What the code compares, by the representative of equal features."""
        return frozenset(
            frozenset(map(self._data.same_as, features)) for features in self._data.kinds.compared.together
        )

    @cached_property
    def _pairs(self) -> frozenset[frozenset[Feature]]:
        return pairs_in(self._named)

    @cached_property
    def _linked(self) -> frozenset[frozenset[Feature]]:
        return links_of(self._pairs)

    def _compared(self) -> list[Column]:
        """Free features and those that are no constant distance or value, each once, and the arguments."""
        fixed = (ConstantFact, OnStack, Same)
        chosen = [
            f
            for f in self._data.features
            if 32 <= f.bits <= 64
            and not isinstance(self._invariant.definitions.get(f, (None, None))[0], fixed)
            and self._data.steers(f)
            and not self._is_in_object(f)
        ]
        given = (*self._data.arguments(64), *self._data.still(64))
        columns = [Column(f) for f in (*chosen, *given) if 32 <= f.bits <= 64]
        if not self._data.kinds.signs and self._data.kinds.order is not Order.ALL:
            return columns
        signed = [c.feature for c in columns if c.feature.bits == 32 and c.feature not in self._invariant.not_negative]
        return columns + [Column(f, Extend.SIGN) for f in signed]

    def _is_in_object(self, feature: Feature) -> bool:
        """Whether it is an object's address plus a sum: the order of the sum says everything, and is easier."""
        fact = self._invariant.definitions.get(feature, (None, None))[0]
        return isinstance(fact, Linear) and any(isinstance(f, ObjectStart) for f in fact.features())

    def _bounds(self, column: Column, numbers: Sequence[int], bits: int) -> None:
        least, most = min(numbers), max(numbers)
        if column.feature in self._data.kinds.pointers:
            if least > 0:
                self._invariant.add(AtLeast(column, None, 1, bits))
            return
        if self._is_bounded(column):
            self._unlike_constants(column, numbers, bits)
        if least > 0:
            bound = max(b for b in self._rungs(LOWER_BOUNDS, (column, None)) if b <= least)
            self._invariant.add(AtLeast(column, None, bound, bits))
        rungs = self._rungs(UPPER_BOUNDS, (column, None))
        if bits == 64 and isinstance(self._invariant.definitions.get(column.feature, (None,))[0], Linear):
            # The bounds of a multiple of a counter follow from those of the counter, unless it is a remainder.
            rungs = [b for b in rungs if b <= MOST_LEFT_OVER]
        upper = next((b for b in rungs if b >= most and b < 1 << (bits - 1)), None)
        if upper is not None:
            self._invariant.add(Compare(column, Relation.AT_MOST, upper, bits))

    def _unlike_constants(self, column: Column, numbers: Sequence[int], bits: int) -> None:
        """That a value is none of the numbers that the code compares with. A counter with a fixed last value stays
        below it, which no power of two says."""
        least, most = min(numbers), max(numbers)
        constants = {number & ((1 << bits) - 1) for number in self._data.constants}
        self._from_below_zero(column, numbers, constants, bits)
        beyond = min((number for number in constants if most < number < 1 << (bits - 1)), default=None)
        for number in sorted(constants):
            between = least <= number <= most and number not in numbers
            if number and (between or number == beyond):
                self._invariant.add(Compare(column, Relation.DIFFERENT, number, bits))
        if beyond is not None and beyond > 1 and (column, None) not in self._data.kinds.loose:
            self._invariant.add(Compare(column, Relation.BELOW, beyond, bits))

    def _from_below_zero(self, column: Column, numbers: Sequence[int], constants: Collection[int], bits: int) -> None:
        """A counter that a compiler moved may begin or end shortly below zero: it stays between that and its other
        end."""
        half = 1 << (bits - 1)
        signed = [number - 2 * half if number >= half else number for number in numbers]
        least, most = min(signed), max(signed)
        if not -MOST_BELOW_ZERO <= least < 0 <= most or (column, None) in self._data.kinds.loose:
            return
        # If it counts down, its first value need not be a number that the code compares with.
        beyond = min((number for number in constants if most < number < half), default=1 << most.bit_length())
        self._invariant.add(Between(column, least, beyond, bits))

    def _rungs(self, ladders: Sequence[Sequence[int]], what: Bounded) -> Sequence[int]:
        first = 0 if what[1] is not None or self._is_bounded(what[0]) else len(ladders) - 1
        return ladders[min(first + self._data.kinds.loose.get(what, 0), len(ladders) - 1)]

    def _is_bounded(self, column: Column) -> bool:
        """Whether bounds by any number are worth trying: if the code compares with one."""
        return self._data.kinds.order is Order.ALL or frozenset((column.feature,)) in self._named

    def _pair(self, left: Column, right: Column, a: Sequence[int], b: Sequence[int], bits: int) -> None:
        if left.feature == right.feature:
            return
        pairs = list(zip(a, b, strict=True))
        found = False
        for strict, weak in ((Relation.LESS, Relation.LESS_OR_EQUAL), (Relation.BELOW, Relation.AT_MOST)):
            for one, other, ordered in ((left, right, pairs), (right, left, [(y, x) for x, y in pairs])):
                for relation in (strict, weak):
                    if all(relation.numbers(x, y, bits) for x, y in ordered):
                        self._invariant.add(Compare(one, relation, other, bits))
                        found = True
                        break
        if not found and all(x != y for x, y in pairs):
            self._invariant.add(Compare(left, Relation.DIFFERENT, right, bits))

    def _multiple_between(self, left: Column, right: Column, a: Sequence[int], b: Sequence[int], bits: int) -> None:
        """The distance of a counter from its end is a multiple of its step: several iterations of the other side's
        loop, and neither would stop if the counter went past the end."""
        distances = [(x - y) % (1 << bits) for x, y in zip(a, b, strict=True)]
        apart = reduce(or_, (distance ^ distances[0] for distance in distances))
        low = (apart & -apart).bit_length() - 1
        if left.feature.tag == right.feature.tag and 1 <= low <= FEW_LOW_BITS:
            modulus = 1 << low
            self._invariant.add(Linear(-distances[0] % modulus, ((modulus - 1, right), (1, left)), low))

    def _distance_between(self, left: Column, right: Column, a: Sequence[int], b: Sequence[int], bits: int) -> None:
        if left.feature == right.feature:
            return
        pairs = list(zip(a, b, strict=True))
        for one, other, ordered in ((left, right, pairs), (right, left, [(y, x) for x, y in pairs])):
            distances = [(x - y) % (1 << bits) for x, y in ordered]
            least = min(distances)
            if least > 1 and max(distances) < 1 << (bits - 1):
                bound = max(b for b in self._rungs(LOWER_BOUNDS, (one, other)) if b <= least)
                self._invariant.add(AtLeast(one, other, bound, bits))
            self._left_over(one, other, max(distances), bits)

    def _left_over(self, left: Column, right: Column, most: int, bits: int) -> None:
        """That few iterations are left: what an unrolled or vectorised loop leaves is less than one of its iterations.
        Straight code after it does no more than that many, and a loop that goes on would need more."""
        is_pointer = left.feature in self._data.kinds.pointers
        broken = self._data.kinds.loose.get((right, left), 0)
        bounds = (most, (1 << most.bit_length()) - 1)
        if most <= (MOST_BYTES_LEFT_OVER if is_pointer else MOST_LEFT_OVER) and broken < len(bounds):
            self._invariant.add(Compare(left, Relation.AT_MOST, bounds[broken], bits, right))

    def _range(self, left: Column, right: Column, bits: int) -> bool:
        """That a pointer lies between its start, at an argument or a few elements after it, and another pointer;
        whether it does. Which of two is greater says less: nothing guarantees that a buffer does not wrap around the
        last address."""
        pointers = self._data.kinds.pointers
        if not {left.feature, right.feature} <= pointers:
            return False
        found = False
        for low in (Column(f) for f in self._data.given.arguments if f in pointers):
            for value, high in ((left, right), (right, left)):
                if low in (value, high):
                    continue
                rows = [[c.of_row(row, bits) for c in (low, value, high)] for row in self._data.rows]
                begins = any(
                    (inside - first) % (1 << bits) <= OBJECT_SLACK_BYTES and first != last
                    for first, inside, last in rows
                )
                for weak in (False, True) if begins else ():
                    fact = Within(low, value, high, weak, bits)
                    distances = [
                        ((inside - first) % (1 << bits), (last - first) % (1 << bits)) for first, inside, last in rows
                    ]
                    if all(x < y or (weak and x == y) for x, y in distances):
                        self._invariant.add(fact)
                        self._invariant.measured.setdefault(value.feature, low.feature)
                        found = True
                        break
        return found
