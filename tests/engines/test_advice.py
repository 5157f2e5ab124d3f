"""Preconditions that are offered where a question stays open: which, and only if they were tried."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from isoform.borders.question import Options, Question
from isoform.engines.advice import LEAST_SECONDS, small_counts, with_advice
from isoform.engines.answer import lifted, subject
from isoform.engines.pose import pose
from isoform.load.open import open_pair
from isoform.model.budget import Budget
from isoform.model.verdict import Bounded, Unknown, Verdict

REVERSED = """
unsigned f(unsigned code, int len) {
    unsigned res = 0;
    do { res |= code & 1; code >>= 1, res <<= 1; } while (--len > 0);
    return res >> 1;
}
"""
WRONG_FROM_TEN = REVERSED.replace("unsigned res = 0;", "unsigned res = len == 10;")
WHY = "it was not found out"


def asked(tmp_path: Path, source: str, other: str, seconds: float = 20.0) -> tuple[Question, Verdict]:
    """A question, and a verdict that leaves it open, after advice was looked for."""
    paths = []
    for name, text in (("a", source), ("b", other)):
        (tmp_path / f"{name}.c").write_text(text)
        paths.append(f"{tmp_path / f'{name}.c'}:f")
    loaded = open_pair(paths[0], paths[1])
    target, rewrite = (lifted(side) for side in loaded)
    question = pose(target, rewrite, Options(), Budget(seconds))
    verdict = Bounded(
        subject(loaded[0]), subject(loaded[1]), question.contract, "concolic", 1.0, bound={"unroll": 16}, why=WHY
    )
    return question, with_advice(question, verdict, partial(pose, target, rewrite), Budget(seconds))


def test_a_precondition_is_offered_with_which_it_is_proved(tmp_path: Path) -> None:
    _, verdict = asked(tmp_path, REVERSED, REVERSED.replace("res <<= 1", "res += res"))
    assert isinstance(verdict, Bounded)
    assert verdict.why == WHY
    assert verdict.helps.startswith('with --assume "0 <= len && len <= 15" it is proved in ')


def test_none_is_offered_with_which_it_is_not_proved(tmp_path: Path) -> None:
    _, verdict = asked(tmp_path, REVERSED, WRONG_FROM_TEN)
    assert isinstance(verdict, Bounded)
    assert verdict.helps == ""


def test_nothing_is_tried_without_time(tmp_path: Path) -> None:
    _, verdict = asked(tmp_path, REVERSED, REVERSED, LEAST_SECONDS / 2)
    assert isinstance(verdict, Bounded)
    assert verdict.helps == ""


def test_counts_are_told_from_other_numbers(tmp_path: Path) -> None:
    source = "unsigned f(unsigned start, unsigned n) { do { start *= 3; start ^= n; } while (--n); return start; }"
    question, _ = asked(tmp_path, source, source, 0.0)
    assert small_counts(question) == "1 <= n && n <= 15"  # with 0 the loop iterates 2^32 times


def test_code_without_counts_has_no_such_precondition(tmp_path: Path) -> None:
    source = "unsigned f(unsigned n) { return n * n; }"
    question, _ = asked(tmp_path, source, source, 0.0)
    assert small_counts(question) is None


def test_what_helped_before_is_still_said(tmp_path: Path) -> None:
    question, verdict = asked(tmp_path, REVERSED, REVERSED.replace("res <<= 1", "res += res"), 0.0)
    again = Unknown(verdict.target, verdict.rewrite, question.contract, "loops", 1.0, why=WHY, helps="more tests")
    advised = with_advice(question, again, lambda options, budget: _with(question, options), Budget(20.0))
    assert isinstance(advised, Unknown)
    assert advised.helps.endswith("; else more tests")


def _with(question: Question, options: Options) -> Question:
    return pose(question.target, question.rewrite, options, Budget(20.0))
