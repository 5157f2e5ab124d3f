"""Every rewriting rule, each by itself, against plain numbers for all values of the variables at 4 and 8 bits."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from types import CodeType, FrameType, ModuleType
from typing import Any

import pytest
from bitwuzla import Bitwuzla, Option, Options
from expressions import (
    MEANING,
    Expression,
    all_values,
    ashr,
    constant,
    eq,
    evaluate,
    flag,
    ite,
    lshr,
    nonzero,
    sdiv,
    shl,
    slt,
    srem,
    udiv,
    ult,
    urem,
)
from rule_cases import CASES, WIDTHS, Expressions, c, parts, x, y

from isoform.smt import conditions
from isoform.smt.rules import bits, comparisons, cutting, divisibility, division, flags, joining, quotient, sums
from isoform.smt.terms import Terms

MODULES = (conditions, cutting, joining, sums, bits, flags, comparisons, division, divisibility, quotient)
WIDE_SAMPLE = 3
"""Of the expressions at 8 bits, where there are 65,536 assignments, one in so many is checked by default: all are at 4
bits, and with `--long`."""
MOST_BITS = 16
"""In all variables of an expression: so many assignments are tried that there are no others."""


def rules_of(module: ModuleType) -> Iterator[Callable[..., Any]]:
    """The functions that give an equal term or None."""
    for name, found in vars(module).items():
        is_own = inspect.isfunction(found) and found.__module__ == module.__name__ and not name.startswith("_")
        if is_own and inspect.signature(found).return_annotation == "Term | None":
            yield found


RULES = {f"{module.__name__.split('.')[-1]}.{rule.__name__}": rule for module in MODULES for rule in rules_of(module)}


@contextmanager
def applied_rules() -> Iterator[set[CodeType]]:
    """The code of every function that gave something else than None meanwhile."""
    found: set[CodeType] = set()

    def note(frame: FrameType, event: str, result: object) -> None:
        if event == "return" and result is not None:
            found.add(frame.f_code)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield found
    finally:
        sys.setprofile(before)


def check(terms: Terms, expression: Expression) -> None:
    """That it is what it should be, whatever its variables stand for."""
    term = expression.build(terms)
    if expression.width:
        assert terms.width(term) == term.sort().bv_size() == expression.width
    sample = all_values(expression.variables)
    expected, found = expression.numbers(sample), evaluate(term, sample)
    if found != expected:
        row = next(i for i, pair in enumerate(zip(found, expected, strict=True)) if pair[0] != pair[1])
        where = {name: column[row] for name, column in sample.items()}
        pytest.fail(f"{term} is {found[row]} and not {expected[row]} at {where}")


def test_every_rule_has_a_case() -> None:
    assert set(CASES) == set(RULES)
    assert all(rule.__doc__ for rule in RULES.values())


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", CASES)
def test_rule_is_an_identity(name: str, width: int, pytestconfig: pytest.Config) -> None:
    terms = Terms()
    expressions = [e for e in CASES[name](width) if sum(e.variables.values()) <= MOST_BITS]
    with applied_rules() as applied:
        for expression in expressions:
            expression.build(terms)
    assert RULES[name].__code__ in applied or not expressions
    every = 1 if width < max(WIDTHS) or pytestconfig.getoption("--long") else WIDE_SAMPLE
    for expression in expressions[::every]:
        check(terms, expression)


OPERATORS: tuple[Callable[[Expression, Expression], Expression], ...] = (
    Expression.__add__,
    Expression.__sub__,
    Expression.__mul__,
    Expression.__and__,
    Expression.__or__,
    Expression.__xor__,
    udiv,
    urem,
    sdiv,
    srem,
    shl,
    lshr,
    ashr,
    Expression.above,
    eq,
    ult,
    slt,
)


def small_terms(width: int) -> list[Expression]:
    """Leaves, and operators applied to leaves, all of one width."""
    one, other, half = x(width), y(width), width // 2
    leaves = [one, other, *(constant(k, width) for k in (0, 1, 2, -1, 1 << (width - 1)))]
    operands = [(one, other), *((one, leaf) for leaf in leaves[3:]), *((leaf, other) for leaf in leaves[3:])]
    made = [operator(a, b) for operator in OPERATORS for a, b in operands]
    numbers = [flag(e, width) if e.width == 0 else e for e in made if e.width in (0, width)]
    cut = one.part(half - 1, 0)
    return [
        *leaves,
        -one,
        ~other,
        cut.zext(width),
        cut.sext(width),
        cut.above(other.part(width - 1, half)),
        ite(c(), one, other),
        ite(c(), constant(-1, width), constant(0, width)),
        ite(c(), constant(3, width), one),
        *numbers,
    ]


def nested(width: int) -> Expressions:
    """Every operator over all pairs of small terms, and every part of them."""
    small = small_terms(width)
    for left in small:
        yield from parts(left)
        yield from (-left, ~left, left.zext(width + 2), left.sext(width + 2), nonzero(left))
        for right in small:
            yield from (operator(left, right) for operator in OPERATORS)


SHARES = 41
"""Of the nested terms one in so many is tried by default, in all of their kinds; the others take minutes."""


@pytest.mark.parametrize("number", [pytest.param(n, marks=[pytest.mark.long] if n else []) for n in range(SHARES)])
@pytest.mark.parametrize("width", [2, 4])
def test_operators_over_operators(width: int, number: int) -> None:
    terms = Terms()
    for expression in islice(nested(width), number, None, SHARES):
        check(terms, expression)


@pytest.mark.parametrize("kind", MEANING, ids=lambda kind: kind.name)
def test_plain_numbers_are_those_of_the_solver(kind: Any) -> None:
    """The operators by which terms are evaluated here, for all operands of 3 bits (and conditions)."""
    terms, names = Terms(), ("a", "b", "e")
    manager = terms.manager
    options = Options()
    options.set(Option.PRODUCE_MODELS, True)
    solver = Bitwuzla(manager, options)
    solver.check_sat()
    is_condition = kind.name in ("NOT", "AND", "OR", "XOR", "ITE")
    count = (
        3 if kind.name == "ITE" else 1 if kind.name.endswith(("NOT", "NEG", "INC", "DEC", "EXTRACT", "EXTEND")) else 2
    )
    widths = [1 if is_condition and (kind.name != "ITE" or i == 0) else 3 for i in range(count)]
    indices = {"BV_EXTRACT": [2, 1], "BV_ZERO_EXTEND": [2], "BV_SIGN_EXTEND": [2]}.get(kind.name, [])
    booleans = [is_condition and width == 1 for width in widths]
    inputs = [
        manager.mk_const(manager.mk_bool_sort() if boolean else manager.mk_bv_sort(width), name)
        for name, width, boolean in zip(names, widths, booleans, strict=False)
    ]
    term = manager.mk_term(kind, inputs, indices)
    sample = all_values(dict(zip(names, widths, strict=False)))
    for row, found in enumerate(evaluate(term, sample)):
        values = [sample[name][row] for name in names[:count]]
        point = {
            variable: (terms.true if value else terms.false) if boolean else terms.bv(value, width)
            for variable, value, width, boolean in zip(inputs, values, widths, booleans, strict=True)
        }
        result = solver.get_value(manager.substitute_term(term, point))
        assert found == (int(result.value(10)) if term.sort().is_bv() else int(result.is_true())), values
