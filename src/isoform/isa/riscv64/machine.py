"""RISC-V with 64-bit registers, as C compilers for Linux use it."""

from __future__ import annotations

from isoform.isa.riscv64.abi import CONVENTION, place
from isoform.isa.riscv64.decode import decode, decode_part
from isoform.isa.riscv64.registers import REGISTERS
from isoform.model.machine import Machine, MemoryLayout

MACHINE = Machine(
    name="riscv64",
    title="RISC-V (64 bits)",
    decode=decode,
    decode_part=decode_part,
    memory=MemoryLayout(address_bytes=8),
    convention=CONVENTION,
    place=place,
    registers=REGISTERS,
    containers=tuple(REGISTERS),
    char_is_signed=False,
    instruction_alignment=2,
)
