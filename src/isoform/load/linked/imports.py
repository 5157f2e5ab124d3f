"""What a linked file takes from others, and functions that are chosen when it is loaded."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from isoform.load.blocks import is_name
from isoform.load.fields import WeakSymbol
from isoform.load.gathered import Gathered
from isoform.load.linked.contents import WORD, LinkedContents
from isoform.load.linked.moves import Move, Moves
from isoform.load.parsed import IFUNC, UNDEFINED_SECTION, ParsedFile
from isoform.load.section_names import is_offset_table
from isoform.load.shared import Shared
from isoform.load.thread import GET_ADDRESS, bare


class Imports:
    def __init__(
        self, file: ParsedFile, contents: LinkedContents, moves: Moves, shared: Shared, gathered: Gathered
    ) -> None:
        self._file = file
        self._contents = contents
        self._moves = moves
        self._shared = shared
        self._gathered = gathered
        self._names: dict[int, str] = {}
        """By slot."""
        self._own: dict[int, int] = {}
        """By slot: addresses of code that is present."""

    def note_own(self, slot: int, code: int) -> None:
        """A slot that holds the address of a function of this file."""
        self._own[slot] = code

    def named(self, slot: int, name: str) -> int:
        """What a slot holds: the address of a name."""
        if name == GET_ADDRESS:
            self._own[slot] = self.loader_code()
            return self._own[slot]
        self._names[slot] = name
        address = self._moves.named(name)
        self._gathered.externals[address] = name
        if name in self._shared.weak:
            self._note_weak(slot, name, self._shared.weak[name], address)
        return address

    def loader_code(self) -> int:
        return self._gathered.add_loader_code(self._shared.loader_code(self._file.linkage.loader_code))

    def _note_weak(self, slot: int, name: str, bit: int | None, address: int) -> None:
        section = self._contents.section_of(slot)
        own = self._moves.base + slot
        if bit is not None:
            self._gathered.weak[name] = WeakSymbol(bit, address)
            self._gathered.weak_fields[own] = (name, WORD)
        if bit is None or section is None or not is_offset_table(section.name):
            self._gathered.break_field(own, WORD, f"a table holds the address of '{name}', a weak symbol")

    def resolved(self, slot: int, resolver: int) -> int:
        """A function that a resolver chooses: known by its name, or else private to this side."""
        names = self._resolved_names.get(resolver, set())
        name = next(iter(names)) if len(names) == 1 else ""
        if not name or len(self._resolvers_by_name[name]) > 1:
            name = f"function chosen by {self._moves.base + resolver:#x}"
        address = self.named(slot, name)
        self._gathered.resolvers[address] = self._moves.base + resolver
        return address

    def resolver_entries(self) -> Iterator[int]:
        """Of all functions with a name, used in this file or not."""
        return (self._moves.base + resolver for resolver in self._resolved_names)

    @cached_property
    def _resolved_names(self) -> dict[int, set[str]]:
        """Names of functions by their resolvers' addresses."""
        found: dict[int, set[str]] = {}
        for symbol in (*self._file.dynamic_symbols, *self._file.symbols):
            if symbol.kind == IFUNC and symbol.section != UNDEFINED_SECTION and is_name(symbol.name):
                found.setdefault(symbol.value, set()).add(bare(symbol.name))
        return found

    @cached_property
    def _resolvers_by_name(self) -> dict[str, set[int]]:
        found: dict[str, set[int]] = {}
        for resolver, names in self._resolved_names.items():
            for name in names:
                found.setdefault(name, set()).add(resolver)
        return found

    def stubs(self) -> Iterator[Move]:
        """Record what stubs lead to. Returns their addresses, which a program may use as those of the functions."""
        for section in self._contents.sections:
            if section.executable and section.name.startswith(".plt"):
                for start, slot in self._file.linkage.stubs(section.data, section.entry_size):
                    yield from self._stub(self._moves.base + section.address + start, section.address + slot)

    def _stub(self, stub: int, slot: int) -> Iterator[Move]:
        if slot in self._own:
            self._gathered.aliases[stub] = self._own[slot]
        if slot not in self._names:
            return
        self._gathered.externals[stub] = self._names[slot]
        address = self._shared.by_name(self._names[slot])
        if address in self._gathered.resolvers:
            self._gathered.resolvers[stub] = self._gathered.resolvers[address]
        if self._file.is_program and self._moves.translate(stub) == stub:
            yield stub, stub + 1, address
