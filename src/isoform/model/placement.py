"""Where a calling convention puts the arguments and results of one signature."""

from __future__ import annotations

from isoform.model.contract import Argument, Place, Result
from isoform.model.machine import Machine
from isoform.model.outcome import STACK_POINTER
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
    """Bytes of a result in memory: the first argument then holds its address."""
    result_beside: str = ""
    """Where the result is if that is in none of the result registers, but in a register that is compared anyway."""


def extended_size(machine: Machine, ctype: CType, place: Place) -> int:
    """How many bytes from the start of its place an argument determines, extended as callers do."""
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


def put_argument(
    machine: Machine,
    argument: Argument,
    value: int,
    registers: dict[str, int],
    memory: dict[int, int],
    garbage: int,
) -> None:
    """Put an argument where the convention says, extended as callers do, with `garbage` in the undefined bits."""
    for place in argument.places:
        part = value & ((1 << (8 * place.size)) - 1)
        value >>= 8 * place.size
        if place.register is None:
            start, size = STACK_POINTER + place.offset, extended_size(machine, argument.type, place)
            part = extended_value(machine, argument.type, place, part)
            memory.update({start + i: part >> (8 * i) & 0xFF for i in range(size)})
        else:
            registers[place.register] = _in_register(machine, argument.type, place, part, registers, garbage)


def _in_register(
    machine: Machine, kind: CType, place: Place, part: int, registers: dict[str, int], garbage: int
) -> int:
    assert place.register is not None
    size = machine.registers[place.register].size
    bits = 8 * place.size
    if extended_size(machine, kind, place) <= size:
        bits = 8 * extended_size(machine, kind, place)
        part = extended_value(machine, kind, place, part)
    whole = (1 << (8 * size)) - 1
    shift = 8 * place.offset
    base = registers.get(place.register, 0) if place.offset else garbage
    return (base & ~(((1 << bits) - 1) << shift) | part << shift) & whole
