"""Changes that look like causes and are none: each is right on the witness, or shows nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from changed import BUFFER, Tried, arguments, prototype, root_cause_of, site
from isoform.borders.question import Options
from isoform.explain.proof import Held
from isoform.explain.runs import Fix
from isoform.explain.sites import Role
from isoform.lift.function import BlockId
from isoform.model.outcome import CallEffect, CallKey, Inputs


def test_a_change_that_only_avoids_the_path_of_the_witness(tmp_path: Path) -> None:
    """With x = 7 and y = 6 the other branch gives the right result, too."""
    tried = Tried(
        tmp_path,
        "cmp edi, 7; jne 1f; lea eax, [rsi+1]; ret; 1: cmp esi, 100; je 2f; mov eax, edi; ret; 2: mov eax, edi; ret",
        "cmp edi, 7; jne 1f; lea eax, [rsi+2]; ret; 1: mov eax, edi; ret",
        prototype("int f(int x, int y)"),
        arguments(rdi=7, rsi=6),
    )
    condition = next(s.number for s in tried.runs.rewrite.sites if s.role is Role.CONDITION)
    own = next(s.number for s in tried.runs.target.sites if s.role is Role.CONDITION)
    avoids = Fix({condition: own}, negated=frozenset({condition}))
    assert tried.runs.fixes(avoids, tried.case)
    assert not tried.fixed.holds(avoids)
    assert not tried.fixed.holds(avoids, Held(path_of(tried)))
    found = root_cause_of(tried)
    assert found == ("lea eax,[rsi + 0x1]", "lea eax,[rsi + 0x2]")


@pytest.mark.parametrize("aborts", ["equal", "refine"])
def test_a_change_that_makes_the_rewrite_abort(tmp_path: Path, aborts: str) -> None:
    tried = Tried(
        tmp_path,
        "xor ecx, ecx; mov eax, edi; ret",
        "mov ecx, 1; mov eax, edi; cdq; idiv ecx; inc eax; ret",
        Options(signature="int f(int x)", aborts=aborts),  # type: ignore[arg-type]
        arguments(rdi=5),
    )
    aborting = tried.fix("xor ecx", "mov ecx")
    assert not tried.runs.fixes(aborting, tried.case)
    assert not tried.fixed.holds(aborting)
    assert not tried.fixed.holds(aborting, Held(path_of(tried)))


def test_a_change_that_makes_the_rewrite_loop_for_ever(tmp_path: Path) -> None:
    tried = Tried(
        tmp_path,
        "mov ecx, 1; mov eax, edi; ret",
        "mov ecx, 0; 1: test ecx, ecx; jne 1b; lea eax, [rdi+1]; ret",
        prototype("int f(int x)"),
        arguments(rdi=5),
    )
    endless = tried.fix("mov ecx", "mov ecx")
    assert not tried.runs.fixes(endless, tried.case)
    assert not tried.fixed.holds(endless)
    assert not tried.fixed.holds(endless, Held(path_of(tried), unroll=3))


def test_a_change_that_makes_the_rewrite_leave_the_contract(tmp_path: Path) -> None:
    """Where the two differ, the changed rewrite reads at null: no input is left on which it could be wrong."""
    tried = Tried(
        tmp_path,
        "xor edx, edx; test esi, esi; cmove rdx, rdi; mov eax, [rdi]; ret",
        "mov rcx, rdi; mov eax, [rcx]; test esi, esi; je 1f; inc eax; 1: ret",
        prototype("int f(int *p, int x)"),
        arguments(rdi=BUFFER, rsi=1),
    )
    outside = tried.fix("cmovz rdx", "mov rcx")
    assert tried.runs.fixes(outside, tried.case_of(arguments(rdi=BUFFER, rsi=0)))
    assert not tried.fixed.holds(outside)
    assert not tried.fixed.holds(outside, Held(path_of(tried)))
    assert root_cause_of(tried) != ("cmovz rdx,rdi", "mov rcx,rdi")


def test_a_value_that_is_undefined_explains_nothing(tmp_path: Path) -> None:
    """What a frame holds before it is written."""
    tried = Tried(
        tmp_path,
        "mov ecx, [rsp-16]; lea eax, [rdi+1]; ret",
        "mov ecx, 3; lea eax, [rdi+2]; ret",
        prototype("int f(int x)"),
        arguments(rdi=5),
    )
    garbage = site(tried.runs.target, "mov ecx")
    assert garbage in tried.runs.undefined
    assert not [c for c in tried.candidates() if c.target is not None and c.target.number == garbage]


def test_a_value_that_is_right_in_one_iteration_only(tmp_path: Path) -> None:
    """Before its loop the target has the value that its first iteration gives, and never again."""
    tried = Tried(
        tmp_path,
        "lea edx, [rsi+3]; xor eax, eax; 1: test edi, edi; jle 2f; add esi, 3; add eax, esi; dec edi; jmp 1b; 2: ret",
        "xor eax, eax; 1: test edi, edi; jle 2f; add esi, 4; add eax, esi; dec edi; jmp 1b; 2: ret",
        prototype("int f(int n, int x)"),
        arguments(rdi=1, rsi=10),
    )
    once = tried.fix("lea edx", "add esi")
    assert tried.runs.fixes(once, tried.case)
    assert not tried.runs.fixes(once, tried.case_of(arguments(rdi=2, rsi=10)))
    assert not tried.fixed.holds(once)
    assert root_cause_of(tried) == ("add esi,0x3", "add esi,0x4")


def test_a_missing_call_must_not_take_the_target_off_its_path(tmp_path: Path) -> None:
    """Without the call that the rewrite does not make the target goes on elsewhere, and the two still differ."""
    tried = Tried(
        tmp_path,
        "push rbx; mov ebx, edi; xor eax, eax; call other; test eax, eax; je 1f; inc ebx; 1: mov eax, ebx; pop rbx;ret",
        "push rbx; mov ebx, edi; add ebx, 5; mov eax, ebx; pop rbx; ret",
        prototype("int f(int x)"),
        arguments(rdi=5),
    )
    for candidate in tried.candidates():
        if candidate.fix.cuts:
            assert not tried.fixed.holds(candidate.fix)


def path_of(tried: Tried) -> tuple[BlockId, ...]:
    """The blocks of the target in the order of its run on the witness, where it has no loop."""
    trace = tried.case.target.trace
    blocks = tried.runs.target.function.blocks.values()
    on_it = [block for block in blocks if block.steps and block.steps[0] in trace]
    return tuple(block.id for block in sorted(on_it, key=lambda block: trace.index(block.steps[0])))


def test_more_inputs_are_tried_of_both_kinds(tmp_path: Path) -> None:
    """Beside the witness, some that separate the two and some that do not."""
    tried = Tried(
        tmp_path,
        "mov eax, edi; ret",
        "mov eax, edi; cmp edi, 100; jle 1f; inc eax; 1: ret",
        prototype("int f(int x)"),
        arguments(rdi=200),
    )
    assert {case.is_apart for case in tried.runs.others} == {True, False}


def test_what_the_target_leaves_open_is_not_given(tmp_path: Path) -> None:
    """Where x is not positive both return what their frames happen to hold: equal only if garbage is."""
    garbage = "test edi, edi; jle 1f; lea eax, [rsi+{}]; ret; 1: mov eax, [rsp-16]; ret"
    tried = Tried(
        tmp_path,
        garbage.format(1),
        garbage.format(2),
        prototype("int f(int x, int y)"),
        arguments(rdi=5, rsi=6),
    )
    result = tried.fix("ret", "ret", Role.LEFT)
    assert tried.runs.fixes(result, tried.case)
    assert not tried.fixed.holds(result)
    assert tried.fixed.holds(tried.fix("lea eax", "lea eax"), Held(path_of(tried)))


def test_a_change_after_which_the_rewrite_reads_at_null(tmp_path: Path) -> None:
    """What it reads there makes no difference, and no program may."""
    tried = Tried(
        tmp_path,
        "xor ecx, ecx; mov eax, edi; ret",
        "mov rcx, rsi; mov edx, [rcx]; mov eax, edi; test rcx, rcx; je 1f; inc eax; 1: ret",
        prototype("int f(int x, int *p)"),
        arguments(rdi=5, rsi=BUFFER),
    )
    at_null = tried.fix("xor ecx", "mov rcx")
    assert not tried.fixed.holds(at_null)
    assert not tried.fixed.holds(at_null, Held(path_of(tried)))


def test_a_target_that_aborts_without_its_call_shows_nothing(tmp_path: Path) -> None:
    """The call may change what is divided by. Without it every input ends in a division by zero, after which the
    rewrite may do anything (`--aborts refine`)."""
    tried = Tried(
        tmp_path,
        "push rbx; mov rbx, rdi; mov dword ptr [rdi],0;call other; mov eax, 9; cdq; idiv dword ptr [rbx]; pop rbx;ret",
        "mov dword ptr [rdi], 0; mov eax, 7; ret",
        Options(signature="int f(int *p)", aborts="refine"),  # type: ignore[arg-type]
        Inputs({"rdi": BUFFER}, {}, call_results={CallKey("other", (), 0): CallEffect({}, {BUFFER: 5})}),
    )
    cuts = [candidate.fix for candidate in tried.candidates() if candidate.fix.cuts]
    assert cuts
    assert not any(tried.fixed.holds(cut) for cut in cuts)


def test_a_store_is_made_where_it_is_missing(tmp_path: Path) -> None:
    """Between two others: at the end it would overwrite the second one where the pointers are the same."""
    tried = Tried(
        tmp_path,
        "mov dword ptr [rdi], 1; mov dword ptr [rsi], 2; ret",
        "mov dword ptr [rsi], 2; ret",
        prototype("void f(int *p, int *q)"),
        arguments(rdi=BUFFER, rsi=BUFFER + 64),
    )
    added = [candidate.fix for candidate in tried.candidates() if candidate.fix.added]
    assert {tried.fixed.holds(fix) for fix in added if fix.added[0].before is None} == {False}
    assert any(tried.fixed.holds(fix) for fix in added if fix.added[0].before is not None)


def test_a_change_that_agrees_at_the_next_call_and_then_aborts(tmp_path: Path) -> None:
    """With the target's value in `ebx` the call is the same, and the division behind it is one by zero."""
    tried = Tried(
        tmp_path,
        "push rbx; push rbp; push rax; mov ebp, edi; lea ebx, [rdi+1]; mov edi, ebx; call one; mov eax, ebp; "
        "pop rcx; pop rbp; pop rbx; ret",
        "push rbx; push rbp; push rax; mov ebp, edi; lea ebx, [rdi+2]; mov edi, ebx; call one; sub ebx, ebp; dec ebx; "
        "mov eax, 77; cdq; idiv ebx; pop rcx; pop rbp; pop rbx; ret",
        prototype("int f(int x)"),
        arguments(rdi=5),
    )
    aborting = tried.fix("lea ebx", "lea ebx")
    assert tried.runs.with_fix(aborting, tried.case).rewrite.calls == tried.case.target.calls
    found = root_cause_of(tried)
    assert found == ("lea ebx,[rdi + 0x1]", "mov edi,ebx")


def test_stores_of_other_widths_are_not_the_same_point(tmp_path: Path) -> None:
    """With the target's number the rewrite stores it to the same address, but in eight bytes."""
    tried = Tried(
        tmp_path,
        "mov dword ptr [rdi], esi; mov dword ptr [rdi+8], esi; mov eax, esi; ret",
        "mov eax, esi; inc rax; mov qword ptr [rdi], rax; mov dword ptr [rdi+8], 7; mov eax, 3; ret",
        prototype("int f(int *p, int x)"),
        Inputs({"rdi": BUFFER, "rsi": 5}, {}),
    )
    assert root_cause_of(tried) is None
