"""The functions of an object file."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from functools import cached_property

from isoform.load.blocks import is_name
from isoform.load.parsed import DEFAULT_VISIBILITY, FUNCTION, LOCAL, NOTYPE, WEAK, FileSymbol, ParsedFile


def function_symbols(file: ParsedFile) -> list[FileSymbol]:
    """Functions; where the file (an assembly text, say) declares none, every label of its code."""
    in_code = [s for s in file.symbols if is_name(s.name) and _is_in_code(file, s)]
    declared = [s for s in in_code if is_function(s)]
    return declared or [s for s in in_code if s.kind == NOTYPE]


def object_functions(file: ParsedFile) -> dict[str, FileSymbol]:
    """Functions whose name is unique."""
    return _named_once(function_symbols(file))


def _named_once(symbols: list[FileSymbol]) -> dict[str, FileSymbol]:
    uses = Counter(s.name for s in symbols)
    return {s.name: s for s in symbols if uses[s.name] == 1}


def is_replaceable(symbol: FileSymbol) -> bool:
    """Whether another definition may replace a definition in an object file: any other replaces a weak one, and one
    that is loaded earlier replaces what is visible outside a shared library."""
    return symbol.binding == WEAK or (symbol.binding != LOCAL and symbol.visibility == DEFAULT_VISIBILITY)


def is_function(symbol: FileSymbol) -> bool:
    return symbol.kind == FUNCTION or (symbol.kind == NOTYPE and symbol.binding != LOCAL)


def _is_in_code(file: ParsedFile, symbol: FileSymbol) -> bool:
    home = file.sections.get(symbol.section)
    return home is not None and home.executable and symbol.kind in (NOTYPE, FUNCTION)


class Functions:
    def __init__(self, file: ParsedFile) -> None:
        self._file = file
        self.symbols = function_symbols(file)

    @cached_property
    def by_name(self) -> dict[str, FileSymbol]:
        """Those whose name is unique."""
        return _named_once(self.symbols)

    @cached_property
    def names_by_start(self) -> dict[tuple[int, int], str]:
        """By section and offset."""
        return {(s.section, s.value): s.name for s in reversed(self.symbols)}

    def starts_in(self, section: int) -> list[int]:
        return [offset for index, offset in self.names_by_start if index == section]

    def extent(self, symbol: FileSymbol) -> int:
        """Size of a function for which the file gives none: up to the next one."""
        starts = self._ends_by_section[symbol.section]
        index = bisect_right(starts, symbol.value)
        return starts[index] - symbol.value if index < len(starts) else 0

    @cached_property
    def _ends_by_section(self) -> dict[int, list[int]]:
        """Possible ends of functions: the starts of others, and the end of the section."""
        found: dict[int, set[int]] = {}
        for section, start in self.names_by_start:
            found.setdefault(section, {self._file.sections[section].size}).add(start)
        return {section: sorted(starts) for section, starts in found.items()}
