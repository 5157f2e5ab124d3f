"""Bytes that code distinguishes."""

from __future__ import annotations

from pathlib import Path

import pytest

from isoform.api import show
from isoform.engines.loops.observe.letters import letters
from isoform.load.open import LoadOptions

DIGITS = set(range(ord("0"), ord("9") + 1))
COMPARED = "cmp $0x2f, %al\n jle 1f\n cmp $0x39, %al\n jle 2f\n1: ret\n2: inc %eax\n ret"
TAKEN_AWAY = "lea -0x30(%rdi), %edx\n cmp $9, %dl\n ja 1f\n inc %eax\n1: ret"
NONE = "sub $0x30, %rsp\n mov %edi, -0x20(%rsp)\n cmp $0x39, %rdi\n add $0x30, %rsp\n ret"


@pytest.mark.parametrize(("body", "wanted"), [(COMPARED, DIGITS), (TAKEN_AWAY, DIGITS), (NONE, set())])
def test_letters_of_code(tmp_path: Path, body: str, wanted: set[int]) -> None:
    source = tmp_path / "letters.s"
    source.write_text(f".globl f\n.type f, @function\nf:\n {body}\n.size f, .-f\n")
    found = set(letters(show(str(source), LoadOptions(function="f"))))
    assert wanted <= found
    # Beside them there is what is next to a bound, and what is left after taking away; not everything.
    assert len(found) <= len(wanted) + 6
