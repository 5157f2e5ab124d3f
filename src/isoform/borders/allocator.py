"""Functions of the library that give and take memory (`fresh-memory`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from isoform.borders.library import callees, is_library, looks_at_errno
from isoform.lift.function import Function
from isoform.model.allocation import Allocating, AllocationCall, LibraryCall
from isoform.model.verdict import Assumption

_FUNCTIONS = (
    AllocationCall("malloc", Allocating.GIVES, (0,)),
    AllocationCall("calloc", Allocating.CLEARS, (0, 1)),
    AllocationCall("realloc", Allocating.RESIZES, (1,)),
    AllocationCall("reallocarray", Allocating.RESIZES, (1, 2)),
    AllocationCall("aligned_alloc", Allocating.GIVES, (1,)),
    AllocationCall("strdup", Allocating.COPIES),
    AllocationCall("free", Allocating.TAKES),
    # operator new and delete
    AllocationCall("_Znwm", Allocating.GIVES, (0,), may_fail=False),
    AllocationCall("_Znam", Allocating.GIVES, (0,), may_fail=False),
    AllocationCall("_ZdlPv", Allocating.TAKES),
    AllocationCall("_ZdaPv", Allocating.TAKES),
    AllocationCall("_ZdlPvm", Allocating.TAKES),
    AllocationCall("_ZdaPvm", Allocating.TAKES),
)
ALLOCATORS = frozenset(call.name for call in _FUNCTIONS)


def allocation_calls(target: Function, rewrite: Function) -> tuple[AllocationCall, ...]:
    """The callees of either function that are the library's allocator. Where the code looks at errno they are outside
    calls like any other: those that fail set it."""
    functions = target, rewrite
    called = {name for function in functions for name in callees(function)}
    if looks_at_errno(called):
        return ()
    return tuple(a for a in _FUNCTIONS if a.name in called and is_library(functions, a.name))


def assumptions(library: Iterable[LibraryCall]) -> Iterator[Assumption]:
    names = [call.name for call in library if isinstance(call, AllocationCall)]
    if names:
        shown = ", ".join(names)
        why = (
            f"{shown}: a block that is given is null or apart from all other memory, at the same address for the same "
            "calls; what is in a block that was taken back is not compared"
        )
        yield Assumption("fresh-memory", why)
