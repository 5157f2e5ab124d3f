"""Vector instructions by mnemonic: SSE to SSE4.2, AVX and AVX2."""

from __future__ import annotations

from collections.abc import Mapping

from isoform.isa.x86_64.builder import Builder
from isoform.isa.x86_64.crypto import AES
from isoform.isa.x86_64.floats import FLOATS, VEX_FLOATS
from isoform.isa.x86_64.lanes import BINARY, UNARY, VARIABLE_SHIFTS
from isoform.isa.x86_64.sha import SHA
from isoform.isa.x86_64.shuffles import BINARY_IMMEDIATE, SHIFTED_BYTES, UNARY_IMMEDIATE, blend
from isoform.isa.x86_64.string_compare import STRING_COMPARISONS
from isoform.isa.x86_64.vector_moves import (
    duplicate,
    duplicate_double,
    extract,
    insert,
    insert_ps,
    masked_bytes,
    masked_move,
    move,
    move_half,
    move_high_to_low,
    move_low,
    move_low_to_high,
    move_scalar,
    top_bits,
)
from isoform.isa.x86_64.vector_wholes import (
    broadcast,
    extract_half,
    insert_half,
    minimum_with_position,
    permute_dwords,
    permute_halves,
    permute_quads,
    permute_within,
    test,
    zero_all,
    zero_upper,
)
from isoform.isa.x86_64.vectors import (
    VectorSemantics,
    binary,
    binary_immediate,
    chosen_by_top_bit,
    extend,
    shift,
    shifted_bytes,
    unary,
    unary_immediate,
)

# fmt: off
_EXTENSIONS = {"BW": (1, 2), "BD": (1, 4), "BQ": (1, 8), "WD": (2, 4), "WQ": (2, 8), "DQ": (4, 8)}
_MOVES = (
    "MOVAPS", "MOVAPD", "MOVUPS", "MOVUPD", "MOVDQA", "MOVDQU", "LDDQU", "MOVNTDQ", "MOVNTPS", "MOVNTPD", "MOVNTDQA",
)
_CARRYLESS = ("PCLMULLQLQDQ", "PCLMULHQLQDQ", "PCLMULLQHQDQ", "PCLMULHQHQDQ")
"""Names of `pclmulqdq` by its control byte, which is still an operand."""
BOTH: Mapping[str, VectorSemantics] = {
    **FLOATS,
    **AES,
    **SHA,
    **STRING_COMPARISONS,
    **{name: binary(operator) for name, operator in BINARY.items()},
    **{name: unary(operator) for name, operator in UNARY.items()},
    **{name: unary_immediate(*entry) for name, entry in UNARY_IMMEDIATE.items()},
    **{name: binary_immediate(*entry) for name, entry in BINARY_IMMEDIATE.items()},
    **{name: shifted_bytes(operator) for name, operator in SHIFTED_BYTES.items()},
    **dict.fromkeys(_MOVES, move),
    **dict.fromkeys(_CARRYLESS, binary_immediate(*BINARY_IMMEDIATE["PCLMULQDQ"])),
    "PSLLW": shift(2, Builder.shl), "PSLLD": shift(4, Builder.shl), "PSLLQ": shift(8, Builder.shl),
    "PSRLW": shift(2, Builder.shr), "PSRLD": shift(4, Builder.shr), "PSRLQ": shift(8, Builder.shr),
    "PSRAW": shift(2, Builder.sar), "PSRAD": shift(4, Builder.sar),
    **{f"PMOVZX{name}": extend(*sizes, Builder.zext) for name, sizes in _EXTENSIONS.items()},
    **{f"PMOVSX{name}": extend(*sizes, Builder.sext) for name, sizes in _EXTENSIONS.items()},
    "PBLENDVB": chosen_by_top_bit(1), "BLENDVPS": chosen_by_top_bit(4), "BLENDVPD": chosen_by_top_bit(8),
    "MOVD": move_low(4), "MOVQ": move_low(8), "MOVSS": move_scalar(4), "MOVSD": move_scalar(8),
    "MOVLPS": move_half(0), "MOVLPD": move_half(0), "MOVHPS": move_half(8), "MOVHPD": move_half(8),
    "MOVHLPS": move_high_to_low, "MOVLHPS": move_low_to_high, "MOVDDUP": duplicate_double,
    "MOVSLDUP": unary(duplicate((0, 0, 2, 2))), "MOVSHDUP": unary(duplicate((1, 1, 3, 3))),
    "PINSRB": insert(1), "PINSRW": insert(2), "PINSRD": insert(4), "PINSRQ": insert(8), "INSERTPS": insert_ps,
    "PEXTRB": extract(1), "PEXTRW": extract(2), "PEXTRD": extract(4), "PEXTRQ": extract(8), "EXTRACTPS": extract(4),
    "PMOVMSKB": top_bits(1), "MOVMSKPS": top_bits(4), "MOVMSKPD": top_bits(8), "PTEST": test(None),
    "PHMINPOSUW": minimum_with_position, "MASKMOVDQU": masked_bytes,
}
"""With a legacy encoding and, under a name that starts with V, a VEX one."""
VEX_ONLY: Mapping[str, VectorSemantics] = {
    **VEX_FLOATS,
    **{name: binary(operator) for name, operator in VARIABLE_SHIFTS.items()},
    "VBROADCASTSS": broadcast(4), "VBROADCASTSD": broadcast(8), "VBROADCASTF128": broadcast(16),
    "VBROADCASTI128": broadcast(16), "VPBROADCASTB": broadcast(1), "VPBROADCASTW": broadcast(2),
    "VPBROADCASTD": broadcast(4), "VPBROADCASTQ": broadcast(8),
    "VEXTRACTF128": extract_half, "VEXTRACTI128": extract_half, "VINSERTF128": insert_half, "VINSERTI128": insert_half,
    "VPERM2F128": permute_halves, "VPERM2I128": permute_halves, "VPERMQ": permute_quads, "VPERMPD": permute_quads,
    "VPERMD": permute_dwords, "VPERMPS": permute_dwords, "VPERMILPS": permute_within(4), "VPERMILPD": permute_within(8),
    "VPBLENDD": binary_immediate(4, blend(4)), "VPMASKMOVD": masked_move(4), "VPMASKMOVQ": masked_move(8),
    "VMASKMOVPS": masked_move(4), "VMASKMOVPD": masked_move(8), "VTESTPS": test(4), "VTESTPD": test(8),
    "VZEROUPPER": zero_upper, "VZEROALL": zero_all,
}
# fmt: on


def find(name: str) -> tuple[VectorSemantics, bool] | None:
    """The semantics of a mnemonic, and whether its encoding is VEX."""
    if name in BOTH:
        return BOTH[name], False
    if name in VEX_ONLY:
        return VEX_ONLY[name], True
    found = BOTH.get(name[1:]) if name.startswith("V") else None
    return (found, True) if found is not None else None
