"""The low part, the zero extension and the sign extension of a polynomial as polynomials.

Taking the low k bits is a homomorphism of rings: it passes through sums and products to the atoms. An extension passes
through only if the polynomial's value over the integers provably fits the narrow width, so that nothing wrapped.
"""

from __future__ import annotations

from bitwuzla import Kind, Term, TermManager

from isoform.smt import ring
from isoform.smt.choices import Choices, is_conditional
from isoform.smt.intervals import DEPTH, Bounds, any_value, literal, opaque_bounds, polynomial_bounds
from isoform.smt.ring import Interval, Polynomial


class Extensions(Choices):
    """Changes of width, a part of a `Normalizer`. All terms in here are in normal form."""

    def __init__(self, manager: TermManager, expanded: bool = False) -> None:
        super().__init__(manager, expanded)
        self._bounds: dict[int, Bounds] = {}

    # Narrower.

    def _truncated(self, polynomial: Polynomial, inner: int, outer: int) -> Polynomial:
        """The low `outer` bits of a polynomial that is `inner` bits wide."""
        if inner == outer:
            return polynomial
        return ring.substituted(polynomial, lambda number: self._low_part(self._atoms[number], outer), outer)

    def _low_part(self, term: Term, width: int) -> Polynomial:
        """Widths shrink with every call, so the recursion ends soon."""
        kind, value = term.kind(), literal(term)
        if value is not None:
            return ring.constant(value, width)
        if term.sort().bv_size() == width:
            return self._meaning(term)
        if kind in (Kind.BV_ZERO_EXTEND, Kind.BV_SIGN_EXTEND):
            inner = term[0].sort().bv_size()
            if width <= inner:
                return self._truncated(self._meaning(term[0]), inner, width)
            return self._extended_term(term[0], width, kind is Kind.BV_SIGN_EXTEND)
        if kind is Kind.BV_CONCAT:
            return self._low_part_of_concat(term[0], term[1], width)
        if is_conditional(term):
            kept = self._truncated(self._meaning(term[1]), term.sort().bv_size(), width)
            return self._conditional(term[0], kept, width)
        whole, low = (term[0], term.indices()[1]) if kind is Kind.BV_EXTRACT else (term, 0)
        return self._as_atom(self._manager.mk_term(Kind.BV_EXTRACT, [whole], [low + width - 1, low]))

    def _low_part_of_concat(self, upper: Term, lower: Term, width: int) -> Polynomial:
        lower_width = lower.sort().bv_size()
        if width <= lower_width:
            return self._truncated(self._meaning(lower), lower_width, width)
        rest = self._truncated(self._meaning(upper), upper.sort().bv_size(), width - lower_width)
        if not rest:
            return self._extended(self._meaning(lower), lower_width, width, signed=False)
        top = self._represent(rest, width - lower_width)
        return self._as_atom(self._manager.mk_term(Kind.BV_CONCAT, [top, lower]))

    # Wider.

    def _extended(self, polynomial: Polynomial, inner: int, outer: int, signed: bool) -> Polynomial:
        if inner == outer:
            return polynomial
        for as_signed in (signed, not signed):
            shift = ring.shift_to_fit(self._value_range(polynomial, inner, as_signed), inner, signed)
            if shift is not None:
                return self._spread(polynomial, shift, (inner, outer), as_signed)
        return self._extended_term(self._represent(polynomial, inner), outer, signed)

    def _spread(self, polynomial: Polynomial, shift: int, widths: tuple[int, int], signed: bool) -> Polynomial:
        """The same integer polynomial (plus a constant) at a larger width, its atoms extended."""
        inner, outer = widths
        integer = {m: ring.signed(c, inner) for m, c in polynomial.items()}
        integer[()] = integer.get((), 0) + shift
        return ring.substituted(integer, lambda n: self._extended_term(self._atoms[n], outer, signed), outer)

    def _padded(self, polynomial: Polynomial, width: int) -> Polynomial:
        """Some wider polynomial with the same low bits; the upper bits do not matter."""
        return ring.substituted(polynomial, lambda number: self._padded_atom(self._atoms[number], width), width)

    def _padded_atom(self, term: Term, width: int) -> Polynomial:
        kind = term.kind()
        if kind is Kind.BV_EXTRACT and term.indices()[1] == 0 and term[0].sort().bv_size() >= width:
            return self._low_part(term[0], width)
        return self._extended_term(term, width, kind is Kind.BV_SIGN_EXTEND)

    def _extended_term(self, term: Term, width: int, signed: bool) -> Polynomial:
        """An extended term without further rewriting. Nested extensions become one; if the sign bit is known to be 0 it
        is a zero extension."""
        number = literal(term)
        if number is not None:
            bits = term.sort().bv_size()
            return ring.constant(number - (number >> (bits - 1) << bits) if signed else number, width)
        if is_conditional(term):
            value = self._extended(self._meaning(term[1]), term.sort().bv_size(), width, signed)
            return self._conditional(term[0], value, width)
        kind, inner = term.kind(), term.sort().bv_size()
        signed = signed and self._bounds_of(term).unsigned[1] >> (inner - 1) > 0
        if kind is Kind.BV_ZERO_EXTEND or (kind is Kind.BV_SIGN_EXTEND and signed):
            term, signed = term[0], kind is Kind.BV_SIGN_EXTEND
        extra = width - term.sort().bv_size()
        kind = Kind.BV_SIGN_EXTEND if signed else Kind.BV_ZERO_EXTEND
        return self._as_atom(self._manager.mk_term(kind, [term], [extra]))

    # Bounds.

    def _bounds_of(self, term: Term, depth: int = DEPTH) -> Bounds:
        if depth == 0:
            return any_value(term.sort().bv_size())
        known = self._bounds.get(term.id())
        if known is None:
            known = self._find_bounds(term, depth)
            self._bounds[term.id()] = known
            self._atoms.setdefault(term.id(), term)
        return known

    def _find_bounds(self, term: Term, depth: int) -> Bounds:
        polynomial = self._meanings.get(term.id())
        if polynomial is None:
            return opaque_bounds(term, lambda operand: self._bounds_of(operand, depth - 1))
        width = term.sort().bv_size()
        readings = [self._value_range(polynomial, width, signed, depth) for signed in (False, True)]
        return polynomial_bounds(readings, width)

    def _value_range(self, polynomial: Polynomial, width: int, signed: bool, depth: int = DEPTH) -> Interval:
        def atom_range(number: int) -> Interval:
            bounds = self._bounds_of(self._atoms[number], depth - 1)
            return bounds.signed if signed else bounds.unsigned

        return ring.value_range(polynomial, width, atom_range)
