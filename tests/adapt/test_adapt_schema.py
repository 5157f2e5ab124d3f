"""`docs/adapt.schema.json` describes every answer of `adapt --json`, and nothing else. Every question under
`tests/pairs/adapt` is held against it too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from isoform.cli.verbs import application

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "docs" / "adapt.schema.json").read_text(encoding="utf-8"))
SOURCE = "int f(int x) { return x + 3; } int g(int x, int y) { return x + y; } int h(int x) { return x / 7; }"


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    path = tmp_path_factory.mktemp("schema") / "three.c"
    path.write_text(SOURCE)
    found = {}
    for rewrite, word in (("g", "adaptor"), ("h", "none")):
        command = ["adapt", f"{path}:f", f"{path}:{rewrite}", "--family", "substitution", "--json"]
        found[word] = json.loads(CliRunner().invoke(application("adapt"), command).stdout)
    return found


def valid(answer: Any) -> Any:
    return pytest.importorskip("fastjsonschema").validate(SCHEMA, answer)


@pytest.mark.parametrize("word", ["adaptor", "none"])
def test_schema_describes_answers(word: str, answers: dict[str, Any]) -> None:
    assert answers[word]["verdict"] == word
    valid(answers[word])


@pytest.mark.parametrize(
    "change",
    [{"verdict": "unknown"}, {"family": "other"}, {"depth": 5}, {"extra": 1}, {"adaptor": None}, {"why": "a reason"}],
)
def test_schema_refuses_what_is_no_answer(change: dict[str, Any], answers: dict[str, Any]) -> None:
    schema = pytest.importorskip("fastjsonschema")
    with pytest.raises(schema.JsonSchemaValueException):
        valid({**answers["adaptor"], **change})
