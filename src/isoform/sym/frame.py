"""The frame: memory at constant distances from the stack pointer at entry, private to each side.

It is a dictionary of cells while every access has a constant offset. The first access at a computed offset
turns it into a chain over an array indexed by offset.
"""

from __future__ import annotations

from collections.abc import Callable

from isoform.smt.terms import Term
from isoform.sym.chain import Base, Chain, Node

Initial = Callable[[int], Term]
"""The byte at an offset nobody has written yet."""


class Frame:
    """Cells do not overlap: `_owner` maps each written byte to the offset its cell starts at."""

    def __init__(self, chain: Chain, initial: Initial, garbage: Callable[[], Term]) -> None:
        self._chain = chain
        self._initial = initial
        self._garbage = garbage
        """The array behind a frame that is indexed: what is below the stack pointer at entry."""
        self._cells: dict[int, tuple[int, Term]] = {}
        self._owner: dict[int, int] = {}
        self._node: Node | None = None

    def copy(self) -> Frame:
        other = Frame(self._chain, self._initial, self._garbage)
        other._cells, other._owner, other._node = dict(self._cells), dict(self._owner), self._node
        return other

    def load(self, offset: int, size: int) -> Term:
        if self._node is not None:
            return self._chain.load(self._node, self._address(offset), size)
        cell = self._cells.get(offset)
        if cell is not None and cell[0] == size:
            return cell[1]
        return self._chain.join_bytes([self._byte(offset + i) for i in range(size)])

    def store(self, offset: int, value: Term, size: int) -> None:
        if self._node is not None:
            self._node = self._chain.store(self._node, self._address(offset), value, size)
            return
        cell = self._cells.get(offset)
        if cell is None or cell[0] != size:
            for byte in range(offset, offset + size):
                self._break_up(byte)
            for byte in range(offset, offset + size):
                self._cells.pop(byte, None)
                self._owner[byte] = offset
        self._cells[offset] = (size, value)

    def load_at(self, offset: Term, size: int) -> Term:
        """A load at a computed offset."""
        return self._chain.load(self._as_chain(), offset, size)

    def store_at(self, offset: Term, value: Term, size: int) -> None:
        self._node = self._chain.store(self._as_chain(), offset, value, size)

    def joined(self, selector: Term, other: Frame) -> Frame:
        """The frame after a join: this one where `selector` holds, else `other`."""
        result = self.copy()
        if self._node is not None or other._node is not None:
            result._node = self._chain.join(selector, self._as_chain(), other._as_chain())
            return result
        terms = self._chain.terms
        for start in self._cells.keys() | other._cells.keys():
            mine, theirs = self._cells.get(start), other._cells.get(start)
            if mine is not None and theirs is not None and mine[0] == theirs[0]:
                if mine[1] != theirs[1]:
                    result.store(start, terms.ite(selector, mine[1], theirs[1]), mine[0])
                continue
            cell = mine or theirs
            assert cell is not None
            for byte in range(start, start + cell[0]):
                result.store(byte, terms.ite(selector, self._byte(byte), other._byte(byte)), 1)
        return result

    def written_from(self, offset: int) -> dict[int, Term]:
        """Bytes at or above `offset` that were written, by offset (none if the frame is indexed: writes at
        computed offsets stay below by assumption)."""
        return {byte: self._byte(byte) for byte in sorted(self._owner) if byte >= offset}

    def _byte(self, offset: int) -> Term:
        if self._node is not None:
            return self._chain.load(self._node, self._address(offset), 1)
        start = self._owner.get(offset)
        if start is None:
            return self._initial(offset)
        size, value = self._cells[start]
        return self._chain.byte_of(value, size, offset - start)

    def _break_up(self, byte: int) -> None:
        """Replace the cell that holds `byte` by cells of one byte each."""
        start = self._owner.get(byte)
        if start is None:
            return
        size, value = self._cells.pop(start)
        for index in range(size):
            self._cells[start + index] = (1, self._chain.byte_of(value, size, index))
            self._owner[start + index] = start + index

    def _address(self, offset: int) -> Term:
        return self._chain.terms.bv(offset, self._chain.address_width)

    def _as_chain(self) -> Node:
        if self._node is not None:
            return self._node
        node: Node = Base(self._garbage)
        for start in sorted(self._cells):
            size, value = self._cells[start]
            node = self._chain.store(node, self._address(start), value, size)
        self._node = node
        return node
