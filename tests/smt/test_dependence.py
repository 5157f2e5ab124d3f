"""Which bits of a term depend on a variable."""

from __future__ import annotations

import pytest

from isoform.smt.dependence import Dependence
from isoform.smt.terms import Term, Terms


@pytest.fixture
def terms() -> Terms:
    return Terms()


def depends(terms: Terms, term: Term, *roots: str) -> bool:
    return Dependence(terms, {terms.variable(name, 32): None for name in roots}).of(term)


def test_halves_are_apart(terms: Terms) -> None:
    both = terms.concat(terms.variable("high", 32), terms.variable("low", 32))
    chosen = terms.ite(terms.eq(terms.variable("x", 32), terms.bv(1, 32)), both, terms.variable("other", 64))
    low = terms.piece(chosen, 31, 0)
    assert not depends(terms, low, "high")
    assert depends(terms, low, "low")
    assert depends(terms, low, "x")
    assert depends(terms, terms.piece(chosen, 32, 0), "high")


def test_carries_go_up_only(terms: Terms) -> None:
    both = terms.concat(terms.variable("high", 32), terms.variable("low", 32))
    total = terms.add(both, terms.variable("other", 64))
    assert not depends(terms, terms.piece(total, 31, 0), "high")
    assert depends(terms, terms.piece(total, 63, 32), "low")


def test_extension(terms: Terms) -> None:
    low = terms.variable("low", 32)
    assert not depends(terms, terms.piece(terms.zext(low, 64), 63, 32), "low")
    assert depends(terms, terms.piece(terms.sext(low, 64), 63, 32), "low")


def test_what_memory_holds(terms: Terms) -> None:
    where = terms.variable("where", 64)
    stored = terms.store(terms.array_variable("memory", 64), where, terms.extract(terms.variable("value", 32), 7, 0))
    loaded = terms.select(stored, terms.variable("elsewhere", 64))
    assert depends(terms, loaded, "value")
    assert not depends(terms, terms.select(terms.array_variable("memory", 64), where), "value")


def test_more_variables(terms: Terms) -> None:
    roots: dict[Term, None] = {}
    dependence = Dependence(terms, roots)
    x = terms.variable("x", 32)
    assert not dependence.of(x)
    roots[x] = None
    assert dependence.of(x)
