"""Whether the edges of a candidate cover all paths; what a model shows to be missing is added."""

from __future__ import annotations

from collections import Counter
from functools import partial

from isoform.engines.loops.align.cuts import END, ENTRY, Cut, Edge, Stop
from isoform.engines.loops.prove.cases import Cases
from isoform.engines.loops.prove.model import inputs_with, stations_passed
from isoform.engines.loops.prove.node import Pass
from isoform.engines.loops.prove.result import MORE_TIME, NotShownError
from isoform.engines.loops.prove.simulation import Simulation
from isoform.engines.loops.prove.words import at, model_in_words
from isoform.engines.loops.tuning import MODEL_SECONDS, MOST_LENGTHENED, STRAINED_SHARE
from isoform.model.budget import Budget
from isoform.model.outcome import Inputs
from isoform.smt.solver import Answer
from isoform.smt.terms import Term


class Coverage:
    def __init__(self, simulation: Simulation, cases: Cases, budget: Budget) -> None:
        self._simulation = simulation
        self._terms = simulation.setting.terms
        self._budget = budget
        self._cases = cases
        self._solver = cases.solver
        self._lengthened: Counter[Cut] = Counter()
        self._undecided: set[tuple[Cut, Term]] = set()
        """What a quick query could not decide."""

    def is_complete(self, glance: bool = False) -> bool:
        """Whether the edges cover all paths, as far as a quick query (`glance`) shows or with certainty. If not, an
        edge that a model takes is added."""
        simulation = self._simulation
        for cut in (ENTRY, *simulation.nodes):
            followed = simulation.passes.followed(cut) if glance else self._cases.followed(cut)
            answer = self._glance(cut, followed) if glance else self._decide(cut)
            if answer is Answer.SAT:
                if self._repair(cut, followed):
                    return False
                model = model_in_words(simulation, self._solver, cut, followed)
                lead = f"{model} might lead to different paths (no such input was found)"
                why = f"it was not proved that both reach the same next cut from {at(simulation, cut)}: {lead}"
                raise NotShownError(why, inputs=self._inputs(cut, followed))
        return True

    def _decide(self, cut: Cut) -> Answer:
        simulation = self._simulation
        answer = self._cases.decide(cut, self._terms.true, partial(simulation.claims.uncovered, cut))
        if answer is Answer.UNKNOWN:
            where = at(simulation, cut)
            why = f"it was not decided in time whether both always reach the same next cut from {where}"
            raise NotShownError(why, MORE_TIME)
        return answer

    def _glance(self, cut: Cut, followed: Pass) -> Answer:
        """Whether there are other paths from a cut, by a quick query."""
        uncovered = self._simulation.claims.uncovered(cut, followed)
        if (cut, uncovered) in self._undecided:
            return Answer.UNKNOWN
        answer = self._cases.ask(followed.assumed, uncovered, MODEL_SECONDS)
        if answer is Answer.UNKNOWN and not self._budget.exhausted:
            self._undecided.add((cut, uncovered))
        return answer

    def _repair(self, cut: Cut, followed: Pass) -> bool:
        """Add the path of the model: an edge to the end, or to a known cut, of several the one whose invariant the
        model breaks least; or extend the horizon beyond a station. True if there was one."""
        simulation = self._simulation
        ended = self._ended(cut, followed)
        left, right = (stations_passed(self._solver, segment.arrivals) for segment in followed.segments)
        candidates = [
            Edge(cut, i, j, to)
            for to in simulation.nodes
            for i in left.get(to.target, ())
            for j in right.get(to.rewrite, ())
        ]
        candidates = [e for e in candidates if e not in simulation.routes.edges and (e.target_steps or e.rewrite_steps)]
        stands = self._stands(followed)
        stopped = [n for n, s in enumerate(stands) if s is not None and simulation.routes.stops_at(cut, n, s)]
        best = min(
            candidates, key=lambda e: (self._strain(e, followed), e.target_steps + e.rewrite_steps), default=None
        )
        if best is not None and stopped and self._strain(best, followed) > STRAINED_SHARE:
            best = None
        edge = ended or best
        if edge is not None:
            simulation.add(edge)
            return True
        reach = simulation.routes.furthest(cut)
        if stopped and all(s is None or s[0] < reach[n] for n, s in enumerate(stands)):
            simulation.follow_beyond(cut, ([stands[0]] if stands[0] else [], [stands[1]] if stands[1] else []))
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
        """The edge to the end, if the model takes it and it is not there yet."""
        passed = []
        for segment in followed.segments:
            returned = [
                n for n, s in segment.finals.items() if s.final is not None and self._solver.holds(s.final.condition)
            ]
            passed += returned[:1]
        is_new = all(edge.to != END for edge in self._simulation.routes.leaving(cut))
        return Edge(cut, passed[0], passed[1], END) if is_new and len(passed) == len(followed.segments) else None

    def _strain(self, edge: Edge, followed: Pass) -> float:
        """The share of the facts at the end of an edge that the model breaks."""
        arrived = followed.arrivals(edge)
        assert arrived is not None, "the model goes there"
        broken = self._simulation.claims.broken(edge, arrived)
        return sum(self._solver.holds(bad) for _, bad in broken) / len(broken)

    def _lengthen(self, cut: Cut, stands: tuple[Stop | None, Stop | None]) -> bool:
        """The model leaves the horizon: it may end some iterations later. Each side that has not ended yet is followed
        for one more station; after some such repairs, at last for as many as an unrolled loop may leave to its
        remainder."""
        simulation = self._simulation
        cycles = [e for e in simulation.routes.edges if e.to == e.source and cut in (ENTRY, e.source)]
        stations = [max((e.horizons[n] for e in cycles), default=1) for n in range(len(stands))]
        self._lengthened[cut] += 1
        count = self._lengthened[cut]
        if count > MOST_LENGTHENED:
            return False
        reach = simulation.routes.furthest(cut)
        steps = [reach[n] - 1 if s is None else max(reach[n] - 1, s[0]) for n, s in enumerate(stands)]
        onward: list[list[Stop]] = []
        for n, s in enumerate(stands):
            left_over = stations[n] * (1 if cut == ENTRY else 2) - 1
            if s is not None and count == MOST_LENGTHENED:
                steps[n] = max(steps[n], left_over)
            onward.append([(k, s[1]) for k in range(s[0], steps[n] + 1)] if s is not None else [])
        simulation.follow_beyond(cut, (onward[0], onward[1]))
        simulation.add(Edge(cut, steps[0], steps[1], END))
        return True

    def _inputs(self, cut: Cut, followed: Pass) -> Inputs | None:
        """Inputs on which the two may leave the horizon from a cut. The model is only a state at a cut: such inputs may
        never reach it."""
        return inputs_with(self._simulation, self._cases, followed, self._simulation.claims.uncovered(cut, followed))
