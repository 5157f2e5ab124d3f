"""EVEX-encoded instructions (AVX-512), decoded from their bytes: `62 P0 P1 P2 opcode ModRM ...`.

Bytes on which the manual says that processors fault, static rounding, and what is in no table have no semantics.
"""

from __future__ import annotations

from isoform.isa.x86_64.builder import Builder, Masking
from isoform.isa.x86_64.evex_table import ENTRIES, EvexEntry
from isoform.isa.x86_64.modrm import (
    ModRM,
    general,
    mask,
    memory,
    read_modrm,
    read_number,
    shown,
    vector,
)
from isoform.isa.x86_64.operands import ImmediateOperand, MemoryOperand, NoSemanticsError, Operand
from isoform.isa.x86_64.registers import REGISTERS
from isoform.model.microop import Instruction
from isoform.model.values import dataclass

_OPCODE_AT, _MODRM_AT = 4, 5
_LENGTHS = (16, 32, 64)
_FIXED_SIZES = {"x": 16, "y": 32}
_SHARES = {"h": 2, "q": 4, "e": 8}
_SMALLEST_VECTOR = 16


@dataclass(frozen=True, slots=True)
class EvexPrefix:
    """The three bytes after 62, with the inverted extension bits restored."""

    table: int
    mandatory: int
    wide: int
    reg: int
    """Bits 4 and 3 of ModRM's reg field, at their positions."""
    index: int
    base: int
    second: int
    """EVEX.vvvv with its fifth bit."""
    length: int
    """Of the vectors, in bytes."""
    special: bool
    """The b bit: repeats an element of memory; with registers it concerns rounding."""
    mask: int
    zeroing: bool


def decode(code: bytes, address: int) -> Instruction:
    """The instruction with its meaning; raises `NoSemanticsError` if it has none."""
    if len(code) <= _MODRM_AT:
        raise NoSemanticsError
    prefix = _prefix(code)
    modrm = read_modrm(code, _MODRM_AT, prefix.index, prefix.base)
    entry = _entry(prefix, code[_OPCODE_AT], modrm)
    length = _MODRM_AT + modrm.length + ("I" in entry.operands)
    _check(prefix, modrm, entry)
    access = _access(prefix, modrm, entry, address + length)
    operands = [_operand(kind, prefix, modrm, access) for kind in entry.operands if kind != "I"]
    if "I" in entry.operands:
        operands.append(ImmediateOperand(read_number(code, length - 1, 1, signed=False)))
    masking = _masking(prefix, entry)
    b = Builder(address, length, masking)
    entry.semantics(b, True, *operands)
    masks_memory = masking is not None and any(isinstance(operand, MemoryOperand) for operand in operands)
    return Instruction(address, length, _text(entry, operands, masking), b.finish(), masks_memory)


def _prefix(code: bytes) -> EvexPrefix:
    first, second, third = code[1:4]
    length = third >> 5 & 3
    if first & 8 or not second & 4 or length == len(_LENGTHS):
        raise NoSemanticsError
    return EvexPrefix(
        table=first & 7,
        mandatory=second & 3,
        wide=second >> 7,
        reg=(~first >> 7 & 1) << 3 | (~first >> 4 & 1) << 4,
        index=~first >> 6 & 1,
        base=~first >> 5 & 1,
        second=~second >> 3 & 15 | (~third >> 3 & 1) << 4,
        length=_LENGTHS[length],
        special=bool(third >> 4 & 1),
        mask=third & 7,
        zeroing=bool(third >> 7),
    )


def _entry(prefix: EvexPrefix, opcode: int, modrm: ModRM) -> EvexEntry:
    head = prefix.mandatory, prefix.table, prefix.wide, opcode
    found = ENTRIES.get((*head, None)) or ENTRIES.get((*head, modrm.reg))
    if found is None:
        raise NoSemanticsError
    return found


def _check(prefix: EvexPrefix, modrm: ModRM, entry: EvexEntry) -> None:
    """Encodings on which processors fault according to the manual, and those that this decoder does not know."""
    kinds = {kind[0] for kind in entry.operands}
    to_mask, in_memory = entry.operands[0] == "K", modrm.address is not None
    if (
        prefix.length not in entry.lengths
        or ("H" not in kinds and prefix.second)
        # A group's member has a digit in the reg field; the bits that extend the field are for registers only.
        or (not kinds & {"V", "K"} and prefix.reg)
        or (in_memory and not kinds & {"W", "M", "E"})
        or (not in_memory and "M" in kinds)
        or (prefix.special and not (in_memory and entry.repeated))
        or (prefix.mask and not entry.lane)
        or (prefix.zeroing and (not prefix.mask or to_mask or (in_memory and entry.operands[0][0] in "WM")))
    ):
        raise NoSemanticsError


def _access(prefix: EvexPrefix, modrm: ModRM, entry: EvexEntry, next_address: int) -> MemoryOperand | None:
    """The operand in memory. A displacement of one byte counts accesses."""
    if modrm.address is None:
        return None
    size = prefix.length // entry.share if entry.share else entry.access
    repeated = entry.repeated if prefix.special else 0
    return memory(modrm.address, size, next_address, repeated or size, repeated)


def _operand(kind: str, prefix: EvexPrefix, modrm: ModRM, access: MemoryOperand | None) -> Operand:
    letter, size = kind[0], _vector_size(kind[1:], prefix.length)
    if letter == "V":
        return vector(modrm.reg | prefix.reg, size)
    if letter == "H":
        return vector(prefix.second, size)
    if letter == "K":
        return mask(modrm.reg | prefix.reg)
    if access is not None:
        return access
    number = modrm.rm | prefix.base << 3 | prefix.index << 4
    if letter in "WU":
        return vector(number, size)
    if letter == "Q":
        return mask(number)
    if prefix.index:  # it has no meaning for a general register
        raise NoSemanticsError
    return general(number, 8 if prefix.wide else 4)


def _vector_size(part: str, length: int) -> int:
    """`x` and `y` are sizes, `h`, `q`, `e` parts of the length: in a register at least 16 bytes."""
    return _FIXED_SIZES.get(part) or max(_SMALLEST_VECTOR, length // _SHARES.get(part, 1))


def _masking(prefix: EvexPrefix, entry: EvexEntry) -> Masking | None:
    if not prefix.mask:
        return None
    return Masking(REGISTERS[f"k{prefix.mask}"], entry.lane, prefix.zeroing)


def _text(entry: EvexEntry, operands: list[Operand], masking: Masking | None) -> str:
    parts = [shown(operand) for operand in operands]
    if masking is not None:
        number = next(n for n in range(8) if REGISTERS[f"k{n}"] == masking.register)
        parts[0] += f"{{k{number}}}" + ("{z}" if masking.zeroing else "")
    for at, operand in enumerate(operands):
        if isinstance(operand, MemoryOperand) and operand.repeated and operand.size:
            parts[at] += f"{{1to{operand.size // operand.repeated}}}"
    return f"{entry.name.lower()} {','.join(parts)}"
