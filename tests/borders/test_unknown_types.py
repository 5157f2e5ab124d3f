"""Without debug information: what may be a bool or a narrow number makes no difference between levels of one source."""

from __future__ import annotations

import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest

from isoform import api
from isoform.load.compile import compiler
from isoform.model.verdict import Different

pytestmark = pytest.mark.skipif(
    not shutil.which("gcc") or find_spec("ziglang") is None, reason="needs gcc and the ziglang wheel"
)

BOOL_ARGUMENT = "int f(_Bool a) { return a ? 3 : OTHER; }"
BOOL_RESULT = "_Bool g(int); int f(int a) { if (g(a)) return 4; return OTHER; }"
LEFTOVER = "int h(unsigned char); float f(signed char a, unsigned char b) { return h(b) + a + b + OTHER; }"
NEGATED = "float f(float x) { return OTHER == 5 ? -x : x; }"


def built(folder: Path, source: str, cc: str, level: str, name: str) -> Path:
    text, made = folder / f"{name}.c", folder / f"{name}.o"
    text.write_text(source)
    target = ["-target", "x86_64-linux-gnu"] if cc == "zig" else []
    flags = [*target, "-w", "-g0", "-fno-sanitize=undefined", level, "-c"]
    subprocess.run([*compiler(cc), *flags, str(text), "-o", str(made)], check=True)
    return made


@pytest.mark.parametrize(
    ("source", "one", "other"),
    [
        (BOOL_ARGUMENT, ("gcc", "-O2"), ("zig", "-O2")),
        (BOOL_RESULT, ("gcc", "-O0"), ("gcc", "-O2")),
        (LEFTOVER, ("zig", "-O2"), ("zig", "-O0")),
        (NEGATED, ("zig", "-O3"), ("gcc", "-O1")),
    ],
    ids=["bool argument", "bool result", "leftover in an argument register", "sign of a float"],
)
def test_one_source_at_two_levels(tmp_path: Path, source: str, one: tuple[str, str], other: tuple[str, str]) -> None:
    same = source.replace("OTHER", "5")
    paths = [built(tmp_path, same, *one, "target"), built(tmp_path, same, *other, "rewrite")]
    assert not isinstance(api.compare(f"{paths[0]}:f", f"{paths[1]}:f", budget=10), Different)


@pytest.mark.parametrize(
    "source", [BOOL_ARGUMENT, BOOL_RESULT, LEFTOVER, NEGATED], ids=["argument", "result", "leftover", "sign"]
)
def test_a_planted_difference_is_found(tmp_path: Path, source: str) -> None:
    target = built(tmp_path, source.replace("OTHER", "5"), "gcc", "-O2", "target")
    rewrite = built(tmp_path, source.replace("OTHER", "6"), "gcc", "-O1", "rewrite")
    assert isinstance(api.compare(f"{target}:f", f"{rewrite}:f", budget=10), Different)
