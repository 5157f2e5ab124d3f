"""One ELF file, parsed and bounded but not yet placed (see `load/place.py`).

Tables are unpacked in bulk, which takes milliseconds for a whole C library. Files are hostile: every offset is checked
before it is used.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from isoform.isa.registry import ELF_ISAS, ELF_TITLES, linkage
from isoform.load.parsed import (
    ABSOLUTE_SECTION,
    COMMON_SECTION,
    FILE_SYMBOL,
    FUNCTION,
    LOCAL,
    NOTYPE,
    OBJECT,
    PACKED_RELATIVE,
    SECTION_SYMBOL,
    UNDEFINED_SECTION,
    DebugSection,
    FileSection,
    FileSymbol,
    ParsedFile,
    Relocation,
    unusable,
)
from isoform.load.program_sections import with_program_sections
from isoform.model.errors import UserError

FILE_LIMIT = 512 << 20
MEMORY_LIMIT = 1 << 30
SYMBOL_LIMIT = 4_000_000
SECTION_LIMIT = 100_000
ALIGNMENT_LIMIT = 1 << 21

# Numbers of the ELF specification.
EXTENDED_INDEX = 0xFFFF
_ALLOC, _COMPRESSED = 0x2, 0x800
_OBJECT_FILE, _PROGRAM, _LIBRARY = 1, 2, 3
_WIDE, _LITTLE_ENDIAN = 2, 1
"""Identification bytes: 64 bits, little-endian."""
_NO_BITS, _SYMBOLS, _RELA, _REL, _DYNAMIC_SYMBOLS = "SHT_NOBITS", "SHT_SYMTAB", "SHT_RELA", "SHT_REL", "SHT_DYNSYM"
_TYPES: Mapping[int, str] = {
    0: "SHT_NULL",
    2: _SYMBOLS,
    4: _RELA,
    6: "SHT_DYNAMIC",
    8: _NO_BITS,
    9: _REL,
    11: _DYNAMIC_SYMBOLS,
    18: "SHT_SYMTAB_SHNDX",
    19: "SHT_RELR",
}
"""Types of sections that mean something here."""
_DYNAMIC = "SHT_DYNAMIC"
_INIT = 12
_INIT_TABLES = ((32, 33), (25, 27))
"""Tags for where tables of functions begin that the loader calls, in order, and for how many bytes each has."""
_SYMBOLIC, _FLAGS, _FLAGS_1, _SYMBOLIC_FLAG, _PROGRAM_FLAG = 16, 30, 0x6FFFFFFB, 0x2, 0x08000000
"""Tags of the dynamic section and bits of its flags."""
_FILE_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_HEADER = struct.Struct("<IIQQQQIIQQ")
_HEADER_FIELDS = (
    *("sh_name", "sh_type", "sh_flags", "sh_addr", "sh_offset"),
    *("sh_size", "sh_link", "sh_info", "sh_addralign", "sh_entsize"),
)


_AS_RELOCATION = partial(tuple.__new__, Relocation)
"""Makes a relocation of its four numbers, quickly: large libraries have tens of thousands of them."""


def parse_elf(data: bytes, path: str) -> ParsedFile:
    """Parse an ELF file of a machine isoform knows. Anything else is a `UserError`."""
    if len(data) > FILE_LIMIT:
        raise UserError(f"{path} is too large: isoform reads files of up to {FILE_LIMIT >> 20} MiB.")
    if not data.startswith(b"\x7fELF"):
        raise UserError(f"{path} is not an ELF file.")
    try:
        return _Parser(data, path).parse()
    except UserError:
        raise
    except RecursionError as error:
        raise unusable(path, "its headers are nested without end") from error
    except Exception as error:  # a malformed file can raise any type of error
        raise unusable(path, "it is truncated or malformed") from error


def readable_titles() -> str:
    return " and ".join(ELF_TITLES[number] for number in ELF_ISAS)


class _FileHeader(NamedTuple):
    kind: int
    machine: int
    flags: int
    """The flags of the machine."""
    sections: int
    """Where the section headers begin; 0 without any."""
    section_bytes: int
    section_count: int
    names: int


def _is_label(symbol: FileSymbol) -> bool:
    is_local = symbol.binding == LOCAL and symbol.kind in (NOTYPE, OBJECT) and symbol.name.startswith(".L")
    return is_local and symbol.section not in (UNDEFINED_SECTION, ABSOLUTE_SECTION, COMMON_SECTION)


def _without_name(symbol: FileSymbol) -> FileSymbol:
    """Without the name of an object if it has none: a label (relocations of debug information lead to some), or a mark
    where code or data begins in a section (`$x`, `$d`)."""
    if symbol.binding == LOCAL and symbol.kind == NOTYPE and symbol.name.startswith("$"):
        return symbol._replace(name="")
    return symbol._replace(kind=NOTYPE, size=0) if _is_label(symbol) else symbol


class _WithSections:
    """The symbols of a file, and one for each section that assemblers' labels are in. Many assemblers write a section
    and a distance in place of such a label, so that is what they are all taken for; no object has such a name."""

    def __init__(self, symbols: Sequence[FileSymbol]) -> None:
        self.all = [_without_name(symbol) for symbol in symbols]
        self._sections = {s.section: index for index, s in enumerate(symbols) if s.kind == SECTION_SYMBOL}

    def without_label(self, relocation: Relocation) -> Relocation:
        symbol = self.all[relocation.symbol]
        if not _is_label(symbol):
            return relocation
        if symbol.section not in self._sections:
            self._sections[symbol.section] = len(self.all)
            self.all.append(FileSymbol("", SECTION_SYMBOL, LOCAL, symbol.section, 0, 0))
        return relocation._replace(symbol=self._sections[symbol.section], addend=relocation.addend + symbol.value)


class _Parser:
    def __init__(self, data: bytes, path: str) -> None:
        self.data = data
        self.path = path

    def parse(self) -> ParsedFile:
        header = self._file_header()
        if header.kind not in (_OBJECT_FILE, _PROGRAM, _LIBRARY):
            raise unusable(self.path, "it is neither an object, a library nor an executable")
        self._refuse_variants(header)
        headers = self._headers(header)
        sections = self._memory_sections(headers)
        linked = header.kind != _OBJECT_FILE
        symbols = self._table(headers, _SYMBOLS, sections)
        dynamic_symbols = self._table(headers, _DYNAMIC_SYMBOLS, sections) if linked else ()
        self._refuse_contradictions(symbols, dynamic_symbols)
        relocations = self._relocations(headers, sections, linked)
        self._refuse_unknown_symbols(relocations, len(dynamic_symbols if linked else symbols))
        sections = with_program_sections(sections, (*symbols, *dynamic_symbols), relocations, linked)
        is_program = linked and (header.kind == _PROGRAM or self._is_program(headers))
        parsed = ParsedFile(
            path=self.path,
            data=self.data,
            machine=ELF_ISAS[header.machine],
            linked=linked,
            fixed=header.kind == _PROGRAM,
            sections=sections,
            symbols=symbols,
            dynamic_symbols=dynamic_symbols,
            relocations=relocations,
            debug=_debug_sections(headers, linked),
            binds_itself=is_program or self._binds_itself(headers),
            is_program=is_program,
            at_loading=tuple(self._at_loading(headers)) if linked else (),
            tables_at_loading=self._tables_at_loading(headers) if linked else (),
        )
        return self._joined(parsed)

    def _is_program(self, headers: list[tuple[str, Any]]) -> bool:
        marked = any((tag, value & _PROGRAM_FLAG) == (_FLAGS_1, _PROGRAM_FLAG) for tag, value in self._dynamic(headers))
        return marked or any(name == ".interp" for name, _ in headers)

    def _at_loading(self, headers: list[tuple[str, Any]]) -> Iterator[int]:
        """What the loader calls first. A static program calls the code of section `.init` itself."""
        named = [value for tag, value in self._dynamic(headers) if tag == _INIT]
        yield from named or (header["sh_addr"] for name, header in headers if name == ".init")

    def _tables_at_loading(self, headers: list[tuple[str, Any]]) -> tuple[tuple[int, int], ...]:
        said = dict(self._dynamic(headers))
        return tuple((said[start], said.get(size, 0)) for start, size in _INIT_TABLES if start in said)

    def _binds_itself(self, headers: list[tuple[str, Any]]) -> bool:
        return any(
            tag == _SYMBOLIC or (tag, value & _SYMBOLIC_FLAG) == (_FLAGS, _SYMBOLIC_FLAG)
            for tag, value in self._dynamic(headers)
        )

    def _dynamic(self, headers: list[tuple[str, Any]]) -> Iterator[tuple[int, int]]:
        """Tags and values of the dynamic section."""
        for _, header in headers:
            content = self._bytes(header) if header["sh_type"] == _DYNAMIC else b""
            yield from struct.iter_unpack("<QQ", content[: len(content) // 16 * 16])

    def _file_header(self) -> _FileHeader:
        """The header of a file for a machine that isoform knows. Files for other machines may have another layout."""
        wide, order = self.data[4], self.data[5]
        machine = int.from_bytes(self.data[18:20], "little" if order == _LITTLE_ENDIAN else "big")
        if wide != _WIDE or order != _LITTLE_ENDIAN or machine not in ELF_ISAS:
            title = ELF_TITLES.get(machine, f"a machine with the ELF number {machine}")
            if machine in ELF_ISAS:
                title += " with 32-bit addresses" if wide != _WIDE else " in big-endian order"
            raise UserError(f"{self.path} is for {title}; isoform reads {readable_titles()} ELF files.")
        fields = _FILE_HEADER.unpack_from(self.data)
        return _FileHeader(fields[1], machine, fields[7], fields[6], *fields[11:])

    def _refuse_variants(self, header: _FileHeader) -> None:
        title, how = ELF_TITLES[header.machine], linkage(ELF_ISAS[header.machine])
        if header.kind != _OBJECT_FILE and not how.dynamic:
            raise UserError(f"{self.path} is a linked file for {title}, of which isoform reads only object files.")
        for flag, variant in how.refused_flags.items():
            if header.flags & flag:
                raise UserError(f"{self.path} is for {title} with {variant}, which isoform does not know.")

    def _headers(self, file: _FileHeader) -> list[tuple[str, Any]]:
        count, names_at = file.section_count, file.names
        if file.sections and (count == 0 or names_at == EXTENDED_INDEX):
            first = _HEADER.unpack_from(self.data, file.sections)
            count, names_at = count or first[5], first[6] if names_at == EXTENDED_INDEX else names_at
        if count == 0 or not file.sections:
            raise unusable(self.path, "it has no section headers")
        if count > SECTION_LIMIT or file.sections + count * file.section_bytes > len(self.data):
            raise unusable(self.path, "its section headers lie outside the file")
        headers = self._unpacked(file.sections, count, file.section_bytes)
        end, last = 0, 0
        for start, size, index in sorted((h["sh_offset"], h["sh_size"], i) for i, h in enumerate(headers)):
            if headers[index]["sh_type"] in (_NO_BITS, "SHT_NULL") or not size:
                continue
            if start + size > len(self.data):
                raise unusable(self.path, f"section {index} lies outside the file")
            if start < end:
                raise unusable(self.path, f"sections {last} and {index} overlap in the file")
            end, last = start + size, index
        names = self._bytes(headers[names_at])
        for index, header in enumerate(headers):
            if header["sh_name"] and header["sh_name"] >= len(names):
                raise unusable(self.path, f"the name of section {index} lies outside the file")
        return [(_name(names, header["sh_name"]), header) for header in headers]

    def _unpacked(self, start: int, count: int, step: int) -> list[dict[str, Any]]:
        """The section headers, in bulk: a file may have a hundred thousand of them."""
        if step != _HEADER.size:
            raise unusable(self.path, f"its section headers have {step} bytes each")
        rows = _HEADER.iter_unpack(self.data[start : start + count * step])
        headers = [dict(zip(_HEADER_FIELDS, row, strict=True)) for row in rows]
        return [{**header, "sh_type": _TYPES.get(header["sh_type"], header["sh_type"])} for header in headers]

    def _bytes(self, header: Any) -> bytes:
        if header["sh_type"] == _NO_BITS:
            return b""
        return self.data[header["sh_offset"] : header["sh_offset"] + header["sh_size"]]

    def _memory_sections(self, headers: list[tuple[str, Any]]) -> dict[int, FileSection]:
        sections: dict[int, FileSection] = {}
        total = 0
        for index, (name, header) in enumerate(headers):
            if not header["sh_flags"] & _ALLOC or header["sh_type"] == "SHT_NULL":
                continue
            total += header["sh_size"]
            if total > MEMORY_LIMIT:
                raise unusable(self.path, "its sections claim more than 1 GiB of memory")
            alignment = max(1, header["sh_addralign"])
            if alignment & (alignment - 1) or alignment > ALIGNMENT_LIMIT:
                raise unusable(self.path, f"section {index} has an impossible alignment")
            sections[index] = FileSection(
                index,
                name,
                header["sh_addr"],
                self._bytes(header),
                header["sh_size"],
                alignment,
                header["sh_entsize"],
                header["sh_flags"],
            )
        return sections

    def _table(
        self, headers: list[tuple[str, Any]], kind: str, sections: Mapping[int, FileSection]
    ) -> tuple[FileSymbol, ...]:
        for name, header in headers:
            if header["sh_type"] == kind:
                if header["sh_size"] // 24 > SYMBOL_LIMIT:
                    raise unusable(self.path, f"{name} claims more than {SYMBOL_LIMIT} symbols")
                if header["sh_size"] % 24:
                    raise unusable(self.path, f"{name} ends in the middle of a symbol")
                if header["sh_link"] >= len(headers):
                    raise unusable(self.path, f"{name} has no string table")
                names = self._bytes(headers[header["sh_link"]][1])
                extended = self._extended_indexes(headers)
                return self._symbols(self._bytes(header), names, extended, headers, sections)
        return ()

    def _refuse_contradictions(self, symbols: Sequence[FileSymbol], dynamic: Sequence[FileSymbol]) -> None:
        """A file has two tables of symbols, and a linker writes the same about a global symbol into both. The loader
        reads one table, and functions to compare are named by the other. (Versions of one name have different names in
        one table.)"""
        tables = [_places_by_name(table) for table in (symbols, dynamic)]
        for name in tables[0].keys() & tables[1].keys():
            if len(tables[0][name]) == 1 and len(tables[1][name]) == 1 and tables[0][name] != tables[1][name]:
                raise unusable(self.path, f"its two symbol tables say different things of '{name}'")

    def _refuse_unknown_symbols(self, relocations: Mapping[int, Sequence[Relocation]], count: int) -> None:
        """Number 0 is no symbol."""
        if any(one.symbol >= max(count, 1) for rows in relocations.values() for one in rows):
            raise unusable(self.path, "a relocation refers to a symbol that does not exist")

    def _extended_indexes(self, headers: list[tuple[str, Any]]) -> tuple[int, ...]:
        for _, header in headers:
            if header["sh_type"] == "SHT_SYMTAB_SHNDX":
                content = self._bytes(header)
                return struct.unpack(f"<{len(content) // 4}I", content[: len(content) // 4 * 4])
        return ()

    def _symbols(
        self,
        content: bytes,
        names: bytes,
        extended: tuple[int, ...],
        headers: list[tuple[str, Any]],
        sections: Mapping[int, FileSection],
    ) -> tuple[FileSymbol, ...]:
        symbols = []
        for index, (name_at, info, other, section, value, size) in enumerate(struct.iter_unpack("<IBBHQQ", content)):
            if section == EXTENDED_INDEX:
                section = extended[index] if index < len(extended) else ABSOLUTE_SECTION
            end = names.find(b"\0", name_at) if name_at < len(names) else -1
            if end < 0 and name_at:
                raise unusable(self.path, f"the name of symbol {index} lies outside the file")
            kind = info & 15
            name = readable(names[name_at:end]) if name_at else ""
            if kind == SECTION_SYMBOL and section < len(headers):
                name = headers[section][0]
            self._check_symbol(name, kind, section, value, size, len(headers), sections)
            home = sections.get(section)
            if size and kind == OBJECT and home is not None and not home.thread_local:
                size = min(size, home.address + home.size - value)
            symbols.append(FileSymbol(name, kind, info >> 4, section, value, size, other & 3))
        return tuple(symbols)

    def _check_symbol(
        self, name: str, kind: int, section: int, value: int, size: int, count: int, sections: Mapping[int, FileSection]
    ) -> None:
        if section >= count and not 0xFF00 <= section <= 0xFFFF:
            raise unusable(self.path, f"symbol '{name}' is in a section that does not exist")
        home = sections.get(section)
        if kind == SECTION_SYMBOL and home is not None and value != home.address:
            raise unusable(self.path, f"the symbol of section {name} is not at its start")
        if home is None or home.thread_local or kind in (SECTION_SYMBOL, FILE_SYMBOL):
            return
        offset = value - home.address
        # Linkers put labels such as _end and __bss_start near the section they name, not always inside it. An assembler
        # gives an alias inside an object (`.set a, t + 4`) the size of the whole object.
        end = offset if kind == OBJECT else offset + size
        if kind in (OBJECT, FUNCTION) and (offset < 0 or end > home.size) and size:
            raise unusable(self.path, f"symbol '{name}' lies outside its section")

    def _relocations(
        self, headers: list[tuple[str, Any]], sections: Mapping[int, FileSection], linked: bool
    ) -> dict[int, tuple[Relocation, ...]]:
        found: dict[int, list[Relocation]] = {}
        for name, header in headers:
            if linked and header["sh_type"] == "SHT_RELR":
                found.setdefault(0, []).extend(_packed(self._bytes(header)))
            target = 0 if linked else header["sh_info"]
            if header["sh_type"] not in (_RELA, _REL) or not (linked or target in sections):
                continue
            if linked and not header["sh_flags"] & _ALLOC:
                continue  # left over from `--emit-relocs`: already applied
            if header["sh_type"] == _REL:
                raise unusable(self.path, f"{name} has a form that is not used on this machine")
            if header["sh_size"] // 24 > SYMBOL_LIMIT:
                raise unusable(self.path, f"{name} claims more than {SYMBOL_LIMIT} relocations")
            content = self._bytes(header)
            if len(content) % 24:
                raise unusable(self.path, f"{name} ends in the middle of a relocation")
            relocations = list(map(_AS_RELOCATION, struct.iter_unpack("<QIIq", content)))
            if any(r.symbol for r in relocations) and not self._has_symbols(headers, header["sh_link"]):
                raise unusable(self.path, f"{name} refers to no symbol table")
            if not linked and any(r.offset >= len(sections[target].data) for r in relocations):
                raise unusable(self.path, f"a relocation lies outside section {target}")
            found.setdefault(target, []).extend(relocations)
        return {target: tuple(rows) for target, rows in found.items()}

    def _joined(self, parsed: ParsedFile) -> ParsedFile:
        """With the relocations of an object file each about a whole address."""
        join = parsed.linkage.joined
        if join is None or parsed.linked:
            return parsed
        symbols = _WithSections(parsed.symbols)
        places = [(symbol.section, symbol.value) for symbol in parsed.symbols]
        rows, uppers = dict[int, tuple[Relocation, ...]](), dict[tuple[int, int], int]()
        for section, found in parsed.relocations.items():
            joined = join(found, places, section)
            rows[section] = tuple(symbols.without_label(Relocation._make(row)) for row in joined.rows)
            uppers |= {(section, lower): upper for lower, upper in joined.uppers.items()}
        return replace(parsed, relocations=rows, uppers=uppers, symbols=tuple(symbols.all))

    def _has_symbols(self, headers: list[tuple[str, Any]], index: int) -> bool:
        return index < len(headers) and headers[index][1]["sh_type"] in (_SYMBOLS, _DYNAMIC_SYMBOLS)


def _debug_sections(headers: list[tuple[str, Any]], linked: bool) -> dict[str, DebugSection]:
    found = {
        index: (name, DebugSection(h["sh_offset"], h["sh_size"], bool(h["sh_flags"] & _COMPRESSED)))
        for index, (name, h) in enumerate(headers)
        if name.startswith(".debug_") and h["sh_type"] != _NO_BITS and not h["sh_flags"] & _ALLOC
    }
    for _, header in headers if not linked else ():  # those of a linked file are left over: already applied
        if header["sh_type"] == _RELA and header["sh_info"] in found:
            name, section = found[header["sh_info"]]
            tables = (*section.relocations, (header["sh_offset"], header["sh_size"]))
            found[header["sh_info"]] = name, section._replace(relocations=tables)
    return dict(found.values())


def _name(names: bytes, start: int) -> str:
    end = names.find(b"\0", start)
    return readable(names[start : end if end >= 0 else len(names)])


def readable(name: bytes) -> str:
    """A name on one line without control characters. Different names stay different: the backslash is escaped as
    well."""
    text = name.decode("utf-8", "surrogateescape")
    if text.isprintable() and "\\" not in text:
        return text
    return "".join(c if c.isprintable() and c != "\\" else c.encode("unicode_escape").decode() for c in text)


def _packed(content: bytes) -> Iterator[Relocation]:
    """The relocations of a `.relr.dyn` section: an even word is an address, an odd one a bitmap of the next 63
    words."""
    where = 0
    for (word,) in struct.iter_unpack("<Q", content[: len(content) // 8 * 8]):
        if word & 1:
            yield from (Relocation(where + 8 * i, PACKED_RELATIVE, 0, 0) for i in range(63) if word >> (i + 1) & 1)
            where += 8 * 63
        else:
            yield Relocation(word, PACKED_RELATIVE, 0, 0)
            where = word + 8


def _places_by_name(symbols: Sequence[FileSymbol]) -> dict[str, set[tuple[int, int, int]]]:
    """Kind, address and size of the symbols that a file defines and other files can see."""
    found: dict[str, set[tuple[int, int, int]]] = {}
    for one in symbols:
        if one.binding != LOCAL and one.section != UNDEFINED_SECTION and one.name:
            found.setdefault(one.name, set()).add((one.kind, one.value, one.size))
    return found
