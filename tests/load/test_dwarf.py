"""Signatures and lines from debug information."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from built import GCC, ZIG, build, parsed

from isoform.load.debug.entries import Entry
from isoform.load.debug.lines import lines
from isoform.load.debug.read import read_debug
from isoform.load.debug.signatures import signatures
from isoform.load.described import PointerTypes
from isoform.load.open import open_one
from isoform.load.place import place_files
from isoform.model.signature import Signature, TypeKind

TEXT = """#include <stdint.h>
struct point { int x; char tag[3]; struct point *next; };
enum plain { A, B };
enum with_sign { N = -1, P };
union either { int i; float f; };
typedef struct point point_t;
int printf(const char *, ...);
struct point f(uint32_t a, const char *text, point_t s, enum plain e, enum with_sign g, _Bool q, double d,
               __int128 w, union either u, int (*callback)(int), long double l, struct point **pp, signed char c) {
    printf("%d", (int)a);
    return s;
}
void nothing(void) {}
"""
BUILDS = [(GCC, "-O0"), (GCC, "-O2"), (GCC, "-gdwarf-4"), (GCC, "-ffunction-sections"), (ZIG, "-O2")]


def _read(path: Path, function: str) -> tuple[dict[str, Signature], set[int]]:
    file = parsed(path)
    placement = place_files([file])[0]
    symbol = placement.image.functions[function]
    debug = read_debug(file, placement.code, placement.base)
    assert debug is not None
    numbers = {line.number for line in lines(debug, symbol.address, symbol.address + symbol.size).values()}
    return signatures(debug, {function}, symbol.address), numbers


@pytest.mark.parametrize(("driver", "flag"), BUILDS)
def test_signature(tmp_path: Path, driver: list[str], flag: str) -> None:
    found, numbers = _read(build(tmp_path, TEXT, "-g", flag, driver=driver), "f")
    f = found["f"]
    kinds = {p.name: (p.type.kind, p.type.bits, p.type.signed) for p in f.parameters}
    assert kinds == {
        "a": (TypeKind.INTEGER, 32, False),
        "text": (TypeKind.POINTER, 64, False),
        "s": (TypeKind.STRUCT, 128, False),
        "e": (TypeKind.INTEGER, 32, False),
        "g": (TypeKind.INTEGER, 32, True),
        "q": (TypeKind.BOOL, 8, False),
        "d": (TypeKind.FLOAT, 64, False),
        "w": (TypeKind.INTEGER, 128, True),
        "u": (TypeKind.STRUCT, 32, False),
        "callback": (TypeKind.POINTER, 64, False),
        "l": (TypeKind.FLOAT, 80, False),
        "pp": (TypeKind.POINTER, 64, False),
        "c": (TypeKind.INTEGER, 8, True),
    }
    assert f.result.kind is TypeKind.STRUCT
    assert [(name, offset) for name, offset, _ in f.result.fields] == [
        ("x", 0), ("tag[0]", 4), ("tag[1]", 5), ("tag[2]", 6), ("next", 8)
    ]  # fmt: skip
    assert f.parameters[0].type.spelling == "uint32_t"
    assert f.parameters[1].type.spelling == "const char *"
    assert found["nothing"].result.kind is TypeKind.VOID
    assert numbers <= set(range(8, 13))
    assert numbers


def test_declared_externals_are_there(tmp_path: Path) -> None:
    found, _ = _read(build(tmp_path, TEXT, "-g", "-O2"), "f")
    assert found["printf"].variadic
    assert len(found["printf"].parameters) == 1


@pytest.mark.parametrize("flags", [("-ffunction-sections",), ("-shared", "-fPIC")])
def test_lines_are_those_of_the_function(tmp_path: Path, flags: tuple[str, ...]) -> None:
    path = build(tmp_path, TEXT, "-g", *flags)
    assert _read(path, "nothing")[1] == {13}
    assert 13 not in _read(path, "f")[1]


@pytest.mark.parametrize("driver", [GCC, ZIG])
def test_a_function_with_two_names(tmp_path: Path, driver: list[str]) -> None:
    """Debug information has one of them. A linker may put other functions in the same place: there only that counts."""
    text = 'short own(int c) { return c; }\nextern __typeof(own) other __attribute__((weak, alias("own")));\n'
    path = build(tmp_path, text, "-g", "-O1", driver=driver)
    own, other = (open_one(f"{path}:{name}") for name in ("own", "other"))
    signature = own.image.signatures["own"]
    assert other.image.signatures["other"] == replace(signature, name="other")
    assert "other" not in own.image.signatures
    linked = build(tmp_path, text, "-g", "-O1", "-shared", "-fPIC", "-nostdlib", driver=driver)
    assert "other" not in open_one(f"{linked}:other").image.signatures


@pytest.mark.parametrize("driver", [GCC, ZIG])
def test_another_name_may_be_declared_with_wider_parameters(tmp_path: Path, driver: list[str]) -> None:
    """Callers by that name do not extend what the function takes for a byte."""
    text = 'int own(unsigned char c) { return c; }\nextern int other(int) __attribute__((alias("own")));\n'
    path = build(tmp_path, text, "-g", "-O1", "-w", driver=driver)
    assert "own" in open_one(f"{path}:own").image.signatures
    assert "other" not in open_one(f"{path}:other").image.signatures


def test_a_file_without_debug_information(tmp_path: Path) -> None:
    file = parsed(build(tmp_path, TEXT))
    assert read_debug(file, place_files([file])[0].code, 0) is None


def test_compressed_debug_information_is_read_right_or_not_at_all(tmp_path: Path) -> None:
    file = parsed(build(tmp_path, TEXT, "-g", "-gz"))
    assert read_debug(file, place_files([file])[0].code, 0) is None
    assert (
        str(_read(build(tmp_path, TEXT, "-g", "-gz", "-shared", "-fPIC"), "nothing")[0]["nothing"])
        == "void nothing(void)"
    )


def test_functions_that_break_the_convention_have_no_signature(tmp_path: Path) -> None:
    text = (
        "__attribute__((noinline)) static int g(int x, int unused) { return x + 1; } int f(int x) { return g(x, 5); }"
    )
    path = build(tmp_path, text, "-g", "-O2")
    found, _ = _read(path, "f")
    clones = [s.name for s in parsed(path).symbols if s.name.startswith("g.")]
    assert not set(clones) & set(found)


def test_damaged_debug_information_is_ignored(tmp_path: Path) -> None:
    seed = 5
    print("seed", seed)
    generator = random.Random(seed)
    file = parsed(build(tmp_path, TEXT, "-g"))
    placement = place_files([file])[0]
    symbol = placement.image.functions["f"]
    start = file.data.find(b"\0\0\0\5\0\1\10")
    for _ in range(60):
        data = bytearray(file.data)
        for _ in range(20):
            data[generator.randrange(max(64, start), len(data) - 3000)] = generator.randrange(256)
        damaged = type(file)(**{**vars(file), "data": bytes(data)})
        debug = read_debug(damaged, placement.code, 0)
        if debug is not None:
            signatures(debug, {"f"}, symbol.address)
            lines(debug, symbol.address, symbol.address + symbol.size)


OPERATIONS = """struct operations { int (*call)(int); _Bool flag; };
struct operations table[2];
int f(int x) { return x + 1; }
int g(struct operations *o) { return o->call(3); }
"""


@pytest.mark.parametrize("version", ["-gdwarf-4", "-gdwarf-5"])
@pytest.mark.parametrize("apart", [(), ("-fdebug-types-section",)])
def test_pointers_of_types_in_units_of_their_own_are_not_all_known(
    tmp_path: Path, version: str, apart: tuple[str, ...]
) -> None:
    file = parsed(build(tmp_path, OPERATIONS, version, "-O2", "-shared", "-fPIC", *apart))
    placement = place_files([file])[0]
    debug = read_debug(file, placement.code, placement.base)
    assert debug is not None
    pointers: list[PointerTypes] = []
    found = signatures(debug, {"f"}, placement.image.functions["f"].address, pointers)
    assert str(found["f"]) == "int f(int x)"
    assert [(types.are_all, types.has_bools) for types in pointers] == [(not apart, True)]


def test_every_entry_is_as_another_reader_sees_it(tmp_path: Path) -> None:
    """pyelftools reads every entry, attribute by attribute."""
    from elftools.elf.elffile import ELFFile

    for flags in (("-gdwarf-5",), ("-gdwarf-4",), ("-gdwarf-3",), ("-gdwarf-2",), ("-gdwarf-5", "-gdwarf64", "-O2")):
        path = build(tmp_path, TEXT + OPERATIONS.replace("f(", "ff("), *flags, "-shared", "-fPIC")
        file = parsed(path)
        debug = read_debug(file, {}, 0)
        assert debug is not None
        mine = [entry for unit in debug.units(None) for _, entry in unit.entries()]
        with path.open("rb") as stream:
            dwarf = ELFFile(stream).get_dwarf_info()
            theirs = [die for unit in dwarf.iter_CUs() for die in unit.iter_DIEs() if die.tag is not None]
            assert [(e.offset, e.size, e.has_children) for e in mine] == [
                (d.offset, d.size, d.has_children) for d in theirs
            ]
            for entry, die in zip(mine, theirs, strict=True):
                _agrees(entry, die)


def _agrees(entry: Entry, die: Any) -> None:
    assert entry.tag is not None
    assert entry.tag.startswith("DW_TAG_0x") or entry.tag == die.tag
    parent = die.get_parent()
    assert (entry.parent.offset if entry.parent else None) == (parent.offset if parent else None)
    for name, attribute in die.attributes.items():
        if name not in entry:
            continue
        if attribute.form.startswith("DW_FORM_ref"):
            link = entry.linked(name)
            assert link is not None
            assert link.offset == die.get_DIE_from_attribute(name).offset
        elif isinstance(attribute.value, int):
            assert entry.number(name) == attribute.value
        elif isinstance(attribute.value, bytes):
            assert entry.text(name) == attribute.value.decode()
        elif attribute.form in ("DW_FORM_exprloc", "DW_FORM_block1"):
            assert entry.expression(name) == bytes(attribute.value)
