"""What the relocations of an object file say by themselves, before anything is placed."""

from __future__ import annotations

from bisect import bisect_left

from isoform.load.parsed import FileSection, FileSymbol, ParsedFile, Relocation
from isoform.load.relocatable.functions import Functions
from isoform.model.linkage import FieldUses, Formula, Rule, Use


class UnknownFieldError(Exception):
    """The value of a field cannot be determined; the message completes "the reference at … "."""


class Relocations:
    def __init__(self, file: ParsedFile, functions: Functions) -> None:
        self._file = file
        self._linkage = file.linkage
        self._functions = functions
        self._ordered: dict[int, list[Relocation]] = {}
        self._readers: dict[int, FieldUses] = {}

    def rule(self, relocation: Relocation) -> Rule:
        return self._linkage.rule(relocation.kind)

    def symbol(self, relocation: Relocation) -> FileSymbol | None:
        """None if the file is malformed."""
        return self._file.symbols[relocation.symbol] if relocation.symbol < len(self._file.symbols) else None

    def between(self, section: int, start: int, end: int) -> list[Relocation]:
        """The relocations that change a part of a section, in order."""
        ordered = self._ordered.get(section)
        if ordered is None:
            rows = self._file.relocations.get(section, ())
            ordered = self._ordered[section] = sorted(rows, key=lambda r: r.offset)
        first = bisect_left(ordered, start, key=lambda r: r.offset)
        return ordered[first : bisect_left(ordered, end, key=lambda r: r.offset)]

    def branches(self, section: FileSection, relocation: Relocation) -> bool:
        """Whether a field is the target of a direct call or jump."""
        rule = self.rule(relocation)
        if not section.executable or rule.is_branch:
            return section.executable
        is_distance = rule.formula is Formula.RELATIVE and rule.width == 4
        return is_distance and self._linkage.is_branch(section.data, relocation.offset)

    def use(self, section: FileSection, relocation: Relocation) -> Use | None:
        """How an instruction uses a field; None where it cannot be decoded."""
        reader = self._readers.get(section.index)
        if reader is None:
            starts = self._functions.starts_in(section.index)
            reader = self._readers[section.index] = self._linkage.field_uses(section.data, starts)
        return reader.use(relocation.offset)

    def named_offset(self, section: FileSection, relocation: Relocation) -> int:
        """The offset in its section that a reference leads to."""
        if not self.rule(relocation).is_relative:
            return relocation.addend
        use = self.use(section, relocation) if section.executable else None
        return relocation.addend + (4 + use.trailing if use is not None else 0)

    def formed_target(self, section: FileSection, relocation: Relocation) -> int | None:
        """The target of a reference that clearly only forms an address: lea, mov of an immediate, a data pointer."""
        rule = self.rule(relocation)
        if section.executable:
            if rule.is_relative:
                forms = self._linkage.forms_distance(section.data, relocation.offset)
                return relocation.addend + 4 if forms else None
            return relocation.addend if self._linkage.forms_number(section.data, relocation.offset) else None
        return relocation.addend if rule.is_pointer else None

    def is_table_of_distances(self, home: FileSection, offset: int) -> bool:
        """Whether there are distances to other sections, as in a jump table. Added to the table's address they give
        those places wherever the table is, so that any address serves for the table."""
        rows = self.between(home.index, offset, offset + 4)
        if not rows or rows[0].offset != offset or not self.rule(rows[0]).is_relative:
            return False
        return self._file.symbols[rows[0].symbol].section != home.index

    def are_shared_by_content(self, home: FileSection) -> bool:
        """Whether the contents of a section are literals: equal ones share one place."""
        return home.mergeable and not self._file.relocations.get(home.index)
