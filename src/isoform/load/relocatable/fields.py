"""The fields of an object file that relocations fill: their contents, and what is known about them."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256

from isoform.load.fields import AddressPart, Field
from isoform.load.gathered import Destination, Gathered
from isoform.load.image import Section
from isoform.load.objects import PlacedObject
from isoform.load.parsed import (
    SECTION_SYMBOL,
    THREAD_LOCAL,
    UNDEFINED_SECTION,
    FileSection,
    FileSymbol,
    Relocation,
    unusable,
)
from isoform.load.relocatable.extents import Extents
from isoform.load.relocatable.placed import PlacedFile
from isoform.load.relocatable.relocations import Relocations, UnknownFieldError
from isoform.load.relocatable.sections import SectionTargets
from isoform.load.relocatable.symbols import SymbolTargets
from isoform.load.relocatable.threads import ThreadTargets
from isoform.load.statics import StaticUses
from isoform.model.linkage import Formula, Part, Rule
from isoform.model.machine import Order


class RelocatedFields:
    def __init__(
        self,
        placed: PlacedFile,
        relocations: Relocations,
        symbols: SymbolTargets,
        sections: SectionTargets,
        threads: ThreadTargets,
        extents: Extents,
        gathered: Gathered,
    ) -> None:
        self._file = placed.file
        self._shared = placed.shared
        self._code = placed.code
        self._relocations = relocations
        self._symbols = symbols
        self._sections = sections
        self._threads = threads
        self._extents = extents
        self._gathered = gathered
        self._paired = {(index, upper) for (index, _), upper in placed.file.uppers.items()}
        self.statics = StaticUses(placed.file, placed.data)

    def fill(self, section: FileSection, relocation: Relocation, content: bytearray, offset: int, address: int) -> None:
        """Apply a relocation of a section to the part of it with the field at `offset`."""
        rule = self._relocations.rule(relocation)
        width = rule.width if rule.is_known else 1
        if rule.formula is Formula.NOTHING:
            return
        if not 0 <= offset <= len(content) - width:
            raise unusable(self._file.path, f"a relocation lies outside section {section.index}")
        where = f"{section.name}+{relocation.offset:#x}"
        try:
            found = self._value(section, relocation, address)
            if not section.executable and self._is_part_of_address(rule, found):
                raise UnknownFieldError("is not a whole address, and where a linker puts things is not known")
        except UnknownFieldError as error:
            self.statics.note_unclear(relocation)
            self._gathered.break_field(address, rule.width, f"the reference at {where} {error}")
            return
        self._note_static(section, relocation, address, found.address)
        upper = self._upper(section, relocation, address, found)
        number = found.address - upper[1] if rule.counts_from_upper else found.address
        field = _field(rule, bytes(content[offset : offset + width]), number, self._file.byte_order)
        if field is None:
            self._gathered.break_field(address, rule.width, f"the value at {where} does not fit")
            return
        content[offset : offset + width] = field
        if rule.part is not None:
            whole = found.address if rule.part is Part.LOWER else None
            self._gathered.address_parts[address] = AddressPart(whole, upper)
        if rule.part is Part.UPPER:  # the other instruction has the address
            name = self._name(rule, self._file.symbols[relocation.symbol], relocation)
            self._gathered.relocated[address] = Field(rule.width, False, name)
            return
        self._note(section, relocation, address, found)

    def _upper(self, section: FileSection, relocation: Relocation, address: int, found: Destination) -> tuple[str, int]:
        """What identifies the upper part of an address: the instruction that counts from itself, or the address."""
        if not self._relocations.rule(relocation).counts_from_upper:
            return "address", found.address
        first = self._file.uppers.get((section.index, relocation.offset), relocation.offset)
        return "instruction", address + first - relocation.offset

    def _is_part_of_address(self, rule: Rule, found: Destination) -> bool:
        """Whether a field of data holds something that a linker decides, but no whole address, nor the distance to
        one."""
        if rule.is_slot or rule.is_thread_slot:
            return True
        if rule.formula is not Formula.ABSOLUTE or rule.is_pointer:
            return False
        sections = self._file.sections
        in_code = (start <= found.address <= start + sections[index].size for index, start in self._code.items())
        return found.origin is not None or any(in_code)

    def _value(self, section: FileSection, relocation: Relocation, address: int) -> Destination:
        """The number in a field, and the object it is relative to."""
        rule = self._relocations.rule(relocation)
        if not rule.is_known:
            raise UnknownFieldError(f"has relocation type {relocation.kind}, which isoform has no rule for")
        symbol = self._relocations.symbol(relocation)
        if symbol is None:
            raise unusable(self._file.path, f"a relocation of section {section.index} names no symbol")
        if rule.formula is Formula.THREAD_DISTANCE:
            return self._threads.distance(symbol, relocation.addend)
        if rule.is_thread_slot:
            return self._threads.slot(symbol, rule.formula).plus(relocation.addend - address)
        if rule.part is not None and symbol.section == UNDEFINED_SECTION and symbol.name in self._shared.weak:
            raise UnknownFieldError(f"is to '{symbol.name}', a weak symbol, by two instructions")
        if rule.is_slot:
            start = address if rule.is_relative else 0
            return self._slot(symbol, relocation.symbol).plus(relocation.addend - start)
        if symbol.kind == SECTION_SYMBOL:
            target = self._sections.of(section, relocation, symbol)
        else:
            branches = self._relocations.branches(section, relocation)
            target = self._symbols.of(symbol, relocation.symbol, branches).plus(relocation.addend)
        return target.plus(-address) if rule.is_relative else target

    def _slot(self, symbol: FileSymbol, index: int) -> Destination:
        """An entry of the global offset table. A linker decides where it is, as for any other object."""
        if symbol.kind in (SECTION_SYMBOL, THREAD_LOCAL):
            raise UnknownFieldError("goes through the global offset table in a way isoform has no rule for")
        held = self._symbols.of(symbol, index, branches=False)
        content = held.address.to_bytes(8, self._file.byte_order, signed=False)
        slot = self._shared.by_content(("slot", content), 8, 8)
        if held.origin is not None:
            self._gathered.linked_words[slot] = held.origin
        self._gathered.extra[slot] = Section(".got", slot, content, 8, False, False)
        self._gathered.relocated[slot] = Field(8, relative=False)
        if symbol.name in self._gathered.weak:
            self._gathered.weak_fields[slot] = (symbol.name, 8)
        self._note_object(slot, symbol, index, held.address, relative=False)
        item = PlacedObject(f"the entry for {symbol.name} in the global offset table", slot, 8, 8, 8)
        return self._gathered.counted_from(item, slot)

    # What is known of a field

    def _note_static(self, section: FileSection, relocation: Relocation, address: int, value: int) -> None:
        rule = self._relocations.rule(relocation)
        if rule.part is Part.UPPER:
            # What one instruction without the other reaches is not known; of two without a label nothing says that
            # they belong together.
            if (section.index, relocation.offset) not in self._paired:
                self.statics.note_unclear(relocation)
        elif rule.is_slot or (rule.is_relative and not section.executable):
            self.statics.note_unclear(relocation)
        else:
            self.statics.note(relocation, section.executable, address, value)

    def _note(self, section: FileSection, relocation: Relocation, address: int, found: Destination) -> None:
        rule = self._relocations.rule(relocation)
        symbol = self._file.symbols[relocation.symbol]
        self._gathered.relocated[address] = Field(rule.width, rule.is_relative, self._name(rule, symbol, relocation))
        if section.executable and not (rule.is_slot or rule.is_branch or rule.is_thread):
            target = found.address + address if rule.is_relative else found.address
            self._note_object(address, symbol, relocation.symbol, target, rule.is_relative)
        self._note_weak(section, relocation, symbol, address)
        self._note_meant(rule, symbol, relocation.symbol, address, found.origin)
        if found.origin is not None:
            self._note_origin(section, rule, address, found.origin)

    def _name(self, rule: Rule, symbol: FileSymbol, relocation: Relocation) -> str:
        """For a field spread over several instructions, what it leads to: an outside name, or whatever the file has
        there. For thread-local data, the name."""
        if rule.is_encoded and (symbol.section != UNDEFINED_SECTION or rule.part is not None):
            place = f"{symbol.section}+{symbol.value + relocation.addend:#x}"
            return f"{place} of {sha256(self._file.data).hexdigest()}"
        home = self._file.sections.get(symbol.section)
        is_thread = symbol.kind == THREAD_LOCAL or (home is not None and home.thread_local)
        return f"{symbol.name} {relocation.addend}" if rule.is_encoded or is_thread else ""

    def _note_object(self, field: int, symbol: FileSymbol, index: int, target: int, relative: bool) -> None:
        reference = self._extents.reference(symbol, index, target, relative)
        if reference is not None:
            self._gathered.references[field] = reference

    def _note_weak(self, section: FileSection, relocation: Relocation, symbol: FileSymbol, address: int) -> None:
        rule = self._relocations.rule(relocation)
        if symbol.name not in self._gathered.weak or rule.is_slot or self._relocations.branches(section, relocation):
            return
        self._gathered.weak_fields[address] = (symbol.name, rule.width)
        if not section.executable:
            why = f"a table holds the address of '{symbol.name}', a weak symbol"
            self._gathered.break_field(address, rule.width, why)

    def _note_meant(self, rule: Rule, symbol: FileSymbol, index: int, address: int, origin: int | None) -> None:
        if rule.is_slot or rule.is_thread_slot or origin in self._gathered.extra:
            return  # the address of a table, or of a literal
        found = self._extents.meant(symbol, index)
        if found.ranges:
            self._gathered.meant[address] = found

    def _note_origin(self, section: FileSection, rule: Rule, address: int, origin: int) -> None:
        """Distances in tables stay plain numbers: code adds them to the address that they are relative to."""
        if rule.is_branch and rule.is_encoded:
            return  # the jump itself consumes the number
        if section.executable:
            self._gathered.linked_fields[address] = origin
            objects = self._gathered.objects
            is_short = rule.formula is Formula.ABSOLUTE and rule.width == 4 and rule.part is None
            if is_short and origin in objects:
                objects[origin] = replace(objects[origin], is_low=True)
        elif rule.width == 8 and rule.formula in (Formula.ABSOLUTE, Formula.THREAD_DISTANCE):
            self._gathered.linked_words[address] = origin


def _field(rule: Rule, before: bytes, value: int, order: Order) -> bytes | None:
    """A field with a value in it; None where that does not fit."""
    if rule.put is not None:
        return rule.put(before, value)
    limit = 1 << (8 * rule.width - 1)
    if rule.width == 4 and not -limit <= value < (2 * limit if rule.is_unsigned else limit):
        return None
    return (value % (2 * limit)).to_bytes(rule.width, order)
