"""Lookup tables: a load at a computed index into the file's own constants, as a tree of choices."""

from __future__ import annotations

from collections.abc import Callable

from isoform.model.errors import Unsupported
from isoform.smt.terms import Term, Terms

MOST_ENTRIES = 1 << 14


def table_lookup(
    terms: Terms,
    data: bytes,
    index: Term,
    size: int,
    big_endian: bool,
    linked: Callable[[int], Term | None] = lambda _: None,
) -> Term:
    """The `size`-byte word at byte `index` of `data`; any value if that is outside. `linked` knows words that contain
    addresses which a linker fills in. The index's low bits that are zero by construction (a scaled index) are not part
    of the tree."""
    stride_bits = trailing_zeros(terms, index)
    stride = 1 << stride_bits
    positions = range(0, len(data) - size + 1, stride)
    if len(positions) > MOST_ENTRIES:
        raise Unsupported(f"a lookup table of {len(data)} bytes is larger than isoform encodes")
    leaves = []
    for p in positions:
        known = linked(p)
        number = int.from_bytes(data[p : p + size], "big" if big_endian else "little")
        leaves.append(terms.bv(number, 8 * size) if known is None else known)
    if not leaves:
        return terms.bv(0, 8 * size)
    bit = stride_bits
    while len(leaves) > 1:
        taken = terms.eq(terms.extract(index, bit, bit), terms.bv(1, 1))
        pairs = zip(leaves[::2], [*leaves[1::2], leaves[-1]], strict=False)
        leaves = [terms.ite(taken, odd, even) for even, odd in pairs]
        bit += 1
    return leaves[0]


def trailing_zeros(terms: Terms, index: Term) -> int:
    """How many low bits of `index` are certainly zero (at most 4)."""
    zeros = 0
    while zeros < 4 and terms.value(terms.extract(index, zeros, 0)) == 0:
        zeros += 1
    return zeros
