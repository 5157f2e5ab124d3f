"""Answers that are kept, and what is done with a damaged file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from isoform.borders.question import Options
from isoform.grade.grade import GradeOptions, grade
from isoform.grade.store import Store, question_key
from isoform.model.errors import UserError
from isoform.model.grades import (
    CodeLine,
    FailedTest,
    FixedTestResults,
    GradedAnswer,
    Grades,
    Observable,
    Standing,
    answer_from_json,
)
from isoform.report.grade_csv import grades_as_csv

SUBMISSIONS = Path(__file__).parent / "submissions"
FULL = GradedAnswer(
    Standing.DIFFERENT,
    why="because",
    engine="testing",
    seconds=0.5,
    inputs=(("$1", "1"), ("$2", "-2")),
    memory=("0x10: 00",),
    observables=(Observable("return value", "1", "2"),),
    replayed_on=("one", "other"),
    assumptions=(("name", "why"),),
    executed=((0, 1), (4, 3)),
    divergent=4,
    divergence="this sets $3",
    not_stopping="",
    listing=(CodeLine("1", "add", 1, True, True),),
    tests=FixedTestResults(1, 2, (FailedTest(2, "$1 = 1", "returns 1", "returns 2"),)),
)


def grade_max(state: Path, budget: float = 5.0, seed: int = 1, fresh: bool = False) -> Grades:
    grading = GradeOptions(jobs=2, state=state, fresh=fresh)
    options = Options(budget=budget, seed=seed)
    return grade(str(SUBMISSIONS / "max_reference.asm"), SUBMISSIONS / "max", options, grading=grading)


def test_an_answer_survives_json() -> None:
    assert answer_from_json(json.loads(json.dumps(FULL.to_json()))) == FULL
    plain = GradedAnswer(Standing.EQUIVALENT)
    assert answer_from_json(json.loads(json.dumps(plain.to_json()))) == plain


def test_a_second_run_has_the_same_rows_without_the_work(tmp_path: Path) -> None:
    state = tmp_path / "grades.state"
    first, second = grade_max(state), grade_max(state)
    assert first.resumed == 0
    assert second.resumed == 9  # all but the two that do not assemble
    assert grades_as_csv(second) == grades_as_csv(first)
    assert [row.listing for row in second.rows] == [row.listing for row in first.rows]


def test_a_state_cut_anywhere_gives_the_same_rows(tmp_path: Path) -> None:
    state = tmp_path / "grades.state"
    expected = grades_as_csv(grade_max(state))
    whole = state.read_bytes()
    for length in (0, 5, len(whole) // 3, len(whole) // 2, len(whole) - 1):
        state.write_bytes(whole[:length])
        if length == 5:
            with pytest.raises(UserError, match="not a state file"):
                grade_max(state)
            continue
        assert grades_as_csv(grade_max(state)) == expected
        assert grade_max(state).resumed == 9


def test_other_options_are_other_questions(tmp_path: Path) -> None:
    state = tmp_path / "grades.state"
    grade_max(state)
    assert grade_max(state, seed=2).resumed == 0


def test_a_larger_budget_does_only_the_undecided_again(tmp_path: Path) -> None:
    state = tmp_path / "grades.state"
    grade_max(state, budget=5)
    assert grade_max(state, budget=6).resumed == 8  # all but the infinite loop
    assert grade_max(state, budget=4).resumed == 9


def test_fresh_forgets(tmp_path: Path) -> None:
    state = tmp_path / "grades.state"
    grade_max(state)
    assert grade_max(state, fresh=True).resumed == 0


def test_a_changed_submission_is_done_again(tmp_path: Path) -> None:
    folder, state = tmp_path / "in", tmp_path / "grades.state"
    folder.mkdir()
    submission = folder / "a.asm"
    submission.write_text((SUBMISSIONS / "max" / "right.asm").read_text())
    reference, grading = str(SUBMISSIONS / "max_reference.asm"), GradeOptions(state=state)
    assert grade(reference, folder, grading=grading).rows[0].answer.standing is Standing.EQUIVALENT
    submission.write_text((SUBMISSIONS / "max" / "wrong_on_equal.asm").read_text())
    assert grade(reference, folder, grading=grading).rows[0].answer.standing is Standing.DIFFERENT


def test_damaged_lines_are_ignored(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with Store(path) as store:
        store.put("one", 1.0, FULL)
    entry = json.loads(path.read_text().splitlines()[1])
    damaged = [
        "{",
        "[]",
        '{"key": "two"}',
        json.dumps({**entry, "key": "two", "answer": {**entry["answer"], "standing": "excellent"}}),
        json.dumps({**entry, "key": "two", "answer": {**entry["answer"], "inputs": 3}}),
        json.dumps({**entry, "key": "two", "answer": {**entry["answer"], "executed": [["a", 1]]}}),
        json.dumps({**entry, "key": 2}),
        json.dumps({**entry, "key": "two", "budget": None}),
    ]
    path.write_text(path.read_text() + "\n".join(damaged))
    with Store(path) as store:
        assert store.get("one", 1.0) == FULL
        assert store.get("two", 1.0) is None
        store.put("three", 1.0, FULL)
    with Store(path) as store:
        assert store.get("three", 1.0) == FULL


def test_a_file_of_another_kind_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "thesis.txt"
    path.write_text("Chapter 1\n")
    with pytest.raises(UserError, match="is not a state file"):
        Store(path, fresh=True)
    assert path.read_text() == "Chapter 1\n"


def test_one_run_at_a_time(tmp_path: Path) -> None:
    words = "import sys; from pathlib import Path; from isoform.grade.store import Store; Store(Path(sys.argv[1]))"
    command = [sys.executable, "-c", words, str(tmp_path / "s")]
    with Store(tmp_path / "s"):
        other = subprocess.run(command, capture_output=True, text=True, check=False)
        assert "in use by another isoform grade" in other.stderr
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0


def test_a_state_that_is_no_ordinary_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "s")
    with pytest.raises(UserError, match="not an ordinary file"):
        Store(tmp_path / "s")


def test_keys_depend_on_every_part() -> None:
    assert question_key([1, "a"]) == question_key([1, "a"])
    assert question_key([1, "a"]) != question_key([1, "b"])
