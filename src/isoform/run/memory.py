"""Memory of one concrete run: pages that appear when touched, and a record of what was read and written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from isoform.load.image import Image, Section
from isoform.model.machine import Machine
from isoform.model.outcome import FRAME_LIMIT, PAGE, RETURN_ADDRESS, STACK_GUARD, Inputs, mixed_page
from isoform.model.values import dataclass

MOST_PAGES = 8192
"""32 MiB: a run that touches more is abandoned."""


_STRETCH = 64
"""Bytes compared at once when looking for what changed."""


class TooMuchMemoryError(Exception):
    """A run touched more than MOST_PAGES pages."""


class StackTooSmallError(Exception):
    """A run went further below its stack pointer than a stack usually reaches."""


class CodeModifiedError(Exception):
    """A run stored to an instruction that it may execute, or executes what it stored."""


@dataclass(frozen=True)
class PageChanges:
    """Bytes of one page that differ from their value at entry, by address."""

    contents: dict[int, int]

    @cached_property
    def digest(self) -> int:
        return hash(frozenset(self.contents.items()))


class Memory:
    """Bytes at entry are, in this order: the image's constants, the inputs', frame garbage, the fill. On a machine
    whose memory starts as zero they are the program and zeros, whatever the inputs say."""

    def __init__(
        self, machine: Machine, image: Image, inputs: Inputs, stack_pointer: int, guarded: frozenset[int]
    ) -> None:
        layout = machine.memory
        if layout is not None and layout.zeroed:
            inputs = replace(inputs, memory={}, fill_seed=0)
        self._order = machine.byte_order
        self._inputs = inputs
        if machine.absent_symbols is not None and image.weak_fields:
            image = image.without(inputs.registers.get(machine.absent_symbols, 0))
        self._image = image
        self._is_zeroed = layout is not None and layout.zeroed
        self._stack_pointer = stack_pointer if machine.convention.stack_pointer is not None else None
        self._has_return_address = machine.convention.return_address_on_stack
        self._pointer_size = layout.address_bytes if layout is not None else 8
        self._guarded = guarded
        self._stored: set[int] = set()
        """Where the run stored, on a machine whose code can be written."""
        self._pages: dict[int, bytearray] = {}
        self._pristine: dict[int, bytes] = {}
        self._noted: dict[int, tuple[bytes, PageChanges]] = {}
        """For each page what it held when its changes were asked for last, and these."""
        self._input_pages = {address // PAGE for address in inputs.memory}
        self.recorded: set[int] | None = None
        """Addresses read before they were written, if the run is to record them."""
        self._written: set[int] = set()
        self.stores: set[tuple[int, int]] | None = None
        """Addresses and sizes of all stores, if the run is to note them."""
        self.overlaps = False
        """Whether `memcpy` was given blocks that overlap."""

    def load(self, address: int, size: int) -> int:
        offset = address % PAGE
        page = self._pages.get(address // PAGE)
        if page is None:
            page = self._page(address // PAGE)
        if self.recorded is not None:
            self.recorded.update(a for a in range(address, address + size) if a not in self._written)
        if offset + size <= PAGE:
            return int.from_bytes(page[offset : offset + size], self._order)
        data = bytes(self.byte((address + i) % (1 << (8 * self._pointer_size))) for i in range(size))
        return int.from_bytes(data, self._order)

    def store(self, address: int, size: int, value: int) -> None:
        number, offset = divmod(address, PAGE)
        if number not in self._pristine:
            self._pristine[number] = bytes(self._pages.get(number) or self._page(number))
        if self._guarded and not self._guarded.isdisjoint(range(address, address + size)):
            raise CodeModifiedError
        if self._guarded:
            self._stored.update(range(address, address + size))
        if self.recorded is not None:
            self._written.update(range(address, address + size))
        if self.stores is not None:
            self.stores.add((address, size))
        data = value.to_bytes(size, self._order)
        if offset + size <= PAGE:
            self._pages[number][offset : offset + size] = data
            return
        noted, self.stores = self.stores, None  # it is one store, made byte by byte
        for i, byte in enumerate(data):
            self.store((address + i) % (1 << (8 * self._pointer_size)), 1, byte)
        self.stores = noted

    def store_bytes(self, address: int, data: bytes) -> None:
        """Stores of single bytes, one after the other: a page at a time, unless the stores themselves are noted."""
        size = 1 << (8 * self._pointer_size)
        start = 0
        while start < len(data):
            place = (address + start) % size
            end = start + (1 if self.stores is not None else PAGE - place % PAGE)
            piece = data[start:end]
            self.store(place, len(piece), int.from_bytes(piece, self._order))
            start = end

    def store_outside(self, written: Mapping[int, int]) -> None:
        """What a function outside writes, by address. It is no store of the code that runs: whether that means to store
        a byte, or copies padding, does not show in it."""
        noted, self.stores = self.stores, None
        for address, byte in written.items():
            self.store(address, 1, byte)
        self.stores = noted

    def fetch(self, addresses: frozenset[int]) -> None:
        """Control reaches code that was not known before: what the run has stored there, or stores there later, is not
        what was decoded."""
        if not self._stored.isdisjoint(addresses):
            raise CodeModifiedError
        self._guarded |= addresses

    def byte(self, address: int) -> int:
        page = self._pages.get(address // PAGE)
        return (page if page is not None else self._page(address // PAGE))[address % PAGE]

    def _page(self, number: int) -> bytearray:
        if len(self._pages) >= MOST_PAGES:
            raise TooMuchMemoryError
        page = self._fill(number)
        start = number * PAGE
        pointer = self._stack_pointer
        if pointer is not None and pointer - STACK_GUARD <= start < pointer - FRAME_LIMIT:
            raise StackTooSmallError
        if self._has_return_address and pointer is not None and start <= pointer < start + PAGE:
            size = self._pointer_size
            page[pointer - start : pointer - start + size] = RETURN_ADDRESS.to_bytes(size, self._order)
        if number in self._input_pages:
            for address, byte in self._inputs.memory.items():
                if address // PAGE == number:
                    page[address - start] = byte
        for section in self._known_at_entry(start, start + PAGE):
            _overlay(page, start, section)
        self._pages[number] = page
        return page

    def _known_at_entry(self, low: int, high: int) -> Sequence[Section]:
        """The initial contents according to the file."""
        image = self._image
        return image.sections_between(low, high) if self._is_zeroed else image.unwritten_between(low, high)

    def _fill(self, number: int) -> bytearray:
        """Fresh frame bytes are garbage that differs between the sides; all other memory is the same for both."""
        pointer = self._stack_pointer
        start = number * PAGE
        if pointer is None or not pointer - FRAME_LIMIT - PAGE < start < pointer:
            return bytearray(mixed_page(self._inputs.fill_seed, number))
        page = bytearray(mixed_page(self._inputs.side_seed, number))
        page[pointer - start :] = mixed_page(self._inputs.fill_seed, number)[pointer - start :]
        return page

    def changes(self) -> dict[int, int]:
        """Bytes that differ from their value at entry."""
        found: dict[int, int] = {}
        for number in self._pristine:
            self._add_changes(number, found)
        return found

    def _add_changes(self, number: int, found: dict[int, int]) -> None:
        now, before = self._pages[number], self._pristine[number]
        if now == before:
            return
        for low in range(0, PAGE, _STRETCH):
            if now[low : low + _STRETCH] != before[low : low + _STRETCH]:
                stretch = range(low, low + _STRETCH)
                found.update({number * PAGE + i: now[i] for i in stretch if now[i] != before[i]})

    def changed_pages(self, private: range) -> dict[int, PageChanges]:
        """The same outside a range of addresses, by page. A page that was not written since this was asked last is not
        examined again: a loop that fills an array writes one page after the other."""
        for number in self._pristine:
            now, noted = self._pages[number], self._noted.get(number)
            if noted is None or noted[0] != now:
                found: dict[int, int] = {}
                self._add_changes(number, found)
                outside = {address: byte for address, byte in found.items() if address not in private}
                self._noted[number] = bytes(now), PageChanges(outside)
        return {number: noted for number, (_, noted) in self._noted.items() if noted.contents}

    def page_bytes(self, number: int) -> bytes:
        """A copy of a page as it is now."""
        return bytes(self._pages.get(number) or self._page(number))

    def entry_byte(self, address: int) -> int:
        number, offset = divmod(address, PAGE)
        before = self._pristine.get(number)
        return before[offset] if before is not None else self.byte(address)


def _overlay(page: bytearray, start: int, section: Section) -> None:
    low, high = max(start, section.address), min(start + PAGE, section.end)
    if low >= high:
        return
    data = section.data[low - section.address : high - section.address]
    page[low - start : high - start] = data.ljust(high - low, b"\0")
