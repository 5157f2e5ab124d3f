"""How values are written: LEB128 numbers, forms, and the abbreviations that list them (DWARF 5, sections 7.5 and 7.6).

Runs of values of fixed size are unpacked at once: an entry takes two or three microseconds.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping

from isoform.load.debug.unusable import Unusable
from isoform.model.values import dataclass

Value = int | bytes
Read = tuple[Value, int]
"""A value, and where the next one begins."""

LONGEST_NUMBER = 10
"""Bytes of a LEB128 number of 64 bits."""
BLOCK_LIMIT = 1 << 16
TEXT_LIMIT = 1 << 16
ATTRIBUTE_LIMIT = 256
"""Of one abbreviation."""

ADDRESS, DATA_1, REFERENCE_ADDRESS, REFERENCE_SIGNATURE = 0x01, 0x0B, 0x10, 0x20
TEXT, TEXT_OFFSET, LINE_TEXT_OFFSET = 0x08, 0x0E, 0x1F
BLOCK_1, EXPRESSION = 0x0A, 0x18
FLAG_PRESENT, IMPLICIT_CONSTANT, RANGE_INDEX = 0x19, 0x21, 0x23
ADDRESS_INDEXES = frozenset({0x1B, 0x29, 0x2A, 0x2B, 0x2C})
TEXT_INDEXES = frozenset({0x1A, 0x25, 0x26, 0x27, 0x28})
UNIT_REFERENCES = frozenset({0x11, 0x12, 0x13, 0x14, 0x15})
"""Counted from the start of the unit."""
NUMBERS = frozenset(
    {ADDRESS, 0x05, 0x06, 0x07, DATA_1, 0x0C, 0x0D, 0x0F, 0x17, FLAG_PRESENT, IMPLICIT_CONSTANT, RANGE_INDEX}
)
"""DW_FORM_addr, data, flag, sdata, udata, sec_offset, and those without bytes of their own."""

_FIXED: Mapping[int, str] = {
    **{0x05: "H", 0x06: "I", 0x07: "Q", DATA_1: "B", 0x0C: "B", 0x1E: "16s"},
    **{0x11: "B", 0x12: "H", 0x13: "I", 0x14: "Q", REFERENCE_SIGNATURE: "Q", 0x1C: "I", 0x24: "Q"},
    **{0x25: "B", 0x26: "H", 0x27: "3s", 0x28: "I", 0x29: "B", 0x2A: "H", 0x2B: "3s", 0x2C: "I"},
}
_OFFSETS = frozenset({TEXT_OFFSET, 0x17, 0x1D, LINE_TEXT_OFFSET, 0x1F20, 0x1F21})
"""As wide as offsets are in the unit."""

_ATTRIBUTES: Mapping[int, str] = {
    **{0x02: "DW_AT_location", 0x03: "DW_AT_name", 0x0B: "DW_AT_byte_size", 0x0C: "DW_AT_bit_offset"},
    **{0x0D: "DW_AT_bit_size", 0x10: "DW_AT_stmt_list", 0x11: "DW_AT_low_pc", 0x12: "DW_AT_high_pc"},
    **{0x13: "DW_AT_language", 0x1B: "DW_AT_comp_dir", 0x1C: "DW_AT_const_value", 0x27: "DW_AT_prototyped"},
    **{0x2F: "DW_AT_upper_bound", 0x31: "DW_AT_abstract_origin", 0x34: "DW_AT_artificial"},
    **{0x36: "DW_AT_calling_convention", 0x37: "DW_AT_count", 0x38: "DW_AT_data_member_location"},
    **{0x3C: "DW_AT_declaration", 0x3E: "DW_AT_encoding", 0x3F: "DW_AT_external", 0x40: "DW_AT_frame_base"},
    **{0x47: "DW_AT_specification", 0x49: "DW_AT_type", 0x55: "DW_AT_ranges", 0x6B: "DW_AT_data_bit_offset"},
    **{0x6E: "DW_AT_linkage_name", 0x72: "DW_AT_str_offsets_base", 0x73: "DW_AT_addr_base"},
    **{0x25: "DW_AT_producer", 0x7A: "DW_AT_call_all_calls", 0x2117: "DW_AT_GNU_all_call_sites"},
    **{0x3FE1: "DW_AT_APPLE_optimized"},
    **{0x74: "DW_AT_rnglists_base", 0x87: "DW_AT_noreturn", 0x88: "DW_AT_alignment", 0x2107: "DW_AT_GNU_vector"},
}
"""Those that are looked at."""
_TAGS: Mapping[int, str] = {
    **{0x01: "DW_TAG_array_type", 0x02: "DW_TAG_class_type", 0x04: "DW_TAG_enumeration_type"},
    **{0x05: "DW_TAG_formal_parameter", 0x0B: "DW_TAG_lexical_block", 0x0D: "DW_TAG_member"},
    **{0x0F: "DW_TAG_pointer_type", 0x10: "DW_TAG_reference_type", 0x11: "DW_TAG_compile_unit"},
    **{0x13: "DW_TAG_structure_type", 0x15: "DW_TAG_subroutine_type", 0x16: "DW_TAG_typedef"},
    **{0x17: "DW_TAG_union_type", 0x18: "DW_TAG_unspecified_parameters", 0x1C: "DW_TAG_inheritance"},
    **{0x1D: "DW_TAG_inlined_subroutine"},
    **{0x24: "DW_TAG_base_type", 0x26: "DW_TAG_const_type", 0x2E: "DW_TAG_subprogram", 0x34: "DW_TAG_variable"},
    **{0x35: "DW_TAG_volatile_type", 0x37: "DW_TAG_restrict_type", 0x3B: "DW_TAG_unspecified_type"},
    **{0x3C: "DW_TAG_partial_unit", 0x41: "DW_TAG_type_unit", 0x42: "DW_TAG_rvalue_reference_type"},
    **{0x47: "DW_TAG_atomic_type"},
}


def unsigned(data: bytes, at: int) -> tuple[int, int]:
    """A LEB128 number, and where the next value begins."""
    byte = data[at]
    if byte < 0x80:
        return byte, at + 1
    value = 0
    for position in range(LONGEST_NUMBER):
        byte = data[at + position]
        value |= (byte & 0x7F) << (7 * position)
        if byte < 0x80:
            return value, at + position + 1
    raise Unusable("a number of more than 64 bits")


def signed(data: bytes, at: int) -> tuple[int, int]:
    value, end = unsigned(data, at)
    return value - (1 << (7 * (end - at))) if data[end - 1] & 0x40 else value, end


def text_at(data: bytes, at: int) -> tuple[bytes, int]:
    """A text that ends with a zero byte."""
    end = data.find(b"\0", at, at + TEXT_LIMIT)
    if end < 0:
        raise Unusable("a text without an end")
    return data[at:end], end + 1


def _block(width: int) -> Callable[[bytes, int], tuple[bytes, int]]:
    """A block after its length, of so many bytes or a LEB128 number."""

    def read(data: bytes, at: int) -> tuple[bytes, int]:
        if width:
            size, start = int.from_bytes(data[at : at + width], "little"), at + width
        else:
            size, start = unsigned(data, at)
        if size > BLOCK_LIMIT or start + size > len(data):
            raise Unusable("a block of impossible size")
        return data[start : start + size], start + size

    return read


_VARIABLE: Mapping[int, Callable[[bytes, int], Read]] = {
    **{0x03: _block(2), 0x04: _block(4), 0x09: _block(0), BLOCK_1: _block(1), EXPRESSION: _block(0)},
    **{TEXT: text_at, 0x0D: signed, 0x0F: unsigned, 0x15: unsigned, 0x1A: unsigned, 0x1B: unsigned},
    **{0x22: unsigned, RANGE_INDEX: unsigned, 0x1F01: unsigned, 0x1F02: unsigned},
}


@dataclass(frozen=True)
class UnitEncoding:
    """What the header of a unit says of the width of values in it."""

    version: int
    address_bytes: int
    offset_bytes: int

    def fixed(self, form: int) -> str:
        """The letter of `struct` for a form of fixed size; "" for any other."""
        if form in _OFFSETS or (form == REFERENCE_ADDRESS and self.version > 2):
            return "Q" if self.offset_bytes == 8 else "I"
        if form in (ADDRESS, REFERENCE_ADDRESS):
            return "Q" if self.address_bytes == 8 else "I"
        return _FIXED.get(form, "")

    def read(self, form: int, data: bytes, at: int) -> Read:
        """One value that is not in an entry."""
        if letter := self.fixed(form):
            return struct.unpack_from(f"<{letter}", data, at)[0], at + struct.calcsize(f"<{letter}")
        return _reader(form)(data, at)


def _reader(form: int) -> Callable[[bytes, int], Read]:
    if form not in _VARIABLE:
        raise Unusable(f"a value of form {form:#x}")
    return _VARIABLE[form]


Step = tuple[struct.Struct | None, Callable[[bytes, int], Read] | None]
"""How to read the next values: several of fixed size at once, or one of variable size."""


class Abbreviation:
    """What entries with one code have in common."""

    def __init__(
        self, tag: int, has_children: bool, encoding: UnitEncoding, listed: list[tuple[int, int, int]]
    ) -> None:
        """`listed`: (attribute, form, constant)."""
        self.tag = _TAGS.get(tag, f"DW_TAG_{tag:#x}")
        self.has_children = has_children
        self.forms: dict[str, int] = {}
        self.constants: dict[str, int] = {}
        """Of the attributes that have no bytes in an entry."""
        self.positions: dict[str, int] = {}
        """Of all others, among the values of an entry."""
        self.steps = tuple(self._steps(encoding, listed))
        self.names_a_signature = any(form == REFERENCE_SIGNATURE for _, form, _ in listed)

    def _steps(self, encoding: UnitEncoding, listed: list[tuple[int, int, int]]) -> list[Step]:
        steps: list[Step] = []
        letters, count = "", 0
        for attribute, form, constant in listed:
            name = _ATTRIBUTES.get(attribute, "")
            self.forms[name] = form
            if form in (FLAG_PRESENT, IMPLICIT_CONSTANT):
                self.constants[name] = constant
                continue
            self.positions[name] = count
            count += 1
            if letter := encoding.fixed(form):
                letters += letter
                continue
            if letters:
                steps.append((struct.Struct(f"<{letters}"), None))
                letters = ""
            steps.append((None, _reader(form)))
        return [*steps, (struct.Struct(f"<{letters}"), None)] if letters else steps


class Abbreviations:
    """One table of them. Declarations are found as far as needed, and read when an entry has their code."""

    def __init__(self, data: bytes, start: int, encoding: UnitEncoding) -> None:
        self._data = data
        self._next = start
        self._encoding = encoding
        self._places: dict[int, int] = {}
        """Where each declaration begins, after its code."""
        self._known: dict[int, Abbreviation] = {}

    def __getitem__(self, code: int) -> Abbreviation:
        found = self._known.get(code)
        if found is None:
            while code not in self._places:
                self._find_next()
            found = self._known[code] = self._declared(self._places[code])
        return found

    def _find_next(self) -> None:
        data = self._data
        code, at = unsigned(data, self._next)
        if code == 0:
            raise Unusable("an entry without an abbreviation")
        self._places.setdefault(code, at)
        _, at = unsigned(data, at)
        at += 1
        attribute, form, at = _pair(data, at)
        while attribute or form:
            if form == IMPLICIT_CONSTANT:
                _, at = unsigned(data, at)
            attribute, form, at = _pair(data, at)
        self._next = at

    def _declared(self, at: int) -> Abbreviation:
        data = self._data
        tag, at = unsigned(data, at)
        has_children, at = bool(data[at]), at + 1
        listed: list[tuple[int, int, int]] = []
        attribute, form, at = _pair(data, at)
        while attribute or form:
            constant, at = signed(data, at) if form == IMPLICIT_CONSTANT else (1, at)
            listed.append((attribute, form, constant))
            if len(listed) > ATTRIBUTE_LIMIT:
                raise Unusable("an abbreviation of too many attributes")
            attribute, form, at = _pair(data, at)
        return Abbreviation(tag, has_children, self._encoding, listed)


def _pair(data: bytes, at: int) -> tuple[int, int, int]:
    """An attribute, its form, and where the next pair begins."""
    attribute, form = data[at], data[at + 1]
    if attribute < 0x80 and form < 0x80:
        return attribute, form, at + 2
    attribute, at = unsigned(data, at)
    form, at = unsigned(data, at)
    return attribute, form, at
