"""`isoform diff`, as it is typed."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from isoform.cli import run_command

OLD = """
int unchanged(int x) { int s = 0; for (int i = 0; i < x; i++) s += i * x; return s; }
int refactored(int x) { return x * 2; }
int changed(int x) { return x > 10 ? x : 10; }
int gone(int x) { return x ^ 5; }
__attribute__((noinline)) static int helper(int x) { return x * 7 + 3; }
int uses(int x) { return helper(x) + 1; }
"""
NEW = """
int fresh(int x) { return (x << 3) - 9; }
int unchanged(int x) { int s = 0; for (int i = 0; i < x; i++) s += i * x; return s; }
int refactored(int x) { return x + x; }
int changed(int x) { return x > 10 ? x : 11; }
__attribute__((noinline)) static int assistant(int x) { return x * 7 + 3; }
int uses(int x) { return assistant(x) + 1; }
"""


@pytest.fixture
def sources(tmp_path: Path) -> tuple[str, str]:
    for name, text in (("old.c", OLD), ("new.c", NEW)):
        (tmp_path / name).write_text(text)
    return str(tmp_path / "old.c"), str(tmp_path / "new.c")


def asked(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any]]:
    code = run_command(["diff", *words, "--json", "--budget", "5", "-j", "1"])
    return code, json.loads(capsys.readouterr().out)


def statuses(found: dict[str, Any]) -> dict[str, str]:
    return {row["name"]: row["status"] for row in found["functions"]}


def test_every_function_has_one_answer(sources: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    code, found = asked(capsys, *sources, "--cflags", "-O0 -g")
    assert code == 1
    assert statuses(found) == {
        "changed": "different",
        "refactored": "equivalent",
        "fresh": "added",
        "gone": "removed",
        "unchanged": "identical",
        "uses": "identical",
        "helper → assistant": "identical",
    }
    assert found["summary"] == {"different": 1, "added": 1, "removed": 1, "equivalent": 1, "identical": 3}
    rows = {row["name"]: row for row in found["functions"]}
    assert rows["helper → assistant"]["matched_by"] == "the same code"
    assert rows["changed"]["verdict"]["witness"]["replayed_on"]
    assert rows["changed"]["old"]["source"]["line"] == 4
    assert found["functions"][0]["name"] == "changed"


def test_patterns_and_forced_matches(sources: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    code, found = asked(capsys, *sources, "--only", "un*", "--only", "uses")
    assert (code, statuses(found)) == (0, {"unchanged": "identical", "uses": "identical"})
    code, found = asked(capsys, *sources, "--only", "gone", "--match", "gone=fresh")
    assert (code, statuses(found)) == (1, {"gone → fresh": "different"})
    code, found = asked(capsys, *sources, "--skip", "changed", "--changed-only", "--cflags", "-O0")
    assert (code, statuses(found)) == (0, {"refactored": "equivalent", "fresh": "added", "gone": "removed"})


def test_the_store_has_the_answers(
    sources: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = ("--store", str(tmp_path / "kept.sqlite"))
    _, first = asked(capsys, *sources, *store)
    _, second = asked(capsys, *sources, *store)
    assert statuses(first) == statuses(second)
    asked_about = {"changed", "refactored"} & {r["name"] for r in first["functions"] if r["status"] != "identical"}
    assert {row["name"] for row in second["functions"] if row["kept"]} == asked_about


def test_answers_count_for_another_build(
    sources: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a difference the places are shown, too: it is found again where these have changed."""
    store = ("--store", str(tmp_path / "kept.sqlite"), "--cflags", "-O0 -g")
    asked(capsys, *sources, *store)
    moved = tmp_path / "moved.c"
    moved.write_text("int before(int x) { return x % 11; }\n\n" + NEW)
    _, found = asked(capsys, sources[0], str(moved), *store)
    rows = {row["name"]: row for row in found["functions"]}
    assert (rows["refactored"]["status"], rows["refactored"]["kept"]) == ("equivalent", True)
    assert rows["refactored"]["verdict"]["rewrite"]["path"] == str(moved)
    assert (rows["changed"]["status"], rows["changed"]["kept"]) == ("different", False)
    assert rows["changed"]["new"]["source"] == {"file": str(moved), "line": 7}
    moved.write_text(moved.read_text().replace("return x + x", "return 0"))
    _, found = asked(capsys, sources[0], str(moved), *store)
    rows = {row["name"]: row for row in found["functions"]}
    assert (rows["refactored"]["status"], rows["refactored"]["kept"]) == ("different", False)
    assert rows["changed"]["kept"]


def test_a_constant_that_other_code_writes_by_now(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """That nothing writes a static variable is said of the whole file, not of the functions that use it."""
    old, new = tmp_path / "old.c", tmp_path / "new.c"
    old.write_text("static int k = 5;\nint f(int x) { return x * k; }\nvoid w(int y) { }\n")
    new.write_text("int f(int x) { return x * 5; }\nvoid w(int y) { }\n")
    words = (str(old), str(new), "--store", str(tmp_path / "kept.sqlite"), "--cflags", "-O0 -g")
    assert statuses(asked(capsys, *words)[1])["f"] == "equivalent"
    assert statuses(asked(capsys, *words)[1])["f"] == "equivalent"
    old.write_text(old.read_text().replace("{ }", "{ k = y; }"))
    assert statuses(asked(capsys, *words)[1])["f"] in ("different", "unknown")


def test_answers_about_functions_of_the_same_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each is about its own function."""
    for side, number in (("old", 2), ("new", 3)):
        source = "".join(f"int {name}(int x) {{ return x * {number}; }}\n" for name in ("one", "two"))
        (tmp_path / f"{side}.c").write_text(source)
    _, found = asked(capsys, str(tmp_path / "old.c"), str(tmp_path / "new.c"), "--cflags", "-O1 -g0")
    assert {row["verdict"]["target"]["function"] for row in found["functions"]} == {"one", "two"}


def test_functions_with_names_of_the_c_library_are_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for side, number in (("old", 2), ("new", 3)):
        source = "".join(
            f"int {name}(int x) {{ return x * {number}; }}\n" for name in ("_start", "_init", "frame_dummy")
        )
        (tmp_path / f"{side}.c").write_text(source)
    code, found = asked(capsys, str(tmp_path / "old.c"), str(tmp_path / "new.c"), "--cflags", "-O1")
    assert code == 1
    assert {row["name"]: row["status"] for row in found["functions"]} == dict.fromkeys(
        ("_start", "_init", "frame_dummy"), "different"
    )


def test_accepted_differences(sources: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, found = asked(capsys, *sources, "--only", "changed")
    row = found["functions"][0]
    accepted = tmp_path / "accepted.toml"
    accepted.write_text(
        f'[[accepted]]\nfunction = "changed"\nanswer = "different"\nold = "{row["old"]["digest"]}"\n'
        f'new = "{row["new"]["digest"]}"\nreason = "it is meant"\n'
    )
    code, found = asked(capsys, *sources, "--only", "changed", "--accept", str(accepted))
    assert (code, found["functions"][0]["accepted"]) == (0, "it is meant")
    (tmp_path / "new.c").write_text(NEW.replace(": 11", ": 12"))
    code, found = asked(capsys, *sources, "--only", "changed", "--accept", str(accepted))
    assert (code, found["functions"][0]["accepted"]) == (1, None)


def accepting(row: dict[str, Any], function: str) -> str:
    return (
        f'[[accepted]]\nfunction = "{function}"\nanswer = "different"\nold = "{row["old"]["digest"]}"\n'
        f'new = "{row["new"]["digest"]}"\nreason = "it is meant"\n'
    )


def test_an_accepted_difference_is_about_the_declared_types(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The code is the same, and more bits of its result count."""
    for side, number in (("old", 1), ("new", 2)):
        (tmp_path / f"{side}.c").write_text(f"RESULT f(int x) {{ return (RESULT)(x + {number}); }}\n")
    words = (str(tmp_path / "old.c"), str(tmp_path / "new.c"))
    narrow, wide = ("--cflags", "-O2 -DRESULT=char"), ("--cflags", "-O2 -DRESULT=int")
    _, found = asked(capsys, *words, *wide)
    sizes = found["functions"][0]["old"]["size"]
    accepted = tmp_path / "accepted.toml"
    accepted.write_text(accepting(found["functions"][0], "f"))
    code, found = asked(capsys, *words, *wide, "--accept", str(accepted))
    assert (code, found["functions"][0]["accepted"]) == (0, "it is meant")
    code, found = asked(capsys, *words, *narrow, "--accept", str(accepted))
    assert found["functions"][0]["old"]["size"] == sizes
    assert (code, found["functions"][0]["accepted"]) == (1, None)


def test_compilers_of_what_is_not_compiled(
    sources: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    built = str(tmp_path / "old.o")
    subprocess.run(["cc", "-c", "-O1", sources[0], "-o", built], check=True)
    for option in ("--cc-a", "--cflags-a"):
        assert run_command(["diff", built, sources[1], f"{option}=-O1"]) == 2
        assert capsys.readouterr().err == (
            f"isoform: {option} is about how a source is compiled, and {built} is none.\n"
        )
    assert run_command(["compare", f"{built}:changed", f"{sources[1]}:changed", "--cc-a", "cc"]) == 2
    assert "--cc-a is about how a source is compiled" in capsys.readouterr().err
    assert asked(capsys, built, sources[1], "--cflags-b=-O1", "--only", "changed")[0] == 1


def test_folders(sources: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for side in ("old", "new"):
        (tmp_path / side).mkdir()
        subprocess.run(["cc", "-c", "-O1", sources[0], "-o", str(tmp_path / side / "a.o")], check=True)
    subprocess.run(["cc", "-c", "-O1", sources[1], "-o", str(tmp_path / "new" / "b.o")], check=True)
    (tmp_path / "new" / "notes.txt").write_text("no code")
    code, found = asked(capsys, str(tmp_path / "old"), str(tmp_path / "new"))
    assert code == 0
    assert {row["old"]["file"].rpartition("/")[2] for row in found["functions"] if row["old"]} == {"a.o"}
    assert {row["status"] for row in found["functions"]} == {"identical", "added"}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("{old}", "{folder}/missing.so"), "there is no file"),
        (("{old}", "{new}", "--only", "nothing*"), "no function has a name that --only and --skip leave"),
        (("{old}", "{new}", "--match", "f"), "is not OLD=NEW"),
        (("{old}", "{new}", "--match", "f=g"), "the old version has no function f"),
        (("{old}", "{new}", "--retry", "different"), "--retry different is not unknown or bounded"),
        (("{old}", "{new}", "--accept", "{old}"), "is not TOML"),
        (("{old}", "{new}", "--json", "--jsonl"), "give one"),
        (("{old}", "{new}", "--store", "{old}"), "is not a store of isoform"),
        (("{folder}/empty", "{folder}/empty"), "has no ELF files"),
        (("{old}", "{new}", "--cluster", "tcp://127.0.0.1:9"), "cannot be reached"),
        (("{old}", "{new}", "--cluster", "nonsense"), "is not the address of a scheduler"),
    ],
)
def test_bad_input(
    words: tuple[str, ...], sentence: str, sources: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    given = [word.format(old=sources[0], new=sources[1], folder=tmp_path) for word in words]
    assert run_command(["diff", *given]) == 2
    told = capsys.readouterr().err
    assert sentence in told
    assert told.count("\n") == 1


def test_the_same_files_are_not_read_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in (("old.c", OLD), ("new.c", NEW)):
        (tmp_path / name).write_text(text)
        subprocess.run(["cc", "-c", "-O0", str(tmp_path / name), "-o", str(tmp_path / name) + ".o"], check=True)
    words = (str(tmp_path / "old.c.o"), str(tmp_path / "new.c.o"), "--store", str(tmp_path / "kept.sqlite"))
    _, first = asked(capsys, *words)
    with monkeypatch.context() as patch:
        patch.setattr("isoform.diff.diff.opened", None)
        _, second = asked(capsys, *words)
    assert statuses(first) == statuses(second)
    assert {row["name"] for row in second["functions"] if row["kept"]} == {"changed", "refactored"}
    (tmp_path / "new.c.o").write_bytes((tmp_path / "old.c.o").read_bytes())
    _, third = asked(capsys, *words)
    assert set(statuses(third).values()) == {"identical"}


def test_one_file_is_not_compared_with_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("old.o", "new.o"):
        (tmp_path / "f.c").write_text(OLD)
        subprocess.run(["cc", "-c", "-O1", str(tmp_path / "f.c"), "-o", str(tmp_path / name)], check=True)
    monkeypatch.setattr("isoform.diff.unit.Identical", None)
    code, found = asked(capsys, str(tmp_path / "old.o"), str(tmp_path / "new.o"))
    assert (code, set(statuses(found).values())) == (0, {"identical"})
    assert {row["why"] for row in found["functions"]} == {"both files are the same"}
