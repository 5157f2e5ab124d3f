"""Signatures and source lines from debug information.

Debug information is optional and hostile: it is walked strictly forwards within bounds, and where it is
broken there simply is none.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import IntEnum
from io import BytesIO
from pathlib import Path
from typing import Any

from isoform.load.dwarf_types import (
    BOOLEAN,
    C_LANGUAGES,
    NO_CALL,
    TypeReader,
    Unusable,
    as_passed,
    as_returned,
    declared_convention,
    reference,
)
from isoform.load.elf import ParsedFile
from isoform.load.image import Line, Local, PointerTypes
from isoform.model.budget import processor_time
from isoform.model.signature import VOID, CType, Parameter, Signature, TypeKind

ENTRY_LIMIT = 400_000
UNIT_LIMIT = 100_000
SECTION_LIMIT = 30_000
UNPACKED_LIMIT, UNPACKED_STEP = 128 << 20, 1 << 20
SECONDS_LIMIT = 5.0
LINES_LIMIT = 1 << 16
SOURCE_LIMIT = 4 << 20
SOURCE_SUFFIXES = (".c", ".h", ".s", ".S", ".cc", ".cpp", ".cxx", ".hpp", ".inc", ".rs", ".i")
_ALLOC, _COMPRESSED = 0x2, 0x800
_WIDTHS = {1: 8, 10: 4, 11: 4}  # of R_X86_64_64, R_X86_64_32 and R_X86_64_32S
_ASSEMBLER = 0x8001  # DW_LANG_Mips_Assembler: of every assembler
_FRAME_BASES = {b"\x9c": 8, b"\x56": -8}  # the canonical frame address; rbp, after push rbp
_FBREG = 0x91
_MOST_LINKS = 8
_TYPES = ("DW_TAG_base_type", "DW_TAG_pointer_type", "DW_TAG_structure_type", "DW_TAG_enumeration_type")
_DOUBLE = CType(TypeKind.FLOAT, 64, spelling="double")
LOCALS_LIMIT = 256
_MOST_QUALIFIERS = 32
"""Steps from a type to what it is made of."""


@dataclass
class DebugInfo:
    """Debug information of one placed file."""

    dwarf: Any
    bias: int
    """What is added to its addresses."""
    deadline: float
    """In processor time."""
    entries: int = 0

    def spend(self) -> None:
        self.entries += 1
        if self.entries > ENTRY_LIMIT or (self.entries % 256 == 0 and processor_time() > self.deadline):
            raise Unusable("the debug information is too large")


def read_debug(file: ParsedFile, code: Mapping[int, int], base: int) -> DebugInfo | None:
    """The debug information of a file whose executable sections are at `code` (an object file) or which was
    moved by `base` (a linked one); None where it has none that can be read."""
    if not file.has_debug:
        return None
    try:
        from elftools.elf.elffile import ELFFile

        elf = ELFFile(BytesIO(file.data))
        if elf.num_sections() > SECTION_LIMIT:
            return None
        _refuse_bombs(elf, file.data)
        if not file.linked:
            elf.stream = BytesIO(_relocated(elf, file, code))  # headers stay as they are
        dwarf = elf.get_dwarf_info(relocate_dwarf_sections=False, follow_links=False)
        return DebugInfo(dwarf, base, processor_time() + SECONDS_LIMIT)
    except Exception:  # whatever a parser says of hostile debug information, there is none
        return None


def _refuse_bombs(elf: Any, data: bytes) -> None:
    """Sections that are compressed, or without bytes in the file, are made in full later on without a limit: here
    they are, bit by bit, with one."""
    left = UNPACKED_LIMIT
    for section in elf.iter_sections():
        if section.header["sh_type"] == "SHT_NOBITS" and section.name.startswith((".debug", ".zdebug", ".eh_frame")):
            left -= section.header["sh_size"]
        if left < 0:
            raise Unusable("the debug information is too large")
        header, old = section.header, section.name.startswith(".zdebug")
        if not old and not header["sh_flags"] & _COMPRESSED:
            continue
        start, end = header["sh_offset"] + (12 if old else 24), header["sh_offset"] + header["sh_size"]
        unpacker, rest = zlib.decompressobj(), data[start:end]
        while rest and not unpacker.eof:
            left -= len(unpacker.decompress(rest, UNPACKED_STEP))
            rest = unpacker.unconsumed_tail
            if left < 0:
                raise Unusable("the debug information is too large")


def _relocated(elf: Any, file: ParsedFile, code: Mapping[int, int]) -> bytes:
    """The object file with its debug sections relocated to the addresses of the image. In bulk: the library does
    it one field at a time, which takes longer than all the rest of loading."""
    patched = bytearray(file.data)
    addresses = [code.get(symbol.section, 0) + symbol.value for symbol in file.symbols]
    headers = [section.header for section in elf.iter_sections()]
    for header in headers:
        if header["sh_type"] != "SHT_RELA" or header["sh_info"] >= len(headers):
            continue
        target = headers[header["sh_info"]]
        if target["sh_flags"] & _ALLOC:
            continue
        if target["sh_flags"] & _COMPRESSED:
            raise Unusable("compressed debug information cannot be relocated in place")
        start, size = header["sh_offset"], header["sh_size"] // 24 * 24
        for offset, kind, symbol, addend in struct.iter_unpack("<QIIq", file.data[start : start + size]):
            width = _WIDTHS.get(kind, 0)
            if width and offset + width <= target["sh_size"]:
                value = (addresses[symbol] + addend) % (1 << (8 * width))
                at = target["sh_offset"] + offset
                patched[at : at + width] = value.to_bytes(width, "little")
    return bytes(patched)


def signatures(
    debug: DebugInfo,
    wanted: set[str] | None = None,
    address: int | None = None,
    pointers: list[PointerTypes] | None = None,
    inlined: set[str] | None = None,
) -> dict[str, Signature]:
    """Signatures by function name, of all functions that the units name which define a `wanted` one (all units
    where None). `address`, of the wanted function, narrows the search. Definitions win over declarations. What the
    units say of pointers to functions is added to `pointers`, the names of functions without code to `inlined`."""
    found: dict[str, Signature] = {}
    try:
        for unit in _units(debug, address):
            seen = _Pointers()
            here = list(_unit_signatures(debug, unit, seen))
            if wanted is None or any(name in wanted and entry >= Entry.ABSTRACT for name, (_, entry) in here):
                _merge(found, here)
                if inlined is not None:
                    inlined |= {name for name, (_, entry) in here if entry is Entry.ABSTRACT}
                if pointers is not None:
                    pointers.append(seen.types(_is_c(unit)))
    except Exception:  # a broken rest does not spoil what was read before
        pass
    return found


def _is_c(unit: Any) -> bool:
    language = unit.get_top_DIE().attributes.get("DW_AT_language")
    return language is not None and language.value in C_LANGUAGES


@dataclass
class _Pointers:
    """Pointers to functions of one unit."""

    variables: dict[str, CType] = field(default_factory=dict)
    functions: dict[Signature, None] = field(default_factory=dict)
    unread: bool = False
    """Whether there is a type of functions that is not understood."""
    has_bools: bool = False
    bools: dict[str, CType] = field(default_factory=dict)
    padded: dict[str, CType] = field(default_factory=dict)

    def note(self, types: TypeReader, depth: int, die: Any) -> None:
        if die.tag == "DW_TAG_subroutine_type":
            found = types.function(die)
            self.unread = self.unread or found is None
            if found is not None:
                self.functions[found] = None
        elif die.tag == "DW_TAG_base_type":
            encoding = die.attributes.get("DW_AT_encoding")
            self.has_bools = self.has_bools or (encoding is not None and encoding.value == BOOLEAN)
        elif die.tag == "DW_TAG_variable" and depth == 1 and (name := _text(die, "DW_AT_name")):
            with suppress(Unusable):
                kind = types.of_variable(die)
                if kind.leads_to_functions:
                    self.variables[name] = kind
                if any(True for _ in kind.bool_offsets()):
                    self.bools[name] = kind
                if kind.padding or any(True for _ in kind.room_offsets()):
                    self.padded[name] = kind

    def types(self, is_c: bool) -> PointerTypes:
        return PointerTypes(
            self.variables, tuple(self.functions), is_c and not self.unread, self.has_bools, self.bools, self.padded
        )


class Entry(IntEnum):
    """What an entry says of a function; the larger counts for more."""

    DECLARED = 0
    ABSTRACT = 1
    """Defined, but its code is inside others, or another function's that is the same."""
    DEFINED = 2


def _merge(found: dict[str, Signature], more: Iterable[tuple[str, tuple[Signature, Entry]]]) -> None:
    best: dict[str, Entry] = {}
    for name, (signature, entry) in more:
        if entry is Entry.DEFINED or name not in found or entry > best.get(name, Entry.DEFINED):
            found[name] = signature
            best[name] = entry


def _units(debug: DebugInfo, address: int | None) -> Iterator[Any]:
    for count, unit in enumerate(debug.dwarf.iter_CUs()):
        if count > UNIT_LIMIT:
            return
        debug.spend()
        if address is None or _may_contain(debug, unit, address - debug.bias):
            yield unit


def _may_contain(debug: DebugInfo, unit: Any, address: int) -> bool:
    attributes = unit.get_top_DIE().attributes
    if "DW_AT_ranges" in attributes:
        try:
            lists = debug.dwarf.range_lists()
            entries = lists.get_range_list_at_offset(attributes["DW_AT_ranges"].value, cu=unit)
            if all(hasattr(e, "begin_offset") and getattr(e, "is_absolute", False) for e in entries):
                return any(e.begin_offset <= address < e.end_offset for e in entries)
        except Exception:  # cannot tell
            return True
        return True
    extent = _extent(unit.get_top_DIE())
    return extent is None or extent[0] <= address < extent[1]


def _extent(die: Any) -> tuple[int, int] | None:
    low, high = die.attributes.get("DW_AT_low_pc"), die.attributes.get("DW_AT_high_pc")
    if low is None or high is None:
        return None
    is_address = high.form in ("DW_FORM_addr", "DW_FORM_addrx") or high.form.startswith("DW_FORM_addrx")
    return low.value, high.value if is_address else low.value + high.value


def _entries(debug: DebugInfo, unit: Any) -> Iterator[tuple[int, Any]]:
    """(depth, entry) of a unit, in file order: forwards only, so that no link in the data makes it run in circles."""
    offset = unit.cu_die_offset
    end = unit.cu_offset + unit["unit_length"] + unit.structs.initial_length_field_size()
    depth = 0
    while offset < end:
        debug.spend()
        die = unit.get_DIE_from_refaddr(offset)
        if die.tag is None:
            depth -= 1
            if depth <= 0:
                return
        else:
            yield depth, die
            if die.has_children:
                depth += 1
        offset += max(1, die.size)


def _unit_signatures(debug: DebugInfo, unit: Any, pointers: _Pointers) -> Iterator[tuple[str, tuple[Signature, Entry]]]:
    language = unit.get_top_DIE().attributes.get("DW_AT_language")
    if language is not None and language.value == _ASSEMBLER:
        return  # it lists its labels as functions without parameters or result, whatever they take and return
    types = TypeReader(unit, debug.spend)
    current: Any = None
    level = 0
    is_nested = False
    parameters: list[Any] = []
    variadic = False
    has_types = False
    bare: list[list[Any]] = []
    """Functions without parameters and result."""

    def finished() -> Iterator[tuple[str, tuple[Signature, Entry]]]:
        try:
            entries = _all_entries(current)
        except Unusable:
            return
        if not _is_named_as_written(types, entries, is_nested):
            return
        taken, more = _from_others(debug, entries) if not parameters else (parameters, False)
        if taken or variadic or more or _saying(entries, "DW_AT_type") is not None:
            yield from _finish(types, entries, taken, variadic or more)
        elif _saying(entries, "DW_AT_artificial") is None:
            bare.append(entries)

    for depth, die in _entries(debug, unit):
        pointers.note(types, depth, die)
        has_types = has_types or die.tag in _TYPES
        if current is not None and (depth <= level or die.tag == "DW_TAG_subprogram"):
            yield from finished()
            current = None
        if die.tag == "DW_TAG_subprogram":
            current, level, parameters, variadic, is_nested = die, depth, [], False, depth > 1
        elif current is not None and depth == level + 1:
            if die.tag == "DW_TAG_formal_parameter":
                parameters.append(die)
            variadic = variadic or die.tag == "DW_TAG_unspecified_parameters"
    if current is not None:
        yield from finished()
    for entries in bare:
        # With -g1 or -gline-tables-only there are no types, and every function looks like one of this kind.
        if has_types or _saying(entries, "DW_AT_prototyped") is not None:
            yield from _finish(types, entries, [], False)


def _all_entries(die: Any) -> list[Any]:
    """An entry and those that say more of the same thing, each link followed by the next: code of a member function
    leads to an abstract entry, and that one to the declaration in the class."""
    found = [die]
    while len(found) < _MOST_LINKS:
        link = reference(found[-1], "DW_AT_abstract_origin") or reference(found[-1], "DW_AT_specification")
        if link is None:
            return found
        found.append(link)
    raise Unusable("entries that lead to each other without end")


def _saying(entries: Sequence[Any], attribute: str) -> Any | None:
    """The first that has an attribute."""
    return next((entry for entry in entries if attribute in entry.attributes), None)


def _first_text(entries: Sequence[Any], attribute: str) -> str:
    entry = _saying(entries, attribute)
    return _text(entry, attribute) if entry is not None else ""


def _is_named_as_written(types: TypeReader, entries: Sequence[Any], is_nested: bool) -> bool:
    """Whether the name of an entry is that of its symbol: it says the symbol's name, or it is a function of the file
    itself that other files can name. Others, in C++ static ones too, have symbols with other names."""
    if _saying(entries, "DW_AT_linkage_name") is not None:
        return True
    is_nested = is_nested or not all(_is_of_file(entry) for entry in entries[1:])
    return not is_nested and (types.is_c or _saying(entries, "DW_AT_external") is not None)


def _is_of_file(die: Any) -> bool:
    parent = die.get_parent()
    return parent is not None and parent.tag in ("DW_TAG_compile_unit", "DW_TAG_partial_unit", "DW_TAG_type_unit")


def _from_others(debug: DebugInfo, entries: Sequence[Any]) -> tuple[list[Any], bool]:
    """The parameters that other entries of the same function have, and whether there are more: with -flto the one that
    says them is in another unit."""
    for entry in entries[1:]:
        children = list(TypeReader(entry.cu, debug.spend).children(entry))
        more = any(child.tag == "DW_TAG_unspecified_parameters" for child in children)
        found = [child for child in children if child.tag == "DW_TAG_formal_parameter"]
        if found or more:
            return found, more
    return [], False


def _finish(
    types: TypeReader, entries: Sequence[Any], parameters: list[Any], variadic: bool
) -> Iterator[tuple[str, tuple[Signature, Entry]]]:
    """The signature of one function, if it has a name and all its types are understood."""
    die = entries[0]
    name = _first_text(entries, "DW_AT_linkage_name") or _first_text(entries, "DW_AT_name")
    declaration = "DW_AT_declaration" in die.attributes
    convention = next(filter(None, map(declared_convention, entries)), "")
    prototyped = _saying(entries, "DW_AT_prototyped") is not None
    unknown = declaration and not prototyped and not parameters
    if not name or unknown:
        return
    calling = _saying(entries, "DW_AT_calling_convention")
    if calling is not None and calling.attributes["DW_AT_calling_convention"].value == NO_CALL and not declaration:
        # The compiler may have removed parameters: what the others say of themselves does not tell where they are.
        yield name, (Signature(name, (), VOID, convention=convention), Entry.DEFINED)
        return
    try:
        listed = tuple(_parameter(types, p, index) for index, p in enumerate(parameters))
        if types.is_c and not prototyped:
            listed = tuple(replace(p, type=_promoted(p.type)) for p in listed)
        typed = _saying(entries, "DW_AT_type")
        result = as_returned(types.of(typed)) if typed is not None else VOID
    except Unusable:
        return
    has_code = "DW_AT_low_pc" in die.attributes or "DW_AT_ranges" in die.attributes
    entry = Entry.DECLARED if declaration else Entry.DEFINED if has_code else Entry.ABSTRACT
    returns = _saying(entries, "DW_AT_noreturn") is None
    yield name, (Signature(name, listed, result, variadic, returns, convention), entry)


def _promoted(kind: CType) -> CType:
    """How a parameter of a definition without a prototype is passed: a float as a double (C17 6.5.2.2). Integers are
    passed as ones of 32 bits in any case."""
    return _DOUBLE if kind.kind is TypeKind.FLOAT and kind.bits == 32 else kind


def _parameter(types: TypeReader, die: Any, index: int) -> Parameter:
    entries = _all_entries(die)
    typed = _saying(entries, "DW_AT_type")
    if typed is None:
        raise Unusable("a parameter without a type")
    return Parameter(_first_text(entries, "DW_AT_name") or f"arg{index}", as_passed(types.of(typed)))


def _text(die: Any, attribute: str) -> str:
    found = die.attributes.get(attribute)
    return found.value.decode("utf-8", "backslashreplace") if found and isinstance(found.value, bytes) else ""


# Locals


def frame_locals(debug: DebugInfo, address: int) -> tuple[Local, ...]:
    """Variables and parameters of the function at `address` that have one place in its frame all along, as those of
    unoptimised code have."""
    found: list[Local] = []
    try:
        for unit in _units(debug, address):
            types = TypeReader(unit, debug.spend)
            scopes: list[tuple[int, int, int]] = []
            """(depth, start, end) of the function and of the blocks in it that are open."""
            base: int | None = None
            for depth, die in _entries(debug, unit):
                while scopes and depth <= scopes[-1][0]:
                    scopes.pop()
                if base is not None and not scopes:
                    return tuple(found)
                extent = _extent(die)
                if not scopes:
                    if die.tag == "DW_TAG_subprogram" and extent is not None and extent[0] == address - debug.bias:
                        base = _FRAME_BASES.get(_expression(die, "DW_AT_frame_base"))
                        if base is None:
                            return ()
                        scopes.append((depth, *extent))
                elif die.tag == "DW_TAG_lexical_block":
                    scopes.append((depth, *(extent or scopes[-1][1:])))
                elif die.tag in ("DW_TAG_variable", "DW_TAG_formal_parameter") and base is not None:
                    start, end = (bound + debug.bias for bound in scopes[-1][1:])
                    found += _local(types, die, base, start, end)
                    if len(found) > LOCALS_LIMIT:
                        return ()
    except Exception:  # names only decorate the report
        pass
    return tuple(found)


def _local(types: TypeReader, die: Any, base: int, start: int, end: int) -> list[Local]:
    location, name = _expression(die, "DW_AT_location"), _text(die, "DW_AT_name")
    if not name or len(location) < 2 or location[0] != _FBREG:
        return []
    offset = 0
    for position, byte in enumerate(location[1:]):
        offset |= (byte & 0x7F) << (7 * position)
    if len(location) > 6 or location[-1] & 0x80 or any(byte < 0x80 for byte in location[1:-1]):
        return []
    if location[-1] & 0x40:
        offset -= 1 << (7 * (len(location) - 1))
    try:
        size = types.of(die).bits // 8
    except Unusable:
        return []
    return [Local(name, base + offset, size, start, end)]


def frame_arrays(debug: DebugInfo, address: int) -> tuple[Local, ...]:
    """Variables that have one place in their function's frame all along, of all functions of the unit that the one at
    `address` is in: those of functions inlined into them too. None of a function where an array, structure or union may
    have a place that is not known."""
    try:
        for unit in _units(debug, address):
            found = _frame_arrays(debug, unit)
            if any(start == address for start in found):
                return tuple(local for arrays in found.values() for local in arrays or ())
    except Exception:  # debug information that cannot be read says nothing
        return ()
    return ()


def _frame_arrays(debug: DebugInfo, unit: Any) -> dict[int, list[Local] | None]:
    """By the address of the function; None where nothing is known of it."""
    found: dict[int, list[Local] | None] = {}
    open_: list[tuple[int, int, int, int | None]] = []
    """(depth, start, end, frame base) of the functions around an entry."""
    blocks: list[tuple[int, tuple[int, int] | None]] = []
    """Depth and extent of the blocks around an entry, inside of the innermost function."""
    for depth, die in _entries(debug, unit):
        while open_ and depth <= open_[-1][0]:
            open_.pop()
        while blocks and depth <= blocks[-1][0]:
            blocks.pop()
        if die.tag == "DW_TAG_subprogram" and (extent := _extent(die)) is not None:
            start, end = (bound + debug.bias for bound in extent)
            base = _FRAME_BASES.get(_expression(die, "DW_AT_frame_base"))
            open_.append((depth, start, end, base))
            blocks = []
            found[start] = [] if base is not None and start not in found else None
        elif open_ and die.tag in ("DW_TAG_lexical_block", "DW_TAG_inlined_subroutine"):
            inner = _extent(die)
            blocks.append((depth, None if inner is None else (inner[0] + debug.bias, inner[1] + debug.bias)))
        elif open_ and die.tag in ("DW_TAG_variable", "DW_TAG_formal_parameter"):
            _, start, end, base = open_[-1]
            arrays = found[start]
            if arrays is not None and base is not None:
                scope = blocks[-1][1] if blocks else None
                found[start] = _with_array(arrays, die, Local("", base, 0, start, end, scope))
    return found


def _with_array(arrays: list[Local], die: Any, place: Local) -> list[Local] | None:
    try:
        local = _array(die, place)
    except Unusable:
        return None
    if local is not None:
        arrays.append(local)
    return arrays if len(arrays) <= LOCALS_LIMIT else None


def _array(die: Any, place: Local) -> Local | None:
    """The variable, if it is in the frame; what is elsewhere or nowhere is none. `place` has the frame base."""
    origin = reference(die, "DW_AT_abstract_origin") or die
    kind = reference(die, "DW_AT_type") or reference(origin, "DW_AT_type")
    size = _indexed_bytes(kind)
    location = _expression(die, "DW_AT_location")
    if len(location) < 2 or location[0] != _FBREG:
        return None
    offset = _signed_number(location[1:])
    if size == 0:
        plain = _plain_bytes(kind)
        return None if offset is None or not plain else _named_local(origin, place, offset, plain, False)
    if offset is None or size is None:
        raise Unusable("a local variable without a size or place")
    return _named_local(origin, place, offset, size, True)


def _named_local(origin: Any, place: Local, offset: int, size: int, can_be_indexed: bool) -> Local:
    name = _text(origin, "DW_AT_name") or "a local variable"
    return replace(place, name=name, offset=place.offset + offset, size=size, can_be_indexed=can_be_indexed)


def _plain_bytes(kind: Any | None) -> int:
    """Size of a number or pointer; 0 where it is not known."""
    for _ in range(_MOST_QUALIFIERS):
        if kind is None:
            return 0
        size = kind.attributes.get("DW_AT_byte_size")
        if size is not None:
            return size.value if isinstance(size.value, int) else 0
        if kind.tag == "DW_TAG_pointer_type":
            return 0
        kind = reference(kind, "DW_AT_type")
    return 0


def _indexed_bytes(kind: Any | None) -> int | None:
    """Size of a type whose values can be indexed; 0 of any other, None where it is not known."""
    for _ in range(_MOST_QUALIFIERS):
        if kind is None or kind.tag not in ("DW_TAG_typedef", "DW_TAG_const_type", "DW_TAG_volatile_type"):
            break
        kind = reference(kind, "DW_AT_type")
    if kind is None:
        return 0
    if kind.tag in ("DW_TAG_structure_type", "DW_TAG_union_type", "DW_TAG_class_type"):
        size = kind.attributes.get("DW_AT_byte_size")
        return size.value if size is not None and isinstance(size.value, int) else None
    return _array_bytes(kind) if kind.tag == "DW_TAG_array_type" else 0


def _array_bytes(kind: Any) -> int | None:
    element: Any | None = kind
    total = 1
    for _ in range(_MOST_QUALIFIERS):
        if element is None:
            return None
        if element.tag == "DW_TAG_array_type":
            for child in element.iter_children():
                upper, count = (child.attributes.get(name) for name in ("DW_AT_upper_bound", "DW_AT_count"))
                number = count.value if count is not None else upper.value + 1 if upper is not None else None
                if not isinstance(number, int) or not 0 < number < 1 << 32:
                    return None
                total *= number
        elif (size := element.attributes.get("DW_AT_byte_size")) is not None:
            return total * size.value if isinstance(size.value, int) else None
        elif element.tag == "DW_TAG_pointer_type":
            return 8 * total
        element = reference(element, "DW_AT_type")
    return None


def _signed_number(code: bytes) -> int | None:
    """The one LEB128 number that `code` is."""
    if not code or len(code) > 5 or code[-1] & 0x80 or any(byte < 0x80 for byte in code[:-1]):
        return None
    value = sum((byte & 0x7F) << (7 * position) for position, byte in enumerate(code))
    return value - (1 << (7 * len(code))) if code[-1] & 0x40 else value


def _expression(die: Any, attribute: str) -> bytes:
    """The bytes of a location that is one expression; none where it is anything else."""
    found = die.attributes.get(attribute)
    if found is None or found.form not in ("DW_FORM_exprloc", "DW_FORM_block1"):
        return b""
    return bytes(found.value)


# Lines


def lines(debug: DebugInfo, start: int, end: int) -> dict[int, Line]:
    """The source line of every address from `start` to `end`, where known."""
    found: dict[int, Line] = {}
    try:
        for unit in _units(debug, start):
            program = debug.dwarf.line_program_for_CU(unit)
            if program is None:
                continue
            for first, last, line in _rows(debug, program, unit):
                low, high = max(first, start), min(last, end, start + LINES_LIMIT)
                found.update((address, line) for address in range(low, high))
            if found:
                break
    except Exception:  # lines only decorate the report
        pass
    return found


def _rows(debug: DebugInfo, program: Any, unit: Any) -> Iterator[tuple[int, int, Line]]:
    files: dict[int, str] = {}
    previous: Any = None
    for entry in program.get_entries():
        debug.spend()
        state = entry.state
        if state is None:
            continue
        if previous is not None and state.address > previous.address and previous.line:
            if previous.file not in files:
                files[previous.file] = _file_name(program, unit, previous.file)
            line = Line(files[previous.file], previous.line)
            yield previous.address + debug.bias, state.address + debug.bias, line
        previous = None if state.end_sequence else state


def _file_name(program: Any, unit: Any, index: int) -> str:
    version = program["version"]
    entries, directories = program["file_entry"], program["include_directory"]
    entry = entries[index if version >= 5 else index - 1]
    name = Path(entry.name.decode("utf-8", "replace"))
    root = Path(_text(unit.get_top_DIE(), "DW_AT_comp_dir"))
    if version >= 5:
        folder = Path(directories[entry.dir_index].decode("utf-8", "replace"))
    elif entry.dir_index:
        folder = Path(directories[entry.dir_index - 1].decode("utf-8", "replace"))
    else:
        folder = root
    return str(root / folder / name)


def source_text(found: Mapping[int, Line]) -> dict[str, tuple[str, ...]]:
    """The text of the named source files, as far as they are at hand. The names come from the file under test:
    only ordinary source files of ordinary size are read."""
    text: dict[str, tuple[str, ...]] = {}
    for name in sorted({line.file for line in found.values()})[:16]:
        path = Path(name)
        try:
            if path.suffix in SOURCE_SUFFIXES and path.is_file() and path.stat().st_size <= SOURCE_LIMIT:
                text[name] = tuple(path.read_text("utf-8", "replace").splitlines())
        except OSError:
            continue
    return text
