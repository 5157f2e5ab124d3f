"""Processes that confirm obligations: few of them, and none that runs on."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from bitwuzla import TermManager

from isoform.check import workers
from isoform.check.certificate import check_certificate
from isoform.check.confirm import SMT_UNSAT, Request
from isoform.check.workers import Confirmers
from isoform.model.budget import WALL_FACTOR
from isoform.smt.certificate import CertificateWriter

EASY = """(set-logic QF_BV) (declare-const x (_ BitVec 32))
(assert (! (bvult x #x00000007) :named a)) (assert (! (bvult #x00000009 x) :named b)) (check-sat)"""
HARD = """(set-logic QF_BV) (declare-const p (_ BitVec 32)) (declare-const q (_ BitVec 32))
(assert (! (= (bvmul ((_ zero_extend 32) p) ((_ zero_extend 32) q)) #x1fffffffffffffff) :named a))
(assert (! (bvugt p #x00000001) :named b)) (assert (! (bvugt q #x00000001) :named c)) (check-sat)"""


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[str]]:
    processes: list[subprocess.Popen[str]] = []

    def start(*arguments: Any, **options: Any) -> subprocess.Popen[str]:
        processes.append(subprocess.Popen(*arguments, **options))
        return processes[-1]

    monkeypatch.setattr(workers, "_start", start)
    return processes


def request(text: str, seconds: float | None = 20.0, solver: str = "z3") -> Request:
    return Request(text, SMT_UNSAT, solver, seconds)


def test_one_process_for_many(started: list[subprocess.Popen[str]]) -> None:
    with Confirmers(1) as pool:
        assert [pool.ask(request(EASY)).result for _ in range(5)] == ["confirmed"] * 5
    assert len(started) == 1
    assert all(process.poll() is not None for process in started)


def test_a_limit_of_its_own_for_each(started: list[subprocess.Popen[str]]) -> None:
    with Confirmers(1) as pool:
        answers = [pool.ask(request(text, 1.0)).result for text in (EASY, HARD, EASY)]
    assert answers == ["confirmed", "undecided", "confirmed"]
    assert len(started) == 2


def test_a_solver_that_does_not_stop(started: list[subprocess.Popen[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    with Confirmers(1) as pool:
        monkeypatch.setattr(workers, "_GRACE", 2.0 - 60.0 * WALL_FACTOR)
        answer = pool.ask(request(HARD, 60.0))
        assert (answer.result, answer.why) == ("undecided", "z3 did not stop in time")
        assert started[0].poll() is not None
        monkeypatch.undo()
        assert pool.ask(request(EASY)).result == "confirmed"


def test_a_process_that_dies() -> None:
    with Confirmers(1) as pool:
        answer = pool.ask(request(EASY, solver="nonsense"))
        assert (answer.result, answer.why) == ("undecided", "nonsense ended without an answer")
        assert pool.ask(request(EASY)).result == "confirmed"


def test_none_for_what_is_false_as_it_stands(started: list[subprocess.Popen[str]], tmp_path: Path) -> None:
    writer = CertificateWriter(tmp_path / "certificate")
    for name in ("aborts", "returns", *(f"same {count}" for count in range(11))):
        writer.add_smt(name, "nothing differs", [("differs", TermManager().mk_false())])
    side = {"path": "a.o", "function": "f", "isa": "x86_64", "code": b"\xc3"}
    contract = {"return_as": "void", "memory": "compare", "aborts": "equal", "results": []}
    rest = {"verdict": "equivalent", "how": "", "assumptions": [], "returns": False, "calls": False}
    writer.finish({"target": side, "rewrite": side, "contract": contract, "engine": "loopfree", "apart": False, **rest})
    report = check_certificate(tmp_path / "certificate")
    assert report.ok
    assert {row.solver for row in report.rows} == {"trivial"}
    assert not started
