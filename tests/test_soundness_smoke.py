"""The soundness campaign for a few seconds, and that it would notice a wrong verdict."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "bench"))


def test_ten_seconds_find_nothing_wrong() -> None:
    done = subprocess.run(
        [str(ROOT / "scripts" / "soundness"), "--seconds", "10", "--seed", "1", "--quick", "--no-save", "-j", "1"],
        env={**os.environ, "ISOFORM_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    totals = next(line for line in done.stdout.splitlines() if line.startswith("all ")).split()
    assert int(totals[1]) >= 1
    assert totals[-1] == "0"


def judged_as(source: str, other: str, equal: bool, forged: bool, tmp_path: Path) -> Any:
    """What the campaign says of a pair, where `forged` makes isoform say `equivalent` whatever it found."""
    from isoform.engines.answer import answer
    from isoform.model.verdict import Equivalent, Obligation, Proof
    from soundness import judge as judging
    from soundness.attack import QUICK
    from soundness.batch import Batch, Build, Pair

    build = Build("cc", ("-O1",))
    pair = Pair("c0.0", "levels", equal, "a test", "f", source, other)
    objects = Batch(0, ".c", "", (build, build), (pair,)).compiled(tmp_path)

    def lie(*arguments: Any) -> Any:
        verdict = answer(*arguments)
        proof = Proof((Obligation("a lie", "nothing"),))
        return Equivalent(verdict.target, verdict.rewrite, verdict.contract, "a lie", 0.0, proof=proof)

    with pytest.MonkeyPatch.context() as patch:
        if forged:
            patch.setattr(judging, "answer", lie)
        return judging.judge(pair, objects, judging.Rules(QUICK, 5))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("int f(int x) { return x < 0; }", "int f(int x) { return x <= 0; }"),
        ("void f(int *p, int *q) { *p = 1; *q = 2; }", "void f(int *p, int *q) { *q = 2; *p = 1; }"),
        ("int f(char x) { return x; }", "int f(char x) { return (unsigned char)x; }"),
        ("long g(long); long f(long x) { return g(x); }", "long g(long); long f(long x) { g(x); return 0; }"),
        ("int f(int x) { return x == 123456; }", "int f(int x) { return 0; }"),
    ],
)
def test_a_wrong_equivalent_is_noticed(left: str, right: str, tmp_path: Path) -> None:
    assert "equivalent, but" in judged_as(left, right, True, True, tmp_path).wrong


def test_a_wrong_different_is_noticed(tmp_path: Path) -> None:
    left, right = "int f(int x) { return x + 1; }", "int f(int x) { return x + 2; }"
    assert "equivalent by construction" in judged_as(left, right, True, False, tmp_path).wrong
    assert judged_as(left, right, False, False, tmp_path).wrong == ""


def test_right_verdicts_stand(tmp_path: Path) -> None:
    left, right = "int f(int x) { return x * 2; }", "int f(int x) { return x << 1; }"
    result = judged_as(left, right, True, False, tmp_path)
    assert (result.word, result.wrong) == ("equivalent", "")
    assert judged_as(left, right, False, False, tmp_path).second_solver == "confirmed"


def test_the_same_seed_makes_the_same_pairs() -> None:
    from soundness.campaign import batch_of

    for letter in "csl":
        first, again, other = batch_of(letter, 7, 3), batch_of(letter, 7, 3), batch_of(letter, 7, 4)
        assert first == again
        assert first.pairs != other.pairs


def test_rewrites_and_bugs_change_the_text() -> None:
    from soundness.generator import random_function
    from soundness.mutations import mutated
    from soundness.program import function_text
    from soundness.rewrites import rewritten

    random = Random(11)
    functions = [random_function(random, f"f{number}") for number in range(30)]
    for change in (rewritten, mutated):
        changed = [function_text(change(f, random)[0]) != function_text(f) for f in functions]
        assert sum(changed) > 25


def test_a_pair_is_shrunk_to_the_lines_that_matter() -> None:
    from soundness.batch import Pair
    from soundness.shrink import shrunk

    lines = ["int f(int x) {", *(f"    x += {n};" for n in range(20)), "    return x;", "}"]
    pair = Pair("c0.0", "levels", True, "a test", "f", "\n".join(lines) + "\n", "\n".join(lines) + "\n")
    smaller = shrunk(pair, lambda p: "x += 7;" in p.target and "return" in p.target and "}" in p.rewrite, 10)
    assert smaller.target.splitlines() == ["int f(int x) {", "    x += 7;", "    return x;", "}"]
    assert smaller == replace(pair, target=smaller.target, rewrite=smaller.target)
