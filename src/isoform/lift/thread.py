"""The thread pointer is a number like the address of an object: what code computes from it is then known to be data."""

from __future__ import annotations

from dataclasses import replace

from isoform.errors import Unsupported
from isoform.isa.machine import Machine
from isoform.load.image import Image
from isoform.microop import Instruction, Kind, MicroOp, Space, Var, const


def with_thread_pointer(instruction: Instruction, image: Image, machine: Machine) -> Instruction:
    """The instruction with the thread pointer's value in the place of its register."""
    if machine.thread_pointer is None:
        return instruction
    register = machine.registers[machine.thread_pointer]
    if not any(register in op.ins for op in instruction.ops):
        return instruction
    if image.thread_conflict:
        raise Unsupported(f"at {instruction.address:#x} {instruction.text}: {image.thread_conflict}")
    value = const(machine.initial[machine.thread_pointer], register.size)
    return replace(instruction, ops=tuple(_written(op, register, value) for op in instruction.ops))


def _written(op: MicroOp, register: Var, value: Var) -> MicroOp:
    ins = tuple(value if var == register else var for var in op.ins)
    if op.kind is Kind.INT_ADD and all(var.space is Space.CONST for var in ins):
        return MicroOp(Kind.COPY, op.out, (const(sum(var.offset for var in ins), value.size),))
    return MicroOp(op.kind, op.out, ins)
