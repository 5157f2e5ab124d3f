"""`isoform diff --html --sarif`: the files that are written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from isoform.cli import run_command

OLD = "int rounded(int a, int b) { return (int)(((long)a + b) / 2); }\nint same(int x) { return x + 1; }\n"
NEW = "\nint rounded(int a, int b) { return (a + b) / 2; }\nint same(int x) { return x + 1; }\n"


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "old.c").write_text(OLD)
    (tmp_path / "new.c").write_text(NEW)
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("sources")
def test_both_reports(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["diff", "old.c", "new.c", "--html", "d.html", "--sarif", "d.sarif", "--budget", "5", "-j", "1", "-q"]
    assert run_command(words) == 1
    assert "1 different, 1 identical" in capsys.readouterr().out
    assert "<title>1 of 2 functions differs</title>" in (tmp_path / "d.html").read_text()
    (result,) = json.loads((tmp_path / "d.sarif").read_text())["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "new.c", "uriBaseId": "SRCROOT"}
    end = len(NEW.splitlines()[1]) + 1
    assert place["region"] == {"startLine": 2, "startColumn": 1, "endLine": 2, "endColumn": end}
    assert result["codeFlows"]
    assert not (tmp_path / "d.sarif.txt").exists()


@pytest.mark.usefixtures("sources")
def test_a_place_that_cannot_be_written_is_said_before_the_work(capsys: pytest.CaptureFixture[str]) -> None:
    for option in ("--html", "--sarif"):
        assert run_command(["diff", "old.c", "new.c", option, "missing/file"]) == 2
        assert f"{option} missing/file cannot be written" in capsys.readouterr().err


@pytest.mark.usefixtures("sources")
def test_addresses_are_those_of_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    """Of an object file, offsets in its section: not where isoform places it."""
    assert run_command(["diff", "old.c", "new.c", "--json", "--only", "same", "--cflags", "-O1"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["functions"]
    assert int(row["old"]["address"], 16) < 0x100
    assert int(row["new"]["address"], 16) < 0x100
