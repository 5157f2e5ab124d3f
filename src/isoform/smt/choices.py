"""A choice between two numbers as a polynomial: the second, plus their difference if the condition holds.

Compilers add conditionally in many ways: they jump around an addition, add a flag, subtract a mask, or add a masked
value. All of these are sums in which some summands are present only under a condition. Such a summand is an atom:
`ite(c, x, 0)`, or `ite(c, 1, 0)` for a number. This applies only if the difference is that simple: a choice between
unrelated numbers is best left alone.
"""

from __future__ import annotations

from bitwuzla import Kind, Term

from isoform.smt import ring
from isoform.smt.extremes import ORDERS, extreme
from isoform.smt.intervals import literal
from isoform.smt.representatives import Representatives
from isoform.smt.ring import Polynomial


class Choices(Representatives):
    """Conditional summands, a part of a `Normalizer`. All terms in here are in normal form."""

    def _chosen(self, condition: Term, then: Polynomial, otherwise: Polynomial, width: int) -> Polynomial | None:
        """`then` if the condition holds and else `otherwise`; None if that is not a simple sum."""
        if condition.kind() is Kind.NOT:
            condition, then, otherwise = condition[0], otherwise, then
        if condition.kind() in ORDERS:
            found = self._extreme(condition, self._represent(then, width), self._represent(otherwise, width))
            if found is not None:
                return self._as_atom(found)
        difference = ring.added(then, ring.scaled(otherwise, -1, width), width)
        summands = [monomial for monomial in difference if monomial]
        if width == 1 or len(summands) > 1 or any(len(monomial) > 1 for monomial in summands):
            return None
        total = otherwise
        for monomial, coefficient in difference.items():
            word = self._atom(monomial[0]) if monomial else self._value(1, width)
            summand = self._as_atom(self._under(condition, word, width))
            total = ring.added(total, ring.scaled(summand, coefficient, width), width)
        return total

    def _under(self, condition: Term, word: Term, width: int) -> Term:
        """The word if the condition holds, else 0."""
        zero = self._value(0, width)
        found = self._extreme(condition, word, zero)
        return self._manager.mk_term(Kind.ITE, [condition, word, zero]) if found is None else found

    def _extreme(self, condition: Term, then: Term, otherwise: Term) -> Term | None:
        """The first term that is the greatest, or the least, of the same words, if the choice is of that kind."""
        if condition.kind() not in ORDERS:
            return None
        return self._only_of_its_words(self._manager.mk_term(Kind.ITE, [condition, then, otherwise]))

    def _conditional(self, condition: Term, value: Polynomial, width: int) -> Polynomial:
        """The value if the condition holds, else 0."""
        found = self._chosen(condition, value, {}, width)
        if found is not None:
            return found
        if condition.kind() is Kind.NOT:
            return ring.added(value, ring.scaled(self._conditional(condition[0], value, width), -1, width), width)
        return self._as_atom(self._under(condition, self._represent(value, width), width))

    def _masked(self, kind: Kind, operands: list[Polynomial], width: int) -> Polynomial | None:
        """A bitwise operator with a mask that is all ones if a condition holds and else 0; None if there is no such
        mask."""
        for mask, word in (operands, operands[::-1]):
            condition = self._condition_of(mask, width)
            if condition is not None:
                complement = ring.added(ring.scaled(word, -1, width), ring.constant(-1, width), width)
                if kind is Kind.BV_AND:
                    return self._conditional(condition, word, width)
                with_ones = {Kind.BV_OR: ring.constant(-1, width), Kind.BV_XOR: complement}
                return self._chosen(condition, with_ones[kind], word, width)
        return None if kind is Kind.BV_AND else self._either(operands, width)

    def _either(self, operands: list[Polynomial], width: int) -> Polynomial | None:
        """`or`, or exclusive or, of two words of which one is 0 if some condition holds, and the other one if it does
        not: a choice between the two, as vector instructions write it with a mask and its complement."""
        for condition in self._conditions_in(operands[0]):
            (one, other), (no_one, no_other) = (
                [self._given(condition, holds, word, width) for word in operands] for holds in (True, False)
            )
            if not other and not no_one:
                return self._choice_between(condition, one, no_other, width)
            if not one and not no_other:
                return self._choice_between(condition, other, no_one, width)
        return None

    def _conditions_in(self, polynomial: Polynomial) -> list[Term]:
        """Of the summands that are present only under a condition."""
        atoms = [self._atom(monomial[0]) for monomial in polynomial if len(monomial) == 1]
        return list({atom[0].id(): atom[0] for atom in atoms if is_conditional(atom)}.values())

    def _given(self, condition: Term, holds: bool, polynomial: Polynomial, width: int) -> Polynomial:
        """What the polynomial is if the condition holds, or does not."""
        total: Polynomial = {}
        for monomial, coefficient in polynomial.items():
            summand: Polynomial = {monomial: coefficient}
            atom = self._atom(monomial[0]) if len(monomial) == 1 else None
            if atom is not None and is_conditional(atom) and atom[0] == condition:
                summand = ring.scaled(self._meaning(atom[1]), coefficient, width) if holds else {}
            total = ring.added(total, summand, width)
        return total

    def _choice_between(self, condition: Term, then: Polynomial, otherwise: Polynomial, width: int) -> Polynomial:
        found = self._chosen(condition, then, otherwise, width)
        if found is not None:
            return found
        words = [self._represent(word, width) for word in (then, otherwise)]
        return self._as_atom(self._manager.mk_term(Kind.ITE, [condition, *words]))

    def _condition_of(self, mask: Polynomial, width: int) -> Term | None:
        """The condition under which it is all ones; None if it may be anything but that or 0."""
        bits = [monomial for monomial in mask if len(monomial) == 1]
        if len(bits) != 1 or width == 1:
            return None
        atom, ones = self._atom(bits[0][0]), (1 << width) - 1
        if not (is_conditional(atom) and literal(atom[1]) == 1):
            return None
        if mask == {bits[0]: ones}:
            return atom[0]
        return self._manager.mk_term(Kind.NOT, [atom[0]]) if mask == {bits[0]: 1, (): ones} else None


def is_conditional(term: Term) -> bool:
    """Whether it is some number, or 0 if a condition does not hold; but not the greater or lesser of the two, which the
    checker treats differently."""
    is_choice = term.kind() is Kind.ITE and term.sort().bv_size() > 1
    return is_choice and literal(term[2]) == 0 and extreme(term) is None
