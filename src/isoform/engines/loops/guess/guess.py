"""Guessing an invariant: everything of a few kinds that holds in all the data.

Nothing here is believed. Too little data gives facts that do not hold, and the proof finds them out; a model that
breaks one becomes a further row, and the guess is made again from all rows, so that combinations of equations which
still hold are not lost.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import cached_property, partial, reduce
from itertools import combinations, permutations
from operator import or_

from bitwuzla import Kind as K  # noqa: N817 (as in terms.py)

from isoform.engines.loops.guess.compared import links_of, pairs_in
from isoform.engines.loops.guess.equations import Equation, equations, follows, is_in_fractions, is_plain, says_nothing
from isoform.engines.loops.guess.facts import (
    Among,
    AtEntry,
    AtLeast,
    Bounded,
    Compare,
    Constant,
    Exclusive,
    Fact,
    Fold,
    FoldBy,
    Linear,
    OnStack,
    Product,
    Relation,
    Same,
    Summand,
    Within,
)
from isoform.engines.loops.guess.features import Cell, Column, Extend, Feature, ObjectStart, Row
from isoform.engines.loops.guess.invariant import Given, Invariant, Kinds, Order
from isoform.engines.loops.guess.kernel import Kernel
from isoform.model.outcome import FRAME_LIMIT
from isoform.sym.validity import HIGHEST_ADDRESS

_MOST_FACTORS, _MOST_IN_CONGRUENCE, _FEW_LOW_BITS = 7, 2, 6
"""Of products and congruences. What two values have in common is a few low bits or a part as wide as words are: where
it is something else, they were equal until now, and will have less and less in common."""
_MOST_COMPARED = 14
"""Values whose order is looked at."""
_LOWER_BOUNDS = ((*range(1, 9), 16, 32, 64), tuple(range(1, 9)), (1, 4), (1,))
_UPPER_BOUNDS = tuple(tuple((1 << k) - 1 for k in some) for some in ((1, 2, 3, 4, 8, 16, 31), (8, 31), (31,)))
"""At first, and when bounds of something were broken so many times."""
_MOST_LEFT_OVER = 15
_DISTANCES = (128, 64, 32, 16)
"""Between buffers, in bytes."""


def guess(
    rows: Sequence[Row],
    features: Sequence[Feature],
    given: Given,
    constants: Collection[int] = (),
    banned: Collection[Fact] = (),
    kinds: Kinds | None = None,
) -> Invariant:
    """What holds of `features` in all rows, but not the facts that are `banned`. `constants` are numbers that the
    code compares with."""
    return _Guess(rows, features, given, constants, banned, kinds or Kinds()).invariant


class _Guess:
    def __init__(
        self,
        rows: Sequence[Row],
        features: Sequence[Feature],
        given: Given,
        constants: Collection[int],
        banned: Collection[Fact],
        kinds: Kinds,
    ) -> None:
        self.invariant = Invariant(banned=banned)
        self._rows = rows
        self._features = features
        self._given = given
        self._pointer = given.pointer
        self._constants = constants
        self._kinds = kinds
        self._cells = kinds.cells
        self._congruences: list[Linear] = []
        self._single()
        self._extended()
        self._flags()
        for bits in (64, 32, 16, 8):
            self._linear(bits)
        self._congruent()
        self._kept()
        self._exclusive()
        self._folds()
        if kinds.order is not Order.NONE:
            self._order()

    def _free(self) -> list[Feature]:
        return [f for f in self._features if f not in self.invariant.definitions]

    def _values(self, feature: Feature) -> tuple[int, ...]:
        return tuple(row[feature] for row in self._rows)

    # -- one feature ----------------------------------------------------------------------------

    def _single(self) -> None:
        """Constants, and features that are always the same as another or as a value at entry."""
        seen: dict[tuple[int, tuple[int, ...]], Feature] = {}
        for feature in self._given.kept:
            if feature.bits > 64:
                continue
            for bits in {feature.bits, *(b for b in (8, 16, 32, 64) if b < feature.bits)}:
                low = Feature(feature.tag, feature.place, feature.low, bits)
                values = tuple(v & ((1 << bits) - 1) for v in self._values(feature))
                seen.setdefault((bits, values), low)
        # What is left over of a count, too: code that goes on with it looks at no more bits.
        for feature in self._given.arguments:
            seen.setdefault((feature.bits, self._values(feature)), feature)
        for cell in self._cells:
            seen.setdefault((cell.bits, self._values(cell)), cell)
        for feature in self._features:
            values = self._values(feature)
            distance = self._distance(feature, values)
            if distance is not None and self._pointer is not None:
                self.invariant.define(feature, OnStack(feature, self._pointer, distance))
                continue
            if self._at_object(feature, values):
                continue
            other = seen.get((feature.bits, values))
            kept = other is not None and other.tag == "" and other.place == feature.place
            if other is not None and (kept or ((other.tag == "" or isinstance(other, Cell)) and len(set(values)) > 1)):
                self.invariant.define(feature, Same(feature, other))
            elif len(set(values)) == 1:
                self.invariant.define(feature, Constant(feature, values[0]))
            elif other is not None:
                self.invariant.define(feature, Same(feature, other))
            else:
                seen[feature.bits, values] = feature

    def _at_object(self, feature: Feature, values: Sequence[int]) -> bool:
        """Whether a feature is at a fixed distance from an object."""
        starts = [start for start in self._given.arguments if isinstance(start, ObjectStart)]
        for start in starts if feature.bits == 64 and values else ():
            distances = {value - at for value, at in zip(values, self._values(start), strict=True)}
            distance = distances.pop()
            if not distances and start.is_near(distance):
                unit, modulus = Column(feature), 1 << feature.bits
                fact = Linear(-distance % modulus, ((modulus - 1, Column(start)), (1, unit)), feature.bits)
                self.invariant.define(feature, Same(feature, start) if not distance else fact, unit)
                return True
        return False

    def _extended(self) -> None:
        """Words that are always another feature, extended as machines do in passing."""
        for bits in (64, 32, 16):
            narrow = [*self._cells, *(f for f in self._free() if f.bits in (8, 16, 32))]
            seen: dict[tuple[int, ...], Column] = {}
            for extend in (Extend.ZERO, Extend.SIGN):
                for feature in (f for f in narrow if f.bits < bits):
                    column = Column(feature, extend)
                    seen.setdefault(tuple(column.of_row(row, bits) for row in self._rows), column)
            for feature in [f for f in self._free() if f.bits == bits]:
                found = seen.get(self._values(feature))
                if found is not None and found.feature not in self.invariant.definitions:
                    unit = Column(feature)
                    self.invariant.define(feature, Linear(0, ((-1 % (1 << bits), found), (1, unit)), bits), unit)

    def _distance(self, feature: Feature, values: Sequence[int]) -> int | None:
        """The distance from the stack pointer at entry, if it is the same in all rows and small."""
        if self._pointer is None or feature.bits != self._pointer.bits or not values:
            return None
        distances = {(v - p) % (1 << feature.bits) for v, p in zip(values, self._values(self._pointer), strict=True)}
        if len(distances) != 1:
            return None
        distance = distances.pop()
        distance -= 1 << feature.bits if distance >> (feature.bits - 1) else 0
        return distance if -FRAME_LIMIT <= distance < 4096 else None

    # -- equations ------------------------------------------------------------------------------

    def _linear(self, bits: int) -> None:
        """Sums first; then, of what they leave, products and words of memory that come by. Memory is full of numbers,
        and equations between them hold mostly by chance."""
        self._solve(bits, ())
        if self._kinds.degree > 1:
            still = self._still(bits)
            cells = [cell for cell in self._cells if cell.bits <= bits and cell not in still]
            self._solve(bits, (*_columns(cells, bits), *self._products(bits)))

    def _solve(self, bits: int, more: Sequence[Summand]) -> None:
        free = [f for f in self._free() if f.bits <= bits or bits == 32]
        if not any(f.bits == bits or (bits == 64 and f.bits < 64) for f in free):
            return
        columns: list[Summand] = [*_columns((*self._arguments(bits), *self._still(bits)), bits), *more]
        # Narrow ones first, so that wide ones are expressed by an extension of them, not they by a part.
        columns += _columns(sorted(free, key=lambda f: f.bits), bits)
        kernel = Kernel(1 + len(columns), bits)
        for row in self._rows:
            kernel.add([1, *(column.of_row(row, bits) for column in columns)])
        for equation in equations(kernel.plain(), columns, bits, lambda unit: self._merit(unit, bits)):
            self._equation(equation, bits)

    def _products(self, bits: int) -> list[Product]:
        """Monomials of the second degree, of features of one width."""
        factors = [f for f in (*self._arguments(bits), *self._free()) if f.bits == bits][:_MOST_FACTORS]
        return [Product(a, b) for i, a in enumerate(factors) for b in factors[i:]]

    def _arguments(self, bits: int) -> list[Feature]:
        return [f for f in self._given.arguments if f.bits <= 64] if bits >= 32 else []

    def _still(self, bits: int) -> list[Cell]:
        """Words of memory at addresses that stay: what a loop reads each time, or once before it begins. They are much
        like arguments."""
        found: dict[tuple[int, ...], Cell] = {}
        for cell in self._cells if bits >= 32 else ():
            if cell.bits <= bits and all(self._stays(column.feature) for _, column in cell.summands):
                found.setdefault(self._values(cell), cell)
        return list(found.values())

    def _stays(self, feature: Feature) -> bool:
        same = self._same_as(feature)
        return not same.tag or isinstance(self.invariant.definitions.get(same, (None,))[0], Constant)

    def _equation(self, equation: Equation, bits: int) -> None:
        fact, unit = equation.fact(), equation.unit
        if equation.sign_of is not None:
            # Of sums in lanes nobody promises it, and nothing depends on it.
            if self._kinds.signs and (self._steers(equation.sign_of) or not self._is_lane(equation.sign_of)):
                self._not_negative(equation.sign_of)
        elif not is_plain(fact) or isinstance(unit, Product):
            pass  # an equation between products alone says what no code computes
        elif equation.bits < bits:
            short = len(fact.summands) <= _MOST_IN_CONGRUENCE and not is_in_fractions(fact)
            natural = len(fact.summands) == 1 or equation.bits <= _FEW_LOW_BITS or equation.bits in (8, 16, 32)
            if short and natural and all(isinstance(c, Column) for _, c in fact.summands):
                self._congruences.append(fact)
        elif (
            isinstance(unit, Column) and equation.is_solved and equation.mentions_once and self._may_define(unit, bits)
        ):
            self.invariant.define(unit.feature, fact, unit)
        else:
            self.invariant.add(fact)

    def _steers(self, feature: Feature) -> bool:
        return not feature.tag or self._kinds.steering is None or feature in self._kinds.steering

    def _is_lane(self, feature: Feature) -> bool:
        """Whether it is one of several parts of a register."""
        parts = {f.low for f in self._features if (f.tag, f.place) == (feature.tag, feature.place)}
        return isinstance(feature.place, str) and len(parts) > 1

    def _merit(self, unit: Summand, bits: int) -> int:
        """How well an equation is solved for something. What the code orders is better left as it is: an order
        between sums is hard for a solver."""
        if not isinstance(unit, Column) or not self._may_define(unit, bits):
            return 0
        return 1 if unit.feature in self._kinds.compared.ordered else 2

    def _may_define(self, unit: Summand, bits: int) -> bool:
        if not isinstance(unit, Column) or unit.feature not in self._features or unit.feature.bits > bits:
            return False
        return unit.feature not in self.invariant.definitions

    def _congruent(self) -> None:
        """What holds modulo a smaller power of two, unless it follows from what holds modulo a greater one."""
        known = [fact for fact in self.invariant.facts if isinstance(fact, Linear)]
        for fact in self._congruences:
            if not says_nothing(fact) and not any(follows(fact, other) for other in (*known, *self._congruences)):
                self.invariant.add(fact)

    def _not_negative(self, feature: Feature) -> None:
        top = (1 << (feature.bits - 1)) - 1
        fact = Compare(Column(feature), Relation.AT_MOST, top, feature.bits)
        if fact not in self.invariant.banned:
            self.invariant.not_negative.add(feature)
        self.invariant.add(fact)

    def _kept(self) -> None:
        for feature, first in self._kinds.at_entry.items():
            definition = self.invariant.definitions.get(feature, (None,))[0]
            if definition is None:
                self.invariant.define(feature, AtEntry(feature, first))
            elif isinstance(definition, Same) and not definition.right.tag and first.kind() == K.ITE:
                # In the tests it is what was given, but the code chose it: that tells when it could be so.
                self.invariant.add(AtEntry(feature, first))

    def _exclusive(self) -> None:
        """Equations over exclusive or: every bit of every row is an observation."""
        for bits in (8, 16, 32, 64):
            free = [f for f in self._free() if f.bits == bits]
            if not 3 <= len(free) <= 24 or len({f.tag for f in free}) < 2:
                continue
            kernel = Kernel(len(free), 1)
            reference = self._rows[0]
            for row in self._rows[1:]:
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
                fact = Exclusive(chosen, constant)
                if chosen[-1] in self.invariant.definitions:
                    self.invariant.add(fact)
                else:
                    self.invariant.define(chosen[-1], fact)

    def _folds(self) -> None:
        """A feature of one side that is the greatest, least … of the lanes of the other's vectors."""
        free = self._free()
        for tag, other in (("a", "b"), ("b", "a")):
            groups = _lane_groups([f for f in free if f.tag == other])
            for feature in [f for f in free if f.tag == tag]:
                for lanes in (g for g in groups if g[0].bits <= feature.bits):
                    same = lanes[0].bits == feature.bits
                    if self._fold(feature, lanes) or (same and self._extreme(feature, lanes)):
                        break

    def _flags(self) -> None:
        """The same for lanes of which a single bit matters, before equations: sums of such bits mean nothing."""
        free = self._free()
        for tag, other in (("a", "b"), ("b", "a")):
            groups = _lane_groups([f for f in free if f.tag == other and f.bits == 1])
            for feature in [f for f in free if f.tag == tag and max(self._values(f)) == 1]:
                for lanes in reversed(groups):
                    if self._fold(feature, lanes):
                        break

    def _fold(self, feature: Feature, lanes: tuple[Feature, ...]) -> bool:
        for by in FoldBy:
            combine = partial(_combined, by, lanes[0].bits)
            fold = Fold(feature, by, lanes)
            turned = (1 << lanes[0].bits) - 1 if by.is_complement else 0
            holds = all(reduce(combine, (row[lane] for lane in lanes)) ^ turned == row[feature] for row in self._rows)
            if holds and fold not in self.invariant.banned:
                self.invariant.define(feature, fold)
                return True
        return False

    def _extreme(self, feature: Feature, lanes: tuple[Feature, ...]) -> bool:
        if not all(any(row[lane] == row[feature] for lane in lanes) for row in self._rows):
            return False
        column, bits = Column(feature), feature.bits
        for relation in (Relation.LESS_OR_EQUAL, Relation.AT_MOST):
            for up in (True, False):
                bounds = [(Column(lane), column) if up else (column, Column(lane)) for lane in lanes]
                if all(
                    relation.numbers(one.of_row(row, bits), other.of_row(row, bits), bits)
                    for row in self._rows
                    for one, other in bounds
                ):
                    self.invariant.add(Among(feature, lanes))
                    for one, other in bounds:
                        self.invariant.add(Compare(one, relation, other, bits))
                    return True
        return False

    # -- order ----------------------------------------------------------------------------------

    def _order(self) -> None:
        self._buffers()
        for feature in self._free():
            if feature.bits > 1 and max(self._values(feature)) == 1:
                self.invariant.add(Compare(Column(feature), Relation.AT_MOST, 1, feature.bits))
        columns = self._compared()
        pairs = pairs_in(self._named)
        linked = links_of(pairs)
        every = self._kinds.order is Order.ALL
        for bits in (32, 64):
            mine = [c for c in columns if bits == 64 or (c.feature.bits == 32 and c.extend is Extend.ZERO)]
            if not every:
                mine = [c for c in mine if any(c.feature in features for features in self._named)]
            mine = mine[:_MOST_COMPARED]
            numbers = {c: [c.of_row(row, bits) for row in self._rows] for c in mine}
            for column in mine:
                if bits // 2 < column.feature.bits <= bits:
                    self._bounds(column, numbers[column], bits)
            for left, right in combinations(mine, 2):
                alike = (left.feature in self._kinds.pointers) == (right.feature in self._kinds.pointers)
                if not alike or (bits == 64 and max(left.feature.bits, right.feature.bits) <= 32):
                    continue
                pair = frozenset((left.feature, right.feature))
                if every or pair in pairs:
                    self._pair(left, right, numbers[left], numbers[right], bits)
                    self._distance_between(left, right, numbers[left], numbers[right], bits)
                    if self._kinds.uneven and not {left.feature, right.feature} & self._kinds.compared.ordered:
                        self._multiple_between(left, right, numbers[left], numbers[right], bits)
                    self._range(left, right, bits)
                elif pair in linked and left.feature not in self._kinds.pointers:
                    self._pair(left, right, numbers[left], numbers[right], bits)
        for feature in self._narrow():
            if every or any(feature in features for features in self._named):
                self._bounds(Column(feature), self._values(feature), feature.bits)
                self._between_letters(Column(feature), self._values(feature), feature.bits)

    def _buffers(self) -> None:
        """Pointers that are passed, if they lie some way from each other, and where programs may have memory. Where
        code looks first whether buffers overlap, that is what it comes to; to show it once is easier than in each
        turn."""
        arguments = [f for f in self._given.arguments if not isinstance(f, ObjectStart)]
        passed = [Column(f) for f in arguments if f in self._kinds.pointers]
        apart: dict[Column, None] = {}
        for one, other in permutations(passed, 2):
            bits = one.feature.bits
            distances = [(row[one.feature] - row[other.feature]) % (1 << bits) for row in self._rows]
            bound = next((number for number in _DISTANCES if number <= min(distances)), None)
            if bound is not None:
                self.invariant.add(AtLeast(one, other, bound, bits))
                apart |= dict.fromkeys((one, other))
        for one in apart:
            if max(self._values(one.feature)) < HIGHEST_ADDRESS:
                self.invariant.add(Compare(one, Relation.AT_MOST, HIGHEST_ADDRESS - 1, one.feature.bits))

    def _between_letters(self, column: Column, numbers: Sequence[int], bits: int) -> None:
        """Of the bytes that the code tells apart the nearest on both sides; further away each time one is broken."""
        broken = self._kinds.loose.get((column, None), 0)
        below = [letter for letter in self._kinds.letters if letter <= min(numbers)]
        above = [letter for letter in self._kinds.letters if letter >= max(numbers)]
        if broken < len(below):
            self.invariant.add(AtLeast(column, None, below[-1 - broken], bits))
        if broken < len(above):
            self.invariant.add(Compare(column, Relation.AT_MOST, above[broken], bits))

    def _narrow(self) -> list[Feature]:
        """Bytes and half words: they are compared with numbers only."""
        fixed = (Constant, OnStack, Same)
        known = {f: fact for f, (fact, _) in self.invariant.definitions.items()}
        every = (*self._features, *self._cells)
        return [f for f in every if f.bits in (8, 16) and not isinstance(known.get(f), fixed)]

    @cached_property
    def _named(self) -> frozenset[frozenset[Feature]]:
        """What the code compares, by what it is the same as."""
        return frozenset(frozenset(map(self._same_as, features)) for features in self._kinds.compared.together)

    def _same_as(self, feature: Feature) -> Feature:
        if isinstance(feature, Cell):
            # Of words that are always the same the first: one address, most likely, that the two sides have each from
            # elsewhere.
            return next(c for c in self._cells if c.bits == feature.bits and self._values(c) == self._values(feature))
        fact = self.invariant.definitions.get(feature, (None, None))[0]
        return self._same_as(fact.right) if isinstance(fact, Same) else feature

    def _compared(self) -> list[Column]:
        """Free features and those that are no fixed distance or value, each once, and the arguments."""
        fixed = (Constant, OnStack, Same)
        chosen = [
            f
            for f in self._features
            if 32 <= f.bits <= 64
            and not isinstance(self.invariant.definitions.get(f, (None, None))[0], fixed)
            and self._steers(f)
            and not self._is_in_object(f)
        ]
        given = (*self._arguments(64), *self._still(64))
        columns = [Column(f) for f in (*chosen, *given) if 32 <= f.bits <= 64]
        if not self._kinds.signs and self._kinds.order is not Order.ALL:
            return columns
        signed = [c.feature for c in columns if c.feature.bits == 32 and c.feature not in self.invariant.not_negative]
        return columns + [Column(f, Extend.SIGN) for f in signed]

    def _is_in_object(self, feature: Feature) -> bool:
        """Whether it is an object's address and something more: the order of that says all, and is easier."""
        fact = self.invariant.definitions.get(feature, (None, None))[0]
        return isinstance(fact, Linear) and any(isinstance(f, ObjectStart) for f in fact.features())

    def _bounds(self, column: Column, numbers: Sequence[int], bits: int) -> None:
        least, most = min(numbers), max(numbers)
        if column.feature in self._kinds.pointers:
            if least > 0:
                self.invariant.add(AtLeast(column, None, 1, bits))
            return
        for number in self._constants if self._is_bounded(column) else ():
            number &= (1 << bits) - 1
            if number and least <= number <= most and number not in numbers:
                self.invariant.add(Compare(column, Relation.DIFFERENT, number, bits))
        if least > 0:
            bound = max(b for b in self._rungs(_LOWER_BOUNDS, (column, None)) if b <= least)
            self.invariant.add(AtLeast(column, None, bound, bits))
        rungs = self._rungs(_UPPER_BOUNDS, (column, None))
        if bits == 64 and isinstance(self.invariant.definitions.get(column.feature, (None,))[0], Linear):
            # Of a multiple of what is counted how large it is follows from how far that goes, unless it is what is left
            # over.
            rungs = [b for b in rungs if b <= _MOST_LEFT_OVER]
        upper = next((b for b in rungs if b >= most and b < 1 << (bits - 1)), None)
        if upper is not None:
            self.invariant.add(Compare(column, Relation.AT_MOST, upper, bits))

    def _rungs(self, ladders: Sequence[Sequence[int]], what: Bounded) -> Sequence[int]:
        first = 0 if what[1] is not None or self._is_bounded(what[0]) else len(ladders) - 1
        return ladders[min(first + self._kinds.loose.get(what, 0), len(ladders) - 1)]

    def _is_bounded(self, column: Column) -> bool:
        """Whether bounds by any number are worth a try: where the code compares with one."""
        return self._kinds.order is Order.ALL or frozenset((column.feature,)) in self._named

    def _pair(self, left: Column, right: Column, a: Sequence[int], b: Sequence[int], bits: int) -> None:
        if left.feature == right.feature:
            return
        pairs = list(zip(a, b, strict=True))
        found = False
        for strict, weak in ((Relation.LESS, Relation.LESS_OR_EQUAL), (Relation.BELOW, Relation.AT_MOST)):
            for one, other, ordered in ((left, right, pairs), (right, left, [(y, x) for x, y in pairs])):
                for relation in (strict, weak):
                    if all(relation.numbers(x, y, bits) for x, y in ordered):
                        self.invariant.add(Compare(one, relation, other, bits))
                        found = True
                        break
        if not found and all(x != y for x, y in pairs):
            self.invariant.add(Compare(left, Relation.DIFFERENT, right, bits))

    def _multiple_between(self, left: Column, right: Column, a: Sequence[int], b: Sequence[int], bits: int) -> None:
        """How far a count is from where it ends is a multiple of what one turn takes: several turns of the other side's
        loop, and neither would stop if it came to lie beyond."""
        distances = [(x - y) % (1 << bits) for x, y in zip(a, b, strict=True)]
        apart = reduce(or_, (distance ^ distances[0] for distance in distances))
        low = (apart & -apart).bit_length() - 1
        if left.feature.tag == right.feature.tag and 1 <= low <= _FEW_LOW_BITS:
            modulus = 1 << low
            self.invariant.add(Linear(-distances[0] % modulus, ((modulus - 1, right), (1, left)), low))

    def _distance_between(self, left: Column, right: Column, a: Sequence[int], b: Sequence[int], bits: int) -> None:
        if left.feature == right.feature:
            return
        pairs = list(zip(a, b, strict=True))
        for one, other, ordered in ((left, right, pairs), (right, left, [(y, x) for x, y in pairs])):
            distances = [(x - y) % (1 << bits) for x, y in ordered]
            least = min(distances)
            if least > 1 and max(distances) < 1 << (bits - 1):
                bound = max(b for b in self._rungs(_LOWER_BOUNDS, (one, other)) if b <= least)
                self.invariant.add(AtLeast(one, other, bound, bits))

    def _range(self, left: Column, right: Column, bits: int) -> None:
        """That of two pointers one lies between where it begins, an argument, and the other. Which of them is greater
        says less: nobody promises that a buffer does not go beyond the last address."""
        pointers = self._kinds.pointers
        if not {left.feature, right.feature} <= pointers:
            return
        for low in (Column(f) for f in self._given.arguments if f in pointers):
            for value, high in ((left, right), (right, left)):
                if low in (value, high):
                    continue
                rows = [[c.of_row(row, bits) for c in (low, value, high)] for row in self._rows]
                begins = any(inside == first != last for first, inside, last in rows)
                for weak in (False, True) if begins else ():
                    fact = Within(low, value, high, weak, bits)
                    distances = [
                        ((inside - first) % (1 << bits), (last - first) % (1 << bits)) for first, inside, last in rows
                    ]
                    if all(x < y or (weak and x == y) for x, y in distances):
                        self.invariant.add(fact)
                        self.invariant.measured.setdefault(value.feature, low.feature)
                        break


def _columns(features: Iterable[Feature], bits: int) -> list[Column]:
    found = []
    for feature in features:
        found.append(Column(feature))
        if feature.bits < bits and (feature.bits > 8 or isinstance(feature, Cell)):
            found.append(Column(feature, Extend.SIGN))
    return found


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
