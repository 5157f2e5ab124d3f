"""Functions of single bits, built from a few words with `and`, `or`, exclusive or and `not`, as a truth table.

Compilers write the same bitwise function in many ways: (b & c) | (~b & d) is ((c ^ d) & b) ^ d. Over a few words its
truth table identifies it.
"""

from __future__ import annotations

from collections.abc import Callable

from isoform.model.values import dataclass

MOST_WORDS = 4


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
