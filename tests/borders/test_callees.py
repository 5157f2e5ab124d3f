"""Which assumptions about callees a verdict lists."""

from __future__ import annotations

from pathlib import Path

import pytest

from isoform import compare

FUNCTIONS = """
.intel_syntax noprefix
.globl f
.type f, @function
f:  {jump} [rsi]
{after}
.size f, .-f
.section .note.GNU-stack,"",@progbits
"""


@pytest.mark.parametrize(("jump", "after"), [("jmp", ""), ("push rbx; call", "pop rbx; ret")])
def test_a_callee_behind_a_pointer_has_a_guessed_signature(tmp_path: Path, jump: str, after: str) -> None:
    for name, before in (("a", ""), ("b", "nop; ")):
        (tmp_path / f"{name}.s").write_text(FUNCTIONS.format(jump=before + jump, after=after))
    verdict = compare(f"{tmp_path}/a.s:f", f"{tmp_path}/b.s:f", signature="long f(long a, void *p)")
    assert verdict.word == "equivalent"
    assert "callee-arguments" in {assumption.name for assumption in verdict.assumptions}
