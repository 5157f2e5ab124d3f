"""Features: the live values at a cut, as bits of registers and frame slots.

The formulas show what is live: a feature is a part of a register or slot that some condition, store, result or feature
of a later cut depends on. That is liveness of single bits, for slots of the frame as for registers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import field
from enum import Enum
from functools import lru_cache
from typing import Any

from bitwuzla import Kind as K  # noqa: N817 (as in terms.py)

from isoform.engines.loops.segment import Place
from isoform.engines.loops.tuning import FEW_BITS, OBJECT_SLACK_BYTES
from isoform.load.image import POINTER_BYTES
from isoform.load.objects import PlacedObject
from isoform.model.machine import Machine
from isoform.model.microop import Space, Var
from isoform.model.values import dataclass
from isoform.run.observe import Snapshot
from isoform.smt.terms import Term, Terms
from isoform.sym.state import State

TAGS = ("a", "b")
"""Of the target and of the rewrite."""
LANE_BITS = 32
"""Wider than a word, a register is taken as lanes: of this many bits unless the code uses narrower ones."""


@dataclass(frozen=True)
class Feature:
    """Some bits of a place of one side (tag "a" or "b"), or of a value at entry (tag "")."""

    tag: str
    place: Place
    low: int
    bits: int

    def of_state(self, state: State) -> Term:
        terms = state.side.terms
        low = self.low
        if isinstance(self.place, int):
            first, last = (low // 8, (low + self.bits - 1) // 8) if not state.side.big_endian else (0, 7)
            whole = state.frame.load(self.place + first, last - first + 1)
            low -= 8 * first
        else:
            whole = state.container_named(self.place)
        return terms.extract(whole, low + self.bits - 1, low)

    def of_snapshot(self, snapshot: Snapshot, machine: Machine) -> int:
        if isinstance(self.place, int):
            whole = snapshot.slot(self.place, 8) or 0
        else:
            whole = snapshot.registers[_index(machine.containers, self.place)]
        return whole >> self.low & ((1 << self.bits) - 1)

    def text(self, machine: Machine) -> str:
        mark = "'" if self.tag == "b" else ""
        if isinstance(self.place, int):
            where = self.place + self.low // 8
            size = {8: "byte ", 16: "word ", 32: "", 64: ""}.get(self.bits, "")
            return f"{size}[sp{where:+d}]{mark}"
        container = machine.registers[self.place]
        if self.low % 8 or self.bits % 8:
            return f"{self.place}{mark}[{self.low + self.bits - 1}:{self.low}]"
        part = Var(Space.REGISTER, container.offset + self.low // 8, self.bits // 8)
        name = machine.register_name(part)
        if "[" in name:
            head, _, tail = name.partition("[")
            return f"{head}{mark}[{tail}"
        return name + mark


@dataclass(frozen=True)
class ObjectStart(Feature):
    """The address of an object, which a linker decides: like a value at entry."""

    item: PlacedObject
    is_constant: bool = field(default=False, compare=False)
    """Whether its contents are constants: loads at a distance from its start are a choice of all of them."""

    @classmethod
    def of(cls, item: PlacedObject, is_constant: bool = False) -> ObjectStart:
        return cls("", f"address of {item.name}", 0, 8 * POINTER_BYTES, item, is_constant)

    def is_near(self, distance: int) -> bool:
        """Whether a pointer at a distance may be to this object: inside, past its end, or before a first element."""
        return -OBJECT_SLACK_BYTES <= distance <= max(self.item.size, self.item.room) + OBJECT_SLACK_BYTES

    def of_state(self, state: State) -> Term:
        return state.side.object_start(self.item.start)

    def of_snapshot(self, snapshot: Snapshot, machine: Machine) -> int:
        return self.item.start

    def text(self, machine: Machine) -> str:
        return f"&{str(self.place).removeprefix('address of ')}"


Values = Callable[[Feature], Term]
Row = Mapping[Feature, int]
Show = Callable[[Feature], str]


class Extend(Enum):
    """How a narrow feature becomes a wide number."""

    ZERO = "zero"
    SIGN = "sign"


@dataclass(frozen=True)
class Column:
    """A feature as a number of some width: extended if it is narrower, its low bits if it is wider."""

    feature: Feature
    extend: Extend = Extend.ZERO

    @property
    def features(self) -> tuple[Feature, ...]:
        return (self.feature,)

    @property
    def widest(self) -> int:
        return self.feature.bits

    def of_row(self, row: Row, bits: int) -> int:
        value = row[self.feature]
        own = self.feature.bits
        if self.extend is Extend.SIGN and own < bits and value >> (own - 1):
            value -= 1 << own
        return value & ((1 << bits) - 1)

    def term(self, terms: Terms, value: Values, bits: int) -> Term:
        term = value(self.feature)
        if self.feature.bits > bits:
            return terms.extract(term, bits - 1, 0)
        if self.feature.bits == bits:
            return term
        return terms.sext(term, bits) if self.extend is Extend.SIGN else terms.zext(term, bits)

    def text(self, show: Show) -> str:
        name = show(self.feature)
        return f"sext({name})" if self.extend is Extend.SIGN and self.feature.bits < 64 else name


@dataclass(frozen=True)
class Cell(Feature):
    """A word of memory, at an address that is a sum of features of one side, or of registers that it never writes:
    these are values at entry, and have them in every state."""

    constant: int
    summands: tuple[tuple[int, Column], ...]

    @property
    def moves(self) -> bool:
        """Whether its address may change."""
        return bool(self.moving)

    @property
    def moving(self) -> list[Feature]:
        """What may change its address."""
        return [column.feature for _, column in self.summands if column.feature.tag]

    def at(self, terms: Terms, value: Values, width: int) -> Term:
        """Its address."""
        total = terms.bv(self.constant, width)
        for coefficient, column in self.summands:
            term = column.term(terms, value, width)
            total = terms.add(total, terms.mul(term, terms.bv(coefficient, width)))
        return total

    def of_state(self, state: State) -> Term:
        side = state.side
        address = self.at(side.terms, lambda f: f.of_state(state), side.width)
        return side.heap.load(state.heap, address, self.bits // 8)

    def of_snapshot(self, snapshot: Snapshot, machine: Machine) -> int:
        width = 8 * machine.memory.address_bytes if machine.memory is not None else 64
        row = {c.feature: c.feature.of_snapshot(snapshot, machine) for _, c in self.summands}
        address = self.constant + sum(k * c.of_row(row, width) for k, c in self.summands)
        return snapshot.word(address % (1 << width), self.bits // 8)

    def text(self, machine: Machine) -> str:
        parts = [
            f"{k}·{c.text(lambda f: f.text(machine))}" if k != 1 else c.text(lambda f: f.text(machine))
            for k, c in self.summands
        ]
        if self.constant:
            signed = self.constant - (1 << 64) if self.constant >> 63 else self.constant
            parts.append(str(signed))
        return f"mem{self.bits}[{' + '.join(parts).replace('+ -', '- ')}]"


@lru_cache(maxsize=4096)
def _index(names: tuple[str, ...], name: str) -> int:
    return names.index(name)


def uses(roots: Iterable[Term], variables: dict[Term, int], seen: set[Any]) -> list[tuple[Term, int, int]]:
    """Uses (variable, lowest bit, highest bit) of `variables` (with their widths) under `roots`. Terms in `seen` were
    visited before; new ones are added to it."""
    found: list[tuple[Term, int, int]] = []
    pending = [_whole(root) for root in roots]
    while pending:
        use = pending.pop()
        if use in seen:
            continue
        seen.add(use)
        if use[0] in variables:
            found.append(use)
        else:
            pending += _used(*use)
    return found


Use = tuple[Term, int, int]
"""Of a term the bits from the lowest to the highest that are live; of what is no number, all."""
_BIT_BY_BIT = frozenset({K.BV_AND, K.BV_OR, K.BV_XOR, K.BV_NOT})
_FROM_BELOW = frozenset({K.BV_ADD, K.BV_SUB, K.BV_MUL, K.BV_NEG})


def _whole(term: Term) -> Use:
    return term, 0, term.sort().bv_size() - 1 if term.sort().is_bv() else 0


def _used(term: Term, low: int, high: int) -> list[Use]:
    """What these bits of a term are made of."""
    kind, children = term.kind(), term.children()
    if kind == K.BV_EXTRACT:
        start = int(term.indices()[1])
        return [(children[0], start + low, start + high)]
    if kind == K.ITE and term.sort().is_bv():
        return [_whole(children[0]), (children[1], low, high), (children[2], low, high)]
    if kind == K.BV_CONCAT:
        return list(_used_parts(children, low, high))
    if kind in _BIT_BY_BIT:
        return [(child, low, high) for child in children]
    if kind in _FROM_BELOW:
        return [(child, 0, high) for child in children]
    if kind in (K.BV_ZERO_EXTEND, K.BV_SIGN_EXTEND):
        top = children[0].sort().bv_size() - 1
        if low > top:
            return [(children[0], top, top)] if kind == K.BV_SIGN_EXTEND else []
        return [(children[0], low, min(high, top))]
    if kind in (K.BV_SHL, K.BV_SHR) and children[1].is_value():
        amount = int(children[1].value(10)) * (-1 if kind == K.BV_SHL else 1)
        low, high = max(low + amount, 0), min(high + amount, children[0].sort().bv_size() - 1)
        # If more than a few bits are left, as of an index, all are taken: words are simpler.
        if high - low < FEW_BITS:
            return [(children[0], low, high)] if low <= high else []
    return [_whole(child) for child in children]


def _used_parts(children: Iterable[Term], low: int, high: int) -> Iterable[Use]:
    """Of a concatenation, the lowest part last."""
    start = 0
    for child in reversed(list(children)):
        end = start + child.sort().bv_size()
        if low < end and start <= high:
            yield child, max(low, start) - start, min(high, end - 1) - start
        start = end


def parts(ranges: Collection[tuple[int, int]], is_register: bool) -> list[tuple[int, int]]:
    """Uses of one place (lowest and highest bit) as disjoint features (lowest bit, number of bits): overlapping uses
    are merged, bytes that are stored one by one are a word again, and what is wider than a word is cut into lanes."""
    merged: list[list[int]] = []
    widths = [high - low + 1 for low, high in ranges]
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], high)
        else:
            merged.append([low, high])
    # An upper half that is used separately is a lane of its own.
    narrow = not is_register or max(high for _, high in ranges) >= 64 or (LANE_BITS, 2 * LANE_BITS - 1) in ranges
    whole = 32 if narrow else 64
    merged = _words(merged, whole)
    lane = min([LANE_BITS, *(w for w in widths if w in (8, 16))])
    found = []
    for low, high in merged:
        bits = high - low + 1
        if bits <= 64:
            found.append((low, bits))
        else:
            found += [(start, min(lane, high + 1 - start)) for start in range(low, high + 1, lane)]
    return found


def _words(ranges: list[list[int]], whole: int) -> list[list[int]]:
    """Single bytes that fill an aligned word, as that word."""
    for width in (16, 32, 64):
        if width > whole:
            break
        half = width // 2
        kept: list[list[int]] = []
        for low, high in ranges:
            fits = high - low + 1 == half and low % width == half
            if kept and fits and kept[-1] == [low - half, low - 1]:
                kept[-1] = [low - half, high]
            else:
                kept.append([low, high])
        ranges = kept
    return ranges
