"""Outside functions whose meaning every compiler knows, so that it may put a call where there was code, code
where there was a call, or one call for another.

Engines take an outside call as an unknown effect. For these it is a known one, so that a difference between
runs that make such calls may be none at all: it is never taken as a witness.
"""

from __future__ import annotations

from isoform.outcome import Outcome

# fmt: off
_MEMORY = frozenset({
    "mempcpy", "memcmp", "bcmp", "bcopy", "bzero", "memchr",
    "strlen", "strnlen", "strcpy", "stpcpy", "strncpy", "stpncpy", "strcat", "strncat", "strcmp", "strncmp",
    "strchr", "strrchr", "strspn", "strcspn", "strpbrk", "strstr",
    "__memcpy_chk", "__memmove_chk", "__memset_chk", "__mempcpy_chk", "__strcpy_chk", "__stpcpy_chk",
    "__strncpy_chk", "__stpncpy_chk", "__strcat_chk", "__strncat_chk",
    "abs", "labs", "llabs", "ffs", "ffsl", "ffsll", "isascii", "isdigit", "toascii",
    "__popcountdi2", "__clzdi2", "__ctzdi2", "__multi3", "__udivti3", "__umodti3", "__divti3", "__modti3",
})
_EXCHANGED = frozenset({
    "malloc", "calloc", "realloc", "free", "strdup", "strndup",
    "printf", "puts", "putchar", "fprintf", "fputs", "fputc", "putc", "fwrite", "sprintf", "snprintf",
    "vprintf", "vfprintf",
    "__printf_chk", "__fprintf_chk", "__sprintf_chk", "__snprintf_chk",
    "printf_unlocked", "puts_unlocked", "putchar_unlocked", "fputs_unlocked", "fputc_unlocked", "fwrite_unlocked",
})
# fmt: on


def rests_on_replaceable_calls(target: Outcome, rewrite: Outcome) -> bool:
    """Whether a difference of these two may only be another way to make the same calls."""
    # The second kind is only ever exchanged for others: the same names are called for what they are.
    names = [[call.callee for call in outcome.calls] for outcome in (target, rewrite)]
    if any(name in _MEMORY for side in names for name in side):
        return True
    return names[0] != names[1] and any(name in _EXCHANGED for side in names for name in side)
