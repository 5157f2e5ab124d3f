"""Static variables that are written by code which no jump or call of the file leads to: handlers of exceptions."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import isoform

pytestmark = pytest.mark.skipif(find_spec("ziglang") is None, reason="needs the ziglang wheel")

VARIABLE = """
static int factor = 3;
void g();
void handle(int x) {
    int *place = &factor;
    volatile int next = x + 1;
    try { g(); } catch (...) { *place = 7; }
}
extern "C" int f(int x) { return x * factor; }
"""
CONSTANT = 'extern "C" int f(int x) { return x * 3; }'


def built(folder: Path, name: str, text: str) -> Path:
    source, path = folder / f"{name}.cc", folder / f"{name}.o"
    source.write_text(text)
    driver = [sys.executable, "-m", "ziglang", "c++", "-target", "x86_64-linux-gnu", "-fno-sanitize=undefined", "-w"]
    subprocess.run([*driver, "-g", "-O0", "-c", str(source), "-o", str(path)], check=True)
    return path


def asked(folder: Path, text: str) -> str:
    variable, constant = built(folder, "variable", text), built(folder, "constant", CONSTANT)
    return isoform.compare(f"{variable}:f", f"{constant}:f").verdict


def test_a_handler_may_write_through_an_address_in_the_frame(tmp_path: Path) -> None:
    assert asked(tmp_path, VARIABLE) == "unknown"


def test_a_variable_whose_address_is_not_in_the_frame_is_a_constant(tmp_path: Path) -> None:
    assert asked(tmp_path, VARIABLE.replace("&factor", "0")) == "equivalent"
