"""Relocations of object files of 64-bit RISC-V, by their numbers in the psABI.

Code forms an address in two instructions: those of a call are next to each other and one field, those that refer to
data have a relocation each (`parts.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from isoform.isa.riscv64.parts import RULES, joined
from isoform.isa.riscv64.registers import NAMES
from isoform.model.linkage import FieldUses, Formula, Linkage, Rule, Use

_NEAR = 1 << 11
_FAR = 1 << 31
_AUIPC, _JALR, _ADD_IMMEDIATE = 0x17, 0x67, 0x13
_CALLS = ((NAMES.index("ra"), NAMES.index("ra")), (NAMES.index("t1"), 0))
"""For a call and for a tail call: the register between the two instructions, and where the return address goes."""


def _word(field: bytes, at: int = 0) -> int:
    return int.from_bytes(field[at : at + 4], "little")


def _bits(value: int, high: int, low: int) -> int:
    return value >> low & ((1 << (high - low + 1)) - 1)


def _is_call(field: bytes) -> bool:
    """Whether these are `auipc` and the `jalr` that belongs to it."""
    first, second = _word(field), _word(field, 4)
    between = _bits(first, 11, 7)
    is_pair = _bits(first, 6, 0) == _AUIPC and _bits(second, 6, 0) == _JALR and _bits(second, 19, 15) == between
    return is_pair and (between, _bits(second, 11, 7)) in _CALLS


def _put_call(field: bytes, value: int) -> bytes | None:
    """The upper part goes into `auipc`, rounded, because the lower part in the following `jalr` is signed. Afterwards
    the register between the two holds a return address, or nothing that code may rely on."""
    if not _is_call(field) or not -_FAR - _NEAR <= value < _FAR - _NEAR:
        return None
    first, second = _word(field), _word(field, 4)
    upper, lower = (value + _NEAR) & 0xFFFF_F000, _bits(value, 11, 0) << 20
    first, second = first & 0xFFF | upper, second & 0x000F_FFFF | lower
    return first.to_bytes(4, "little") + second.to_bytes(4, "little")


def _put_branch(field: bytes, value: int) -> bytes | None:
    if not -(1 << 12) <= value < 1 << 12 or value % 2:
        return None
    high = _bits(value, 12, 12) << 31 | _bits(value, 10, 5) << 25
    low = _bits(value, 4, 1) << 8 | _bits(value, 11, 11) << 7
    return (_word(field) & 0x01FF_F07F | high | low).to_bytes(4, "little")


def _put_jump(field: bytes, value: int) -> bytes | None:
    if not -(1 << 20) <= value < 1 << 20 or value % 2:
        return None
    high = _bits(value, 20, 20) << 31 | _bits(value, 10, 1) << 21
    low = _bits(value, 11, 11) << 20 | _bits(value, 19, 12) << 12
    return (_word(field) & 0xFFF | high | low).to_bytes(4, "little")


def _put_short_branch(field: bytes, value: int) -> bytes | None:
    if not -(1 << 8) <= value < 1 << 8 or value % 2:
        return None
    high = _bits(value, 8, 8) << 12 | _bits(value, 4, 3) << 10
    low = _bits(value, 7, 6) << 5 | _bits(value, 2, 1) << 3 | _bits(value, 5, 5) << 2
    return (_word(field) & 0xE383 | high | low).to_bytes(2, "little")


def _put_short_jump(field: bytes, value: int) -> bytes | None:
    if not -(1 << 11) <= value < 1 << 11 or value % 2:
        return None
    high = _bits(value, 11, 11) << 12 | _bits(value, 4, 4) << 11 | _bits(value, 9, 8) << 9 | _bits(value, 10, 10) << 8
    middle = _bits(value, 6, 6) << 7 | _bits(value, 7, 7) << 6
    low = _bits(value, 3, 1) << 3 | _bits(value, 5, 5) << 2
    return (_word(field) & 0xE003 | high | middle | low).to_bytes(2, "little")


RELOCATIONS = {
    0: Rule(Formula.NOTHING, 1),
    1: Rule(Formula.ABSOLUTE, 4, is_unsigned=True),  # 32
    2: Rule(Formula.ABSOLUTE, 8),  # 64
    16: Rule(Formula.RELATIVE, 4, is_branch=True, put=_put_branch),  # BRANCH
    17: Rule(Formula.RELATIVE, 4, is_branch=True, put=_put_jump),  # JAL
    18: Rule(Formula.RELATIVE, 8, is_branch=True, put=_put_call),  # CALL
    19: Rule(Formula.RELATIVE, 8, is_branch=True, put=_put_call),  # CALL_PLT
    43: Rule(Formula.NOTHING, 1),  # ALIGN: what a linker may remove is there
    44: Rule(Formula.RELATIVE, 2, is_branch=True, put=_put_short_branch),  # RVC_BRANCH
    45: Rule(Formula.RELATIVE, 2, is_branch=True, put=_put_short_jump),  # RVC_JUMP
    51: Rule(Formula.NOTHING, 1),  # RELAX: a linker may write shorter code that does the same
    57: Rule(Formula.RELATIVE, 4),  # 32_PCREL
    **RULES,
    # ADD8 to SUB64, SUB6 to SET32, SET_ULEB128 and SUB_ULEB128
    **dict.fromkeys((*range(33, 41), *range(52, 57), 60, 61), Rule(Formula.SUM, 8)),
}


def _own_addresses(code: bytes) -> Iterator[tuple[int, int]]:
    """Every `auipc` that is not the start of a call."""
    at = 0
    while at < len(code):
        if _bits(_word(code, at), 6, 0) == _AUIPC and not _is_call(code[at : at + 8]):
            yield at, at + 4
        at += 4 if code[at] & 3 == 3 else 2


class _Uses:
    """An instruction with the lower part of an address has the whole address."""

    def __init__(self, code: bytes) -> None:
        self._code = code

    def use(self, offset: int) -> Use | None:
        return Use(0, _bits(_word(self._code, offset), 6, 0) == _ADD_IMMEDIATE)


def _field_uses(code: bytes, starts: Sequence[int]) -> FieldUses:
    return _Uses(code)


def _no_stubs(code: bytes, entry_size: int) -> Iterator[tuple[int, int]]:
    return iter(())


LINKAGE = Linkage(
    relocations=RELOCATIONS,
    field_uses=_field_uses,
    is_branch=lambda code, offset: False,
    forms_distance=lambda code, offset: False,
    forms_number=lambda code, offset: False,
    stubs=_no_stubs,
    uses_thread_pointer=lambda code: False,
    frame_bases={b"\x9c": 0},  # the canonical frame address is the stack pointer at entry
    refused_flags={0x8: "sixteen registers"},
    splits_addresses=True,
    own_addresses=_own_addresses,
    joined=joined,
)
