"""Memory that is declared to hold a `bool`: it holds 0 or 1, and compilers rely on that when they read it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from isoform.contract import Argument, BoolCell
from isoform.load.signature import CType, TypeKind
from isoform.verdict import Assumption

_MOST_CELLS = 16


def bool_cells(arguments: Iterable[Argument]) -> tuple[BoolCell, ...]:
    """The places of type `bool` in what arguments point to, of the first element of each."""
    found = []
    for argument in arguments:
        pointee = argument.type.pointee if argument.type.kind is TypeKind.POINTER else None
        if pointee is not None and pointee.bits >= 8:
            found += [BoolCell(argument, offset, pointee.bits // 8) for offset in bool_offsets(pointee)]
    return tuple(found[:_MOST_CELLS])


def bools_by_value(arguments: Iterable[Argument]) -> Iterator[tuple[Argument, int]]:
    """The places of type `bool` in structures that are passed by value, in bytes from their start."""
    for argument in arguments:
        if argument.type.kind is TypeKind.STRUCT:
            yield from ((argument, offset) for offset in bool_offsets(argument.type))


def bool_assumptions(cells: Iterable[BoolCell]) -> Iterator[Assumption]:
    if any(cells):
        yield Assumption("bool-is-0-or-1", "memory that is declared to hold a bool holds 0 or 1, as compilers rely on")


def bool_offsets(ctype: CType) -> Iterator[int]:
    if ctype.kind is TypeKind.BOOL and not ctype.is_bit_field:
        yield 0
    for _, start, member in ctype.fields:
        yield from (start + offset for offset in bool_offsets(member))
