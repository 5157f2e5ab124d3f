"""SARIF of `isoform diff`: it fits the schema of SARIF, and has what code hosting needs to show it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import fastjsonschema
import pytest
from diff_samples import HOSTILE, different, many, place, sample

from isoform.load.source_lines import line_length
from isoform.model.library_diff import FunctionAnswer, LibraryDiff, Row
from isoform.report.sarif import MOST_RESULTS, Manifest, Sources, message_of, sarif_dumps
from isoform.report.sarif_rules import RULES

SCHEMA = json.loads((Path(__file__).parent / "sarif-2.1.0.schema.json").read_text())
SOURCES = Sources(Path("/src"), lambda file, line: 20)
PLACE = {"artifactLocation": {"uri": "lib/scan.c", "uriBaseId": "SRCROOT"}}


@cache
def validate() -> Callable[[Any], Any]:
    compiled: Callable[[Any], Any] = fastjsonschema.compile(SCHEMA, use_default=False)
    return compiled


def run_of(diff: LibraryDiff, sources: Sources = SOURCES, manifest: Manifest | None = None) -> dict[str, Any]:
    content = json.loads(sarif_dumps(diff, manifest or Manifest("/src/build/diff.sarif.txt"), sources))
    validate()(content)
    run: dict[str, Any] = content["runs"][0]
    return run


def without_source(row: Row) -> Row:
    """As in a file without debug information."""
    assert row.new is not None
    assert row.listings is not None
    listing = [{**line, "file": None, "line": None} for line in row.listings["rewrite"]]
    bare = replace(row.new, source_file=None, source_line=None)
    return replace(row, new=bare, listings={"target": listing, "rewrite": listing})


def test_every_function_that_is_not_the_same_is_a_result() -> None:
    run = run_of(sample())
    assert [result["ruleId"].removeprefix("isoform/") for result in run["results"]] == [
        "different",
        "affected",
        "unknown",
        "added",
        "removed",
    ]
    for result in run["results"]:
        rule = run["tool"]["driver"]["rules"][result["ruleIndex"]]
        assert rule["id"] == result["ruleId"]
        assert rule["help"]["text"]
        assert rule["help"]["markdown"]
        (location,) = result["locations"]
        assert set(location["physicalLocation"]["region"]) == {"startLine", "startColumn", "endLine", "endColumn"}


def test_the_place_is_the_line_of_the_cause() -> None:
    result = run_of(sample())["results"][0]
    region = {"startLine": 14, "startColumn": 1, "endLine": 14, "endColumn": 21}
    assert result["locations"][0]["physicalLocation"] == {**PLACE, "region": region}


def test_the_path_is_a_code_flow_in_the_order_of_execution() -> None:
    row = different(lines=4)
    assert row.listings is not None
    start = 0x1200
    ordered = replace(row, listings={**row.listings, "rewrite_path": [start + 8, start, start + 4, start + 12]})
    (flow,) = run_of(sample(ordered))["results"][1]["codeFlows"]
    steps = [step["location"] for step in flow["threadFlows"][0]["locations"]]
    assert [step["physicalLocation"]["region"]["startLine"] for step in steps] == [14, 13, 14]
    assert [step["message"]["text"] for step in steps] == ["add eax,2", "add eax,0; add eax,1", "add eax,3"]


def test_the_first_sentence_says_what_differs() -> None:
    first, _, rest = message_of(different()).partition(". ")
    assert first == "average: With x = 4294967295, y = 1 the old one returns 2147483648 and the new one 0"
    assert rest.startswith("The function does something else than in the old version. The new version's `shr eax,0x1`")


def test_without_debug_information_places_are_in_the_manifest(tmp_path: Path) -> None:
    manifest = Manifest(str(tmp_path / "diff.sarif.txt"))
    diff = LibraryDiff("old.so", "new.so", (without_source(different()),), 1.0, {}, True)
    (result,) = run_of(diff, Sources(tmp_path), manifest)["results"]
    assert manifest.text == (
        "different average (new.so 0x1228, 40 bytes)\n    +0x0  add eax,0\n    +0x8  add eax,2  <- cause\n"
    )
    found = result["locations"][0]["physicalLocation"]
    assert found["artifactLocation"] == {"uri": "diff.sarif.txt", "uriBaseId": "SRCROOT"}
    assert found["region"] == {"startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 44}
    steps = result["codeFlows"][0]["threadFlows"][0]["locations"]
    assert [step["location"]["physicalLocation"]["region"]["startLine"] for step in steps] == [2, 3]


def test_fingerprints_survive_other_changes_of_a_file() -> None:
    row = different()
    assert row.new is not None
    assert row.old is not None
    moved = replace(row, new=replace(row.new, address=0x9999, source_line=400, path="/elsewhere/new.so"))
    changed = replace(row, new=replace(row.new, digest="other"))
    other = replace(row, new=replace(row.new, name="g"), old=replace(row.old, name="g"))
    first, second, third, fourth = (
        run_of(LibraryDiff("a", "b", (one,), 1.0, {}, True))["results"][0]["partialFingerprints"]
        for one in (row, moved, changed, other)
    )
    assert first == second
    assert first["isoformFunction/v1"] == third["isoformFunction/v1"]
    assert first["isoformCode/v1"] != third["isoformCode/v1"]
    assert first["isoformFunction/v1"] != fourth["isoformFunction/v1"]


def test_source_outside_of_the_root_has_an_absolute_place() -> None:
    found = run_of(sample(), Sources(Path("/home/me/a project")))
    assert found["originalUriBaseIds"]["SRCROOT"]["uri"] == "file:///home/me/a%20project/"
    artifact = found["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact == {"uri": "file:///src/lib/scan.c"}


def test_accepted_differences_are_suppressed() -> None:
    results = run_of(sample(replace(different("meant"), accepted="the new rounding is wanted")))["results"]
    assert "suppressions" not in results[0]
    assert results[1]["suppressions"][0]["justification"] == "the new rounding is wanted"


def test_at_most_so_many_results() -> None:
    rows = tuple(Row(None, place(f"f{n}"), FunctionAnswer.ADDED) for n in range(MOST_RESULTS))
    run = run_of(LibraryDiff("a", "b", (*rows, different()), 1.0, {}, False, "the time was up"))
    assert len(run["results"]) == MOST_RESULTS
    assert run["results"][0]["ruleId"] == "isoform/different"
    assert [note["message"]["text"] for note in run["invocations"][0]["toolExecutionNotifications"]] == [
        "Not everything was asked: the time was up.",
        f"Only the first {MOST_RESULTS} of {MOST_RESULTS + 1} results are here.",
    ]


def test_names_that_are_no_text() -> None:
    row = different()
    assert row.new is not None
    odd = replace(
        row, new=replace(row.new, name="\udcff", shown=HOSTILE, source_file="/src/\udcff\n.c"), why="a\x1b[31m"
    )
    run_of(sample(without_source(odd), odd))


def test_thousands_of_functions() -> None:
    assert len(run_of(many(5000))["results"]) == 1000


@pytest.mark.parametrize("answer", RULES)
def test_rules_are_sentences(answer: FunctionAnswer) -> None:
    rule = RULES[answer]
    assert rule.says.endswith(".")
    assert rule.help.endswith(".")


def test_an_empty_comparison() -> None:
    assert run_of(LibraryDiff("a", "b", (), 0.0, {}, True))["results"] == []


def test_lengths_of_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    path.write_text("int x;\nint äöü;\n")
    assert [line_length(str(path), line) for line in (0, 1, 2, 3)] == [None, 6, 8, None]
    secret = tmp_path / "passwords"
    secret.write_text("hunter2\n")
    assert line_length(str(secret), 1) is None
    assert line_length(str(tmp_path / "missing.c"), 1) is None
