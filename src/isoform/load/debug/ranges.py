"""Which addresses a unit has code at."""

from __future__ import annotations

import struct

from isoform.load.debug import forms
from isoform.load.debug.entries import Entry, Unit
from isoform.load.debug.unusable import Unusable

RANGE_LIMIT = 1 << 20
"""Of one unit."""
_ENDS, _BASE_INDEX, _TWO_INDEXES, _INDEX_AND_LENGTH, _TWO_OFFSETS, _BASE, _START_AND_END, _START_AND_LENGTH = range(8)
"""DW_RLE_end_of_list and so on."""

Range = tuple[int, int]


def extent(entry: Entry) -> Range | None:
    """Start and end of the code of an entry that is in one piece."""
    low, high = entry.number("DW_AT_low_pc"), entry.number("DW_AT_high_pc")
    if low is None or high is None:
        return None
    form = entry.form("DW_AT_high_pc")
    is_address = form == forms.ADDRESS or form in forms.ADDRESS_INDEXES
    return low, high if is_address else low + high


def pieces(unit: Unit, entry: Entry) -> tuple[Range, ...]:
    """Where the code of an entry is, in one piece or several; none where that cannot be told."""
    if "DW_AT_ranges" not in entry:
        whole = extent(entry)
        return () if whole is None else (whole,)
    try:
        return tuple(_ranges(unit, entry))
    except Exception:  # cannot tell
        return ()


def may_contain(unit: Unit, address: int) -> bool:
    """Whether the unit may have code there: it does, or it does not say where its code is."""
    top = unit.top
    try:
        if "DW_AT_ranges" in top:
            return any(start <= address < end for start, end in _ranges(unit, top))
        whole = extent(top)
    except Exception:  # cannot tell
        return True
    return whole is None or whole[0] <= address < whole[1]


def _ranges(unit: Unit, entry: Entry) -> list[Range]:
    place = entry.number("DW_AT_ranges")
    if place is None:
        raise Unusable("ranges without a place")
    if unit.encoding.version < 5:
        return _old_ranges(unit, place)
    return _new_ranges(unit, unit.range_list(place) if entry.form("DW_AT_ranges") == forms.RANGE_INDEX else place)


def _old_ranges(unit: Unit, at: int) -> list[Range]:
    """DWARF 4, section 2.17.3."""
    data, base = unit.sections[".debug_ranges"], unit.top.number("DW_AT_low_pc") or 0
    found: list[Range] = []
    pair = struct.Struct("<QQ" if unit.encoding.address_bytes == 8 else "<II")
    largest = (1 << (8 * unit.encoding.address_bytes)) - 1
    for place in range(at, min(len(data), at + RANGE_LIMIT * pair.size), pair.size):
        start, end = pair.unpack_from(data, place)
        if start == end == 0:
            return found
        if start == largest:
            base = end
        else:
            found.append((base + start, base + end))
    raise Unusable("ranges without an end")


def _new_ranges(unit: Unit, at: int) -> list[Range]:
    """DWARF 5, section 7.25."""
    data, base = unit.sections[".debug_rnglists"], unit.top.number("DW_AT_low_pc") or 0
    found: list[Range] = []
    while len(found) < RANGE_LIMIT:
        kind, at = data[at], at + 1
        if kind == _ENDS:
            return found
        if kind in (_BASE_INDEX, _BASE):
            base, at = _address(unit, data, at, kind == _BASE_INDEX)
            continue
        if kind == _TWO_OFFSETS:
            start, at = forms.unsigned(data, at)
            end, at = forms.unsigned(data, at)
            found.append((base + start, base + end))
            continue
        start, at = _address(unit, data, at, kind in (_TWO_INDEXES, _INDEX_AND_LENGTH))
        if kind in (_INDEX_AND_LENGTH, _START_AND_LENGTH):
            length, at = forms.unsigned(data, at)
            end = start + length
        elif kind in (_TWO_INDEXES, _START_AND_END):
            end, at = _address(unit, data, at, kind == _TWO_INDEXES)
        else:
            raise Unusable("a range of an unknown kind")
        found.append((start, end))
    raise Unusable("ranges without an end")


def _address(unit: Unit, data: bytes, at: int, is_index: bool) -> tuple[int, int]:
    if is_index:
        index, at = forms.unsigned(data, at)
        return unit.address(index), at
    width = unit.encoding.address_bytes
    return struct.unpack_from("<Q" if width == 8 else "<I", data, at)[0], at + width
