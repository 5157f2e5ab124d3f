"""Why one side cannot iterate for ever while the other waits: a ranking function."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from isoform.engines.loops.align.cuts import Cut, Edge, components, stuttering
from isoform.engines.loops.guess.facts import ConstantFact, OnStack
from isoform.engines.loops.guess.features import Column, Show, Values
from isoform.engines.loops.prove.cases import Cases
from isoform.engines.loops.prove.node import Pass
from isoform.engines.loops.prove.result import NotShownError
from isoform.engines.loops.prove.simulation import Simulation
from isoform.engines.loops.prove.words import at
from isoform.engines.loops.tuning import MOST_MEASURED, QUICK_SECONDS
from isoform.model.contract import TerminationRule
from isoform.model.values import dataclass
from isoform.model.verdict import Assumption
from isoform.smt.solver import Answer
from isoform.smt.terms import Term, Terms

BOTH_END = Assumption(
    "both-end",
    "both functions end: loops iterate on one side while the other waits, and that they end was not proved "
    "(--termination assume)",
)


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


@dataclass(frozen=True)
class Decrease:
    """On an edge a number decreases, or does not grow if it need not decrease there."""

    edge: Edge
    measure: Measure
    is_strict: bool


def measures(simulation: Simulation, cuts: Collection[Cut]) -> Iterator[Measure]:
    """Candidate ranking functions at some cuts: features that they all have, and differences between them or an
    argument and one of them."""
    nodes = [simulation.nodes[cut] for cut in cuts]
    moving = [
        f
        for f in nodes[0].features
        if all(f in node.features for node in nodes)
        and not all(isinstance(node.invariant.definitions.get(f, (None,))[0], ConstantFact | OnStack) for node in nodes)
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
    """Finds ranking functions for the cycles in which one side waits."""

    def __init__(self, simulation: Simulation, cases: Cases) -> None:
        self._simulation = simulation
        self._terms = simulation.setting.terms
        self._cases = cases

    def find(self) -> list[Decrease]:
        """For each set of cycles in which one side waits, numbers that decrease. A path that stays there for ever would
        make one of them, which never grows, decrease for ever; but they are unsigned."""
        cycles = stuttering(self._simulation.routes.edges)
        return [decrease for component in cycles for decrease in self._rank(component)]

    def _rank(self, edges: Sequence[Edge]) -> list[Decrease]:
        """Lexicographic: a number that decreases on some edges and grows on none; then others for the cycles that the
        remaining edges form. Which number is taken first does not matter, since any of them leaves fewer edges."""
        for measure in measures(self._simulation, dict.fromkeys(edge.source for edge in edges)):
            found = self._decreases(edges, measure)
            if found is not None:
                rest = [decrease.edge for decrease in found if not decrease.is_strict]
                return [*found, *(more for component in components(rest) for more in self._rank(component))]
        where = at(self._simulation, edges[0].source)
        if self._may_assume:
            # A run that stays in these edges for ever has no end, and is outside the contract. What is claimed of all
            # other runs does not depend on why they leave.
            self._simulation.setting.world.assumptions[BOTH_END.name] = BOTH_END
            return []
        raise NotShownError(
            f"at {where} one side iterates while the other waits, and no reason was found why that ends",
            "--termination assume, if it does end, or a precondition (--assume) with which it does",
        )

    @property
    def _may_assume(self) -> bool:
        """Nothing is assumed of a change that isoform made itself."""
        question = self._simulation.setting.question
        return question.contract.termination is TerminationRule.ASSUME and not question.changed

    def _decreases(self, edges: Sequence[Edge], measure: Measure) -> list[Decrease] | None:
        """Where a number decreases; None if that is nowhere, or if it grows somewhere."""
        found = []
        for edge in edges:
            decrease = next((d for d in self._candidates(edge, measure, len(edges)) if self._holds(d)), None)
            if decrease is None:
                return None
            found.append(decrease)
        return found if any(decrease.is_strict for decrease in found) else None

    def _candidates(self, edge: Edge, measure: Measure, edges: int) -> Iterator[Decrease]:
        yield Decrease(edge, measure, is_strict=True)
        if edges > 1:
            yield Decrease(edge, measure, is_strict=False)

    def _holds(self, decrease: Decrease) -> bool:
        followed = self._simulation.passes.followed(decrease.edge.source)
        return self._cases.ask(followed.assumed, self.broken(decrease, followed), QUICK_SECONDS) is Answer.UNSAT

    def broken(self, decrease: Decrease, followed: Pass) -> Term:
        """The number does not decrease on the edge, or grows."""
        simulation, terms, edge = self._simulation, self._terms, decrease.edge
        arrived = followed.arrivals(edge)
        if arrived is None:
            return terms.false
        before = decrease.measure.term(terms, followed.value)
        after = decrease.measure.term(terms, simulation.claims.arrival_values(arrived))
        grows = terms.ule(before, after) if decrease.is_strict else terms.ult(before, after)
        return terms.conj(simulation.claims.going(followed, edge), grows)
