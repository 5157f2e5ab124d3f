"""Grading real cs241 and C submissions: what each row says."""

from __future__ import annotations

from pathlib import Path

import pytest

from isoform.borders.question import Options
from isoform.grade.grade import GradeOptions, grade
from isoform.load.open import LoadOptions
from isoform.model.errors import Unsupported, UserError
from isoform.model.grades import Grades, Row, Standing
from isoform.report.grade_csv import grades_as_csv

SUBMISSIONS = Path(__file__).parent / "submissions"
MAX = {
    "by_difference": Standing.DIFFERENT,
    "copy_of_right": Standing.EQUIVALENT,
    "divides_by_zero": Standing.DIFFERENT,
    "does_not_assemble": Standing.REJECTED,
    "empty": Standing.REJECTED,
    "forgets_the_answer": Standing.DIFFERENT,
    "right": Standing.EQUIVALENT,
    "wrong_on_equal": Standing.DIFFERENT,
    "wrong_on_negatives": Standing.DIFFERENT,
    "wrong_on_one_number": Standing.DIFFERENT,
}


def grade_max(**more: object) -> Grades:
    grading = GradeOptions(tests=SUBMISSIONS / "max_tests.txt", **more)  # type: ignore[arg-type]
    return grade(str(SUBMISSIONS / "max_reference.asm"), SUBMISSIONS / "max", grading=grading)


@pytest.fixture(scope="module")
def graded() -> Grades:
    return grade_max(jobs=2)


def row_of(grades: Grades, name: str) -> Row:
    return next(row for row in grades.rows if row.name == name)


@pytest.mark.parametrize(("name", "standing"), MAX.items())
def test_standings(graded: Grades, name: str, standing: Standing) -> None:
    assert row_of(graded, name).answer.standing is standing


def test_an_infinite_loop_is_never_called_right_or_wrong(graded: Grades) -> None:
    answer = row_of(graded, "infinite_loop").answer
    assert answer.standing in (Standing.BOUNDED, Standing.UNKNOWN)
    assert answer.not_stopping.endswith("10000 steps")
    assert any(said in answer.why for said in ("; no difference in ", "; no run of both was compared"))


def test_rows_are_sorted_and_complete(graded: Grades) -> None:
    assert [row.name for row in graded.rows] == sorted([*MAX, "infinite_loop"])
    assert not graded.interrupted
    assert sum(graded.counts().values()) == graded.total == 11


def test_what_does_not_assemble_names_the_line(graded: Grades) -> None:
    why = row_of(graded, "does_not_assemble").answer.why
    assert why.startswith("did not assemble: line 7: unknown mnemonic 'move'")
    assert row_of(graded, "empty").answer.why.startswith("did not assemble: it has no instructions")


def test_the_separating_input_of_one_number(graded: Grades) -> None:
    answer = row_of(graded, "wrong_on_one_number").answer
    assert answer.inputs[0] == ("$1", "2147483647 (0x7fffffff)")
    assert (answer.observables[0].what, answer.observables[0].reference) == ("return value", "2147483647 (0x7fffffff)")


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("wrong_on_one_number", "        beq  $1, $6, none"),
        ("wrong_on_equal", "        bne  $4, $0, first"),
        ("divides_by_zero", "        div  $1, $2"),
        ("forgets_the_answer", "        jr   $31"),
    ],
)
def test_the_divergent_line(graded: Grades, name: str, line: str) -> None:
    row = row_of(graded, name)
    (divergent,) = [shown for shown in row.listing if shown.divergent]
    assert divergent.text == line
    assert divergent.label == str(row.line)
    assert divergent.times == 1


def test_lines_that_were_not_executed_are_not_marked(graded: Grades) -> None:
    executed = [line.text.split()[0] for line in row_of(graded, "divides_by_zero").listing if line.times]
    assert executed == ["div"]


def test_the_same_code_is_answered_once(graded: Grades) -> None:
    right, copy = row_of(graded, "right"), row_of(graded, "copy_of_right")
    assert right.answer is copy.answer
    assert (right.same_code_as, copy.same_code_as) == ("copy_of_right", None)


def test_the_same_code_has_lines_of_its_own(tmp_path: Path) -> None:
    text = (SUBMISSIONS / "max" / "wrong_on_equal.asm").read_text()
    (tmp_path / "a.asm").write_text(text)
    (tmp_path / "b.asm").write_text("; another comment\n\n" + text)
    first, second = grade(str(SUBMISSIONS / "max_reference.asm"), tmp_path).rows
    assert (first.line, second.line) == (5, 7)
    assert second.same_code_as == "a"


def test_submissions_with_the_same_cause_form_a_group(tmp_path: Path) -> None:
    wrong = "; {}\nsltu $4, $1, $2\nbne $4, $0, second\nadd $3, $1, $0\njr $31\n{}second: add $3, $2, $0\njr $31\n"
    (tmp_path / "ann.asm").write_text(wrong.format("unsigned", ""))
    (tmp_path / "bob.asm").write_text(wrong.format("unsigned too", "add $0, $0, $0\n"))
    (tmp_path / "cyd.asm").write_text("slt $4, $1, $2\nbne $4, $0, second\nadd $3, $1, $0\njr $31\nsecond: jr $31\n")
    graded = grade(str(SUBMISSIONS / "max_reference.asm"), tmp_path)
    groups = [(group.kind, group.place, group.members) for group in graded.causes()]
    assert groups[0] == ("comparison", "max_reference.asm:2", ("ann", "bob"))
    assert sorted(name for _, _, members in groups for name in members) == ["ann", "bob", "cyd"]


def test_a_jump_out_of_the_program_diverges_at_the_jump(tmp_path: Path) -> None:
    (tmp_path / "a.asm").write_text("add $3, $1, $0\njr $1\n")
    (row,) = grade(str(SUBMISSIONS / "max_reference.asm"), tmp_path).rows
    assert row.line == 2


def test_an_answer_does_not_depend_on_the_name_of_the_file(tmp_path: Path) -> None:
    """A program that writes to its own code has no verdict, and the reason names the program."""
    for name in ("zoe", "anna"):
        (tmp_path / f"{name}.asm").write_text("sw $1, 8($0)\nadd $0, $0, $0\nadd $3, $1, $2\njr $31\n")
    rows = grade(str(SUBMISSIONS / "max_reference.asm"), tmp_path).rows
    assert {row.answer.standing for row in rows} == {Standing.UNKNOWN}
    assert not any("zoe" in row.answer.why or "anna" in row.answer.why for row in rows)


def test_fixed_tests_and_what_they_missed(graded: Grades) -> None:
    assert {row.name for row in graded.rows if row.missed_by_tests} == {"by_difference", "wrong_on_one_number"}
    tests = row_of(graded, "wrong_on_equal").answer.tests
    assert tests is not None
    assert [failure.number for failure in tests.failures] == [4]
    assert (tests.failures[0].given, tests.failures[0].submission) == ("$1 = 5, $2 = 5", "returns 0")
    stuck = row_of(graded, "infinite_loop").answer.tests
    assert stuck is not None
    assert stuck.failures[0].submission == "does not stop within 10000 steps"


def test_the_same_rows_whatever_the_number_of_jobs(graded: Grades) -> None:
    assert grades_as_csv(grade_max(jobs=1)) == grades_as_csv(graded) == grades_as_csv(grade_max(jobs=5))


def test_loops() -> None:
    grades = grade(str(SUBMISSIONS / "sum_reference.asm"), SUBMISSIONS / "sum", Options(budget=5))
    standings = {row.name: row.answer.standing for row in grades.rows}
    assert standings["leaves_out_the_last"] is Standing.DIFFERENT
    assert standings["formula"] is Standing.DIFFERENT
    assert standings["counts_up"] is not Standing.DIFFERENT
    assert standings["wrong_on_negatives"] not in (Standing.EQUIVALENT,)
    assert "does not stop" not in row_of(grades, "counts_up").answer.not_stopping
    assert row_of(grades, "never_stops").answer.not_stopping


def test_c_submissions(tmp_path: Path) -> None:
    (tmp_path / "reference.c").write_text("int twice(int x) { return x + x; }\n")
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "right.c").write_text("int twice(int x) { return 2 * x; }\n")
    (folder / "wrong.c").write_text("int twice(int x) { return x > 1000000 ? 0 : 2 * x; }\n")
    (folder / "broken.c").write_text('#include "/etc/hostname"\nint twice(int x) { return 2 * x }\n')
    (folder / "misspelt.c").write_text("int twise(int x) { return 2 * x; }\nint other(int x) { return x; }\n")
    (folder / "assembly.s").write_text("twice: lea (%rdi,%rdi), %eax\nret\n")
    named = LoadOptions(function="twice")
    rows = {row.name: row for row in grade(str(tmp_path / "reference.c"), folder, None, named, named).rows}
    assert rows["right"].answer.standing is Standing.EQUIVALENT
    assert rows["wrong"].answer.standing is Standing.DIFFERENT
    assert any(line.divergent for line in rows["wrong"].listing)
    assert rows["broken"].answer.why.startswith("did not compile")
    assert rows["misspelt"].answer.why.startswith("cannot be compared: no function 'twice' in it")
    assert rows["assembly"].answer.standing is Standing.EQUIVALENT


def test_a_compiler_error_quotes_no_other_file(tmp_path: Path) -> None:
    (tmp_path / "reference.c").write_text("int f(int x) { return x; }\n")
    (tmp_path / "secret").write_text("the password is swordfish\n")
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.c").write_text(f'#include "{tmp_path}/secret"\nint f(int x) {{ return x; }}\n')
    (row,) = grade(str(tmp_path / "reference.c"), folder).rows
    assert row.answer.standing is Standing.REJECTED
    assert "swordfish" not in str(row)


def test_toy_submissions(tmp_path: Path) -> None:
    examples = Path(__file__).parents[2] / "examples"
    (tmp_path / "a.toy").write_text((examples / "clamp_rewrite.toy").read_text())
    (row,) = grade(str(examples / "clamp.toy"), tmp_path).rows
    assert row.answer.standing is Standing.EQUIVALENT


def test_a_reference_that_does_not_assemble(tmp_path: Path) -> None:
    (tmp_path / "reference.asm").write_text("add $3\n")
    with pytest.raises(UserError, match=r"reference\.asm:1: add takes"):
        grade(str(tmp_path / "reference.asm"), SUBMISSIONS / "max")


def test_a_precondition_that_makes_no_sense() -> None:
    with pytest.raises((UserError, Unsupported)):
        grade(str(SUBMISSIONS / "max_reference.asm"), SUBMISSIONS / "max", Options(assume=("nonsense >",)))
