"""Callees that do the same are outside functions for their callers: where that is a proof, and where it is not."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from isoform.borders.question import Options
from isoform.diff.ask import AskedPair, ask, proof_with_outside
from isoform.diff.compose import Composer
from isoform.diff.members import ComparedFile
from isoform.diff.unit import Unit, opened
from isoform.engines.same_code.identical import Differs
from isoform.load.open import LoadOptions
from isoform.model.verdict import Assumption, Verdict

HARD = """
int total;
__attribute__((noinline)) int g(int *p, int n) {
  int s = 0;
  for (int i = 0; i < n; i++) { s = s * 31 + p[i] % 7; total += s ^ (s >> 3); }
  return s;
}
"""
"""No engine compares two of these in a second; the code is the same."""


def unit_of(folder: Path, old: str, new: str, flags: str = "-O1 -g") -> Unit:
    members = []
    for side, text in (("old", old), ("new", new)):
        path = folder / f"{side}.c"
        path.write_text(text)
        members.append(ComparedFile(str(path), None, ""))
    return opened(0, (members[0], members[1]), (LoadOptions(cflags=flags),) * 2)  # type: ignore[arg-type]


def entries(unit: Unit, name: str) -> tuple[int, int]:
    left, right = (next(one.address for one in side if one.name == name) for side in unit.functions)
    return left, right


def proof(unit: Unit) -> Verdict | None:
    """That two callers do the same with a callee that counts as the same."""
    shown = Composer(unit).shown(entries(unit, "g"), ())
    assert shown is not None
    rests_on = (Assumption("valid-memory", "what the callee uses"), Assumption("jump-tables", "of the callee"))
    asked = AskedPair(0, entries(unit, "f"), 4.0, 1, 1 << 31, callees=(shown,), rests_on=rests_on)
    loaded = unit.pair.loaded(unit.symbols(asked.entries))
    return proof_with_outside(loaded, Options(budget=asked.budget), asked)


def test_a_caller_is_proved_without_its_callee(tmp_path: Path) -> None:
    f = "int f(int *p, int n, int k) { int a = g(p, n); return a * 2 + k; }\n"
    found = proof(unit_of(tmp_path, HARD + f, HARD + f.replace("a * 2 + k", "k + a + a")))
    assert found is not None
    said = {one.name: one.why for one in found.assumptions}
    assert said["callees-shown"].startswith("g: ")
    assert said["jump-tables"] == "of the callee"
    assert "what the callee uses" in said["valid-memory"]
    assert proof(unit_of(tmp_path, HARD + f, HARD + f.replace("a * 2 + k", "k + a"))) is None


CALLERS = [
    ("return g(p, n) * 2;", "return g(p, n) + g(p, n);"),
    ("int t = total; g(p, n); return t;", "g(p, n); return total;"),
    ("return g(p, n);", "return g(p, n + 1);"),
    ("p[0] = 1; return g(p, n);", "int a = g(p, n); p[0] = 1; return a;"),
    ("total = 3; g(p, n); return 0;", "g(p, n); total = 3; return 0;"),
    ("return n ? g(p, n) : 0;", "return g(p, n);"),
]


@pytest.mark.parametrize(("old", "new"), CALLERS)
def test_callers_that_differ(tmp_path: Path, old: str, new: str) -> None:
    """In how often they call, in what the callee writes or reads, in its arguments, or in whether they call."""
    sources = [f"{HARD}int f(int *p, int n) {{ {body} }}" for body in (old, new)]
    assert proof(unit_of(tmp_path, *sources)) is None


SCRATCH = """
__attribute__((noinline, used)) static int g(int x) { BODY }
int f(int x) {
  int kept;
  __asm__("mov $7, %%esi; mov %1, %%edi; call g; mov %%esi, %0" : "=r"(kept) : "r"(x)
          : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
  return kept;
}
"""


def test_callees_that_do_the_same_may_leave_other_things_in_registers(tmp_path: Path) -> None:
    """The code of the callers is the same, and reads a register that one callee changes and the other does not."""
    plain = "return x * 2 + 1;"
    changes = 'int a; __asm__("mov $9, %%esi; mov %1, %0" : "=r"(a) : "r"(x) : "esi"); return a + a + 1;'
    unit = unit_of(tmp_path, SCRATCH.replace("BODY", plain), SCRATCH.replace("BODY", changes), "-O1 -g -mno-red-zone")
    assert ask([unit], AskedPair(0, entries(unit, "g"), 4.0, 1, 1 << 31))["verdict"]["verdict"] == "equivalent"
    shown = Composer(unit).shown(entries(unit, "g"), ())
    assert shown is not None
    found = ask([unit], AskedPair(0, entries(unit, "f"), 4.0, 1, 1 << 31, callees=(shown,)))
    assert found["verdict"]["verdict"] == "different"


CALLBACK = """
__attribute__((noinline)) static int step(int x) { return x + 1; }
__attribute__((noinline)) int g(int (*h)(int), int n) { int s = 0; for (int i = 0; i < n; i++) s = h(s); return s; }
int f(int n) { return g(step, n) + 1; }
"""


def test_a_callback_that_differs(tmp_path: Path) -> None:
    """The callee is the same, and is given the address of something that is not. (It calls through a pointer, which may
    take anything from any register, so it is inlined.)"""
    unit = unit_of(tmp_path, CALLBACK, CALLBACK.replace("x + 1", "x + 2"))
    unit.identical.assumptions(entries(unit, "g"))
    with pytest.raises(Differs):
        unit.identical.assumptions(entries(unit, "f"))
    assert Composer(unit).shown(entries(unit, "g"), ()) is None
    assert ask([unit], AskedPair(0, entries(unit, "f"), 4.0, 1, 1 << 31))["verdict"]["verdict"] == "different"


NOT_ONLY_ARGUMENTS = [
    'long r; __asm__ volatile("mov %%r10, %0" : "=r"(r)); return r + x;',
    'long r; __asm__ volatile("mov %%rdi, %0" : "=r"(r)); return r;',
    'long r; __asm__ volatile("mov %%rbx, %0" : "=r"(r)); return r + x;',
    'long r; __asm__ volatile("setc %b0" : "=r"(r)); return (r & 1) + x;',
    'long r; __asm__ volatile("mov 8(%%rsp), %0" : "=r"(r)); return r + x;',
]


@pytest.mark.parametrize("body", NOT_ONLY_ARGUMENTS)
def test_a_callee_that_uses_more_than_its_arguments(tmp_path: Path, body: str) -> None:
    """The same code, but in another state it does something else: callers leave other things in such places."""
    source = f"__attribute__((noinline)) long g(int x) {{ {body} }}\n"
    unit = unit_of(tmp_path, source, source, "-O1 -g -fomit-frame-pointer")
    unit.identical.assumptions(entries(unit, "g"))
    assert Composer(unit).shown(entries(unit, "g"), ()) is None


@pytest.mark.parametrize(
    "source",
    [
        "struct s { long a[3]; }; __attribute__((noinline)) long g(struct s x) { return x.a[1]; }",
        "__attribute__((noinline)) int g(int a, int b, int c, int d, int e, int h, int i) { return i + a; }",
        "__attribute__((noinline)) int g(int n, ...) { return n; }",
        "__attribute__((noinline)) int strlen(int n) { return n * 3; }",
    ],
)
def test_callees_that_are_inlined(tmp_path: Path, source: str) -> None:
    """Arguments on the stack, variadic functions, and names that mean a function of the library."""
    unit = unit_of(tmp_path, source, source, "-O1 -g -fno-builtin")
    name = "strlen" if "strlen" in source else "g"
    assert Composer(unit).shown(entries(unit, name), ()) is None


def test_proofs_that_callers_cannot_rest_on(tmp_path: Path) -> None:
    unit = unit_of(tmp_path, HARD, HARD)
    assert Composer(unit).shown(entries(unit, "g"), ("valid-memory",)) is not None
    assert Composer(unit).shown(entries(unit, "g"), ("padding-unread",)) is None
    assert Composer(unit_of(tmp_path, HARD, HARD, "-O1 -g0")).shown(entries(unit, "g"), ()) is None


def test_two_functions_of_one_name(tmp_path: Path) -> None:
    """They would be one outside function."""
    static = "__attribute__((noinline)) static int g(int x) {{ return x * {0}; }}\nint f{0}(int x) {{ return g(x); }}\n"
    for side in ("old", "new"):
        paths = []
        for number in (3, 5):
            paths.append(tmp_path / f"{side}{number}.c")
            paths[-1].write_text(static.format(number))
        made = str(tmp_path / f"{side}.so")
        subprocess.run(["cc", "-O1", "-g", "-shared", "-nostdlib", "-fPIC", *map(str, paths), "-o", made], check=True)
    members = ComparedFile(str(tmp_path / "old.so"), None, ""), ComparedFile(str(tmp_path / "new.so"), None, "")
    unit = opened(0, members, (LoadOptions(), LoadOptions()))
    assert [one.name for one in unit.functions[0]].count("g") == 2
    assert Composer(unit).shown(entries(unit, "g"), ()) is None


BREAKS = {
    "a register": 'if (n == 77) __asm__ volatile("xor %%ebx, %%ebx" : : : "memory");',
    "the direction flag": 'if (n == 77) __asm__ volatile("std" : : : "memory");',
    "the caller's frame": 'if (n == 77) __asm__ volatile("movl $7, 24(%%rsp)" : : : "memory");',
    "an instruction without semantics": 'if (n == 77) __asm__ volatile("fsin" : : : "memory");',
}


@pytest.mark.parametrize("broken", BREAKS.values(), ids=BREAKS)
@pytest.mark.parametrize("is_inner", [False, True], ids=["itself", "what it calls"])
def test_a_callee_that_breaks_the_convention(tmp_path: Path, broken: str, is_inner: bool) -> None:
    """The same code on both sides, and its callers may be hurt or not: one has a value in the register, one has not."""
    source = "__attribute__((noinline)) int g(int *p, int n) { BREAK return n * 3 + p[0]; }\n"
    if is_inner:
        source = "__attribute__((noinline)) int h(int *p, int n) { BREAK return n * 5; }\n" + source.replace(
            "BREAK return", "return h(p, n) +"
        )
    for text, counts in ((source.replace("BREAK", ""), True), (source.replace("BREAK", broken), False)):
        unit = unit_of(tmp_path, text, text)
        unit.identical.assumptions(entries(unit, "g"))
        assert (Composer(unit).shown(entries(unit, "g"), ()) is not None) == counts


PASSED_ON = r"""
int more(int x);
__asm__(".text\n.type more,@function\nmore: USES\n add %edi, %eax\n ret\n.size more,.-more\n");
__attribute__((noinline)) int g(int n) {
  unsigned h = 1;
  for (int i = 0; i < n; i++) h = h * 33 + i;
  return more(h) + 1;
}
"""


@pytest.mark.parametrize("used", ["mov %r10, %rax", "mov %rbx, %rax", "movd %xmm15, %eax"])
def test_a_callee_whose_own_callee_uses_more_than_it_declares(tmp_path: Path, used: str) -> None:
    unit = unit_of(tmp_path, *[PASSED_ON.replace("USES", used)] * 2)
    assert Composer(unit).shown(entries(unit, "g"), ()) is None
    unit = unit_of(tmp_path, *[PASSED_ON.replace("USES", "mov %rdi, %rax")] * 2)
    assert Composer(unit).shown(entries(unit, "g"), ()) is not None


def test_a_callee_that_other_files_could_replace_on_one_side(tmp_path: Path) -> None:
    """Then the name does not mean the same function on both sides."""
    hidden = HARD.replace("noinline", 'noinline, visibility("hidden")')
    for other, is_one in ((HARD, True), (hidden, False)):
        unit = unit_of(tmp_path, HARD, other, "-O1 -g -fPIC")
        assert (Composer(unit).shown(entries(unit, "g"), ()) is not None) == is_one
