"""x86-64: registers, the System V calling convention, and SLEIGH with its amendments."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import cache

from isoform.isa.sleigh import SleighDecoder
from isoform.isa.x86_64.abi import CANARY_APART, CONVENTION, DIRECTION_FLAG, X87_EMPTY, gap_assumptions, place
from isoform.isa.x86_64.alignment import alignment
from isoform.isa.x86_64.amendments import amend
from isoform.isa.x86_64.library import LIBRARY
from isoform.isa.x86_64.operands import EVEX, NoSemanticsError
from isoform.isa.x86_64.registers import (
    CANARY,
    CANARY_OFFSET,
    FLAGS,
    MASK_CONTAINERS,
    REGISTERS,
    VECTOR_CONTAINERS,
    WIDE,
    X87_AT_ENTRY,
)
from isoform.model.machine import Machine, MemoryLayout
from isoform.model.microop import Instruction, Var
from isoform.model.outcome import THREAD_POINTER
from isoform.model.verdict import DEFAULT_ROUNDING_MODE

__all__ = ["CANARY", "CONVENTION", "MACHINE", "REGISTERS"]

_CONTAINERS = (
    *WIDE,
    *(f"r{n}" for n in range(8, 16)),
    "fs_offset",
    "gs_offset",
    *FLAGS,
    "rip",
    "mxcsr",
    *(f"mm{n}" for n in range(8)),
    "xmmtmp1",
    "xmmtmp2",
    *VECTOR_CONTAINERS,
    *MASK_CONTAINERS,
    "canary",
    "absent",
    "x87",
)

_COVERED = frozenset(
    byte
    for name in _CONTAINERS
    for byte in range(REGISTERS[name].offset, REGISTERS[name].offset + REGISTERS[name].size)
)


@cache
def _covered(var: Var) -> bool:
    return all(byte in _COVERED for byte in (var.offset, var.offset + var.size - 1))


_LONGEST = 15
_EXTENDED = (b"\x62", b"\xc4", b"\xc5")
"""First bytes of EVEX and VEX, which include the mask instructions."""
DECODER = SleighDecoder("x86:LE:64:default", amend, _covered, longest=_LONGEST, translate=False)


_MASKED = frozenset({"vpmaskmovd", "vpmaskmovq", "vmaskmovps", "vmaskmovpd", "maskmovdqu", "vmaskmovdqu", "maskmovq"})


def decode(code: bytes, address: int) -> Instruction:
    """EVEX and mask instructions by their bytes, all others by SLEIGH, which also names what has no semantics."""
    if code[:1] in _EXTENDED:
        with suppress(NoSemanticsError):
            return _decode_extended(code[:_LONGEST], address)
    instruction = DECODER(code, address)
    if instruction.text.partition(" ")[0] in _MASKED:
        return replace(instruction, masks_memory=True)
    return instruction


def _decode_extended(code: bytes, address: int) -> Instruction:
    """Imported only if there is such code, which few files have."""
    if code[0] == EVEX:
        from isoform.isa.x86_64 import evex

        return evex.decode(code, address)
    from isoform.isa.x86_64 import masks

    return masks.decode(code, address)


MACHINE = Machine(
    name="x86_64",
    title="x86-64",
    decode=decode,
    memory=MemoryLayout(address_bytes=8),
    convention=CONVENTION,
    place=place,
    place_assumptions=gap_assumptions,
    registers=REGISTERS,
    containers=tuple(sorted(_CONTAINERS, key=lambda name: REGISTERS[name].offset)),
    boolean=frozenset(name for name in FLAGS if name != "df"),
    at_entry={
        "df": (DIRECTION_FLAG,),
        "x87": (X87_EMPTY, DEFAULT_ROUNDING_MODE),
        "canary": (CANARY_APART,),
    },
    initial={"df": 0, "x87": X87_AT_ENTRY, "fs_offset": THREAD_POINTER},
    thread_pointer="fs_offset",
    thread_containers=range(CANARY_OFFSET, CANARY_OFFSET + 8),
    absent_symbols="absent",
    alignment=alignment,
    library=LIBRARY,
)
