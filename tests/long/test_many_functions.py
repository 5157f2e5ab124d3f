"""Thousands of functions at once: memory stays bounded."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parent.parent.parent / "bench"


@pytest.mark.long
def test_five_thousand_functions_take_less_than_a_gigabyte() -> None:
    done = subprocess.run(
        [sys.executable, str(BENCH / "diff_many.py")], stdout=subprocess.PIPE, text=True, check=True, timeout=3000
    )
    assert "5000 functions: 50 different, 4950 identical" in done.stdout
    found = re.search(r"memory +(\d+) MiB", done.stdout)
    assert found is not None
    assert int(found[1]) < 1024
