"""Why one side cannot turn for ever while the other waits: a number that gets smaller each time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from isoform.engines.loops.align.cuts import Cut
from isoform.engines.loops.guess.facts import Constant, OnStack
from isoform.engines.loops.guess.features import Column, Show, Values
from isoform.engines.loops.prove.simulation import Simulation
from isoform.smt.terms import Term, Terms

_MOST_COLUMNS = 8


@dataclass(frozen=True)
class Measure:
    """`left - right` without sign: there is no infinite descent among numbers of `bits` bits."""

    left: Column | None
    right: Column | None
    bits: int

    def term(self, terms: Terms, value: Values) -> Term:
        zero = terms.bv(0, self.bits)
        left, right = (c.term(terms, value, self.bits) if c is not None else zero for c in (self.left, self.right))
        return terms.sub(left, right)

    def text(self, show: Show) -> str:
        left = self.left.text(show) if self.left is not None else ""
        return left if self.right is None else f"{left} - {self.right.text(show)}"


def measures(simulation: Simulation, cut: Cut) -> Iterator[Measure]:
    """Numbers worth trying at a cut: features, and differences between them or an argument and one of them."""
    node = simulation.nodes[cut]
    moving = [
        f for f in node.features if not isinstance(node.invariant.definitions.get(f, (None,))[0], Constant | OnStack)
    ]
    for bits in (32, 64):
        mine = [Column(f) for f in moving if f.bits == bits][:_MOST_COLUMNS]
        given = [Column(f) for f in simulation.given.arguments if f.bits == bits]
        for column in mine:
            yield from (Measure(other, column, bits) for other in given)
        for column in mine:
            yield Measure(column, None, bits)
            yield from (Measure(column, other, bits) for other in (*mine, *given) if other != column)
        yield from (Measure(None, column, bits) for column in mine)
