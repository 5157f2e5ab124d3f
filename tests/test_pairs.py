"""Every question under `tests/pairs`, asked through the command line as a user would ask it.

A `.pair` file has one `key: value` a line; `#` starts a comment.

    verdict: equivalent | different | bounded | unknown
    because: one sentence
    a: FILE[:function]           relative to the .pair file
    b: FILE[:function]
    options: ...                 further options of `isoform compare`
    cc: gcc | zig                compiler of both sides; the pair is skipped where it is absent
    needs: gcc zig               compilers that `options` names
    witness: x = -2147483648     inputs that a difference must have
    where: memory                what must differ, as the start of its description
    says: ...                    part of the reason of a bounded or unknown verdict
    todo: ...                    why this does not hold yet; the test is expected to fail
    long: ...                    why it is only asked with `--long`

Every `equivalent` NAME.pair has a twin NAME-broken.pair that is `different`.
"""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from isoform.check.certificate import check_certificate
from isoform.cli import app

PAIRS = Path(__file__).parent / "pairs"
REQUIRED = {"verdict", "because", "a", "b"}
OPTIONAL = {"options", "cc", "needs", "witness", "where", "says", "todo", "long"}
EXIT_CODES = {"equivalent": 0, "different": 1, "bounded": 3, "unknown": 3}
MODELS = 2
"""isoform's own runner and one that shares no code with the lifter."""
UNANSWERED_SECONDS = "2"
"""The budget of a question that isoform cannot answer yet: it would use up any."""
SAMPLE = 16
"""One certificate in so many is re-checked by default; the others take minutes."""


@dataclass(frozen=True)
class Pair:
    path: Path
    fields: Mapping[str, str]

    @property
    def name(self) -> str:
        return self.path.relative_to(PAIRS).with_suffix("").as_posix()

    @property
    def verdict(self) -> str:
        return self.fields["verdict"]

    @property
    def twin(self) -> Path:
        return self.path.with_name(f"{self.path.stem}-broken.pair")

    @property
    def compilers(self) -> set[str]:
        return {*self.fields.get("needs", "").split(), *self.fields.get("cc", "").split()}

    def command(self, *more: str) -> list[str]:
        chosen = ["--cc", self.fields["cc"]] if "cc" in self.fields else []
        files = [str(self.path.parent / self.fields[side]) for side in "ab"]
        return ["compare", *files, *chosen, *shlex.split(self.fields.get("options", "")), "--json", *more]


def read(path: Path) -> Pair:
    lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    found = [line.split(":", 1) for line in lines if line and not line.startswith("#")]
    return Pair(path, {key.strip(): value.strip() for key, value in found})


ALL = [read(path) for path in sorted(PAIRS.rglob("*.pair"))]


@cache
def absent(compiler: str) -> bool:
    here = find_spec("ziglang") if compiler == "zig" else shutil.which(compiler)
    return not here


def parameter(pair: Pair, *marks: pytest.MarkDecorator) -> Any:
    chosen = list(marks)
    if "todo" in pair.fields:
        chosen.append(pytest.mark.xfail(reason=pair.fields["todo"], strict=True))
    if "long" in pair.fields:
        chosen.append(pytest.mark.long)
    missing = sorted(filter(absent, pair.compilers))
    if missing:
        chosen.append(pytest.mark.skip(reason=f"needs {', '.join(missing)}"))
    return pytest.param(pair, id=pair.name, marks=chosen)


def ask(pair: Pair, capsys: pytest.CaptureFixture[str], *more: str) -> dict[str, Any]:
    """The command's JSON, and its exit code checked."""
    capsys.readouterr()
    code = app(pair.command(*more), standalone_mode=False)
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert code == EXIT_CODES[answer["verdict"]]
    return answer


def shown(answer: Mapping[str, Any]) -> str:
    kept = {key: answer.get(key) for key in ("engine", "witness", "why", "tried", "assumptions")}
    return json.dumps(kept, indent=1, ensure_ascii=False)


@pytest.mark.parametrize("pair", [parameter(p) for p in ALL])
def test_verdict(pair: Pair, capsys: pytest.CaptureFixture[str]) -> None:
    answer = ask(pair, capsys, *(["--budget", UNANSWERED_SECONDS] if "todo" in pair.fields else []))
    assert answer["verdict"] == pair.verdict, f"{pair.fields['because']}\n{shown(answer)}"
    assert pair.fields.get("says", "") in answer.get("why", "")
    assert (answer["proof"] is not None) == (pair.verdict == "equivalent")
    assert (answer["bound"] is not None) == (pair.verdict == "bounded")
    if pair.verdict == "different":
        require_witness(pair, answer["witness"])
    else:
        assert answer["witness"] is None


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
    return [parameter(p, *([] if crc32(p.name.encode()) % SAMPLE == 0 else [pytest.mark.long])) for p in proved]


@pytest.mark.parametrize("pair", certified())
def test_another_solver_confirms_the_certificate(
    pair: Pair, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = tmp_path / "certificate"
    answer = ask(pair, capsys, "--cert", str(folder))
    assert answer["verdict"] == "equivalent", shown(answer)
    report = check_certificate(folder)
    assert report.ok, [*report.problems, *report.rows]
    confirmed = [row.name for row in report.rows if not row.name.startswith("step-")]  # steps serve the others
    assert confirmed == [o["name"] for o in answer["proof"]["obligations"]]


@pytest.mark.parametrize("pair", [pytest.param(p, id=p.name) for p in ALL])
def test_header_is_complete(pair: Pair) -> None:
    keys = set(pair.fields)
    assert keys >= REQUIRED
    assert keys <= REQUIRED | OPTIONAL
    assert pair.verdict in EXIT_CODES
    assert pair.fields["because"].endswith(".")
    assert pair.compilers <= {"gcc", "zig"}


@pytest.mark.parametrize("pair", [pytest.param(p, id=p.name) for p in ALL if p.verdict == "equivalent"])
def test_equivalent_pair_has_a_broken_twin(pair: Pair) -> None:
    assert pair.twin.exists()
    twin = read(pair.twin)
    assert twin.verdict == "different"
    assert twin.fields["a"] == pair.fields["a"]
