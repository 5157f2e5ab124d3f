"""Memory from the library in concrete runs: what `malloc` and the like do, the same for every runner and CPU model.

The n-th block of a run is at the same address on both sides, so that the two get the same addresses as long as they
call the allocator alike. The contents of a block that can no longer be reached are not observed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from enum import Enum

from isoform.model.contract import NoValueError, OutputCall, PureCall, ReadByte
from isoform.model.outcome import BlocksLeft
from isoform.model.values import dataclass

BLOCKS = 0x6000_0000_0000
BLOCKS_END = 0x6800_0000_0000
"""The place of blocks in a run: away from everything that a test invents."""
_APART = 1 << 12
_LARGEST = 1 << 20
"""A larger block is not available."""
_TELLING, _TELLING_BITS, _TELLING_BYTE = 5, 0xF8, BLOCKS >> 40
"""Addresses of blocks, from BLOCKS to below BLOCKS_END, all have these five bits in this byte, the lowest being 0."""

WriteByte = Callable[[int, int], None]


class Allocating(Enum):
    """What a function of the allocator does."""

    GIVES = "gives a block whose contents are open"
    CLEARS = "gives a block of zeros"
    RESIZES = "gives a block with the contents of another one, which it takes back"
    COPIES = "gives a block with a text in it"
    TAKES = "takes a block back"


@dataclass(frozen=True)
class AllocationCall:
    """A function of the library that allocates or frees memory."""

    name: str
    kind: Allocating
    sizes: tuple[int, ...] = ()
    """The arguments whose product is the size."""
    pointer: int = 0
    """The argument that is a block, or a text."""
    may_fail: bool = True
    """Whether it may return null."""

    def shown(self, arguments: tuple[int, ...]) -> tuple[int, ...]:
        """What is observed of the arguments: for a count and a size only their product."""
        if len(self.sizes) < 2:
            return arguments
        rest = tuple(value for place, value in enumerate(arguments) if place not in self.sizes)
        return (*rest, self.size(arguments))

    def size(self, arguments: tuple[int, ...]) -> int:
        size = 1
        for place in self.sizes:
            size *= arguments[place]
        return size


LibraryCall = PureCall | OutputCall | AllocationCall
"""What is known about an outside function."""


@dataclass
class Blocks:
    """The blocks of one run."""

    read: ReadByte
    write: WriteByte
    _sizes: dict[int, int] = field(default_factory=dict)
    _taken_back: set[int] = field(default_factory=set)
    _next: int = BLOCKS

    def call(self, function: AllocationCall, arguments: tuple[int, ...], fails: bool) -> int:
        """Execute a call and return its result."""
        if function.kind is Allocating.TAKES:
            self._taken_back.add(arguments[function.pointer])
            return 0
        text = self._text(arguments[function.pointer]) if function.kind is Allocating.COPIES else b""
        size = len(text) if function.kind is Allocating.COPIES else function.size(arguments)
        if (fails and function.may_fail) or size > _LARGEST:
            return 0
        block = self._give(size)
        if function.kind is Allocating.CLEARS:
            text = bytes(size)
        if function.kind is Allocating.RESIZES:
            text = self._old_contents(arguments[function.pointer], size)
        for offset, byte in enumerate(text):
            self.write(block + offset, byte)
        return block

    def _give(self, size: int) -> int:
        block = self._next
        self._sizes[block] = size
        self._next += self._room(block)
        if self._next > BLOCKS_END:
            raise NoValueError
        return block

    def _text(self, start: int) -> bytes:
        found = bytearray()
        while len(found) < _LARGEST:
            found.append(self.read((start + len(found)) % (1 << 64)))
            if not found[-1]:
                return bytes(found)
        raise NoValueError

    def _old_contents(self, old: int, size: int) -> bytes:
        if not old:
            return b""
        self._taken_back.add(old)
        return bytes(self.read(old + offset) for offset in range(min(size, self._sizes.get(old, size))))

    def left(self, changes: Mapping[int, int], passed: Iterable[int]) -> BlocksLeft:
        """What the run leaves behind. `changes` are the bytes outside the frame that differ from entry; `passed` are
        the arguments of outside functions. The size of a block of the caller's is not known: it may be a page."""
        taken_back = tuple((block, block + self._room(block)) for block in self._taken_back)
        if not self._sizes:
            return BlocksLeft(taken_back=taken_back)
        extents = tuple((block, block + self._room(block)) for block in self._sizes)
        blocks = BlocksLeft(extents)
        found, links = set(map(blocks.start_of, passed)), dict[int, set[int]]()
        for start in {address - offset for address in changes for offset in range(8)}:
            if self.read(start + _TELLING) & _TELLING_BITS != _TELLING_BYTE:
                continue  # no address of a block: most words of a block that was cleared
            word = sum(self.read(start + offset) << (8 * offset) for offset in range(8))
            target, holder = blocks.start_of(word), blocks.start_of(start)
            if target is not None and holder is None:
                found.add(target)
            elif target is not None and holder is not None:
                links.setdefault(holder, set()).add(target)
        reached = frozenset(start for start in found if start is not None)
        return BlocksLeft(extents, taken_back, reached, {holder: frozenset(to) for holder, to in links.items()})

    def _room(self, block: int) -> int:
        return (self._sizes[block] // _APART + 2) * _APART if block in self._sizes else _APART
