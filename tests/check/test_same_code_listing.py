"""What the checker of listings must see by itself: a listing may say anything."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from isoform.check.same_code.instructions import NotTheSame
from isoform.check.same_code.listing import SameCode
from isoform.load.elf import parse_elf
from isoform.load.library_pair import LibraryPair

START = "\t.text\n\t.globl f\n\t.type f,@function\n"
TABLE = "\t.section .rodata\n\t.align 64\n.Lk:\t.zero 160\n\t.quad {}\n\t.zero 500\n"
END = '\t.section .note.GNU-stack,"",@progbits\n'
BIT = START + "f:\tbt %rdi,.Lk(%rip)\n\tsetc %al\n\tret\n\t.size f,.-f\n" + TABLE + END
RESTORES = START + "f:\tfxrstor .Lk(%rip)\n\tret\n\t.size f,.-f\n" + TABLE + END
ALIGNED = START + "f:\t{} (%rdi),%xmm0\n\tret\n\t.size f,.-f\n" + END
HANDS_OUT = """
static const int t[2] = {1, NUMBER};
static __attribute__((noinline, noipa)) const int *frame_dummy(void) { return t; }
int f(int x) { return frame_dummy()[x & 1]; }
"""
CALLED = "\t.text\n\t.globl f\n\t.type f,@function\nf:\tcall *%rdi\n\tret\n\t.size f,.-f\n" + END


def checker(folder: Path, texts: tuple[str, str], suffix: str, *flags: str) -> tuple[SameCode, tuple[int, int]]:
    files = []
    for name, text in zip(("old", "new"), texts, strict=True):
        source, made = folder / f"{name}.{suffix}", folder / f"{name}.o"
        source.write_text(text)
        subprocess.run(["cc", "-O1", *flags, "-c", str(source), "-o", str(made)], check=True)
        files.append(parse_elf(made.read_bytes(), str(made)))
    left, right = (side.image for side in LibraryPair((files[0], files[1]), ("old", "new")).together)
    return SameCode((left, right), {}), (left.functions["f"].address, right.functions["f"].address)


@pytest.mark.parametrize(
    ("texts", "suffix"),
    [
        ((BIT.format(1), BIT.format(2)), "s"),
        ((RESTORES.format(1), RESTORES.format(1)), "s"),
        ((ALIGNED.format("movaps"), ALIGNED.format("movups")), "s"),
        ((HANDS_OUT.replace("NUMBER", "2"), HANDS_OUT.replace("NUMBER", "3")), "c"),
    ],
    ids=["a bit far from the address", "more than the operand", "alignment", "a name of the compiler"],
)
def test_code_that_is_not_the_same(tmp_path: Path, texts: tuple[str, str], suffix: str) -> None:
    same_code, entries = checker(tmp_path, texts, suffix)
    with pytest.raises(NotTheSame):
        same_code.confirm(entries)


def test_outside_code_that_is_called_is_an_assumption(tmp_path: Path) -> None:
    for text, suffix in ((CALLED, "s"), ("int g(int); int f(int x) { return g(x) + 1; }", "c")):
        same_code, entries = checker(tmp_path, (text, text), suffix)
        assert "calls-agree" in same_code.confirm(entries)[1]
