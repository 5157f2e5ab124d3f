"""The parts of a file that a question is about, each with a hash: what a certificate is bound to.

From a function's entry on, everything that its code can reach by an address: the functions that it calls or takes the
address of, whole, and the data that it names, on through the addresses in there; and where what data holds at first
counts, the functions that run when the file is loaded. An address is written as the part that it leads to and a
distance, so that the same code in another place, or beside other code, has the same hash. Parts without a name of their
own are numbered in the order in which they are found.

Relocations say where addresses are; in code that was linked, an instruction is decoded at two addresses to see which of
its numbers are relative to it. Where it is not certain that a number is an address, the number itself is hashed, and
what it would lead to is a part as well. So files with equal hashes mean the same; files with different hashes may
still do.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import field, fields, replace
from functools import cached_property
from typing import NamedTuple

from isoform.borders.initialisers import initialiser_entries
from isoform.borders.objects import DataObjects, Range
from isoform.borders.reach import addresses_in, as_signed, pages_of
from isoform.isa.registry import machine
from isoform.lift.addresses import with_addresses
from isoform.load.fields import Field
from isoform.load.image import Image, Symbol
from isoform.load.section_names import is_of_loader, is_offset_table
from isoform.model.contract import BoundsRule, CallRule, DataRule
from isoform.model.machine import Machine, Order
from isoform.model.microop import Instruction, Kind, Space, Var, number_of, origin_of
from isoform.model.outcome import THREAD_POINTER
from isoform.model.signature import CType, Parameter, Signature
from isoform.model.values import dataclass

ELSEWHERE = 1 << 24
"""How far an instruction is moved to see which of its numbers move with it."""
DECLARED = "the declaration of "
"""How the names of parts begin that are declarations."""
DISTANCE, WORD = 4, 8
"""Bytes of a distance in an instruction, and of an address in data."""


@dataclass(frozen=True)
class Part:
    kind: str
    """`function`, `constants`, `data`, or `declaration` of a function or of pointers to functions"""
    name: str
    sha256: str


class _Number(NamedTuple):
    """In an instruction."""

    shared: int
    """As the address that both sides of a question use."""
    own: int
    moves: bool
    """Whether it is relative to the instruction's address."""


def parts_of(image: Image, entry: int, calls: CallRule, data: DataRule, bounds: BoundsRule) -> tuple[Part, ...]:
    """What the function at `entry` is, and all of its file that an answer under these rules rests on."""
    walk = _Walk(
        image,
        machine(image.machine),
        follow=calls is not CallRule.UNINTERPRETED,
        initial=data is DataRule.INITIAL,
        near=bounds is not BoundsRule.ASSUME,
    )
    return tuple(walk.from_entry(entry))


def declared(image: Image, name: str) -> str | None:
    """How the file itself declares a function, if it does. Members of structures count, and are not spelled out."""
    signature = image.signatures.get(name)
    if signature is None:
        return None
    has_members = any(
        kind.fields or kind.function or (kind.pointee and kind.pointee.fields) for kind in _types(signature)
    )
    return f"{signature} (types {_TypeHashes().of(signature)[:16]})" if has_members else str(signature)


def _declarations(image: Image, names: Iterable[str], through_pointers: bool) -> Iterator[Part]:
    """How the file declares the functions that code names, and the types of pointers that it may call through: how
    calls are compared depends on it. The names of parameters do not count."""
    types = _TypeHashes()
    for name in sorted(set(names) & image.signatures.keys()):
        signature = image.signatures[name]
        unnamed = tuple(replace(parameter, name="") for parameter in signature.parameters)
        yield Part("declaration", f"{DECLARED}{name}", types.of(replace(signature, parameters=unnamed)))
    if through_pointers:
        known = image.pointers
        said = sorted(types.of(one) for one in known.functions)
        held = sorted(f"{name} {types.of(kind)}" for name, kind in known.variables.items())
        if said or held:
            rows = (row.encode() for row in (*said, *held, str(known.are_all)))
            yield Part("declaration", f"{DECLARED}pointers to functions", _hash(rows))


class _TypeHashes:
    """Hashes of types. Each part of a type is hashed once: structures share members, and members of members, so that
    written out they may be of any length."""

    def __init__(self) -> None:
        self._known: dict[object, str] = {}

    def of(self, value: CType | Signature | Parameter) -> str:
        if value not in self._known:
            said = (f"{one.name} {self._text(getattr(value, one.name))}".encode() for one in fields(value))
            self._known[value] = _hash(said)
        return self._known[value]

    def _text(self, value: object) -> str:
        if isinstance(value, CType | Signature | Parameter):
            return self.of(value)
        return f"({', '.join(map(self._text, value))})" if isinstance(value, tuple) else repr(value)


def _types(signature: Signature) -> tuple[CType, ...]:
    return signature.result, *(parameter.type for parameter in signature.parameters)


@dataclass
class _Walk:
    image: Image
    machine: Machine
    follow: bool
    """Whether called functions are parts."""
    initial: bool
    """Whether the initial contents of writable data are hashed."""
    near: bool
    """Whether objects near a named one are parts, because accesses outside an object count."""
    labels: dict[Range, str] = field(default_factory=dict)
    pending: list[Range] = field(default_factory=list)
    outside: set[str] = field(default_factory=set)
    """Names that other files define."""
    through_pointers: bool = False
    """Whether something is called or jumped to by an address."""

    def from_entry(self, entry: int) -> Iterator[Part]:
        first = self._code_around(entry) or (entry, entry)
        self._label(first)
        yield from self._followed(first)
        if self.initial and any(self._objects.is_writable(extent) for extent in self.labels):
            for initialiser in initialiser_entries(self.image):
                self._label(self._code_around(initialiser) or (initialiser, initialiser))
            yield from self._followed(first)
        functions = {label for extent, label in self.labels.items() if self._is_code(extent) and extent != first}
        yield from _declarations(self.image, self.outside | functions, self.through_pointers)

    def _followed(self, first: Range) -> Iterator[Part]:
        """Everything that is to be looked at, and all that it leads to."""
        while self.pending:
            extent = self.pending.pop(0)
            label = self.labels[extent]
            if self._is_code(extent):
                if self.follow or extent == first:
                    yield Part("function", label, _hash(self._code(extent)))
                continue
            is_writable = self._objects.is_writable(extent)
            size = str(extent[1] - extent[0]).encode()
            said = self._data(extent) if self.initial or not is_writable else [size]
            yield Part("data" if is_writable else "constants", label, _hash(said))

    # -- code -----------------------------------------------------------------------------------

    def _code(self, extent: Range) -> Iterator[bytes]:
        address, end = extent
        falls_through = False
        while address < end:
            code = self.image.code_at(address)
            instruction = self.machine.decode(code, address)
            length = min(max(1, instruction.length), end - address)
            yield from self._instruction(instruction, code[:length], extent)
            self.through_pointers |= any(op.kind in (Kind.CALLIND, Kind.BRANCHIND) for op in instruction.ops)
            address += length
            falls_through = address == end and not _ends(instruction)
        if falls_through:  # into what follows, which is then part of what the function does
            yield from self._named(self.image.shared_address(end))

    def _instruction(self, instruction: Instruction, code: bytes, extent: Range) -> Iterator[bytes]:
        """The bytes, without those that say where something outside this function is; instead of them what it is."""
        numbers = self._numbers(instruction, code)
        fields = [
            (address - instruction.address, self.image.relocated[address])
            for address in range(instruction.address, instruction.address + len(code))
            if address in self.image.relocated
        ]
        outside = [n for n in numbers if (n.moves or fields) and not extent[0] <= n.own < extent[1]]
        if not fields and len(outside) == 1:
            fields = _distance(instruction, code, outside[0].own, self.image.byte_order)
        plain = bytearray(code)
        for at, known in fields:
            if outside or known.name:
                plain[at : at + known.width] = bytes(len(plain[at : at + known.width]))
        yield bytes(plain)
        yield repr([(at, known.width, known.name) for at, known in fields]).encode()
        for number in numbers:
            if number in outside or not number.moves:
                yield from self._named(number.shared)
        yield from self._of_thread(instruction, code, fields)
        yield from self._far(instruction, code)

    def _far(self, instruction: Instruction, code: bytes) -> Iterator[bytes]:
        """What an address is meant for that is not there, as in `t[i - 1000]`."""
        image, linked = self.image, with_addresses(self.machine, self.image, code, instruction)
        numbers = _constants(linked)
        for place in range(instruction.address, instruction.address + len(code)):
            meant = image.meant.get(place)
            if meant is not None and not any(low <= n <= high for low, high in meant.ranges for n in numbers):
                yield from self._all_in(meant.ranges)
        addresses = [v for op in linked.ops for v in op.ins if v.space is Space.ADDRESS and origin_of(v) == image.base]
        if image.base:
            bases = [v.offset & (1 << 64) - 1 for v in addresses]
        else:
            bases = [n for n in numbers if image.may_be_base(n) and image.is_fixed]
        if any(image.is_beside_variables(n) and not image.code_at(n, 1) for n in bases):
            yield from self._all_in(self._objects.variables)

    def _all_in(self, areas: Iterable[Range]) -> Iterator[bytes]:
        for area in areas:
            for extent in sorted(self._objects.overlapping(area)):
                yield f"{self._label(extent)} may be meant".encode()

    def _of_thread(self, instruction: Instruction, code: bytes, fields: list[tuple[int, Field]]) -> Iterator[bytes]:
        """Thread-local data, which code addresses by distances from the thread pointer."""
        if fields or self._is_relocated:
            found = [
                int.from_bytes(code[at : at + known.width], self.image.byte_order, signed=True) for at, known in fields
            ]
        else:
            found = [as_signed(number) for number in _constants(instruction)]
        for distance in found:
            if distance < 0 and self._leads(THREAD_POINTER + distance):
                yield from self._named(THREAD_POINTER + distance)

    @cached_property
    def _is_relocated(self) -> bool:
        """Whether relocations say where in code addresses are, as in an object file."""
        return any(self._is_code((address, address)) for address in self.image.relocated)

    def _numbers(self, instruction: Instruction, code: bytes) -> list[_Number]:
        """The numbers in an instruction that may be addresses."""
        shared = _constants(with_addresses(self.machine, self.image, code, instruction))
        if not any(map(self._leads, shared)):
            return []
        here = _constants(instruction)
        there = _constants(self.machine.decode(code, instruction.address + ELSEWHERE))
        moves = [one != other for one, other in zip(here, there, strict=True)] if len(here) == len(there) else []
        found = map(_Number, shared, here, moves or [False] * len(here))
        return [n for n in dict.fromkeys(found) if self._leads(n.shared) and n.own != instruction.next_address]

    # -- data -----------------------------------------------------------------------------------

    def _data(self, extent: Range) -> Iterator[bytes]:
        content = bytearray(self._objects.contents(extent))
        own = self.image.own_address(extent[0])
        for address in [address for address in self._ordered_fields if own <= address < own + len(content)]:
            known, at = self.image.relocated[address], address - own
            number = int.from_bytes(content[at : at + known.width], self.image.byte_order, signed=known.relative)
            number += own if known.relative else 0
            if self._leads(THREAD_POINTER + as_signed(number)) and as_signed(number) < 0:
                number = THREAD_POINTER + as_signed(number)
            yield repr((at, known.width, known.name)).encode()
            if self._leads(number) and self._is_certain(extent, known):
                content[at : at + known.width] = bytes(len(content[at : at + known.width]))
                yield from self._named(number)
        yield bytes(content)
        for at, number, meant, _ in self._objects.fields(extent):
            if not any(low <= number <= high for low, high in meant):
                yield str(at).encode()
                yield from self._all_in(meant)
        named = self._name(extent) is not None
        for number in addresses_in(bytes(content), extent[0], self._pages) if named else self._words(bytes(content)):
            if self._is_meant(number):
                yield from self._named(number)

    def _words(self, content: bytes) -> Iterator[int]:
        """The aligned words in there that may be addresses, or distances from the thread pointer."""
        for at in range(0, len(content) - WORD + 1, WORD):
            word = as_signed(int.from_bytes(content[at : at + WORD], self.image.byte_order))
            yield word if word >= 0 else THREAD_POINTER + word

    def _is_certain(self, extent: Range, known: Field) -> bool:
        """Whether the target of a field is known: distances in a table are relative to its start, which is not known if
        several tables without names are adjacent. They lead into the function that uses them, which is a part
        anyway."""
        return not known.relative or self._name(extent) is not None

    def _is_meant(self, number: int) -> bool:
        """Whether a number in data that no relocation filled counts as an address: in a linked file it may be one, or
        the distance to one. Data that is only for the loader does not count."""
        section = self.image.section_at(self.image.own_address(number))
        return section is not None and not is_of_loader(section.name)

    @cached_property
    def _ordered_fields(self) -> list[int]:
        return sorted(self.image.relocated)

    @cached_property
    def _pages(self) -> frozenset[int]:
        return pages_of(self.image)

    @cached_property
    def _objects(self) -> DataObjects:
        return DataObjects(self.image)

    # -- addresses ------------------------------------------------------------------------------

    def _leads(self, number: int) -> bool:
        image = self.image
        return (
            number in image.externals
            or number in image.aliases
            or image.section_at(number) is not None
            or image.section_at(image.own_address(number)) is not None
        )

    def _named(self, number: int) -> Iterator[bytes]:
        """What is at an address, as a part and a distance."""
        image = self.image
        if number in image.externals:
            name = image.externals[number]
            self.outside.add(name)
            yield f"outside {name}{'?' if name in image.weak else ''}".encode()
            return
        own = image.own_address(image.aliases.get(number, number))
        extent = self._code_around(own)
        if extent is not None:
            symbol = image.symbol_at(extent[0])
            mark = "?" if symbol is not None and symbol.replaceable else ""
            yield f"{self._label(extent)}{mark} {own - extent[0]}".encode()
            return
        if number in image.relocated and self._is_slot(number):
            yield f"{self._label((number, number + self._slot_bytes(number)))} 0".encode()
            return
        extents = list(self._objects.near(number))
        inside = [extent for extent in extents if extent[0] <= number < extent[1]]
        for extent in extents if self.near or not inside else inside:
            yield f"{self._label(extent)} {number - extent[0]}".encode()

    def _is_slot(self, number: int) -> bool:
        """Whether an address is that of an entry of the global offset table."""
        section = self.image.section_at(number)
        return section is not None and is_offset_table(section.name)

    def _slot_bytes(self, number: int) -> int:
        """Bytes of an entry of the global offset table: entries for thread-local data have two words."""
        section = self.image.section_at(number)
        assert section is not None
        start = number - section.address
        word = int.from_bytes(section.data[start : start + WORD], self.image.byte_order)
        low, high = self.image.loader_code
        return WORD if self._leads(word) and not low <= word < high else 2 * WORD

    def _code_around(self, address: int) -> Range | None:
        """The function that an address is in; where no symbol says how long it is, up to the next one."""
        section = self.image.section_at(address)
        if section is None or not section.executable:
            return None
        starts, functions = self._functions
        index = bisect_right(starts, address) - 1
        start, end = section.address, section.end
        if index + 1 < len(starts):
            end = min(end, starts[index + 1])
        if index >= 0 and starts[index] >= start:
            start, size = starts[index], functions[index].size
            if size and address < start + size:
                end = min(start + size, section.end)
            elif size:
                start += size  # between functions: padding, or code without a symbol
        return start, end

    @cached_property
    def _functions(self) -> tuple[list[int], list[Symbol]]:
        found: dict[int, Symbol] = {}
        for symbol in self.image.symbols:
            if symbol.is_function and (symbol.address not in found or symbol.size > found[symbol.address].size):
                found[symbol.address] = symbol
        ordered = [found[address] for address in sorted(found)]
        return [s.address for s in ordered], ordered

    def _is_code(self, extent: Range) -> bool:
        section = self.image.section_at(extent[0])
        return section is not None and section.executable

    def _label(self, extent: Range) -> str:
        if extent not in self.labels:
            name = self._name(extent)
            self.labels[extent] = name if name is not None else f"unnamed {len(self.labels)}"
            self.pending.append(extent)
        return self.labels[extent]

    def _name(self, extent: Range) -> str | None:
        """The name of a part, if it is the only one of that name."""
        symbol = self.image.symbol_at(self.image.own_address(extent[0]))
        return symbol.name if symbol is not None and self._uses[symbol.name] == 1 else None

    @cached_property
    def _uses(self) -> Counter[str]:
        return Counter(symbol.name for symbol in self.image.symbols)


def _constants(instruction: Instruction) -> list[int]:
    found = (_number(var) for op in instruction.ops for var in op.ins if var.size >= DISTANCE)
    return [number for number in found if number is not None]


def _number(var: Var) -> int | None:
    return var.offset if var.space is Space.CODE else number_of(var)


def _distance(instruction: Instruction, code: bytes, target: int, order: Order) -> list[tuple[int, Field]]:
    """Where in a linked instruction the distance to `target` is."""
    distance = (target - instruction.next_address) % (1 << 8 * DISTANCE)
    at = code.rfind(distance.to_bytes(DISTANCE, order), 1)
    return [(at, Field(DISTANCE, relative=True))] if at >= 0 else []


def _hash(said: Iterable[bytes]) -> str:
    """The hash of a list. Each piece is preceded by its length, so that different lists hash different bytes."""
    digest = hashlib.sha256()
    for piece in said:
        digest.update(len(piece).to_bytes(4, "little") + piece)
    return digest.hexdigest()


def _ends(instruction: Instruction) -> bool:
    """Whether control never continues after an instruction. After a call it may."""
    ending = (Kind.RETURN, Kind.BRANCH, Kind.BRANCHIND, Kind.ABORT)
    return any(op.kind in ending and not any(var.space is Space.INNER for var in op.ins) for op in instruction.ops)
