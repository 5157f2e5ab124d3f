"""A candidate simulation relation: cuts, invariants, and the formulas between them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from isoform.borders.question import Question
from isoform.engines.loops.align.cuts import Alignment, Cut, Edge, Stop
from isoform.engines.loops.guess.facts import Fact
from isoform.engines.loops.guess.guess import guess
from isoform.engines.loops.guess.invariant import Kinds, Order
from isoform.engines.loops.observe.stations import Stations
from isoform.engines.loops.observe.traces import Traces
from isoform.engines.loops.prove.claims import Claims
from isoform.engines.loops.prove.node import KnownCut
from isoform.engines.loops.prove.passes import Passes
from isoform.engines.loops.prove.relevant import Relevant
from isoform.engines.loops.prove.routes import Routes
from isoform.engines.loops.prove.setting import Setting
from isoform.model.budget import Budget


class Simulation:
    """The nodes and routes of one alignment. A change of either invalidates what was executed before."""

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
        self._degree, self._order = degree, order
        self.setting = Setting(question, alignment, tests, stations)
        self.nodes = {cut: KnownCut(cut) for cut in alignment.cuts}
        self.routes = Routes(alignment.edges, alignment.passed(tests))
        self.passes = Passes(self.setting, self.routes, self.nodes, budget, order)
        self.claims = Claims(self.setting, self.routes, self.passes, self.nodes)
        Relevant(self.setting, self.routes, self.passes, self.claims, self.nodes).find()
        for node in self.nodes.values():
            self._guess(node)
        self.passes.enter()
        self.passes.forget_all()

    # -- invariants -----------------------------------------------------------------------------

    def guess_again(self, node: KnownCut) -> None:
        self._guess(node)
        node.version += 1

    def _guess(self, node: KnownCut) -> None:
        setting = self.setting
        node.invariant = guess(
            node.rows, node.features, setting.given, setting.constants, node.banned, self._kinds(node)
        )

    def _kinds(self, node: KnownCut) -> Kinds:
        cycles = [edge for edge in self.routes.leaving(node.cut) if edge.to == node.cut]
        return Kinds(
            self._degree,
            self._order,
            node.compared,
            node.at_entry,
            node.cells,
            node.pointers,
            node.steering,
            self.setting.extends_signs,
            node.loose,
            any(edge.target_steps != edge.rewrite_steps for edge in cycles),
            self.setting.letters,
            self.setting.terms.uses_floats,
            self.setting.code,
        )

    # -- routes ---------------------------------------------------------------------------------

    def add(self, edge: Edge) -> None:
        """One more edge."""
        self.routes.add(edge)
        self.passes.forget(edge.source)
        if edge.to in self.nodes:
            self.passes.enter_again()
            if edge.source in self.nodes:
                self.nodes[edge.source].version += 1

    def shorten(self, edge: Edge) -> None:
        if self.routes.shorten(edge):
            self.passes.changed(edge.source)

    def follow_beyond(self, cut: Cut, stops: tuple[Iterable[Stop], Iterable[Stop]]) -> None:
        self.routes.follow_beyond(cut, stops)
        self.passes.changed(cut)

    def tell_apart(self, edge: Edge, fact: Fact) -> None:
        """Of several edges between two cuts, on which one side passes more stations or fewer, one is taken only if a
        fact holds at its end. The choice of the fact assumes nothing: that one of them is always taken is an obligation
        of the cut."""
        self.routes.tell_apart(edge, fact)
        self.passes.changed(edge.source)
