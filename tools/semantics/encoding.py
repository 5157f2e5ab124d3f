"""Writes x86-64 instructions from lines like those of the manual's opcode tables, with operands drawn at random.

`ADD 01 /r Ev,Gv` is a mnemonic, opcode bytes, how ModRM is used, and operands in the notation of the opcode map:
E a register or memory, G a general register, M memory, I an immediate, J a branch distance, O an absolute address,
Z a small number, P the predicate of a comparison; V and H a vector register, U one in ModRM, W that or memory, L one
in the immediate's upper half, B a general register in VEX.vvvv; b w d q dq x a width, v 16/32/64 bits, y 32/64, z an
immediate of at most 32 bits.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

CODE_ADDRESS = 0x3000_0000
DATA_ADDRESS = 0x2000_0000
DATA_SIZE = 0x2000
TARGET_LOW, TARGET_HIGH = DATA_ADDRESS + 0x800, DATA_ADDRESS + 0x1800
"""Where memory operands point."""

GENERAL = ("rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", *(f"r{n}" for n in range(8, 16)))
_BASES = (3, 5, 6, 12, 13, 14)
_INDEXES = (3, 5, 8, 9, 10, 15)
_RSP = 4


@dataclass(frozen=True)
class Template:
    """One form: a mnemonic with operand kinds and widths."""

    mnemonic: str
    opcode: bytes
    """Mandatory prefix and escape bytes included."""
    modrm: str
    """`r`, a digit, `+` (register in the opcode) or empty."""
    operands: tuple[str, ...]
    width: int = 0
    """General operand size in bytes; 0 where the form has but one."""
    vector: int = 0
    """16 or 32 for VEX forms, 0 for others."""
    wide: bool = False
    """VEX.W."""
    memory: bool = False
    """Whether E or W is memory."""
    prefix: bytes = b""
    branch: bool = False
    bit_string: bool = False

    @property
    def name(self) -> str:
        shown = ",".join(_shown(operand, self) for operand in self.operands)
        prefix = {b"\xf3": "rep ", b"\xf2": "repne ", b"\xf0": "lock "}.get(self.prefix, "")
        return f"{prefix}{self.mnemonic.lower()} {shown}".strip()


def _shown(operand: str, template: Template) -> str:
    kind = operand[0]
    if kind in "EWM":
        return f"{'m' if template.memory else 'r'}{operand[1:]}".replace("v", str(8 * template.width))
    return operand.replace("v", str(8 * template.width))


@dataclass
class Encoded:
    """One instruction, and what the state must be for it to stay within the data."""

    code: bytes
    pins: dict[str, int] = field(default_factory=dict)
    immediate: int = 0


class Encoder:
    """Draws registers, addressing mode and immediate for a template."""

    def __init__(self, template: Template, rng: random.Random) -> None:
        self._template = template
        self._rng = rng
        self._pins: dict[str, int] = {}
        self._rex_r = self._rex_x = self._rex_b = 0
        self._rex_needed = False
        self._plain_bytes = False
        self._address_size = False
        self._relative_at: int | None = None
        self._immediate = 0
        self._general_reg: int | None = None

    def encode(self) -> Encoded:
        t = self._template
        middle = self._middle()
        immediate = b"".join(self._immediates())
        head = self._vex() if t.vector else self._legacy_head()
        opcode = t.opcode[-1:] if t.vector else t.opcode[self._mandatory() :]
        if t.modrm == "+":
            opcode = opcode[:-1] + bytes([opcode[-1] | self._low])
        code = bytearray((b"\x67" if self._address_size else b"") + t.prefix + head + opcode)
        start = len(code)
        code += middle + immediate
        if self._relative_at is not None:
            at = start + self._relative_at
            distance = self._target() - (CODE_ADDRESS + len(code))
            code[at : at + 4] = (distance & 0xFFFFFFFF).to_bytes(4, "little")
        return Encoded(bytes(code), self._pins, self._immediate)

    # ModRM and what follows it

    def _middle(self) -> bytes:
        t = self._template
        self._draw_extra_registers()
        if t.modrm == "+":
            number = self._register(t.operands[0] if t.operands else "Gv")
            self._rex_b, self._low = number >> 3, number & 7
            return b""
        if not t.modrm:
            return b""
        if t.modrm == "r":
            operand = next((o for o in t.operands if o[0] in "GV"), "Gd")
            reg = self._register(operand)
            self._rex_r = reg >> 3
            self._general_reg = reg if operand[0] == "G" and operand[1:] != "b" else None
        else:
            reg = int(t.modrm)
        if t.memory:
            return self._memory(reg & 7)
        rm = self._register(next((o for o in t.operands if o[0] in "EWRU"), "Ed"))
        self._rex_b = rm >> 3
        return bytes([0xC0 | (reg & 7) << 3 | rm & 7])

    def _draw_extra_registers(self) -> None:
        self._vvvv = self._rng.randrange(16) if any(o[0] in "HB" for o in self._template.operands) else 0
        if any(o[0] == "B" for o in self._template.operands):
            self._vvvv = self._general()

    def _general(self) -> int:
        return self._rng.choice([n for n in range(16) if n != _RSP])

    def _register(self, operand: str) -> int:
        if operand[0] in "VWU":
            return self._rng.randrange(16)
        if operand[1:] == "b":
            return self._byte_register()
        return self._general()

    def _byte_register(self) -> int:
        """Numbers 4 to 7 are ah, ch, dh, bh without REX and spl, bpl, sil, dil with it; spl is left alone."""
        number = self._rng.randrange(16)
        if number == _RSP:
            self._plain_bytes = True
            if self._rex_needed:
                number = 5
        elif 4 < number < 8 and not self._plain_bytes and self._rng.random() < 0.5:
            self._rex_needed = True
        if self._plain_bytes and number >= 8:
            number &= 3
        return number

    def _memory(self, reg: int) -> bytes:
        choice = self._rng.random()
        if choice < 0.1:
            self._relative_at = 1
            return bytes([reg << 3 | 5]) + bytes(4)
        target = self._target()
        if choice < 0.2:
            return bytes([reg << 3 | 4, 0x25]) + target.to_bytes(4, "little")
        if self._plain_bytes:
            bases: tuple[int, ...] = tuple(n for n in _BASES if n < 8)
            indexes: tuple[int, ...] = tuple(n for n in _INDEXES if n < 8)
        else:
            bases, indexes = _BASES, _INDEXES
        base = self._rng.choice(bases)
        if self._rng.random() < 0.2 and self._general_reg not in (None, _RSP):
            # The register operand is part of the address: what reads it must do so before it is written.
            base = self._general_reg or 0
        index = self._rng.choice([n for n in indexes if n != base]) if self._rng.random() < 0.5 else None
        self._address_size = self._rng.random() < 0.1
        return self._based(reg, base, index, target)

    def _target(self) -> int:
        """Vectors are aligned: many instructions fault on others, and faults of memory are not compared."""
        address = self._rng.randrange(TARGET_LOW, TARGET_HIGH)
        aligned = self._template.mnemonic == "CMPXCHG16B" or any(o[0] in "VWH" for o in self._template.operands)
        return address & ~31 if aligned else address

    def _based(self, reg: int, base: int, index: int | None, target: int) -> bytes:
        displacement = self._rng.choice((0, self._rng.randrange(-128, 128), self._rng.randrange(-(1 << 20), 1 << 20)))
        scale = self._rng.randrange(4)
        offset = displacement
        if index is not None:
            factor = self._rng.choice((0, 1, -1, self._rng.randrange(-64, 64)))
            offset += factor << scale
            self._pin(index, factor)
            self._rex_x = index >> 3
        self._pin(base, target - offset)
        self._rex_b = base >> 3
        mode, tail = self._displacement(base, displacement)
        if index is None and base & 7 != _RSP:
            return bytes([mode << 6 | reg << 3 | base & 7]) + tail
        second = scale << 6 | (_RSP if index is None else index & 7) << 3 | base & 7
        return bytes([mode << 6 | reg << 3 | 4, second]) + tail

    def _displacement(self, base: int, displacement: int) -> tuple[int, bytes]:
        if displacement == 0 and base & 7 != 5:
            return 0, b""
        if -128 <= displacement < 128:
            return 1, (displacement & 0xFF).to_bytes(1, "little")
        return 2, (displacement & 0xFFFFFFFF).to_bytes(4, "little")

    def _pin(self, number: int, value: int) -> None:
        if self._address_size:
            value = value & 0xFFFFFFFF | self._rng.getrandbits(32) << 32
        self._pins[GENERAL[number]] = value & (1 << 64) - 1

    # Immediates and prefixes

    def _immediates(self) -> Iterator[bytes]:
        for operand in self._template.operands:
            if operand[0] == "L":
                yield bytes([self._rng.randrange(16) << 4])
            elif operand[0] == "P":
                yield bytes([self._rng.randrange(32 if self._template.vector else 8)])
            elif operand[0] == "Z":
                yield self._rng.randrange(0x200).to_bytes(2, "little") if operand[1:] == "w" else b"\0"
            elif operand[0] == "O":
                yield self._rng.randrange(TARGET_LOW, TARGET_HIGH).to_bytes(8, "little")
            elif operand[0] in "IJ":
                size = self._immediate_size(operand)
                self._immediate = self._number(8 * size)
                yield self._immediate.to_bytes(size, "little")

    def _immediate_size(self, operand: str) -> int:
        widest = {"v": 8, "z": 4}.get(operand[1:])
        return min(widest, self._template.width) if widest else {"b": 1, "w": 2, "d": 4}[operand[1:]]

    def _number(self, bits: int) -> int:
        if self._rng.random() < 0.4:
            edges = (-1, -2, 1 << bits - 1, (1 << bits - 1) - 1)
            return self._rng.choice((0, 1, 2, 7, 8, 15, 16, 31, 32, 33, 63, *edges)) & (1 << bits) - 1
        return self._rng.getrandbits(bits)

    def _mandatory(self) -> int:
        """Number of mandatory prefix bytes at the start of the opcode: REX goes after them."""
        opcode = self._template.opcode
        return 1 if len(opcode) > 1 and opcode[0] in (0x66, 0xF2, 0xF3) else 0

    def _legacy_head(self) -> bytes:
        t = self._template
        head = b"\x66" if t.width == 2 else b""
        head += t.opcode[: self._mandatory()]
        wide = t.wide or (t.width == 8 and not self._defaults_to_64())
        rex = wide << 3 | self._rex_r << 2 | self._rex_x << 1 | self._rex_b
        return head + (bytes([0x40 | rex]) if rex or self._rex_needed else b"")

    def _defaults_to_64(self) -> bool:
        return self._template.mnemonic in ("PUSH", "POP", "CALL", "JMP", "RET")

    def _vex(self) -> bytes:
        """Three bytes, or two where they are enough and the draw says so."""
        t = self._template
        prefix = {0x66: 1, 0xF3: 2, 0xF2: 3}.get(t.opcode[0], 0)
        escape = t.opcode[1:-1] if prefix else t.opcode[:-1]
        table = {b"\x0f": 1, b"\x0f\x38": 2, b"\x0f\x3a": 3}[escape]
        last = (~self._vvvv & 15) << 3 | (t.vector == 32) << 2 | prefix
        if table == 1 and not (t.wide or self._rex_x or self._rex_b) and self._rng.random() < 0.5:
            return bytes([0xC5, (1 - self._rex_r) << 7 | last])
        first = (1 - self._rex_r) << 7 | (1 - self._rex_x) << 6 | (1 - self._rex_b) << 5 | table
        return bytes([0xC4, first, t.wide << 7 | last])
