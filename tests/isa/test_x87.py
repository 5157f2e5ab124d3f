"""x87: the arithmetic against exact fractions, the stack, and all instructions against the host's processor."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from isoform.isa.registry import machine
from isoform.isa.x86_64 import x87_numbers
from isoform.isa.x86_64.builder import Builder
from isoform.isa.x86_64.registers import X87, X87_AT_ENTRY
from isoform.lift.cfg import control_flow_graph
from isoform.lift.function import Call, Stop
from isoform.load.image import Image, Section
from isoform.model.evaluate import evaluate
from isoform.model.microop import Kind, Space, Var, const
from isoform.model.outcome import Inputs, Status
from isoform.run.compile import compile_function
from isoform.run.runner import RunOptions, run
from semantics.host_oracle import HostOracle, is_available
from semantics.x87_forms import PROGRAMS, check_x87, sample_extended

SEED = 41
MACHINE = machine("x86_64")
INFINITY = 0x7FFF << 64 | 1 << 63
DATA = 0x2000_0000


def computed(b: Builder, result: Var) -> int:
    values: dict[Var, int] = {}
    for op in b.ops:
        assert op.out is not None
        ins = [var.offset if var.space is Space.CONST else values[var] for var in op.ins]
        values[op.out] = evaluate(op.kind, op.out.size, [var.size for var in op.ins], ins)
    return values[result]


def on_numbers(name: str, *patterns: int) -> int:
    b = Builder(0, 1)
    operands = [b.hold(const(pattern, 10)) for pattern in patterns]
    return computed(b, getattr(x87_numbers, name)(b, *operands))


def fraction(pattern: int) -> Fraction:
    exponent = max(pattern >> 64 & 0x7FFF, 1) - 16383 - 63
    value = Fraction(pattern & (1 << 64) - 1) * Fraction(2) ** exponent
    return -value if pattern >> 79 else value


def is_finite(pattern: int) -> bool:
    exponent = pattern >> 64 & 0x7FFF
    return exponent != 0x7FFF and (exponent == 0 or bool(pattern >> 63 & 1))


def rounded(value: Fraction, bits: int, least: int, most: int) -> tuple[int, int] | None:
    """Significand and exponent of the nearest number of so many bits; None for infinity. Ties go to the even one."""
    magnitude = abs(value)
    exponent = least
    if magnitude:
        exponent = max(magnitude.numerator.bit_length() - magnitude.denominator.bit_length() - bits - 1, least)
        while magnitude / Fraction(2) ** exponent >= 1 << bits:
            exponent += 1
    significand = round(magnitude / Fraction(2) ** exponent)
    if significand == 1 << bits:
        significand, exponent = significand // 2, exponent + 1
    return (significand, exponent) if exponent <= most else None


def nearest(value: Fraction, negative_zero: bool) -> int:
    found = rounded(value, 64, -16382 - 63, 16383 - 63)
    sign = (value < 0 or (value == 0 and negative_zero)) << 79
    if found is None:
        return sign | INFINITY
    significand, exponent = found
    field = exponent + 16383 + 63 if significand >> 63 else 0
    return sign | field << 64 | significand


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide"])
def test_arithmetic_is_exact_and_rounded_once(name: str) -> None:
    rng = random.Random(SEED)
    tried = 0
    while tried < 300:
        x, y = sample_extended(rng), sample_extended(rng)
        if not (is_finite(x) and is_finite(y)) or (name == "divide" and fraction(y) == 0):
            continue
        tried += 1
        a, b = fraction(x), fraction(y)
        signs = x >> 79, y >> 79
        exact, negative = {
            "add": (a + b, signs == (1, 1)),
            "subtract": (a - b, signs == (1, 0)),
            "multiply": (a * b, signs[0] != signs[1]),
            "divide": (a / b if b else a, signs[0] != signs[1]),
        }[name]
        wanted = nearest(exact, negative)
        assert on_numbers(name, x, y) == wanted, f"seed {SEED}: {name} {x:#x} {y:#x}"


@pytest.mark.parametrize(("size", "bits", "least", "most"), [(4, 24, -149, 104), (8, 53, -1074, 971)])
def test_conversion_to_floats_rounds_once(size: int, bits: int, least: int, most: int) -> None:
    rng = random.Random(SEED)
    for _ in range(400):
        x = sample_extended(rng)
        if not is_finite(x):
            continue
        b = Builder(0, 1)
        found = computed(b, x87_numbers.to_float(b, b.hold(const(x, 10)), size))
        parts = rounded(fraction(x), bits, least, most)
        infinity = ((1 << (8 * size - bits)) - 1) << (bits - 1)
        if parts is None:
            wanted = infinity
        else:
            significand, exponent = parts
            normal = significand >> (bits - 1)
            wanted = significand - (1 << (bits - 1)) + ((exponent - least + 1) << (bits - 1)) if normal else significand
        assert found == wanted | x >> 79 << (8 * size - 1), f"seed {SEED}: {x:#x}"


@pytest.mark.parametrize("size", [2, 4, 8])
def test_integers_come_back(size: int) -> None:
    rng = random.Random(SEED)
    for _ in range(200):
        value = rng.choice((0, 1, rng.getrandbits(8 * size), 1 << (8 * size - 1), (1 << (8 * size - 1)) - 1))
        for truncated in (False, True):
            b = Builder(0, 1)
            number = x87_numbers.from_integer(b, b.hold(const(value, size)))
            assert computed(b, x87_numbers.to_integer(b, number, size, truncated)) == value & ((1 << 8 * size) - 1)


def test_every_instruction_agrees_with_the_processor() -> None:
    if not is_available():
        pytest.skip("no processor of this kind here")
    host = HostOracle()
    try:
        reports = [check_x87(name, code, host, 12, SEED) for name, code in PROGRAMS]
    finally:
        host.close()
    assert len(reports) == len(PROGRAMS)
    assert not [(r.name, r.disagreements) for r in reports if r.disagreements], f"seed {SEED}"


# The stack and what a function does with it


def function_of(code: str, externals: dict[int, str] | None = None) -> object:
    data = bytes.fromhex(code)
    image = Image("x87.o", "x86_64", (Section(".text", 0x1000, data, len(data), False, True),), (), externals or {})
    return control_flow_graph(image, MACHINE, "f", 0x1000)


def x87_after(code: str) -> int:
    outcome = run(compile_function(function_of(code)), Inputs({"rdi": DATA}), RunOptions())  # type: ignore[arg-type]
    assert outcome.status is Status.DONE
    return outcome.registers["x87"]


def test_an_empty_stack_is_as_at_entry() -> None:
    assert x87_after("d9e8 ddd8 c3") == X87_AT_ENTRY  # fld1; fstp st0
    assert x87_after("d9e8 d9eb dee9 db3f c3") == X87_AT_ENTRY  # fld1; fldpi; fsubp; fstp [rdi]


def test_what_is_left_on_the_stack_is_seen() -> None:
    one, zero = x87_after("d9e8 c3"), x87_after("d9ee c3")
    assert len({one, zero, X87_AT_ENTRY}) == 3
    assert "x87" in MACHINE.convention.callee_saved


def test_more_than_eight_numbers_push_out_the_first() -> None:
    top = x87_after("d9e8" * 9 + "c3") & (1 << 80) - 1
    assert top == 0xFFFF_C000_0000_0000_0000


def test_writing_far_beyond_the_stack_leaves_it_undefined() -> None:
    ops = MACHINE.decode(bytes.fromhex("ddd3"), 0).ops  # fst st3
    assert any(op.kind is Kind.UNDEFINED and op.out is not None and op.out.size == X87.size for op in ops)


def test_a_call_beside_x87_code_has_no_semantics() -> None:
    call = "e8fb0f0000"  # to 0x2000
    plain = function_of(call + "c3", {0x2000: "g"})
    assert any(isinstance(block.exit, Call) for block in plain.blocks.values())  # type: ignore[attr-defined]
    mixed = function_of(call + "db3fc3", {0x2000: "g"})
    (block,) = [block for block in mixed.blocks.values() if block.id == mixed.entry]  # type: ignore[attr-defined]
    assert isinstance(block.exit, Stop)
    assert block.ops[-1].kind is Kind.UNSUPPORTED


@pytest.mark.parametrize("code", ["dfe0", "d9e5", "d8d1", "d92e", "d9fe", "66d9e8", "f3d9e8", "ddc1", "dbe3"])
def test_what_reads_flags_or_changes_modes_has_no_semantics(code: str) -> None:
    assert [op.kind for op in MACHINE.decode(bytes.fromhex(code), 0).ops] == [Kind.UNSUPPORTED]
