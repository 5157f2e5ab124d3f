"""What a function of an ELF file is, read without isoform: its code, its relocations, and the data they lead to."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

from hostile.elf_map import DYNAMIC_SYMBOLS, FUNCTION, RELOCATIONS, SYMBOL_TABLE, ElfMap, text_at

UNREADABLE = "unreadable"
_OBJECT_FILE = 1
_ABSOLUTE = 0xFFF1
_WRITE, _EXECUTE = 1, 4
_NO_ADDEND = (6, 7)
"""R_X86_64_GLOB_DAT and R_X86_64_JUMP_SLOT."""
_NO_SYMBOL = (8, 37, 38)
"""R_X86_64_RELATIVE, R_X86_64_IRELATIVE and R_X86_64_RELATIVE64."""
_SPECIAL = (6, 10)
"""Types of thread-local symbols and of functions that choose a function."""
CLOSED = ("arithmetic", "loop", "paint")
"""Functions of the samples that refer to nothing."""
POINTED_TO = ("twice", "thrice")
"""Functions that the samples call through a table."""
CONSTANTS = {"through": (".data.rel.ro", *POINTED_TO), "store": ()}
"""Constants that a function of a linked sample uses, where they are not all of `.rodata`."""
IMPORTS = {"call": ("outside",), "store": ("shared_counter", "total")}
"""Names that a function of a linked sample uses through dynamic relocations."""
NUMBERS = "numbers"
"""Mark of a function whose tables hold no addresses: other tables that lie beside them are not its concern."""


def fingerprint(data: bytes, function: str, original: bytes) -> Any:
    """Equal for two files made from `original` only where the function and what it refers to are. Of a linked
    file: all constants and dynamic relocations, as far as the function has to do with such."""
    try:
        elf = ElfMap(_without_other_tables(data, function, ElfMap(original)))
        if struct.unpack_from("<H", data, 16)[0] == _OBJECT_FILE:
            return _of_object(elf, function)
        return _of_linked(elf, function, constant_ranges(ElfMap(original), CONSTANTS.get(function, (".rodata",))))
    except (struct.error, IndexError, ValueError, StopIteration, OverflowError):
        return UNREADABLE


def _without_other_tables(data: bytes, function: str, original: ElfMap) -> bytes:
    """The file with the numbers that this function does not use made zero: `lookup` alone uses `table`."""
    symbols = _symbols(original, original.indexes_of(SYMBOL_TABLE)[0])
    _, _, home, value, size = next(s for s in symbols if s[0] == "table")
    section = original.sections[home]
    start = section.offset + value - section.address
    used = range(start, start + size)
    changed = bytearray(data)
    for at in range(section.offset, min(section.offset + section.size, len(data))):
        if (at in used) != (function == "lookup"):
            changed[at] = 0
    return bytes(changed)


def _symbols(elf: ElfMap, table: int) -> list[tuple[str, int, int, int, int]]:
    """(name, type, section, value, size)."""
    strings = elf.sections[elf.sections[table].link]
    rows = struct.iter_unpack("<IBBHQQ", elf.content(table)[: len(elf.content(table)) // 24 * 24])
    return [
        (text_at(elf.data, strings.offset + name), info & 15, section, value, size)
        for name, info, _, section, value, size in rows
    ]


def _of_object(elf: ElfMap, function: str) -> Any:
    symbols = _symbols(elf, elf.indexes_of(SYMBOL_TABLE)[0])
    found = next(s for s in symbols if s[0] == function and s[1] == FUNCTION)
    _, _, home, value, size = found
    return elf.content(home)[value : value + size], _reached(
        elf, symbols, home, value, value + size, {NUMBERS} if function == "lookup" else set()
    )


def _reached(elf: ElfMap, symbols: list[Any], home: int, start: int, end: int, seen: set[Any]) -> Any:
    """Relocations in a range of a section, each with what it refers to."""
    found = []
    for table in elf.indexes_of(RELOCATIONS):
        if elf.sections[table].info != home:
            continue
        content = elf.content(table)
        for offset, kind, number, addend in struct.iter_unpack("<QIIq", content[: len(content) // 24 * 24]):
            if start <= offset < end:
                found.append((offset - start, kind, addend, _referred(elf, symbols, number, seen)))
    return sorted(set(found), key=repr)  # the same one twice is one


def _referred(elf: ElfMap, symbols: list[Any], number: int, seen: set[Any]) -> Any:
    name, kind, section, value, size = symbols[number]
    if not 0 < section < 0xFF00:
        return name, section == _ABSOLUTE and value
    header = elf.sections[section]
    if name and header.flags & _WRITE and kind not in _SPECIAL:
        return name, False  # a variable, which one side may define and the other only use
    first, last = (value, value + size) if size else (0, header.size)
    kind = kind if kind in _SPECIAL else 0
    if (section, first) in seen:
        return kind, size
    if header.flags & _EXECUTE and (first, last) == (0, header.size):
        return kind, value, tuple(_pointed_to(elf, symbols))
    # A writable section's contents are inputs like any other memory; a local name says nothing.
    content = b"" if header.flags & _WRITE else elf.content(section)[first:last]
    inner = _reached(elf, symbols, section, first, last, {*seen, (section, first)})
    if not header.flags & _EXECUTE and NUMBERS in seen:
        inner = ()
    return kind, value - first, header.flags, content, tuple(inner)


def _of_linked(elf: ElfMap, function: str, constants: Sequence[range]) -> Any:
    found = [s for table in elf.indexes_of(SYMBOL_TABLE, DYNAMIC_SYMBOLS) for s in _symbols(elf, table)]
    _, _, home, value, size = next(s for s in found if s[0] == function and s[1] == FUNCTION)
    start = value - elf.sections[home].address
    code = elf.content(home)[start : start + size]
    if function in CLOSED:
        return code
    contents = [_memory(elf, addresses) for addresses in constants]
    dynamic = [symbol for table in elf.indexes_of(DYNAMIC_SYMBOLS)[:1] for symbol in _symbols(elf, table)]
    wanted = IMPORTS.get(function, ())
    relocations = []
    for index in elf.indexes_of(RELOCATIONS):
        rows = struct.iter_unpack("<QIIq", elf.content(index)) if elf.sections[index].flags & 2 else ()
        for offset, kind, number, addend in rows:
            symbol = dynamic[number][:4] if number and kind not in _NO_SYMBOL else None
            if (symbol is None and function == "through") or (symbol is not None and symbol[0] in wanted):
                relocations.append((offset, kind, 0 if kind in _NO_ADDEND else addend, symbol))
    return code, contents, sorted(set(relocations), key=repr)  # in whichever order


def _pointed_to(elf: ElfMap, symbols: list[Any]) -> list[bytes]:
    found = {
        elf.content(home)[value - elf.sections[home].address :][:size]
        for name, _, home, value, size in symbols
        if name in POINTED_TO
    }
    return sorted(found)


def constant_ranges(elf: ElfMap, wanted: Sequence[str]) -> list[range]:
    """Addresses of the constants of an undamaged linked file."""
    sections = zip(elf.names, elf.sections, strict=True)
    ranges = [range(s.address, s.address + s.size) for name, s in sections if name in wanted]
    symbols = _symbols(elf, elf.indexes_of(SYMBOL_TABLE)[0]) if POINTED_TO[0] in wanted else []
    return ranges + [range(value, value + size) for name, _, _, value, size in symbols if name in POINTED_TO]


def _memory(elf: ElfMap, addresses: range) -> Any:
    """What lies there in a file that may be damaged."""
    for index, section in enumerate(elf.sections):
        if section.flags & 2 and section.address <= addresses.start < section.address + section.size:
            start = addresses.start - section.address
            return elf.content(index)[start : start + len(addresses)], section.flags & _WRITE
    return None
