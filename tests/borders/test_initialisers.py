"""Functions that run when a library without symbols is loaded: the compiler's own, and the program's."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import isoform

pytestmark = pytest.mark.skipif(not all(map(shutil.which, ("gcc", "strip"))), reason="needs gcc and strip")

SOURCE = """
int kept = 1, other = 1;
BEGIN
int f(void) { return kept; }
"""
BEGIN = "__attribute__((constructor)) static void begin(void) { kept = STEP; }"


def library(folder: Path, name: str, text: str, level: str) -> str:
    source, path = folder / f"{name}.c", folder / f"{name}.so"
    source.write_text(text)
    subprocess.run(["gcc", "-w", level, "-shared", "-fPIC", str(source), "-o", str(path)], check=True)
    subprocess.run(["strip", str(path)], check=True)
    return f"{path}:f"


def asked(folder: Path, left: str, right: str) -> str:
    sides = (SOURCE.replace("BEGIN", begin) for begin in (left, right))
    first, second = (library(folder, *each) for each in zip("ab", sides, ("-O1", "-O2"), strict=True))
    return isoform.compare(first, second).verdict


def test_what_the_compiler_adds_to_every_library_does_not_count(tmp_path: Path) -> None:
    assert asked(tmp_path, "", "") == "equivalent"


def test_a_constructor_of_one_side_counts(tmp_path: Path) -> None:
    assert asked(tmp_path, "", BEGIN.replace("STEP", "2")) == "unknown"


def test_constructors_that_differ_count(tmp_path: Path) -> None:
    assert asked(tmp_path, BEGIN.replace("STEP", "1"), BEGIN.replace("STEP", "2")) == "unknown"


def test_another_variable_is_a_difference(tmp_path: Path) -> None:
    first = library(tmp_path, "a", SOURCE.replace("BEGIN", ""), "-O1")
    second = library(tmp_path, "b", SOURCE.replace("BEGIN", "").replace("return kept", "return other"), "-O2")
    assert isoform.compare(first, second).verdict == "different"


def test_a_constructor_with_the_name_of_the_compilers_counts(tmp_path: Path) -> None:
    paths = [tmp_path / f"{step}.so" for step in (5, 6)]
    for path, step in zip(paths, (5, 6), strict=True):
        begin = BEGIN.replace("begin", "frame_dummy").replace("STEP", str(step))
        path.with_suffix(".c").write_text(SOURCE.replace("BEGIN", begin))
        source = str(path.with_suffix(".c"))
        subprocess.run(["gcc", "-w", "-O1", "-shared", "-fPIC", source, "-o", str(path)], check=True)
    assert isoform.compare(f"{paths[0]}:f", f"{paths[1]}:f").verdict == "unknown"


def test_a_constructor_of_that_name_that_leaves_what_it_does_to_others(tmp_path: Path) -> None:
    begin = "void ext(int *, int); __attribute__((constructor)) static void frame_dummy(void) { ext(&kept, STEP); }"
    paths = [tmp_path / f"{step}.so" for step in (2, 3)]
    for path, step in zip(paths, (2, 3), strict=True):
        path.with_suffix(".c").write_text(SOURCE.replace("BEGIN", begin.replace("STEP", str(step))))
        how = ["gcc", "-w", "-O2", "-shared", "-fPIC", str(path.with_suffix(".c")), "-o", str(path)]
        subprocess.run(how, check=True)
    assert isoform.compare(f"{paths[0]}:f", f"{paths[1]}:f").verdict == "unknown"


def test_the_loader_is_told_where_constructors_are(tmp_path: Path) -> None:
    """The name of the section says nothing."""
    paths = []
    for step in (2, 3):
        named = library(tmp_path, str(step), SOURCE.replace("BEGIN", BEGIN.replace("STEP", str(step))), "-O1")
        paths.append(Path(named.removesuffix(":f")))
        content = paths[-1].read_bytes()
        assert content.count(b".init_array\0") == 1
        paths[-1].write_bytes(content.replace(b".init_array\0", b".other_name\0"))
    assert isoform.compare(f"{paths[0]}:f", f"{paths[1]}:f").verdict == "unknown"


ASSEMBLED = """
        .text
        .globl f
        .type f, @function
f:      mov v(%rip), %eax
        ret
        .size f, . - f
        .globl set
        .type set, @function
set:    mov %edi, v(%rip)
        ret
        .size set, . - set
begin:  STEP
        ret
        .section .init_array, "aw"
        .quad begin
        .local v
        .comm v, 512, 64
        .section .note.GNU-stack, "", @progbits
"""


def test_a_constructor_that_writes_with_an_instruction_without_semantics(tmp_path: Path) -> None:
    paths = []
    for name, step in (("none", "nop"), ("writes", "fxsave v(%rip)")):
        source = tmp_path / f"{name}.s"
        source.write_text(ASSEMBLED.replace("STEP", step))
        paths.append(source.with_suffix(".so"))
        subprocess.run(["gcc", "-shared", "-nostdlib", str(source), "-o", str(paths[-1])], check=True)
    verdict = isoform.compare(f"{paths[0]}:f", f"{paths[1]}:f", signature="int f(void)")
    assert verdict.verdict == "unknown" or "same-data" in {one.name for one in verdict.assumptions}


def test_a_table_that_claims_more_than_the_file_has(tmp_path: Path) -> None:
    """The dynamic section says so; nothing takes long."""
    named = library(tmp_path, "long", SOURCE.replace("BEGIN", BEGIN.replace("STEP", "2")), "-O1")
    path = Path(named.removesuffix(":f"))
    content = path.read_bytes()
    sizes = [number.to_bytes(8, "little") for number in (27, 16)]
    assert content.count(b"".join(sizes)) == 1
    path.write_bytes(content.replace(b"".join(sizes), sizes[0] + (1 << 60).to_bytes(8, "little")))
    other = library(tmp_path, "other", SOURCE.replace("BEGIN", BEGIN.replace("STEP", "3")), "-O1")
    assert isoform.compare(named, other).verdict == "unknown"
