"""The sections that debug information is in, each read when it is first asked for."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping
from functools import cached_property

from isoform.load.debug.unusable import Unusable
from isoform.load.parsed import DebugSection, ParsedFile
from isoform.model.linkage import Formula

UNPACKED_LIMIT = 128 << 20
"""Bytes of all compressed sections of a file together."""
_COMPRESSION_HEADER = struct.Struct("<IIQQ")
_ZLIB = 1


class DebugSections:
    """For an object file, `code` has the addresses of its executable sections."""

    def __init__(self, file: ParsedFile, code: Mapping[int, int]) -> None:
        self._file = file
        self._code = code
        self._known: dict[str, bytes] = {}
        self._left = UNPACKED_LIMIT

    def __getitem__(self, name: str) -> bytes:
        """The bytes of a section, as they are in the image; empty where the file has no such section."""
        if name not in self._known:
            section = self._file.debug.get(name)
            self._known[name] = b"" if section is None else self._read(section)
        return self._known[name]

    def _read(self, section: DebugSection) -> bytes:
        data = self._file.data[section.start : section.start + section.size]
        if section.is_compressed:
            return self._unpacked(data, section)
        return self._relocated(data, section) if section.relocations else data

    def _unpacked(self, data: bytes, section: DebugSection) -> bytes:
        if section.relocations:
            raise Unusable("compressed debug information cannot be relocated in place")
        kind, _, size, _ = _COMPRESSION_HEADER.unpack_from(data)
        self._left -= size
        if kind != _ZLIB or self._left < 0:
            raise Unusable("the debug information is too large, or compressed in another way")
        unpacked = zlib.decompressobj().decompress(data[_COMPRESSION_HEADER.size :], size + 1)
        if len(unpacked) != size:
            raise Unusable("a compressed section is not as large as it says")
        return unpacked

    def _relocated(self, data: bytes, section: DebugSection) -> bytes:
        patched = bytearray(data)
        for start, size in section.relocations:
            rows = self._file.data[start : start + size // 24 * 24]
            for offset, kind, symbol, addend in struct.iter_unpack("<QIIq", rows):
                rule = self._file.linkage.rule(kind)
                if rule.formula is Formula.SUM:
                    raise Unusable("the debug information has distances that a linker computes")
                width = rule.width if rule.formula is Formula.ABSOLUTE else 0
                if width and offset + width <= len(data):
                    value = (self._addresses[symbol] + addend) % (1 << (8 * width))
                    patched[offset : offset + width] = value.to_bytes(width, self._file.byte_order)
        return bytes(patched)

    @cached_property
    def _addresses(self) -> list[int]:
        """Of the symbols; those of sections that are not code are offsets in them."""
        return [self._code.get(symbol.section, 0) + symbol.value for symbol in self._file.symbols]
