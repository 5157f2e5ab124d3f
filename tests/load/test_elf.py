"""Parsing of ELF files, and the sentences for those that cannot be used."""

from __future__ import annotations

import random
import struct
import subprocess
from pathlib import Path

import pytest
from built import GCC, ZIG, build, parsed
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from isoform.load.elf import parse_elf
from isoform.load.open import open_one
from isoform.load.place import place
from isoform.model.errors import UserError

TEXT = """
extern int outside(int); static int counter; int table[4] = {1, 2, 3, 4};
int f(int x) { counter += x; return outside(table[x & 3]); }
"""


@pytest.mark.parametrize("driver", [GCC, ZIG], ids=["gcc", "zig"])
def test_an_object_file_is_parsed(tmp_path: Path, driver: list[str]) -> None:
    file = parsed(build(tmp_path, TEXT, "-O1", driver=driver))
    assert file.machine == "x86_64"
    assert not file.linked
    names = {s.name for s in file.symbols}
    assert {"f", "outside", "table", "counter"} <= names
    assert any(file.relocations.values())


def test_a_shared_library_is_parsed(tmp_path: Path) -> None:
    file = parsed(build(tmp_path, TEXT, "-shared", "-fPIC", "-O1"))
    assert file.linked
    assert not file.fixed
    assert {"f", "outside"} <= {s.name for s in file.dynamic_symbols}


def test_not_an_elf_file() -> None:
    with pytest.raises(UserError, match=r"^x.o is not an ELF file\.$"):
        parse_elf(b"hello", "x.o")
    with pytest.raises(UserError, match="not an ELF file"):
        parse_elf(b"", "x.o")


@pytest.mark.parametrize(("number", "title"), [(183, "AArch64"), (8, "MIPS"), (21, "64-bit PowerPC")])
def test_another_machine_is_named(tmp_path: Path, number: int, title: str) -> None:
    data = bytearray(build(tmp_path, TEXT).read_bytes())
    struct.pack_into("<H", data, 18, number)
    with pytest.raises(UserError, match=f"^x.o is for {title}; isoform reads x86-64"):
        parse_elf(bytes(data), "x.o")


def test_big_endian_files_are_refused(tmp_path: Path) -> None:
    """All numbers of ELF and DWARF are read as little-endian."""
    data = bytearray(build(tmp_path, TEXT).read_bytes())
    data[5] = 2
    data[18:20] = bytes(reversed(data[18:20]))
    with pytest.raises(UserError, match=r"^x.o is for x86-64 in big-endian order; isoform reads"):
        parse_elf(bytes(data), "x.o")


def test_every_truncation_is_one_sentence(tmp_path: Path) -> None:
    data = build(tmp_path, TEXT, "-g").read_bytes()
    for length in range(0, len(data) - 1, 37):
        with pytest.raises(UserError) as error:
            place([parse_elf(data[:length], "x.o")])
        assert "\n" not in str(error.value)


def test_a_section_outside_the_file_is_named(tmp_path: Path) -> None:
    data = bytearray(build(tmp_path, TEXT).read_bytes())
    (headers,) = struct.unpack_from("<Q", data, 40)
    struct.pack_into("<Q", data, headers + 64 + 24, 1 << 40)
    with pytest.raises(UserError, match="section 1 lies outside the file"):
        parse_elf(bytes(data), "x.o")


def test_a_huge_bss_is_refused(tmp_path: Path) -> None:
    path = build(tmp_path, ".bss\n.skip 0x50000000\n.text\n.globl f\nf: ret\n", suffix=".s")
    with pytest.raises(UserError, match="1 GiB"):
        parsed(path)


@pytest.mark.parametrize("seed", [1, 2])
def test_damaged_files_never_end_in_a_traceback(tmp_path: Path, seed: int) -> None:
    print("seed", seed)
    generator = random.Random(seed)
    originals = [build(tmp_path, TEXT, "-g", "-O2"), build(tmp_path, TEXT, "-shared", "-fPIC", "-g")]
    damaged = tmp_path / "damaged.o"
    usable = 0
    said = []
    for _ in range(150):
        data = bytearray(generator.choice(originals).read_bytes())
        for _ in range(generator.choice((1, 3, 30))):
            tail = generator.random() < 0.5
            data[generator.randrange(len(data) - 2000 if tail else 0, len(data))] = generator.choice((0, 1, 127, 255))
        damaged.write_bytes(data)
        try:
            open_one(f"{damaged}:f")
            usable += 1
        except UserError as error:
            said.append(str(error))
    assert 0 < usable < 150
    assert not any("\n" in sentence for sentence in said)


@pytest.mark.parametrize("field", [8, 16], ids=["address", "size"])
def test_two_symbol_tables_that_contradict_each_other(tmp_path: Path, field: int) -> None:
    """The loader would use another function than the one that is compared."""
    source, made = tmp_path / "a.c", tmp_path / "a.so"
    source.write_text("int f(int x) { return x + 1; } int g(int x) { return x * 3; }\n")
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-nostdlib", str(source), "-o", str(made)], check=True)
    data = bytearray(made.read_bytes())
    parse_elf(bytes(data), "a.so")
    with made.open("rb") as file:
        table = ELFFile(file).get_section_by_name(".dynsym")
        assert isinstance(table, SymbolTableSection)
        index = next(n for n, symbol in enumerate(table.iter_symbols()) if symbol.name == "f")
        place = table["sh_offset"] + 24 * index + field
    data[place] ^= 1
    with pytest.raises(UserError, match="two symbol tables say different things of 'f'"):
        parse_elf(bytes(data), "a.so")


def test_a_section_symbol_that_is_elsewhere(tmp_path: Path) -> None:
    """A linker adds its value to what relocations against it lead to."""
    data = bytearray(build(tmp_path, TEXT, "-O1", driver=GCC).read_bytes())
    with (tmp_path / "copy.o").open("wb") as file:
        file.write(data)
    with (tmp_path / "copy.o").open("rb") as file:
        table = ELFFile(file).get_section_by_name(".symtab")
        assert isinstance(table, SymbolTableSection)
        kinds = [symbol["st_info"]["type"] for symbol in table.iter_symbols()]
        place = table["sh_offset"] + 24 * kinds.index("STT_SECTION") + 8
    data[place] = 4
    with pytest.raises(UserError, match="is not at its start"):
        parse_elf(bytes(data), "copy.o")


def test_a_relocation_without_its_symbol(tmp_path: Path) -> None:
    data = bytearray(build(tmp_path, TEXT, "-O1", driver=GCC).read_bytes())
    (tmp_path / "copy.o").write_bytes(data)
    with (tmp_path / "copy.o").open("rb") as file:
        table = ELFFile(file).get_section_by_name(".rela.text")
        assert table is not None
        data[table["sh_offset"] + 13] = 1  # in the number of the symbol
    with pytest.raises(UserError, match="symbol that does not exist"):
        parse_elf(bytes(data), "copy.o")
