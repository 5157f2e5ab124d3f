"""Which points of the two traces correspond: cuts and the edges between them, found from runs of both.

A trace is a sequence of *stations*, the arrivals at loop headers. An alignment picks pairs of stations, one of each
trace, in order; each pair of headers picked is a cut, and from one cut to the next each side passes some number of
stations. One iteration against one is the common case; four against one is a loop that was unrolled or vectorised. The
proof does not trust an alignment: a bad choice only makes it fail.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from itertools import islice

from isoform.engines.loops.align.cuts import END, ENTRY, LEFT_OUT, Alignment, Cut, Edge, is_left_over, reached
from isoform.engines.loops.align.ratios import Ratio, Ratios, hypotheses
from isoform.engines.loops.observe.traces import Traces, Words
from isoform.engines.loops.tuning import (
    CHANGE_COST,
    DISAGREEMENT_COST,
    EDGE_COST,
    FEWEST_TESTS,
    FIRST_ITERATIONS,
    ITERATION_COST,
    MEMORY_COST,
    MOST_AGREEMENT,
    MOST_PARTNERS,
    MOST_STEPS,
    MOSTLY_SHARE,
    MUCH_WORSE,
    OPEN_COST,
    PAIRING_PASSES,
    PHASE_COST,
    SETTLED_DISAGREEMENT_COST,
    STATION_COST,
    TYPICAL_LENGTH,
    UNPAIRED_COST,
    WAITING_COST,
    WIDEST_CHANGE,
)
from isoform.lift.function import BlockId
from isoform.model.values import dataclass

_SHIFTS = ((1, 0), (0, 1))
"""A side that does part of the first iteration before its loop holds the values that the other side holds one station
later."""


_APART = (1, -1)
"""By how much a counter of one side may be ahead of one of the other."""

Paths = Mapping[int, Sequence[tuple[Edge, int, int]]]
Agreeing = dict["Cut", frozenset[tuple[int, int, int]]]
"""For each cut the pairs of places, one of each side, that mostly hold equal values there, or values at a constant
distance."""


def _agreeing(tests: Sequence[Traces], paths: Paths) -> Agreeing:
    """If no values are equal, a counter that starts at 1 on one side and at 0 on the other may be the only evidence."""
    found = _apart_by(tests, paths, 0, {edge.to for path in paths.values() for edge, _, _ in path})
    for apart in _APART:
        without = {cut for cut, pairs in found.items() if not pairs}
        if without:
            found |= _apart_by(tests, paths, apart, without)
    return found


def _apart_by(tests: Sequence[Traces], paths: Paths, apart: int, cuts: Collection[Cut]) -> Agreeing:
    counts: dict[Cut, Counter[tuple[int, int]]] = {}
    values: dict[Cut, dict[tuple[int, int], Counter[int]]] = {}
    """How many values a pair had in each run: a constant value is no evidence."""
    visits: Counter[Cut] = Counter()
    last: dict[tuple[int, Cut], Words] = {}
    for number, path in paths.items():
        for edge, i, j in path:
            if edge.to == END or edge.to not in cuts:
                continue
            visits[edge.to] += 1
            left, right = tests[number].words[0][i], tests[number].words[1][j]
            places: dict[int, list[int]] = {}
            for place, value in enumerate(right):
                places.setdefault(value, []).append(place)
            count = counts.setdefault(edge.to, Counter())
            seen = values.setdefault(edge.to, {})
            # If a run reaches a station only once: what changed since the station before.
            before = last.get((number, edge.to), tests[number].words[0][i - 1] if i > 1 else None)
            for place, value in enumerate(left):
                for other in places.get(value + apart, [])[:MOST_PARTNERS]:
                    count[place, other] += 1
                    if before is not None and before[place] != value:
                        seen.setdefault((place, other), Counter())[number] += 1
            last[number, edge.to] = left
    return {
        cut: frozenset((*p, apart) for p, n in count.items() if n >= MOSTLY_SHARE * visits[cut] and p in values[cut])
        for cut, count in counts.items()
    }


def alignments(tests: Sequence[Traces]) -> Iterator[Alignment]:
    """Alignments, most promising first, each computed on demand: the cheapest; one that starts a station later, if more
    values agree then; and others, also with dead register values as evidence."""
    seen: set[frozenset[Edge]] = set()
    for alignment in _candidates(tests):
        if frozenset(alignment.edges) not in seen:
            seen.add(frozenset(alignment.edges))
            yield alignment


def as_counted(tests: Sequence[Traces]) -> Iterator[Alignment]:
    """The alignment of all tests, with iterations in straight code among their stations, that uses the ratios counted
    in the tests."""
    for alignment in islice(_align(tests, next(hypotheses(tests))), 1):
        yield replace(alignment, is_comparable=False)


def _candidates(tests: Sequence[Traces]) -> Iterator[Alignment]:
    ordered = _by_cost(tests, list(hypotheses(tests)))
    if not ordered:
        return
    yield ordered[0][0]
    best_ratios = [ordered[0][1]]
    later = [a for shift in _SHIFTS for a, _ in _by_cost(tests, best_ratios, shift)]
    best = max(later, key=lambda a: (a.agreeing, -a.cost), default=None)
    if best is not None and best.agreeing > max(a.agreeing for a, _ in ordered):
        yield best
    # Dead values mostly belong to the iteration before and mislead; but they may be the only values that both sides
    # share.
    counted = [replace(test, dead=({}, {})) for test in tests]
    yield from (a for a, _ in _by_cost(counted, best_ratios)[:1])
    yield from (a for a, _ in ordered[1:])


def _by_cost(
    tests: Sequence[Traces], several: Sequence[Ratios], shift: Ratio = (0, 0)
) -> list[tuple[Alignment, Ratios]]:
    found: list[tuple[Alignment, Ratios]] = []
    for ratios in several:
        most = min((alignment.cost for alignment, _ in found), default=float("inf")) * MUCH_WORSE
        found += [(alignment, ratios) for alignment in _align(tests, ratios, shift, most)]
    return sorted(found, key=lambda pair: pair[0].cost)


@dataclass(frozen=True)
class _Preference:
    """What makes one alignment cheaper than another."""

    ratios: Ratios
    known: Counter[Edge]
    agreeing: Agreeing
    shift: Ratio = (0, 0)
    """Stations that each side passes before the first that is paired."""
    longest: Ratio = (2, 2)
    """Stations of each side in any test, with the entry."""
    phases: dict[Cut, int] = field(default_factory=dict)
    """By how many iterations one side is ahead of the other at a cut, at the beginning of long runs."""
    edge_costs: dict[tuple[object, int, int, object], float] = field(default_factory=dict)
    """Costs of edges computed so far, by the numbers of their cuts and the steps."""

    @cached_property
    def most(self) -> Ratio:
        """The most iterations of each side that correspond to one of the other."""
        return max((r[0] for r in self.ratios.values()), default=1), max(
            (r[1] for r in self.ratios.values()), default=1
        )


def _align(
    tests: Sequence[Traces], ratios: Ratios, shift: Ratio = (0, 0), most: float = float("inf")
) -> Iterator[Alignment]:
    """Pair the stations of every test. Each test prefers edges that others use; a few passes let all learn from all.
    Yields nothing if the first pass costs more than `most`."""
    known: Counter[Edge] = Counter()
    # Tests of medium length first: their alignment is the least ambiguous.
    ordered = sorted(range(len(tests)), key=lambda n: (not tests[n].begins, abs(len(tests[n].target) - TYPICAL_LENGTH)))
    paths: dict[int, list[tuple[Edge, int, int]]] = {}
    agreeing: Agreeing = {}
    longest = max(len(t.target) for t in tests), max(len(t.rewrite) for t in tests)
    phases: dict[Cut, int] = {}
    for _ in range(PAIRING_PASSES):
        used: Counter[Edge] = Counter()
        settled = _Preference(ratios, known, agreeing, shift, longest, phases) if known else None
        for number in ordered:
            path = _cheapest(tests[number], settled or _Preference(ratios, used, agreeing, shift, longest, phases))
            if path is None:
                return
            paths[number] = path
            if tests[number].begins and not tests[number].ends:
                phases |= {edge.to: _phase(tests[number], ratios, edge.to, i, j) for edge, i, j in path}
            used.update({edge for edge, _, _ in path})
        if used == known:
            break
        first = not known
        known, agreeing = used, _agreeing(tests, paths)
        if first and _alignment(tests, paths, _Preference(ratios, known, agreeing, shift, longest, phases)).cost > most:
            return
    preference = _Preference(ratios, known, agreeing, shift, longest, phases)
    yield _alignment(tests, paths, preference)
    # A test that is the only one to take an edge may be aligned badly: without it the proof finds the missing edges.
    common = {n: p for n, p in paths.items() if all(known[edge] > 1 for edge, _, _ in p)}
    if FEWEST_TESTS <= len(common) < len(paths) and _paired(common) == _paired(paths):
        yield _alignment(tests, common, preference)


def _phase(test: Traces, ratios: Ratios, cut: Cut, i: int, j: int) -> int:
    ratio = _ratio_at(ratios, cut)
    return ratio[1] * test.iterations[0][i] - ratio[0] * test.iterations[1][j]


def _paired(paths: Paths) -> set[BlockId | None]:
    """Stations that are in some cut. A loop without one is not proved."""
    cuts = {edge.to for path in paths.values() for edge, _, _ in path}
    return {cut.target for cut in cuts} | {cut.rewrite for cut in cuts}


def _alignment(tests: Sequence[Traces], paths: Paths, preference: _Preference) -> Alignment:
    every = dict.fromkeys(edge for path in paths.values() for edge, _, _ in path)
    # A window of a long run may begin with a pair that no path from the entry leads to.
    cuts = {ENTRY} | reached(ENTRY, list(every))
    edges = [edge for edge in every if edge.source in cuts]
    matched = [[(e.to, i, j) for e, i, j in paths.get(n, ()) if e.to in cuts - {END}] for n in range(len(tests))]
    costs = [_cost(tests[n], preference, e, i, j) for n, path in paths.items() for e, i, j in path if e.source in cuts]
    # Of the paths from a cut to the end only the longest counts: proving it covers the others.
    apart = {(e.source, e.to) if e.to == END else e for e in edges}
    cost = EDGE_COST * len(apart) + sum(costs) * len(tests) / max(1, len(paths))
    same = [[(p, q) for p, q, apart in pairs if not apart] for pairs in preference.agreeing.values()]
    partners = [min(len({p for p, _ in pairs}), len({q for _, q in pairs})) for pairs in same]
    open_loops = _passed_often(tests) - {cut.target for cut in cuts} - {cut.rewrite for cut in cuts}
    cost += OPEN_COST * len(open_loops)
    return Alignment(sorted(edges, key=_edge_order), matched, cost, min(partners, default=0))


def _passed_often(tests: Sequence[Traces]) -> set[BlockId | None]:
    """Stations that some run passes more often than can be followed at once: they need a cut."""
    return {point for test in tests for side in test.counts for point, times in side.items() if times > MOST_STEPS}


def _edge_order(edge: Edge) -> tuple[bool, bool, str, str, int, int]:
    """Edges from the entry first, edges to the end last."""
    return (
        edge.source != ENTRY,
        edge.to == END,
        str(edge.source),
        str(edge.to),
        edge.target_steps,
        edge.rewrite_steps,
    )


def _cheapest(test: Traces, preference: _Preference) -> list[tuple[Edge, int, int]] | None:
    """The cheapest path from entry to end through pairs of stations (Dijkstra). If stations before or after the trace
    were left out, it begins or ends with a pair near there."""
    goal = (len(test.target), len(test.rewrite))
    best: dict[tuple[int, int], float] = {(0, 0): 0.0}
    came: dict[tuple[int, int], tuple[int, int]] = {}
    queue = [(0.0, 0, 0)]
    arriving: dict[tuple[int, int], float] = {goal: 0.0}
    while queue:
        cost, i, j = heapq.heappop(queue)
        if (i, j) == goal or _is_last(test, preference, i, j):
            return _path(test, came, (i, j))
        if cost > best[i, j]:
            continue
        here = _number_of_cut(test, i, j)
        for pair in _moves(test, preference, i, j):
            known = best.get(pair, float("inf"))
            if cost >= known:
                continue
            if pair not in arriving:
                arriving[pair] = _cost_of_pair(test, preference, _cut_at(test, *pair), *pair)
            total = cost + arriving[pair]
            if total >= known:
                continue
            edge = here, pair[0] - i, pair[1] - j, None if pair == goal else _number_of_cut(test, *pair)
            if here is not None or test.begins:
                if edge not in preference.edge_costs:
                    preference.edge_costs[edge] = _cost_of_edge(preference, _edge(test, (i, j), pair))
                total += preference.edge_costs[edge]
            if total < known:
                best[pair] = total
                came[pair] = i, j
                heapq.heappush(queue, (total, *pair))
    return None


def _is_last(test: Traces, preference: _Preference, i: int, j: int) -> bool:
    """Whether, in a trace whose end was left out, there is no room for the pair of another iteration. The entry is
    never the last: what it leads to is what the first window is for."""
    if test.ends or (i == j == 0 and test.begins):
        return False
    # At a cut of two loops that is an iteration of these two. Others may have far larger ratios: an outer loop of one
    # side against the inner loop of the other.
    here = _cut_at(test, i, j)
    ratio = _ratio_at(preference.ratios, here) if _is_repeated(preference.ratios, here) else preference.most
    return len(test.target) - i <= ratio[0] + 1 and len(test.rewrite) - j <= ratio[1] + 1


def _path(
    test: Traces, came: Mapping[tuple[int, int], tuple[int, int]], goal: tuple[int, int]
) -> list[tuple[Edge, int, int]]:
    path = []
    node = goal
    while node in came:
        path.append((_edge(test, came[node], node), *node))
        node = came[node]
    return path[::-1]


def _edge(test: Traces, source: tuple[int, int], to: tuple[int, int]) -> Edge:
    """From one pair of stations to another, or to the end: its last steps are those to the last station."""
    steps = to[0] - source[0], to[1] - source[1]
    if to == (len(test.target), len(test.rewrite)):
        return Edge(_cut_at(test, *source), steps[0] - 1, steps[1] - 1, END)
    if source == (0, 0) and not test.begins:
        return Edge(LEFT_OUT, 0, 0, _cut_at(test, *to))
    return Edge(_cut_at(test, *source), *steps, _cut_at(test, *to))


def _number_of_cut(test: Traces, i: int, j: int) -> tuple[int, int] | None:
    """Identifies a cut, and is faster to look up."""
    return None if i == j == 0 else (test.numbers[0][i], test.numbers[1][j])


def _cut_at(test: Traces, i: int, j: int) -> Cut:
    return ENTRY if i == j == 0 else Cut(test.target[i].point, test.rewrite[j].point)


def _ratio_at(ratios: Ratios, cut: Cut) -> Ratio:
    if cut.target is None or cut.rewrite is None:
        return 1, 1
    return ratios.get((cut.target, cut.rewrite), (1, 1))


def _is_repeated(ratios: Ratios, cut: Cut) -> bool:
    return cut.target is not None and cut.rewrite is not None and (cut.target, cut.rewrite) in ratios


def _is_iteration(ratios: Ratios, edge: Edge) -> bool:
    """An iteration of both, or of one side while the other has straight code; or the last iteration before such
    code."""
    if edge.source == edge.to:
        return bool(edge.target_steps and edge.rewrite_steps)
    if edge.source == ENTRY or edge.to == END or not _stays(edge) or _is_repeated(ratios, edge.to):
        return False
    return (edge.target_steps, edge.rewrite_steps) == _ratio_at(ratios, edge.source)


def _stays(edge: Edge) -> bool:
    """Whether one side is at the same station again."""
    return edge.source.target == edge.to.target or edge.source.rewrite == edge.to.rewrite


def _is_straight(ratios: Ratios, edge: Edge) -> bool:
    """Iterations of one side while the other executes straight code."""
    if edge.source == ENTRY or _is_repeated(ratios, edge.source) or _is_repeated(ratios, edge.to):
        return False
    return edge.to == END or (_stays(edge) and bool(edge.target_steps and edge.rewrite_steps))


def _too_few(preference: _Preference, edge: Edge) -> Ratio:
    """On an edge outside all unrolled loops: a remainder that is too short for any of them may have code of its own,
    and counts as one iteration."""
    steps = edge.target_steps, edge.rewrite_steps
    left, right = (max(n, 1) if n < limit else 1 for n, limit in zip(steps, preference.most, strict=True))
    return left, right


def _moves(test: Traces, preference: _Preference, i: int, j: int) -> Iterator[tuple[int, int]]:
    """Pairs of stations that both may reach next, or the end."""
    ratios = preference.ratios
    ends = len(test.target), len(test.rewrite)
    if i == j == 0 and not test.begins:
        yield from _first_pairs(test, preference)
        return
    if min(preference.longest) == 1:
        # One side has no loops: it waits until the other one is done.
        yield ends if i + j + 1 == max(ends) else (i + (ends[0] > 1), j + (ends[1] > 1))
        return
    here = _cut_at(test, i, j)
    if test.ends and ends[0] - i <= MOST_STEPS + 1 and ends[1] - j <= MOST_STEPS + 1:
        yield ends
    ratio = _ratio_at(ratios, here)
    k, m = i + ratio[0], j + ratio[1]
    number = _number_of_cut(test, i, j)
    if here != ENTRY and k < ends[0] and m < ends[1] and _number_of_cut(test, k, m) == number:
        yield k, m
    # A last iteration, then what is left for straight code: less than an iteration.
    reach = min(WIDEST_CHANGE, max(2 * ratio[0] - 1, 2)), min(WIDEST_CHANGE, max(2 * ratio[1] - 1, 2))
    if here == ENTRY or not _is_repeated(ratios, here):
        more = 2 if here == ENTRY else 1
        reach = min(WIDEST_CHANGE, preference.most[0] + more), min(WIDEST_CHANGE, preference.most[1] + more)
    left_out = tuple(1 + n if any(preference.shift) else 0 for n in preference.shift) if here == ENTRY else (0, 0)
    lefts, rights = test.numbers
    for k in range(i + left_out[0], min(i + reach[0] + 1, ends[0])):
        elsewhere = k == i or number is None or lefts[k] != number[0]
        for m in range(j + left_out[1], min(j + reach[1] + 1, ends[1])):
            if (elsewhere or m == j or number is None or rights[m] != number[1]) and (k, m) != (i, j):
                yield k, m


def _first_pairs(test: Traces, preference: _Preference) -> Iterator[tuple[int, int]]:
    """Pairs in the first iterations of each side, in a trace whose beginning was left out: which stations of the two
    are passed at the same time is known only roughly."""
    last = len(test.target) - 1, len(test.rewrite) - 1
    reach = min(FIRST_ITERATIONS * preference.most[0], last[0]), min(FIRST_ITERATIONS * preference.most[1], last[1])
    for k in range(min(1, last[0]), reach[0] + 1):
        for m in range(min(1, last[1]), reach[1] + 1):
            yield k, m


def _cost(test: Traces, preference: _Preference, edge: Edge, k: int, m: int) -> float:
    return _cost_of_edge(preference, edge) + _cost_of_pair(test, preference, edge.to, k, m)


def _cost_of_edge(preference: _Preference, edge: Edge) -> float:
    cost = ITERATION_COST
    if not _is_iteration(preference.ratios, edge):
        ratio = _ratio_at(preference.ratios, edge.source)
        if not _is_repeated(preference.ratios, edge.source) and (edge.source != ENTRY or edge.to == END):
            ratio = _too_few(preference, edge)
        # Skipped stations cost as much as pairs that disagree in everything, however many tests take the edge, as if it
        # were not known yet what agrees: otherwise skipping would be cheaper than pairing.
        there = _ratio_at(preference.ratios, edge.to)
        steps = edge.target_steps, edge.rewrite_steps
        skipped = max(-(min(0, ratio[n] - steps[n]) // there[n]) for n in (0, 1))
        if is_left_over(edge, ratio, preference.most):
            skipped, ratio = min(skipped, 1), (max(steps[0], 1), max(steps[1], 1))
        cost += (ITERATION_COST + DISAGREEMENT_COST * MOST_AGREEMENT / 2) * skipped
        once = 1 + STATION_COST * ((edge.target_steps / ratio[0]) ** 2 + (edge.rewrite_steps / ratio[1]) ** 2)
        once += 0.0 if _is_straight(preference.ratios, edge) else EDGE_COST
        once += DISAGREEMENT_COST * MOST_AGREEMENT * skipped
        once += UNPAIRED_COST * max(0, min(edge.target_steps, edge.rewrite_steps) - 1)
        # An edge that many tests take is a good one, however long.
        cost += once / (1 + preference.known[edge])
    if edge.to == END:
        # But stations that both pass before the end have to be encoded in one formula.
        return cost + UNPAIRED_COST * min(edge.target_steps, edge.rewrite_steps)
    if edge.source != edge.to and not _is_iteration(preference.ratios, edge):
        cost += CHANGE_COST
    if not edge.target_steps or not edge.rewrite_steps:
        cost += WAITING_COST
    return cost


def _cost_of_pair(test: Traces, preference: _Preference, cut: Cut, k: int, m: int) -> float:
    """Of a pair of stations, whatever edge leads to it."""
    if cut == END:
        return 0.0
    cost = MEMORY_COST if test.digests[0][k] != test.digests[1][m] else 0.0
    if cut in preference.phases and test.iterations[0]:
        cost += PHASE_COST * (_phase(test, preference.ratios, cut, k, m) != preference.phases[cut])
    pairs = preference.agreeing.get(cut)
    if not preference.agreeing:
        common = test.moving[0][k] & test.moving[1][m]
        agreement = min(MOST_AGREEMENT, sum(1.0 if value > 256 else 0.5 for value in common))
    elif not pairs:
        agreement = MOST_AGREEMENT / 2
    else:
        left, right = test.words[0][k], test.words[1][m]
        agreement = MOST_AGREEMENT * sum(left[p] + apart == right[q] for p, q, apart in pairs) / len(pairs)
        cost += SETTLED_DISAGREEMENT_COST * (MOST_AGREEMENT - agreement)
    return cost + DISAGREEMENT_COST * (MOST_AGREEMENT - agreement)
