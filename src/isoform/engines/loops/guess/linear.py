"""Equations and congruences between sums of features, and of products of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import or_

from isoform.engines.loops.guess.data import Data
from isoform.engines.loops.guess.equations import (
    Equation,
    equations,
    follows,
    is_in_fractions,
    is_plain,
    says_nothing,
)
from isoform.engines.loops.guess.facts import Compare, Linear, Product, Relation, Summand
from isoform.engines.loops.guess.features import Cell, Column, Extend, Feature
from isoform.engines.loops.guess.kernel import Kernel
from isoform.engines.loops.tuning import FEW_LOW_BITS, MOST_FACTORS, MOST_IN_CONGRUENCE


class LinearFacts:
    def __init__(self, data: Data) -> None:
        self._data = data
        self._invariant = data.invariant
        self._congruences: list[Linear] = []

    def find(self, bits: int) -> None:
        """Sums first; then, of what they leave, products and words of memory. Memory is full of numbers, and equations
        between them hold mostly by chance."""
        self._solve(bits, ())
        if self._data.kinds.degree > 1:
            still = self._data.still(bits)
            cells = [cell for cell in self._data.kinds.cells if cell.bits <= bits and cell not in still]
            self._solve(bits, (*_columns(cells, bits), *self._products(bits)))

    def _solve(self, bits: int, more: Sequence[Summand]) -> None:
        free = [f for f in self._data.free() if f.bits <= bits or bits == 32]
        if not any(f.bits == bits or (bits == 64 and f.bits < 64) for f in free):
            return
        columns: list[Summand] = [*_columns((*self._data.arguments(bits), *self._data.still(bits)), bits), *more]
        # Narrow ones first, so that wide ones are expressed by an extension of them, not they by a part.
        columns += _columns(sorted(free, key=lambda f: f.bits), bits)
        kernel = Kernel(1 + len(columns), bits)
        for row in self._data.rows:
            kernel.add([1, *(column.of_row(row, bits) for column in columns)])
        for equation in equations(kernel.plain(), columns, bits, lambda unit: self._merit(unit, bits)):
            self._equation(equation, bits)

    def _products(self, bits: int) -> list[Product]:
        """Monomials of the second degree, of features of one width."""
        factors = [f for f in (*self._data.arguments(bits), *self._data.free()) if f.bits == bits][:MOST_FACTORS]
        return [Product(a, b) for i, a in enumerate(factors) for b in factors[i:]]

    def _equation(self, equation: Equation, bits: int) -> None:
        fact, unit = equation.fact(), equation.unit
        if equation.sign_of is not None:
            # Sums in lanes rarely satisfy it, and nothing depends on it.
            if self._data.kinds.signs and (self._data.steers(equation.sign_of) or not self._is_lane(equation.sign_of)):
                self._not_negative(equation.sign_of)
        elif not is_plain(fact) or isinstance(unit, Product):
            pass  # an equation between products alone says what no code computes
        elif equation.bits < bits:
            short = len(fact.summands) <= MOST_IN_CONGRUENCE and not is_in_fractions(fact)
            natural = len(fact.summands) == 1 or equation.bits <= FEW_LOW_BITS or equation.bits in (8, 16, 32)
            if short and natural and all(isinstance(c, Column) for _, c in fact.summands):
                self._congruences.append(fact)
        elif (
            isinstance(unit, Column) and equation.is_solved and equation.mentions_once and self._may_define(unit, bits)
        ):
            self._invariant.define(unit.feature, fact, unit)
        else:
            self._invariant.add(fact)

    def _is_lane(self, feature: Feature) -> bool:
        """Whether it is one of several parts of a register."""
        parts = {f.low for f in self._data.features if (f.tag, f.place) == (feature.tag, feature.place)}
        return isinstance(feature.place, str) and len(parts) > 1

    def _merit(self, unit: Summand, bits: int) -> int:
        """How well an equation is solved for a column. A value that the code compares for order is better left free: an
        order between sums is hard for a solver."""
        if not isinstance(unit, Column) or not self._may_define(unit, bits):
            return 0
        return 1 if unit.feature in self._data.kinds.compared.ordered else 2

    def _may_define(self, unit: Summand, bits: int) -> bool:
        if not isinstance(unit, Column) or unit.feature not in self._data.features or unit.feature.bits > bits:
            return False
        return unit.feature not in self._invariant.definitions

    def congruences(self) -> None:
        """What holds modulo a smaller power of two, unless it follows from what holds modulo a greater one."""
        self._in_steps()
        known = [fact for fact in self._invariant.facts if isinstance(fact, Linear)]
        for fact in self._congruences:
            if not says_nothing(fact) and not any(follows(fact, other) for other in (*known, *self._congruences)):
                self._invariant.add(fact)

    def _in_steps(self) -> None:
        """The low bits of a counter or pointer that never change. With fewer rows than columns, as in few windows of a
        long run and with many lanes, the kernel has them only in combinations with other columns."""
        for feature in self._data.free():
            if feature.bits not in (32, 64) or not self._data.steers(feature) or self._is_lane(feature):
                continue
            values = self._data.values(feature)
            apart = reduce(or_, (value ^ values[0] for value in values), 0)
            low = (apart & -apart).bit_length() - 1
            if 1 <= low <= FEW_LOW_BITS:
                fact = Linear(-values[0] % (1 << low), ((1, Column(feature)),), low)
                if fact not in self._congruences:
                    self._congruences.append(fact)

    def _not_negative(self, feature: Feature) -> None:
        top = (1 << (feature.bits - 1)) - 1
        fact = Compare(Column(feature), Relation.AT_MOST, top, feature.bits)
        if fact not in self._invariant.banned:
            self._invariant.not_negative.add(feature)
        self._invariant.add(fact)


def _columns(features: Iterable[Feature], bits: int) -> list[Column]:
    found = []
    for feature in features:
        found.append(Column(feature))
        if feature.bits < bits and (feature.bits > 8 or isinstance(feature, Cell)):
            found.append(Column(feature, Extend.SIGN))
    return found
