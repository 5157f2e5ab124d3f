"""Whether a C source is defined for the inputs on which two builds of it differ."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

import isoform
from isoform.model.verdict import Different, Verdict

OPTIMISED = "-O2"
TWO_BUILDS = "#ifdef FAST\n#define K 2\n#else\n#define K 1\n#endif\n"
"""A source that means something else in each build."""


def compared(folder: Path, source: str, **options: Any) -> Verdict:
    path = folder / "f.c"
    path.write_text(source)
    how: dict[str, Any] = {"cc": "zig", "cflags_a": "-O0", "cflags_b": OPTIMISED, **options}
    return isoform.compare(f"{path}:f", f"{path}:f", budget=20, **how)


def hint_of(verdict: Verdict) -> str:
    assert isinstance(verdict, Different), verdict
    return verdict.hint


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("int f(int x) {\n  return x + 1 > x;\n}", "signed overflow at f.c:2"),
        ("int f(int x) {\n  int y = -x;\n  return x < 0 && y < 0;\n}", "signed overflow at f.c:2"),
        ("int f(int *p) {\n  return p + 1 > p;\n}", "arithmetic on a pointer that leaves its object at f.c:2"),
    ],
)
def test_the_check_that_fails_is_named_with_its_line(tmp_path: Path, source: str, said: str) -> None:
    assert said in hint_of(compared(tmp_path, source))


def asked_as_the_hint_says(folder: Path, hint: str, source: str) -> Verdict:
    words = re.search(r"with (--cc-a .*) only inputs", hint)
    assert words is not None
    _, cc, _, flags, _, aborts = shlex.split(words[1])
    return compared(folder, source, cc_a=cc, cflags_a=flags, aborts=aborts)


def test_with_the_options_of_the_hint_only_defined_inputs_are_compared(tmp_path: Path) -> None:
    source = "int f(int x) {\n  return x + 1 > x ? 7 : 8;\n}"
    hint = hint_of(compared(tmp_path, source))
    assert asked_as_the_hint_says(tmp_path, hint, source).verdict == "equivalent"


def test_a_difference_on_defined_inputs_is_still_found(tmp_path: Path) -> None:
    source = "int f(int x) {\n  return x + 1 > x ? 7 : 8;\n}"
    hint = hint_of(compared(tmp_path, source))
    broken = source.replace("? 7", "? 7 + (FAST && x == 5)")
    words = shlex.split(hint)
    flags = next(word for word in words if "-fsanitize" in word)
    found = compared(tmp_path, broken, cflags_a=f"{flags} -DFAST=0", cflags_b="-O2 -DFAST=1", aborts="refine")
    assert found.verdict == "different"


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(TWO_BUILDS + "int f(unsigned x) { return x + K; }", id="defined"),
        pytest.param(
            TWO_BUILDS + "int g;\nint f(int x) { return g + 1 > g ? x & K : x; }",
            id="depends on a variable",
        ),
        pytest.param(
            TWO_BUILDS + "int f(int x) { if (x == K) __builtin_trap(); return x; }",
            id="aborts by itself",
        ),
    ],
)
def test_nothing_is_said_of_other_differences(tmp_path: Path, source: str) -> None:
    assert hint_of(compared(tmp_path, source, cflags_b="-O2 -DFAST")) == ""


def test_calls_up_to_the_failed_check_are_those_of_the_witness(tmp_path: Path) -> None:
    """Overflow of what a call returns: the call is made with the same argument, and returns the same."""
    source = "int get(int);\nint f(int x) {\n  int y = get(x);\n  return y + 1 > y;\n}"
    assert "signed overflow at f.c:4" in hint_of(compared(tmp_path, source))


def test_a_cause_that_is_not_wanted_is_not_looked_for(tmp_path: Path) -> None:
    assert hint_of(compared(tmp_path, "int f(int x) {\n  return x + 1 > x;\n}", explain="none")) == ""
