"""Proving a candidate: invariants to a fixpoint, then that they are enough."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from isoform.budget import Budget
from isoform.engines.loopfree import Asserted
from isoform.engines.loops.addresses import address_bases, substituted
from isoform.engines.loops.align import END, ENTRY, Cut, Edge, stuttering
from isoform.engines.loops.facts import Fact
from isoform.engines.loops.rank import Measure, measures
from isoform.engines.loops.simulation import Node, Pass, Simulation
from isoform.engines.loops.words import Names, at, model
from isoform.lift.function import BlockId
from isoform.smt.float_definitions import definitions
from isoform.smt.polynomial import Normalizer
from isoform.smt.solver import Answer, Solver
from isoform.smt.sweep import Step, sweep
from isoform.smt.terms import Term
from isoform.sym.compare import Goal
from isoform.sym.state import State
from isoform.verdict import Obligation

MOST_ROUNDS = 400
QUICK_SECONDS = 1.0
FACT_SECONDS = 0.4
MOST_MODELS = 16
_NEAR = 4096
"""Taken at once, before a guess is made again."""
MOST_REPAIRS = 8
"""Edges that are added because a model shows that they were missing."""
MOST_LENGTHENED = 3
"""Stations by which a way to the end may be longer than tests showed."""

MORE_TIME = "more time (--budget), or a precondition (--assume)"


class NotShownError(Exception):
    """The candidate is not a simulation relation, or it could not be shown to be one."""

    def __init__(self, why: str, helps: str = "") -> None:
        super().__init__(why)
        self.why = why
        self.helps = helps


@dataclass
class Shown:
    """Every obligation of a candidate is unsatisfiable."""

    simulation: Simulation
    obligations: list[Obligation] = field(default_factory=list)
    asserted: list[Asserted] = field(default_factory=list)


class Prover:
    """Proves one candidate or raises NotShownError."""

    def __init__(self, simulation: Simulation, budget: Budget) -> None:
        self._simulation = simulation
        self._terms = simulation.terms
        self._budget = budget
        self._solver = Solver(self._terms, budget)
        self._final: list[Asserted] = []
        self.rounds = 0
        self._lengthened: dict[Cut, int] = {}

    def prove(self) -> Shown:
        for _ in range(MOST_REPAIRS):
            self._fixpoint()
            if self._cover():
                break
        else:
            raise NotShownError("the two keep leaving the ways on which they were paired")
        return self._finish(self._rank())

    # -- invariants -----------------------------------------------------------------------------

    def _fixpoint(self) -> None:
        """Weaken invariants until every edge keeps them."""
        simulation = self._simulation
        verified: dict[Edge, tuple[int, int]] = {}
        edges = [e for e in simulation.edges if e.to != END]
        while True:
            pending = [e for e in edges if verified.get(e) != self._versions(e)]
            if not pending:
                return
            for edge in pending:
                self._keep(edge)
                verified[edge] = self._versions(edge)

    def _versions(self, edge: Edge) -> tuple[int, int]:
        nodes = self._simulation.nodes
        return (nodes[edge.source].version if edge.source in nodes else 0), nodes[edge.to].version

    def _keep(self, edge: Edge) -> None:
        """Weaken the invariant at the end of an edge until the edge keeps it."""
        simulation = self._simulation
        node = simulation.nodes[edge.to]
        while True:
            self.rounds += 1
            if self.rounds > MOST_ROUNDS or self._budget.exhausted:
                raise NotShownError("no invariant was found that the loops keep")
            followed = simulation.followed(edge.source)
            arrived = followed.arrivals(edge)
            if arrived is None:
                return
            simulation.check_structure(edge, arrived)
            going = simulation.going(followed, edge)
            broken = [(fact, self._terms.conj(going, bad)) for fact, bad in simulation.broken(edge, arrived)]
            broken = [(fact, bad) for fact, bad in broken if bad != self._terms.false]
            if not broken:
                return
            answer = self._ask(followed.assumed, self._terms.any_of([bad for _, bad in broken]), QUICK_SECONDS)
            if answer is Answer.UNSAT:
                return
            if answer is Answer.SAT:
                self._learn(followed, node, arrived, broken)
            elif not self._one_by_one(followed, node, arrived, broken):
                return

    def _one_by_one(
        self,
        followed: Pass,
        node: Node,
        arrived: tuple[State, State],
        broken: Sequence[tuple[Fact | None, Term]],
    ) -> bool:
        """Each fact for itself, where all together are too hard; what cannot be decided is no longer claimed. True
        if the invariant changed."""
        undecided: list[Fact] = []
        for fact, bad in broken:
            answer = self._ask(followed.assumed, bad, FACT_SECONDS)
            if answer is Answer.SAT:
                self._learn(followed, node, arrived, broken)
                return True
            if answer is Answer.UNKNOWN:
                if self._budget.exhausted:
                    raise NotShownError(f"{self._budget.why_exhausted()} while looking for an invariant", MORE_TIME)
                if fact is None:
                    raise NotShownError("it could not be decided which inputs reach a cut")
                undecided.append(fact)
        if undecided:
            node.banned.update(undecided)
            self._simulation.guess_again(node)
        return bool(undecided)

    def _learn(
        self,
        followed: Pass,
        node: Node,
        arrived: tuple[State, State],
        broken: Sequence[tuple[Fact | None, Term]],
    ) -> None:
        """The model is a further observation; and so are models that break what it leaves whole."""
        simulation = self._simulation
        value = simulation.arrival_values(arrived)
        features = (*node.features, *node.cells, *simulation.given.features)
        for _ in range(MOST_MODELS):
            node.rows.append({f: self._solver.value(value(f)) for f in features})
            for feature, first in list(node.at_entry.items()):
                if self._solver.value(value(feature)) != self._solver.value(first):
                    del node.at_entry[feature]
            whole = [(fact, bad) for fact, bad in broken if not self._solver.holds(bad)]
            if not whole or len(whole) == len(broken):
                break
            broken = whole
            bads = self._terms.any_of([bad for _, bad in broken])
            if self._ask(followed.assumed, bads, FACT_SECONDS) is not Answer.SAT:
                break
        simulation.guess_again(node)

    # -- questions ------------------------------------------------------------------------------

    def _ask(self, assumed: Sequence[tuple[str, Term]], bad: Term, seconds: float | None) -> Answer:
        normalizer = Normalizer(self._terms.manager)
        asserted = [normalizer.normalize(term) for _, term in (*assumed, ("bad", bad))]
        answer = self._solver.check(asserted, seconds)
        meaning = definitions(self._terms, [*(t for _, t in assumed), bad]) if answer is Answer.SAT else []
        if meaning:
            answer = self._solver.check([*asserted, *(normalizer.normalize(term) for term in meaning)], seconds)
        return answer

    def _decide(self, assumed: Sequence[tuple[str, Term]], bad: Term, under: Term = None) -> Answer:
        """First a quick look; then with addresses that are the same `under` some condition made so; then with equal
        parts of both sides merged."""
        self._steps, self._lemmas = [], []
        if bad == self._terms.false:
            return Answer.UNSAT
        answer = self._ask(assumed, bad, QUICK_SECONDS)
        if answer is not Answer.UNKNOWN:
            return answer
        if under is not None:
            self._lemmas = self._same_addresses(assumed, bad, under)
            if self._lemmas:
                bad = substituted(self._terms, bad, dict(self._lemmas))
                answer = self._ask(assumed, bad, max(QUICK_SECONDS, self._budget.left / 8))
                if answer is Answer.UNSAT:
                    return answer
        swept = sweep(self._terms, self._solver, [bad], min(10.0, self._budget.left / 4))
        answer = self._ask(assumed, swept.roots[0], max(QUICK_SECONDS, self._budget.left / 4))
        self._steps = swept.steps
        return answer

    _steps: Sequence[Step] = ()
    _lemmas: Sequence[tuple[Term, Term]] = ()
    """Addresses that were shown to be the same in what was decided last."""

    def _same_addresses(self, assumed: Sequence[tuple[str, Term]], bad: Term, under: Term) -> list[tuple[Term, Term]]:
        """Pairs of a base that memory is accessed at and what it is by another one. One model tells which may be."""
        terms = self._terms
        bases = address_bases(terms, bad)
        if len(bases) < 2 or self._ask(assumed, under, QUICK_SECONDS) is not Answer.SAT:
            return []
        values = {base: self._solver.value(base) for base in bases}
        found: list[tuple[Term, Term]] = []
        kept: list[Term] = []
        for base in bases:
            for other in kept:
                distance = (values[base] - values[other] + _NEAR) % (1 << terms.width(base)) - _NEAR
                if abs(distance) >= _NEAR:
                    continue
                same = terms.add(other, terms.bv(distance, terms.width(base)))
                differs = terms.conj(under, terms.negate(terms.eq(base, same)))
                if self._ask(assumed, differs, FACT_SECONDS) is Answer.UNSAT:
                    found.append((base, same))
                    break
            else:
                kept.append(base)
        return found

    # -- whether it is enough -------------------------------------------------------------------

    def _cover(self) -> bool:
        """Whether the edges are all the ways there are. If not, one that a model shows is added."""
        simulation = self._simulation
        for cut in (ENTRY, *simulation.nodes):
            followed = simulation.followed(cut)
            uncovered = simulation.uncovered(cut)
            answer = self._decide(followed.assumed, uncovered)
            if answer is Answer.UNKNOWN:
                raise NotShownError(
                    f"whether the two always go on the same way from {at(simulation, cut)} was not decided in time",
                    MORE_TIME,
                )
            if answer is Answer.SAT:
                edge = self._missing(cut, followed)
                if edge is None:
                    raise NotShownError(
                        f"from {at(simulation, cut)} the two may part, as with {self._model(cut, followed)}"
                    )
                simulation.add(edge)
                return False
        return True

    def _missing(self, cut: Cut, followed: Pass) -> Edge | None:
        """An edge between known cuts that the model goes."""
        simulation = self._simulation
        left, right = (self._stations(segment.arrivals) for segment in followed.segments)
        candidates = [
            Edge(cut, i, j, to)
            for to in simulation.nodes
            for i in left.get(to.target, ())
            for j in right.get(to.rewrite, ())
        ]
        candidates = [e for e in candidates if e not in simulation.edges and (e.target_steps or e.rewrite_steps)]
        if not candidates:
            return self._longer(cut)
        return min(candidates, key=lambda e: e.target_steps + e.rewrite_steps, default=None)

    def _longer(self, cut: Cut) -> Edge | None:
        """The model goes where nothing was followed to: to the end, perhaps, a little further on."""
        leaving = self._simulation.leaving(cut)
        left = max((e.horizons[0] for e in leaving), default=0)
        right = max((e.horizons[1] for e in leaving), default=0)
        edge = Edge(cut, left, right, END)
        seen = max((max(e.target_steps, e.rewrite_steps) for e in leaving), default=0)
        return edge if self._lengthened.setdefault(cut, seen) + MOST_LENGTHENED > max(left, right) else None

    def _stations(self, arrivals: dict[tuple[int, BlockId], State]) -> dict[BlockId | None, list[int]]:
        """Of the stations passed, those that the model passes, by block."""
        found: dict[BlockId | None, list[int]] = {}
        for (steps, block), state in arrivals.items():
            if self._solver.holds(state.condition):
                found.setdefault(block, []).append(steps)
        return found

    def _model(self, cut: Cut, followed: Pass) -> str:
        return model(self._simulation, cut, lambda f: self._solver.value(followed.value(f)))

    # -- that it ends ---------------------------------------------------------------------------

    def _rank(self) -> dict[Edge, Measure]:
        """For each way round on which one side stands still, a number that gets smaller each time."""
        simulation = self._simulation
        found = {}
        turning = stuttering(simulation.edges)
        for edge in turning:
            if edge.source != edge.to:
                raise NotShownError(f"one side goes round from {at(simulation, edge.source)} while the other waits")
            if edge in found:
                continue
            # Ways round that alternate need one number between them: each could undo what the other one gains.
            still = bool(edge.target_steps)
            together = [e for e in turning if e.source == edge.source and bool(e.target_steps) == still]
            measure = self._measure(together)
            if measure is None:
                where = at(simulation, edge.source)
                raise NotShownError(f"at {where} one side turns while the other waits, and why that ends was not found")
            found.update(dict.fromkeys(together, measure))
        return found

    def _measure(self, edges: Sequence[Edge]) -> Measure | None:
        """A number that gets smaller on each of some ways round one cut."""
        followed = self._simulation.followed(edges[0].source)
        for measure in measures(self._simulation, edges[0].source):
            grows = self._terms.any_of([self._not_smaller(followed, edge, measure) for edge in edges])
            if self._ask(followed.assumed, grows, QUICK_SECONDS) is Answer.UNSAT:
                return measure
        return None

    def _not_smaller(self, followed: Pass, edge: Edge, measure: Measure) -> Term:
        simulation = self._simulation
        arrived = followed.arrivals(edge)
        if arrived is None:
            return self._terms.false
        before = measure.term(self._terms, followed.value)
        after = measure.term(self._terms, simulation.arrival_values(arrived))
        return self._terms.conj(simulation.going(followed, edge), self._terms.ule(before, after))

    # -- the proof ------------------------------------------------------------------------------

    def _finish(self, ranks: dict[Edge, Measure]) -> Shown:
        simulation = self._simulation
        shown = Shown(simulation)
        for cut in (ENTRY, *simulation.nodes):
            followed = simulation.followed(cut)
            where = f"from {at(simulation, cut)}"
            self._show(shown, cut, where, Goal("covered", "both go on the same way", simulation.uncovered(cut)))
            for edge in simulation.leaving(cut):
                if edge.to == END:
                    continue
                arrived = followed.arrivals(edge)
                if arrived is None:
                    continue
                going = simulation.going(followed, edge)
                bads = [bad for _, bad in simulation.broken(edge, arrived)]
                bad = self._terms.conj(going, self._terms.any_of(bads))
                way = f"{where} to {at(simulation, edge.to)}"
                self._show(shown, cut, way, Goal("invariant", "the invariant is kept", bad), going)
                differs = self._terms.conj(going, simulation.memory_differs(arrived))
                self._show(shown, cut, way, Goal("memory", "memory stays the same", differs), going)
            for goal in simulation.goals_at_end(cut):
                self._show_at_end(shown, cut, f"{where} to the end", goal)
        for edge, measure in ranks.items():
            followed = simulation.followed(edge.source)
            text = measure.text(Names(simulation, simulation.nodes[edge.source]).show)
            shows = f"{text} gets smaller each time one side turns alone"
            where = f"at {at(simulation, edge.source)}"
            self._show(shown, edge.source, where, Goal("ends", shows, self._not_smaller(followed, edge, measure)))
        return shown

    def _show_at_end(self, shown: Shown, cut: Cut, where: str, goal: Goal) -> None:
        """A goal at the end, in cases if it is hard: the merged states at return are one or the other of them."""
        followed = self._simulation.followed(cut)
        cases: list[tuple[Goal, Term]] = [(goal, None)]
        if goal.bad != self._terms.false and self._ask(followed.assumed, goal.bad, QUICK_SECONDS) is Answer.UNKNOWN:
            cases = self._simulation.cases(cut, goal.name) or cases
        for case, under in cases:
            self._show(shown, cut, where, case, under)

    def _show(self, shown: Shown, cut: Cut, where: str, goal: Goal, under: Term = None) -> None:
        followed = self._simulation.followed(cut)
        goal = Goal(goal.name, f"{where}, {goal.shows}", goal.bad)
        started = time.perf_counter()
        answer = self._decide(followed.assumed, goal.bad, under)
        if answer is Answer.SAT:
            raise NotShownError(f"it does not follow that {goal.shows}, as with {self._model(cut, followed)}")
        if answer is Answer.UNKNOWN:
            raise NotShownError(f"it was not decided in time whether {goal.shows}", MORE_TIME)
        shown.obligations.append(Obligation(goal.name, goal.shows, time.perf_counter() - started, where))
        facts = []
        for number, (one, other) in enumerate(self._lemmas, 1):
            same = self._terms.eq(one, other)
            lemma = Goal(
                "address", f"{where}, two addresses are the same", self._terms.conj(under, self._terms.negate(same))
            )
            shown.asserted.append(Asserted(lemma, [*followed.assumed, ("differs", lemma.bad)], [], []))
            shown.obligations.append(Obligation(lemma.name, lemma.shows, 0.0, where))
            facts.append((f"address-{number}", same))
        labelled = [*followed.assumed, *facts, ("differs", goal.bad)]
        normalizer = Normalizer(self._terms.manager)
        for _, term in labelled:
            normalizer.normalize(term)
        shown.asserted.append(Asserted(goal, labelled, normalizer.lemmas, list(self._steps)))
