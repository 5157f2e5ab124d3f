"""How proofs about loops read: comparisons joined, places as in listings, variables by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from isoform.api import compare
from isoform.borders.question import Engine, Options
from isoform.engines.loops.guess.facts import Relation
from isoform.engines.loops.prove.words import SAME_MEMORY, Comparison, joined, without_implied
from isoform.load.open import LoadOptions, open_one
from isoform.model.verdict import Equivalent
from isoform.report.json import verdict_as_json
from isoform.report.terminal import verdict_as_text

pytestmark = pytest.mark.compiler("gcc-12")

LESS, UP_TO, BELOW, DIFFERENT = Relation.LESS, Relation.LESS_OR_EQUAL, Relation.BELOW, Relation.DIFFERENT


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ([("i", LESS, "n"), ("0", UP_TO, "i")], ["0 ≤ i < n"]),
        ([("0", UP_TO, "i"), ("i", BELOW, "n")], ["0 ≤ i", "i <u n"]),
        ([("a", BELOW, "b"), ("b", BELOW, "c")], ["a <u b <u c"]),
        ([("p", DIFFERENT, "q"), ("q", DIFFERENT, "r")], ["p ≠ q", "q ≠ r"]),
        ([("a", UP_TO, "b"), ("b", UP_TO, "a")], ["a ≤ b ≤ a"]),
        ([], []),
    ],
)
def test_comparisons_that_meet(facts: list[Comparison], said: list[str]) -> None:
    assert joined(facts) == said


def test_what_others_imply_is_left_out() -> None:
    facts: list[Comparison] = [("0", UP_TO, "i"), ("i", LESS, "n"), ("0", UP_TO, "n"), ("0", LESS, "m")]
    assert without_implied(facts) == [facts[0], facts[1], facts[3]]
    weak: list[Comparison] = [("a", UP_TO, "b"), ("b", UP_TO, "c"), ("a", LESS, "c")]
    assert without_implied(weak) == weak, "a < c says more than a ≤ b ≤ c"


SOURCE = "int sum(const int *a, int n) { int s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }\n"


@pytest.fixture(scope="module")
def verdict(tmp_path_factory: pytest.TempPathFactory) -> Equivalent:
    path = tmp_path_factory.mktemp("words") / "sum.c"
    path.write_text(SOURCE)
    options = Options(engine=Engine.LOOPS, budget=40)
    found = compare(str(path), None, options, LoadOptions(cflags=("-O0",)), LoadOptions(cflags=("-O2",)))
    assert isinstance(found, Equivalent)
    return found


def test_json_has_cuts_invariants_and_obligations(verdict: Equivalent) -> None:
    proof: dict[str, Any] = verdict_as_json(verdict)["proof"]
    listed = [{view.offset(row.address) for row in view.rows} for view in verdict.views]
    assert proof["cuts"]
    for cut in proof["cuts"]:
        assert cut["target"] in listed[0]
        assert cut["rewrite"] in listed[1]
        assert SAME_MEMORY in cut["facts"]
        assert len(cut["facts"]) >= len(cut["invariant"])
    assert len(proof["invariants"]) == len(proof["cuts"])
    names = [o["name"] for o in proof["obligations"]]
    assert names.count("covered") == 1 + len(proof["cuts"]), "one from the entry and one from each cut"
    assert {"invariant", "memory", "return-value"} <= set(names)
    assert all(o["shows"] and o["seconds"] >= 0 for o in proof["obligations"])


def test_variables_have_their_names(verdict: Equivalent) -> None:
    (invariant,) = verdict.proof.invariants
    facts = invariant.partition(": ")[2].split(", ")
    assert any(fact.startswith("s = ") and fact.endswith("'") for fact in facts), invariant
    assert any("4·i" in fact for fact in facts), invariant
    assert "[sp" not in invariant
    assert len(set(facts)) == len(facts)
    assert not any(fact.partition(" = ")[0] == fact.partition(" = ")[2] for fact in facts)


def test_the_short_report_leaves_out_trivial_obligations(verdict: Equivalent) -> None:
    short, long = (verdict_as_text(verdict, verbose=verbose) for verbose in (False, True))
    cut = verdict.proof.cuts[0]
    place = f"at {cut['target']} / {cut['rewrite']}'"
    assert place in short
    assert "trivial obligations" in short
    assert "r12, which a callee must restore" not in short
    assert "r12, which a callee must restore" in " ".join(long.split())
    assert all(line.strip() for line in short.splitlines() if place in line)


def test_locals_have_scopes(tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    text = "int f(int n) { int s = 0; { int k = n; s += k; } { long k = 2; s += k; } return s; }"
    path.write_text(text)
    image = open_one(str(path), LoadOptions(cflags=("-O0",))).image
    sizes = {(local.name, local.size) for local in image.locals}
    assert sizes == {("n", 4), ("s", 4), ("k", 4), ("k", 8)}
    inner = [local for local in image.locals if local.name == "k"]
    assert inner[0].end <= inner[1].start
    assert all(local.offset < 0 for local in image.locals)
    assert open_one(str(path), LoadOptions(cflags=("-O2",))).image.locals == ()
