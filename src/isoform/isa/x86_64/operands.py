"""The operands of an x86-64 instruction, read from SLEIGH's disassembly: `EAX,dword ptr [RBX + RCX*0x4 + 0x8]`."""

from __future__ import annotations

import re
from functools import lru_cache

from isoform.isa.sleigh import Decoded
from isoform.isa.x86_64.registers import REGISTERS
from isoform.model.microop import Space, Var
from isoform.model.values import dataclass

_MEMORY = re.compile(r"(?:(\w+) ptr )?(?:([C-GS]S):)?\[([^\[\]]+)\]$")
_TERM = re.compile(r"(?:(-?0x[0-9a-f]+)|(\w+?)(?:\*0x([1248]))?)$")
_NUMBER = re.compile(r"-?0x[0-9a-f]+$")
_SIZES = {"byte": 1, "word": 2, "dword": 4, "qword": 8, "xmmword": 16, "ymmword": 32}
_LEGACY_PREFIXES = frozenset(b"\x26\x2e\x36\x3e\x64\x65\x66\x67\xf0\xf2\xf3")
EVEX = 0x62
_VEX = frozenset(b"\xc4\xc5\x62")
_OPERAND_SIZE, _ADDRESS_SIZE, _LOCK = 0x66, 0x67, 0xF0
_REPEATS = frozenset(b"\xf2\xf3")
_SEGMENT_OVERRIDES = frozenset(b"\x64\x65")
VECTOR_START, VECTOR_END = REGISTERS["zmm0"].offset, REGISTERS["zmm31"].offset + REGISTERS["zmm31"].size
_MMX = frozenset(f"mm{n}" for n in range(8))


class NoSemanticsError(Exception):
    """This form of the instruction has no semantics here: it becomes UNSUPPORTED."""


@dataclass(frozen=True)
class Register:
    var: Var

    @property
    def is_vector(self) -> bool:
        return VECTOR_START <= self.var.offset < VECTOR_END


@dataclass(frozen=True)
class Immediate:
    value: int
    size: int | None = None
    """Where neither the mnemonic nor another operand says it."""


@dataclass(frozen=True)
class Memory:
    segment: str
    """`fs`, `gs`, or empty: the other segments start at 0."""
    base: Var | None
    index: Var | None
    scale: int
    displacement: int
    size: int | None
    """As the disassembly has it, which is not always the size of the access; None where it says nothing."""
    repeated: int = 0
    """Bytes of the element that EVEX repeats to fill a vector; 0 where the operand is all in memory."""


Operand = Register | Immediate | Memory


@dataclass(frozen=True)
class Prefixes:
    """What the bytes before the opcode say beyond what the disassembly shows."""

    operand_size: bool
    address_size: bool
    segment: bool
    lock: bool
    doubled: bool
    """Whether one that changes a size is there more than once: SLEIGH takes the second to undo the first."""
    repeats: int
    """Number of different ones of F2 and F3."""
    rex_wide: bool
    rex_low: bool
    """REX.B: a register in the opcode or in ModRM's lowest field is one of r8 to r15."""
    opcode: int
    """The first byte after all of them."""
    opcode_at: int


def prefixes(code: bytes) -> Prefixes:
    count = next((n for n, byte in enumerate(code) if byte not in _LEGACY_PREFIXES), len(code))
    found = frozenset(code[:count])
    opcode, following = (*code[count : count + 2], 0, 0)[:2]
    is_rex = opcode & 0xF0 == 0x40
    # Only a REX right before the opcode counts, and VEX takes the place of most prefixes: not what every decoder
    # makes of it.
    if is_rex and (following in _LEGACY_PREFIXES or following in _VEX or following & 0xF0 == 0x40):
        raise NoSemanticsError
    if opcode in _VEX and found & (_REPEATS | {_OPERAND_SIZE, _LOCK}):
        raise NoSemanticsError
    return Prefixes(
        operand_size=_OPERAND_SIZE in found,
        address_size=_ADDRESS_SIZE in found,
        segment=bool(found & _SEGMENT_OVERRIDES),
        lock=_LOCK in found,
        doubled=max(code[:count].count(_OPERAND_SIZE), code[:count].count(_ADDRESS_SIZE)) > 1,
        repeats=len(found & _REPEATS),
        rex_wide=is_rex and bool(opcode & 8),
        rex_low=is_rex and bool(opcode & 1),
        opcode=following if is_rex else opcode,
        opcode_at=count + is_rex,
    )


def operands(decoded: Decoded, found: Prefixes) -> tuple[Operand, ...]:
    text = decoded.operands.strip()
    parsed = tuple(_operand(part.strip()) for part in text.split(",")) if text else ()
    for operand in parsed:
        # The disassembly of a 32-bit address without registers does not tell what it is relative to.
        if isinstance(operand, Memory) and found.address_size and operand.base is None and operand.index is None:
            raise NoSemanticsError
    return parsed


def memory_operand(text: str) -> Memory:
    """The memory that `extended double ptr [RSP + 0x18]` names, whatever its size."""
    operand = _operand(text.rpartition("ptr ")[2].strip())
    if not isinstance(operand, Memory):
        raise NoSemanticsError
    return operand


@lru_cache(maxsize=4096)
def _operand(text: str) -> Operand:
    if text.lower() in REGISTERS and text.lower() not in _MMX:
        return Register(REGISTERS[text.lower()])
    if _NUMBER.match(text):
        return Immediate(int(text, 16))
    matched = _MEMORY.match(text)
    if matched is None:
        raise NoSemanticsError
    size, segment, inside = matched.groups()
    if size is not None and size not in _SIZES:
        raise NoSemanticsError
    return _memory(_SIZES.get(size or ""), segment, inside)


def _memory(size: int | None, segment: str | None, inside: str) -> Memory:
    base = index = None
    scale, displacement = 1, 0
    for term in inside.split(" + "):
        matched = _TERM.match(term)
        if matched is None:
            raise NoSemanticsError
        number, name, factor = matched.groups()
        if number is not None:
            displacement += int(number, 16)
        elif factor is None and base is None:
            base = _address_register(name)
        elif factor is not None and index is None:
            index, scale = _address_register(name), int(factor)
        else:
            raise NoSemanticsError
    return Memory(segment.lower() if segment in ("FS", "GS") else "", base, index, scale, displacement, size)


def _address_register(name: str) -> Var:
    var = REGISTERS.get(name.lower())
    if var is None or var.size not in (4, 8):
        raise NoSemanticsError
    return var


def register(name: str) -> Register:
    return Register(REGISTERS[name])


def is_general(var: Var) -> bool:
    return var.space is Space.REGISTER and var.offset < REGISTERS["r15"].offset + 8
