"""Signatures of functions from debug information."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import field, replace
from enum import IntEnum

from isoform.load.debug.entries import Entry, Unit
from isoform.load.debug.read import DebugInfo
from isoform.load.debug.types import (
    BOOLEAN,
    C_LANGUAGES,
    NO_CALL,
    DebugTypeReader,
    as_passed,
    as_returned,
    declared_convention,
)
from isoform.load.debug.unusable import Unusable
from isoform.load.described import PointerTypes
from isoform.model.signature import VOID, CType, Parameter, Signature, TypeKind
from isoform.model.values import dataclass

_ASSEMBLER = 0x8001  # DW_LANG_Mips_Assembler: of every assembler
_MOST_LINKS = 8
_TYPES = ("DW_TAG_base_type", "DW_TAG_pointer_type", "DW_TAG_structure_type", "DW_TAG_enumeration_type")
_DOUBLE = CType(TypeKind.FLOAT, 64, spelling="double")


def signatures(
    debug: DebugInfo,
    wanted: set[str] | None = None,
    address: int | None = None,
    pointers: list[PointerTypes] | None = None,
    inlined: set[str] | None = None,
) -> dict[str, Signature]:
    """Signatures by function name, from the units that define a `wanted` function (from all units if None). `address`,
    of the wanted function, narrows the search. Definitions win over declarations. What the units say about pointers to
    functions is added to `pointers`, the names of functions without code of their own to `inlined`."""
    found: dict[str, Signature] = {}
    try:
        for unit in debug.units(address):
            seen = _Pointers()
            here = list(_unit_signatures(unit, seen))
            if wanted is None or any(name in wanted and standing >= EntryRank.ABSTRACT for name, (_, standing) in here):
                _merge(found, here)
                if inlined is not None:
                    inlined |= {name for name, (_, standing) in here if standing is EntryRank.ABSTRACT}
                if pointers is not None:
                    pointers.append(seen.types(_is_c(unit)))
    except Exception:  # a broken rest does not invalidate what was read before
        pass
    return found


def _is_c(unit: Unit) -> bool:
    return unit.top.number("DW_AT_language") in C_LANGUAGES


@dataclass
class _Pointers:
    """Pointers to functions of one unit."""

    variables: dict[str, CType] = field(default_factory=dict)
    functions: dict[Signature, None] = field(default_factory=dict)
    unread: bool = False
    """Whether some function type is not understood."""
    has_bools: bool = False
    bools: dict[str, CType] = field(default_factory=dict)
    padded: dict[str, CType] = field(default_factory=dict)

    def note(self, types: DebugTypeReader, depth: int, entry: Entry) -> None:
        if entry.names_a_signature:
            self.unread = self.has_bools = True  # the types it refers to are not among the entries of this unit
        if entry.tag == "DW_TAG_subroutine_type":
            found = types.function(entry)
            self.unread = self.unread or found is None
            if found is not None:
                self.functions[found] = None
        elif entry.tag == "DW_TAG_base_type":
            self.has_bools = self.has_bools or entry.number("DW_AT_encoding") == BOOLEAN
        elif entry.tag == "DW_TAG_variable" and depth == 1 and (name := entry.name):
            with suppress(Unusable):
                kind = types.of_variable(entry)
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


class EntryRank(IntEnum):
    """What an entry says about a function; the larger value takes precedence."""

    DECLARED = 0
    ABSTRACT = 1
    """Defined without code of its own: it was inlined everywhere, or shares the code of an identical function."""
    DEFINED = 2


def _merge(found: dict[str, Signature], more: Iterable[tuple[str, tuple[Signature, EntryRank]]]) -> None:
    best: dict[str, EntryRank] = {}
    for name, (signature, standing) in more:
        if standing is EntryRank.DEFINED or name not in found or standing > best.get(name, EntryRank.DEFINED):
            found[name] = signature
            best[name] = standing


def _unit_signatures(unit: Unit, pointers: _Pointers) -> Iterator[tuple[str, tuple[Signature, EntryRank]]]:
    if unit.top.number("DW_AT_language") == _ASSEMBLER:
        return  # assemblers describe labels as functions without parameters or result, whatever they really take
    types = DebugTypeReader(unit)
    has_types = False
    bare: list[list[Entry]] = []
    """Functions without parameters and result."""
    open_: list[_Open] = []
    """The functions that enclose an entry: clang describes local classes before parameters."""

    def finished(function: _Open) -> Iterator[tuple[str, tuple[Signature, EntryRank]]]:
        try:
            entries = _all_entries(function.entry)
        except Unusable:
            return
        if not _is_named_as_written(types, entries, function.is_nested):
            return
        parameters = function.parameters
        taken, more = _from_others(entries) if not parameters else (parameters, False)
        variadic = function.variadic or more
        if taken or variadic or _saying(entries, "DW_AT_type") is not None:
            yield from _finish(types, entries, taken, variadic)
        elif _saying(entries, "DW_AT_artificial") is None:
            bare.append(entries)

    for depth, entry in unit.entries():
        pointers.note(types, depth, entry)
        has_types = has_types or entry.tag in _TYPES
        while open_ and depth <= open_[-1].depth:
            yield from finished(open_.pop())
        if entry.tag == "DW_TAG_subprogram":
            open_.append(_Open(entry, depth))
        elif open_ and depth == open_[-1].depth + 1:
            if entry.tag == "DW_TAG_formal_parameter":
                open_[-1].parameters.append(entry)
            elif entry.tag == "DW_TAG_unspecified_parameters":
                open_[-1].variadic = True
    while open_:
        yield from finished(open_.pop())
    for entries in bare:
        # With -g1 or -gline-tables-only there are no types, and every function looks like one without parameters.
        if has_types or _saying(entries, "DW_AT_prototyped") is not None:
            yield from _finish(types, entries, [], False)


@dataclass
class _Open:
    """A function whose entries are being read."""

    entry: Entry
    depth: int
    parameters: list[Entry] = field(default_factory=list)
    variadic: bool = False

    @property
    def is_nested(self) -> bool:
        return self.depth > 1


def _all_entries(entry: Entry) -> list[Entry]:
    """An entry and the entries that say more about the same function, link by link: the code of a member function leads
    to an abstract entry, which leads to the declaration in the class."""
    found = [entry]
    while len(found) < _MOST_LINKS:
        link = found[-1].linked("DW_AT_abstract_origin") or found[-1].linked("DW_AT_specification")
        if link is None:
            return found
        found.append(link)
    raise Unusable("entries that lead to each other without end")


def _saying(entries: Sequence[Entry], attribute: str) -> Entry | None:
    """The first entry that has an attribute."""
    return next((entry for entry in entries if attribute in entry), None)


def _first_text(entries: Sequence[Entry], attribute: str) -> str:
    entry = _saying(entries, attribute)
    return entry.text(attribute) if entry is not None else ""


def _is_named_as_written(types: DebugTypeReader, entries: Sequence[Entry], is_nested: bool) -> bool:
    """Whether the name of an entry is that of its symbol: the entry gives the symbol's name, or it is a function at
    file scope that other files can name. Other functions, in C++ also static ones, have symbols with other names."""
    if _saying(entries, "DW_AT_linkage_name") is not None:
        return True
    is_nested = is_nested or not all(_is_of_file(entry) for entry in entries[1:])
    return not is_nested and (types.is_c or _saying(entries, "DW_AT_external") is not None)


def _is_of_file(entry: Entry) -> bool:
    parent = entry.parent
    return parent is not None and parent.tag in ("DW_TAG_compile_unit", "DW_TAG_partial_unit", "DW_TAG_type_unit")


def _from_others(entries: Sequence[Entry]) -> tuple[list[Entry], bool]:
    """The parameters that another entry of the same function lists, and whether there are more: with -flto the entry
    with the parameters is in another unit."""
    for entry in entries[1:]:
        children = list(entry.children())
        more = any(child.tag == "DW_TAG_unspecified_parameters" for child in children)
        found = [child for child in children if child.tag == "DW_TAG_formal_parameter"]
        if found or more:
            return found, more
    return [], False


def _finish(
    types: DebugTypeReader, entries: Sequence[Entry], parameters: list[Entry], variadic: bool
) -> Iterator[tuple[str, tuple[Signature, EntryRank]]]:
    """The signature of one function, if it has a name and all its types are understood."""
    entry = entries[0]
    name = _first_text(entries, "DW_AT_linkage_name") or _first_text(entries, "DW_AT_name")
    declaration = "DW_AT_declaration" in entry
    convention = next(filter(None, map(declared_convention, entries)), "")
    prototyped = _saying(entries, "DW_AT_prototyped") is not None
    unknown = declaration and not prototyped and not parameters
    if not name or unknown:
        return
    calling = _saying(entries, "DW_AT_calling_convention")
    if calling is not None and calling.number("DW_AT_calling_convention") == NO_CALL and not declaration:
        # The compiler may have removed parameters. The types of the remaining ones then do not tell where they are
        # passed.
        yield name, (Signature(name, (), VOID, convention=convention), EntryRank.DEFINED)
        return
    try:
        listed = tuple(_parameter(types, p, index) for index, p in enumerate(parameters))
        if types.is_c and not prototyped:
            listed = tuple(replace(p, type=_promoted(p.type)) for p in listed)
        typed = _saying(entries, "DW_AT_type")
        result = as_returned(types.of(typed)) if typed is not None else VOID
    except Unusable:
        return
    has_code = "DW_AT_low_pc" in entry or "DW_AT_ranges" in entry
    standing = EntryRank.DECLARED if declaration else EntryRank.DEFINED if has_code else EntryRank.ABSTRACT
    returns = _saying(entries, "DW_AT_noreturn") is None
    yield name, (Signature(name, listed, result, variadic, returns, convention), standing)


def _promoted(kind: CType) -> CType:
    """How a parameter of a definition without a prototype is passed: a float as a double (C17 6.5.2.2). Integers are
    passed as 32 bits in any case."""
    return _DOUBLE if kind.kind is TypeKind.FLOAT and kind.bits == 32 else kind


def _parameter(types: DebugTypeReader, entry: Entry, index: int) -> Parameter:
    entries = _all_entries(entry)
    typed = _saying(entries, "DW_AT_type")
    if typed is None:
        raise Unusable("a parameter without a type")
    return Parameter(_first_text(entries, "DW_AT_name") or f"arg{index}", as_passed(types.of(typed)))
