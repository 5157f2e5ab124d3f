"""Runs of a question: the same inputs are run once, whatever asks for them."""

from __future__ import annotations

import pytest

from isoform import Options, code
from isoform.borders.question import Question
from isoform.borders.settle import settle
from isoform.engines.answer import lifted
from isoform.load.open import open_pair
from isoform.model.callee import Callees
from isoform.model.outcome import Inputs, Outcome
from isoform.run.compile import Program
from isoform.run.runner import RunOptions, run

PROTOTYPE = "int f(int x, int y)"


@pytest.fixture
def asked() -> Question:
    sides = code(bytes.fromhex("8d0477c3"), signature=PROTOTYPE), code(bytes.fromhex("8d0437c3"), signature=PROTOTYPE)
    target, rewrite = (lifted(side) for side in open_pair(*sides))
    return settle(target, rewrite, Options(signature=PROTOTYPE))


def test_inputs_that_were_just_run_are_not_run_again(asked: Question, monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[Inputs] = []

    def counted(program: Program, inputs: Inputs, options: RunOptions, callees: Callees) -> Outcome:
        runs.append(inputs)
        return run(program, inputs, options, callees)

    monkeypatch.setattr("isoform.borders.question.run", counted)
    first, second = ((Inputs({"rdi": 1, "rsi": n}),) * 2 for n in (2, 3))
    once = asked.run_both((Inputs({"rdi": 1, "rsi": 2}), Inputs({"rdi": 1, "rsi": 2})))
    assert asked.run_both((first[0], first[1])) is once
    assert len(runs) == 2
    other = asked.run_both((second[0], second[1]))
    assert [outcome.registers["rax"] for outcome in (*once, *other)] == [5, 3, 7, 4]
    assert len(runs) == 4
    recorded = asked.run_both((second[0], second[1]), record=True)
    assert recorded is not other
    assert asked.run_both((second[0], second[1])) is other
    assert len(runs) == 6
