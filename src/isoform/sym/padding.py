"""What of memory is padding that nobody reads, as a formula (`borders/padding.py` says what counts)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from isoform.contract import Padded
from isoform.load.signature import TypeKind
from isoform.smt.terms import Term
from isoform.sym.entry import argument_term
from isoform.sym.state import Side, without_summand
from isoform.verdict import Assumption

Access = tuple[Term, Term, int]
"""Condition, address and size."""


def unread_padding(sides: Sequence[Side], where: Term, bits: Term) -> tuple[Term, list[Padded]]:
    """That the byte at `where`, of which `bits` differ, was stored, and each time these bits as padding of a structure
    behind the argument through which it was; and the arguments for which that may be."""
    terms = sides[0].terms
    stored, each_time = [], []
    used: dict[Padded, None] = {}
    for store in (store for side in sides for store in side.stores):
        ways = {}
        for padded in sides[0].world.contract.padded:
            way = _stores_padding(sides[0], store, where, bits, padded)
            if way != terms.false:
                ways[padded] = way
        used.update(dict.fromkeys(ways))
        as_padding = terms.any_of([*ways.values()])
        stored.append(as_padding)
        each_time.append(terms.implies(_covers(sides[0], store, where), as_padding))
    return terms.conj(terms.any_of(stored), terms.all_of(each_time)), [*used]


def _stores_padding(side: Side, store: Access, where: Term, bits: Term, padded: Padded) -> Term:
    """That a store through the argument puts padding into these bits at `where`, together with (part of) a member."""
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
    return Assumption("padding-unread", f"nobody reads the padding of {shown} that the functions leave behind")


def _distance(side: Side, address: Term, padded: Padded) -> Term | None:
    """What is added to the argument to get an address, if no other pointer argument is part of that."""
    start = argument_term(side.initial_state(), padded.argument)
    rest = without_summand(side.terms, address, start)
    if rest is None:
        return None
    arguments = side.world.contract.arguments
    pointers = [one for one in arguments if one.type.kind is TypeKind.POINTER and one.name != padded.argument.name]
    words = [start, *(argument_term(side.initial_state(), one) for one in pointers)]
    return None if any(side.terms.depends_on(rest, word) for word in words) else rest


def _is_at(side: Side, distance: Term, at: int, padded: Padded, offsets: Collection[int]) -> Term:
    """That the byte `at` bytes further is at one of these offsets in a structure of the array that begins at the
    argument."""
    terms = side.terms
    number = terms.value(distance)
    if number is not None:
        signed = number - (1 << side.width) if number >> (side.width - 1) else number
        return terms.true if (signed + at) % padded.size in offsets else terms.false
    place = terms.add(distance, terms.bv(at, side.width))
    inside = terms.urem(place, terms.bv(padded.size, side.width))
    found = terms.any_of([terms.eq(inside, terms.bv(offset, side.width)) for offset in sorted(offsets)])
    # Below the argument the distance is negative, and an unsigned remainder is not the offset in a structure.
    return terms.conj(found, terms.eq(terms.extract(place, side.width - 1, side.width - 1), terms.bv(0, 1)))


def _covers(side: Side, store: Access, where: Term) -> Term:
    condition, address, size = store
    terms = side.terms
    return terms.conj(condition, terms.ult(terms.sub(where, address), terms.bv(size, side.width)))
