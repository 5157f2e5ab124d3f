"""Generators as equations: solved for one value each, and in lowest terms."""

from __future__ import annotations

from isoform.engines.loops.guess.equations import Equation, equations, follows, is_plain, says_nothing
from isoform.engines.loops.guess.facts import Linear, Summand
from isoform.engines.loops.guess.features import Column, Extend, Feature

INDEX, ROW, CELL, J = (Column(Feature("a", name, 0, 32)) for name in ("rax", "rbx", "rcx", "rdx"))
WIDE = Column(Feature("b", "rdi", 0, 64))


def solved(rows: list[list[int]], columns: list[Summand], bits: int = 32) -> list[Equation]:
    modulus = 1 << bits
    return list(equations([[c % modulus for c in row] for row in rows], columns, bits, lambda unit: 1))


def test_solved_for_what_takes_small_coefficients() -> None:
    (equation,) = solved([[0, -5, 1]], [ROW, INDEX])
    assert equation.unit == INDEX
    (equation,) = solved([[0, 1, -5]], [ROW, INDEX])
    assert equation.unit == ROW
    assert equation.fact().summands[0] == (-5 % (1 << 32), INDEX)


def test_what_is_solved_for_is_written_out_elsewhere() -> None:
    """row = 10·i and cell = row + j, whichever way they were combined."""
    rows = [[0, 10, -1, 0, 0], [0, 20, -1, -1, 1]]
    for equation in solved(rows, [INDEX, ROW, CELL, J]):
        units = {e.unit for e in solved(rows, [INDEX, ROW, CELL, J])}
        assert set(equation.terms) & units == {equation.unit}


def test_signs_that_agree_by_chance_are_not_written_out() -> None:
    """In no test i was negative where n was not: p = a + 4·sext(i) all the same."""
    n, i, signed_n, signed_i = INDEX, ROW, Column(INDEX.feature, Extend.SIGN), Column(ROW.feature, Extend.SIGN)
    columns: list[Summand] = [n, signed_n, i, signed_i, WIDE]
    (equation,) = solved([[0, 1, -1, -1, 1, 0], [0, 4, -4, -4, 0, 1]], columns, 64)
    assert set(equation.terms) == {signed_i, WIDE}


def test_congruences_in_lowest_terms() -> None:
    (equation,) = solved([[0, 0xD << 60]], [WIDE], 64)
    assert equation.fact() == Linear(0, ((1, WIDE),), 4)
    assert equation.fact().text(lambda f: "x") == "x ≡ 0 (mod 16)"
    signed = Column(INDEX.feature, Extend.SIGN)
    (equation,) = solved([[0, -1 << 32, 5 << 32]], [ROW, signed], 64)
    assert equation.bits == 32
    assert set(equation.terms) == {ROW, INDEX}


def test_what_is_said_twice_or_not_at_all() -> None:
    whole = Linear(0, ((-5 % (1 << 32), INDEX), (1, ROW)), 32)
    assert follows(Linear(0, ((3, INDEX), (1, ROW)), 3), whole)
    assert not follows(Linear(1, ((3, INDEX), (1, ROW)), 3), whole)
    assert not is_plain(Linear(0, ((-5 % (1 << 64), INDEX), (1, ROW)), 64)), "that nothing wraps"
    low = Column(Feature("", "rdi", 0, 2))
    assert says_nothing(Linear(0, ((3, low), (1, Column(Feature("", "rdi", 0, 32)))), 2))
    assert not says_nothing(Linear(0, ((3, low), (1, INDEX)), 2))
