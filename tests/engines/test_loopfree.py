"""The engine that makes one formula of both: what it proves, refutes, bounds, and leaves alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import isoform
from assembled import source
from isoform import Bounded, Different, Equivalent, Unknown, UserError

COUNT = "xor eax, eax; test edi, edi; je 2f; 1: add eax, 2; dec edi; jne 1b; 2:"
FUNCTIONS = {
    "doubles": "lea eax, [rdi+rdi]; ret",
    "shifts": "mov eax, edi; shl eax, 1; ret",
    "magic": "xor eax, eax; cmp edi, 0x1234567; sete al; lea eax, [rax+2*rdi]; ret",
    "clobbers": "lea ebx, [rdi+rdi]; mov eax, ebx; ret",
    "stores": "lea eax, [rdi+rdi]; mov dword ptr [rsi], eax; ret",
    "stores_other": "lea eax, [rdi+rdi]; mov dword ptr [rsi], edi; ret",
    "counts": f"{COUNT} ret",
    "counts_other": f"{COUNT} cmp eax, 2000; jne 3f; inc eax; 3: ret",
    "divides": "mov eax, edi; xor edx, edx; div esi; ret",
    "divides_checked": "xor eax, eax; test esi, esi; je 1f; mov eax, edi; xor edx, edx; div esi; 1: ret",
    "privileged": "lea eax, [rdi+rdi]; test edi, edi; jne 1f; rdpmc; 1: ret",
}
SIGNATURE = "unsigned f(unsigned x, unsigned *p)"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return source(tmp_path_factory.mktemp("loopfree"), FUNCTIONS)


def ask(file: Path, target: str, rewrite: str, **options: Any) -> isoform.Verdict:
    chosen = {"signature": SIGNATURE, "engine": "loopfree", "cc": "zig", **options}
    return isoform.compare(f"{file}:{target}", f"{file}:{rewrite}", **chosen)


def test_a_proof_has_an_obligation_for_everything_that_is_compared(file: Path) -> None:
    verdict = ask(file, "doubles", "shifts")
    assert isinstance(verdict, Equivalent)
    names = {obligation.name for obligation in verdict.proof.obligations}
    assert names >= {"aborts", "returns", "rbx", "rbp", "r12", "rsp", "return-address", "return-value", "memory"}


def test_a_rare_difference_is_found_and_replayed(file: Path) -> None:
    verdict = ask(file, "doubles", "magic")
    assert isinstance(verdict, Different)
    assert dict(verdict.witness.arguments)["x"] == 0x1234567
    assert len(verdict.witness.replayed_on) == 2


def test_registers_to_restore_count(file: Path) -> None:
    verdict = ask(file, "doubles", "clobbers")
    assert isinstance(verdict, Different)
    assert any("rbx" in difference.what for difference in verdict.witness.differences)


def test_memory_counts_unless_it_is_left_out(file: Path) -> None:
    assert isinstance(ask(file, "stores", "stores_other"), Different)
    assert isinstance(ask(file, "stores", "stores_other", memory=isoform.MemoryRule.IGNORE), Equivalent)


def test_loops_are_unrolled_and_nothing_is_claimed_beyond(file: Path) -> None:
    verdict = ask(file, "counts", "counts_other", unroll=8)
    assert isinstance(verdict, Bounded)
    assert verdict.bound["unroll"] == 8


def test_what_needs_no_more_than_the_bound_is_proved(file: Path) -> None:
    verdict = ask(file, "counts", "doubles", unroll=8, assume=["x <= 8"])
    assert isinstance(verdict, Equivalent)
    assert isinstance(ask(file, "counts", "magic", unroll=8, assume=["x <= 8"]), Equivalent)


def test_aborts_are_compared_as_the_contract_says(file: Path) -> None:
    two = {"signature": "unsigned f(unsigned x, unsigned y)"}
    assert isinstance(ask(file, "divides", "divides_checked", **two), Different)
    assert isinstance(ask(file, "divides", "divides_checked", **two, assume=["y != 0"]), Equivalent)
    assert isinstance(ask(file, "divides", "divides_checked", **two, aborts=isoform.AbortRule.REFINE), Equivalent)
    assert isinstance(ask(file, "divides_checked", "divides", **two, aborts=isoform.AbortRule.REFINE), Different)


def test_what_has_no_semantics_is_a_gap_that_a_proof_must_close(file: Path) -> None:
    verdict = ask(file, "doubles", "privileged")
    assert isinstance(verdict, Unknown)
    assert "rdpmc" in verdict.why
    assert isinstance(ask(file, "doubles", "privileged", assume=["x != 0"]), Equivalent)


def test_a_precondition_that_nothing_satisfies_is_refused(file: Path) -> None:
    with pytest.raises(UserError, match="never true"):
        ask(file, "doubles", "shifts", assume=["x < 5 && x > 9"])
