"""Sections of a program that have a name like one of a loader's or an unwinder's.

A variable may be put into a section `.note.x` or `.gcc_except_table.x`. Names alone do not tell: such a section is the
program's own if a symbol names an object in it, if code or data of the program refers to it, or, in a linked file, if
no linker makes a section of that name. It gets another name here, so that it counts as data like any other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from isoform.load.parsed import LOCAL, OBJECT, FileSection, FileSymbol, Relocation
from isoform.load.section_names import is_made_by_linkers, is_of_loader, is_referred_to

_OF_LINKERS = {".note.ABI-tag": "__abi_tag", ".dynamic": "_DYNAMIC"}
"""Names that linked files have for what is in these."""


def with_program_sections(
    sections: Mapping[int, FileSection],
    symbols: Sequence[FileSymbol],
    relocations: Mapping[int, tuple[Relocation, ...]],
    is_linked: bool,
) -> dict[int, FileSection]:
    special = {i for i, s in sections.items() if is_of_loader(s.name) or not is_referred_to(s.name)}
    if not special:
        return dict(sections)
    own = {i for i in special if is_linked and not is_made_by_linkers(sections[i].name)}
    named = (symbol for symbol in symbols if symbol.section in special and _names_object(symbol))
    own |= {symbol.section for symbol in named if _OF_LINKERS.get(sections[symbol.section].name) != symbol.name}
    if not is_linked:
        own |= set(_referred_to(sections, symbols, relocations)) & special
    return {i: replace(s, name=f"data {s.name}") if i in own else s for i, s in sections.items()}


def _names_object(symbol: FileSymbol) -> bool:
    return bool(symbol.name) and (symbol.binding != LOCAL or (symbol.kind == OBJECT and symbol.size > 0))


def _referred_to(
    sections: Mapping[int, FileSection],
    symbols: Sequence[FileSymbol],
    relocations: Mapping[int, tuple[Relocation, ...]],
) -> Iterator[int]:
    """The sections that code and data which code refers to lead to."""
    for index, rows in relocations.items():
        section = sections.get(index)
        if section is not None and is_referred_to(section.name):
            yield from (symbols[row.symbol].section for row in rows if row.symbol < len(symbols))
