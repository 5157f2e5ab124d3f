"""The frame: memory at constant distances from the stack pointer at entry, private to each side. The return address and
arguments on the stack are part of it.

It is a dictionary of cells while every access has a constant offset. The first access at a computed offset
turns it into a chain over an array indexed by offset.
"""

from __future__ import annotations

from collections.abc import Callable

from isoform.smt.terms import Term
from isoform.sym.chain import Base, Chain, Node

Initial = Callable[[int, int, int], Term]
"""By offset, size and epoch: bytes of one slot, lowest first, that nothing has written since the frame's given epoch
began (see `clobber_below`)."""
SLOT_BYTES = 8


class Frame:
    """Cells do not overlap: `_owner` maps each written byte to the offset its cell starts at."""

    def __init__(
        self, chain: Chain, initial: Initial, garbage: Callable[[], Term], next_epoch: Callable[[], int]
    ) -> None:
        self._chain = chain
        self._initial = initial
        self._garbage = garbage
        """The array of a frame that is indexed: the memory below the stack pointer at entry."""
        self._next_epoch = next_epoch
        self._cells: dict[int, tuple[int, Term]] = {}
        self._owner: dict[int, int] = {}
        self._node: Node | None = None
        self._epoch, self._clobbered = 0, None
        """After an outside call, bytes below `_clobbered` hold what it left there: unknowns of a new epoch."""

    _clobbered: int | None
    _since: frozenset[int] = frozenset()
    """For a frame that is indexed: bytes that were written since the last outside call."""
    _outdated: int | None = None
    """For a frame that was indexed before an outside call: below this offset, the chain may hold old contents."""

    def copy(self) -> Frame:
        other = Frame(self._chain, self._initial, self._garbage, self._next_epoch)
        other._cells, other._owner, other._node = dict(self._cells), dict(self._owner), self._node
        other._epoch, other._clobbered, other._since = self._epoch, self._clobbered, self._since
        other._outdated = self._outdated
        return other

    @property
    def is_indexed(self) -> bool:
        return self._node is not None

    def is_stale(self, offset: int, size: int) -> bool:
        """Whether a frame that is indexed may still hold contents from before an outside call changed it."""
        if self._node is None or self._clobbered is None:
            return False
        return any(byte not in self._since for byte in range(offset, min(offset + size, self._clobbered)))

    def maybe_stale(self, offset: Term) -> Term:
        """The condition that a load at a computed offset may get contents from before an outside call changed them.
        Later writes count too, because their offsets may be computed as well."""
        terms = self._chain.terms
        if self._outdated is None:
            return terms.false
        return terms.slt(offset, self._address(self._outdated))

    def clobber_below(self, offset: int) -> None:
        """An outside call may have written anything below its own frame's end, `offset`."""
        self._epoch = self._next_epoch()
        self._clobbered = offset if self._clobbered is None else max(offset, self._clobbered)
        if self._node is not None:
            self._since = frozenset()
            self._outdated = self._clobbered
            return  # `State` does not use what is stale: it asks `is_stale` and `maybe_stale`
        for byte in [b for b in self._owner if b < offset]:
            self._break_up(byte)
        for byte in [b for b in self._owner if b < offset]:
            del self._owner[byte]
            del self._cells[byte]

    def load(self, offset: int, size: int) -> Term:
        if self._node is not None:
            return self._chain.load(self._node, self._address(offset), size)
        return self._chain.join_bytes([part for _, _, part in self._parts(offset, size)])

    def _stretch(self, offset: int, most: int) -> tuple[int, Term]:
        start = self._owner.get(offset)
        if start is not None:
            size, value = self._cells[start]
            count = min(most, start + size - offset)
            return count, self._chain.part_of(value, size, offset - start, count)
        count, epoch = 1, self._epoch_of(offset)
        while count < most and (offset + count) % SLOT_BYTES and not self._chain.big_endian:
            if offset + count in self._owner or self._epoch_of(offset + count) != epoch:
                break
            count += 1
        return count, self._initial(offset, count, epoch)

    def _epoch_of(self, offset: int) -> int:
        return self._epoch if self._clobbered is not None and offset < self._clobbered else 0

    def store(self, offset: int, value: Term, size: int) -> None:
        if self._node is not None:
            self._node = self._chain.store(self._node, self._address(offset), value, size)
            if self._clobbered is not None:
                self._since |= frozenset(range(offset, offset + size))
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
        if self._epoch != other._epoch:
            # What neither has written since is garbage in both: a new unknown covers them.
            result._epoch = self._next_epoch()
            bounds = [b for b in (self._clobbered, other._clobbered) if b is not None]
            result._clobbered = max(bounds) if bounds else None
            outdated = [b for b in (self._outdated, other._outdated) if b is not None]
            result._outdated = max(outdated) if outdated else None
        if self._node is not None or other._node is not None:
            result._node = self._chain.join(selector, self._as_chain(), other._as_chain())
            result._since = self._since & other._since
            return result
        terms = self._chain.terms
        for start in self._cells.keys() | other._cells.keys():
            mine, theirs = self._cells.get(start), other._cells.get(start)
            if mine is not None and theirs is not None and mine[0] == theirs[0]:
                if mine[1] != theirs[1]:
                    result.store(start, terms.ite(selector, mine[1], theirs[1]), mine[0])
                continue
            size = max(cell[0] for cell in (mine, theirs) if cell is not None)
            result.store(start, terms.ite(selector, self.load(start, size), other.load(start, size)), size)
        return result

    def contents(self, offset: int, size: int) -> list[tuple[int, int, Term]]:
        """Offset, size and value of what was written in a range, or was there at entry and is known."""
        if self._node is None and offset + size <= 0:
            return [part for part in self._parts(offset, size) if part[0] in self._owner]
        if self._node is None:
            return self._parts(offset, size)
        steps = range(offset, offset + size, SLOT_BYTES)
        return [(at, count, self.load(at, count)) for at in steps if (count := min(SLOT_BYTES, offset + size - at))]

    def _parts(self, offset: int, size: int) -> list[tuple[int, int, Term]]:
        found, position = [], offset
        while position < offset + size:
            # As much at once as comes from one cell or slot: a sum that is split is hard to reassemble.
            count, part = self._stretch(position, offset + size - position)
            found.append((position, count, part))
            position += count
        return found

    def written_slots(self) -> set[int]:
        """Offsets of the slots in which cells are."""
        return {byte - byte % SLOT_BYTES for byte in self._owner}

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
        self._node, self._since = node, frozenset(self._owner)
        return node
