"""ModRM, SIB, displacement and register numbers as operands. All doubtful cases raise `NoSemanticsError`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import NamedTuple

from isoform.isa.x86_64.operands import ImmediateOperand, MemoryOperand, NoSemanticsError, Operand, Register
from isoform.isa.x86_64.registers import REGISTERS
from isoform.model.microop import Var
from isoform.model.values import dataclass

_SHORT = ("ax", "cx", "dx", "bx", "sp", "bp", "si", "di")
_LOW_BYTES = ("al", "cl", "dl", "bl", "spl", "bpl", "sil", "dil")


def _general(first: Iterable[str], suffix: str) -> tuple[Register, ...]:
    return tuple(Register(REGISTERS[name]) for name in (*first, *(f"r{n}{suffix}" for n in range(8, 16))))


_GENERAL = {
    1: _general(_LOW_BYTES, "b"),
    2: _general(_SHORT, "w"),
    4: _general((f"e{name}" for name in _SHORT), "d"),
    8: _general((f"r{name}" for name in _SHORT), ""),
}
_BYTES_WITHOUT_REX = (
    *_GENERAL[1][:4],
    *(Register(REGISTERS[name]) for name in ("ah", "ch", "dh", "bh")),
)
_VECTORS = {
    size: tuple(Register(REGISTERS[f"{name}{n}"]) for n in range(32))
    for size, name in ((16, "xmm"), (32, "ymm"), (64, "zmm"))
}
_SIZES = {1: "byte", 2: "word", 4: "dword", 8: "qword", 16: "xmmword", 32: "ymmword", 64: "zmmword"}
_SIB, _NO_INDEX, _NO_BASE = 4, 4, 5


@dataclass(frozen=True)
class Address:
    """A memory operand whose access size is not known yet."""

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
    """Three bits of a register; meaningless if there is an address."""
    address: Address | None
    length: int


def read_modrm(code: bytes, at: int, index_bit: int, base_bit: int) -> ModRM:
    """ModRM and what belongs to it, from byte `at`; the two bits of the prefix extend index and base."""
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
    displacement = read_number(code, at + length, size, signed=True)
    return ModRM(reg, rm, Address(base, index, scale, displacement, mode == 1, relative), length + size)


def _byte(code: bytes, at: int) -> int:
    if at >= len(code):
        raise NoSemanticsError
    return code[at]


def read_number(code: bytes, at: int, size: int, signed: bool) -> int:
    if at + size > len(code):
        raise NoSemanticsError
    return int.from_bytes(code[at : at + size], "little", signed=signed)


def memory(
    address: Address,
    size: int | None,
    next_address: int,
    unit: int = 1,
    repeated: int = 0,
    segment: str = "",
    address_bytes: int = 8,
) -> MemoryOperand:
    """The displacement of one byte counts `unit` bytes; registers of an address have `address_bytes`."""
    displacement = address.displacement * unit if address.short else address.displacement
    if address.relative:
        displacement += next_address
    registers = _GENERAL[address_bytes]
    base = None if address.base is None else registers[address.base].var
    index = None if address.index is None else registers[address.index].var
    return MemoryOperand(segment, base, index, address.scale, displacement, size, repeated)


def vector(number: int, size: int) -> Register:
    return _VECTORS[size][number]


def mask(number: int) -> Register:
    """The bits that extend a register's number must be clear: processors fault otherwise."""
    if number > 7:
        raise NoSemanticsError
    return Register(REGISTERS[f"k{number}"])


def general(number: int, size: int) -> Register:
    return _GENERAL[size][number]


def byte_without_rex(number: int) -> Register:
    """Numbers 4 to 7 are ah, ch, dh, bh if the instruction has no REX prefix."""
    return _BYTES_WITHOUT_REX[number]


# For people


@cache
def _names() -> Mapping[Var, str]:
    return {var: name for name, var in REGISTERS.items()}


def shown(operand: Operand) -> str:
    """In the syntax of SLEIGH's disassembly."""
    if isinstance(operand, Register):
        return _names()[operand.var]
    if isinstance(operand, ImmediateOperand):
        return f"{operand.value:#x}"
    terms = [_names()[operand.base]] if operand.base else []
    terms += [f"{_names()[operand.index]}*{operand.scale:#x}"] if operand.index else []
    terms += [f"{operand.displacement:#x}"] if operand.displacement or not terms else []
    return f"{_SIZES[operand.repeated or operand.size or 1]} ptr [{' + '.join(terms)}]"
