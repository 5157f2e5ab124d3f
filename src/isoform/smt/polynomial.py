"""The normal form of sums of products modulo 2^width, applied before a solver is asked.

Bit-blasting alone loses on small algebra, so every arithmetic subterm is read as a polynomial over *atoms* (the
terms that are not arithmetic) and equal polynomials become one and the same term. Which term stands for a
polynomial is decided when it is first met: the shape in which it was written or, if that is cheaper in adders and
multipliers, the sum of its monomials. The formula is therefore never harder to bit-blast than it was.

`check/expansion.py` verifies each rewrite that involved a product, by code that shares nothing with this.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator

from bitwuzla import Kind, Term, TermManager

from isoform.smt import ring
from isoform.smt.bitwise import MOST_IN_PARITY, BitFunction, Parity, combined, complement, parity_of, word
from isoform.smt.extension import Extensions
from isoform.smt.extremes import MOST_WORDS, Extreme, extreme
from isoform.smt.intervals import literal
from isoform.smt.representatives import is_product
from isoform.smt.ring import ExpansionError, Polynomial


class Normalizer(Extensions):
    """Rewrites terms of one manager. Two terms that are the same polynomial become the same term if both went through
    the same normalizer. With `expanded`, a polynomial always becomes the sum of its monomials, which shares more
    between unequal polynomials at the price of more multipliers."""

    def __init__(self, manager: TermManager, expanded: bool = False) -> None:
        super().__init__(manager, expanded)
        self._roots: list[Term] = []  # keeps every term alive whose number is a key below
        self._normal: dict[int, Term] = {}
        self._polynomials: dict[int, Polynomial] = {}
        self._multiplied: set[int] = set()
        self._lemmas: dict[tuple[int, int], tuple[Term, Term]] = {}
        self._extremes: dict[int, Extreme] = {}
        self._first_extremes: dict[tuple[int, Extreme], Term] = {}
        self._bitwise: dict[int, BitFunction] = {}
        self._functions: dict[tuple[int, BitFunction], Term] = {}
        self._parities: dict[int, Parity] = {}
        """Of terms that are the exclusive or of more words than a truth table has."""
        self._first_parities: dict[tuple[int, Parity], Term] = {}
        self._equations: dict[tuple[int, frozenset[frozenset[tuple[ring.Monomial, int]]]], Term] = {}

    @property
    def lemmas(self) -> list[tuple[Term, Term]]:
        """The rewrites (before, after) in which two unknowns were multiplied, each once."""
        return list(self._lemmas.values())

    def normalize(self, term: Term) -> Term:
        """The same value with every maximal arithmetic subterm in normal form."""
        self._roots.append(term)
        for node in self._unseen(term):
            polynomial = self._read(node)
            if polynomial is None:
                self._keep(node)
            else:
                self._take(node, polynomial)
        return self._settled(term)

    def _unseen(self, root: Term) -> Iterator[Term]:
        """Terms below `root` that have no normal form yet, operands first."""
        stack = [root]
        while stack:
            term = stack[-1]
            waiting = () if term.id() in self._normal else term.children()
            waiting = [child for child in waiting if child.id() not in self._normal]
            if waiting:
                stack.extend(waiting)
                continue
            stack.pop()
            if term.id() not in self._normal:
                yield term

    def _read(self, node: Term) -> Polynomial | None:
        """The polynomial of a term whose operands were visited; None if it is not arithmetic or grows too large."""
        rule = _RULES.get(node.kind())
        try:
            return rule(self, node) if rule else None
        except ExpansionError:
            return None

    def _keep(self, node: Term) -> None:
        """A term that is not arithmetic: the same operator over normalized operands."""
        kept = self._over(node, [self._settled(child) for child in node.children()])
        combine = _BITWISE.get(node.kind())
        if combine is not None:
            kept = self._only_of_its_kind(node, kept, combine)
        elif node.kind() is Kind.ITE and node.sort().is_bv():
            if kept[0].kind() is Kind.NOT:
                kept = self._manager.mk_term(Kind.ITE, [kept[0][0], kept[2], kept[1]])
            kept = self._only_of_its_words(kept) or kept
        elif node.kind() is Kind.EQUAL and node[0].sort().is_bv():
            kept = self._only_of_its_difference(node, kept)
        self._normal[node.id()] = kept

    def _only_of_its_difference(self, node: Term, kept: Term) -> Term:
        """The first equation that says the same about sums, without what both sides have in common. Products are left
        alone: a lemma is about the value of a term, not about an equation."""
        width = node[0].sort().bv_size()
        left, right = (self._polynomial(child) for child in node.children())
        if max(ring.degree(left), ring.degree(right)) > 1:
            return kept
        try:
            difference = ring.added(left, ring.scaled(right, -1, width), width)
        except ExpansionError:
            return kept
        if difference.keys() <= {()}:
            return self._manager.mk_false() if difference else self._manager.mk_true()
        opposite = ring.scaled(difference, -1, width)
        key = width, frozenset(frozenset(side.items()) for side in (difference, opposite))
        if key not in self._equations:
            self._equations[key] = self._equation(difference, width) if left.keys() & right.keys() else kept
        return self._equations[key]

    def _equation(self, difference: Polynomial, width: int) -> Term:
        """The equation that the polynomial is zero, with positive coefficients on both sides."""
        coefficients = {monomial: ring.signed(c, width) for monomial, c in difference.items()}
        plus = {monomial: c for monomial, c in coefficients.items() if c > 0}
        minus = {monomial: -c for monomial, c in coefficients.items() if c < 0}
        return self._manager.mk_term(Kind.EQUAL, [self._represent(plus, width), self._represent(minus, width)])

    def _only_of_its_words(self, choice: Term) -> Term | None:
        found = extreme(choice)
        if found is None:
            return None
        words: frozenset[int] = frozenset()
        for number in found.words:
            inner = self._extremes.get(number)
            alike = inner is not None and (inner.signed, inner.greatest) == (found.signed, found.greatest)
            words |= inner.words if inner is not None and alike else {number}
        if len(words) > MOST_WORDS:
            return None
        whole = Extreme(found.signed, found.greatest, words)
        chosen = self._first_extremes.setdefault((choice.sort().bv_size(), whole), choice)
        self._extremes[chosen.id()] = whole
        for child in choice.children():
            self._atoms.setdefault(child.id(), child)
        return chosen

    def _only_of_its_kind(self, node: Term, kept: Term, combine: Callable[[int, int], int]) -> Term:
        """The first term that is the same bitwise function of the same words."""
        operands = [self._normal[child.id()] for child in node.children()]
        function, width = combined(combine, *map(self._bits, operands)), node.sort().bv_size()
        is_long = function is None or any(operand.id() in self._parities for operand in operands)
        if is_long and node.kind() is Kind.BV_XOR:
            parity = self._parity(operands[0]) ^ self._parity(operands[1])
            function = parity.function
            if function is None and len(parity.words) <= MOST_IN_PARITY:
                chosen = self._first_parities.setdefault((width, parity), kept)
                self._parities[chosen.id()] = parity
                return chosen
        if function is None:
            return kept
        if not function.words:
            return self._value(-function.table, width)
        if function.word is not None:
            return self._atoms[function.word]
        chosen = self._functions.setdefault((width, function), kept)
        self._bitwise[chosen.id()] = function
        return chosen

    def _parity(self, normal: Term) -> Parity:
        """What a term is the exclusive or of: at least of itself."""
        if normal.id() in self._parities:
            return self._parities[normal.id()]
        found = parity_of(self._bits(normal))
        if found is None:
            self._atoms.setdefault(normal.id(), normal)
        return found or Parity(frozenset((normal.id(),)), is_complement=False)

    def _bits(self, normal: Term) -> BitFunction:
        known = self._bitwise.get(normal.id())
        if known is None:
            if normal.kind() is Kind.BV_NOT:
                return complement(self._bits(normal[0]))
            self._atoms.setdefault(normal.id(), normal)
            known = word(normal.id())
        return known

    def _take(self, node: Term, polynomial: Polynomial) -> None:
        children = node.children()
        number = node.id()
        self._polynomials[number] = polynomial
        if is_product(node) or any(child.id() in self._multiplied for child in children):
            self._multiplied.add(number)
        shape = self._over(node, [self._normal[child.id()] for child in children])
        self._count(shape)
        self._normal[number] = self._represent(polynomial, node.sort().bv_size(), shape)
        if self._carrying and self._meanings.get(self._normal[number].id(), polynomial) != polynomial:
            # The same sum was met before with its carries written differently.
            self._polynomials[number] = self._meanings[self._normal[number].id()]

    def _over(self, node: Term, children: list[Term]) -> Term:
        if all(new.id() == old.id() for new, old in zip(children, node.children(), strict=True)):
            return node
        return self._manager.mk_term(node.kind(), children, node.indices())

    def _settled(self, term: Term) -> Term:
        """The normal form of a term that is used outside arithmetic: here a rewrite becomes a lemma."""
        number = term.id()
        normal = self._normal[number]
        if number in self._multiplied and normal.id() != number:
            self._lemmas.setdefault((number, normal.id()), (term, normal))
        return normal

    def _polynomial(self, term: Term) -> Polynomial:
        """For an operand that was already visited."""
        polynomial = self._polynomials.get(term.id())
        return self._meaning(self._normal[term.id()]) if polynomial is None else polynomial

    # One rule per operator: its polynomial, or None if it is not arithmetic.

    def _add(self, node: Term) -> Polynomial:
        width = node.sort().bv_size()
        return self._folded(node, lambda left, right: ring.added(left, right, width))

    def _subtract(self, node: Term) -> Polynomial:
        width = node.sort().bv_size()
        return self._folded(node, lambda left, right: ring.added(left, ring.scaled(right, -1, width), width))

    def _multiply(self, node: Term) -> Polynomial:
        width = node.sort().bv_size()
        return self._folded(node, lambda left, right: ring.multiplied(left, right, width))

    def _folded(self, node: Term, combine: Callable[[Polynomial, Polynomial], Polynomial]) -> Polynomial:
        """If the expansion grows too large, operands become atoms: first the larger one, then both."""
        left, right = (self._polynomial(child) for child in node.children())
        lump_left, lump_right = (self._lump(child) for child in node.children())
        attempts = [(left, right), (lump_left, right), (left, lump_right)]
        if (len(left), ring.degree(left)) < (len(right), ring.degree(right)):
            attempts[1:] = attempts[:0:-1]
        for operands in attempts:
            try:
                return combine(*operands)
            except ExpansionError:
                continue
        return combine(lump_left, lump_right)

    def _lump(self, term: Term) -> Polynomial:
        normal = self._normal[term.id()]
        return self._as_atom(normal)

    def _negate(self, node: Term) -> Polynomial:
        return ring.scaled(self._polynomial(node[0]), -1, node.sort().bv_size())

    def _not(self, node: Term) -> Polynomial:
        return self._offset(self._negate(node), -1, node)

    def _increment(self, node: Term) -> Polynomial:
        return self._offset(self._polynomial(node[0]), 1, node)

    def _decrement(self, node: Term) -> Polynomial:
        return self._offset(self._polynomial(node[0]), -1, node)

    def _offset(self, polynomial: Polynomial, offset: int, node: Term) -> Polynomial:
        width = node.sort().bv_size()
        return ring.added(polynomial, ring.constant(offset, width), width)

    def _shift_left(self, node: Term) -> Polynomial | None:
        count, width = literal(self._normal[node[1].id()]), node.sort().bv_size()
        if count is None:
            return None
        return ring.scaled(self._polynomial(node[0]), 1 << count, width) if count < width else {}

    def _extract(self, node: Term) -> Polynomial | None:
        high, low = node.indices()
        return self._low_bits(node[0], high + 1) if low == 0 else None

    def _zero_extend(self, node: Term) -> Polynomial:
        return self._zero_extended(node[0], node.sort().bv_size())

    def _sign_extend(self, node: Term) -> Polynomial:
        inner, outer = node[0].sort().bv_size(), node.sort().bv_size()
        return self._extended(self._polynomial(node[0]), inner, outer, signed=True)

    def _and(self, node: Term) -> Polynomial | None:
        """x & (2^k - 1) is the low part of x, extended."""
        width = node.sort().bv_size()
        for masked, mask in (node.children(), node.children()[::-1]):
            value = literal(self._normal[mask.id()])
            if value and value & (value + 1) == 0:
                bits = value.bit_length()
                return self._extended(self._low_bits(masked, bits), bits, width, signed=False)
        return self._bitwise_with_mask(node)

    def _concat(self, node: Term) -> Polynomial | None:
        upper, lower = node.children()
        inner, outer = upper.sort().bv_size(), node.sort().bv_size()
        if literal(self._normal[lower.id()]) == 0:
            wide = self._padded(self._polynomial(upper), outer)
            return ring.scaled(wide, 1 << (outer - inner), outer)
        if literal(self._normal[upper.id()]) == 0:
            return self._zero_extended(lower, outer)
        return None

    def _choice(self, node: Term) -> Polynomial | None:
        if not node.sort().is_bv():
            return None
        condition, then, otherwise = node.children()
        polynomials = self._polynomial(then), self._polynomial(otherwise)
        return self._chosen(self._normal[condition.id()], *polynomials, node.sort().bv_size())

    def _bitwise_with_mask(self, node: Term) -> Polynomial | None:
        operands = [self._polynomial(child) for child in node.children()]
        return self._masked(node.kind(), operands, node.sort().bv_size())

    def _low_bits(self, operand: Term, width: int) -> Polynomial:
        return self._truncated(self._polynomial(operand), operand.sort().bv_size(), width)

    def _zero_extended(self, operand: Term, width: int) -> Polynomial:
        return self._extended(self._polynomial(operand), operand.sort().bv_size(), width, signed=False)


def multiplies(terms: Iterable[Term]) -> bool:
    """Whether two unknowns are multiplied anywhere in these terms: if not, bit-blasting does well by itself."""
    seen: set[int] = set()
    stack = list(terms)
    while stack:
        term = stack.pop()
        if term.id() not in seen:
            seen.add(term.id())
            if is_product(term):
                return True
            stack.extend(term.children())
    return False


_BITWISE: dict[Kind, Callable[[int, int], int]] = {
    Kind.BV_AND: operator.and_,
    Kind.BV_OR: operator.or_,
    Kind.BV_XOR: operator.xor,
}

_RULES: dict[Kind, Callable[[Normalizer, Term], Polynomial | None]] = {
    Kind.BV_ADD: Normalizer._add,
    Kind.BV_SUB: Normalizer._subtract,
    Kind.BV_MUL: Normalizer._multiply,
    Kind.BV_NEG: Normalizer._negate,
    Kind.BV_NOT: Normalizer._not,
    Kind.BV_INC: Normalizer._increment,
    Kind.BV_DEC: Normalizer._decrement,
    Kind.BV_SHL: Normalizer._shift_left,
    Kind.BV_EXTRACT: Normalizer._extract,
    Kind.BV_ZERO_EXTEND: Normalizer._zero_extend,
    Kind.BV_SIGN_EXTEND: Normalizer._sign_extend,
    Kind.BV_AND: Normalizer._and,
    Kind.BV_OR: Normalizer._bitwise_with_mask,
    Kind.BV_XOR: Normalizer._bitwise_with_mask,
    Kind.BV_CONCAT: Normalizer._concat,
    Kind.ITE: Normalizer._choice,
}
