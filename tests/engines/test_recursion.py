"""Code in the place of deeper calls: what is put there, and the certificates of what it proves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from isoform import compare
from isoform.api import check
from isoform.borders.question import Options
from isoform.check.required import goal_problems
from isoform.engines.answer import lifted
from isoform.engines.pose import pose
from isoform.lift.function import Call, Function, Unfolded
from isoform.lift.unfold import deeper_calls, final_calls, unfolded
from isoform.load.open import LoadOptions, open_pair
from isoform.model.budget import Budget
from isoform.model.errors import Unsupported

PLAIN = LoadOptions(cflags=("-O0",))
SOURCE = """
unsigned one(unsigned x) { return x == 0 ? 0 : one(x - 1) + 1; }
unsigned two(unsigned x) { return x < 2 ? x : two(x - 2) + 2; }
unsigned same(unsigned x) { return x; }
unsigned twice(unsigned x) { return x < 2 ? x : twice(x - 1) + twice(x - 2); }
static const unsigned table[4] = {3, 1, 4, 1};
unsigned tabled(unsigned x) { return table[x & 3]; }
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "f.c"
    path.write_text(SOURCE)
    return path


def functions(source: Path, target: str, rewrite: str) -> tuple[Function, Function]:
    loaded = open_pair(f"{source}:{target}", f"{source}:{rewrite}", PLAIN, PLAIN)
    budget = Budget(20)
    question = pose(lifted(loaded[0], True, budget), lifted(loaded[1], True, budget), Options(), budget)
    return question.target, question.rewrite


def marks(function: Function) -> set[Unfolded | None]:
    return {block.exit.unfolded for block in function.blocks.values() if isinstance(block.exit, Call)}


def test_own_code_is_the_same_function_one_level_deeper(source: Path) -> None:
    function, _ = functions(source, "one", "same")
    made = unfolded(function, function, deeper_calls(function))
    assert len(deeper_calls(function)) == len(deeper_calls(made)) == 1
    assert len(made.blocks) == 2 * len(function.blocks) + 1
    assert marks(made) == {None, Unfolded.OWN_LEFT}


def test_the_other_side_is_marked_where_it_begins_and_ends(source: Path) -> None:
    function, other = functions(source, "one", "same")
    made = unfolded(function, other, deeper_calls(function))
    assert not deeper_calls(made)
    assert marks(made) == {Unfolded.ENTERED, Unfolded.LEFT}


def test_only_the_last_of_two_calls_is_final(source: Path) -> None:
    function, _ = functions(source, "twice", "same")
    assert len(deeper_calls(function)) == 2
    assert len(final_calls(function)) == 1


def test_code_of_another_file_that_names_constants_is_refused(tmp_path: Path, source: Path) -> None:
    other_file = tmp_path / "g.c"
    other_file.write_text(SOURCE + "int more;")
    loaded = open_pair(f"{source}:one", f"{other_file}:tabled", PLAIN, PLAIN)
    target, rewrite = (lifted(side, True, Budget(20)) for side in loaded)
    with pytest.raises(Unsupported, match="of its own file"):
        unfolded(target, rewrite, deeper_calls(target))


@pytest.fixture
def certificate(tmp_path: Path, source: Path) -> Path:
    folder = tmp_path / "certificate"
    verdict = compare(f"{source}:one", f"{source}:same", cert=str(folder), engine="recursion", cflags="-O0")
    assert verdict.verdict == "equivalent"
    return folder


def test_certificates_are_confirmed(certificate: Path, source: Path) -> None:
    report = check(certificate, f"{source}:one", f"{source}:same", PLAIN, PLAIN)
    assert report.ok, report.problems
    assert report.code_compared


@pytest.mark.parametrize(
    "changed",
    [
        {"rule": "guessed"},
        {"side": None},
        {"side": True},
        {"rule": "unfolded"},
        {"levels": [0, 1]},
        {"levels": [1]},
        {"engine": "concolic"},
    ],
)
def test_a_rule_that_proves_nothing_is_refused(certificate: Path, changed: dict[str, Any]) -> None:
    index = json.loads((certificate / "index.json").read_text())
    assert not goal_problems(index)
    index["recursion"] |= changed
    assert goal_problems(index)


def test_the_induction_is_assumed_and_what_it_needs_is_shown(certificate: Path) -> None:
    index = json.loads((certificate / "index.json").read_text())
    for name in ("assumptions", "obligations"):
        kept = [item for item in index[name] if item["name"] not in ("recursion-by-induction", "restored")]
        assert len(kept) < len(index[name])
        assert goal_problems({**index, name: kept})
