"""Guessing an invariant: all facts of a few kinds that hold in all the data.

Nothing here is trusted. Too little data gives facts that do not hold, and the proof refutes them; a model that breaks
one becomes a further row, and the guess is repeated from all rows, so that combinations of equations which still hold
are not lost.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from bitwuzla import Kind as K  # noqa: N817 (as in terms.py)

from isoform.engines.loops.guess.data import Data
from isoform.engines.loops.guess.facts import AtEntry, Fact, Same
from isoform.engines.loops.guess.features import Feature, Row
from isoform.engines.loops.guess.invariant import GivenAtEntry, Invariant, Kinds, Order
from isoform.engines.loops.guess.lanes import Lanes
from isoform.engines.loops.guess.linear import LinearFacts
from isoform.engines.loops.guess.order import Ordering
from isoform.engines.loops.guess.single import Single


def guess(
    rows: Sequence[Row],
    features: Sequence[Feature],
    given: GivenAtEntry,
    constants: Collection[int] = (),
    banned: Collection[Fact] = (),
    kinds: Kinds | None = None,
) -> Invariant:
    """What holds of `features` in all rows, but not the facts that are `banned`. `constants` are numbers that the
    code compares with."""
    data = Data(rows, features, given, constants, kinds or Kinds(), Invariant(banned=banned))
    single, linear, lanes = Single(data), LinearFacts(data), Lanes(data)
    single.find()
    if data.kinds.floats:
        single.numbers()
    single.extensions()
    lanes.flags()
    for bits in (64, 32, 16, 8):
        linear.find(bits)
    linear.congruences()
    _kept(data)
    _measured(data)
    lanes.exclusive()
    lanes.folds()
    if data.kinds.order is not Order.NONE:
        Ordering(data).find()
    return data.invariant


def _measured(data: Data) -> None:
    """A pointer that nothing defines is a distance from its object: what is defined by it is then a sum of which no
    address but one is left. Not in constants: there a pointer may be anywhere, but a distance is an index into a table,
    of which formulas have every entry."""
    for feature in data.free():
        start = data.object_of(feature)
        if start is not None and not start.is_constant:
            data.invariant.measured.setdefault(feature, start)


def _kept(data: Data) -> None:
    for feature, first in data.kinds.at_entry.items():
        definition = data.invariant.definitions.get(feature, (None,))[0]
        if definition is None:
            data.invariant.define(feature, AtEntry(feature, first))
        elif isinstance(definition, Same) and not definition.right.tag and first.kind() == K.ITE:
            # In the tests it equals an argument, but the code chose it: its comparisons tell when that can be.
            data.invariant.add(AtEntry(feature, first))
