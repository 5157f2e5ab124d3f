"""Functions of single bits, built from a few words with `and`, `or`, exclusive or and `not`, as a truth table.

Compilers write the same bitwise function in many ways: (b & c) | (~b & d) is ((c ^ d) & b) ^ d. Over a few words its
truth table identifies it.
"""

from __future__ import annotations

from collections.abc import Callable

from isoform.model.values import dataclass

MOST_WORDS = 4
MOST_IN_PARITY = 128
"""Words whose exclusive or is a number of its own: those that one iteration of a vectorised loop loads."""


@dataclass(frozen=True)
class BitFunction:
    """Bit i of `table` is the result if bit j of i is that of the j-th word. The function depends on every word."""

    words: tuple[int, ...]
    """Numbers of terms, in order."""
    table: int

    @property
    def word(self) -> int | None:
        """The word that the function is equal to, if there is one."""
        return self.words[0] if len(self.words) == 1 and self.table == 0b10 else None


@dataclass(frozen=True)
class Parity:
    """The exclusive or of any number of words, or its complement. Their order does not matter, and a word twice is
    none: solvers, which look at single bits, take exponential time to see that of dozens of words."""

    words: frozenset[int]
    is_complement: bool

    def __xor__(self, other: Parity) -> Parity:
        return Parity(self.words ^ other.words, self.is_complement != other.is_complement)

    @property
    def function(self) -> BitFunction | None:
        """The same as a truth table, if it is of few words."""
        if len(self.words) > MOST_WORDS:
            return None
        words = tuple(sorted(self.words))
        table = sum((row.bit_count() & 1 ^ self.is_complement) << row for row in range(1 << len(words)))
        return BitFunction(words, table)


def parity_of(function: BitFunction) -> Parity | None:
    """What a function is the exclusive or of, if it is one."""
    found = (Parity(frozenset(function.words), is_complement) for is_complement in (False, True))
    return next((parity for parity in found if parity.function == function), None)


def word(number: int) -> BitFunction:
    return BitFunction((number,), 0b10)


def complement(function: BitFunction) -> BitFunction:
    return BitFunction(function.words, function.table ^ _all(len(function.words)))


def combined(combine: Callable[[int, int], int], left: BitFunction, right: BitFunction) -> BitFunction | None:
    """`combine` (of tables) applied to both; None if it takes too many words."""
    words = tuple(sorted({*left.words, *right.words}))
    if len(words) > MOST_WORDS:
        return None
    table = combine(_over(left, words), _over(right, words))
    for position in range(len(words) - 1, -1, -1):
        low, high = _halves(table, position, len(words))
        if low == high:
            words = words[:position] + words[position + 1 :]
            table = low
    return BitFunction(words, table)


def _all(words: int) -> int:
    return (1 << (1 << words)) - 1


def _over(function: BitFunction, words: tuple[int, ...]) -> int:
    """Its table over more words."""
    places = [words.index(number) for number in function.words]
    table = 0
    for row in range(1 << len(words)):
        mine = sum((row >> place & 1) << position for position, place in enumerate(places))
        table |= (function.table >> mine & 1) << row
    return table


def _halves(table: int, position: int, words: int) -> tuple[int, int]:
    """The tables where one of the words is 0 and where it is 1."""
    halves = [0, 0]
    counts = [0, 0]
    for row in range(1 << words):
        side = row >> position & 1
        halves[side] |= (table >> row & 1) << counts[side]
        counts[side] += 1
    return halves[0], halves[1]
