"""Offsets, padding and size of a struct or union as C compilers on Linux lay them out, one member after the other."""

from __future__ import annotations

import itertools
import math
from dataclasses import field

from isoform.model.signature import CType, TypeKind
from isoform.model.values import dataclass

ELEMENTS_SPELLED = 64
"""How many elements of an array member are spelled out: at least as many as decide how a struct is passed, which
depends on its members only up to 16 bytes."""
MEMBERS_SPELLED = 1024
"""How many scalars a struct may contain, with all nesting spelled out, before only its extent is kept."""
PASSED_BY_MEMBERS = 16
"""Bytes up to which the members decide how a struct is passed."""


@dataclass(frozen=True)
class Laid:
    """A type with what a layout needs beyond its width."""

    type: CType
    alignment: int
    """Bytes."""
    weight: int = 1
    """Number of scalars in it, pointees included: the cost of spelling it out."""

    @property
    def size(self) -> int:
        """Bytes from one element of an array to the next."""
        return self.type.size


@dataclass
class StructLayout:
    union: bool
    _bit: int = 0
    """The first bit that no member has taken yet."""
    _bits: int = 0
    """The end of the furthest member so far."""
    _alignment: int = 1
    _weight: int = 0
    _members: list[tuple[str, int, CType]] = field(default_factory=list)
    _most_aligned: tuple[tuple[str, int, CType], int] | None = None
    """That member, and its weight."""
    _bit_bytes: dict[int, int] = field(default_factory=dict)
    """For each byte with bit-fields: how many of its bits, from the lowest, they take."""

    def add(self, name: str, laid: Laid, dimensions: tuple[int, ...] = ()) -> None:
        """A member, or with dimensions an array of them. Without a name: the members of an anonymous struct."""
        start = self._place(laid, 8 * laid.size * math.prod(dimensions))
        before = len(self._members)
        if dimensions:
            self._add_elements(name, start, laid, dimensions)
        elif name:
            self._members.append((name, start, laid.type))
            self._weight += laid.weight
        else:
            self._members.extend((inner, start + offset, ctype) for inner, offset, ctype in laid.type.fields)
            self._weight += laid.weight
        if len(self._members) > before and (self._most_aligned is None or laid.alignment >= self._alignment):
            self._most_aligned = self._members[before], laid.weight

    def _add_elements(self, name: str, start: int, laid: Laid, dimensions: tuple[int, ...]) -> None:
        if laid.size == 0:
            return
        # `product` makes lists of its ranges: the first few elements need no larger index.
        indices = itertools.product(*(range(min(count, ELEMENTS_SPELLED)) for count in dimensions))
        for number, index in enumerate(itertools.islice(indices, ELEMENTS_SPELLED)):
            spelled = name + "".join(f"[{i}]" for i in index)
            self._members.append((spelled, start + number * laid.size, laid.type))
            self._weight += laid.weight

    def _place(self, laid: Laid, bits: int) -> int:
        """Take aligned room; the byte offset of its start."""
        step = 8 * laid.alignment
        start = 0 if self.union else -(-self._bit // step) * step
        self._take(start, bits, laid.alignment)
        return start // 8

    def _take(self, start: int, bits: int, alignment: int) -> None:
        self._bit = start + bits
        self._bits = max(self._bits, self._bit)
        self._alignment = max(self._alignment, alignment)

    def add_bit_field(self, laid: Laid, width: int) -> None:
        """A bit-field lies in one storage unit of its declared type. Its bytes become nameless members."""
        unit = laid.type.bits
        start = 0 if self.union else self._bit
        if start // unit != (start + width - 1) // unit:
            start = -(-start // unit) * unit
        self._take(start, width, laid.alignment)
        if self.union:
            self._bit_bytes = {}
        for byte in range(start // 8, -(-(start + width) // 8)):
            self._bit_bytes[byte] = min(8, start + width - 8 * byte)
        if self.union:
            self._add_bit_bytes()

    def end_bit_fields(self, laid: Laid) -> None:
        """A nameless bit-field of width 0: the next one starts a new storage unit."""
        if not self.union:
            self._bit = -(-self._bit // laid.type.bits) * laid.type.bits

    def _add_bit_bytes(self) -> None:
        for byte, bits in self._bit_bytes.items():
            self._members.append(("", byte, CType(TypeKind.INTEGER, bits, spelling="bit-field", is_bit_field=True)))
            self._weight += 1

    def finish(self, spelling: str) -> Laid:
        if not self.union:
            self._add_bit_bytes()
        step = 8 * self._alignment
        bits = -(-self._bits // step) * step
        members = tuple(sorted(self._members, key=lambda member: member[1]))
        weight = self._weight
        if weight > MEMBERS_SPELLED and bits > 8 * PASSED_BY_MEMBERS:
            # The most strictly aligned member still decides how the whole is aligned on the stack.
            member, weight = self._most_aligned or (members[0], 1)
            members = (member,)
        ctype = CType(TypeKind.STRUCT, bits, spelling=spelling, fields=members)
        return Laid(ctype, self._alignment, 1 + weight)
