"""The family `float`: conversions and scaling, each with a twin for which there is no such adaptor; and that formulas,
machine code and numbers mean the same."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
from unicorn import UC_ARCH_X86, UC_MODE_64, Uc, x86_const

from isoform import api
from isoform.adapt.adapt import AdaptOptions
from isoform.adapt.float_space import conversions, scaled, steps
from isoform.adapt.formula import expression_term
from isoform.borders.convention import place_signature
from isoform.borders.question import Options
from isoform.isa.registry import machine, wrapper_code
from isoform.load.prototype import parse_prototype
from isoform.model.adaptor import AdaptorFound, AdaptorUnknown, Emit, Family, NoAdaptor
from isoform.model.errors import UserError
from isoform.model.evaluate_floats import to_bits
from isoform.model.expression import Expression, Variable, evaluate
from isoform.model.signature import CType, TypeKind
from isoform.model.wrapper import Wrapper
from isoform.smt.terms import Terms

PAIRS = {
    "integers as doubles": (
        "double f(int w, int h) { return (double)w * h; }",
        "double g(double h, double w) { return h * w; }",
        {"h": "double(w)", "w": "double(h)"},
        "double g(double h, double w) { return h * w + 1; }",
    ),
    "float as double": (
        "int f(float a, float b) { return a < b; }",
        "int g(double b, double a, int unused) { return a < b; }",
        {"b": "double(b)", "a": "double(a)"},
        "int g(double b) { return b < 3; }",
    ),
    "a percentage": (
        "double f(double share) { return share * 100.0 + 3.0; }",
        "double g(double percent) { return percent + 3.0; }",
        {"percent": "share * 100.0"},
        "double g(double percent) { return percent + 4.0; }",
    ),
    "whole part": (
        "int f(double x) { return (int)x + 5; }",
        "int g(int n) { return n + 5; }",
        {"n": "int32(x)"},
        "int g(int n) { return n * 5; }",
    ),
    "a result in thousandths": (
        "double f(double x) { return (x + 1.0) * 1000.0; }",
        "double g(double x) { return x + 1.0; }",
        {"x": "x", "return": "result * 1000.0"},
        "double g(double x) { return x - 1.0; }",
    ),
    "a rounded result": (
        "int f(float x) { return (int)(x * x); }",
        "float g(float x) { return x * x; }",
        {"x": "x", "return": "int32(result)"},
        "float g(float x) { return x * x + x; }",
    ),
    "a constant of the code": (
        "double f(double c) { return (c - 32.0) / 1.8; }",
        "double g(double difference) { return difference / 1.8; }",
        {"difference": "c - 32.0"},
        "double g(double difference) { return difference / 1.7; }",
    ),
}


def asked(folder: Path, target: str, rewrite: str, emit: Emit | None = None) -> object:
    (folder / "f.c").write_text(target)
    (folder / "g.c").write_text(rewrite)
    how = AdaptOptions(families=(Family.FLOAT,))
    return api.adapt(f"{folder}/f.c:f", f"{folder}/g.c:g", Options(budget=30), how, emit=emit)


@pytest.mark.parametrize("name", PAIRS)
def test_adaptor(name: str, tmp_path: Path) -> None:
    from isoform.report.adaptors import answered_as_json

    target, rewrite, expected, _ = PAIRS[name]
    answer = asked(tmp_path, target, rewrite)
    assert isinstance(answer, AdaptorFound)
    said = answered_as_json(answer)["adaptor"]
    result = {"return": said["return"]} if said["return"] else {}
    assert {**said["arguments"], **result} == expected


@pytest.mark.parametrize("name", PAIRS)
def test_broken_twin(name: str, tmp_path: Path) -> None:
    answer = asked(tmp_path, PAIRS[name][0], PAIRS[name][3])
    assert isinstance(answer, NoAdaptor)
    assert answer.counterexamples


def test_too_many_combinations_are_no_proof(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("isoform.adapt.float_search.MOST_CANDIDATES", 100)
    answer = asked(tmp_path, *PAIRS["a percentage"][::3])
    assert isinstance(answer, AdaptorUnknown)
    assert "not every combination" in answer.why


def test_nothing_to_convert(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="nothing to convert"):
        asked(tmp_path, "int f(int a) { return a; }", "int g(long a) { return (int)a; }")


def test_c_of_a_conversion_that_may_not_fit(tmp_path: Path) -> None:
    target, rewrite, _, _ = PAIRS["whole part"]
    answer = asked(tmp_path, target, rewrite, Emit.C)
    assert isinstance(answer, AdaptorFound)
    assert "truncated_32(x)" in answer.emitted


# -- numbers, formulas and machine code -------------------------------------------------------------

TYPES = {
    "float": CType(TypeKind.FLOAT, 32, spelling="float"),
    "double": CType(TypeKind.FLOAT, 64, spelling="double"),
    "int": CType(TypeKind.INTEGER, 32, True, "int"),
    "unsigned": CType(TypeKind.INTEGER, 32, False, "unsigned"),
    "long": CType(TypeKind.INTEGER, 64, True, "long"),
    "short": CType(TypeKind.INTEGER, 16, True, "short"),
}
NUMBERS = (0.0, -0.0, 1.5, -3.25, 1e10, -1e20, 3.4e38, 1e-45, float("inf"))
SIGNALLING = {32: 0x7F800001, 64: 0xFFF4_0000_2000_0000}


def inputs(ctype: CType) -> list[int]:
    if ctype.is_float:
        return [*(to_bits(number, ctype.size) for number in NUMBERS), SIGNALLING[ctype.bits]]
    return [n % (1 << ctype.bits) for n in (0, 1, -1, 1 << (ctype.bits - 1), 0x5A37_1234_9876_5431)]


def expressions(given: str, wanted: str) -> list[Expression]:
    ctype = TYPES[given]
    variable = Variable("x", ctype.bits, ctype.signed)
    given_one = [(variable, ctype)]
    found = [e for step in steps((0.1, 100.0)) for e in scaled(given_one, TYPES[wanted], step)]
    return [*conversions(given_one, TYPES[wanted]), *found]


@pytest.mark.parametrize(("given", "wanted"), [*product(TYPES, TYPES)])
def test_formulas_and_machine_code_agree_with_numbers(given: str, wanted: str) -> None:
    for expression in expressions(given, wanted):
        terms = Terms()
        bits = TYPES[given].bits
        made = wrapped(given, wanted, expression)
        for value in inputs(TYPES[given]):
            result = evaluate(expression, {"x": value})
            folded = expression_term(terms, expression, {"x": terms.bv(value, bits)})
            assert terms.value(folded) == result, (expression, hex(value))
            assert made(value) == result, (expression, hex(value))


CODE, CALLEE, END, STACK = 0x10_0000, 0x20_0000, 0x30_0000, 0x40_0000
IDENTITY = b"\x48\x89\xf8\xc3"  # mov rax, rdi; ret. What is in xmm0 stays there.


def wrapped(given: str, wanted: str, expression: Expression) -> Callable[[int], int]:
    """The wrapper around a function that returns its argument, on a model of the CPU."""
    own = place_signature(machine("x86_64"), parse_prototype(f"{wanted} f({given} x)"))
    callee = place_signature(machine("x86_64"), parse_prototype(f"{wanted} g({wanted} y)"))
    make = wrapper_code("x86_64")
    assert make is not None
    cpu = Uc(UC_ARCH_X86, UC_MODE_64)
    for start, content in ((CODE, make(Wrapper(own, callee, (expression,)), CODE, CALLEE)), (CALLEE, IDENTITY)):
        cpu.mem_map(start, 0x1000)
        cpu.mem_write(start, content)
    cpu.mem_map(END, 0x1000)
    cpu.mem_map(STACK, 0x10000)

    def run(value: int) -> int:
        stack = STACK + 0xF008
        cpu.mem_write(stack, END.to_bytes(8, "little"))
        cpu.reg_write(x86_const.UC_X86_REG_RSP, stack)
        cpu.reg_write(x86_const.UC_X86_REG_XMM0 if TYPES[given].is_float else x86_const.UC_X86_REG_RDI, value)
        cpu.emu_start(CODE, END)
        result = cpu.reg_read(x86_const.UC_X86_REG_XMM0 if TYPES[wanted].is_float else x86_const.UC_X86_REG_RAX)
        assert isinstance(result, int)
        return result % (1 << TYPES[wanted].bits)

    return run
