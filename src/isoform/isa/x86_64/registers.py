"""The register file of x86-64, by name: SLEIGH's layout, with places of our own for what is not a register."""

from __future__ import annotations

from isoform.model.microop import Space, Var

WIDE = ("rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi")
FLAGS = {"cf": 0x200, "pf": 0x202, "af": 0x204, "zf": 0x206, "sf": 0x207, "df": 0x20A, "of": 0x20B}
CANARY = Var(Space.REGISTER, 0x3000, 8)
"""The stack protector's constant at fs:0x28, kept out of memory: nothing a function stores reaches it."""
CANARY_OFFSET = 0x28
"""Bytes from the thread pointer."""
ABSENT = Var(Space.REGISTER, 0x3010, 8)
"""One bit for each weak symbol that may have no definition (`Machine.absent_symbols`)."""
X87 = Var(Space.REGISTER, 0x2000, 83)
"""Eight registers of ten bytes, the top of the stack first; the number of those in use; the control word."""
X87_DEPTH, X87_CONTROL = Var(Space.REGISTER, 0x2050, 1), Var(Space.REGISTER, 0x2051, 2)
X87_AT_ENTRY = 0x037F << 8 * 81
"""Nothing in use, and the control word's default."""


def _general_registers() -> dict[str, Var]:
    table: dict[str, Var] = {}
    for number, name in enumerate(WIDE):
        offset = 8 * number
        short = name[1:]
        table |= _register(name, offset, 8) | _register("e" + short, offset, 4) | _register(short, offset, 2)
        low = short[0] + "l" if short[1] == "x" else short + "l"
        table |= _register(low, offset, 1)
        if short[1] == "x":
            table |= _register(short[0] + "h", offset + 1, 1)
    for number in range(8, 16):
        offset = 0x80 + 8 * (number - 8)
        for suffix, size in (("", 8), ("d", 4), ("w", 2), ("b", 1)):
            table |= _register(f"r{number}{suffix}", offset, size)
    return table


def _register(name: str, offset: int, size: int) -> dict[str, Var]:
    return {name: Var(Space.REGISTER, offset, size)}


def _vector_registers() -> dict[str, Var]:
    """Each of the first sixteen 64-byte registers is three containers, so that SSE code does not pay for AVX; each of
    the others, which only EVEX can name, is one."""
    table: dict[str, Var] = {}
    for number in range(32):
        offset = 0x1200 + 0x40 * number
        table |= _register(f"xmm{number}", offset, 16) | _register(f"ymm{number}", offset, 32)
        table |= _register(f"zmm{number}", offset, 64)
        if number < 16:
            table |= _register(f"ymm{number}h", offset + 16, 16) | _register(f"zmm{number}h", offset + 32, 32)
    return table


def _registers() -> dict[str, Var]:
    table = _general_registers() | _vector_registers()
    for name, offset in FLAGS.items():
        table |= _register(name, offset, 1)
    table |= _register("rip", 0x288, 8) | _register("fs_offset", 0x110, 8) | _register("gs_offset", 0x118, 8)
    table |= _register("mxcsr", 0x1094, 4) | _register("xmmtmp1", 0x1180, 16) | _register("xmmtmp2", 0x1190, 16)
    for number in range(8):
        table |= _register(f"mm{number}", 0x1100 + 16 * number, 8)
    for number in range(8):
        table |= _register(f"k{number}", 0x834 + 8 * number, 8)
    for number in range(8):
        table |= _register(f"st{number}", X87.offset + 10 * number, 10)
    return table | {"canary": CANARY, "absent": ABSENT, "x87": X87}


REGISTERS = _registers()
VECTOR_CONTAINERS = (
    *(f"{kind}{n}{half}" for n in range(16) for kind, half in (("xmm", ""), ("ymm", "h"), ("zmm", "h"))),
    *(f"zmm{n}" for n in range(16, 32)),
)
MASK_CONTAINERS = tuple(f"k{n}" for n in range(8))
