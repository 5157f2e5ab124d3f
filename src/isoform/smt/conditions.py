"""Conditions, choices and memory: the constructors that need no arithmetic, with their rules."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from bitwuzla import Kind

from isoform.smt.leaves import Leaves, Term
from isoform.smt.shapes import (
    Choice,
    Conjunction,
    Disjunction,
    Equal,
    Exclusive,
    Less,
    Negation,
    Select,
    UnsignedLess,
)


class Conditions(Leaves, ABC):
    @abstractmethod
    def eq(self, left: Term, right: Term) -> Term:
        """Of two bit-vectors."""

    @abstractmethod
    def ult(self, left: Term, right: Term) -> Term:
        """left < right, unsigned."""

    @abstractmethod
    def slt(self, left: Term, right: Term) -> Term:
        """left < right, signed."""

    def negate(self, term: Term) -> Term:
        if term == self.true:
            return self.false
        if term == self.false:
            return self.true
        shape = self.shape(term)
        return shape.inner if isinstance(shape, Negation) else self.make(Negation(term), 0)

    def conj(self, left: Term, right: Term) -> Term:
        if left == self.true or left == right:
            return right
        if right == self.true:
            return left
        if left == self.false or right == self.false or left == self.negate(right):
            return self.false
        found = absorbed(self, left, right)
        if found is not None:
            return found
        less = other_order(self, self.negate(left), self.negate(right))
        return less if less is not None else self.make(Conjunction(left, right), 0)

    def disj(self, left: Term, right: Term) -> Term:
        if left == self.false or left == right:
            return right
        if right == self.false:
            return left
        if left == self.true or right == self.true or left == self.negate(right):
            return self.true
        merged = merged_paths(self, left, right)
        if merged is not None:
            return merged
        less = other_order(self, left, right)
        return self.negate(less) if less is not None else self.make(Disjunction(left, right), 0)

    def selector(self, left: Term, right: Term) -> Term:
        """A condition that separates two exclusive path conditions, given that one of them holds."""
        one, other = self.shape(left), self.shape(right)
        if isinstance(one, Conjunction) and isinstance(other, Conjunction) and one.left == other.left:
            # p ∧ c and p ∧ ¬c: where one of the two holds, it is the first exactly if c does.
            return one.right if one.right == self.negate(other.right) else left
        return left

    def exclusive(self, left: Term, right: Term) -> Term:
        """Exclusive or of two conditions."""
        if left == right:
            return self.false
        for a, b in ((left, right), (right, left)):
            if a == self.true:
                return self.negate(b)
            if a == self.false:
                return b
            found = exclusive_cancels(self, a, b)
            if found is not None:
                return found
        if left == self.negate(right):
            return self.true
        return self.make(Exclusive(left, right), 0)

    def implies(self, left: Term, right: Term) -> Term:
        return self.disj(self.negate(left), right)

    def all_of(self, conditions: Sequence[Term]) -> Term:
        result = self.true
        for condition in conditions:
            result = self.conj(result, condition)
        return result

    def any_of(self, conditions: Sequence[Term]) -> Term:
        result = self.false
        for condition in conditions:
            result = self.disj(result, condition)
        return result

    def ite(self, condition: Term, then: Term, otherwise: Term) -> Term:
        if then == otherwise or condition == self.true:
            return then
        if condition == self.false:
            return otherwise
        shape = self.shape(condition)
        if isinstance(shape, Negation):  # ¬c ? x : y is c ? y : x
            condition, then, otherwise = shape.inner, otherwise, then
        found = choice_made_before(self, condition, then, otherwise)
        if found is not None:
            return found
        return self.make(Choice(condition, then, otherwise), self._widths.get(then, 0))

    # -- arrays and functions -------------------------------------------------------------------

    def select(self, array: Term, address: Term) -> Term:
        return self.make(Select(array, address), 8)

    def store(self, array: Term, address: Term, byte: Term) -> Term:
        return self.unshaped(Kind.ARRAY_STORE, [array, address, byte])

    def array_ite(self, condition: Term, then: Term, otherwise: Term) -> Term:
        if then == otherwise or condition == self.true:
            return then
        if condition == self.false:
            return otherwise
        return self.unshaped(Kind.ITE, [condition, then, otherwise])

    def apply(self, function: Term, arguments: Sequence[Term]) -> Term:
        return self.unshaped(Kind.APPLY, [function, *arguments])

    def raw_equal(self, left: Term, right: Term) -> Term:
        """Equality of terms of any sort."""
        return self.true if left == right else self.unshaped(Kind.EQUAL, [left, right])


# -- rules ------------------------------------------------------------------------------------------


def absorbed(terms: Conditions, left: Term, right: Term) -> Term | None:
    """(a ∧ b) ∧ a = a ∧ b, and (a ∧ b) ∧ ¬a is false; the same for b."""
    shape = terms.shape(left)
    if not isinstance(shape, Conjunction):
        return None
    operands = (shape.left, shape.right)
    if right in operands:
        return left
    return terms.false if terms.negate(right) in operands else None


def other_order(terms: Conditions, left: Term, right: Term) -> Term | None:
    """a = b ∨ a < b is ¬(b < a), an order being total: gives b < a. The equality may be in another form, where b is a
    constant: x + 1 = 3 is x = 2."""
    for less, equality in ((left, right), (right, left)):
        shape = terms.shape(less)
        if not isinstance(shape, Less):
            continue
        a, b, equal = shape.left, shape.right, terms.shape(equality)
        same = isinstance(equal, Equal) and (equal.left, equal.right) in ((a, b), (b, a))
        if same or ((terms.value(a) is not None or terms.value(b) is not None) and terms.eq(a, b) == equality):
            return terms.ult(b, a) if isinstance(shape, UnsignedLess) else terms.slt(b, a)
    return None


def merged_paths(terms: Conditions, left: Term, right: Term) -> Term | None:
    """(p ∧ c) ∨ (p ∧ ¬c) = p, and (p ∧ c) ∨ p = p: the condition after a join is the one before the branch."""
    one, other = terms.shape(left), terms.shape(right)
    if isinstance(one, Conjunction) and isinstance(other, Conjunction) and one.left == other.left:
        c, d = one.right, other.right
        return terms.conj(one.left, terms.disj(c, d)) if c == terms.negate(d) else None
    if isinstance(one, Conjunction) and one.left == right:
        return right
    if isinstance(other, Conjunction) and other.left == left:
        return left
    return None


def exclusive_cancels(terms: Conditions, one: Term, other: Term) -> Term | None:
    """a ⊕ (a ⊕ b) = b."""
    shape = terms.shape(other)
    if not isinstance(shape, Exclusive):
        return None
    if one == shape.left:
        return shape.right
    return shape.left if one == shape.right else None


def choice_made_before(terms: Conditions, condition: Term, then: Term, otherwise: Term) -> Term | None:
    """c ? (c ? x : y) : z = c ? x : z, and c ? x : (c ? y : z) = c ? x : z: inside a branch the condition is known."""
    inner = terms.shape(then)
    if isinstance(inner, Choice) and inner.condition == condition:
        return terms.ite(condition, inner.then, otherwise)
    inner = terms.shape(otherwise)
    if isinstance(inner, Choice) and inner.condition == condition:
        return terms.ite(condition, then, inner.otherwise)
    return None
