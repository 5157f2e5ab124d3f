"""The operands of an x86-64 instruction in legacy or VEX encoding, read from its bytes.

Nothing here reads the disassembly. SLEIGH names the instruction and gives its length; if this decoder finds another
length, the bytes have no semantics.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from isoform.isa.sleigh import Decoded
from isoform.isa.x86_64.modrm import ModRM, byte_without_rex, general, memory, read_modrm, read_number, vector
from isoform.isa.x86_64.opcode_lines import OPCODE_LINES
from isoform.isa.x86_64.operands import ImmediateOperand, MemoryOperand, NoSemanticsError, Operand, Prefixes, Register
from isoform.isa.x86_64.registers import REGISTERS
from isoform.isa.x86_64.vex import FIRST_MAP, SECOND_MAP, THIRD_MAP, VEX_THREE, VEX_TWO, VexPrefix, read_vex

_ESCAPE = 0x0F
_NOP = 0x90
_SMALLEST_VECTOR = 16


def operands(decoded: Decoded, found: Prefixes) -> tuple[Operand, ...]:
    """All operands in the order of the manual, including implicit ones."""
    reader = _Reader(decoded, found)
    read = reader.operands()
    if reader.at != decoded.length:
        raise NoSemanticsError
    return read


def memory_operand(decoded: Decoded, found: Prefixes) -> MemoryOperand:
    """The memory that ModRM names after an opcode of one byte, whatever its size."""
    return _Reader(decoded, found).only_memory()


class _Reader:
    """Reads one instruction from its opcode on. The readers of operands take a size in bytes."""

    def __init__(self, decoded: Decoded, found: Prefixes) -> None:
        self._code = decoded.code
        self._found = found
        self._next_address = decoded.address + decoded.length
        self._vex = found.opcode in (VEX_TWO, VEX_THREE)
        self._prefix = read_vex(decoded.code, found.opcode_at) if self._vex else _read_legacy(decoded.code, found)
        self.at = self._prefix.length
        """The first byte that is not read yet."""

    def operands(self) -> tuple[Operand, ...]:
        prefix = self._prefix
        line = _line(self._text(), self._vex, prefix.wide, prefix.long, self._found.operand_size)
        kinds = line.with_register
        if line.has_modrm:
            self._read_modrm()
            if self._modrm.address is not None:
                kinds = line.with_memory
        # Processors fault if VEX.vvvv is set and is not an operand.
        if kinds is None or (prefix.second and not any(place in _SECOND for place, _ in kinds)):
            raise NoSemanticsError
        read = [_READERS[place](self, size) for place, size in kinds]
        return tuple([operand for operand in read if operand is not None])

    def only_memory(self) -> MemoryOperand:
        self._read_modrm()
        return self.memory(0)

    def _text(self) -> str:
        """What the table says of the opcode."""
        prefix = self._prefix
        if prefix.table == 0 and prefix.opcode == _NOP and not prefix.base:
            return ""
        found = _TEXTS.get((prefix.mandatory, prefix.table, prefix.opcode))
        if found is None and not self._vex:
            found = _TEXTS.get((None, prefix.table, prefix.opcode))
        if isinstance(found, dict):
            found = found.get(read_number(self._code, self.at, 1, signed=False) >> 3 & 7)
        if found is None:
            raise NoSemanticsError
        return found

    def _read_modrm(self) -> None:
        self._modrm: ModRM = read_modrm(self._code, self.at, self._prefix.index, self._prefix.base)
        self.at += self._modrm.length

    # Registers

    def _general(self, number: int, size: int) -> Register:
        return byte_without_rex(number) if size == 1 and not self._found.rex else general(number, size)

    def accumulator(self, size: int) -> Register:
        return general(0, size)

    def general_in_reg(self, size: int) -> Register:
        return self._general(self._modrm.reg | self._prefix.reg << 3, size)

    def general_in_rm(self, size: int) -> Register:
        return self._general(self._modrm.rm | self._prefix.base << 3, size)

    def general_in_opcode(self, size: int) -> Register:
        return self._general(self._prefix.opcode & 7 | self._prefix.base << 3, size)

    def general_second(self, size: int) -> Register:
        return general(self._prefix.second, size)

    def vector_in_reg(self, size: int) -> Register:
        return vector(self._modrm.reg | self._prefix.reg << 3, size)

    def vector_in_rm(self, size: int) -> Register:
        if self._prefix.index:  # SLEIGH shows another register than processors use
            raise NoSemanticsError
        return vector(self._modrm.rm | self._prefix.base << 3, max(_SMALLEST_VECTOR, size))

    def vector_second(self, size: int) -> Register:
        return vector(self._prefix.second, size)

    def vector_in_last_byte(self, size: int) -> Register:
        return vector(self._number(1, signed=False) >> 4, size)

    # Memory and numbers

    def memory(self, size: int) -> MemoryOperand:
        address, found = self._modrm.address, self._found
        # Decoders disagree on what a 32-bit address without registers is relative to.
        if address is None or (found.address_size and address.base is None and address.index is None):
            raise NoSemanticsError
        address_bytes = 4 if found.address_size else 8
        return memory(address, size or None, self._next_address, segment=found.segment, address_bytes=address_bytes)

    def absolute(self, size: int) -> MemoryOperand:
        if self._found.address_size:
            raise NoSemanticsError
        return MemoryOperand(self._found.segment, None, None, 1, self._number(8, signed=False), size)

    def _number(self, size: int, signed: bool) -> int:
        found = read_number(self._code, self.at, size, signed)
        self.at += size
        return found

    def signed(self, size: int) -> ImmediateOperand:
        return ImmediateOperand(self._number(size, signed=True))

    def unsigned(self, size: int) -> ImmediateOperand:
        return ImmediateOperand(self._number(size, signed=False))

    def branch_target(self, size: int) -> ImmediateOperand:
        return ImmediateOperand(self._next_address + self._number(size, signed=True))

    def spelled_out(self, size: int) -> None:
        self._number(1, signed=False)


def _implied(name: str) -> Callable[[_Reader, int], Operand]:
    register = Register(REGISTERS[name])
    return lambda reader, size: register


_READERS: Mapping[str, Callable[[_Reader, int], Operand | None]] = {
    "A": _Reader.accumulator,
    "G": _Reader.general_in_reg,
    "R": _Reader.general_in_rm,
    "Z": _Reader.general_in_opcode,
    "B": _Reader.general_second,
    "V": _Reader.vector_in_reg,
    "U": _Reader.vector_in_rm,
    "H": _Reader.vector_second,
    "L": _Reader.vector_in_last_byte,
    "M": _Reader.memory,
    "O": _Reader.absolute,
    "I": _Reader.signed,
    "N": _Reader.unsigned,
    "J": _Reader.branch_target,
    "C": _Reader.spelled_out,
    "X": lambda reader, size: None,
    "1": lambda reader, size: ImmediateOperand(1),
    **{name: _implied(name) for name in ("cl", "rbx", "rsi", "rdi", "xmm0")},
}


def _read_legacy(code: bytes, found: Prefixes) -> VexPrefix:
    """REX, mandatory prefix and escape bytes in the terms of VEX."""
    at, table = found.opcode_at, 0
    if found.opcode == _ESCAPE and at + 1 < len(code):
        table = _MAPS.get(code[at + 1], FIRST_MAP)
        at += 1 if table == FIRST_MAP else 2
    if at >= len(code):
        raise NoSemanticsError
    rex = found.rex
    return VexPrefix(table, code[at], found.mandatory, rex >> 3 & 1, 0, rex >> 2 & 1, rex >> 1 & 1, rex & 1, 0, at + 1)


# The lines of the table

_Kinds = tuple[tuple[str, int], ...]
"""For each operand its reader and its size in bytes."""


class _Line:
    def __init__(self, has_modrm: bool, with_register: _Kinds | None, with_memory: _Kinds | None) -> None:
        self.has_modrm = has_modrm
        self.with_register = with_register
        """The form for ModRM with a register, or without ModRM; None if processors fault on that."""
        self.with_memory = with_memory


_MODRM = frozenset("EGRMWUVX")
_SECOND = frozenset("HB")
_VEX_ONLY = frozenset("HL")
_EITHER = {"E": "RM", "W": "UM"}


@cache
def _line(text: str, vex: bool, wide: int, long: int, operand_size: bool) -> _Line:
    if not vex and "B" in text:
        raise NoSemanticsError
    kinds = [kind for kind in text.split(",") if kind and (vex or kind[0] not in _VEX_ONLY)]
    has_modrm = any(kind[0] in _MODRM for kind in kinds)
    sizes = _sizes(wide, long, operand_size)
    with_register = _kinds(kinds, 0, "M" if has_modrm else "", sizes)
    return _Line(has_modrm, with_register, _kinds(kinds, 1, "RU", sizes))


def _kinds(texts: list[str], choice: int, impossible: str, sizes: Mapping[str, int]) -> _Kinds | None:
    """`choice` is 0 if ModRM names a register and 1 if it names memory."""
    kinds = []
    for text in texts:
        chosen = text.split("/")[min(choice, text.count("/"))]
        place = _EITHER.get(chosen[0], chosen[0] * 2)[choice]
        if place in impossible:
            return None
        if chosen in _READERS:
            kinds.append((chosen, 0))
        elif chosen != "-":
            kinds.append((place, sizes[chosen[1:]]))
    return tuple(kinds)


def _sizes(wide: int, long: int, operand_size: bool) -> Mapping[str, int]:
    """Bytes by letter."""
    general_size, length = 8 if wide else 4, 32 if long else 16
    by_prefix = 2 if operand_size and not wide else general_size
    return {
        **{"b": 1, "w": 2, "d": 4, "q": 8, "o": 16},
        **{"y": general_size, "p": 2 * general_size, "v": by_prefix, "z": min(by_prefix, 4)},
        **{"s": 2 if by_prefix == 2 else 8, "u": 32 if long else 8},
        **{"x": length, "h": length // 2, "f": length // 4, "e": length // 8},
    }


_MAPS = {0x38: SECOND_MAP, 0x3A: THIRD_MAP}
_TABLES = {"": 0, "0f": FIRST_MAP, "0f38": SECOND_MAP, "0f3a": THIRD_MAP}
_MANDATORY = {"any": None, "NP": 0, "66": 1, "F3": 2, "F2": 3}
_Texts = dict[tuple[int | None, int, int], str | dict[int, str]]
"""Operands by mandatory prefix (None if prefixes do not matter), opcode map and opcode; for groups by digit."""


def _texts() -> _Texts:
    texts: _Texts = {}
    for line in OPCODE_LINES:
        prefix, kinds, *opcodes = line.split()
        mandatory, kinds = _MANDATORY[prefix], "" if kinds == "-" else kinds
        for opcode in opcodes:
            first, _, digit = opcode.partition("/")
            first, _, last = first.partition("-")
            table, low = _TABLES[first[:-2]], int(first[-2:], 16)
            if digit:
                _group(texts, (mandatory, table, low))[int(digit)] = kinds
            else:
                for number in range(low, int(last[-2:], 16) + 1 if last else low + 1):
                    texts[mandatory, table, number] = kinds
    return texts


def _group(texts: _Texts, key: tuple[int | None, int, int]) -> dict[int, str]:
    group = texts.setdefault(key, {})
    assert isinstance(group, dict), key
    return group


_TEXTS = _texts()
