"""Functions of the library that give and take memory (`fresh-memory`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from isoform.borders.library import callees, is_library, looks_at_errno
from isoform.lift.function import Function
from isoform.model.allocation import AllocationCall, LibraryCall
from isoform.model.library import in_table_order, library_function
from isoform.model.verdict import Assumption


def allocation_calls(target: Function, rewrite: Function) -> tuple[AllocationCall, ...]:
    """The callees of either function that are the library's allocator. Where the code looks at errno they are outside
    calls like any other: those that fail set it."""
    functions = target, rewrite
    called = {name for function in functions for name in callees(function)}
    if looks_at_errno(called):
        return ()
    return tuple(_call(name) for name in in_table_order(called) if _allocates(name) and is_library(functions, name))


def _allocates(name: str) -> bool:
    return library_function(name).allocation is not None


def _call(name: str) -> AllocationCall:
    allocation = library_function(name).allocation
    assert allocation is not None
    return AllocationCall(name, allocation.kind, allocation.sizes, may_fail=allocation.may_fail)


def assumptions(library: Iterable[LibraryCall]) -> Iterator[Assumption]:
    names = [call.name for call in library if isinstance(call, AllocationCall)]
    if names:
        shown = ", ".join(names)
        why = (
            f"{shown}: a block that is given is null or apart from all other memory, at the same address for the same "
            "calls; what is in a block that was taken back is not compared"
        )
        yield Assumption("fresh-memory", why)
