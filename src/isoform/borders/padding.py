"""Padding: what of structures behind pointer arguments belongs to no member, and what of it is not compared.

Storing a structure, or a member of it, leaves its padding unspecified (C17 6.2.6.1), and compilers make use of that.
What is not ordinary use of the structure counts all the same: bytes that are stored through another pointer, and stores
that are nothing but padding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from isoform.contract import Argument, Contract, Padded, argument_value
from isoform.load.signature import CType, Signature, TypeKind
from isoform.outcome import CallRecord, Inputs, Outcome

Store = tuple[int, int]
"""Address and size."""


def padded_arguments(arguments: Sequence[Argument], declared: Sequence[Signature | None]) -> tuple[Padded, ...]:
    """The arguments that point to structures with padding, where both sides are declared and say so."""
    found = []
    hidden = len(arguments) - (len(declared[0].parameters) if declared and declared[0] is not None else 0)
    for position, argument in enumerate(arguments):
        views = [_pointee(signature, position - hidden) for signature in declared]
        own = views[0]
        if own is not None and own.padding and all(_is_like(own, other) for other in views):
            found.append(Padded(argument, own.bits // 8, own.padding, own.spelling))
    return tuple(found)


def _pointee(signature: Signature | None, position: int) -> CType | None:
    """What an argument points to; the one before the first is the space for a result in memory."""
    if signature is None or position >= len(signature.parameters):
        return None
    if position < 0:
        return signature.result
    pointer = signature.parameters[position].type
    return pointer.pointee if pointer.kind is TypeKind.POINTER else None


def _is_like(one: CType, other: CType | None) -> bool:
    return other is not None and (one.bits, one.padding) == (other.bits, other.padding)


ReadByte = Callable[[int], int]


def without_padding(
    contract: Contract, inputs: Inputs, outcomes: tuple[Outcome, Outcome], at_entry: ReadByte
) -> tuple[Outcome, Outcome]:
    """The outcomes of runs without what nobody reads in memory. `at_entry` is what memory held before."""
    stores = [outcome.stores for outcome in outcomes]
    unread = frozenset(_unread(contract, inputs, stores))
    partly = dict(_partly_unread(contract, inputs, stores))
    alike = {byte for byte, bits in partly.items() if _agree(outcomes, byte, bits, at_entry)}
    left, right = (leave_out(outcome, unread | alike, unread | partly.keys()) for outcome in outcomes)
    return left, right


def _agree(outcomes: tuple[Outcome, Outcome], byte: int, unused: int, at_entry: ReadByte) -> bool:
    """Whether two runs leave the same in the bits of a byte that belong to a member."""
    left, right = (outcome.writes.get(byte) for outcome in outcomes)
    before = at_entry(byte) if left is None or right is None else 0
    return not ((before if left is None else left) ^ (before if right is None else right)) & ~unused


def leave_out(outcome: Outcome, unread: frozenset[int], unseen: frozenset[int]) -> Outcome:
    """`unread` is not compared at the end, `unseen` not where an outside function may look."""
    calls = tuple(_without(call, unseen) for call in outcome.calls)
    writes = {address: byte for address, byte in outcome.writes.items() if address not in unread}
    return replace(outcome, calls=calls, writes=writes, unread=unread, unseen=unseen)


def _without(call: CallRecord, unread: frozenset[int]) -> CallRecord:
    if call.sees is None:
        return call
    return replace(call, sees={address: byte for address, byte in call.sees.items() if address not in unread})


def _partly_unread(contract: Contract, inputs: Inputs, stores: Iterable[frozenset[Store]]) -> Iterator[tuple[int, int]]:
    """Bytes that were stored of which some bits belong to no member, and these bits."""
    stored = frozenset().union(*stores)
    for padded in contract.padded:
        start = argument_value(padded.argument, inputs)
        for address, size in stored if padded.partly else ():
            for byte in range(address, address + size):
                unused = padded.partly.get((byte - start) % padded.size)
                if unused is not None:
                    yield byte, unused


def _unread(contract: Contract, inputs: Inputs, stores: Iterable[frozenset[Store]]) -> Iterator[int]:
    stored = frozenset().union(*stores)
    for padded in contract.padded:
        start = argument_value(padded.argument, inputs)

        def is_padding(store: Store, start: int = start, padded: Padded = padded) -> list[bool]:
            return [(byte - start) % padded.size in padded.offsets for byte in range(store[0], sum(store))]

        found = {store: is_padding(store) for store in stored}
        meant = {byte for store in stored if _is_meant(store, found) for byte in range(store[0], sum(store))}
        for (address, _), padding in found.items():
            yield from (byte for byte, is_one in enumerate(padding, address) if is_one and byte not in meant)


def _is_meant(store: Store, padding: Mapping[Store, list[bool]]) -> bool:
    """Whether a store is nothing but padding, and not one of a row of stores that copy a structure piece by piece."""
    address, size = store
    if not all(padding[store]):
        return False
    for step in (-size, size):
        at = address + step
        while (at, size) in padding:
            if not all(padding[at, size]):
                return False
            at += step
    return True
