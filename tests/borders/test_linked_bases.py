"""Addresses in the code of linked files: which object each is meant for, and where that is not known."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from isoform import api
from isoform.borders.question import Options
from isoform.model.verdict import Different, Equivalent, Unknown, Verdict

pytestmark = pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc")

SOURCE = """
static int FIRST[8] = {1, 2, 3, 4, 5, 6, 7, LAST}, x[8] = {9}, SECOND[8] = {1}, y[8] = {3};
void set(int i, int v) { FIRST[i & 7] = SECOND[i & 7] = x[i & 7] = y[i & 7] = v; }
void g(int *);
#define HIDE(e) __asm__("" : "+r"(e))
BODY
"""
ENDS = {
    "passed": "void f(void) { g(FIRST + 8); }",
    "returned": "int *f(void) { return FIRST + 8; }",
    "compared": "int f(int *p) { return p == FIRST + 8; }",
    "read-below": "int f(int c) { int *e = FIRST + 8; HIDE(e); return e[-1] + c; }",
    "counted-down": "int f(long c) { int *e = FIRST + 8; HIDE(e); e--; HIDE(e); return e[-(c & 7)]; }",
    "one-of-three": """
        int f(long i, int c) {
            int *e = 0;
            if (c == 1) e = FIRST + 8; else if (c == 2) e = SECOND + 8;
            return e[-i];
        }""",
}
"""What is done with the end of an array, which is where x begins."""


def built(folder: Path, name: str, source: str, *flags: str) -> Path:
    text, path = folder / f"{name}.c", folder / f"{name}.so"
    text.write_text(source)
    command = ["gcc", "-g", "-w", "-fPIC", "-shared", "-nostdlib", *flags, str(text), "-o", str(path)]
    subprocess.run(command, check=True)
    return path


def asked(left: Path, right: Path, budget: float = 10) -> Verdict:
    return api.compare(f"{left}:f", f"{right}:f", Options(budget=budget))


@pytest.mark.parametrize("body", ENDS.values(), ids=ENDS)
def test_the_end_of_one_object_is_not_the_start_of_the_next(tmp_path: Path, body: str) -> None:
    flags = ("-O1", "-fno-toplevel-reorder", "-fno-if-conversion", "-fno-if-conversion2")
    paths = []
    for first, second, last in (("a", "b", "8"), ("p", "q", "88")):
        source = SOURCE.replace("BODY", body).replace("LAST", last).replace("FIRST", first).replace("SECOND", second)
        paths.append(built(tmp_path, first, source, *flags))
    assert isinstance(asked(paths[0], paths[1]), Unknown | Different)


EXPORTED = """
int a[4] = {1, 2, 3, 4}, b[8] = {5, 6, 7};
int f(int i, int v) { a[i] = v; return b[i & 7] + a[1] + WRONG; }
"""


@pytest.mark.parametrize(("wrong", "expected"), [("0", Equivalent), ("(i == 3)", Different)])
def test_a_slot_of_the_global_offset_table_names_its_object(
    tmp_path: Path, wrong: str, expected: type[Verdict]
) -> None:
    """Nothing else is meant by what it holds, however far code counts from there. gcc orders variables otherwise with
    optimisation."""
    one = built(tmp_path, "one", EXPORTED.replace("WRONG", "0"), "-O0")
    two = built(tmp_path, "two", EXPORTED.replace("WRONG", wrong), "-O2")
    verdict = asked(one, two)
    assert isinstance(verdict, expected)
    assert expected is Different or "in-bounds" in {a.name for a in verdict.assumptions}


def test_an_address_that_code_has_by_itself_too_is_not_named_by_the_slot(tmp_path: Path) -> None:
    """`e` is the end of `a`, which is where `b` begins."""
    source = """
    static int FIRST[8] = {1, 2, 3, 4, 5, 6, 7, LAST};
    int b[8] = {5, 6, 7};
    void set(int i, int v) { FIRST[i & 7] = v; }
    int f(long i, int v) { int *e = FIRST + 8; b[i & 7] = v; HIDE(e); return e[-i]; }
    """.replace("HIDE(e)", '__asm__("" : "+r"(e))')
    paths = [
        built(tmp_path, name, source.replace("FIRST", name).replace("LAST", last), "-O1", "-fno-toplevel-reorder")
        for name, last in (("a", "8"), ("p", "88"))
    ]
    assert isinstance(asked(paths[0], paths[1]), Unknown | Different)


BESIDE = """
static int y[8], t[8], w[8];
void set(int i, int v) { t[i & 7] = y[i & 7] = w[i & 7] = v; }
int f(long i, int n) { BODY }
int kept(int i) { return y[i & 7] + w[i & 7]; }
"""
PAST = {
    "read": "int r = t[i]; w[1] = n; return r + t[i] + WRONG;",
    "written": "w[1] = n; t[i] = 3; return w[1] + WRONG;",
    "looped": "int s = 0; w[1] = n; for (int j = 0; j < i; j++) { t[j] = j; s += w[1]; } return s + WRONG;",
}


FORMS = {"linked": ("-fPIE", "-pie", "-nostdlib", "-Wl,-e,f"), "object": ("-c",)}
PAST_CASES = [
    pytest.param(
        flags, body, id=f"{form}-{name}", marks=pytest.mark.long if (form, name) == ("object", "looped") else []
    )
    for form, flags in FORMS.items()
    for name, body in PAST.items()
]


@pytest.mark.parametrize(("flags", "body"), PAST_CASES)
def test_a_run_past_an_object_shows_no_difference(tmp_path: Path, flags: tuple[str, ...], body: str) -> None:
    """One source at two levels. That a number which is read from an object is no distance to another one is not sure,
    but it hardly ever is."""
    text = BESIDE.replace("BODY", body)
    paths = []
    for name, wrong, level in (("one", "0", "-O0"), ("two", "0", "-O2"), ("broken", "(n == 77)", "-O2")):
        (tmp_path / "source.c").write_text(text.replace("WRONG", wrong))
        paths.append(tmp_path / name)
        command = ["gcc", "-g", "-w", "-fno-toplevel-reorder", *flags, level, str(tmp_path / "source.c")]
        subprocess.run([*command, "-o", str(paths[-1])], check=True)
    assert not isinstance(asked(paths[0], paths[1], 3), Different)
    assert isinstance(asked(paths[0], paths[2]), Different)


@pytest.mark.parametrize("address", ["long at = (long)h;", 'long at; __asm__("movabs $h, %0" : "=r"(at));'])
def test_where_a_function_of_one_file_is_decides_nothing(tmp_path: Path, address: str) -> None:
    """Neither in a slot of the global offset table nor in code that a loader fills."""
    text = "long h(long x) { return 3 * x; } unsigned long f(void) { %s return (unsigned long)at >> 31; }"
    left = built(tmp_path, "left", text % address, "-O1", "-Wl,-z,notext")
    for number in (0, 1):
        right = built(tmp_path, f"right{number}", f"unsigned long f(void) {{ return {number}; }}", "-O1")
        assert not isinstance(asked(left, right), Equivalent)
