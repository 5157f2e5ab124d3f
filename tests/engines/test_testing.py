"""What the testing engine makes of its runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from isoform import Different, compare
from isoform.borders.question import Options, Question
from isoform.borders.settle import settle
from isoform.engines import testing
from isoform.engines.answer import lifted
from isoform.engines.finding import Failed, Found, WithinBound
from isoform.engines.witness import NotConfirmed
from isoform.load.open import open_pair
from isoform.model.budget import Budget
from isoform.model.verdict import Witness

SAME = ("add $3, $1, $2\njr $31\n", "add $3, $2, $1\njr $31\n")
OTHER = ("add $3, $1, $2\njr $31\n", "sub $3, $1, $2\njr $31\n")
ENDLESS = ("loop: beq $0, $0, loop\njr $31\n", "loop: beq $0, $0, loop\njr $31\n")


def question(folder: Path, texts: tuple[str, str], **options: object) -> Question:
    paths = [folder / name for name in ("a.asm", "b.asm")]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    sides = [lifted(side) for side in open_pair(str(paths[0]), str(paths[1]))]
    return settle(sides[0], sides[1], Options(**options))  # type: ignore[arg-type]


@pytest.fixture
def witness(tmp_path: Path) -> Witness:
    question(tmp_path, OTHER)
    verdict = compare(tmp_path / "a.asm", tmp_path / "b.asm")
    assert isinstance(verdict, Different)
    return verdict.witness


def test_a_witness_is_found_and_nothing_else_tried(tmp_path: Path) -> None:
    finding = testing.Testing().answer(question(tmp_path, OTHER), Budget(10))
    assert isinstance(finding, Found)
    assert finding.said.startswith("a difference at test ")
    assert finding.witness.replayed_on


def test_no_difference_is_a_bound_with_the_number_of_tests(tmp_path: Path) -> None:
    finding = testing.Testing(thorough=False).answer(question(tmp_path, SAME, fuel=500), Budget(10))
    assert isinstance(finding, WithinBound)
    assert finding.bound == {"tests": 24, "undecided": 0, "fuel": 500}
    assert finding.said == "no difference in 24 tests"
    assert "test" in finding.timings


def test_what_never_ends_is_given_up_soon(tmp_path: Path) -> None:
    tested = testing.run_tests(question(tmp_path, ENDLESS, fuel=50), Budget(10))
    assert (tested.ran, tested.undecided) == (testing.STUCK_TESTS, testing.STUCK_TESTS)


def test_each_outcome_of_tests_is_a_finding(witness: Witness) -> None:
    assert testing._finding(testing.Tested(witness, None, 3, 0), 100) == Found(witness)
    unconfirmed = NotConfirmed("the difference does not show", is_bug=False)
    assert testing._finding(testing.Tested(None, unconfirmed, 3, 0), 100) == Failed("the difference does not show")
    none = testing._finding(testing.Tested(None, None, 0, 0), 100)
    assert isinstance(none, Failed)
    assert none.why == "no test satisfies the preconditions"
    stuck = testing._finding(testing.Tested(None, None, 4, 4, "out of fuel"), 100)
    assert isinstance(stuck, Failed)
    assert stuck.why == "in none of 4 tests did both end (out of fuel)"
    some = testing._finding(testing.Tested(None, None, 4, 1, "out of fuel"), 100)
    assert isinstance(some, WithinBound)
    assert some.why.startswith("no difference in 3 tests (1 more were undecided)")
