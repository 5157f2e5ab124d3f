"""What both sides of a question share: the terms, the inputs, and what is assumed of them."""

from __future__ import annotations

from dataclasses import field

from isoform.model.callee import runs
from isoform.model.contract import Contract
from isoform.model.errors import Unsupported
from isoform.model.machine import Machine
from isoform.model.placement import extended_size
from isoform.model.values import dataclass
from isoform.model.verdict import Assumption
from isoform.smt.terms import Term, Terms
from isoform.sym.frame import SLOT_BYTES

STACK_ALIGNED = Assumption("stack-aligned", "the stack pointer is aligned as the calling convention says")
"""Flags: one bit in a byte."""


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
        why = (
            f"the target reads and writes {shown} only within bounds, and what it counts from an address there is "
            "there (--bounds ignore drops this)"
        )
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
        if width == 8 and name in self.machine.boolean:
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
                taken = (1 << (8 * extended_size(self.machine, argument.type, place))) - 1
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
    def has_fixed_caller(self) -> bool:
        """Whether the address that the function returns to is a number, and not an input."""
        return self.machine.convention.return_address in self.machine.initial

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
