"""Every question under `tests/pairs/adapt`, asked through the command line as a user would ask it; `bench/adaptfile.py`
describes the files."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from adaptfile import EXPECTATIONS, AdaptQuestion, read_questions
from isoform import api
from isoform.cli.verbs import application
from isoform.model.adaptor import AdaptorFound, Answered
from isoform.model.expression import evaluate, signed

REQUIRED = {"name", "because", "a", "b"}
OPTIONAL = {"build", "adapt", "long"}
EXIT_CODES = {"adaptor": 0, "fits": 0, "none": 1, "unknown": 3, "trouble": 2}
QUICK = ("clear-lowest", "upper-lower", "killpg", "isolate-rightmost-0", "isolate-rightmost-0-broken")
"""What the quick tier asks."""
ALL = read_questions()
SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "adapt.schema.json").read_text(encoding="utf-8"))
TWIN = "-broken"
SAMPLES = 400


def parameter(question: AdaptQuestion) -> Any:
    marks = [] if question.name in QUICK else [pytest.mark.slow]
    if "long" in question.fields:
        marks.append(pytest.mark.long)
    if question.missing:
        marks.append(pytest.mark.skip(reason=f"needs {', '.join(question.missing)}"))
    return pytest.param(question, id=question.name, marks=marks)


@pytest.mark.parametrize("question", [*map(parameter, ALL)])
def test_question(question: AdaptQuestion, monkeypatch: pytest.MonkeyPatch) -> None:
    answers: list[Answered] = []
    ask = api.adapt

    def remembered(*given: Any) -> Answered:
        answers.append(ask(*given))
        return answers[-1]

    monkeypatch.setattr(api, "adapt", remembered)
    result = CliRunner().invoke(application("adapt"), question.command("--json"))
    said = json.loads(result.stdout)
    if question.expectation != "trouble":
        pytest.importorskip("fastjsonschema").validate(SCHEMA, said)
    assert result.exit_code == EXIT_CODES[question.expectation], said
    expected = question.fields[question.expectation]
    match question.expectation:
        case "adaptor":
            assert shown(said["adaptor"]) in expected.split(" or ")
            assert said["proof"]["obligations"]
        case "fits":
            require_fits(answers[0], expected)
        case "none":
            assert said["verdict"] == "none"
            assert said["adaptor"] is None
        case "unknown":
            assert expected in said["why"]
        case "trouble":
            assert expected in said["error"]


def shown(adaptor: dict[str, Any]) -> str:
    arguments = [f"{name} = {text}" for name, text in adaptor["arguments"].items()]
    return ", ".join([*arguments, *([f"return {adaptor['return']}"] if adaptor["return"] else [])])


def require_fits(answer: Answered, expected: str) -> None:
    """That the adaptor has the expected values, computed apart from isoform."""
    assert isinstance(answer, AdaptorFound)
    assert answer.adaptor is not None
    assigned, _, condition = expected.partition(" where ")
    name, _, text = assigned.partition(" = ")
    found = dict(answer.adaptor.arguments)[name]
    parameters = answer.asked.signatures[0].parameters
    chosen = random.Random(1)
    tried = 0
    while tried < SAMPLES:
        bits = chosen.choice([4, 8, 16, 32])
        values = {p.name: chosen.getrandbits(min(bits, p.type.bits)) for p in parameters}
        numbers = {p.name: signed(values[p.name], p.type.bits) for p in parameters}
        if condition and not eval(condition, {}, numbers):
            continue
        tried += 1
        assert evaluate(found, values) == eval(text, {}, numbers) % (1 << found.bits), numbers


def test_files_are_complete() -> None:
    for question in ALL:
        keys = set(question.fields)
        assert keys >= REQUIRED, question.name
        assert keys <= {*REQUIRED, *OPTIONAL, *EXPECTATIONS}, question.name
        assert len(keys & set(EXPECTATIONS)) == 1, question.name
    assert not [name for name, count in Counter(q.name for q in ALL).items() if count > 1]


def test_every_adaptor_has_a_twin() -> None:
    named = {question.name: question for question in ALL}
    for question in ALL:
        if question.expectation not in ("adaptor", "fits") or question.name.endswith(TWIN):
            continue
        twin = named[question.name + TWIN]
        assert twin.expectation in ("none", "adaptor")
        assert twin.fields[twin.expectation] != question.fields[question.expectation]
        assert (twin.fields["a"], twin.fields["b"], twin.fields.get("adapt")) != (
            question.fields["a"],
            question.fields["b"],
            question.fields.get("adapt"),
        )
