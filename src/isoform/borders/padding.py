"""Padding: the bytes of structures behind pointer arguments that hold no member, and which of them are not compared.

Storing a structure, or a member of it, leaves its padding unspecified (C17 6.2.6.1), and compilers make use of that.
What is not ordinary use of the structure counts all the same: bytes that are stored through another pointer, and stores
that are nothing but padding.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
            found.append(Padded(argument, own.bits // 8, frozenset(own.padding), own.spelling))
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


def without_padding(contract: Contract, inputs: Inputs, outcomes: tuple[Outcome, Outcome]) -> tuple[Outcome, Outcome]:
    """The outcomes of runs without what nobody reads in memory."""
    stores = [outcome.stores for outcome in outcomes]
    unread = frozenset(_unread(contract, inputs, stores))
    left, right = (leave_out(outcome, unread) for outcome in outcomes)
    return left, right


def leave_out(outcome: Outcome, unread: frozenset[int]) -> Outcome:
    calls = tuple(_without(call, unread) for call in outcome.calls)
    writes = {address: byte for address, byte in outcome.writes.items() if address not in unread}
    return replace(outcome, calls=calls, writes=writes, unread=unread)


def _without(call: CallRecord, unread: frozenset[int]) -> CallRecord:
    if call.sees is None:
        return call
    return replace(call, sees={address: byte for address, byte in call.sees.items() if address not in unread})


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
