"""Which parameter the address of each access is computed from."""

from __future__ import annotations

from pathlib import Path

import pytest

from assembled import lifted, source
from isoform.borders.convention import place_signature
from isoform.lift.derived import address_bases
from isoform.load.prototype import parse_prototype

P, Q = 0, 1
"""Of f(char *p, char *q, long n)."""
FUNCTIONS = {
    "plain": "mov eax, [rdi+4]; mov [rsi+4*rdx], eax; ret",
    "loop": "1: mov al, [rdi]; mov [rsi], al; inc rdi; inc rsi; cmp rdi, rdx; jne 1b; ret",
    "through_frame": "push rbp; mov rbp, rsp; mov [rbp-8], rdi; mov rax, [rbp-8]; mov al, [rax+rdx]; pop rbp; ret",
    "by_distance": "sub rsi, rdi; 1: mov al, [rdi]; mov [rdi+rsi], al; inc rdi; dec rdx; jne 1b; ret",
    "shifted_distance": "sub rsi, rdi; sar rsi, 2; mov eax, [rdi+4*rsi]; ret",
    "either": "test edx, edx; cmovne rdi, rsi; mov al, [rdi]; ret",
    "joined": "test edx, edx; je 1f; mov rdi, rsi; 1: mov al, [rdi]; ret",
    "loaded": "mov rax, [rdi]; mov al, [rax]; ret",
    "indexed_by_memory": "movsxd rax, dword ptr [rdi]; mov al, [rsi+rax]; ret",
    "stored_and_loaded": "mov [rdi], rsi; mov rax, [rdi]; mov al, [rax]; mov al, [rdi+rax]; ret",
    "overwritten_slot": "mov [rsp-8], rdi; mov [rsp-8], rsi; mov rax, [rsp-8]; mov al, [rax]; ret",
    "half_overwritten": "mov [rsp-8], rdi; mov [rsp-8], edx; mov rax, [rsp-8]; mov al, [rax]; ret",
    "indexed_frame": "mov [rsp-8], rdi; mov [rsp+8*rdx-64], rsi; mov rax, [rsp-8]; mov al, [rax]; ret",
    "masked": "and rdi, -16; mov al, [rdi]; ret",
    "if_equal": "cmp rdi, rsi; jne 1f; mov al, [rdi]; ret; 1: mov al, [rsi]; ret",
    "unless_equal": "cmp rdi, rsi; je 1f; mov al, [rdi]; ret; 1: mov al, [rsi]; ret",
    "if_equal_to_number": "cmp rdi, rdx; jne 1f; mov [rdi], dl; 1: mov al, [rsi]; ret",
    "equal_in_register": "cmp rdi, rsi; sete al; test al, dl; je 1f; mov al, [rdi]; ret; 1: mov al, [rsi]; ret",
    "chosen_if_equal": "lea rax, [rsi+8]; cmp rdi, rsi; cmove rsi, rax; mov al, [rsi]; ret",
    "if_null": "test rdi, rdi; je 1f; mov [rdi], dl; 1: mov al, [rsi]; ret",
    "if_aligned": "test dil, 15; jne 1f; mov [rdi], dl; 1: mov al, [rsi]; ret",
    "undefined": "bsf rcx, rdx; mov al, [rsi+rcx]; imul eax, edx; mov [rdi], eax; setz al; ret",
    "after_call": "push rbx; mov rbx, rdi; call outside; mov al, [rbx]; mov al, [rax]; pop rbx; ret",
}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return source(tmp_path_factory.mktemp("derived"), FUNCTIONS)


@pytest.mark.parametrize(
    ("name", "bases"),
    [
        ("plain", [P, Q]),
        ("loop", [P, Q]),
        ("through_frame", [P]),
        ("by_distance", [P, Q]),
        ("shifted_distance", [None]),
        ("either", [None]),
        ("joined", [None]),
        ("loaded", [P, None]),
        ("indexed_by_memory", [P, Q]),
        ("stored_and_loaded", [P, P, None, None]),
        ("overwritten_slot", [Q]),
        ("half_overwritten", [None]),
        ("indexed_frame", [None]),
        ("masked", [None]),
        ("if_equal", [Q]),
        ("unless_equal", [P]),
        ("if_equal_to_number", [Q]),
        ("equal_in_register", []),
        ("chosen_if_equal", [None]),
        ("if_null", [P, Q]),
        ("if_aligned", [P, Q]),
        ("undefined", [Q, P]),
        ("after_call", [P, None]),
    ],
)
def test_bases(file: Path, name: str, bases: list[int | None]) -> None:
    function = lifted(file, name)
    arguments = place_signature(function.machine, parse_prototype("int f(char *p, char *q, long n)")).arguments
    known = address_bases(function, arguments)
    blocks = sorted(function.blocks.values(), key=lambda block: block.id)
    places = [(block.id, number) for block in blocks for number in range(len(block.ops))]
    assert [known[place] for place in places if place in known] == [base for base in bases if base is not None]
