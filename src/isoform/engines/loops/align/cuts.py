"""Cuts, and the edges between them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from isoform.engines.loops.observe.traces import Traces
from isoform.lift.function import BlockId
from isoform.model.values import dataclass


@dataclass(frozen=True)
class Cut:
    """A pair of program points. Entry and end are cuts too, without points."""

    target: BlockId | None
    rewrite: BlockId | None
    word: str = ""

    def __str__(self) -> str:
        if self.target is None or self.rewrite is None:
            return self.word
        return f"{self.target.address:#x} / {self.rewrite.address:#x}"


Stop = tuple[int, BlockId]
"""A station, and its number on the path."""
ENTRY, END = Cut(None, None, "entry"), Cut(None, None, "end")
LEFT_OUT = Cut(None, None, "left out")
"""Stands for the stations before the first that were observed of a long run. No edge of an alignment begins there."""


@dataclass(frozen=True)
class Edge:
    """From one cut to the next: the target passes so many stations, the rewrite so many. On an edge to the end the last
    of them is the last station before it returns."""

    source: Cut
    target_steps: int
    rewrite_steps: int
    to: Cut

    @property
    def horizons(self) -> tuple[int, int]:
        """How many stations each side must be followed for."""
        more = 1 if self.to == END else 0
        return self.target_steps + more, self.rewrite_steps + more


@dataclass
class Alignment:
    """Cuts, edges, and the pairs of stations of every test."""

    edges: list[Edge]
    matched: list[list[tuple[Cut, int, int]]]
    """For each test the pairs, as how many stations each side has passed."""
    cost: float
    agreeing: int = 0
    """How many places of one side hold a value of the other side, at the cut with the fewest."""
    is_comparable: bool = True
    """Whether the cost can be compared with that of others: not if it has stations that others do not have."""

    @property
    def cuts(self) -> list[Cut]:
        return [cut for cut in dict.fromkeys(e.to for e in self.edges) if cut != END]

    def leaving(self, cut: Cut) -> list[Edge]:
        return [edge for edge in self.edges if edge.source == cut]

    def passed(self, tests: Sequence[Traces]) -> dict[Cut, tuple[set[Stop], set[Stop]]]:
        """For each cut the stations that each side passes on the edges to the next cuts, excluding both ends."""
        found: dict[Cut, tuple[set[Stop], set[Stop]]] = {cut: (set(), set()) for cut in (ENTRY, *self.cuts)}
        for test, matched in zip(tests, self.matched, strict=True):
            ends = len(test.target), len(test.rewrite)
            if not matched and Edge(ENTRY, ends[0] - 1, ends[1] - 1, END) not in self.edges:
                continue  # it was left out
            pairs = [*([(ENTRY, 0, 0)] if test.begins else []), *matched, *([(END, *ends)] if test.ends else [])]
            for (cut, i, j), (_, k, m) in pairwise(pairs):
                found[cut][0].update((n - i, test.target[n].point) for n in range(i + 1, k))
                found[cut][1].update((n - j, test.rewrite[n].point) for n in range(j + 1, m))
        return found


def is_left_over(edge: Edge, ratio: tuple[int, int], most: tuple[int, int]) -> bool:
    """Whether an edge between loops may contain one iteration that is straight code on the side that does several at
    once: the other side passes that many stations, fewer than in an iteration of the loop, and the first side none. So
    a compiler that unrolls a vectorised loop twice leaves an odd vector to code after, or instead of, the loop. `ratio`
    is how many stations an iteration at its source passes, `most` how many one passes anywhere."""
    if END in (edge.source, edge.to) or edge.source == edge.to:
        return False
    steps = edge.target_steps, edge.rewrite_steps
    for several, single in ((0, 1), (1, 0)):
        room = ratio[several] if edge.source != ENTRY else most[several]
        over = steps[several] - ratio[several]
        if 1 < over < room and 0 < steps[single] <= ratio[single]:
            return True
    return False


def stuttering(edges: Sequence[Edge]) -> list[list[Edge]]:
    """Edges on which one side iterates while the other waits, for ever if nothing stops it: those of each strongly
    connected component. They need ranking functions."""
    inner = [e for e in edges if e.to != END]
    still = [e for e in inner if not e.target_steps], [e for e in inner if not e.rewrite_steps]
    return [component for side in still for component in components(side)]


def components(edges: Sequence[Edge]) -> list[list[Edge]]:
    """The edges that are in cycles, by strongly connected component."""
    onward = {e.source: reached(e.source, edges) for e in edges}
    found: dict[frozenset[Cut], list[Edge]] = {}
    for edge in edges:
        if edge.source in onward.get(edge.to, ()):
            both = frozenset(c for c in onward[edge.source] if edge.source in onward.get(c, ()))
            found.setdefault(both, []).append(edge)
    return list(found.values())


def reached(start: Cut, edges: Sequence[Edge]) -> set[Cut]:
    """The cuts to which a path of at least one edge leads."""
    found: set[Cut] = set()
    pending = [start]
    while pending:
        here = pending.pop()
        more = {e.to for e in edges if e.source == here} - found
        found |= more
        pending += more
    return found
