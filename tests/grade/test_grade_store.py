"""Answers that are kept, and what is done with a damaged file."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from isoform.borders.question import Options
from isoform.grade.grade import GradeOptions, grade
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
from isoform.work.store import Store

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


def grade_max(state: Path, budget: float = 0.6, seed: int = 1, fresh: bool = False) -> Grades:
    """One submission never stops and takes the whole budget; the others take hundredths of a second."""
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


def test_a_state_without_its_last_rows_gives_the_same_rows(tmp_path: Path) -> None:
    state = tmp_path / "grades.state"
    expected = grades_as_csv(grade_max(state))
    for lost in (1, 8):
        with closing(sqlite3.connect(state)) as database, database:
            (left,) = database.execute("select count(*) from isoform_answers").fetchone()
            assert left == 8  # nine rows, two of the same code
            rows = "select rowid from isoform_answers order by created desc limit ?"
            database.execute(f"delete from isoform_answers where rowid in ({rows})", (lost,))
        again = grade_max(state)
        assert grades_as_csv(again) == expected
        assert again.resumed < 9


def test_other_options_are_other_questions(tmp_path: Path) -> None:
    state = tmp_path / "grades.state"
    grade_max(state)
    assert grade_max(state, seed=2).resumed == 0


def test_a_larger_budget_does_only_the_undecided_again(tmp_path: Path) -> None:
    state = tmp_path / "grades.state"
    grade_max(state)
    assert grade_max(state, budget=0.9).resumed == 8  # all but the infinite loop
    assert grade_max(state, budget=0.3).resumed == 9


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


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("$.standing", "excellent"),
        *(
            pytest.param(*damage, marks=pytest.mark.long)
            for damage in (("$.inputs", 3), ("$.executed", "a"), ("$.listing", 7))
        ),
    ],
)
def test_a_damaged_answer_is_graded_again(tmp_path: Path, path: str, value: object) -> None:
    state = tmp_path / "grades.state"
    expected = grades_as_csv(grade_max(state))
    with closing(sqlite3.connect(state)) as database, database:
        database.execute("update isoform_answers set result = json_set(result, ?, ?)", (path, value))
    again = grade_max(state)
    assert (grades_as_csv(again), again.resumed) == (expected, 0)
    assert grade_max(state).resumed == 9


def test_a_file_of_another_kind_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "thesis.txt"
    path.write_text("Chapter 1\n")
    with pytest.raises(UserError, match=r"^--state .*thesis.txt is not a store of isoform"):
        grade_max(path, fresh=True)
    assert path.read_text() == "Chapter 1\n"


def test_a_state_of_the_earlier_form_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "grades.state"
    path.write_text('{"isoform":"grade","format":1}\n{"key":"k"}\n')
    grade_max(path)
    assert grade_max(path).resumed == 9


def test_the_state_of_another_command(tmp_path: Path) -> None:
    Store(tmp_path / "s", {"command": "mine"}).close()
    with pytest.raises(UserError, match="store of another question"):
        grade_max(tmp_path / "s")


def test_two_runs_at_once_share_the_work(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "isoform", "grade", str(SUBMISSIONS / "max_reference.asm"), str(SUBMISSIONS / "max")]
    words += ["--state", str(tmp_path / "s"), "--json", "-j", "1", "--budget", "5"]
    runs = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    rows = [json.loads(run.communicate(timeout=120)[0])["submissions"] for run in runs]
    assert [row["verdict"] for row in rows[0]] == [row["verdict"] for row in rows[1]]
    assert grade_max(tmp_path / "s").resumed == 9


def test_a_state_that_is_no_ordinary_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "s")
    with pytest.raises(UserError, match="not an ordinary file"):
        grade_max(tmp_path / "s")


def test_a_full_disk_costs_the_resuming_and_not_the_grading(tmp_path: Path) -> None:
    """The size that files may have stands for the disk."""
    limited = "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (90000, 90000)); "
    limited += "from isoform.cli import run_command; sys.exit(run_command(sys.argv[1:]))"
    words = [sys.executable, "-c", limited, "grade", str(SUBMISSIONS / "max_reference.asm"), str(SUBMISSIONS / "max")]
    words += ["--state", str(tmp_path / "s"), "--json", "--budget", "5"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(json.loads(done.stdout)["submissions"]) == 11
    assert grade_max(tmp_path / "s").resumed < 9
