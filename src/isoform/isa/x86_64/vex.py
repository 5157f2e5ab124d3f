"""The VEX prefix: `C5 byte` or `C4 byte byte` instead of REX, mandatory prefix and escape bytes."""

from __future__ import annotations

from isoform.isa.x86_64.operands import NoSemanticsError
from isoform.model.values import dataclass

VEX_THREE, VEX_TWO = 0xC4, 0xC5
FIRST_MAP, SECOND_MAP, THIRD_MAP = 1, 2, 3
"""Opcodes after 0F, 0F 38 and 0F 3A."""


@dataclass(frozen=True)
class VexPrefix:
    """What the bytes up to the opcode say, with the inverted extension bits restored."""

    table: int
    """The opcode map; 0 for opcodes of one byte, which no VEX instruction has."""
    opcode: int
    mandatory: int
    """0, or 1, 2, 3 for 66, F3, F2."""
    wide: int
    long: int
    reg: int
    index: int
    base: int
    second: int
    """VEX.vvvv."""
    length: int
    """Bytes up to and including the opcode."""


def read_vex(code: bytes, at: int) -> VexPrefix:
    """The prefix that starts at byte `at`."""
    size = 2 if code[at] == VEX_TWO else 3
    if at + size >= len(code):
        raise NoSemanticsError
    first, last, opcode = code[at + 1], code[at + size - 1], code[at + size]
    is_short = size == 2
    return VexPrefix(
        table=FIRST_MAP if is_short else first & 31,
        opcode=opcode,
        mandatory=last & 3,
        wide=0 if is_short else last >> 7,
        long=last >> 2 & 1,
        reg=~first >> 7 & 1,
        index=0 if is_short else ~first >> 6 & 1,
        base=0 if is_short else ~first >> 5 & 1,
        second=~last >> 3 & 15,
        length=at + size + 1,
    )
