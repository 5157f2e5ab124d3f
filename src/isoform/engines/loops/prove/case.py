"""A case: both sides executed where a condition holds; and what else may hold in it, as one model suggests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field
from functools import partial
from itertools import islice
from typing import TypeVar

from isoform.engines.loops.align.cuts import Cut
from isoform.engines.loops.prove.node import Horizon, Pass
from isoform.engines.loops.prove.questions import Questions, Refutation
from isoform.engines.loops.tuning import MOST_NEAR, NEAR_BYTES
from isoform.model.values import dataclass
from isoform.smt.simulate import topological
from isoform.smt.terms import Term, Terms
from isoform.sym.context import Context, disjoint, doubts_by_bases

Item = TypeVar("Item")
Bad = Callable[[Pass], Term]
"""What must not happen, by a pass."""


@dataclass
class Case:
    """Both sides executed from a cut where `under` holds."""

    cut: Cut
    under: Term
    horizon: Horizon | None
    contexts: tuple[Context, Context]
    followed: Pass
    narrowed: bool = False
    rounds: int = 0
    outdated: bool = False
    """Whether more is known than when both sides were executed last."""
    empty: bool = False
    """Whether `under` is unsatisfiable."""
    shown: list[Refutation] = field(default_factory=list)
    """The proofs of the claims in the contexts."""
    parts: tuple[Case, Case] | None = None
    about: Bad | None = None
    """The last question asked: it may read memory at addresses of its own."""

    @property
    def noted(self) -> int:
        return sum(len(context.bases) + len(context.doubts) for context in self.contexts)


@dataclass(frozen=True)
class CaseClaim:
    """A claim that may hold in a case, and what to do if it does."""

    fact: Term
    take: Callable[[], None]


class Suggestions:
    """What the current model of the solver suggests about a case."""

    def __init__(self, terms: Terms, questions: Questions) -> None:
        self._terms = terms
        self._questions = questions

    def dead(self, case: Case) -> Iterator[CaseClaim]:
        """Branches that the model does not take."""
        for context in case.contexts:
            for edge, condition in context.edges.items():
                if condition != self._terms.false and not self._questions.solver.holds(condition):
                    yield CaseClaim(self._terms.negate(condition), _adding(context.dead, edge))

    def same(self, case: Case) -> Iterator[CaseClaim]:
        return (c for c in self._near(case) if not self._reads(c.fact))

    def same_read(self, case: Case) -> Iterator[CaseClaim]:
        """The order of pointers that depend on memory contents is seldom known, and hard to find out."""
        return (c for c in self._near(case) if self._reads(c.fact))

    def _near(self, case: Case) -> Iterator[CaseClaim]:
        """Addresses that are near a simpler one in the model, as that one plus a distance."""
        terms = self._terms
        bases = dict.fromkeys(base for context in case.contexts for base in context.bases)
        values = {base: self._questions.solver.value(base) for base in bases}
        simple_first = sorted(bases, key=lambda b: len(topological([b])))
        for number, base in enumerate(simple_first):
            width = terms.width(base)
            distances = {b: (values[base] - values[b]) % (1 << width) for b in simple_first[:number]}
            near = (b for b, distance in distances.items() if self._is_near(b, distance))
            for simpler in islice(near, MOST_NEAR):
                distance = distances[simpler]
                other = terms.add(simpler, terms.bv(distance, width))
                yield CaseClaim(terms.eq(base, other), naming(case.contexts, base, other))

    def _is_near(self, base: Term, distance: int) -> bool:
        """Whether an address may be a base plus this distance: anywhere in an object, where a counter has its last
        value, for example."""
        item = self._terms.layout.object_at(base)
        in_object = item is not None and item.holds(distance, 1)
        return in_object or (distance + NEAR_BYTES) % (1 << self._terms.width(base)) < 2 * NEAR_BYTES

    def ranges_apart(self, case: Case) -> Iterator[CaseClaim]:
        """That stores and loads at known distances from the same two bases do not overlap from the first to the last:
        the accesses of a few iterations to two arrays. One question instead of many."""
        for context in case.contexts:
            for store, load, doubts in doubts_by_bases(self._terms, context):
                if len(doubts) < 2:
                    continue
                fact = disjoint(self._terms, store, load)
                if self._questions.solver.holds(fact):
                    yield CaseClaim(fact, partial(context.apart.update, doubts))

    def apart(self, case: Case) -> Iterator[CaseClaim]:
        """Stores and loads that do not overlap in the model."""
        for context in case.contexts:
            for pair in dict.fromkeys(doubt[:2] for doubt in context.doubts):
                fact = disjoint(self._terms, *pair)
                if self._questions.solver.holds(fact):
                    yield CaseClaim(fact, _adding(context.apart, pair))

    def apart_if_made(self, case: Case) -> Iterator[CaseClaim]:
        """The same of accesses that are made under a condition: what `restrict` says, and what follows from bounds, is
        about accesses that are made."""
        for context in case.contexts:
            for doubt in context.doubts:
                store, load, condition = doubt
                fact = self._terms.implies(condition, disjoint(self._terms, store, load))
                if condition != self._terms.true and self._questions.solver.holds(fact):
                    yield CaseClaim(fact, _adding(context.apart_if, doubt))

    def _reads(self, term: Term) -> bool:
        return any(unknown.sort().is_array() for unknown in self._questions.unknowns(term))


def _adding(known: set[Item], item: Item) -> Callable[[], None]:
    return lambda: known.add(item)


def naming(contexts: tuple[Context, Context], base: Term, other: Term) -> Callable[[], None]:
    def take() -> None:
        for context in contexts:
            context.same.setdefault(base, other)

    return take
