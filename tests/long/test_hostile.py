"""Damaged files of every format for two minutes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.long
@pytest.mark.compiler("cc")
def test_two_minutes_of_damaged_files() -> None:
    done = subprocess.run(
        [str(ROOT / "scripts" / "hostile"), "--seconds", "120", "--seed", "11"],
        env={**os.environ, "ISOFORM_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
