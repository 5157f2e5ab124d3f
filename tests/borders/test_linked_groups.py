"""Addresses beside objects of linked files: clear if the objects lie alike in both files, and `unknown` elsewhere."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from isoform import api
from isoform.borders.question import Options
from isoform.model.verdict import Bounded, Different, Equivalent, Unknown, Verdict

pytestmark = pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc")

LIBRARY = ("-fPIC", "-shared", "-fvisibility=hidden", "-nostdlib")
SOURCE = """
HOW int y[8]; HOW int t[16]; HOW int u;
OPEN void set(int i, int v) { t[i & 15] = v; y[i & 7] = v; u = v; }
OPEN int f(int n) { BODY }
"""
SHIFTED = """
if (n <= 0) return y[n & 7];
int s = 0;
for (int i = 1; i <= n; i++) s += t[i - 1] * i;
return s;"""
ENDING = """
if (n) return y[n & 7];
int s = 0;
for (int *p = t; p != t + 16; p++) s = s * 3 + *p;
return s;"""
BACKWARD = """
if (n) return y[n & 7];
int s = 0;
for (int *p = t + 16; p != t;) s = s * 3 + *--p;
return s;"""

FROM_ANOTHER = """
int s = 0;
for (int i = 8; i < n; i++) s += t[i - 8] * i;
return s;"""


def built(folder: Path, name: str, source: str, *flags: str, how: str = "") -> Path:
    text, path = folder / f"{name}.c", folder / name
    shown = '__attribute__((visibility("default")))'
    text.write_text(source.replace("HOW", how).replace("OPEN", shown))
    order = "-fno-toplevel-reorder"  # else gcc reverses the variables with optimisation, and only then
    subprocess.run(["gcc", "-g", "-w", order, *flags, str(text), "-o", str(path)], check=True)
    return path


def asked(left: Path, right: Path, budget: float = 30) -> Verdict:
    return api.compare(f"{left}:f", f"{right}:f", Options(budget=budget))


BODIES = {"shifted": SHIFTED, "ending": ENDING, "backward": BACKWARD, "another": FROM_ANOTHER}
HOWS = {"hidden": "", "static": "static"}
CASES = [
    pytest.param(body, how, id=f"{kind}-{name}", marks=[] if not how or name == "ending" else pytest.mark.long)
    for kind, how in HOWS.items()
    for name, body in BODIES.items()
]


@pytest.mark.parametrize(("body", "how"), CASES)
def test_objects_that_lie_alike_are_moved_as_one(tmp_path: Path, body: str, how: str) -> None:
    source = SOURCE.replace("BODY", body)
    one = built(tmp_path, "one", source, *LIBRARY, "-O1", how=how)
    two = built(tmp_path, "two", source, *LIBRARY, "-O2", how=how)
    broken = built(tmp_path, "broken", source.replace("return s;", "return s + (s == 7);"), *LIBRARY, "-O2", how=how)
    assert isinstance(asked(one, two), Equivalent)
    # Where the address is the start of another object, a run that leaves that one shows no difference.
    is_at_another = body in (BACKWARD, FROM_ANOTHER)
    assert isinstance(asked(one, broken, 5 if is_at_another else 30), Unknown | Bounded if is_at_another else Different)


def test_so_they_are_in_a_program(tmp_path: Path) -> None:
    source = SOURCE.replace("BODY", SHIFTED) + "int main(void) { return f(3); }\n"
    broken = source.replace("return s;", "return s + 1;")
    builds = ("one", source, "-O1"), ("two", source, "-O2"), ("three", broken, "-O2")
    paths = [
        built(tmp_path, name, text, "-fPIE", "-pie", "-nostdlib", "-Wl,-e,main", level) for name, text, level in builds
    ]
    assert isinstance(asked(paths[0], paths[1]), Equivalent)
    assert isinstance(asked(paths[0], paths[2]), Different)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("HOW int y[8]; HOW int t[16];", "HOW int t[16]; HOW int y[8];"),
        ("HOW int y[8];", "HOW int y[8]; HOW int more[4] __attribute__((used));"),
        ("HOW int u;", "HOW long u[2];"),
    ],
    ids=["order", "more", "size"],
)
def test_objects_that_lie_differently_are_not(tmp_path: Path, old: str, new: str) -> None:
    """One of the files differs, and then in what it computes too: never equivalent, and different only if it is."""
    source = SOURCE.replace("BODY", SHIFTED)
    one = built(tmp_path, "one", source, *LIBRARY, "-O2")
    for name, text, wrong in (
        ("same", source, Different),
        ("broken", source.replace("return s;", "return s + 1;"), Equivalent),
    ):
        other = built(tmp_path, name, text.replace(old, new).replace("u = v", "*(int *)&u = v"), *LIBRARY, "-O2")
        assert not isinstance(asked(one, other), wrong)
        assert not isinstance(asked(other, one), wrong)


def test_what_another_file_may_define_is_not_moved_with_others(tmp_path: Path) -> None:
    source = SOURCE.replace("BODY", ENDING)
    paths = [
        built(tmp_path, level, source, "-fPIC", "-shared", level, how='__attribute__((visibility("default")))')
        for level in ("-O1", "-O2")
    ]
    assert not isinstance(asked(paths[0], paths[1], 3), Different)


def test_what_differs_at_first_is_not_moved_with_others(tmp_path: Path) -> None:
    """The base of `t[i - 1]` is in `y`: that `t` does not hold the same must be seen all the same."""
    source = SOURCE.replace("BODY", SHIFTED).replace("t[16]", "t[16] = {FIRST}").replace("y[8]", "y[8] = {1}")
    paths = [built(tmp_path, first, source.replace("FIRST", first), *LIBRARY, "-O2") for first in ("5", "6")]
    assert isinstance(asked(paths[0], paths[1]), Unknown | Different)


def test_files_without_the_names_of_variables_are_not_trusted(tmp_path: Path) -> None:
    source = SOURCE.replace("BODY", SHIFTED)
    paths = [built(tmp_path, level, source, *LIBRARY, level, how="static") for level in ("-O1", "-O2")]
    for path in paths:
        subprocess.run(["strip", "--strip-unneeded", str(path)], check=True)
    assert not isinstance(asked(paths[0], paths[1], 3), Different)


def test_the_start_of_an_object_may_be_a_base_for_the_next_one(tmp_path: Path) -> None:
    """`t[i - 8]` is counted from where `y` starts, which has eight elements, and the variables lie differently."""
    source = SOURCE.replace("BODY", FROM_ANOTHER)
    broken = source.replace("return s;", "return n > 8 ? s + 1 : s;")
    one = built(tmp_path, "one", source, *LIBRARY, "-O2")
    for name, text, wrong in (("same", source, Different), ("broken", broken, Equivalent)):
        other = built(tmp_path, name, text, *LIBRARY, "-O2", "-ftoplevel-reorder")
        assert not isinstance(asked(one, other), wrong)
        assert not isinstance(asked(other, one), wrong)


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_an_index_that_stays_inside_is_clear(tmp_path: Path, level: str) -> None:
    source = SOURCE.replace("BODY", "return y[n & 7];")
    one = built(tmp_path, "one", source, *LIBRARY, level)
    for name, text, kind in (("same", source, Equivalent), ("broken", source.replace("7];", "3];"), Different)):
        other = built(tmp_path, name, text, *LIBRARY, "-O2", "-ftoplevel-reorder")
        assert isinstance(asked(one, other), kind)


CROSSING = """
HOW int y[8]; HOW int u[1]; HOW int t[8]; HOW int w[8];
OPEN void set(int i, int v) { t[i & 7] = y[i & 7] = u[0] = v; }
OPEN int f(int n) { int s = 0; w[1] = n; for (int i = 2; i <= n; i++) s += t[i - 2] * i; return s; }
"""


@pytest.mark.long
def test_a_run_from_one_object_into_the_next_shows_no_difference(tmp_path: Path) -> None:
    """Past the end of `t` is `w`, which the optimised code writes later."""
    one, two = (built(tmp_path, level, CROSSING, *LIBRARY, level, how="static") for level in ("-O1", "-O3"))
    assert not isinstance(asked(one, two, 5), Different)
    broken = built(
        tmp_path, "broken", CROSSING.replace("return s", "return s + (n == 6)"), *LIBRARY, "-O3", how="static"
    )
    assert isinstance(asked(one, broken), Different)
