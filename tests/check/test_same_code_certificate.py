"""Listings of the same code: derived again from the bytes, whatever the listing says."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from isoform.api import check, compare
from isoform.check.same_code.certificate import check_listing, digest_of
from isoform.cli import run_command
from isoform.diff.diff import diff
from isoform.diff.options import DiffOptions
from isoform.load.open import LoadOptions
from isoform.model.check_report import CheckReport, CheckResult
from isoform.model.errors import UserError

pytestmark = pytest.mark.compiler("gcc-12")

FIRST = "int moved(int x) { return x * 3 + 1; }\n"
SOURCE = """
#define KEEP __attribute__((noinline))
int put(int); int get(int);
static int total = 5;
static const int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
KEEP static int step(int x) { return x * 3 + 1; }
KEEP static int other(int x) { return x * 5 + 1; }
static int (*const steps[2])(int) = {step, other};
int code(int x) { int s = 0; for (int i = 0; i < x; i++) s += i * 7; return s; }
int calls(int x) { return step(x) + put(x); }
int data(int i) { return table[i & 7] + total; }
int writes(int x) { total += x; return total; }
int pointers(int i, int x) { return steps[i & 1](x) + 1; }
const char *text(void) { return "hello"; }
int jumps(int x) {
  switch (x) {
  case 0: return put(1); case 1: return put(3) + 2; case 2: return get(4); case 3: return put(5) * 3;
  case 4: return get(9) - 1; case 5: return put(2) + get(1); case 6: return 77; default: return 0;
  }
}
"""
NAMES = ("code", "calls", "data", "writes", "pointers", "text", "jumps")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("listing")
    built(found, "old.so", SOURCE)
    built(found, "new.so", FIRST + SOURCE)
    diff(str(found / "old.so"), str(found / "new.so"), DiffOptions(cert=str(found / "cert"), budget=1.0, jobs=1))
    return found


def built(folder: Path, name: str, source: str) -> bytes:
    path = folder / f"{name}.c"
    path.write_text(source)
    words = ["gcc-12", "-O2", "-shared", "-fPIC", "-nostdlib", str(path), "-o", str(folder / name)]
    subprocess.run(words, check=True)
    return (folder / name).read_bytes()


def listing(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "cert" / "index.json").read_text())
    return found


def checked(folder: Path, index: dict[str, Any], new: bytes | None = None) -> CheckReport:
    """With the hashes made anew, as whoever makes up a listing would."""
    contents = (folder / "old.so").read_bytes(), new or (folder / "new.so").read_bytes()
    for side, data in zip(("target", "rewrite"), contents, strict=True):
        index["files"][0][side]["sha256"] = sha256(data).hexdigest()
    index["digest"] = digest_of(index)
    return check_listing(index, [contents])


def confirmed(report: CheckReport) -> set[str]:
    return {row.name for row in report.rows if row.result is CheckResult.CONFIRMED}


def test_all_are_confirmed(folder: Path) -> None:
    report = check(folder / "cert")
    assert report.ok
    assert set(NAMES) <= confirmed(report)
    assert check(folder / "cert", str(folder / "old.so"), str(folder / "new.so")).ok


CHANGES = [
    ("code", "i * 7", "i * 9"),
    ("calls", "x * 3 + 1", "x * 3 + 2"),
    ("calls", "put(x); }", "get(x); }"),
    ("data", "2, 6}", "2, 7}"),
    ("data", "total = 5", "total = 6"),
    ("writes", "total += x", "total -= x"),
    ("pointers", "{step, other}", "{other, step}"),
    ("pointers", "x * 5", "x * 9"),
    ("text", "hello", "hallo"),
    ("jumps", "case 1: return put(3) + 2; case 2: return get(4)", "case 2: return put(3) + 2; case 1: return get(4)"),
]


@pytest.mark.parametrize(("name", "before", "after"), CHANGES)
def test_a_listing_of_other_code(folder: Path, name: str, before: str, after: str) -> None:
    """The listing of the same code, given for a file in which something was changed."""
    assert before in SOURCE
    changed = FIRST + SOURCE.replace(before, after, 1)
    report = checked(folder, listing(folder), built(folder, "changed.so", changed))
    assert not report.ok
    assert name not in confirmed(report)


def entry(index: dict[str, Any], name: str) -> dict[str, Any]:
    function = next(f for f in index["files"][0]["functions"] if f["name"] == name)
    found: dict[str, Any] = next(c for c in index["files"][0]["code"] if c["entries"] == function["entries"])
    return found


def without_an_instruction(index: dict[str, Any]) -> None:
    entry(index, "code")["instructions"].pop()


def with_another_instruction(index: dict[str, Any]) -> None:
    entry(index, "code")["instructions"].append([1, 2])


def with_a_shorter_table(index: dict[str, Any]) -> None:
    entry(index, "jumps")["tables"][0][2] -= 1


def without_its_table(index: dict[str, Any]) -> None:
    entry(index, "jumps")["tables"] = []


def without_a_callee(index: dict[str, Any]) -> None:
    code = index["files"][0]["code"]
    code.remove(entry(index, "step"))


def under_another_name(index: dict[str, Any]) -> None:
    next(f for f in index["files"][0]["functions"] if f["name"] == "code")["name"] = "calls"


def with_other_entries(index: dict[str, Any]) -> None:
    functions = index["files"][0]["functions"]
    by_name = {f["name"]: f for f in functions}
    by_name["code"]["entries"] = [by_name["code"]["entries"][0], by_name["calls"]["entries"][1]]


def without_an_assumption(index: dict[str, Any]) -> None:
    index["assumptions"] = [one for one in index["assumptions"] if one["name"] != "jump-tables"]


def without_functions(index: dict[str, Any]) -> None:
    index["files"][0]["functions"] = []


@pytest.mark.parametrize(
    "change",
    [
        without_an_instruction,
        with_another_instruction,
        with_a_shorter_table,
        without_its_table,
        without_a_callee,
        under_another_name,
        with_other_entries,
        without_an_assumption,
        without_functions,
    ],
)
def test_forged_listings(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    index = listing(folder)
    change(index)
    assert not checked(folder, index).ok


def test_other_files_and_changed_words(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    built(folder, "third.so", FIRST + SOURCE.replace("i * 7", "i * 9"))
    assert not check(folder / "cert", str(folder / "old.so"), str(folder / "third.so")).ok
    index = listing(folder)
    index["assumptions"] = []
    old, new = (folder / "old.so").read_bytes(), (folder / "new.so").read_bytes()
    assert "not the one that was written" in check_listing(index, [(old, new)]).problems[0]
    (folder / "bad").mkdir()
    (folder / "bad" / "index.json").write_text(json.dumps({**index, "files": [{"label": 3}]}))
    assert run_command(["check", str(folder / "bad")]) == 2
    assert "write it again" in capsys.readouterr().err
    assert run_command(["diff", str(folder / "old.so"), str(folder / "new.so"), "--cert", str(folder)]) == 2
    assert "something else than a certificate" in capsys.readouterr().err


# -- of one question ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def compared(folder: Path) -> Path:
    """The certificate of `compare` for a function with a jump table and callees outside."""
    verdict = compare(f"{folder}/old.so:jumps", f"{folder}/new.so:jumps", cert=str(folder / "one"), budget=5)
    assert (verdict.verdict, verdict.engine) == ("equivalent", "same-code")
    return folder / "one"


def test_the_certificate_of_compare(folder: Path, compared: Path) -> None:
    report = check(compared)
    assert report.ok
    assert confirmed(report) == {"jumps"}
    old, new = f"{folder}/old.so", f"{folder}/new.so"
    assert check(compared, f"{old}:jumps", f"{new}:jumps").ok
    assert check(compared, old, new).ok


@pytest.mark.parametrize("other", ["code", "calls"])
def test_it_is_about_one_function(folder: Path, compared: Path, other: str) -> None:
    report = check(compared, f"{folder}/old.so:{other}", f"{folder}/new.so:{other}")
    assert not report.ok
    assert f"not about {other}" in report.problems[0]
    assert not check(compared, f"{folder}/old.so:jumps", f"{folder}/new.so:{other}").ok


def test_it_is_about_one_file(folder: Path, compared: Path) -> None:
    built(folder, "fourth.so", FIRST + SOURCE.replace("return 77", "return 78"))
    report = check(compared, f"{folder}/old.so:jumps", f"{folder}/fourth.so:jumps")
    assert not report.ok
    assert "not the file" in report.problems[0]


def under_the_name_of_another(index: dict[str, Any]) -> None:
    """It says that it is about `code`, and lists `jumps`."""
    index["target"]["function"] = index["rewrite"]["function"] = "code"


def with_a_name_that_is_not_its_own(index: dict[str, Any]) -> None:
    under_the_name_of_another(index)
    index["files"][0]["functions"][0]["name"] = "code"


def without_the_function(index: dict[str, Any]) -> None:
    index["files"][0]["functions"] = []


def without_its_files(index: dict[str, Any]) -> None:
    index["files"] = []


def without_what_it_rests_on(index: dict[str, Any]) -> None:
    index["assumptions"] = []


@pytest.mark.parametrize(
    "change",
    [
        under_the_name_of_another,
        with_a_name_that_is_not_its_own,
        without_the_function,
        without_its_files,
        without_what_it_rests_on,
    ],
)
def test_forged_certificates_of_compare(
    folder: Path, compared: Path, tmp_path: Path, change: Callable[[dict[str, Any]], None]
) -> None:
    index = json.loads((compared / "index.json").read_text())
    change(index)
    index["digest"] = digest_of(index)
    (tmp_path / "index.json").write_text(json.dumps(index))
    assert not check(tmp_path).ok
    assert not check(tmp_path, f"{folder}/old.so", f"{folder}/new.so").ok


def test_a_changed_file_with_its_hash_in_the_certificate(folder: Path, compared: Path, tmp_path: Path) -> None:
    index = json.loads((compared / "index.json").read_text())
    data = built(folder, "fifth.so", FIRST + SOURCE.replace("return 77", "return 78"))
    index["files"][0]["rewrite"]["sha256"] = sha256(data).hexdigest()
    index["digest"] = digest_of(index)
    (tmp_path / "index.json").write_text(json.dumps(index))
    report = check(tmp_path, f"{folder}/old.so:jumps", f"{folder}/fifth.so:jumps")
    assert not report.ok
    assert not report.problems
    assert not confirmed(report)


def test_sources(tmp_path: Path) -> None:
    """A source is built again for the check, with the same flags."""
    (tmp_path / "old.c").write_text(SOURCE)
    (tmp_path / "new.c").write_text(FIRST + SOURCE)
    sides = f"{tmp_path}/old.c:calls", f"{tmp_path}/new.c:calls"
    cert = tmp_path / "cert"
    assert compare(*sides, cert=str(cert), cflags=("-O1",), budget=5).verdict == "equivalent"
    with pytest.raises(UserError, match="give --target and --rewrite"):
        check(cert)  # a certificate does not decide what is compiled
    how = LoadOptions(cflags=("-O1",))
    assert check(cert, *sides, how, how).ok
    other = LoadOptions(cflags=("-O0",))
    assert not check(cert, *sides, how, other).ok
