"""What polynomials consist of: atoms, which are the terms that are not arithmetic, and terms that stand for
polynomials."""

from __future__ import annotations

from abc import ABC, abstractmethod

from bitwuzla import Term, TermManager

from isoform.smt import ring
from isoform.smt.intervals import literal
from isoform.smt.ring import Polynomial


class Atoms(ABC):
    """The part of a `Normalizer` that knows its atoms. All terms in here are in normal form.

    A base class and not a part with a way back to its owner: the garbage collector must never find terms of bitwuzla
    in a cycle, since it may free their manager before them.
    """

    def __init__(self, manager: TermManager) -> None:
        self._manager = manager
        self._atoms: dict[int, Term] = {}
        self._meanings: dict[int, Polynomial] = {}

    @abstractmethod
    def _represent(self, polynomial: Polynomial, width: int, shape: Term | None = None) -> Term:
        """The term that stands for a polynomial."""

    @abstractmethod
    def _only_of_its_words(self, choice: Term) -> Term | None:
        """The first term that is the greatest, or the least, of the same words; None if the choice is not of that
        kind."""

    def _value(self, value: int, width: int) -> Term:
        return self._manager.mk_bv_value(self._manager.mk_bv_sort(width), value % (1 << width))

    def _atom(self, number: int) -> Term:
        return self._atoms[number]

    def _as_atom(self, term: Term) -> Polynomial:
        value = literal(term)
        if value is not None:
            return ring.constant(value, term.sort().bv_size())
        self._atoms[term.id()] = term
        return {(term.id(),): 1}

    def _learn(self, term: Term, polynomial: Polynomial) -> None:
        """From now on `term` stands for `polynomial`."""
        self._atoms[term.id()] = term
        self._meanings[term.id()] = polynomial

    def _meaning(self, term: Term) -> Polynomial:
        known = self._meanings.get(term.id())
        return self._as_atom(term) if known is None else known
