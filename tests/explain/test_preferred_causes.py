"""Which of several causes is named, and with which of its places."""

from __future__ import annotations

from pathlib import Path

from changed import Tried, arguments, prototype, root_cause_of
from isoform import compare
from isoform.borders.question import Options
from isoform.model.verdict import Different
from isoform.report.causes import sentences_of

ON_ONE_PATH = "cmp edi, 3; jne 1f; {}; lea eax, [rdi+rcx]; ret; 1: lea eax, [rdi+7]; ret"
"""Where x is 3, a register of it holds 7."""
ALWAYS = "mov ecx, 9; lea eax, [rdi+rcx]; ret"


def test_a_constant_is_the_same_however_often_it_is_executed(tmp_path: Path) -> None:
    tried = Tried(tmp_path, ON_ONE_PATH.format("mov ecx, 7"), ALWAYS, prototype("int f(int x)"), arguments(rdi=3))
    constant = tried.fix("mov ecx", "mov ecx")
    assert tried.runs.fixes(constant, tried.case_of(arguments(rdi=5)))
    assert tried.fixed.holds(constant)


def test_what_is_computed_on_one_path_only_is_no_constant(tmp_path: Path) -> None:
    tried = Tried(tmp_path, ON_ONE_PATH.format("lea ecx, [rdi+4]"), ALWAYS, prototype("int f(int x)"), arguments(rdi=3))
    computed = tried.fix("lea ecx", "mov ecx")
    assert tried.runs.fixes(computed, tried.case)
    assert not tried.runs.fixes(computed, tried.case_of(arguments(rdi=5)))
    assert not tried.fixed.holds(computed)


def test_an_argument_that_is_kept_in_the_frame_is_right(tmp_path: Path) -> None:
    """The rewrite passes on the wrong variable: not what it keeps of its argument is wrong, but what it reads."""
    tried = Tried(
        tmp_path,
        "push rbx; cmp edi, esi; cmovl edi, esi; call use; pop rbx; ret",
        "push rbp; mov rbp, rsp; sub rsp, 16; mov [rbp-8], esi; mov edi, [rbp-8]; call use; leave; ret",
        Options(signature="void f(int x, int y)"),
        arguments(rdi=9, rsi=4),
    )
    found = root_cause_of(tried)
    assert found is not None
    assert found[1] == "mov edi,dword ptr [rbp + -0x8]"


def test_lines_at_which_the_target_has_the_same_value(tmp_path: Path) -> None:
    text = "int f(int x, int y)\n{\n    int sum = x + y;\n    int kept = sum;\n    return kept * 3;\n}\n"
    for name, code in (("a.c", text), ("b.c", text.replace("x + y", "x - y"))):
        (tmp_path / name).write_text(code)
    verdict = compare(f"{tmp_path}/a.c:f", f"{tmp_path}/b.c:f", cc="cc", cflags="-O0", budget=20)
    assert isinstance(verdict, Different)
    assert verdict.root_cause is not None
    (sentence,) = sentences_of(verdict.root_cause)
    assert "(a.c:3), and the same value at lines 4, 5, holds" in sentence
