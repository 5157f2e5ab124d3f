"""The operands that SLEIGH prints, `EAX,dword ptr [RBX + RCX*0x4 + 0x8]`: a second opinion on those read from bytes."""

from __future__ import annotations

import re

from isoform.isa.sleigh import Decoded
from isoform.isa.x86_64.operands import ImmediateOperand, MemoryOperand, Operand, Register
from isoform.isa.x86_64.registers import REGISTERS
from isoform.model.microop import Var

_MEMORY = re.compile(r"(?:(\w+) ptr )?(?:([C-GS]S):)?\[([^\[\]]+)\]$")
_TERM = re.compile(r"(?:(-?0x[0-9a-f]+)|(\w+?)(?:\*0x([1248]))?)$")
_NUMBER = re.compile(r"-?0x[0-9a-f]+$")
_SIZES = {"byte": 1, "word": 2, "dword": 4, "qword": 8, "xmmword": 16, "ymmword": 32}


def printed_operands(decoded: Decoded) -> tuple[Operand, ...]:
    text = decoded.operands.strip()
    return tuple(_operand(part.strip()) for part in text.split(",")) if text else ()


def _operand(text: str) -> Operand:
    if text.lower() in REGISTERS:
        return Register(REGISTERS[text.lower()])
    if _NUMBER.match(text):
        return ImmediateOperand(int(text, 16))
    matched = _MEMORY.match(text)
    assert matched is not None, text
    size, segment, inside = matched.groups()
    return _memory(_SIZES[size] if size else None, segment, inside)


def _memory(size: int | None, segment: str | None, inside: str) -> MemoryOperand:
    base: Var | None = None
    index: Var | None = None
    scale, displacement = 1, 0
    for term in inside.split(" + "):
        matched = _TERM.match(term)
        assert matched is not None, inside
        number, name, factor = matched.groups()
        if number is not None:
            displacement += int(number, 16)
        elif factor is None:
            assert base is None, inside
            base = REGISTERS[name.lower()]
        else:
            assert index is None, inside
            index, scale = REGISTERS[name.lower()], int(factor)
    return MemoryOperand(segment.lower() if segment in ("FS", "GS") else "", base, index, scale, displacement, size)
