"""Pointers among the inputs, found by use, and the simple shapes to try for them (seed 000, section 7; as CUTE does).

An input that serves as the base of an address is a pointer, and so is a value that was loaded from memory at entry and
serves as one. Each has a cell of its own to point to.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from isoform.engines.inputs import BUFFERS
from isoform.model.signature import CType, TypeKind
from isoform.smt.shapes import Add, Concat, Select, Subtract
from isoform.smt.terms import Term
from isoform.sym.entry import argument_term
from isoform.sym.side import Side
from isoform.sym.state import initial_state

CELL = 0x1000
"""Bytes from one cell to the next."""
MOST_POINTERS = 24


class Pointers:
    """The pointers found so far, of both sides: inputs are the same terms on both."""

    def __init__(self, side: Side) -> None:
        self._side = side
        self._terms = side.terms
        self._cells: dict[Term, int] = {}
        self._types: dict[Term, CType] = {}
        """Pointers whose target was not examined yet."""
        self._structs: dict[str, CType] = {}
        layout = side.machine.memory
        self._array: Term | None = None
        if layout is None or layout.zeroed:
            return
        self._array = self._terms.array_variable("memory", side.width)
        entry = initial_state(side)
        arguments = side.contract.arguments
        for position, argument in enumerate(arguments):
            if argument.type.kind is TypeKind.POINTER:
                term = argument_term(entry, argument)
                self._cells[term] = BUFFERS + CELL * position
                self._types[term] = argument.type
        self._next = BUFFERS + CELL * len(arguments)

    def wishes(self, bases: Sequence[Term]) -> Iterator[list[Term]]:
        """Conditions on the pointers known, the simplest shapes first: null, but cells of their own where `bases` were
        read or written through; then either; then cells that are shared (with which lists become cyclic)."""
        if self._array is None:
            return
        used = self._used(bases)
        known = dict.fromkeys([*used, *self._cells])
        chosen = list(known)[:MOST_POINTERS]
        if not chosen:
            return
        terms = self._terms
        null = {p: terms.eq(p, terms.bv(0, terms.width(p))) for p in chosen}
        own = {p: self._at(p, self._cells[p]) for p in chosen}
        yield [own[p] if p in used else null[p] for p in chosen]
        yield [terms.disj(null[p], own[p]) for p in chosen]
        cells = [self._cells[p] for p in chosen]
        yield [terms.any_of([null[p], *(self._at(p, cell) for cell in cells)]) for p in chosen]

    def _at(self, pointer: Term, cell: int) -> Term:
        return self._terms.eq(pointer, self._terms.bv(cell, self._terms.width(pointer)))

    def _used(self, bases: Sequence[Term]) -> dict[Term, None]:
        """The pointers in addresses that were read or written through."""
        found: dict[Term, None] = {}
        for base in bases:
            for root in self._roots(base):
                if root not in found:
                    found[root] = None
                    self._note(root)
        return found

    def _note(self, pointer: Term, kind: CType | None = None) -> None:
        """A pointer that was found, and those in what it points to, according to its type."""
        if pointer not in self._cells:
            self._cells[pointer] = self._next
            self._next += CELL
            if kind is not None:
                self._types[pointer] = kind
            return
        struct = self._struct(self._types.pop(pointer, None))
        for _, offset, field in struct.fields if struct is not None else ():
            if field.kind is TypeKind.POINTER and field.bits == self._side.width:
                self._note(self._word_at(pointer, offset), field)

    def _struct(self, pointer: CType | None) -> CType | None:
        """The struct behind a pointer; inside of itself it is only named."""
        if pointer is None:
            return None
        if pointer.pointee is not None and pointer.pointee.fields:
            self._structs.setdefault(pointer.pointee.spelling, pointer.pointee)
        return self._structs.get(pointer.spelling.rstrip("* "))

    def _word_at(self, pointer: Term, offset: int) -> Term:
        terms = self._terms
        word: Term | None = None
        assert self._array is not None
        for index in range(self._side.width // 8):
            address = terms.add(pointer, terms.bv(offset + index, self._side.width))
            byte = terms.select(self._array, address)
            word = byte if word is None else terms.concat(byte, word)
        assert word is not None
        return word

    def _roots(self, base: Term) -> Iterator[Term]:
        """The pointers in a sum."""
        pending = [base]
        while pending:
            term = pending.pop()
            shape = self._terms.shape(term)
            if term in self._cells or self._is_input(term):
                yield term
            elif isinstance(shape, Add):
                pending += (shape.left, shape.right)
            elif isinstance(shape, Subtract):
                pending.append(shape.left)

    def _is_input(self, term: Term) -> bool:
        if self._terms.layout.number(term) is not None or self._terms.width(term) != self._side.width:
            return False
        return bool(term.is_const()) or self._is_loaded(term)

    def _is_loaded(self, term: Term) -> bool:
        """Whether a word was read from memory at entry."""
        pending = [term]
        while pending:
            shape = self._terms.shape(pending.pop())
            if isinstance(shape, Concat):
                pending += (shape.top, shape.bottom)
            elif not isinstance(shape, Select) or shape.array != self._array:
                return False
        return True
