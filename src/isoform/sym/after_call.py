"""The state after a call: results, scratch registers, and the stack below the caller's."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from isoform.model.callee import Callee, runs
from isoform.model.contract import Result
from isoform.model.errors import Unsupported
from isoform.smt.rules.widths import signed
from isoform.smt.terms import Term
from isoform.sym.scope import Scope
from isoform.sym.state import State


class AfterCall:
    """Updates the states of one function after calls."""

    def __init__(self, scope: Scope) -> None:
        self._side = scope.side
        self._terms = scope.terms
        self._function = scope.function

    def give(self, register: str, callee: Callee, result: Callable[[str, int], Term], state: State) -> None:
        """The value of a register after a call: its result, and in the other bits an unknown value that differs between
        the sides."""
        terms = self._terms
        machine = self._side.machine
        width = 8 * machine.registers[register].size
        given = next((g for g in callee.results if g.register == register and g.bits), None)
        if given is None:
            self.scratch(register, state)
            return
        if given.is_space:
            space = state.container_named(machine.convention.integer_arguments[0])
            state.registers[machine.container_positions[register]] = space
            return
        left: Term | None = None
        value: Term | None = None
        for low, high, taken in runs(given.bits, width):
            if taken:
                piece = result(register if not low else f"{register}[{low}]", high - low)
                if given.extended_from:
                    piece = self._terms.sext(self._terms.extract(piece, given.extended_from - 1, 0), high - low)
                free = ~given.zeros >> low & ((1 << (high - low)) - 1)
                piece = terms.and_(piece, terms.bv(free, high - low)) if given.zeros else piece
            else:
                left = self._side.undefined(width) if left is None else left
                piece = terms.extract(left, high - 1, low)
            value = piece if value is None else terms.concat(piece, value)
        assert value is not None
        state.registers[machine.container_positions[register]] = value

    def leave_with(self, results: Sequence[Result], values: Sequence[Term], state: State) -> None:
        """The state after a call whose results are known and which leaves everything else undefined."""
        machine, terms = self._side.machine, self._terms
        registers = (*machine.convention.result, *machine.convention.float_result)
        for register in registers:
            self.scratch(register, state)
        for result, value in zip(results, values, strict=True):
            position = machine.container_positions[result.register]
            whole = state.container(position)
            width = terms.width(whole)
            rest = None if result.bits == width else terms.extract(whole, width - 1, result.bits)
            state.registers[position] = value if rest is None else terms.concat(rest, value)
        self.leave_callee(state, set(registers))

    def carried_out(self, result: Term, state: State) -> None:
        """After a call whose effect is known: its result, and what every call leaves undefined."""
        machine = self._side.machine
        for register in machine.convention.result:
            self.scratch(register, state)
        state.registers[machine.containers.index(machine.convention.result[0])] = result
        self.leave_callee(state, set(machine.convention.result))

    def leave_callee(self, state: State, kept: set[str], on_stack: int = 0) -> None:
        """Scratch registers except those `kept` are unknown, and the return address is popped. The stack below it
        belonged to the callee, as did the arguments `on_stack` above it."""
        terms, machine = self._terms, self._side.machine
        convention = machine.convention
        if convention.stack_pointer is not None:
            index = machine.containers.index(convention.stack_pointer)
            pointer = state.container(index)
            state.registers[index] = terms.add(pointer, terms.bv(convention.stack_adjustment, terms.width(pointer)))
        self.has_returned(state, kept, on_stack)

    def has_returned(self, state: State, kept: set[str], on_stack: int = 0) -> None:
        """The same where the callee has popped the return address itself."""
        convention = self._side.machine.convention
        for register in convention.scratch_after_call:
            if register not in kept:
                self.scratch(register, state)
        if convention.stack_pointer is not None:
            self._clobber_frame(state.container_named(convention.stack_pointer), state, on_stack)

    def _clobber_frame(self, pointer: Term, state: State, on_stack: int) -> None:
        """The callee may use everything below the stack pointer. Only a tail call gives it more than the frame: the
        return address, to which it returns. A call would have put its own there, a number."""
        base, constant = self._terms.split_sum(pointer)
        if not self._side.is_stack_pointer(base):
            raise Unsupported(f"{self._function.name} makes a call with a stack pointer isoform cannot follow")
        offset, adjustment = signed(constant, self._side.width), self._side.machine.convention.stack_adjustment
        is_tail_call = 0 < offset == adjustment and self._terms.value(state.frame.load(0, adjustment)) is None
        if offset > 0 and not is_tail_call:
            raise Unsupported(f"{self._function.name} makes a call that writes over its own return address")
        state.frame.clobber_below(min(0, offset + on_stack))

    def scratch(self, register: str, state: State) -> None:
        machine = self._side.machine
        width = 8 * machine.registers[register].size
        value = self._side.undefined(width)
        if width == 8:
            value = self._terms.zext(self._terms.extract(value, 0, 0), 8)
        state.registers[machine.container_positions[register]] = value
