"""EVEX instructions by opcode: how each is encoded (`evex_lines.py`) and what it does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from isoform.isa.x86_64.builder import Builder
from isoform.isa.x86_64.evex_lines import EVEX_LINES
from isoform.isa.x86_64.evex_shapes import (
    align,
    blend,
    broadcast,
    compare,
    compare_by_immediate,
    extract,
    greater,
    have_common_bits,
    have_no_common_bits,
    insert,
    leading_zeros,
    mask_repeated,
    mask_to_lanes,
    multiply_add,
    permute,
    permute_two,
    population,
    rotate,
    rotate_left,
    rotate_right,
    shuffle_halves,
    signs_to_mask,
    ternary_logic,
    truncate,
)
from isoform.isa.x86_64.lanes import (
    absolute,
    and_not,
    each_lane,
    lanes,
    max_signed,
    max_unsigned,
    min_signed,
    min_unsigned,
)
from isoform.isa.x86_64.vector_moves import move
from isoform.isa.x86_64.vector_table import BOTH, VEX_ONLY
from isoform.isa.x86_64.vectors import VectorSemantics, binary, shift, unary

# fmt: off
_SIZES = {"B": 1, "W": 2, "D": 4, "Q": 8}
_MEANINGS: Mapping[str, VectorSemantics] = {
    **dict.fromkeys(("VMOVDQA32", "VMOVDQA64", "VMOVDQU8", "VMOVDQU16", "VMOVDQU32", "VMOVDQU64"), move),
    "VPANDD": binary(Builder.and_), "VPANDQ": binary(Builder.and_),
    "VPORD": binary(Builder.or_), "VPORQ": binary(Builder.or_),
    "VPXORD": binary(Builder.xor), "VPXORQ": binary(Builder.xor),
    "VPANDND": binary(and_not), "VPANDNQ": binary(and_not),
    "VPMINSQ": binary(lanes(8, min_signed)), "VPMINUQ": binary(lanes(8, min_unsigned)),
    "VPMAXSQ": binary(lanes(8, max_signed)), "VPMAXUQ": binary(lanes(8, max_unsigned)),
    "VPMULLQ": binary(lanes(8, Builder.mul)), "VPABSQ": unary(each_lane(8, absolute)),
    "VPLZCNTD": unary(each_lane(4, leading_zeros)), "VPLZCNTQ": unary(each_lane(8, leading_zeros)),
    **{f"VPOPCNT{suffix}": unary(each_lane(size, population)) for suffix, size in _SIZES.items()},
    "VPMADD52LUQ": multiply_add(upper=False), "VPMADD52HUQ": multiply_add(upper=True),
    "VPTERNLOGD": ternary_logic, "VPTERNLOGQ": ternary_logic,
    "VPSRAQ": shift(8, Builder.sar),
    "VPSRLVW": binary(lanes(2, Builder.shr)), "VPSRAVW": binary(lanes(2, Builder.sar)),
    "VPSLLVW": binary(lanes(2, Builder.shl)), "VPSRAVQ": binary(lanes(8, Builder.sar)),
    "VPROLD": rotate(4, rotate_left), "VPROLQ": rotate(8, rotate_left),
    "VPRORD": rotate(4, rotate_right), "VPRORQ": rotate(8, rotate_right),
    "VPROLVD": binary(lanes(4, rotate_left)), "VPROLVQ": binary(lanes(8, rotate_left)),
    "VPRORVD": binary(lanes(4, rotate_right)), "VPRORVQ": binary(lanes(8, rotate_right)),
    **{f"VPCMPEQ{suffix}": compare(size, Builder.equal) for suffix, size in _SIZES.items()},
    **{f"VPCMPGT{suffix}": compare(size, greater) for suffix, size in _SIZES.items()},
    **{f"VPTESTM{suffix}": compare(size, have_common_bits) for suffix, size in _SIZES.items()},
    **{f"VPTESTNM{suffix}": compare(size, have_no_common_bits) for suffix, size in _SIZES.items()},
    **{f"VPCMP{suffix}": compare_by_immediate(size, signed=True) for suffix, size in _SIZES.items()},
    **{f"VPCMPU{suffix}": compare_by_immediate(size, signed=False) for suffix, size in _SIZES.items()},
    **{f"VPMOV{suffix}2M": signs_to_mask(size) for suffix, size in _SIZES.items()},
    **{f"VPMOVM2{suffix}": mask_to_lanes(size) for suffix, size in _SIZES.items()},
    "VPBROADCASTMB2Q": mask_repeated(1, 8), "VPBROADCASTMW2D": mask_repeated(2, 4),
    **{f"VPBLENDM{suffix}": blend for suffix in _SIZES}, "VBLENDMPS": blend, "VBLENDMPD": blend,
    **{f"VPBROADCAST{suffix}": broadcast(size) for suffix, size in _SIZES.items()},
    "VBROADCASTSS": broadcast(4), "VBROADCASTSD": broadcast(8),
    **{f"VBROADCAST{kind}32X2": broadcast(8) for kind in "FI"},
    **{f"VBROADCAST{kind}{parts}": broadcast(16) for kind in "FI" for parts in ("32X4", "64X2")},
    **{f"VBROADCAST{kind}{parts}": broadcast(32) for kind in "FI" for parts in ("32X8", "64X4")},
    **{f"VINSERT{kind}{parts}": insert(16) for kind in "FI" for parts in ("32X4", "64X2")},
    **{f"VINSERT{kind}{parts}": insert(32) for kind in "FI" for parts in ("32X8", "64X4")},
    **{f"VEXTRACT{kind}{parts}": extract(16) for kind in "FI" for parts in ("32X4", "64X2")},
    **{f"VEXTRACT{kind}{parts}": extract(32) for kind in "FI" for parts in ("32X8", "64X4")},
    **{f"VSHUF{kind}{parts}": shuffle_halves for kind in "FI" for parts in ("32X4", "64X2")},
    "VPMOVWB": truncate(2, 1), "VPMOVDB": truncate(4, 1), "VPMOVQB": truncate(8, 1),
    "VPMOVDW": truncate(4, 2), "VPMOVQW": truncate(8, 2), "VPMOVQD": truncate(8, 4),
    "VALIGND": align(4), "VALIGNQ": align(8),
    "VPERMW": permute(2), "VPERMD": permute(4), "VPERMPS": permute(4), "VPERMQ": permute(8), "VPERMPD": permute(8),
    **{f"VPERMI2{suffix}": permute_two(size, True) for suffix, size in (("D", 4), ("PS", 4), ("Q", 8), ("PD", 8))},
    **{f"VPERMT2{suffix}": permute_two(size, False) for suffix, size in (("D", 4), ("PS", 4), ("Q", 8), ("PD", 8))},
}
# fmt: on
"""Those that are not a wider form of a VEX instruction; the others have the same meaning as there."""


class EvexEntry(NamedTuple):
    name: str
    operands: tuple[str, ...]
    semantics: VectorSemantics
    lane: int
    """Bytes per bit of the mask; 0 if no mask is allowed."""
    repeated: int
    """Bytes of the element that a memory operand may repeat; 0 if it may not."""
    share: int
    """The fraction of the vector's length that is accessed in memory; 0 if `access` gives the number of bytes."""
    access: int
    lengths: frozenset[int]


Key = tuple[int, int, int, int, int | None]
"""Mandatory prefix (0, or 1, 2, 3 for 66, F3, F2), opcode map, W, opcode, and the digit of a group's member."""
_PREFIXES = {"NP": 0, "66": 1, "F3": 2, "F2": 3}
_MAPS = {"0F": 1, "0F38": 2, "0F3A": 3}
_WIDE = {"W0": (0,), "W1": (1,), "WIG": (0, 1)}
_LENGTHS = {"x": 16, "y": 32, "z": 64}
_SHARES = {"v": 1, "h": 2, "q": 4, "e": 8}


def _meaning(name: str) -> VectorSemantics:
    found = _MEANINGS.get(name) or BOTH.get(name[1:]) or VEX_ONLY.get(name)
    assert found is not None, name
    return found


def _entry(name: str, operands: str, lane: str, access: str, lengths: str = "xyz") -> EvexEntry:
    repeated = int(access[1:]) if access.startswith("r") else 0
    share = 1 if repeated else _SHARES.get(access, 0)
    return EvexEntry(
        name,
        tuple(operands.split(",")),
        _meaning(name),
        int(lane),
        repeated,
        share,
        0 if share or access == "-" else int(access),
        frozenset(_LENGTHS[letter] for letter in lengths),
    )


def _entries() -> Iterator[tuple[Key, EvexEntry]]:
    for line in EVEX_LINES:
        name, encoding, opcode, *rest = line.split()
        prefix, table, wide = encoding.split(".")
        number, _, digit = opcode.partition("/")
        for w in _WIDE[wide]:
            key = (_PREFIXES[prefix], _MAPS[table], w, int(number, 16), int(digit) if digit else None)
            yield key, _entry(name, *rest)


ENTRIES: Mapping[Key, EvexEntry] = dict(_entries())
