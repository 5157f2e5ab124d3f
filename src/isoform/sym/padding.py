"""Which parts of memory are padding that nothing reads, as a formula (`borders/padding.py` defines what counts)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from isoform.model.contract import Padded
from isoform.model.signature import TypeKind
from isoform.model.verdict import Assumption
from isoform.smt.terms import Term, Terms
from isoform.sym.entry import argument_term
from isoform.sym.giving import without_summand
from isoform.sym.side import Side
from isoform.sym.state import initial_state

Access = tuple[Term, Term, int]
"""Condition, address and size."""


def unread_padding(sides: Sequence[Side], where: Term, bits: Term) -> tuple[Term, list[Padded]]:
    """The condition that the byte at `where`, in which `bits` differ, was stored, and that each time these bits were
    padding of a structure behind the argument that led there; and the arguments for which that may hold."""
    terms = sides[0].terms
    stored, each_time = [], []
    used: dict[Padded, None] = {}
    for store in (store for side in sides for store in side.stores):
        padding_stores = {}
        for padded in sides[0].world.contract.padded:
            condition = _stores_padding(sides[0], store, where, bits, padded)
            if condition != terms.false:
                padding_stores[padded] = condition
        used.update(dict.fromkeys(padding_stores))
        as_padding = terms.any_of([*padding_stores.values()])
        stored.append(as_padding)
        each_time.append(terms.implies(_covers(sides[0], store, where), as_padding))
    return terms.conj(terms.any_of(stored), terms.all_of(each_time)), [*used]


def _stores_padding(side: Side, store: Access, where: Term, bits: Term, padded: Padded) -> Term:
    """The condition that a store through the argument puts padding into these bits at `where`, together with (part of)
    a member."""
    terms = side.terms
    condition, address, size = store
    distance = _distance(side, address, padded)
    if distance is None:
        return terms.false
    whole = [_is_at(side, distance, at, padded, padded.offsets) for at in range(size)]
    has_member = terms.any_of([terms.negate(byte) for byte in whole])
    here = []
    for at, byte in enumerate(whole):
        parts = [
            terms.conj(_is_at(side, distance, at, padded, {offset}), _is_within(side, bits, unused))
            for offset, unused in padded.partly.items()
        ]
        padding = terms.any_of([byte, *parts])
        here.append(terms.conj(padding, terms.eq(where, terms.add(address, terms.bv(at, side.width)))))
    return terms.all_of([condition, has_member, terms.any_of(here)])


def _is_within(side: Side, bits: Term, unused: int) -> Term:
    """That no other bits of a byte are among `bits`."""
    return side.terms.eq(side.terms.and_(bits, side.terms.bv(0xFF & ~unused, 8)), side.terms.bv(0, 8))


def padding_unread(padded: Sequence[Padded]) -> Assumption:
    shown = ", ".join(dict.fromkeys(f"*{one.argument.name} ({one.spelling})" for one in padded))
    return Assumption(
        "padding-unread",
        f"nobody reads the padding of {shown}, or of what an index selects there, that the functions leave behind",
    )


def _distance(side: Side, address: Term, padded: Padded) -> Term | None:
    """The distance of an address from the argument, if no other pointer argument is part of it."""
    start = argument_term(initial_state(side), padded.argument)
    rest = without_summand(side.terms, address, start)
    if rest is None:
        return None
    arguments = side.contract.arguments
    pointers = [one for one in arguments if one.type.kind is TypeKind.POINTER and one.name != padded.argument.name]
    words = [start, *(argument_term(initial_state(side), one) for one in pointers)]
    return None if any(side.terms.depends_on(rest, word) for word in words) else rest


def _is_at(side: Side, distance: Term, at: int, padded: Padded, offsets: Collection[int]) -> Term:
    """The condition that the byte `at` bytes further is at one of these offsets in the structure that the argument
    points to, or in the entry of an array that an index selects. What lies before or after that structure may be
    something else (a flexible array member, a payload after a header, the enclosing object): it is compared."""
    terms = side.terms
    place = terms.add(distance, terms.bv(at, side.width))
    here = place
    if is_entry(terms, distance, padded.size):
        # `size` is a power of two, so that this is the offset in the entry also where the index is negative.
        here = terms.urem(place, terms.bv(padded.size, side.width))
    return terms.any_of([terms.eq(here, terms.bv(offset, side.width)) for offset in sorted(offsets)])


def is_entry(terms: Terms, distance: Term, size: int) -> bool:
    """Whether a distance is clearly an index times `size` plus an offset inside one entry: `p[i].member`, and neither
    `p[i + 1]` nor the i-th number after a header of the same size."""
    base, offset = terms.split_sum(distance)
    if base is None or offset >= size or size < 2 or size & (size - 1):
        return False
    return terms.value(terms.extract(base, size.bit_length() - 2, 0)) == 0


def _covers(side: Side, store: Access, where: Term) -> Term:
    condition, address, size = store
    terms = side.terms
    return terms.conj(condition, terms.ult(terms.sub(where, address), terms.bv(size, side.width)))
