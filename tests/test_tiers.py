"""The quick tier is what it says: a part of everything, with a question for every engine and machine."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conftest import SLOW
from test_pairs import NAMED, QUICK

TESTS = Path(__file__).parent
DOCS = TESTS.parent / "docs"
"""With a page an engine and a page a machine."""


@pytest.mark.parametrize("name", SLOW)
def test_what_is_left_out_exists(name: str) -> None:
    file, _, function = name.partition("::")
    function, _, case = function.rstrip("]").partition("[")
    text = (TESTS / file).read_text()
    assert re.search(rf"^def {function}\(" if function else "^def test_", text, re.MULTILINE)
    assert not case or case in NAMED  # cases are named after pairs


def test_every_engine_answers_a_question() -> None:
    pages = {page.stem for page in (DOCS / "engines").glob("*.md")}
    assert set(QUICK.values()) >= pages - {
        "explain"
    }  # which answers no question, but says why an answer is `different`


def test_every_machine_is_asked_about() -> None:
    asked = {NAMED[name].path.parent.name for name in QUICK}
    assert asked >= {page.stem for page in (DOCS / "machines").glob("*.md")}


def test_proofs_and_their_twins_are_asked() -> None:
    proved = [name for name in QUICK if NAMED[name].verdict == "equivalent"]
    assert proved
    assert [name for name in proved if f"{name}-broken" not in QUICK] == []
    assert not [name for name in QUICK if {"long", "todo"} & NAMED[name].fields.keys()]
