"""Memory that is declared to hold a `bool`: it holds 0 or 1, and compilers rely on that when they read it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from isoform.borders.variables import declared_alike
from isoform.lift.function import Function
from isoform.model.contract import Argument, BoolCell, Contract
from isoform.model.signature import TypeKind
from isoform.model.verdict import Assumption

_MOST_CELLS = 16


def bool_cells(arguments: Iterable[Argument]) -> tuple[BoolCell, ...]:
    """The places of type `bool` in what arguments point to, of the first element of each."""
    found = []
    for argument in arguments:
        pointee = argument.type.pointee if argument.type.kind is TypeKind.POINTER else None
        if pointee is not None and pointee.bits >= 8:
            found += [BoolCell(argument, offset, pointee.bits // 8) for offset in pointee.bool_offsets()]
    return tuple(found[:_MOST_CELLS])


def bool_variables(target: Function, rewrite: Function) -> tuple[tuple[int, int], ...]:
    """The places of type `bool` in variables that either function names and both files declare so: the start of the
    variable, and the distance from there."""
    declared = target.image.pointers.bools, rewrite.image.pointers.bools
    found: list[tuple[int, int]] = []
    for symbol, start, room, kind in declared_alike(target, rewrite, *declared):
        size = kind.bits // 8
        count = min(max(symbol.size // size, 1), _MOST_CELLS)
        offsets = (room + element * size + offset for element in range(count) for offset in kind.bool_offsets())
        found += [(start - room, offset) for offset in offsets]
    return tuple(found[:_MOST_CELLS])


def without_bools_in_memory(contract: Contract) -> Contract:
    """The contract with nothing assumed of memory that is declared to hold a `bool`: it allows more inputs."""
    return replace(contract, bools=(), bool_variables=())


def bool_assumptions(cells: Iterable[object]) -> Iterator[Assumption]:
    if any(True for _ in cells):
        yield Assumption(
            "bool-is-0-or-1",
            "at entry, memory that the type of a pointer argument or of a variable declares to hold a bool holds 0 or "
            "1, whether or not it is read; compilers rely on that where they read it",
        )
