"""Operands of x86-64 instructions as values, and the meaning of an instruction's prefixes."""

from __future__ import annotations

from functools import lru_cache

from isoform.isa.x86_64.registers import REGISTERS
from isoform.model.microop import Space, Var
from isoform.model.values import dataclass

_LEGACY_PREFIXES = frozenset(b"\x26\x2e\x36\x3e\x64\x65\x66\x67\xf0\xf2\xf3")
EVEX = 0x62
_VEX = frozenset(b"\xc4\xc5\x62")
_OPERAND_SIZE, _ADDRESS_SIZE, _LOCK = 0x66, 0x67, 0xF0
_REPEATS = frozenset(b"\xf2\xf3")
_MANDATORY = {0xF3: 2, 0xF2: 3, 0x66: 1}
_SEGMENTS = {0x64: "fs", 0x65: "gs"}
_SEGMENT_OVERRIDES = frozenset(b"\x26\x2e\x36\x3e\x64\x65")
VECTOR_START, VECTOR_END = REGISTERS["zmm0"].offset, REGISTERS["zmm31"].offset + REGISTERS["zmm31"].size


class NoSemanticsError(Exception):
    """This form of the instruction has no semantics here: it becomes UNSUPPORTED."""


@dataclass(frozen=True)
class Register:
    var: Var

    @property
    def is_vector(self) -> bool:
        return VECTOR_START <= self.var.offset < VECTOR_END


@dataclass(frozen=True)
class ImmediateOperand:
    value: int
    size: int | None = None
    """None if neither the mnemonic nor another operand determines it."""


@dataclass(frozen=True)
class MemoryOperand:
    segment: str
    """`fs`, `gs`, or empty: the other segments start at 0."""
    base: Var | None
    index: Var | None
    scale: int
    displacement: int
    size: int | None
    """Bytes that are accessed; None if only the address matters, or the opcode determines the size."""
    repeated: int = 0
    """Bytes of the element that EVEX repeats to fill a vector; 0 if the whole operand is in memory."""


Operand = Register | ImmediateOperand | MemoryOperand


@dataclass(frozen=True)
class Prefixes:
    """What the bytes before the opcode say, REX included."""

    operand_size: bool
    address_size: bool
    segment: str
    """`fs`, `gs`, or empty."""
    lock: bool
    doubled: bool
    """Whether a prefix that changes a size occurs more than once: SLEIGH lets the second undo the first."""
    mandatory: int
    """0, or 1, 2, 3 for 66, F3, F2: selects one of several instructions with the same opcode."""
    repeats: int
    """Number of different ones of F2 and F3."""
    rex: int
    """The prefix, 40 to 4F, or 0 if there is none."""
    opcode: int
    """The first byte after all of them."""
    opcode_at: int

    @property
    def rex_wide(self) -> bool:
        return bool(self.rex & 8)

    @property
    def rex_low(self) -> bool:
        """REX.B: a register in the opcode or in ModRM's lowest field is one of r8 to r15."""
        return bool(self.rex & 1)


def prefixes(code: bytes) -> Prefixes:
    count = 0
    while count < len(code) and code[count] in _LEGACY_PREFIXES:
        count += 1
    return _prefixes(code[:count], code[count : count + 2])


@lru_cache(maxsize=4096)
def _prefixes(legacy: bytes, rest: bytes) -> Prefixes:
    """In `rest` only a REX prefix and the opcode matter."""
    found = frozenset(legacy)
    opcode, following = (*rest, 0, 0)[:2]
    is_rex = opcode & 0xF0 == 0x40
    # Only a REX directly before the opcode counts, and VEX replaces most prefixes. Not all decoders agree on that.
    if is_rex and (following in _LEGACY_PREFIXES or following in _VEX or following & 0xF0 == 0x40):
        raise NoSemanticsError
    if opcode in _VEX and found & (_REPEATS | {_OPERAND_SIZE, _LOCK}):
        raise NoSemanticsError
    return Prefixes(
        operand_size=_OPERAND_SIZE in found,
        address_size=_ADDRESS_SIZE in found,
        segment=_segment(found & _SEGMENT_OVERRIDES),
        lock=_LOCK in found,
        doubled=max(legacy.count(_OPERAND_SIZE), legacy.count(_ADDRESS_SIZE)) > 1,
        mandatory=_mandatory(found),
        repeats=len(found & _REPEATS),
        rex=opcode if is_rex else 0,
        opcode=following if is_rex else opcode,
        opcode_at=len(legacy) + is_rex,
    )


def _mandatory(found: frozenset[int]) -> int:
    """F2 and F3 take precedence over 66, which then only changes a size. Both together have no semantics
    (`repeats`)."""
    return next((number for byte, number in _MANDATORY.items() if byte in found), 0)


def _segment(overrides: frozenset[int]) -> str:
    """Decoders disagree on which of several segment overrides counts if one is fs or gs; the others mean nothing."""
    chosen = [name for byte, name in _SEGMENTS.items() if byte in overrides]
    if chosen and len(overrides) > 1:
        raise NoSemanticsError
    return chosen[0] if chosen else ""


def register(name: str) -> Register:
    return Register(REGISTERS[name])


def is_general(var: Var) -> bool:
    return var.space is Space.REGISTER and var.offset < REGISTERS["r15"].offset + 8
