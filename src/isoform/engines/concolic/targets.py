"""The targets of a computed jump: code of the program, the caller, or elsewhere (seed 000, figure 8)."""

from __future__ import annotations

from collections.abc import Sequence

from isoform.engines.concolic.path import ELSEWHERE, Key
from isoform.lift.function import Function
from isoform.smt.terms import Term
from isoform.sym.world import World


class Targets:
    """Classes of jump targets of one function, as conditions on the address jumped to."""

    def __init__(self, world: World, function: Function) -> None:
        self._terms = world.terms
        machine = function.machine
        self._alignment = machine.instruction_alignment
        self.caller: int | None = machine.initial.get(machine.convention.return_address or "")
        """The one address that ends the program, if there is one."""
        self.faults = machine.memory is not None and machine.memory.zeroed
        """Whether a jump elsewhere is a fault, the same one everywhere."""
        self._ranges = [
            (section.address, section.address + len(section.data))
            for section in function.image.sections
            if section.executable and section.data
        ]

    def classify(self, value: Term, target: int) -> tuple[Key, Term]:
        """The class of a target, and the condition of jumping into that class."""
        if self.faults and target != self.caller and not self.is_code(target):
            return ELSEWHERE, self.elsewhere(value)
        return target, self._terms.eq(value, self._constant(value, target))

    def inside(self, value: Term, explored: Sequence[int]) -> Term:
        """To code that no run reached yet."""
        terms = self._terms
        return terms.conj(self._in_code(value), self._none_of(value, explored))

    def to_caller(self, value: Term) -> Term:
        if self.caller is None:
            return self._terms.false
        return self._terms.eq(value, self._constant(value, self.caller))

    def elsewhere(self, value: Term, explored: Sequence[int] = ()) -> Term:
        """To neither of these. (A function whose address both sides share is not at that address.)"""
        terms = self._terms
        outside = terms.conj(terms.negate(self._in_code(value)), terms.negate(self.to_caller(value)))
        return terms.conj(outside, self._none_of(value, explored))

    def fetches(self, value: Term, address: Term, size: int) -> Term:
        """To one of the `size` bytes at `address`, where an instruction can begin."""
        terms, width = self._terms, self._terms.width(value)
        within = terms.ult(terms.sub(value, address), terms.bv(size, width))
        return terms.conj(within, self._aligned(value))

    def _none_of(self, value: Term, explored: Sequence[int]) -> Term:
        terms = self._terms
        return terms.all_of([terms.negate(terms.eq(value, self._constant(value, address))) for address in explored])

    def _in_code(self, value: Term) -> Term:
        terms, width = self._terms, self._terms.width(value)
        found = []
        for low, high in self._ranges:
            within = terms.ult(terms.sub(value, terms.bv(low, width)), terms.bv(high - low, width))
            found.append(within)
        return terms.conj(terms.any_of(found), self._aligned(value))

    def _aligned(self, value: Term) -> Term:
        terms, bits = self._terms, (self._alignment - 1).bit_length()
        return terms.eq(terms.extract(value, bits - 1, 0), terms.bv(0, bits)) if bits else terms.true

    def is_code(self, target: int) -> bool:
        return target % self._alignment == 0 and any(low <= target < high for low, high in self._ranges)

    def _constant(self, value: Term, number: int) -> Term:
        return self._terms.bv(number, self._terms.width(value))
