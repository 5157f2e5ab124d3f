"""What equal micro-ops and equal texts do not show: which instruction it is, what an address is part of, and whether
two addresses are one."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from isoform.diff.content import Contents
from isoform.engines.same_code.identical import Differs, Identical
from isoform.load.elf import parse_elf
from isoform.load.library_pair import LibraryPair

START = "  .text\n  .globl f\n  .type f, @function\nf:\n"
END = "\n  .size f, . - f\n"
TWO = "  .data\n  .type a, @object\na: .quad 1, 0\n  .size a, 16\n  .type b, @object\nb: .quad 2, 0\n  .size b, 16\n"
SLOTS = (
    "  .type g, @function\ng: mov foo@GOTPCREL(%rip), %rax\n  mov bar@GOTPCREL(%rip), %rdx\n  ret\n  .size g, . - g\n"
)
CONSTANTS = "  .section .rodata\n" + "".join(
    f"  .type t.{n}, @object\nt.{n}: .quad 1\n  .size t.{n}, 8\n" for n in (0, 1)
)
TEXTS = """
  .type g, @function
g: lea one(%rip), %rax
  lea two(%rip), %rdx
  ret
  .size g, . - g
  .section .rodata
one: .asciz "abc"
two: .asciz "abc"
"""
TABLE = """
  .type g, @function
g: lea table(%rip), %rax
  ret
  .size g, . - g
  .section .rodata
  .long 0x414243, 0x414243
table: .long 1, 2, 3, 4, 5
"""
POINTER = """
  .section .data.rel.ro, "aw"
held: .quad x
  .bss
  .type x, @object
x: .skip 8
  .size x, 8
  .type y, @object
y: .skip 8
  .size y, 8
"""
SAME_ADDRESS = "  cmp %rax, %rdx\n  sete %al\n  ret"


def body(code: str, rest: str = "") -> str:
    return START + code + END + rest


PAIRS = {
    "instructions without semantics": (body("fsin\nret"), "fsin", "fcos"),
    "their operands": (body("lar %di, %ax\nret"), "%di", "%si"),
    "addresses in them": (body("fbld a(%rip)\nfstpt (%rdi)\nret", TWO), "fbld a", "fbld b"),
    "the next slot": (body("lea foo@GOTPCREL(%rip), %rax\nmov 8(%rax), %rax\nret", SLOTS), "mov bar@", "mov baz@"),
    "two slots": (body("movups foo@GOTPCREL(%rip), %xmm0\nmovups %xmm0, (%rdi)\nret", SLOTS), "mov bar@", "mov baz@"),
    "two constants": (
        body(f"lea t.0(%rip), %rax\nlea t.1(%rip), %rdx\n{SAME_ADDRESS}", CONSTANTS),
        "lea t.0",
        "lea t.1",
    ),
    "two texts": (body(f"lea one(%rip), %rax\nlea two(%rip), %rdx\n{SAME_ADDRESS}", TEXTS), "lea one", "lea two"),
    "an index that starts elsewhere": (
        body("lea table-4(%rip), %rax\nmov (%rax,%rdi,4), %eax\nret", TABLE),
        "3, 4, 5",
        "3, 4, 6",
    ),
    "part of an address": (body("movzwl held+2(%rip), %eax\nret", POINTER), ".quad x", ".quad y"),
}


class Built:
    def __init__(self, folder: Path, linked: bool) -> None:
        self._folder, self._linked = folder, linked

    def pair(self, old: str, new: str) -> Identical:
        files = []
        for side, text in (("old", old), ("new", new)):
            source, made = self._folder / f"{side}.s", self._folder / f"{side}.out"
            source.write_text(text)
            how = ["-shared", "-nostdlib"] if self._linked else ["-c"]
            subprocess.run(["cc", *how, str(source), "-o", str(made)], check=True)
            files.append(parse_elf(made.read_bytes(), str(made)))
        left, right = LibraryPair((files[0], files[1]), ("old", "new")).together
        return Identical((left.image, right.image))


def entries(found: Identical) -> tuple[int, int]:
    left, right = (walker.image.functions["f"].address for walker in found.walkers)
    return left, right


@pytest.mark.parametrize("linked", [False, True], ids=["object", "library"])
@pytest.mark.parametrize(("source", "before", "after"), PAIRS.values(), ids=PAIRS)
def test_not_the_same(tmp_path: Path, source: str, before: str, after: str, linked: bool) -> None:
    found = Built(tmp_path, linked).pair(source, source.replace(before, after, 1))
    with pytest.raises(Differs):
        found.assumptions(entries(found))
    digests = [
        Contents(walker.image, walker, f"file {side}", False).of(entry).digest
        for side, (walker, entry) in enumerate(zip(found.walkers, entries(found), strict=True))
    ]
    assert digests[0] != digests[1]


MOVED = "  .globl first\n  .type first, @function\nfirst: ret\n  .size first, . - first\n"


@pytest.mark.parametrize(
    "source",
    [
        body("fsin\nret"),
        body("mov foo@GOTPCREL(%rip), %rax\nret", SLOTS),
        body(f"lea t.0(%rip), %rax\nlea t.1(%rip), %rdx\n{SAME_ADDRESS}", CONSTANTS),
        body("lea one(%rip), %rax\nret", TEXTS),
    ],
    ids=["an instruction without semantics", "one slot", "two constants", "a text"],
)
def test_moved_and_the_same(tmp_path: Path, source: str) -> None:
    found = Built(tmp_path, linked=True).pair(source, "  .text\n" + MOVED + source)
    found.assumptions(entries(found))


INTO = """
  .type f, @function
f: add $1, %edi
  jmp g
  .size f, . - f
  .type g, @function
g: lea table(%rip), %rdx
  and $1, %edi
  movslq (%rdx,%rdi,4), %rax
  add %rdx, %rax
  jmp *%rax
one: mov $1, %eax
  ret
two: mov $2, %eax
  ret
  .size g, . - g
  .section .rodata
table: .long one - table, two - table
  .string "more"
"""


def test_a_jump_table_of_the_function_that_it_ends_in(tmp_path: Path) -> None:
    source = "  .text\n  .globl f\n" + INTO
    found = Built(tmp_path, linked=True).pair(source, "  .text\n" + MOVED + source)
    assert "jump-tables" in [one.name for one in found.assumptions(entries(found))]
    other = source.replace("table: .long one - table, two", "table: .long two - table, one")
    found = Built(tmp_path, linked=True).pair(source, other)
    with pytest.raises(Differs):
        found.assumptions(entries(found))
