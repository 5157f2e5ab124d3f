"""Thread-local variables in linked files: found by every model, and one on both sides."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from isoform import api
from isoform.model.verdict import Different, Equivalent, Unknown, Verdict

SOURCE = """
__thread int count = 1;
static __thread long table[4] = {1, 2, 3, 4};
int f(int x) { count += x; return count + (int)table[x & 3] + EXTRA; }
int main(void) { return f(0); }
"""
TURNED = """
static __thread long table[4] = {1, 2, 3, 4};
__thread int more[9];
__thread int count = 1;
int f(int x) { count += x; return count + (int)table[x & 3] + more[0]; }
int main(void) { return f(0); }
"""

pytestmark = pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc")


def built(folder: Path, name: str, flags: list[str], extra: int, source: str = SOURCE) -> Path:
    text = folder / f"{name}.c"
    text.write_text(source.replace("EXTRA", str(extra)))
    subprocess.run(["gcc", "-g", "-w", *flags, str(text), "-o", str(folder / name)], check=True)
    return folder / name


def compared(folder: Path, flags: list[str], extra: int) -> Verdict:
    target = built(folder, "target.o", ["-O1", "-c"], 0)
    return api.compare(f"{target}:f", f"{built(folder, 'rewrite', flags, extra)}:f")


@pytest.mark.parametrize(
    "flags",
    [
        ["-O2", "-shared", "-fPIC"],
        ["-O2", "-shared", "-fPIC", "-mtls-dialect=gnu2"],
        ["-O2", "-shared", "-fPIC", "-ftls-model=initial-exec"],
        ["-O2", "-shared", "-fPIC", "-fno-plt"],
        ["-O2"],
    ],
)
def test_every_model_finds_the_same_variable(tmp_path: Path, flags: list[str]) -> None:
    assert isinstance(compared(tmp_path, flags, 0), Equivalent)
    assert isinstance(compared(tmp_path, flags, 1), Different)


def test_a_static_program_whose_thread_local_data_may_hold_addresses_is_unknown(tmp_path: Path) -> None:
    """The C library's own, at fixed addresses: which of its numbers are addresses nothing says."""
    assert isinstance(compared(tmp_path, ["-O2", "-static"], 0), Unknown)
    assert not isinstance(compared(tmp_path, ["-O2", "-static"], 1), Equivalent)


def test_variables_that_two_programs_have_in_other_places_are_not_compared(tmp_path: Path) -> None:
    target = built(tmp_path, "target", ["-O1"], 0)
    rewrite = built(tmp_path, "rewrite", ["-O1"], 0, TURNED)
    verdict = api.compare(f"{target}:f", f"{rewrite}:f")
    assert isinstance(verdict, Unknown)
    assert "thread-local" in verdict.why


LAYOUT = """
__thread int first = 1, second = 2;
__thread char letter = 3;
int order(void) { return &first < &second; }
int turned(void) { return &second > &first; }
int low(void) { return (unsigned long)&letter % 4096; }
int same_low(void) { return (unsigned long)&letter & 4095; }
int nothing(void) { return 0; }
int always(void) { return 1; }
int main(void) { return 0; }
"""


@pytest.mark.parametrize(
    "flags",
    [
        ["-O1", "-c"],
        ["-O1", "-c", "-fPIC"],
        ["-O2", "-shared", "-fPIC"],
        ["-O2", "-shared", "-fPIC", "-mtls-dialect=gnu2"],
    ],
)
def test_where_the_variables_are_is_not_known(tmp_path: Path, flags: list[str]) -> None:
    one = built(tmp_path, "one.o", ["-O0", "-c"], 0, LAYOUT)
    other = built(tmp_path, "other", flags, 0, LAYOUT)
    for function, number in (("order", "always"), ("order", "nothing"), ("low", "nothing")):
        assert not isinstance(api.compare(f"{other}:{function}", f"{one}:{number}"), Equivalent)
    assert isinstance(api.compare(f"{one}:order", f"{other}:turned"), Equivalent)
    assert isinstance(api.compare(f"{one}:low", f"{other}:same_low"), Equivalent)


def test_another_definition_may_take_the_place_of_an_exported_variable(tmp_path: Path) -> None:
    """The library's own variables are found from where its thread-local data begins, and stay together."""
    source = """
    __thread int shown;
    static __thread int one = 1, two = 2;
    int *either(int x) { return x ? &one : &two; }
    int exported(void) { return (unsigned long)&shown < (unsigned long)&one; }
    int own(void) { return (unsigned long)&two < (unsigned long)&one; }
    int writes(void) { shown = 4; one = 5; two++; return shown + one; }
    int nothing(void) { return 0; }
    int always(void) { return 1; }
    """
    library = built(tmp_path, "library.so", ["-O2", "-shared", "-fPIC"], 0, source)
    one = built(tmp_path, "one.o", ["-O1", "-c"], 0, source)
    for number in ("nothing", "always"):
        assert not isinstance(api.compare(f"{library}:exported", f"{one}:{number}"), Equivalent)
    answers = [api.compare(f"{library}:own", f"{one}:{number}") for number in ("always", "nothing")]
    assert {type(answer) for answer in answers} == {Equivalent, Different}
    assert isinstance(api.compare(f"{library}:writes", f"{one}:writes"), Equivalent)


def test_in_a_program_the_order_is_known_but_not_the_address(tmp_path: Path) -> None:
    program = built(tmp_path, "program", ["-O1"], 0, LAYOUT)
    one = built(tmp_path, "one.o", ["-O0", "-c"], 0, LAYOUT)
    answers = [api.compare(f"{one}:order", f"{program}:{number}") for number in ("always", "nothing")]
    assert {type(answer) for answer in answers} == {Equivalent, Different}
    assert not isinstance(api.compare(f"{one}:low", f"{program}:nothing"), Equivalent)


def test_a_variable_that_is_larger_on_one_side(tmp_path: Path) -> None:
    source = "__thread int few[EXTRA], next; int f(int i) { next = 1; few[i & 3] = 2; return next + few[3]; }"
    for sizes in ((4, 400), (400, 4)):
        names = [built(tmp_path, f"{size}.o", ["-O1", "-c"], size, source) for size in sizes]
        answer = api.compare(f"{names[0]}:f", f"{names[1]}:f")
        assert isinstance(answer, Unknown)
        assert f"few has {4 * sizes[0]} bytes in the target and {4 * sizes[1]} in the rewrite" in answer.why
