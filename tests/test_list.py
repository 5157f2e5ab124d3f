"""`isoform list`, and what a shell asks of the command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from isoform.api import inventory
from isoform.cli import run_command
from isoform.load.open import LoadOptions
from isoform.model.contract import SignatureSource
from isoform.model.errors import UserError

ASSEMBLY = """
    .globl plain, odd, caller
    .type plain, @function
plain: lea 1(%rdi), %eax
    ret
    .size plain, .-plain
    .type odd, @function
odd: xsave (%rdi)
    ret
    .size odd, .-odd
    .type caller, @function
caller: jmp elsewhere@PLT
    .size caller, .-caller
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "t.c"
    path.write_text("int used(int);\nint f(int x, char *p) { return used(x) + *p; }\n")
    return path


def test_signatures_and_where_they_come_from(source: Path, tmp_path: Path) -> None:
    (found,) = inventory(str(source), LoadOptions(cflags=("-O1",))).functions
    assert (found.name, found.signature, found.source) == ("f", "int f(int x, char *p)", SignatureSource.DWARF)
    assert found.size > 0
    assert found.instructions > 3
    assembly = tmp_path / "t.s"
    assembly.write_text(ASSEMBLY)
    plain, odd, caller = inventory(str(assembly)).functions
    assert (plain.signature, plain.source) == ("uint64_t plain(unsigned long rdi)", SignatureSource.LIVENESS)
    assert (plain.instructions, plain.missing) == (2, ())
    assert odd.missing == ("xsave",)
    assert (caller.signature, caller.source) == (None, None)
    assert "calls functions" in caller.why_not
    assert inventory(str(assembly), infers=False).functions[0].signature is None


def test_only_what_a_pattern_fits(source: Path) -> None:
    assert [f.name for f in inventory(str(source), only=("f*",)).functions] == ["f"]
    with pytest.raises(UserError, match=r"has no function that --only z\* fits"):
        inventory(str(source), only=("z*",))


def test_text_has_no_names(tmp_path: Path) -> None:
    path = tmp_path / "p.toy"
    path.write_text("RETC 1\n")
    with pytest.raises(UserError, match="is one program, without names in it"):
        inventory(str(path))


def test_the_command(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["list", str(source)]) == 0
    shown = capsys.readouterr().out
    assert "  int f(int x, char *p)\n" in shown
    assert "1 functions for x86_64; in 1 of them every instruction has semantics." in shown
    assert run_command(["list", str(source), "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["functions"][0]["signature_from"] == "debug information"
    assert content["functions"][0]["has_semantics"] is True


def test_a_shell_completes_words() -> None:
    asked = {"_ISOFORM_COMPLETE": "complete_bash", "COMP_WORDS": "isoform li", "COMP_CWORD": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "isoform"], env={**os.environ, **asked}, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout.strip()) == (0, "list")
