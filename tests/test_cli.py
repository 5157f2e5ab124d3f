"""The command line as a user meets it: what it prints, what it returns, what it leaves behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import isoform
import isoform.cli
from isoform.cli import run_command
from isoform.model.processes import processor_seconds

EXAMPLES = Path(__file__).parent.parent / "examples"
JSON_KEYS = {
    "verdict",
    "engine",
    "seconds",
    "target",
    "rewrite",
    "contract",
    "assumptions",
    "witness",
    "root_cause",
    "proof",
    "bound",
    "tried",
    "version",
}
LOOP = """
unsigned sum(unsigned n) { unsigned s = 0; for (unsigned i = 0; i < n; i++) s += i * i; return s; }
unsigned sum_down(unsigned n) { unsigned s = 0; while (n > 0) { n--; s += n * n; } return s; }
"""
HARD = """
typedef unsigned long long u;
int left(u a, u b) {
    unsigned __int128 product = (unsigned __int128)a * b;
    return a > 1 && b > 1 && (u)(product >> 64) == 0x7807691766a5b830ULL && (u)product == 0x78db754c6c07f7a3ULL;
}
int right(u a, u b) { return 0; }
"""
"""To tell these apart is to factor a product of two primes of 64 bits."""


def example(name: str) -> str:
    path, _, function = name.partition(":")
    return str(EXAMPLES / path) + (f":{function}" if function else "")


def in_process(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = run_command(list(words))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def command(*words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "isoform", *words], capture_output=True, text=True, cwd=cwd, timeout=120, check=False
    )


@pytest.mark.usefixtures("changed_tables")
def test_a_bug_in_a_table_of_semantics_shows_a_traceback(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from isoform.isa.x86_64 import amendments

    monkeypatch.setitem(amendments._GENERAL, "RET", lambda b: dict[str, int]()["a bug"])
    code, out, err = in_process(capsys, "compare", example("abs.c:branchy"), example("abs.c:bithack"))
    assert code == 2
    assert out == ""
    assert "KeyError: 'a bug'" in err
    assert "this is a bug in isoform" in err


@pytest.mark.parametrize(
    ("target", "rewrite", "word", "code"),
    [
        ("abs.c:branchy", "abs.c:bithack", "equivalent", 0),
        ("abs.c:branchy", "abs.c:short_mask", "different", 1),
        ("bits.c:average", "bits.c:average_tricky", "equivalent", 0),
        ("bits.c:average", "bits.c:average_naive", "different", 1),
        ("bits.c:is_power_of_two", "bits.c:is_power_of_two_naive", "different", 1),
        ("bits.c:quartic", "bits.c:quartic_expanded", "equivalent", 0),
        ("swap.s:swap", "swap.s:swap_xor", "different", 1),
        ("clamp.toy", "clamp_rewrite.toy", "equivalent", 0),
        ("max.asm", "max_by_difference.asm", "different", 1),
    ],
)
def test_examples_give_the_verdict_they_are_there_for(
    capsys: pytest.CaptureFixture[str], target: str, rewrite: str, word: str, code: int
) -> None:
    assert in_process(capsys, "compare", example(target), example(rewrite), "-q") == (code, f"{word}\n", "")


def test_one_source_at_two_levels(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("compare", example("classify.c"), "--cflags-a=-O0", "--cflags-b=-O2", "-q")
    assert in_process(capsys, *words) == (0, "equivalent\n", "")


@pytest.mark.compiler("gcc-12")
def test_a_loop_is_bounded_and_says_so(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    source = tmp_path / "loop.c"
    source.write_text(LOOP)
    words = ("compare", f"{source}:sum", f"{source}:sum_down", "--unroll", "3", "--cflags=-O1", "--budget", "6")
    code, out, _ = in_process(capsys, *words)
    assert code == 3
    assert out.startswith("~ bounded")
    assert "nothing is claimed beyond" in out


def test_assembly_without_signature_compares_what_it_returns(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Assemblers describe every label as a function without a result; that is no signature."""
    for name, value in (("one", 1), ("two", 2)):
        (tmp_path / f"{name}.s").write_text(
            f"\t.globl f\n\t.type f, @function\nf:\tmov ${value}, %eax\n\tret\n\t.size f, .-f\n"
        )
    code, out, _ = in_process(capsys, "compare", str(tmp_path / "one.s"), str(tmp_path / "two.s"), "-q")
    assert (code, out) == (1, "different\n")


@pytest.mark.parametrize("rewrite", ["abs.c:bithack", "abs.c:short_mask"])
def test_json_is_one_object_with_the_promised_keys(capsys: pytest.CaptureFixture[str], rewrite: str) -> None:
    code, out, err = in_process(capsys, "compare", example("abs.c:branchy"), example(rewrite), "--json")
    answer = json.loads(out)
    assert set(answer) == JSON_KEYS
    assert err == ""
    assert answer["version"] == isoform.__version__
    assert set(answer["target"]) == {"path", "function", "isa"}
    if code == 0:
        assert answer["witness"] is None
        assert set(answer["proof"]) == {"cuts", "invariants", "obligations", "certificate"}
    else:
        assert answer["proof"] is None
        assert set(answer["witness"]) >= {"inputs", "memory", "target", "rewrite", "replayed_on"}
        assert set(answer["witness"]["target"]) >= {"status", "return"}
        x = answer["witness"]["inputs"]["x"]
        assert answer["witness"]["target"]["return"] == abs(x) != answer["witness"]["rewrite"]["return"]


def test_json_stays_alone_on_stdout_as_a_whole_command() -> None:
    done = command("compare", example("clamp.toy"), example("clamp_rewrite.toy"), "--json")
    assert json.loads(done.stdout)["verdict"] == "equivalent"
    assert (done.returncode, done.stderr) == (0, "")


def test_certificate_is_written_checked_and_tampering_noticed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = tmp_path / "proof"
    words = ("compare", example("clamp.toy"), example("clamp_rewrite.toy"), "--cert", str(folder))
    assert in_process(capsys, *words)[0] == 0
    code, out, _ = in_process(capsys, "check", str(folder))
    assert code == 0
    assert out.startswith("✓ confirmed")
    victim = next(folder.glob("*.smt2"))
    victim.write_text(victim.read_text() + "\n")
    code, out, _ = in_process(capsys, "check", str(folder))
    assert code == 1
    assert "tampered" in out
    assert in_process(capsys, "check", str(folder), "-q") == (1, "not confirmed\n", "")


def test_html_page_is_written_whole(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    words = ("compare", example("max.asm"), example("max_by_difference.asm"), "--html", str(page))
    assert in_process(capsys, *words)[0] == 1
    assert "different" in page.read_text()
    assert list(tmp_path.iterdir()) == [page]


def test_run_prints_the_result_in_both_bases(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = in_process(capsys, "run", example("abs.c:branchy"), "-7")
    assert (code, err) == (0, "")
    assert "7 (0x7)" in out
    code, out, _ = in_process(capsys, "run", example("abs.c:branchy"), "0x80000000")
    assert "-2147483648 (0x80000000)" in out


def test_run_says_how_it_ended_and_what_it_left(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    source = tmp_path / "quotient.c"
    source.write_text("int q(int a, int b, int *p) { *p = 0x1234; return a / b; }\n")
    code, out, _ = in_process(capsys, "run", f"{source}:q", "7", "0", "0x1000")
    assert code == 3
    assert "division fault" in out
    code, out, _ = in_process(capsys, "run", f"{source}:q", "7", "2", "0x1000", "--trace")
    assert code == 0
    assert "idiv" in out
    assert "0x1000: 34 12" in out


def test_run_out_of_fuel(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    source = tmp_path / "ever.c"
    source.write_text("void f(void) { for (;;) ; }\n")
    code, out, _ = in_process(capsys, "run", f"{source}:f", "--fuel", "100")
    assert code == 3
    assert "did not stop" in out


@pytest.mark.compiler("gcc-12")
def test_show_writes_micro_ops_in_infix(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = in_process(capsys, "show", example("abs.c:bithack"))
    assert code == 0
    assert "int bithack(int x)" in out
    assert "edx = edx s>> 0x1f" in out
    assert "zext" not in out
    assert "1 block, no loops" in out


@pytest.mark.compiler("gcc-12")
def test_show_names_blocks_edges_and_loops(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    source = tmp_path / "loop.c"
    source.write_text(LOOP)
    _, out, _ = in_process(capsys, "show", f"{source}:sum", "--cflags=-O1")
    assert "(loop)" in out
    assert "→ block 2" in out
    assert "1 loop" in out


def test_show_of_a_function_that_calls_a_recursive_one(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(
        "int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }\nint f(int x) { return fib(x) + 1; }\n"
    )
    assert run_command(["show", f"{path}:f", "--cflags=-O0"]) == 0
    assert "fib" in capsys.readouterr().out


def test_show_on_small_machines(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = in_process(capsys, "show", example("clamp.toy"))
    assert code == 0
    assert "block" in out
    code, out, _ = in_process(capsys, "show", example("max.asm"))
    assert code == 0
    assert "$1 s< $2" in out


def test_help_and_version(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = in_process(capsys, "--help")
    assert code == 0
    assert all(verb in out for verb in ("compare", "show", "run", "check"))
    assert in_process(capsys)[:2] == (0, out)
    assert in_process(capsys, "--version") == (0, f"isoform {isoform.__version__}\n", "")
    code, out, _ = in_process(capsys, "compare", "--help")
    assert code == 0
    assert "--signature" in out
    assert "\\[" not in out


def test_a_bug_is_not_taken_for_a_difference(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(words: list[str]) -> int:
        raise ZeroDivisionError

    monkeypatch.setattr(isoform.cli, "answered", broken)
    assert run_command(["compare"]) == 2
    err = capsys.readouterr().err
    assert "ZeroDivisionError" in err
    assert "a bug in isoform" in err


def test_reader_that_goes_away_is_no_traceback() -> None:
    words = [sys.executable, "-m", "isoform", "show", example("classify.c"), "--cflags=-O0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) != 0


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_interrupt_during_a_solve_gives_unknown_promptly(tmp_path: Path) -> None:
    source = tmp_path / "hard.c"
    source.write_text(HARD)
    words = [sys.executable, "-m", "isoform", "compare", f"{source}:left", f"{source}:right", "--budget", "100"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while processor_seconds(process.pid) < 3 and process.poll() is None:
            time.sleep(0.05)
        assert process.poll() is None, "the question is too easy to interrupt"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 3
    assert "unknown" in out
    assert "interrupted" in out
    assert "Traceback" not in err
