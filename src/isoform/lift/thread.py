"""The thread pointer is an address that is not known, like that of an object.

A distance from the thread pointer that a linker fills in is also a `Space.ADDRESS`, relative to the thread-local object
that it leads to. Its number is the distance in isoform's placement, which is always smaller than any address there.
"""

from __future__ import annotations

from dataclasses import replace

from isoform.load.image import Image
from isoform.load.thread import LIMIT
from isoform.model.errors import Unsupported
from isoform.model.machine import Machine
from isoform.model.microop import Instruction, Kind, MicroOp, Space, Var, linked_address, number_of, origin_of
from isoform.model.outcome import THREAD_POINTER

_MOST_DISTANCE = 2 * LIMIT
_WORD = 8


def with_thread_pointer(instruction: Instruction, image: Image, machine: Machine) -> Instruction:
    """The instruction with the thread pointer's address instead of its register."""
    if machine.thread_pointer is None:
        return instruction
    register = machine.registers[machine.thread_pointer]
    if not any(register in op.ins for op in instruction.ops):
        return instruction
    if image.thread_conflict:
        raise Unsupported(f"at {instruction.address:#x} {instruction.text}: {image.thread_conflict}")
    if image.thread_origin not in image.objects.by_start:
        # Bytes that are an instruction only if control gets into the middle of others: nothing was placed for them.
        raise Unsupported(
            f"at {instruction.address:#x} {instruction.text}: the thread pointer of code that was not seen"
        )
    value = linked_address(machine.initial[machine.thread_pointer], image.thread_origin, register.size)
    return replace(instruction, ops=tuple(_written(op, register, value, image) for op in instruction.ops))


def _written(op: MicroOp, register: Var, value: Var, image: Image) -> MicroOp:
    ins = tuple(value if var == register else var for var in op.ins)
    if op.kind is Kind.INT_ADD and register in op.ins:
        found = address_sum(ins[0], ins[1], image)
        if found is not None:
            return MicroOp(Kind.COPY, op.out, (found,))
    return MicroOp(op.kind, op.out, ins)


def address_sum(left: Var, right: Var, image: Image | None) -> Var | None:
    """The sum of a constant and an address or distance, or of a distance and an address relative to the thread pointer,
    as an address or a distance; None for other sums."""
    if left.size != _WORD or right.size != _WORD:
        return None
    for place, amount in ((left, right), (right, left)):
        if place.space is not Space.ADDRESS:
            continue
        if amount.space is Space.CONST:
            moved = linked_address(place.offset + amount.offset, origin_of(place), _WORD)
            return moved if is_distance(moved) == is_distance(place) else None
        if is_distance(amount) and image is not None and is_from_thread_pointer(place, image):
            number = (number_of(place) or 0) + (number_of(amount) or 0)
            moved = linked_address(number, origin_of(amount), _WORD)
            return None if is_distance(moved) else moved
    return None


def is_from_thread_pointer(place: Var, image: Image) -> bool:
    """Whether an address is relative to the thread pointer."""
    return place.space is Space.ADDRESS and image.thread_origin != 0 and origin_of(place) == image.thread_origin


def is_distance(var: Var) -> bool:
    """Whether a value relative to a thread-local object is its distance from the thread pointer."""
    if var.space is not Space.ADDRESS or abs(origin_of(var) - THREAD_POINTER) > _MOST_DISTANCE:
        return False
    return abs(distance_of(var)) <= _MOST_DISTANCE


def distance_of(var: Var) -> int:
    """The number that a distance is, with its sign."""
    number, bits = number_of(var) or 0, 8 * var.size
    return number - (1 << bits) if number >> (bits - 1) else number
