"""ModRM, SIB and displacement, read from the bytes: for the encodings whose operands SLEIGH's disassembly loses.

SLEIGH shows `vpcmpneqb` as `vpcmpeqb` and drops the general register of `vpbroadcastd`, so EVEX and mask instructions
are decoded here. Whatever is doubtful raises `NoSemanticsError`.
"""

from __future__ import annotations

from typing import NamedTuple

from isoform.isa.x86_64.operands import Immediate, Memory, NoSemanticsError, Operand, Register
from isoform.isa.x86_64.registers import REGISTERS
from isoform.model.values import dataclass

_WIDE = ("rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", *(f"r{n}" for n in range(8, 16)))
_NARROW = ("eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi", *(f"r{n}d" for n in range(8, 16)))
_VECTORS = {16: "xmm", 32: "ymm", 64: "zmm"}
_NAMES = {var: name for name, var in REGISTERS.items()}
_SIZES = {1: "byte", 2: "word", 4: "dword", 8: "qword", 16: "xmmword", 32: "ymmword", 64: "zmmword"}
_SIB, _NO_INDEX, _NO_BASE = 4, 4, 5


@dataclass(frozen=True, slots=True)
class Address:
    """A memory operand before it is known how many bytes are accessed."""

    base: int | None
    index: int | None
    scale: int
    displacement: int
    short: bool
    """Whether the displacement is one byte, which EVEX counts in units of the access."""
    relative: bool
    """Whether it is relative to the next instruction."""


class ModRM(NamedTuple):
    reg: int
    """Three bits: the prefix extends it."""
    rm: int
    """Three bits of a register; means nothing where there is an address."""
    address: Address | None
    length: int


def read_modrm(code: bytes, at: int, index_bit: int, base_bit: int) -> ModRM:
    """ModRM and what belongs to it, from byte `at` on; the two bits of the prefix extend index and base."""
    modrm = _byte(code, at)
    mode, reg, rm = modrm >> 6, modrm >> 3 & 7, modrm & 7
    if mode == 3:
        return ModRM(reg, rm, None, 1)
    length = 1
    base: int | None = rm | base_bit << 3
    index, scale, relative = None, 1, False
    if rm == _SIB:
        sib = _byte(code, at + 1)
        length = 2
        index_number = sib >> 3 & 7 | index_bit << 3
        index, scale = (None, 1) if index_number == _NO_INDEX else (index_number, 1 << (sib >> 6))
        base = sib & 7 | base_bit << 3
        wide = mode == 2 or (mode == 0 and sib & 7 == _NO_BASE)
        if mode == 0 and wide:
            base = None
    else:
        relative = mode == 0 and rm == _NO_BASE
        wide = mode == 2 or relative
        base = None if relative else base
    size = 4 if wide else mode
    displacement = _signed(code, at + length, size)
    return ModRM(reg, rm, Address(base, index, scale, displacement, mode == 1, relative), length + size)


def _byte(code: bytes, at: int) -> int:
    if at >= len(code):
        raise NoSemanticsError
    return code[at]


def _signed(code: bytes, at: int, size: int) -> int:
    if at + size > len(code):
        raise NoSemanticsError
    return int.from_bytes(code[at : at + size], "little", signed=True)


def immediate_byte(code: bytes, at: int) -> int:
    return _byte(code, at)


def memory(address: Address, size: int, next_address: int, unit: int = 1, repeated: int = 0) -> Memory:
    displacement = address.displacement * unit if address.short else address.displacement
    if address.relative:
        displacement += next_address
    base = None if address.base is None else REGISTERS[_WIDE[address.base]]
    index = None if address.index is None else REGISTERS[_WIDE[address.index]]
    return Memory("", base, index, address.scale, displacement, size, repeated)


def vector(number: int, size: int) -> Register:
    return Register(REGISTERS[f"{_VECTORS[size]}{number}"])


def mask(number: int) -> Register:
    """The bits that extend a register's number must be clear: processors fault on others."""
    if number > 7:
        raise NoSemanticsError
    return Register(REGISTERS[f"k{number}"])


def general(number: int, size: int) -> Register:
    return Register(REGISTERS[(_WIDE if size == 8 else _NARROW)[number]])


# For people


def shown(operand: Operand) -> str:
    """In the manner of SLEIGH's disassembly."""
    if isinstance(operand, Register):
        return _NAMES[operand.var]
    if isinstance(operand, Immediate):
        return f"{operand.value:#x}"
    terms = [_NAMES[operand.base]] if operand.base else []
    terms += [f"{_NAMES[operand.index]}*{operand.scale:#x}"] if operand.index else []
    terms += [f"{operand.displacement:#x}"] if operand.displacement or not terms else []
    return f"{_SIZES[operand.repeated or operand.size or 1]} ptr [{' + '.join(terms)}]"
