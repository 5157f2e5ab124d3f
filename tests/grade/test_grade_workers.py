"""Submissions that harm their worker are rows like any other."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from isoform.borders.question import Options
from isoform.grade import grade as grade_module
from isoform.grade.examine import Examiner
from isoform.grade.grade import GradeOptions, grade
from isoform.load.open import Loaded
from isoform.model.grades import GradedAnswer, Row, Standing

SUBMISSIONS = Path(__file__).parent / "submissions"
HARMFUL = "by_difference"


def rows_where(monkeypatch: pytest.MonkeyPatch, harm: object, **more: object) -> dict[str, Row]:
    """The rows if one submission does `harm` to the process that looks at it."""
    answer = Examiner.answer

    def answered(self: Examiner, loaded: tuple[Loaded, Loaded]) -> GradedAnswer:
        if HARMFUL in loaded[1].display_path:
            harm()  # type: ignore[operator]
        return answer(self, loaded)

    monkeypatch.setattr(Examiner, "answer", answered)
    grading = GradeOptions(jobs=2, **more)  # type: ignore[arg-type]
    options = Options(budget=1)
    grades = grade(str(SUBMISSIONS / "max_reference.asm"), SUBMISSIONS / "max", options, grading=grading)
    assert grades.total == len(grades.rows) == 11
    rows = {row.name: row for row in grades.rows}
    assert rows["right"].answer.standing is Standing.EQUIVALENT
    assert rows["wrong_on_negatives"].answer.standing is Standing.DIFFERENT
    return rows


def test_a_worker_that_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = rows_where(monkeypatch, lambda: os.kill(os.getpid(), signal.SIGKILL))
    assert rows[HARMFUL].answer.standing is Standing.CRASHED
    assert rows[HARMFUL].answer.why == "crashed the checker (signal 9)"


def test_a_worker_that_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = rows_where(monkeypatch, lambda: os._exit(3))
    assert rows[HARMFUL].answer.why == "crashed the checker (exit code 3)"


def test_a_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    def stumble() -> None:
        raise ValueError("of our own")

    rows = rows_where(monkeypatch, stumble)
    assert rows[HARMFUL].answer.why == "crashed the checker (ValueError: of our own)"


@pytest.mark.parametrize("deaf", [pytest.param(False, marks=pytest.mark.long), True])
def test_a_worker_that_hangs(monkeypatch: pytest.MonkeyPatch, deaf: bool) -> None:
    def hang() -> None:
        if deaf:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(600)

    monkeypatch.setattr(grade_module, "GRACE", 4.0)
    rows = rows_where(monkeypatch, hang)
    assert rows[HARMFUL].answer.standing is Standing.NO_ANSWER
    assert rows[HARMFUL].answer.why == "no answer in 5 s"


def test_a_worker_that_wants_too_much_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[bytes] = []

    def hoard() -> None:
        while True:
            held.append(bytes(1 << 24))

    rows = rows_where(monkeypatch, hoard, memory_limit=256)
    assert rows[HARMFUL].answer.standing is Standing.NO_ANSWER
    assert rows[HARMFUL].answer.why == "needs more than 256 MiB of memory"


def test_words_of_a_worker_go_nowhere(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    rows_where(monkeypatch, lambda: os.write(1, b"noise"))
    assert capfd.readouterr().out == ""
