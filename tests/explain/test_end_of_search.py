"""What is said if the search ends without a cause."""

from __future__ import annotations

from pathlib import Path

import pytest

from isoform import compare
from isoform.explain.proof import Fixed
from isoform.model.errors import OutOfLimits
from isoform.model.verdict import Different
from isoform.report.causes import sentences_of

TARGET = "int f(int x, int y) { return x * 3 + (y >> 2); }"


def found(folder: Path) -> Different:
    for name, text in (("a.c", TARGET), ("b.c", TARGET.replace("3", "5"))):
        (folder / name).write_text(text)
    verdict = compare(f"{folder}/a.c:f", f"{folder}/b.c:f", cc="cc", budget=20)
    assert isinstance(verdict, Different)
    return verdict


def test_a_search_that_is_ended_says_which_candidates_are_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def ended(self: Fixed, *arguments: object) -> bool:
        raise OutOfLimits("the budget ran out")

    monkeypatch.setattr(Fixed, "holds", ended)
    root = found(tmp_path).root_cause
    assert root is not None
    assert root.strength is None
    assert root.left
    first, *others = sentences_of(root)
    assert first.startswith("no cause found: the budget ran out; ")
    assert "left" in first
    assert len(others) == len(root.left)


def test_a_search_without_an_answer_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Fixed, "holds", lambda self, *arguments: False)
    root = found(tmp_path).root_cause
    assert root is not None
    assert next(iter(sentences_of(root))).startswith("no single change was shown to make the two equivalent; ")


def test_candidates_that_a_filter_leaves_out_are_not_said_to_be_none(tmp_path: Path) -> None:
    for name, text in (("a.c", TARGET), ("b.c", TARGET.replace("3", "5"))):
        (tmp_path / name).write_text(text)
    verdict = compare(f"{tmp_path}/a.c:f", f"{tmp_path}/b.c:f", cc="cc", budget=20, cause_filter="load")
    assert isinstance(verdict, Different)
    assert verdict.root_cause is not None
    assert list(sentences_of(verdict.root_cause)) == [
        "no single change among those that --cause-filter keeps makes the two equivalent, not even on this path."
    ]
