"""Calls that return twice, return elsewhere, or return with another rounding mode."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from isoform import api
from isoform.load.open import LoadOptions
from isoform.model.verdict import Different, Equivalent, Unknown, Verdict

CLEANED_UP = """
void g(int *);
extern int count;
static void done(int *p) { count += *p; }
void f(int *p) {
    __attribute__((cleanup(done))) int kept = 3;
    g(p);
}
"""
TWICE = """
#include <setjmp.h>
extern jmp_buf place;
void g(void);
int f(void) {
    volatile int x = 1;
    if (setjmp(place)) return x;
    FIRST g(); SECOND
    return 0;
}
"""
ROUNDED = """
int fesetround(int);
double f(double a, double b) { FIRST fesetround(0x800); SECOND return r; }
"""

FLAGGED = """
int fetestexcept(int);
int f(double a, double b, double *q) { FIRST int r = fetestexcept(4); SECOND return r; }
"""

pytestmark = pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc")


def asked(folder: Path, texts: tuple[str, str], *flags: str) -> Verdict:
    paths = [folder / f"{side}.c" for side in "ab"]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    sides = [LoadOptions(cc="gcc", cflags=(level, *flags)) for level in ("-O1", "-O2")]
    return api.compare(f"{paths[0]}:f", f"{paths[1]}:f", None, sides[0], sides[1])


def names(verdict: Verdict) -> set[str]:
    return {a.name for a in verdict.assumptions}


def test_handlers_are_not_compared_and_the_verdict_says_so(tmp_path: Path) -> None:
    other = CLEANED_UP.replace("g(p);", "g(p); *p = 1;")
    without = asked(tmp_path, (CLEANED_UP, CLEANED_UP))
    assert isinstance(without, Equivalent)
    assert "no-exceptions" not in names(without)
    handled = asked(tmp_path, (CLEANED_UP, CLEANED_UP), "-fexceptions")
    assert isinstance(handled, Equivalent)
    assert "no-exceptions" in names(handled)
    assert isinstance(asked(tmp_path, (CLEANED_UP, other), "-fexceptions"), Different)


@pytest.mark.parametrize(
    ("text", "lines", "reason"),
    [
        (TWICE, ("x = 2;", "x = 2;"), "may return twice"),
        (ROUNDED, ("double r = a + b;",) * 2, "rounded"),
        (FLAGGED, ("*q = a / b;",) * 2, "exception flags"),
    ],
)
def test_what_such_a_call_changes_is_not_known(tmp_path: Path, text: str, lines: tuple[str, str], reason: str) -> None:
    early = text.replace("FIRST", lines[0]).replace("SECOND", "")
    late = text.replace("FIRST", "").replace("SECOND", lines[1])
    verdict = asked(tmp_path, (early, late), "-frounding-math")
    assert isinstance(verdict, Unknown)
    assert reason in verdict.why
