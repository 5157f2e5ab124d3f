"""What a function of an ELF file is, read without isoform: its code, its relocations, and the data they lead to."""

from __future__ import annotations

import struct
from typing import Any

from hostile.elf_map import DYNAMIC_SYMBOLS, FUNCTION, RELOCATIONS, SYMBOL_TABLE, ElfMap, text_at

UNREADABLE = "unreadable"
_OBJECT_FILE = 1
_WRITE, _EXECUTE = 1, 4
OBJECT = 1
CLOSED = ("arithmetic", "loop", "paint")
"""Functions of the samples that refer to nothing."""
CONSTANT = ("lookup", "choose")
"""Those that refer to constant tables."""


def fingerprint(data: bytes, function: str) -> Any:
    """Equal for two files only where the function and what it refers to are. Of a linked file: all of its code,
    constants and dynamic relocations, unless the function is one that refers to nothing."""
    try:
        elf = ElfMap(data)
        if struct.unpack_from("<H", data, 16)[0] == _OBJECT_FILE:
            return _of_object(elf, function)
        return _of_linked(elf, function)
    except (struct.error, IndexError, ValueError, StopIteration, OverflowError):
        return UNREADABLE


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
    return elf.content(home)[value : value + size], _reached(elf, symbols, home, value, value + size, set())


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
    return tuple(found)


def _referred(elf: ElfMap, symbols: list[Any], number: int, seen: set[Any]) -> Any:
    name, kind, section, value, size = symbols[number]
    if not 0 < section < 0xFF00:
        return name, section
    header = elf.sections[section]
    first, last = (value, value + size) if kind in (OBJECT, FUNCTION) and size else (0, header.size)
    if (section, first) in seen:
        return kind, size
    # A writable section's contents are inputs like any other memory; a local name says nothing.
    content = b"" if header.flags & _WRITE else elf.content(section)[first:last]
    if header.flags & _EXECUTE and (first, last) == (0, header.size):
        return kind, value, content  # some function in it: to follow all of them leads everywhere
    inner = _reached(elf, symbols, section, first, last, {*seen, (section, first)})
    return kind, value - first, header.flags, content, inner


def _of_linked(elf: ElfMap, function: str) -> Any:
    found = [s for table in elf.indexes_of(SYMBOL_TABLE, DYNAMIC_SYMBOLS) for s in _symbols(elf, table)]
    _, _, home, value, size = next(s for s in found if s[0] == function and s[1] == FUNCTION)
    start = value - elf.sections[home].address
    code = elf.content(home)[start : start + size]
    if function in CLOSED:
        return code
    contents = [
        (section.address, elf.content(index))
        for index, section in enumerate(elf.sections)
        if section.flags & 2 and not section.flags & _WRITE and section.type != RELOCATIONS
    ]
    if function in CONSTANT:
        return code, contents
    relocations = [
        (*row, () if not row[2] else _symbols(elf, elf.sections[index].link)[row[2]][:4])
        for index in elf.indexes_of(RELOCATIONS)
        if elf.sections[index].flags & 2
        for row in struct.iter_unpack("<QIIq", elf.content(index))
    ]
    return code, contents, relocations
