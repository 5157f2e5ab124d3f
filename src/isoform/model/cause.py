"""Root causes: which two values diverge, and how much was shown about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import Enum

from isoform.model.values import dataclass


class Explain(Enum):
    """What is looked for after a difference was found."""

    NONE = "none"
    FIRST = "first"
    ALL = "all"


@dataclass(frozen=True)
class CauseFilter:
    """Which candidates for a cause are looked at (seed 004, section 5.2)."""

    CALL_WINDOW = "call-window"
    NAMES = ("callee", "load", "imm", CALL_WINDOW)

    name: str
    window: int = 1
    """For a window of calls: how many before the first that differs."""

    @classmethod
    def parsed(cls, text: str) -> CauseFilter:
        name, _, window = text.partition(":")
        if name not in cls.NAMES or (window and (name != cls.CALL_WINDOW or not window.isdecimal() or int(window) < 1)):
            raise ValueError(f"cause_filter must be callee, load, imm or call-window[:N], not {text!r}")
        return cls(name, int(window) if window else 1)


class Strength(Enum):
    """For which inputs the two are equivalent once the rewrite has the target's value."""

    ALL_INPUTS = "all-inputs"
    """AllFix of seed 004: every input that the contract allows."""
    THIS_PATH = "this-path"
    """LeftPathFix: every input on which the target takes the path that it takes on the witness."""
    UP_TO_HERE = "up-to-here"
    """LeftPathEarliestFix: the same, and where the first point that differed now agrees, nothing more is asked."""

    @property
    def promise(self) -> str:
        """Of the two with a change: what was shown of them."""
        return _PROMISES[self]


_PROMISES = {
    Strength.ALL_INPUTS: "the two are equivalent for every input",
    Strength.THIS_PATH: "the two are equivalent for every input that takes the target along this path",
    Strength.UP_TO_HERE: "the two agree, on this path, at the first point where they differed",
}


class CauseKind(Enum):
    """What sort of mistake a cause looks like: for groups of causes."""

    CONSTANT = "constant"
    COMPARISON = "comparison"
    WIDTH = "width or signedness"
    OFFSET = "address offset"
    MISSING_STORE = "missing store"
    EXTRA_STORE = "extra store"
    MISSING_CALL = "missing call"
    EXTRA_CALL = "extra call"
    ORDER = "order of calls"
    CALLEE = "callee"
    ARGUMENT = "argument of a call"
    LOAD_AFTER_CALL = "load moved over a call"
    OPERATION = "operation"
    OPERAND = "operand"


@dataclass(frozen=True)
class ValuePlace:
    """One value of one instruction, as a person finds it."""

    address: int
    text: str
    what: str
    """The value: a register, `the stored value`, `the condition`."""
    value: int
    """On the witness, where it differs first."""
    file: str = ""
    line: int | None = None

    @property
    def source(self) -> str:
        return f"{self.file}:{self.line}" if self.line is not None else ""


@dataclass(frozen=True)
class Cause:
    """The value of the rewrite that should have been the target's. None: that side has no such instruction."""

    target: ValuePlace | None
    rewrite: ValuePlace | None
    kind: CauseKind
    is_trivial: bool = False
    """Whether the value is the result itself, which the rewrite only passes on there."""
    is_negated: bool = False
    """Whether the rewrite's condition should have been the opposite of the target's: its branch is the other way."""
    is_left_out: bool = False
    """Whether what was shown is about the two without this store or call, as no value can be given in its place."""
    copies: tuple[tuple[ValuePlace | None, ValuePlace | None], ...] = ()
    """Other pairs of places that are the same cause: copies of the same value, or of the same instruction."""

    def __post_init__(self) -> None:
        if self.target is None and self.rewrite is None:
            raise ValueError("a cause is at an instruction of one side at least")


@dataclass(frozen=True)
class RootCause:
    """What was found out about the reason of a difference."""

    strength: Strength | None
    """None: no cause was found."""
    causes: tuple[Cause, ...]
    """More than one: all of them are needed together."""
    seconds: float
    candidates: Mapping[str, int] = field(default_factory=dict)
    """How many were left after each step of the search."""
    why_not: str = ""
    """Why nothing was found, or nothing stronger."""
    left: tuple[Cause, ...] = ()
    """Candidates that hold on all runs and were not shown."""

    def __post_init__(self) -> None:
        if (self.strength is None) is bool(self.causes):
            raise ValueError("causes come with the strength at which they were shown")
