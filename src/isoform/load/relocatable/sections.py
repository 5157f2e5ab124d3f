"""The targets of references that name a section and a distance."""

from __future__ import annotations

from isoform.load.blocks import DataBlock
from isoform.load.gathered import Destination
from isoform.load.parsed import OBJECT, FileSection, FileSymbol, Relocation
from isoform.load.relocatable.data import DataTargets, refuse_torn
from isoform.load.relocatable.functions import Functions
from isoform.load.relocatable.literals import Literals
from isoform.load.relocatable.placed import PlacedFile
from isoform.load.relocatable.relocations import Relocations, UnknownFieldError
from isoform.load.relocatable.symbols import SymbolTargets
from isoform.model.linkage import Use
from isoform.model.microop import CODE_ORIGIN

SCALAR = 4
"""A pointer past the end of an object of at most this many bytes is not expected."""
_DISTANCE_BYTES = 4


class SectionTargets:
    def __init__(
        self,
        placed: PlacedFile,
        functions: Functions,
        relocations: Relocations,
        literals: Literals,
        data: DataTargets,
        symbols: SymbolTargets,
    ) -> None:
        self._placed = placed
        self._file = placed.file
        self._functions = functions
        self._relocations = relocations
        self._literals = literals
        self._data = data
        self._symbols = symbols

    def of(self, section: FileSection, relocation: Relocation, symbol: FileSymbol) -> Destination:
        home = self._file.sections.get(symbol.section)
        if home is None or home.thread_local:
            raise UnknownFieldError("refers to a section that is not in memory")
        if home.index in self._placed.code:
            return self._in_code(section, relocation, home)
        block = self._placed.data.around(home.index, relocation.addend)
        if block is not None and block.whole and not self._relocations.are_shared_by_content(home):
            return self._in_whole(section, relocation, home, block)
        if not section.executable and self._relocations.rule(relocation).is_relative:
            return self._in_table(section, relocation, home)
        return self._in_part(section, relocation, home)

    def _in_code(self, section: FileSection, relocation: Relocation, home: FileSection) -> Destination:
        base, rule = self._placed.code[home.index], self._relocations.rule(relocation)
        if section.executable and (
            self._file.linkage.is_branch(section.data, relocation.offset) or (rule.is_branch and rule.is_encoded)
        ):
            return Destination(base + relocation.addend)
        if not section.executable and rule.is_relative:
            return Destination(base + relocation.addend)  # a jump table: distances between labels
        target = relocation.addend + (4 if rule.is_relative else 0)
        function = self._functions.names_by_start.get((home.index, target))
        if function is None:
            return Destination(base + relocation.addend, CODE_ORIGIN)
        return self._symbols.function(function, base + target).plus(relocation.addend - target)

    def _in_whole(
        self, section: FileSection, relocation: Relocation, home: FileSection, block: DataBlock
    ) -> Destination:
        refuse_torn(home, block)
        target = self._relocations.formed_target(section, relocation)
        if target is not None and not home.writable:
            literal = self._literals.text_at(home, target, block)
            if literal is not None:
                return self._literals.text(literal, 1).plus(relocation.addend - target)
            if self._literals.is_inner_text(home, target, block):
                raise UnknownFieldError(f"forms an address in {home.name} of what is not plainly one literal")
        if self._relocations.is_table_of_distances(home, self._relocations.named_offset(section, relocation)):
            return Destination(block.address + relocation.addend)
        return self._data.in_block(home, block, relocation.addend)

    def _in_table(self, section: FileSection, relocation: Relocation, home: FileSection) -> Destination:
        """A table of distances from its own start: entry i of a table at `start` holds target - start, written
        as target + i - field, where i is the entry's offset in the table."""
        block = self._placed.data.around(section.index, relocation.offset)
        part = block.part_at(relocation.offset - block.start) if block is not None else None
        if block is not None and part is not None and part.named:
            inside = relocation.offset - block.start - part.start
            return self._data.at(home, relocation.addend - inside).plus(inside)
        starts_one = relocation.addend == 0 or home.data[relocation.addend - 1 : relocation.addend] == b"\0"
        if self._relocations.are_shared_by_content(home) and home.strings and starts_one:
            # Assemblers use a literal's section only if nothing is added to the literal's own address.
            return self._data.at(home, relocation.addend)
        raise UnknownFieldError("is a distance in a table without a name")

    def _in_part(self, section: FileSection, relocation: Relocation, home: FileSection) -> Destination:
        """A reference to a section that was split into its objects."""
        use = self._relocations.use(section, relocation) if section.executable else Use(0, True)
        if use is None:
            raise UnknownFieldError("is in code that cannot be decoded")
        target = relocation.addend + (4 + use.trailing if self._relocations.rule(relocation).is_relative else 0)
        if self._is_ambiguous(home, target, use, section.executable):
            raise UnknownFieldError(
                f"may mean more than one object at {home.name}+{target:#x}; build the file with -fdata-sections"
            )
        if self._may_hold_distances(home, target):
            raise UnknownFieldError(
                f"may refer to distances between objects of {home.name}; build the file with -fdata-sections"
            )
        found = self._data.at(home, target).plus(relocation.addend - target)
        return Destination(found.address) if self._relocations.is_table_of_distances(home, target) else found

    def _is_ambiguous(self, home: FileSection, target: int, use: Use, in_code: bool) -> bool:
        """Whether an object other than the one around `target` may be meant. This matters if the section is split: an
        address that is only formed may lie past the end of its object or (as a base of an index) before it."""
        if not use.forms_address or self._relocations.are_shared_by_content(home):
            return False
        block = self._placed.data.around(home.index, target)
        if block is None or block.whole:
            return False
        if target == block.start:
            before = self._placed.data.before(block)
            return before is not None and before.size > SCALAR and not self._is_jump_table(before)
        return in_code and target < block.end

    def _is_jump_table(self, block: DataBlock) -> bool:
        """Whether nameless data consists only of places in code: nothing takes the address of its end."""
        rows = self._relocations.between(block.section, block.start, block.end)
        width = 8 if rows and self._relocations.rule(rows[0]).is_pointer else 4
        targets = {symbol.section for row in rows if (symbol := self._relocations.symbol(row)) is not None}
        return not block.parts[0].named and len(rows) * width == block.size and targets <= self._placed.code.keys()

    def _may_hold_distances(self, home: FileSection, target: int) -> bool:
        """Whether there may be a table of distances from its own start to objects beside it, in a section that was
        split: an assembler leaves no relocation for them. clang gives such a table its own name, or none."""
        block = self._placed.data.around(home.index, target)
        if home.writable or block is None or block.whole or self._relocations.are_shared_by_content(home):
            return False
        objects = [s for s in self._file.symbols if s.section == home.index and s.kind == OBJECT]
        names = [s.name for s in objects if s.value == block.start]
        if names and not any(name.endswith(".rel") or name.startswith("reltable.") for name in names):
            return False
        starts = {s.value for s in objects}
        words = range(block.start, block.end - _DISTANCE_BYTES + 1, _DISTANCE_BYTES)
        order = self._file.byte_order
        distances = [int.from_bytes(home.data[at : at + _DISTANCE_BYTES], order, signed=True) for at in words]
        return any(block.start + distance in starts for distance in distances)
