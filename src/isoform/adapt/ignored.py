"""Parameters that a function does not look at."""

from __future__ import annotations

from isoform.adapt.pair import Pair
from isoform.borders.at_entry import register_parameters
from isoform.borders.convention import place_signature
from isoform.engines.answer import lifted
from isoform.model.budget import Budget


def ignored_by_rewrite(pair: Pair, budget: Budget) -> frozenset[int]:
    """Parameters of the rewrite whose registers it does not read. They get 0; the comparison shows that it does not
    matter."""
    placement = place_signature(pair.machine, pair.signatures[1])
    read, sizes = register_parameters(pair.machine, (lifted(pair.loaded[1], True, budget),), placement.results)
    names = {p.name for p in read if sizes.get(p.name, True)}
    places = [argument.places[0].register for argument in placement.arguments]
    return frozenset(n for n, register in enumerate(places) if register is not None and register not in names)
