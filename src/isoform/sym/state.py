"""The symbolic state of one side: registers, frame, the rest of memory, and the condition of being here."""

from __future__ import annotations

from dataclasses import dataclass, field

from isoform.lift.thread import distance_of, is_distance
from isoform.load.image import POINTER_BYTES, Image
from isoform.load.objects import PlacedObject
from isoform.model.callee import runs
from isoform.model.contract import BoundsRule, Contract, extended_size
from isoform.model.errors import Unsupported
from isoform.model.machine import Machine
from isoform.model.microop import Var, linked_address, origin_of
from isoform.model.outcome import FRAME_LIMIT, THREAD_POINTER
from isoform.model.verdict import Assumption
from isoform.smt.dependence import Dependence
from isoform.smt.rules.widths import signed
from isoform.smt.shapes import Add, Choice, Subtract
from isoform.smt.terms import Term, Terms
from isoform.sym.chain import Base, Chain, Node
from isoform.sym.context import Context
from isoform.sym.frame import SLOT_BYTES, Frame
from isoform.sym.table import table_lookup, trailing_zeros

VALID_MEMORY = Assumption(
    "valid-memory",
    "every load and store of the two functions is to memory they may use, aligned as each instruction needs",
)
PRIVATE_FRAME = Assumption(
    "private-frame",
    "no pointer that is passed in points into a function's own stack frame, to its return address or to its arguments "
    "on the stack",
)
STACK_IN_BOUNDS = Assumption(
    "stack-in-bounds",
    "an array on the stack is only indexed inside the function's own stack frame or the arguments on the stack",
)
_POINTER, _WORD = 8, (1 << 64) - 1
_NEAR = 4096
_THREAD_SPAN = 1 << 31
"""Bytes around an object in which a constant in an address may still be meant for it."""
STACK_ALIGNED = Assumption("stack-aligned", "the stack pointer is aligned as the calling convention says")
DEFAULT_ROUNDING_MODE = Assumption(
    "default-rounding-mode",
    "the floating-point control word has its default, after calls too: round to nearest, denormals kept, exceptions"
    " masked",
)
X87_EMPTY = Assumption("x87-stack-empty", "the x87 stack is empty at entry, as the convention says")
OBJECTS_APART = Assumption(
    "objects-apart",
    "a linker puts each object in a place of its own, aligned as declared and not at null; nothing else is assumed of "
    "its address",
)
DIRECTION_FLAG = Assumption("direction-flag-clear", "the direction flag is clear at entry, as the convention says")


LIBRARY_STATE = 0x1000
"""Bytes below the end of the address space."""


@dataclass(frozen=True)
class Met:
    """Something that has one address on both sides but differs is read, or its address is given away."""

    condition: Term
    exact: bool
    """Whether it happens exactly if the condition holds; otherwise it may happen only if it holds."""
    why: str


@dataclass(frozen=True)
class Block:
    """Memory that the library's allocator gave, if `condition` holds and the address is not null."""

    condition: Term
    address: Term
    size: Term
    accesses: int
    """How many accesses there were before."""
    certain: bool = False
    """Whether the address is never null."""


@dataclass
class World:
    """What both sides of a question share: the terms, the inputs, and the list of what is assumed."""

    terms: Terms
    contract: Contract
    assumptions: dict[str, Assumption] = field(default_factory=dict)
    constraints: list[tuple[str, Term]] = field(default_factory=list)
    """Conditions that the assumptions and preconditions put on inputs, with a label each."""
    _bounded: dict[str, None] = field(default_factory=dict)
    """Names of the objects that the target is taken to stay inside of."""
    recursive: bool = False
    """Whether one of the functions calls itself, and the deeper calls are taken to be equal by induction."""
    open_inputs: dict[Term, str] = field(default_factory=dict)
    """Of recursive functions: the variables for what is there at entry and no argument, by name. The two sides find the
    same there when they are called, but not at their deeper calls, so that nothing that they do may depend on it."""
    _alignments: set[int] = field(default_factory=set)
    """How far from its alignment at entry the stack pointer was at outside calls."""
    _deeper: set[int] = field(default_factory=set)
    """How far from its value at entry it was at calls of a function to itself."""
    _shows_stack: bool = False
    """Whether what a function does may depend on where its stack is."""

    def assume(self, assumption: Assumption) -> None:
        self.assumptions.setdefault(assumption.name, assumption)

    def align_stack(self) -> None:
        """The stack pointer at entry is aligned: then it must be so at deeper calls, which the same is claimed of."""
        self.assume(STACK_ALIGNED)
        self._check_stack()

    def note_call(self, distance: int) -> None:
        """An outside call is made with the stack pointer so far from its value at entry. A callee may fault on a stack
        that is not aligned, so that all calls of both sides must be alike in this."""
        self._alignments.add(distance % self.machine.convention.stack_alignment)
        self._check_stack()

    def note_deeper_call(self, distance: int) -> None:
        """A function calls itself. The stack pointer is an input like any other: the same is claimed of the two deeper
        calls only if they have the same one, or if it makes no difference."""
        self._deeper.add(distance)
        self._check_stack()

    def note_stack_shown(self) -> None:
        self._shows_stack = True
        self._check_stack()

    def _check_stack(self) -> None:
        alignments = {distance % self.machine.convention.stack_alignment for distance in self._deeper}
        if len(self._alignments | (alignments if self._alignments else set())) > 1:
            raise Unsupported("outside functions are called with the stack aligned in different ways")
        if any(alignments) and STACK_ALIGNED.name in self.assumptions:
            raise Unsupported("a function calls itself with a stack that is not aligned")
        if len(self._deeper) > 1 and self._shows_stack:
            raise Unsupported(
                "what a function does depends on where its stack is, and the two call themselves at different depths"
            )

    def assume_in_bounds(self, name: str) -> None:
        self._bounded[name] = None
        shown = ", ".join(list(self._bounded)[:4]) + (", …" if len(self._bounded) > 4 else "")
        why = f"the target reads and writes {shown} only within bounds (--bounds ignore drops this)"
        self.assumptions["in-bounds"] = Assumption("in-bounds", why)

    @property
    def machine(self) -> Machine:
        return self.contract.machine

    def register(self, name: str) -> Term:
        """The value of a container at entry, the same on both sides."""
        machine = self.machine
        width = 8 * machine.registers[name].size
        if name in machine.initial:
            return self.terms.bv(machine.initial[name], width)
        term = self._variable(name, name, width)
        if width == 8 and name in BOOLEAN:
            # Flags hold one bit; as bytes they are 0 or 1 (see microop.py).
            return self.terms.flag(self.terms.eq(self.terms.extract(term, 0, 0), self.terms.bv(1, 1)))
        return term

    def _variable(self, name: str, register: str, width: int) -> Term:
        """What a container holds at entry. Of recursive functions, what is no argument of it is an open input."""
        if not self.recursive or register not in self.machine.convention.changeable:
            return self.terms.variable(name, width)
        return self._with_open_bits(name, self._passed_bits(register, 0, width), width)

    def stack_word(self, offset: int) -> Term:
        """What a slot above the return address holds at entry."""
        name, width = f"stack_{offset}", 8 * SLOT_BYTES
        if not self.recursive:
            return self.terms.variable(name, width)
        return self._with_open_bits(name, self._passed_bits(None, offset, width), width)

    def _passed_bits(self, register: str | None, start: int, width: int) -> int:
        """The bits of a container, or of a slot of the stack, that arguments determine."""
        bits = 0
        for argument in self.contract.arguments:
            for place in (p for p in argument.places if p.register == register):
                low = 8 * (place.offset - start)
                taken = (1 << (8 * extended_size(argument.type, place))) - 1
                bits |= taken << low if low >= 0 else taken >> -low
        return bits & ((1 << width) - 1)

    def _with_open_bits(self, name: str, passed: int, width: int) -> Term:
        whole = self.terms.variable(name, width)
        value: Term | None = None
        if passed == (1 << width) - 1:
            return whole
        rest = self.terms.variable(f"{name} (open)", width) if passed else whole
        self.open_inputs[rest] = name
        for low, high, taken in runs(passed, width):
            piece = self.terms.extract(whole if taken else rest, high - 1, low)
            value = piece if value is None else self.terms.concat(piece, value)
        assert value is not None
        return value

    @property
    def stack_pointer(self) -> Term | None:
        name = self.machine.convention.stack_pointer
        return self.register(name) if name else None

    @property
    def return_address(self) -> Term:
        name = self.machine.convention.return_address
        if name is not None:
            return self.register(name)
        layout = self.machine.memory
        found = self.terms.variable("return_address", 8 * (layout.address_bytes if layout else 8))
        if self.recursive:
            self.open_inputs[found] = "the return address"
        return found


BOOLEAN = frozenset({"cf", "pf", "af", "zf", "sf", "of"})


class Side:
    """One of the two functions under symbolic execution: its image, its own unknowns."""

    def __init__(self, world: World, image: Image, tag: str, context: Context | None = None) -> None:
        self.world = world
        self.context = context
        """What is known of the case at hand."""
        self.terms = world.terms
        self.image = image
        self.tag = tag
        """"a" or "b": part of the name of everything that is this side's alone."""
        machine = world.machine
        layout = machine.memory
        width = 8 * layout.address_bytes if layout is not None else 64
        self.big_endian = layout is not None and layout.big_endian
        self.heap = Chain(self.terms, width, self.big_endian, context)
        self.frame_chain = Chain(self.terms, width, self.big_endian)
        self.width = width
        self._undefined = 0
        self._epochs = 0
        self._mentions: dict[Term, bool] = {}
        self._openness = Dependence(self.terms, world.open_inputs)
        self.frame_accesses: list[tuple[Term, Term, int]] = []
        """Condition, offset and size of accesses to the frame at computed offsets."""
        self.bounds: list[tuple[Term, Term]] = []
        """Of the target: the conditions of accesses, and that they are inside the objects they are meant for."""
        self.heap_accesses: list[tuple[Term, Term, int]] = []
        """Condition, address and size of accesses to the rest of memory at computed addresses."""
        self.fixed_accesses: list[tuple[Term, Term, int]] = []
        """The same of accesses at addresses that are numbers."""
        self.stores: list[tuple[Term, Term, int]] = []
        """Condition, address and size of all stores to the rest of memory."""
        self.before_calls: int | None = None
        """How many of these were made before anything outside was called, if it was."""
        self.blocks: list[Block] = []
        """What the library's allocator gave."""
        self.releases: list[int] = []
        """How many accesses there were before each call that may take blocks back."""
        self.fixed_loads: list[tuple[Term, int]] = []
        """Address and size of loads from it at addresses that are numbers."""
        self.uses_caller_stack = False
        """Whether it reads or writes the caller's stack above its arguments."""
        self.met: list[Met] | None = None
        """Where something that differs between the sides is read or given away. None: nobody will show that this never
        happens, so it is refused at once."""
        self.keeps_differing = False
        """Whether an address of such a thing was put into the frame."""
        containers = machine.container_vars()
        self._by_byte = machine.containers_by_byte
        self._containers = containers
        self._pieces: dict[Var, list[tuple[int, int, int]]] = {}

    # -- unknowns -------------------------------------------------------------------------------

    def undefined(self, width: int) -> Term:
        """A value this side alone knows: different at each execution."""
        self._undefined += 1
        return self.terms.variable(f"undefined_{self.tag}_{self._undefined}", width)

    def unknown_memory(self) -> Term:
        """Unknown contents of memory, of this side alone."""
        self._undefined += 1
        return self.terms.array_variable(f"memory_{self.tag}_{self._undefined}", self.width)

    def mark(self) -> tuple[int, int]:
        """How many unknowns there were so far: what `rewind` goes back to."""
        return self._undefined, self._epochs

    def rewind(self, mark: tuple[int, int]) -> None:
        """Count unknowns from `mark` on again. For executions of single paths: the n-th unknown of one path and that of
        another one may be the same symbol, as no input takes both."""
        self._undefined, self._epochs = mark

    def initial_state(self) -> State:
        frame = Frame(self.frame_chain, self.initial_frame, self._frame_array, self.next_epoch)
        return State(self, {}, frame, self.initial_heap(), self.terms.true)

    def initial_heap(self) -> Node:
        layout = self.world.machine.memory
        if layout is not None and layout.zeroed:
            return Base(self._zeroed_array, self._zeroed_byte)
        return Base(lambda: self.terms.array_variable("memory", self.width), self.constant_byte)

    def constant_byte(self, address: int) -> int | None:
        data = self.image.constant_bytes(address, 1)
        return data[0] if data is not None and not self.image.pointers_in(address, 1) else None

    def constant(self, number: int, size: int) -> Term | None:
        """What the bytes placed at a number are, if they are never written."""
        data = self.image.constant_bytes(number, size)
        if data is None:
            return None
        pointers = self.image.pointers_in(number, size)
        if not pointers:
            return self.terms.bv(int.from_bytes(data, "big" if self.big_endian else "little"), 8 * size)
        if size == POINTER_BYTES and len(pointers) == 1 and pointers[0][0] == 0:
            return self._pointer(number, pointers[0][1])
        parts: list[Term] = [self.terms.bv(byte, 8) for byte in data]
        for distance, origin in pointers:
            whole = self._pointer(number + distance, origin)
            for index in range(POINTER_BYTES):
                if 0 <= distance + index < size:
                    parts[distance + index] = self.terms.extract(whole, 8 * index + 7, 8 * index)
        return self.heap.join_bytes(parts)

    def _pointer(self, number: int, origin: int) -> Term:
        """The pointer that a linker puts into constants, counted from an object."""
        data = self.image.constant_bytes(number, POINTER_BYTES)
        if data is None:
            raise Unsupported("a pointer reaches beyond the constants it is in")
        return self.linked_address(linked_address(int.from_bytes(data, "little"), origin, POINTER_BYTES))

    def object_start(self, start: int) -> Term:
        """The address of the object that isoform placed at `start`."""
        self.world.assume(OBJECTS_APART)
        return self.terms.layout.start(self.image.objects.by_start[start])

    def linked_address(self, var: Var) -> Term:
        """An address that a linker decides."""
        inside = self.image.function_around(var.offset & _WORD)
        if inside is not None:
            raise Unsupported(f"an address inside {inside}, behind its start, is used")
        start = self.object_start(origin_of(var))
        if is_distance(var):
            place = THREAD_POINTER + distance_of(var)
            whole = self.terms.add(start, self.terms.bv(place - origin_of(var), 64))
            whole = self.terms.sub(whole, self._thread_pointer())
        else:
            offset = (var.offset & ((1 << 64) - 1)) - origin_of(var)
            whole = self.terms.add(start, self.terms.bv(offset, 64))
        return self.terms.extract(whole, 8 * var.size - 1, 0)

    def _thread_pointer(self) -> Term:
        origin = self.image.thread_origin
        return self.terms.add(self.object_start(origin), self.terms.bv(THREAD_POINTER - origin, 64))

    def _zeroed_byte(self, address: int) -> int:
        section = self.image.section_at(address)
        data = section.data[address - section.address :][:1] if section is not None else b""
        return data[0] if data else 0

    def _zeroed_array(self) -> Term:
        manager = self.terms.manager
        array = manager.mk_const_array(self.terms.array_sort(self.width), self.terms.bv(0, 8))
        for section in self.image.sections:
            for index, byte in enumerate(section.data):
                if byte:
                    where = self.terms.bv(section.address + index, self.width)
                    array = self.terms.store(array, where, self.terms.bv(byte, 8))
        return array

    def assume_bound(self, condition: Term, inside: Term, name: str) -> None:
        """An access of the target is meant to be inside an object (`in-bounds`). Nothing of the kind is assumed of the
        rewrite: if the target stays inside and the rewrite does not, that is a mistake to be found."""
        if self.tag != "a" or inside == self.terms.true or self.world.contract.bounds is BoundsRule.IGNORE:
            return
        self.bounds.append((condition, inside))
        self.world.assume_in_bounds(name)

    def note_call(self) -> None:
        """From here on accesses depend on whether what was called comes back."""
        if self.before_calls is None:
            self.before_calls = len(self.heap_accesses)
        self.note_release()

    def note_release(self) -> None:
        """Blocks may be taken back here, and given again later."""
        self.releases.append(len(self.heap_accesses))

    def note_block(self, condition: Term, address: Term, size: Term, certain: bool) -> None:
        self.blocks.append(Block(condition, address, size, len(self.heap_accesses), certain))

    # The allocator's own state, which decides where the next block is, is a word of memory that no program can use.
    # Equal memory then means equal calls of the allocator, as it does for other outside calls.

    @property
    def library_state(self) -> Term:
        """Where it is."""
        return self.terms.bv(-LIBRARY_STATE, self.width)

    def next_epoch(self) -> int:
        self._epochs += 1
        return self._epochs

    def initial_frame(self, offset: int, size: int, epoch: int = 0) -> Term:
        """Some bytes of one slot. Below the entry stack pointer: garbage of this side. From it on: the return address
        and the arguments, which both sides see alike."""
        slot, byte = divmod(offset, SLOT_BYTES)
        if offset < 0:
            word = self.terms.variable(f"frame_{self.tag}_{epoch}_{-SLOT_BYTES * slot}", 64)
        elif slot == 0 and self.world.machine.convention.return_address_on_stack:
            word = self.world.return_address
        else:
            word = self.world.stack_word(SLOT_BYTES * slot)
        return self.terms.extract(word, 8 * (byte + size) - 1, 8 * byte)

    def _frame_array(self) -> Term:
        array = self.terms.array_variable(f"frame_{self.tag}", self.width)
        for offset in range(8 + self.world.contract.stack_argument_bytes):
            where = self.terms.bv(offset, self.width)
            array = self.terms.store(array, where, self.initial_frame(offset, 1))
        return array

    # -- registers ------------------------------------------------------------------------------

    def pieces(self, var: Var) -> list[tuple[int, int, int]]:
        """(container index, byte offset in it, bytes taken), lowest first."""
        found = self._pieces.get(var)
        if found is None:
            found = []
            offset, left = var.offset, var.size
            while left:
                index = self._by_byte[offset]
                container = self._containers[index]
                start = offset - container.offset
                size = min(left, container.size - start)
                found.append((index, start, size))
                offset += size
                left -= size
            self._pieces[var] = found
        return found

    def container_size(self, index: int) -> int:
        return self._containers[index].size

    def initial_register(self, index: int) -> Term:
        return self.world.register(self.world.machine.containers[index])

    # -- where an address points ----------------------------------------------------------------

    def points_to_differing(self, term: Term) -> bool:
        """Whether a value may be the address of constants that are not the same on both sides: whoever gets
        it could tell the two apart though the address is one."""
        if not self.image.differing:
            return False
        if (self.keeps_differing or self.met is None) and _reads_array(term, f"frame_{self.tag}"):
            return True
        pending, seen = [term], set()
        while pending:
            top = pending.pop()
            if top in seen:
                continue
            seen.add(top)
            anchor = self.terms.layout.anchor(top)
            number = self.terms.value(top) if anchor is None else anchor[0]
            if number is not None and self._holds_differing(number, self.terms.width(top)):
                return True
            if self._is_counted_from_differing(top):
                return True
            if anchor is not None:
                pending += [] if anchor[1] is None else [anchor[1]]
                continue
            children = top.children()
            # What memory holds and what calls return is not made of the address; that no such address gets there is
            # seen to where something is stored or passed.
            # Nor is a choice made of what decides it.
            if not any(child.sort().is_array() for child in children):
                pending += [child for child in children if not child.sort().is_bool()]
        return False

    def _holds_differing(self, number: int, width: int) -> bool:
        """Whether a number is such an address, or one that is wider has one in it (a vector that was copied). One past
        the end of an object leads to it too."""
        words = (number >> shift & _WORD for shift in range(0, max(width - 64, 0) + 1, 8)) if number else ()
        return any(low <= word <= high for word in words for low, high in self.image.differing)

    def _is_counted_from_differing(self, term: Term) -> bool:
        """Whether a sum may be such an address though its constant is none, as `&t[i - 1000]` is counted from `t`."""
        found = self.terms.layout.origin(term)
        rest, constant = self.terms.split_sum(term if found is None else found[1])
        image = self.image
        if found is None:
            is_base = rest is not None and image.may_be_base(constant)
            return is_base and image.is_beside_variables(constant) and bool(image.differing_variables)
        item, number = found[0], (found[0].start + constant) % (1 << self.width)
        if image.base and item.start == image.base:
            return image.is_beside_variables(number) and bool(image.differing_variables)
        if rest is None and item.holds(constant, 0):
            return False
        return any(_overlaps(extent, item) for extent in self.image.differing)

    def tear(self, condition: Term, content: bytes) -> None:
        """Note that part of what may be such an address is read: put together again, it is not seen to be one."""
        number = int.from_bytes(content, "big" if self.big_endian else "little")
        if not self.image.differing or not self._holds_differing(number, 8 * max(len(content), 8)):
            return
        why = "part of the address of functions or constants that differ between the two sides is read"
        if self.met is None:
            raise Unsupported(why)
        self.met.append(Met(condition, False, why))

    def give_away(self, condition: Term, value: Term, why: str) -> None:
        """Note that others are given a value, which may be such an address."""
        if not self.points_to_differing(value):
            return
        if self.met is None:
            raise Unsupported(why)
        terms = self.terms
        pending = [(condition, value)]
        while pending:
            here, term = pending.pop()
            shape = terms.shape(term)
            if isinstance(shape, Choice):
                pending.append((terms.conj(here, shape.condition), shape.then))
                pending.append((terms.conj(here, terms.negate(shape.condition)), shape.otherwise))
            elif self.points_to_differing(term):
                self.met.append(Met(here, terms.layout.number(term) is not None, why))

    def is_stack_pointer(self, term: Term | None) -> bool:
        """Whether a term is the stack pointer at entry."""
        pointer = self.world.stack_pointer
        return term is not None and pointer is not None and bool(term == pointer)

    def suspect(self, term: Term) -> None:
        """An unknown may be an address of the frame: it counts as computed from the stack pointer."""
        self._mentions[term] = True

    def mentions_stack(self, term: Term) -> bool:
        """Whether a term was computed from the stack pointer at entry."""
        pointer = self.world.stack_pointer
        if pointer is None:
            return False
        pending = [term]
        while pending:
            top = pending[-1]
            if top in self._mentions:
                pending.pop()
                continue
            if top == pointer:
                self._mentions[top] = True
                continue
            if top.sort().is_array():
                # What memory holds was not computed here; stored frame addresses are tracked as escapes.
                self._mentions[top] = False
                continue
            children = top.children()
            missing = [c for c in children if c not in self._mentions]
            if missing:
                pending += missing
                continue
            self._mentions[top] = any(self._mentions[c] for c in children)
            pending.pop()
        return self._mentions[term]

    def refuse_open(self, term: Term) -> None:
        """Refuse what a recursive function does if it depends on what is no argument (`World.open_inputs`)."""
        if not self.world.recursive or not self._openness.of(term):
            return
        names = [name for one, name in self.world.open_inputs.items() if self.terms.depends_on(term, one)]
        raise Unsupported(
            f"what a function that calls itself does depends on {names[0]}, and no argument says what that is at the "
            "deeper call"
        )


@dataclass
class State:
    """Mutable while a block runs; `fork` gives an independent copy."""

    side: Side
    registers: dict[int, Term]
    """By container index; missing ones still have their value at entry."""
    frame: Frame
    heap: Node
    condition: Term
    """The path condition: being here."""
    escaped: bool = False
    """Whether an address of the frame was stored outside of it."""
    holds_addresses: bool = False
    """Whether an address of the frame was stored in the frame."""

    def fork(self, condition: Term) -> State:
        return State(
            self.side,
            dict(self.registers),
            self.frame.copy(),
            self.heap,
            condition,
            self.escaped,
            self.holds_addresses,
        )

    # -- variables ------------------------------------------------------------------------------

    def container(self, index: int) -> Term:
        found = self.registers.get(index)
        return found if found is not None else self.side.initial_register(index)

    def container_named(self, name: str) -> Term:
        return self.container(self.side.world.machine.container_positions[name])

    def read_register(self, var: Var) -> Term:
        terms = self.side.terms
        result: Term | None = None
        for index, start, size in self.side.pieces(var):
            if index not in self.registers and self.side.world.machine.containers[index] == "df":
                self.side.world.assume(DIRECTION_FLAG)
            if index not in self.registers and self.side.world.machine.containers[index] == "x87":
                self.side.world.assume(X87_EMPTY)
                self.side.world.assume(DEFAULT_ROUNDING_MODE)
            part = terms.extract(self.container(index), 8 * (start + size) - 1, 8 * start)
            result = part if result is None else terms.concat(part, result)
        assert result is not None
        return result

    def write_register(self, var: Var, value: Term) -> None:
        terms = self.side.terms
        low = 0
        for index, start, size in self.side.pieces(var):
            part = terms.extract(value, 8 * (low + size) - 1, 8 * low)
            low += size
            whole = self.side.container_size(index)
            if size < whole:
                part = self._insert(self.container(index), part, start, size, whole)
            self.registers[index] = part

    def _insert(self, old: Term, part: Term, start: int, size: int, whole: int) -> Term:
        terms = self.side.terms
        if start:
            part = terms.concat(part, terms.extract(old, 8 * start - 1, 0))
        if start + size < whole:
            part = terms.concat(terms.extract(old, 8 * whole - 1, 8 * (start + size)), part)
        return part

    # -- memory ---------------------------------------------------------------------------------

    def load(self, address: Term, size: int) -> Term:
        side, terms = self.side, self.side.terms
        base, constant = terms.split_sum(address)
        placed = terms.layout.placed(address, size)
        if placed is not None:
            return self._load_constant_address(address, placed, size)
        assert base is not None
        if side.is_stack_pointer(base):
            own = self._own_bytes(signed(constant, side.width), size)
            if own == size:
                return self._load_frame(signed(constant, side.width), size)
            if own:
                rest = self.load(terms.add(address, terms.bv(own, side.width)), size - own)
                return terms.concat(rest, self.load(address, own))
            return self._load_heap(address, base, constant, size)
        found = terms.layout.origin(address)
        leads_astray = side.points_to_differing(base if found is None else found[1])
        if not side.mentions_stack(base) and not leads_astray:
            return self._load_heap(address, base, constant, size)
        choice = self._choice(address) or self._choice_of_constants(address)
        if choice is not None:
            condition, then, otherwise = choice
            return terms.ite(condition, self.load(then, size), self.load(otherwise, size))
        if leads_astray:
            # Only a constant beside the base leads to an object's own contents.
            raise Unsupported("a pointer that may be to constants that differ between the two sides is read through")
        return self._load_indexed(self._frame_offset(address, size), size)

    def store(self, address: Term, value: Term, size: int) -> None:
        side, terms = self.side, self.side.terms
        base, constant = terms.split_sum(address)
        if side.is_stack_pointer(base):
            own = self._own_bytes(signed(constant, side.width), size)
            if own and own < size:
                self.store(address, terms.extract(value, 8 * own - 1, 0), own)
                rest = terms.extract(value, 8 * size - 1, 8 * own)
                self.store(terms.add(address, terms.bv(own, side.width)), rest, size - own)
                return
            if own:
                self._note_kept(value)
                self.frame.store(_in_frame(signed(constant, side.width)), value, size)
                return
            self._store_heap(address, value, size)
            return
        if base is None or not side.mentions_stack(base):
            self._store_heap(address, value, size)
            return
        choice = self._choice(address)
        if choice is not None:
            condition, then, otherwise = choice
            # Each target keeps its old value where the other one is meant.
            self.store(then, terms.ite(condition, value, self.load(then, size)), size)
            self.store(otherwise, terms.ite(condition, self.load(otherwise, size), value), size)
            return
        self._note_kept(value)
        self.frame.store_at(self._frame_offset(address, size), value, size)

    def _note_kept(self, value: Term) -> None:
        """A value is put into the frame. Once the frame is indexed, what is read there no longer shows what it is."""
        side = self.side
        self.holds_addresses = self.holds_addresses or side.mentions_stack(value)
        side.keeps_differing = side.keeps_differing or side.points_to_differing(value)

    def _own_bytes(self, offset: int, size: int) -> int:
        """How many bytes of an access at an offset from the stack pointer at entry are the function's own: its frame,
        its return address and its arguments. What lies above is the caller's, to which pointers may point: memory like
        any other."""
        convention, contract = self.side.world.machine.convention, self.side.world.contract
        if not convention.return_address_on_stack:
            return size
        own = min(size, max(0, convention.stack_arguments_offset + contract.stack_argument_bytes - offset))
        if own < size and self.side.world.recursive:
            raise Unsupported("a function that calls itself uses its caller's stack, which may be a frame of its own")
        self.side.uses_caller_stack = self.side.uses_caller_stack or own < size
        return own

    def _load_frame(self, offset: int, size: int) -> Term:
        _in_frame(offset)
        if self.frame.is_stale(offset, size):
            return self.side.undefined(8 * size)  # whatever a call left there
        if size < _POINTER and self.side.image.differing and not self.frame.is_indexed:
            word = self.side.terms.layout.number(self.frame.load(offset // _POINTER * _POINTER, _POINTER))
            if word is not None:
                self.side.tear(self.condition, word.to_bytes(_POINTER, "big" if self.side.big_endian else "little"))
        return self.frame.load(offset, size)

    def _load_indexed(self, offset: Term, size: int) -> Term:
        value, stale = self.frame.load_at(offset, size), self.frame.maybe_stale(offset)
        if stale == self.side.terms.false:
            return value
        return self.side.terms.ite(stale, self.side.undefined(8 * size), value)  # whatever a call left there

    def _refuse_hidden_addresses(self, address: Term) -> None:
        """An address that was read from memory could be one of the frame's own, if any was put there."""
        if self.escaped and _reads_array(address, ""):
            raise Unsupported("a pointer read from memory may be an address of the function's own frame")
        if self.holds_addresses and self.frame.is_indexed and _reads_array(address, f"frame_{self.side.tag}"):
            raise Unsupported("a pointer read from an array on the stack may be an address of the stack frame")

    def _load_constant_address(self, address: Term, where: int, size: int) -> Term:
        side = self.side
        known = side.constant(where, size)
        if known is not None:
            if size < _POINTER and side.image.differing:
                side.tear(self.condition, _around(side, where, size))
            return known
        side.world.assume(VALID_MEMORY)
        side.fixed_loads.append((address, size))
        side.fixed_accesses.append((self.condition, address, size))
        self._note_reading(address, size)
        return side.heap.load(self.heap, address, size)

    def _load_heap(self, address: Term, base: Term, constant: int, size: int) -> Term:
        side = self.side
        self._refuse_hidden_addresses(base)
        side.world.assume(VALID_MEMORY)
        side.world.assume(PRIVATE_FRAME)
        side.heap_accesses.append((self.condition, address, size))
        self._note_reading(address, size)
        self._note_reading_constants(address, constant, size)
        value = side.heap.load(self.heap, address, size)
        for extent in self._constants_from(address, base, constant, size):
            if not self._is_kept_out(address, extent, size):
                value = self._load_table(address, extent, size, value)
        return value

    def _is_kept_out(self, address: Term, extent: tuple[int, int], size: int) -> bool:
        """Whether the target is taken not to come to an object by a distance from another one (`in-bounds`)."""
        side, terms = self.side, self.side.terms
        found = terms.layout.origin(address)
        is_assumed = side.tag == "a" and side.world.contract.bounds is not BoundsRule.IGNORE
        if found is None or not is_assumed or _is_in(extent, found[0]):
            return False
        index = terms.add(self._index(address, extent[0]), terms.bv(size - 1, side.width))
        outside = terms.ule(terms.bv(extent[1] - extent[0] + size - 1, side.width), index)
        side.assume_bound(self.condition, outside, found[0].name)
        return True

    def _note_reading(self, address: Term, size: int) -> None:
        """Data that does not hold the same at first is read, unless it was written before."""
        side, terms = self.side, self.side.terms
        ranges = side.image.unlike_at_start
        if not ranges or side.heap.is_stored(self.heap, address, size):
            return
        constants = list(terms.constants_in(address))
        item = self._surely_in(address, size)
        found = terms.layout.origin(address)
        for low, high in ranges:
            if item is not None and not _is_in((low, high), item):
                continue
            is_counted_from = found is not None and _overlaps((low, high), found[0])
            if not is_counted_from and not any(self._may_lead(number, low, high) for number in constants):
                continue
            index = terms.add(self._index(address, low), terms.bv(size - 1, side.width))
            inside = terms.ult(index, terms.bv(high - low + size - 1, side.width))
            condition = terms.conj(self.condition, inside)
            if condition == terms.false:
                continue
            why = f"data at {low:#x} is read, which does not hold the same at first on both sides"
            if side.met is None:
                raise Unsupported(why)
            side.met.append(Met(condition, True, why))

    def _note_reading_constants(self, address: Term, constant: int, size: int) -> None:
        """Constants that differ may be read by an index from a number where nothing is, in a program at fixed
        addresses (`_constants_from` sees to the others)."""
        side, terms = self.side, self.side.terms
        image = side.image
        if not image.differing or not image.may_be_base(constant) or image.section_at(constant) is not None:
            return
        constants = set(image.differing_constants)
        for low, high in (r for r in image.differing_variables if any(a < r[1] and r[0] < b for a, b in constants)):
            index = terms.add(self._index(address, low), terms.bv(size - 1, side.width))
            inside = terms.ult(index, terms.bv(high - low + size - 1, side.width))
            condition = terms.conj(self.condition, inside)
            if condition != terms.false:
                why = f"constants at {low:#x} may be read, which differ between the two sides"
                if side.met is None:
                    raise Unsupported(why)
                side.met.append(Met(condition, False, why))

    def _may_lead(self, number: int, low: int, high: int) -> bool:
        """Whether a number in an address may be the base from which an index leads to a range."""
        image = self.side.image
        if low - _NEAR <= number < high + _NEAR or image.may_be_base(number):
            return True
        if abs(low - THREAD_POINTER) < _THREAD_SPAN:
            return abs(number - THREAD_POINTER) < _THREAD_SPAN
        in_file = any(start <= number < end for start, end, _ in image.spans)
        return in_file and image.is_beside_variables(number)

    def _constants_from(self, address: Term, base: Term, constant: int, size: int) -> list[tuple[int, int]]:
        """Objects that an address `base + constant` may be in. From one thing in the file a distance may lead to any
        other; what the two sides share is memory like any other there, but what differs between them is not."""
        image, terms = self.side.image, self.side.terms
        found = terms.layout.origin(address)
        if found is not None:
            constant = (found[0].start + terms.split_sum(found[1])[1]) % (1 << self.side.width)
            near = [extent for extent in image.constants_near(constant) if _is_in(extent, found[0])]
            if self._surely_in(address, size) is not None:
                return near
            # What the other side alone has there, too: the target keeps out of that as well.
            other = image.differing if self.side.tag == "a" else ()
            return list(dict.fromkeys([*near, *image.differing_constants, *other]))
        near = image.constants_near(constant)
        if image.differing and image.section_at(image.own_address(constant)) is not None:
            end = constant + (1 << _bits_used(terms, base)) + size
            wraps = end > 1 << self.side.width
            reached = [r for r in image.differing_constants if wraps or (constant < r[1] and r[0] < end)]
            near = list(dict.fromkeys([*near, *reached]))
        return near

    def _surely_in(self, address: Term, size: int) -> PlacedObject | None:
        """The object that an access is in whatever the inputs are, if that is plain to see."""
        terms = self.side.terms
        found = terms.layout.origin(address)
        if found is None or not found[0].size:
            return None
        base, least = terms.split_sum(found[1])
        most = 0 if base is None else (1 << _bits_used(terms, base)) - (1 << trailing_zeros(terms, base))
        return found[0] if found[0].holds(least, most + size) else None

    def _load_table(self, address: Term, extent: tuple[int, int], size: int, rest: Term) -> Term:
        """base + constant with the constant in a read-only object: the object's contents where the address
        is inside of it, and memory like any other where it is not."""
        side, terms = self.side, self.side.terms
        start, end = extent
        if end - start < size:
            return rest
        index = self._index(address, start)
        data = side.image.constant_bytes(start, end - start)
        if data is None:
            return rest
        inside = terms.ult(index, terms.bv(end - start - size + 1, side.width))
        if size < _POINTER:
            side.tear(terms.conj(self.condition, inside), data)
        pointers = side.image.pointers_in(start, end - start)
        touched = {distance + n for distance, _ in pointers for n in range(1 - size, POINTER_BYTES)}

        def linked(position: int) -> Term | None:
            return side.constant(start + position, size) if position in touched else None

        return terms.ite(inside, table_lookup(terms, data, index, size, side.big_endian, linked), rest)

    def _index(self, address: Term, start: int) -> Term:
        """How far above what was placed at `start` an address is."""
        side, terms = self.side, self.side.terms
        found = terms.layout.origin(address)
        item = side.image.objects.around(start)
        if found is None or item is None:
            return terms.sub(address, terms.bv(start, side.width))
        if found[0].start == item.start:
            return terms.add(found[1], terms.bv(item.start - start, side.width))
        return terms.sub(address, side.linked_address(linked_address(start, item.start, POINTER_BYTES)))

    def _store_heap(self, address: Term, value: Term, size: int) -> None:
        side = self.side
        self._refuse_hidden_addresses(address)
        side.refuse_open(address)
        side.refuse_open(value)
        side.world.assume(VALID_MEMORY)
        if side.terms.layout.placed(address, size) is None:
            side.world.assume(PRIVATE_FRAME)
            side.heap_accesses.append((self.condition, address, size))
        else:
            side.fixed_accesses.append((self.condition, address, size))
        side.stores.append((self.condition, address, size))
        if side.mentions_stack(value):
            self.escaped = True
            side.world.note_stack_shown()
        side.give_away(
            self.condition, value, "an address of functions or constants that differ between the two sides is stored"
        )
        self.heap = side.heap.store(self.heap, address, value, size)

    def _choice(self, address: Term) -> tuple[Term, Term, Term] | None:
        """An address that is one of two, as condition and both."""
        terms = self.side.terms
        base, constant = terms.split_sum(address)
        shape = terms.shape(address if base is None else base)
        if not isinstance(shape, Choice):
            return None
        number = terms.bv(constant, self.side.width)
        return shape.condition, terms.add(shape.then, number), terms.add(shape.otherwise, number)

    def _choice_of_constants(self, term: Term) -> tuple[Term, Term, Term] | None:
        """A sum in which one summand is a choice between addresses of constants that differ, as a choice of sums."""
        side, terms = self.side, self.side.terms
        shape = terms.shape(term)
        if not side.points_to_differing(term):
            return None
        if isinstance(shape, Choice):
            return shape.condition, shape.then, shape.otherwise
        if not isinstance(shape, Add):
            return None
        for one, other in ((shape.left, shape.right), (shape.right, shape.left)):
            found = self._choice_of_constants(one)
            if found is not None:
                return found[0], terms.add(found[1], other), terms.add(found[2], other)
        return None

    def _frame_offset(self, address: Term, size: int) -> Term:
        """The computed offset of an address that is the stack pointer plus something else."""
        side, terms = self.side, self.side.terms
        pointer = side.world.stack_pointer
        rest = None if pointer is None else without_summand(terms, address, pointer)
        if rest is None or side.mentions_stack(rest):
            raise Unsupported("an address mixes the stack pointer with other values in a way isoform cannot follow")
        _in_frame(signed(terms.split_sum(rest)[1], side.width))
        side.world.assume(STACK_IN_BOUNDS)
        side.frame_accesses.append((self.condition, rest, size))
        return rest


def _in_frame(offset: int) -> int:
    """The offset, where the stack reaches so far down: rules for computed offsets (`frame_bounds`) end there too."""
    if offset < -FRAME_LIMIT:
        raise Unsupported(f"a stack frame of more than {FRAME_LIMIT >> 20} MiB is used")
    return offset


def _around(side: Side, where: int, size: int) -> bytes:
    """The constants at an address, and around it as far as an address that overlaps it may go."""
    found = b""
    for address in range(where - _POINTER + 1, where + size + _POINTER - 1):
        found += side.image.constant_bytes(address, 1) or b"\0"
    return found


def without_summand(terms: Terms, total: Term, part: Term) -> Term | None:
    """`total - part` if `part` is a summand of it."""
    if total == part:
        return terms.bv(0, terms.width(total))
    shape = terms.shape(total)
    if isinstance(shape, Add):
        for one, other in ((shape.left, shape.right), (shape.right, shape.left)):
            rest = without_summand(terms, one, part)
            if rest is not None:
                return terms.add(rest, other)
    if isinstance(shape, Subtract):
        rest = without_summand(terms, shape.left, part)
        if rest is not None:
            return terms.sub(rest, shape.right)
    return None


def _is_in(extent: tuple[int, int], item: PlacedObject) -> bool:
    return item.holds(extent[0] - item.start, extent[1] - extent[0])


def _overlaps(extent: tuple[int, int], item: PlacedObject) -> bool:
    return extent[0] < item.start + (item.size or item.room) and item.start + item.skipped < extent[1]


def _bits_used(terms: Terms, term: Term) -> int:
    """How many low bits of a term may be other than zero, as far as that is plain to see."""
    width = terms.width(term)
    return next((k for k in range(1, width) if terms.value(terms.extract(term, width - 1, k)) == 0), width)


def _reads_array(term: Term, name: str) -> bool:
    """Whether a value depends on an array variable (of that name, or of any name if it is empty)."""
    pending, seen = [term], set()
    while pending:
        top = pending.pop()
        if top in seen:
            continue
        seen.add(top)
        if top.sort().is_array() and top.is_const() and (not name or top.symbol() == name):
            return True
        pending += top.children()
    return False
