"""Definitions that other files may replace: what rests on one being the one that is here says so."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from isoform import api
from isoform.load.open import LoadOptions
from isoform.question import Options
from isoform.verdict import Different, Equivalent, Verdict

HELPER = """
HOW int helper(int x) { return x + 1; }
int f(int x) { return helper(x) * 2; }
"""
DIRECT = "int f(int x) { return (x + 1) * 2; }\n"
OTHER = "int f(int x) { return (x + 2) * 2; }\n"
WEAK = "__attribute__((weak))"
PROTOTYPE = Options(signature="int f(int x)")

pytestmark = pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc")


def built(folder: Path, source: str, *flags: str, name: str = "built.so") -> Path:
    text = folder / "source.c"
    text.write_text(source)
    subprocess.run(["gcc", "-O1", "-w", *flags, str(text), "-o", str(folder / name)], check=True)
    return folder / name


def names(verdict: Verdict) -> set[str]:
    return {a.name for a in verdict.assumptions}


def asked(folder: Path, path: Path, rewrite: str = DIRECT) -> Verdict:
    other = folder / "other.c"
    other.write_text(rewrite)
    return api.compare(f"{path}:f", f"{other}:f", PROTOTYPE, LoadOptions(), LoadOptions(cflags=("-O1",)))


@pytest.mark.parametrize(
    ("how", "replaceable"),
    [
        ("__attribute__((noinline))", True),
        (WEAK, True),
        (f'{WEAK} __attribute__((visibility("hidden")))', True),
        ("static __attribute__((noinline))", False),
        ('__attribute__((noinline, visibility("hidden")))', False),
        ('__attribute__((noinline, visibility("protected")))', False),
    ],
)
def test_a_definition_in_an_object_file(tmp_path: Path, how: str, replaceable: bool) -> None:
    path = built(tmp_path, HELPER.replace("HOW", how), "-c", name="built.o")
    same, other = asked(tmp_path, path), asked(tmp_path, path, OTHER)
    assert isinstance(same, Equivalent)
    assert isinstance(other, Different)
    assert ("not-interposed" in names(same)) == ("not-interposed" in names(other)) == replaceable


@pytest.mark.parametrize(
    ("flags", "replaceable"),
    [
        (["-fPIC", "-shared"], True),
        (["-fPIC", "-shared", "-Wl,-Bsymbolic"], False),
        (["-fPIC", "-shared", "-fvisibility=hidden"], False),
        (["-fPIE", "-pie", "-Wl,-e,f", "-nostdlib"], False),
    ],
)
def test_a_definition_in_a_linked_file(tmp_path: Path, flags: list[str], replaceable: bool) -> None:
    source = HELPER.replace("HOW", "__attribute__((noinline))")
    if "-fvisibility=hidden" in flags:
        source = source.replace("int f(", '__attribute__((visibility("default"))) int f(')
    verdict = asked(tmp_path, built(tmp_path, source, *flags))
    assert isinstance(verdict, Equivalent)
    assert ("not-interposed" in names(verdict)) == replaceable


@pytest.mark.parametrize(("how", "replaceable"), [(WEAK, True), ("static", False)])
def test_constants(tmp_path: Path, how: str, replaceable: bool) -> None:
    source = f"{how} const int limit = 5;\nint f(int x) {{ return limit + x; }}\n"
    path = built(tmp_path, source, "-c", "-O0", name="built.o")
    verdict = asked(tmp_path, path, "int f(int x) { return x + 5; }\n")
    assert isinstance(verdict, Equivalent)
    assert ("not-interposed" in names(verdict)) == replaceable


def test_recursion_through_a_name_that_may_be_replaced(tmp_path: Path) -> None:
    source = "int f(int n) { return n <= 0 ? 0 : n ^ f(n - 1); }\n"
    path = built(tmp_path, source, "-c", "-fno-optimize-sibling-calls", name="built.o")
    assert "not-interposed" in names(asked(tmp_path, path, source))
