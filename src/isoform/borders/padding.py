"""Padding: what of structures behind pointer arguments belongs to no member, and what of it is not compared.

Storing a structure, or a member of it, leaves its padding unspecified (C17 6.2.6.1), and compilers make use of that.
What is not ordinary use of the structure counts all the same: bytes that are stored through another pointer, and stores
that are nothing but padding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from isoform.borders.variables import declared_alike
from isoform.lift.function import Function
from isoform.model.contract import Argument, Contract, Padded, PaddedVariable, argument_value
from isoform.model.outcome import CallRecord, Inputs, Outcome
from isoform.model.signature import CType, Signature, TypeKind
from isoform.model.values import dataclass

Store = tuple[int, int]
"""Address and size."""


def padded_arguments(
    arguments: Sequence[Argument], declared: Sequence[Signature | None], through: bool = False
) -> tuple[Padded, ...]:
    """The arguments that point to structures with padding, where both sides are declared and say so; or `through` which
    there are pointers to such structures."""
    found = []
    hidden = len(arguments) - (len(declared[0].parameters) if declared and declared[0] is not None else 0)
    for position, argument in enumerate(arguments):
        views = [_pointee(signature, position - hidden) for signature in declared]
        if through:
            views = [view.pointee if view is not None else None for view in views]
        own = views[0]
        room = frozenset(own.room_offsets()) if own is not None else frozenset()
        if own is not None and (own.padding or room) and own.bits >= 8 and all(_is_like(own, other) for other in views):
            found.append(Padded(argument, own.bits // 8, own.padding, own.spelling, room))
    return tuple(found)


def padded_variables(target: Function, rewrite: Function) -> tuple[PaddedVariable, ...]:
    """The variables that either function names and both files declare as structures with padding, or arrays of them."""
    declared = target.image.pointers.padded, rewrite.image.pointers.padded
    found = [
        PaddedVariable(start, symbol.size, kind.bits // 8, kind.padding, frozenset(kind.room_offsets()))
        for symbol, start, _, kind in declared_alike(target, rewrite, *declared)
    ]
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
    """The outcomes of runs without the memory that nothing reads. `at_entry` is the memory before."""
    stores = [outcome.stores for outcome in outcomes]
    unread = frozenset(_unread(contract, inputs, stores, at_entry))
    partly = dict(_partly_unread(contract, inputs, stores, at_entry))
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


@dataclass(frozen=True)
class _Structures:
    """Where structures with padding are in a run, one behind the other."""

    start: int
    end: int | None
    """None: how many there are is not known. A run then leaves out too much rather than too little: it decides nothing
    where it differs in that only (proofs leave out the padding of the first structure alone)."""
    kind: Padded | PaddedVariable
    is_own: bool
    """Whether the padding can have no other use: it is in the space for the result."""

    def offset(self, byte: int) -> int | None:
        """Where in a structure a byte is, if it is in one."""
        if byte < self.start or (self.end is not None and byte >= self.end):
            return None
        return (byte - self.start) % self.kind.size

    def is_in_room(self, store: Store) -> bool:
        """Whether all of a store is where it is not certain that there is padding: it may be part of a copy."""
        address, size = store
        return all(self.offset(byte) in self.kind.room for byte in range(address, address + size))

    def is_completed_by(self, store: Store, written: Counter[int]) -> bool:
        """Whether the stores of a side write all of a structure, and would not without this one: then it is part of a
        copy. `written` says how many of them, this one included, write each byte."""
        offset = self.offset(store[0])
        if offset is None:
            return False
        first, own = store[0] - offset, range(store[0], sum(store))
        missing = [byte for byte in range(first, first + self.kind.size) if written[byte] == (byte in own)]
        return bool(missing) and all(byte in own for byte in missing)

    def is_padding(self, byte: int) -> bool:
        offset = self.offset(byte)
        return offset in self.kind.offsets or offset in self.kind.room


def _structures(contract: Contract, inputs: Inputs, at_entry: ReadByte) -> Iterator[_Structures]:
    for padded in contract.padded:
        start = argument_value(padded.argument, inputs)
        is_own = bool(contract.result_space) and padded.argument == contract.arguments[0]
        yield _Structures(start, start + contract.result_space if is_own else None, padded, is_own)
    for padded in contract.padded_behind:
        pointer = argument_value(padded.argument, inputs)
        start = sum(at_entry((pointer + index) % (1 << 64)) << (8 * index) for index in range(8))
        yield _Structures(start, start + padded.size, padded, True)
    for variable in contract.padded_variables:
        yield _Structures(variable.start, variable.start + variable.extent, variable, True)


def _partly_unread(
    contract: Contract, inputs: Inputs, stores: Iterable[frozenset[Store]], at_entry: ReadByte
) -> Iterator[tuple[int, int]]:
    """Bytes that were stored of which some bits belong to no member, and these bits."""
    stored = frozenset().union(*stores)
    for there in _structures(contract, inputs, at_entry):
        for address, size in stored if there.kind.partly else ():
            for byte in range(address, address + size):
                offset = there.offset(byte)
                unused = None if offset is None else there.kind.partly.get(offset)
                if unused is not None:
                    yield byte, unused


def _unread(
    contract: Contract, inputs: Inputs, stores: Sequence[frozenset[Store]], at_entry: ReadByte
) -> Iterator[int]:
    stored = frozenset().union(*stores)
    written = [Counter(byte for address, size in side for byte in range(address, address + size)) for side in stores]
    for there in _structures(contract, inputs, at_entry):
        found = {
            (address, size): [there.is_padding(byte) for byte in range(address, address + size)]
            for address, size in stored
        }
        meant = {
            byte
            for store in stored
            if not there.is_own and not there.is_in_room(store) and _is_meant(store, found)
            if not all(there.is_completed_by(store, written[n]) for n, side in enumerate(stores) if store in side)
            for byte in range(store[0], sum(store))
        }
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
