"""A concrete run with a snapshot of the state at each arrival at a watched block."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import field, replace
from itertools import count
from typing import Any

from isoform.lift.function import BlockId
from isoform.model.callee import Callees
from isoform.model.machine import Machine, Order
from isoform.model.outcome import FRAME_LIMIT, PAGE, STACK_POINTER, Inputs, Outcome
from isoform.model.values import dataclass
from isoform.run.compile import BlockCode, Program
from isoform.run.memory import PageChanges
from isoform.run.runner import RunOptions, run

MOST_SNAPSHOTS = 600
FRAME_BELOW = 2 * PAGE + STACK_POINTER % PAGE
"""Bytes below the stack pointer at entry that a snapshot keeps."""
FRAME_ABOVE = PAGE


@dataclass(frozen=True)
class Snapshot:
    """The state of one side at the start of a block."""

    point: BlockId
    registers: tuple[int, ...]
    """By container."""
    frame: bytes
    """From `FRAME_BELOW` bytes below the stack pointer at entry."""
    changes: Mapping[int, PageChanges]
    """Bytes outside the frame that differ from their value at entry, by page."""
    entry_byte: Callable[[int], int] = field(compare=False, repr=False)
    """What memory held at entry."""
    order: Order = field(compare=False, repr=False)
    """The byte order of memory."""

    def word(self, address: int, size: int) -> int:
        """A word of memory outside the frame as it was when the snapshot was taken."""
        return int.from_bytes(bytes(map(self._byte, range(address, address + size))), self.order)

    def _byte(self, address: int) -> int:
        page = self.changes.get(address // PAGE)
        changed = page.contents.get(address) if page is not None else None
        return self.entry_byte(address) if changed is None else changed

    @property
    def digest(self) -> int:
        """Of the changes."""
        return hash(frozenset((number, page.digest) for number, page in self.changes.items()))

    def slot(self, offset: int, size: int) -> int | None:
        """A word of the frame, by its distance from the stack pointer at entry; None if it was not kept."""
        start = offset + FRAME_BELOW
        if start < 0 or start + size > len(self.frame):
            return None
        return int.from_bytes(self.frame[start : start + size], self.order)


class TooManySnapshotsError(Exception):
    """A run reached the watched blocks more often than snapshots are kept."""


def observe(
    program: Program,
    inputs: Inputs,
    options: RunOptions,
    callees: Callees,
    watched: Collection[BlockId],
    most: int = MOST_SNAPSHOTS,
) -> tuple[list[Snapshot], Outcome]:
    """Run, and take a snapshot at entry and at each arrival at a block in `watched`. Raises TooManySnapshotsError if
    there are more than `most`."""
    taken: list[Snapshot] = []
    watching = {
        block: _watching(program.code[program.index[block]], block, taken, program.function.machine, most)
        for block in {program.function.entry, *watched}
    }
    outcome = _run_with(program, watching, inputs, options, callees)
    return taken, outcome


def visits(
    program: Program, inputs: Inputs, options: RunOptions, callees: Callees, watched: Collection[BlockId], most: int
) -> tuple[list[BlockId], Outcome]:
    """Run, and list the entry and the arrivals at blocks in `watched`. Raises TooManySnapshotsError if there are more
    than `most`."""
    passed: list[BlockId] = []

    def note(block: BlockId) -> BlockCode:
        inner = program.code[program.index[block]]

        def noting(registers: list[int], memory: Any) -> int:
            if len(passed) >= most:
                raise TooManySnapshotsError
            passed.append(block)
            return inner(registers, memory)

        return noting

    outcome = _run_with(program, {b: note(b) for b in {program.function.entry, *watched}}, inputs, options, callees)
    return passed, outcome


def observe_some(
    program: Program,
    inputs: Inputs,
    options: RunOptions,
    callees: Callees,
    watched: Collection[BlockId],
    wanted: Collection[int],
) -> dict[int, Snapshot]:
    """Run, and take a snapshot at those of the arrivals that `visits` lists whose numbers are `wanted`."""
    taken: dict[int, Snapshot] = {}
    numbers = count()
    machine = program.function.machine
    take = _without_frame if machine.convention.stack_pointer is None else _with_frame

    def note(block: BlockId) -> BlockCode:
        inner = program.code[program.index[block]]

        def noting(registers: list[int], memory: Any) -> int:
            number = next(numbers)
            if number in wanted:
                taken[number] = take(block, registers, memory, machine.byte_order)
            return inner(registers, memory)

        return noting

    _run_with(program, {b: note(b) for b in {program.function.entry, *watched}}, inputs, options, callees)
    return taken


def _run_with(
    program: Program, changed: Mapping[BlockId, BlockCode], inputs: Inputs, options: RunOptions, callees: Callees
) -> Outcome:
    code = list(program.code)
    for block, replaced in changed.items():
        code[program.index[block]] = replaced
    return run(replace(program, code=tuple(code), deeper=program), inputs, options, callees)


def _watching(inner: BlockCode, block: BlockId, taken: list[Snapshot], machine: Machine, most: int) -> BlockCode:
    take = _without_frame if machine.convention.stack_pointer is None else _with_frame

    def watching(registers: list[int], memory: Any) -> int:
        if len(taken) >= most:
            raise TooManySnapshotsError
        taken.append(take(block, registers, memory, machine.byte_order))
        return inner(registers, memory)

    return watching


def _with_frame(block: BlockId, registers: list[int], memory: Any, order: Order) -> Snapshot:
    low, high = STACK_POINTER - FRAME_BELOW, STACK_POINTER + FRAME_ABOVE
    frame = b"".join(memory.page_bytes(number) for number in range(low // PAGE, high // PAGE + 1))
    changes = memory.changed_pages(range(STACK_POINTER - FRAME_LIMIT, high))
    return Snapshot(block, tuple(map(int, registers)), frame, changes, memory.entry_byte, order)


def _without_frame(block: BlockId, registers: list[int], memory: Any, order: Order) -> Snapshot:
    return Snapshot(block, tuple(map(int, registers)), b"", memory.changed_pages(range(0)), memory.entry_byte, order)
