"""Texts without a name: all of them count, also what lies before the address in the code."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from isoform.api import compare
from isoform.model.verdict import Equivalent

TEXTS = {
    "in the middle": ("void out(const char *); void f(void) { out(%s + 1); }\n", '"abc"', '"xbc"'),
    "returned": ("const char *f(void) { return %s + 2; }\n", '"abc"', '"xbc"'),
    "wide": ("void out(const int *); void f(void) { out(%s); }\n", 'L"ab"', 'L"ac"'),
    "wide, in the middle": ("void out(const int *); void f(void) { out(%s + 1); }\n", 'L"abc"', 'L"xbc"'),
    "16 bits": ("void out(const unsigned short *); void f(void) { out(%s); }\n", 'u"ab"', 'u"ac"'),
}
FIRST = "int pad(int x) { return x * 3 + 1; }\n"


def built(folder: Path, name: str, text: str) -> str:
    source, made = folder / f"{name}.c", folder / f"{name}.o"
    source.write_text(text)
    subprocess.run(["cc", "-O1", "-c", str(source), "-o", str(made)], check=True)
    return f"{made}:f"


@pytest.mark.parametrize(("text", "one", "other"), TEXTS.values(), ids=TEXTS)
def test_texts(tmp_path: Path, text: str, one: str, other: str) -> None:
    left = built(tmp_path, "left", text % one)
    assert isinstance(compare(left, built(tmp_path, "same", FIRST + text % one), budget=3), Equivalent)
    assert not isinstance(compare(left, built(tmp_path, "other", FIRST + text % other), budget=3), Equivalent)
