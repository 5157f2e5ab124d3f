"""The initial contents of data on both sides: where they differ, and where they point to something that differs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from isoform.borders.apart import Apart, ApartKind
from isoform.borders.reach import Objects, Range
from isoform.load.image import Image

WORD = 8
_CODE = (ApartKind.FUNCTION, ApartKind.TABLE)
_SCALARS = (1, 2, 4, 8)
MOST_TEXT = 1 << 12


class Contents:
    """The data of both images, as far as it has the same addresses in both."""

    def __init__(self, left: Image, right: Image) -> None:
        self._images = (left, right)

    @cached_property
    def _sides(self) -> tuple[Objects, Objects]:
        return Objects(self._images[0]), Objects(self._images[1])

    def apart(self, extents: Iterable[Range], others: Sequence[Apart]) -> list[Apart]:
        """Of these objects the parts that do not hold the same, or that lead to one of `others` or to one of them."""
        both = sorted(self._in_both(extents))
        found = [part for extent in both for part in self._unlike(extent)]
        pending: Sequence[Apart] = [*others, *found]
        while pending:
            known = {(part.low, part.high) for part in found}
            leading = [part for extent in both for part in self._leading(extent, pending)]
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
        if held[0] == held[1]:
            return
        kind = self._kind(extent)
        low = extent[0]
        parts = list(self._unlike_words(held))
        if not parts:
            return
        name = self._name(extent)
        if kind is ApartKind.CONSTANTS:
            # Whoever gets the address of an object may read all of it from there on.
            said = [_shown(content, parts[0][0], parts[-1][1]) for content in held]
            certain = all(sure for _, _, sure in parts)
            yield Apart(kind, low, low + parts[-1][1], name, said[0], said[1], certain, extent)
            return
        for start, end, certain in parts:
            said = [_shown(content, start, end) for content in held]
            there = held[0][start:end], held[1][start:end]
            yield Apart(kind, low + start, low + end, name, said[0], said[1], certain, extent, there)

    def _unlike_words(self, held: Sequence[bytes]) -> Iterator[tuple[int, int, bool]]:
        """First and past-the-last offset of each stretch that is not alike, and whether that is certain."""
        left, right = held
        size = min(len(left), len(right))
        at = 0
        while at < size:
            if left[at] == right[at]:
                at += 1
                continue
            start = at // WORD * WORD
            words = [int.from_bytes(content[start : start + WORD], "little") for content in held]
            alike = self._alike(words[0], words[1]) if start + WORD <= size else False
            if alike:
                at = start + WORD
                continue
            end = at
            while end < size and left[end] != right[end] and end < start + WORD:
                end += 1
            yield at, end, alike is False
            at = end

    def _alike(self, left: int, right: int) -> bool | None:
        """Whether two words that are not equal are addresses of the same thing; None where that is not known."""
        places = [side.around(word) for side, word in zip(self._sides, (left, right), strict=True)]
        if places[0] is None or places[1] is None:
            in_code = [bool(image.code_at(word)) for image, word in zip(self._images, (left, right), strict=True)]
            return None if any(in_code) or places != [None, None] else False
        held = [side.contents(place) for side, place in zip(self._sides, places, strict=True) if place is not None]
        offsets = left - places[0][0], right - places[1][0]
        texts = [_text(content, offset) for content, offset in zip(held, offsets, strict=True)]
        if None not in texts and not any(
            side.is_writable(place) for side, place in zip(self._sides, places, strict=True) if place is not None
        ):
            return texts[0] == texts[1]
        if held[0] == held[1] and offsets[0] == offsets[1]:
            return True
        return None

    def _leading(self, extent: Range, others: Sequence[Apart]) -> Iterator[Apart]:
        held = [side.contents(extent) for side in self._sides]
        size = min(len(held[0]), len(held[1]))
        kind = self._kind(extent)
        constant = kind is ApartKind.CONSTANTS
        for offset in range(0, size - WORD + 1):
            word = int.from_bytes(held[0][offset : offset + WORD], "little")
            if not word or held[0][offset : offset + WORD] != held[1][offset : offset + WORD]:
                continue
            other = next((o for o in others if o.low <= word < o.high), None)
            if other is not None:
                kind = ApartKind.TABLE if constant and other.kind in _CODE else kind
                low = extent[0] if constant else extent[0] + offset
                name, high = self._name(extent), extent[0] + offset + WORD
                leads = [f"{other.name}: {said}" for said in (other.target, other.rewrite)]
                yield Apart(kind, low, high, name, leads[0], leads[1], other.certain, extent)

    def _name(self, extent: Range) -> str:
        whole = self._sides[0].around(extent[0])
        return self._sides[0].name(whole if whole is not None else extent)


def _text(content: bytes, offset: int) -> bytes | None:
    """A literal: what is there up to the zero, if that is text."""
    end = content.find(b"\0", offset, offset + MOST_TEXT)
    text = content[offset:end] if end >= 0 else b""
    return text if text and all(32 <= byte < 127 or byte in b"\t\n\r" for byte in text) else None


def _shown(content: bytes, start: int, end: int) -> str:
    if len(content) in _SCALARS:
        return f"{int.from_bytes(content, 'little', signed=True)}"
    text = _text(content, 0)
    if text is not None and len(text) < 40:
        return f'"{text.decode("ascii")}"'
    start, end = start // 4 * 4, min(-(-end // 4) * 4, len(content))
    shown = content[start : min(end, start + 8)]
    return f"{shown.hex(' ')} at offset {start}"
