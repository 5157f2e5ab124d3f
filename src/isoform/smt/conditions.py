"""Conditions, choices and memory: the constructors that need no arithmetic."""

from __future__ import annotations

from collections.abc import Sequence

from bitwuzla import Kind as K  # noqa: N817 (it stands in every line below)

from isoform.smt.leaves import Leaves, Term


class Conditions(Leaves):
    def negate(self, term: Term) -> Term:
        if term == self.true:
            return self.false
        if term == self.false:
            return self.true
        shape = self._shapes.get(term)
        if shape is not None and shape[0] == "negate":
            return shape[1]
        return self.make(K.NOT, [term], [], 0, ("negate", term))

    def conj(self, left: Term, right: Term) -> Term:
        if left == self.true or left == right:
            return right
        if right == self.true:
            return left
        if left == self.false or right == self.false or left == self.negate(right):
            return self.false
        match self._shapes.get(left):
            case ("conj", a, b) if right in (a, b):
                return left
            case ("conj", a, b) if self.negate(right) in (a, b):
                return self.false
        less = self._other_way(self.negate(left), self.negate(right))
        if less is not None:
            return less
        return self.make(K.AND, [left, right], [], 0, ("conj", left, right))

    def disj(self, left: Term, right: Term) -> Term:
        if left == self.false or left == right:
            return right
        if right == self.false:
            return left
        if left == self.true or right == self.true or left == self.negate(right):
            return self.true
        merged = self._merge_paths(left, right)
        if merged is not None:
            return merged
        less = self._other_way(left, right)
        if less is not None:
            return self.negate(less)
        return self.make(K.OR, [left, right], [], 0, ("disj", left, right))

    def _other_way(self, left: Term, right: Term) -> Term | None:
        """Where a = b or a < b are two conditions, what their disjunction is the opposite of: b < a."""
        match self._shapes.get(left), self._shapes.get(right):
            case (("eq", a, b), (("slt" | "ult") as name, c, d)) | ((("slt" | "ult") as name, c, d), ("eq", a, b)):
                if (a == c and b == d) or (a == d and b == c):
                    return self.make(K.BV_SLT if name == "slt" else K.BV_ULT, [d, c], [], 0, (name, d, c))
        return None

    def _merge_paths(self, left: Term, right: Term) -> Term | None:
        """(p ∧ c) ∨ (p ∧ ¬c) = p: what joins after a branch is as free as what went into it."""
        match self._shapes.get(left), self._shapes.get(right):
            case ("conj", p, c), ("conj", q, d) if p == q:
                return self.conj(p, self.disj(c, d)) if c == self.negate(d) else None
            case ("conj", p, c), _ if p == right:
                return right
            case _, ("conj", q, d) if q == left:
                return left
        return None

    def selector(self, left: Term, right: Term) -> Term:
        """A condition that tells two exclusive path conditions apart where one of them holds."""
        match self._shapes.get(left), self._shapes.get(right):
            case ("conj", p, c), ("conj", q, d) if p == q and c == self.negate(d):
                return c
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
            match self._shapes.get(b):
                case ("exclusive", one, other) if a in (one, other):
                    return other if a == one else one
        if left == self.negate(right):
            return self.true
        return self.make(K.XOR, [left, right], [], 0, ("exclusive", left, right))

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
        shape = self._shapes.get(condition)
        if shape is not None and shape[0] == "negate":
            condition, then, otherwise = shape[1], otherwise, then
        inner = self._shapes.get(then)
        if inner is not None and inner[0] == "ite" and inner[1] == condition:
            return self.ite(condition, inner[2], otherwise)
        inner = self._shapes.get(otherwise)
        if inner is not None and inner[0] == "ite" and inner[1] == condition:
            return self.ite(condition, then, inner[3])
        width = self._widths.get(then, 0)
        return self.make(K.ITE, [condition, then, otherwise], [], width, ("ite", condition, then, otherwise))

    # -- arrays and functions -------------------------------------------------------------------

    def select(self, array: Term, address: Term) -> Term:
        return self.make(K.ARRAY_SELECT, [array, address], [], 8, ("select", array, address))

    def store(self, array: Term, address: Term, byte: Term) -> Term:
        return self.make(K.ARRAY_STORE, [array, address, byte], [], 0, None)

    def array_ite(self, condition: Term, then: Term, otherwise: Term) -> Term:
        if then == otherwise or condition == self.true:
            return then
        if condition == self.false:
            return otherwise
        return self.make(K.ITE, [condition, then, otherwise], [], 0, None)

    def apply(self, function: Term, arguments: Sequence[Term]) -> Term:
        return self.make(K.APPLY, [function, *arguments], [], 0, None)

    def raw_equal(self, left: Term, right: Term) -> Term:
        """Equality of terms of any sort."""
        return self.true if left == right else self.make(K.EQUAL, [left, right], [], 0, None)
