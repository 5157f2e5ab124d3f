"""Tests in which `restrict` pointers overlap show no difference, wherever they lead."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assembled import source
from isoform import Equivalent, Options, compare

FUNCTIONS = {
    "set_then_read": "mov dword ptr [rdi], 1; mov eax, [rsi]; ret",
    "read_then_set": "mov eax, [rsi]; mov dword ptr [rdi], 1; ret",
}
SIGNATURE = "int f(int *restrict p, int *q)"


@pytest.mark.parametrize("address", [0x1000, 0x40_0000_0000, 0x1040_0000_0000])
def test_own_tests_that_overlap(tmp_path: Path, address: int) -> None:
    """The last two are places to which `restrict` pointers are moved."""
    file = source(tmp_path, FUNCTIONS)
    tests = tmp_path / "tests.json"
    tests.write_text(json.dumps([{"p": hex(address), "q": hex(address)}]))
    options = Options(signature=SIGNATURE, tests=str(tests), budget=10)
    verdict = compare(f"{file}:set_then_read", f"{file}:read_then_set", options)
    assert isinstance(verdict, Equivalent), verdict
