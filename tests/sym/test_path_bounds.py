"""Bounds of values on a path, against all numbers of a small width."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from isoform.smt.terms import Term, Terms
from isoform.sym.path_bounds import bounds, most

WIDTH = 4
Order = Callable[[Terms, Term, Term], Term]
ORDERS: dict[str, tuple[Order, Callable[[int, int], bool]]] = {
    "ult": (Terms.ult, lambda a, b: a < b),
    "ule": (Terms.ule, lambda a, b: a <= b),
    "slt": (Terms.slt, lambda a, b: (a ^ 8) < (b ^ 8)),
    "sle": (Terms.sle, lambda a, b: (a ^ 8) <= (b ^ 8)),
}


def test_the_check_before_a_table() -> None:
    terms = Terms()
    value, other = terms.variable("x", 32), terms.variable("y", 32)
    index = terms.concat(terms.zext(value, 62), terms.bv(0, 2))
    checked = terms.negate(terms.ult(terms.bv(4, 32), value))
    assert most(terms, checked, index) == 16
    assert most(terms, terms.conj(terms.eq(other, terms.bv(1, 32)), checked), index) == 16
    assert most(terms, terms.negate(terms.ult(terms.bv(4, 32), other)), index) == (1 << 34) - 4


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("turned", "negated"), [(False, False), (False, True), (True, False), (True, True)])
def test_no_value_on_the_path_is_larger(order: str, turned: bool, negated: bool) -> None:
    terms = Terms()
    value = terms.variable("x", WIDTH)
    build, holds = ORDERS[order]
    for limit in range(1 << WIDTH):
        constant = terms.bv(limit, WIDTH)
        path = build(terms, constant, value) if turned else build(terms, value, constant)
        path = terms.negate(path) if negated else path
        on_path = [n for n in range(1 << WIDTH) if (holds(limit, n) if turned else holds(n, limit)) != negated]
        assert most(terms, path, value) >= max(on_path, default=0)


def _checked_between(terms: Terms, value: Term, low: int, high: int) -> Term:
    """The way unoptimised code checks an index: against each end."""
    at_least = terms.negate(terms.ult(value, terms.bv(low, WIDTH)))
    return terms.conj(at_least, terms.negate(terms.ult(terms.bv(high, WIDTH), value)))


def _signed(number: int) -> int:
    return number - (1 << WIDTH) if number >> (WIDTH - 1) else number


@pytest.mark.parametrize("added", range(1 << WIDTH))
def test_a_sum_with_a_constant_moves_both_bounds(added: int) -> None:
    terms = Terms()
    value = terms.variable("x", WIDTH)
    moved = terms.add(value, terms.bv(added, WIDTH))
    for low in range(1 << WIDTH):
        for high in range(low, 1 << WIDTH):
            path = _checked_between(terms, value, low, high)
            reached = [(n + added) % (1 << WIDTH) for n in range(low, high + 1)]
            least, largest = bounds(terms, path, moved)
            assert least <= min(reached)
            assert largest >= max(reached)
            if max(reached) - min(reached) == high - low:
                assert (least, largest) == (min(reached), max(reached))
            wide = [_signed(n) % (1 << 2 * WIDTH) for n in reached]
            least, largest = bounds(terms, path, terms.sext(moved, 2 * WIDTH))
            assert least <= min(wide)
            assert largest >= max(wide)


def test_a_choice_may_be_either_of_its_operands() -> None:
    terms = Terms()
    value, condition = terms.variable("x", 32), terms.eq(terms.variable("y", 32), terms.bv(1, 32))
    chosen = terms.ite(condition, value, terms.bv(9, 32))
    assert bounds(terms, terms.ult(value, terms.bv(5, 32)), chosen) == (0, 9)
    assert bounds(terms, terms.eq(value, terms.bv(12, 32)), chosen) == (9, 12)
    assert bounds(terms, terms.ult(terms.bv(4, 32), chosen), chosen)[0] == 5


def test_what_a_path_excludes_is_no_bound_of_the_other_one() -> None:
    terms = Terms()
    value = terms.variable("x", 32)
    is_four = terms.eq(value, terms.bv(4, 32))
    assert bounds(terms, is_four, value) == (4, 4)
    assert bounds(terms, terms.negate(is_four), value) == (0, (1 << 32) - 1)
