"""Constants without a name: how far they go.

A linked file does not say where a constant ends whose name was removed. What lies there is a text, or a table whose
first bytes look like one. So all of it counts up to where something else begins, as far as the file shows that: there
is a named object, or code or data holds the address.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property

from isoform.engines.same_code.meaning import MOST_TEXT, Meanings
from isoform.engines.same_code.walk import Role, Walker
from isoform.load.image import Section

_WORD = 8
_LITERAL = ".rodata.str"
"""How the name of a section begins that is one literal of an object file (`load/relocatable/literals.py`)."""


class Unnameds:
    """Of one file."""

    def __init__(self, meanings: Meanings, walker: Walker) -> None:
        self._meanings, self._walker = meanings, walker

    def text(self, own: int) -> tuple[bytes, bytes] | None:
        """What is at an address, if it begins as a text: all of it that may belong together, without zeros at its end.
        Before it, what lies there if the address is in the middle of a text (`"abc" + 1`)."""
        text = self._meanings.text(own)
        section = self._meanings.image.section_at(own)
        if text is None or section is None:
            return None
        if section.name.startswith(_LITERAL):
            at = own - section.address
            return section.data[:at], section.data[at:]
        index = bisect_right(self._starts, own)
        end = self._starts[index] if index < len(self._starts) else section.end
        size = max(min(end, section.end) - own, len(text) + 1)
        return self._before(own, section), self._meanings.content(own, size).rstrip(b"\0")

    def _before(self, own: int, section: Section) -> bytes:
        """What lies between the last zero, or the last object with a name, and an address."""
        index = bisect_right(self._ends, own) - 1
        first = max(section.address, own - MOST_TEXT, self._ends[index] if index >= 0 else 0)
        return self._meanings.content(first, own - first).rpartition(b"\0")[2]

    @cached_property
    def _ends(self) -> list[int]:
        """Of the objects with a name."""
        return sorted(symbol.address + symbol.size for symbol in self._meanings.image.data_symbols[1])

    @cached_property
    def _starts(self) -> list[int]:
        image = self._meanings.image
        found = {symbol.address for symbol in image.data_symbols[1]}
        found |= {image.own_address(number) for number in self._formed()}
        for place, known in image.relocated.items():
            section = image.section_at(place)
            if section is not None and not section.executable and known.width == _WORD and not known.relative:
                held = int.from_bytes(self._meanings.content(place, _WORD), image.byte_order)
                found.add(image.own_address(held))
        return sorted(found)

    def _formed(self) -> set[int]:
        """Addresses that code computes with, in all functions."""
        pending = [symbol.address for symbol in self._meanings.image.symbols if symbol.is_function]
        seen, found = set(pending), set[int]()
        while pending:
            walk = self._walker.walk(pending.pop())
            found |= {one.number for one in walk.references if one.role is Role.FORM}
            found |= {start for start, _ in walk.tables}
            more = [entry for entry in walk.callees if entry not in seen and self._meanings.image.code_at(entry)]
            seen |= {*more}
            pending += more
        return found
