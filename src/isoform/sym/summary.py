"""The result of a symbolic execution: how the function ends, as formulas over the inputs, and what is not covered."""

from __future__ import annotations

from dataclasses import field, replace
from enum import Enum

from isoform.model.values import dataclass
from isoform.smt.terms import Term
from isoform.sym.chain import Node
from isoform.sym.joins import join
from isoform.sym.side import Side
from isoform.sym.state import State


class GapKind(Enum):
    """Why part of the inputs is not covered by the encoding."""

    LOOP_BOUND = "loops run longer than they were unrolled"
    UNSUPPORTED = "an instruction without semantics is reached"
    UNRESOLVED = "a computed jump has a target that isoform did not follow"


@dataclass(frozen=True)
class Gap:
    """Inputs (those that satisfy `condition`) about which the encoding says nothing."""

    kind: GapKind
    condition: Term
    why: str


@dataclass(frozen=True)
class CallSite:
    """One outside call as encoded: for reading a model."""

    condition: Term
    callee: str
    keys: tuple[tuple[Term, tuple[Term, ...]], ...]
    """What the callee is known to read, as a runner records it: the first of these whose condition holds."""
    results: tuple[tuple[str, Term], ...]
    """Result registers and their contents: the callee decides the bits that are its result."""
    memory: Term | None = None
    """Memory after it, if it may change."""
    pure: bool = False
    """Whether it only computes: then it is not an observable."""


@dataclass(frozen=True)
class Ending:
    """The program ended in a call that does not return."""

    condition: Term
    callee: str
    arguments: tuple[Term, ...]
    heap: Node
    after_calls: bool
    """Whether other outside calls may have been made before."""


@dataclass(frozen=True)
class Fault:
    """The function aborted. The effects of earlier outside calls show in memory."""

    condition: Term
    heap: Node


@dataclass
class Summary:
    """A function as formulas over the inputs."""

    side: Side
    aborts: Term
    final: State | None = None
    """The state at return, all returns merged; its condition says for which inputs it returns."""
    return_target: Term | None = None
    faults: list[Fault] = field(default_factory=list)
    """Each place where it aborts."""
    endings: list[Ending] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    calls: list[CallSite] = field(default_factory=list)
    discovered: dict[int, set[int]] = field(default_factory=dict)
    """Targets of computed jumps, by the instruction's address, that the control-flow graph does not have yet."""
    recursive: bool = False
    """Whether it calls itself, and is assumed to restore what a callee must restore."""

    @property
    def returned_to(self) -> Term:
        """Only for a function that returns."""
        assert self.return_target is not None
        return self.return_target

    def explain_unresolved(self, why: str) -> None:
        """For every computed jump that was not followed, say why its targets are missing, if that is known."""
        if why:
            self.gaps = [replace(g, why=f"{g.why}: {why}") if g.kind is GapKind.UNRESOLVED else g for g in self.gaps]

    def gap(self) -> Term:
        return self.side.terms.any_of([g.condition for g in self.gaps])

    def add_return(self, target: Term, state: State) -> None:
        """The function returns to an address, in a state."""
        if self.final is None or self.return_target is None:
            self.final, self.return_target = state, target
            return
        terms = self.side.terms
        selector = terms.selector(self.final.condition, state.condition)
        self.return_target = terms.ite(selector, self.return_target, target)
        self.final = join(selector, self.final, state)

    @property
    def may_have_called(self) -> bool:
        """Whether an outside call may have been made."""
        return any(not site.pure for site in self.calls)
