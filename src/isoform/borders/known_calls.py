"""What is known about the outside functions that a pair calls: one list for the encoder and for every runner."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from isoform.borders import allocator, library
from isoform.borders.output import output_calls
from isoform.lift.function import Function
from isoform.model.allocation import LibraryCall
from isoform.model.callee import Callees
from isoform.model.contract import PureCall
from isoform.model.verdict import Assumption


def known_calls(target: Function, rewrite: Function, pure: Iterable[str], callees: Callees) -> tuple[LibraryCall, ...]:
    """`pure` are the functions that the user declares to only compute. Any other name counts only where `callees` says
    that it means the library's function."""
    said = set(pure)
    computing = library.pure_calls(target, rewrite, said)
    if any(function.machine.convention.extends_by_rule for function in (target, rewrite)):
        # What isoform computes for the library's functions is not extended to a whole register.
        computing = tuple(call for call in computing if call.name in said)
    others: tuple[LibraryCall, ...] = (
        *computing,
        *output_calls(target, rewrite),
        *allocator.allocation_calls(target, rewrite),
    )
    users = tuple(call for call in computing if call.name in said)
    return (*users, *(call for call in others if call.name not in said and callees(call.name).is_library))


def library_assumptions(known: Iterable[LibraryCall]) -> Iterator[Assumption]:
    calls = list(known)
    yield from library.assumptions(call for call in calls if isinstance(call, PureCall))
    yield from allocator.assumptions(calls)
