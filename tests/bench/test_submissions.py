"""The folder of submissions that `grade` is tried on holds what it says it holds."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import mean

import pytest

from isoform.load.text import load_text
from isoform.model.errors import UserError
from minicompiler.interpret import Ending
from minicompiler.submissions import (
    Expected,
    Submissions,
    assembled,
    instruction_count,
    make_submissions,
    sample_inputs,
)
from minicompiler.tasks import TASKS

COUNT = 60


@pytest.fixture(scope="module", params=range(len(TASKS)))
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Submissions:
    return make_submissions(tmp_path_factory.mktemp("course"), COUNT, request.param)


def test_all_are_written(made: Submissions) -> None:
    assert sorted(path.name for path in made.folder.iterdir()) == sorted(made.by_name)
    assert len(made.by_name) == COUNT
    said = json.loads((made.folder.parent / "expected.json").read_text())
    assert {name: each["expected"] for name, each in said.items()} == {
        name: each.expected.value for name, each in made.by_name.items()
    }


def test_all_kinds_are_there(made: Submissions) -> None:
    kinds = {submission.expected for submission in made.by_name.values()}
    assert kinds >= {Expected.RIGHT, Expected.WRONG, Expected.NOT_ASSEMBLING, Expected.ENDLESS}


def test_they_have_about_a_hundred_instructions(made: Submissions) -> None:
    sizes = [
        instruction_count(s.content.decode())
        for s in made.by_name.values()
        if s.expected is not Expected.NOT_ASSEMBLING
    ]
    assert 75 < mean(sizes) < 175


def test_each_is_as_expected(made: Submissions) -> None:
    reference = assembled(made.reference.read_text())
    for name, submission in made.by_name.items():
        if submission.expected is Expected.NOT_ASSEMBLING:
            with pytest.raises(UserError):
                load_text("cs241", made.folder / name)
            continue
        ends = assembled(submission.content.decode())
        if submission.expected is Expected.RIGHT:
            assert all(ends(*pair) == reference(*pair) for pair in sample_inputs(3, 8)), name
        elif submission.expected is Expected.WRONG:
            assert submission.witness is not None
            assert ends(*submission.witness) != reference(*submission.witness), name
        elif submission.expected is Expected.ENDLESS:
            assert ends(3, 4) is Ending.ENDLESS, name


def test_they_are_a_function_of_the_seed(tmp_path: Path) -> None:
    contents = [
        {name: s.content for name, s in make_submissions(tmp_path / str(number), 12, seed).by_name.items()}
        for number, seed in enumerate((5, 5, 6))
    ]
    assert contents[0] == contents[1]
    assert contents[0] != contents[2]


def test_a_few_are_possible(tmp_path: Path) -> None:
    assert len(make_submissions(tmp_path, 2, 1).by_name) == 2
