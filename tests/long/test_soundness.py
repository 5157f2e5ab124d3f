"""The soundness campaign for two minutes, with every attack in full."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.long
@pytest.mark.compiler("cc")
def test_two_minutes_find_nothing_wrong() -> None:
    done = subprocess.run(
        [str(ROOT / "scripts" / "soundness"), "--seconds", "120", "--seed", "2", "--no-save"],
        env={**os.environ, "ISOFORM_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
