"""`docs/verdict.schema.json` describes every answer of `--json`, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import report_samples as samples

from isoform.cli.verbs import answered
from isoform.report.json import verdict_as_json

ROOT = Path(__file__).parent.parent.parent
SCHEMA = json.loads((ROOT / "docs" / "verdict.schema.json").read_text(encoding="utf-8"))
VERDICTS = (samples.equivalent(), samples.different(), samples.bounded(), samples.unknown())


def valid(answer: Any) -> Any:
    return pytest.importorskip("fastjsonschema").validate(SCHEMA, answer)


@pytest.mark.parametrize("verdict", VERDICTS, ids=lambda verdict: verdict.word)
def test_schema_describes_every_verdict(verdict: Any) -> None:
    valid(verdict_as_json(verdict))


@pytest.mark.parametrize(
    "change",
    [
        {"verdict": "same"},
        {"verdict": "equivalent"},
        {"witness": None},
        {"seconds": "1"},
        {"extra": 1},
        {"why": "a reason that differences do not have"},
    ],
)
def test_schema_refuses_what_is_no_verdict(change: dict[str, Any]) -> None:
    schema = pytest.importorskip("fastjsonschema")
    with pytest.raises(schema.JsonSchemaValueException):
        valid({**verdict_as_json(samples.different()), **change})


@pytest.mark.parametrize("engine", ["auto", "testing", "concolic"])
@pytest.mark.parametrize("rewrite", ["bithack", "short_mask"])
def test_schema_describes_what_the_command_prints(
    rewrite: str, engine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = ROOT / "examples" / "abs.c"
    more = ["--budget", "1"] if engine == "testing" else []  # it tests for as long as it may
    sides = [f"{file}:{name}" for name in ("branchy", rewrite)]
    answered(["compare", *sides, "--engine", engine, "--json", *more])
    valid(json.loads(capsys.readouterr().out))
