"""Both sides followed from cut to cut, under what is known of each cut."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property

from isoform.engines.loops.align.cuts import ENTRY, Cut, Stop
from isoform.engines.loops.guess.features import TAGS, Feature, ObjectStart
from isoform.engines.loops.guess.invariant import Order
from isoform.engines.loops.prove.node import Horizon, KnownCut, Pass
from isoform.engines.loops.prove.routes import Routes
from isoform.engines.loops.prove.setting import Setting
from isoform.engines.loops.prove.starts import Known
from isoform.engines.loops.segment import Segment
from isoform.model.budget import Budget
from isoform.model.errors import Unsupported
from isoform.smt.terms import Term
from isoform.sym.context import Context
from isoform.sym.restricted import restrict_rules
from isoform.sym.side import Side
from isoform.sym.state import State, initial_state
from isoform.sym.step import UnwrittenTempError
from isoform.sym.validity import frame_bounds, valid_addresses

Contexts = tuple[Context | None, Context | None]


class Passes:
    def __init__(
        self, setting: Setting, routes: Routes, nodes: Mapping[Cut, KnownCut], budget: Budget, order: Order
    ) -> None:
        self._setting = setting
        self._routes = routes
        self._nodes = nodes
        self._budget = budget
        self._order = order
        self._terms = setting.terms
        self._unknowns = [(0, 0), (0, 0)]
        self.by_cut: dict[Cut, Pass] = {}
        self.entered: dict[Cut, Term] = {}
        """What reaching a cut implies about the inputs alone."""

    def followed(self, cut: Cut) -> Pass:
        """Both sides followed from a cut where its invariant holds."""
        found = self.by_cut.get(cut)
        if cut == ENTRY:
            if found is None:
                found = self.by_cut[ENTRY] = self.follow(ENTRY, entry_state)
            found.assumed = [*self._rules(found), *self._valid_at_entry]
            return found
        if found is None or found.version != self._nodes[cut].version:
            found = self.by_cut[cut] = self._follow_known(cut, (None, None))
        return found

    def followed_in(self, cut: Cut, contexts: tuple[Context, Context], horizon: Horizon | None) -> Pass:
        """The same in a case with more known, and no further than needed."""
        if cut == ENTRY:
            found = self.follow(ENTRY, entry_state, contexts, horizon)
            found.assumed = [*self._rules(found), *self._valid_at_entry]
            return found
        return self._follow_known(cut, contexts, horizon)

    def follow(
        self,
        cut: Cut,
        start: Callable[[Side], State],
        contexts: Contexts = (None, None),
        horizon: Horizon | None = None,
        onward: tuple[set[Stop], set[Stop]] | None = None,
    ) -> Pass:
        """Both sides followed to the horizon, or else as far as any edge goes."""
        horizon = self._routes.furthest(cut) if horizon is None else horizon
        onward = self._routes.onward[cut] if onward is None else onward
        segments, starts = [], []
        for number, (function, tag) in enumerate(zip(self._setting.functions, TAGS, strict=True)):
            side = Side(self._setting.world, function.image, tag, contexts[number])
            # Unknowns of different paths differ, though facts may mention both.
            side.rewind(self._unknowns[number])
            state = start(side)
            starts.append(state.fork(state.condition))
            segments.append(self._segment(number, cut, state, horizon[number], onward[number]))
            self._unknowns[number] = side.mark()
        return Pass((segments[0], segments[1]), [], 0, self._setting.given_value, (starts[0], starts[1]))

    def _segment(self, number: int, cut: Cut, state: State, horizon: int, onward: set[Stop]) -> Segment:
        """One side followed from a cut."""
        function, stations = self._setting.functions[number], self._setting.stations[number]
        start = (cut.target, cut.rewrite)[number] or function.entry
        callees = self._setting.question.callees
        try:
            segment = Segment(state.side, function, self._budget, callees, start, state, stations, horizon, onward)
        except UnwrittenTempError as missing:
            raise Unsupported("a loop inside one instruction carries more than registers") from missing
        if segment.summary.discovered:
            found = segment.summary.discovered
            self._setting.question.require_code((found, {}) if number == 0 else ({}, found))
            raise Unsupported(f"{function.name} calls or jumps to its own code through a pointer beside a loop")
        return segment

    def _follow_known(self, cut: Cut, contexts: Contexts, horizon: Horizon | None = None) -> Pass:
        node = self._nodes[cut]
        known = Known(self._setting, node)
        found = self.follow(cut, known.state, contexts, horizon)
        found.version, found.value = node.version, known.value
        facts = [(f"invariant-{n}", f.term(self._terms, known.value)) for n, f in enumerate(node.invariant.facts, 1)]
        entered = [("entered", self.entered[cut])]
        found.assumed = [*self._rules(found), *(a for a in (*entered, *facts) if a[1] != self._terms.true)]
        return found

    def _rules(self, followed: Pass) -> list[tuple[str, Term]]:
        sides = [segment.side for segment in self._unchanged(followed)]
        bounds = [rule for side in sides for rule in (*frame_bounds(side), *restrict_rules(side))]
        return [*self._setting.world.constraints, *bounds]

    def _unchanged(self, followed: Pass) -> list[Segment]:
        changed = self._setting.question.changed
        return [segment for number, segment in enumerate(followed.segments) if number not in changed]

    @cached_property
    def _valid_at_entry(self) -> list[tuple[str, Term]]:
        """That pointer arguments point to memory that programs may use, as far as the first iterations of loops access
        it (`valid-memory`): the run makes such an access, whether or not it is before the next cut."""
        pointers = {f for node in self._nodes.values() for f in node.pointers if _is_passed(f)}
        if self._order is Order.NONE or not pointers:
            return []  # it matters where code compares pointers: two buffers, or one with its end
        first = tuple({(1, station) for station in stations} for stations in self._setting.stations)
        followed = self.follow(ENTRY, entry_state, horizon=(2, 2), onward=(first[0], first[1]))
        arguments = [f for f in self._setting.given.arguments if _is_passed(f)]
        passed = {self._setting.given_value(f) for f in arguments if f.bits == self._setting.sides[0].width}
        return valid_addresses(*(segment.side for segment in self._unchanged(followed)), through=passed)

    def forget(self, cut: Cut) -> None:
        self.by_cut.pop(cut, None)

    def forget_all(self) -> None:
        """Except for what was executed from the entry."""
        self.by_cut = {ENTRY: self.by_cut[ENTRY]}

    # -- what reaching a cut says about the inputs ------------------------------------------------

    def enter(self) -> None:
        """What reaching a cut implies about the inputs alone: it stays true for any number of iterations."""
        reached = {cut: {cut} for cut in self._nodes}
        for _ in self._nodes:
            for edge in self._routes.edges:
                if edge.source in self._nodes and edge.to in self._nodes:
                    reached[edge.to] |= reached[edge.source]
        entering = dict.fromkeys(self._nodes, self._terms.false)
        for edge in self._routes.leaving(ENTRY):
            arrived = self.by_cut[ENTRY].arrivals(edge)
            if arrived is not None:
                both = self._terms.conj(arrived[0].condition, arrived[1].condition)
                entering[edge.to] = self._terms.disj(entering[edge.to], both)
        for cut in self._nodes:
            self.entered[cut] = self._terms.any_of([entering[other] for other in reached[cut]])

    def enter_again(self) -> None:
        """The edges from the entry, or between cuts, have changed. A cut that is reached as before keeps what was
        proved."""
        before = dict(self.entered)
        self.by_cut[ENTRY] = self.follow(ENTRY, entry_state)
        self.enter()
        for cut, node in self._nodes.items():
            node.version += before[cut] != self.entered[cut]

    def changed(self, cut: Cut) -> None:
        """The edges from a cut, or its invariant, have changed: nothing that was executed before is used again."""
        self.by_cut.pop(cut, None)
        if cut in self._nodes:
            self._nodes[cut].version += 1
        if cut == ENTRY:
            self.enter_again()


def entry_state(side: Side) -> State:
    return initial_state(side)


def _is_passed(feature: Feature) -> bool:
    return not feature.tag and not isinstance(feature, ObjectStart)
