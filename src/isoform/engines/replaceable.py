"""Outside functions whose meaning every compiler knows, so that it may replace code by a call, a call by code, or one
call by another.

For engines an outside call has an unknown effect. The effect of these is known, so a difference between runs that make
such calls may not be real: it is never used as a witness.
"""

from __future__ import annotations

from collections.abc import Collection

from isoform.model.callee import Callees
from isoform.model.differences import events
from isoform.model.library import library_function
from isoform.model.library_function import Computes, Replaced, ResultRange
from isoform.model.outcome import CallRecord, Outcome


def rests_on_replaceable_calls(
    target: Outcome, rewrite: Outcome, callees: Callees, inlined: Collection[str] = ()
) -> bool:
    """Whether a difference of these two may only be due to another way of making the same calls. Functions in `inlined`
    have code in one of the files, inside that of others: whether it is used or a call is made is the compiler's
    choice."""
    # A call of the second kind is only ever replaced by another call, so that equal names mean equal calls. If the text
    # of every such call is known, the texts were compared.
    called = [list(outcome.calls) for outcome in (target, rewrite)]
    if _texts_were_compared(target, rewrite):
        called = [[call for call in side if call.output is None] for side in called]
    names = [[call.callee for call in side] for side in called]
    # Functions of numbers are called only if the code needs errno or the rounding mode: compilers then put code before
    # the call for the arguments that set nothing.
    called_at_all = [library_function(name) for side in names for name in side]
    if any(f.computes is Computes.NUMBER and callees(f.name).is_library for f in called_at_all):
        return True
    if any(f.replaced is Replaced.BY_CODE for f in called_at_all):
        return True
    if names[0] != names[1] and any(f.replaced is Replaced.BY_CALL or f.name in inlined for f in called_at_all):
        return True
    return _only_in_another_order(called) or _have_other_results(target, rewrite) or _count_alike(called)


def _count_alike(called: list[list[CallRecord]]) -> bool:
    """Whether the two make the same calls, one of which returns the length of a text. A compiler that knows the length
    does not use the result, so the two may differ only for a result that the real function never gives."""
    made = [[(call.callee, call.arguments) for call in side] for side in called]
    return made[0] == made[1] and any(
        library_function(name).result is ResultRange.LENGTH_IN_MEMORY for name, _ in made[0]
    )


def _have_other_results(target: Outcome, rewrite: Outcome) -> bool:
    """Whether calls that write the same text gave different results: each side names its own format, so the inputs may
    say of one call only that it failed."""
    written = []
    for outcome in (target, rewrite):
        calls = [call for call in outcome.calls if _writes_text(call.callee)]
        results = [result for result in outcome.results if _writes_text(result.callee)]
        written.append([(call.output, result.registers) for call, result in zip(calls, results, strict=False)])
    return any(
        left[0] is not None and left[0] == right[0] and left[1] != right[1]
        for left, right in zip(*written, strict=False)
    )


def _only_in_another_order(called: list[list[CallRecord]]) -> bool:
    """Whether the two make the same requests to the allocator in another order: the addresses of blocks are then no
    difference."""
    asked = [
        [(call.callee, call.arguments) for call in side if library_function(call.callee).allocation is not None]
        for side in called
    ]
    return asked[0] != asked[1] and sorted(asked[0]) == sorted(asked[1])


def _texts_were_compared(target: Outcome, rewrite: Outcome) -> bool:
    """Whether it is known what every call wrote, and that differs whichever stream is the standard output."""
    written = [
        call for outcome in (target, rewrite) for call in outcome.calls if library_function(call.callee).writes_text
    ]
    if any(call.output is None for call in written):
        return False
    streams = {call.output[0] for call in written if call.output is not None}
    return all(events(target, stream) != events(rewrite, stream) for stream in streams)


def _writes_text(name: str) -> bool:
    return library_function(name).writes_text
