"""Versions of the functions that a linked file imports: `realpath@GLIBC_2.3` and `realpath@GLIBC_2.2.5` are two
functions of one name."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import replace

from isoform.load.elf import readable
from isoform.load.known import known_signature
from isoform.load.parsed import OBJECT, UNDEFINED_SECTION, FileSection, ParsedFile

_NEED, _NEEDED = struct.Struct("<HHIII"), struct.Struct("<IHHII")
"""A library of `.gnu.version_r` (version, count, file, first, next), and a version of it (hash, flags, number, name,
next)."""
_HIDDEN = 0x8000
_MOST = 1 << 16


def imported_versions(file: ParsedFile) -> dict[str, str]:
    """By name: the version of each symbol that a linked file imports with one."""
    return {file.dynamic_symbols[index].name: version for index, version in _versions(file)}


def told_apart(files: Sequence[ParsedFile]) -> list[ParsedFile]:
    """The files with names that stand for one function each: a name that a file imports in several versions, or that
    two files import in different ones, gets its version added. Functions of the C library that isoform knows keep their
    name if each file has one version of them (assumption `versions-agree`)."""
    found = [list(_versions(file)) if file.linked else [] for file in files]
    by_name: list[dict[str, set[str]]] = []
    for file, versions in zip(files, found, strict=True):
        by_name.append({})
        for index, version in versions:
            by_name[-1].setdefault(file.dynamic_symbols[index].name, set()).add(version)
    apart = {name for own in by_name for name, versions in own.items() if len(versions) > 1}
    if len(files) == 2:
        both = by_name[0].keys() & by_name[1].keys()
        unlike = {name for name in both if by_name[0][name] != by_name[1][name]}
        apart |= {name for name in unlike if known_signature(name) is None}
    return [_renamed(file, dict(versions), apart) for file, versions in zip(files, found, strict=True)]


def _renamed(file: ParsedFile, versions: dict[int, str], apart: set[str]) -> ParsedFile:
    if not apart:
        return file
    symbols = tuple(
        s._replace(name=f"{s.name}@{versions[index]}") if s.name in apart and index in versions else s
        for index, s in enumerate(file.dynamic_symbols)
    )
    return replace(file, dynamic_symbols=symbols)


def _versions(file: ParsedFile) -> Iterator[tuple[int, str]]:
    """Symbols that a file imports in some version: index and version."""
    numbers = _section(file, ".gnu.version")
    named = dict(_names(file)) if numbers else {}
    for index, symbol in enumerate(file.dynamic_symbols[: len(numbers) // 2]):
        number = int.from_bytes(numbers[2 * index : 2 * index + 2], file.byte_order) & ~_HIDDEN
        if number in named and (symbol.section == UNDEFINED_SECTION or symbol.kind == OBJECT):
            yield index, named[number]


def _names(file: ParsedFile) -> Iterator[tuple[int, str]]:
    """The versions that a file needs of its libraries, by number. The offsets come from an untrusted file: what lies
    outside is left out, and no list is followed endlessly."""
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
