"""What tests show: the state at entry and at each station of both sides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cached_property

from isoform.engines.loops.tuning import FRAME_SEEN_BYTES, REGISTERS_SEEN
from isoform.lift.function import BlockId
from isoform.model.values import dataclass
from isoform.run.observe import Snapshot

Words = tuple[int, ...]
Dead = Mapping[BlockId, frozenset[int]]
"""At each station the registers (by number) that are dead there."""


@dataclass(frozen=True)
class Traces:
    """What one test showed of both sides: the state at entry, then at each station."""

    target: tuple[Snapshot, ...]
    rewrite: tuple[Snapshot, ...]
    entry: dict[str, int] = field(default_factory=dict)
    """Values at entry by name: the inputs of both sides."""
    alike: tuple[Traces, ...] = ()
    """Traces of other tests that pass the same stations: further data, aligned in the same way."""
    dead: tuple[Dead, Dead] = field(default_factory=lambda: ({}, {}))
    begins: bool = True
    """Whether the first stations are those after the entry. If not, some before them were left out."""
    ends: bool = True
    """Whether the last stations are those before the end."""
    in_all: tuple[Counter[BlockId], Counter[BlockId]] | None = None
    """How often the whole run passed each station, if some were left out."""
    iterations: tuple[Sequence[int], Sequence[int]] = ((), ())
    """If stations were left out: for each station, how many times in a row it was passed before."""

    @cached_property
    def counts(self) -> tuple[Counter[BlockId], Counter[BlockId]]:
        """How often each side passed each station."""
        return self.in_all or (Counter(s.point for s in self.target[1:]), Counter(s.point for s in self.rewrite[1:]))

    @cached_property
    def digests(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return tuple(s.digest for s in self.target), tuple(s.digest for s in self.rewrite)

    @cached_property
    def numbers(self) -> tuple[list[int], list[int]]:
        """A number for the point of each station. If two should collide, the alignment is a little worse."""
        return [hash(s.point) for s in self.target], [hash(s.point) for s in self.rewrite]

    @cached_property
    def words(self) -> tuple[tuple[Words, ...], tuple[Words, ...]]:
        """For each station the values of the registers and of the frame near its top."""
        left = tuple(_words(s, self.dead[0], -1) for s in self.target)
        return left, tuple(_words(s, self.dead[1], -2) for s in self.rewrite)

    @cached_property
    def moving(self) -> tuple[tuple[frozenset[int], ...], tuple[frozenset[int], ...]]:
        """For each station the values in it that are not constant along the trace."""
        return _moving(self.words[0]), _moving(self.words[1])


def _moving(side: Sequence[Words]) -> tuple[frozenset[int], ...]:
    values = [frozenset(words) for words in side]
    still = frozenset.intersection(*values) if values else frozenset()
    return tuple(v - still - {0, 1} for v in values)


def _words(snapshot: Snapshot, dead: Dead, nothing: int) -> Words:
    """By place: the registers whole, their low halves, and words of the frame of both sizes. A dead register would
    agree with a value of the previous iteration: it counts as `nothing`."""
    left_over = dead.get(snapshot.point, frozenset())
    registers = [nothing if n in left_over else r for n, r in enumerate(snapshot.registers[:REGISTERS_SEEN])]
    halves = [value & 0xFFFFFFFF if value >= 0 else value for value in registers]
    slots = [snapshot.slot(offset, size) for size in (4, 8) for offset in range(-FRAME_SEEN_BYTES, 0, size)]
    return (*registers, *halves, *(slot or 0 for slot in slots))
