"""Addresses of functions: only the code that is reached from an entry is compared."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from isoform.api import compare
from isoform.model.verdict import Equivalent

pytestmark = pytest.mark.compiler("gcc-12")

CC = "gcc-12"
START = "\t.text\n\t.globl f\n\t.type f,@function\nf:"
BEHIND = "behind:\tmov $%s, %eax\n\tret\n\t.size f, .-f\n"
COUNTED = {
    "a jump": START + "\tlea f(%rip), %rax\n\tadd $(behind-f), %rax\n\tjmp *%rax\n" + BEHIND,
    "a call": START + "\tlea f(%rip), %rax\n\tadd $(behind-f), %rax\n\tcall *%rax\n\tret\n" + BEHIND,
    "a return": START + "\tlea f(%rip), %rax\n\tadd $(behind-f), %rax\n\tpush %rax\n\tret\n" + BEHIND,
    "a read": START + "\tlea f(%rip), %rax\n\tmov (behind-f)(%rax), %eax\n\tret\n" + BEHIND,
    "from the offset table": START + "\tmov f@GOTPCREL(%rip), %rax\n\tadd $(behind-f), %rax\n\tjmp *%rax\n" + BEHIND,
    "from data": START
    + "\tmov pointer(%rip), %rax\n\tadd $(behind-f), %rax\n\tjmp *%rax\n"
    + BEHIND
    + '\t.section .data.rel.ro, "aw"\n\t.type pointer,@object\npointer:\t.quad f\n\t.size pointer, 8\n',
    "distances": START
    + "\tlea f(%rip), %rax\n\tlea table(%rip), %rcx\n\tmovslq (%rcx), %rcx\n\tadd %rcx, %rax\n\tjmp *%rax\n"
    + BEHIND
    + "\t.section .rodata\n\t.type table,@object\ntable:\t.long behind-f\n\t.size table, 4\n",
}


def built(folder: Path, name: str, text: str, suffix: str = "s") -> str:
    source, made = folder / f"{name}.{suffix}", folder / f"{name}.o"
    source.write_text(text)
    subprocess.run([CC, "-O1", "-fPIC", "-c", str(source), "-o", str(made)], check=True)
    return f"{made}:f"


@pytest.mark.parametrize("text", COUNTED.values(), ids=COUNTED)
def test_code_behind_the_entry(tmp_path: Path, text: str) -> None:
    """It returns 1 in one file and 2 in the other."""
    assert text.count("%s") == 1
    one, other = (built(tmp_path, f"file{number}", text.replace("%s", str(number))) for number in (1, 2))
    assert not isinstance(compare(one, other, signature="int f(void)", budget=3), Equivalent)


USED = """
int g(int x) { return x + 1; }
int out(int (*)(int));
int (*kept)(int);
int f(int (*h)(int), int x) { kept = g; if (h == g) return x; return out(g) + (x ? g : h)(3); }
"""


def test_addresses_that_are_compared_kept_and_called(tmp_path: Path) -> None:
    one = built(tmp_path, "one", USED, "c")
    other = built(tmp_path, "other", "int pad(int x) { return x * 3 + 1; }\n" + USED, "c")
    verdict = compare(one, other, budget=3)
    assert isinstance(verdict, Equivalent)
    assert verdict.engine == "same-code"
    assert "function-addresses" in [one.name for one in verdict.assumptions]


CALLED = """
__attribute__((noipa)) int g(int x) { return x + 3; }
extern int own(int) __attribute__((alias("g"), visibility("hidden")));
__attribute__((noipa)) int h(int x) { return x + 3; }
"""


@pytest.mark.parametrize("other", ["own", "h"])
def test_functions_of_other_names_may_be_replaced(tmp_path: Path, other: str) -> None:
    """Another file may define `g` alone."""
    text = CALLED + "int f(int x) { return %s(x) * 2; }\n"
    left = built(tmp_path, "left", text % "g", "c")
    verdict = compare(left, built(tmp_path, "right", text % other, "c"), budget=3)
    assert isinstance(verdict, Equivalent)
    assert "not-interposed" in [one.name for one in verdict.assumptions]
