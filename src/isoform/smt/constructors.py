"""What rules may build with: every constructor of `Terms`, declared for the classes that `Terms` is made of."""

from __future__ import annotations

from abc import ABC, abstractmethod

from isoform.smt.conditions import Conditions
from isoform.smt.leaves import Term


class Constructors(Conditions, ABC):
    """A rule takes its operands and returns an equal term, or None if it does not apply. What it builds goes through
    these constructors, and so through the rules again."""

    @abstractmethod
    def extract(self, term: Term, high: int, low: int, depth: int = 0) -> Term:
        """Bits `high` to `low`. `depth` counts how many operators it was pushed through already."""

    @abstractmethod
    def concat(self, top: Term, bottom: Term) -> Term:
        """`top` above `bottom`."""

    @abstractmethod
    def zext(self, term: Term, width: int) -> Term:
        """Zeros above it."""

    @abstractmethod
    def sext(self, term: Term, width: int) -> Term:
        """Copies of its sign above it."""

    @abstractmethod
    def split_sum(self, term: Term) -> tuple[Term | None, int]:
        """`term` as base + constant; the base of a constant is None."""

    @abstractmethod
    def add(self, left: Term, right: Term) -> Term:
        """left + right."""

    @abstractmethod
    def sub(self, left: Term, right: Term) -> Term:
        """left - right."""

    @abstractmethod
    def subtract_bases(self, left: Term, right: Term) -> Term:
        """left - right, for operands without added constants."""

    @abstractmethod
    def neg(self, term: Term) -> Term:
        """0 - term."""

    @abstractmethod
    def mul(self, left: Term, right: Term) -> Term:
        """left · right."""

    @abstractmethod
    def udiv(self, left: Term, right: Term) -> Term:
        """The unsigned quotient; all ones by zero."""

    @abstractmethod
    def sdiv(self, left: Term, right: Term) -> Term:
        """The signed quotient, truncated; by zero 1 or -1."""

    @abstractmethod
    def shl(self, term: Term, amount: Term) -> Term:
        """Zeros where the amount is not less than the width."""

    @abstractmethod
    def shift_left(self, term: Term, bits: int) -> Term:
        """By at least one bit, and less than the width."""

    @abstractmethod
    def lshr(self, term: Term, amount: Term) -> Term:
        """Zeros where the amount is not less than the width."""

    @abstractmethod
    def and_(self, left: Term, right: Term) -> Term: ...

    @abstractmethod
    def or_(self, left: Term, right: Term) -> Term: ...

    @abstractmethod
    def xor_(self, left: Term, right: Term) -> Term: ...

    @abstractmethod
    def not_(self, term: Term) -> Term: ...

    @abstractmethod
    def flag(self, condition: Term, width: int = 8) -> Term:
        """A condition as a number, 1 or 0."""

    @abstractmethod
    def ule(self, left: Term, right: Term) -> Term:
        """left ≤ right, unsigned."""
