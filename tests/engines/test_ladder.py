"""What becomes of an engine that cannot answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from isoform import compare
from isoform.engines import ladder

FUNCTION = """
.intel_syntax noprefix
.globl f
.type f, @function
f:  lea eax, [rdi+1]
    ret
.size f, .-f
.section .note.GNU-stack,"",@progbits
"""


def endless(*arguments: object) -> object:
    return endless(*arguments)


def test_a_recursion_limit_that_is_reached_may_be_a_bug(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "f.s"
    source.write_text(FUNCTION)
    monkeypatch.setattr(ladder, "Loopfree", endless)
    verdict = compare(f"{source}:f", f"{source}:f", signature="int f(int x)", engine="loopfree")
    assert verdict.word == "unknown"
    assert "test_ladder.py" in verdict.to_json()["why"]
    assert "or this is a bug in isoform" in verdict.to_json()["why"]
