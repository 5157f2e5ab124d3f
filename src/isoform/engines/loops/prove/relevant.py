"""What is live at each cut, found once before anything is proved: features, cells, and what the code compares."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from isoform.engines.inputs import BUFFERS
from isoform.engines.loops.align.cuts import END, ENTRY, Cut, Edge
from isoform.engines.loops.guess.cells import cells_of
from isoform.engines.loops.guess.compared import compared
from isoform.engines.loops.guess.features import TAGS, Cell, Feature, Row
from isoform.engines.loops.observe.inputs import BUFFERS_END
from isoform.engines.loops.prove.claims import Claims
from isoform.engines.loops.prove.needed import needed_at, overlaps, parts_of
from isoform.engines.loops.prove.node import KnownCut
from isoform.engines.loops.prove.passes import Passes, entry_state
from isoform.engines.loops.prove.routes import Routes
from isoform.engines.loops.prove.setting import Observed, Setting
from isoform.engines.loops.prove.starts import Plain
from isoform.engines.loops.segment import Place
from isoform.engines.loops.tuning import MOST_CELLS, MOST_CELLS_HELD, MOST_CELLS_SEEN, MOST_ROWS
from isoform.run.observe import Snapshot
from isoform.smt.terms import Term
from isoform.sym.side import Side


class Relevant:
    def __init__(
        self,
        setting: Setting,
        routes: Routes,
        passes: Passes,
        claims: Claims,
        nodes: Mapping[Cut, KnownCut],
    ) -> None:
        self._setting = setting
        self._routes = routes
        self._passes = passes
        self._claims = claims
        self._nodes = nodes
        self._terms = setting.terms

    def find(self) -> None:
        """Execute from every cut with plain variables, and see which of them are live."""
        plain: dict[Cut, Plain] = {}
        for cut in self._nodes:
            plain[cut] = Plain(self._setting, cut, self._setting.observed[cut])
            self._passes.by_cut[cut] = self._passes.follow(cut, plain[cut].state)
        self._passes.by_cut[ENTRY] = self._passes.follow(ENTRY, entry_state)
        needed = needed_at(
            plain, self._routes.edges, {cut: self._first_roots(cut) for cut in self._nodes}, self._carried
        )
        steering = needed_at(
            plain, self._routes.edges, {cut: self._steering_roots(cut) for cut in self._nodes}, self._carried
        )
        for cut, node in self._nodes.items():
            found = dict.fromkeys((*plain[cut].pinned, *parts_of(needed[cut])))
            node.features = sorted(found, key=_feature_order)
            node.steering = frozenset(f for f in node.features if overlaps(f, steering[cut]))
            node.cells = self._cells(cut, plain[cut])
        self._share_cells(plain)
        self._find_objects()
        for cut, node in self._nodes.items():
            named = [*node.features, *node.cells]
            rows = [self._row(named, *observed) for observed in _sample(self._setting.observed[cut])]
            node.pointers = self._pointers(node, rows)
            node.rows = [self._setting.objects.spread(row, number) for number, row in enumerate(rows)]
            cells = {self._setting.cell_here(cell, plain[cut].value): cell for cell in reversed(node.cells)}
            roots = self._first_roots(cut)
            node.compared = compared(roots, plain[cut].places, node.features, self._setting.given.arguments, cells)
            node.at_entry = self._unchanged(node, plain)
        self._compare_before()

    def _find_objects(self) -> None:
        """Addresses of objects that features point into are given like arguments."""
        found: dict[Feature, None] = {}
        for cut, node in self._nodes.items():
            found |= dict.fromkeys(
                self._setting.objects.seen(node.features, self._setting.observed[cut], self._setting.machine)
            )
        self._setting.given = replace(self._setting.given, arguments=(*self._setting.given.arguments, *found))

    def _compare_before(self) -> None:
        """What is compared at a cut and available at one before is live there: a loop continues where another ended."""
        for _ in self._nodes:
            for edge in self._routes.edges:
                if edge.source in self._nodes and edge.to in self._nodes and edge.source != edge.to:
                    before = self._nodes[edge.source]
                    known = {*before.features, *self._setting.given.arguments}
                    before.compared = before.compared.also(self._nodes[edge.to].compared, known)

    def _steering_roots(self, cut: Cut) -> list[Term]:
        """What decides branches and addresses after this cut."""
        segments = self._passes.by_cut[cut].segments
        roots = [s.summary.aborts for s in segments]
        roots += [ending.condition for s in segments for ending in s.summary.endings]
        roots += [s.summary.final.condition for s in segments if s.summary.final is not None]
        roots += [state.condition for s in segments for state in s.arrivals.values()]
        return roots + [address for s in segments for _, address, _ in s.side.heap_accesses]

    def _first_roots(self, cut: Cut) -> list[Term]:
        """Whatever a proof at this cut is about, except the features of other cuts."""
        followed = self._passes.by_cut[cut]
        roots = [s.summary.aborts for s in followed.segments]
        roots += [ending.condition for s in followed.segments for ending in s.summary.endings]
        roots += [goal.bad for goal in self._claims.goals_at_end(cut, followed)]
        for edge in self._routes.leaving(cut):
            arrived = followed.arrivals(edge)
            if edge.to == END:
                roots += [s.summary.final.condition for s in followed.segments if s.summary.final is not None]
            elif arrived is not None:
                for state in arrived:
                    roots += [state.condition, state.side.heap.array(state.heap)]
        return roots

    def _carried(self, edge: Edge, features: Sequence[Feature]) -> list[Term]:
        arrived = self._passes.by_cut[edge.source].arrivals(edge)
        if arrived is None:
            return []
        return [f.of_state(arrived[TAGS.index(f.tag)]) for f in features]

    def _unchanged(self, node: KnownCut, plain: Mapping[Cut, Plain]) -> dict[Feature, Term]:
        """Features that are the same at every visit of a run, as terms over the inputs."""
        by_run: dict[int, list[Observed]] = {}
        for observed in self._setting.observed[node.cut]:
            by_run.setdefault(id(observed[0]), []).append(observed)
        arrivals = [
            arrived
            for edge in self._routes.leaving(ENTRY)
            if edge.to == node.cut and (arrived := self._passes.by_cut[ENTRY].arrivals(edge)) is not None
        ]
        found: dict[Feature, Term] = {}
        for feature in node.features:
            side = TAGS.index(feature.tag)
            runs = ({feature.of_snapshot(o[side + 1], self._setting.machine) for o in run} for run in by_run.values())
            if any(len(values) > 1 for values in runs):
                continue
            if not arrivals:
                found |= self._brought(node, feature, plain)
                continue
            term = feature.of_state(arrivals[0][side])
            for arrived in arrivals[1:]:
                going = self._terms.conj(arrived[0].condition, arrived[1].condition)
                term = self._terms.ite(going, feature.of_state(arrived[side]), term)
            found[feature] = term
        return found

    def _brought(self, node: KnownCut, feature: Feature, plain: Mapping[Cut, Plain]) -> dict[Feature, Term]:
        """The same for a feature that is copied unchanged from an earlier cut, where it is such a one."""
        for edge in self._routes.edges:
            if edge.to != node.cut or edge.source not in self._nodes or edge.source == node.cut:
                continue
            known = {plain[edge.source].value(f): term for f, term in self._nodes[edge.source].at_entry.items()}
            for brought in self._carried(edge, [feature]):
                if brought in known:
                    return {feature: known[brought]}
        return {}

    def _pointers(self, node: KnownCut, rows: Sequence[Row]) -> frozenset[Feature]:
        """Features that are an address in every test."""
        words = [f for f in (*node.features, *self._setting.given.arguments) if f.bits == 64]
        return frozenset(f for f in words if all(self._is_address(f, row[f]) for row in rows))

    def _is_address(self, feature: Feature, value: int) -> bool:
        in_buffers = value == 0 or BUFFERS <= value < BUFFERS_END
        return in_buffers or self._setting.objects.pointed_to(feature, value) is not None

    def _cells(self, cut: Cut, plain: Plain) -> tuple[Cell, ...]:
        """Words of memory that either side loads after this cut, at addresses that are sums of features here, or of
        values at entry, or constant."""
        features = set(self._nodes[cut].features)
        found: dict[Cell, None] = {}
        for number, segment in enumerate(self._passes.by_cut[cut].segments):
            side = segment.side
            kept = self._untouched(side, number)
            accesses = [*side.fixed_loads, *((address, size) for _, address, size in side.heap_accesses)]
            found |= dict.fromkeys(cells_of(self._terms, side.tag, accesses, plain.places | kept, features))
        ordered = sorted(found, key=lambda cell: cell.moves)
        held = self._held(cut, ordered[MOST_CELLS:MOST_CELLS_SEEN])
        return (*ordered[:MOST_CELLS], *held[:MOST_CELLS_HELD])

    def _share_cells(self, plain: Mapping[Cut, Plain]) -> None:
        """A register may hold a word that is loaded only after the next cut: the first letter of a text, for which one
        side has an iteration of its own and the other has not."""
        for cut in self._nodes:
            edges = self._routes.leaving(cut)
            self._add_held(cut, (cell for edge in edges for cell in self._before(edge, plain[cut])))
        every = [cell for node in self._nodes.values() for cell in node.cells]
        for cut, node in self._nodes.items():
            known = set(node.features)
            self._add_held(cut, (cell for cell in every if known.issuperset(cell.moving)))

    def _add_held(self, cut: Cut, cells: Iterable[Cell]) -> None:
        node = self._nodes[cut]
        held = self._held(cut, [cell for cell in dict.fromkeys(cells) if cell not in node.cells])
        node.cells = (*node.cells, *held[:MOST_CELLS])

    def _before(self, edge: Edge, plain: Plain) -> Iterator[Cell]:
        """The words that are cells at the end of an edge, by the features at its beginning."""
        arrived = self._passes.by_cut[edge.source].arrivals(edge)
        if arrived is None or edge.to == edge.source:
            return
        value, features = self._claims.arrival_values(arrived), set(self._nodes[edge.source].features)
        kept = [self._untouched(segment.side, n) for n, segment in enumerate(self._passes.by_cut[edge.source].segments)]
        places = plain.places | kept[0] | kept[1]
        for cell in self._nodes[edge.to].cells:
            address = cell.at(self._terms, value, self._setting.sides[0].width)
            yield from cells_of(self._terms, cell.tag, [(address, cell.bits // 8)], places, features)

    def _untouched(self, side: Side, number: int) -> dict[Term, tuple[str, Place]]:
        """Registers that a side leaves as they are at entry."""
        return {side.entry.register(name): ("", name) for name in self._setting.untouched[number]}

    def _held(self, cut: Cut, cells: Sequence[Cell]) -> list[Cell]:
        """Words of memory that a register holds in every test, too: what a loop stored or loaded in one iteration and
        uses in the next, often in the lanes of a vector."""
        machine = self._setting.machine
        rows = list(_sample(self._setting.observed[cut])) if cells else []

        def values(feature: Feature) -> tuple[int, ...]:
            index = TAGS.index(feature.tag) + 1
            return tuple(feature.of_snapshot(row[index], machine) for row in rows)

        known = {(f.bits, values(f)) for f in self._nodes[cut].features if cells}
        return [cell for cell in cells if (cell.bits, seen := values(cell)) in known and len(set(seen)) > 1]

    def _row(self, features: Sequence[Feature], entry: Snapshot, left: Snapshot, right: Snapshot) -> Row:
        source = {"": entry, "a": left, "b": right}
        return {
            f: f.of_snapshot(source[f.tag], self._setting.machine) for f in (*features, *self._setting.given.features)
        }


def _feature_order(feature: Feature) -> tuple[bool, bool, str, int]:
    """The rewrite's first: the target's are expressed by them. Registers before slots."""
    return feature.tag == "a", isinstance(feature.place, int), str(feature.place), feature.low


def _sample(rows: Sequence[Observed]) -> Iterator[Observed]:
    step = -(-len(rows) // MOST_ROWS)
    yield from list(rows)[:: step or 1]
