"""What a linked file has names for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property

from isoform.load.blocks import is_name, is_numbered
from isoform.load.parsed import FILE_SYMBOL, FUNCTION, LOCAL, NOTYPE, OBJECT, UNDEFINED_SECTION, FileSymbol, ParsedFile
from isoform.load.section_names import has_no_variables
from isoform.load.thread import bare
from isoform.model.linkage import Dynamic


class LinkedNames:
    """Each list is made once per question: large libraries have thousands of names, and several steps ask."""

    def __init__(self, file: ParsedFile) -> None:
        self.file = file

    @cached_property
    def defined(self) -> list[FileSymbol]:
        """Functions and objects of both symbol tables, each once."""
        seen: dict[tuple[str, int], FileSymbol] = {}
        sections = self.file.sections
        for symbol in (*self.file.dynamic_symbols, *self.file.symbols):
            if symbol.section != UNDEFINED_SECTION and symbol.section in sections and is_name(symbol.name):
                seen.setdefault((bare(symbol.name), symbol.value), symbol)
        return [s if s.name == name else s._replace(name=name) for (name, _), s in seen.items()]

    @cached_property
    def shareable(self) -> dict[str, FileSymbol]:
        """Functions and writable objects by name, if the name stands for one thing only."""
        wanted = [s for s in self.defined if self.is_function(s) or self.is_writable_object(s)]
        plain = Counter(s.name.rpartition(".")[0] for s in wanted if is_numbered(s))
        wanted = [s for s in wanted if not is_numbered(s) or plain[s.name.rpartition(".")[0]] == 1]
        uses = Counter(s.name for s in wanted)
        found = {s.name: s for s in wanted if uses[s.name] == 1}
        sources = dict(self._source_files()) if len(found) < len(wanted) else {}
        local = [(f"{s.name} of {sources[s.name, s.value]}", s) for s in wanted if (s.name, s.value) in sources]
        by_source = Counter(name for name, _ in local)
        return found | {name: s for name, s in local if uses[s.name] > 1 and by_source[name] == 1}

    def _source_files(self) -> Iterator[tuple[tuple[str, int], str]]:
        """By name and value of a local symbol: the source file that the symbol table names for it."""
        source = ""
        for symbol in self.file.symbols:
            if symbol.kind == FILE_SYMBOL:
                source = symbol.name
            elif symbol.binding == LOCAL and source:
                yield (symbol.name, symbol.value), source

    @cached_property
    def copied(self) -> dict[int, FileSymbol]:
        """Objects of other files that the loader copies into this program, by address."""
        found: dict[int, FileSymbol] = {}
        symbols = self.file.dynamic_symbols
        kinds = {kind for kind, meaning in self.file.linkage.dynamic.items() if meaning is Dynamic.COPY}
        for relocation in self.file.relocations.get(0, ()):
            if relocation.kind in kinds and 0 < relocation.symbol < len(symbols):
                symbol = symbols[relocation.symbol]
                start, end = relocation.offset, relocation.offset + symbol.size
                inside = any(s.address <= start and end <= s.address + s.size for s in self.file.sections.values())
                if symbol.size and inside:
                    found[relocation.offset] = symbol
        return found

    @cached_property
    def function_starts(self) -> list[int]:
        return sorted({s.value for s in self.defined if self.is_function(s)})

    @cached_property
    def object_starts(self) -> list[int]:
        return sorted({s.value for s in self.defined if s.kind in (OBJECT, NOTYPE)})

    def is_function(self, symbol: FileSymbol) -> bool:
        if symbol.kind != NOTYPE or symbol.binding == LOCAL:
            return symbol.kind == FUNCTION
        home = self.file.sections[symbol.section]
        return home.executable and home.address <= symbol.value < home.address + home.size

    def is_writable_object(self, symbol: FileSymbol) -> bool:
        return symbol.kind == OBJECT and symbol.size > 0 and self.file.sections[symbol.section].writable

    @cached_property
    def variable_ranges(self) -> list[tuple[int, int]]:
        """Where a file has its writable variables (the sections, ends included), and what it copies from libraries;
        copied constants are in sections that are not writable."""
        sections = self.file.sections.values()
        found = [s for s in sections if s.size and s.writable and not s.thread_local and not has_no_variables(s.name)]
        copied = [(start, start + symbol.size) for start, symbol in sorted(self.copied.items())]
        return [*((section.address, section.address + section.size) for section in found), *copied]

    @property
    def variables(self) -> tuple[set[tuple[str, int, int]], list[tuple[int, int]]]:
        """Names, addresses and sizes of the writable variables, and where all of them are."""
        named = {(s.name, s.value, s.size) for s in self.defined if self.is_writable_object(s)}
        copied = {(symbol.name, start, symbol.size) for start, symbol in self.copied.items()}
        return named | copied, self.variable_ranges


def fixed_conflict(sides: Sequence[LinkedNames | None]) -> str:
    """Why a number in a program at fixed addresses does not tell which variable it is the address of. Nothing in the
    program marks addresses, so all variables must be at the same ones on both sides."""
    fixed = [names for names in sides if names is not None and names.file.fixed]
    if len(sides) < 2 or not fixed:
        return ""
    if len(fixed) == len(sides) and fixed[0].variables == fixed[1].variables:
        return ""
    return "the variables of a program at fixed addresses are elsewhere in the other file; link it with -pie"
