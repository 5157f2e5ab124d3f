"""Compressed instructions: each of 16 bits stands for one of 32 (The RISC-V Instruction Set Manual, extension C). The
floating-point ones have no counterpart here."""

from __future__ import annotations

from collections.abc import Callable

_ZERO, _LINK, _STACK = 0, 1, 2
_LOAD, _STORE, _IMMEDIATE, _WORD_IMMEDIATE, _REGISTER, _WORD_REGISTER = 0x03, 0x23, 0x13, 0x1B, 0x33, 0x3B
_UPPER, _BRANCH, _JUMP_REGISTER, _JUMP = 0x37, 0x63, 0x67, 0x6F
_BREAK = 0x0010_0073
_WORD, _DOUBLE = 2, 3
"""Sizes of accesses, as in the field funct3."""


class _Half:
    """The fields of one compressed instruction."""

    def __init__(self, half: int) -> None:
        self.half = half

    def bits(self, high: int, low: int) -> int:
        return self.half >> low & ((1 << (high - low + 1)) - 1)

    def gathered(self, *places: tuple[int, int]) -> int:
        """A number whose bits are scattered: (bit of the instruction, bit of the number)."""
        return sum((self.half >> source & 1) << target for source, target in places)

    @property
    def full(self) -> int:
        """The register in the five-bit field, usually both a source and the destination."""
        return self.bits(11, 7)

    @property
    def other(self) -> int:
        return self.bits(6, 2)

    @property
    def first(self) -> int:
        """One of the eight registers that a three-bit field can name."""
        return 8 + self.bits(9, 7)

    @property
    def second(self) -> int:
        return 8 + self.bits(4, 2)

    @property
    def immediate(self) -> int:
        return _signed(self.bits(12, 12) << 5 | self.bits(6, 2), 6)

    @property
    def count(self) -> int:
        return self.bits(12, 12) << 5 | self.bits(6, 2)


def expanded(half: int) -> int | None:
    """The instruction that a compressed one stands for; None if the bits are no instruction or have no semantics
    here."""
    form = _FORMS.get((half & 3, half >> 13))
    return form(_Half(half)) if form is not None else None


def _signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value


# -- the instructions of 32 bits -----------------------------------------------------------------------


def _with_immediate(opcode: int, funct3: int, rd: int, rs1: int, immediate: int) -> int:
    return (immediate & 0xFFF) << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode


def _with_registers(opcode: int, funct3: int, funct7: int, rd: int, rs1: int, rs2: int) -> int:
    return funct7 << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode


def _storing(size: int, base: int, value: int, offset: int) -> int:
    return _with_registers(_STORE, size, offset >> 5, offset & 31, base, value)


def _branching(funct3: int, rs1: int, distance: int) -> int:
    high = (distance >> 12 & 1) << 6 | distance >> 5 & 0x3F
    low = (distance >> 1 & 0xF) << 1 | distance >> 11 & 1
    return _with_registers(_BRANCH, funct3, high, low, rs1, _ZERO)


def _jumping(rd: int, distance: int) -> int:
    scattered = (distance >> 20 & 1) << 19 | (distance >> 1 & 0x3FF) << 9 | (distance >> 11 & 1) << 8
    return (scattered | distance >> 12 & 0xFF) << 12 | rd << 7 | _JUMP


# -- the compressed ones --------------------------------------------------------------------------------


def _stack_address(half: _Half) -> int | None:
    offset = half.gathered((12, 5), (11, 4), (10, 9), (9, 8), (8, 7), (7, 6), (6, 2), (5, 3))
    return _with_immediate(_IMMEDIATE, 0, half.second, _STACK, offset) if offset else None


def _near_offset(half: _Half, size: int) -> int:
    return half.gathered((12, 5), (11, 4), (10, 3), (6, 2 if size == _WORD else 7), (5, 6))


def _load(size: int) -> Callable[[_Half], int]:
    return lambda half: _with_immediate(_LOAD, size, half.second, half.first, _near_offset(half, size))


def _store(size: int) -> Callable[[_Half], int]:
    return lambda half: _storing(size, half.first, half.second, _near_offset(half, size))


def _add_immediate(half: _Half) -> int:
    return _with_immediate(_IMMEDIATE, 0, half.full, half.full, half.immediate)


def _add_word_immediate(half: _Half) -> int | None:
    return _with_immediate(_WORD_IMMEDIATE, 0, half.full, half.full, half.immediate) if half.full else None


def _load_immediate(half: _Half) -> int:
    return _with_immediate(_IMMEDIATE, 0, half.full, _ZERO, half.immediate)


def _upper(half: _Half) -> int | None:
    if half.full == _STACK:
        distance = half.gathered((12, 9), (6, 4), (5, 6), (4, 8), (3, 7), (2, 5))
        return _with_immediate(_IMMEDIATE, 0, _STACK, _STACK, _signed(distance, 10)) if distance else None
    return (half.immediate & 0xF_FFFF) << 12 | half.full << 7 | _UPPER if half.immediate else None


def _arithmetic(half: _Half) -> int | None:
    """On one of eight registers: shifts and a mask by an immediate, and computations with another."""
    kind, target = half.bits(11, 10), half.first
    if kind < 2:
        return _with_immediate(_IMMEDIATE, 5, target, target, half.count | (0x400 if kind else 0))
    if kind == 2:
        return _with_immediate(_IMMEDIATE, 7, target, target, half.immediate)
    found = _COMPUTATIONS.get((half.bits(12, 12), half.bits(6, 5)))
    return _with_registers(*found, target, target, half.second) if found is not None else None


_COMPUTATIONS = {
    (0, 0): (_REGISTER, 0, 0x20),
    (0, 1): (_REGISTER, 4, 0),
    (0, 2): (_REGISTER, 6, 0),
    (0, 3): (_REGISTER, 7, 0),
    (1, 0): (_WORD_REGISTER, 0, 0x20),
    (1, 1): (_WORD_REGISTER, 0, 0),
}
"""Opcode, funct3 and funct7 of `sub`, `xor`, `or`, `and`, `subw` and `addw`."""


def _jump(half: _Half) -> int:
    distance = half.gathered(
        (12, 11), (11, 4), (10, 9), (9, 8), (8, 10), (7, 6), (6, 7), (5, 3), (4, 2), (3, 1), (2, 5)
    )
    return _jumping(_ZERO, _signed(distance, 12))


def _branch(funct3: int) -> Callable[[_Half], int]:
    def form(half: _Half) -> int:
        distance = half.gathered((12, 8), (11, 4), (10, 3), (6, 7), (5, 6), (4, 2), (3, 1), (2, 5))
        return _branching(funct3, half.first, _signed(distance, 9))

    return form


def _shift(half: _Half) -> int:
    return _with_immediate(_IMMEDIATE, 1, half.full, half.full, half.count)


def _load_from_stack(size: int) -> Callable[[_Half], int | None]:
    last = 2 if size == _WORD else 8

    def form(half: _Half) -> int | None:
        offset = half.gathered((12, 5), (6, 4), (5, 3), (4, last), (3, 7), (2, 6))
        return _with_immediate(_LOAD, size, half.full, _STACK, offset) if half.full else None

    return form


def _store_to_stack(size: int) -> Callable[[_Half], int]:
    last = 2 if size == _WORD else 8

    def form(half: _Half) -> int:
        offset = half.gathered((12, 5), (11, 4), (10, 3), (9, last), (8, 7), (7, 6))
        return _storing(size, _STACK, half.other, offset)

    return form


def _registers(half: _Half) -> int | None:
    """Jumps, moves and sums of any two registers."""
    links = half.bits(12, 12)
    if half.other:
        return _with_registers(_REGISTER, 0, 0, half.full, half.full if links else _ZERO, half.other)
    if not half.full:
        return _BREAK if links else None
    return _with_immediate(_JUMP_REGISTER, 0, _LINK if links else _ZERO, half.full, 0)


_FORMS: dict[tuple[int, int], Callable[[_Half], int | None]] = {
    (0, 0): _stack_address,
    (0, 2): _load(_WORD),
    (0, 3): _load(_DOUBLE),
    (0, 6): _store(_WORD),
    (0, 7): _store(_DOUBLE),
    (1, 0): _add_immediate,
    (1, 1): _add_word_immediate,
    (1, 2): _load_immediate,
    (1, 3): _upper,
    (1, 4): _arithmetic,
    (1, 5): _jump,
    (1, 6): _branch(0),
    (1, 7): _branch(1),
    (2, 0): _shift,
    (2, 2): _load_from_stack(_WORD),
    (2, 3): _load_from_stack(_DOUBLE),
    (2, 4): _registers,
    (2, 6): _store_to_stack(_WORD),
    (2, 7): _store_to_stack(_DOUBLE),
}
"""By the lowest two and the highest three bits."""
