"""What a call passes: the places of its arguments, and what a callee may read there."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from isoform.lift.distances import EntriesAtCall, entries_at_calls
from isoform.lift.function import Block, BlockId, Call
from isoform.lift.pointers import stack_loads
from isoform.lift.simplify import overlaps
from isoform.model.callee import LONGEST_FORMAT, ArgumentPart, Callee, Parts, runs
from isoform.model.contract import system_callee
from isoform.model.errors import Unsupported
from isoform.model.values import dataclass
from isoform.model.verdict import Assumption
from isoform.smt.rules.widths import signed
from isoform.smt.terms import Term, Terms
from isoform.sym.choices import are_all_constants, constants_of, numbered
from isoform.sym.entry import content_at_call
from isoform.sym.frame import SLOT_BYTES
from isoform.sym.scope import Scope
from isoform.sym.state import State, initial_state

VARIADIC = Assumption(
    "variadic-arguments",
    "where no format tells them, a variadic function takes arguments in the registers set before each of its calls",
)
THROUGH_POINTER = "through a pointer"
"""Instead of a name: the callee of a call through a pointer."""


@dataclass(frozen=True)
class Passed:
    """The arguments of one call."""

    callee: Callee
    arguments: tuple[Term, ...]
    """Everything that the callee may read."""
    places: str
    """Their places, if another call of the same name may have them elsewhere."""
    keys: tuple[tuple[Term, tuple[Term, ...]], ...]
    on_stack: int = 0
    """Bytes above its return address in which a callee may find arguments."""


class Arguments:
    """Reads the arguments of calls from states of one function."""

    def __init__(self, scope: Scope) -> None:
        self._side = scope.side
        self._terms = scope.terms
        self._function = scope.function
        self._callees = scope.callees

    def passed(self, block: Block, call: Call, value: Term, state: State) -> Passed:
        """What the call that ends a block passes, after the checks that apply to every call, tail calls included."""
        if not call.system:
            self._require_convention(call.callee or THROUGH_POINTER, state)
        passed = self._arguments(block, call, value, state)
        for argument in passed.arguments:
            self._side.refuse_open(argument)
        return passed

    def _require_convention(self, name: str, state: State) -> None:
        """A callee may rely on what the convention says about registers at entry: with the direction flag set, `memcpy`
        copies backwards. If no instruction writes them they are as at entry, and need no check."""
        machine = self._side.machine
        for register in self._moved:
            initial = self._terms.bv(machine.initial[register], 8 * machine.registers[register].size)
            if state.container_named(register) != initial:
                raise Unsupported(
                    f"{self._function.name} may call {name} with {register} changed: callees expect it as at entry"
                )

    @cached_property
    def _moved(self) -> list[str]:
        registers = self._side.machine.registers
        written = [op.out for block in self._function.blocks.values() for op in block.ops if op.out is not None]
        names = self._side.machine.convention.as_at_entry
        return [name for name in names if any(overlaps(out, registers[name]) for out in written)]

    def _refuse_entries(self, block: Block, name: str, parts: Iterable[ArgumentPart], is_declared: bool) -> None:
        """Jumps leave entries behind in registers for arguments. A declaration says which of these are read; without
        one they count as what they are, remainders (`callee-arguments`)."""
        held = self._entries.get(block.id)
        if held is None:
            return
        registers = held.registers if is_declared else frozenset[str]()
        if any(part.may and (part.register in registers or self._is_in_slot(part, held.slots)) for part in parts):
            why = "an entry of a table of distances, which is a number that a linker decides"
            raise Unsupported(f"{self._function.name} may pass {name} {why}")

    def _is_in_slot(self, part: ArgumentPart, slots: frozenset[int]) -> bool:
        if part.register is not None:
            return False
        # A jump finds the stack as the callee does, a call before it pushes the return address.
        starts = part.offset, part.offset - self._side.machine.convention.stack_arguments_offset
        return any(start - SLOT_BYTES < slot < start + part.size for start in starts for slot in slots)

    @cached_property
    def _entries(self) -> dict[BlockId, EntriesAtCall]:
        return entries_at_calls(self._function)

    def _arguments(self, block: Block, call: Call, value: Term, state: State) -> Passed:
        callee = self._service(state) if call.system else self._callees(call.callee or call.through)
        if callee.refused:
            raise Unsupported(callee.refused)
        pointer = () if call.callee is not None else (value,)
        choices = self._choices(callee, state)
        self._refuse_entries(
            block,
            call.callee or THROUGH_POINTER,
            [part for _, parts in choices for part in parts],
            not callee.maybe_on_stack,
        )
        arguments = self._all_of_format(choices, state) if callee.format else self._all_of(choices[0][1], state)
        keys = tuple(
            (condition, (*pointer, *(self._bits(p, p.reads, state) for p in parts if p.reads)))
            for condition, parts in choices
        )
        places = "" if call.callee is not None else " ".join(f"{p.register}+{p.offset}" for p in choices[0][1]) + ":"
        ends = (part.offset + part.size for _, parts in choices for part in parts if part.register is None)
        on_stack = max(ends, default=0) - self._side.machine.convention.stack_arguments_offset
        return Passed(callee, (*pointer, *arguments), places, keys, max(0, on_stack))

    def _service(self, state: State) -> Callee:
        """What a system call takes, by its number where that is a constant."""
        machine = self._side.machine
        number = self._terms.value(state.container_named(machine.convention.system_arguments[0]))
        return system_callee(machine, number)

    def _choices(self, callee: Callee, state: State) -> list[tuple[Term, Parts]]:
        """The places of the arguments, with the condition for each; the last one applies otherwise."""
        found = []
        if callee.format is not None:
            format_part = callee.parts[callee.format.argument]
            pointer = content_at_call(state, format_part.register, format_part.offset, format_part.size)
            number = numbered(self._terms, pointer)
            for address in sorted(constants_of(self._terms, pointer)):
                parts = callee.parts_of_call(self._text_at(address))
                if parts is not None:
                    here = self._terms.eq(number, self._terms.bv(address, self._terms.width(pointer)))
                    found.append((here, parts))
            if found and are_all_constants(self._terms, pointer, len(found)):
                return [*found[:-1], (self._terms.true, found[-1][1])]
        if callee.vectors:
            self._side.world.assume(VARIADIC)
        if callee.mixed:
            raise Unsupported(callee.mixed)
        if callee.maybe_on_stack:
            self._refuse_stack_arguments(callee, state)
        first = state.container_named(self._side.machine.convention.result[0])
        parts = callee.parts_at_most(self._terms.value(self._terms.extract(first, 7, 0)) if callee.vectors else None)
        return [*found, (self._terms.true, parts)]

    def _text_at(self, address: int) -> bytes | None:
        found = bytearray()
        while len(found) < LONGEST_FORMAT:
            byte = self._function.image.constant_bytes(address + len(found), 1)
            if byte is None:
                return None
            if byte == b"\0":
                return bytes(found)
            found += byte
        return None

    def _refuse_stack_arguments(self, callee: Callee, state: State) -> None:
        """What lies just above the stack pointer may be further arguments: if all argument registers are used, or if
        nothing reads what was stored there (large structures are passed there whichever registers are free). At a tail
        call this is where our own caller put arguments, which may be passed on unchanged or changed."""
        convention = self._side.machine.convention
        assert convention.stack_pointer is not None
        base, constant = self._terms.split_sum(state.container_named(convention.stack_pointer))
        offset = signed(constant, self._side.width) + convention.stack_arguments_offset
        known = self._side.is_stack_pointer(base) and not state.frame.is_indexed
        written = state.frame.written_slots() if known else ()
        slot = offset - offset % 8
        if not known:
            is_passed = callee.uses_last_register
        elif offset < 0:
            is_passed = slot in written and (callee.uses_last_register or not self._reads_slot(slot))
            if is_passed and self._is_left_over(state.frame.load(slot, SLOT_BYTES)):
                # A structure may begin with bytes that nothing set: what is above it must be the function's own.
                is_passed = slot + SLOT_BYTES in written and not self._reads_slot(slot + SLOT_BYTES)
        else:
            own = callee.uses_last_register and self._side.contract.stack_argument_bytes > 0
            is_passed = own or any(other >= slot for other in written)
        if is_passed:
            raise Unsupported(
                f"{self._function.name} may pass arguments on the stack, and no declaration of the callee tells of them"
            )

    def _is_left_over(self, value: Term) -> bool:
        """Whether a value is what the first result register held at entry, so that nothing is passed: clang aligns the
        stack by pushing it."""
        entry = initial_state(self._side)
        return bool(value == entry.container_named(self._side.machine.convention.result[0]))

    def _reads_slot(self, slot: int) -> bool:
        return any(start < slot + 8 and slot < end for start, end in self._stack_loads)

    @cached_property
    def _stack_loads(self) -> list[tuple[int, int]]:
        return list(stack_loads(self._function))

    def _all_of(self, parts: Parts, state: State) -> list[Term]:
        return [self._bits(part, part.may, state) for part in parts if part.may]

    def _all_of_format(self, choices: list[tuple[Term, Parts]], state: State) -> list[Term]:
        """What a function with a format may read, in all argument registers and then on the stack: nothing if the
        format asks for nothing, so that calls with different formats are calls of one function."""
        terms = self._terms
        machine = self._side.machine
        names = (*machine.convention.integer_arguments, *machine.convention.float_arguments)
        places: dict[tuple[str | None, int], int] = {(name, 0): machine.registers[name].size for name in names}
        for _, parts in choices:
            for part in parts:
                places[part.where] = max(places.get(part.where, 0), part.size)
        found = []
        for where, size in places.items():
            value: Term | None = None
            for condition, parts in reversed(choices):
                here = terms.bv(0, 8 * size)
                for part in (p for p in parts if p.where == where and p.may):
                    here = terms.zext(self._bits(part, part.may, state), 8 * size)
                value = here if value is None else terms.ite(condition, here, value)
            assert value is not None
            found.append(value)
        return found

    def _bits(self, part: ArgumentPart, bits: int, state: State) -> Term:
        """Some bits of a part, as a number up to the highest of them; the bits in between are 0."""
        terms = self._terms
        value = terms.extract(content_at_call(state, part.register, part.offset, part.size), bits.bit_length() - 1, 0)
        if bits & (bits + 1) == 0:
            return value
        pieces = [
            terms.extract(value, high - 1, low) if taken else terms.bv(0, high - low)
            for low, high, taken in runs(bits, bits.bit_length())
        ]
        joined = pieces[0]
        for piece in pieces[1:]:
            joined = terms.concat(piece, joined)
        return joined


def label(terms: Terms, name: str, arguments: tuple[Term, ...]) -> str:
    """A callee's name with the widths of its arguments, of which its results are functions."""
    return f"{name}/{','.join(str(terms.width(a)) for a in arguments)}"
