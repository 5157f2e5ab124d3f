"""`isoform explain` says what the saved verdict rests on: its cause is proved under the same assumptions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from isoform import compare
from isoform.api import explain
from isoform.model.errors import UserError

TARGET = "int f(int *p, int n) { return n < 3 ? p[1] : p[0] + 5; }"


def saved(folder: Path) -> Path:
    for name, text in (("a.c", TARGET), ("b.c", TARGET.replace("<", "<="))):
        (folder / name).write_text(text)
    file = folder / "saved.json"
    verdict = compare(f"{folder}/a.c:f", f"{folder}/b.c:f", cc="cc", budget=20, explain="none")
    file.write_text(json.dumps(verdict.to_json()))
    return file


def test_the_assumptions_of_the_verdict_are_listed(tmp_path: Path) -> None:
    file = saved(tmp_path)
    names = {each["name"] for each in json.loads(file.read_text())["assumptions"]}
    assert "valid-memory" in names
    assert names <= {each.name for each in explain(file).assumptions}


def test_assumptions_that_are_none_are_refused(tmp_path: Path) -> None:
    file = saved(tmp_path)
    content = json.loads(file.read_text())
    file.write_text(json.dumps({**content, "assumptions": [{"name": 3}]}))
    with pytest.raises(UserError, match="is not what `isoform compare --json` prints"):
        explain(file)
