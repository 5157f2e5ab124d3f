"""One of the two functions under symbolic execution: its image, its own unknowns, and its accesses to memory."""

from __future__ import annotations

from functools import cached_property

from isoform.lift.thread import distance_of, is_distance
from isoform.load.image import POINTER_BYTES, Image
from isoform.model.contract import BoundsRule
from isoform.model.errors import Unsupported
from isoform.model.microop import CODE_ORIGIN, Var, linked_address, origin_of
from isoform.model.outcome import THREAD_POINTER
from isoform.model.values import dataclass
from isoform.model.verdict import Assumption
from isoform.smt.dependence import Dependence
from isoform.smt.terms import Term
from isoform.sym.chain import Base, Chain, Node, Promised
from isoform.sym.context import Context
from isoform.sym.differing import Differing
from isoform.sym.frame import SLOT_BYTES
from isoform.sym.given import FrameLocals, GivenLocal
from isoform.sym.own_entry import OwnEntry
from isoform.sym.places import distance_name, without_distance
from isoform.sym.world import World

_WORD = (1 << 64) - 1
OBJECTS_APART = Assumption(
    "objects-apart",
    "a linker puts each object in a place of its own, aligned as declared and not at null; nothing else is assumed of "
    "its address",
)
LIBRARY_STATE = 0x1000
"""Bytes below the end of the address space."""


@dataclass(frozen=True)
class AllocatedBlock:
    """Memory that the library's allocator gave, if `condition` holds and the address is not null."""

    condition: Term
    address: Term
    size: Term
    accesses: int
    """How many accesses there were before."""
    certain: bool = False
    """Whether the address is never null."""


@dataclass(frozen=True)
class BasedAccess:
    """An access of the target at an address that is computed from one parameter, or from the name of an object."""

    base: int
    """The parameter's position, or `OBJECT`."""
    is_store: bool
    condition: Term
    address: Term
    size: int


@dataclass(frozen=True)
class Copy:
    """A call of memcpy."""

    condition: Term
    to: Term
    source: Term
    apart: Term
    """That the blocks are the same or do not overlap."""


class Side:
    """The unknowns of one side, the addresses in its image, and the accesses that it made so far."""

    def __init__(self, world: World, image: Image, tag: str, context: Context | None = None) -> None:
        self.world = world
        self.context = context
        """What is known about the case at hand."""
        self.terms = world.terms
        self.image = image
        self.tag = tag
        """"a" or "b": part of the name of everything that belongs to this side only."""
        self.entry = OwnEntry(world, 0 if tag == "a" else 1)
        self.contract = self.entry.contract
        """As this side finds it."""
        machine = self.machine = self.contract.machine
        layout = machine.memory
        width = 8 * layout.address_bytes if layout is not None else 64
        self.big_endian = layout is not None and layout.big_endian
        self.heap = Chain(self.terms, width, self.big_endian, context)
        if tag == "a" and self.contract.restricted and not world.recursive:
            restricted = frozenset(self.contract.restricted)
            self.heap.promised = Promised(restricted, lambda position: world.note_restricted([position]))
        self.frame_chain = Chain(self.terms, width, self.big_endian)
        self.width = width
        self._undefined = 0
        self._epochs = 0
        self._mentions: dict[Term, bool] = {}
        self._openness = Dependence(self.terms, world.open_inputs)
        self.frame_accesses: list[tuple[Term, Term, int]] = []
        """Condition, offset and size of accesses to the frame at computed offsets."""
        self.bounds: list[tuple[Term, Term]] = []
        self.likely: list[tuple[Term, Term]] = []
        """What probably holds: that accesses are inside the object that contains their address, and that called
        pointers are not null. Used to choose inputs, never in a proof."""
        """For the target: the conditions of accesses, and that they are inside the objects they are meant for."""
        self.copies: list[Copy] = []
        """Calls of memcpy by the target."""
        self.heap_accesses: list[tuple[Term, Term, int]] = []
        """Condition, address and size of accesses to the rest of memory at computed addresses."""
        self.fixed_accesses: list[tuple[Term, Term, int]] = []
        """The same of accesses at addresses that are numbers."""
        self.stores: list[tuple[Term, Term, int]] = []
        """Condition, address and size of all stores to the rest of memory."""
        self.based_accesses: list[BasedAccess] = []
        """If `restrict` is to be used: the accesses of the target that it may say something about."""
        self.before_calls: int | None = None
        """How many of these were made before anything outside was called, if anything was."""
        self.blocks: list[AllocatedBlock] = []
        """Blocks from the library's allocator."""
        self.releases: list[int] = []
        """How many accesses there were before each call that may free blocks."""
        self.fixed_loads: list[tuple[Term, int]] = []
        """Address and size of loads from it at addresses that are numbers."""
        self.follows_locals = False
        """Whether variables whose address is given away are followed: only for a whole function from its entry, and if
        the rules of `validity.given_apart` are assumed."""
        self.locals: FrameLocals | None = None
        """If they are followed, those of the function that is executed."""
        self.uses_caller_stack = False
        """Whether it reads or writes the caller's stack above its arguments."""
        self.differing = Differing(self.terms, image, tag, width, self.big_endian)
        containers = machine.container_vars()
        self._by_byte = machine.containers_by_byte
        self._containers = containers
        self._pieces: dict[Var, list[tuple[int, int, int]]] = {}

    # -- unknowns -------------------------------------------------------------------------------

    def undefined(self, width: int) -> Term:
        """A value that only this side has: different at each execution."""
        self._undefined += 1
        return self.terms.variable(f"undefined_{self.tag}_{self._undefined}", width)

    def unknown_memory(self) -> Term:
        """Unknown contents of memory, of this side alone."""
        self._undefined += 1
        return self.terms.array_variable(f"memory_{self.tag}_{self._undefined}", self.width)

    def mark(self) -> tuple[int, int]:
        """The number of unknowns so far, which `rewind` restores."""
        return self._undefined, self._epochs

    def rewind(self, mark: tuple[int, int]) -> None:
        """Number unknowns from `mark` again. For executions of single paths: the n-th unknowns of two paths may be the
        same symbol, as no input takes both paths."""
        self._undefined, self._epochs = mark

    def initial_heap(self) -> Node:
        layout = self.machine.memory
        if layout is not None and layout.zeroed:
            return Base(self._zeroed_array, self._zeroed_byte)
        return Base(lambda: self.terms.array_variable("memory", self.width), self.constant_byte)

    def constant_byte(self, address: int) -> int | None:
        data = self.image.constant_bytes(address, 1)
        return data[0] if data is not None and not self.image.pointers_in(address, 1) else None

    def constant(self, number: int, size: int) -> Term | None:
        """The bytes placed at a number, if they are never written."""
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
        """The pointer that a linker puts into constants, relative to an object."""
        data = self.image.constant_bytes(number, POINTER_BYTES)
        if data is None:
            raise Unsupported("a pointer reaches beyond the constants it is in")
        return self.linked_address(linked_address(int.from_bytes(data, self.image.byte_order), origin, POINTER_BYTES))

    def object_start(self, start: int) -> Term:
        """The address of the object that isoform placed at `start`."""
        self.world.assume(OBJECTS_APART)
        return self.terms.layout.start(self.image.objects.by_start[start])

    def linked_address(self, var: Var) -> Term:
        """An address that a linker decides."""
        if origin_of(var) == CODE_ORIGIN:
            return self.terms.extract(self.code_address(var.offset & _WORD, 64), 8 * var.size - 1, 0)
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

    def code_address(self, number: int, bits: int) -> Term:
        """The address of the code that isoform placed at a number (`places.py`)."""
        name, placed = distance_name(self.image, self.machine, self.tag, number), self.terms.bv(number, bits)
        if not name:
            return placed
        distance = self.terms.variable(name, bits)
        self.world.code_distances |= {distance}
        return self.terms.add(distance, placed)

    def code_number(self, address: Term) -> Term:
        """An address to which control is transferred: of code, the number at which isoform placed it."""
        is_even = self.machine.instruction_alignment % 2 == 0
        return without_distance(self.terms, address, self.world.code_distances, is_even)

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
        """An access of the target is meant to be inside an object (`in-bounds`). Nothing of the kind is assumed about
        the rewrite: if the target stays inside and the rewrite does not, that is a bug to be found."""
        if self.tag != "a" or inside == self.terms.true or self.world.contract.bounds is BoundsRule.IGNORE:
            return
        self.bounds.append((condition, inside))
        self.world.assume_in_bounds(name)

    def note_given(self, local: GivenLocal) -> None:
        """A variable of the frame is given away."""
        reserved = local.address, local.size
        if reserved not in self.heap.reserved:
            self.heap.reserved.append(reserved)
        self.world.assume_given(local.name)
        self.world.assume_in_bounds(local.name)

    def note_call(self) -> None:
        """From here on accesses depend on whether what was called returns."""
        if self.before_calls is None:
            self.before_calls = len(self.heap_accesses)
        self.heap.promised = None  # what is called may not return, and what follows is not executed then
        self.note_release()

    def note_release(self) -> None:
        """Blocks may be freed here, and allocated again later."""
        self.releases.append(len(self.heap_accesses))

    def note_block(self, condition: Term, address: Term, size: Term, certain: bool) -> None:
        self.blocks.append(AllocatedBlock(condition, address, size, len(self.heap_accesses), certain))

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
        """Some bytes of one slot. Below the stack pointer at entry: garbage of this side. From it on: the return
        address and the arguments, which are the same for both sides."""
        slot, byte = divmod(offset, SLOT_BYTES)
        if offset < 0:
            word = self.terms.variable(f"frame_{self.tag}_{epoch}_{-SLOT_BYTES * slot}", 64)
        elif slot == 0 and self.machine.convention.return_address_on_stack:
            word = self.entry.return_address
        else:
            word = self.entry.stack_word(SLOT_BYTES * slot)
        return self.terms.extract(word, 8 * (byte + size) - 1, 8 * byte)

    def frame_array(self) -> Term:
        array = self.terms.array_variable(f"frame_{self.tag}", self.width)
        first = self.machine.convention.stack_arguments_offset
        for offset in range(first + self.contract.stack_argument_bytes):
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
        return self.entry.register(self.machine.containers[index])

    @cached_property
    def saved_registers(self) -> frozenset[Term]:
        """What registers hold at entry that carry no arguments: those that a callee must restore, and the constant of
        the stack protector."""
        convention = self.machine.convention
        passed = {*convention.integer_arguments, *convention.float_arguments}
        return frozenset(self.entry.register(name) for name in self.machine.containers if name not in passed)

    def is_stack_pointer(self, term: Term | None) -> bool:
        """Whether a term is the stack pointer at entry."""
        pointer = self.entry.stack_pointer
        return term is not None and pointer is not None and bool(term == pointer)

    def suspect(self, term: Term) -> None:
        """An unknown may be an address of the frame: it counts as computed from the stack pointer."""
        self._mentions[term] = True

    def mentions_stack(self, term: Term) -> bool:
        """Whether a term was computed from the stack pointer at entry."""
        pointer = self.entry.stack_pointer
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
        """Refuse the behaviour of a recursive function if it depends on something that is not an argument
        (`World.open_inputs`)."""
        if not self.world.recursive or not self._openness.of(term):
            return
        names = [name for one, name in self.world.open_inputs.items() if self.terms.depends_on(term, one)]
        raise Unsupported(
            f"what a function that calls itself does depends on {names[0]}, and no argument says what that is at the "
            "deeper call"
        )
