"""Bounds of values on a path, against all numbers of a small width."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from isoform.smt.terms import Term, Terms
from isoform.sym.path_bounds import most

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
