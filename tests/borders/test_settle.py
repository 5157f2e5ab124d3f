"""What verdicts say of declarations and data that the two sides do not share."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import isoform
from isoform.model.verdict import Equivalent

pytestmark = pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc")

WIDE = "long f(long x) { return x + 1; }"
NARROW = "int f(int x) { return x + 1; }"
GIVEN = """
KEPT;
int read(int x) { return x + kept; }
void give(int (*)(int));
void f(void) { give(read); }
"""


def built(folder: Path, name: str, text: str, *flags: str) -> Path:
    source, path = folder / f"{name}.c", folder / f"{name}.o"
    source.write_text(text)
    subprocess.run(["gcc", "-O1", "-w", "-c", *flags, str(source), "-o", str(path)], check=True)
    return path


def said(left: Path, right: Path, **options: Any) -> dict[str, str]:
    """The assumptions of a proof."""
    verdict = isoform.compare(f"{left}:f", f"{right}:f", **options)
    assert isinstance(verdict, Equivalent)
    return {assumption.name: assumption.why for assumption in verdict.assumptions}


def test_a_signature_that_only_one_side_has_is_assumed(tmp_path: Path) -> None:
    plain, declared = built(tmp_path, "a", WIDE), built(tmp_path, "b", NARROW, "-g")
    assert "only the rewrite" in said(plain, declared)["signature-declared-once"]
    assert "only the target" in said(declared, plain)["signature-declared-once"]
    assert "signature-declared-once" not in said(declared, declared)


def test_narrow_arguments_of_another_sign_are_declared_differently(tmp_path: Path) -> None:
    text = "int f(KIND char x) { return (signed char)x; }"
    signed, unsigned, other = (
        built(tmp_path, f"{kind}{level}", text.replace("KIND", kind), "-g", level)
        for kind, level in (("signed", "-O1"), ("unsigned", "-O0"), ("signed", "-O0"))
    )
    assert "unsigned char" in said(signed, unsigned)["target-signature"]
    assert "target-signature" not in said(signed, other)


def test_data_that_only_a_companion_uses_is_named(tmp_path: Path) -> None:
    first, second, other = (
        built(tmp_path, name, GIVEN.replace("KEPT", kept), "-g")
        for name, kept in (("a", "int kept = 5"), ("b", "extern int kept"), ("c", "int kept = 6"))
    )
    assert "kept, which only one of the files defines" in said(first, second)["same-data"]
    assert "kept holds the same" in said(first, other, data="any")["same-data"]


def test_what_a_companion_calls_may_be_replaced_on_one_side(tmp_path: Path) -> None:
    text = """
    HOW int helper(int x) { return x * 3 + 1; }
    static __attribute__((noinline)) int read(int x) { return helper(x) + 2; }
    void give(int (*)(int));
    void f(void) { give(read); }
    """
    weak, static = (
        built(tmp_path, name, text.replace("HOW", how), "-g")
        for name, how in (("a", "__attribute__((weak, noinline))"), ("b", "static __attribute__((noipa))"))
    )
    assert "helper" in said(weak, static)["not-interposed"]
    assert "not-interposed" not in said(static, static)


@pytest.mark.parametrize("name", ["f", "copied"])
def test_versions_of_a_library_function_are_named(tmp_path: Path, name: str) -> None:
    text = """
    #include <string.h>
    __asm__(".symver memcpy,memcpy@GLIBC_VERSION");
    static __attribute__((noipa)) void copy(char *a, char *b, unsigned long n) { memcpy(a, b, n); }
    void give(void (*)(char *, char *, unsigned long));
    void f(void) { give(copy); }
    void copied(char *a, char *b, unsigned long n) { memcpy(a, b, n); }
    """
    paths = []
    for version in ("2.2.5", "2.14"):
        source, path = tmp_path / f"{version}.c", tmp_path / f"{version}.so"
        source.write_text(text.replace("VERSION", version))
        command = ["gcc", "-O1", "-g", "-w", "-fPIC", "-shared", str(source), "-o", str(path)]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            pytest.skip("needs a C library with two versions of memcpy")
        paths.append(f"{path}:{name}")
    verdict = isoform.compare(paths[0], paths[1])
    assert isinstance(verdict, Equivalent)
    assert "versions-agree" in {assumption.name for assumption in verdict.assumptions}
