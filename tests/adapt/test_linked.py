"""Two functions of one linked library, with system calls, as `killpg` and `kill` of the C library (seed 001)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from isoform.adapt.adapt import AdaptOptions
from isoform.api import adapt
from isoform.borders.question import Options
from isoform.model.adaptor import AdaptorFound, Answered, Family

SOURCE = """
__thread int error;
static long ask(long number, long a, long b) {
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b) : "rcx", "r11", "memory");
    return result;
}
static int told(long result) {
    if ((unsigned long)result < -4095ul) return (int)result;
    error = (int)-result;
    return -1;
}
int to_process(int pid, long sig) { return told(ask(62, (unsigned)pid, sig)); }
int to_group(int pgrp, long sig) {
    if (pgrp < 0) { error = 22; return -1; }
    return told(ask(62, (unsigned)-pgrp, sig));
}
int closes(int a, long b) { return told(ask(3, (unsigned)a, b)); }
int to_thread(int pid, long sig) { return told(ask(200, (unsigned)pid, sig)); }
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("linked")
    source, output = folder / "calls.c", folder / "libcalls.so"
    source.write_text(SOURCE)
    driver = [sys.executable, "-m", "ziglang", "cc", "-target", "x86_64-linux-gnu", "-fno-sanitize=undefined"]
    flags = ["-O2", "-g", "-shared", "-fPIC", "-nostdlib", str(source), "-o", str(output)]
    subprocess.run([*driver, *flags], check=True, capture_output=True)
    return output


def asked(library: Path, rewrite: str, families: tuple[Family, ...]) -> Answered:
    options = Options(assume=("pgrp > 0",), budget=20.0)
    return adapt(f"{library}:to_group", f"{library}:{rewrite}", options, AdaptOptions(families=families))


def test_a_process_group_is_a_negative_process(library: Path) -> None:
    found = asked(library, "to_process", (Family.SUBSTITUTION, Family.ARITHMETIC))
    assert isinstance(found, AdaptorFound)
    assert str(found.adaptor) == "pid = -pgrp, sig = sig"


def test_another_system_call_is_none(library: Path) -> None:
    assert asked(library, "to_thread", (Family.SUBSTITUTION,)).word == "none"


def test_services_that_read_different_arguments(library: Path) -> None:
    """What a service reads is known by its number: the two calls have lists of different lengths."""
    assert asked(library, "closes", (Family.SUBSTITUTION,)).word == "none"
