"""From a polynomial to the term that stands for it: the shape in which it was written, or a sum of monomials."""

from __future__ import annotations

from bitwuzla import Kind, Term, TermManager

from isoform.smt import ring
from isoform.smt.atoms import Atoms
from isoform.smt.carries import Key, key_with_carries
from isoform.smt.intervals import literal
from isoform.smt.ring import ExpansionError, Polynomial

_KNOWN_PRODUCTS = 64
"""Products counted in the cost of a term; beyond that its shape is kept anyway."""


class Representatives(Atoms):
    """The part of a `Normalizer` that writes polynomials as terms, each as one and the same term. All terms in here are
    in normal form. With `expanded`, a polynomial is always the sum of its monomials; otherwise it is the cheaper one,
    in adders and multipliers, of that sum and the shape in which it was first met."""

    def __init__(self, manager: TermManager, expanded: bool = False) -> None:
        super().__init__(manager)
        self._expanded = expanded
        self._representatives: dict[tuple[int, frozenset[tuple[ring.Monomial, int]]], Term] = {}
        self._carrying: dict[Key, Term] = {}
        self._products: dict[int, frozenset[tuple[int, int]]] = {}
        self._adders: dict[int, int] = {}

    def _represent(self, polynomial: Polynomial, width: int, shape: Term | None = None) -> Term:
        key = (width, frozenset(polynomial.items()))
        known = self._representatives.get(key)
        if known is None and self._carrying:
            known = self._same_with_carries(polynomial, width)
        if known is not None:
            return known
        term = self._as_leaf(polynomial, width)
        if term is None:
            if shape is None or self._expanded or self._cost(shape) > _cost_of_sum(polynomial, width):
                term = self._sum(polynomial, width)
            else:
                term = shape
            self._learn(term, polynomial)
        else:
            # The inside of an atom costs the same in a sum of monomials as in the shape.
            self._adders[term.id()], self._products[term.id()] = 0, frozenset()
        self._representatives[key] = term
        carries = self._key_with_carries(polynomial, width)
        if carries is not None:
            self._carrying.setdefault(carries, term)
        return term

    def _same_with_carries(self, polynomial: Polynomial, width: int) -> Term | None:
        carries = self._key_with_carries(polynomial, width)
        return self._carrying.get(carries) if carries is not None else None

    def _key_with_carries(self, polynomial: Polynomial, width: int) -> Key | None:
        try:
            return key_with_carries(polynomial, width, self._atom, self._meaning)
        except ExpansionError:
            return None

    def _as_leaf(self, polynomial: Polynomial, width: int) -> Term | None:
        if not polynomial or polynomial.keys() == {()}:
            return self._value(polynomial.get((), 0), width)
        (monomial, coefficient), *more = polynomial.items()
        if more or coefficient != 1 or len(monomial) != 1:
            return None
        return self._atom(monomial[0])

    def _sum(self, polynomial: Polynomial, width: int) -> Term:
        """Positive monomials first, in the order of their atoms' numbers: sums with a common start share it."""
        first = min(monomial for monomial in polynomial if monomial)
        if polynomial.get((), 0) == (1 << width) - 1 and ring.signed(polynomial[first], width) < 0:
            complement = ring.added(ring.scaled(polynomial, -1, width), ring.constant(-1, width), width)
            return self._make(Kind.BV_NOT, [self._represent(complement, width)])
        plus: list[Term] = []
        minus: list[Term] = []
        for monomial in sorted(monomial for monomial in polynomial if monomial):
            coefficient = ring.signed(polynomial[monomial], width)
            (plus if coefficient > 0 else minus).append(self._scaled_product(monomial, abs(coefficient), width))
        if polynomial.get((), 0):
            plus.append(self._value(polynomial[()], width))
        if not plus:
            plus.append(self._make(Kind.BV_NEG, [minus.pop(0)]))
        total = plus[0]
        for term in plus[1:]:
            total = self._make(Kind.BV_ADD, [total, term])
        for term in minus:
            total = self._make(Kind.BV_SUB, [total, term])
        return total

    def _scaled_product(self, monomial: ring.Monomial, coefficient: int, width: int) -> Term:
        product = self._atom(monomial[0])
        for number in monomial[1:]:
            product = self._make(Kind.BV_MUL, [product, self._atom(number)])
        if coefficient == 1:
            return product
        if coefficient & (coefficient - 1) == 0:
            count = self._value(coefficient.bit_length() - 1, width)
            return self._make(Kind.BV_SHL, [product, count])
        return self._make(Kind.BV_MUL, [self._value(coefficient, width), product])

    def _make(self, kind: Kind, operands: list[Term]) -> Term:
        term = self._manager.mk_term(kind, operands)
        self._count(term)
        return term

    # The price of a shape: a multiplier counts once however often it is used.

    def _count(self, shape: Term) -> None:
        number, width = shape.id(), shape.sort().bv_size()
        if number in self._adders:
            return
        children = shape.children()
        products: frozenset[tuple[int, int]] = frozenset()
        for child in children:
            products |= self._products.get(child.id(), frozenset())
        if is_product(shape):
            products |= {(number, width)}
        self._products[number] = products if len(products) <= _KNOWN_PRODUCTS else frozenset()
        self._adders[number] = _own_adders(shape) * width + sum(self._adders.get(child.id(), 0) for child in children)

    def _cost(self, shape: Term) -> int:
        return sum(width * width for _, width in self._products[shape.id()]) + self._adders[shape.id()]


def is_product(term: Term) -> bool:
    return term.kind() is Kind.BV_MUL and not any(child.is_value() for child in term.children())


def _own_adders(term: Term) -> int:
    kind = term.kind()
    if kind is Kind.BV_MUL:
        values = [value for value in map(literal, term.children()) if value is not None]
        return sum(_signed_digits(value, term.sort().bv_size()) - 1 for value in values if value)
    return int(kind in (Kind.BV_ADD, Kind.BV_SUB, Kind.BV_NEG, Kind.BV_INC, Kind.BV_DEC))


def _signed_digits(coefficient: int, width: int) -> int:
    """How many shifted copies a multiplication by this constant adds or subtracts."""
    magnitude = abs(ring.signed(coefficient, width))
    return (magnitude ^ (3 * magnitude)).bit_count()


def _cost_of_sum(polynomial: Polynomial, width: int) -> int:
    products = {m[:length] for m in polynomial for length in range(2, len(m) + 1)}
    copies = sum(_signed_digits(c, width) for m, c in polynomial.items() if m) + (() in polynomial)
    return len(products) * width * width + (copies - 1) * width
