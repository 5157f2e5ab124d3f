"""A question with x86-64 on one side and RISC-V on the other, below the place where two machines are refused: each side
has its own machine and ABI, and what is abstract is compared."""

from __future__ import annotations

from pathlib import Path

import pytest

from isoform import api
from isoform.borders.question import Options, Question
from isoform.borders.settle import settle
from isoform.engines import testing
from isoform.engines.answer import lifted
from isoform.engines.concolic import Concolic
from isoform.engines.finding import Finding, Found, Proved
from isoform.engines.loopfree import Loopfree
from isoform.lift.function import Function
from isoform.load.open import LoadOptions, open_one
from isoform.model.budget import Budget
from isoform.model.errors import Unsupported, UserError
from isoform.model.outcome import Inputs, Status

X86, RISCV = "x86_64", "riscv64"
BOTH = [(X86, RISCV), (RISCV, X86)]
SUM = "int f(int a, int b) { return a + b * 3; }\n"
TWIN = "int f(int a, int b) { return a + b * 2; }\n"
EQUIVALENT = [
    SUM,
    "int f(int a, int b) { return a < b ? a : b; }\n",
    "unsigned f(unsigned a, unsigned short b) { return (a >> 3) + b; }\n",
    "long f(long a, signed char b) { return (a << 3) ^ b; }\n",
    "unsigned char f(int a, unsigned char b) { return (unsigned char)(a * b); }\n",
    "long f(long a, long b, long c, long d, long e, long g, long h, long i, long j) { return a - g + h * i - j; }\n",
    "void f(int *p, int n) { p[0] = n; p[1] = p[0] + 1; }\n",
    "int f(const int *p, long n) { return p[n] + p[0]; }\n",
]


def function(folder: Path, source: str, isa: str) -> Function:
    path = folder / f"{isa}.c"
    path.write_text(source)
    return lifted(open_one(f"{path}:f", LoadOptions(isa=isa, cflags=("-O1",))))


def asked(folder: Path, sources: tuple[str, str], isas: tuple[str, str], signature: str | None = None) -> Question:
    target, rewrite = (function(folder, source, isa) for source, isa in zip(sources, isas, strict=True))
    return settle(target, rewrite, Options(signature=signature))


def answered(folder: Path, sources: tuple[str, str], isas: tuple[str, str]) -> Finding:
    return Loopfree().answer(asked(folder, sources, isas), Budget(30))


@pytest.mark.parametrize("isas", BOTH)
@pytest.mark.parametrize("source", EQUIVALENT)
def test_the_same_source_for_two_machines(tmp_path: Path, source: str, isas: tuple[str, str]) -> None:
    assert isinstance(answered(tmp_path, (source, source), isas), Proved)


@pytest.mark.parametrize("isas", BOTH)
def test_a_twin_is_different_and_replayed_on_both_machines(tmp_path: Path, isas: tuple[str, str]) -> None:
    found = answered(tmp_path, (SUM, TWIN), isas)
    assert isinstance(found, Found)
    assert found.witness.differences[0].what == "return value"
    assert dict(found.witness.arguments)["b"] != 0


@pytest.mark.parametrize("isas", BOTH)
def test_tests_find_the_twin(tmp_path: Path, isas: tuple[str, str]) -> None:
    assert isinstance(testing.Testing().answer(asked(tmp_path, (SUM, TWIN), isas), Budget(30)), Found)
    quick = testing.Testing(thorough=False)
    assert not isinstance(quick.answer(asked(tmp_path, (SUM, SUM), isas), Budget(30)), Found)


@pytest.mark.parametrize("isas", BOTH)
def test_memory_is_compared(tmp_path: Path, isas: tuple[str, str]) -> None:
    sources = "void f(int *p, int n) { p[0] = n; }\n", "void f(int *p, int n) { p[1] = n; }\n"
    assert isinstance(answered(tmp_path, sources, isas), Found)


@pytest.mark.parametrize("isas", BOTH)
@pytest.mark.parametrize("signature", [None, "int f(char a)"])
def test_a_plain_char_has_a_sign_on_one_machine_only(
    tmp_path: Path, isas: tuple[str, str], signature: str | None
) -> None:
    source = "int f(char a) { return a; }\n"
    found = Loopfree().answer(asked(tmp_path, (source, source), isas, signature), Budget(30))
    assert isinstance(found, Found)
    assert dict(found.witness.arguments)["a"] >= 0x80


def test_arguments_are_where_each_side_finds_them(tmp_path: Path) -> None:
    question = asked(tmp_path, (SUM, SUM), (X86, RISCV))
    inputs = Inputs({"rdi": 0xDEAD_0000_0007, "rsi": 0xFFFF_FFFF})
    left, right = question.inputs_of_sides((inputs, inputs))
    assert left is inputs
    assert right.registers == {"a0": 7, "a1": 0xFFFF_FFFF_FFFF_FFFF}
    outcomes = question.run_both((inputs, inputs))
    assert [outcome.status for outcome in outcomes] == [Status.DONE, Status.DONE]
    assert (outcomes[0].registers["rax"] & 0xFFFF_FFFF, outcomes[1].registers["a0"]) == (4, 4)
    assert not question.differences(*outcomes)


BROKEN = {
    "saved register": "li s3, 1\n addw a0, a0, a1\n ret",
    "stack pointer": "addi sp, sp, -16\n addw a0, a0, a1\n ret",
    "extension": "add a0, a0, a1\n ret",
}


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("isas", BOTH)
def test_each_side_restores_what_its_own_abi_says(tmp_path: Path, name: str, isas: tuple[str, str]) -> None:
    text = f'__attribute__((naked)) int f(int a, int b) {{ __asm__("{BROKEN[name]}"); }}'.replace("\n", "\\n")
    plain = "int f(int a, int b) { return (int)((unsigned)a + (unsigned)b); }\n"
    sources = (text, plain) if isas[0] == RISCV else (plain, text)
    found = Loopfree().answer(asked(tmp_path, sources, isas, "int f(int a, int b)"), Budget(30))
    assert isinstance(found, Found)
    assert "restored" in found.witness.differences[0].what


def test_what_is_not_treated_says_so(tmp_path: Path) -> None:
    calls = "int g(int); int f(int a) { return g(a) + 1; }\n"
    with pytest.raises(Unsupported, match="outside calls"):
        asked(tmp_path, (calls, calls), (X86, RISCV))
    with pytest.raises(Unsupported, match="concolic"):
        Concolic().answer(asked(tmp_path, (SUM, SUM), (X86, RISCV)), Budget(5))


def test_the_question_is_refused_where_files_are_opened(tmp_path: Path) -> None:
    paths = [tmp_path / f"{isa}.c" for isa in (X86, RISCV)]
    for path in paths:
        path.write_text(SUM)
    load = [LoadOptions(isa=isa) for isa in (X86, RISCV)]
    with pytest.raises(UserError, match="same machine"):
        api.compare(f"{paths[0]}:f", f"{paths[1]}:f", None, *load)
