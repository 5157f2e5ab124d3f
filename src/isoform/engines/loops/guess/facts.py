"""Facts about the features at a cut: what an invariant is made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum

from isoform.engines.loops.guess.features import Column, Feature, Row, Show, Values
from isoform.model.values import dataclass
from isoform.smt.floats import with_any_nan, with_one_nan
from isoform.smt.shapes import Add
from isoform.smt.terms import Term, Terms


@dataclass(frozen=True)
class Product:
    """The product of two features, as a number of some width."""

    left: Feature
    right: Feature

    @property
    def features(self) -> tuple[Feature, ...]:
        return self.left, self.right

    @property
    def widest(self) -> int:
        return max(self.left.bits, self.right.bits)

    def of_row(self, row: Row, bits: int) -> int:
        return row[self.left] * row[self.right] % (1 << bits)

    def term(self, terms: Terms, value: Values, bits: int) -> Term:
        left, right = (Column(f).term(terms, value, bits) for f in self.features)
        return terms.mul(left, right)

    def text(self, show: Show) -> str:
        return f"{show(self.left)}·{show(self.right)}"


Summand = Column | Product


Bounded = tuple[Column, Column | None]
"""A value, or the difference of two."""


class Fact:
    """Something that holds at a cut: as a formula over the features, and as text."""

    @property
    def bounded(self) -> Bounded | None:
        """The value that it bounds by a number, if it does."""
        return None

    def features(self) -> Iterator[Feature]:
        """The features that it mentions."""
        raise NotImplementedError

    def term(self, terms: Terms, value: Values) -> Term:
        raise NotImplementedError

    def text(self, show: Show) -> str:
        raise NotImplementedError


@dataclass(frozen=True)
class ConstantFact(Fact):
    feature: Feature
    number: int
    distance: str = ""
    """For an address of code: the name of the unknown that is added to the number (`sym/places.py`)."""

    def features(self) -> Iterator[Feature]:
        yield self.feature

    def term(self, terms: Terms, value: Values) -> Term:
        return terms.eq(value(self.feature), self.definition(terms))

    def definition(self, terms: Terms) -> Term:
        number = terms.bv(self.number, self.feature.bits)
        return terms.add(terms.variable(self.distance, self.feature.bits), number) if self.distance else number

    def text(self, show: Show) -> str:
        return f"{show(self.feature)} = {_number(self.number, self.feature.bits)}"


@dataclass(frozen=True)
class Same(Fact):
    left: Feature
    right: Feature

    def features(self) -> Iterator[Feature]:
        yield from (self.left, self.right)

    def term(self, terms: Terms, value: Values) -> Term:
        return terms.eq(value(self.left), value(self.right))

    def text(self, show: Show) -> str:
        return f"{show(self.left)} = {show(self.right)}"


@dataclass(frozen=True)
class SameNumber(Fact):
    """Two floats are the same number, or both are NaNs: which NaN a sum is depends on the order of its operands."""

    left: Feature
    right: Feature

    def features(self) -> Iterator[Feature]:
        yield from (self.left, self.right)

    def term(self, terms: Terms, value: Values) -> Term:
        return terms.eq(with_one_nan(terms, value(self.left)), with_one_nan(terms, value(self.right)))

    def definition(self, terms: Terms, value: Values) -> Term:
        """The left one by the right one. If that is a NaN, the left one is any, so this assumes no more than the
        fact."""
        left = self.left
        choice = terms.variable(f"{left.tag}.{left.place}.{left.low}.{left.bits}.nan", left.bits)
        return with_any_nan(terms, value(self.right), choice)

    def text(self, show: Show) -> str:
        return f"{show(self.left)} = {show(self.right)} (or both are NaN)"


@dataclass(frozen=True)
class OnStack(Fact):
    """A value is at a fixed distance from the stack pointer at entry."""

    feature: Feature
    pointer: Feature
    distance: int

    def features(self) -> Iterator[Feature]:
        yield from (self.feature, self.pointer)

    def term(self, terms: Terms, value: Values) -> Term:
        return terms.eq(value(self.feature), self.definition(terms, value))

    def definition(self, terms: Terms, value: Values) -> Term:
        return terms.add(value(self.pointer), terms.bv(self.distance, self.feature.bits))

    def text(self, show: Show) -> str:
        return f"{show(self.feature)} = sp{self.distance:+d}"


@dataclass(frozen=True)
class Linear(Fact):
    """constant + sum of coefficient · column = 0, modulo 2^bits."""

    constant: int
    summands: tuple[tuple[int, Summand], ...]
    bits: int

    def total(self, terms: Terms, value: Values) -> Term:
        total = terms.bv(self.constant, self.bits)
        for coefficient, term in _cancelled(terms, [(k, c.term(terms, value, self.bits)) for k, c in self.summands]):
            total = terms.add(total, terms.mul(term, terms.bv(coefficient, self.bits)))
        return total

    def solved(self, terms: Terms, value: Values, column: Summand) -> Term:
        """A column with coefficient 1, by the others."""
        return Linear(
            -self.constant % (1 << self.bits),
            tuple((-k % (1 << self.bits), c) for k, c in self.summands if c != column),
            self.bits,
        ).total(terms, value)

    def features(self) -> Iterator[Feature]:
        yield from (feature for _, column in self.summands for feature in column.features)

    def term(self, terms: Terms, value: Values) -> Term:
        unit = next((c for k, c in reversed(self.summands) if k == 1), None)
        if unit is None:
            return terms.eq(self.total(terms, value), terms.bv(0, self.bits))
        return terms.eq(unit.term(terms, value, self.bits), self.solved(terms, value, unit))

    def text(self, show: Show) -> str:
        head, rest = self.summands[-1], self.summands[:-1]
        if head[0] != 1:
            return f"{_sum(self.constant, self.summands, self.bits, show)} ≡ 0 (mod 2^{self.bits})"
        if not rest and self.bits < head[1].widest:
            modulus = 1 << self.bits
            return f"{head[1].text(show)} ≡ {-self.constant % modulus} (mod {modulus})"
        negated = tuple((-k % (1 << self.bits), c) for k, c in rest)
        right = _sum(-self.constant % (1 << self.bits), negated, self.bits, show)
        narrow = f" (mod 2^{self.bits})" if self.bits < max(c.widest for _, c in self.summands) else ""
        return f"{head[1].text(show)} = {right}{narrow}"


def _cancelled(terms: Terms, summands: Sequence[tuple[int, Term]]) -> Sequence[tuple[int, Term]]:
    """Terms with their coefficients, sums taken apart if then some occur twice: of b - a + p, where p is a + i, b + i
    remains."""
    if not any(isinstance(terms.shape(term), Add) for _, term in summands):
        return summands
    pending, taken = list(reversed(summands)), 0
    found: dict[Term, int] = {}
    while pending:
        coefficient, term = pending.pop()
        shape = terms.shape(term)
        if isinstance(shape, Add):
            pending += [(coefficient, shape.right), (coefficient, shape.left)]
            continue
        taken += 1
        found[term] = (found.get(term, 0) + coefficient) % (1 << terms.width(term))
    return summands if taken == len(found) else [(k, term) for term, k in found.items() if k]


@dataclass(frozen=True)
class AtEntry(Fact):
    """A feature equals its value when the cut was first reached, which is a function of the inputs alone: what a
    prologue computes once."""

    feature: Feature
    first: Term

    def features(self) -> Iterator[Feature]:
        yield self.feature

    def term(self, terms: Terms, value: Values) -> Term:
        return terms.eq(value(self.feature), self.first)

    def text(self, show: Show) -> str:
        return f"{show(self.feature)} stays as it was"


@dataclass(frozen=True)
class ExclusiveOrFact(Fact):
    """The exclusive or of some features of one width is a constant."""

    members: tuple[Feature, ...]
    constant: int

    def features(self) -> Iterator[Feature]:
        yield from self.members

    def rest(self, terms: Terms, value: Values) -> Term:
        """The last feature by the others."""
        total = terms.bv(self.constant, self.members[0].bits)
        for feature in self.members[:-1]:
            total = terms.xor_(total, value(feature))
        return total

    def term(self, terms: Terms, value: Values) -> Term:
        return terms.eq(value(self.members[-1]), self.rest(terms, value))

    def text(self, show: Show) -> str:
        parts = [show(f) for f in self.members[:-1]]
        if self.constant:
            parts.append(_number(self.constant, self.members[0].bits))
        return f"{show(self.members[-1])} = {' ^ '.join(parts) or '0'}"


class FoldBy(Enum):
    AND, OR, NOT_AND, NOT_OR = "and", "or", "not and", "not or"
    SIGNED_MAX, SIGNED_MIN, MAX, MIN = "max", "min", "unsigned max", "unsigned min"

    @property
    def is_complement(self) -> bool:
        """Whether the result is complemented at the end."""
        return self in (FoldBy.NOT_AND, FoldBy.NOT_OR)

    def numbers(self, a: int, b: int, bits: int) -> int:
        match self:
            case FoldBy.AND | FoldBy.NOT_AND:
                return a & b
            case FoldBy.OR | FoldBy.NOT_OR:
                return a | b
        top = 1 << (bits - 1) if self in (FoldBy.SIGNED_MAX, FoldBy.SIGNED_MIN) else 0
        chosen = max if self in (FoldBy.SIGNED_MAX, FoldBy.MAX) else min
        return chosen(a ^ top, b ^ top) ^ top

    def terms(self, terms: Terms, a: Term, b: Term) -> Term:
        match self:
            case FoldBy.AND | FoldBy.NOT_AND:
                return terms.and_(a, b)
            case FoldBy.OR | FoldBy.NOT_OR:
                return terms.or_(a, b)
        less = terms.slt if self in (FoldBy.SIGNED_MAX, FoldBy.SIGNED_MIN) else terms.ult
        greatest = self in (FoldBy.SIGNED_MAX, FoldBy.MAX)
        return terms.ite(less(a, b), b, a) if greatest else terms.ite(less(b, a), b, a)


@dataclass(frozen=True)
class Fold(Fact):
    """A feature is the greatest, least, … of some others: what a vectorised reduction keeps in its lanes. If these are
    narrower, it is zero-extended."""

    feature: Feature
    by: FoldBy
    lanes: tuple[Feature, ...]

    def definition(self, terms: Terms, value: Values) -> Term:
        total = value(self.lanes[0])
        for lane in self.lanes[1:]:
            total = self.by.terms(terms, total, value(lane))
        total = terms.not_(total) if self.by.is_complement else total
        return terms.zext(total, self.feature.bits) if self.lanes[0].bits < self.feature.bits else total

    def features(self) -> Iterator[Feature]:
        yield from (self.feature, *self.lanes)

    def term(self, terms: Terms, value: Values) -> Term:
        return terms.eq(value(self.feature), self.definition(terms, value))

    def text(self, show: Show) -> str:
        return f"{show(self.feature)} = {self.by.value}({', '.join(map(show, self.lanes))})"


@dataclass(frozen=True)
class Among(Fact):
    """A feature is one of some others. Together with bounds by all of them it is the greatest or the least: if the
    normal form of that does not help, this is easier for a solver than a chain of choices."""

    feature: Feature
    lanes: tuple[Feature, ...]

    def features(self) -> Iterator[Feature]:
        yield from (self.feature, *self.lanes)

    def term(self, terms: Terms, value: Values) -> Term:
        return terms.any_of([terms.eq(value(self.feature), value(lane)) for lane in self.lanes])

    def text(self, show: Show) -> str:
        return f"{show(self.feature)} is one of {', '.join(map(show, self.lanes))}"


class Relation(Enum):
    BELOW, AT_MOST, LESS, LESS_OR_EQUAL, DIFFERENT = "<u", "≤u", "<", "≤", "≠"

    def numbers(self, a: int, b: int, bits: int) -> bool:
        match self:
            case Relation.BELOW:
                return a < b
            case Relation.AT_MOST:
                return a <= b
            case Relation.DIFFERENT:
                return a != b
        top = 1 << (bits - 1)
        return (a ^ top) < (b ^ top) if self is Relation.LESS else (a ^ top) <= (b ^ top)

    def terms(self, terms: Terms, a: Term, b: Term) -> Term:
        match self:
            case Relation.BELOW:
                return terms.ult(a, b)
            case Relation.AT_MOST:
                return terms.ule(a, b)
            case Relation.LESS:
                return terms.slt(a, b)
            case Relation.LESS_OR_EQUAL:
                return terms.sle(a, b)
        return terms.negate(terms.eq(a, b))


@dataclass(frozen=True)
class Compare(Fact):
    """`left` (minus `less`, if there is one) stands in a relation to `right`, a column or a number."""

    left: Column
    relation: Relation
    right: Column | int
    bits: int
    less: Column | None = None

    def features(self) -> Iterator[Feature]:
        columns = (self.left, self.less, self.right)
        yield from (column.feature for column in columns if isinstance(column, Column))

    def term(self, terms: Terms, value: Values) -> Term:
        left = self.left.term(terms, value, self.bits)
        if self.less is not None:
            left = terms.sub(left, self.less.term(terms, value, self.bits))
        if isinstance(self.right, int):
            return self.relation.terms(terms, left, terms.bv(self.right, self.bits))
        return self.relation.terms(terms, left, self.right.term(terms, value, self.bits))

    @property
    def bounded(self) -> Bounded | None:
        if self.relation not in (Relation.AT_MOST, Relation.BELOW) or not isinstance(self.right, int):
            return None
        # The other way round, since a lower bound of the same difference may hold where this does not.
        return (self.less, self.left) if self.less is not None else (self.left, None)

    def text(self, show: Show) -> str:
        left = self.left.text(show) + (f" - {self.less.text(show)}" if self.less is not None else "")
        right = _number(self.right, self.bits) if isinstance(self.right, int) else self.right.text(show)
        return f"{left} {self.relation.value} {right}"


@dataclass(frozen=True)
class AtLeast(Fact):
    """`left - less` is at least `number`, without sign: lower bounds of differences."""

    left: Column
    less: Column | None
    number: int
    bits: int

    def features(self) -> Iterator[Feature]:
        yield from (column.feature for column in (self.left, self.less) if column is not None)

    def term(self, terms: Terms, value: Values) -> Term:
        left = self.left.term(terms, value, self.bits)
        if self.less is not None:
            left = terms.sub(left, self.less.term(terms, value, self.bits))
        return terms.ule(terms.bv(self.number, self.bits), left)

    @property
    def bounded(self) -> Bounded | None:
        return self.left, self.less

    def text(self, show: Show) -> str:
        left = self.left.text(show) + (f" - {self.less.text(show)}" if self.less is not None else "")
        return f"{left} ≥u {self.number}"


@dataclass(frozen=True)
class Between(Fact):
    """A value is one of the numbers from `low` up to `high`, without it; `low` may be negative. Measured from `low`, so
    that it does not matter how the code compares."""

    column: Column
    low: int
    high: int
    bits: int

    def features(self) -> Iterator[Feature]:
        yield self.column.feature

    def term(self, terms: Terms, value: Values) -> Term:
        distance = terms.sub(self.column.term(terms, value, self.bits), terms.bv(self.low, self.bits))
        return terms.ult(distance, terms.bv(self.high - self.low, self.bits))

    @property
    def bounded(self) -> Bounded | None:
        return self.column, None

    def text(self, show: Show) -> str:
        return f"{self.low} ≤ {self.column.text(show)} < {_number(self.high, self.bits)}"


@dataclass(frozen=True)
class Within(Fact):
    """`value` lies in the range from `low` to `high`, which it may (`weak`) or may not reach. Measured from `low`, so
    that it does not matter whether the range wraps around."""

    low: Column
    value: Column
    high: Column
    weak: bool
    bits: int

    @property
    def _relation(self) -> Relation:
        return Relation.AT_MOST if self.weak else Relation.BELOW

    def features(self) -> Iterator[Feature]:
        yield from (column.feature for column in (self.low, self.value, self.high))

    def term(self, terms: Terms, value: Values) -> Term:
        low, inside, high = (c.term(terms, value, self.bits) for c in (self.low, self.value, self.high))
        return self._relation.terms(terms, terms.sub(inside, low), terms.sub(high, low))

    def text(self, show: Show) -> str:
        low, inside, high = (column.text(show) for column in (self.low, self.value, self.high))
        return f"{inside} - {low} {self._relation.value} {high} - {low}"


def _number(value: int, bits: int) -> str:
    if value >> (bits - 1) and value - (1 << bits) >= -4096:
        return str(value - (1 << bits))
    return str(value) if value < 4096 else f"{value:#x}"


def _sum(constant: int, summands: tuple[tuple[int, Summand], ...], bits: int, show: Show) -> str:
    parts = []
    for coefficient, column in summands:
        text = _number(coefficient, bits)
        name = column.text(show)
        parts.append(name if text == "1" else f"-{name}" if text == "-1" else f"{text}·{name}")
    if constant or not parts:
        parts.append(_number(constant, bits))
    return " + ".join(parts).replace("+ -", "- ")
