"""Source lines from debug information (DWARF 5, section 6.2). They only decorate reports."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path

from isoform.load.debug import forms
from isoform.load.debug.entries import Unit
from isoform.load.debug.forms import UnitEncoding
from isoform.load.debug.read import DebugInfo
from isoform.load.debug.unusable import Unusable
from isoform.load.described import SourceLine
from isoform.model.values import dataclass

LINES_LIMIT = 1 << 16
SOURCE_LIMIT = 4 << 20
SOURCE_SUFFIXES = (".c", ".h", ".s", ".S", ".cc", ".cpp", ".cxx", ".hpp", ".inc", ".rs", ".i")
NAME_LIMIT = 1 << 16
"""Of files and directories of one unit."""
_PATH, _DIRECTORY = 1, 2
"""DW_LNCT_path and directory_index."""
_COPY, _ADVANCE, _ADVANCE_LINE, _SET_FILE, _CONSTANT_ADVANCE, _FIXED_ADVANCE = 1, 2, 3, 4, 8, 9
_END_OF_SEQUENCE, _SET_ADDRESS = 1, 2


@dataclass
class _Program:
    """The header of a line program."""

    encoding: UnitEncoding
    start: int
    end: int
    step: int
    """The least size of an instruction, in bytes."""
    line_base: int
    line_range: int
    lengths: tuple[int, ...]
    """Operands of each standard opcode."""
    directories: list[str] = field(default_factory=list)
    files: list[tuple[str, int]] = field(default_factory=list)
    """Name and number of its directory."""


def lines(debug: DebugInfo, start: int, end: int) -> dict[int, SourceLine]:
    """The source line of every address from `start` to `end`, where known."""
    found: dict[int, SourceLine] = {}
    try:
        for unit in debug.units(start):
            for first, last, line in _rows(unit):
                if found and first + debug.bias >= end:
                    break  # addresses only grow, except from one stretch of code to another
                low, high = max(first + debug.bias, start), min(last + debug.bias, end, start + LINES_LIMIT)
                found.update((address, line) for address in range(low, high))
            if found:
                break
    except Exception:  # lines only decorate the report
        pass
    return found


def lines_afterwards(debug: DebugInfo, start: int, end: int) -> dict[int, SourceLine]:
    """As `lines`, long after the rest was read: with limits of its own."""
    debug.renew()
    return lines(debug, start, end)


def _rows(unit: Unit) -> Iterator[tuple[int, int, SourceLine]]:
    """(start, end, line) of the unit's code; none where it does not say."""
    place = unit.top.number("DW_AT_stmt_list")
    if place is None:
        return
    data = unit.sections[".debug_line"]
    program = _header(unit, data, place)
    names: dict[int, str] = {}
    for start, end, file, number in _run(unit, program, data):
        if file not in names:
            names[file] = _file_name(program, unit, file)
        yield start, end, SourceLine(names[file], number)


def _header(unit: Unit, data: bytes, at: int) -> _Program:
    (length,), at, offset_bytes = struct.unpack_from("<I", data, at), at + 4, 4
    if length == 0xFFFFFFFF:
        (length,), at, offset_bytes = struct.unpack_from("<Q", data, at), at + 8, 8
    end = min(at + length, len(data))
    (version,), at = struct.unpack_from("<H", data, at), at + 2
    address_bytes = unit.encoding.address_bytes
    if version == 5:
        address_bytes, at = data[at], at + 2
    elif not 2 <= version <= 4:
        raise Unusable("lines of an unknown version")
    size = int.from_bytes(data[at : at + offset_bytes], "little")
    at += offset_bytes
    start = at + size
    step, at = data[at], at + (2 if version >= 4 else 1)
    line_base, line_range, opcode_base = struct.unpack_from("<bBB", data, at + 1)
    at += 4
    lengths = tuple(data[at : at + opcode_base - 1])
    encoding = UnitEncoding(version, address_bytes, offset_bytes)
    program = _Program(encoding, start, end, step, line_base, line_range, lengths)
    at += len(lengths)
    if version == 5:
        _names(unit, program, data, at)
    else:
        _old_names(program, data, at)
    return program


def _old_names(program: _Program, data: bytes, at: int) -> None:
    name, at = forms.text_at(data, at)
    while name and len(program.directories) < NAME_LIMIT:
        program.directories.append(_readable(name))
        name, at = forms.text_at(data, at)
    name, at = forms.text_at(data, at)
    while name and len(program.files) < NAME_LIMIT:
        directory, at = forms.unsigned(data, at)
        _, at = forms.unsigned(data, at)
        _, at = forms.unsigned(data, at)
        program.files.append((_readable(name), directory))
        name, at = forms.text_at(data, at)


def _names(unit: Unit, program: _Program, data: bytes, at: int) -> None:
    listed, at = _listed(unit, program, data, at)
    program.directories = [name for name, _ in listed]
    program.files, _ = _listed(unit, program, data, at)


def _listed(unit: Unit, program: _Program, data: bytes, at: int) -> tuple[list[tuple[str, int]], int]:
    """Names with the numbers of their directories."""
    count, at = data[at], at + 1
    described = []
    for _ in range(count):
        content, at = forms.unsigned(data, at)
        form, at = forms.unsigned(data, at)
        described.append((content, form))
    total, at = forms.unsigned(data, at)
    if total > NAME_LIMIT:
        raise Unusable("too many names of files")
    found = []
    for _ in range(total):
        name, directory = "", 0
        for content, form in described:
            value, at = program.encoding.read(form, data, at)
            if content == _PATH:
                name = unit.text(form, value)
            elif content == _DIRECTORY and isinstance(value, int):
                directory = value
        found.append((name, directory))
    return found, at


def _run(unit: Unit, program: _Program, data: bytes) -> Iterator[tuple[int, int, int, int]]:
    """(start, end, file, line): every row of the table with where the next one begins."""
    previous: tuple[int, int, int] | None = None
    for address, file, line, is_end in _states(unit, program, data):
        if previous is not None and address > previous[0] and previous[2]:
            yield previous[0], address, previous[1], previous[2]
        previous = None if is_end else (address, file, line)


def _states(unit: Unit, program: _Program, data: bytes) -> Iterator[tuple[int, int, int, bool]]:
    """(address, file, line, whether a sequence ends) of each row. The operation inside a bundle is not kept: no machine
    here has bundles."""
    opcode_base, step = len(program.lengths) + 1, program.step
    address, file, line = 0, 1, 1
    at = program.start
    while at < program.end:
        unit.spend()
        opcode, at = data[at], at + 1
        if opcode >= opcode_base:
            address += step * ((opcode - opcode_base) // program.line_range)
            line += program.line_base + (opcode - opcode_base) % program.line_range
            yield address, file, line, False
        elif opcode == 0:
            size, at = forms.unsigned(data, at)
            kind = data[at]
            if kind == _END_OF_SEQUENCE:
                yield address, file, line, True
                address, file, line = 0, 1, 1
            elif kind == _SET_ADDRESS:
                address = int.from_bytes(data[at + 1 : at + 1 + program.encoding.address_bytes], "little")
            at += max(1, size)
        elif opcode == _COPY:
            yield address, file, line, False
        elif opcode == _ADVANCE:
            operand, at = forms.unsigned(data, at)
            address += step * operand
        elif opcode == _ADVANCE_LINE:
            operand, at = forms.signed(data, at)
            line += operand
        elif opcode == _SET_FILE:
            file, at = forms.unsigned(data, at)
        elif opcode == _CONSTANT_ADVANCE:
            address += step * ((255 - opcode_base) // program.line_range)
        elif opcode == _FIXED_ADVANCE:
            address, at = address + int.from_bytes(data[at : at + 2], "little"), at + 2
        else:
            for _ in range(program.lengths[opcode - 1]):
                _, at = forms.unsigned(data, at)


def _file_name(program: _Program, unit: Unit, index: int) -> str:
    is_new = program.encoding.version >= 5
    name, directory = program.files[index if is_new else index - 1]
    root = Path(unit.top.text("DW_AT_comp_dir"))
    if is_new:
        folder = Path(program.directories[directory])
    else:
        folder = Path(program.directories[directory - 1]) if directory else root
    return str(root / folder / name)


def _readable(name: bytes) -> str:
    return name.decode("utf-8", "replace")


def source_text(found: Mapping[int, SourceLine]) -> dict[str, tuple[str, ...]]:
    """The text of the named source files, if they can be read. The names come from the file under test: only ordinary
    source files of ordinary size are read."""
    text: dict[str, tuple[str, ...]] = {}
    for name in sorted({line.file for line in found.values()})[:16]:
        path = Path(name)
        try:
            if path.suffix in SOURCE_SUFFIXES and path.is_file() and path.stat().st_size <= SOURCE_LIMIT:
                text[name] = tuple(path.read_text("utf-8", "replace").splitlines())
        except OSError:
            continue
    return text
