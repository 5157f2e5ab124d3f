"""x86-64: registers, the System V calling convention, and SLEIGH with its amendments."""

from __future__ import annotations

from functools import cache

from isoform.isa.machine import Convention, Machine, Memory
from isoform.isa.sleigh import SleighDecoder
from isoform.isa.x86_amendments import amend
from isoform.isa.x86_registers import CANARY, FLAGS, REGISTERS, WIDE
from isoform.microop import Var

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
    *(f"{kind}{n}{half}" for n in range(16) for kind, half in (("xmm", ""), ("ymm", "h"), ("zmm", "h"))),
    "canary",
)

_COVERED = frozenset(
    byte
    for name in _CONTAINERS
    for byte in range(REGISTERS[name].offset, REGISTERS[name].offset + REGISTERS[name].size)
)


@cache
def _covered(var: Var) -> bool:
    return all(byte in _COVERED for byte in (var.offset, var.offset + var.size - 1))


CONVENTION = Convention(
    integer_arguments=("rdi", "rsi", "rdx", "rcx", "r8", "r9"),
    result=("rax", "rdx"),
    float_arguments=tuple(f"xmm{n}" for n in range(8)),
    float_result=("xmm0", "xmm1"),
    callee_saved=("rbx", "rbp", "r12", "r13", "r14", "r15", "df"),
    stack_pointer="rsp",
    stack_arguments_offset=8,
    return_address_on_stack=True,
    stack_adjustment=8,
    scratch_after_call=(
        *("rcx", "rsi", "rdi", "r8", "r9", "r10", "r11"),
        *(name for name in FLAGS if name != "df"),
        *(f"{kind}{n}{half}" for n in range(16) for kind, half in (("xmm", ""), ("ymm", "h"), ("zmm", "h"))),
        *(f"mm{n}" for n in range(8)),
    ),
)

MACHINE = Machine(
    name="x86_64",
    title="x86-64",
    decode=SleighDecoder("x86:LE:64:default", amend, _covered, longest=15, translate=False),
    memory=Memory(address_bytes=8),
    convention=CONVENTION,
    registers=REGISTERS,
    containers=tuple(sorted(_CONTAINERS, key=lambda name: REGISTERS[name].offset)),
    initial={"df": 0},
)
