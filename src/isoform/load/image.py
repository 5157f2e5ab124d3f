"""An Image: one loaded file, placed in an address space, with everything known about it."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property

from isoform.errors import Unsupported
from isoform.load.signature import Signature


@dataclass(frozen=True)
class Section:
    name: str
    address: int
    data: bytes
    """Contents with relocations applied; shorter than `size` where the rest is zero (`.bss`)."""
    size: int
    writable: bool
    executable: bool

    @property
    def end(self) -> int:
        return self.address + self.size


@dataclass(frozen=True)
class Symbol:
    name: str
    address: int
    size: int
    """0 where the file does not say."""
    is_function: bool


@dataclass(frozen=True)
class Line:
    """A source line, for the report."""

    file: str
    number: int


@dataclass(frozen=True)
class Image:
    """Invariants: sections do not overlap; an external symbol's address lies in no section; on both
    images of a question equal names of data objects, externals and address-taken functions have equal
    addresses, and equal string literals too (see `load/place.py`)."""

    path: str
    machine: str
    sections: tuple[Section, ...]
    symbols: tuple[Symbol, ...]
    """Defined symbols, sorted by address."""
    externals: dict[int, str] = field(default_factory=dict)
    """Address to name of everything the file uses but does not define (PLT stubs and GOT slots already
    resolved: a call or load through them sees this address)."""
    aliases: dict[int, int] = field(default_factory=dict)
    """The shared address under which a function's address is taken, to where its code is in this image."""
    signatures: dict[str, Signature] = field(default_factory=dict)
    """Signatures by function name, of defined functions and of declared externals (DWARF)."""
    lines: dict[int, Line] = field(default_factory=dict)
    """Source line by instruction address, where known."""
    source: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Source text by file name, where it was at hand."""
    from_source: bool = False
    """Whether isoform itself compiled or assembled this file."""

    base: int = 0
    """What was added to the addresses that the file itself has (a linked file that can be anywhere)."""
    broken: dict[int, str] = field(default_factory=dict)
    """Address of a field in code or data whose value could not be determined (a relocation isoform has no
    rule for), to one sentence. An instruction or constant that contains such an address is unsupported."""
    moved: tuple[tuple[int, int, int], ...] = ()
    """(own start, own end, shared start), sorted: named objects and function entries of a linked file, whose
    code has fixed distances, that the other side has too. An address that the code computes in such a range
    stands for the shared address; never a jump target inside the code."""
    differing: tuple[tuple[int, int], ...] = ()
    """Ranges where both images of a question have constants, but other bytes. Code outside that is given an
    address in there would see the two sides differ."""
    private: tuple[tuple[int, int], ...] = ()
    """Ranges of data that has no counterpart of the same name or content in the other image. An address in
    there differs from side to side only because the data had to go somewhere."""

    @cached_property
    def _sections_by_address(self) -> tuple[list[int], list[Section]]:
        ordered = sorted(self.sections, key=lambda s: s.address)
        return [s.address for s in ordered], ordered

    def section_at(self, address: int) -> Section | None:
        starts, ordered = self._sections_by_address
        index = bisect_right(starts, address) - 1
        return ordered[index] if index >= 0 and address < ordered[index].end else None

    def code_at(self, address: int, limit: int = 16) -> bytes:
        """Up to `limit` bytes of executable code at `address`; empty where there is none."""
        section = self.section_at(address)
        if section is None or not section.executable:
            return b""
        return section.data[address - section.address :][:limit]

    def constant_bytes(self, address: int, size: int) -> bytes | None:
        """The bytes at `address` if they lie wholly in one section that is never written, else None."""
        section = self.section_at(address)
        if section is None or section.writable or address + size > section.end:
            return None
        for field_address in range(address, address + size) if self.broken else ():
            if field_address in self.broken:
                raise Unsupported(self.broken[field_address])
        start = address - section.address
        return section.data[start : start + size].ljust(size, b"\0")

    @cached_property
    def functions(self) -> dict[str, Symbol]:
        return {s.name: s for s in self.symbols if s.is_function}

    @cached_property
    def _symbol_addresses(self) -> dict[int, Symbol]:
        return {s.address: s for s in reversed(self.symbols)}

    def symbol_at(self, address: int) -> Symbol | None:
        return self._symbol_addresses.get(address)

    def name_at(self, address: int) -> str | None:
        """The name of the symbol or external that starts at `address`."""
        if address in self.externals:
            return self.externals[address]
        symbol = self.symbol_at(self.aliases.get(address, address))
        return symbol.name if symbol else None

    def object_around(self, address: int) -> tuple[int, int] | None:
        """First and past-the-last address of the data object (or, without a symbol, the section) around
        `address`: the extent of a lookup table."""
        section = self.section_at(address)
        if section is None:
            return None
        for symbol in self.symbols:
            if not symbol.is_function and symbol.size and symbol.address <= address < symbol.address + symbol.size:
                return symbol.address, symbol.address + symbol.size
        return section.address, section.end
