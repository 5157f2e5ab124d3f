"""Which constants of an instruction are addresses that a linker fills in.

An instruction is decoded a second time with the linker's field changed, or at another address: a constant of its
micro-ops that changes as well is an address. Nothing is concluded from a number that looks like one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace

from isoform.isa.registry import linkage
from isoform.lift.thread import is_distance
from isoform.load.image import Image
from isoform.model.errors import Unsupported
from isoform.model.machine import Machine, Order
from isoform.model.microop import CODE_ORIGIN, CONTROL, Instruction, Kind, MicroOp, Space, Var, const, linked_address

_CHANGE = 0x1_0000
_FIELD_BYTES = 4
_POINTER_BYTES = 8


def with_addresses(machine: Machine, image: Image, code: bytes, instruction: Instruction) -> Instruction:
    """The instruction with its linked addresses as `Space.ADDRESS`."""
    if instruction.address in image.address_parts:
        return _with_whole(machine, image, code, instruction.address)
    instruction = _with_filled(machine, image, code, instruction)
    is_known = image.is_fixed or machine.memory is None or machine.memory.zeroed
    return instruction if is_known else _with_code_addresses(machine, image, code, instruction)


def _with_whole(machine: Machine, image: Image, code: bytes, address: int) -> Instruction:
    """An instruction that has a part of an address, with the whole address (`address_parts.py`)."""
    whole = image.address_parts[address].whole
    if machine.decode_part is None:
        raise Unsupported(f"{address:#x} has a part of an address, for which this machine has no rule")
    if whole is None:
        return machine.decode_part(code, address, None)
    origin = image.linked_fields.get(address)
    place = const(whole, _POINTER_BYTES) if origin is None else linked_address(whole, origin, _POINTER_BYTES)
    return machine.decode_part(code, address, place)


def _with_filled(machine: Machine, image: Image, code: bytes, instruction: Instruction) -> Instruction:
    """With what a linker fills in."""
    if not image.linked_fields and not image.moved and not image.spans:
        return instruction
    ops = instruction.ops
    for place in range(instruction.address, instruction.next_address - _FIELD_BYTES + 1) if image.linked_fields else ():
        if place in image.linked_fields:
            other = machine.decode(_changed(code, place - instruction.address, image.byte_order), instruction.address)
            ops = tuple(_replaced(ops, other.ops, image.linked_fields[place]))
    for place in range(instruction.address, instruction.next_address - _FIELD_BYTES + 1) if image.is_linked else ():
        if place in image.linked_words:  # a loader fills it, too
            other = machine.decode(_changed(code, place - instruction.address, image.byte_order), instruction.address)
            ops = tuple(_replaced(ops, other.ops, image.linked_words[place]))
    if image.moved or image.spans:
        ops = tuple(_relative(machine, image, code, replace(instruction, ops=ops)))
    return replace(instruction, ops=ops)


def _with_code_addresses(machine: Machine, image: Image, code: bytes, instruction: Instruction) -> Instruction:
    """With the addresses of code that the instruction forms (of a label, of a linker's stub). A call also contains its
    return address, for which see `sym/places.py`."""
    found = [
        (index, position)
        for index, op in enumerate(instruction.ops)
        if op.kind not in CONTROL
        for position, var in enumerate(op.ins)
        if var.space is Space.CONST and var.size == _POINTER_BYTES and image.code_at(var.offset, 1)
    ]
    if not found or any(op.kind in CONTROL for op in instruction.ops):
        return instruction
    if linkage(image.machine).splits_addresses:
        return instruction  # what one instruction forms without a relocation is refused (`Linkage.own_addresses`)
    elsewhere = machine.decode(code, instruction.address + _CHANGE).ops
    ops = list(instruction.ops)
    for index, position in found:
        ins = ops[index].ins
        if len(elsewhere) == len(ops) and elsewhere[index].ins[position] != ins[position]:
            moving = linked_address(ins[position].offset, CODE_ORIGIN, _POINTER_BYTES)
            ops[index] = ops[index]._replace(ins=(*ins[:position], moving, *ins[position + 1 :]))
    return replace(instruction, ops=tuple(ops))


def _changed(code: bytes, at: int, order: Order) -> bytes:
    """The code with another number in a field: changed towards zero, so that it still fits."""
    value = int.from_bytes(code[at : at + _FIELD_BYTES], order, signed=True)
    value += -_CHANGE if value > 0 else _CHANGE
    return code[:at] + value.to_bytes(_FIELD_BYTES, order, signed=True) + code[at + _FIELD_BYTES :]


def _replaced(ops: tuple[MicroOp, ...], others: tuple[MicroOp, ...], origin: int) -> Iterator[MicroOp]:
    for op, other in zip(ops, others, strict=True):
        if op.kind in CONTROL:
            yield op
            continue
        is_changed = op.ins != other.ins
        if _is_extended_number(op) and is_changed and not is_distance(linked_address(op.ins[0].offset, origin, 4)):
            # A linker refuses an address that does not fit the field, so that extending it gives the address itself.
            yield MicroOp(Kind.COPY, op.out, (linked_address(op.ins[0].offset, origin, 8),))
            continue
        pairs = zip(op.ins, other.ins, strict=True)
        yield MicroOp(op.kind, op.out, tuple(_address(var, changed, origin) for var, changed in pairs))


def _address(var: Var, changed: Var, origin: int) -> Var:
    if var == changed or var.space is not Space.CONST:
        return var
    return linked_address(var.offset, origin, var.size)


def _relative(machine: Machine, image: Image, code: bytes, instruction: Instruction) -> Iterator[MicroOp]:
    """In a linked file: constants that move with the instruction. What both sides have under one name is at the one
    address that both use (`Image.moved`)."""
    elsewhere: Instruction | None = None
    for index, op in enumerate(instruction.ops):
        if op.kind in CONTROL:
            yield op
            continue
        if image.is_fixed and _is_extended_number(op) and _moved(image, op.ins[0].offset) is not None:
            yield MicroOp(Kind.COPY, op.out, (_in_linked(image, const(op.ins[0].offset, 8), False),))
            continue
        if image.is_fixed:
            _refuse_unclear(image, instruction, op)
        ins = list(op.ins)
        for position, var in enumerate(op.ins):
            if var.space is not Space.CONST or not _is_in_image(image, var.offset):
                continue
            if elsewhere is None:
                elsewhere = machine.decode(code, instruction.address + _CHANGE)
            moves = elsewhere.ops[index].ins[position] != var
            # Elsewhere than at fixed addresses a number that no relocation fills is a number.
            if moves or image.is_fixed or _is_filled(machine, image, code, instruction, (index, position)):
                ins[position] = _in_linked(image, var, moves)
        yield MicroOp(op.kind, op.out, tuple(ins))


def _is_filled(machine: Machine, image: Image, code: bytes, instruction: Instruction, where: tuple[int, int]) -> bool:
    """Whether a relocation says what this operand of a micro-op is."""
    index, position = where
    for place in range(instruction.address, instruction.next_address):
        if place in image.relocated:
            other = machine.decode(_changed(code, place - instruction.address, image.byte_order), instruction.address)
            if [len(op.ins) for op in other.ops] != [len(op.ins) for op in instruction.ops]:
                raise Unsupported(f"a relocation at {place:#x} changes which instruction this is")
            if other.ops[index].ins[position] != instruction.ops[index].ins[position]:
                return True
    return False


def _refuse_unclear(image: Image, instruction: Instruction, op: MicroOp) -> None:
    """Refuses a number that may be the address of code without a name, or of variables that the other program has
    elsewhere."""
    # A call contains its return address, and a jump its target.
    leads = any(step.kind in CONTROL for step in instruction.ops)
    is_sum = op.kind is Kind.INT_ADD and any(var.space is not Space.CONST for var in op.ins)
    for number in (var.offset for var in op.ins if var.space is Space.CONST and var.size >= 4):
        if is_sum and image.code_at(number, 1):
            # Code adds no index to a function: this is the base of an index into something else.
            raise Unsupported(f"{instruction.address:#x} counts from {number:#x}, where there is code")
        if not leads and image.code_at(number, 1) and not _moved(image, number):
            raise Unsupported(f"{instruction.address:#x} may use the address of code without a name ({number:#x})")
        why = next((why for low, high, why in image.unclear if low <= number <= high), None)
        if why is not None:
            raise Unsupported(f"{instruction.address:#x} may use the address {number:#x}: {why}")


def _is_extended_number(op: MicroOp) -> bool:
    """Whether it puts a 32-bit number into a whole register, as code at fixed addresses does to form an address."""
    return (
        op.kind is Kind.INT_ZEXT
        and op.ins[0].space is Space.CONST
        and op.ins[0].size == 4
        and op.out is not None
        and op.out.size == 8
    )


def _is_in_image(image: Image, number: int) -> bool:
    return _moved(image, number) is not None or any(low <= number < high for low, high, _ in image.spans)


def _in_linked(image: Image, var: Var, moves: bool) -> Var:
    found = _moved(image, var.offset)
    if found is not None and var.size == 8:
        number = found[2] + var.offset - found[0]
        known = image.objects.around(number)
        return const(number, 8) if known is None else linked_address(number, known.start, 8)
    if not moves:
        return var
    origin = next((start for low, high, start in image.spans if low <= var.offset < high), None)
    return var if origin is None else linked_address(var.offset, origin, var.size)


def _moved(image: Image, number: int) -> tuple[int, int, int] | None:
    index = bisect_right(image.moved, (number, 1 << 64, 0)) - 1
    return image.moved[index] if index >= 0 and number < image.moved[index][1] else None
