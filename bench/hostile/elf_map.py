"""Where everything is in a valid 64-bit ELF file: written from the specification, shares no code with isoform."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

SYMBOL_TABLE, RELOCATIONS, NO_BITS, DYNAMIC_SYMBOLS = 2, 4, 8, 11
SYMBOL_SIZE, RELOCATION_SIZE, HEADER_SIZE, SEGMENT_SIZE = 24, 24, 64, 56
FUNCTION = 2


class Field(NamedTuple):
    """A number in the file."""

    name: str
    offset: int
    size: int


class SectionHeader(NamedTuple):
    name_at: int
    type: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int
    entry_size: int


_FILE_FIELDS = (
    *(("class", 4, 1), ("order", 5, 1), ("type", 16, 2), ("machine", 18, 2), ("version", 20, 4), ("entry", 24, 8)),
    *(("phoff", 32, 8), ("shoff", 40, 8), ("flags", 48, 4), ("ehsize", 52, 2), ("phentsize", 54, 2)),
    *(("phnum", 56, 2), ("shentsize", 58, 2), ("shnum", 60, 2), ("shstrndx", 62, 2)),
)
_SECTION_FIELDS = (
    *(("name", 0, 4), ("type", 4, 4), ("flags", 8, 8), ("address", 16, 8), ("offset", 24, 8), ("size", 32, 8)),
    *(("link", 40, 4), ("info", 44, 4), ("alignment", 48, 8), ("entry size", 56, 8)),
)
_SYMBOL_FIELDS = (("name", 0, 4), ("info", 4, 1), ("other", 5, 1), ("section", 6, 2), ("value", 8, 8), ("size", 16, 8))
_RELOCATION_FIELDS = (("offset", 0, 8), ("type", 8, 4), ("symbol", 12, 4), ("addend", 16, 8))
_SEGMENT_FIELDS = (
    *(("type", 0, 4), ("flags", 4, 4), ("offset", 8, 8), ("address", 16, 8), ("physical", 24, 8)),
    *(("file size", 32, 8), ("memory size", 40, 8), ("alignment", 48, 8)),
)


@dataclass(frozen=True)
class ElfMap:
    data: bytes

    @cached_property
    def section_table(self) -> int:
        return int(struct.unpack_from("<Q", self.data, 40)[0])

    @cached_property
    def sections(self) -> list[SectionHeader]:
        count = struct.unpack_from("<H", self.data, 60)[0]
        return [
            SectionHeader(*struct.unpack_from("<IIQQQQIIQQ", self.data, self.section_table + HEADER_SIZE * index))
            for index in range(count)
        ]

    @cached_property
    def names(self) -> list[str]:
        table = self.sections[struct.unpack_from("<H", self.data, 62)[0]]
        return [text_at(self.data, table.offset + section.name_at) for section in self.sections]

    def content(self, index: int) -> bytes:
        section = self.sections[index]
        return b"" if section.type == NO_BITS else self.data[section.offset : section.offset + section.size]

    def file_fields(self) -> list[Field]:
        return [Field(f"header {name}", offset, size) for name, offset, size in _FILE_FIELDS]

    def section_fields(self) -> list[Field]:
        return [
            Field(f"section {self.names[index] or index} {name}", self.section_table + HEADER_SIZE * index + at, size)
            for index in range(len(self.sections))
            for name, at, size in _SECTION_FIELDS
        ]

    def segment_fields(self) -> list[Field]:
        start, count = struct.unpack_from("<Q", self.data, 32)[0], struct.unpack_from("<H", self.data, 56)[0]
        return [
            Field(f"segment {index} {name}", start + SEGMENT_SIZE * index + at, size)
            for index in range(count)
            for name, at, size in _SEGMENT_FIELDS
        ]

    def symbol_fields(self) -> list[Field]:
        return self._entries((SYMBOL_TABLE, DYNAMIC_SYMBOLS), SYMBOL_SIZE, "symbol", _SYMBOL_FIELDS)

    def relocation_fields(self) -> list[Field]:
        return self._entries((RELOCATIONS,), RELOCATION_SIZE, "relocation", _RELOCATION_FIELDS)

    def _entries(
        self, types: tuple[int, ...], size: int, what: str, fields: tuple[tuple[str, int, int], ...]
    ) -> list[Field]:
        return [
            Field(f"{self.names[number]} {what} {start // size} {name}", section.offset + start + at, width)
            for number, section in enumerate(self.sections)
            if section.type in types
            for start in range(0, section.size - size + 1, size)
            for name, at, width in fields
        ]

    def indexes_of(self, *types: int) -> list[int]:
        return [index for index, section in enumerate(self.sections) if section.type in types]

    def number(self, field: Field) -> int:
        return int.from_bytes(self.data[field.offset : field.offset + field.size], "little")


def text_at(data: bytes, offset: int) -> str:
    end = data.find(b"\0", offset)
    return data[offset : end if end >= 0 else len(data)].decode("utf-8", "replace")
