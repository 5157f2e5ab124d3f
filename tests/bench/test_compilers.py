"""Concolic execution finds every bug of the faulty compilers, and the report on it says what was found."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from isoform.api import compare
from isoform.borders.question import Engine, Options
from isoform.model.verdict import Different
from minicompiler.bugs import Style, styles_of
from minicompiler.cases import CASES, Case
from minicompiler.compiler import Compiler

ROOT = Path(__file__).resolve().parents[2]


BUILDS = [
    pytest.param(case, style, id=f"{case.bug.name}-{style.value}", marks=pytest.mark.long if number else [])
    for case in CASES
    for number, style in enumerate(styles_of(case.bug))
]
"""Each bug in one style of code; with `--long` in all that can have it."""


@pytest.mark.parametrize(("case", "style"), BUILDS)
def test_concolic_finds_every_bug(case: Case, style: Style, tmp_path: Path) -> None:
    compiler = Compiler(style, case.bug)
    paths = (tmp_path / f"{style.value}-reference.asm", tmp_path / f"{style.value}.asm")
    paths[0].write_text(compiler.reference.compile(case.program))
    paths[1].write_text(compiler.compile(case.program))
    verdict = compare(str(paths[0]), str(paths[1]), Options(engine=Engine("concolic")))
    assert isinstance(verdict, Different), (style, verdict.word)
    assert verdict.engine == "concolic"


def test_the_report_tells_the_methods_apart() -> None:
    words = ["--bugs", "BRANCH_SENSE", "LOW_FOR_HIGH", "--programs", "0", "--controls", "1", "--tests", "50"]
    done = subprocess.run(
        [sys.executable, str(ROOT / "bench" / "compilers.py"), *words],
        env=dict(os.environ),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    rows = {(line.split()[0], line.split()[1]): line.split()[2:] for line in done.stdout.splitlines() if "/" in line}
    assert [column for column in rows["BRANCH_SENSE", "naive"] if "/" in column] == ["1/1", "1/1", "1/1"]
    assert [column for column in rows["LOW_FOR_HIGH", "better"] if "/" in column] == ["0/1", "0/1", "1/1"]
    assert "missed" not in done.stdout
