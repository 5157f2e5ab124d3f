"""Calls that do not return just once, to the instruction after them, with the machine's modes as they were."""

from __future__ import annotations

from collections.abc import Iterator

from isoform.lift.function import Function, outside_call
from isoform.lift.refusals import taken_names
from isoform.model.errors import Unsupported
from isoform.model.library import HELPERS, library_function
from isoform.model.verdict import Assumption


def unusual_return_assumptions(target: Function, rewrite: Function) -> Iterator[Assumption]:
    """That calls throw nothing, where a file has handlers: those are not followed. A call that returns twice is not
    supported: a path continues after the first return as if there were no second."""
    has_handlers = target.image.has_handlers or rewrite.image.has_handlers
    calls = False
    for function in (target, rewrite):
        for name in _callees(function):
            if may_return_twice(name):
                raise Unsupported(f"{function.name} calls {name}, which may return twice")
            if library_function(name).sets_rounding:
                raise Unsupported(f"{function.name} calls {name}, which changes how numbers are rounded")
            if library_function(name).reads_exception_flags:
                raise Unsupported(f"{function.name} calls {name}, which reads the floating-point exception flags")
            if name.startswith(HELPERS):
                raise Unsupported(
                    f"{function.name} calls {name}, a compiler's helper with a calling convention of its own"
                )
            if has_handlers and library_function(name).throws:
                raise Unsupported(f"{function.name} throws an exception, and handlers are not followed")
            calls = True
    if has_handlers and calls:
        yield Assumption(
            "no-exceptions", "functions that are called throw nothing; what handlers and clean-ups do is not compared"
        )


def may_return_twice(name: str) -> bool:
    return library_function(name.lstrip("_")).returns_twice


def _callees(function: Function) -> Iterator[str]:
    """Names of what is called, or may be called through a pointer; "" where that is not known."""
    calls = [call for block in function.blocks.values() if (call := outside_call(block.exit)) is not None]
    names = [call.callee or "" for call in calls if not call.system]
    yield from names
    if "" in names:
        yield from taken_names(function)
