"""The border campaign: its harness sees what it must, its cases compile, and a wrong verdict would be noticed."""

from __future__ import annotations

import shutil
from pathlib import Path
from random import Random
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc")
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "bench"))


def _truth(case: Any, folder: Path, level: str = "-O1") -> Any:
    from soundness.borders.case import Part
    from soundness.borders.judge import build, truth

    part = Part("gcc", (level, *case.flags))
    sides = [
        build(text, part, folder / name, case.suffix)[0]
        for text, name in zip((case.target, case.rewrite), "ab", strict=True)
    ]
    return truth(case, (sides[0], sides[1]), folder)


def test_every_topic_makes_cases_that_compile_and_run(tmp_path: Path) -> None:
    from soundness.borders.batch import TOPICS

    for name, (make, _) in TOPICS.items():
        found = []
        for number in range(2):
            case = make(Random(f"{name} {number}"))
            found.append((case, _truth(case, tmp_path)))
        assert any(known.same or known.differs for _, known in found) or all(not c.same for c, _ in found), name
        assert all(known.same for case, known in found if case.same), (name, [k.note for _, k in found])


def test_the_harness_sees_a_planted_difference(tmp_path: Path) -> None:
    from dataclasses import replace

    from soundness.borders.calls import variadic

    case = next(c for c in (variadic(Random(n)) for n in range(50)) if not c.same)
    assert _truth(case, tmp_path).differs
    assert not _truth(replace(case, rewrite=case.target), tmp_path).differs


def test_padding_is_not_recorded(tmp_path: Path) -> None:
    from soundness.borders.case import Case
    from soundness.borders.harness import calls, outside, prototype, whole
    from soundness.borders.kinds import Kind, Leaf

    kind = Kind("struct s", (Leaf("{}.a", "integer"), Leaf("{}.b", "integer")), "struct s { char a; int b; };\n", True)
    head = f"{kind.definition}void g(struct s);\n"
    left, right = (
        f"{head}void f(struct s a) {{ struct s b; __builtin_memset(&b, {fill}, 8); b.a = a.a; b.b = a.b; g(b); }}\n"
        for fill in (0, 255)
    )
    harness = whole([kind], outside("g", None, [kind]) + prototype(None, [kind]) + calls(None, [kind]))
    assert _truth(Case("call", left, right, True, "padding", harness), tmp_path, "-O0").same


@pytest.mark.parametrize(("word", "same", "differs"), [("equivalent", False, True), ("different", True, False)])
def test_a_wrong_verdict_is_noticed(word: str, same: bool, differs: bool, tmp_path: Path, monkeypatch: Any) -> None:
    from soundness.borders import judge
    from soundness.borders.case import Case, Part

    answers = {"verdict": word, "assumptions": [], "witness": {"differences": [{"what": "rax"}]}, "why": ""}
    monkeypatch.setattr(judge, "asked", lambda *_: answers)
    right = "int f(int x) { return x + 1; }\n" if differs else "int f(int x) { return x; }\n"
    case = Case("a test", "int f(int x) { return x; }\n", right, same, "a test", differs=differs)
    part = Part("gcc", ("-O1",))
    assert word in judge.judge_case(case, (part, part), tmp_path, "b0.0", 2).wrong
    monkeypatch.setattr(judge, "asked", lambda *_: {**answers, "verdict": "unknown"})
    assert not judge.judge_case(case, (part, part), tmp_path, "b0.0", 2).wrong


def test_the_same_seed_makes_the_same_cases() -> None:
    from soundness.borders.batch import border_case

    assert border_case(3, 4, 5, ("gcc",)) == border_case(3, 4, 5, ("gcc",))
    assert border_case(3, 4, 5, ("gcc",)) != border_case(3, 4, 6, ("gcc",))


def test_a_contradiction_becomes_a_pair(tmp_path: Path) -> None:
    from soundness.borders.case import Case, Part
    from soundness.borders.findings import keep, save
    from soundness.judge import Judged

    case = Case("a test", "int f(int x) { return x; }\n", "int f(int x) { return x + 0; }\n", True, "nothing")
    parts = (Part("gcc", ("-O0",)), Part("gcc", ("-O2",)))
    judged = Judged("b1.2", "same", "different", 0.0, wrong="a test")
    header = save((case, parts, judged), tmp_path)
    assert header is not None
    assert "verdict: equivalent" in header.read_text()
    stripped = (Part("gcc", ("-O0",), debug=False), Part("gcc", ("-O2",), debug=False))
    assert save((case, stripped, judged), tmp_path) is not None
    assert "ret" in (tmp_path / "campaign-b1-2-a.s").read_text()
    assert "isoform compare a.o:f b.o:f" in (keep((case, parts, judged), tmp_path) / "README").read_text()
