"""From the kernel of the data to equations as a program keeps them: each solved for one value, with the other solved
values substituted, and in lowest terms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from isoform.engines.loops.guess.facts import Linear, Product, Summand
from isoform.engines.loops.guess.features import Cell, Column, Feature
from isoform.engines.loops.tuning import LARGE_COEFFICIENT, MOST_SUMMANDS
from isoform.model.values import dataclass


@dataclass(frozen=True)
class Equation:
    """constant + sum of coefficient · column = 0, modulo 2^bits; some coefficient is odd."""

    constant: int
    terms: Mapping[Summand, int]
    bits: int
    unit: Summand
    """What it is solved for; its coefficient is odd."""
    is_solved: bool = True
    """Or else it is kept as it is: 5·x = 4·y, which cannot be solved without fractions."""

    @property
    def sign_of(self) -> Feature | None:
        """The feature whose two extensions it says are equal."""
        features = {column.features for column in self.terms}
        extended = len(self.terms) == 2 and len(features) == 1 and not self.constant
        return features.pop()[0] if extended and sum(self.terms.values()) % (1 << self.bits) == 0 else None

    @property
    def mentions_once(self) -> bool:
        """Whether what it is solved for occurs nowhere else in it."""
        return sum(not set(column.features).isdisjoint(self.unit.features) for column in self.terms) == 1

    def fact(self) -> Linear:
        modulus = 1 << self.bits
        if not self.is_solved:
            return Linear(self.constant, tuple((c, column) for column, c in self.terms.items()), self.bits)
        inverse = pow(self.terms[self.unit], -1, modulus)
        others = tuple((c * inverse % modulus, column) for column, c in self.terms.items() if column != self.unit)
        return Linear(self.constant * inverse % modulus, (*others, (1, self.unit)), self.bits)


def equations(
    generators: Sequence[Sequence[int]],
    columns: Sequence[Summand],
    bits: int,
    merit: Callable[[Summand], int],
) -> Iterator[Equation]:
    """The equations modulo 2^bits that generators (a constant, then a coefficient for each column) stand for, and the
    remaining congruences, modulo less. `merit` says how well they can be solved for a column."""
    system = _System([list(generator) for generator in generators], columns, bits, merit)
    for index, row in enumerate(system.rows):
        pivot = system.pivots[index] or _pivot(row, columns, bits, merit)
        if not system.pivots[index] and sum(c & 1 for c in row[1:]) == 1:
            yield from _low_bits(row, columns, bits)
        elif pivot:
            terms = {column: c for c, column in zip(row[1:], columns, strict=True) if c}
            yield Equation(row[0], terms, bits, columns[pivot - 1], bool(system.pivots[index]))
        else:
            yield from _congruence(row, columns, bits)


class _System:
    """Equations, most of them solved for a column that is then substituted in the others."""

    def __init__(
        self, rows: list[list[int]], columns: Sequence[Summand], bits: int, merit: Callable[[Summand], int]
    ) -> None:
        self.rows = rows
        self.pivots = [0] * len(rows)
        """What is solved for; 0 for an equation that is left as it is."""
        self._bits = bits
        left = []
        self._put_aside_signs(columns, bits)
        for index, row in enumerate(rows):
            pivot = _pivot(row, columns, bits, merit)
            if pivot and not _is_large_solved(row, pivot, bits):
                self._solve(index, pivot)
            else:
                left.append(index)
        # Solving the rest takes large coefficients. If those are fractions (5·x = 4·y), it stays as it is: substituted
        # in others they would hide what these say; and a multiple of it says nothing new.
        for number, index in enumerate(left):
            row = rows[index]
            pivot = _pivot(row, columns, bits, merit)
            if any(_is_multiple(row, rows[other], bits) for other in left[:number]):
                rows[index] = [0] * len(row)
            elif pivot and not _takes_fractions(row, pivot, bits):
                self._solve(index, pivot)

    def _put_aside_signs(self, columns: Sequence[Summand], bits: int) -> None:
        """Equations that only say that some values always have the same sign hold by chance: for example, no test went
        from a negative index to one that is not. They are dropped, and
        subtracted from every equation that is shorter without them: p = a + 4·sext(i) is shorter than
        p = a + 4·i + 4·sext(n) - 4·n."""
        chance = [index for index, row in enumerate(self.rows) if _compares_signs(row, columns, bits)]
        modulus = 1 << self._bits
        for index in chance:
            signs, self.rows[index] = self.rows[index], [0] * len(self.rows[index])
            places = [place for place, c in enumerate(signs) if c & 1]
            for other, row in enumerate(self.rows):
                factors = {row[place] * pow(signs[place], -1, modulus) % modulus for place in places if row[place]}
                without = ([(a - factor * b) % modulus for a, b in zip(row, signs, strict=True)] for factor in factors)
                self.rows[other] = min((row, *without), key=lambda r: sum(map(bool, r)))

    def _solve(self, index: int, pivot: int) -> None:
        self.pivots[index] = pivot
        row, modulus = self.rows[index], 1 << self._bits
        inverse = pow(row[pivot], -1, modulus)
        for other, theirs in enumerate(self.rows):
            factor = theirs[pivot] * inverse
            if other != index and factor:
                self.rows[other] = [(a - factor * b) % modulus for a, b in zip(theirs, row, strict=True)]


def _compares_signs(row: Sequence[int], columns: Sequence[Summand], bits: int) -> bool:
    """Whether an equation is only about the extensions of several values."""
    totals: dict[tuple[Feature, ...], int] = {}
    for c, column in zip(row[1:], columns, strict=True):
        if c:
            totals[column.features] = totals.get(column.features, 0) + c
    return not row[0] and len(totals) > 1 and not any(total % (1 << bits) for total in totals.values())


def _pivot(row: Sequence[int], columns: Sequence[Summand], bits: int, merit: Callable[[Summand], int]) -> int:
    """The column to solve an equation for: the last one, but preferably one without another extension, and one that
    needs no large coefficients, as x = 0xcccccccd·y does and y = 5·x does not. 0 if none."""

    def rank(place: int) -> tuple[bool, bool, int, int]:
        column = columns[place - 1]
        return merit(column) > 0, not _is_large_solved(row, place, bits), merit(column), place

    return max((place for place in range(1, len(row)) if row[place] & 1), key=rank, default=0)


def _is_large_solved(row: Sequence[int], place: int, bits: int) -> bool:
    inverse = pow(row[place], -1, 1 << bits)
    return any(_is_large(c * inverse, bits) for c in (*row[1:place], *row[place + 1 :]))


def _takes_fractions(row: Sequence[int], place: int, bits: int) -> bool:
    """Whether solving an equation for this column makes small coefficients large: substituted in others, that would
    hide what they say."""
    return _is_large_solved(row, place, bits) and not any(_is_large(c, bits) for c in row[1:])


def _is_multiple(row: Sequence[int], of: Sequence[int], bits: int) -> bool:
    place = next((i for i, c in enumerate(of) if c & 1), None)
    if place is None:
        return False
    factor = row[place] * pow(of[place], -1, 1 << bits)
    return all((a - factor * b) % (1 << bits) == 0 for a, b in zip(row, of, strict=True))


def _low_bits(row: Sequence[int], columns: Sequence[Summand], bits: int) -> Iterator[Equation]:
    """From 5·x = 4·y, which defines neither by the other, that x is a multiple of 4: a program that increments x by 4
    and y by 5 keeps that, and the rest is hard for a solver and useless."""
    place = next(i for i, c in enumerate(row) if i and c & 1)
    others = [c for i, c in enumerate(row) if i not in (0, place) and c]
    low = min((c & -c).bit_length() - 1 for c in others)
    modulus = 1 << low
    yield Equation(row[0] % modulus, {columns[place - 1]: row[place] % modulus}, low, columns[place - 1])


def _congruence(row: Sequence[int], columns: Sequence[Summand], bits: int) -> Iterator[Equation]:
    """Without common factors of two, and with each column once; nothing if then nothing is said."""
    constant = row[0]
    terms = {column: c for c, column in zip(row[1:], columns, strict=True) if c}
    begins = {(f.tag, f.place, f.low): f for f in _plain_features(columns)}
    while terms:
        shift = min((c & -c).bit_length() - 1 for c in terms.values())
        if not shift:
            yield Equation(constant, terms, bits, next(column for column in reversed(terms) if terms[column] & 1))
            return
        bits -= shift
        constant = (constant >> shift) % (1 << bits)
        merged: dict[Summand, int] = {}
        for column, c in terms.items():
            # In as many bits as it has, or fewer, the extension of a feature does not matter, nor do further bits above
            # it.
            key: Summand = column
            if isinstance(column, Column) and column.feature.bits >= bits:
                feature = column.feature
                is_cell = isinstance(feature, Cell)
                key = Column(feature if is_cell else begins[feature.tag, feature.place, feature.low])
            merged[key] = (merged.get(key, 0) + (c >> shift)) % (1 << bits)
        terms = {column: c for column, c in merged.items() if c}


def _plain_features(columns: Sequence[Summand]) -> list[Feature]:
    """The features of plain columns, narrow ones first. A cell has no place of its own."""
    found = [c.feature for c in columns if isinstance(c, Column) and not isinstance(c.feature, Cell)]
    return sorted(found, key=lambda feature: feature.bits)


def is_plain(fact: Linear) -> bool:
    """Whether it looks like one that a program keeps. An equation in twice the bits of any feature in it also says that
    nothing wraps: that holds until a model shows otherwise."""
    if all(2 * f.bits <= fact.bits for f in fact.features()):
        return False
    if not any(isinstance(column, Product) for _, column in fact.summands):
        return True
    small = not any(_is_large(c, fact.bits) for c, _ in fact.summands)
    return small and len(fact.summands) <= MOST_SUMMANDS


def is_in_fractions(fact: Linear) -> bool:
    return any(_is_large(c, fact.bits) for c, _ in fact.summands)


def says_nothing(fact: Linear) -> bool:
    """Whether it only compares a value with its own low bits."""
    same = len({(f.tag, f.place, f.low) for f in fact.features()}) == 1 and all(
        isinstance(column, Column) and column.feature.bits >= fact.bits for _, column in fact.summands
    )
    return same and not fact.constant and sum(c for c, _ in fact.summands) % (1 << fact.bits) == 0


def follows(fact: Linear, other: Linear) -> bool:
    """Whether a congruence is another equation modulo less."""
    if fact.bits >= other.bits:
        return False
    modulus = 1 << fact.bits
    theirs = {c: k % modulus for k, c in other.summands if k % modulus}
    return {c: k for k, c in fact.summands} == theirs and other.constant % modulus == fact.constant


def _is_large(coefficient: int, bits: int) -> bool:
    coefficient %= 1 << bits
    return min(coefficient, (1 << bits) - coefficient) >= LARGE_COEFFICIENT
