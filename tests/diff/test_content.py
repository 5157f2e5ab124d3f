"""What an answer in the store depends on: digests change with everything that could change the answer."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from isoform.diff.members import ComparedFile
from isoform.diff.unit import opened
from isoform.load.open import LoadOptions

START = "  .text\n  .globl f\n  .type f, @function\nf:\n"
CONSTRUCTOR = """
static int n = 1;
__attribute__((constructor)) static void start(void) { n = 5; }
int f(void) { return n; }
"""
DISTANCES = (
    START
    + """
  lea t(%rip), %rax
  and $1, %edi
  movslq (%rax,%rdi,4), %rcx
  add %rcx, %rax
  ret
  .size f, . - f
  .section .rodata
  .type t, @object
t: .long x - t, y - t
  .size t, . - t
x: .asciz "one"
y: .asciz "two"
"""
)
BEYOND = START + "  mov t(%rip), %rax\n  ret\n  .size f, . - f\n  .section .rodata\n  .type t, @object\n"
BEYOND += "t: .long 1\n  .size t, 4\n  .type u, @object\nu: .long 5\n  .size u, 4\n"
FALLS = START + "  call g\n  .size f, . - f\n  add $1, %eax\n  ret\n  .type g, @function\ng: ret\n  .size g, . - g\n"


THREADS = "__thread int n = 1;\nint f(void) { return n; }\n"


@pytest.mark.parametrize(
    ("source", "before", "after", "suffix"),
    [
        (THREADS, "n = 1", "n = 2", "c"),
        (CONSTRUCTOR, "n = 5", "n = 6", "c"),
        (DISTANCES, '"two"', '"six"', "s"),
        (BEYOND, ".long 5", ".long 6", "s"),
        (FALLS, "add $1", "add $2", "s"),
    ],
    ids=[
        "thread-local data",
        "a constructor",
        "a text behind a distance",
        "what lies after an object",
        "what lies after a function",
    ],
)
def test_what_changes_a_digest(tmp_path: Path, source: str, before: str, after: str, suffix: str) -> None:
    members = []
    for side, text in (("old", source), ("new", source.replace(before, after))):
        path, made = tmp_path / f"{side}.{suffix}", tmp_path / f"{side}.so"
        path.write_text(text)
        subprocess.run(["cc", "-O1", "-fPIC", "-nostdlib", "-shared", str(path), "-o", str(made)], check=True)
        members.append(ComparedFile(str(made), None, ""))
    old, new = _digests(members[0], members[1])
    assert old != new
    old, again = _digests(members[0], members[0])
    assert old == again


def _digests(left: ComparedFile, right: ComparedFile) -> tuple[str, str]:
    unit = opened(0, (left, right), (LoadOptions(), LoadOptions()))
    old, new = (next(f for f in side if f.name == "f") for side in unit.functions)
    contents = unit.contents((old.address, new.address))
    return contents[0].digest, contents[1].digest


def test_other_functions_do_not_change_a_digest(tmp_path: Path) -> None:
    """In a linked library as well: otherwise nothing in the store would count for another build."""
    members = []
    for side, number in (("old", 5), ("new", 6)):
        path, made = tmp_path / f"{side}.c", tmp_path / f"{side}.so"
        checked = '__asm__ volatile("mov %%fs:40, %%rax" ::: "rax");'
        path.write_text(f"int f(int x) {{ return x * 3; }}\nint other(int x) {{ {checked} return x + {number}; }}\n")
        subprocess.run(["cc", "-O1", "-fPIC", "-nostdlib", "-shared", str(path), "-o", str(made)], check=True)
        members.append(ComparedFile(str(made), None, ""))
    old, new = _digests(members[0], members[1])
    assert old == new
