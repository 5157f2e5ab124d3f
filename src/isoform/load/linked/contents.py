"""The sections of a linked file and what is in them, while relocations are applied."""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Iterator

from isoform.load.parsed import FileSection, ParsedFile, unusable

SPAN_LIMIT = 1 << 32
FIXED_LIMIT = 1 << 47
WORD = 8


def loaded_sections(file: ParsedFile) -> list[FileSection]:
    """Sections that take room in memory, by address; checked not to overlap."""
    limit = FIXED_LIMIT if file.fixed else SPAN_LIMIT
    found = [s for s in file.sections.values() if s.size and not (s.thread_local and not s.data)]
    found.sort(key=lambda s: s.address)
    for section in found:
        if section.address + section.size > limit:
            raise unusable(file.path, f"section {section.index} has an impossible address")
    for earlier, later in itertools.pairwise(found):
        if later.address < earlier.address + earlier.size:
            raise unusable(file.path, f"sections {earlier.index} and {later.index} overlap")
    return found


class LinkedContents:
    """Addresses are those that the file itself has."""

    def __init__(self, file: ParsedFile) -> None:
        self._path, self._order = file.path, file.byte_order
        self.sections = loaded_sections(file)
        self._starts = [s.address for s in self.sections]
        self._bytes = {s.index: bytearray(s.data) for s in self.sections}

    def section_of(self, address: int) -> FileSection | None:
        index = bisect_right(self._starts, address) - 1
        if index < 0 or address >= self.sections[index].address + self.sections[index].size:
            return None
        return self.sections[index]

    def of(self, section: int) -> bytes:
        return bytes(self._bytes.get(section, b""))

    def between(self, section: int, start: int, end: int) -> bytes:
        return bytes(self._bytes.get(section, b"")[start:end])

    def home_of_word(self, address: int) -> tuple[FileSection, bytearray]:
        """The section that contains a word, and its contents, extended to the word's end."""
        section = self.section_of(address)
        if section is None or address + WORD > section.address + section.size:
            raise unusable(self._path, f"a relocation lies outside every section, at {address:#x}")
        content = self._bytes[section.index]
        missing = address - section.address + WORD - len(content)
        if missing > 0:
            content.extend(bytes(missing))
        return section, content

    def word(self, address: int) -> int:
        section, content = self.home_of_word(address)
        at = address - section.address
        return int.from_bytes(content[at : at + WORD], self._order)

    def write_word(self, address: int, value: int) -> None:
        section, content = self.home_of_word(address)
        at = address - section.address
        content[at : at + WORD] = (value % (1 << 64)).to_bytes(WORD, self._order)

    def numbers_between(self, section: FileSection, low: int, high: int) -> Iterator[tuple[int, int]]:
        """Offset and value of every 32-bit number in a range, aligned or not."""
        content = self.of(section.index)
        for shift in range(4):
            words = memoryview(content[shift : shift + (len(content) - shift) // 4 * 4]).cast("I")
            yield from ((4 * index + shift, word) for index, word in enumerate(words) if low <= word <= high)
