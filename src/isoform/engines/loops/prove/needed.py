"""What is live at a cut: the bits of registers and frame slots that something there or at a later cut depends on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from isoform.engines.loops.align.cuts import Cut, Edge
from isoform.engines.loops.guess.features import Feature, parts, uses
from isoform.engines.loops.prove.starts import Plain
from isoform.engines.loops.segment import Place
from isoform.smt.terms import Term

Needed = dict[tuple[str, Place], list[tuple[int, int]]]
"""By side and place: which bits are live, as lowest and highest."""
Carried = Callable[[Edge, Sequence[Feature]], list[Term]]
"""Features at the end of an edge, by the values at its start."""


def needed_at(
    plain: Mapping[Cut, Plain], edges: Sequence[Edge], roots: dict[Cut, list[Term]], carried: Carried
) -> dict[Cut, Needed]:
    """Which bits of which places the roots at each cut depend on, there and at the cuts before."""
    needed: dict[Cut, Needed] = {cut: {} for cut in plain}
    seen: dict[Cut, set[object]] = {cut: set() for cut in plain}
    while any(roots.values()):
        cut = next(c for c, terms in roots.items() if terms)
        here, roots[cut] = roots[cut], []
        before = parts_of(needed[cut])
        for variable, low, high in uses(here, plain[cut].widths, seen[cut]):
            needed[cut].setdefault(plain[cut].places[variable], []).append((low, high))
        # What is live here must be carried here from the cuts before.
        new = [f for f in parts_of(needed[cut]) if f not in before]
        for edge in edges:
            if new and edge.to == cut and edge.source in plain:
                roots[edge.source] += carried(edge, new)
    return needed


def overlaps(feature: Feature, needed: Needed) -> bool:
    ranges = needed.get((feature.tag, feature.place), ())
    return any(low < feature.low + feature.bits and feature.low <= high for low, high in ranges)


def parts_of(needed: Needed) -> list[Feature]:
    return [
        Feature(tag, place, low, bits)
        for (tag, place), ranges in needed.items()
        for low, bits in parts(ranges, isinstance(place, str))
    ]
