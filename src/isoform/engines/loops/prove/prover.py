"""Proving a candidate: invariants to a fixpoint, then that they are enough."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from isoform.engines.evidence import Asserted
from isoform.engines.inputs import BUFFERS
from isoform.engines.loops.align.cuts import END, ENTRY, Cut, Edge, Stop, stuttering
from isoform.engines.loops.guess.facts import Fact, Linear, Same
from isoform.engines.loops.guess.features import TAGS
from isoform.engines.loops.prove.cases import FACT_SECONDS, Bad, Cases
from isoform.engines.loops.prove.questions import GLANCE_SECONDS, QUICK_SECONDS, Assumed, Proof
from isoform.engines.loops.prove.rank import Measure, measures
from isoform.engines.loops.prove.simulation import STATE_AT, Horizon, Pass, Simulation
from isoform.engines.loops.prove.structure import Structure
from isoform.engines.loops.prove.words import Names, at, model
from isoform.engines.model import values_at_entry
from isoform.lift.function import BlockId
from isoform.model.budget import Budget
from isoform.model.contract import Argument
from isoform.model.outcome import Inputs
from isoform.model.signature import TypeKind
from isoform.model.verdict import Obligation
from isoform.smt.polynomial import Normalizer
from isoform.smt.solver import Answer
from isoform.smt.terms import Term
from isoform.sym.compare import Goal
from isoform.sym.entry import argument_term
from isoform.sym.state import State

MOST_ROUNDS = 400
KEEP_SECONDS = 0.5
MOST_MODELS, MODEL_SECONDS = 16, 0.2
"""Taken at once, before a guess is made again."""
MOST_REPAIRS = 16
"""Ways that are added because a model shows that they were missing."""
_STRAINED = 0.25
"""Of the facts at a cut the share that a model may break, and still belong there."""
MOST_LENGTHENED = 3
"""How often a way to the end is made longer than tests showed."""

_ENOUGH_SECONDS = 2.0
"""What is not decided with less time left may be with more."""
_SMALL = 40
"""What counts as few turns of a loop."""

MORE_TIME = "more time (--budget), or a precondition (--assume)"


class NotShownError(Exception):
    """The candidate is not a simulation relation, or it could not be shown to be one."""

    def __init__(self, why: str, helps: str = "", inputs: Inputs | None = None) -> None:
        super().__init__(why)
        self.why = why
        self.helps = helps
        self.inputs = inputs
        """On these no test went before."""


@dataclass
class Shown:
    """Every obligation of a candidate is unsatisfiable."""

    simulation: Simulation
    obligations: list[Obligation] = field(default_factory=list)
    asserted: list[Asserted] = field(default_factory=list)
    place: Mapping[str, int | str] = field(default_factory=dict)
    """What the next obligations are about: the cut they start from, by its number, and where they lead."""


class Prover:
    """Proves one candidate or raises NotShownError."""

    def __init__(self, simulation: Simulation, budget: Budget) -> None:
        self._simulation = simulation
        self._terms = simulation.terms
        self._budget = budget
        self._cases = Cases(simulation, budget)
        self._structure = Structure(simulation)
        self._solver = self._cases.solver
        self.rounds = 0
        self.settled = False
        """Whether invariants were found that the loops keep, and the ways are all there are: the rest is to show it."""
        self._lengthened: Counter[Cut] = Counter()
        self._verified: dict[Edge, tuple[int, int]] = {}
        """Edges that were seen to keep what is claimed at their ends, by the versions of both."""
        self._undecided: set[tuple[Cut, Term]] = set()
        """What was asked at a glance, and was too hard for that."""
        self._hard: set[Edge] = set()
        """Edges of which it was not decided as a whole whether they keep what is claimed at their end."""

    def prove(self) -> Shown:
        self._cases.go_on()
        for _ in range(MOST_REPAIRS):
            # What is not enough as guessed is not enough when less of it is left.
            if not self._cover(glance=True):
                continue
            self._fixpoint()
            if self._cover():
                break
        else:
            raise NotShownError("the two keep leaving the ways on which they were paired")
        self.settled = True
        return self._finish(self._rank())

    # -- invariants -----------------------------------------------------------------------------

    def _fixpoint(self) -> None:
        """Weaken invariants until every edge keeps them."""
        while True:
            edges = [e for e in self._simulation.edges if e.to != END]
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
        """Weaken the invariant at the end of an edge until the edge keeps it."""
        simulation = self._simulation
        node = simulation.nodes[edge.to]
        while True:
            self.rounds += 1
            if self.rounds > MOST_ROUNDS or self._budget.exhausted:
                helps = MORE_TIME if self._budget.exhausted else ""
                raise NotShownError("no invariant was found that the loops keep", helps)
            followed = simulation.followed(edge.source)
            arrived = followed.arrivals(edge)
            if arrived is None:
                return
            version = node.version
            self._structure.check(edge, arrived)
            if node.version != version:
                continue  # it has to hold of what is followed from the changed cut, too
            followed = self._cases.followed(edge.source)
            arrived = followed.arrivals(edge)
            if arrived is None:
                return
            # Apart from each other: what going this way says holds of all that may be broken.
            going = simulation.going(followed, edge)
            broken = [(fact, bad) for fact, bad in simulation.broken(edge, arrived) if bad != self._terms.false]
            if not broken or going == self._terms.false:
                return
            assumed = [*followed.assumed, ("going", going)]
            seconds = GLANCE_SECONDS if edge in self._hard else KEEP_SECONDS
            started = time.perf_counter()
            answer = self._cases.look(assumed, self._terms.any_of([bad for _, bad in broken]), seconds)
            proofs = [self._cases.proof]
            if answer is Answer.UNKNOWN:
                self._hard.add(edge)
                answer, proofs = self._separately(assumed, [bad for _, bad in broken])
            if answer is Answer.UNKNOWN:
                horizon = edge.target_steps, edge.rewrite_steps
                case = self._cases.case(edge.source, going, horizon, partial(simulation.any_broken, edge))
                arrived = case.followed.arrivals(edge)
                if arrived is None:
                    return
                assumed = [*case.followed.assumed, ("going", going)]
                broken = simulation.broken(edge, arrived)
                answer = self._cases.settle(assumed, self._terms.any_of([b for _, b in broken]), QUICK_SECONDS)
                proofs = [*case.shown, self._cases.proof]
            if answer is Answer.UNSAT:
                self._remember(edge, going, proofs, time.perf_counter() - started)
                return
            if answer is Answer.SAT:
                self._learn(edge, assumed, arrived, broken)
            elif not self._one_by_one(edge, assumed, arrived, broken):
                return

    def _told_apart(self, edge: Edge) -> bool:
        """Whether the model should go another way to the same cut, on which one side passes more stations or fewer:
        there all equations between the two sides hold. Then one that is broken here says which way is gone."""
        simulation = self._simulation
        followed = self._cases.followed(edge.source)
        if simulation.is_told_apart(edge) or followed.arrivals(edge) is None:
            return False
        wrong = self._unequal(edge, followed)
        if not wrong:
            return False
        left, right = (self._stations(segment.arrivals) for segment in followed.segments)
        steps = [(n, edge.rewrite_steps) for n in left.get(edge.to.target, ()) if n != edge.target_steps]
        steps += [(edge.target_steps, n) for n in right.get(edge.to.rewrite, ()) if n != edge.rewrite_steps]
        ways = [Edge(edge.source, *both, edge.to) for both in steps if any(both)]
        other = next((way for way in ways if not self._unequal(way, followed)), None)
        if other is None:
            return False
        simulation.tell_apart(edge, min(wrong, key=lambda fact: len(list(fact.features()))))
        if other not in simulation.edges:
            simulation.shorten(other)
            simulation.add(other)
        self._verified = {e: versions for e, versions in self._verified.items() if e.source != edge.source}
        return True

    def _unequal(self, edge: Edge, followed: Pass) -> list[Fact]:
        """The equations between the two sides at the end of an edge that do not hold there in the model."""
        arrived = followed.arrivals(edge)
        assert arrived is not None, "the model goes there"
        return [
            fact
            for fact, bad in self._simulation.broken(edge, arrived)
            if isinstance(fact, Linear | Same)
            and {f.tag for f in fact.features()} >= set(TAGS)
            and self._solver.holds(bad)
        ]

    def _separately(self, assumed: Assumed, bads: Sequence[Term]) -> tuple[Answer, list[Proof]]:
        """Whether something bad can be, one thing after the other: each may be easy though all together are not."""
        proofs = []
        for bad in bads:
            answer = self._cases.ask(assumed, bad, GLANCE_SECONDS)
            if answer is not Answer.UNSAT:
                return answer, []
            proofs.append(self._cases.proof)
        return Answer.UNSAT, proofs

    def _remember(self, edge: Edge, going: Term, proofs: Sequence[Proof], seconds: float) -> None:
        """An edge keeps what is claimed at its end: if nothing changes, that is not asked again."""
        broken, horizon = partial(self._simulation.any_broken, edge), (edge.target_steps, edge.rewrite_steps)
        self._cases.remember(edge.source, going, broken, horizon, proofs, seconds)

    def _one_by_one(
        self,
        edge: Edge,
        assumed: Assumed,
        arrived: tuple[State, State],
        broken: Sequence[tuple[Fact | None, Term]],
    ) -> bool:
        """Each fact for itself, where all together are too hard; what cannot be decided is no longer claimed. True
        if the invariant changed."""
        node = self._simulation.nodes[edge.to]
        undecided: list[Fact] = []
        for fact, bad in broken:
            answer = self._cases.settle(assumed, bad, FACT_SECONDS)
            if answer is Answer.SAT:
                self._learn(edge, assumed, arrived, broken)
                return True
            if answer is Answer.UNKNOWN:
                if self._budget.left < _ENOUGH_SECONDS:
                    # A fact that is given up is given up for good: only for want of a proof, not of time.
                    raise NotShownError("it was not decided in time which facts the loops keep", MORE_TIME)
                if fact is None:
                    raise NotShownError("it could not be decided which inputs reach a cut")
                undecided.append(fact)
        if undecided:
            node.banned.update(undecided)
            self._simulation.guess_again(node)
        return bool(undecided)

    def _learn(
        self,
        edge: Edge,
        assumed: Assumed,
        arrived: tuple[State, State],
        broken: Sequence[tuple[Fact | None, Term]],
    ) -> None:
        """The model is a further observation; and so are models that break what it leaves whole. But not one that only
        goes the wrong way."""
        simulation = self._simulation
        node = simulation.nodes[edge.to]
        value = simulation.arrival_values(arrived)
        features = (*node.features, *node.cells, *simulation.given.features)
        for _ in range(MOST_MODELS):
            if self._told_apart(edge):
                break
            node.rows.append({f: self._solver.value(value(f)) for f in features})
            for feature, first in list(node.at_entry.items()):
                if self._solver.value(value(feature)) != self._solver.value(first):
                    del node.at_entry[feature]
            whole = [(fact, bad) for fact, bad in broken if not self._solver.holds(bad)]
            loose = [fact.bounded for fact, bad in broken if fact is not None and (fact, bad) not in whole]
            node.loose.update({bounded for bounded in loose if bounded is not None})
            if not whole or len(whole) == len(broken):
                break
            broken = whole
            bads = self._terms.any_of([bad for _, bad in broken])
            if self._cases.ask(assumed, bads, MODEL_SECONDS) is not Answer.SAT:
                break
        simulation.guess_again(node)

    # -- whether it is enough -------------------------------------------------------------------

    def _cover(self, glance: bool = False) -> bool:
        """Whether the edges are all the ways there are, as far as can be seen at a `glance` or for sure. If not, one
        that a model shows is added."""
        simulation = self._simulation
        for cut in (ENTRY, *simulation.nodes):
            followed = simulation.followed(cut) if glance else self._cases.followed(cut)
            if glance:
                answer = self._glance(cut, followed)
            else:
                answer = self._cases.decide(cut, self._terms.true, partial(simulation.uncovered, cut))
            if answer is Answer.UNKNOWN and glance:
                continue
            if answer is Answer.UNKNOWN:
                raise NotShownError(
                    f"whether the two always go on the same way from {at(simulation, cut)} was not decided in time",
                    MORE_TIME,
                )
            if answer is Answer.SAT:
                if not self._repair(cut, followed):
                    why = f"from {at(simulation, cut)} the two may part, as with {self._model(cut, followed)}"
                    raise NotShownError(why, inputs=self._inputs(cut, followed))
                return False
        return True

    def _glance(self, cut: Cut, followed: Pass) -> Answer:
        """Whether there are other ways from a cut, as far as can be seen at once."""
        uncovered = self._simulation.uncovered(cut, followed)
        if (cut, uncovered) in self._undecided:
            return Answer.UNKNOWN
        answer = self._cases.ask(followed.assumed, uncovered, MODEL_SECONDS)
        if answer is Answer.UNKNOWN and not self._budget.exhausted:
            self._undecided.add((cut, uncovered))
        return answer

    def _repair(self, cut: Cut, followed: Pass) -> bool:
        """Add the way that the model goes: an edge to the end, or to a known cut, of several the one whose invariant
        the model breaks least; or beyond a station where nothing was followed further. True if there was one."""
        simulation = self._simulation
        ended = self._ended(cut, followed)
        left, right = (self._stations(segment.arrivals) for segment in followed.segments)
        candidates = [
            Edge(cut, i, j, to)
            for to in simulation.nodes
            for i in left.get(to.target, ())
            for j in right.get(to.rewrite, ())
        ]
        candidates = [e for e in candidates if e not in simulation.edges and (e.target_steps or e.rewrite_steps)]
        stands = self._stands(followed)
        stopped = [n for n, s in enumerate(stands) if s is not None and simulation.stops_at(cut, n, s)]
        best = min(
            candidates, key=lambda e: (self._strain(e, followed), e.target_steps + e.rewrite_steps), default=None
        )
        if best is not None and stopped and self._strain(best, followed) > _STRAINED:
            best = None
        edge = ended or best
        if edge is not None:
            simulation.add(edge)
            return True
        reach = simulation.furthest(cut)
        if stopped and all(s is None or s[0] < reach[n] for n, s in enumerate(stands)):
            simulation.go_on(cut, ([stands[0]] if stands[0] else [], [stands[1]] if stands[1] else []))
            return True
        return self._lengthen(cut, stands)

    def _stands(self, followed: Pass) -> tuple[Stop | None, Stop | None]:
        """The last station on each side to which the model was followed; None where it ended."""
        found: list[Stop | None] = []
        for segment in followed.segments:
            final = segment.summary.final
            stops = [stop for stop, state in segment.arrivals.items() if self._solver.holds(state.condition)]
            ended = final is not None and self._solver.holds(final.condition)
            found.append(None if ended else max(stops, key=lambda stop: stop[0], default=None))
        return found[0], found[1]

    def _ended(self, cut: Cut, followed: Pass) -> Edge | None:
        """The way to the end, if the model goes it and no edge says so yet."""
        passed = []
        for segment in followed.segments:
            ways = [
                n for n, s in segment.finals.items() if s.final is not None and self._solver.holds(s.final.condition)
            ]
            passed += ways[:1]
        is_new = all(edge.to != END for edge in self._simulation.leaving(cut))
        return Edge(cut, passed[0], passed[1], END) if is_new and len(passed) == len(followed.segments) else None

    def _strain(self, edge: Edge, followed: Pass) -> float:
        """The share of the facts at the end of an edge that do not hold there in the model."""
        arrived = followed.arrivals(edge)
        assert arrived is not None, "the model goes there"
        broken = self._simulation.broken(edge, arrived)
        return sum(self._solver.holds(bad) for _, bad in broken) / len(broken)

    def _inputs(self, cut: Cut, followed: Pass) -> Inputs | None:
        """Inputs on which the two may go from a cut where nothing was followed to; small ones, if there are such. What
        the model says of them is all that is known at a cut: they may never lead there."""
        simulation, terms = self._simulation, self._terms
        uncovered = simulation.uncovered(cut, followed)
        small = terms.all_of([self._is_small(argument) for argument in simulation.question.contract.arguments])
        answer = self._cases.ask(followed.assumed, terms.conj(uncovered, small), QUICK_SECONDS)
        if answer is not Answer.SAT:
            answer = self._cases.ask(followed.assumed, uncovered, QUICK_SECONDS)
        if answer is not Answer.SAT:
            return None
        registers, memory = values_at_entry(simulation.question, followed.segments[0].side, self._solver)
        return Inputs(registers, memory)

    def _is_small(self, argument: Argument) -> Term:
        terms = self._terms
        value = argument_term(self._simulation.entry, argument)
        width = terms.width(value)
        low, count = (BUFFERS, 1 << 16) if argument.type.kind is TypeKind.POINTER else (0, _SMALL)
        if argument.type.is_float or count >> width:
            return terms.true
        return terms.ult(terms.sub(value, terms.bv(low, width)), terms.bv(count, width))

    def _lengthen(self, cut: Cut, stands: tuple[Stop | None, Stop | None]) -> bool:
        """The model goes where nothing was followed to: to the end, perhaps, some turns further on. Whichever side has
        not ended yet is followed to one station more; if that was not enough some times, at last as far as what a loop
        that does several turns in one may leave over."""
        simulation = self._simulation
        turning = [e for e in simulation.edges if e.to == e.source and cut in (ENTRY, e.source)]
        turns = [max((e.horizons[n] for e in turning), default=1) for n in range(len(stands))]
        self._lengthened[cut] += 1
        count = self._lengthened[cut]
        if count > MOST_LENGTHENED:
            return False
        reach = simulation.furthest(cut)
        steps = [reach[n] - 1 if s is None else max(reach[n] - 1, s[0]) for n, s in enumerate(stands)]
        onward: list[list[Stop]] = []
        for n, s in enumerate(stands):
            left_over = turns[n] * (1 if cut == ENTRY else 2) - 1
            if s is not None and count == MOST_LENGTHENED:
                steps[n] = max(steps[n], left_over)
            onward.append([(k, s[1]) for k in range(s[0], steps[n] + 1)] if s is not None else [])
        simulation.go_on(cut, (onward[0], onward[1]))
        simulation.add(Edge(cut, steps[0], steps[1], END))
        return True

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
                raise NotShownError(
                    f"at {where} one side iterates while the other waits, and no reason was found why that ends"
                )
            found.update(dict.fromkeys(together, measure))
        return found

    def _measure(self, edges: Sequence[Edge]) -> Measure | None:
        """A number that gets smaller on each of some ways round one cut."""
        followed = self._simulation.followed(edges[0].source)
        for measure in measures(self._simulation, edges[0].source):
            grows = self._terms.any_of([self._not_smaller(edge, measure, followed) for edge in edges])
            if self._cases.ask(followed.assumed, grows, QUICK_SECONDS) is Answer.UNSAT:
                return measure
        return None

    def _not_smaller(self, edge: Edge, measure: Measure, followed: Pass) -> Term:
        simulation = self._simulation
        arrived = followed.arrivals(edge)
        if arrived is None:
            return self._terms.false
        before = measure.term(self._terms, followed.value)
        after = measure.term(self._terms, simulation.arrival_values(arrived))
        return self._terms.conj(simulation.going(followed, edge), self._terms.ule(before, after))

    # -- the proof ------------------------------------------------------------------------------

    def _finish(self, ranks: dict[Edge, Measure]) -> Shown:
        simulation, terms = self._simulation, self._terms
        shown = Shown(simulation)
        numbers = {cut: number for number, cut in enumerate((ENTRY, *simulation.nodes))}
        for cut in numbers:
            followed = self._cases.followed(cut)
            where = f"from {at(simulation, cut)}"
            shown.place = {"from": numbers[cut]}
            self._record(shown, "addresses", f"{where}, which addresses are one", where, self._cases.addresses(cut))
            uncovered = partial(simulation.uncovered, cut)
            self._show(shown, cut, where, ("covered", "both go on the same way"), terms.true, uncovered)
            for edge in simulation.leaving(cut):
                if edge.to == END or followed.arrivals(edge) is None:
                    continue
                going = simulation.going(followed, edge)
                way = f"{where} to {at(simulation, edge.to)}"
                invariant, memory = partial(simulation.any_broken, edge), partial(simulation.memory_broken, edge)
                horizon = edge.target_steps, edge.rewrite_steps
                shown.place = {"from": numbers[cut], "to": numbers[edge.to]}
                self._show(shown, cut, way, ("invariant", "the invariant is kept"), going, invariant, horizon)
                self._show(shown, cut, way, ("memory", "memory stays the same"), going, memory, horizon)
            both_return = simulation.going(followed, Edge(cut, 0, 0, END))
            shown.place = {"from": numbers[cut], "to": "end"}
            for goal in simulation.goals_at_end(cut, followed):
                under = terms.true if goal.name.startswith(STATE_AT) else both_return
                named = goal.name, goal.shows
                self._show(shown, cut, f"{where} to the end", named, under, partial(simulation.goal_at_end, cut, goal))
        for edge, measure in ranks.items():
            text = measure.text(Names(simulation, simulation.nodes[edge.source]).show)
            named = "ends", f"{text} gets smaller each time one side iterates alone"
            grows = partial(self._not_smaller, edge, measure)
            shown.place = {"from": numbers[edge.source]}
            self._show(shown, edge.source, f"at {at(simulation, edge.source)}", named, terms.true, grows)
        return shown

    def _show(
        self,
        shown: Shown,
        cut: Cut,
        where: str,
        named: tuple[str, str],
        under: Term,
        bad: Bad,
        horizon: Horizon | None = None,
    ) -> None:
        name, shows = named[0], f"{where}, {named[1]}"
        answer = self._cases.decide(cut, under, bad, horizon)
        if answer is Answer.SAT:
            with_what = self._model(cut, self._simulation.followed(cut))
            raise NotShownError(f"it does not follow that {shows}, as with {with_what}")
        if answer is Answer.UNKNOWN:
            raise NotShownError(f"it was not decided in time whether {shows}", MORE_TIME)
        self._record(shown, name, shows, where, self._cases.proofs, self._cases.seconds)

    def _record(
        self, shown: Shown, name: str, shows: str, where: str, proofs: Sequence[Proof], seconds: float = 0.0
    ) -> None:
        for number, proof in enumerate(proofs, 1):
            text = f"{shows} ({proof.shows}, step {number})" if proof.shows else shows
            shown.obligations.append(Obligation(name, text, seconds if number == 1 else 0.0, where))
            labelled = [*proof.assumed, ("differs", proof.bad)]
            normalizer = Normalizer(self._terms.manager)
            for term in (*(t for _, t in proof.assumed), proof.bad if proof.merged is None else proof.merged):
                normalizer.normalize(term)
            goal = Goal(name, text, proof.bad)
            shown.asserted.append(Asserted(goal, labelled, normalizer.lemmas, list(proof.steps), shown.place))
