"""The check of a listing: two functions, and all that they lead to, are the same code.

The listing says which instruction of one file corresponds to which of the other. Both are followed here again, from the
two entries: corresponding instructions have the same bytes apart from addresses, addresses stand for corresponding
things, and what may follow corresponds, too. By induction on the number of executed instructions both runs do the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from isoform.check.same_code.instructions import AddressInCode, AddressUse, NotTheSame, PlainInstruction, decode
from isoform.check.same_code.places import (
    SLOT_BYTES,
    ConstantAt,
    FunctionAt,
    ObjectAt,
    OutsideName,
    SlotAt,
    Thing,
    WordsForAddresses,
)
from isoform.load.image import Image
from isoform.load.section_names import is_one_of, is_section_bound
from isoform.model.library import HELPERS, is_reserved, library_function

MOST_INSTRUCTIONS = 20_000
MOST_OBJECT = 1 << 22
_WIDE, _LINE = 16, 64
"""Bytes from which on an access may have to be aligned, and to which."""
_DISTANCE = 4
_OF_THE_COMPILER, _REGISTERS_CLONES = "frame_dummy", "_ITM_registerTMCloneTable"
_TABLES, _REVERSED = (".preinit_array", ".init_array"), (".ctors",)
Pair = tuple[int, int]
Extent = tuple[int, int, int]
"""Two objects and their size."""


@dataclass
class LeadsTo:
    """What two functions or objects lead to, and what that rests on."""

    functions: set[Pair] = field(default_factory=set)
    objects: set[Extent] = field(default_factory=set)
    standing: set[Pair] = field(default_factory=set)
    """Starts of data whose addresses go somewhere: one must stand for one."""
    rests_on: set[str] = field(default_factory=set)
    instructions: set[Pair] = field(default_factory=set)
    is_wide: bool = False
    jumps_anywhere: bool = False
    """Whether it has a computed jump, and no table is listed."""
    leads_to_code: bool = False
    """For data: whether a number in it may be a distance to code."""


class SameCode:
    """For two files. `tables` are the jump tables by the pair of entries: two addresses, and how many entries."""

    def __init__(self, images: tuple[Image, Image], tables: Mapping[Pair, tuple[Extent, ...]]) -> None:
        self._images = images
        self._places = WordsForAddresses(images[0]), WordsForAddresses(images[1])
        self._tables = tables
        self._functions: dict[Pair, LeadsTo | NotTheSame] = {}
        self._objects: dict[Extent, LeadsTo | NotTheSame] = {}
        self._added: set[Pair] = set()
        """Constructors that compilers add."""

    def confirm(self, entries: Pair) -> tuple[dict[Pair, LeadsTo], set[str]]:
        """All pairs of functions that two lead to, and what that they are the same code rests on. Raises
        `NotTheSame`."""
        self._refuse_files()
        functions, objects, rests_on = self._closure([entries])
        if any(self._is_writable(extent) for extent in objects):
            constructors = self._constructors
            functions, objects, more = self._closure([entries, *constructors])
            rests_on |= more
        if entries in self._added or any(one.functions & self._added for one in functions.values()):
            raise NotTheSame(f"{_OF_THE_COMPILER} is a function of the program")
        if any(one.is_wide for one in functions.values()) and any(a % _LINE != b % _LINE for a, b, _ in objects):
            raise NotTheSame("data is aligned differently, and an instruction may need its alignment")
        jumps = any(one.jumps_anywhere for one in functions.values())
        if jumps and any(self._of_object(extent).leads_to_code for extent in objects):
            raise NotTheSame("a computed jump in it may use a table that is not listed")
        return functions, rests_on | {"same-undefined"} | ({"valid-memory"} if objects else set())

    def require_name(self, entries: Pair, name: str) -> None:
        """That a listed function has its name: `f`, or `old → new`."""
        things = [places.thing_at(entry) for places, entry in zip(self._places, entries, strict=True)]
        names = [thing.names if isinstance(thing, FunctionAt) else frozenset[str]() for thing in things]
        sides = name.split(" → ") if " → " in name else [name, name]
        if len(sides) != 2 or sides[0] not in names[0] or sides[1] not in names[1]:
            raise NotTheSame("it is not the function of this name")

    def _refuse_files(self) -> None:
        for image in self._images:
            if image.machine != "x86_64" or image.is_fixed or image.has_handlers or image.has_writable_code:
                raise NotTheSame(
                    "the file is not for x86-64, at fixed addresses, handles exceptions, or may write its code"
                )

    def _closure(self, entries: list[Pair]) -> tuple[dict[Pair, LeadsTo], set[Extent], set[str]]:
        functions: dict[Pair, LeadsTo] = {}
        objects: set[Extent] = set()
        rests_on: set[str] = set()
        sides: tuple[dict[int, int], dict[int, int]] = ({}, {})
        pending: list[Pair | Extent] = [*entries]
        while pending:
            one = pending.pop()
            if one in functions or one in objects:
                continue
            found = self._of_function(one) if len(one) == 2 else self._of_object(one)
            if len(one) == 2:
                functions[one] = found
            else:
                objects.add(one)
            own = {one[:2]} if len(one) == 3 and self._is_writable(one) else set[Pair]()
            for pair in found.standing | own:
                for side in (0, 1):
                    if sides[side].setdefault(pair[side], pair[1 - side]) != pair[1 - side]:
                        raise NotTheSame("one object on one side is two on the other")
            rests_on |= found.rests_on
            pending += [*found.functions, *found.objects]
        return functions, objects, rests_on

    @cached_property
    def _constructors(self) -> list[Pair]:
        left, right = (list(_constructors_of(image)) for image in self._images)
        if len(left) != len(right):
            raise NotTheSame("functions that run when the files are loaded are not the same")
        pairs = list(zip(left, right, strict=True))
        self._added = {pair for pair in pairs if self._has_name_of_compiler(pair)}
        for pair in self._added:
            self._functions.pop(pair, None)
        return pairs

    # -- code ---------------------------------------------------------------------------------------------

    def _of_function(self, entries: Pair) -> LeadsTo:
        if entries not in self._functions:
            try:
                self._functions[entries] = self._followed(entries)
            except NotTheSame as reason:
                self._functions[entries] = reason
        return _required(self._functions[entries])

    def _followed(self, entries: Pair) -> LeadsTo:
        found = LeadsTo()
        pending, sides = [entries], ({}, {})  # type: tuple[list[Pair], tuple[dict[int, int], dict[int, int]]]
        has_jump = False
        for table in self._tables.get(entries, ()):
            pending += self._entries_of(table)
        while pending:
            pair = pending.pop()
            if pair in found.instructions:
                continue
            found.instructions.add(pair)
            if len(found.instructions) > MOST_INSTRUCTIONS:
                raise NotTheSame("it is too long")
            for side in (0, 1):
                if sides[side].setdefault(pair[side], pair[1 - side]) != pair[1 - side]:
                    raise NotTheSame(f"the instruction at {pair[side]:#x} corresponds to two others")
            left, right = (decode(image, address) for image, address in zip(self._images, pair, strict=True))
            pending += self._compared(left, right, pair, entries, found)
            has_jump |= left.jumps_anywhere
            if left.calls_anywhere:
                found.rests_on.add("calls-agree")
            found.is_wide |= left.widest >= _WIDE
        if has_jump and entries in self._tables:
            found.rests_on.add("jump-tables")
        elif has_jump:
            found.jumps_anywhere = True
            found.rests_on.add("calls-agree")
        elif entries in self._tables:
            raise NotTheSame("a jump table is listed, and it has no such jump")
        return found

    def _compared(
        self, left: PlainInstruction, right: PlainInstruction, pair: Pair, entries: Pair, found: LeadsTo
    ) -> Iterator[Pair]:
        if left.plain != right.plain or len(left.addresses) != len(right.addresses):
            raise NotTheSame(f"the instructions at {pair[0]:#x} and {pair[1]:#x} are not the same")
        leaves = False
        is_added = entries in self._added
        if is_added and (left.touches or left.is_call):
            raise NotTheSame(f"{_OF_THE_COMPILER} is a function of the program")
        for one, other in zip(left.addresses, right.addresses, strict=True):
            if one.use is AddressUse.JUMP and self._is_inside(one, other):
                yield self._real(0, one.number), self._real(1, other.number)
                continue
            if self._is_table(one, other, entries):
                continue
            if one.use is AddressUse.FORM and is_added:
                continue
            if is_added and not self._registers_clones(one):
                raise NotTheSame(f"{_OF_THE_COMPILER} is a function of the program")
            self._same_address(one, other, found)
            leaves |= left.is_call and self._does_not_return(one)
        after = left.after, right.after
        if left.is_call and self._is_at_end(after, entries):
            self._require_no_return(left, right)
            found.rests_on.add("does-not-return")
        elif left.continues and not leaves:
            yield after

    def _has_name_of_compiler(self, entries: Pair) -> bool:
        """Whether two constructors may be what compilers add to every file. It computes with the end of the data, which
        has no name, touches no memory, and jumps only to where that is registered."""
        things = [places.thing_at(entry) for places, entry in zip(self._places, entries, strict=True)]
        return all(isinstance(thing, FunctionAt) and _OF_THE_COMPILER in thing.names for thing in things)

    def _registers_clones(self, one: AddressInCode) -> bool:
        thing = self._places[0].thing_at(one.number)
        thing = thing.holds if isinstance(thing, SlotAt) else thing
        return isinstance(thing, OutsideName) and thing.name == _REGISTERS_CLONES

    def _real(self, side: int, number: int) -> int:
        return self._images[side].aliases.get(number, number)

    def _is_inside(self, one: AddressInCode, other: AddressInCode) -> bool:
        """Whether a jump stays in the file: what follows there is compared like the rest."""
        numbers = enumerate((one.number, other.number))
        return not any(self._real(side, number) in self._images[side].externals for side, number in numbers)

    def _is_table(self, one: AddressInCode, other: AddressInCode, entries: Pair) -> bool:
        listed = {(a, b) for a, b, _ in self._tables.get(entries, ())}
        own = self._images[0].own_address(one.number), self._images[1].own_address(other.number)
        return one.use is AddressUse.FORM and own in listed

    def _entries_of(self, table: Extent) -> Iterator[Pair]:
        """The pairs of instructions that the entries of two jump tables lead to."""
        left, right = (list(self._targets(side, table[side])) for side in (0, 1))
        if not left or len(left) != len(right) or len(left) != table[2]:
            raise NotTheSame("a jump table has another number of entries than the listing says")
        return zip(left, right, strict=True)

    def _targets(self, side: int, start: int) -> Iterator[int]:
        """Up to the first entry that leads into another function than the first one, or into none."""
        image, places = self._images[side], self._places[side]
        section, parts = image.section_at(start), set[tuple[int, int]]()
        if section is None or section.writable:
            raise NotTheSame("a jump table is no constant")
        width = SLOT_BYTES if start in image.relocated and image.relocated[start].width == SLOT_BYTES else _DISTANCE
        for at in range(start, min(section.end, start + MOST_INSTRUCTIONS * width) - width + 1, width):
            value = int.from_bytes(places.content(at, width), "little", signed=width == _DISTANCE)
            target = self._real(side, value if width == SLOT_BYTES else start + value)
            parts = parts or places.parts_around(target)
            if not any(low <= target < high for low, high in parts):
                return
            yield target

    def _is_at_end(self, after: Pair, entries: Pair) -> bool:
        ends = [{end for _, end in places.parts_of(entry)} for places, entry in zip(self._places, entries, strict=True)]
        return all(after[side] in ends[side] for side in (0, 1))

    def _does_not_return(self, one: AddressInCode) -> bool:
        thing = self._places[0].thing_at(one.number)
        thing = thing.holds if isinstance(thing, SlotAt) else thing
        if not isinstance(thing, OutsideName) or not is_reserved(thing.name):
            return False
        return library_function(thing.name).never_returns

    def _require_no_return(self, left: PlainInstruction, right: PlainInstruction) -> None:
        """A callee in the file after which no code follows must have no return in its own code."""
        for side, decoded in enumerate((left, right)):
            for one in decoded.addresses:
                thing = self._places[side].thing_at(one.number)
                if isinstance(thing, FunctionAt) and _may_return(self._images[side], thing.entry):
                    raise NotTheSame("it continues in what lies after it")

    # -- what addresses stand for -------------------------------------------------------------------------

    def _same_address(self, one: AddressInCode, other: AddressInCode, found: LeadsTo) -> None:
        left, right = (p.thing_at(a.number) for p, a in zip(self._places, (one, other), strict=True))
        if left is None or right is None:
            raise NotTheSame(f"what the address {one.number:#x} stands for is not known")
        if isinstance(left, SlotAt) and isinstance(right, SlotAt):
            if one.use is not AddressUse.ACCESS or one.size > SLOT_BYTES:
                raise NotTheSame("it uses more than one entry of the global offset table")
            left, right = left.holds, right.holds
            self._same_thing(left, right, found, is_read=False, is_call=False)
            if isinstance(left, ObjectAt):
                found.rests_on.add("addresses-in-objects")
        elif isinstance(left, ConstantAt) and isinstance(right, ConstantAt):
            self._same_constant(left.own, right.own, one, found)
        else:
            if (
                isinstance(left, ObjectAt)
                and one.use is AddressUse.ACCESS
                and not 0 < one.size <= left.size - left.offset
            ):
                raise NotTheSame(f"it accesses more than {min(left.names)}")
            if isinstance(left, FunctionAt) and one.use is AddressUse.ACCESS:
                raise NotTheSame("it reads code as data")
            if isinstance(left, ObjectAt) and one.use is AddressUse.FORM:
                found.rests_on.add("addresses-in-objects")
            is_call = one.use in (AddressUse.CALL, AddressUse.JUMP)
            self._same_thing(left, right, found, is_read=one.use is AddressUse.ACCESS, is_call=is_call)

    def _same_thing(self, left: Thing, right: Thing, found: LeadsTo, is_read: bool, is_call: bool) -> None:
        if isinstance(left, OutsideName) and isinstance(right, OutsideName):
            if left != right or library_function(left.name.lstrip("_")).returns_twice:
                raise NotTheSame(f"it uses {left.name} on one side and {right.name} on the other")
            if left.name.startswith((*HELPERS, "__tls_get_addr")) or is_section_bound(left.name):
                raise NotTheSame(f"it uses {left.name}")
            found.rests_on.add("calls-agree")
        elif isinstance(left, FunctionAt) and isinstance(right, FunctionAt):
            if not is_call and not left.names & right.names:
                raise NotTheSame("it takes the addresses of functions with different names")
            found.functions.add((left.entry, right.entry))
            found.rests_on |= {"return-addresses-unread"} | (set() if is_call else {"function-addresses"})
        elif isinstance(left, ObjectAt) and isinstance(right, ObjectAt):
            self._same_object(left, right, found, is_read)
        else:
            raise NotTheSame("an address stands for different kinds of things")

    def _same_object(self, left: ObjectAt, right: ObjectAt, found: LeadsTo, is_read: bool) -> None:
        shown = min(left.names)
        if (left.size, left.offset, left.is_writable) != (right.size, right.offset, right.is_writable):
            raise NotTheSame(f"{shown} is not the same on both sides")
        if left.is_writable and not (left.names & right.names and left.is_unique and right.is_unique):
            raise NotTheSame(f"{shown} and {min(right.names)} need not be the same variable")
        if not is_read and not left.plain_names & right.plain_names:
            raise NotTheSame(f"{shown} is {min(right.names)} on the other side")
        if left.size > MOST_OBJECT:
            raise NotTheSame(f"{shown} is too large")
        found.objects.add((left.start, right.start, left.size))
        if not is_read:
            found.standing.add((left.start, right.start))

    def _same_constant(self, left: int, right: int, one: AddressInCode | None, found: LeadsTo) -> None:
        if one is not None and one.use is AddressUse.ACCESS and one.size:
            found.objects.add((left, right, one.size))
            return
        texts = [places.text(own) for places, own in zip(self._places, (left, right), strict=True)]
        if texts[0] is None or texts[0] != texts[1]:
            raise NotTheSame("a constant without a name is no text, or another one")
        found.standing.add((left, right))
        found.rests_on.add("texts-end-at-zero")

    # -- data ---------------------------------------------------------------------------------------------

    def _is_writable(self, extent: Extent) -> bool:
        section = self._images[0].section_at(extent[0])
        return section is None or section.writable

    def _of_object(self, extent: Extent) -> LeadsTo:
        if extent not in self._objects:
            try:
                self._objects[extent] = self._same_content(extent)
            except NotTheSame as reason:
                self._objects[extent] = reason
        return _required(self._objects[extent])

    def _same_content(self, extent: Extent) -> LeadsTo:
        found, size = LeadsTo(), extent[2]
        sections = [image.section_at(start) for image, start in zip(self._images, extent, strict=False)]
        kinds = {None if s is None else (s.writable, s.executable) for s in sections}
        if None in kinds or len(kinds) != 1:
            raise NotTheSame("data is constant on one side and variable on the other")
        held = [bytearray(places.content(start, size)) for places, start in zip(self._places, extent, strict=False)]
        pointers = [self._pointers(side, extent[side], size) for side in (0, 1)]
        if pointers[0].keys() != pointers[1].keys():
            raise NotTheSame("data holds addresses in different places")
        for at, number in pointers[0].items():
            left, right = (p.thing_at(n) for p, n in zip(self._places, (number, pointers[1][at]), strict=True))
            if left is None or right is None:
                raise NotTheSame("what an address in data stands for is not known")
            if isinstance(left, ConstantAt) and isinstance(right, ConstantAt):
                self._same_constant(left.own, right.own, None, found)
            else:
                self._same_thing(left, right, found, is_read=False, is_call=False)
            if not isinstance(left, OutsideName | FunctionAt):
                self._same_end((number, pointers[1][at]), found)
            for content in held:
                content[at : at + SLOT_BYTES] = bytes(len(content[at : at + SLOT_BYTES]))
        if held[0] != held[1]:
            raise NotTheSame("data that it uses holds something else")
        if not self._is_writable(extent) and all(image.is_linked for image in self._images):
            self._same_distances(extent, bytes(held[0]), found)
        return found

    def _same_end(self, numbers: Pair, found: LeadsTo) -> None:
        """An address that is the end of an object may be meant as that, or as what begins there: both are compared."""
        left, right = (places.ended_at(number) for places, number in zip(self._places, numbers, strict=True))
        if left is not None and right is not None:
            self._same_object(left, right, found, is_read=False)
        elif left is not None or right is not None:
            raise NotTheSame("an address in data is the end of an object on one side only")

    def _pointers(self, side: int, start: int, size: int) -> dict[int, int]:
        """The addresses that relocations put into data, by their offset."""
        image, found = self._images[side], dict[int, int]()
        for place in range(start - SLOT_BYTES + 1, start + size):
            known = image.relocated.get(place)
            if place in image.broken and place >= start:
                raise NotTheSame("a relocation in data is not understood")
            if known is None or place + known.width <= start:
                continue
            if place < start or known.width != SLOT_BYTES or known.relative or known.name:
                raise NotTheSame("data holds a part of an address, or a distance")
            found[place - start] = int.from_bytes(self._places[side].content(place, SLOT_BYTES), "little")
        return found

    def _same_distances(self, extent: Extent, content: bytes, found: LeadsTo) -> None:
        """Numbers in constants of a linked file may be distances to something, from themselves or from the start: they
        must then lead to the same."""
        for at in range(0, len(content) - _DISTANCE + 1, _DISTANCE):
            distance = int.from_bytes(content[at : at + _DISTANCE], "little", signed=True)
            for base in {0, at} if distance else ():
                if 0 <= base + distance < extent[2]:
                    continue
                targets = [extent[side] + base + distance for side in (0, 1)]
                found.leads_to_code |= any(self._images[side].code_at(targets[side], 1) for side in (0, 1))
                left, right = (p.begun_at(target) for p, target in zip(self._places, targets, strict=True))
                if left is None and right is None:
                    continue
                if isinstance(left, ConstantAt) and isinstance(right, ConstantAt):
                    held = [p.content(c.own, _LINE) for p, c in zip(self._places, (left, right), strict=True)]
                    texts = [p.text(c.own) for p, c in zip(self._places, (left, right), strict=True)]
                    if held[0] != held[1] and (texts[0] is None or texts[0] != texts[1]):
                        raise NotTheSame("a number in constants may be a distance to other constants")
                elif left is None or right is None:
                    raise NotTheSame("a number in constants may be a distance to something else")
                else:
                    self._same_thing(left, right, found, is_read=False, is_call=False)


def _required(found: LeadsTo | NotTheSame) -> LeadsTo:
    if isinstance(found, NotTheSame):
        raise NotTheSame(str(found))
    return found


def _may_return(image: Image, entry: int) -> bool:
    seen, pending = set[int](), [entry]
    while pending:
        address = pending.pop()
        if address in seen:
            continue
        seen.add(address)
        decoded = decode(image, address)
        jumps = [image.aliases.get(a.number, a.number) for a in decoded.addresses if a.use is AddressUse.JUMP]
        if decoded.returns or decoded.jumps_anywhere or any(target in image.externals for target in jumps):
            return True
        pending += jumps
        pending += [decoded.after] if decoded.continues and image.code_at(decoded.after) else []
    return False


def _constructors_of(image: Image) -> Iterator[int]:
    """Where the code is that runs when a file is loaded."""
    yield from (address for address in image.at_loading if image.code_at(address))
    if any(is_one_of(section.name, _REVERSED) for section in image.sections):
        raise NotTheSame("constructors are in a section of which the order is not known")
    named = [(s.address, s.end) for s in image.sections if is_one_of(s.name, _TABLES)]
    for low, high in dict.fromkeys([*image.tables_at_loading, *named]):
        section = image.section_at(low)
        if section is None or high > section.end:
            raise NotTheSame("the table of what runs when a file is loaded is not in the file")
        for at in range(low - section.address, high - section.address - SLOT_BYTES + 1, SLOT_BYTES):
            held = int.from_bytes(section.data[at : at + SLOT_BYTES], "little")
            entry = image.aliases.get(held, held)
            if entry:
                yield entry


def name_of_both(left: str, right: str) -> str:
    """What two functions are called in a listing."""
    return left if left == right else f"{left} → {right}"


def tables_of(said: Any) -> tuple[Extent, ...] | None:
    """The jump tables of a listed pair; None if they have another form."""
    if not isinstance(said, list) or not all(_is_numbers(one, 3) for one in said):
        return None
    return tuple((one[0], one[1], one[2]) for one in said)


def _is_numbers(said: Any, count: int) -> bool:
    return isinstance(said, list) and len(said) == count and all(type(number) is int for number in said)


def is_pairs(said: Any) -> bool:
    return isinstance(said, list) and all(_is_numbers(one, 2) for one in said)
