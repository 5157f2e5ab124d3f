"""Code that runs when a file is loaded, other than constructors in libraries: section .init, resolvers, and what they
write through thread-local storage and through bases that are far from their objects."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import isoform

pytestmark = pytest.mark.skipif(not shutil.which("gcc-12"), reason="needs gcc-12")

INIT = """
static int x = 1, y = 1;
void set(int v) { x = v; y = v; }
int get(void) { return y; }
static void __attribute__((used)) begin(void) { WHAT = STEP; }
asm(".section .init\\n call begin\\n.text");
int f(void) { return x; }
"""
RESOLVER = """
static int x = 1, y = 1;
void set(int v) { x = v; y = v; }
int get(void) { return y; }
static int one(void) { return 1; }
static void *choose(void) { WHAT = STEP; return one; }
int chosen(void) __attribute__((ifunc("choose")));
int f(void) { return x; }
"""
CONSTRUCTOR = """
STORAGE int x[12];
void set(long i, int v) { x[i] = v; }
__attribute__((constructor)) static void begin(void) { x[3] = STEP; }
int f(long i) { return x[i - 1000]; }
"""


def built(folder: Path, text: str, name: str, *flags: str) -> str:
    source, path = folder / f"{name}.c", folder / f"{name}.out"
    source.write_text(text)
    subprocess.run(["gcc-12", "-w", "-O1", "-g", *flags, str(source), "-o", str(path)], check=True)
    return f"{path}:f"


def asked(folder: Path, text: str, steps: str, *flags: str) -> str:
    sides = [built(folder, text.replace("STEP", step), f"side{i}", *flags) for i, step in enumerate(steps)]
    return isoform.compare(sides[0], sides[1]).verdict


@pytest.mark.parametrize("text", [INIT, RESOLVER])
def test_what_it_writes_counts(tmp_path: Path, text: str) -> None:
    assert asked(tmp_path, text.replace("WHAT", "x"), "56", "-shared", "-fPIC") == "unknown"


def test_resolvers_that_write_the_same(tmp_path: Path) -> None:
    assert asked(tmp_path, RESOLVER.replace("WHAT", "x"), "55", "-shared", "-fPIC") == "equivalent"


@pytest.mark.parametrize("text", [INIT, RESOLVER])
def test_what_the_functions_do_not_read_does_not_count(tmp_path: Path, text: str) -> None:
    assert asked(tmp_path, text.replace("WHAT", "y"), "56", "-shared", "-fPIC") == "equivalent"


def test_in_object_files_resolvers_count_and_init_is_not_followed(tmp_path: Path) -> None:
    assert asked(tmp_path, RESOLVER.replace("WHAT", "x"), "56", "-c") == "unknown"
    assert asked(tmp_path, RESOLVER.replace("WHAT", "x"), "55", "-c") == "equivalent"
    assert asked(tmp_path, INIT.replace("WHAT", "x"), "56", "-c") == "unknown"


def test_a_function_that_reads_something_else_differs(tmp_path: Path) -> None:
    text = RESOLVER.replace("WHAT", "y")
    sides = [built(tmp_path, text.replace("STEP", "5"), "a", "-shared", "-fPIC")]
    sides.append(
        built(tmp_path, text.replace("STEP", "6").replace("return x", "return x + 1"), "b", "-shared", "-fPIC")
    )
    assert isoform.compare(sides[0], sides[1]).verdict == "different"


@pytest.mark.parametrize("storage", ["", "static"])
def test_bases_far_from_what_a_constructor_writes(tmp_path: Path, storage: str) -> None:
    text = CONSTRUCTOR.replace("STORAGE", storage)
    assert asked(tmp_path, text, "56", "-fno-pic", "-c") == "unknown"
    assert asked(tmp_path, text, "55", "-fno-pic", "-c") == "equivalent"


@pytest.mark.parametrize("model", ["global-dynamic", "local-dynamic", "initial-exec", "local-exec"])
def test_thread_local_data_that_a_constructor_writes(tmp_path: Path, model: str) -> None:
    text = CONSTRUCTOR.replace("STORAGE", "static __thread").replace("i - 1000", "i")
    flags = ("-fPIC" if "dynamic" in model else "-fno-pic", f"-ftls-model={model}", "-c")
    assert asked(tmp_path, text, "56", *flags) == "unknown"
    assert asked(tmp_path, text, "55", *flags) == "equivalent"
