"""Proofs about loops of a rewrite that was changed: how it uses memory is shown, not assumed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from assembled import lifted, source
from isoform.borders.question import Options, Question
from isoform.borders.settle import settle
from isoform.engines.finding import Proved
from isoform.engines.loops.engine import Loops
from isoform.engines.loops.prove import claims, passes
from isoform.model.budget import Budget
from isoform.smt.terms import Term
from isoform.sym.side import Side

SUM = "xor eax, eax; 1: test edi, edi; jle 2f; add eax, edi; dec edi; jmp 1b; 2: ret"


def asked(folder: Path) -> Question:
    path = source(folder, {"target": SUM, "rewrite": SUM})
    return settle(lifted(path, "target"), lifted(path, "rewrite"), Options(signature="int f(int n, long at)"))


def is_proved(question: Question) -> bool:
    return isinstance(Loops().answer(question, Budget(3)), Proved)


@pytest.fixture
def _with_a_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rewrite has to keep something small, as if it were an offset in its frame."""

    def rule(side: Side) -> list[tuple[str, Term]]:
        is_small = side.terms.ult(side.entry.register("rsi"), side.terms.bv(64, 64))
        return [("frame-b-1", is_small)] if side.tag == "b" else []

    monkeypatch.setattr(passes, "frame_bounds", rule)
    monkeypatch.setattr(claims, "frame_bounds", rule)


@pytest.mark.usefixtures("_with_a_rule")
def test_that_a_changed_side_keeps_to_the_rules_is_not_assumed(tmp_path: Path) -> None:
    question = asked(tmp_path)
    assert is_proved(question)
    assert not is_proved(replace(question, changed=frozenset({1})))


def test_a_changed_side_without_rules_is_proved_as_before(tmp_path: Path) -> None:
    assert is_proved(replace(asked(tmp_path), changed=frozenset({1})))


LOOP = "xor eax, eax; 1: test esi, esi; jle 2f; {}; dec esi; jmp 1b; 2: ret"
FIRST = LOOP.format("add eax, dword ptr [rdi]")
ALSO_ELSEWHERE = LOOP.format("add eax, dword ptr [rdi]; mov ecx, dword ptr [rdx]; add eax, ecx; sub eax, ecx")


def test_that_a_changed_side_uses_usable_addresses_is_not_assumed(tmp_path: Path) -> None:
    path = source(tmp_path, {"target": FIRST, "rewrite": ALSO_ELSEWHERE})
    options = Options(signature="int f(int *p, int n, int *q)")
    question = settle(lifted(path, "target"), lifted(path, "rewrite"), options)
    assert is_proved(question)
    assert not is_proved(replace(question, changed=frozenset({1})))


def test_a_changed_side_that_uses_the_addresses_of_the_other_is_proved(tmp_path: Path) -> None:
    path = source(tmp_path, {"target": FIRST, "rewrite": FIRST})
    options = Options(signature="int f(int *p, int n, int *q)")
    question = settle(lifted(path, "target"), lifted(path, "rewrite"), options)
    assert is_proved(replace(question, changed=frozenset({1})))
