"""The bugs that the code generators can be given, one switch each."""

from __future__ import annotations

from enum import Enum


class Style(Enum):
    """The two compilers."""

    NAIVE = "naive"
    """A stack machine: every operand goes through memory."""
    BETTER = "better"
    """Variables and temporaries in registers, constants folded."""


class Bug(Enum):
    """What a faulty compiler does, in one sentence."""

    BRANCH_SENSE = "an `if` on equality branches the wrong way"
    SUBTRACT_ORDER = "subtracts the left operand from the right"
    LINK_NOT_SAVED = "a procedure that calls another does not keep $31"
    FRAME_OFFSET = "the last of two or more local variables is one word off in the frame"
    UNSIGNED_COMPARE = "compares as unsigned numbers"
    LOW_FOR_HIGH = "takes a remainder from lo"
    EQUAL_LEFT_OUT = "treats <= as <"
    EQUAL_LET_IN = "treats > as >="
    ELSE_NOT_SKIPPED = "runs the else branch after the then branch"
    ARGUMENT_ORDER = "passes arguments in reverse order"
    STALE_AFTER_CALL = "expects a temporary register to survive a call"
    NESTED_ARGUMENTS = "a call among the arguments overwrites those before it"
    REGISTER_NOT_RESTORED = "a procedure does not restore the last register of three or more it uses"
    SPILL_SLOT = "all temporaries beyond the registers share one place in the frame"
    REGROUPED = "folds a - (b - c) to (a - b) - c"
    FOLDED_QUOTIENT_DOWN = "rounds a division of constants down instead of towards zero"
    CANCELLED_FACTOR = "folds x * c / c to x, although the product may wrap"
    SELF_QUOTIENT = "folds x / x to 1, although x may be 0"
    UNSIGNED_DIVIDE = "divides as unsigned numbers"
    REMAINDER_SIGN = "gives a remainder the sign of a negative divisor"
    HALF_IMMEDIATE = "extends the sign of a constant from 32768 to 65535 as if it had 16 bits"
    LOOP_ONCE = "looks at the condition of a loop only once"
    COMPARE_BY_SUBTRACTION = "decides a < b by the sign of a - b, which may overflow"
    LARGE_PRODUCT = "multiplies by the low half of a constant of more than 16 bits"


_ONLY_BETTER = frozenset(
    {
        Bug.STALE_AFTER_CALL,
        Bug.NESTED_ARGUMENTS,
        Bug.REGISTER_NOT_RESTORED,
        Bug.SPILL_SLOT,
        Bug.REGROUPED,
        Bug.FOLDED_QUOTIENT_DOWN,
        Bug.CANCELLED_FACTOR,
        Bug.SELF_QUOTIENT,
    }
)


_ONLY_NAIVE = frozenset({Bug.FRAME_OFFSET})


def styles_of(bug: Bug) -> tuple[Style, ...]:
    """The compilers that can have a bug: the naive one does not fold and keeps nothing in registers, and
    only there do variables live in the frame."""
    if bug in _ONLY_BETTER:
        return (Style.BETTER,)
    return (Style.NAIVE,) if bug in _ONLY_NAIVE else (Style.NAIVE, Style.BETTER)
