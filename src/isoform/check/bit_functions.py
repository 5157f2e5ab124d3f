"""Functions of single bits, built with `bvand`, `bvor`, `bvxor` and `bvnot` from a few words: which of them are equal.

Each bit of such a term depends only on the same bit of the words. Two such terms over the same words are equal for all
values if and only if they agree for each choice of one bit per word.
"""

from __future__ import annotations

from itertools import product

_MOST_WORDS = 4
_MOST_ADDED = 128
_BY_NAME = {
    "bvand": lambda a, b: a and b,
    "bvor": lambda a, b: a or b,
    "bvxor": lambda a, b: a != b,
}
Function = tuple[tuple[int, ...], tuple[bool, ...]]
"""Numbers of words, and the value for each choice of bits, in the order of `itertools.product`."""


class BitFunctions:
    """Terms by number, with the functions known for them."""

    def __init__(self) -> None:
        self._functions: dict[int, Function] = {}
        self._first: dict[tuple[Function, int], int] = {}

        self._sums: dict[int, tuple[frozenset[int], bool]] = {}
        """Terms that are `bvxor` of many words: the words that occur an odd number of times, and whether all bits of it
        are inverted besides."""
        self._first_sum: dict[tuple[frozenset[int], bool, int], int] = {}

    def note_complement(self, number: int, operand: int) -> None:
        """The term with this number is the complement of the other one."""
        words, values = self._of(operand)
        self._functions.setdefault(number, (words, tuple(not value for value in values)))

    def same_as(self, operator: str, operands: tuple[int, ...], number: int, width: int) -> int:
        """The first known term with the same function as this one, which is an operator applied to two terms; a word if
        it is just that word. If none is known, the term itself."""
        if operator not in _BY_NAME or len(operands) != 2:
            return number
        left, right = (self._of(operand) for operand in operands)
        words = tuple(sorted({*left[0], *right[0]}))
        if len(words) > _MOST_WORDS or (operator == "bvxor" and any(operand in self._sums for operand in operands)):
            return self._same_sum(operands, number, width) if operator == "bvxor" else number
        values = []
        for bits in product((False, True), repeat=len(words)):
            choice = dict(zip(words, bits, strict=True))
            values.append(bool(_BY_NAME[operator](_value(left, choice), _value(right, choice))))
        function = _without_idle_words(words, tuple(values))
        if function[1] == (False, True):
            return function[0][0]
        first = self._first.setdefault((function, width), number)
        self._functions[first] = function
        return first

    def _same_sum(self, operands: tuple[int, ...], number: int, width: int) -> int:
        """Bits added modulo 2: in any order, and what is added twice is not there."""
        left, right = (self._sum_of(operand) for operand in operands)
        total = left[0] ^ right[0], left[1] != right[1]
        if len(total[0]) > _MOST_ADDED:
            return number
        if len(total[0]) == 1 and not total[1]:
            return next(iter(total[0]))
        first = self._first_sum.setdefault((*total, width), number)
        self._sums[first] = total
        return first

    def _sum_of(self, number: int) -> tuple[frozenset[int], bool]:
        if number in self._sums:
            return self._sums[number]
        words, values = self._of(number)
        for inverted in (False, True):
            if values == tuple((sum(bits) % 2 == 1) != inverted for bits in product((False, True), repeat=len(words))):
                return frozenset(words), inverted
        return frozenset((number,)), False

    def always(self, number: int) -> bool | None:
        """The value of every bit of a term, if it does not depend on the words."""
        words, values = self._of(number)
        return None if words else values[0]

    def _of(self, number: int) -> Function:
        return self._functions.get(number, ((number,), (False, True)))


def _value(function: Function, choice: dict[int, bool]) -> bool:
    words, values = function
    position = 0
    for word in words:
        position = 2 * position + choice[word]
    return values[position]


def _without_idle_words(words: tuple[int, ...], values: tuple[bool, ...]) -> Function:
    """The same function over the words that it depends on."""
    for place, word in enumerate(words):
        rest = words[:place] + words[place + 1 :]
        halves = []
        for bit in (False, True):
            choices = (dict(zip(rest, bits, strict=True)) for bits in product((False, True), repeat=len(rest)))
            halves.append(tuple(_value((words, values), {**choice, word: bit}) for choice in choices))
        if halves[0] == halves[1]:
            return _without_idle_words(rest, halves[0])
    return words, values
