"""Every rule of the polynomial normal form, against plain numbers for all values of the variables at 4 and 8 bits.

Terms are made without the constructors of `Terms`, which would rewrite them before the normalizer sees them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

import pytest
from bitwuzla import Kind, Term, TermManager
from expressions import all_values, evaluate_all

from isoform.smt import polynomial
from isoform.smt.polynomial import Normalizer

WIDTHS = (4, 8)
WIDE_SAMPLE = 3
"""At 8 bits one term in so many is checked by default; all are at 4 bits, and with `--long`."""
MOST_WIDE_TERMS = 11
"""Of one rule at 8 bits, where each takes 65,536 assignments."""


@dataclass(frozen=True)
class Maker:
    """Makes terms over two words of one width."""

    manager: TermManager
    width: int
    x: Term
    y: Term

    def make(self, kind: Kind, *operands: Term, indices: tuple[int, ...] = ()) -> Term:
        return self.manager.mk_term(kind, list(operands), list(indices))

    def number(self, value: int, width: int | None = None) -> Term:
        width = width or self.width
        return self.manager.mk_bv_value(self.manager.mk_bv_sort(width), value % (1 << width))

    def operands(self) -> list[Term]:
        """Words, numbers, sums, products and what is no arithmetic."""
        make, x, y = self.make, self.x, self.y
        return [
            x,
            y,
            self.number(3),
            make(Kind.BV_ADD, x, y),
            make(Kind.BV_MUL, x, y),
            make(Kind.BV_SUB, y, self.number(1)),
            make(Kind.BV_MUL, x, self.number(5)),
            make(Kind.BV_SHR, x, self.number(1)),
            make(Kind.BV_NOT, y),
            self.number(-1),
            self.number(0),
        ]

    def conditions(self) -> list[Term]:
        return [
            self.make(Kind.BV_ULT, self.x, self.y),
            self.make(Kind.BV_SLT, self.x, self.y),
            self.make(Kind.EQUAL, self.x, self.number(1)),
        ]


Terms = Iterator[Term]


def binary(kind: Kind) -> Callable[[Maker], Terms]:
    def terms(m: Maker) -> Terms:
        some = m.operands()
        for distance in range(len(some)):  # neighbours first, so that a few of them are of all kinds
            yield from (m.make(kind, one, some[(n + distance) % len(some)]) for n, one in enumerate(some))

    return terms


def unary(kind: Kind) -> Callable[[Maker], Terms]:
    return lambda m: (m.make(kind, one) for one in m.operands())


def shifts(m: Maker) -> Terms:
    for count in (1, m.width - 1, m.width, 0, 2):
        yield from (m.make(Kind.BV_SHL, one, m.number(count)) for one in m.operands()[:6])


def parts(m: Maker) -> Terms:
    for high in (m.width // 2 - 1, m.width - 1, 0):
        yield from (m.make(Kind.BV_EXTRACT, one, indices=(high, 0)) for one in m.operands()[:7])
    yield m.make(Kind.BV_EXTRACT, m.operands()[3], indices=(m.width - 1, 1))


def extensions(kind: Kind) -> Callable[[Maker], Terms]:
    def terms(m: Maker) -> Terms:
        half = m.width // 2
        low_x, low_y = (m.make(Kind.BV_EXTRACT, one, indices=(half - 1, 0)) for one in (m.x, m.y))
        narrow = [low_x, m.make(Kind.BV_ADD, low_x, low_y), m.make(Kind.BV_MUL, low_x, low_y)]
        wide = [m.make(kind, one, indices=(half,)) for one in narrow]
        yield from wide
        yield m.make(Kind.BV_MUL, wide[0], m.make(kind, low_y, indices=(half,)))
        # No sum or product of two halves wraps in the whole: the extension may move inside.
        yield m.make(kind, m.make(Kind.BV_MUL, wide[0], wide[0]), indices=(2,))
        yield m.make(kind, m.make(Kind.BV_ADD, wide[0], wide[0]), indices=(2,))
        yield from (m.make(kind, one, indices=(2,)) for one in m.operands())

    return terms


def masks(m: Maker) -> Terms:
    for mask in (1, 3, (1 << m.width) - 1, 2, 0):
        yield m.make(Kind.BV_AND, m.operands()[3], m.number(mask))
        yield m.make(Kind.BV_AND, m.number(mask), m.operands()[4])
    yield from with_choice_of_masks(Kind.BV_AND)(m)
    yield from binary(Kind.BV_AND)(m)


def with_choice_of_masks(kind: Kind) -> Callable[[Maker], Terms]:
    def terms(m: Maker) -> Terms:
        for condition in m.conditions():
            mask = m.make(Kind.ITE, condition, m.number(-1), m.number(0))
            yield from (m.make(kind, one, mask) for one in m.operands()[:4])
        yield from islice(binary(kind)(m), 20)

    return terms


def joined(m: Maker) -> Terms:
    half = m.width // 2
    low = m.make(Kind.BV_EXTRACT, m.x, indices=(half - 1, 0))
    for one in (low, m.make(Kind.BV_ADD, low, low), m.make(Kind.BV_MUL, low, low)):
        yield m.make(Kind.BV_CONCAT, one, m.number(0, half))
        yield m.make(Kind.BV_CONCAT, m.number(0, half), one)
        yield m.make(Kind.BV_CONCAT, one, m.make(Kind.BV_EXTRACT, m.y, indices=(half - 1, 0)))


def choices(m: Maker) -> Terms:
    some = m.operands()
    for condition in m.conditions():
        yield m.make(Kind.ITE, condition, some[3], some[0])
        yield m.make(Kind.ITE, condition, some[2], some[10])
        yield m.make(Kind.ITE, condition, m.x, m.y)
        yield m.make(Kind.ITE, condition, m.y, m.x)
        yield m.make(Kind.BV_ADD, m.make(Kind.ITE, condition, some[4], some[10]), m.x)


CASES: dict[Kind, Callable[[Maker], Terms]] = {
    **{kind: binary(kind) for kind in (Kind.BV_ADD, Kind.BV_SUB, Kind.BV_MUL)},
    **{kind: unary(kind) for kind in (Kind.BV_NEG, Kind.BV_NOT, Kind.BV_INC, Kind.BV_DEC)},
    Kind.BV_SHL: shifts,
    Kind.BV_EXTRACT: parts,
    Kind.BV_ZERO_EXTEND: extensions(Kind.BV_ZERO_EXTEND),
    Kind.BV_SIGN_EXTEND: extensions(Kind.BV_SIGN_EXTEND),
    Kind.BV_AND: masks,
    Kind.BV_OR: with_choice_of_masks(Kind.BV_OR),
    Kind.BV_XOR: with_choice_of_masks(Kind.BV_XOR),
    Kind.BV_CONCAT: joined,
    Kind.ITE: choices,
}


def test_every_rule_has_a_case() -> None:
    assert set(CASES) == set(polynomial._RULES)


def maker(width: int) -> Maker:
    manager = TermManager()
    sort = manager.mk_bv_sort(width)
    return Maker(manager, width, manager.mk_const(sort, "x"), manager.mk_const(sort, "y"))


def check(width: int, found: Term, term: Term) -> None:
    """That both are the same for all values of x and y."""
    sample = all_values({"x": width, "y": width})
    wanted, normal = evaluate_all((term, found), sample)
    if wanted != normal:
        row = next(i for i, pair in enumerate(zip(wanted, normal, strict=True)) if pair[0] != pair[1])
        where = {name: column[row] for name, column in sample.items()}
        pytest.fail(f"{term} became {found}: {wanted[row]} and {normal[row]} at {where}")


@pytest.mark.parametrize("expanded", [False, True], ids=["cheapest", "expanded"])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("kind", CASES, ids=lambda kind: kind.name)
def test_rule_keeps_the_value(kind: Kind, width: int, expanded: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    applied = 0
    rule = polynomial._RULES[kind]

    def counted(normalizer: Normalizer, node: Term) -> object:
        nonlocal applied
        found = rule(normalizer, node)
        applied += found is not None
        return found

    monkeypatch.setitem(polynomial._RULES, kind, counted)
    m = maker(width)
    # One normalizer for all terms: what becomes of one depends on those before.
    normalizer = Normalizer(m.manager, expanded)
    terms = list(islice(CASES[kind](m), MOST_WIDE_TERMS if width == 8 else None))
    for term in terms:
        check(width, normalizer.normalize(term), term)
    assert applied


def equations(m: Maker) -> Terms:
    """Equations with something in common on both sides, of sums and of products."""
    make, x, y = m.make, m.x, m.y
    total, product = make(Kind.BV_ADD, x, y), make(Kind.BV_MUL, x, y)
    yield make(Kind.EQUAL, total, make(Kind.BV_ADD, y, m.number(2)))
    yield make(Kind.EQUAL, total, make(Kind.BV_SUB, x, y))
    yield make(Kind.EQUAL, make(Kind.BV_ADD, x, m.number(1)), make(Kind.BV_ADD, x, m.number(2)))
    yield make(Kind.EQUAL, make(Kind.BV_ADD, y, x), total)
    yield make(Kind.EQUAL, make(Kind.BV_ADD, product, x), make(Kind.BV_ADD, product, y))
    yield make(Kind.EQUAL, make(Kind.BV_SUB, x, total), make(Kind.BV_MUL, m.number(3), y))


def extremes(m: Maker) -> Terms:
    """The greater and the lesser of two and of three words, in several forms."""
    for compare in (Kind.BV_ULT, Kind.BV_SLT):
        less = m.make(compare, m.x, m.y)
        lesser, greater = m.make(Kind.ITE, less, m.x, m.y), m.make(Kind.ITE, less, m.y, m.x)
        again = m.make(Kind.ITE, m.make(compare, m.y, m.x), m.y, m.x)
        three = m.make(Kind.ITE, m.make(compare, lesser, m.number(3)), lesser, m.number(3))
        yield from (lesser, greater, again, three, m.make(Kind.BV_ADD, lesser, greater))


def functions_of_bits(m: Maker) -> Terms:
    """The same function of bits written in several ways."""
    make, x, y = m.make, m.x, m.y
    yield make(Kind.BV_OR, make(Kind.BV_AND, x, y), make(Kind.BV_AND, make(Kind.BV_NOT, x), y))
    yield make(Kind.BV_XOR, make(Kind.BV_OR, x, y), make(Kind.BV_AND, x, y))
    yield make(Kind.BV_XOR, x, y)
    yield make(Kind.BV_AND, x, make(Kind.BV_OR, x, y))
    yield make(Kind.BV_ADD, make(Kind.BV_AND, x, y), make(Kind.BV_OR, x, y))
    yield make(Kind.BV_XOR, x, make(Kind.BV_NOT, x))


def with_masks(m: Maker, condition: Term, one: Term, other: Term, kind: Kind = Kind.BV_OR) -> Term:
    """One word where the condition holds, else the other one, as vector instructions choose."""
    mask = m.make(Kind.ITE, condition, m.number(-1), m.number(0))
    chosen = m.make(Kind.BV_AND, mask, one), m.make(Kind.BV_AND, m.make(Kind.BV_NOT, mask), other)
    return m.make(kind, *chosen)


def choices_by_masks(m: Maker) -> Terms:
    """Also nested ones, of sums, by a condition that is negated, and words that are not chosen by one condition."""
    some = m.operands()
    for condition in (*m.conditions(), m.make(Kind.NOT, m.conditions()[0])):
        for kind in (Kind.BV_OR, Kind.BV_XOR):
            for one, other in ((m.x, m.y), (some[3], some[4]), (some[7], some[2]), (some[5], some[3])):
                yield with_masks(m, condition, one, other, kind)
        inner = with_masks(m, m.conditions()[1], m.x, m.number(2))
        yield with_masks(m, condition, inner, m.y)
        under, over = (m.make(Kind.ITE, condition, *words) for words in ((m.x, some[10]), (m.y, some[10])))
        yield m.make(Kind.BV_OR, under, over)
        yield m.make(Kind.BV_OR, under, m.make(Kind.BV_SUB, m.x, over))


@pytest.mark.parametrize("kind", [Kind.BV_OR, Kind.BV_XOR], ids=lambda kind: kind.name)
def test_a_choice_by_masks_is_a_choice(kind: Kind) -> None:
    m = maker(8)
    for condition in (m.make(Kind.BV_ULT, m.x, m.y), m.make(Kind.NOT, m.make(Kind.EQUAL, m.x, m.number(1)))):
        for one, other in ((m.x, m.y), (m.make(Kind.BV_SHR, m.x, m.y), m.make(Kind.BV_ADD, m.x, m.y))):
            normalizer = Normalizer(m.manager)
            plain = normalizer.normalize(m.make(Kind.ITE, condition, one, other))
            assert normalizer.normalize(with_masks(m, condition, one, other, kind)) == plain
            twin = with_masks(m, condition, other, one, kind)
            assert normalizer.normalize(twin) != plain


def carries(m: Maker) -> Terms:
    """Whether sums wrap, added to sums: chains of words are added like that."""
    make, one = m.make, m.number(1)
    for first, second in ((m.x, m.y), (m.y, m.x)):
        total = make(Kind.BV_ADD, first, second)
        wraps = make(Kind.ITE, make(Kind.BV_ULT, total, first), one, m.number(0))
        yield make(Kind.BV_ADD, make(Kind.BV_ADD, first, second), wraps)
        yield make(Kind.BV_ADD, wraps, make(Kind.BV_MUL, m.number(3), second))


@pytest.mark.parametrize("expanded", [False, True], ids=["cheapest", "expanded"])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("cases", [equations, extremes, functions_of_bits, choices_by_masks, carries])
def test_terms_that_become_the_first_of_their_kind(
    cases: Callable[[Maker], Terms], width: int, expanded: bool, pytestconfig: pytest.Config
) -> None:
    m = maker(width)
    normalizer = Normalizer(m.manager, expanded)
    every = 1 if width < max(WIDTHS) or pytestconfig.getoption("--long") else WIDE_SAMPLE
    for term in islice(cases(m), 0, None, every):
        check(width, normalizer.normalize(term), term)


@pytest.mark.parametrize("width", WIDTHS)
def test_the_check_can_fail(width: int) -> None:
    m = maker(width)
    with pytest.raises(pytest.fail.Exception):
        check(width, m.make(Kind.BV_ADD, m.x, m.x), m.make(Kind.BV_MUL, m.x, m.number(3)))
