"""An Image: one loaded file, placed in an address space, with everything known about it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import field, replace
from functools import cached_property

from isoform.isa.registry import byte_order
from isoform.load.described import Local, PointerTypes, SourceLine
from isoform.load.fields import AddressPart, Field, Meant, Reference, Statics, WeakSymbol
from isoform.load.moved import MovedRanges, moved_ranges
from isoform.load.objects import PlacedObjects
from isoform.load.section_names import has_no_variables
from isoform.model.errors import Unsupported
from isoform.model.machine import Order
from isoform.model.signature import Signature
from isoform.model.values import dataclass

POINTER_BYTES = 8
MOST_VARIANTS = 16
"""How many images that differ only in which weak symbols are defined are kept at a time."""
LEAST_BASE, MOST_BASE = 1 << 16, 1 << 32
"""In a program at fixed addresses: a smaller displacement is an offset in a structure, not the base of an index, and a
larger one does not fit an instruction."""


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
    replaceable: bool = False
    """Whether another definition may take its place when the file is linked or loaded: it is weak, or other files may
    interpose their own."""
    is_local: bool = False
    """For a function, and for data of a linked file: whether only one source file could name it."""
    has_no_size: bool = False
    """For a function of a linked file: whether the file does not say where it ends. The next one begins there."""


def _with_nulls(section: Section, fields: dict[int, tuple[int, int]], order: Order) -> Section:
    """The section where some addresses (by the place and width of the field that holds them) are null."""
    inside = [(at, *fields[at]) for at in fields if section.address <= at < section.end]
    if not inside:
        return section
    data = bytearray(section.data)
    for at, address, width in inside:
        start = at - section.address
        value = int.from_bytes(data[start : start + width], order) - address
        data[start : start + width] = (value % (1 << (8 * width))).to_bytes(width, order)
    return replace(section, data=bytes(data))


LineReader = Callable[[int, int], dict[int, SourceLine]]


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
    pointers: PointerTypes = PointerTypes()
    inlined: frozenset[str] = frozenset()
    """Functions that debug information describes and that have no code of their own here."""
    lines: dict[int, SourceLine] = field(default_factory=dict)
    """Source line by address, where known, of the function in question."""
    source: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Source text by file name, if it could be read."""
    lines_between: LineReader | None = field(default=None, compare=False, repr=False)
    """Reads the lines of other functions: from the first address up to the second."""
    references: dict[int, Reference] = field(default_factory=dict)
    """By the address of the field, in code or in the global offset table."""
    meant: dict[int, Meant] = field(default_factory=dict)
    """For an object file: by the address of a field in code or data."""
    relocated: dict[int, Field] = field(default_factory=dict)
    """What relocations filled, by address. Which other words of a linked file hold addresses is not known."""
    statics: tuple[Statics, ...] = ()
    """Of an object file."""
    inner_data: tuple[tuple[int, int], ...] = ()
    """For both images of a question: contents whose place is not visible (see `blocks.BlockPart.inner`)."""
    arrays: tuple[Local, ...] = ()
    """Variables that can be indexed and stay at one place of their function's frame, for the functions of the unit that
    contains the function in question. `start` is the function's address."""
    locals: tuple[Local, ...] = ()
    """Variables of the function in question, outer scopes first, where known."""
    from_source: bool = False
    """Whether isoform itself compiled or assembled this file."""
    has_handlers: bool = False
    """Whether something in the file handles exceptions that a call throws, or cleans up after them."""

    at_loading: tuple[int, ...] = ()
    """Addresses of code that runs when the file is loaded, except what tables of functions lead to: the resolvers of
    `ifunc` functions, in an order that is not known, and then the code of section `.init`, or what `DT_INIT` names."""
    tables_at_loading: tuple[tuple[int, int], ...] = ()
    """Where the tables begin and end, in whatever sections. Those of object files, and of static programs, are known by
    the names of their sections."""
    base: int = 0
    """What was added to the file's own addresses (for a position-independent linked file)."""
    is_linked: bool = False
    """Whether this is a library or program rather than an object file."""
    is_fixed: bool = False
    """Whether this is a program at fixed addresses: what holds an address is not marked in it."""
    unclear: tuple[tuple[int, int, str], ...] = ()
    """(first, last, why): numbers in its code that may be addresses of variables, without telling of which ones."""
    broken: dict[int, str] = field(default_factory=dict)
    """Address of every byte of a field in code or data whose value could not be determined (a relocation isoform has
    no rule for), to one sentence. An instruction or constant that contains such an address is unsupported."""
    weak: dict[str, WeakSymbol] = field(default_factory=dict)
    """Undefined weak symbols: nothing may define one, and then its address is null."""
    weak_fields: dict[int, tuple[str, int]] = field(default_factory=dict)
    """Address of a field of code, or of a word of data, that holds the address of one of these (plus an offset), to its
    name and the width in bytes. Targets of direct calls and jumps are not listed: `externals` has those."""
    moved: tuple[tuple[int, int, int], ...] = ()
    """(own start, own end, shared start), sorted: named objects and function entries of a linked file, whose
    code has fixed distances, that the other side has too. An address that the code computes in such a range
    stands for the shared address; never a jump target inside the code."""
    linked_fields: dict[int, int] = field(default_factory=dict)
    """Address of a field in code that a linker fills with the address of (or the distance to) an object, to the start
    of that object. For a thread-local object, the distance is from the thread pointer."""
    linked_words: dict[int, int] = field(default_factory=dict)
    """The same for fields of eight bytes in data."""
    address_parts: dict[int, AddressPart] = field(default_factory=dict)
    """By the address of an instruction: what it has of an address that two instructions form."""
    spans: tuple[tuple[int, int, int], ...] = ()
    """(start, end, start of the object): data of a linked file that moves with the file as a whole."""
    objects: PlacedObjects = field(default_factory=PlacedObjects)
    """The objects that these refer to, including those of the other side."""
    resolvers: dict[int, int] = field(default_factory=dict)
    """Those of `externals` that a function of this file chooses when it is loaded (`ifunc`): address to the address of
    that function's code."""
    resolvers_were_followed: bool = False
    """Whether the remaining ones were found to have a choice."""
    loader_code: tuple[int, int] = (0, 0)
    """First and past-the-last address of the code that stands for what a loader provides: always inlined."""
    versions: dict[str, str] = field(default_factory=dict)
    """Of a linked file: the version of each symbol that it imports with one, by name."""
    thread_origin: int = 0
    """Start of the object that contains the thread pointer; 0 if nothing is thread-local."""
    thread_conflict: str = ""
    """One sentence where the file's thread-local data could not be given the addresses that the other side has."""
    differing: tuple[tuple[int, int], ...] = ()
    """Ranges where both images of a question have constants with different bytes; functions of one name that were not
    shown to do the same; and whatever leads there. Outside code that gets an address in here would see the two sides
    differ."""
    ends: dict[int, tuple[int, int]] = field(default_factory=dict)
    """In a linked file, pointers that may also be one past an object, by their place: as a number, and as the start of
    that object."""
    unlike_at_start: tuple[tuple[int, int], ...] = ()
    """Ranges of writable data whose initial contents differ between the images of a question."""
    private: tuple[tuple[int, int], ...] = ()
    """Ranges of data without a counterpart of the same name or content in the other image. Addresses in here differ
    between the sides only because the data had to be placed somewhere."""

    @property
    def has_writable_code(self) -> bool:
        """Whether a linked file has a section of code that may be written: what is there is not looked at as data."""
        return self.is_linked and any(section.executable and section.writable for section in self.sections)

    @property
    def byte_order(self) -> Order:
        return byte_order(self.machine)

    def without(self, absent: int) -> Image:
        """The image where the weak symbols whose bits are set have no definition."""
        undefined = frozenset(name for name, symbol in self.weak.items() if absent >> symbol.bit & 1)
        if undefined not in self._variants:
            if len(self._variants) >= MOST_VARIANTS:
                self._variants.clear()
            self._variants[undefined] = self._without(undefined)
        return self._variants[undefined]

    @cached_property
    def distances(self) -> frozenset[int]:
        """The bytes of data that hold distances, for an object file."""
        executable = [(s.address, s.end) for s in self.sections if s.executable]
        return frozenset(
            byte
            for at, field_ in self.relocated.items()
            if field_.relative and not any(low <= at < high for low, high in executable)
            for byte in range(at, at + field_.width)
        )

    @cached_property
    def _variants(self) -> dict[frozenset[str], Image]:
        """By the undefined weak symbols: every run asks for one of these images, and they are large."""
        return {}

    def _without(self, undefined: frozenset[str]) -> Image:
        fields = {
            at: (self.weak[name].address, width) for at, (name, width) in self.weak_fields.items() if name in undefined
        }
        if not fields:
            return self
        return replace(self, sections=tuple(_with_nulls(section, fields, self.byte_order) for section in self.sections))

    @cached_property
    def _sections_by_address(self) -> tuple[list[int], list[Section]]:
        ordered = sorted(self.sections, key=lambda s: s.address)
        return [s.address for s in ordered], ordered

    def sections_between(self, low: int, high: int) -> list[Section]:
        """Sections with an address from `low` up to, not including, `high`."""
        starts, ordered = self._sections_by_address
        found = ordered[max(bisect_right(starts, low) - 1, 0) : bisect_left(starts, high)]
        return [section for section in found if low < section.end]

    @cached_property
    def _extent(self) -> tuple[int, int]:
        """From the lowest address at which there is anything to the highest, shared addresses included. Every run asks
        about its frame, which is far outside."""
        shared = ((start, start + end - own) for own, end, start in self.moved)
        both = [*((s.address, s.end) for s in self.sections), *shared]
        return min((low for low, _ in both), default=0), max((high for _, high in both), default=0)

    def unwritten_between(self, low: int, high: int) -> list[Section]:
        """Those of these sections that no code changes, also under the addresses that are shared with the other
        side."""
        if high <= self._extent[0] or self._extent[1] <= low:
            return []
        found = [section for section in self.sections_between(low, high) if not section.writable]
        for start, end, own in self.moved_ranges.between(low, high):
            section = self.section_at(own)
            if section is not None and not section.writable:
                data = section.data[own - section.address : own - section.address + end - start]
                found.append(Section(section.name, start, data, end - start, writable=False, executable=False))
        return found

    def section_at(self, address: int) -> Section | None:
        starts, ordered = self._sections_by_address
        index = bisect_right(starts, address) - 1
        return ordered[index] if index >= 0 and address < ordered[index].end else None

    def address_in_file(self, address: int) -> int:
        """An address of this image as the file has it: of a linked file its own, of an object file the offset in the
        section."""
        section = self.section_at(address)
        return address - (self.base if self.is_linked or section is None else section.address)

    def code_at(self, address: int, limit: int = 16) -> bytes:
        """Up to `limit` bytes of executable code at `address`; empty where there is none."""
        section = self.section_at(address)
        if section is None or not section.executable:
            return b""
        start = address - section.address
        return section.data[start : start + limit]

    def constant_bytes(self, address: int, size: int) -> bytes | None:
        """The bytes at `address` if they lie wholly in one section that is never written, else None. An address
        that both sides share stands for this side's own contents."""
        address = self.own_address(address)
        section = self.section_at(address)
        if section is None or section.writable or address + size > section.end:
            return None
        for field_address in range(address, address + size) if self.broken else ():
            if field_address in self.broken:
                raise Unsupported(self.broken[field_address])
        start = address - section.address
        return section.data[start : start + size].ljust(size, b"\0")

    def pointers_in(self, address: int, size: int) -> list[tuple[int, int]]:
        """Pointers in some bytes that a linker fills in, each as its distance from `address` (negative if it begins
        before) and the object it is relative to."""
        if not self.linked_words:
            return []
        address = self.own_address(address)
        places = self._pointer_places
        inside = places[bisect_right(places, address - POINTER_BYTES) : bisect_right(places, address + size - 1)]
        return [(place - address, self.linked_words[place]) for place in inside]

    @cached_property
    def _pointer_places(self) -> list[int]:
        return sorted(self.linked_words)

    def may_be_base(self, number: int) -> bool:
        """Whether a number to which code of a program at fixed addresses adds something may belong to a distant object,
        as in `t[i - 1000]`."""
        signed = number - (1 << 64) if number >> 63 else number
        return self.is_fixed and LEAST_BASE <= abs(signed) < MOST_BASE

    def is_beside_variables(self, number: int) -> bool:
        """Whether no variable of a linked file is at an address, so that an index may lead from there to any of
        them."""
        section = self.section_at(self.own_address(number))
        return section is None or section.executable or has_no_variables(section.name)

    @cached_property
    def functions(self) -> dict[str, Symbol]:
        return {s.name: s for s in self.symbols if s.is_function}

    @cached_property
    def _symbol_addresses(self) -> dict[int, Symbol]:
        return {s.address: s for s in reversed(self.symbols)}

    def symbol_at(self, address: int) -> Symbol | None:
        return self._symbol_addresses.get(address)

    @cached_property
    def names_variables(self) -> bool:
        """Whether all variables have names. In a stripped linked file the static ones have none."""
        return not self.base or any(symbol.is_local for symbol in self.symbols)

    def name_at(self, address: int) -> str | None:
        """The name of the symbol or external that starts at `address`."""
        if address in self.externals:
            return self.externals[address]
        symbol = self.symbol_at(self.aliases.get(address, address))
        return symbol.name if symbol else None

    def function_around(self, address: int) -> str | None:
        """The function with a shared address that contains `address` after its start. Such an address stands for
        nothing that the two sides share: only the function as a whole is compared."""
        starts, ends = self._function_ranges
        index = bisect_right(starts, address) - 1
        if index < 0 or not starts[index] < address < ends[index]:
            return None
        return self.name_at(starts[index]) or "a function"

    @cached_property
    def _function_ranges(self) -> tuple[list[int], list[int]]:
        starts = sorted(self.aliases)
        symbols = [self.symbol_at(self.aliases[start]) for start in starts]
        return starts, [start + (symbol.size if symbol else 0) for start, symbol in zip(starts, symbols, strict=True)]

    def shared_address(self, address: int) -> int:
        """The address in both images of what starts at an address of this one (see `moved`)."""
        return self.moved_ranges.shared_address(address)

    def own_address(self, address: int) -> int:
        """This image's own address of what is at a shared address (see `moved`)."""
        return self.moved_ranges.own_address(address)

    @cached_property
    def moved_ranges(self) -> MovedRanges:
        return moved_ranges(self.moved)

    @cached_property
    def has_apart(self) -> bool:
        """Whether something that code of this image may reach differs between the two sides."""
        return bool(self.differing or self.unlike_at_start)

    @cached_property
    def differing_constants(self) -> tuple[tuple[int, int], ...]:
        """This image's own constant sections in `differing`."""
        own = [s for s in self.sections if not s.writable and not s.executable]
        return tuple(
            (s.address, s.end) for s in own if any(s.address < high and low < s.end for low, high in self.differing)
        )

    @cached_property
    def differing_variables(self) -> tuple[tuple[int, int], ...]:
        """What an index may lead to in `differing`, without the loader's own data in a linked file."""
        homes = {r: [s for s in self.sections if s.address < r[1] and r[0] < s.end] for r in self.differing}
        return tuple(r for r, own in homes.items() if not own or not all(has_no_variables(s.name) for s in own))

    @cached_property
    def data_symbols(self) -> tuple[list[int], list[Symbol]]:
        sized = [s for s in self.symbols if not s.is_function and s.size]
        return [s.address for s in sized], sized
