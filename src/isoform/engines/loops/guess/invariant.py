"""An invariant: facts at a cut, and which kinds of them are looked for."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import field
from enum import IntEnum

from isoform.engines.loops.guess.compared import Compared
from isoform.engines.loops.guess.facts import (
    AtEntry,
    Bounded,
    ConstantFact,
    ExclusiveOrFact,
    Fact,
    Fold,
    Linear,
    OnStack,
    Same,
    SameNumber,
)
from isoform.engines.loops.guess.features import Cell, Column, Feature, Values
from isoform.model.values import dataclass
from isoform.smt.terms import Term, Terms


@dataclass
class Invariant:
    """Facts at a cut. Some features are *defined* by others through them; what is left is free."""

    facts: list[Fact] = field(default_factory=list)
    definitions: dict[Feature, tuple[Fact, Column | None]] = field(default_factory=dict)
    """For a defined feature the fact that defines it (and the column of it that does)."""
    not_negative: set[Feature] = field(default_factory=set)
    """Features whose sign- and zero-extension are the same."""
    measured: dict[Feature, Feature] = field(default_factory=dict)
    """Features that are best expressed as a distance from another one: the start of a range that contains them."""
    banned: Collection[Fact] = ()

    def define(self, feature: Feature, fact: Fact, column: Column | None = None) -> None:
        if fact in self.banned:
            return
        self.add(fact)
        if not self._rests_on(fact, feature):
            self.definitions[feature] = fact, column

    def _rests_on(self, fact: Fact, feature: Feature) -> bool:
        """Whether a fact, with definitions substituted, mentions a feature more than once: then it says something about
        the feature, but does not define it."""
        pending = [f for f in fact.features() if f != feature]
        seen = set(pending)
        while pending:
            top = pending.pop()
            if top == feature:
                return True
            more = [c.feature for _, c in top.summands] if isinstance(top, Cell) else []
            if top in self.definitions:
                more += [f for f in self.definitions[top][0].features() if f != top]
            pending += [f for f in more if f not in seen]
            seen.update(more)
        return False

    def add(self, fact: Fact) -> None:
        if fact not in self.banned and fact not in self.facts:
            self.facts.append(fact)

    def value_of(self, terms: Terms, feature: Feature, value: Values) -> Term:
        """A defined feature by the others."""
        fact, column = self.definitions[feature]
        match fact:
            case ConstantFact():
                return fact.definition(terms)
            case Same(_, other):
                return value(other)
            case AtEntry():
                return fact.first
            case OnStack() | Fold() | SameNumber():
                return fact.definition(terms, value)
            case ExclusiveOrFact():
                return fact.rest(terms, value)
            case Linear():
                assert column is not None
                return terms.extract(fact.solved(terms, value, column), feature.bits - 1, 0)
        raise AssertionError(fact)


@dataclass(frozen=True)
class GivenAtEntry:
    """Values at entry that an invariant may mention."""

    pointer: Feature | None
    """The stack pointer."""
    kept: tuple[Feature, ...]
    """What is carried along unchanged: whole registers and words of the stack."""
    arguments: tuple[Feature, ...]
    """What equations and comparisons may contain."""

    @property
    def features(self) -> tuple[Feature, ...]:
        pointer = (self.pointer,) if self.pointer is not None else ()
        return tuple(dict.fromkeys((*pointer, *self.arguments, *self.kept)))


class Order(IntEnum):
    """Which comparisons are facts."""

    NONE, COMPARED, ALL = range(3)


@dataclass(frozen=True)
class Kinds:
    """Which kinds of facts are looked for."""

    degree: int = 1
    """Of the monomials in equations."""
    order: Order = Order.ALL
    """Which comparisons: none, those between values that the code compares, or all."""
    compared: Compared = field(default_factory=Compared)
    """What the code compares."""
    at_entry: Mapping[Feature, Term] = field(default_factory=dict)
    """Features that seem constant, with their value when the cut is first reached."""
    cells: tuple[Cell, ...] = ()
    """Words of memory that facts may mention."""
    pointers: frozenset[Feature] = frozenset()
    """Features that hold addresses: their order relative to other numbers means nothing."""
    steering: frozenset[Feature] | None = None
    """Features whose order is of interest, if not that of all."""
    signs: bool = True
    """Whether it matters that both extensions of a feature are the same."""
    loose: Mapping[Bounded, int] = field(default_factory=dict)
    """How often a model broke a bound of a value: a value that grows for ever breaks the next one too."""
    uneven: bool = False
    """Whether one side does several iterations at once here."""
    letters: tuple[int, ...] = ()
    """Bytes that the code distinguishes, in order."""
    floats: bool = False
    """Whether the code computes with floats."""
    code: Mapping[tuple[str, int], str] = field(default_factory=dict)
    """For return addresses, by side and number: the name of the unknown in them (`sym/places.py`)."""
