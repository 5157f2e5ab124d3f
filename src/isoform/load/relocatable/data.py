"""Addresses in the data of an object file."""

from __future__ import annotations

from isoform.load.blocks import DataBlock
from isoform.load.gathered import Destination, Gathered
from isoform.load.objects import PlacedObject
from isoform.load.parsed import FileSection
from isoform.load.relocatable.literals import Literals
from isoform.load.relocatable.placed import PlacedFile
from isoform.load.relocatable.relocations import Relocations, UnknownFieldError


class DataTargets:
    def __init__(self, placed: PlacedFile, relocations: Relocations, literals: Literals, gathered: Gathered) -> None:
        self._placed = placed
        self._relocations = relocations
        self._literals = literals
        self._gathered = gathered

    def at(self, home: FileSection, offset: int) -> Destination:
        block = self._placed.data.around(home.index, offset)
        if self._relocations.are_shared_by_content(home) and (block is None or offset >= block.end):
            return self._literals.around(home, offset)
        if block is None:
            raise UnknownFieldError(f"refers to {home.name}+{offset:#x}, where there is nothing")
        return self.in_block(home, block, offset)

    def in_block(self, home: FileSection, block: DataBlock, offset: int) -> Destination:
        """An offset of the section, relative to the start of a block of it."""
        refuse_torn(home, block)
        name, alignment = self._name(home, block), block.origin_alignment
        item = PlacedObject(name, block.origin, block.room, block.room, alignment, skipped=block.skipped)
        return self._gathered.counted_from(item, block.address + offset - block.start)

    def _name(self, home: FileSection, block: DataBlock) -> str:
        names = [part.key[-1] for part in block.parts]
        is_one = len(names) == 1 and block.parts[0].named
        return str(names[0]) if is_one else f"{home.name} of {self._placed.file.path}"


def refuse_torn(home: FileSection, block: DataBlock) -> None:
    if block.torn:
        raise UnknownFieldError(f"refers to data in {home.name} whose names overlap differently on the other side")
