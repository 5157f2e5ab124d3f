"""What holds in one case of a question, so that execution need not carry along what cannot happen in it.

The creator of a context guarantees it: in this case the edges that it calls dead are not taken, the addresses that it
calls equal are equal, and the accesses that it calls disjoint do not overlap. Execution then omits, unifies and skips
accordingly; its formulas mean the same as without the context wherever the case holds. Execution also records in it
what it could not decide, as what to examine next.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field

from isoform.lift.function import BlockId
from isoform.model.values import dataclass
from isoform.smt.terms import Term, Terms

Edge = tuple[int, BlockId, bool]
"""A branch taken or not: the layer and the block that it ends."""
Access = tuple[Term, int]
"""An address and how many bytes there."""
Pair = tuple[Access, Access]
Doubt = tuple[Access, Access, Term]
"""A store, a later access, and the condition under which the later access is made."""
_MOST_DOUBTS = 256


@dataclass
class Context:
    """For one side, in one case."""

    dead: set[Edge] = field(default_factory=set)
    same: dict[Term, Term] = field(default_factory=dict)
    """The base of an address (without the added constant), and its replacement."""
    apart: set[Pair] = field(default_factory=set)
    """A store and a later load or store that do not overlap."""
    apart_if: set[Doubt] = field(default_factory=set)
    """The same, where the condition holds under which the later one is made: elsewhere nobody uses its result."""

    grain: int | None = None
    """Wide accesses are made this many bytes at a time, if not all at once."""

    edges: dict[Edge, Term] = field(default_factory=dict)
    """The condition of every edge that was followed."""
    bases: dict[Term, None] = field(default_factory=dict)
    doubts: dict[Doubt, None] = field(default_factory=dict)
    """Stores and later loads or stores for which it could not be decided whether they overlap."""

    def forget(self) -> None:
        """Begin recording again."""
        self.edges, self.bases, self.doubts = {}, {}, {}

    def branch(self, terms: Terms, here: tuple[int, BlockId], state: Term, condition: Term) -> tuple[Term, Term]:
        """The conditions of taking a branch and of not taking it, from where `state` holds."""
        edges: list[Edge] = [(*here, True), (*here, False)]
        if edges[0] in self.dead:
            return terms.false, state
        if edges[1] in self.dead:
            return state, terms.false
        taken = terms.conj(state, condition), terms.conj(state, terms.negate(condition))
        self.edges.update(zip(edges, taken, strict=True))
        return taken

    def address(self, terms: Terms, address: Term) -> Term:
        base, constant = terms.split_sum(address)
        while base is not None and base in self.same:
            address = terms.add(self.same[base], terms.bv(constant, terms.width(address)))
            base, constant = terms.split_sum(address)
        if base is not None:
            self.bases[base] = None
        return address

    def are_apart(self, store: Access, load: Access, condition: Term) -> bool:
        """Whether a store and a later access, made under a condition, do not overlap."""
        doubt = store, load, condition
        if (store, load) in self.apart or doubt in self.apart_if:
            return True
        if len(self.doubts) < _MOST_DOUBTS:
            self.doubts[doubt] = None
        return False


def disjoint(terms: Terms, store: Access, load: Access) -> Term:
    """That a store and a load do not overlap."""
    width = terms.width(store[0])
    distance = terms.sub(load[0], store[0])
    above = terms.ule(terms.bv(store[1], width), distance)
    return terms.conj(above, terms.ule(distance, terms.bv(-load[1], width)))


def doubts_by_bases(terms: Terms, context: Context) -> Iterator[tuple[Access, Access, list[Pair]]]:
    """Doubts about accesses at known distances from the same two bases, each time with the ranges from the first to the
    last of these: accesses to two arrays."""
    pairs: dict[tuple[Term, Term], list[Pair]] = {}
    for store, load in dict.fromkeys(doubt[:2] for doubt in context.doubts):
        one, other = terms.split_sum(store[0])[0], terms.split_sum(load[0])[0]
        if one is not None and other is not None:
            pairs.setdefault((one, other), []).append((store, load))
    for doubts in pairs.values():
        store, load = (_range(terms, dict.fromkeys(accesses)) for accesses in zip(*doubts, strict=True))
        # A range that wraps around all addresses has no length that an address could have.
        if not max(store[1], load[1]) >> terms.width(store[0]):
            yield store, load, doubts


def _range(terms: Terms, accesses: Iterable[Access]) -> Access:
    """From the first to the last byte of accesses at known distances from one base."""
    splits = [(*terms.split_sum(address), size) for address, size in accesses]
    base = splits[0][0]
    assert base is not None
    half = 1 << (terms.width(base) - 1)
    offsets = [((constant + half) % (2 * half) - half, size) for _, constant, size in splits]
    low = min(offset for offset, _ in offsets)
    size = max(offset + size for offset, size in offsets) - low
    return terms.add(base, terms.bv(low, terms.width(base))), size
