"""Floating point in formulas: every identity that is used, against the defining table."""

from __future__ import annotations

import random

import pytest

from isoform.model.budget import Budget
from isoform.model.evaluate import evaluate
from isoform.model.evaluate_floats import canonical_nan, is_nan, sign_bit, to_bits
from isoform.model.microop import Kind
from isoform.model.sample_floats import sample_float
from isoform.smt import floats
from isoform.smt.float_definitions import definitions, without_functions
from isoform.smt.simulate import Simulator
from isoform.smt.solver import Answer, Solver
from isoform.smt.terms import Term, Terms

SEED = 5
ARITHMETIC = (Kind.FLOAT_ADD, Kind.FLOAT_SUB, Kind.FLOAT_MUL, Kind.FLOAT_DIV)
NUMBERS = (
    0.0,
    1.0,
    2.0,
    0.5,
    4.0,
    0.125,
    3.0,
    0.1,
    2.0**100,
    2.0**-100,
    2.0**-149,
    2.0**127,
    float("inf"),
    float("nan"),
)


def value_of(term: Term, numbers: dict[Term, int]) -> int:
    simulator = Simulator([term])
    simulator.add_sample(lambda variable, width: numbers[variable])
    return int(simulator.values[term][0])


@pytest.mark.parametrize("size", [4, 8])
@pytest.mark.parametrize("kind", ARITHMETIC, ids=lambda kind: kind.name)
def test_arithmetic_with_a_constant_is_what_the_table_says(kind: Kind, size: int) -> None:
    rng = random.Random(SEED)
    terms = Terms()
    x = terms.variable("x", 8 * size)
    sign = sign_bit(size)
    for number in (*NUMBERS, *(-number for number in NUMBERS)):
        bits = to_bits(number, size)
        for flip in (0, sign):
            operand = terms.xor_(x, terms.bv(flip, 8 * size))
            results = [
                floats.result(terms, kind, 8 * size, operands)
                for operands in ([operand, terms.bv(bits, 8 * size)], [terms.bv(bits, 8 * size), operand])
            ]
            for _ in range(12):
                value = sample_float(rng, size)
                wanted = [
                    evaluate(kind, size, (size, size), pair) for pair in ((value ^ flip, bits), (bits, value ^ flip))
                ]
                found = [value_of(result, {x: value}) for result in results]
                assert found == wanted, f"seed {SEED}: {kind.name} of {value ^ flip:#x} and {bits:#x}"


@pytest.mark.parametrize("kind", ARITHMETIC, ids=lambda kind: kind.name)
def test_arithmetic_on_opposites(kind: Kind) -> None:
    rng = random.Random(SEED + 1)
    terms = Terms()
    x, y = (terms.variable(name, 32) for name in "xy")
    for flips in ((0, 0), (sign_bit(4), 0), (0, sign_bit(4)), (sign_bit(4), sign_bit(4))):
        operands = [terms.xor_(v, terms.bv(flip, 32)) for v, flip in zip((x, y), flips, strict=True)]
        result = floats.result(terms, kind, 32, operands)
        for _ in range(60):
            values = [sample_float(rng, 4) for _ in range(2)]
            flipped = [value ^ flip for value, flip in zip(values, flips, strict=True)]
            wanted = evaluate(kind, 4, (4, 4), flipped)
            assert value_of(result, dict(zip((x, y), values, strict=True))) == wanted, (SEED, flipped)


def test_sums_and_products_do_not_depend_on_the_order() -> None:
    terms = Terms()
    x, y = (terms.variable(name, 64) for name in "xy")
    for kind in (Kind.FLOAT_ADD, Kind.FLOAT_MUL):
        assert floats.result(terms, kind, 64, [x, y]) == floats.result(terms, kind, 64, [y, x])
    for kind in (Kind.FLOAT_SUB, Kind.FLOAT_DIV):
        assert floats.result(terms, kind, 64, [x, y]) != floats.result(terms, kind, 64, [y, x])


@pytest.mark.parametrize("with_functions", [True, False])
def test_a_definition_fixes_the_result(with_functions: bool) -> None:
    """The same operation, once as it is built and once under a name of its own, cannot differ."""
    terms = Terms()
    x = terms.variable("x", 32)
    root = floats.result(terms, Kind.FLOAT_SQRT, 32, [x])
    claims = [
        terms.negate(floats.is_nan_term(terms, x)),
        terms.eq(terms.extract(x, 31, 31), terms.bv(1, 1)),
        terms.negate(terms.eq(x, terms.bv(sign_bit(4), 32))),
        terms.negate(terms.eq(root, terms.bv(canonical_nan(4), 32))),
    ]
    solver = Solver(terms, Budget(60))
    assert solver.check(claims) is Answer.SAT  # of a function nothing is known
    if with_functions:
        assert solver.check([*claims, *definitions(terms, claims)]) is Answer.UNSAT
    else:
        named, meaning = without_functions(terms, claims)
        assert len(meaning) == 1
        assert solver.check([*named, *meaning]) is Answer.UNSAT
        assert solver.check([*named[:3], *meaning]) is Answer.SAT


def test_two_applications_with_equal_operands_agree_without_functions() -> None:
    terms = Terms()
    x, y = (terms.variable(name, 32) for name in "xy")
    roots = [floats.result(terms, Kind.FLOAT_SQRT, 32, [v]) for v in (x, y)]
    claims = [terms.eq(x, y), terms.negate(terms.eq(*roots))]
    named, meaning = without_functions(terms, claims)
    assert Solver(terms, Budget(60)).check([*named, *meaning]) is Answer.UNSAT


def quiet(t: Terms, x: Term) -> Term:
    return t.or_(x, t.bv(0x400000, 32))


def machine_result(t: Terms, kind: Kind, x: Term, y: Term) -> Term:
    """As x86 gives it: the first operand that is a NaN, or the default NaN."""
    plain = floats.result(t, kind, 32, [x, y])
    made = t.ite(floats.is_nan_term(t, plain), t.bv(0xFFC00000, 32), plain)
    of_second = t.ite(floats.is_nan_term(t, y), quiet(t, y), made)
    return t.ite(floats.is_nan_term(t, x), quiet(t, x), of_second)


def machine_number(kind: Kind, x: int, y: int) -> int:
    for operand in (x, y):
        if is_nan(operand, 4):
            return operand | 0x400000
    plain = evaluate(kind, 4, (4, 4), (x, y))
    return 0xFFC00000 if is_nan(plain, 4) else plain


@pytest.mark.parametrize("number", range(40))
def test_long_computations_are_what_the_table_says(number: int) -> None:
    """Operations on results of operations, on choices, opposites and constants: all identities on top of each other."""
    rng = random.Random(f"{SEED} {number}")
    t = Terms()
    inputs = [t.variable(name, 32) for name in "xyz"]
    samples = [[sample_float(rng, 4) for _ in inputs] for _ in range(24)]
    values = [(term, [sample[n] for sample in samples]) for n, term in enumerate(inputs)]
    known = (sample_float(rng, 4), to_bits(rng.choice((1.0, -1.0, 2.0, -2.0, 0.5, -4.0, 0.0)), 4), 0x80000000)
    values += [(t.bv(bits, 32), [bits] * len(samples)) for bits in known]
    for _ in range(8):
        (x, xs), (y, ys) = rng.choice(values), rng.choice(values)
        choice = rng.random()
        if choice < 0.15:
            values.append((t.xor_(x, t.bv(sign_bit(4), 32)), [a ^ sign_bit(4) for a in xs]))
        elif choice < 0.35:
            condition = floats.less(t, x, y)
            holds = [evaluate(Kind.FLOAT_LESS, 1, (4, 4), pair) for pair in zip(xs, ys, strict=True)]
            chosen = [a if c else b for c, a, b in zip(holds, xs, ys, strict=True)]
            values.append((t.ite(condition, x, y), chosen))
        elif choice < 0.45:
            values.append((floats.with_one_nan(t, x), [canonical_nan(4) if is_nan(a, 4) else a for a in xs]))
        else:
            kind = rng.choice(ARITHMETIC)
            numbers = [machine_number(kind, a, b) for a, b in zip(xs, ys, strict=True)]
            values.append((machine_result(t, kind, x, y), numbers))
    for term, wanted in values:
        found = [value_of(term, dict(zip(inputs, sample, strict=True))) for sample in samples]
        assert found == wanted, f"seed {SEED} {number}: {term}"


def test_samples_hold_what_is_worth_trying() -> None:
    rng = random.Random(SEED)
    for size in (4, 8):
        drawn = [sample_float(rng, size) for _ in range(2000)]
        assert all(0 <= bits < 1 << 8 * size for bits in drawn)
        assert {0, sign_bit(size), to_bits(float("inf"), size), to_bits(1.0, size), 1} <= set(drawn)
        assert sum(is_nan(bits, size) for bits in drawn) > 50
