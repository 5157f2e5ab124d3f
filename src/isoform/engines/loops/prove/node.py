"""A cut with what is known about it, and the execution of both sides from one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import field

from isoform.engines.loops.align.cuts import END, Cut, Edge
from isoform.engines.loops.guess.compared import Compared
from isoform.engines.loops.guess.facts import Bounded, Fact
from isoform.engines.loops.guess.features import Cell, Feature, Row
from isoform.engines.loops.guess.invariant import Invariant
from isoform.engines.loops.segment import Place, Segment
from isoform.lift.function import BlockId
from isoform.model.values import dataclass
from isoform.smt.terms import Term
from isoform.sym.state import State

Horizon = tuple[int, int]
"""How many stations each side passes at most."""


@dataclass
class KnownCut:
    """A cut with what is known about it."""

    cut: Cut
    features: list[Feature] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    invariant: Invariant = field(default_factory=Invariant)
    banned: set[Fact] = field(default_factory=set)
    pointers: frozenset[Feature] = frozenset()
    steering: frozenset[Feature] = frozenset()
    """Features that decide branches or addresses after this cut."""
    cells: tuple[Cell, ...] = ()
    compared: Compared = field(default_factory=Compared)
    """What the code compares after this cut."""
    at_entry: dict[Feature, Term] = field(default_factory=dict)
    """Features that did not change in any test, with their value when the cut is first reached."""
    loose: Counter[Bounded] = field(default_factory=Counter)
    """How often a bound of a value was broken."""
    holds_addresses: tuple[bool, bool] = (False, False)
    suspects: set[tuple[str, Place]] = field(default_factory=set)
    """Places of a side that may hold an address of its frame without a fact that says which."""
    version: int = 0


@dataclass
class Pass:
    """Both sides executed from one cut."""

    segments: tuple[Segment, Segment]
    assumed: list[tuple[str, Term]]
    version: int
    value: Callable[[Feature], Term]
    starts: tuple[State, State] | None = None

    def arrivals(self, edge: Edge) -> tuple[State, State] | None:
        """The states at the end of an edge; None if it cannot be taken."""
        if edge.to == END or edge.to.target is None or edge.to.rewrite is None:
            return None
        left = self._arrival(0, edge.target_steps, edge.to.target, edge.source.target)
        right = self._arrival(1, edge.rewrite_steps, edge.to.rewrite, edge.source.rewrite)
        return None if left is None or right is None else (left, right)

    def _arrival(self, side: int, steps: int, block: BlockId, here: BlockId | None) -> State | None:
        if steps == 0:
            # A side that waits is where it was.
            waits = block == (here or self.segments[side].function.entry)
            return self.starts[side] if self.starts is not None and waits else None
        return self.segments[side].arrivals.get((steps, block))
