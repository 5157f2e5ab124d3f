"""Why one side cannot iterate for ever while the other waits: a ranking function."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from isoform.engines.loops.align.cuts import Cut, Edge, stuttering
from isoform.engines.loops.guess.facts import ConstantFact, OnStack
from isoform.engines.loops.guess.features import Column, Show, Values
from isoform.engines.loops.prove.cases import Cases
from isoform.engines.loops.prove.node import Pass
from isoform.engines.loops.prove.result import NotShownError
from isoform.engines.loops.prove.simulation import Simulation
from isoform.engines.loops.prove.words import at
from isoform.engines.loops.tuning import MOST_MEASURED, QUICK_SECONDS
from isoform.model.values import dataclass
from isoform.smt.solver import Answer
from isoform.smt.terms import Term, Terms


@dataclass(frozen=True)
class Measure:
    """`left - right` without sign: there is no infinite descent among numbers of `bits` bits."""

    left: Column | None
    right: Column | None
    bits: int

    def term(self, terms: Terms, value: Values) -> Term:
        zero = terms.bv(0, self.bits)
        left, right = (c.term(terms, value, self.bits) if c is not None else zero for c in (self.left, self.right))
        return terms.sub(left, right)

    def text(self, show: Show) -> str:
        left = self.left.text(show) if self.left is not None else ""
        return left if self.right is None else f"{left} - {self.right.text(show)}"


def measures(simulation: Simulation, cut: Cut) -> Iterator[Measure]:
    """Candidate ranking functions at a cut: features, and differences between them or an argument and one of them."""
    node = simulation.nodes[cut]
    moving = [
        f
        for f in node.features
        if not isinstance(node.invariant.definitions.get(f, (None,))[0], ConstantFact | OnStack)
    ]
    for bits in (32, 64):
        mine = [Column(f) for f in moving if f.bits == bits][:MOST_MEASURED]
        given = [Column(f) for f in simulation.setting.given.arguments if f.bits == bits]
        for column in mine:
            yield from (Measure(other, column, bits) for other in given)
        for column in mine:
            yield Measure(column, None, bits)
            yield from (Measure(column, other, bits) for other in (*mine, *given) if other != column)
        yield from (Measure(None, column, bits) for column in mine)


class RankingSearch:
    """Finds a ranking function for each cycle in which one side waits."""

    def __init__(self, simulation: Simulation, cases: Cases) -> None:
        self._simulation = simulation
        self._terms = simulation.setting.terms
        self._cases = cases

    def find(self) -> dict[Edge, Measure]:
        """For each cycle in which one side waits, a ranking function."""
        simulation = self._simulation
        found = {}
        cycles = stuttering(simulation.routes.edges)
        for edge in cycles:
            if edge.source != edge.to:
                raise NotShownError(f"one side iterates from {at(simulation, edge.source)} while the other waits")
            if edge in found:
                continue
            # Cycles that alternate need one ranking function together: each could undo the decrease of the other.
            still = bool(edge.target_steps)
            together = [e for e in cycles if e.source == edge.source and bool(e.target_steps) == still]
            measure = self._measure(together)
            if measure is None:
                where = at(simulation, edge.source)
                raise NotShownError(
                    f"at {where} one side iterates while the other waits, and no reason was found why that ends"
                )
            found.update(dict.fromkeys(together, measure))
        return found

    def _measure(self, edges: Sequence[Edge]) -> Measure | None:
        """A number that decreases on each of some cycles through one cut."""
        followed = self._simulation.passes.followed(edges[0].source)
        for measure in measures(self._simulation, edges[0].source):
            grows = self._terms.any_of([self.not_smaller(edge, measure, followed) for edge in edges])
            if self._cases.ask(followed.assumed, grows, QUICK_SECONDS) is Answer.UNSAT:
                return measure
        return None

    def not_smaller(self, edge: Edge, measure: Measure, followed: Pass) -> Term:
        simulation = self._simulation
        arrived = followed.arrivals(edge)
        if arrived is None:
            return self._terms.false
        before = measure.term(self._terms, followed.value)
        after = measure.term(self._terms, simulation.claims.arrival_values(arrived))
        return self._terms.conj(simulation.claims.going(followed, edge), self._terms.ule(before, after))
