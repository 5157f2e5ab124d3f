"""Names and addresses that stand for other things in one file than in the other, which the code does not show."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from isoform import api
from isoform.borders.question import Options
from isoform.model.verdict import Equivalent, Verdict

pytestmark = pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc")

LARGE = """
static int a[8] = {1, 2, 3, 4, 5, 6, 7, LAST};
void set(int i, int v) { a[i & 7] = v; }
int f(int i) { return a[i & 7]; }
"""
ENDS = """
static const char z[8] = {7, 6}, NAME[8] = {1, 2, 3, 4, 5, 6, 7, LAST}, x[8] = {9};
int get(int i) { return z[i & 7] + NAME[i & 7] + x[i & 7]; }
static const char *end = NAME + 8;
void set(const char *p) { end = p; }
int f(long i) { return end[-i]; }
"""
ONE = 'int g(int i) { return i; } int h(int i) __attribute__((alias("g")));'
TWO = "int g(int i) { return i; } int h(int i) { return i; }"
COMPARED = """
int f(void)
{
    int (*p)(int) = g, (*q)(int) = h;
    __asm__("" : "+r"(p));
    __asm__("" : "+r"(q));
    return p == q;
}
"""
SHARED = ("-shared", "-nostdlib")


def asked(folder: Path, sources: tuple[str, str], *flags: str) -> Verdict:
    for name, source in zip("ab", sources, strict=True):
        (folder / f"{name}.c").write_text(source)
        command = ["gcc", "-g", "-w", "-O1", "-fPIC", "-fno-toplevel-reorder", *flags]
        subprocess.run([*command, str(folder / f"{name}.c"), "-o", str(folder / f"{name}.bin")], check=True)
    return api.compare(f"{folder}/a.bin:f", f"{folder}/b.bin:f", Options(budget=10))


@pytest.mark.parametrize(("last", "is_same"), [("8", True), ("88", False)])
def test_data_that_is_counted_from_a_function(tmp_path: Path, last: str, is_same: bool) -> None:
    sources = LARGE.replace("LAST", "8"), LARGE.replace("LAST", last)
    verdict = asked(tmp_path, sources, *SHARED, "-mcmodel=large")
    assert is_same or not isinstance(verdict, Equivalent), verdict


def test_a_pointer_to_the_end_of_a_constant_is_not_one_to_the_next(tmp_path: Path) -> None:
    left, right = ENDS.replace("NAME", "a").replace("LAST", "8"), ENDS.replace("NAME", "p").replace("LAST", "88")
    assert not isinstance(asked(tmp_path, (left, right), *SHARED), Equivalent)


def test_two_names_of_one_function_are_not_two_functions(tmp_path: Path) -> None:
    assert not isinstance(asked(tmp_path, (ONE + COMPARED, TWO + COMPARED), "-c"), Equivalent)


def test_what_other_files_may_replace_on_one_side_only_is_said(tmp_path: Path) -> None:
    source = "STATIC int x = 1; void set(int i) { x = i; } int f(void) { return x; }"
    verdict = asked(tmp_path, (source.replace("STATIC", "static"), source.replace("STATIC", "")), *SHARED)
    assert "not-interposed" in [assumption.name for assumption in verdict.assumptions]
