"""What code can reach by addresses: the functions whose address it takes, and the data it names, and what the
initial contents of that data lead to.

An address need not be in the object that it is meant for: `t[i - 1000]` is compiled with the base `t - 4000`. A
relocation says which symbol or section a base belongs to; where there is none, see `_Code`."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import field, replace
from functools import cached_property

from isoform.borders.objects import NEAR, SLOT, DataObjects, Range
from isoform.lift.function import Function, outside_call
from isoform.load.image import Image
from isoform.model.microop import CODE_ORIGIN, Instruction, Kind, Space, Var, number_of, origin_of
from isoform.model.outcome import THREAD_POINTER
from isoform.model.values import dataclass

MOST_OBJECTS = 4096
_PAGE_BITS = 12
"""Of an address: the bits that say where in its page it is."""


@dataclass(frozen=True)
class Reach:
    """As addresses that both sides share."""

    functions: frozenset[int]
    data: frozenset[Range]
    """Objects at or near one of the addresses, or to which one of them may be relative."""
    named: frozenset[Range] = frozenset()
    """Those of them that an address is in, or that its relocation says is meant."""
    complete: bool = True
    """False where there were more objects than are looked at."""
    chosen: frozenset[int] = frozenset()
    """Those of the functions that are called, and that a resolver chooses."""
    unsure: frozenset[Range] = frozenset()
    """Those of the objects that are reached only because an address may mean any object of a section or file."""
    meant: frozenset[Range] = frozenset()
    """Those of the objects that an address means or may mean, without those that are only near one."""
    strays: frozenset[int] = frozenset()
    """Those of the functions that are reached only because a table of constructors or destructors is near an object."""


def reach(function: Function) -> Reach:
    """What a lifted function, with what is inlined into it, can reach."""
    code = _Code(function)
    found = reach_from(function.image, code.numbers(), code)
    chosen = frozenset(_chosen(function))
    return replace(found, functions=found.functions | chosen, chosen=chosen) if chosen else found


def _chosen(function: Function) -> Iterator[int]:
    image = function.image
    calls = (outside_call(block.exit) for block in function.blocks.values()) if image.resolvers else ()
    names = {call.callee for call in calls if call is not None and call.callee is not None}
    for address in image.resolvers:
        if image.externals.get(address) in names and image.section_at(address) is None:
            yield address


def meant_by(function: Function) -> list[Range]:
    """What relocations say that addresses in the code of a function may mean, however far from it they are."""
    fields = (place for i in function.instructions.values() for place in range(i.address, i.next_address))
    meant = (function.image.meant.get(place) for place in fields) if function.image.meant else ()
    return list(dict.fromkeys(area for one in meant if one is not None for area in one.ranges))


def constants_of(function: Function) -> Iterator[int]:
    """The numbers in the code that may be addresses: as they are, and as distances from the thread pointer."""
    for instruction in function.instructions.values():
        for _, _, _, number in _constants(instruction):
            yield number
            yield THREAD_POINTER + as_signed(number)


def _constants(instruction: Instruction) -> Iterator[tuple[Kind, int, Var, int]]:
    """The numbers of at least 32 bits in an instruction: the kind of the micro-op, and which of its inputs it is."""
    for op in instruction.ops:
        for position, var in enumerate(op.ins):
            number = number_of(var) if var.size >= 4 else None
            if number is not None:
                yield op.kind, position, var, number


@dataclass
class _Aims:
    """What addresses may mean that need not be near."""

    sure: list[Range] = field(default_factory=list)
    perhaps: list[Range] = field(default_factory=list)
    """Any object in there may be meant, and need not."""


class _Code:
    """What the instructions of a function may mean by the addresses that they form.

    - A field that a relocation filled is meant for the object of the relocation's symbol. If it names a section, it may
      mean any object of that, unless the address is only there to read or write at it.
    - In a position-independent linked file an address inside a named object, or one past it, is meant for that one:
      compilers add an index's constant to the index there. In data without a name it may mean any object of the
      section, and outside all data any object of the file.
    - In a program at fixed addresses the displacement beside a register may be any number, and any object may be meant.
    - In linked files code that uses the thread pointer may mean any thread-local object.
    """

    def __init__(self, function: Function) -> None:
        self._image = function.image
        self._instructions = function.instructions

    def numbers(self) -> set[int]:
        """As `constants_of`, without addresses that are known to be meant for something else than what is there."""
        found: set[int] = set()
        for instruction in self._instructions.values():
            named = self._named_by(instruction)
            for _, _, var, number in _constants(instruction):
                meant = {number, THREAD_POINTER + as_signed(number)}
                if named and var.space is Space.ADDRESS:
                    meant = {n for n in meant if any(a - NEAR <= n < b + NEAR for a, b in named)}
                found |= meant
        return found

    def _named_by(self, instruction: Instruction) -> tuple[Range, ...]:
        """The one object that the addresses in an instruction are meant for, if that is known."""
        places = range(instruction.address, instruction.next_address)
        fields = [place for place in places if place in self._image.linked_fields]
        meant = self._image.meant.get(fields[0]) if len(fields) == 1 else None
        return meant.ranges if meant is not None and meant.is_one else ()

    def aims(self, objects: DataObjects) -> _Aims:
        found = _Aims()
        for instruction in self._instructions.values():
            if self._image.meant:
                self._from_fields(instruction, found)
            if objects.is_linked:
                found.perhaps += self._from_numbers(instruction, objects)
        found.perhaps = list(dict.fromkeys(found.perhaps))
        return found

    def _from_fields(self, instruction: Instruction, found: _Aims) -> None:
        for place in range(instruction.address, instruction.next_address):
            meant = self._image.meant.get(place)
            if meant is None:
                continue
            if meant.is_one:
                found.sure += meant.ranges
            elif not _only_accesses(instruction):
                found.perhaps += meant.ranges

    def _from_numbers(self, instruction: Instruction, objects: DataObjects) -> Sequence[Range]:
        found: list[Range] = []
        if _uses_thread_pointer(instruction):
            found += objects.of_threads
        if self._image.is_fixed:
            return [*found, *objects.variables] if any(map(self._image.may_be_base, _summands(instruction))) else found
        for kind, position, var, number in _constants(instruction):
            is_access = kind in (Kind.LOAD, Kind.STORE) and position == 0
            is_address = var.space is Space.ADDRESS and origin_of(var) != CODE_ORIGIN
            if is_address and origin_of(var) == self._image.base and not is_access:
                found += objects.meant_in_file(number)
            elif is_address and not is_access:
                found += objects.moved_alike(number)
            elif not is_address and number != instruction.next_address and self._is_in_code(number):
                found += objects.variables
        return found

    def _is_in_code(self, number: int) -> bool:
        return bool(self._image.code_at(number, 1)) and number not in self._image.aliases


def uses_thread_pointer(function: Function) -> bool:
    return any(_uses_thread_pointer(instruction) for instruction in function.instructions.values())


def _uses_thread_pointer(instruction: Instruction) -> bool:
    return any(number == THREAD_POINTER for _, _, _, number in _constants(instruction))


def _only_accesses(instruction: Instruction) -> bool:
    """Whether an address is in an instruction only to read or write there."""
    found = [(kind, position) for kind, position, var, _ in _constants(instruction) if var.space is Space.ADDRESS]
    return bool(found) and all(kind in (Kind.LOAD, Kind.STORE) and position == 0 for kind, position in found)


def _summands(instruction: Instruction) -> Iterator[int]:
    """The numbers to which an instruction adds something that it computes or finds in a register."""
    for op in instruction.ops:
        if op.kind is Kind.INT_ADD:
            numbers = [number_of(var) for var in op.ins]
            yield from (n for n in numbers if n is not None and None in numbers)


def reach_from(image: Image, numbers: Iterable[int], code: _Code | None = None) -> Reach:
    search = _Search(image)
    wanted = [number for number in numbers if search.is_wanted(number)]
    aims = code.aims(search.objects) if code is not None else _Aims()
    search.named |= {extent for area in aims.sure for extent in search.objects.overlapping(area)}
    search.follow(wanted, aims.sure)
    sure = frozenset(search.seen)
    search.perhaps += aims.perhaps
    search.follow_all()
    known, perhaps = frozenset(search.functions), frozenset(search.seen) - sure
    search.follow_tables()
    return Reach(
        frozenset(search.functions),
        frozenset(search.seen),
        frozenset(search.named),
        search.complete,
        unsure=frozenset(search.seen) - sure,
        meant=frozenset(search.named) | perhaps,
        strays=frozenset(search.functions) - known,
    )


class _Search:
    def __init__(self, image: Image) -> None:
        self._image = image
        self._entries = image.aliases.keys() | image.resolvers.keys()
        self._code_starts = self._entries | {*image.aliases.values()}
        self._pages = pages_of(image)
        self._met: set[int] = set()
        self._meant: list[Range] = []
        self._tables: list[Range] = []
        """Tables of constructors and destructors that are near an address."""
        self.functions: set[int] = set()
        self.seen: set[Range] = set()
        self.named: set[Range] = set()
        self.perhaps: list[Range] = []
        """What pointers in data may mean, as in `_Aims`."""
        self.complete = True

    @cached_property
    def objects(self) -> DataObjects:
        return DataObjects(self._image)

    def is_wanted(self, number: int) -> bool:
        return number >> _PAGE_BITS in self._pages

    def follow(self, numbers: Iterable[int], meant: Iterable[Range]) -> None:
        """Everything that these lead to."""
        pending = list(numbers)
        self._meant += meant
        while pending or self._meant:
            while self._meant:
                for extent in list(self.objects.overlapping(self._meant.pop())):
                    pending += self._add(extent)
            if not pending:
                return
            number = self._shared(pending.pop())
            if number in self._met:
                continue
            self._met.add(number)
            if number in self._entries:
                self.functions.add(number)
            for extent in self.objects.near(number):
                if extent[0] <= number < extent[1]:
                    self.named.add(extent)
                elif self.objects.is_slot(extent) and number != extent[0] - SLOT:
                    continue  # an entry may have two words
                elif self.objects.is_for_loader(extent):
                    continue
                elif self.objects.is_run_by_loader(extent):
                    self._tables.append(extent)
                    continue
                pending += self._add(extent)

    def follow_all(self) -> None:
        done: set[Range] = set()
        while self.perhaps:
            area = self.perhaps.pop()
            if area not in done:
                done.add(area)
                self.follow((), [area])

    def follow_tables(self) -> None:
        while self._tables:
            self.follow(self._add(self._tables.pop()), ())

    def _add(self, extent: Range) -> Iterable[int]:
        """Note an object; the numbers in it that may be addresses."""
        if extent in self.seen:
            return ()
        if len(self.seen) >= MOST_OBJECTS:
            self.complete = False
            return ()
        self.seen.add(extent)
        if self.objects.is_for_loader(extent):
            return ()  # one past the last object is there, too
        content = self.objects.contents(extent)
        if self.objects.is_slot(extent):
            content = content.ljust(SLOT, b"\0")
            order = self.objects.byte_order
            words = (int.from_bytes(content[at : at + SLOT], order) for at in range(0, len(content), SLOT))
            return [as_signed(word) + (THREAD_POINTER if word >> 63 else 0) for word in words]
        found = list(addresses_in(content, extent[0], self._pages, self._code_starts))
        found += self.objects.relocated_numbers(extent)
        for _, _, meant, is_one in self.objects.fields(extent):
            if is_one:
                self._meant += meant
            else:
                self.perhaps += meant
        return found

    def _shared(self, number: int) -> int:
        """Distances in a linked file lead to where the file itself has something."""
        moved = self._image.moved
        index = bisect_right(moved, (number, 1 << 64, 0)) - 1
        if index < 0 or number >= moved[index][1]:
            return number
        return moved[index][2] + number - moved[index][0]


def pages_of(image: Image) -> frozenset[int]:
    """The pages in which, or near which, something is that an address may lead to."""
    found: set[int] = set()
    moved = ((there, there + end - start) for start, end, there in image.moved)
    entries = ((address, address + 1) for address in image.aliases.keys() | image.resolvers.keys())
    for low, high in (*((s.address, s.end) for s in image.sections), *moved, *entries):
        found.update(range((low - NEAR) >> _PAGE_BITS, ((high + NEAR) >> _PAGE_BITS) + 1))
    return frozenset(found)


def addresses_in(
    content: bytes, start: int, pages: Container[int], entries: Container[int] = frozenset()
) -> Iterator[int]:
    """Every number in there that may be an address, or a distance to one from its own place or from `start`. An address
    may begin at any byte, since structures may be packed; a distance too, if it leads to one of `entries`."""
    if not any(content):
        return
    bits, end = _PAGE_BITS, start + len(content)
    for shift in range(8):
        words = memoryview(content[shift : shift + (len(content) - shift) // 8 * 8]).cast("q")
        for word in set(words):
            number = word if word >= 0 else THREAD_POINTER + word
            if word and number >> bits in pages:
                yield number
    for shift in range(4):
        whole = content[shift : shift + (len(content) - shift) // 4 * 4]
        if shift == 0:
            yield from (word for word in set(memoryview(whole).cast("I")) if word and word >> bits in pages)
        distances = memoryview(whole).cast("i")
        counted = ((start + d for d in set(distances)), map(int.__add__, range(start + shift, end, 4), distances))
        for numbers in counted:
            inside = (n for n in numbers if n >> bits in pages and not start <= n < end)
            yield from (n for n in inside if shift == 0 or n in entries)


def as_signed(word: int) -> int:
    return word - (1 << 64) if word >> 63 else word
