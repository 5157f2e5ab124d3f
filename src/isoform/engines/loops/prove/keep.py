"""Invariants to a fixpoint: what an edge does not preserve is weakened, with the model as a further row of data."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial

from isoform.engines.loops.align.cuts import END, Edge
from isoform.engines.loops.guess.facts import Fact, Linear, Same
from isoform.engines.loops.guess.features import TAGS, Values
from isoform.engines.loops.prove.cases import Cases
from isoform.engines.loops.prove.model import stations_passed
from isoform.engines.loops.prove.node import KnownCut, Pass
from isoform.engines.loops.prove.questions import Assumed, Refutation
from isoform.engines.loops.prove.result import MORE_TIME, NotShownError
from isoform.engines.loops.prove.simulation import Simulation
from isoform.engines.loops.prove.structure import Structure
from isoform.engines.loops.tuning import (
    ENOUGH_SECONDS,
    FACT_SECONDS,
    GLANCE_SECONDS,
    KEEP_SECONDS,
    MODEL_SECONDS,
    MOST_MODELS,
    MOST_WEAKENINGS,
    QUICK_SECONDS,
)
from isoform.model.budget import Budget
from isoform.model.values import dataclass
from isoform.smt.solver import Answer
from isoform.smt.terms import Term
from isoform.sym.state import State

Broken = Sequence[tuple[Fact | None, Term]]
"""Facts, and the condition that each is broken; None stands for the inputs that reach a cut."""


@dataclass(frozen=True)
class _Arrival:
    """The end of an edge, with what is assumed along it and what may be broken."""

    edge: Edge
    assumed: Assumed
    arrived: tuple[State, State]
    broken: Broken

    @property
    def bads(self) -> list[Term]:
        return [bad for _, bad in self.broken]


class Keeping:
    """Weakens the invariants of one candidate until every edge preserves them."""

    def __init__(self, simulation: Simulation, cases: Cases, budget: Budget) -> None:
        self._simulation = simulation
        self._terms = simulation.setting.terms
        self._budget = budget
        self._cases = cases
        self._structure = Structure(simulation)
        self._solver = cases.solver
        self._rounds = 0
        self._verified: dict[Edge, tuple[int, int]] = {}
        """Edges that were seen to preserve what is claimed at their ends, by the versions of both."""
        self._hard: set[Edge] = set()
        """Edges for which it was not decided as a whole whether they preserve what is claimed at their end."""

    def to_fixpoint(self) -> None:
        """Weaken invariants until every edge preserves them."""
        while True:
            edges = [e for e in self._simulation.routes.edges if e.to != END]
            pending = [e for e in edges if self._verified.get(e) != self._versions(e)]
            if not pending:
                return
            for edge in pending:
                self._keep(edge)
                self._verified[edge] = self._versions(edge)

    def _versions(self, edge: Edge) -> tuple[int, int]:
        nodes = self._simulation.nodes
        return (nodes[edge.source].version if edge.source in nodes else 0), nodes[edge.to].version

    def _keep(self, edge: Edge) -> None:
        """Weaken the invariant at the end of an edge until the edge preserves it."""
        while True:
            self._rounds += 1
            if self._rounds > MOST_WEAKENINGS or self._budget.exhausted:
                helps = MORE_TIME if self._budget.exhausted else ""
                raise NotShownError("no invariant was found that the loops keep", helps)
            arrived = self._simulation.passes.followed(edge.source).arrivals(edge)
            # What has to be known at the cut must also hold in the execution from the changed cut.
            if arrived is None or (not self._changes_structure(edge, arrived) and self._is_kept(edge)):
                return

    def _changes_structure(self, edge: Edge, arrived: tuple[State, State]) -> bool:
        node = self._simulation.nodes[edge.to]
        version = node.version
        self._structure.check(edge, arrived)
        return node.version != version

    def _is_kept(self, edge: Edge) -> bool:
        """Whether an edge preserves what is claimed at its end. If not, less is claimed from now on."""
        claims = self._simulation.claims
        followed = self._cases.followed(edge.source)
        arrived = followed.arrivals(edge)
        if arrived is None:
            return True
        # Separate terms: the condition that the edge is taken applies to everything that may be broken.
        going = claims.going(followed, edge)
        broken = [(fact, bad) for fact, bad in claims.broken(edge, arrived) if bad != self._terms.false]
        if not broken or going == self._terms.false:
            return True
        started = time.perf_counter()
        arrival = _Arrival(edge, [*followed.assumed, ("going", going)], arrived, broken)
        answer, proofs = self._as_a_whole(arrival)
        if answer is Answer.UNKNOWN:
            in_case = self._in_a_case(edge, going)
            if in_case is None:
                return True
            arrival, answer, proofs = in_case
        if answer is Answer.UNSAT:
            self._remember(edge, going, proofs, time.perf_counter() - started)
            return True
        if answer is Answer.SAT:
            self._learn(arrival)
            return False
        return not self._one_by_one(arrival)

    def _as_a_whole(self, arrival: _Arrival) -> tuple[Answer, list[Refutation]]:
        """Whether anything may be broken, all together or else one by one."""
        seconds = GLANCE_SECONDS if arrival.edge in self._hard else KEEP_SECONDS
        answer = self._cases.look(arrival.assumed, self._terms.any_of(arrival.bads), seconds)
        if answer is not Answer.UNKNOWN:
            return answer, [self._cases.proof]
        self._hard.add(arrival.edge)
        return self._separately(arrival.assumed, arrival.bads)

    def _in_a_case(self, edge: Edge, going: Term) -> tuple[_Arrival, Answer, list[Refutation]] | None:
        """The same with both sides executed in that case alone. None if the edge is not taken there."""
        claims = self._simulation.claims
        horizon = edge.target_steps, edge.rewrite_steps
        case = self._cases.case(edge.source, going, horizon, partial(claims.any_broken, edge))
        arrived = case.followed.arrivals(edge)
        if arrived is None:
            return None
        assumed = [*case.followed.assumed, ("going", going)]
        arrival = _Arrival(edge, assumed, arrived, claims.broken(edge, arrived))
        answer = self._cases.settle(assumed, self._terms.any_of(arrival.bads), QUICK_SECONDS)
        return arrival, answer, [*case.shown, self._cases.proof]

    def _separately(self, assumed: Assumed, bads: Sequence[Term]) -> tuple[Answer, list[Refutation]]:
        """Whether something bad can happen, one by one: each may be easy though all together are not."""
        proofs = []
        for bad in bads:
            answer = self._cases.ask(assumed, bad, GLANCE_SECONDS)
            if answer is not Answer.UNSAT:
                return answer, []
            proofs.append(self._cases.proof)
        return Answer.UNSAT, proofs

    def _remember(self, edge: Edge, going: Term, proofs: Sequence[Refutation], seconds: float) -> None:
        """An edge preserves what is claimed at its end: if nothing changes, that is not asked again."""
        broken, horizon = partial(self._simulation.claims.any_broken, edge), (edge.target_steps, edge.rewrite_steps)
        self._cases.remember(edge.source, going, broken, horizon, proofs, seconds)

    def _one_by_one(self, arrival: _Arrival) -> bool:
        """Each fact separately, if all together are too hard; an undecided fact is dropped. True if the invariant
        changed."""
        node = self._simulation.nodes[arrival.edge.to]
        undecided: list[Fact] = []
        for fact, bad in arrival.broken:
            answer = self._cases.settle(arrival.assumed, bad, FACT_SECONDS)
            if answer is Answer.SAT:
                self._learn(arrival)
                return True
            if answer is Answer.UNKNOWN:
                if self._budget.left < ENOUGH_SECONDS:
                    # A dropped fact is never claimed again: drop it because no proof was found, not for lack of time.
                    raise NotShownError("it was not decided in time which facts the loops keep", MORE_TIME)
                if fact is None:
                    raise NotShownError("it could not be decided which inputs reach a cut")
                undecided.append(fact)
        if undecided:
            node.banned.update(undecided)
            self._simulation.guess_again(node)
        return bool(undecided)

    def _learn(self, arrival: _Arrival) -> None:
        """The model is a further observation, and so are models that break other facts. But not one that only takes the
        wrong edge."""
        simulation = self._simulation
        node = simulation.nodes[arrival.edge.to]
        value = simulation.claims.arrival_values(arrival.arrived)
        features = (*node.features, *node.cells, *simulation.setting.given.features)
        broken = arrival.broken
        for _ in range(MOST_MODELS):
            if self._told_apart(arrival.edge):
                break
            node.rows.append({f: self._solver.value(value(f)) for f in features})
            self._forget_changed(node, value)
            whole = [(fact, bad) for fact, bad in broken if not self._solver.holds(bad)]
            loose = [fact.bounded for fact, bad in broken if fact is not None and (fact, bad) not in whole]
            node.loose.update({bounded for bounded in loose if bounded is not None})
            if not whole or len(whole) == len(broken):
                break
            broken = whole
            bads = self._terms.any_of([bad for _, bad in broken])
            if self._cases.ask(arrival.assumed, bads, MODEL_SECONDS) is not Answer.SAT:
                break
        simulation.guess_again(node)

    def _forget_changed(self, node: KnownCut, value: Values) -> None:
        """Facts about values that changed since the cut was first reached."""
        for feature, first in list(node.at_entry.items()):
            if self._solver.value(value(feature)) != self._solver.value(first):
                del node.at_entry[feature]

    def _told_apart(self, edge: Edge) -> bool:
        """Whether the model should take another edge to the same cut, on which one side passes more stations or fewer,
        and on which all equations between the two sides hold. Then one that is broken here tells which edge is
        taken."""
        simulation = self._simulation
        followed = self._cases.followed(edge.source)
        if simulation.routes.is_told_apart(edge) or followed.arrivals(edge) is None:
            return False
        wrong = self._unequal(edge, followed)
        if not wrong:
            return False
        left, right = (stations_passed(self._solver, segment.arrivals) for segment in followed.segments)
        steps = [(n, edge.rewrite_steps) for n in left.get(edge.to.target, ()) if n != edge.target_steps]
        steps += [(edge.target_steps, n) for n in right.get(edge.to.rewrite, ()) if n != edge.rewrite_steps]
        others = [Edge(edge.source, *both, edge.to) for both in steps if any(both)]
        other = next((candidate for candidate in others if not self._unequal(candidate, followed)), None)
        if other is None:
            return False
        simulation.tell_apart(edge, min(wrong, key=lambda fact: len(list(fact.features()))))
        if other not in simulation.routes.edges:
            simulation.shorten(other)
            simulation.add(other)
        self._verified = {e: versions for e, versions in self._verified.items() if e.source != edge.source}
        return True

    def _unequal(self, edge: Edge, followed: Pass) -> list[Fact]:
        """The equations between the two sides at the end of an edge that the model breaks."""
        arrived = followed.arrivals(edge)
        assert arrived is not None, "the model goes there"
        return [
            fact
            for fact, bad in self._simulation.claims.broken(edge, arrived)
            if isinstance(fact, Linear | Same)
            and {f.tag for f in fact.features()} >= set(TAGS)
            and self._solver.holds(bad)
        ]
