"""The same code is the same: without a proof of loops, and only where all that it names is the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import isoform
from isoform.engines.same_code.engine import SAME_CODE

SOURCE = """
static int table[4] = {1, 2, 3, 4};
static const int fixed[4] = {5, 6, 7, 8};
int scale = 1;
extern int outside(int);
extern int other(int);
int f(int *a, int n)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++)
            s += a[j] * (a[i] * scale + table[a[i] & 3] + fixed[a[i] & 3]) % (outside(s) | 1);
    return s;
}
"""
ELSEWHERE = "int padding(int x) { return x / 7 + 77; }\n"
FLAGS = ("-O1", "-fno-inline", "-g")


def ask(folder: Path, old: str, new: str, budget: float = 5, **options: Any) -> isoform.Verdict:
    (folder / "old.c").write_text(old)
    (folder / "new.c").write_text(new)
    return isoform.compare(
        f"{folder}/old.c:f", f"{folder}/new.c:f", cflags=FLAGS, budget=budget, explain="none", **options
    )


def test_code_at_another_place_is_the_same(tmp_path: Path) -> None:
    verdict = ask(tmp_path, SOURCE, ELSEWHERE + SOURCE)
    assert (verdict.verdict, verdict.engine) == ("equivalent", SAME_CODE)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("int scale = 1", "int scale = 2"),
        ("{1, 2, 3, 4}", "{1, 2, 3, 5}"),
        ("{5, 6, 7, 8}", "{5, 6, 7, 9}"),
        ("a[i] * scale", "a[i] - scale"),
        ("outside(s) | 1", "other(s) | 1"),
    ],
    ids=["variable", "static", "constant", "code", "outside"],
)
def test_not_where_something_that_it_names_is_not(tmp_path: Path, before: str, after: str) -> None:
    changed = SOURCE.replace(before, after)
    assert changed != SOURCE
    verdict = ask(tmp_path, SOURCE, ELSEWHERE + changed, budget=2)
    assert verdict.engine != SAME_CODE
    assert verdict.verdict != "equivalent"


def test_callees_in_the_file_are_the_same_code_too(tmp_path: Path) -> None:
    called = "int h(int x) { return x + 1; } int f(int x) { return h(x) * 2; }"
    verdict = ask(tmp_path, called, ELSEWHERE + called)
    assert (verdict.verdict, verdict.engine) == ("equivalent", SAME_CODE)
    assert "return-addresses-unread" in [one.name for one in verdict.assumptions]
    assert ask(tmp_path, called, ELSEWHERE + called.replace("x + 1", "x + 3")).verdict == "different"


SWITCH = """
int put(int);
int f(int x)
{
    switch (x) {
    case 0: return put(1); case 1: return put(3) + 2; case 2: return put(4) * 5; case 3: return put(5) * 3;
    case 4: return put(9) - 1; case 5: return put(2) + put(1); case 6: return 77; default: return 0;
    }
}
"""


def test_jump_tables(tmp_path: Path) -> None:
    verdict = ask(tmp_path, SWITCH, ELSEWHERE + SWITCH)
    assert (verdict.verdict, verdict.engine) == ("equivalent", SAME_CODE)
    assert "jump-tables" in [one.name for one in verdict.assumptions]
    changed = SWITCH.replace("case 1: return put(3) + 2; case 2:", "case 2: return put(3) + 2; case 1:")
    assert ask(tmp_path, SWITCH, ELSEWHERE + changed).verdict == "different"


def test_instructions_without_semantics(tmp_path: Path) -> None:
    odd = 'double f(double x) { __asm__("fldl %1; fsin; fstpl %0" : "=m"(x) : "m"(x)); return x; }'
    verdict = ask(tmp_path, odd, ELSEWHERE + odd)
    assert (verdict.verdict, verdict.engine) == ("equivalent", SAME_CODE)
    assert "same-unsupported" in [one.name for one in verdict.assumptions]
    assert ask(tmp_path, odd, ELSEWHERE + odd.replace("fsin", "fcos")).verdict == "unknown"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "static const int x[4] = {5, 6, 7, 8}; int f(int i) { return x[i & 3]; }",
            "static int x[4] = {5, 6, 7, 8}; void set(int i) { x[i] = 3; } int f(int i) { return x[i & 3]; }",
        ),
        (
            'extern int w __attribute__((weak)); int f(void) { int *p = &w; asm("" : "+r"(p)); return p != 0; }',
            'int w = 0; int f(void) { int *p = &w; asm("" : "+r"(p)); return p != 0; }',
        ),
        (
            "static int g(int i) { return i; } static const int x[2] = {1, 2};"
            "static int h(int i) { return x[i & 1]; } void *f(void) { return h; }",
            "static int g(int i) { return i; } static int x[2] = {1, 2}; void set(int i) { x[i] = 3; }"
            "static int h(int i) { return x[i & 1]; } void *f(void) { return h; }",
        ),
    ],
    ids=["constant-and-variable", "absent", "companion"],
)
def test_not_where_a_name_is_another_kind_of_thing(tmp_path: Path, old: str, new: str) -> None:
    verdict = ask(tmp_path, old, new)
    assert verdict.verdict != "equivalent", verdict


@pytest.mark.parametrize("options", [{"assume": "n < 3"}, {"engine": "testing"}])
def test_where_more_is_asked_the_engines_answer(tmp_path: Path, options: dict[str, Any]) -> None:
    assert ask(tmp_path, SOURCE, ELSEWHERE + SOURCE, **options).engine != SAME_CODE


def test_the_certificate_is_a_listing(tmp_path: Path) -> None:
    cert = str(tmp_path / "cert")
    verdict = ask(tmp_path, SWITCH, ELSEWHERE + SWITCH, cert=cert)
    assert isinstance(verdict, isoform.Equivalent)
    assert (verdict.engine, verdict.proof.certificate) == (SAME_CODE, cert)
    listed = json.loads((tmp_path / "cert" / "index.json").read_text())
    assert {one["name"] for one in listed["assumptions"]} == {one.name for one in verdict.assumptions}


def test_a_certificate_of_formulas_where_the_checker_would_not_confirm(tmp_path: Path) -> None:
    """Its texts are not empty."""
    plain = 'const char *f(void) { return ""; }\n'
    verdict = ask(tmp_path, plain, ELSEWHERE + plain, cert=str(tmp_path / "cert"))
    assert (verdict.verdict, verdict.engine) == ("equivalent", "loopfree")
