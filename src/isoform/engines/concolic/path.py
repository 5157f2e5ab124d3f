"""One path of a program: the decisions that an input made, and how it ended."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import field
from enum import Enum
from typing import TYPE_CHECKING

from isoform.model.outcome import Inputs
from isoform.model.values import dataclass
from isoform.smt.terms import Term
from isoform.sym.state import State
from isoform.sym.step import Temps
from isoform.sym.summary import CallSite, Summary

if TYPE_CHECKING:
    from isoform.run.runner import Traced

Key = Hashable
"""What was decided: a boolean, the address jumped to, or ELSEWHERE."""

ELSEWHERE = "elsewhere"
"""A jump to where there is neither code nor the caller."""


class DecisionKind(Enum):
    """What was decided, with the text for a run that took another branch than predicted."""

    BRANCH = "a branch"
    FAULT = "a fault"
    TARGET = "a computed jump"
    OWN_CODE = "a store to its own code"
    VALID = "an access to memory it may use"
    """Only its true side belongs to the contract (assumptions `valid-memory`, `private-frame`, `stack-in-bounds`)."""


@dataclass(frozen=True, eq=False)
class PathSnapshot:
    """Everything that a walk needs to resume at a decision."""

    path: Path
    """The path it was taken on; its lists are valid up to the counts below."""
    state: State
    temps: Temps
    visit: int
    """Position of the block in the run."""
    number: int
    """Index of the next micro-op of that block."""
    memory: int
    """Loads and stores of the run before that micro-op."""
    unknowns: tuple[int, int]
    loads: int
    stores: int
    calls: int
    pointers: int
    kept: int

    def forget_the_rest(self) -> None:
        """Nothing will be resumed after this point: the rest of the run is not needed any more."""
        traced = self.path.traced
        del traced.visits[self.visit + 1 :]
        del traced.targets[self.visit + 1 :]
        traced.touched.clear()


@dataclass(frozen=True, eq=False)
class Decision:
    kind: DecisionKind
    term: Term
    """The condition; for a computed jump, its target."""
    key: Key
    edge: Term
    """The condition of this decision."""
    address: int
    """Of the instruction."""
    before: PathSnapshot

    @property
    def counts(self) -> bool:
        """Whether it is one of the path conditions that `--depth` limits."""
        return self.kind is not DecisionKind.VALID


class End(Enum):
    """How a path ended."""

    RETURNED = "returned"
    ABORTED = "aborted"
    EXITED = "ended the program"
    FUEL = "did not stop within the step bound"
    DEPTH = "has more path conditions than the depth allows"
    OUTSIDE = "uses memory that it may not use"
    """According to its conditions no input of the contract takes it."""
    ASTRAY = "takes a pointer to its own stack frame for one of its inputs"
    """This one run does; other inputs of the same conditions do not."""
    LOST = "reaches code where its conditions cannot be followed"


COMPLETE = frozenset({End.RETURNED, End.ABORTED, End.EXITED})


@dataclass(eq=False)
class Path:
    traced: Traced
    summary: Summary
    """The outcome as formulas over the inputs, given that the path is taken."""
    condition: Term = field(init=False)
    """Of taking this path."""
    free_condition: Term = field(init=False)
    """The same without the conditions that accesses are to valid memory: true for more inputs."""
    decisions: list[Decision] = field(default_factory=list)
    end: End = End.FUEL
    why: str = ""
    """Of a path that is not followed to its end."""
    loads: list[tuple[Term, int]] = field(default_factory=list)
    """Address and size of loads, except from the frame."""
    stores: list[tuple[Term, int]] = field(default_factory=list)
    """On machines whose program can be overwritten: address and size of stores."""
    pointers: list[Term] = field(default_factory=list)
    """Addresses without their constant part that were read or written through."""

    kept: list[Term] = field(default_factory=list)
    """That outside calls left memory unchanged: true in runs, and so for the inputs that are searched."""
    number: int = 0
    """In its tree, from 1 on."""
    last: PathSnapshot | None = None
    """Where the walk ended."""
    inputs: Inputs | None = None
    """The first that took this path."""

    @property
    def is_complete(self) -> bool:
        """Whether the outcome is known for every input that takes this path."""
        return self.end in COMPLETE and not self.why

    @property
    def calls(self) -> list[CallSite]:
        return self.summary.calls

    @property
    def depth(self) -> int:
        return sum(decision.counts for decision in self.decisions)
