"""Addresses that code forms in two instructions: only where both belong together; the upper part is nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from isoform import api
from isoform.borders.question import Options
from isoform.load.open import LoadOptions
from isoform.model.verdict import Different, Equivalent, Unknown, Verdict

ISA = LoadOptions(isa="riscv64", cc="zig")
SIGNATURE = "unsigned long f(unsigned long p, unsigned long q, unsigned long r)"
TEXT = """
.text
.globl f
.type f, @function
f:
{}
.size f, .-f
.data
.globl x, y
.type x, @object
.type y, @object
x: .word 5
.size x, 4
y: .word 6
.size y, 4
"""
LOADED = "1: auipc a0, %pcrel_hi(x)\n lw a0, %pcrel_lo(1b)(a0)\n ret"
FORMED = "1: auipc a0, %pcrel_hi(x)\n addi a0, a0, %pcrel_lo(1b)\n ret"


def asked(folder: Path, target: str, rewrite: str) -> Verdict:
    paths = []
    for name, body in (("target", target), ("rewrite", rewrite)):
        paths.append(folder / f"{name}.s")
        paths[-1].write_text(TEXT.format(body))
    options = Options(budget=10, signature=SIGNATURE)
    return api.compare(f"{paths[0]}:f", f"{paths[1]}:f", options, ISA, ISA)


@pytest.mark.parametrize(
    "body",
    [
        "1: auipc a5, %pcrel_hi(x)\n lw a0, %pcrel_lo(1b)(a5)\n ret",
        "1: auipc a5, %pcrel_hi(x)\n beqz a1, 2f\n nop\n2: lw a0, %pcrel_lo(1b)(a5)\n ret",
        "lui a0, %hi(x)\n lw a0, %lo(x)(a0)\n ret",
        "1: auipc a0, %got_pcrel_hi(x)\n ld a0, %pcrel_lo(1b)(a0)\n lw a0, 0(a0)\n ret",
        "1: auipc a0, %pcrel_hi(x)\n2: auipc a1, %pcrel_hi(y)\n lw a1, %pcrel_lo(2b)(a1)\n"
        " lw a0, %pcrel_lo(1b)(a0)\n ret",
    ],
    ids=["register", "paths", "absolute", "slot", "interleaved"],
)
def test_both_parts_are_the_address(tmp_path: Path, body: str) -> None:
    assert isinstance(asked(tmp_path, LOADED, body), Equivalent)
    assert isinstance(asked(tmp_path, LOADED, body.replace("(x)", "(y)")), Different)


@pytest.mark.parametrize(
    "body",
    [
        "1: auipc a0, %pcrel_hi(x)\n bnez a1, 2f\n li a0, 0\n2: lw a0, %pcrel_lo(1b)(a0)\n ret",
        "1: auipc a5, %pcrel_hi(x)\n mv a4, a5\n lw a0, %pcrel_lo(1b)(a4)\n ret",
        "1: auipc a0, %pcrel_hi(x)\n bnez a1, 3f\n2: lw a0, %pcrel_lo(1b)(a0)\n ret\n3: mv a0, a2\n j 2b",
        "lui a0, %hi(x)\n lw a0, %lo(x + 4)(a0)\n ret",
        "lui a0, %hi(y)\n lw a0, %lo(x)(a0)\n ret",
    ],
    ids=["one path", "copied", "jumped to", "elsewhere", "other object"],
)
def test_a_lower_part_needs_its_upper_part(tmp_path: Path, body: str) -> None:
    verdict = asked(tmp_path, LOADED, body)
    assert isinstance(verdict, Unknown)
    assert "need not hold its upper part" in verdict.why or "upper part of an address by itself" in verdict.why
    assert isinstance(asked(tmp_path, body, body), Unknown)


@pytest.mark.parametrize("shift", ["nop", "srai a0, a0, 12", "srai a0, a0, 40"])
def test_the_upper_part_alone_is_not_known(tmp_path: Path, shift: str) -> None:
    body = f"1: auipc a0, %pcrel_hi(x)\n {shift}\n ret"
    for other in (body, f"nop\n {body}", "li a0, 0\n ret", FORMED):
        assert not isinstance(asked(tmp_path, body, other), Equivalent)


@pytest.mark.parametrize(
    "body",
    [
        "auipc a0, 0\n li a0, 1\n ret",
        "1: auipc a0, %pcrel_hi(.Lhere)\n addi a0, a0, %pcrel_lo(1b)\n.Lhere: ret",
        "1: auipc a0, %tls_ie_pcrel_hi(t)\n ld a0, %pcrel_lo(1b)(a0)\n add a0, a0, tp\n lw a0, 0(a0)\n ret",
        ".weak w\n1: auipc a0, %pcrel_hi(w)\n addi a0, a0, %pcrel_lo(1b)\n snez a0, a0\n ret",
        "lui a0, %hi(x)\n addiw a0, a0, %lo(x)\n ret",
    ],
    ids=["without a relocation", "label", "thread-local", "weak", "32 bits"],
)
def test_what_has_no_rule_is_refused(tmp_path: Path, body: str) -> None:
    assert isinstance(asked(tmp_path, body, body), Unknown)


def test_where_a_linker_puts_things_is_not_known(tmp_path: Path) -> None:
    upper_half = "lui a0, %hi(x)\n addi a0, a0, %lo(x)\n srli a0, a0, 31\n ret"
    assert isinstance(asked(tmp_path, upper_half, "li a0, 0\n ret"), Unknown)
    apart = FORMED.replace("ret", "2: auipc a1, %pcrel_hi(y)\n addi a1, a1, %pcrel_lo(2b)\n sub a0, a1, a0\n ret")
    assert isinstance(asked(tmp_path, apart, "li a0, 4\n ret"), Unknown)
