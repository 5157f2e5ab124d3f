"""Relocations of x86-64 by their numbers in the ABI, linkage stubs, and what stands for the loader's own code."""

from __future__ import annotations

from collections.abc import Iterator

from isoform.isa.x86_64.fields import FieldReader, is_branch, is_lea, is_move_immediate
from isoform.model.linkage import Dynamic, Formula, Linkage, Rule

RELOCATIONS = {
    0: Rule(Formula.NOTHING, 1),
    1: Rule(Formula.ABSOLUTE, 8),  # 64
    2: Rule(Formula.RELATIVE, 4),  # PC32
    4: Rule(Formula.RELATIVE, 4, is_branch=True),  # PLT32
    9: Rule(Formula.SLOT, 4),  # GOTPCREL
    10: Rule(Formula.ABSOLUTE, 4, is_unsigned=True),  # 32
    11: Rule(Formula.ABSOLUTE, 4),  # 32S
    17: Rule(Formula.THREAD_DISTANCE, 8),  # DTPOFF64
    18: Rule(Formula.THREAD_DISTANCE, 8),  # TPOFF64
    19: Rule(Formula.THREAD_PAIR, 4),  # TLSGD
    20: Rule(Formula.THREAD_MODULE, 4),  # TLSLD
    21: Rule(Formula.THREAD_DISTANCE, 4),  # DTPOFF32
    22: Rule(Formula.THREAD_SLOT, 4),  # GOTTPOFF
    23: Rule(Formula.THREAD_DISTANCE, 4),  # TPOFF32
    24: Rule(Formula.RELATIVE, 8),  # PC64
    34: Rule(Formula.THREAD_DESCRIPTOR, 4),  # GOTPC32_TLSDESC
    35: Rule(Formula.NOTHING, 1),  # TLSDESC_CALL
    41: Rule(Formula.SLOT, 4),  # GOTPCRELX
    42: Rule(Formula.SLOT, 4),  # REX_GOTPCRELX
    **dict.fromkeys((12, 13), Rule(Formula.UNKNOWN, 2)),  # 16, PC16
    **dict.fromkeys((14, 15), Rule(Formula.UNKNOWN, 1)),  # 8, PC8
    # GOT32, GOTPC32, SIZE32, PC32_BND, PLT32_BND
    **dict.fromkeys((3, 26, 32, 39, 40), Rule(Formula.UNKNOWN, 4)),
}

DYNAMIC = {
    0: Dynamic.NOTHING,
    1: Dynamic.ABSOLUTE,  # 64
    5: Dynamic.COPY,
    6: Dynamic.GLOBAL_DATA,  # GLOB_DAT
    7: Dynamic.JUMP_SLOT,
    8: Dynamic.RELATIVE,
    16: Dynamic.MODULE,  # DTPMOD64
    17: Dynamic.OFFSET,  # DTPOFF64
    18: Dynamic.DISTANCE,  # TPOFF64
    36: Dynamic.DESCRIPTOR,  # TLSDESC
    37: Dynamic.RESOLVED,  # IRELATIVE
    38: Dynamic.RELATIVE,  # RELATIVE64
}

_GET_ADDRESS_CODE = bytes.fromhex("488b4708 644803042500000000 c3")
"""mov rax, [rdi+8]; add rax, fs:[0]; ret: the second word of its argument is the distance from the thread pointer."""
_DESCRIPTOR_CODE = bytes.fromhex("488b4008 c3")
"""mov rax, [rax+8]; ret"""
_DESCRIPTOR_START = 16
_THREAD_PREFIX = b"\x64"
_JUMP_THROUGH = b"\xff\x25"
"""The start of a jump through a rip-relative word."""


def _stubs(code: bytes, entry_size: int) -> Iterator[tuple[int, int]]:
    step = entry_size if entry_size in (8, 16) else 16
    for start in range(0, len(code), step):
        entry = code[start : start + step]
        at = entry.find(_JUMP_THROUGH)
        if at < 0 or at + 6 > len(entry):
            continue
        distance = int.from_bytes(entry[at + 2 : at + 6], "little", signed=True)
        yield start, start + at + 6 + distance


LINKAGE = Linkage(
    relocations=RELOCATIONS,
    field_uses=FieldReader,
    is_branch=is_branch,
    forms_distance=is_lea,
    forms_number=is_move_immediate,
    stubs=_stubs,
    uses_thread_pointer=lambda code: _THREAD_PREFIX in code,
    dynamic=DYNAMIC,
    loader_code=_GET_ADDRESS_CODE.ljust(_DESCRIPTOR_START, b"\xcc") + _DESCRIPTOR_CODE,
    descriptor_start=_DESCRIPTOR_START,
    stack_pointer_base=b"\x57",
    frame_bases={b"\x9c": 8, b"\x56": -8},  # the canonical frame address; rbp, after push rbp
)
