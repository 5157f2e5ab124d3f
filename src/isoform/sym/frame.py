"""The frame: memory at constant distances from the stack pointer at entry, private to each side.

It is a dictionary of cells while every access has a constant offset. The first access at a computed offset
turns it into a chain over an array indexed by offset.
"""

from __future__ import annotations

from collections.abc import Callable

from isoform.smt.terms import Term
from isoform.sym.chain import Base, Chain, Node

Initial = Callable[[int, int], Term]
"""The byte at an offset that nobody has written since the frame's given epoch began (see `clobber_below`)."""


class Frame:
    """Cells do not overlap: `_owner` maps each written byte to the offset its cell starts at."""

    def __init__(
        self,
        chain: Chain,
        initial: Initial,
        garbage: Callable[[], Term],
        next_epoch: Callable[[], int],
        words: Callable[[int, int], Term] | None = None,
    ) -> None:
        self._chain = chain
        self._initial = initial
        self._words = words
        """So many bytes from an offset on that nobody has written, the same as one by one: sums stay in one piece."""
        self._garbage = garbage
        """The array behind a frame that is indexed: what is below the stack pointer at entry."""
        self._next_epoch = next_epoch
        self._cells: dict[int, tuple[int, Term]] = {}
        self._owner: dict[int, int] = {}
        self._above: frozenset[int] = frozenset()
        """Bytes from the stack pointer at entry on that were written."""
        self._node: Node | None = None
        self._epoch, self._clobbered = 0, None
        """Since an outside call, bytes below `_clobbered` hold what it left there: unknowns of a new epoch."""

    _clobbered: int | None

    def copy(self) -> Frame:
        other = Frame(self._chain, self._initial, self._garbage, self._next_epoch, self._words)
        other._cells, other._owner, other._node = dict(self._cells), dict(self._owner), self._node
        other._above, other._epoch, other._clobbered = self._above, self._epoch, self._clobbered
        return other

    @property
    def is_indexed(self) -> bool:
        return self._node is not None

    @property
    def was_clobbered(self) -> bool:
        return self._clobbered is not None

    def clobber_below(self, offset: int) -> None:
        """An outside call may have written anything below its own frame's end, `offset`."""
        self._epoch = self._next_epoch()
        self._clobbered = offset if self._clobbered is None else max(offset, self._clobbered)
        if self._node is not None:
            return  # reads down there are refused by `State`
        for byte in [b for b in self._owner if b < offset]:
            self._break_up(byte)
        for byte in [b for b in self._owner if b < offset]:
            del self._owner[byte]
            del self._cells[byte]

    def load(self, offset: int, size: int) -> Term:
        if self._node is not None:
            return self._chain.load(self._node, self._address(offset), size)
        cell = self._cells.get(offset)
        if cell is not None and cell[0] == size:
            return cell[1]
        if self._words is not None and self._is_untouched(offset, size):
            return self._words(offset, size)
        return self._chain.join_bytes([self._byte(offset + i) for i in range(size)])

    def _is_untouched(self, offset: int, size: int) -> bool:
        kept = self._clobbered is None or offset >= self._clobbered
        return kept and not any(byte in self._owner for byte in range(offset, offset + size))

    def store(self, offset: int, value: Term, size: int) -> None:
        if offset + size > 0:
            self._above |= frozenset(range(max(0, offset), offset + size))
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
        result._above = self._above | other._above
        if self._epoch != other._epoch:
            # What neither has written since is garbage either way: a new unknown covers both.
            result._epoch = self._next_epoch()
            bounds = [b for b in (self._clobbered, other._clobbered) if b is not None]
            result._clobbered = max(bounds) if bounds else None
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
            if (other if mine is not None else self)._is_untouched(start, cell[0]):
                whole = terms.ite(selector, self.load(start, cell[0]), other.load(start, cell[0]))
                result.store(start, whole, cell[0])
                continue
            for byte in range(start, start + cell[0]):
                result.store(byte, terms.ite(selector, self._byte(byte), other._byte(byte)), 1)
        return result

    def written_from(self, offset: int) -> dict[int, Term]:
        """Bytes at or above `offset` that were written, by offset (writes at computed offsets stay below by
        assumption)."""
        return {byte: self._byte(byte) for byte in sorted(self._above) if byte >= offset}

    def _byte(self, offset: int) -> Term:
        if self._node is not None:
            return self._chain.load(self._node, self._address(offset), 1)
        start = self._owner.get(offset)
        if start is None:
            epoch = self._epoch if self._clobbered is not None and offset < self._clobbered else 0
            return self._initial(offset, epoch)
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
