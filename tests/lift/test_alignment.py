"""Operands in data that an instruction needs to be aligned."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import isoform

pytestmark = pytest.mark.skipif(not shutil.which("gcc-12"), reason="needs gcc-12")

SOURCE = """
.globl f
.type f,@function
f: movaps x(%rip),%xmm0
 movd %xmm0,%eax
 ret
.size f,.-f
SECTION
.balign ALIGNED
.type x,@object
SPACE
x: .long 1,2,3,4
.size x,16
.section .note.GNU-stack,""
"""
SECTIONS = ('.section .rodata,"a"', ".data")


def built(folder: Path, text: str, name: str, *flags: str) -> str:
    source, path = folder / f"{name}.s", folder / f"{name}.out"
    source.write_text(text)
    subprocess.run(["gcc-12", *flags, str(source), "-o", str(path)], check=True)
    return f"{path}:f"


def asked(folder: Path, section: str, spaces: tuple[str, str], aligned: int, *flags: str) -> isoform.Verdict:
    text = SOURCE.replace("SECTION", section).replace("ALIGNED", str(aligned))
    sides = [built(folder, text.replace("SPACE", space), f"side{i}", *flags) for i, space in enumerate(spaces)]
    return isoform.compare(sides[0], sides[1], signature="int f(void)", engine="loopfree")


@pytest.mark.parametrize("section", SECTIONS)
def test_an_object_of_a_library_that_is_not_aligned(tmp_path: Path, section: str) -> None:
    found = asked(tmp_path, section, ("", ".long 0"), 16, "-shared", "-fPIC")
    assert found.verdict == "unknown"
    assert "multiple of 16" in found.to_json()["why"]


@pytest.mark.parametrize("section", SECTIONS)
def test_an_object_of_a_library_that_is_aligned(tmp_path: Path, section: str) -> None:
    found = asked(tmp_path, section, ("", ".long 0,0,0,0"), 16, "-shared", "-fPIC")
    assert found.verdict == "equivalent"


def test_in_an_object_file_the_declared_alignment_counts(tmp_path: Path) -> None:
    aligned, other = (asked(tmp_path, SECTIONS[0], ("", ""), number, "-c") for number in (16, 4))
    assert (aligned.verdict, other.verdict) == ("equivalent", "equivalent")
    assert "valid-memory" not in {one.name for one in aligned.assumptions}
    assert "valid-memory" in {one.name for one in other.assumptions}
