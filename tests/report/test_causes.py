"""Root causes in words."""

from __future__ import annotations

from isoform.model.cause import Cause, CauseKind, RootCause, Strength, ValuePlace
from isoform.report.causes import sentences_of

CALL = ValuePlace(0x1000, "call log", "the call", 0, "a.c", 3)
ADD = ValuePlace(0x1010, "add eax,5", "the constant", 5, "a.c", 4)
OTHER = ValuePlace(0x2010, "add eax,6", "the constant", 6, "b.c", 4)


def said(*causes: Cause) -> list[str]:
    return list(sentences_of(RootCause(Strength.ALL_INPUTS, causes, 0.1)))


def test_a_call_that_is_left_out_is_said_to_be() -> None:
    missing = Cause(CALL, None, CauseKind.MISSING_CALL, is_left_out=True)
    constant = Cause(ADD, OTHER, CauseKind.CONSTANT)
    (alone,) = said(missing)
    assert alone == (
        "the target's call `call log` (a.c:3) has no counterpart in the rewrite: without it the two are equivalent for "
        "every input (all-inputs)."
    )
    first, second, third = said(missing, constant)
    assert first == "2 changes together; with them the two are equivalent for every input (all-inputs):"
    assert second == "1. the target's call `call log` (a.c:3) has no counterpart in the rewrite; it is left out"
    assert third == (
        "2. the constant of the rewrite's `add eax,6` (b.c:4) should hold what the constant of the target's "
        "`add eax,5` (a.c:4) holds (5, not 6)"
    )


def test_two_calls_that_are_left_out() -> None:
    moved = Cause(CALL, CALL, CauseKind.ORDER, is_left_out=True)
    assert said(moved)[0].endswith("without these two calls the two are equivalent for every input (all-inputs).")
    assert said(moved, Cause(ADD, OTHER, CauseKind.CONSTANT))[1].endswith("; both calls are left out")
