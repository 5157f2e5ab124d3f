"""The tree of a precondition: every width, sign and conversion is explicit in it."""

from __future__ import annotations

from enum import Enum

from isoform.model.values import dataclass


class Operator(Enum):
    ADD = "+"
    SUB = "-"
    MUL = "*"
    UDIV = "/"
    SDIV = "s/"
    UREM = "%"
    SREM = "s%"
    AND = "&"
    OR = "|"
    XOR = "^"
    SHL = "<<"
    LSHR = ">>"
    ASHR = "s>>"


class Relation(Enum):
    EQUAL = "=="
    ULT = "<"
    ULE = "<="
    SLT = "s<"
    SLE = "s<="


DIVISIONS = frozenset({Operator.UDIV, Operator.SDIV, Operator.UREM, Operator.SREM})
SHIFTS = frozenset({Operator.SHL, Operator.LSHR, Operator.ASHR})


@dataclass(frozen=True)
class Constant:
    value: int
    bits: int


@dataclass(frozen=True)
class Name:
    """A parameter at its own width."""

    name: str
    bits: int


@dataclass(frozen=True)
class Operation:
    operator: Operator
    left: Term
    right: Term
    bits: int


@dataclass(frozen=True)
class Complement:
    operand: Term


@dataclass(frozen=True)
class Negation:
    operand: Term


@dataclass(frozen=True)
class Widened:
    operand: Term
    bits: int
    signed: bool


@dataclass(frozen=True)
class Narrowed:
    operand: Term
    bits: int


@dataclass(frozen=True)
class Load:
    address: Term
    size: int
    """Bytes."""


@dataclass(frozen=True)
class Choice:
    condition: Condition
    yes: Term
    no: Term


@dataclass(frozen=True)
class Indicator:
    """A condition as C's `int`: 1 or 0."""

    condition: Condition


Term = Constant | Name | Operation | Complement | Negation | Widened | Narrowed | Load | Choice | Indicator


@dataclass(frozen=True)
class Comparison:
    relation: Relation
    left: Term
    right: Term


@dataclass(frozen=True)
class Not:
    part: Condition


@dataclass(frozen=True)
class Every:
    """From left to right, stopping at the first that is false."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True)
class Some:
    """From left to right, stopping at the first that is true."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True)
class Index:
    term: Term
    bits: int
    signed: bool


@dataclass(frozen=True)
class Range:
    """Elements `low` up to but not including `high` of a buffer."""

    base: Term
    base_bits: int
    low: Index
    high: Index
    element: int
    """Bytes."""

    @property
    def starts_at_base(self) -> bool:
        """Whether it is `base[0..n]`, with an `n` and elements of a size that an address could hold."""
        from_zero = isinstance(self.low.term, Constant) and not self.low.term.value
        return from_zero and self.high.bits <= self.base_bits and 0 < self.element < 1 << self.base_bits

    def exact_bits(self) -> int:
        """A width in which, as signed numbers, neither end of the range overflows."""
        index = max(self.low.bits, self.high.bits) + 1 + self.element.bit_length()
        return max(self.base_bits + 1, index) + 1


@dataclass(frozen=True)
class Disjoint:
    left: Range
    right: Range


Condition = Comparison | Not | Every | Some | Disjoint
