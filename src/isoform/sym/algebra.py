"""Preconditions over terms: the symbolic counterpart of `precondition.ConcreteAlgebra`."""

from __future__ import annotations

from isoform.smt.terms import Term, Terms
from isoform.sym.state import State


class TermAlgebra:
    def __init__(self, terms: Terms, entry: State) -> None:
        self._terms = terms
        self._entry = entry
        """A state at entry: preconditions read memory there."""
        self.add, self.sub, self.mul, self.neg = terms.add, terms.sub, terms.mul, terms.neg
        self.udiv, self.sdiv, self.urem, self.srem = terms.udiv, terms.sdiv, terms.urem, terms.srem
        self.and_, self.or_, self.xor, self.not_ = terms.and_, terms.or_, terms.xor_, terms.not_
        self.shl, self.lshr, self.ashr = terms.shl, terms.lshr, terms.ashr
        self.equal, self.ult, self.ule, self.slt, self.sle = terms.eq, terms.ult, terms.ule, terms.slt, terms.sle
        self.conj, self.disj, self.negate, self.ite = terms.conj, terms.disj, terms.negate, terms.ite
        self.zero_extend, self.sign_extend = terms.zext, terms.sext

    def constant(self, value: int, bits: int) -> Term:
        return self._terms.bv(value, bits)

    def extract(self, operand: Term, high: int, low: int) -> Term:
        return self._terms.extract(operand, high, low)

    def load(self, address: Term, size: int) -> Term:
        return self._entry.load(address, size)
