"""Things that have one address on both sides but differ: constants and functions of the same name that are not the
same."""

from __future__ import annotations

from isoform.load.image import Image
from isoform.load.objects import PlacedObject
from isoform.model.errors import Unsupported
from isoform.model.values import dataclass
from isoform.smt.shapes import Choice
from isoform.smt.terms import Term, Terms

_WORD = (1 << 64) - 1


@dataclass(frozen=True)
class Met:
    """Something that has one address on both sides but differs is read, or its address escapes."""

    condition: Term
    exact: bool
    """Whether it happens exactly if the condition holds; otherwise it may happen only if it holds."""
    why: str


class Differing:
    """Records where one side reads such a thing, or lets its address escape: others could tell the two sides apart by
    it."""

    def __init__(self, terms: Terms, image: Image, tag: str, width: int, big_endian: bool) -> None:
        self._terms = terms
        self._image = image
        self._frame = f"frame_{tag}"
        """The array that stands for a frame that is indexed."""
        self._width = width
        self._big_endian = big_endian
        self.met: list[Met] | None = None
        """Where something that differs between the sides is read or escapes. None: nothing will show that this never
        happens, so it is refused at once."""
        self.keeps_address = False
        """Whether an address of such a thing was put into the frame."""

    def note(self, condition: Term, exact: bool, why: str) -> None:
        if self.met is None:
            raise Unsupported(why)
        self.met.append(Met(condition, exact, why))

    def is_reached_by(self, term: Term) -> bool:
        """Whether a value may be the address of constants that differ between the sides: code that gets it could tell
        the two apart although the address is the same."""
        if not self._image.differing:
            return False
        if (self.keeps_address or self.met is None) and reads_array(term, self._frame):
            return True
        pending, seen = [term], set()
        while pending:
            top = pending.pop()
            if top in seen:
                continue
            seen.add(top)
            anchor = self._terms.layout.anchor(top)
            number = self._terms.value(top) if anchor is None else anchor[0]
            if number is not None and self._holds_differing(number, self._terms.width(top)):
                return True
            if self._is_counted_from_differing(top):
                return True
            if anchor is not None:
                pending += [] if anchor[1] is None else [anchor[1]]
                continue
            children = top.children()
            # What memory holds and what calls return is not computed from the address: stores and calls check that no
            # such address gets there. A choice is not computed from its condition either.
            if not any(child.sort().is_array() for child in children):
                pending += [child for child in children if not child.sort().is_bool()]
        return False

    def _holds_differing(self, number: int, width: int) -> bool:
        """Whether a number is such an address, or a wider one contains one (a copied vector). One past the end of an
        object counts too."""
        words = (number >> shift & _WORD for shift in range(0, max(width - 64, 0) + 1, 8)) if number else ()
        return any(low <= word <= high for word in words for low, high in self._image.differing)

    def _is_counted_from_differing(self, term: Term) -> bool:
        """Whether a sum may be such an address although its constant is not, as `&t[i - 1000]` is relative to `t`."""
        found = self._terms.layout.origin(term)
        rest, constant = self._terms.split_sum(term if found is None else found[1])
        image = self._image
        if found is None:
            is_base = rest is not None and image.may_be_base(constant)
            return is_base and image.is_beside_variables(constant) and bool(image.differing_variables)
        item, number = found[0], (found[0].start + constant) % (1 << self._width)
        if image.base and item.start == image.base:
            return image.is_beside_variables(number) and bool(image.differing_variables)
        if rest is None and item.holds(constant, 0):
            return False
        return any(overlaps(extent, item) for extent in self._image.differing)

    def tear(self, condition: Term, content: bytes) -> None:
        """Record that part of a possible such address is read: reassembled, it would not be recognised."""
        number = int.from_bytes(content, "big" if self._big_endian else "little")
        if not self._image.differing or not self._holds_differing(number, 8 * max(len(content), 8)):
            return
        why = "part of the address of functions or constants that differ between the two sides is read"
        self.note(condition, False, why)

    def give_away(self, condition: Term, value: Term, why: str) -> None:
        """Record that a value, which may be such an address, escapes."""
        if not self.is_reached_by(value):
            return
        if self.met is None:
            raise Unsupported(why)
        terms = self._terms
        pending = [(condition, value)]
        while pending:
            here, term = pending.pop()
            shape = terms.shape(term)
            if isinstance(shape, Choice):
                pending.append((terms.conj(here, shape.condition), shape.then))
                pending.append((terms.conj(here, terms.negate(shape.condition)), shape.otherwise))
            elif self.is_reached_by(term):
                self.met.append(Met(here, terms.layout.number(term) is not None, why))


def overlaps(extent: tuple[int, int], item: PlacedObject) -> bool:
    return extent[0] < item.start + (item.size or item.room) and item.start + item.skipped < extent[1]


def reads_array(term: Term, name: str) -> bool:
    """Whether a value depends on an array variable (of that name, or of any name if it is empty)."""
    pending, seen = [term], set()
    while pending:
        top = pending.pop()
        if top in seen:
            continue
        seen.add(top)
        if top.sort().is_array() and top.is_const() and (not name or top.symbol() == name):
            return True
        pending += top.children()
    return False
