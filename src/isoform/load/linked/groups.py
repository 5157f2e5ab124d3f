"""Objects with the same layout in two linked files: the same names, sizes and distances, with only padding between
them.

An address in linked code may be meant for an object that it is not in: `t[i - 1]` has a base before `t`, and a loop
ends at the end of `t`. If all objects move together, by one distance, such addresses stay right. Objects whose layout
is not clearly the same are not moved together.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Set
from functools import cached_property

from isoform.load.linked.moves import MOST_PADDING
from isoform.load.linked.names import LinkedNames
from isoform.load.parsed import LOCAL, NOTYPE, OBJECT, FileSection, FileSymbol
from isoform.load.shared import Group

PAGE = 4096
_UNSEEN = (1, 2)
"""Visibilities that no other file can name: internal and hidden."""
MOST_BEHIND = 16
"""Bytes after the last object that move with it, so that an address one past its end moves too."""


def groups_of(left: LinkedNames, right: LinkedNames, common: Set[str]) -> list[Group]:
    sides = _Side(left, common), _Side(right, common)
    if left.file.fixed or right.file.fixed or not all(side.names_variables for side in sides):
        return []
    runs: list[list[str]] = []
    for name in sides[0].ordered:
        if name not in sides[1].objects or sides[0].content(name) != sides[1].content(name):
            continue
        if runs and _lie_alike(runs[-1][-1], name, *sides):
            runs[-1].append(name)
        else:
            runs.append([name])
    found = [_group(run, *sides) for run in runs]
    return [group for group in found if len(group.extents) > 1 or group.behind]


def _lie_alike(one: str, other: str, left: _Side, right: _Side) -> bool:
    if left.distance(one, other) != right.distance(one, other):
        return False
    return left.are_neighbours(one, other) and right.are_neighbours(one, other)


def _group(run: list[str], left: _Side, right: _Side) -> Group:
    offsets = [left.distance(run[0], name) for name in run]
    behind = min(side.room_behind(run[-1]) for side in (left, right))
    ends = [*offsets[1:], offsets[-1] + left.objects[run[-1]].size + behind]
    apart = left.objects[run[0]].value - right.objects[run[0]].value
    alignment = min(PAGE, apart & -apart or PAGE, *(side.home(run[0]).alignment for side in (left, right)))
    extents = {name: (low, high) for name, low, high in zip(run, offsets, ends, strict=True)}
    return Group(extents, behind, alignment, left.objects[run[0]].value % alignment)


class _Side:
    """The variables of one file that no other file's definition can replace."""

    def __init__(self, names: LinkedNames, common: Set[str]) -> None:
        self._names = names
        self._file = names.file
        found = {name: s for name, s in names.shareable.items() if name in common and self._stays(s)}
        self.objects = {name: s for name, s in found.items() if s.value not in self._overlapping}
        self.ordered = sorted(self.objects, key=lambda name: self.objects[name].value)

    def _stays(self, symbol: FileSymbol) -> bool:
        home = self._file.sections[symbol.section]
        is_variable = self._names.is_writable_object(symbol) and not home.thread_local and not home.executable
        is_own = symbol.binding == LOCAL or symbol.visibility in _UNSEEN or self._file.binds_itself
        return is_variable and is_own and symbol.value not in self._names.copied

    @property
    def names_variables(self) -> bool:
        """Whether static variables still have names. If not, some may be where there seems to be padding."""
        return any(s.binding == LOCAL and s.kind in (OBJECT, NOTYPE) and s.name for s in self._file.symbols)

    @cached_property
    def _things(self) -> list[FileSymbol]:
        """All named data, in order, without labels at the end of a section."""
        return sorted((s for s in self._names.defined if self._is_thing(s)), key=lambda s: (s.value, -s.size))

    def _is_thing(self, symbol: FileSymbol) -> bool:
        home = self._file.sections[symbol.section]
        is_inside = home.address <= symbol.value < home.address + home.size
        return symbol.kind in (OBJECT, NOTYPE) and is_inside and not home.executable and not home.thread_local

    @cached_property
    def _starts(self) -> list[int]:
        return [s.value for s in self._things]

    @cached_property
    def _overlapping(self) -> set[int]:
        """Starts of objects that share bytes with others, or have a label inside."""
        found: set[int] = set()
        around: FileSymbol | None = None
        for symbol in self._things:
            if around is not None and symbol.value < around.value + around.size:
                if symbol.size or symbol.value > around.value:
                    found |= {around.value, symbol.value}
                if symbol.value + symbol.size <= around.value + around.size:
                    continue
            around = symbol
        return found

    def home(self, name: str) -> FileSection:
        return self._file.sections[self.objects[name].section]

    def distance(self, one: str, other: str) -> int:
        return self.objects[other].value - self.objects[one].value

    def content(self, name: str) -> tuple[bytes, object]:
        """The initial contents of an object. Relocated words match nothing on the other side."""
        symbol, home = self.objects[name], self.home(name)
        start = symbol.value - home.address
        is_filled = self._is_relocated(symbol.value, symbol.value + symbol.size)
        return home.data[start : start + symbol.size].ljust(symbol.size, b"\0"), self if is_filled else None

    def are_neighbours(self, one: str, other: str) -> bool:
        """Whether there is only padding between two objects."""
        first, second = self.objects[one], self.objects[other]
        end = first.value + first.size
        return 0 <= second.value - end <= MOST_PADDING and self._is_free(end, second.value)

    def room_behind(self, name: str) -> int:
        """Bytes after an object that belong to nothing. Another page may belong to another file."""
        end = self.objects[name].value + self.objects[name].size
        most = min(MOST_BEHIND, -end % PAGE)
        return next((room for room in range(most, 0, -1) if self._is_free(end, end + room)), 0)

    def _is_free(self, low: int, high: int) -> bool:
        index = bisect_left(self._starts, low)
        starts_there = index < len(self._starts) and self._starts[index] < high
        if starts_there or self._is_relocated(low, high):
            return False
        homes = [s for s in self._file.sections.values() if s.size and s.address < high and low < s.address + s.size]
        return not any(s.executable or any(s.data[max(low - s.address, 0) : max(high - s.address, 0)]) for s in homes)

    def _is_relocated(self, low: int, high: int) -> bool:
        at = bisect_left(self._relocated, low - 7)
        return at < len(self._relocated) and self._relocated[at] < high

    @cached_property
    def _relocated(self) -> list[int]:
        return sorted(r.offset for r in self._file.relocations.get(0, ()))
