"""What can be known about one function of the C library, of a compiler's run-time library, or of C++'s."""

from __future__ import annotations

from enum import Enum

from isoform.model.allocation import Allocating
from isoform.model.values import dataclass


class Computes(Enum):
    """What a function that only computes works on (`pure-functions`)."""

    NUMBER = "floating-point numbers"
    BITS = "the bits of an integer"
    CHARACTER = "a character"
    TEXT = "memory, where its arguments point to"
    PARSER = "memory; it stores where it stopped if its second argument is not null"
    PLACE = "nothing: it gives the address of something that is the library's, always the same one"


class Meaning(Enum):
    """What isoform executes itself (`library-meaning`)."""

    FILL = "memset"
    COPY = "memcpy"
    MOVE = "memmove"
    LENGTH = "strlen"

    @property
    def arguments(self) -> int:
        return 1 if self is Meaning.LENGTH else 3

    @property
    def has_direction(self) -> bool:
        """Whether the standard determines, by the effect on overlap, the direction in which it traverses memory."""
        return self not in (Meaning.FILL, Meaning.COPY)


class ResultRange(Enum):
    """What a function that does more than compute may return."""

    NOT_NEGATIVE = "a number that is not negative"
    TEXT_LENGTH = "how much it wrote, or a negative number"
    LENGTH_IN_MEMORY = "how much it wrote to memory: compilers know how much that is"
    CHARACTER_OR_END = "a character, or -1"
    AT_MOST_COUNT = "at most its third argument, or -1"


class Replaced(Enum):
    """What compilers may replace a call by."""

    BY_CODE = "code, or a call in the place of code"
    BY_CALL = "another call"


class FormatKind(Enum):
    """Whose rules the format text follows. It is the last of the declared parameters."""

    PRINTF = "printf"
    SCANF = "scanf"


@dataclass(frozen=True)
class Allocation:
    """How a function gives or takes memory (`fresh-memory`)."""

    kind: Allocating
    sizes: tuple[int, ...] = ()
    """The arguments whose product is the size."""
    may_fail: bool = True
    """Whether it may return null."""


@dataclass(frozen=True)
class LibraryFunction:
    name: str = ""
    prototype: str = ""
    """Its C declaration; empty if isoform does not know one."""
    computes: Computes | None = None
    """Set if it only computes: results from arguments and memory, and nothing else changes."""
    stores: tuple[tuple[int, str], ...] = ()
    """Of one that only computes: the arguments where it stores the result of another function."""
    only_sign: bool = False
    """Whether only the sign of its result is defined: libraries and compilers choose the magnitude."""
    sets_errno: bool = False
    """Whether one that only computes may say in errno that there is no result. glibc's headers make `strtol` of
    `atoi`."""
    uses_locale: bool = False
    """Whether its result depends on the locale."""
    is_errno_place: bool = False
    """Whether it gives the address of errno, in one library or another."""
    sets_locale: bool = False
    sets_rounding: bool = False
    reads_exception_flags: bool = False
    """Every floating-point computation sets these flags, which isoform does not track."""
    meaning: Meaning | None = None
    allocation: Allocation | None = None
    format: FormatKind | None = None
    writes_text: bool = False
    """Whether it writes text to a stream: the text counts, not which function wrote it."""
    result: ResultRange | None = None
    replaced: Replaced | None = None
    never_returns: bool = False
    """A call of it ends the run with that outcome."""
    returns_twice: bool = False
    """When such a call returns for the second time, the frame holds what was stored after it returned first."""
    throws: bool = False
