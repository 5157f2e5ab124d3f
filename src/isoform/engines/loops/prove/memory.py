"""Memory at a cut: the same on both sides, except for what is private to each side all along."""

from __future__ import annotations

from isoform.smt.terms import Term
from isoform.sym.side import Side
from isoform.sym.state import State


class SharedMemory:
    """Memory of both sides at cuts. On a machine whose program lies in the memory that it accesses, each side has its
    own program there. For those addresses the claim is another one: that nothing has changed."""

    def __init__(self, sides: tuple[Side, Side], is_shared: bool) -> None:
        self._sides = sides
        self._terms = sides[0].terms
        self._is_shared = is_shared
        layout = sides[0].machine.memory
        has_programs = layout is not None and layout.zeroed
        sections = {(s.address, s.end) for side in sides for s in side.image.sections} if has_programs else set()
        self._own = sorted(sections)
        self._here: dict[str, Term] = {}

    def here(self, side: Side) -> Term:
        """Memory of one side at a cut, as an array."""
        found = self._here.get(side.tag)
        if found is None:
            name = "memory_here" if self._is_shared else f"memory_{side.tag}"
            found = self._terms.array_variable(name, side.width)
            if self._is_shared:
                found = self._with_program(side, found)
            self._here[side.tag] = found
        return found

    def _with_program(self, side: Side, array: Term) -> Term:
        before = side.initial_heap()
        for address in {a for low, high in self._own for a in range(low, high)}:
            where = self._terms.bv(address, side.width)
            array = self._terms.store(array, where, side.heap.load(before, where, 1))
        return array

    def differs(self, arrived: tuple[State, State]) -> Term:
        """That memory at some address is not what is claimed at a cut: one variable stands for all addresses."""
        terms = self._terms
        arrays = [state.side.heap.array(state.heap) for state in arrived]
        if not self._is_shared or (not self._own and arrays[0] == arrays[1]):
            return terms.false
        if all(array == self.here(state.side) for array, state in zip(arrays, arrived, strict=True)):
            return terms.false
        width = arrived[0].side.width
        where = terms.variable("some_address", width)
        found = [terms.select(array, where) for array in arrays]
        differs = terms.negate(terms.eq(*found))
        if self._own:
            inside = terms.any_of(
                [terms.ult(terms.sub(where, terms.bv(a, width)), terms.bv(b - a, width)) for a, b in self._own]
            )
            before = [side.heap.load(side.initial_heap(), where, 1) for side in self._sides]
            changed = [terms.negate(terms.eq(new, old)) for new, old in zip(found, before, strict=True)]
            outside = terms.conj(terms.negate(inside), differs)
            differs = terms.disj(outside, terms.conj(inside, terms.disj(*changed)))
        return differs
