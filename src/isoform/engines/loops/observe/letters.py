"""Bytes that the code distinguishes: text made of them takes branches that noise seldom takes."""

from __future__ import annotations

from itertools import pairwise

from isoform.engines.loops.tuning import LETTERS_SPAN
from isoform.lift.function import Function
from isoform.model.microop import Kind, MicroOp, Space

COMPARING = frozenset({Kind.INT_EQUAL, Kind.INT_NOTEQUAL, Kind.INT_LESS, Kind.INT_SLESS, Kind.INT_SUB})
_LARGEST, _HALF_WORD = 0xFF, 2


def letters(function: Function) -> tuple[int, ...]:
    """Bytes that the code compares with, their neighbours, and those between two of them. A range test may also
    subtract the least byte and compare the difference."""
    compared: set[int] = {0}
    taken_away: set[int] = set()
    for block in function.blocks.values():
        addresses = {op.ins[0] for op in block.ops if op.kind in (Kind.LOAD, Kind.STORE)}
        for op in block.ops:
            numbers = _numbers(op)
            if op.kind in COMPARING and op.ins[0].size <= _HALF_WORD:
                compared.update(number for number in numbers if 0 < number <= _LARGEST)
            if op.kind is Kind.INT_ADD and op.out not in addresses:
                taken_away.update(-number for number in numbers if -_LARGEST <= number < 0)
    bounds = sorted(compared)
    found = {near for number in compared - {0} for near in (number - 1, number, number + 1)}
    for low, high in pairwise(bounds):
        found.update(range(low, high) if low and high - low <= LETTERS_SPAN else ())
    for low in taken_away:
        found.update(low + left for most in compared if most <= LETTERS_SPAN for left in range(most + 1))
    return tuple(sorted(letter for letter in found if 0 < letter <= _LARGEST))


def _numbers(op: MicroOp) -> list[int]:
    """Its constants, as signed numbers."""
    return [
        var.offset - (1 << 8 * var.size) if var.offset >> (8 * var.size - 1) else var.offset
        for var in op.ins
        if var.space is Space.CONST
    ]
