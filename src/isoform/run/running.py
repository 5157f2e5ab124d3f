"""What the code of a run sees as `M`: memory, and the few registers of the runner itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any

from isoform.lift.function import Bound
from isoform.model.evaluate import evaluate
from isoform.model.microop import Kind
from isoform.model.outcome import mixed_number
from isoform.model.values import dataclass
from isoform.run.memory import Memory


class RunningMemory(Memory):
    """What generated code sees as `M`: memory and the few registers of the runner itself."""

    reason = 0
    where = -1
    """Index in its block of the ABORT that ended the run; -1 if none did."""
    target = 0
    through = ""
    """Type of the pointer that the last computed jump went through, if known."""
    jump = 0
    """The address of that jump."""
    outside: Bound | None = None
    """The subject of the first ASSUME that did not hold."""
    bounds: tuple[Bound, ...] = ()
    """The subjects of the ASSUMEs in the running code."""
    side_seed = 0
    _undefined = 0

    def leave(self, number: int) -> None:
        """An ASSUME does not hold."""
        if self.outside is None and self._has_left_all(self.bounds[number]):
            self.outside = self.bounds[number]

    def _has_left_all(self, bound: Bound) -> bool:
        if bound.meant_by is None:
            return True
        left = self._left.setdefault(bound.meant_by, set())
        if bound.ranges in left:
            return False
        left.add(bound.ranges)
        return all(one.ranges in left for one in self.bounds if one.meant_by == bound.meant_by)

    @cached_property
    def _left(self) -> dict[int, set[tuple[tuple[int, int], ...]]]:
        """For addresses that may be meant for several objects: the objects that accesses relative to them were not
        in."""
        return {}

    def finish(self) -> None:
        """Called once after the last instruction."""

    def undefined(self, size: int) -> int:
        self._undefined += 1
        return mixed_number(self.side_seed, self._undefined, size)

    def evaluate(self, kind: str, out_size: int, sizes: tuple[int, ...], values: tuple[int, ...]) -> int:
        return evaluate(Kind[kind], out_size, sizes, values)


class WatchedMemory(RunningMemory):
    """Also records the address of every load and store that the code makes, in order."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.touched: list[int] = []

    def load(self, address: int, size: int) -> int:
        self.touched.append(address)
        return super().load(address, size)

    def store(self, address: int, size: int, value: int) -> None:
        self.touched.append(address)
        made = len(self.touched)
        super().store(address, size, value)
        del self.touched[made:]  # a store across two pages is made byte by byte


Given = Callable[[int, int], int]
"""The value of a site at its n-th execution (from 0), instead of its own value."""


@dataclass
class ShownValues:
    """The values that a run had at its sites (`compile.Sites`)."""

    values: dict[int, list[int]] = field(default_factory=dict)
    """By site, in order."""
    order: list[int] = field(default_factory=list)
    """Sites in the order in which they were executed."""


@dataclass(frozen=True)
class AddedStore:
    """A store that a run makes beside its own."""

    address: int
    size: int
    value: int
    site: int | None = None
    """At which site; None: at the end."""
    number: int = 0
    """At which execution of the site, from 0 on."""


class ShowingMemory(RunningMemory):
    """Also reports the values at sites, and replaces them."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.shown = ShownValues()
        self.given: Mapping[int, Given] = {}
        self.dropped: Mapping[int, int] = {}
        self.added: Sequence[AddedStore] = ()
        """Those without a site are made at the end."""

    def finish(self) -> None:
        self._add(None)

    def _add(self, site: int | None, number: int = 0) -> None:
        for added in self.added:
            if (added.site, added.number) == (site, number):
                self.store(added.address, added.size, added.value)

    def show(self, site: int, value: int) -> int:
        seen = self.shown.values.setdefault(site, [])
        given = self.given.get(site)
        if given is not None:
            value = given(len(seen), value)
        elif site in self.dropped:
            value = self.load(self.shown.values[site - 1][-1], self.dropped[site])
        if self.added:
            self._add(site, len(seen))
        seen.append(value)
        self.shown.order.append(site)
        return value
