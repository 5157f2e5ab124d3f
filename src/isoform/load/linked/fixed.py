"""Words of a program at fixed addresses that are addresses, though nothing in the file says so."""

from __future__ import annotations

from isoform.load.fields import Field
from isoform.load.gathered import Gathered
from isoform.load.linked.contents import WORD, LinkedContents
from isoform.load.linked.moves import Moves
from isoform.load.linked.names import LinkedNames
from isoform.load.parsed import FileSection
from isoform.load.shared import Shared


class FixedWords:
    """A word that is the address of a function stands for that function (assumption `fixed-addresses`). Other words
    that may be the address of a function, or of variables that the other side has elsewhere, are not known."""

    def __init__(
        self, names: LinkedNames, side: int, contents: LinkedContents, moves: Moves, shared: Shared, gathered: Gathered
    ) -> None:
        self._names = names
        self._side = side
        self._contents = contents
        self._moves = moves
        self._shared = shared
        self._conflict = shared.fixed_conflict
        self._gathered = gathered

    def fill(self) -> None:
        low = min((s.address for s in self._contents.sections), default=0)
        high = max((s.address + s.size for s in self._contents.sections), default=0)
        for section in self._contents.sections:
            if not section.executable:
                for offset, number in self._contents.numbers_between(section, low, high):
                    self._fill(section, offset, number)

    def _fill(self, section: FileSection, offset: int, number: int) -> None:
        place = section.address + offset
        shared = self._moves.translate(number)
        if place in self._gathered.relocated:
            return
        if shared != number and self._is_word(section, offset):
            self._contents.write_word(place, shared)
            self._gathered.relocated[place] = Field(WORD, relative=False)
        elif shared != number or (self._conflict and self._is_variable(number)):
            why = self._conflict or "it may hold the address of a function in a packed structure or in 32 bits"
            where = f"{section.name}+{offset:#x}: {why}"
            if section.thread_local:
                self._shared.thread.conflicts.setdefault(self._side, f"{self._names.file.path}: {where}")
            self._gathered.break_field(place, 4, where)

    def _is_word(self, section: FileSection, offset: int) -> bool:
        upper = self._contents.between(section.index, offset + 4, offset + 8)
        return (section.address + offset) % 8 == 0 and not any(upper) and not section.thread_local

    def _is_variable(self, number: int) -> bool:
        return any(low <= number <= high for low, high in self._names.variable_ranges)
