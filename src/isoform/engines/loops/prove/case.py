"""A case: both sides executed where a condition holds; and what else may hold in it, as one model suggests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
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
from isoform.sym.context import Access, Context

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
            near = (
                b
                for b in simple_first[:number]
                if (values[base] - values[b] + NEAR_BYTES) % (1 << width) < 2 * NEAR_BYTES
            )
            for simpler in islice(near, MOST_NEAR):
                distance = (values[base] - values[simpler]) % (1 << width)
                other = terms.add(simpler, terms.bv(distance, width))
                yield CaseClaim(terms.eq(base, other), naming(case.contexts, base, other))

    def ranges_apart(self, case: Case) -> Iterator[CaseClaim]:
        """That stores and loads at known distances from the same two bases do not overlap from the first to the last:
        the accesses of a few iterations to two arrays. One question instead of many."""
        for context in case.contexts:
            pairs: dict[tuple[Term, Term], list[tuple[Access, Access]]] = {}
            for store, load in context.doubts:
                one, other = self._terms.split_sum(store[0])[0], self._terms.split_sum(load[0])[0]
                if one is not None and other is not None:
                    pairs.setdefault((one, other), []).append((store, load))
            for doubts in pairs.values():
                store, load = (self._range(dict.fromkeys(accesses)) for accesses in zip(*doubts, strict=True))
                # A range that wraps around all addresses has no length that an address could have.
                if len(doubts) < 2 or max(store[1], load[1]) >> self._terms.width(store[0]):
                    continue
                fact = self._disjoint(store, load)
                if self._questions.solver.holds(fact):
                    yield CaseClaim(fact, partial(context.apart.update, doubts))

    def _range(self, accesses: Iterable[Access]) -> Access:
        """From the first to the last byte of accesses at known distances from one base."""
        terms = self._terms
        splits = [(*terms.split_sum(address), size) for address, size in accesses]
        base = splits[0][0]
        assert base is not None
        half = 1 << (terms.width(base) - 1)
        offsets = [((constant + half) % (2 * half) - half, size) for _, constant, size in splits]
        low = min(offset for offset, _ in offsets)
        size = max(offset + size for offset, size in offsets) - low
        return terms.add(base, terms.bv(low, terms.width(base))), size

    def apart(self, case: Case) -> Iterator[CaseClaim]:
        """Stores and loads that do not overlap in the model."""
        for context in case.contexts:
            for doubt in context.doubts:
                fact = self._disjoint(*doubt)
                if self._questions.solver.holds(fact):
                    yield CaseClaim(fact, _adding(context.apart, doubt))

    def _disjoint(self, store: Access, load: Access) -> Term:
        terms, width = self._terms, self._terms.width(store[0])
        distance = terms.sub(load[0], store[0])
        above = terms.ule(terms.bv(store[1], width), distance)
        return terms.conj(above, terms.ule(distance, terms.bv(-load[1], width)))

    def _reads(self, term: Term) -> bool:
        return any(unknown.sort().is_array() for unknown in self._questions.unknowns(term))


def _adding(known: set[Item], item: Item) -> Callable[[], None]:
    return lambda: known.add(item)


def naming(contexts: tuple[Context, Context], base: Term, other: Term) -> Callable[[], None]:
    def take() -> None:
        for context in contexts:
            context.same.setdefault(base, other)

    return take
