"""Units of debug information and their entries, each read when it is first asked for."""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import cached_property

from isoform.load.debug import forms
from isoform.load.debug.forms import Abbreviation, Abbreviations, UnitEncoding, Value
from isoform.load.debug.sections import DebugSections
from isoform.load.debug.unusable import Unusable

UNIT_LIMIT = 100_000
INFO, TYPES = ".debug_info", ".debug_types"
_LONG_OFFSETS = 0xFFFFFFFF
_TYPE_UNITS = (2, 6)
"""DW_UT_type and split_type."""
_WITH_IDENTIFIER = (4, 5)
"""DW_UT_skeleton and split_compile."""


class Entry:
    """One entry. Attributes go by their names in the standard; those that nobody looks at are not there."""

    __slots__ = ("_abbreviation", "_values", "has_children", "offset", "size", "tag", "unit")

    def __init__(
        self, unit: Unit, offset: int, size: int, abbreviation: Abbreviation | None, values: tuple[Value, ...]
    ) -> None:
        self.unit = unit
        self.offset = offset
        self.size = size
        self.tag = abbreviation.tag if abbreviation is not None else None
        """None for the entry that ends a list of children."""
        self.has_children = abbreviation is not None and abbreviation.has_children
        self._abbreviation = abbreviation
        self._values = values

    def __contains__(self, attribute: str) -> bool:
        return self._abbreviation is not None and attribute in self._abbreviation.forms

    @property
    def names_a_signature(self) -> bool:
        """Whether it refers to a type that is in a unit of its own."""
        return self._abbreviation is not None and self._abbreviation.names_a_signature

    def form(self, attribute: str) -> int:
        """How the value is encoded; 0 if there is none."""
        return self._abbreviation.forms.get(attribute, 0) if self._abbreviation is not None else 0

    def raw(self, attribute: str) -> Value:
        """The value as it is written, of an attribute that is there."""
        assert self._abbreviation is not None
        if self._abbreviation.forms[attribute] in (forms.FLAG_PRESENT, forms.IMPLICIT_CONSTANT):
            return self._abbreviation.constants[attribute]
        return self._values[self._abbreviation.positions[attribute]]

    def number(self, attribute: str) -> int | None:
        """A constant, address, flag or offset in another section; None for anything else."""
        form = self.form(attribute)
        if form in forms.NUMBERS:
            return _whole(self.raw(attribute))
        return self.unit.address(_whole(self.raw(attribute))) if form in forms.ADDRESS_INDEXES else None

    def text(self, attribute: str) -> str:
        """ "" without one."""
        return self.unit.text(self.form(attribute), self.raw(attribute)) if attribute in self else ""

    @property
    def name(self) -> str:
        return self.text("DW_AT_name")

    def expression(self, attribute: str) -> bytes:
        """The bytes of a location that is a single expression; empty for any other."""
        found = self.raw(attribute) if self.form(attribute) in (forms.EXPRESSION, forms.BLOCK_1) else b""
        return found if isinstance(found, bytes) else b""

    def linked(self, attribute: str) -> Entry | None:
        """The entry that an attribute refers to."""
        if attribute not in self:
            return None
        return self.unit.linked(self.form(attribute), _whole(self.raw(attribute)))

    def children(self) -> Iterator[Entry]:
        """Forwards only, so that no link in the data causes an endless loop."""
        offset = self.offset + self.size
        level = int(self.has_children)
        while level:
            self.unit.spend()
            child = self.unit.entry(offset)
            offset += max(1, child.size)
            if child.tag is None:
                level -= 1
                continue
            if level == 1:
                yield child
            level += child.has_children

    @property
    def parent(self) -> Entry | None:
        return self.unit.parent(self)


def _whole(value: Value) -> int:
    return value if isinstance(value, int) else int.from_bytes(value, "little")


class Unit:
    """One unit. `start` to `end` are its entries, in the section `data`."""

    def __init__(
        self, units: Units, section: str, header: int, start: int, end: int, encoding: UnitEncoding, abbreviations: int
    ) -> None:
        self.sections = units.sections
        self.spend = units.spend
        self.data = units.sections[section]
        self.header = header
        self.start = start
        self.end = min(end, len(self.data))
        self.encoding = encoding
        self._units = units
        self._abbreviations = units.abbreviations(abbreviations, encoding)
        self._read: dict[int, Entry] = {}
        self._listed: list[tuple[int, Entry]] = []
        self._parents: dict[int, Entry] = {}
        self._next: int | None = start
        """Offset of the first entry that is not yet listed; None after the last one."""
        self._open: list[Entry] = []
        """The ancestors of that entry, outermost first."""

    @cached_property
    def top(self) -> Entry:
        return self.entry(self.start)

    def entry(self, offset: int) -> Entry:
        found = self._read.get(offset)
        if found is None:
            if not self.start <= offset < self.end:
                raise Unusable("a link to outside the unit")
            found = self._read[offset] = self._entry(offset)
        return found

    def _entry(self, offset: int) -> Entry:
        code, at = forms.unsigned(self.data, offset)
        if code == 0:
            return Entry(self, offset, at - offset, None, ())
        abbreviation = self._abbreviations[code]
        values: tuple[Value, ...] = ()
        for fixed, read in abbreviation.steps:
            if fixed is not None:
                values += fixed.unpack_from(self.data, at)
                at += fixed.size
            elif read is not None:
                value, at = read(self.data, at)
                values += (value,)
        return Entry(self, offset, at - offset, abbreviation, values)

    # All entries in order

    def entries(self) -> Iterator[tuple[int, Entry]]:
        """(depth, entry), in file order. Entries are kept once they are read."""
        index = 0
        while index < len(self._listed) or self._list_next():
            yield self._listed[index]
            index += 1

    def _list_next(self) -> bool:
        """Add the next entry to the list, if there is one."""
        while self._next is not None and self._next < self.end:
            self.spend()
            entry = self.entry(self._next)
            self._next += max(1, entry.size)
            if entry.tag is not None:
                self._listed.append((len(self._open), entry))
                if self._open:
                    self._parents[entry.offset] = self._open[-1]
                if entry.has_children:
                    self._open.append(entry)
                return True
            if len(self._open) <= 1:
                self._next = None
            else:
                self._open.pop()
        return False

    def parent(self, entry: Entry) -> Entry | None:
        while self._next is not None and self._next <= entry.offset and self._list_next():
            pass
        return self._parents.get(entry.offset)

    # What values refer to

    def linked(self, form: int, value: int) -> Entry:
        if form in forms.UNIT_REFERENCES:
            return self.entry(self.header + value)
        if form == forms.REFERENCE_ADDRESS:
            return self._units.containing(value).entry(value)
        if form == forms.REFERENCE_SIGNATURE:
            return self._units.type_entry(value)
        raise Unusable("a link to another file, or no link")

    def text(self, form: int, value: Value) -> str:
        if isinstance(value, bytes):
            found = value if form == forms.TEXT else b""
        elif form == forms.TEXT_OFFSET:
            found = forms.text_at(self.sections[".debug_str"], value)[0]
        elif form == forms.LINE_TEXT_OFFSET:
            found = forms.text_at(self.sections[".debug_line_str"], value)[0]
        else:
            found = b""
        if form in forms.TEXT_INDEXES:
            offset = self._indexed(".debug_str_offsets", "DW_AT_str_offsets_base", _whole(value), self._offset)
            found = forms.text_at(self.sections[".debug_str"], offset)[0]
        return found.decode("utf-8", "backslashreplace")

    def address(self, index: int) -> int:
        """The address with this number."""
        width = "<Q" if self.encoding.address_bytes == 8 else "<I"
        return self._indexed(".debug_addr", "DW_AT_addr_base", index, width)

    def range_list(self, index: int) -> int:
        """Where in its section the list of ranges with this number is."""
        base = "DW_AT_rnglists_base"
        return (self.top.number(base) or 0) + self._indexed(".debug_rnglists", base, index, self._offset)

    @property
    def _offset(self) -> str:
        return "<Q" if self.encoding.offset_bytes == 8 else "<I"

    def _indexed(self, section: str, base: str, index: int, kind: str) -> int:
        start = self.top.number(base)
        if start is None:
            raise Unusable(f"a unit that lacks {base}")
        value: int = struct.unpack_from(kind, self.sections[section], start + index * struct.calcsize(kind))[0]
        return value


class Units:
    """All units of a file. `spend` is called for every entry that is looked at, and raises when there were too many."""

    def __init__(self, sections: DebugSections, spend: Callable[[], None]) -> None:
        self.sections = sections
        self.spend = spend
        self._known: list[Unit] = []
        self._starts: list[int] = []
        self._next = 0
        self._tables: dict[tuple[int, UnitEncoding], Abbreviations] = {}

    def __iter__(self) -> Iterator[Unit]:
        """Headers are read only as far as needed."""
        index = 0
        while index < UNIT_LIMIT and (index < len(self._known) or self._read_next()):
            yield self._known[index]
            index += 1

    def abbreviations(self, offset: int, encoding: UnitEncoding) -> Abbreviations:
        key = (offset, encoding)
        if key not in self._tables:
            self._tables[key] = Abbreviations(self.sections[".debug_abbrev"], offset, encoding)
        return self._tables[key]

    def containing(self, offset: int) -> Unit:
        while self._next <= offset and self._read_next():
            pass
        index = bisect_right(self._starts, offset) - 1
        if index < 0:
            raise Unusable("a link to no unit")
        return self._known[index]

    def type_entry(self, signature: int) -> Entry:
        """The type with this signature, in a unit of its own."""
        if signature not in self._types:
            raise Unusable("a type that is not there")
        return self._types[signature]

    @cached_property
    def _types(self) -> dict[int, Entry]:
        found: dict[int, Entry] = {}
        for section in (INFO, TYPES):
            at = 0
            while at < len(self.sections[section]):
                self.spend()
                unit, at, named = _unit(self, section, at)
                if named is not None:
                    found[named[0]] = unit.entry(unit.header + named[1])
        return found

    def _read_next(self) -> bool:
        if self._next >= len(self.sections[INFO]):
            return False
        self.spend()
        self._starts.append(self._next)
        unit, self._next, _ = _unit(self, INFO, self._next)
        self._known.append(unit)
        return True


def _unit(units: Units, section: str, header: int) -> tuple[Unit, int, tuple[int, int] | None]:
    """The unit whose header begins there, where the next header begins, and for a unit of one type its signature and
    the offset of its entry (DWARF 5, section 7.5.1; DWARF 4 for older units)."""
    data = units.sections[section]
    (length,), at, offset_bytes = struct.unpack_from("<I", data, header), header + 4, 4
    if length == _LONG_OFFSETS:
        (length,), at, offset_bytes = struct.unpack_from("<Q", data, at), at + 8, 8
    end = at + length
    offset = "Q" if offset_bytes == 8 else "I"
    (version,) = struct.unpack_from("<H", data, at)
    if version == 5:
        _, kind, address_bytes, abbreviations = struct.unpack_from(f"<HBB{offset}", data, at)
    elif 2 <= version <= 4:
        _, abbreviations, address_bytes = struct.unpack_from(f"<H{offset}B", data, at)
        kind = _TYPE_UNITS[0] if section == TYPES else 0
    else:
        raise Unusable("debug information of an unknown version")
    if address_bytes not in (4, 8) or end <= at:
        raise Unusable("a unit with a broken header")
    at += 3 + (version == 5) + offset_bytes
    named = None
    if kind in _TYPE_UNITS:
        named = struct.unpack_from(f"<Q{offset}", data, at)
        at += 8 + offset_bytes
    elif kind in _WITH_IDENTIFIER:
        at += 8
    encoding = UnitEncoding(version, address_bytes, offset_bytes)
    return Unit(units, section, header, at, end, encoding, abbreviations), end, named
