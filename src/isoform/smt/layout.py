"""Addresses that a linker decides, as terms.

The start of an object is a variable about which only this is known: it is aligned as declared, it is in the range that
programs get, and objects do not overlap. What is proved under these conditions holds wherever a linker puts the
objects. The numbers at which isoform placed them (`pins`) are one such placement, the one used by runs and witnesses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce

from isoform.load.objects import PlacedObject
from isoform.model.outcome import THREAD_POINTER
from isoform.smt.constructors import Constructors
from isoform.smt.leaves import Term
from isoform.smt.shapes import Add, Subtract

LOWEST, HIGHEST = 0x1000, 1 << 47
_WIDTH, _LOW_WIDTH = 64, 31
LABEL = "layout"
"""What the labels of the conditions begin with."""


class AddressLayout:
    """The objects whose addresses occur in the terms of a question."""

    def __init__(self, terms: Constructors) -> None:
        self._terms = terms
        self._starts: dict[int, Term] = {}
        self._objects: dict[Term, PlacedObject] = {}
        self._numbers: list[Term] = []
        """Starts in the order of their bits in `_masks`."""
        self._masks: dict[Term, int] = {}
        self._origins: dict[Term, tuple[PlacedObject, Term] | None] = {}
        self.thread: Term | None = None
        """Start of the object that contains the thread pointer, once it occurs."""
        self._reach: dict[int, int] = {}
        """For objects of unknown size, by start: how many bytes the code uses."""

    def __bool__(self) -> bool:
        return bool(self._objects)

    def start(self, item: PlacedObject) -> Term:
        """The address of an object."""
        found = self._starts.get(item.start)
        if found is None:
            terms = self._terms
            width = _LOW_WIDTH if item.is_low else _WIDTH
            variable = terms.variable(f"address of {item.name}", width)
            if variable in self._masks:
                variable = terms.variable(f"address of {item.name} at {item.start:#x}", width)
            found = self._starts[item.start] = terms.zext(variable, _WIDTH)
            self._objects[found] = item
            if item.start <= THREAD_POINTER < item.start + item.room:
                self.thread = found
            self._masks[variable] = 1 << len(self._numbers)
            self._numbers.append(found)
        return found

    def object_at(self, term: Term) -> PlacedObject | None:
        """The object that a term is the start of."""
        return self._objects.get(term) if self._objects else None

    def counted(self, address: Term) -> tuple[PlacedObject, int] | None:
        """The object that an address is relative to, and the distance from its start, if that is a number."""
        base, constant = self._terms.split_sum(address)
        found = self._objects.get(base) if base is not None else None
        if found is None:
            return None
        return found, constant - (1 << _WIDTH) if constant >> (_WIDTH - 1) else constant

    def number(self, term: Term) -> int | None:
        """The value of a constant, or the number at which isoform placed an address."""
        found = self.counted(term) if self._objects else None
        return self._terms.value(term) if found is None else found[0].start + found[1]

    def origin(self, address: Term) -> tuple[PlacedObject, Term] | None:
        """The object that is one summand of an address, and the sum of the others."""
        terms = self._terms
        found = self._objects.get(address)
        if found is not None:
            return found, terms.bv(0, _WIDTH)
        shape = terms.shape(address)
        if isinstance(shape, Add):
            for one, other in ((shape.left, shape.right), (shape.right, shape.left)):
                inner = self.origin(one)
                if inner is not None:
                    return inner[0], terms.add(inner[1], other)
        if isinstance(shape, Subtract):
            inner = self.origin(shape.left)
            if inner is not None:
                return inner[0], terms.sub(inner[1], shape.right)
        return None

    def anchor(self, address: Term) -> tuple[int, Term | None] | None:
        """A sum that contains an object: the number at which isoform placed it plus the constant, and the other
        summands."""
        found = self.origin(address) if self._objects else None
        if found is None:
            return None
        rest, constant = self._terms.split_sum(found[1])
        return (found[0].start + constant) % (1 << _WIDTH), rest

    def placed(self, address: Term, size: int) -> int | None:
        """The number at which isoform placed some bytes, if they are a known part of one object (or the address is a
        number). Bytes that do not overlap in this placement do not overlap in any other: two objects never share
        bytes."""
        value = self._terms.value(address)
        if value is not None or not self._objects:
            return value
        found = self.counted(address)
        if found is None or not found[0].holds(found[1], size):
            return None
        item, offset = found
        if not item.size:
            self._reach[item.start] = max(self._reach.get(item.start, 1), offset + size)
        return item.start + offset

    def apart_by(self, address: Term, size: int, other: Term, other_size: int) -> int | None:
        """How far the first of two accesses is above the second in isoform's placement, if they are in two objects at
        the same unknown distance from their starts, but for a constant, and do not overlap in any placement. Wherever
        the objects are, the second one starts past the end of the first or the other way round: where neither constant
        reaches across that, nothing need be known of the unknown distance."""
        one, two = (self._origin(place) for place in (address, other)) if self._objects else (None, None)
        if one is None or two is None or one[0].start == two[0].start or not (one[0].size and two[0].size):
            return None
        (rest, constant), (other_rest, other_constant) = (self._terms.split_sum(found[1]) for found in (one, two))
        starts = self.start(one[0]), self.start(two[0])
        if (
            rest is None
            or other_rest is None
            or rest != other_rest
            or any(self._at_home(*starts))
            or any(self._at_home(*starts[::-1]))
        ):
            return None
        half = 1 << (_WIDTH - 1)
        more = (constant - other_constant + half) % (2 * half) - half
        above, below = two[0].size - one[0].skipped + more, one[0].size - two[0].skipped - more
        if abs(more) >= HIGHEST or above < other_size or below < size:
            return None
        return (one[0].start + constant - two[0].start - other_constant) % (1 << _WIDTH)

    def _origin(self, address: Term) -> tuple[PlacedObject, Term] | None:
        if address not in self._origins:
            self._origins[address] = self.origin(address)
        return self._origins[address]

    def are_equal(self, left: Term, right: Term) -> bool | None:
        """Whether two addresses in objects, or one and null, are the same; None if that is not known."""
        one, other = self.counted(left), self.counted(right)
        if one is not None and other is not None:
            if not (one[0].holds(one[1], 1) and other[0].holds(other[1], 1)) or _may_be_merged(one[0], other[0]):
                return None
            return one[0].start + one[1] == other[0].start + other[1]
        found = one or other
        number = self._terms.value(right if one is not None else left)
        if found is None or number is None or number >= LOWEST:
            return None
        return False if found[0].holds(found[1], 1) else None

    # -- what is known of the starts ------------------------------------------------------------

    def used(self, roots: Iterable[Term]) -> list[Term]:
        """The starts of objects that occur under some terms."""
        if not self._objects:
            return []
        mask = 0
        for root in roots:
            mask |= self._mask(root)
        return [start for index, start in enumerate(self._numbers) if mask >> index & 1]

    def _mask(self, root: Term) -> int:
        masks = self._masks
        pending = [root]
        while pending:
            top = pending[-1]
            if top in masks:
                pending.pop()
                continue
            children = top.children()
            missing = [child for child in children if child not in masks]
            if missing:
                pending += missing
                continue
            mask = 0
            for child in children:
                mask |= masks[child]
            masks[top] = mask
            pending.pop()
        return masks[root]

    def mention_thread(self, one: Term, other: Term) -> bool:
        """Whether the thread pointer occurs in both of two terms."""
        return self.thread is not None and bool(self._mask(self.thread) & self._mask(one) & self._mask(other))

    def names(self, starts: Iterable[Term]) -> list[str]:
        return [self._objects[start].name for start in starts]

    def pins(self) -> list[Term]:
        """Every object is where isoform placed it."""
        terms = self._terms
        return [terms.eq(start, terms.bv(item.start, _WIDTH)) for start, item in self._objects.items()]

    def placement(self) -> dict[Term, int]:
        """The start of every object, with the number at which isoform placed it."""
        return {start: item.start for start, item in self._objects.items()}

    def conditions_of(self, roots: Iterable[Term]) -> list[tuple[str, Term]]:
        """The conditions on the addresses that occur in some terms."""
        return self.conditions(self.used(roots))

    def conditions(self, starts: Sequence[Term]) -> list[tuple[str, Term]]:
        """The conditions that hold wherever a linker puts the objects."""
        found = [rule for start in starts for rule in self.alone(start)]
        for index, one in enumerate(starts):
            for other in starts[index + 1 :]:
                found += self._apart(one, other)
        return [(f"{LABEL}-{number}", rule) for number, rule in enumerate(found, 1)]

    def _end(self, item: PlacedObject) -> int:
        """The distance from an object's start to its end."""
        return item.size or self._reach.get(item.start, 1)

    def alone(self, start: Term) -> Iterable[Term]:
        """The conditions on a single object."""
        terms, item = self._terms, self._objects[start]
        room = HIGHEST - LOWEST - self._end(item) + item.skipped
        yield terms.ult(terms.sub(start, terms.bv(LOWEST - item.skipped, _WIDTH)), terms.bv(room + 1, _WIDTH))
        zeros = item.alignment.bit_length() - 1
        if zeros > 0:
            yield terms.eq(terms.extract(start, zeros - 1, 0), terms.bv(0, zeros))

    def _apart(self, one: Term, other: Term) -> list[Term]:
        rules = [self._is_clear_of(one, other), self._is_clear_of(other, one)]
        homes = [*self._at_home(one, other), *self._at_home(other, one)]
        if not homes:
            return rules
        return [reduce(self._terms.disj, homes, self._terms.conj(*rules))]

    def _is_clear_of(self, one: Term, other: Term) -> Term:
        """Whether the first byte of one object is outside another."""
        terms = self._terms
        left, right = self._objects[one], self._objects[other]
        distance = terms.add(terms.sub(one, other), terms.bv(left.skipped - right.skipped, _WIDTH))
        return terms.ule(terms.bv(self._end(right) - right.skipped, _WIDTH), distance)

    def _at_home(self, one: Term, whole: Term) -> Iterator[Term]:
        """An object may be inside a linked file, or inside a section that is itself used as an object: at the one place
        that the file has it, unless another file's definition replaces it."""
        terms, item, home = self._terms, self._objects[one], self._objects[whole]
        offsets = [offset for start, offset in item.homes if start == home.start]
        if home.holds(item.start - home.start, self._end(item)):
            offsets.append(item.start - home.start)
        for offset in offsets:
            yield terms.eq(terms.sub(one, whole), terms.bv(offset, _WIDTH))


def _may_be_merged(one: PlacedObject, other: PlacedObject) -> bool:
    return any(start == other.start for start, _ in one.homes) or any(start == one.start for start, _ in other.homes)
