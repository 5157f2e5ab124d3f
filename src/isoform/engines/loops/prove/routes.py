"""The edges between the cuts of a candidate, and how far the paths from a cut are followed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from isoform.engines.loops.align.cuts import END, Cut, Edge, Stop
from isoform.engines.loops.guess.facts import Fact
from isoform.engines.loops.prove.node import Horizon
from isoform.lift.function import BlockId


class Routes:
    def __init__(self, edges: Sequence[Edge], onward: Mapping[Cut, tuple[set[Stop], set[Stop]]]) -> None:
        self.edges = list(edges)
        self.onward = onward
        """Stations beyond which the paths from a cut are followed further. Paths that no test took are not covered:
        they must be proved infeasible, or are added."""
        self.told: dict[Edge, Fact] = {}
        """What distinguishes an edge from others between the same cuts."""

    def leaving(self, cut: Cut) -> list[Edge]:
        return [edge for edge in self.edges if edge.source == cut]

    def furthest(self, cut: Cut) -> Horizon:
        """As far as any edge goes."""
        horizons = [edge.horizons for edge in self.leaving(cut)] or [(1, 1)]
        return max(h[0] for h in horizons), max(h[1] for h in horizons)

    def stops_at(self, cut: Cut, side: int, stop: Stop) -> bool:
        """Whether a side is not followed beyond a station."""
        return stop not in self.onward[cut][side]

    def breadth(self, cut: Cut) -> int:
        """How many stations both are followed beyond."""
        return sum(map(len, self.onward[cut]))

    def is_told_apart(self, edge: Edge) -> bool:
        return edge in self.told

    def add(self, edge: Edge) -> None:
        told = [fact for e, fact in self.told.items() if (e.source, e.to) == (edge.source, edge.to)]
        if told:
            self.told[edge] = told[0]
        self.edges.append(edge)

    def shorten(self, edge: Edge) -> bool:
        """Paths to the end that pass the cut at the end of an edge need not be followed at once any more; if one is
        still needed, the coverage check finds it. True if there were such paths."""
        known = [e for e in self.leaving(edge.source) if e.to == END]
        longer = [e for e in known if e.target_steps >= edge.target_steps and e.rewrite_steps >= edge.rewrite_steps]
        if len(longer) == len(known):
            return False
        self.edges = [e for e in self.edges if e not in longer]
        return True

    def follow_beyond(self, cut: Cut, stops: tuple[Iterable[Stop], Iterable[Stop]]) -> None:
        """From now on follow each side beyond some stations, too."""
        for known, more in zip(self.onward[cut], stops, strict=True):
            known.update(more)

    def tell_apart(self, edge: Edge, fact: Fact) -> None:
        alike = [e for e in self.edges if (e.source, e.to) == (edge.source, edge.to)]
        self.told.update(dict.fromkeys(alike, fact))

    def comes_first(self, shorter: Edge, edge: Edge) -> bool:
        """Whether both may pass the end of a shorter edge before they reach the end of this one. Of several edges that
        could be taken the shortest is: since both are at its cut then, everything after it is proved from there."""
        onward = self.onward[edge.source]
        if END in (shorter.to, edge.to) or shorter == edge:
            return False
        for side, (steps, block) in enumerate(_stops(shorter)):
            further = _stops(edge)[side]
            passes = steps < further[0] and (not steps or (steps, block) in onward[side])
            if not passes and (steps, block) != further:
                return False
        return True


def _stops(edge: Edge) -> tuple[tuple[int, BlockId | None], tuple[int, BlockId | None]]:
    """Where each side is at the end of an edge, after how many stations."""
    return (edge.target_steps, edge.to.target), (edge.rewrite_steps, edge.to.rewrite)
