"""A candidate simulation relation: cuts, invariants, and the formulas between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from isoform.borders.question import Question
from isoform.engines.inputs import BUFFERS
from isoform.engines.loops.align.cuts import END, ENTRY, Alignment, Cut, Edge, Stop
from isoform.engines.loops.guess.cells import MOST_CELLS, cells_of
from isoform.engines.loops.guess.compared import Compared, compared
from isoform.engines.loops.guess.facts import Bounded, Fact
from isoform.engines.loops.guess.features import TAGS, Cell, Feature, ObjectStart, Row
from isoform.engines.loops.guess.guess import guess
from isoform.engines.loops.guess.invariant import Invariant, Kinds, Order
from isoform.engines.loops.guess.objects import Objects
from isoform.engines.loops.observe.inputs import BUFFERS_END
from isoform.engines.loops.observe.letters import letters
from isoform.engines.loops.observe.stations import Stations
from isoform.engines.loops.observe.traces import Traces
from isoform.engines.loops.prove.memory import SharedMemory
from isoform.engines.loops.prove.needed import needed_at, overlaps, parts_of
from isoform.engines.loops.prove.starts import (
    Known,
    Plain,
    compared_constants,
    extends_signs,
    given_at_entry,
    untouched,
)
from isoform.engines.loops.segment import Place, Segment
from isoform.lift.function import BlockId, Function, outside_call
from isoform.lift.liveness import Liveness, output_containers
from isoform.model.budget import Budget
from isoform.model.contract import AbortRule, MemoryRule
from isoform.model.errors import Unsupported
from isoform.run.observe import Snapshot
from isoform.smt.terms import Term, Terms
from isoform.sym.chain import Base
from isoform.sym.compare import Goal, goals
from isoform.sym.context import Context
from isoform.sym.entry import constrain_entry
from isoform.sym.recursion import calls_itself
from isoform.sym.state import Side, State, World
from isoform.sym.validity import frame_bounds, valid_addresses

MOST_ROWS = 96
Contexts = tuple[Context | None, Context | None]
Horizon = tuple[int, int]
"""How many stations each side passes at most."""
STATE_AT = "state-at-"
"""How the names of goals begin that are about calls which end the program."""
_BY_COVERAGE = ("aborts", "returns", "ends-in-")
"""Goals (by how their names begin) that the coverage of a cut says already."""


@dataclass
class Node:
    """A cut with what is known about it."""

    cut: Cut
    features: list[Feature] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    invariant: Invariant = field(default_factory=Invariant)
    banned: set[Fact] = field(default_factory=set)
    pointers: frozenset[Feature] = frozenset()
    steering: frozenset[Feature] = frozenset()
    """Features that decide where the two go from here, or at which addresses."""
    cells: tuple[Cell, ...] = ()
    compared: Compared = field(default_factory=Compared)
    """What the code compares from here on."""
    at_entry: dict[Feature, Term] = field(default_factory=dict)
    """Features that did not change in any test, with their value when the cut is first reached."""
    loose: Counter[Bounded] = field(default_factory=Counter)
    """How often a bound of something was broken."""
    holds_addresses: tuple[bool, bool] = (False, False)
    suspects: set[tuple[str, Place]] = field(default_factory=set)
    """Places of a side that may hold an address of its frame though no fact says which."""
    version: int = 0


@dataclass
class Pass:
    """Both sides followed from one cut."""

    segments: tuple[Segment, Segment]
    assumed: list[tuple[str, Term]]
    version: int
    value: Callable[[Feature], Term]

    def arrivals(self, edge: Edge) -> tuple[State, State] | None:
        """The states at the end of an edge; None if it cannot be gone."""
        if edge.to == END or edge.to.target is None or edge.to.rewrite is None:
            return None
        left = self._arrival(0, edge.target_steps, edge.to.target, edge.source.target)
        right = self._arrival(1, edge.rewrite_steps, edge.to.rewrite, edge.source.rewrite)
        return None if left is None or right is None else (left, right)

    starts: tuple[State, State] | None = None

    def _arrival(self, side: int, steps: int, block: BlockId, here: BlockId | None) -> State | None:
        if steps == 0:
            # A side that waits is where it was.
            waits = block == (here or self.segments[side].function.entry)
            return self.starts[side] if self.starts is not None and waits else None
        return self.segments[side].arrivals.get((steps, block))


class Simulation:
    """Builds the formulas of one alignment."""

    def __init__(
        self,
        question: Question,
        budget: Budget,
        alignment: Alignment,
        tests: Sequence[Traces],
        stations: Stations,
        degree: int = 1,
        order: Order = Order.ALL,
    ) -> None:
        self.question = question
        self.degree, self.order = degree, order
        self.budget = budget
        self.edges = list(alignment.edges)
        self._onward = alignment.passed(tests)
        """Stations beyond which the ways from a cut are followed further. What no test did is not covered: it has to be
        shown not to happen, or is added."""
        self.functions: tuple[Function, Function] = question.target, question.rewrite
        self.machine = question.contract.machine
        self.terms = Terms()
        self.world = World(self.terms, question.contract, recursive=calls_itself(question.target, question.rewrite))
        sides = [Side(self.world, f.image, tag) for f, tag in zip(self.functions, TAGS, strict=True)]
        self._sides = sides
        self.entry = sides[0].initial_state()
        constrain_entry(self.world, self.entry)
        self.given = given_at_entry(question)
        self._objects = Objects(self.functions)
        self.untouched = tuple(untouched(f) for f in self.functions)
        """Registers that a side never writes: everywhere they are what they were at entry."""
        self.constants = frozenset(number for f in self.functions for number in compared_constants(f))
        self._letters = tuple(sorted({letter for f in self.functions for letter in letters(f)}))
        self.nodes = {cut: Node(cut) for cut in alignment.cuts}
        self.stations = stations
        self._snapshots: dict[Cut, list[tuple[Snapshot, Snapshot, Snapshot]]] = {cut: [] for cut in alignment.cuts}
        for test, matched in zip(tests, alignment.matched, strict=True):
            for one in (test, *test.alike):
                for cut, i, j in matched:
                    self._snapshots[cut].append((one.target[0], one.target[i], one.rewrite[j]))
        outputs = output_containers(self.machine, [r.register for r in question.contract.results])
        self._liveness = tuple(Liveness(f, outputs) for f in self.functions)
        self._unknowns = [(0, 0), (0, 0)]
        self._calls = any(outside_call(b.exit) is not None for f in self.functions for b in f.blocks.values())
        self._extends_signs = any(extends_signs(f) for f in self.functions)
        self.memory = SharedMemory((sides[0], sides[1]), self._shares_memory())
        self._passes: dict[Cut, Pass] = {}
        self._entered: dict[Cut, Term] = {}
        self._told: dict[Edge, Fact] = {}
        """What tells an edge from others between the same cuts."""
        self._find_features()

    def given_value(self, feature: Feature) -> Term:
        return feature.of_state(self.entry)

    # -- features -------------------------------------------------------------------------------

    def _find_features(self) -> None:
        """Follow every cut with plain variables, and see which of them matter."""
        plain: dict[Cut, Plain] = {}
        for cut in self.nodes:
            plain[cut] = Plain(self, cut, self._snapshots[cut])
            self._passes[cut] = self._follow(cut, plain[cut].state)
        self._passes[ENTRY] = self._follow(ENTRY, self._entry_state)
        needed = needed_at(plain, self.edges, {cut: self._first_roots(cut) for cut in self.nodes}, self._carried)
        steering = needed_at(plain, self.edges, {cut: self._steering_roots(cut) for cut in self.nodes}, self._carried)
        for cut, node in self.nodes.items():
            found = dict.fromkeys((*plain[cut].pinned, *parts_of(needed[cut])))
            node.features = sorted(found, key=_feature_order)
            node.steering = frozenset(f for f in node.features if overlaps(f, steering[cut]))
            node.cells = self._cells(cut, plain[cut])
        self._find_objects()
        for cut, node in self.nodes.items():
            named = [*node.features, *node.cells]
            rows = [self._row(named, *observed) for observed in _sample(self._snapshots[cut])]
            node.pointers = self._pointers(node, rows)
            node.rows = [self._objects.spread(row, number) for number, row in enumerate(rows)]
            cells = {self.cell_here(cell, plain[cut].value): cell for cell in reversed(node.cells)}
            roots = self._first_roots(cut)
            node.compared = compared(roots, plain[cut].places, node.features, self.given.arguments, cells)
            node.at_entry = self._unchanged(node, plain)
        self._compare_before()
        for node in self.nodes.values():
            node.invariant = guess(node.rows, node.features, self.given, self.constants, (), self._kinds(node))
        self._enter()
        self._passes = {ENTRY: self._passes[ENTRY]}

    def _find_objects(self) -> None:
        """Addresses of objects that features point into are given like arguments."""
        found: dict[Feature, None] = {}
        for cut, node in self.nodes.items():
            found |= dict.fromkeys(self._objects.seen(node.features, self._snapshots[cut], self.machine))
        self.given = replace(self.given, arguments=(*self.given.arguments, *found))

    def _compare_before(self) -> None:
        """What is compared at a cut, and is there at one before, matters there: a loop goes on where another ended."""
        for _ in self.nodes:
            for edge in self.edges:
                if edge.source in self.nodes and edge.to in self.nodes and edge.source != edge.to:
                    before = self.nodes[edge.source]
                    known = {*before.features, *self.given.arguments}
                    before.compared = before.compared.also(self.nodes[edge.to].compared, known)

    def _steering_roots(self, cut: Cut) -> list[Term]:
        """What decides where the two go from here, and at which addresses."""
        segments = self._passes[cut].segments
        roots = [s.summary.aborts for s in segments]
        roots += [ending.condition for s in segments for ending in s.summary.endings]
        roots += [s.summary.final.condition for s in segments if s.summary.final is not None]
        roots += [state.condition for s in segments for state in s.arrivals.values()]
        return roots + [address for s in segments for _, address, _ in s.side.heap_accesses]

    def _first_roots(self, cut: Cut) -> list[Term]:
        """Whatever a proof at this cut is about, but for the features of other cuts."""
        followed = self._passes[cut]
        roots = [s.summary.aborts for s in followed.segments]
        roots += [ending.condition for s in followed.segments for ending in s.summary.endings]
        roots += [goal.bad for goal in self.goals_at_end(cut, followed)]
        for edge in self.leaving(cut):
            arrived = followed.arrivals(edge)
            if edge.to == END:
                roots += [s.summary.final.condition for s in followed.segments if s.summary.final is not None]
            elif arrived is not None:
                for state in arrived:
                    roots += [state.condition, state.side.heap.array(state.heap)]
        return roots

    def _carried(self, edge: Edge, features: Sequence[Feature]) -> list[Term]:
        arrived = self._passes[edge.source].arrivals(edge)
        if arrived is None:
            return []
        return [f.of_state(arrived[TAGS.index(f.tag)]) for f in features]

    def _unchanged(self, node: Node, plain: Mapping[Cut, Plain]) -> dict[Feature, Term]:
        """Features that are the same at every visit of a run, as terms over the inputs."""
        by_run: dict[int, list[tuple[Snapshot, Snapshot, Snapshot]]] = {}
        for observed in self._snapshots[node.cut]:
            by_run.setdefault(id(observed[0]), []).append(observed)
        arrivals = [
            arrived
            for edge in self.leaving(ENTRY)
            if edge.to == node.cut and (arrived := self._passes[ENTRY].arrivals(edge)) is not None
        ]
        found: dict[Feature, Term] = {}
        for feature in node.features:
            side = TAGS.index(feature.tag)
            runs = ({feature.of_snapshot(o[side + 1], self.machine) for o in run} for run in by_run.values())
            if any(len(values) > 1 for values in runs):
                continue
            if not arrivals:
                found |= self._brought(node, feature, plain)
                continue
            term = feature.of_state(arrivals[0][side])
            for arrived in arrivals[1:]:
                going = self.terms.conj(arrived[0].condition, arrived[1].condition)
                term = self.terms.ite(going, feature.of_state(arrived[side]), term)
            found[feature] = term
        return found

    def _brought(self, node: Node, feature: Feature, plain: Mapping[Cut, Plain]) -> dict[Feature, Term]:
        """The same for a feature that comes as it is from an earlier cut, where it is such a one."""
        for edge in self.edges:
            if edge.to != node.cut or edge.source not in self.nodes or edge.source == node.cut:
                continue
            known = {plain[edge.source].value(f): term for f, term in self.nodes[edge.source].at_entry.items()}
            for brought in self._carried(edge, [feature]):
                if brought in known:
                    return {feature: known[brought]}
        return {}

    def _pointers(self, node: Node, rows: Sequence[Row]) -> frozenset[Feature]:
        """Features that are an address in every test."""
        words = [f for f in (*node.features, *self.given.arguments) if f.bits == 64]
        return frozenset(f for f in words if all(self._is_address(f, row[f]) for row in rows))

    def _is_address(self, feature: Feature, value: int) -> bool:
        in_buffers = value == 0 or BUFFERS <= value < BUFFERS_END
        return in_buffers or self._objects.pointed_to(feature, value) is not None

    def _kinds(self, node: Node) -> Kinds:
        turns = [edge for edge in self.leaving(node.cut) if edge.to == node.cut]
        return Kinds(
            self.degree,
            self.order,
            node.compared,
            node.at_entry,
            node.cells,
            node.pointers,
            node.steering,
            self._extends_signs,
            node.loose,
            any(edge.target_steps != edge.rewrite_steps for edge in turns),
            self._letters,
        )

    def _cells(self, cut: Cut, plain: Plain) -> tuple[Cell, ...]:
        """Words of memory that either side reads from here on, at addresses that the features here give, or values at
        entry, or none."""
        features = set(self.nodes[cut].features)
        found: dict[Cell, None] = {}
        for segment, names in zip(self._passes[cut].segments, self.untouched, strict=True):
            side = segment.side
            kept = {side.world.register(name): ("", name) for name in names}
            accesses = [*side.fixed_loads, *((address, size) for _, address, size in side.heap_accesses)]
            found |= dict.fromkeys(cells_of(self.terms, side.tag, accesses, plain.places | kept, features))
        return tuple(sorted(found, key=lambda cell: cell.moves))[:MOST_CELLS]

    def _row(self, features: Sequence[Feature], entry: Snapshot, left: Snapshot, right: Snapshot) -> Row:
        source = {"": entry, "a": left, "b": right}
        return {f: f.of_snapshot(source[f.tag], self.machine) for f in (*features, *self.given.features)}

    def _enter(self) -> None:
        """What reaching a cut says about the inputs alone: it stays true however often a loop turns."""
        reached = {cut: {cut} for cut in self.nodes}
        for _ in self.nodes:
            for edge in self.edges:
                if edge.source in self.nodes and edge.to in self.nodes:
                    reached[edge.to] |= reached[edge.source]
        ways = dict.fromkeys(self.nodes, self.terms.false)
        for edge in self.leaving(ENTRY):
            arrived = self._passes[ENTRY].arrivals(edge)
            if arrived is not None:
                way = self.terms.conj(arrived[0].condition, arrived[1].condition)
                ways[edge.to] = self.terms.disj(ways[edge.to], way)
        for cut in self.nodes:
            self._entered[cut] = self.terms.any_of([ways[other] for other in reached[cut]])

    def guess_again(self, node: Node) -> None:
        node.invariant = guess(node.rows, node.features, self.given, self.constants, node.banned, self._kinds(node))
        node.version += 1

    def is_live(self, cut: Cut, feature: Feature) -> bool:
        index = TAGS.index(feature.tag)
        block = (cut.target, cut.rewrite)[index]
        assert block is not None
        live = self._liveness[index]
        return bool(live.entry[block] & live.mask(self.machine.registers[str(feature.place)]))

    # -- following ------------------------------------------------------------------------------

    def leaving(self, cut: Cut) -> list[Edge]:
        return [edge for edge in self.edges if edge.source == cut]

    def furthest(self, cut: Cut) -> Horizon:
        """As far as any edge goes."""
        horizons = [edge.horizons for edge in self.leaving(cut)] or [(1, 1)]
        return max(h[0] for h in horizons), max(h[1] for h in horizons)

    def add(self, edge: Edge) -> None:
        """One more way on."""
        told = [fact for e, fact in self._told.items() if (e.source, e.to) == (edge.source, edge.to)]
        if told:
            self._told[edge] = told[0]
        self.edges.append(edge)
        self._passes.pop(edge.source, None)
        if edge.to in self.nodes:
            self._enter_again()
            if edge.source in self.nodes:
                self.nodes[edge.source].version += 1

    def shorten(self, edge: Edge) -> None:
        """Ways to the end that lead through the cut at the end of an edge need not be followed all at once any more; if
        one is still needed, it will be missed."""
        known = [e for e in self.leaving(edge.source) if e.to == END]
        longer = [e for e in known if e.target_steps >= edge.target_steps and e.rewrite_steps >= edge.rewrite_steps]
        if len(longer) < len(known):
            self.edges = [e for e in self.edges if e not in longer]
            self._changed(edge.source)

    def go_on(self, cut: Cut, stops: tuple[Iterable[Stop], Iterable[Stop]]) -> None:
        """From here on follow each side beyond some stations, too."""
        for known, more in zip(self._onward[cut], stops, strict=True):
            known.update(more)
        self._changed(cut)

    def _changed(self, cut: Cut) -> None:
        """The ways from a cut are others now, or what they go by: nothing that was followed before is used again."""
        self._passes.pop(cut, None)
        if cut in self.nodes:
            self.nodes[cut].version += 1
        if cut == ENTRY:
            self._enter_again()

    def _enter_again(self) -> None:
        """The ways from the entry, or between cuts, are others now. Of a cut that is reached as before nothing that was
        shown is lost."""
        before = dict(self._entered)
        self._passes[ENTRY] = self._follow(ENTRY, self._entry_state)
        self._enter()
        for cut, node in self.nodes.items():
            node.version += before[cut] != self._entered[cut]

    def stops_at(self, cut: Cut, side: int, stop: Stop) -> bool:
        """Whether a side is not followed beyond a station."""
        return stop not in self._onward[cut][side]

    def breadth(self, cut: Cut) -> int:
        """How many stations both are followed beyond."""
        return sum(map(len, self._onward[cut]))

    def _entry_state(self, side: Side) -> State:
        return side.initial_state()

    def _follow(
        self,
        cut: Cut,
        start: Callable[[Side], State],
        contexts: Contexts = (None, None),
        horizon: Horizon | None = None,
        onward: tuple[set[Stop], set[Stop]] | None = None,
    ) -> Pass:
        """Both sides followed to the horizon, or else as far as any edge goes."""
        horizon = self.furthest(cut) if horizon is None else horizon
        segments, starts = [], []
        for number, (function, tag) in enumerate(zip(self.functions, TAGS, strict=True)):
            side = Side(self.world, function.image, tag, contexts[number])
            # What is unknown on one way is not what is unknown on another, though facts may speak of both.
            side.rewind(self._unknowns[number])
            state = start(side)
            starts.append(state.fork(state.condition))
            block = (cut.target, cut.rewrite)[number] or function.entry
            try:
                segment = Segment(
                    side,
                    function,
                    self.budget,
                    self.question.callees,
                    block,
                    state,
                    self.stations[number],
                    horizon[number],
                    (onward or self._onward[cut])[number],
                )
            except KeyError as missing:
                raise Unsupported("a loop inside one instruction carries more than registers") from missing
            if segment.summary.discovered:
                raise Unsupported(f"{function.name} calls or jumps to its own code through a pointer beside a loop")
            self._unknowns[number] = side.mark()
            segments.append(segment)
        return Pass((segments[0], segments[1]), [], 0, self.given_value, (starts[0], starts[1]))

    def followed(self, cut: Cut) -> Pass:
        """Both sides followed from a cut where its invariant holds."""
        found = self._passes.get(cut)
        if cut == ENTRY:
            if found is None:
                found = self._passes[ENTRY] = self._follow(ENTRY, self._entry_state)
            found.assumed = [*self._rules(found), *self._valid_at_entry]
            return found
        if found is None or found.version != self.nodes[cut].version:
            found = self._passes[cut] = self._follow_known(cut, (None, None))
        return found

    def followed_in(self, cut: Cut, contexts: tuple[Context, Context], horizon: Horizon | None) -> Pass:
        """The same in a case of which more is known, and no further than needed."""
        if cut == ENTRY:
            found = self._follow(ENTRY, self._entry_state, contexts, horizon)
            found.assumed = [*self._rules(found), *self._valid_at_entry]
            return found
        return self._follow_known(cut, contexts, horizon)

    def _follow_known(self, cut: Cut, contexts: Contexts, horizon: Horizon | None = None) -> Pass:
        node = self.nodes[cut]
        known = Known(self, node)
        found = self._follow(cut, known.state, contexts, horizon)
        found.version, found.value = node.version, known.value
        facts = [(f"invariant-{n}", f.term(self.terms, known.value)) for n, f in enumerate(node.invariant.facts, 1)]
        entered = [("entered", self._entered[cut])]
        found.assumed = [*self._rules(found), *(a for a in (*entered, *facts) if a[1] != self.terms.true)]
        return found

    def _rules(self, followed: Pass) -> list[tuple[str, Term]]:
        sides = [s.side for s in followed.segments]
        bounds = [rule for side in sides for rule in frame_bounds(side)]
        return [*self.world.constraints, *bounds]

    @cached_property
    def _valid_at_entry(self) -> list[tuple[str, Term]]:
        """That pointers that are passed point where programs may, as far as the first turns of loops use them
        (`valid-memory`): whether or not the way to the next cut comes to such an access, the run does."""
        pointers = {f for node in self.nodes.values() for f in node.pointers if self._is_passed(f)}
        if self.order is Order.NONE or len(pointers) < 2:
            return []  # it matters where code compares pointers
        first = tuple({(1, station) for station in stations} for stations in self.stations)
        followed = self._follow(ENTRY, self._entry_state, horizon=(2, 2), onward=(first[0], first[1]))
        arguments = [f for f in self.given.arguments if self._is_passed(f)]
        passed = {self.given_value(f) for f in arguments if f.bits == self._sides[0].width}
        return valid_addresses(*(segment.side for segment in followed.segments), through=passed)

    def _is_passed(self, feature: Feature) -> bool:
        return not feature.tag and not isinstance(feature, ObjectStart)

    # -- what must be shown ---------------------------------------------------------------------

    def arrival_values(self, arrived: tuple[State, State]) -> Callable[[Feature], Term]:
        def value(feature: Feature) -> Term:
            return self.given_value(feature) if not feature.tag else feature.of_state(arrived[TAGS.index(feature.tag)])

        return value

    def broken(self, edge: Edge, arrived: tuple[State, State]) -> list[tuple[Fact | None, Term]]:
        """For each fact at the end of an edge the condition that it does not hold there; last, without a fact, that
        the inputs do not let the cut be reached."""
        value = self.arrival_values(arrived)
        found: list[tuple[Fact | None, Term]] = [
            (fact, self.terms.negate(fact.term(self.terms, value))) for fact in self.nodes[edge.to].invariant.facts
        ]
        return [*found, (None, self.terms.negate(self._entered[edge.to]))]

    def going(self, followed: Pass, edge: Edge) -> Term:
        """The condition that an edge is gone."""
        if edge.to == END:
            finals = [s.summary.final for s in followed.segments]
            conditions = [f.condition if f is not None else self.terms.false for f in finals]
            return self.terms.conj(*conditions)
        passing = self._passing(followed, edge)
        for shorter in self.leaving(edge.source) if passing != self.terms.false else ():
            if self._comes_first(shorter, edge):
                passing = self.terms.conj(passing, self.terms.negate(self._passing(followed, shorter)))
        return passing

    def _passing(self, followed: Pass, edge: Edge) -> Term:
        """The condition that both come by where an edge ends."""
        arrived = followed.arrivals(edge)
        if arrived is None:
            return self.terms.false
        conditions = [state.condition for state in arrived]
        if edge in self._told:
            conditions.append(self._told[edge].term(self.terms, self.arrival_values(arrived)))
        return self.terms.all_of(conditions)

    def is_told_apart(self, edge: Edge) -> bool:
        return edge in self._told

    def tell_apart(self, edge: Edge, fact: Fact) -> None:
        """Of several edges between two cuts, on which one side passes more stations or fewer, one is gone only if a
        fact holds at its end. Whatever the fact is, nothing is taken for granted: that one of them is always gone is
        part of what is shown of the cut."""
        alike = [e for e in self.edges if (e.source, e.to) == (edge.source, edge.to)]
        self._told.update(dict.fromkeys(alike, fact))
        self._changed(edge.source)

    def _comes_first(self, shorter: Edge, edge: Edge) -> bool:
        """Whether both may come by where a shorter edge ends before they come to the end of this one. Of several edges
        that could be gone the shortest is: since the two are together there, all that follows is shown from there."""
        onward = self._onward[edge.source]
        if END in (shorter.to, edge.to) or shorter == edge:
            return False
        for side, (steps, block) in enumerate(_stops(shorter)):
            further = _stops(edge)[side]
            passes = steps < further[0] and (not steps or (steps, block) in onward[side])
            if not passes and (steps, block) != further:
                return False
        return True

    def _shares_memory(self) -> bool:
        """Whether memory is claimed to be the same on both sides at every cut. What outside calls did shows in the
        memory that they left, and in nothing else. Where memory is no output, tests tell whether to claim it."""
        if self.question.contract.memory is MemoryRule.COMPARE or self._calls:
            return True
        return all(left.changes == right.changes for seen in self._snapshots.values() for _, left, right in seen)

    def cell_here(self, cell: Cell, value: Callable[[Feature], Term]) -> Term:
        """What memory holds at a cut at an address that the features there give."""
        side = self._sides[TAGS.index(cell.tag)]
        memory = self.memory.here(side)
        address = cell.at(self.terms, value, side.width)
        return side.heap.load(Base(lambda: memory, side.constant_byte), address, cell.bits // 8)

    def any_broken(self, edge: Edge, followed: Pass) -> Term:
        """Some fact at the end of an edge does not hold there."""
        arrived = followed.arrivals(edge)
        if arrived is None:
            return self.terms.false
        bads = self.terms.any_of([bad for _, bad in self.broken(edge, arrived)])
        return self.terms.conj(self.going(followed, edge), bads)

    def memory_broken(self, edge: Edge, followed: Pass) -> Term:
        arrived = followed.arrivals(edge)
        if arrived is None:
            return self.terms.false
        return self.terms.conj(self.going(followed, edge), self.memory.differs(arrived))

    def uncovered(self, cut: Cut, followed: Pass) -> Term:
        """No edge from here is gone, and the two do not abort or end the program together either."""
        aborts = [s.summary.aborts for s in followed.segments]
        leaving = self.leaving(cut)
        covered = [self.going(followed, e) if e.to == END else self._passing(followed, e) for e in leaving]
        if self.question.contract.aborts is AbortRule.REFINE:
            covered.append(aborts[0])
        covered.append(self.terms.conj(*aborts))
        callees = {e.callee for s in followed.segments for e in s.summary.endings}
        for callee in sorted(callees):
            ended = [
                self.terms.any_of([e.condition for e in s.summary.endings if e.callee == callee])
                for s in followed.segments
            ]
            covered.append(self.terms.conj(*ended))
        return self.terms.negate(self.terms.any_of(covered))

    def goal_at_end(self, cut: Cut, goal: Goal, followed: Pass) -> Term:
        """A goal as another pass has it: where one of the two does not end, there is nothing to show."""
        return next((g.bad for g in self.goals_at_end(cut, followed) if g.name == goal.name), self.terms.false)

    def goals_at_end(self, cut: Cut, followed: Pass) -> list[Goal]:
        """What must be the same where the two end, but for whether they do: the coverage of a cut says that. A cut
        from which no way leads to a return may still have calls that end the program."""
        left, right = (s.summary for s in followed.segments)
        returns = any(edge.to == END for edge in self.leaving(cut))
        asked = [g for g in goals(self.world, left, right) if not g.name.startswith(_BY_COVERAGE)]
        return [g for g in asked if returns or g.name.startswith(STATE_AT)]


def _stops(edge: Edge) -> tuple[tuple[int, BlockId | None], tuple[int, BlockId | None]]:
    """Where each side is at the end of an edge, after how many stations."""
    return (edge.target_steps, edge.to.target), (edge.rewrite_steps, edge.to.rewrite)


def _feature_order(feature: Feature) -> tuple[bool, bool, str, int]:
    """The rewrite's first: it is what the target's are expressed by. Registers before slots."""
    return feature.tag == "a", isinstance(feature.place, int), str(feature.place), feature.low


def _sample(rows: Sequence[tuple[Snapshot, Snapshot, Snapshot]]) -> Iterator[tuple[Snapshot, Snapshot, Snapshot]]:
    step = -(-len(rows) // MOST_ROWS)
    yield from list(rows)[:: step or 1]
