"""From the kernel of the data to equations as a program keeps them: each solved for one value, with the others that are
solved for written out, and in lowest terms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from isoform.engines.loops.facts import Linear, Product, Summand
from isoform.engines.loops.features import Column, Feature
from isoform.engines.loops.kernel import LARGE

_MOST_SUMMANDS = 5


@dataclass(frozen=True)
class Equation:
    """constant + sum of coefficient · column = 0, modulo 2^bits; some coefficient is odd."""

    constant: int
    terms: Mapping[Summand, int]
    bits: int
    unit: Summand
    """What it is solved for; its coefficient is odd."""

    @property
    def sign_of(self) -> Feature | None:
        """The feature of which it says that both of its extensions are the same."""
        features = {column.features for column in self.terms}
        extended = len(self.terms) == 2 and len(features) == 1 and not self.constant
        return features.pop()[0] if extended and sum(self.terms.values()) % (1 << self.bits) == 0 else None

    @property
    def mentions_once(self) -> bool:
        """Whether what it is solved for occurs in nothing else of it."""
        return sum(not set(column.features).isdisjoint(self.unit.features) for column in self.terms) == 1

    def fact(self) -> Linear:
        modulus = 1 << self.bits
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
    congruences that are left, modulo less. `merit` says how well they are solved for
    something."""
    rows = [list(generator) for generator in generators]
    pivots = [0] * len(rows)
    for index, row in enumerate(rows):
        pivots[index] = _pivot(row, columns, bits, merit)
        if not pivots[index]:
            continue
        inverse = pow(row[pivots[index]], -1, 1 << bits)
        for other, theirs in enumerate(rows):
            factor = theirs[pivots[index]] * inverse
            if other != index and factor:
                rows[other] = [(a - factor * b) % (1 << bits) for a, b in zip(theirs, row, strict=True)]
    for row, pivot in zip(rows, pivots, strict=True):
        if pivot:
            terms = {column: c for c, column in zip(row[1:], columns, strict=True) if c}
            yield Equation(row[0], terms, bits, columns[pivot - 1])
        else:
            yield from _congruence(row, columns, bits)


def _pivot(row: Sequence[int], columns: Sequence[Summand], bits: int, merit: Callable[[Summand], int]) -> int:
    """Where to solve an equation: at the last place, but rather where what is there has no other, and where it takes
    no large coefficients, as x = 0xcccccccd·y does and y = 5·x does not. 0 if nowhere."""

    def rank(place: int) -> tuple[bool, bool, int, int]:
        column = columns[place - 1]
        inverse = pow(row[place], -1, 1 << bits)
        large = any(_is_large(c * inverse, bits) for c in (*row[1:place], *row[place + 1 :]))
        return merit(column) > 0, not large, merit(column), place

    return max((place for place in range(1, len(row)) if row[place] & 1), key=rank, default=0)


def _congruence(row: Sequence[int], columns: Sequence[Summand], bits: int) -> Iterator[Equation]:
    """Without common factors of two, and with each column once; nothing if then nothing is said."""
    constant = row[0]
    terms = {column: c for c, column in zip(row[1:], columns, strict=True) if c}
    while terms:
        shift = min((c & -c).bit_length() - 1 for c in terms.values())
        if not shift:
            yield Equation(constant, terms, bits, next(column for column in reversed(terms) if terms[column] & 1))
            return
        bits -= shift
        constant = (constant >> shift) % (1 << bits)
        merged: dict[Summand, int] = {}
        for column, c in terms.items():
            # In as many bits as it has, or fewer, it does not matter how a feature is extended.
            narrow = isinstance(column, Column) and column.feature.bits >= bits
            key = Column(column.feature) if isinstance(column, Column) and narrow else column
            merged[key] = (merged.get(key, 0) + (c >> shift)) % (1 << bits)
        terms = {column: c for column, c in merged.items() if c}


def is_plain(fact: Linear) -> bool:
    """Whether it looks like one that a program keeps. One in twice the bits of any feature in it says, beyond what the
    same in fewer bits says, that nothing wraps: that holds until a model shows otherwise."""
    if all(2 * f.bits <= fact.bits for f in fact.features()):
        return False
    if not any(isinstance(column, Product) for _, column in fact.summands):
        return True
    small = not any(_is_large(c, fact.bits) for c, _ in fact.summands)
    return small and len(fact.summands) <= _MOST_SUMMANDS


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
    return min(coefficient, (1 << bits) - coefficient) >= LARGE
