"""Inputs near a witness differ from it in one place, and refute what fits it by chance."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from changed import BUFFER, Tried, arguments, prototype, root_cause_of
from isoform.explain.nearby import nearby


def test_an_argument_or_some_bytes_that_are_read(tmp_path: Path) -> None:
    tried = Tried(
        tmp_path,
        "mov eax, [rdi]; add eax, esi; ret",
        "mov eax, [rdi]; sub eax, esi; ret",
        prototype("int f(int *p, int x)"),
        arguments(rdi=BUFFER, rsi=5),
    )
    witness = tried.case.inputs
    reads = dict.fromkeys(range(BUFFER, BUFFER + 4), 0)
    found = list(islice(nearby(tried.question, witness, reads), 20))
    assert all(left.registers["rdi"] == BUFFER for left, _ in found)
    assert all((left.registers != witness[0].registers) != (left.memory != witness[0].memory) for left, _ in found)
    assert all(set(left.memory) <= set(reads) for left, _ in found)
    assert any(left.memory for left, _ in found)
    assert all(left.registers == right.registers and left.memory == right.memory for left, right in found)


def test_they_are_among_the_runs_of_the_witness_path(tmp_path: Path) -> None:
    """Random inputs hardly ever have x = 12345."""
    tried = Tried(
        tmp_path,
        "mov eax, esi; cmp edi, 12345; jne 1f; lea eax, [rsi+3]; 1: ret",
        "mov eax, esi; cmp edi, 12345; jne 1f; lea eax, [rsi+4]; 1: ret",
        prototype("int f(int x, int y)"),
        arguments(rdi=12345, rsi=1),
    )
    path = tried.case.target.trace
    assert sum(case.target.trace == path for case in tried.runs.others) > 5
    assert root_cause_of(tried) == ("lea eax,[rsi + 0x3]", "lea eax,[rsi + 0x4]")
