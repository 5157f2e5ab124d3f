"""The symbolic state of one side: registers, frame, the rest of memory, and the path condition."""

from __future__ import annotations

from isoform.load.image import POINTER_BYTES
from isoform.model.errors import Unsupported
from isoform.model.microop import Var
from isoform.model.outcome import FRAME_LIMIT
from isoform.model.values import dataclass
from isoform.model.verdict import Assumption
from isoform.smt.rules.widths import signed
from isoform.smt.shapes import Add, Choice
from isoform.smt.terms import Term
from isoform.sym.chain import Node
from isoform.sym.differing import reads_array
from isoform.sym.frame import Frame
from isoform.sym.given import GivenLocal, NotALocalError, given_parts
from isoform.sym.giving import given_away, in_memory, indexed_local, without_summand
from isoform.sym.objects import load_constant, note_reading, note_reading_constants, refuse_code, with_constants
from isoform.sym.side import Side

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


@dataclass
class State:
    """Mutable while a block runs; `fork` gives an independent copy."""

    side: Side
    registers: dict[int, Term]
    """By container index; missing ones still have their value at entry."""
    frame: Frame
    heap: Node
    condition: Term
    """The path condition of this state."""
    escaped: bool = False
    """Whether an address of the frame was stored outside of it."""
    holds_addresses: bool = False
    """Whether an address of the frame was stored in the frame."""
    given: tuple[GivenLocal, ...] = ()
    """Variables of the frame whose address was given away: they are in the rest of memory."""

    def fork(self, condition: Term) -> State:
        return State(
            self.side,
            dict(self.registers),
            self.frame.copy(),
            self.heap,
            condition,
            self.escaped,
            self.holds_addresses,
            self.given,
        )

    # -- variables ------------------------------------------------------------------------------

    def container(self, index: int) -> Term:
        found = self.registers.get(index)
        return found if found is not None else self.side.initial_register(index)

    def container_named(self, name: str) -> Term:
        return self.container(self.side.machine.container_positions[name])

    def read_register(self, var: Var) -> Term:
        terms = self.side.terms
        result: Term | None = None
        for index, start, size in self.side.pieces(var):
            if index not in self.registers:
                self._assume_at_entry(index)
            part = terms.extract(self.container(index), 8 * (start + size) - 1, 8 * start)
            result = part if result is None else terms.concat(part, result)
        assert result is not None
        return result

    def _assume_at_entry(self, index: int) -> None:
        """A container is read as it was at entry."""
        machine = self.side.machine
        for assumption in machine.at_entry.get(machine.containers[index], ()):
            self.side.world.assume(assumption)

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
            offset = signed(constant, side.width)
            own = self._own_bytes(offset, size)
            if own == size and self.given:
                return self._load_parts(offset, size)
            if own == size:
                return self._load_frame(offset, size)
            if own:
                rest = self.load(terms.add(address, terms.bv(own, side.width)), size - own)
                return terms.concat(rest, self.load(address, own))
            return self._load_heap(address, base, constant, size)
        found = terms.layout.origin(address)
        leads_astray = side.differing.is_reached_by(base if found is None else found[1])
        if not side.mentions_stack(base) and not leads_astray:
            return self._load_heap(address, base, constant, size)
        choice = self.choice(address) or self._choice_of_constants(address)
        if choice is not None:
            condition, then, otherwise = choice
            return terms.ite(condition, self.load(then, size), self.load(otherwise, size))
        if leads_astray:
            # Only a constant beside the base leads to an object's own contents.
            raise Unsupported("a pointer that may be to constants that differ between the two sides is read through")
        distance = self._frame_offset(address, size)
        local = indexed_local(self, distance, size)
        if local is not None:
            return self.load(in_memory(side, local, distance), size)
        return self._load_indexed(distance, size)

    def _load_parts(self, offset: int, size: int) -> Term:
        """A load from the frame, parts of which may be in variables that were given away."""
        parts = []
        for start, count, local in given_parts(self.given, offset, size):
            if local is None:
                parts.append(self._load_frame(start, count))
            else:
                where = in_memory(self.side, local, self.side.terms.bv(start, self.side.width))
                parts.append(self._load_heap(where, local.address, start - local.offset, count))
        return self.side.heap.join_bytes(parts)

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
                self._store_parts(signed(constant, side.width), value, size)
                return
            self.store_heap(address, value, size)
            return
        if base is None or not side.mentions_stack(base):
            self.store_heap(address, value, size)
            return
        choice = self.choice(address)
        if choice is not None:
            condition, then, otherwise = choice
            # Each target keeps its old value if the other one is meant.
            self.store(then, terms.ite(condition, value, self.load(then, size)), size)
            self.store(otherwise, terms.ite(condition, self.load(otherwise, size), value), size)
            return
        offset = self._frame_offset(address, size)
        local = indexed_local(self, offset, size)
        if local is not None:
            self.store_heap(in_memory(side, local, offset), value, size)
            return
        self._note_kept(value)
        self.frame.store_at(offset, value, size)

    def _store_parts(self, offset: int, value: Term, size: int) -> None:
        """A store to the frame, parts of which may be in variables that were given away."""
        for start, count, local in given_parts(self.given, offset, size):
            part = self.side.heap.part_of(value, size, start - offset, count)
            if local is None:
                self._note_kept(part)
                if self.side.locals is not None and part not in self.side.saved_registers:
                    self.side.locals.note_stored(start, count)
                self.frame.store(_in_frame(start), part, count)
            else:
                where = in_memory(self.side, local, self.side.terms.bv(start, self.side.width))
                self.store_heap(where, part, count)

    def _note_kept(self, value: Term) -> None:
        """A value is stored in the frame. Once the frame is indexed, a load from it no longer shows what the value
        is."""
        side = self.side
        self.holds_addresses = self.holds_addresses or side.mentions_stack(value)
        side.differing.keeps_address = side.differing.keeps_address or side.differing.is_reached_by(value)

    def _own_bytes(self, offset: int, size: int) -> int:
        """How many bytes of an access at an offset from the stack pointer at entry are the function's own: its frame,
        its return address and its arguments. What lies above belongs to the caller, and pointers may lead there:
        ordinary memory."""
        convention, contract = self.side.machine.convention, self.side.contract
        own = min(size, max(0, convention.stack_arguments_offset + contract.stack_argument_bytes - offset))
        if own < size and self.side.world.recursive:
            raise Unsupported("a function that calls itself uses its caller's stack, which may be a frame of its own")
        self.side.uses_caller_stack = self.side.uses_caller_stack or own < size
        return own

    def _load_frame(self, offset: int, size: int) -> Term:
        _in_frame(offset)
        if self.frame.is_stale(offset, size):
            return self.side.undefined(8 * size)  # whatever a call left there
        if size < POINTER_BYTES and self.side.image.differing and not self.frame.is_indexed:
            word = self.side.terms.layout.number(
                self.frame.load(offset // POINTER_BYTES * POINTER_BYTES, POINTER_BYTES)
            )
            if word is not None:
                self.side.differing.tear(
                    self.condition, word.to_bytes(POINTER_BYTES, "big" if self.side.big_endian else "little")
                )
        return self.frame.load(offset, size)

    def _load_indexed(self, offset: Term, size: int) -> Term:
        value, stale = self.frame.load_at(offset, size), self.frame.maybe_stale(offset)
        if stale == self.side.terms.false:
            return value
        return self.side.terms.ite(stale, self.side.undefined(8 * size), value)  # whatever a call left there

    def _refuse_hidden_addresses(self, address: Term) -> None:
        """An address that was loaded from memory could be one of the frame's own, if any was stored there."""
        if self.escaped and reads_array(address, ""):
            raise Unsupported("a pointer read from memory may be an address of the function's own frame")
        if self.holds_addresses and self.frame.is_indexed and reads_array(address, f"frame_{self.side.tag}"):
            raise Unsupported("a pointer read from an array on the stack may be an address of the stack frame")

    def _load_constant_address(self, address: Term, where: int, size: int) -> Term:
        side = self.side
        known = load_constant(side, self.condition, where, size)
        if known is not None:
            return known
        side.world.assume(VALID_MEMORY)
        side.fixed_loads.append((address, size))
        side.fixed_accesses.append((self.condition, address, size))
        note_reading(side, self.condition, self.heap, address, size)
        return side.heap.load(self.heap, address, size, self.condition)

    def _load_heap(self, address: Term, base: Term, constant: int, size: int) -> Term:
        side = self.side
        self._refuse_hidden_addresses(base)
        refuse_code(side, address)
        side.world.assume(VALID_MEMORY)
        side.world.assume(PRIVATE_FRAME)
        side.heap_accesses.append((self.condition, address, size))
        note_reading(side, self.condition, self.heap, address, size)
        note_reading_constants(side, self.condition, address, constant, size)
        value = side.heap.load(self.heap, address, size, self.condition)
        return with_constants(side, self.condition, address, base, constant, size, value)

    def store_heap(self, address: Term, value: Term, size: int) -> None:
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
            value = self._as_stored(value)
        side.differing.give_away(
            self.condition, value, "an address of functions or constants that differ between the two sides is stored"
        )
        self.heap = side.heap.store(self.heap, address, value, size, self.condition)

    def _as_stored(self, value: Term) -> Term:
        """A value computed from the stack pointer, as it is stored outside the frame."""
        try:
            return given_away(self, value)
        except NotALocalError:
            self.escaped = True
            self.side.world.note_stack_shown()
            return value

    def choice(self, address: Term) -> tuple[Term, Term, Term] | None:
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
        if not side.differing.is_reached_by(term):
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
        pointer = side.entry.stack_pointer
        rest = None if pointer is None else without_summand(terms, address, pointer)
        if rest is None or side.mentions_stack(rest):
            raise Unsupported("an address mixes the stack pointer with other values in a way isoform cannot follow")
        _in_frame(signed(terms.split_sum(rest)[1], side.width))
        side.world.assume(STACK_IN_BOUNDS)
        side.frame_accesses.append((self.condition, rest, size))
        return rest


def _in_frame(offset: int) -> int:
    """The offset, if the stack reaches that far down: rules for computed offsets (`frame_bounds`) end there too."""
    if offset < -FRAME_LIMIT:
        raise Unsupported(f"a stack frame of more than {FRAME_LIMIT >> 20} MiB is used")
    return offset


def initial_state(side: Side) -> State:
    frame = Frame(side.frame_chain, side.initial_frame, side.frame_array, side.next_epoch)
    return State(side, {}, frame, side.initial_heap(), side.terms.true)
