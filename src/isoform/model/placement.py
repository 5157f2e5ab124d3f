"""Where a calling convention puts the arguments and results of one signature."""

from __future__ import annotations

from isoform.model.contract import Argument, Place, Result
from isoform.model.machine import Machine
from isoform.model.signature import CType, TypeKind
from isoform.model.values import dataclass

MOST_STACK_ARGUMENTS = 1 << 14
"""Bytes of arguments on the stack: each of them is an input of its own."""


@dataclass(frozen=True)
class Placement:
    arguments: tuple[Argument, ...]
    results: tuple[Result, ...]
    stack_argument_bytes: int
    """Bytes of the caller's stack that hold arguments, from `stack_arguments_offset` on."""
    result_space: int = 0
    """Bytes of a result in memory: the first argument then says where."""


def extended_size(machine: Machine, ctype: CType, place: Place) -> int:
    """How many bytes from the start of its place on an argument determines, extended as callers do."""
    is_integer = ctype.kind in (TypeKind.INTEGER, TypeKind.BOOL)
    return max(place.size, machine.convention.extended_bytes) if is_integer else place.size


def extended_value(machine: Machine, ctype: CType, place: Place, value: int) -> int:
    """What these bytes hold."""
    if ctype.kind is not TypeKind.INTEGER:
        return value
    bits = 8 * place.size if ctype.signed else max(32, 8 * place.size)
    if value >> (bits - 1):
        value |= (1 << (8 * extended_size(machine, ctype, place))) - (1 << bits)
    return value
