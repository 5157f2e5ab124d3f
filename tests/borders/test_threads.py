"""Thread-local variables in linked files: found by every model, and one on both sides."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from isoform import api
from isoform.verdict import Different, Equivalent, Unknown, Verdict

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
