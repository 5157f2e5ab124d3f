"""Which functions are the same code: instruction by instruction, with everything that these name the same.

Two functions are looked at together (`_local`). What they refer to must be the same as well, and that leads to more
pairs: callees, functions whose address is taken, and data. A pair is the same if none of the pairs that it leads to
differs. Pairs that lead to each other count as the same while they are looked at. This is induction on the number of
executed instructions: the two runs are in corresponding states after n instructions of corresponding code, so that the
next instruction, which is the same on both sides, leaves them in corresponding states.

States correspond if all registers and memory are equal, apart from addresses of code and data, which stand for
corresponding places. Only addresses to which functions return are numbers that a program has and that differ: that
nothing reads them is assumed (`return-addresses-unread`), and refused where it can be seen (`returns.py`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property

from isoform.borders.initialisers import are_alike, initialisers
from isoform.borders.objects import is_thread_local
from isoform.engines.same_code.assumed import (
    FUNCTION_ADDRESSES,
    JUMP_TABLES,
    RETURN_ADDRESSES,
    SAME_UNDEFINED,
    SAME_UNSUPPORTED,
    TEXTS,
)
from isoform.engines.same_code.bases import Bases
from isoform.engines.same_code.code_addresses import counts_from_code
from isoform.engines.same_code.found import Entries, Found, Objects
from isoform.engines.same_code.meaning import (
    DISTANCE,
    SLOT_SIZE,
    Code,
    Meaning,
    Meanings,
    Object,
    Outside,
    Slot,
    Unnamed,
)
from isoform.engines.same_code.returns import reads_return_address
from isoform.engines.same_code.unnamed import Unnameds
from isoform.engines.same_code.walk import Decoder, Reference, Role, Walk, Walker, is_walked
from isoform.isa.registry import machine
from isoform.load.image import Image
from isoform.load.section_names import is_section_bound
from isoform.model.library import HELPERS, library_function
from isoform.model.microop import Kind
from isoform.model.verdict import CALLS_AGREE, Assumption, in_bounds, merged_assumptions
from isoform.sym.state import VALID_MEMORY

TLS_ADDRESS = "__tls_get_addr"
_LINE = 64
"""Bytes to which the operand of an instruction may have to be aligned."""
MOST_OBJECT = 1 << 22
"""Bytes of an object that is compared."""


class Differs(Exception):
    """The two are not the same code, or it is not certain; the message says where."""


class Identical:
    """For the functions of two files. `images` are placed so that data with the same layout in two linked files moves
    as one."""

    def __init__(self, images: tuple[Image, Image], most: int | None = None) -> None:
        """`most`: instructions of each file that may be looked at; None for all."""
        left, right = self.images = images
        self._machine = machine(left.machine)
        decoder = Decoder(self._machine)
        self.walkers = Walker(left, decoder, most), Walker(right, decoder, most)
        self._meanings = Meanings(left), Meanings(right)
        self._unnameds = [Unnameds(m, walker) for m, walker in zip(self._meanings, self.walkers, strict=True)]
        self._bases = Bases(self._meanings, self.walkers)
        self._locals: dict[Entries, Found] = {}
        self._data: dict[Objects, Found] = {}
        self._unusual: dict[tuple[int, int], bool] = {}
        """Whether a function reads its return address, by the number of its file and its entry."""

    @cached_property
    def why_never(self) -> str:
        """Why nothing in these files can be settled in this way; "" if something can."""
        if not is_walked(self._machine):
            return f"code of {self._machine.title} is compared by the engines"
        if any(image.has_handlers for image in self.images):
            return "a file handles exceptions, by tables that are not compared"
        if any(image.has_writable_code for image in self.images):
            return "a section of a file is both writable and executable"
        if any(image.is_fixed for image in self.images):
            return "a program at fixed addresses does not say which numbers are addresses"
        return ""

    def assumptions(self, entries: Entries) -> tuple[Assumption, ...]:
        """What it rests on that two functions are the same. Raises `Differs` if they are not."""
        if self.why_never:
            raise Differs(self.why_never)
        functions, objects = self._closure([entries])
        found: list[Assumption] = []
        left: set[str] = set()
        for pair in functions:
            self._refuse_unclear(pair)
            left |= self._left(pair)
        if left:
            found.append(in_bounds(sorted(left)))
        for one in (*(self._local(pair) for pair in functions), *(self._of_objects(pair) for pair in objects)):
            found += [a for a in one.assumptions if a not in found]
        if any(self._local(pair).is_wide for pair in functions):
            self._refuse_other_alignment(objects)
        if any(self._local(pair).jumps_anywhere for pair in functions):
            self._refuse_jumps(objects)
        if any(self._is_writable(pair) for pair in objects):
            self._refuse_other_initialisers()
        if objects:
            found += [VALID_MEMORY] if VALID_MEMORY not in found else []
        return merged_assumptions(found)

    def leads_to(self, entries: Entries) -> list[Entries]:
        """The pairs of functions that two which are the same lead to, themselves among them."""
        return self._closure([entries])[0]

    def tables(self, entries: Entries) -> tuple[Objects, ...]:
        """Their jump tables: where each is in the two files, and how many entries it has."""
        left, right = (walker.walk(entry).tables for walker, entry in zip(self.walkers, entries, strict=True))
        return tuple((one[0], other[0], one[1]) for one, other in zip(left, right, strict=True))

    def _closure(
        self, entries: Sequence[Entries], first: Sequence[Objects] = ()
    ) -> tuple[list[Entries], list[Objects]]:
        """All that these functions and objects lead to."""
        functions, objects = dict.fromkeys(entries), dict.fromkeys(first)
        pending = [self._required(self._local(pair)) for pair in entries]
        pending += [self._required(self._of_objects(pair)) for pair in first]
        sides: tuple[dict[int, int], dict[int, int]] = ({}, {})
        while pending:
            found = pending.pop()
            for starts in found.standing:
                _refuse_mixed(sides, starts)
            for callee in found.called:
                self._refuse_unusual(callee)
            for pair in found.functions:
                if pair not in functions:
                    functions[pair] = None
                    pending.append(self._required(self._local(pair)))
            for extent in found.objects:
                if extent not in objects:
                    objects[extent] = None
                    if self._is_writable(extent):
                        _refuse_mixed(sides, extent[:2])
                    pending.append(self._required(self._of_objects(extent)))
        return list(functions), list(objects)

    def _required(self, found: Found) -> Found:
        if found.why_not:
            raise Differs(found.why_not)
        return found

    # -- functions ------------------------------------------------------------------------------------

    def _local(self, entries: Entries) -> Found:
        """What two functions lead to, without looking there."""
        if entries not in self._locals:
            self._locals[entries] = found = Found()
            try:
                self._compare(entries, found)
            except Differs as reason:
                found.why_not = str(reason)
        return self._locals[entries]

    def _compare(self, entries: Entries, found: Found) -> None:
        left, right = (walker.walk(entry) for walker, entry in zip(self.walkers, entries, strict=True))
        if left.refused or right.refused:
            raise Differs(left.refused or right.refused)
        if left.steps != right.steps or len(left.references) != len(right.references):
            raise Differs("the instructions are not the same")
        found.is_wide, found.jumps_anywhere = left.is_wide, left.jumps_anywhere
        if any(self.walkers[0].walk(callee).may_return for callee in left.ended_at):
            raise Differs("it continues in what lies after it")
        for walk in (left, right):
            self._note(walk, found)
        for one, other in zip(left.references, right.references, strict=True):
            if one.role is not other.role or one.size != other.size:
                raise Differs("the instructions are not the same")
            self._refer(one, other, found)
        if counts_from_code(self._meanings[0], self.walkers[0], entries[0]):
            raise Differs("it computes with the address of a function, or reads there")

    def _note(self, walk: Walk, found: Found) -> None:
        if walk.is_undefined:
            found.rests_on(SAME_UNDEFINED)
        if walk.is_unsupported:
            found.rests_on(SAME_UNSUPPORTED)
        if walk.jumps_anywhere or any(op.kind is Kind.CALLIND for ops in walk.ops for op in ops):
            found.rests_on(CALLS_AGREE)
        if any("table" in str(step.shape) for step in walk.steps):
            found.rests_on(JUMP_TABLES)
        if walk.ended:
            why = f"no code follows the calls of {', '.join(sorted(walk.ended))}: what is called there does not return"
            found.rests_on(Assumption("does-not-return", why))

    def _refer(self, one: Reference, other: Reference, found: Found) -> None:
        left, right = (m.of(r.number) for m, r in zip(self._meanings, (one, other), strict=True))
        if left is None or right is None:
            raise Differs("what an address in it stands for is not known")
        if is_thread_local(one.number) or is_thread_local(other.number):
            raise Differs("it uses thread-local data")
        if one.role is Role.ACCESS and (isinstance(left, Code) or isinstance(right, Code)):
            raise Differs("it reads code as data")
        if isinstance(left, Unnamed) and isinstance(right, Unnamed):
            self._unnamed(left, right, one.size if one.role is Role.ACCESS else 0, found)
            found.forms_unnamed |= one.role is not Role.ACCESS
            return
        if isinstance(left, Slot) and (one.role is not Role.ACCESS or one.size > SLOT_SIZE):
            raise Differs("it uses more than one entry of the global offset table")
        if one.role is Role.ACCESS and isinstance(left, Object) and left.offset + one.size > left.size:
            raise Differs(f"it accesses more than {min(left.names)}")
        self._alike(left, right, found, is_call=one.role is Role.CALL, is_read=one.role is Role.ACCESS)
        found.forms |= one.role is Role.FORM and isinstance(left, Object)
        found.loads |= isinstance(left, Slot) and isinstance(left.holds, Object)

    def _alike(self, left: Meaning, right: Meaning, found: Found, is_call: bool = False, is_read: bool = False) -> None:
        if isinstance(left, Slot) and isinstance(right, Slot):
            self._alike(left.holds, right.holds, found)
        elif isinstance(left, Outside) and isinstance(right, Outside):
            self._outside(left, right, found)
        elif isinstance(left, Code) and isinstance(right, Code):
            self._code(left, right, found, is_call)
        elif isinstance(left, Object) and isinstance(right, Object):
            self._objects(left, right, found, is_read)
        else:
            raise Differs("a name in it stands for different kinds of things")

    def _outside(self, left: Outside, right: Outside, found: Found) -> None:
        if left != right:
            raise Differs(f"one refers to {left.name} and the other to {right.name}")
        said = library_function(left.name.lstrip("_"))
        if is_section_bound(left.name):
            raise Differs(f"what a linker puts at {left.name} is not known")
        if left.name == TLS_ADDRESS:
            raise Differs("it uses thread-local data")
        if said.returns_twice or left.name.startswith(HELPERS):
            raise Differs(f"it uses {left.name}, which does not return like other functions")
        found.rests_on(CALLS_AGREE)
        versions = [image.versions.get(left.name) for image in self.images]
        if None not in versions and versions[0] != versions[1]:
            shown = " and ".join(f"{left.name}@{version}" for version in versions)
            found.rests_on(Assumption("versions-agree", f"{shown} do the same: two versions of one library function"))

    def _code(self, left: Code, right: Code, found: Found, is_call: bool) -> None:
        pair = left.entry, right.entry
        if not is_call and not left.names & right.names:
            raise Differs("it takes the address of functions with different names")
        if not is_call:
            found.standing.add(pair)  # two names of one function have one address
        found.functions.add(pair)
        found.called.add(pair)
        found.rests_on(RETURN_ADDRESSES, *(() if is_call else (FUNCTION_ADDRESSES,)))
        self._interposed(left.names, right.names, found)

    def _interposed(self, left: frozenset[str], right: frozenset[str], found: Found) -> None:
        replaced = [m.is_replaceable(names) for m, names in zip(self._meanings, (left, right), strict=True)]
        if any(replaced) and (not all(replaced) or len(left | right) > 1):  # of several names each may be replaced
            names = ", ".join(sorted(left | right))
            why = f"other files could replace the definitions of {names} when they are linked, and do not"
            found.rests_on(Assumption("not-interposed", why))

    def _objects(self, left: Object, right: Object, found: Found, is_read: bool) -> None:
        """`is_read`: its address goes nowhere. Otherwise two constants of the same contents are still two."""
        shown = min(left.names)
        if left.is_writable != right.is_writable or left.size != right.size or left.offset != right.offset:
            raise Differs(f"{shown} is not the same on both sides")
        if left.is_writable and not (left.names & right.names and left.is_unique and right.is_unique):
            raise Differs(f"{shown} and {min(right.names)} need not be the same variable")
        if not is_read and not left.plain_names & right.plain_names:
            raise Differs(f"it has the address of {shown} on one side and of {min(right.names)} on the other")
        if left.size > MOST_OBJECT:
            raise Differs(f"{shown} is too large to be compared")
        found.objects.add((left.start, right.start, left.size))
        if not is_read:
            found.standing.add((left.start, right.start))
        self._interposed(left.names, right.names, found)

    def _unnamed(self, left: Unnamed, right: Unnamed, size: int, found: Found) -> None:
        """Constants without a name: what is read there, or a text."""
        if size:
            found.objects.add((left.own, right.own, size))
            return
        texts = [u.text(place.own) for u, place in zip(self._unnameds, (left, right), strict=True)]
        if texts[0] is None or texts[0] != texts[1]:
            raise Differs("it uses constants without a name")
        found.standing.add((left.own, right.own))
        found.rests_on(TEXTS)

    def _refuse_unclear(self, entries: Entries) -> None:
        found = self._local(entries)
        for is_formed, of_names in ((found.forms, True), (found.forms_unnamed, False)):
            if is_formed and not self._has_same_data:
                why = self._bases.why_unclear(entries, of_names)
                if why:
                    raise Differs(why)

    def _left(self, entries: Entries) -> set[str]:
        """Objects that code may count out of, to data that may not be the same."""
        found = self._local(entries)
        return self._bases.left(entries) if (found.forms or found.loads) and not self._has_same_data else set()

    @cached_property
    def _has_same_data(self) -> bool:
        """Whether all data is the same, at the same distances."""
        left, right = self._meanings
        if not self._bases.has_same_layout or left.gaps is None or left.gaps != right.gaps:
            return False
        if not self._initialisers_are_alike:
            return False
        try:
            self._closure((), [*zip(left.places, right.places, left.sizes, strict=True)])
        except Differs:
            return False
        return True

    def _refuse_unusual(self, entries: Entries) -> None:
        for side in enumerate(entries):
            if side not in self._unusual:
                number, entry = side
                self._unusual[side] = reads_return_address(self._machine, self.walkers[number].walk(entry))
            if self._unusual[side]:
                raise Differs("a function that it calls reads the address that it returns to")

    # -- data -----------------------------------------------------------------------------------------

    def _of_objects(self, pair: Objects) -> Found:
        """What the contents of two objects lead to."""
        if pair not in self._data:
            self._data[pair] = found = Found()
            try:
                self._contents(pair, found)
            except Differs as reason:
                found.why_not = str(reason)
        return self._data[pair]

    def _contents(self, pair: Objects, found: Found) -> None:
        starts, size = pair[:2], pair[2]
        kinds = [self._kind(image_number, start) for image_number, start in enumerate(starts)]
        if kinds[0] != kinds[1]:
            raise Differs("data is constant on one side and variable on the other")
        held = [bytearray(m.content(start, size)) for m, start in zip(self._meanings, starts, strict=True)]
        fields = [self._fields(side, start, size) for side, start in enumerate(starts)]
        if fields[0].keys() != fields[1].keys():
            raise Differs("data holds addresses in different places")
        for at, number in fields[0].items():
            left, right = (m.of(n) for m, n in zip(self._meanings, (number, fields[1][at]), strict=True))
            if left is None or right is None:
                raise Differs("what an address in data stands for is not known")
            if isinstance(left, Unnamed) and isinstance(right, Unnamed):
                self._unnamed(left, right, 0, found)
            else:
                self._alike(left, right, found)
            if not isinstance(left, Outside | Code):
                self._same_end((number, fields[1][at]), found)
            for content in held:
                content[at : at + 8] = bytes(len(content[at : at + 8]))
        if held[0] != held[1]:
            raise Differs("data that it uses holds something else")
        if not kinds[0][0]:
            self._distances(pair, held, found)

    def _same_end(self, numbers: Entries, found: Found) -> None:
        """Where an address in data is the end of an object, it may be meant as that."""
        left, right = (m.ended_at(n) for m, n in zip(self._meanings, numbers, strict=True))
        if left is not None and right is not None:
            self._objects(left, right, found, is_read=False)
        elif left is not None or right is not None:
            raise Differs("an address in data is the end of an object on one side only")

    def _kind(self, side: int, start: int) -> tuple[bool, bool]:
        section = self.images[side].section_at(start)
        if section is None:
            raise Differs("data is outside the file")
        return section.writable, section.executable

    def _fields(self, side: int, start: int, size: int) -> dict[int, int]:
        """The addresses that relocations put into an object, by their offset."""
        image = self.images[side]
        if image.broken and any(byte in image.broken for byte in range(start, start + size)):
            raise Differs("a relocation in data is not understood")
        found = {}
        fields = self._fields_in_order[side]
        for place in fields[bisect_left(fields, start - SLOT_SIZE + 1) : bisect_left(fields, start + size)]:
            known = image.relocated[place]
            if place + known.width <= start:
                continue
            if place < start:
                raise Differs("it reads part of an address")
            if known.width != 8 or known.relative or known.name:
                raise Differs("data holds distances to other things")
            found[place - start] = int.from_bytes(self._meanings[side].content(place, 8), image.byte_order)
        return found

    @cached_property
    def _fields_in_order(self) -> list[list[int]]:
        """Where relocations put something, in each file."""
        return [sorted(image.relocated) for image in self.images]

    def _distances(self, pair: Objects, held: list[bytearray], found: Found) -> None:
        """Compilers also write tables of distances from the table itself, without a relocation in a linked file. A
        number that leads to the start of something, or to constants without a name, may be such a distance: it must
        then lead to the same on both sides."""
        if not all(image.is_linked for image in self.images):
            return
        for at in range(0, len(held[0]) - DISTANCE + 1, DISTANCE):
            distance = int.from_bytes(held[0][at : at + DISTANCE], self.images[0].byte_order, signed=True)
            if not distance:
                continue
            for base in {0, at}:
                found.leads_to_code |= any(self.images[s].code_at(pair[s] + base + distance, 1) for s in (0, 1))
                places = (start + base + distance for start in pair[:2])
                left, right = (m.begun_at(place) for m, place in zip(self._meanings, places, strict=True))
                inside = 0 <= base + distance < pair[2]
                if inside or (left is None and right is None):
                    continue
                if left is None or right is None:
                    raise Differs("a number in its constants may be a distance to something else")
                if isinstance(left, Unnamed) and isinstance(right, Unnamed):
                    self._same_start(left, right)
                else:
                    self._alike(left, right, found)

    def _same_start(self, left: Unnamed, right: Unnamed) -> None:
        held = [m.content(place.own, _LINE) for m, place in zip(self._meanings, (left, right), strict=True)]
        texts = [m.text(place.own) for m, place in zip(self._meanings, (left, right), strict=True)]
        if held[0] != held[1] and (not texts[0] or texts[0] != texts[1]):
            raise Differs("a number in its constants may be a distance to other constants")

    def _is_writable(self, pair: Objects) -> bool:
        return self._kind(0, pair[0])[0]

    def _refuse_other_alignment(self, objects: list[Objects]) -> None:
        if any(left % _LINE != right % _LINE for left, right, _ in objects):
            raise Differs("data is aligned differently in the two files, and an instruction may need its alignment")

    def _refuse_jumps(self, objects: list[Objects]) -> None:
        """A jump through a table that has a name: what it leads to was not followed."""
        if any(self._of_objects(pair).leads_to_code for pair in objects):
            raise Differs("a computed jump may use numbers in its constants as distances to code")

    def _refuse_other_initialisers(self) -> None:
        if not self._initialisers_are_alike:
            raise Differs("functions that run when the files are loaded are not the same")

    @cached_property
    def _initialisers_are_alike(self) -> bool:
        """With all that they lead to: they may store the addresses of functions in variables."""
        left, right = (initialisers(self._machine, image) for image in self.images)
        if not left and not right:
            return True
        if not are_alike(self._machine, self.images, (left, right), ()):
            return False
        try:
            self._closure([(one.entry, other.entry) for one, other in zip(left, right, strict=True)])
        except Differs:
            return False
        return True


def _refuse_mixed(sides: tuple[dict[int, int], dict[int, int]], pair: Entries) -> None:
    """One object of one side stands for one of the other."""
    for side in (0, 1):
        if sides[side].setdefault(pair[side], pair[1 - side]) != pair[1 - side]:
            raise Differs("one object on one side is two on the other")
