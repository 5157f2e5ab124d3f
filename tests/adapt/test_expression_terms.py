"""Expressions as terms and on many numbers at once, against `model.expression.evaluate`."""

from __future__ import annotations

import random
from itertools import product

import numpy as np
import pytest
from bitwuzla import Bitwuzla, Options

from isoform.adapt.bulk import BulkFormula, apply_in_bulk
from isoform.adapt.formula import applied, converted, expression_term
from isoform.model.expression import Change, Operator, Variable, apply, evaluate
from isoform.model.expression import converted as converted_number
from isoform.smt.terms import Term, Terms
from made_expressions import boundary, random_expression

WIDTHS = (4, 8, 16, 32, 64)


def numbers(bits: int) -> list[int]:
    chosen = random.Random(bits)
    return list(range(16)) if bits == 4 else [*boundary(bits), *(chosen.getrandbits(bits) for _ in range(6))]


class Values:
    """What terms over variables are worth: the variables are replaced, which the constructors of terms do not see."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._simplifier = Bitwuzla(terms.manager, Options())

    def __call__(self, term: Term, given: dict[Term, int]) -> int:
        constants = {variable: self._terms.bv(v, self._terms.width(variable)) for variable, v in given.items()}
        simple = self._simplifier.simplify_term(self._terms.manager.substitute_term(term, constants))
        assert simple.is_value()
        return int(simple.is_true()) if simple.sort().is_bool() else int(simple.value(10))


@pytest.mark.parametrize("bits", WIDTHS)
@pytest.mark.parametrize("operator", Operator)
def test_operators_as_terms_and_in_bulk(operator: Operator, bits: int) -> None:
    terms = Terms()
    values = Values(terms)
    x, y = terms.variable("x", bits), terms.variable("y", bits)
    term = applied(terms, operator, [x] if operator.is_unary else [x, y])
    pairs = [(a, b) for a, b in product(numbers(bits), repeat=2) if not operator.is_unary or b == 0]
    wanted = [apply(operator, bits, a, b) for a, b in pairs]
    assert [values(term, {x: a, y: b}) for a, b in pairs] == wanted
    folded = [applied(terms, operator, [terms.bv(a, bits), terms.bv(b, bits)]) for a, b in pairs]
    assert [terms.value(one) for one in folded] == wanted
    left, right = (np.array(side, dtype=np.uint64) for side in zip(*pairs, strict=True))
    with np.errstate(all="ignore"):
        assert apply_in_bulk(operator, bits, left, right).tolist() == wanted
        one_by_one = [int(apply_in_bulk(operator, bits, left[n : n + 1], right[n])[0]) for n in range(len(pairs))]
    assert one_by_one == wanted


@pytest.mark.parametrize("change", [Change.SIGN_EXTENDED, Change.ZERO_EXTENDED, Change.TRUNCATED, Change.TRUTH])
def test_conversions_as_terms(change: Change) -> None:
    for bits, wanted in product(WIDTHS, repeat=2):
        if (change is Change.TRUNCATED) != (wanted < bits) and change is not Change.TRUTH:
            continue
        terms = Terms()
        values = Values(terms)
        x = terms.variable("x", bits)
        term = converted(terms, change, x, wanted)
        assert terms.width(term) == wanted
        for number in numbers(bits):
            assert values(term, {x: number}) == converted_number(change, number, bits, wanted)


@pytest.mark.parametrize("seed", range(4))
def test_conditions_on_many_numbers(seed: int) -> None:
    """Conditions between random expressions, with conversions in them."""
    chosen = random.Random(seed)
    widths = (8, 16, 32, 64)
    leaves = [Variable(f"{name}{bits}", bits) for name in "xy" for bits in widths]
    rows = [{leaf.name: chosen.choice(numbers(leaf.bits)) for leaf in leaves} for _ in range(200)]
    decided = 0
    for _ in range(60):
        terms = Terms()
        variables = {leaf.name: terms.variable(leaf.name, leaf.bits) for leaf in leaves}
        bits = chosen.choice(widths)
        left, right = (random_expression(chosen, leaves, bits, 3, widths=widths) for _ in range(2))
        compare, meaning = chosen.choice(
            [(terms.eq, int.__eq__), (terms.ult, int.__lt__), (terms.ule, int.__le__)],
        )
        condition = compare(*(expression_term(terms, side, variables) for side in (left, right)))
        formula = BulkFormula(terms, condition, list(variables.values()))
        columns = [np.array([row[name] for row in rows], dtype=np.uint64) for name in variables]
        with np.errstate(all="ignore"):
            found = np.broadcast_to(formula.holds(columns), (len(rows),)).tolist()
        wanted = [meaning(evaluate(left, row), evaluate(right, row)) for row in rows]
        assert found == wanted, (left, right)
        decided += len(set(wanted)) == 2
    assert decided > 10
