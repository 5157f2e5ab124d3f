"""What goes into one concrete run and what comes out of it: the same for every runner and CPU model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from enum import Enum
from functools import lru_cache
from random import Random
from typing import NamedTuple
from zlib import crc32

from isoform.model.values import dataclass


class Status(Enum):
    """How a run ended, with its sentence for the user."""

    DONE = "returned"
    OUT_OF_FUEL = "did not stop within the step bound"
    ABORTED = "aborted"
    EXITED = "ended the program"
    """`abort`, `exit` and the like."""
    UNSUPPORTED = "reached something isoform has no semantics for"


class CallKey(NamedTuple):
    """One outside call. Code outside may remember every call, so that its results depend on how many came before; as
    long as both sides make the same calls, that number is the same for both."""

    callee: str
    arguments: tuple[int, ...]
    number: int | None
    """How many calls were made before; None for a callee that only computes."""


@dataclass(frozen=True)
class CallEffect:
    """What an outside call does."""

    registers: Mapping[str, int]
    """Result registers by container name; the others are 0."""
    memory: Mapping[int, int] = field(default_factory=dict)
    """Bytes that it writes."""


@dataclass(frozen=True)
class Inputs:
    """A machine state at entry. A byte of memory comes, in this order, from a constant of the image, from `memory`, or
    from the fill. Everything is the same on both sides except what the contract leaves undefined."""

    registers: Mapping[str, int]
    """By container name; missing ones are 0, the stack pointer has a default of its own."""
    memory: Mapping[int, int] = field(default_factory=dict)
    """Address to byte."""
    fill_seed: int = 0
    """0: other memory is zero; else pseudo-random bytes, a function of seed and address."""
    side_seed: int = 0
    """0: what is undefined (flags, fresh frame bytes, registers after a call) is zero; positive: pseudo-random, each
    side with its own; -b: every byte of it is b, wherever a side looks."""
    call_results: Mapping[CallKey, CallEffect] = field(default_factory=dict)
    """What outside calls do."""
    call_seed: int = 0
    """0: other calls return zero; else small pseudo-random numbers, by callee, arguments and how many came before."""
    bytes_filled: int = 0
    """How many undefined bytes an outside function writes to each of the function's own objects that it gets: a local,
    or the space for the result (the whole variable, if debug information gives its size). Negative: as many, beginning
    with a text of `TEXT_FILLED` characters."""

    def byte(self, address: int) -> int:
        """A byte of memory outside all images."""
        found = self.memory.get(address)
        return mixed_byte(self.fill_seed, address) if found is None else found

    def holds(self, value: int) -> bool:
        """Whether a register, a word of memory, or what a call returns is this number."""
        returned = (result for effect in self.call_results.values() for result in effect.registers.values())
        if value in self.registers.values() or value in returned:
            return True
        first, *others = (value >> (8 * i) & 0xFF for i in range(8))
        starts = (address for address, byte in self.memory.items() if byte == first)
        return any(all(self.byte(a + i) == byte for i, byte in enumerate(others, 1)) for a in starts)


Pair = tuple[Inputs, Inputs]
"""The inputs of both sides: the same except for what is undefined."""

MOST_SIGHTS = 16
"""This many calls of a run are recorded with the memory that they find."""


@dataclass(frozen=True)
class CallRecord:
    callee: str
    arguments: tuple[int, ...]
    """What the callee is known to read, in the order of its `parts`."""
    shown: tuple[int, ...] = field(default=(), compare=False)
    """The arguments, for people."""
    sees: Mapping[int, int] | None = field(default=None, compare=False)
    """Bytes outside the frame that differ from their value at entry; None if the callee is not known to read them."""
    output: tuple[int | None, bytes] | None = field(default=None, compare=False)
    """For a call that writes text: the stream (None: the standard output) and the text."""


@dataclass(frozen=True)
class CallResult:
    """The results of an outside call in a run."""

    callee: str
    arguments: tuple[int, ...]
    registers: tuple[tuple[str, int], ...]
    """Result registers by name."""
    memory: Mapping[int, int] = field(default_factory=dict, compare=False)
    """Bytes that it wrote."""


@dataclass(frozen=True)
class BlocksLeft:
    """The blocks that the library's allocator returned in a run, and who can reach them at its end."""

    extents: tuple[tuple[int, int], ...] = ()
    taken_back: tuple[tuple[int, int], ...] = ()
    """Freed blocks, including those of the caller: their contents are not observed."""
    found: frozenset[int] = frozenset()
    """The starts of those whose address is in other memory, or was passed to an outside function."""
    links: Mapping[int, frozenset[int]] = field(default_factory=dict)
    """By start of a block: those whose addresses are in it."""

    def start_of(self, address: int) -> int | None:
        return next((low for low, high in self.extents if low <= address < high), None)

    def observed(self, writes: Mapping[int, int], results: Iterable[int]) -> dict[int, int]:
        """The writes that can be found with the results of the run."""
        if not self.extents and not self.taken_back:
            return dict(writes)
        pending = [*self.found, *(start for value in results if (start := self.start_of(value)) is not None)]
        reached: set[int] = set()
        while pending:
            start = pending.pop()
            if start not in reached:
                reached.add(start)
                pending += self.links.get(start, ())
        return {a: b for a, b in writes.items() if self._is_observed(a, reached)}

    def _is_observed(self, address: int, reached: set[int]) -> bool:
        if any(low <= address < high for low, high in self.taken_back):
            return False
        start = self.start_of(address)
        return start is None or start in reached


NO_BLOCKS = BlocksLeft()


@dataclass(frozen=True)
class Outcome:
    status: Status
    reason: str = ""
    """For an abort: one of ABORT_REASONS; for an exit: the name called; for unsupported: the instruction."""
    registers: Mapping[str, int] = field(default_factory=dict)
    """Containers at exit."""
    return_target: int = 0
    """Where control went at exit; `RETURN_ADDRESS` if all is well."""
    writes: Mapping[int, int] = field(default_factory=dict)
    """Bytes outside the frame whose value at exit differs from entry."""
    reads: Mapping[int, int] = field(default_factory=dict)
    """Bytes of input memory (not image constants, not frame) that the run depended on."""
    calls: tuple[CallRecord, ...] = ()
    """The outside calls that are observed, in order."""
    results: tuple[CallResult, ...] = ()
    """The results of outside calls, including those that only compute."""
    blocks: BlocksLeft = field(default_factory=BlocksLeft)
    steps: int = 0
    trace: tuple[int, ...] = ()
    """Addresses of the instructions executed, if requested."""
    stores: frozenset[tuple[int, int]] = frozenset()
    """Addresses and sizes of the stores that the code made, if requested."""
    unread: frozenset[int] = frozenset()
    """Bytes of memory that were left out of this because nothing reads them."""
    outside: str = ""
    """The first access that left the object it was meant for, in words; empty if none did, or if this was not
    checked."""
    unseen: frozenset[int] = frozenset()
    """Bytes that are not compared in the memory that outside functions see."""
    overlaps: bool = False
    """Whether `memcpy` was given blocks that overlap, which is undefined: compilers generate different code for it."""
    broken_duties: tuple[str, ...] = ()
    """What it should have restored by its own ABI and did not. Only if the two sides are for two machines; otherwise
    the final registers are compared."""


STACK_POINTER = 0x7FFF_F000_0008
"""Value of the stack pointer at entry in concrete runs (return address just pushed: 16-byte alignment
minus 8, as after a call)."""
RETURN_ADDRESS = 0x7FFF_FFFF_0F00
TEXT_FILLED = 3
THREAD_POINTER = 0x6B5A_3C4D_2000
"""The address that thread-local objects are relative to: a number that programs are unlikely to hold."""
THROUGH_A_POINTER = "through a pointer"
"""How a call record names a callee that is known by its address only."""
FRAME_LIMIT = 8 << 20
"""Bytes below the stack pointer that count as the frame: the stack that a program usually has."""


def until_null_call(outcome: Outcome) -> Outcome:
    """A run up to a call through a null pointer, which is a fault. Runs continue after it as after any other call."""
    calls = enumerate(outcome.calls)
    number = next((n for n, c in calls if c.callee == THROUGH_A_POINTER and c.arguments[:1] == (0,)), None)
    if number is None:
        return outcome
    return replace(outcome, status=Status.ABORTED, reason="call of a null address", calls=outcome.calls[:number])


def in_frame(address: int) -> bool:
    """Whether an address of a concrete run is in the function's own frame, or just past its last byte (the end of an
    array that is passed on): no input is the address at which the return address is."""
    return STACK_POINTER - FRAME_LIMIT <= address <= STACK_POINTER


RESULT_SPACES = (0x5200_0000_0000, 0x4A00_0000_0000)
"""The places of the space for a result in memory in runs that decide something: away from everything else, and two of
them, since numbers in the inputs may lead to one."""
_RESULT_SPACE_LIMIT = 1 << 24


def is_own_object(address: int) -> bool:
    """Whether an address of a concrete run is in the function's own frame, or in the space for its result. The place of
    such an object is private: a callee's result may go to a local on one side, and directly to the caller's space on
    the other."""
    return in_frame(address) or any(start <= address < start + _RESULT_SPACE_LIMIT for start in RESULT_SPACES)


STACK_GUARD = 1 << 36
"""Bytes below the frame where an access means that the stack is too small for the function."""


PAGE = 4096


@lru_cache(maxsize=512)
def mixed_page(seed: int, number: int) -> bytes:
    """The contents of page `number` of uninitialised memory, the same wherever it is computed."""
    if seed <= 0:
        return bytes([-seed]) * PAGE
    return Random((seed << 64) ^ number).randbytes(PAGE)


def mixed_byte(seed: int, address: int) -> int:
    return mixed_page(seed, address // PAGE)[address % PAGE]


def mixed_result(seed: int, callee: str, arguments: tuple[int, ...], number: int) -> int:
    """The result of the `number`-th outside call of a run, unless specified."""
    if not seed:
        return 0
    return (crc32(f"{seed} {callee} {arguments} {number}".encode()) % MIXED_RESULTS - 1) % (1 << 32)


MIXED_RESULTS = 8
"""From -1 on, as 32 bits."""


def left_in_results(seed: int, calls: int, number: int, size: int) -> int:
    """The bits beside the result in the `number`-th result register after the `calls`-th outside call of a run."""
    return mixed_number(seed, (1 << 40) + 16 * calls + number, size)


def mixed_number(seed: int, index: int, size: int) -> int:
    """The `index`-th undefined value of one run, `size` bytes wide."""
    if seed <= 0:
        return int.from_bytes(bytes([-seed]) * size, "little")
    return Random((seed << 64) ^ index).getrandbits(8 * size)
