"""A parsed file as values: sections, symbols and relocations, with the numbers that ELF has for their kinds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from typing import NamedTuple

from isoform.isa.registry import byte_order, linkage
from isoform.load.section_names import is_filled_once
from isoform.model.errors import UserError
from isoform.model.linkage import Linkage
from isoform.model.machine import Order
from isoform.model.values import dataclass

# Numbers of the ELF specification.
UNDEFINED_SECTION, ABSOLUTE_SECTION, COMMON_SECTION = 0, 0xFFF1, 0xFFF2
NOTYPE, OBJECT, FUNCTION, SECTION_SYMBOL, FILE_SYMBOL, COMMON_OBJECT, THREAD_LOCAL, IFUNC = 0, 1, 2, 3, 4, 5, 6, 10
LOCAL, GLOBAL, WEAK = 0, 1, 2
DEFAULT_VISIBILITY = 0
PACKED_RELATIVE = -1
"""Kind of a relocation from a packed table: the address of the file is added to what is there."""
_LEADS_TO_HANDLERS = re.compile(rb"\0{4}[\x01\x03]z[A-KM-Z]{0,4}L[A-Z]{0,4}\0")
"""In a table for unwinding: an entry that others refer to, and that has a language's table."""
_WRITE, _EXECUTE, _MERGE, _STRINGS, _THREAD_LOCAL = 0x1, 0x4, 0x10, 0x20, 0x400


@dataclass(frozen=True)
class FileSection:
    index: int
    name: str
    address: int
    data: bytes
    """Shorter than `size` (empty) where the file has no bytes for it."""
    size: int
    alignment: int
    entry_size: int
    flags: int

    @property
    def writable(self) -> bool:
        """Whether running code may change it. What is only written by the loader, before the program runs, is not
        writable."""
        return bool(self.flags & _WRITE) and not is_filled_once(self.name)

    @property
    def executable(self) -> bool:
        return bool(self.flags & _EXECUTE)

    @property
    def mergeable(self) -> bool:
        sensible = self.entry_size in (1, 2, 4) if self.strings else 0 < self.entry_size <= 64
        return bool(self.flags & _MERGE) and sensible and len(self.data) == self.size

    @property
    def strings(self) -> bool:
        return bool(self.flags & _STRINGS)

    @property
    def thread_local(self) -> bool:
        return bool(self.flags & _THREAD_LOCAL)


class DebugSection(NamedTuple):
    """Where in the file a section of debug information is."""

    start: int
    size: int
    is_compressed: bool
    relocations: tuple[tuple[int, int], ...] = ()
    """Start and size in the file of its relocation tables."""


class FileSymbol(NamedTuple):
    name: str
    kind: int
    binding: int
    section: int
    value: int
    """In an object file the offset in its section, in a linked file an address; for a common symbol its alignment."""
    size: int
    visibility: int = DEFAULT_VISIBILITY


class Relocation(NamedTuple):
    offset: int
    kind: int
    symbol: int
    addend: int


@dataclass(frozen=True)
class ParsedFile:
    path: str
    data: bytes
    machine: str
    linked: bool
    """A library or executable rather than an object file."""
    fixed: bool
    """An executable that must be at its own addresses."""
    sections: Mapping[int, FileSection]
    """Those that are in memory when the code runs."""
    symbols: tuple[FileSymbol, ...]
    dynamic_symbols: tuple[FileSymbol, ...]
    relocations: Mapping[int, tuple[Relocation, ...]]
    """In an object file: by the section that they change, against `symbols`. In a linked file: all under 0, by address,
    against `dynamic_symbols`."""
    debug: Mapping[str, DebugSection] = field(default_factory=dict)
    """By name."""
    binds_itself: bool = False
    """For a linked file: whether it always uses its own definitions, because it is a program, or a library linked with
    `-Bsymbolic`."""
    is_program: bool = False
    """For a linked file: whether a process starts with it (a program rather than a library)."""
    at_loading: tuple[int, ...] = ()
    """Addresses of functions that the loader calls (`DT_INIT`), except those in tables."""
    tables_at_loading: tuple[tuple[int, int], ...] = ()
    """These tables: their addresses, and how many bytes they have."""
    uppers: Mapping[tuple[int, int], int] = field(default_factory=dict)
    """By section and offset of an instruction with the lower part of an address (`Part.LOWER`): the offset of the one
    with the upper part."""
    from_source: bool = field(default=False, kw_only=True)

    @property
    def byte_order(self) -> Order:
        return byte_order(self.machine)

    @property
    def linkage(self) -> Linkage:
        return linkage(self.machine)

    @property
    def has_debug(self) -> bool:
        return ".debug_info" in self.debug

    @property
    def has_handlers(self) -> bool:
        """Whether some function handles exceptions thrown by a call, or cleans up after them: the language's table for
        that is present, or tables for unwinding lead to one. (It may be in a section of another name.)"""
        return any(
            ".gcc_except_table" in section.name or (not section.executable and _LEADS_TO_HANDLERS.search(section.data))
            for section in self.sections.values()
        )


def unusable(path: str, why: str) -> UserError:
    return UserError(f"{path} is not a usable ELF file: {why}.")
