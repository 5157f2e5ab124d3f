"""What must be proved of a candidate, as formulas over the execution from a cut."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from isoform.engines.loops.align.cuts import END, Cut, Edge
from isoform.engines.loops.guess.facts import Fact
from isoform.engines.loops.guess.features import TAGS, Feature
from isoform.engines.loops.prove.node import KnownCut, Pass
from isoform.engines.loops.prove.passes import Passes
from isoform.engines.loops.prove.routes import Routes
from isoform.engines.loops.prove.setting import Setting
from isoform.model.contract import AbortRule
from isoform.smt.terms import Term
from isoform.sym.compare import BEFORE_FAULT, Goal, goals
from isoform.sym.state import State
from isoform.sym.validity import frame_bounds, usable_accesses, valid_addresses

STATE_AT = ("state-at-", BEFORE_FAULT)
"""Prefix of the names of goals about calls that end the program."""
_BY_COVERAGE = ("aborts", "returns", "ends-in-")
"""Goals (by the prefix of their names) that the coverage of a cut implies."""


class Claims:
    def __init__(self, setting: Setting, routes: Routes, passes: Passes, nodes: Mapping[Cut, KnownCut]) -> None:
        self._setting = setting
        self._routes = routes
        self._passes = passes
        self._nodes = nodes
        self._terms = setting.terms

    def arrival_values(self, arrived: tuple[State, State]) -> Callable[[Feature], Term]:
        def value(feature: Feature) -> Term:
            return (
                self._setting.given_value(feature)
                if not feature.tag
                else feature.of_state(arrived[TAGS.index(feature.tag)])
            )

        return value

    def going(self, followed: Pass, edge: Edge) -> Term:
        """The condition that an edge is taken."""
        if edge.to == END:
            finals = [s.summary.final for s in followed.segments]
            conditions = [f.condition if f is not None else self._terms.false for f in finals]
            return self._terms.conj(*conditions)
        passing = self._passing(followed, edge)
        for shorter in self._routes.leaving(edge.source) if passing != self._terms.false else ():
            if self._routes.comes_first(shorter, edge):
                passing = self._terms.conj(passing, self._terms.negate(self._passing(followed, shorter)))
        return passing

    def _passing(self, followed: Pass, edge: Edge) -> Term:
        """The condition that both pass the end of an edge."""
        arrived = followed.arrivals(edge)
        if arrived is None:
            return self._terms.false
        conditions = [state.condition for state in arrived]
        if edge in self._routes.told:
            conditions.append(self._routes.told[edge].term(self._terms, self.arrival_values(arrived)))
        return self._terms.all_of(conditions)

    def broken(self, edge: Edge, arrived: tuple[State, State]) -> list[tuple[Fact | None, Term]]:
        """For each fact at the end of an edge the condition that it is broken there; last, without a fact, that the
        inputs do not let the cut be reached."""
        value = self.arrival_values(arrived)
        found: list[tuple[Fact | None, Term]] = [
            (fact, self._terms.negate(fact.term(self._terms, value))) for fact in self._nodes[edge.to].invariant.facts
        ]
        return [*found, (None, self._terms.negate(self._passes.entered[edge.to]))]

    def any_broken(self, edge: Edge, followed: Pass) -> Term:
        """Some fact at the end of an edge is broken there."""
        arrived = followed.arrivals(edge)
        if arrived is None:
            return self._terms.false
        bads = self._terms.any_of([bad for _, bad in self.broken(edge, arrived)])
        return self._terms.conj(self.going(followed, edge), bads)

    def memory_broken(self, edge: Edge, followed: Pass) -> Term:
        arrived = followed.arrivals(edge)
        if arrived is None:
            return self._terms.false
        return self._terms.conj(self.going(followed, edge), self._setting.memory.differs(arrived))

    def uncovered(self, cut: Cut, followed: Pass) -> Term:
        """No edge from here is taken, and the two do not abort or end the program together either; or a side that was
        changed does not keep to the rules for memory."""
        aborts = [s.summary.aborts for s in followed.segments]
        leaving = self._routes.leaving(cut)
        covered = [self.going(followed, e) if e.to == END else self._passing(followed, e) for e in leaving]
        if self._setting.question.contract.aborts is AbortRule.REFINE:
            covered.append(aborts[0])
        covered.append(self._terms.conj(*aborts))
        callees = {e.callee for s in followed.segments for e in s.summary.endings}
        for callee in sorted(callees):
            ended = [
                self._terms.any_of([e.condition for e in s.summary.endings if e.callee == callee])
                for s in followed.segments
            ]
            covered.append(self._terms.conj(*ended))
        kept = self._keeps_rules(followed)
        return self._terms.negate(self._terms.conj(self._terms.any_of(covered), kept))

    def _keeps_rules(self, followed: Pass) -> Term:
        """A side that was changed stays in its frame, and uses no address that programs cannot use where the other side
        uses none: what is assumed of code in files is not assumed of a change."""
        changed = self._setting.question.changed
        if not changed:
            return self._terms.true
        sides = [segment.side for segment in followed.segments]
        own = [side for number, side in enumerate(sides) if number in changed]
        frames = [rule for side in own for _, rule in frame_bounds(side)]
        used = self._terms.all_of([rule for side in own for rule in usable_accesses(side)])
        known = valid_addresses(*(side for number, side in enumerate(sides) if number not in changed))
        assumed = self._terms.all_of([rule for _, rule in known])
        return self._terms.all_of([*frames, self._terms.implies(assumed, used)])

    def goals_at_end(self, cut: Cut, followed: Pass) -> list[Goal]:
        """What must be the same if the two end, except whether they do: the coverage of a cut says that. A cut from
        which no path returns may still have calls that end the program."""
        left, right = (s.summary for s in followed.segments)
        returns = any(edge.to == END for edge in self._routes.leaving(cut))
        asked = [g for g in goals(self._setting.world, left, right) if not g.name.startswith(_BY_COVERAGE)]
        return [g for g in asked if returns or g.name.startswith(STATE_AT)]

    def goal_at_end(self, cut: Cut, goal: Goal, followed: Pass) -> Term:
        """A goal over another pass: if one of the two does not end, there is nothing to prove."""
        return next((g.bad for g in self.goals_at_end(cut, followed) if g.name == goal.name), self._terms.false)
