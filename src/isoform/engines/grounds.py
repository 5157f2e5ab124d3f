"""What a certificate is written from: every obligation of a proof as it was asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from isoform.model.values import dataclass
from isoform.smt.sweep import Step
from isoform.smt.terms import Term, Terms
from isoform.sym.compare import Goal


@dataclass(frozen=True)
class Asserted:
    """An obligation as a certificate needs it: what was asserted, and what else was used to show it."""

    goal: Goal
    labelled: list[tuple[str, Term]]
    lemmas: list[tuple[Term, Term]]
    """Rewrites of sums of products."""
    steps: list[Step]
    """Equations between subterms that were merged, in order."""
    place: Mapping[str, int | str] = field(default_factory=dict)
    """For a proof that goes from cut to cut: the cut it starts from, and the next cut or the end."""


@dataclass(frozen=True)
class Unfolding:
    """What stands in the place of deeper calls of functions that call themselves."""

    rule: str
    """`unfolded`: a side's own code; `replaced`: the other side's code, below its own."""
    levels: tuple[int, int]
    """Of each side's own code."""
    side: int | None = None
    """Whose deeper calls are replaced by the other side's code."""
    which: str = "all"

    @property
    def said(self) -> str:
        if self.side is None:
            return f"deeper calls unfolded {self.levels[0]} and {self.levels[1]} levels"
        name = ("target", "rewrite")[self.side]
        which = "deeper calls" if self.which == "all" else "last calls"
        unfolded = f" after {max(self.levels)} level" if any(self.levels) else ""
        return f"the {name}'s {which} replaced by the other side{unfolded}"


@dataclass(frozen=True)
class Grounds:
    terms: Terms
    asserted: Sequence[Asserted]
    how: str
    """How the obligations make a proof, in words."""
    returns: bool
    """Whether there is a path on which both return, and so something to compare there."""
    calls: bool
    """Whether outside functions are called that may do more than compute."""
    met: Mapping[str, list[int]] = field(default_factory=dict)
    """Where paths were followed one by one: for each of the target those of the rewrite that share inputs with it."""
    unfolding: Unfolding | None = None
