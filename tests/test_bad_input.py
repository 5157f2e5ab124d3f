"""Whatever is wrong with what the user typed: one clear sentence on stderr, exit code 2, nothing left behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from isoform.cli import run_command

SOURCE = """
int counter;
int parse_header(int x) { return x + 1; }
int parse_footer(int x) { return x - 1; }
unsigned fits(unsigned n, unsigned *p) { return n + *p; }
"""
EMPTY_FUNCTION = (
    "\t.globl g\n\t.type g, @function\ng:\tret\n\t.size g, 1\n\t.globl f\n\t.type f, @function\nf:\n\t.size f, 0\n"
)
RUNS_OFF = "\t.globl f\n\t.type f, @function\nf:\tmov $1, %eax\n\t.size f, .-f\n"

Refused = Callable[..., str]


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Refused:
    """Runs a command in `tmp_path` that must be refused, and returns its sentence."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(scratch))
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))

    def run(*words: str, lines: int | None = 1) -> str:
        before = sorted(tmp_path.rglob("*"))
        code = run_command(list(words))
        captured = capsys.readouterr()
        assert code == 2, (code, captured)
        assert captured.out == ""
        assert captured.err.startswith("isoform: ")
        assert "Traceback" not in captured.err
        if lines is not None:
            assert captured.err.count("\n") == lines, captured.err
            assert captured.err.rstrip()[-1] in ".?", captured.err
        assert sorted(tmp_path.rglob("*")) == before, "something was left behind"
        return captured.err.removeprefix("isoform: ").strip()

    return run


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "parse.c"
    path.write_text(SOURCE)
    return path


@pytest.fixture
def built(source: Path) -> Path:
    return _compile(source, "old.o")


def _compile(source: Path, name: str, *flags: str) -> Path:
    output = source.parent / name
    driver = [sys.executable, "-m", "ziglang", "cc"] if flags else ["cc"]
    subprocess.run([*driver, *flags, "-c", str(source), "-o", str(output)], check=True, capture_output=True)
    return output


# -- files ----------------------------------------------------------------------------------------


def test_missing_file(refused: Refused) -> None:
    assert "nowhere.o" in refused("compare", "nowhere.o:f", "nowhere.o:g")


def test_missing_file_as_a_whole_command(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "isoform", "compare", "nowhere.o:f", "nowhere.o:g"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "nowhere.o" in done.stderr


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads everything")
def test_unreadable_file(refused: Refused, built: Path) -> None:
    built.chmod(0)
    assert "old.o" in refused("show", "old.o:parse_header")


def test_directory(refused: Refused, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    assert "folder" in refused("show", "folder:f")


@pytest.mark.parametrize("content", [b"", b"\x7fEL", b"hello, world\n", bytes(4096), b"\x7fELF" + bytes(200)])
def test_not_an_elf(refused: Refused, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "text.o").write_bytes(content)
    assert "text.o" in refused("show", "text.o:f")


@pytest.mark.parametrize("kept", [20, 64, 100, 300, 700, 0.5, 0.9, 0.99])
def test_truncated_elf(refused: Refused, built: Path, kept: float) -> None:
    content = built.read_bytes()
    (built.parent / "cut.o").write_bytes(content[: kept if isinstance(kept, int) else int(len(content) * kept)])
    assert "cut.o" in refused("show", "cut.o:parse_header")


@pytest.mark.parametrize("target", ["aarch64-linux-musl", "x86-linux-musl", "riscv32-linux-musl"])
def test_another_machine(refused: Refused, source: Path, built: Path, target: str) -> None:
    pytest.importorskip("ziglang")
    _compile(source, "other.o", "-target", target)
    assert "other.o" in refused("compare", "old.o:parse_header", "other.o:parse_header")
    assert "other.o" in refused("show", "other.o:parse_header")


def test_object_files_of_two_machines(refused: Refused, source: Path, built: Path) -> None:
    pytest.importorskip("ziglang")
    _compile(source, "other.o", "-target", "riscv64-linux-musl")
    sentence = refused("compare", "old.o:parse_header", "other.o:parse_header")
    assert "other.o is riscv64" in sentence
    assert "--isa" in refused("show", "other.o:parse_header", "--isa", "x86_64")


def test_machines_that_differ_between_the_sides(refused: Refused, built: Path, tmp_path: Path) -> None:
    (tmp_path / "p.toy").write_text("RET 0\n")
    sentence = refused("compare", "old.o:parse_header", "p.toy")
    assert "toy" in sentence
    assert "x86_64" in sentence


def test_unknown_machine(refused: Refused, built: Path) -> None:
    assert "z80" in refused("show", "old.o:parse_header", "--isa", "z80")


# -- functions ------------------------------------------------------------------------------------


def test_no_such_function(refused: Refused, built: Path) -> None:
    sentence = refused("compare", "old.o:pars_header", "old.o:parse_header")
    assert "pars_header" in sentence
    assert "did you mean 'parse_header'" in sentence


def test_ambiguous_function(refused: Refused, built: Path) -> None:
    sentence = refused("compare", "old.o", "old.o")
    assert "parse_header" in sentence


def test_function_of_size_zero(refused: Refused, tmp_path: Path) -> None:
    (tmp_path / "empty.s").write_text(EMPTY_FUNCTION)
    assert "'f'" in refused("compare", "empty.s:f", "empty.s:g")


def test_data_named_as_function(refused: Refused, built: Path) -> None:
    assert "counter" in refused("show", "old.o:counter")


def test_code_that_runs_off_its_section(refused: Refused, tmp_path: Path) -> None:
    (tmp_path / "off.s").write_text(RUNS_OFF)
    assert "off.s" in refused("compare", "off.s:f", "off.s:f")


# -- text -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text"), [("p.toy", "NOP\nFROB r0 1\n"), ("p.asm", "add $3, $1, $2\nfrob $1\njr $31\n")]
)
def test_unknown_mnemonic_has_its_line(refused: Refused, tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    sentence = refused("compare", name, name)
    assert f"{name}:2" in sentence
    assert "frob" in sentence.lower()


@pytest.mark.parametrize("name", ["p.toy", "p.asm"])
@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00\x01", b"\x00" * 100])
def test_text_that_is_no_program(refused: Refused, tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    assert name in refused("show", name)


def test_compile_error_shows_the_compiler_s_message(refused: Refused, tmp_path: Path) -> None:
    (tmp_path / "wrong.c").write_text("int f(int x) { return y; }\n")
    message = refused("compare", "wrong.c:f", "wrong.c:f", lines=None)
    assert "wrong.c" in message
    assert "undeclared" in message


def test_no_such_compiler(refused: Refused, source: Path) -> None:
    assert "nosuch" in refused("show", "parse.c:parse_header", "--cc", "nosuch")


def test_unclosed_quote_in_flags(refused: Refused, source: Path) -> None:
    assert "--cflags" in refused("show", "parse.c:parse_header", "--cflags", "'-O2")


# -- the contract ---------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", "int f(", "not a prototype", "struct s f(int)"])
def test_signature_that_does_not_parse(refused: Refused, built: Path, text: str) -> None:
    sentence = refused("compare", "old.o:parse_header", "old.o:parse_footer", "--signature", text)
    assert "signature" in sentence


@pytest.mark.parametrize("text", ["n > 0", "x >", "x = 3", "", "x > 1 &&& x < 4", "f(x) > 1"])
def test_precondition_that_does_not_parse(refused: Refused, source: Path, text: str) -> None:
    assert "assume" in refused("compare", "parse.c:parse_header", "parse.c:parse_footer", "--assume", text)


def test_precondition_names_what_is_unknown(refused: Refused, source: Path) -> None:
    sentence = refused("compare", "parse.c:parse_header", "parse.c:parse_header", "--assume", "n > 0")
    assert "'n'" in sentence
    assert "x" in sentence


@pytest.mark.parametrize("engine", ["auto", "loopfree"])
def test_precondition_that_admits_no_input(refused: Refused, source: Path, engine: str) -> None:
    words = ("compare", "parse.c:parse_header", "parse.c:parse_footer", "--engine", engine)
    assert "no input" in refused(*words, "--assume", "x > 0", "--assume", "x < 0")
    assert "no input" in refused(*words, "--assume", "x != x")


# -- options --------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["missing/report.html", "folder", "/proc/report.html"])
def test_unwritable_html(refused: Refused, source: Path, where: str) -> None:
    (source.parent / "folder").mkdir()
    words = ("compare", "parse.c:parse_header", "parse.c:parse_header", "--html", where)
    assert "--html" in refused(*words)


@pytest.mark.parametrize("where", ["file", "/proc/certificate", "full"])
def test_unwritable_certificate(refused: Refused, source: Path, where: str) -> None:
    (source.parent / "file").write_text("something else\n")
    (source.parent / "full").mkdir()
    (source.parent / "full" / "precious").write_text("not a certificate\n")
    words = ("compare", "parse.c:parse_header", "parse.c:parse_header", "--cert", where)
    assert "--cert" in refused(*words)


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("compare", "a", "b", "--nosuch"), "--nosuch"),
        (("compare", "a", "b", "--engine", "nosuch"), "nosuch"),
        (("compare", "a", "b", "--memory", "sometimes"), "--memory"),
        (("compare", "a", "b", "--return-as", "int"), "--return-as"),
        (("compare", "a", "b", "--budget", "soon"), "--budget"),
        (("compare", "a", "b", "--budget", "-1"), "--budget"),
        (("compare", "a", "b", "--budget", "nan"), "--budget"),
        (("compare", "a", "b", "--fuel", "0"), "--fuel"),
        (("compare", "a", "b", "c"), "c"),
        (("compare",), "A"),
        (("nosuch",), "nosuch"),
        (("check", "nowhere"), "nowhere"),
        (("show",), "A"),
    ],
)
def test_wrong_words(refused: Refused, words: tuple[str, ...], named: str) -> None:
    assert named in refused(*words)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("three",), "three"),
        (("1.5",), "1.5"),
        ((), "1 argument"),
        (("1", "2"), "1 argument"),
        (("0x100000000",), "32 bits"),
        (("-2147483649",), "32 bits"),
        (("--nosuch",), "--nosuch"),
        (("9" * 5000,), "number"),
    ],
)
def test_wrong_arguments_of_run(refused: Refused, source: Path, arguments: tuple[str, ...], named: str) -> None:
    assert named in refused("run", "parse.c:parse_header", *arguments)


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"format": "isoform-certificate"}', "\x00"])
def test_certificate_that_is_none(refused: Refused, tmp_path: Path, content: str) -> None:
    (tmp_path / "cert").mkdir()
    (tmp_path / "cert" / "index.json").write_text(content)
    assert "index.json" in refused("check", "cert")


def test_hostile_names_do_not_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["show", "\x1b[31mred.o:f"]) == 2
    assert "\x1b" not in capsys.readouterr().err


def test_half_of_a_surrogate_pair_in_tests(refused: Refused, tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text("int f(const char *s) { return *s; }\n")
    (tmp_path / "t.json").write_text('[{"s": {"text": "\\ud800x"}}]')
    assert "surrogate" in refused("compare", "f.c", "f.c", "--tests", "t.json")


def test_a_function_and_nothing_to_compare_it_with(refused: Refused, tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text("int f(int x) { return x; }\n")
    assert "compares f with itself: give a second file or --cflags-b" in refused("compare", "f.c:f")
    assert "with itself" in refused("compare", "f.c:f", "--cflags=-O1")


PROGRAM = "add $3, $1, $2\njr $31\n"


def test_a_link_to_itself_among_submissions(refused: Refused, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "reference.asm").write_text(PROGRAM)
    (tmp_path / "in" / "me.asm").symlink_to("me.asm")
    assert "me.asm is not an ordinary file" in refused("grade", "reference.asm", "in")


@pytest.mark.parametrize("option", ["--csv", "--html", "--state"])
def test_a_report_over_a_submission(refused: Refused, tmp_path: Path, option: str) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "reference.asm").write_text(PROGRAM)
    (tmp_path / "in" / "one.asm").write_text(PROGRAM)
    assert "is one of the submissions" in refused("grade", "reference.asm", "in", option, "in/one.asm")
    assert (tmp_path / "in" / "one.asm").read_text() == PROGRAM


@pytest.mark.parametrize(
    "words",
    [
        ("compare", "missing.o:f", "other.o:f", "--json"),
        ("diff", "missing.o", "other.o", "--jsonl"),
        ("adapt", "missing.o:f", "other.o:f", "--json"),
        ("compare", "--no-such-option", "--json"),
    ],
)
def test_a_mistake_is_an_object_for_programs(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(list(words)) == 2
    captured = capsys.readouterr()
    assert json.loads(captured.out) == {"error": captured.err.removeprefix("isoform: ").strip()}


@pytest.mark.parametrize("option", ["--pure", "--idempotent"])
def test_an_empty_name_of_a_function(refused: Refused, tmp_path: Path, option: str) -> None:
    (tmp_path / "f.c").write_text("int f(int x) { return x; }")
    assert option in refused("compare", "f.c:f", "f.c:f", "--cflags-b=-O1", option, "")


def test_diff_of_a_file_that_is_not_there(refused: Refused, tmp_path: Path) -> None:
    (tmp_path / "old.c").write_text("int f(int x) { return x; }")
    assert "there is no file" in refused("diff", "old.c", "nw.c")
