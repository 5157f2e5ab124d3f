"""The initial contents of data on both sides: where they differ, and where they point to something that differs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from isoform.borders.apart import Apart, ApartKind
from isoform.borders.objects import DataObjects, Range
from isoform.load.image import Image
from isoform.model.machine import Order
from isoform.model.values import dataclass

WORD = 8
_CODE = (ApartKind.FUNCTION, ApartKind.TABLE)
_SCALARS = (1, 2, 4, 8)
MOST_TEXT = 1 << 12
MOST_SEARCHED = 1 << 20
"""Bytes of an object in which addresses of 32 bits are looked for: no assembler writes larger tables of them."""


@dataclass(frozen=True)
class _Literal:
    """A text in constants, and where an address points to in it."""

    text: bytes
    at: int
    is_whole: bool
    """Whether the object is known to end with the text."""


@dataclass(frozen=True)
class _Link:
    """A word of an object that points into another object, of the target's side at `place`."""

    extent: Range
    offset: int
    place: Range
    other: Range
    """The same of the rewrite's side."""


class SharedContents:
    """The data that has the same addresses in both images."""

    def __init__(self, left: Image, right: Image) -> None:
        self._images = (left, right)
        self.rests_on_texts = False
        """Whether two unnamed strings of a linked file were taken as equal, each up to its first zero
        (`texts-end-at-zero`)."""

    @cached_property
    def _sides(self) -> tuple[DataObjects, DataObjects]:
        return DataObjects(self._images[0]), DataObjects(self._images[1])

    def apart(self, extents: Iterable[Range], others: Sequence[Apart]) -> list[Apart]:
        """Of these objects the parts that do not hold the same, or that lead to one of `others` or to one of them."""
        both = sorted(self._in_both(extents))
        found = [part for extent in both for part in (*self._unlike(extent), *self._undetermined(extent))]
        links = [link for extent in both for link in self._links(extent)]
        found += self._mixed_up(links)
        pending: Sequence[Apart] = [*others, *found]
        while pending:
            known = {(part.low, part.high) for part in found}
            leading = [part for extent in both for part in self._leading(extent, pending)]
            leading += [part for link in links for part in self._through(link, pending)]
            pending = [part for part in leading if (part.low, part.high) not in known]
            found += pending
        return found

    def writable(self, extents: Iterable[Range]) -> dict[str, bool]:
        """Names of writable data among these objects, and whether both files define it."""
        found: dict[str, bool] = {}
        for extent in sorted(extents):
            there = [side.around(extent[0]) is not None and side.is_writable(extent) for side in self._sides]
            if any(there):
                found[self._sides[there.index(True)].name(extent)] = all(there)
        return found

    def _in_both(self, extents: Iterable[Range]) -> Iterator[Range]:
        """What there is of an object on both sides, once."""
        left, right = self._sides
        seen = set()
        for extent in extents:
            for one in left.overlapping(extent):
                for other in right.overlapping(one):
                    both = max(one[0], other[0]), min(one[1], other[1])
                    if both not in seen:
                        seen.add(both)
                        yield both

    def _kind(self, extent: Range) -> ApartKind:
        writable = any(side.is_writable(extent) for side in self._sides)
        return ApartKind.DATA if writable else ApartKind.CONSTANTS

    def _unlike(self, extent: Range) -> Iterator[Apart]:
        held = [side.contents(extent) for side in self._sides]
        fields = self._address_fields(extent)
        if held[0] == held[1] and (fields is None or fields[0] == fields[1]):
            return
        kind = self._kind(extent)
        low = extent[0]
        parts = list(self._unlike_words(held, fields))
        if not parts:
            return
        name = self._name(extent)
        if kind is ApartKind.CONSTANTS:
            # Code that gets the address of an object may read all of it from there on.
            said = [_shown(content, parts[0][0], parts[-1][1], self._images[0].byte_order) for content in held]
            certain = all(sure for _, _, sure in parts)
            yield Apart(kind, low, low + parts[-1][1], name, said[0], said[1], certain, extent)
            return
        for start, end, certain in parts:
            said = [_shown(content, start, end, self._images[0].byte_order) for content in held]
            there = held[0][start:end], held[1][start:end]
            yield Apart(kind, low + start, low + end, name, said[0], said[1], certain, extent, there)

    def _undetermined(self, extent: Range) -> Iterator[Apart]:
        """Words that a relocation fills with something that isoform could not determine, so that it may differ."""
        for start, end in _stretches({offset for side in self._sides for offset in side.undetermined(extent)}):
            low = extent[0] + start if self._kind(extent) is ApartKind.DATA else extent[0]
            unknown = "not determined"
            yield Apart(self._kind(extent), low, extent[0] + end, self._name(extent), unknown, unknown, False, extent)

    def _address_fields(self, extent: Range) -> tuple[dict[int, int], dict[int, int]] | None:
        """Offsets and widths of the addresses in an object, of each side; None where a file does not tell them from
        numbers."""
        left, right = (side.address_fields(extent) for side in self._sides)
        return None if left is None or right is None else (left, right)

    def _unlike_words(
        self, held: Sequence[bytes], fields: tuple[dict[int, int], dict[int, int]] | None
    ) -> Iterator[tuple[int, int, bool]]:
        """First and past-the-last offset of each stretch that is not alike, and whether that is certain."""
        left, right = held
        size = min(len(left), len(right))
        covering = None if fields is None else (_covering(fields[0]), _covering(fields[1]))
        at = 0
        while at < size:
            in_fields = (at // WORD * WORD,) * 2 if covering is None else tuple(one.get(at) for one in covering)
            if left[at] == right[at] and in_fields[0] == in_fields[1]:
                at += 1
                continue
            start, alike = in_fields[0], None
            if start is None and in_fields[1] is None:
                alike = False  # numbers, whatever isoform happened to place at an address of this value
            elif start is not None and start == in_fields[1]:
                words = [int.from_bytes(content[start : start + WORD], self._images[0].byte_order) for content in held]
                alike = self._alike(words[0], words[1]) if start + WORD <= size else False
                if alike:
                    at = start + WORD
                    continue
            end = at + 1
            while end < size and end % WORD and (left[end] != right[end] or alike is None):
                end += 1
            yield at, end, alike is False
            at = end

    def _alike(self, left: int, right: int) -> bool | None:
        """Whether two words that are not equal are addresses of the same thing; None where that is not known."""
        places = self._places(left, right)
        if places is None:
            in_code = [_is_code(image, word) for image, word in zip(self._images, (left, right), strict=True)]
            around = [side.around(word) for side, word in zip(self._sides, (left, right), strict=True)]
            return None if any(in_code) or around != [None, None] else False
        shared = self._sides[1].around(left) == places[0], self._sides[0].around(right) == places[1]
        if all(shared) or (any(shared) and any(s.is_writable(p) for s, p in zip(self._sides, places, strict=True))):
            return (
                False  # a variable that is on both sides, or two objects that are: the pointers are to different ones
            )
        if not self._also_end_alike((left, right), places):
            return None
        offsets = left - places[0][0], right - places[1][0]
        texts = [self._literal(*each) for each in zip(self._sides, places, offsets, strict=True)]
        if texts[0] is not None and texts[1] is not None:
            return self._are_same_texts(texts[0], texts[1])
        return True if self._hold_the_same(places) and offsets[0] == offsets[1] else None

    def _also_end_alike(self, words: tuple[int, int], places: tuple[Range, Range]) -> bool:
        """Whether what ends where two words point to holds the same on both sides, if anything does: in a linked file
        the start of one object may be meant as the end of the one before it."""
        before: list[Range | None] = []
        for side, word, place in zip(self._sides, words, places, strict=True):
            one = side.around(word - 1) if side.is_linked and word == place[0] else None
            before.append(one if one is not None and one[1] == word else None)
        left, right = before
        if left is None or right is None:
            return left is right
        return self._hold_the_same((left, right))

    def _places(self, left: int, right: int) -> tuple[Range, Range] | None:
        """The objects that two words point into."""
        one, other = (side.around(word) for side, word in zip(self._sides, (left, right), strict=True))
        return None if one is None or other is None else (one, other)

    def _hold_the_same(self, places: tuple[Range, Range]) -> bool:
        left, right = (side.contents(place) for side, place in zip(self._sides, places, strict=True))
        return left == right

    def _literal(self, side: DataObjects, place: Range, offset: int) -> _Literal | None:
        """The text that an address points into; None where the object there may be more than a text."""
        if side.is_writable(place):
            return None
        content = side.contents(place)
        start = 0 if side.is_named(place) else content.rfind(b"\0", 0, offset) + 1
        text = _text(content, start)
        if text is None or offset > start + len(text):
            return None
        is_whole = len(text) + 1 == len(content) if side.is_named(place) else side.holds_texts(place)
        is_assumed = side.is_linked and not side.is_named(place)
        return _Literal(text, offset - start, is_whole) if is_whole or is_assumed else None

    def _are_same_texts(self, left: _Literal, right: _Literal) -> bool | None:
        if left.text[left.at :] != right.text[right.at :]:
            return False
        if (left.text, left.at) != (right.text, right.at):
            return None  # a reader may look at the bytes before the pointer
        self.rests_on_texts |= not (left.is_whole and right.is_whole)
        return True

    def _links(self, extent: Range) -> Iterator[_Link]:
        """Pointers to objects of other names that hold the same."""
        held = [side.contents(extent) for side in self._sides]
        size, fields = min(len(held[0]), len(held[1])), self._address_fields(extent)
        offsets = range(0, size - WORD + 1, WORD) if fields is None else sorted(fields[0].keys() & fields[1].keys())
        for offset in (one for one in offsets if one + WORD <= size):
            words = [int.from_bytes(content[offset : offset + WORD], self._images[0].byte_order) for content in held]
            places = self._places(words[0], words[1]) if words[0] != words[1] else None
            if places is not None and self._alike(words[0], words[1]):
                yield _Link(extent, offset, *places)

    def _mixed_up(self, links: Sequence[_Link]) -> Iterator[Apart]:
        """Pointers to variables of which one side has two where the other has one: what is stored through one of them
        is then seen through the other on one side only."""
        partners = [{(link.place, link.other) for link in links}, {(link.other, link.place) for link in links}]
        several = [{one for one, count in Counter(one for one, _ in pairs).items() if count > 1} for pairs in partners]
        for link in links:
            if link.place in several[0] or link.other in several[1]:
                low, unclear = link.extent[0] + link.offset, "one variable or two"
                kind = self._kind(link.extent)
                yield Apart(kind, low, low + WORD, self._name(link.extent), unclear, unclear, False, link.extent)

    def _through(self, link: _Link, others: Sequence[Apart]) -> Iterator[Apart]:
        """A pointer to an object that holds the same bytes on both sides, but leads to one of `others`."""
        other = next((o for _, o in _leads(self._sides[0], link.place, others)), None)
        if other is not None:
            low = link.extent[0] + link.offset
            yield self._leading_part(link.extent, low, low + WORD, other)

    def _leading(self, extent: Range, others: Sequence[Apart]) -> Iterator[Apart]:
        held = [side.contents(extent) for side in self._sides]
        for offset, other in _leads(self._sides[0], extent, others):
            if held[0][offset : offset + WORD] == held[1][offset : offset + WORD]:
                yield self._leading_part(extent, extent[0] + offset, extent[0] + offset + WORD, other)

    def _leading_part(self, extent: Range, low: int, high: int, other: Apart) -> Apart:
        kind = self._kind(extent)
        if kind is ApartKind.CONSTANTS:
            low = extent[0]  # whoever gets the address of an object may read all of it from there on
            kind = ApartKind.TABLE if other.kind in _CODE else kind
        leads = [f"{other.name}: {said}" for said in (other.target, other.rewrite)]
        # Writable data may have been written before anyone reads it through this pointer; if not, that read shows it.
        certain = other.certain and other.kind is not ApartKind.DATA
        return Apart(kind, low, high, self._name(extent), leads[0], leads[1], certain, extent)

    def _name(self, extent: Range) -> str:
        whole = self._sides[0].around(extent[0])
        return self._sides[0].name(whole if whole is not None else extent)


def _covering(fields: dict[int, int]) -> dict[int, int]:
    """Where the field begins that each byte is in."""
    return {byte: start for start, width in fields.items() for byte in range(start, start + width)}


def _stretches(offsets: Iterable[int]) -> list[Range]:
    """Numbers that follow each other, each stretch as its first and past-the-last one."""
    found: list[Range] = []
    for offset in sorted(offsets):
        if found and found[-1][1] == offset:
            found[-1] = (found[-1][0], offset + 1)
        else:
            found.append((offset, offset + 1))
    return found


def _leads(side: DataObjects, extent: Range, others: Sequence[Apart]) -> Iterator[tuple[int, Apart]]:
    """Offsets of words that are addresses of one of `others`, of anything else in its object, or of the object's end.
    From each of these all of the object can be read, but perhaps the part that differs is not."""
    wholes = [(*(o.whole or (o.low, o.high - 1)), o) for o in others]
    least, most = min((low for low, _, _ in wholes), default=0), max((high for _, high, _ in wholes), default=-1)
    content = side.contents(extent)
    filled = side.address_fields(extent)
    for shift in range(WORD) if most >= 0 and any(content) else ():
        words = memoryview(content[shift : shift + (len(content) - shift) // WORD * WORD]).cast("Q")
        for offset, word in [(WORD * i + shift, w) for i, w in enumerate(words) if w and least <= w <= most]:
            found = [other for low, high, other in wholes if low <= word <= high]
            exact = next((other for other in found if other.low <= word < other.high), None)
            if exact is not None:
                # A number that no relocation fills leads nowhere, whatever isoform placed at an address of its value.
                is_address = filled is None or offset in filled
                yield offset, exact if is_address else replace(exact, certain=False)
            elif found:
                yield offset, replace(found[0], certain=False)
    code = {other.low: other for other in others if other.kind in _CODE}
    for offset, address in _short_addresses(content, extent[0], code) if code else ():
        yield offset, replace(code[address], certain=False)
    for offset, _, meant, _ in side.fields(extent) if wholes else ():
        for low, high, other in wholes:
            if any(low < end and start < high for start, end in meant):
                yield offset, replace(other, certain=False)


def _short_addresses(content: bytes, start: int, wanted: Container[int]) -> Iterator[tuple[int, int]]:
    """Offsets of numbers of 32 bits that are one of these addresses, or the distance to one from the object's start
    or from their own place."""
    if len(content) > MOST_SEARCHED or not any(content):
        return
    for shift in range(4):
        words = memoryview(content[shift : shift + (len(content) - shift) // 4 * 4]).cast("I")
        for offset, word in [(4 * i + shift, w) for i, w in enumerate(words) if w]:
            distance = word - (word >> 31 << 32)
            for address in (word, start + distance, start + offset + distance):
                if address in wanted:
                    yield offset, address


def _is_code(image: Image, address: int) -> bool:
    """Whether it is the address of a function: of another name, one may well do the same."""
    return (
        address in image.aliases
        or address in image.externals
        or address in image.resolvers
        or bool(image.code_at(address))
    )


def _text(content: bytes, offset: int) -> bytes | None:
    """A literal: what is there up to the zero, if that is text."""
    end = content.find(b"\0", offset, offset + MOST_TEXT)
    text = content[offset:end] if end >= 0 else b""
    return text if text and all(32 <= byte < 127 or byte in b"\t\n\r" for byte in text) else None


def _shown(content: bytes, start: int, end: int, order: Order) -> str:
    if len(content) in _SCALARS:
        return f"{int.from_bytes(content, order, signed=True)}"
    text = _text(content, 0)
    if text is not None and len(text) < 40:
        return f'"{text.decode("ascii")}"'
    start, end = start // 4 * 4, min(-(-end // 4) * 4, len(content))
    shown = content[start : min(end, start + 8)]
    return f"{shown.hex(' ')} at offset {start}"
