"""Whether a value depends on some variables, bit by bit: half of a register may be an argument."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from bitwuzla import Kind

from isoform.smt.terms import Term, Terms

_Bits = tuple[Term, int, int]
"""A term, and the highest and lowest of its bits that matter; both are 0 if it is not a bit-vector."""

_BITWISE = frozenset({Kind.BV_AND, Kind.BV_OR, Kind.BV_XOR, Kind.BV_NOT})
_CARRYING = frozenset({Kind.BV_ADD, Kind.BV_SUB, Kind.BV_MUL, Kind.BV_NEG})
"""Operators whose bits depend on the operands' bits at the same place and below."""


class Dependence:
    """Dependence on a growing set of variables. "No" is certain; "yes" is not, because terms are inspected and not
    solved."""

    def __init__(self, terms: Terms, roots: Collection[Term]) -> None:
        self._terms = terms
        self._roots = roots
        self._counted = 0
        self._known: dict[_Bits, bool] = {}

    def of(self, term: Term) -> bool:
        if len(self._roots) != self._counted:
            self._counted, self._known = len(self._roots), {}
        top = self._whole(term)
        pending = [top]
        while pending:
            bits = pending[-1]
            parts = [] if bits in self._known else list(self._parts(bits))
            missing = [part for part in parts if part not in self._known]
            if missing:
                pending += missing
                continue
            pending.pop()
            if bits not in self._known:
                self._known[bits] = bits[0] in self._roots or any(self._known[part] for part in parts)
        return self._known[top]

    def _whole(self, term: Term) -> _Bits:
        return term, self._terms.width(term) - 1 if term.sort().is_bv() else 0, 0

    def _parts(self, bits: _Bits) -> Iterator[_Bits]:
        """What these bits are made of."""
        term, high, low = bits
        if term in self._roots:
            return
        children = term.children()
        kind = term.kind()
        if kind == Kind.BV_EXTRACT:
            start = term.indices()[1]
            yield children[0], start + high, start + low
        elif kind == Kind.BV_CONCAT:
            yield from self._pieces(children, high, low)
        elif kind == Kind.ITE and term.sort().is_bv():
            yield self._whole(children[0])
            yield from ((child, high, low) for child in children[1:])
        elif kind in (Kind.BV_ZERO_EXTEND, Kind.BV_SIGN_EXTEND):
            last = self._terms.width(children[0]) - 1
            if low <= last or kind == Kind.BV_SIGN_EXTEND:
                yield children[0], min(high, last), min(low, last)
        elif kind in _BITWISE:
            yield from ((child, high, low) for child in children)
        elif kind in _CARRYING:
            yield from ((child, high, 0) for child in children)
        else:
            yield from (self._whole(child) for child in children)

    def _pieces(self, children: list[Term], high: int, low: int) -> Iterator[_Bits]:
        start = 0
        for child in reversed(children):
            width = self._terms.width(child)
            first, last = max(low - start, 0), min(high - start, width - 1)
            if first <= last:
                yield child, last, first
            start += width
