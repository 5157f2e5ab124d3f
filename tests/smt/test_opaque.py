"""Products as unknown functions: what does not depend on what a product is can be shown without knowing."""

from __future__ import annotations

from bitwuzla import Kind

from isoform.model.budget import Budget
from isoform.smt.opaque import Opaque
from isoform.smt.solver import Answer, Solver
from isoform.smt.terms import Term, Terms


def answer(terms: Terms, bad: Term) -> Answer:
    """With nothing known of products."""
    return Solver(terms, Budget(10)).check(Opaque(terms).rewritten([bad]), 5.0)


def test_a_product_is_the_same_both_ways_round_and_half_of_the_wide_one() -> None:
    terms = Terms()
    x, y = terms.variable("x", 64), terms.variable("y", 64)
    wide = terms.mul(terms.zext(y, 128), terms.zext(x, 128))
    signed = terms.mul(terms.sext(x, 128), terms.sext(y, 128))
    for product in (wide, signed):
        low = terms.manager.mk_term(Kind.BV_EXTRACT, [product], [63, 0])
        assert answer(terms, terms.negate(terms.eq(low, terms.mul(x, y)))) is Answer.UNSAT
    highs = [terms.manager.mk_term(Kind.BV_EXTRACT, [product], [127, 64]) for product in (wide, signed)]
    assert answer(terms, terms.negate(terms.eq(*highs))) is Answer.SAT


def test_equal_operands_give_equal_results() -> None:
    terms = Terms()
    x, y, z = (terms.variable(name, 32) for name in "xyz")
    given = terms.eq(y, z)
    for operation in (terms.mul, terms.udiv, terms.urem):
        differ = terms.negate(terms.eq(operation(x, y), operation(x, z)))
        assert answer(terms, terms.conj(given, differ)) is Answer.UNSAT
        assert answer(terms, differ) is Answer.SAT


def test_a_model_may_rest_on_a_product_that_there_is_not() -> None:
    terms = Terms()
    x = terms.variable("x", 32)
    is_two = terms.eq(terms.mul(x, x), terms.bv(2, 32))
    assert answer(terms, is_two) is Answer.SAT
    opaque = Opaque(terms)
    opaque.rewritten([is_two])
    assert opaque.operands([is_two]) == [(x, x)]
    assert Solver(terms, Budget(10)).check([is_two], 5.0) is Answer.UNSAT


def test_a_product_both_ways_round_where_factors_only_turn_out_equal() -> None:
    terms = Terms()
    x, y, z = (terms.variable(name, 32) for name in "xyz")
    assert x.id() < y.id() < z.id()
    given = terms.conj(terms.ule(x, z), terms.ule(z, x))
    differ = terms.negate(terms.eq(terms.mul(x, y), terms.mul(y, z)))
    both = terms.conj(given, differ)
    assert answer(terms, both) is Answer.SAT, "one is a function of x and y, the other of y and z"
    symmetric = Opaque(terms, symmetric=True)
    solver = Solver(terms, Budget(10))
    assert solver.check(symmetric.rewritten([both]), 5.0) is Answer.UNSAT
    assert solver.check(symmetric.rewritten([differ]), 5.0) is Answer.SAT
