"""Every question under `tests/pairs`, asked through the command line as a user would ask it; `bench/pairfile.py`
describes the files."""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from isoform.check.certificate import check_certificate
from isoform.cli import run_command
from isoform.cli.verbs import answered
from isoform.engines.same_code.engine import SAME_CODE
from pairfile import Pair, read, read_all

SCHEMA = Path(__file__).parent.parent / "docs" / "verdict.schema.json"
REQUIRED = {"verdict", "because", "a", "b"}
OPTIONAL = {"build", "options", "witness", "where", "says", "cause", "todo", "long"}
EXIT_CODES = {"equivalent": 0, "different": 1, "bounded": 3, "unknown": 3}
VERSIONED = re.compile(r"zig|gcc-\d+")
MODELS = 2
"""isoform's own runner and one that shares no code with the lifter."""
UNANSWERED_SECONDS = "2"
"""The budget of a question that isoform cannot answer yet: it would use up any."""
SAMPLE = 16
"""One certificate in so many is re-checked by default; the others take minutes."""


QUICK = {
    "toy/below": "loopfree",
    "toy/below-broken": "testing",
    "cs241/maximum": "loopfree",
    "cs241/maximum-broken": "testing",
    "cs241/divide-fault": "loopfree",
    "cs241/divide-fault-broken": "testing",
    "riscv64/average": "same-code",
    "riscv64/average-broken": "testing",
    "riscv64/steps": "loopfree",
    "riscv64/steps-broken": "testing",
    "x86_64/sign": "loopfree",
    "x86_64/sign-broken": "testing",
    "x86_64/operate": "loopfree",
    "x86_64/operate-broken": "loopfree",
    "x86_64/print": "loopfree",
    "x86_64/print-broken": "testing",
    "concolic/rare-password": "concolic",
    "concolic/rare-password-broken": "concolic",
    "loops/memset": "loops",
    "loops/memset-broken": "testing",
    "loops/lists-length-clang-o0-o2": "loops",
    "loops/lists-length-clang-o0-o2-broken": "testing",
    "real/recursion-steps": "recursion",
    "real/recursion-steps-broken": "testing",
    "borders/linking-sections": "lifting",
}
"""The quick tier has these, with the engine that answers, besides one pair in `QUICK_SAMPLE` outside `loops`."""
QUICK_SAMPLE = 32
CERTIFIED = ("toy/below", "cs241/maximum", "x86_64/sign", "loops/memset")
"""Certificates that the quick tier re-checks."""
ALL = read_all()
NAMED = {pair.name: pair for pair in ALL}
FIRST_BUILDS = {pair.path: pair.name for pair in reversed(ALL) if "long" not in pair.fields}
BUILD_SAMPLE = 3


def is_quick(pair: Pair) -> bool:
    sampled = crc32(pair.name.encode()) % QUICK_SAMPLE == 0
    return pair.name in QUICK or (sampled and not pair.name.startswith("loops/"))


def is_one_build_more(pair: Pair) -> bool:
    """Of the builds of a loop, the first and one in `BUILD_SAMPLE` of the others are always asked, with their twins: a
    quarter of the time of these pairs went into the rest."""
    name = pair.name.removesuffix("-broken")
    is_first = pair.name == FIRST_BUILDS.get(pair.path) or pair.name in QUICK
    return name.startswith("loops/") and not is_first and crc32(name.encode()) % BUILD_SAMPLE != 0


def parameter(pair: Pair, quick: bool, *marks: pytest.MarkDecorator) -> Any:
    chosen = [*marks, *([] if quick else [pytest.mark.slow])]
    if "todo" in pair.fields:
        chosen.append(pytest.mark.xfail(reason=pair.fields["todo"], strict=True))
    if "long" in pair.fields or is_one_build_more(pair):
        chosen.append(pytest.mark.long)
    if pair.missing:
        chosen.append(pytest.mark.skip(reason=f"needs {', '.join(pair.missing)}"))
    return pytest.param(pair, id=pair.name, marks=chosen)


def ask(pair: Pair, capsys: pytest.CaptureFixture[str], *more: str) -> dict[str, Any]:
    """The command's JSON, and its exit code checked. A cause is looked for only where one is expected."""
    capsys.readouterr()
    unexplained = [] if "cause" in pair.fields else ["--explain", "none"]
    code = answered(pair.command("--json", *unexplained, *more))
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert code == EXIT_CODES[answer["verdict"]]
    validator()(answer)
    return answer


@cache
def validator() -> Callable[[Any], Any]:
    """The schema of `docs/`; without its library nothing is checked here, as `tests/report/test_schema.py` says."""
    if find_spec("fastjsonschema") is None:
        return lambda answer: answer
    compiled: Callable[[Any], Any] = import_module("fastjsonschema").compile(json.loads(SCHEMA.read_text()))
    return compiled


def shown(answer: Mapping[str, Any]) -> str:
    kept = {key: answer.get(key) for key in ("engine", "witness", "why", "tried", "assumptions", "root_cause")}
    return json.dumps(kept, indent=1, ensure_ascii=False)


@pytest.mark.usefixtures("built_once")
@pytest.mark.parametrize("pair", [parameter(p, is_quick(p)) for p in ALL])
def test_verdict(pair: Pair, capsys: pytest.CaptureFixture[str]) -> None:
    answer = ask(pair, capsys, *(["--budget", UNANSWERED_SECONDS] if "todo" in pair.fields else []))
    assert answer["verdict"] == pair.verdict, f"{pair.fields['because']}\n{shown(answer)}"
    assert answer["engine"] == QUICK.get(pair.name, answer["engine"])
    assert pair.fields.get("says", "") in answer.get("why", "")
    assert (answer["proof"] is not None) == (pair.verdict == "equivalent")
    assert (answer["bound"] is not None) == (pair.verdict == "bounded")
    if pair.verdict == "different":
        require_witness(pair, answer["witness"])
    else:
        assert answer["witness"] is None
    if "cause" in pair.fields:
        assert shown_cause(answer["root_cause"]) == pair.fields["cause"], shown(answer)


def shown_cause(root: Mapping[str, Any]) -> str:
    """The root cause as the header of a pair says it."""
    if root["strength"] is None:
        return "none"
    pairs = [[place_of(cause[side]) for side in ("target", "rewrite")] for cause in root["causes"]]
    return f"{root['strength']} | {' & '.join(' -> '.join(pair) for pair in pairs)}"


def place_of(place: Mapping[str, Any] | None) -> str:
    return "-" if place is None else str(place["line"] or place["text"])


def require_witness(pair: Pair, witness: Mapping[str, Any]) -> None:
    assert len(set(witness["replayed_on"])) == MODELS
    assert witness["differences"]
    for wanted in filter(None, pair.fields.get("witness", "").split(",")):
        name, value = (word.strip() for word in wanted.split("="))
        found = witness["inputs"][name]
        assert (int(found, 16) if isinstance(found, str) else found) == int(value, 0), witness
    wanted = pair.fields.get("where", "")
    assert any(d["what"].startswith(wanted) for d in witness["differences"]), witness


def certified() -> list[Any]:
    """A sample that does not change when pairs are added; the rest is `long`."""
    proved = [pair for pair in ALL if pair.verdict == "equivalent" and "todo" not in pair.fields]
    return [parameter(p, p.name in CERTIFIED, *([] if is_certified(p) else [pytest.mark.long])) for p in proved]


def is_certified(pair: Pair) -> bool:
    return pair.name in CERTIFIED or crc32(pair.name.encode()) % SAMPLE == 0


def check_command(pair: Pair, folder: Path) -> list[str]:
    """A listing of the same code is derived again from the files."""
    files = [str(pair.path.parent / pair.fields[side]) for side in "ab"]
    built = [word for side, build in pair.compiled.items() for word in build.options(side)]
    return ["check", str(folder), "--target", files[0], "--rewrite", files[1], *built]


@pytest.mark.usefixtures("built_once")
@pytest.mark.parametrize("pair", certified())
def test_another_solver_confirms_the_certificate(
    pair: Pair, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = tmp_path / "certificate"
    answer = ask(pair, capsys, "--cert", str(folder))
    assert answer["verdict"] == "equivalent", shown(answer)
    if answer["engine"] == SAME_CODE:
        assert run_command(check_command(pair, folder)) == 0, capsys.readouterr().out
        return
    report = check_certificate(folder)
    assert report.ok, [*report.problems, *report.rows]
    confirmed = [row.name for row in report.rows if not row.name.startswith("step-")]  # steps serve the others
    assert confirmed == [o["name"] for o in answer["proof"]["obligations"]]


def test_headers_are_complete() -> None:
    """One test: of thousands, starting and reporting each would take most of the time."""
    assert {pair.name: found for pair in ALL if (found := [*faults(pair)])} == {}


def faults(pair: Pair) -> Iterator[str]:
    """What is wrong with the header of a question."""
    keys = set(pair.fields)
    yield from sorted(REQUIRED - keys | keys - REQUIRED - OPTIONAL)
    if pair.verdict not in EXIT_CODES:
        yield "not a verdict"
    if not pair.fields["because"].endswith("."):
        yield "`because` is a sentence"
    if not all(VERSIONED.fullmatch(build.compiler) for build in pair.builds):
        yield "a compiler has a version"
    if any(word.startswith(("--cc", "--cflags")) for word in shlex.split(pair.fields.get("options", ""))):
        yield "builds belong to `build:`"


def test_names_are_used_once() -> None:
    assert [name for name, uses in Counter(pair.name for pair in ALL).items() if uses > 1] == []


def test_equivalent_pairs_have_a_broken_twin() -> None:
    proved = [pair for pair in ALL if pair.verdict == "equivalent"]
    assert [pair.name for pair in proved if not is_twin(NAMED.get(f"{pair.name}-broken"), pair)] == []


def is_twin(twin: Pair | None, pair: Pair) -> bool:
    return twin is not None and twin.verdict == "different" and twin.fields["a"] == pair.fields["a"]


def test_each_line_of_a_matrix_is_a_question_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "sum.pair"
    lines = ["verdict: equivalent", "because: Two levels.", "a: sum.c:f", "b: sum.c:g", "options: --fuel 7"]
    cases = ["matrix: sum-levels = zig -O0 | zig -O2 '-DK=a b'", "matrix: sum-plain = gcc-1 | zig | long: Ten seconds."]
    file.write_text("\n".join([*lines, *cases]))
    levels, plain = read(file)
    assert (levels.name, plain.name) == ("sum-levels", "sum-plain")
    files = [f"{tmp_path}/sum.c:f", f"{tmp_path}/sum.c:g"]
    built = ["--cc-a", "zig", "--cflags-a=-O0", "--cc-b", "zig", "--cflags-b=-O2 '-DK=a b'"]
    assert levels.command("--json") == ["compare", *files, *built, "--fuel", "7", "--json"]
    assert plain.command() == ["compare", *files, "--cc-a", "gcc-1", "--cc-b", "zig", "--fuel", "7"]
    assert plain.missing == ["gcc-1"]
    assert "long" not in levels.fields
    assert plain.fields["long"] == "Ten seconds."


def test_a_build_without_a_bar_is_that_of_both_sides(tmp_path: Path) -> None:
    file = tmp_path / "sum.pair"
    file.write_text("verdict: different\nbecause: Another sum.\na: a.c\nb: b.c\nbuild: gcc-1 -O1\n")
    (pair,) = read(file)
    assert pair.builds[0] == pair.builds[1]
    assert pair.missing == ["gcc-1"]


def test_without_a_build_it_is_the_pinned_compiler_where_one_is_needed(tmp_path: Path) -> None:
    file = tmp_path / "sum.pair"
    file.write_text("verdict: different\nbecause: Another sum.\na: a.s\nb: b.toy\n")
    (pair,) = read(file)
    assert pair.command() == ["compare", f"{tmp_path}/a.s", f"{tmp_path}/b.toy", "--cc-a", "zig"]
