"""Placement: what two files have in common has one address, and relocations lead where a linker's would."""

from __future__ import annotations

import itertools
import shutil
import subprocess
from pathlib import Path

import pytest
from built import GCC, ZIG, address_of, build, names_referred_to, parsed, placed, references

from isoform.load.place import place
from isoform.model.errors import Unsupported

TEXT = """
int puts(const char *); extern int outside; extern int callee(int);
static const int squares[4] = {1, 4, 9, 16};
static int counter; int global = 3; int array[10]; int common;
__attribute__((noinline)) static int helper(int x) { return x + counter; }
int (*pointer)(int) = helper;
const char *names[] = {"one", "two"};
int f(int x) {
    static int calls;
    calls++;
    common += x;
    if (x > 5) puts("hello");
    counter += squares[x & 3];
    return callee(outside + global) + array[x] + helper(x);
}
int choose(int x) {
    switch (x) {
    case 0: return callee(1);
    case 1: return callee(7);
    case 2: return callee(x * 3);
    case 3: return outside;
    case 4: return 9;
    case 5: return callee(99);
    }
    return -1;
}
int set(void) { counter = 77; return 0; }
"""
BUILDS = [
    (GCC, ("-O0",)),
    (GCC, ("-O2",)),
    (GCC, ("-O2", "-fno-pic", "-fno-pie")),
    (GCC, ("-O0", "-fno-pic", "-fno-pie", "-fcommon")),
    (GCC, ("-O2", "-fPIC", "-fdata-sections", "-ffunction-sections")),
    (ZIG, ("-O2",)),
    (ZIG, ("-O0",)),
]
SHARED = ("squares", "counter", "global", "array", "common", "pointer", "names")


@pytest.mark.parametrize(("left", "right"), list(itertools.combinations(range(len(BUILDS)), 2)))
def test_equal_names_have_equal_addresses(tmp_path: Path, left: int, right: int) -> None:
    a, b = placed(*(build(tmp_path, TEXT, *flags, driver=driver) for driver, flags in (BUILDS[left], BUILDS[right])))
    for name in SHARED:
        assert address_of(a, name) == address_of(b, name), name
    assert {n: x for x, n in a.externals.items()} == {n: x for x, n in b.externals.items()}
    for image in (a, b):
        assert image.constant_bytes(address_of(image, "squares"), 16) == bytes.fromhex(
            "01000000040000000900000010000000"
        )
        assert image.broken == {}
        _assert_no_overlap(image)
    literals = [{s.address for s in image.sections if s.data == b"hello\0"} for image in (a, b)]
    assert literals[0] == literals[1]
    assert len(literals[0]) == 1
    pointers = [image.section_at(address_of(image, "names")) for image in (a, b)]
    assert len({s.data[address_of(a, "names") - s.address :][:16] for s in pointers if s}) == 1
    assert address_of(a, "f") != address_of(b, "f")


def _assert_no_overlap(image) -> None:  # type: ignore[no-untyped-def]
    for earlier, later in itertools.pairwise(image.sections):
        assert earlier.end <= later.address
    assert not any(image.section_at(address) for address in image.externals)


@pytest.mark.parametrize(("driver", "flags"), BUILDS)
def test_references_are_those_of_the_linker(tmp_path: Path, driver: list[str], flags: tuple[str, ...]) -> None:
    path = build(tmp_path, TEXT, *flags, driver=driver)
    ours = placed(path)[0]
    program = tmp_path / "program"
    outside = {"puts": 0x1000000, "outside": 0x2000000, "callee": 0x3000000}
    defined = [f"--defsym={name}={address:#x}" for name, address in outside.items()]
    if shutil.which("ld") is None:
        pytest.skip("no linker")
    subprocess.run(["ld", "--no-relax", *defined, "-e", "f", str(path), "-o", str(program)], check=True)
    linked = place([parsed(program)])[0]
    numbers = {hex(address): name for name, address in outside.items()}
    for function in ("f", "set"):
        expected = [numbers.get(name, name) for name in names_referred_to(linked, function)]
        assert names_referred_to(ours, function) == expected


@pytest.mark.parametrize(("driver", "flags"), BUILDS)
def test_jump_tables_lead_into_their_own_function(tmp_path: Path, driver: list[str], flags: tuple[str, ...]) -> None:
    other = build(tmp_path, "int choose(int x) { return x; }")
    image = placed(build(tmp_path, TEXT, *flags, driver=driver), other)[0]
    function = image.functions["choose"]
    wide = "-fno-pic" in flags
    tables = {address for name, address in references(image, "choose") if _is_nameless_constant(image, address)}
    assert tables
    for table in tables:
        for entry in range(6):
            if wide:
                target = int.from_bytes(image.constant_bytes(table + 8 * entry, 8) or b"", "little")
            else:
                distance = int.from_bytes(image.constant_bytes(table + 4 * entry, 4) or b"", "little", signed=True)
                target = table + distance
            assert function.address < target < function.address + function.size


def _is_nameless_constant(image, address: int) -> bool:  # type: ignore[no-untyped-def]
    section = image.section_at(address)
    return (
        section is not None
        and not section.executable
        and section.name.startswith(".rodata")
        and image.name_at(address) is None
    )


def test_a_table_with_a_bug_keeps_its_address_and_its_own_bytes(tmp_path: Path) -> None:
    text = "static const int t[4] = {1, 2, %d, 4}; int f(int x) { return t[x & 3]; }"
    a, b = placed(build(tmp_path, text % 3), build(tmp_path, text % 5))
    start = address_of(a, "t")
    assert start == address_of(b, "t")
    assert a.constant_bytes(start + 8, 4) == b"\3\0\0\0"
    assert b.constant_bytes(start + 8, 4) == b"\5\0\0\0"
    assert a.differing == b.differing == ((start, start + 16),)


def test_other_literals_have_other_addresses(tmp_path: Path) -> None:
    text = 'int puts(const char *); int f(void) { return puts("%s"); }'
    for flags in (("-O0",), ("-O2",)):
        a, b = placed(build(tmp_path, text % "left", *flags), build(tmp_path, text % "right", *flags))
        left, right = ({x for _, x in references(i, "f") if i.section_at(x) is not None} for i in (a, b))
        assert left
        assert not left & right


def test_private_writable_data_never_shares_an_address(tmp_path: Path) -> None:
    a, b = placed(
        build(tmp_path, "int same; static int mine; int f(int x) { same = x; return mine += x; }"),
        build(tmp_path, "int same; static int yours; int f(int x) { same = x; return yours += x; }"),
    )
    assert address_of(a, "same") == address_of(b, "same")
    assert address_of(a, "mine") != address_of(b, "yours")


def test_names_of_static_locals_match_across_compilers(tmp_path: Path) -> None:
    text = "int f(void) { static int n; return n++; } int g(void) { static int m; return m--; }"
    a, b = placed(build(tmp_path, text, driver=GCC), build(tmp_path, text, driver=ZIG))
    assert address_of(b, "f.n") in {s.address for s in a.symbols if s.name.startswith("n.")}


def test_static_locals_of_one_name_are_not_paired_by_their_numbers(tmp_path: Path) -> None:
    text = "int f(void) { static int n; return n++; } int g(void) { static int n; return n--; }"
    for image in placed(build(tmp_path, text), build(tmp_path, text, "-O2")):
        assert not [s for s in image.symbols if s.name.startswith("n.")]


ORDERED = """
static int %s; static int %s;
int f(int x) { first = 0x123; second = x; return first; }
"""


def test_bytes_after_the_field_are_counted(tmp_path: Path) -> None:
    """`movl $imm, x(%rip)`: the distance is from the end of the immediate."""
    paths = [build(tmp_path, ORDERED % names, "-O0") for names in (("first", "second"), ("second", "first"))]
    a, b = placed(*paths)
    for name in ("first", "second"):
        assert address_of(a, name) == address_of(b, name)
    for image in (a, b):
        assert names_referred_to(image, "f") == ["first", "second", "first"]


ARRAYS = """
static int %s[4]; static int %s[4];
int *f(void) { return &first[0]; } int *g(void) { return &second[0]; }
int fill(int x) { first[x] = second[x] = x; return 0; }
"""


def test_an_address_between_two_arrays_is_not_guessed(tmp_path: Path) -> None:
    paths = [build(tmp_path, ARRAYS % names, "-O0") for names in (("first", "second"), ("second", "first"))]
    images = placed(*paths)
    assert all("more than one object" in why for image in images for why in image.broken.values())
    assert any(image.broken for image in images)
    separate = [build(tmp_path, ARRAYS % n, "-fdata-sections") for n in (("first", "second"), ("second", "first"))]
    assert [image.broken for image in placed(*separate)] == [{}, {}]


def test_the_address_of_a_function_is_shared(tmp_path: Path) -> None:
    text = "static int g(int x) { return x; } int (*f(void))(int) { return g; } int (*const p)(int) = g;"
    for flags in (("-O1",), ("-O1", "-fno-pic", "-fno-pie")):
        a, b = placed(build(tmp_path, "int pad(void) { return 1; }" + text, *flags), build(tmp_path, text, *flags))
        own = [{low: shared for low, _, shared in i.moved}.get(i.functions["g"].address) for i in (a, b)]
        assert own[0] == own[1]
        assert own[0] is not None
        for image in (a, b):
            assert image.aliases[own[0]] == image.functions["g"].address
            assert image.constant_bytes(address_of(image, "p"), 8) == own[0].to_bytes(8, "little")
            assert image.name_at(own[0]) == "g"


def test_thread_locals_have_one_offset(tmp_path: Path) -> None:
    text = "static __thread int %s, %s; int f(int n) { a += n; return b; }"
    a, b = placed(*(build(tmp_path, text % n, "-O1", "-fno-pic", "-fno-pie") for n in (("a", "b"), ("b", "a"))))
    codes = [image.code_at(image.functions["f"].address, 32) for image in (a, b)]
    assert codes[0] == codes[1]


def test_an_unknown_relocation_stops_only_those_who_use_it(tmp_path: Path) -> None:
    size = 'int r; __asm__("movl $t@SIZE, %0" : "=r"(r)); return r;'
    text = f"int t; int f(void) {{ {size} }} int g(int x) {{ return x; }}"
    image = placed(build(tmp_path, text, "-O1"))[0]
    f, g = image.functions["f"], image.functions["g"]
    assert any(f.address <= address < f.address + f.size for address in image.broken)
    assert not any(g.address <= address < g.address + g.size for address in image.broken)


def test_a_broken_constant_is_never_read(tmp_path: Path) -> None:
    text = ".section .rodata\nt: .byte x\n.byte 0\n.text\n.globl f\nf: ret\n"
    image = placed(build(tmp_path, text, suffix=".s"))[0]
    (address,) = image.broken
    with pytest.raises(Unsupported):
        image.constant_bytes(address, 1)


@pytest.mark.parametrize(("directive", "width"), [(".quad x@SIZE", 8), (".long x@SIZE", 4), (".quad x@GOTOFF", 8)])
def test_every_byte_of_a_field_that_is_not_known_is_broken(tmp_path: Path, directive: str, width: int) -> None:
    text = f".section .rodata\nt: {directive}\n.quad 0\n.bss\n.globl x\nx: .zero 9\n.text\n.globl f\nf: ret\n"
    image = placed(build(tmp_path, text, suffix=".s"))[0]
    start = min(image.broken)
    assert sorted(image.broken) == [*range(start, start + width)]
    for byte in range(width):
        with pytest.raises(Unsupported):
            image.constant_bytes(start + byte, 1)
    assert image.constant_bytes(start + width, 4) == bytes(4)


def test_tables_of_distances_to_literals(tmp_path: Path) -> None:
    """clang turns a table of string pointers into distances, which must survive the sharing of literals."""
    words = ("zero", "one", "two", "three", "four")
    cases = " ".join(f'case {i}: return "{word}";' for i, word in enumerate(words))
    text = f'const char *f(unsigned x) {{ switch (x) {{ {cases} }} return "many"; }}'
    image = placed(build(tmp_path, text, "-O2", "-fPIC", driver=ZIG), build(tmp_path, text, "-O2"))[0]
    (table,) = [x for _, x in references(image, "f") if _is_nameless_constant(image, x) and image.section_at(x + 19)]
    shown = []
    for entry in range(5):
        field = image.constant_bytes(table + 4 * entry, 4)
        section = image.section_at(table + int.from_bytes(field or b"", "little", signed=True))
        shown.append(section.data if section else b"")
    assert shown == [word.encode() + b"\0" for word in words]


LIBRARY = """
int puts(const char *); void *malloc(unsigned long);
int counter = 4; static int hidden;
__attribute__((noinline)) int exported(int x) { counter += x; hidden++; puts("x"); return x; }
int (*const table[2])(int) = {exported, puts};
int f(int x) { return exported(x) + (int)(long)malloc; }
"""


@pytest.mark.parametrize("flags", [("-shared", "-fPIC"), ("-pie",), ("-no-pie",)])
def test_linked_files_resolve_their_imports(tmp_path: Path, flags: tuple[str, ...]) -> None:
    text = LIBRARY if flags[0] == "-shared" else LIBRARY + "int main(void) { return f(1); }"
    a, b = placed(*(build(tmp_path, text, *flags, level) for level in ("-O1", "-O2")))
    for image in (a, b):
        assert "puts" in names_referred_to(image, "exported")
        assert "malloc" in names_referred_to(image, "f")
        assert not image.broken
    moves = [{image.name_at(low): shared for low, _, shared in image.moved} for image in (a, b)]
    assert moves[0]["exported"] == moves[1]["exported"]
    assert moves[0]["exported"] in a.aliases
    if flags[0] != "-no-pie":  # where variables stay where the programs have them
        assert moves[0]["counter"] == moves[1]["counter"]
        first = a.constant_bytes(address_of(a, "table"), 8)
        assert first == moves[0]["exported"].to_bytes(8, "little")
    own = references(a, "f")[0][1]
    assert a.name_at(own) == "exported"


def test_the_same_file_on_both_sides_is_placed_once(tmp_path: Path) -> None:
    path = build(tmp_path, LIBRARY, "-shared", "-fPIC")
    a, b = placed(path, path)
    assert a == b
    assert a.moved == ()


def test_an_object_against_a_library(tmp_path: Path) -> None:
    a, b = placed(build(tmp_path, LIBRARY, "-O2"), build(tmp_path, LIBRARY, "-shared", "-fPIC", "-O2"))
    moves = {b.name_at(low): shared for low, _, shared in b.moved}
    assert moves["counter"] == address_of(a, "counter")
    assert a.aliases[moves["exported"]] == a.functions["exported"].address


@pytest.mark.parametrize("name", ["libz.so.1", "libc.so.6"])
def test_system_libraries(name: str) -> None:
    path = Path("/lib/x86_64-linux-gnu") / name
    if not path.exists():
        pytest.skip("not on this machine")
    image = placed(path)[0]
    assert len(image.functions) > 50
    _assert_sections_in_order(image)


def _assert_sections_in_order(image) -> None:  # type: ignore[no-untyped-def]
    assert all(a.end <= b.address for a, b in itertools.pairwise(image.sections))
