"""The obligations of a candidate that holds, asked for the record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from isoform.engines.grounds import Asserted
from isoform.engines.loops.align.cuts import END, ENTRY, Cut, Edge
from isoform.engines.loops.prove.case import Bad
from isoform.engines.loops.prove.cases import Cases
from isoform.engines.loops.prove.claims import STATE_AT
from isoform.engines.loops.prove.model import inputs_with
from isoform.engines.loops.prove.node import Horizon, Pass
from isoform.engines.loops.prove.questions import Refutation
from isoform.engines.loops.prove.rank import Decrease, RankingSearch
from isoform.engines.loops.prove.result import MORE_TIME, NotShownError, Shown
from isoform.engines.loops.prove.simulation import Simulation
from isoform.engines.loops.prove.words import FeatureNames, at, model_in_words
from isoform.model.outcome import Inputs
from isoform.model.verdict import Obligation
from isoform.smt.polynomial import Normalizer
from isoform.smt.solver import Answer
from isoform.smt.terms import Term
from isoform.sym.compare import Goal


class Recording:
    def __init__(self, simulation: Simulation, cases: Cases, ranking: RankingSearch) -> None:
        self._simulation = simulation
        self._terms = simulation.setting.terms
        self._cases = cases
        self._ranking = ranking

    def finish(self, ranks: Sequence[Decrease]) -> Shown:
        shown = Shown(self._simulation)
        numbers = {cut: number for number, cut in enumerate((ENTRY, *self._simulation.nodes))}
        for cut in numbers:
            self._show_cut(shown, cut, numbers)
        for decrease in ranks:
            shown.place = {"from": numbers[decrease.edge.source]}
            self._show_end(shown, decrease)
        return shown

    def _show_cut(self, shown: Shown, cut: Cut, numbers: Mapping[Cut, int]) -> None:
        """The claims of one cut: where both go from there, and what holds where they arrive or end."""
        simulation, claims, terms = self._simulation, self._simulation.claims, self._terms
        followed = self._cases.followed(cut)
        where = f"from {at(simulation, cut)}"
        shown.place = {"from": numbers[cut]}
        self._record(shown, "addresses", f"{where}, which addresses are one", where, self._cases.addresses(cut))
        uncovered = partial(claims.uncovered, cut)
        self._show(shown, cut, where, ("covered", "both reach the same next cut, or both end"), terms.true, uncovered)
        for edge in simulation.routes.leaving(cut):
            if edge.to != END and followed.arrivals(edge) is not None:
                shown.place = {"from": numbers[cut], "to": numbers[edge.to]}
                self._show_edge(shown, edge, followed, where)
        both_return = claims.going(followed, Edge(cut, 0, 0, END))
        shown.place = {"from": numbers[cut], "to": "end"}
        for goal in claims.goals_at_end(cut, followed):
            under = terms.true if goal.name.startswith(STATE_AT) else both_return
            bad = partial(claims.goal_at_end, cut, goal)
            self._show(shown, cut, f"{where} to the end", (goal.name, goal.shows), under, bad)

    def _show_edge(self, shown: Shown, edge: Edge, followed: Pass, where: str) -> None:
        claims = self._simulation.claims
        going = claims.going(followed, edge)
        place = f"{where} to {at(self._simulation, edge.to)}"
        horizon = edge.target_steps, edge.rewrite_steps
        kept, same = partial(claims.any_broken, edge), partial(claims.memory_broken, edge)
        self._show(shown, edge.source, place, ("invariant", "the invariant is kept"), going, kept, horizon)
        self._show(shown, edge.source, place, ("memory", "memory stays the same"), going, same, horizon)

    def _show_end(self, shown: Shown, decrease: Decrease) -> None:
        simulation, edge = self._simulation, decrease.edge
        text = decrease.measure.text(FeatureNames(simulation, simulation.nodes[edge.source]).show)
        verb = "decreases" if decrease.is_strict else "does not grow"
        named = "ends", f"{text} {verb} each time one side iterates alone"
        broken = partial(self._ranking.broken, decrease)
        self._show(shown, edge.source, f"at {at(simulation, edge.source)}", named, self._terms.true, broken)

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
            followed = self._simulation.passes.followed(cut)
            with_what = model_in_words(self._simulation, self._cases.solver, cut, followed)
            why = f"it does not follow that {shows}, as with {with_what}"
            raise NotShownError(why, inputs=self._inputs(followed, under, bad) if cut == ENTRY else None)
        if answer is Answer.UNKNOWN:
            raise NotShownError(f"it was not decided in time whether {shows}", MORE_TIME)
        self._record(shown, name, shows, where, self._cases.proofs, self._cases.seconds)

    def _inputs(self, followed: Pass, under: Term, bad: Bad) -> Inputs | None:
        """The inputs of a model at the entry: nothing is between them and the end, so that both may really differ."""
        return inputs_with(self._simulation, self._cases, followed, self._terms.conj(under, bad(followed)))

    def _record(
        self, shown: Shown, name: str, shows: str, where: str, proofs: Sequence[Refutation], seconds: float = 0.0
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
