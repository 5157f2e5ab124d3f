"""Adaptors as C and SMT-LIB mean what the expressions mean; C that was not proved is not printed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from ctypes import CDLL, c_double, c_float, c_int8, c_int16, c_int32, c_int64, c_uint8, c_uint16, c_uint32, c_uint64
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from documents import ROOT
from isoform import api
from isoform.adapt import emit
from isoform.adapt.c_expression import CExpressions
from isoform.adapt.c_text import wrapper_text
from isoform.adapt.smt_text import definition
from isoform.load.compile import compiler
from isoform.model.adaptor import AdaptorFound, AdaptorUnknown, Emit
from isoform.model.errors import UserError
from isoform.model.evaluate_floats import canonical_nan, is_nan, to_bits
from isoform.model.expression import (
    Change,
    Constant,
    Conversion,
    Expression,
    FloatOperation,
    FloatOperator,
    Operation,
    Operator,
    Variable,
    evaluate,
)
from isoform.model.signature import CType, TypeKind

LIBRARY = ("-shared", "-fPIC", "-nostdlib")
"""A library that takes what it needs of the C library from the process that loads it: zig then builds none."""
WIDTHS = (8, 16, 32, 64)
KINDS: dict[tuple[int, bool], Any] = {
    **{(8, True): c_int8, (16, True): c_int16, (32, True): c_int32, (64, True): c_int64},
    **{(8, False): c_uint8, (16, False): c_uint16, (32, False): c_uint32, (64, False): c_uint64},
}
FLOATS: dict[int, Any] = {32: c_float, 64: c_double}


def integer(bits: int, signed: bool) -> CType:
    return CType(TypeKind.INTEGER, bits, signed, f"{'' if signed else 'u'}int{bits}_t")


def floating(bits: int) -> CType:
    return CType(TypeKind.FLOAT, bits, spelling="float" if bits == 32 else "double")


Named = tuple[str, dict[str, CType], Expression]


def integer_expressions() -> Iterator[Named]:
    """Every operator, on variables of both signs and on constants that need care; conversions between all widths."""
    for bits, signed in product(WIDTHS, (True, False)):
        types = {"x": integer(bits, signed), "y": integer(bits, signed)}
        x, y = (Variable(name, bits, signed) for name in types)
        word = f"{bits}_{'s' if signed else 'u'}"
        for operator in Operator:
            operands = (x,) if operator.is_unary else (x, y)
            yield f"{operator.name}_{word}", types, Operation(operator, operands)
            for number in (0, 3, -1, -5, 1 << (bits - 1)) if not operator.is_unary else ():
                constant = Constant(number % (1 << bits), bits)
                name = f"{operator.name}_{word}_by_{number % 97}"
                yield name, types, Operation(operator, (Operation(Operator.SUBTRACT, (y, x)), constant))
        for wanted in WIDTHS:
            changes = [Change.TRUTH]
            changes += [Change.TRUNCATED] if wanted < bits else []
            changes += [Change.SIGN_EXTENDED, Change.ZERO_EXTENDED] if wanted > bits else []
            for change in changes:
                yield f"{change.name}_{word}_{wanted}", types, Conversion(change, x, wanted)


def float_expressions() -> Iterator[Named]:
    for bits in (32, 64):
        types = {"x": floating(bits), "y": floating(bits)}
        x = Variable("x", bits)
        for operator in FloatOperator:
            yield f"f_{operator.name}_{bits}", types, FloatOperation(operator, (x, Variable("y", bits)))
            constant = Constant(to_bits(0.1, bits // 8), bits, is_float=True)
            yield f"f_{operator.name}_{bits}_constant", types, FloatOperation(operator, (x, constant))
        for wanted in (32, 64):
            yield f"f_to_{bits}_{wanted}", types, Conversion(Change.TO_SIGNED, x, wanted)
            own = {"x": integer(wanted, True), "y": integer(wanted, True)}
            whole = Variable("x", wanted)
            yield f"f_from_{bits}_{wanted}", own, Conversion(Change.FROM_SIGNED, whole, bits)
        yield f"f_resized_{bits}", types, Conversion(Change.RESIZED_FLOAT, x, 96 - bits)


EXPRESSIONS = [*integer_expressions(), *float_expressions()]


def is_float(expression: Expression) -> bool:
    if isinstance(expression, Conversion):
        return expression.change in (Change.FROM_SIGNED, Change.RESIZED_FLOAT)
    return isinstance(expression, FloatOperation)


def numbers(ctype: CType) -> list[int]:
    if ctype.kind is TypeKind.FLOAT:
        given = (0.0, -0.0, 1.0, -1.5, 0.3, 1e10, -3e9, 2147483647.0, -2147483648.0, 9.3e18, 1e300, float("inf"))
        return [to_bits(number, ctype.bits // 8) for number in given]
    bits = ctype.bits
    return [
        n % (1 << bits) for n in (0, 1, 2, -1, -2, 7, 1 << (bits - 1), (1 << (bits - 1)) - 1, 0x5A37 << (bits // 2))
    ]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> CDLL:
    """All of them as functions of one library. It is text of our own, made here."""
    folder = tmp_path_factory.mktemp("library")
    parts = ["#include <stdint.h>"]
    helpers: dict[str, str] = {}
    functions = []
    for name, types, expression in EXPRESSIONS:
        texts = CExpressions({one: (one, ctype) for one, ctype in types.items()})
        kind = f"uint{expression.bits}_t" if not is_float(expression) else floating(expression.bits).spelling
        given = ", ".join(f"{ctype.spelling} {one}" for one, ctype in types.items())
        functions.append(f"{kind} {name}({given}) {{ return {texts.text(expression)}; }}")
        helpers |= texts.functions
    source = folder / "all.c"
    source.write_text("\n".join([*parts, *helpers.values(), *functions]), encoding="utf-8")
    built = folder / "all.so"
    # Trapping at whatever is undefined in C.
    flags = [*LIBRARY, "-O1", "-fsanitize=undefined", "-fsanitize-trap=undefined", "-Wno-everything"]
    subprocess.run([*compiler("zig"), *flags, str(source), "-o", str(built)], check=True, timeout=120)
    return CDLL(str(built))


def as_given(ctype: CType, value: int) -> Any:
    if ctype.kind is TypeKind.FLOAT:
        return FLOATS[ctype.bits].from_buffer_copy(value.to_bytes(ctype.bits // 8, "little"))
    return KINDS[ctype.bits, ctype.signed](value)


def test_c_means_what_the_expressions_mean(library: CDLL) -> None:
    for name, types, expression in EXPRESSIONS:
        function = library[name]
        function.restype = FLOATS[expression.bits] if is_float(expression) else KINDS[expression.bits, False]
        for values in product(*(numbers(ctype) for ctype in types.values())):
            given = dict(zip(types, values, strict=True))
            said = function(*(as_given(types[one], value) for one, value in given.items()))
            found = to_bits(said, expression.bits // 8) if is_float(expression) else said
            assert as_one_nan(expression, found) == as_one_nan(expression, evaluate(expression, given)), (name, given)


def as_one_nan(expression: Expression, value: int) -> int:
    """C does not say which NaN results."""
    size = expression.bits // 8
    return canonical_nan(size) if is_float(expression) and is_nan(value, size) else value


def test_smt_means_what_the_expressions_mean() -> None:
    import z3

    for name, types, expression in EXPRESSIONS:
        wanted = floating(expression.bits) if is_float(expression) else integer(expression.bits, False)
        text, claims = definition(name, types, expression, wanted), []
        for values in [*product(*(numbers(ctype) for ctype in types.values()))][::3]:
            given = dict(zip(types, values, strict=True))
            shown = " ".join(_literal(types[one], value) for one, value in given.items())
            claims.append(f"(= ({name} {shown}) {_literal(wanted, evaluate(expression, given))})")
        solver = z3.Solver()
        solver.from_string(f"{text}(assert (not (and {' '.join(claims)})))")
        assert solver.check() == z3.unsat, name


def _literal(ctype: CType, value: int) -> str:
    number = f"(_ bv{value} {ctype.bits})"
    if ctype.kind is TypeKind.FLOAT:
        return f"((_ to_fp {'8 24' if ctype.bits == 32 else '11 53'}) {number})"
    return number


# -- the command ----------------------------------------------------------------------------------

VARIANTS = ROOT / "examples" / "variants"


def emitted(target: str, rewrite: str, variants: bool = False) -> AdaptorFound:
    answer = api.adapt(target, rewrite, emit=Emit.C, variants=variants)
    assert isinstance(answer, AdaptorFound)
    return answer


def test_wrapper_is_compiled_and_compared(tmp_path: Path) -> None:
    source = tmp_path / "two.c"
    source.write_text("int add(int a, char b) { return a + b; } int sum(long b, int a) { return a + (int)b; }")
    text = emitted(f"{source}:add", f"{source}:sum").emitted
    assert "extern int sum(long b, int a);" in text
    assert "int sum_adapted(int a, char b)" in text
    assert "does what add does, for every input" in text


def test_a_parameter_called_result(tmp_path: Path) -> None:
    source = tmp_path / "two.c"
    source.write_text("long less(int result, int b) { return result - b; } int minus(int b, int a) { return a - b; }")
    text = emitted(f"{source}:less", f"{source}:minus").emitted
    assert "int result = minus(b, result_);" in text


def test_what_is_not_proved_is_not_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "two.c"
    source.write_text("int less(int a, int b) { return a - b; } int minus(int b, int a) { return a - b; }")
    right = wrapper_text
    monkeypatch.setattr(emit, "wrapper_text", lambda found: right(found).replace("minus(b, a)", "minus(a, b)"))
    answer = api.adapt(f"{source}:less", f"{source}:minus", emit=Emit.C)
    assert isinstance(answer, AdaptorUnknown)
    assert "different" in answer.why
    assert answer.exit_code == 3


def test_without_a_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("isoform.load.compile.shutil.which", lambda name: None)
    monkeypatch.setattr("isoform.load.compile._has_zig", lambda: False)
    with pytest.raises(UserError, match="no C compiler was found"):
        api.adapt(tmp_path / "a.o", tmp_path / "b.o", emit=Emit.C)


@pytest.mark.parametrize("how", [None, Emit.SMT])
def test_variants_are_in_c(how: Emit | None) -> None:
    with pytest.raises(UserError, match="--emit c"):
        api.adapt("a.o", "b.o", emit=how, variants=True)


def test_no_variants_of_what_has_effects(tmp_path: Path) -> None:
    source = tmp_path / "two.c"
    source.write_text("int a(int *p, int v) { return *p = v; } int b(int v, int *p) { return *p = v; }")
    with pytest.raises(UserError, match="would happen twice"):
        emitted(f"{source}:a", f"{source}:b", variants=True)


def test_the_harness_runs_and_reports(tmp_path: Path) -> None:
    """The example of docs/variants.md, built and run: our own code only."""
    text = emitted(f"{VARIANTS}/target.c:swap_halves", f"{VARIANTS}/rewrite.c:rotate_right", variants=True).emitted
    harness = tmp_path / "harness.c"
    harness.write_text(text)
    page = (ROOT / "docs" / "variants.md").read_text()
    assert text[text.index("unsigned int swap_halves_variants") :] in page
    sources = [*(str(VARIANTS / name) for name in ("main.c", "target.c", "rewrite.c")), str(harness)]
    shown = "00000000\n00010000\n56781234\n0000ffff\n"
    for flags, reported in (((), ""), (("-DBUG",), "swap_halves: the variants diverge:")):
        built = tmp_path / f"variants{len(flags)}.so"
        command = [*compiler("zig"), *LIBRARY, *flags, "-fno-sanitize=undefined", "-Werror", *sources, "-o", str(built)]
        subprocess.run(command, check=True, timeout=300)
        start = [sys.executable, "-c", f"import ctypes; ctypes.CDLL({str(built)!r}).main()"]
        said = subprocess.run(start, capture_output=True, text=True, check=True, timeout=60)
        assert said.stdout == shown
        assert said.stderr.partition("\n")[0] == reported
        if reported:
            assert said.stderr.splitlines()[0:4] == page[page.index(reported) :].splitlines()[0:4]
