"""`isoform grade` as a user meets it: output, exit codes, files left behind, Ctrl-C."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path

import pytest

from isoform.cli import run_command

SUBMISSIONS = Path(__file__).parent / "submissions"
REFERENCE = str(SUBMISSIONS / "max_reference.asm")
FOLDER = str(SUBMISSIONS / "max")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def in_process(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = run_command(["grade", *words])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_a_table_and_both_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows, page = tmp_path / "grades.csv", tmp_path / "grades.html"
    words = (REFERENCE, FOLDER, "--tests", str(SUBMISSIONS / "max_tests.txt"), "--csv", str(rows), "--html", str(page))
    code, out, err = in_process(capsys, *words)
    assert (code, err) == (0, "")
    assert "passes all 10 tests, but differs on $1 = 2147483647 (0x7fffffff), $2 = 0" in out
    assert "11 submissions: 2 equivalent, 6 different" in out
    assert rows.read_text().count("\n") == 12
    assert page.read_text().count("<details") == 11
    assert sorted(path.name for path in tmp_path.iterdir()) == ["grades.csv", "grades.csv.state", "grades.html"]


def test_json_alone(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = in_process(capsys, REFERENCE, FOLDER, "--json", "-j", "2")
    assert (code, err) == (0, "")
    assert len(json.loads(out)["submissions"]) == 11


def test_without_output_files_the_state_is_in_the_cache(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert in_process(capsys, REFERENCE, FOLDER, "-q")[0] == 0
    assert len(list((cache / "isoform" / "grade").iterdir())) == 1
    assert "9 kept from before" in in_process(capsys, REFERENCE, FOLDER, "-q")[1]


def test_a_cache_that_cannot_be_used_is_no_obstacle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert in_process(capsys, REFERENCE, FOLDER, "-q")[0] == 0


@pytest.mark.parametrize("option", ["--csv", "--html", "--state"])
def test_an_output_that_cannot_be_written_is_said_before_the_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    for bad in (tmp_path, tmp_path / "missing" / "file"):
        code, out, err = in_process(capsys, REFERENCE, FOLDER, option, str(bad))
        assert (code, out) == (2, "")
        assert err.startswith(f"isoform: {option} {bad} cannot be written")
    assert list(tmp_path.iterdir()) == []


def test_an_output_must_not_replace_the_reference(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    reference = tmp_path / "reference.asm"
    reference.write_text(Path(REFERENCE).read_text())
    code, _, err = in_process(capsys, str(reference), FOLDER, "--csv", str(reference))
    assert code == 2
    assert "name two files" in err
    assert reference.read_text() == Path(REFERENCE).read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((REFERENCE, "EMPTY"), "has no submissions"),
        ((REFERENCE, REFERENCE), "is not a folder"),
        (("missing.asm", FOLDER), "there is no file missing.asm"),
        ((f"{FOLDER}/does_not_assemble.asm", FOLDER), "does_not_assemble.asm:7: unknown mnemonic"),
        ((REFERENCE, FOLDER, "--tests", "missing.txt"), "--tests missing.txt cannot be read"),
        ((REFERENCE, FOLDER, "--engine", "magic"), "is not an engine"),
        ((REFERENCE, FOLDER, "--isa", "vax"), "not a machine isoform knows"),
        ((REFERENCE, FOLDER, "-j", "0"), "jobs"),
        ((REFERENCE, FOLDER, "--state", REFERENCE), "name two files"),
        ((REFERENCE, FOLDER, "--assume", "+"), "--assume"),
    ],
)
def test_trouble(tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    report = tmp_path / "grades.csv"
    words = tuple(str(empty) if word == "EMPTY" else word for word in words)
    code, out, err = in_process(capsys, *words, "--csv", str(report))
    assert (code, out) == (2, "")
    assert said in err
    assert len(err.strip().splitlines()) == 1
    assert not report.exists()


def _many(folder: Path) -> str:
    """Thirty submissions of different code."""
    folder.mkdir()
    texts = [path.read_text() for path in sorted(Path(FOLDER).glob("*.asm")) if path.stem != "infinite_loop"]
    for number in range(30):
        text = texts[number % len(texts)]
        (folder / f"s{number:03}.asm").write_text("add $20, $20, $0\n" * number + text)
    return str(folder)


def test_a_grading_that_is_killed_at_any_moment_is_resumed(tmp_path: Path) -> None:
    report, state, moments = tmp_path / "grades.csv", tmp_path / "grades.csv.state", random.Random(5)
    words = [sys.executable, "-m", "isoform", "grade", REFERENCE, _many(tmp_path / "in"), "-q", "-j", "1"]
    expected = tmp_path / "expected.csv"
    subprocess.run([*words, "--csv", str(expected)], capture_output=True, timeout=120, check=True)
    kept = 0
    for _ in range(4):
        process = subprocess.Popen([*words, "--csv", str(report)], stdout=subprocess.DEVNULL)
        while process.poll() is None and _kept(state) <= kept:
            time.sleep(0.02)
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.3 * moments.random())
        process.kill()
        process.wait()
        assert _kept(state) > kept
        kept = _kept(state)
    subprocess.run([*words, "--csv", str(report)], capture_output=True, timeout=120, check=True)
    assert report.read_text() == expected.read_text()


def test_ctrl_c_ends_with_what_is_done_and_the_same_command_resumes(tmp_path: Path) -> None:
    folder = _many(tmp_path / "in")
    report, state = tmp_path / "grades.csv", tmp_path / "grades.csv.state"
    words = [sys.executable, "-m", "isoform", "grade", REFERENCE, folder, "--csv", str(report), "-j", "1"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and _kept(state) <= 5:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "of 30 submissions" in out
    assert "the same command does the rest" in err
    assert not report.exists()
    again = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert again.returncode == 0
    assert "kept from before" in again.stdout
    resumed = report.read_text()
    fresh = subprocess.run([*words, "--fresh", "-q"], capture_output=True, text=True, timeout=120, check=False)
    assert fresh.returncode == 0
    assert report.read_text() == resumed


def _kept(state: Path) -> int:
    try:
        with closing(sqlite3.connect(f"file:{state}?mode=ro", uri=True)) as database:
            return int(database.execute("select count(*) from isoform_answers").fetchone()[0])
    except sqlite3.Error:
        return 0  # it is about to be made


def test_no_process_outlives_a_killed_grading(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "isoform", "grade", REFERENCE, FOLDER, "--state", str(tmp_path / "s"), "-j", "2"]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(0.8)
    process.kill()
    process.wait()
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and _running(str(tmp_path)):
        time.sleep(0.1)
    assert not _running(str(tmp_path))


def _running(mark: str) -> list[str]:
    """Processes whose command line has `mark`: a forked worker has its parent's."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_bytes()
        except OSError:
            continue
        if os.fsencode(mark) in words and entry.parent.name != str(os.getpid()):
            found.append(entry.parent.name)
    return found


def test_the_same_code_with_other_types_has_an_answer_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Three bytes that are padding for one submission are members for the other. File names do not count."""
    body = "void f(struct s *g, int x) {{ {first}; g->b = x; }}\n"
    padded, full = "struct s { char a; int b; };\n", "struct s { char a, q, r, t; int b; };\n"
    (tmp_path / "ref.c").write_text(padded + body.format(first="g->a = x"))
    folder = tmp_path / "submissions"
    folder.mkdir()
    for name, types in (("a", padded), ("b", full), ("c", padded)):
        (folder / f"{name}.c").write_text(types + body.format(first="*(int *) g = x & 255"))
    words = ["grade", str(tmp_path / "ref.c"), str(folder), "--function", "f", "--budget", "5", "--json", "--cc", "zig"]
    run_command([*words, "--cflags=-O1 -fno-strict-aliasing"])
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)["submissions"]}
    assert {name: row["verdict"] for name, row in rows.items()} == {
        "a": "equivalent",
        "b": "different",
        "c": "equivalent",
    }
    assert {"a", "c"} & {rows["a"]["same_code_as"], rows["c"]["same_code_as"]}
