"""Memory at entry of a replayed run, page by page, for CPU models that map it at the first touch."""

from __future__ import annotations

from collections.abc import Iterator

from isoform.load.image import Image, Section
from isoform.model.outcome import FRAME_LIMIT, PAGE, RETURN_ADDRESS, Inputs, mixed_page

ADDRESS_MASK = (1 << 64) - 1


class EntryMemory:
    """Contents of memory at entry, by the rule of `Inputs`; the stack below the return address is garbage
    of this side's own."""

    def __init__(self, image: Image, inputs: Inputs, stack_pointer: int, has_return_slot: bool = True) -> None:
        self._inputs = inputs
        self._stack_pointer = stack_pointer
        self._constants = [*_moved_constants(image), *(s for s in image.sections if not s.writable)]
        self._code = [s for s in image.sections if s.executable]
        self._given: dict[int, list[tuple[int, int]]] = {}
        slot = RETURN_ADDRESS.to_bytes(8, "little") if has_return_slot else b""
        return_slot = ((stack_pointer + n, byte) for n, byte in enumerate(slot))
        for address, byte in (*inputs.memory.items(), *return_slot):
            address &= ADDRESS_MASK
            self._given.setdefault(address & -PAGE, []).append((address % PAGE, byte & 0xFF))

    def page(self, base: int) -> bytes:
        """The inputs do not override constants and code, which come from the file."""
        data = bytearray(self._garbage(base))
        for offset, byte in self._given.get(base, ()):
            data[offset] = byte
        for section in (*self._constants, *self._code):
            _overlay(data, base, section)
        return bytes(data)

    def _garbage(self, base: int) -> bytes:
        frame_start = min(max(self._stack_pointer - FRAME_LIMIT, base), base + PAGE)
        frame_end = max(min(self._stack_pointer, base + PAGE), frame_start)
        return (
            mixed_bytes(self._inputs.fill_seed, base, frame_start)
            + mixed_bytes(self._inputs.side_seed, frame_start, frame_end)
            + mixed_bytes(self._inputs.fill_seed, frame_end, base + PAGE)
        )


def mixed_bytes(seed: int, start: int, end: int) -> bytes:
    """The fill of a range within one page."""
    return mixed_page(seed, start // PAGE)[start % PAGE :][: end - start] if start < end else b""


def _moved_constants(image: Image) -> Iterator[Section]:
    """The image's constants under the addresses that are shared with the other side."""
    for start, end, shared in image.moved:
        section = image.section_at(start)
        if section is not None and not section.writable:
            data = section.data[start - section.address : end - section.address]
            yield Section(section.name, shared, data, end - start, writable=False, executable=False)


def _overlay(data: bytearray, base: int, section: Section) -> None:
    start, end = max(section.address, base), min(section.end, base + PAGE)
    if start < end:
        contents = section.data[start - section.address : end - section.address]
        data[start - base : end - base] = contents.ljust(end - start, b"\0")
