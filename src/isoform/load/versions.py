"""Versions of the functions that a linked file imports: `realpath@GLIBC_2.3` and `realpath@GLIBC_2.2.5` are two
functions of one name."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import replace

from isoform.load.elf import UNDEFINED_SECTION, FileSection, ParsedFile, readable
from isoform.load.known import known_signature

_NEED, _NEEDED = struct.Struct("<HHIII"), struct.Struct("<IHHII")
"""A library of `.gnu.version_r` (version, count, file, first, next), and a version of it (hash, flags, number, name,
next)."""
_HIDDEN = 0x8000
_MOST = 1 << 16


def imported_versions(file: ParsedFile) -> dict[str, str]:
    """By name: the version of each symbol that a linked file imports with one."""
    numbers = _section(file, ".gnu.version")
    named = dict(_names(file)) if numbers else {}
    found = {}
    for index, symbol in enumerate(file.dynamic_symbols[: len(numbers) // 2]):
        number = int.from_bytes(numbers[2 * index : 2 * index + 2], "little") & ~_HIDDEN
        if symbol.section == UNDEFINED_SECTION and number in named:
            found[symbol.name] = named[number]
    return found


def told_apart(files: Sequence[ParsedFile]) -> list[ParsedFile]:
    """Two files with names that stand for one function in each: what they import in different versions has its version
    in its name. Functions of the C library that isoform knows keep their name (assumption `versions-agree`)."""
    if len(files) != 2 or not all(file.linked for file in files):
        return list(files)
    versions = [imported_versions(file) for file in files]
    unlike = {
        name
        for name in versions[0].keys() & versions[1].keys()
        if versions[0][name] != versions[1][name] and known_signature(name) is None
    }
    return [
        _renamed(file, {name: f"{name}@{own[name]}" for name in unlike})
        for file, own in zip(files, versions, strict=True)
    ]


def _renamed(file: ParsedFile, names: dict[str, str]) -> ParsedFile:
    if not names:
        return file
    symbols = tuple(s._replace(name=names.get(s.name, s.name)) for s in file.dynamic_symbols)
    return replace(file, dynamic_symbols=symbols)


def _names(file: ParsedFile) -> Iterator[tuple[int, str]]:
    """The versions that a file needs of its libraries, by number. Offsets are those of an untrusted file: what lies
    outside is left out, and no list is followed without end."""
    content, texts = _section(file, ".gnu.version_r"), _section(file, ".dynstr")
    at, left = 0, _MOST
    while 0 <= at <= len(content) - _NEED.size and left > 0:
        _, count, _, first, following = _NEED.unpack_from(content, at)
        inner = at + first
        for _ in range(count):
            left -= 1
            if not 0 <= inner <= len(content) - _NEEDED.size or left <= 0:
                break
            _, _, number, name, step = _NEEDED.unpack_from(content, inner)
            end = texts.find(b"\0", name)
            if end >= 0:
                yield number & ~_HIDDEN, readable(texts[name:end])
            inner += step
        left -= 1
        if not following:
            return
        at += following


def _section(file: ParsedFile, name: str) -> bytes:
    found: FileSection | None = next((s for s in file.sections.values() if s.name == name), None)
    return b"" if found is None else found.data
