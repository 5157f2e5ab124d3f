"""C prototypes: types, names, layout checked against a real compiler, and texts that are no prototype."""

from __future__ import annotations

import contextlib
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from isoform.isa.registry import machine
from isoform.load.known import known_signature
from isoform.load.prototype import parse_prototype
from isoform.model.errors import UserError
from isoform.model.library import every_library_function
from isoform.model.signature import CType, TypeKind


def compiler() -> list[str]:
    found = shutil.which("gcc") or shutil.which("cc")
    return [found] if found else [sys.executable, "-m", "ziglang", "cc", "-target", "x86_64-linux-gnu"]


def only(text: str, word_bits: int = 64) -> CType:
    """The type of the one parameter of a prototype."""
    (parameter,) = parse_prototype(text, word_bits).parameters
    return parameter.type


def shape(ctype: CType) -> tuple[TypeKind, int, bool]:
    return ctype.kind, ctype.bits, ctype.signed


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("unsigned f(unsigned x, unsigned *p)", "unsigned f(unsigned x, unsigned *p)"),
        ("void f(void);", "void f(void)"),
        ("int f()", "int f(void)"),
        ("int f(int, char c, long)", "int f(int arg1, char c, long arg3)"),
        ("int f(const char *format, ...)", "int f(const char *format, ...)"),
        ("int f(int a[], int b[10], int g(int), int (*h)(int))", "int f(int *a, int *b, void *g, void *h)"),
        ("typedef int T[3]; int f(T x)", "int f(int *x)"),
        ("struct node { int v; struct node *next; }; int f(struct node *p)", "int f(struct node *p)"),
        ("static inline int f(char *__restrict p) { return *p; }", "int f(char *restrict p)"),
        ("void f(FILE *file, struct unknown *p)", "void f(FILE *file, struct unknown *p)"),
        ("int f(int $1)", "int f(int $1)"),
        ("int (*f(int x))(int)", "void *f(int x)"),
    ],
)
def test_reads(text: str, shown: str) -> None:
    assert str(parse_prototype(text)) == shown


@pytest.mark.parametrize(
    ("spelling", "kind", "bits", "signed"),
    [
        ("char", TypeKind.INTEGER, 8, True),
        ("unsigned char", TypeKind.INTEGER, 8, False),
        ("short int", TypeKind.INTEGER, 16, True),
        ("signed", TypeKind.INTEGER, 32, True),
        ("long unsigned int", TypeKind.INTEGER, 64, False),
        ("long long", TypeKind.INTEGER, 64, True),
        ("unsigned __int128", TypeKind.INTEGER, 128, False),
        ("uint16_t", TypeKind.INTEGER, 16, False),
        ("size_t", TypeKind.INTEGER, 64, False),
        ("bool", TypeKind.BOOL, 8, False),
        ("_Bool", TypeKind.BOOL, 8, False),
        ("float", TypeKind.FLOAT, 32, True),
        ("double", TypeKind.FLOAT, 64, True),
        ("long double", TypeKind.FLOAT, 80, True),
        ("char *", TypeKind.POINTER, 64, False),
        ("enum { A, B }", TypeKind.INTEGER, 32, False),
        ("enum { A = -1, B }", TypeKind.INTEGER, 32, True),
        ("enum { A = 1l << 40 }", TypeKind.INTEGER, 64, False),
    ],
)
def test_types(spelling: str, kind: TypeKind, bits: int, signed: bool) -> None:
    assert shape(only(f"int f({spelling} x)")) == (kind, bits, signed)


def test_a_machine_of_32_bits_has_narrow_pointers_and_longs() -> None:
    assert [only(f"int f({t} x)", 32).bits for t in ("long", "int *", "size_t", "long long")] == [32, 32, 32, 64]


def test_a_typedef_of_the_users_own_wins() -> None:
    assert only("typedef unsigned short wchar_t; int f(wchar_t x)").bits == 16


def test_pointers_are_followed_twice() -> None:
    node = only("struct node { int v; struct node *next; }; int f(struct node *p)").pointee
    assert node is not None
    assert [(name, offset) for name, offset, _ in node.fields] == [("v", 0), ("next", 8)]
    second = node.fields[1][2].pointee
    assert second is not None
    assert second.kind is TypeKind.STRUCT
    third = second.fields[1][2].pointee
    assert third is not None
    assert third.kind is TypeKind.VOID


def test_arrays_and_anonymous_members_are_spelled_out() -> None:
    struct = only("struct s { char a[3]; union { int i; float f; }; short m[2][2]; }; int f(struct s x)")
    assert [(name, offset) for name, offset, _ in struct.fields] == [
        *(("a[0]", 0), ("a[1]", 1), ("a[2]", 2), ("i", 4), ("f", 4)),
        *(("m[0][0]", 8), ("m[0][1]", 10), ("m[1][0]", 12), ("m[1][1]", 14)),
    ]


def test_large_structs_keep_their_size() -> None:
    struct = only("struct s { __int128 a; char b[100000]; struct { int c[500]; } d[500]; }; int f(struct s x)")
    assert struct.bits == 8 * (16 + 100000 + 500 * 2000)
    assert len(struct.fields) <= 1024


MEMBER_TYPES = ["char", "short", "int", "long", "float", "double", "void *", "_Bool", "long double", "__int128"]


def random_struct(rng: random.Random, name: str, earlier: list[str]) -> tuple[str, list[str]]:
    """A struct or union of random members and the names of those that have an offset."""
    members, named = [], []
    for index in range(rng.randint(1, 5)):
        kind = rng.choice([*MEMBER_TYPES, *earlier[-3:]])
        style = rng.random()
        if style < 0.2 and kind in ("char", "short", "int", "long"):
            limit = {"char": 8, "short": 16, "int": 32, "long": 64}[kind]
            members.append(f"{kind} m{index} : {rng.randint(1, limit)};")
            if rng.random() < 0.2:
                members.append(f"{kind} : 0;")
        elif style < 0.4:
            members.append(f"{kind} m{index}[{rng.randint(1, 3)}];")
            named.append(f"m{index}[0]")
        else:
            members.append(f"{kind} m{index};")
            named.append(f"m{index}")
    word = rng.choice(["struct", "struct", "struct", "union"])
    return f"{word} {name} {{ {' '.join(members)} }};", named


def test_layout_is_the_compilers(tmp_path: Path) -> None:
    seed = 20240501
    print("seed", seed)
    rng = random.Random(seed)
    checks = ["#include <stddef.h>"]
    definitions: dict[str, str] = {}
    for number in range(150):
        if number % 20 == 0:
            definitions.clear()
        definition, named = random_struct(rng, f"s{number}", list(definitions))
        tag = " ".join(definition.split()[:2])
        definitions[tag] = definition
        struct = only(f"{' '.join(definitions.values())} int f({tag} x)")
        checks.append(f'{definition} _Static_assert(sizeof({tag}) == {struct.bits // 8}, "{tag}");')
        offsets = {name: offset for name, offset, _ in struct.fields}
        checks += [f'_Static_assert(offsetof({tag}, {m}) == {offsets[m]}, "{tag} {m}");' for m in named]
    source = tmp_path / "layout.c"
    source.write_text("\n".join(checks))
    done = subprocess.run([*compiler(), "-fsyntax-only", str(source)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len(checks) > 300


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "is empty"),
        ("int f(int x", "ends too early"),
        ("int f(int x) garbage", "column 14, before 'garbage'"),
        ("int f(x)", "no type for parameter 1"),
        ("xyz f(int x)", "column"),
        ("int x", "no function"),
        ("int f(int); int g(int)", "2 functions"),
        ("int f(int a, int a)", "two parameters named 'a'"),
        ("int f(struct q x)", "'struct q' by value without defining it"),
        ("struct A { struct A a; }; int f(struct A a)", "part of itself"),
        ("int f(void x)", "has no value"),
        ("FILE f(int x)", "returns 'FILE'"),
        ("int f(float _Complex x)", "does not know"),
        ("int f(long float x)", "does not know"),
        ("#include <stdio.h>", "preprocessor"),
        ("int f(int x); // f", "comments"),
        ("int f(int x) __attribute__((pure))", "attributes"),
        ("struct s { int a[1 << 40][1 << 30]; }; int f(struct s x)", "larger than any memory"),
        ("struct s { int a[-1]; }; int f(struct s x)", "negative"),
        ("struct s { int a : 40; }; int f(struct s x)", "bit-field"),
        ("struct s { int a[n]; }; int f(struct s x)", "not a constant"),
        ("enum { A = 99999999999999999999999 }; int f(int x)", "64 bits"),
        ("int f(" + ", ".join(["int"] * 500) + ")", "500 parameters"),
        ("int f(int x)" + " " * 20000, "characters long"),
        ("int f(int \0x)", "column 11"),
        ("int f" + "(" * 4000, "--signature"),
        ("struct s { int a[" + "~" * 4000 + "1]; }; int f(struct s *x)", "nested too deeply"),
    ],
)
def test_errors_are_one_sentence(text: str, part: str) -> None:
    with pytest.raises(UserError) as caught:
        parse_prototype(text)
    message = str(caught.value)
    assert message.startswith("--signature ")
    assert part in message
    assert message.endswith(".")
    assert "\n" not in message
    assert len(message) < 300


def test_hostile_texts_never_escape() -> None:
    seed = 7
    print("seed", seed)
    rng = random.Random(seed)
    good = (
        "struct s { int a : 3; struct s *n; char t[4]; }; enum e { A = -1 }; typedef struct s T; int f(T *p, enum e x);"
    )
    for _ in range(600):
        characters = list(good)
        for _ in range(rng.randint(1, 6)):
            at = rng.randrange(len(characters))
            action = rng.randrange(3)
            if action == 0:
                del characters[at : at + rng.randint(1, 5)]
            elif action == 1:
                characters.insert(at, rng.choice("(){}[];:*,=.&\"'\\$0x struct enum"))
            else:
                other = rng.randrange(len(characters))
                characters[at], characters[other] = characters[other], characters[at]
            characters = characters or [" "]
        with contextlib.suppress(UserError):
            parse_prototype("".join(characters))


def test_nesting_does_not_explode() -> None:
    definitions = "struct s0 { int a[64]; };" + "".join(
        f"struct s{n} {{ struct s{n - 1} x[64]; struct s{n - 1} *p[64]; }};" for n in range(1, 6)
    )
    struct = only(f"{definitions} int f(struct s5 x)")
    assert hash(struct) == hash(only(f"{definitions} int f(struct s5 x)"))


def test_known_functions() -> None:
    memcpy = known_signature("memcpy")
    assert str(memcpy) == "void *memcpy(void *to, const void *from, size_t count)"
    printf = known_signature("printf")
    assert printf is not None
    assert printf.variadic
    assert known_signature("compare") is None
    assert known_signature("size_t") is None
    assert known_signature("no_such_function") is None
    assert known_signature("(") is None


def test_every_known_prototype_parses() -> None:
    declared = [function for function in every_library_function() if function.prototype]
    assert len(declared) > 300
    for function in declared:
        signature = known_signature(function.name)
        assert signature is not None
        assert signature.name == function.name


def test_pointers_are_as_wide_as_the_machines_addresses() -> None:
    signature = parse_prototype("long *f(int *p, long n)", machine("cs241").word_bits)
    assert [parameter.type.bits for parameter in signature.parameters] == [32, 32]
    assert signature.result.bits == 32
    assert [
        place.register for argument in machine("cs241").place(signature).arguments for place in argument.places
    ] == [
        "$1",
        "$2",
    ]
    wide = parse_prototype("int f(int *p)", machine("x86_64").word_bits)
    assert wide.parameters[0].type.bits == 64
