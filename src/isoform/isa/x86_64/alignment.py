"""Which x86-64 instructions fault unless the address of their memory operand is a multiple of its size.

These are the aligned and non-temporal moves in every encoding. In legacy encodings they are also all other instructions
that read or write 16 bytes, except the unaligned moves and the string comparisons.
"""

from __future__ import annotations

from isoform.model.microop import Instruction, Kind

_VECTOR = 16
"""Bytes of an operand in memory that legacy encodings want aligned."""
_ALIGNED_MOVES = frozenset(
    {"movaps", "movapd", "movdqa", "movdqa32", "movdqa64", "movntps", "movntpd", "movntdq", "movntdqa"}
)
_ANY_ADDRESS = frozenset(
    {"movups", "movupd", "movdqu", "lddqu", "maskmovdqu", "pcmpestri", "pcmpestrm", "pcmpistri", "pcmpistrm"}
)


def alignment(instruction: Instruction) -> int:
    """The number of bytes that the address of the memory operand must be a multiple of; 1 if any address will do."""
    loads = [op.out.size for op in instruction.ops if op.kind is Kind.LOAD and op.out is not None]
    stores = [op.ins[1].size for op in instruction.ops if op.kind is Kind.STORE]
    if not loads and not stores:
        return 1
    name = instruction.text.partition(" ")[0].partition(".")[0]
    if name.removeprefix("v") in _ALIGNED_MOVES:
        return max(sum(loads), sum(stores))
    if name == "cmpxchg16b":
        return _VECTOR
    is_legacy = not name.startswith("v") and name not in _ANY_ADDRESS
    return _VECTOR if is_legacy and _VECTOR in (*loads, *stores) else 1
