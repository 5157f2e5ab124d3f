"""What one side finds in its registers and on its stack at entry, by its own machine and ABI, as terms.

The inputs are those of the target: its registers, and the words of its stack. A rewrite for the same machine finds the
same. A rewrite for another machine finds the target's arguments where its own ABI puts them, and unknowns of its own
elsewhere.
"""

from __future__ import annotations

from functools import cached_property

from isoform.model.callee import runs
from isoform.model.contract import Argument
from isoform.model.placement import extended_size
from isoform.smt.terms import Term
from isoform.sym.frame import SLOT_BYTES
from isoform.sym.world import World


class OwnEntry:
    def __init__(self, world: World, side: int) -> None:
        self._world = world
        self._terms = world.terms
        self.contract = world.contract.of(side)
        self.machine = self.contract.machine
        self._target = OwnEntry(world, 0) if side and world.contract.abis is not None else None
        """The target whose arguments these are, if it is for another machine."""

    def register(self, name: str) -> Term:
        """The value of a container at entry."""
        machine = self.machine
        width = 8 * machine.registers[name].size
        if name in machine.initial:
            return self._terms.bv(machine.initial[name], width)
        term = self._variable(name, width)
        if width == 8 and name in machine.boolean:
            # Flags hold one bit; as bytes they are 0 or 1 (see microop.py).
            return self._terms.flag(self._terms.eq(self._terms.extract(term, 0, 0), self._terms.bv(1, 1)))
        return term

    def _variable(self, name: str, width: int) -> Term:
        """The value of a container at entry. For recursive functions, what is not an argument is an open input."""
        if self._target is not None:
            return self._with_arguments(self._terms.variable(f"{name} of the rewrite", width), name, 0)
        if not self._world.recursive or name not in self.machine.convention.changeable:
            return self._terms.variable(name, width)
        return self._with_open_bits(name, self._passed_bits(name, 0, width), width)

    def stack_word(self, offset: int) -> Term:
        """What a slot above the return address holds at entry."""
        name, width = f"stack_{offset}", 8 * SLOT_BYTES
        if self._target is not None:
            return self._with_arguments(self._terms.variable(f"{name} of the rewrite", width), None, offset)
        if not self._world.recursive:
            return self._terms.variable(name, width)
        return self._with_open_bits(name, self._passed_bits(None, offset, width), width)

    @cached_property
    def stack_pointer(self) -> Term | None:
        name = self.machine.convention.stack_pointer
        return self.register(name) if name else None

    @property
    def has_fixed_caller(self) -> bool:
        """Whether the address that the function returns to is a number, and not an input."""
        return self.machine.convention.return_address in self.machine.initial

    @property
    def return_address(self) -> Term:
        name = self.machine.convention.return_address
        if name is not None:
            return self.register(name)
        layout = self.machine.memory
        own = "return_address" if self._target is None else "return_address of the rewrite"
        found = self._terms.variable(own, 8 * (layout.address_bytes if layout else 8))
        if self._world.recursive:
            self._world.open_inputs[found] = "the return address"
        return found

    # -- arguments of another machine's target ---------------------------------------------------

    def _with_arguments(self, own: Term, register: str | None, start: int) -> Term:
        """A container, or a slot of the stack, with the parts of arguments that the ABI puts there."""
        assert self._target is not None
        for theirs, argument in zip(self._target.contract.arguments, self.contract.arguments, strict=True):
            low = 0
            for place in argument.places:
                at = 8 * (place.offset - start)
                if place.register == register and 0 <= at < self._terms.width(own):
                    value = self._target.argument(theirs)
                    own = self._inserted(own, self._terms.extract(value, low + 8 * place.size - 1, low), at)
                low += 8 * place.size
        return own

    def _inserted(self, whole: Term, part: Term, at: int) -> Term:
        terms = self._terms
        end, width = at + terms.width(part), terms.width(whole)
        if at:
            part = terms.concat(part, terms.extract(whole, at - 1, 0))
        return part if end == width else terms.concat(terms.extract(whole, width - 1, end), part)

    def argument(self, argument: Argument) -> Term:
        """What is passed for a parameter, from the places in which this side finds it."""
        value: Term | None = None
        for place in argument.places:
            if place.register is not None:
                word, first = self.register(place.register), place.offset
            else:
                word, first = self.stack_word(place.offset - place.offset % SLOT_BYTES), place.offset % SLOT_BYTES
            part = self._terms.extract(word, 8 * (first + place.size) - 1, 8 * first)
            value = part if value is None else self._terms.concat(part, value)
        assert value is not None
        return value

    # -- recursion ------------------------------------------------------------------------------

    def _passed_bits(self, register: str | None, start: int, width: int) -> int:
        """The bits of a container, or of a slot of the stack, that arguments determine."""
        bits = 0
        for argument in self.contract.arguments:
            for place in (p for p in argument.places if p.register == register):
                low = 8 * (place.offset - start)
                taken = (1 << (8 * extended_size(self.machine, argument.type, place))) - 1
                bits |= taken << low if low >= 0 else taken >> -low
        return bits & ((1 << width) - 1)

    def _with_open_bits(self, name: str, passed: int, width: int) -> Term:
        whole = self._terms.variable(name, width)
        value: Term | None = None
        if passed == (1 << width) - 1:
            return whole
        rest = self._terms.variable(f"{name} (open)", width) if passed else whole
        self._world.open_inputs[rest] = name
        for low, high, taken in runs(passed, width):
            piece = self._terms.extract(whole if taken else rest, high - 1, low)
            value = piece if value is None else self._terms.concat(piece, value)
        assert value is not None
        return value
