"""What the code itself compares: of all possible comparisons between features, these come first."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import combinations

from bitwuzla import Kind as K  # noqa: N817 (as in terms.py)

from isoform.engines.loops.guess.features import Feature
from isoform.engines.loops.segment import Place
from isoform.engines.loops.tuning import MOST_IN_COMPARISON
from isoform.model.values import dataclass
from isoform.smt.simulate import topological
from isoform.smt.terms import Term

_ORDERS = frozenset({K.BV_ULT, K.BV_ULE, K.BV_UGT, K.BV_UGE, K.BV_SLT, K.BV_SLE, K.BV_SGT, K.BV_SGE})

Together = frozenset[frozenset[Feature]]


@dataclass(frozen=True)
class Compared:
    together: Together = frozenset()
    """Features that occur in one comparison; one alone is compared with a number."""
    ordered: frozenset[Feature] = frozenset()
    """Features that are compared for order, not only for equality."""

    def also(self, other: Compared, known: Collection[Feature]) -> Compared:
        """With the comparisons of elsewhere, as far as they mention several features that are known here."""
        more = (features for features in other.together if len(features) > 1 and features.issubset(known))
        return Compared(self.together.union(more), self.ordered)


def compared(
    roots: Iterable[Term],
    places: Mapping[Term, tuple[str, Place]],
    features: Sequence[Feature],
    given: Sequence[Feature],
    cells: Mapping[Term, Feature],
) -> Compared:
    """The features in each comparison under `roots`, where `places` says which variable stands for which place, and
    `cells` which term is a word of memory that is a feature. Comparisons of other loaded words say nothing about the
    features that form their address."""
    support: dict[Term, frozenset[Feature] | None] = {}
    read = _reader(places, features, given)
    found: set[frozenset[Feature]] = set()
    ordered: set[Feature] = set()
    for term in topological(list(roots)):
        support[term] = frozenset((cells[term],)) if term in cells else _support(term, support, read)
        about = support[term]
        if not about or not (term.kind() == K.EQUAL or term.kind() in _ORDERS) or term.children()[0].sort().is_bool():
            continue
        found.add(about)
        ordered.update(about if term.kind() in _ORDERS else ())
    return Compared(frozenset(found), frozenset(ordered))


def _reader(
    places: Mapping[Term, tuple[str, Place]], features: Sequence[Feature], given: Sequence[Feature]
) -> Callable[[Term, int, int], frozenset[Feature]]:
    def read(variable: Term, low: int, high: int) -> frozenset[Feature]:
        if variable in places:
            place = places[variable]
            mine = (f for f in features if (f.tag, f.place) == place)
        else:
            mine = (f for f in given if f.place == variable.symbol())
        return frozenset(f for f in mine if f.low <= high and low < f.low + f.bits)

    return read


def _support(
    term: Term,
    support: Mapping[Term, frozenset[Feature] | None],
    read: Callable[[Term, int, int], frozenset[Feature]],
) -> frozenset[Feature] | None:
    """The features that a term is about; None if too many, or if memory is read."""
    if term.is_const():
        return read(term, 0, term.sort().bv_size() - 1) if term.sort().is_bv() else None
    if term.kind() == K.BV_EXTRACT and term.children()[0].is_const():
        high, low = (int(n) for n in term.indices())
        return read(term.children()[0], low, high)
    found: frozenset[Feature] = frozenset()
    for child in term.children():
        theirs = support[child]
        if theirs is None:
            return None
        found |= theirs
    return found if len(found) <= MOST_IN_COMPARISON else None


def pairs_in(together: Together) -> frozenset[frozenset[Feature]]:
    """Pairs of features that are compared with each other."""
    pairs = (pair for features in together for pair in combinations(sorted(features, key=str), 2))
    return frozenset(map(frozenset, pairs))


def links_of(pairs: frozenset[frozenset[Feature]]) -> frozenset[frozenset[Feature]]:
    """Pairs of features that are each compared with a third one: if one index goes up from the first element and
    another down from the last until they meet, neither is compared with the start of the other, but lies beyond it."""
    others: dict[Feature, set[Feature]] = {}
    for pair in pairs:
        for feature in pair:
            others.setdefault(feature, set()).update(pair - {feature})
    return frozenset(frozenset(two) for known in others.values() for two in combinations(known, 2)) - pairs
