"""A certificate is bound to code that a function falls into."""

from __future__ import annotations

from pathlib import Path

from isoform import api
from isoform.borders.question import Options

ENTRY = """
    .globl f
    .type f, @function
f:  lea (%rdi,%rsi), %eax
    .size f, .-f
    .globl g
    .type g, @function
g:  add $NUMBER, %eax
    ret
    .size g, .-g
"""
WHOLE = """
    .globl f
    .type f, @function
f:  lea 1(%rdi,%rsi), %eax
    ret
    .size f, .-f
"""


def test_a_certificate_is_not_for_other_code_behind_the_function(tmp_path: Path) -> None:
    for name, text in (("one", ENTRY.replace("NUMBER", "1")), ("two", ENTRY.replace("NUMBER", "2")), ("whole", WHOLE)):
        (tmp_path / f"{name}.s").write_text(text)
    one, two, whole = (f"{tmp_path}/{name}.s:f" for name in ("one", "two", "whole"))
    certificate = tmp_path / "certificate"
    options = Options(signature="int f(int a, int b)", cert=str(certificate))
    assert api.compare(one, whole, options).verdict == "equivalent"
    assert api.check(certificate, one, whole).ok
    assert not api.check(certificate, two, whole).ok
