"""Local variables that have one place in the frame of their function, from debug information."""

from __future__ import annotations

from dataclasses import replace

from isoform.load.debug.entries import Entry, Unit
from isoform.load.debug.ranges import extent, pieces
from isoform.load.debug.read import DebugInfo
from isoform.load.debug.types import DebugTypeReader
from isoform.load.debug.unusable import Unusable
from isoform.load.described import Local

LOCALS_LIMIT = 256
_FBREG = 0x91
_SCOPES = ("DW_TAG_subprogram", "DW_TAG_lexical_block")
_BLOCKS = ("DW_TAG_lexical_block", "DW_TAG_inlined_subroutine")
_MOST_QUALIFIERS = 32
"""Steps from a type to what it is made of."""


def frame_locals(debug: DebugInfo, address: int) -> tuple[Local, ...]:
    """Variables and parameters of the function at `address` that stay at one place of its frame, as in unoptimised
    code."""
    found: list[Local] = []
    try:
        for unit in debug.units(address):
            types = DebugTypeReader(unit)
            scopes: list[tuple[int, int, int]] = []
            """(depth, start, end) of the function and of the blocks in it that are open."""
            base: int | None = None
            for depth, entry in unit.entries():
                while scopes and depth <= scopes[-1][0]:
                    scopes.pop()
                if base is not None and not scopes:
                    return tuple(found)
                whole = extent(entry) if entry.tag in _SCOPES else None
                if not scopes:
                    if entry.tag == "DW_TAG_subprogram" and whole is not None and whole[0] == address - debug.bias:
                        base = debug.frame_bases.get(entry.expression("DW_AT_frame_base"))
                        if base is None:
                            return ()
                        scopes.append((depth, *whole))
                elif entry.tag == "DW_TAG_lexical_block":
                    scopes.append((depth, *(whole or scopes[-1][1:])))
                elif entry.tag in ("DW_TAG_variable", "DW_TAG_formal_parameter") and base is not None:
                    start, end = (bound + debug.bias for bound in scopes[-1][1:])
                    found += _local(types, entry, base, start, end)
                    if len(found) > LOCALS_LIMIT:
                        return ()
    except Exception:  # names only decorate the report, so a broken entry loses them
        pass
    return tuple(found)


def _local(types: DebugTypeReader, entry: Entry, base: int, start: int, end: int) -> list[Local]:
    location, name = entry.expression("DW_AT_location"), entry.name
    if not name or len(location) < 2 or location[0] != _FBREG:
        return []
    offset = _signed_number(location[1:])
    if offset is None:
        return []
    try:
        size = types.of(entry).bits // 8
    except Unusable:
        return []
    return [Local(name, base + offset, size, start, end)]


def frame_arrays(debug: DebugInfo, address: int) -> tuple[Local, ...]:
    """Variables that stay at one place of the frame, for all functions of the unit with the function at `address`,
    including functions inlined into them. None for a function in which an array, structure or union may be at an
    unknown place."""
    try:
        for unit in debug.units(address):
            found = _frame_arrays(debug, unit)
            if any(start == address for start in found):
                return tuple(local for arrays in found.values() for local in arrays or ())
    except Exception:  # debug information that cannot be read says nothing
        return ()
    return ()


def _frame_arrays(debug: DebugInfo, unit: Unit) -> dict[int, list[Local] | None]:
    """By the address of the function; None where nothing is known of it."""
    found: dict[int, list[Local] | None] = {}
    open_: list[tuple[int, int, int, int | None, bool]] = []
    """(depth, start, end, frame base, whether that is from the stack pointer in the body) of the functions around an
    entry."""
    blocks: list[tuple[int, tuple[tuple[int, int], ...]]] = []
    """Depth and code of the blocks around an entry, inside of the innermost function."""
    for depth, entry in unit.entries():
        while open_ and depth <= open_[-1][0]:
            open_.pop()
        while blocks and depth <= blocks[-1][0]:
            blocks.pop()
        if entry.tag == "DW_TAG_subprogram" and (whole := extent(entry)) is not None:
            start, end = (bound + debug.bias for bound in whole)
            expression = entry.expression("DW_AT_frame_base")
            from_body = bool(expression) and expression == debug.stack_pointer_base
            base = 0 if from_body else debug.frame_bases.get(expression)
            open_.append((depth, start, end, base, from_body))
            blocks = []
            found[start] = [] if base is not None and start not in found else None
        elif open_ and entry.tag in _BLOCKS:
            code = tuple((low + debug.bias, high + debug.bias) for low, high in pieces(unit, entry))
            blocks.append((depth, code))
        elif open_ and entry.tag in ("DW_TAG_variable", "DW_TAG_formal_parameter"):
            _, start, end, base, from_body = open_[-1]
            arrays = found[start]
            if arrays is not None and base is not None:
                scope = blocks[-1][1] if blocks else None
                found[start] = _with_array(arrays, entry, Local("", base, 0, start, end, scope, from_body=from_body))
    return found


def _with_array(arrays: list[Local], entry: Entry, place: Local) -> list[Local] | None:
    try:
        local = _array(entry, place)
    except Unusable:
        return None
    if local is not None:
        arrays.append(local)
    return arrays if len(arrays) <= LOCALS_LIMIT else None


def _array(entry: Entry, place: Local) -> Local | None:
    """The variable if it is in the frame, else None. `place` has the frame base."""
    origin = entry.linked("DW_AT_abstract_origin") or entry
    kind = entry.linked("DW_AT_type") or origin.linked("DW_AT_type")
    size = _indexed_bytes(kind)
    location = entry.expression("DW_AT_location")
    if len(location) < 2 or location[0] != _FBREG:
        return None
    offset = _signed_number(location[1:])
    if size == 0:
        plain = _plain_bytes(kind)
        return None if offset is None or not plain else _named_local(origin, place, offset, plain, False)
    if offset is None or size is None:
        raise Unusable("a local variable without a size or place")
    return _named_local(origin, place, offset, size, True)


def _named_local(origin: Entry, place: Local, offset: int, size: int, can_be_indexed: bool) -> Local:
    name = origin.name or "a local variable"
    return replace(place, name=name, offset=place.offset + offset, size=size, can_be_indexed=can_be_indexed)


def _plain_bytes(kind: Entry | None) -> int:
    """Size of a number or pointer; 0 where it is not known."""
    for _ in range(_MOST_QUALIFIERS):
        if kind is None:
            return 0
        size = kind.number("DW_AT_byte_size")
        if size is not None:
            return size
        kind = kind.linked("DW_AT_type") if kind.tag != "DW_TAG_pointer_type" else None
    return 0


def _indexed_bytes(kind: Entry | None) -> int | None:
    """Size of a type whose values can be indexed: 0 if it is not such a type, None if the size is not known."""
    for _ in range(_MOST_QUALIFIERS):
        if kind is None or kind.tag not in ("DW_TAG_typedef", "DW_TAG_const_type", "DW_TAG_volatile_type"):
            break
        kind = kind.linked("DW_AT_type")
    if kind is None:
        return 0
    if kind.tag in ("DW_TAG_structure_type", "DW_TAG_union_type", "DW_TAG_class_type"):
        return kind.number("DW_AT_byte_size")
    return _array_bytes(kind) if kind.tag == "DW_TAG_array_type" else 0


def _array_bytes(kind: Entry) -> int | None:
    element: Entry | None = kind
    total = 1
    for _ in range(_MOST_QUALIFIERS):
        if element is None or element.tag == "DW_TAG_atomic_type":
            return None  # an atomic type may be larger than what it is made of
        if element.tag == "DW_TAG_array_type":
            for child in element.children():
                number = _elements(child)
                if number is None or not 0 < number < 1 << 32:
                    return None
                total *= number
        elif "DW_AT_byte_size" in element:
            size = element.number("DW_AT_byte_size")
            return total * size if size is not None else None
        elif element.tag == "DW_TAG_pointer_type":
            return 8 * total
        element = element.linked("DW_AT_type")
    return None


def _elements(dimension: Entry) -> int | None:
    if "DW_AT_count" in dimension:
        return dimension.number("DW_AT_count")
    upper = dimension.number("DW_AT_upper_bound")
    return upper + 1 if upper is not None else None


def _signed_number(code: bytes) -> int | None:
    """The LEB128 number, if `code` is exactly one."""
    if not code or len(code) > 5 or code[-1] & 0x80 or any(byte < 0x80 for byte in code[:-1]):
        return None
    value = sum((byte & 0x7F) << (7 * position) for position, byte in enumerate(code))
    return value - (1 << (7 * len(code))) if code[-1] & 0x40 else value
