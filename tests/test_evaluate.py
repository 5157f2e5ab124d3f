"""The compiled runner and the symbolic step must agree with `evaluate.py` on every operator."""

from __future__ import annotations

import random

import pytest

from isoform.isa.registry import machine
from isoform.load.image import Image
from isoform.model.budget import Budget
from isoform.model.contract import Contract, SignatureSource
from isoform.model.evaluate import can_evaluate, evaluate, mask, signed
from isoform.model.evaluate_floats import FLOAT_RULES
from isoform.model.microop import Kind, MicroOp, Space, Var, const
from isoform.model.sample_floats import sample_float
from isoform.run.compile import expression_kinds
from isoform.smt.float_definitions import definitions
from isoform.smt.solver import Answer, Solver
from isoform.smt.terms import Terms
from isoform.sym.side import Side
from isoform.sym.state import initial_state
from isoform.sym.step import step
from isoform.sym.world import World

SEED = 20240607
KINDS = [kind for kind in Kind if can_evaluate(kind)]
BOOLEAN = {Kind.BOOL_AND, Kind.BOOL_OR, Kind.BOOL_XOR, Kind.BOOL_NEGATE}
COMPARISONS = {
    *(Kind.INT_EQUAL, Kind.INT_NOTEQUAL, Kind.INT_LESS, Kind.INT_LESSEQUAL, Kind.INT_SLESS, Kind.INT_SLESSEQUAL),
    *(Kind.INT_CARRY, Kind.INT_SCARRY, Kind.INT_SBORROW),
}
SHIFTS = {Kind.INT_LEFT, Kind.INT_RIGHT, Kind.INT_SRIGHT}
FLOAT_COMPARISONS = {Kind.FLOAT_EQUAL, Kind.FLOAT_LESS, Kind.FLOAT_LESSEQUAL}
UNARY = {Kind.COPY, Kind.INT_2COMP, Kind.INT_NEGATE, Kind.INT_ZEXT, Kind.INT_SEXT, Kind.POPCOUNT, Kind.LZCOUNT}


def shape(kind: Kind, rnd: random.Random) -> tuple[int, list[int]]:
    """A plausible output size and operand sizes."""
    if kind in FLOAT_RULES:
        return float_shape(kind, rnd)
    size = rnd.choice((1, 2, 4, 8, 16))
    if kind in BOOLEAN:
        return 1, [1] * (1 if kind is Kind.BOOL_NEGATE else 2)
    if kind in COMPARISONS:
        return 1, [size, size]
    if kind in SHIFTS:
        return size, [size, rnd.choice((1, 4, size))]
    if kind in (Kind.INT_ZEXT, Kind.INT_SEXT):
        return 2 * size, [size]
    if kind in (Kind.POPCOUNT, Kind.LZCOUNT):
        return rnd.choice((1, 2, 4)) if size < 16 else 2, [size]
    if kind is Kind.PIECE:
        return 2 * size, [size, size]
    if kind is Kind.SUBPIECE:
        return size, [2 * size, 4]
    if kind is Kind.SELECT:
        return size, [1, size, size]
    return size, [size] * (1 if kind in UNARY else 2)


def float_shape(kind: Kind, rnd: random.Random) -> tuple[int, list[int]]:
    size, other = rnd.choice((4, 8)), rnd.choice((4, 8))
    if kind in FLOAT_COMPARISONS:
        return 1, [size, size]
    if kind is Kind.FLOAT_NAN:
        return 1, [size]
    if kind is Kind.FLOAT_FROM_FLOAT:
        return 12 - size, [size]
    if kind in (Kind.FLOAT_FROM_INT, Kind.FLOAT_TO_INT, Kind.FLOAT_ROUND_TO_INT):
        return other, [size]
    if kind is Kind.FLOAT_ROUND:
        return size, [size, 1]
    return size, [size] * (1 if kind is Kind.FLOAT_SQRT else 2)


def operand(kind: Kind, index: int, size: int, rnd: random.Random) -> int:
    if kind in FLOAT_RULES and kind is not Kind.FLOAT_FROM_INT:
        return rnd.randrange(4) if size == 1 else sample_float(rnd, size)
    if kind in BOOLEAN or (kind is Kind.SELECT and index == 0):
        return rnd.getrandbits(1)
    if kind is Kind.SUBPIECE and index == 1:
        return 0
    top = 1 << (8 * size - 1)
    if kind in SHIFTS and index == 1 and rnd.random() < 0.6:
        return rnd.randrange(0, 140) & mask(size)
    return rnd.choice((0, 1, 2, top, top - 1, 2 * top - 1, rnd.getrandbits(8 * size), rnd.getrandbits(4))) & mask(size)


def cases(kind: Kind) -> list[tuple[MicroOp, list[int], int]]:
    rnd = random.Random(f"{SEED} {kind.name}")
    found = []
    for _ in range(60):
        out_size, sizes = shape(kind, rnd)
        values = [operand(kind, i, s, rnd) for i, s in enumerate(sizes)]
        ins = tuple(Var(Space.TEMP, i, s) for i, s in enumerate(sizes))
        if kind is Kind.SUBPIECE:
            values[1] = rnd.randrange(0, sizes[0] - out_size + 1)
            ins = (ins[0], const(values[1], 4))
        if kind is Kind.FLOAT_ROUND:
            ins = (ins[0], const(values[1], 1))
        op = MicroOp(kind, Var(Space.TEMP, 99, out_size), ins)
        found.append((op, values, evaluate(kind, out_size, sizes, values)))
    return found


def test_the_definition_itself_on_known_values() -> None:
    assert evaluate(Kind.INT_SDIV, 1, (1, 1), (0x80, 0xFF)) == 0x80
    assert evaluate(Kind.INT_SDIV, 1, (1, 1), (0xF9, 2)) == signed(0xFD, 1) & 0xFF  # -7 / 2 = -3
    assert evaluate(Kind.INT_SREM, 1, (1, 1), (0xF9, 2)) == 0xFF  # -7 % 2 = -1
    assert evaluate(Kind.INT_DIV, 2, (2, 2), (5, 0)) == 0xFFFF
    assert evaluate(Kind.INT_SRIGHT, 1, (1, 1), (0x80, 200)) == 0xFF
    assert evaluate(Kind.INT_SCARRY, 1, (1, 1), (0x7F, 1)) == 1
    assert evaluate(Kind.INT_SBORROW, 1, (1, 1), (0x80, 1)) == 1
    assert evaluate(Kind.LZCOUNT, 1, (4,), (0,)) == 32


def test_every_kind_that_has_a_value_is_compiled() -> None:
    assert set(KINDS) == set(expression_kinds())


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_runner_agrees(kind: Kind) -> None:
    from isoform.run.compile import _EXPRESSIONS

    class Helper:
        @staticmethod
        def evaluate(name: str, out: int, sizes: tuple[int, ...], values: tuple[int, ...]) -> int:
            return evaluate(Kind[name], out, sizes, values)

    for op, values, expected in cases(kind):
        assert op.out is not None
        texts = [f"({v})" for v in values]
        got = eval(_EXPRESSIONS[kind](op, texts), {"M": Helper, "min": min})
        assert int(got) & mask(op.out.size) == expected, (SEED, op, values)
        assert 0 <= int(got) <= mask(op.out.size), (SEED, op, values)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
@pytest.mark.parametrize("constant", [True, False], ids=["folded", "solved"])
def test_symbolic_step_agrees(kind: Kind, constant: bool) -> None:
    terms = Terms()
    contract = Contract(machine("x86_64"), None, SignatureSource.LIVENESS, (), ())
    image = Image("x", "x86_64", (), ())
    solver = Solver(terms, Budget(60))
    for number, (op, values, expected) in enumerate(cases(kind)):
        state = initial_state(Side(World(terms, contract), image, "a"))
        symbols = {
            v.offset: terms.variable(f"{kind.name}{number}_{v.offset}", 8 * v.size)
            for v in op.ins
            if v.space is Space.TEMP
        }
        numbers = {v.offset: terms.bv(values[i], 8 * v.size) for i, v in enumerate(op.ins) if v.space is Space.TEMP}
        temps = dict(numbers if constant else symbols)
        step(state, temps, op)
        assert op.out is not None
        result = temps[op.out.offset]
        assert terms.width(result) == 8 * op.out.size
        if constant and terms.value(result) is not None:
            assert terms.value(result) == expected, (SEED, op, values)
            continue
        pins = [terms.raw_equal(symbols[v.offset], numbers[v.offset]) for v in op.ins if v.space is Space.TEMP]
        assert solver.check([*definitions(terms, [result]), *([] if constant else pins)]) is Answer.SAT
        assert solver.value(result) == expected, (SEED, op, values)
