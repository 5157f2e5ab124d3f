"""C++ classes that are passed by reference and returned in memory, whatever their size."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import isoform

pytestmark = pytest.mark.skipif(find_spec("ziglang") is None, reason="needs the ziglang wheel")

SOURCE = """
struct S { double d; ~S(); };
extern "C" {
int first_byte(S s, bool *) { return *reinterpret_cast<unsigned char *>(&s.d) == 5 ? 7 : 0; }
int first_byte_wrong(S s, bool *) { return *reinterpret_cast<unsigned char *>(&s.d) == 5 ? 8 : 0; }
int after(S, short x) { return x + 1; }
int after_wrong(S, short x) { return x + 2; }
S made(int x) { return S{double(x)}; }
S made_wrong(int x) { return S{double(x) + 1}; }
}
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("classes")
    source = folder / "classes.cc"
    source.write_text(SOURCE)
    driver = [sys.executable, "-m", "ziglang", "c++", "-target", "x86_64-linux-gnu", "-fno-sanitize=undefined", "-w"]
    for level in ("-O1", "-O2"):
        subprocess.run([*driver, "-g", level, "-c", str(source), "-o", str(folder / f"{level}.o")], check=True)
    return {level: folder / f"{level}.o" for level in ("-O1", "-O2")}


@pytest.mark.parametrize("name", ["first_byte", "after", "made"])
def test_a_pair_and_its_twin(files: dict[str, Path], name: str) -> None:
    old, new = files["-O1"], files["-O2"]
    assert isoform.compare(f"{old}:{name}", f"{new}:{name}").verdict == "equivalent"
    assert isoform.compare(f"{old}:{name}", f"{new}:{name}_wrong").verdict == "different"
