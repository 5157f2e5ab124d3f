"""The library in examples/: `isoform diff` finds what new.c says of itself, and nothing between two builds of one
version."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from isoform.cli import run_command

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "library"
BUGS = {"add_twice", "digit_value", "hex_byte", "percent"}
REWRITTEN = {"absolute", "sign", "to_upper", "text_length", "sum", "contains", "overlaps", "average", "swap_bytes"}


def answers(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, str]]:
    code = run_command(["diff", *words, "--json", "-j", "1"])
    found = json.loads(capsys.readouterr().out)
    assert found["complete"]
    return code, {row["name"]: row["status"] for row in found["functions"]}


def test_what_changed_is_found_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    code, found = answers(capsys, str(EXAMPLE / "old.c"), str(EXAMPLE / "new.c"))
    assert code == 1
    assert len(found) == 41
    by_answer = {word: {name for name, said in found.items() if said == word} for word in found.values()}
    assert set(by_answer) == {"different", "added", "equivalent", "identical"}
    assert by_answer["different"] == BUGS
    assert by_answer["added"] == {"is_vowel"}
    assert "largest → maximum_of" in by_answer["identical"]
    assert not REWRITTEN - by_answer["equivalent"] - by_answer["identical"]


@pytest.mark.long
@pytest.mark.compiler("gcc-12")
@pytest.mark.parametrize("build", [("--cflags-a=-O1", "--cflags-b=-O2"), ("--cc-b", "zig")])
def test_two_builds_of_one_version_do_not_differ(build: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    source = str(EXAMPLE / "old.c")
    code, found = answers(capsys, source, source, "--budget", "3", *build)
    assert code in (0, 3)
    assert "different" not in found.values()
