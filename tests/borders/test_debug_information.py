"""Debug information that says less than it seems to: what it leaves out is never taken for void or empty."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

from isoform import api
from isoform.model.verdict import Different, Equivalent

ZIG = [sys.executable, "-m", "ziglang", "c++", "-target", "x86_64-linux-gnu", "-fno-sanitize=undefined"]
PLAIN = "struct S { int x; }; int f(struct S *s, short n) { return s->x + n * K; }"
FLOATS = "struct S { float a, b; }; struct S f(float x) { struct S s = {x, x * K}; return s; }"
CLASS = 'struct S { int a; int b; S(int); }; extern "C" S f(S s, int x) { s.b = x * K; return s; }'
CALLS = "int h(int); int f(int x) { int t = (x & ~3) | K; if (t > 1000) return -1; return h(t) + 1; }"
MEMBER = "struct T { int v; T(int); }; struct S { T t; }; " + 'extern "C" int f(S s, int x) { return s.t.v + x * K; }'
CLASH = 'extern "C" int f(int a) { return a * K + 1; } namespace n { static void f() {} void g() { f(); } }'
NESTED = """
int f(int a) { return a * K + 1; }
int g(int a) { int total = 0; __attribute__((noinline)) void f(void) { total += a; } f(); return total; }
"""
COMPLEX = """
int h(int, int, int, int, int, int, int, _Complex long, long);
int f(int a, int b, int c, int d, int e, int g, int i, _Complex long z, long j)
{ return h(a, b, c, d, e, g, i, (_Complex long)(z + K), j); }
"""
MEMBER_FUNCTION = """
namespace n { int f(int x); } int n::f(int x) { return x * K; } int other() { return n::f(3) + n::f(8); }
extern "C" int f(int x) { return n::f(x); }
"""


@dataclass(frozen=True)
class Build:
    name: str
    source: str
    flags: tuple[str, ...]
    """The last one says what is built."""
    language: str = "c"

    def made(self, folder: Path, number: int, level: str) -> Path:
        driver = ["gcc"] if self.language == "c" else ZIG
        source = folder / f"source.{self.language}"
        source.write_text(self.source)
        made = folder / f"{number}{level}.o"
        subprocess.run([*driver, "-w", level, f"-DK={number}", *self.flags, str(source), "-o", str(made)], check=True)
        return made


BUILDS = (
    Build("line tables only", PLAIN, ("-g1", "-c")),
    Build("type units", FLOATS, ("-gdwarf-4", "-fdebug-types-section", "-c")),
    Build("structures of other files", '\n# 1 "other.h" 1\n' + FLOATS, ("-g", "-femit-struct-debug-baseonly", "-c")),
    Build("a class described elsewhere", CLASS, ("-g", "-c"), "cc"),
    Build("a member described elsewhere", MEMBER, ("-g", "-c"), "cc"),
    Build("a function of that name in a namespace", CLASH, ("-g", "-c"), "cc"),
    Build("a nested function of that name", NESTED, ("-g", "-c")),
    Build("complex integers", COMPLEX, ("-g", "-c")),
    Build("link-time optimisation", CALLS, ("-g", "-flto", "-fPIC", "-shared")),
)


@pytest.mark.parametrize("build", BUILDS, ids=lambda build: build.name)
def test_what_is_left_out_is_not_empty(tmp_path: Path, build: Build) -> None:
    if build.language == "c" and not shutil.which("gcc"):
        pytest.skip("needs gcc")
    if build.language != "c" and find_spec("ziglang") is None:
        pytest.skip("needs the ziglang wheel")
    one, other = build.made(tmp_path, 1, "-O2"), build.made(tmp_path, 2, "-O2")
    assert not isinstance(api.compare(f"{one}:f", f"{other}:f"), Equivalent)
    lower = build.made(tmp_path, 1, "-O1")
    assert not isinstance(api.compare(f"{lower}:f", f"{one}:f"), Different)


def test_an_enumeration_of_bools(tmp_path: Path) -> None:
    if find_spec("ziglang") is None:
        pytest.skip("needs the ziglang wheel")
    source = 'enum E : bool { a, b }; extern "C" int f(E e) { return e ? 3 : 3 + K; }'
    build = Build("", source, ("-g", "-c"), "cc")
    one, other = build.made(tmp_path, 1, "-O0"), build.made(tmp_path, 1, "-O2")
    assert isinstance(api.compare(f"{one}:f", f"{other}:f"), Equivalent)
    assert isinstance(api.compare(f"{one}:f", f"{build.made(tmp_path, 2, '-O2')}:f"), Different)


@pytest.mark.skipif(not shutil.which("g++"), reason="needs g++")
def test_a_declaration_behind_an_abstract_entry(tmp_path: Path) -> None:
    """g++ says the type of a function of a namespace that is also inlined only in its declaration, two links away."""
    source = tmp_path / "source.cc"
    source.write_text(MEMBER_FUNCTION)
    made = []
    for number in (1, 2):
        made.append(tmp_path / f"{number}.o")
        subprocess.run(["g++", "-O2", "-g", f"-DK={number}", "-c", str(source), "-o", str(made[-1])], check=True)
    found = api.compare(f"{made[0]}:_ZN1n1fEi", f"{made[1]}:_ZN1n1fEi")
    assert isinstance(found, Different)
    assert str(found.contract.signature) == "int _ZN1n1fEi(int x)"


@pytest.mark.skipif(find_spec("ziglang") is None, reason="needs the ziglang wheel")
def test_thunks_are_not_void(tmp_path: Path) -> None:
    source = """
    struct A { virtual int a(); int x; }; struct B { virtual int b(int); int y; };
    struct D : A, B { int b(int) override; }; int D::b(int q) { return q * K + y; }
    """
    build = Build("", source, ("-g", "-c"), "cc")
    one, other = build.made(tmp_path, 1, "-O2"), build.made(tmp_path, 2, "-O2")
    assert not isinstance(api.compare(f"{one}:_ZThn16_N1D1bEi", f"{other}:_ZThn16_N1D1bEi"), Equivalent)
