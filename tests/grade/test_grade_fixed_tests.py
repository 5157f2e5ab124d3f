"""The file of fixed tests: both formats, and every way to get it wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from isoform.borders.question import Options
from isoform.grade.fixed_tests import read_tests
from isoform.grade.grade import GradeOptions, grade
from isoform.model.errors import UserError
from isoform.model.grades import Standing

SUBMISSIONS = Path(__file__).parent / "submissions"


def file_of(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "tests.txt"
    path.write_text(text)
    return path


def run_with(tmp_path: Path, text: str, **options: object) -> None:
    grading = GradeOptions(tests=file_of(tmp_path, text), jobs=1)
    grade(str(SUBMISSIONS / "max_reference.asm"), SUBMISSIONS / "max", Options(budget=5, **options), grading=grading)  # type: ignore[arg-type]


def test_lines_of_values_and_names(tmp_path: Path) -> None:
    tests = read_tests(file_of(tmp_path, "# all\n1 -2\n0x10, 3  # hex\n\n$2=5 $1=4\n"))
    assert [test.values for test in tests] == [(1, -2), (16, 3), ()]
    assert tests[2].named == (("$2", 5), ("$1", 4))
    assert tests[2].where.endswith("line 5")


def test_json(tmp_path: Path) -> None:
    tests = read_tests(file_of(tmp_path, '[[1, "0x10"], {"$1": 3, "$2": -4}]'))
    assert tests[0].values == (1, 16)
    assert tests[1].named == (("$1", 3), ("$2", -4))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no tests"),
        ("# only a comment\n", "has no tests"),
        ("1 two\n", "line 1: 'two' is not a number"),
        ("1 $2=3\n", "line 1 mixes"),
        ("$1=1 $1=2\n", "a parameter twice"),
        ("[1, 2]", "test 1 is neither a list"),
        ("[[1.5, 2]]", "1.5 is not a whole number"),
        ("[[true, 2]]", "true is not a whole number"),
        ("[[1, 2", "starts like JSON but is not"),
        ("[" * 100_000, "starts like JSON but is not"),
        ("1 2\n" * 10_001, "10000 is the most"),
    ],
)
def test_a_file_that_is_wrong(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        read_tests(file_of(tmp_path, text))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read: No such file"):
        read_tests(tmp_path / "missing.txt")


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "tests.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UserError, match="not text in UTF-8"):
        read_tests(tmp_path / "tests.txt")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1\n", r"line 1 gives 1 values, but the reference takes 2 \(\$1, \$2\)"),
        ("1 2 3\n", "gives 3 values"),
        ("$1=1 $3=2\n", r"gives \$1, \$3, but the reference takes 2"),
        ("1 0x100000000\n", "4294967296 does not fit the 32 bits of"),
    ],
)
def test_values_that_do_not_fit_the_reference(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        run_with(tmp_path, text)


def test_a_test_that_the_preconditions_exclude(tmp_path: Path) -> None:
    path = tmp_path / "reference.c"
    path.write_text("int f(int x) { return x; }\n")
    grading = GradeOptions(tests=file_of(tmp_path, "-1\n"), jobs=1, pattern="*.c")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.c").write_text("int f(int x) { return x; }\n")
    with pytest.raises(UserError, match="line 1 is an input that --assume excludes"):
        grade(str(path), tmp_path / "in", Options(assume=("x > 0",)), grading=grading)


def test_a_test_on_which_the_reference_does_not_stop(tmp_path: Path) -> None:
    grading = GradeOptions(tests=file_of(tmp_path, "2 1\n1000000 1\n"), jobs=1)
    with pytest.raises(UserError, match="line 2: the reference does not stop within 10000 steps"):
        grade(str(SUBMISSIONS / "sum_reference.asm"), SUBMISSIONS / "sum", grading=grading)


def test_a_test_that_no_engine_thought_of_is_a_witness(tmp_path: Path) -> None:
    """With a bound of no iterations the engines see nothing of a loop, and 24 random tests miss a single number."""
    folder = tmp_path / "in"
    folder.mkdir()
    text = (SUBMISSIONS / "sum" / "counts_up.asm").read_text()
    trap = "lis $7\n.word 1234577\nbne $2, $7, ok\nadd $3, $2, $0\nok: jr $31\n"
    (folder / "a.asm").write_text(text.replace("done:   jr   $31\n", f"done: {trap}"))
    grading = GradeOptions(tests=file_of(tmp_path, "3 1234577\n"), jobs=1)
    from isoform.borders.question import Engine

    options = Options(engine=Engine.TESTING, budget=2)
    (row,) = grade(str(SUBMISSIONS / "sum_reference.asm"), folder, options, grading=grading).rows
    assert row.answer.standing is Standing.DIFFERENT
    assert int(dict(row.answer.inputs)["$2"].split()[0]) == 1234577
    assert row.answer.engine == "fixed tests"
    assert row.answer.tests is not None
    assert (row.answer.tests.passed, row.answer.tests.ran) == (0, 1)
