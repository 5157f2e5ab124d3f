"""The normal form of sums of products: equal polynomials become one term, and no value ever changes."""

from __future__ import annotations

import gc
import operator
import random
import sys
import weakref
from itertools import product
from pathlib import Path

import pytest
from bitwuzla import Kind, Term, TermManager

from isoform.check.expansion import verify_lemma
from isoform.smt.polynomial import Normalizer, multiplies
from isoform.smt.printer import formula_lines

sys.path.insert(0, str(Path(__file__).parent))
from random_terms import RandomTerms

WIDTHS = [8, 16, 32, 64]


class Algebra:
    """Integer-like operators over terms of one width."""

    def __init__(self, width: int, expanded: bool = False) -> None:
        self.manager = TermManager()
        self.width = width
        self.sort = self.manager.mk_bv_sort(width)
        self.normalizer = Normalizer(self.manager, expanded)

    def input(self, name: str, width: int | None = None) -> Term:
        return self.manager.mk_const(self.manager.mk_bv_sort(width) if width else self.sort, name)

    def value(self, value: int) -> Term:
        return self.manager.mk_bv_value(self.sort, value % (1 << self.width))

    def make(self, kind: Kind, *operands: Term | int, indices: tuple[int, ...] = ()) -> Term:
        terms = [self.value(operand) if isinstance(operand, int) else operand for operand in operands]
        return self.manager.mk_term(kind, terms, list(indices))

    def plus(self, *operands: Term | int) -> Term:
        return self._folded(Kind.BV_ADD, operands)

    def _folded(self, kind: Kind, operands: tuple[Term | int, ...]) -> Term:
        total, *rest = (self.value(operand) if isinstance(operand, int) else operand for operand in operands)
        for operand in rest:
            total = self.make(kind, total, operand)
        return total

    def minus(self, left: Term | int, right: Term | int) -> Term:
        return self.make(Kind.BV_SUB, left, right)

    def times(self, *operands: Term | int) -> Term:
        return self._folded(Kind.BV_MUL, operands)

    def zero_extend(self, term: Term, extra: int) -> Term:
        return self.make(Kind.BV_ZERO_EXTEND, term, indices=(extra,))

    def sign_extend(self, term: Term, extra: int) -> Term:
        return self.make(Kind.BV_SIGN_EXTEND, term, indices=(extra,))

    def low(self, term: Term, width: int) -> Term:
        return self.make(Kind.BV_EXTRACT, term, indices=(width - 1, 0))

    def same(self, left: Term, right: Term) -> bool:
        return bool(self.normalizer.normalize(left) == self.normalizer.normalize(right))


@pytest.fixture(params=[(width, expanded) for width in WIDTHS for expanded in (False, True)], ids=str)
def algebra(request: pytest.FixtureRequest) -> Algebra:
    return Algebra(*request.param)


def test_product_of_four_sums(algebra: Algebra) -> None:
    a, x = algebra, algebra.input("x")
    product = a.times(a.plus(x, 1), a.plus(x, 2), x, a.plus(x, 3))
    expanded = a.plus(a.times(x, x, x, x), a.times(6, x, x, x), a.times(11, x, x), a.times(6, x))
    assert a.same(product, expanded)
    assert not a.same(product, a.plus(expanded, 1))


def test_difference_of_squares(algebra: Algebra) -> None:
    a, x, y = algebra, algebra.input("x"), algebra.input("y")
    assert a.same(a.times(a.plus(x, y), a.minus(x, y)), a.minus(a.times(x, x), a.times(y, y)))
    assert not a.same(a.times(a.plus(x, y), a.minus(x, y)), a.plus(a.times(x, x), a.times(y, y)))


def test_cube_of_a_sum(algebra: Algebra) -> None:
    a, x, y = algebra, algebra.input("x"), algebra.input("y")
    both = a.plus(x, y)
    expanded = a.plus(a.times(x, x, x), a.times(3, x, x, y), a.times(x, 3, y, y), a.times(y, y, y))
    assert a.same(a.times(both, both, both), expanded)


def test_horner_against_expanded(algebra: Algebra) -> None:
    a, x = algebra, algebra.input("x")
    horner = a.plus(a.times(a.plus(a.times(a.plus(a.times(7, x), 5), x), 3), x), 1)
    assert a.same(horner, a.plus(a.times(7, x, x, x), a.times(5, x, x), a.times(3, x), 1))


def test_linear_forms(algebra: Algebra) -> None:
    a, x, y = algebra, algebra.input("x"), algebra.input("y")
    assert a.same(a.times(x, 7), a.minus(a.make(Kind.BV_SHL, x, 3), x))
    assert a.same(a.times(3, a.plus(x, y)), a.plus(a.times(3, x), a.times(3, y)))
    assert a.same(a.make(Kind.BV_NEG, x), a.plus(a.make(Kind.BV_NOT, x), 1))
    assert a.same(a.minus(a.plus(x, y), x), y)
    assert a.same(a.make(Kind.BV_SHL, x, a.width), a.value(0))
    shifted = a.make(Kind.BV_CONCAT, a.low(x, a.width - 2), a.manager.mk_bv_value(a.manager.mk_bv_sort(2), 0))
    assert a.same(shifted, a.times(x, 4))
    assert a.normalizer.lemmas == []


def test_polynomials_that_vanish_everywhere(algebra: Algebra) -> None:
    a, x, y = algebra, algebra.input("x"), algebra.input("y")
    half = 1 << (a.width - 1)
    assert a.same(a.times(half, x, a.plus(x, 1)), a.value(0))
    assert a.same(a.times(half // 2, x, a.plus(x, 1), y, a.plus(y, 1)), a.value(0))
    assert a.same(a.times(half // 4, x, a.plus(x, 1), a.plus(x, 2), a.plus(x, 3)), a.value(0))
    assert not a.same(a.times(half, x, y), a.value(0))
    assert not a.same(a.times(half // 2, x, a.plus(x, 1)), a.value(0))


def test_wide_product_cut_to_its_low_half() -> None:
    a = Algebra(64)
    x, y = a.input("x", 32), a.input("y", 32)
    narrow = a.make(Kind.BV_MUL, x, y)
    for extend in (a.zero_extend, a.sign_extend):
        wide = a.make(Kind.BV_MUL, extend(x, 32), extend(y, 32))
        assert a.same(a.low(wide, 32), narrow)
        assert not a.same(wide, a.zero_extend(narrow, 32))
    assert a.same(a.low(a.zero_extend(narrow, 32), 16), a.make(Kind.BV_MUL, a.low(x, 16), a.low(y, 16)))


def test_extension_moves_into_a_product_that_cannot_wrap() -> None:
    a = Algebra(64)
    x, y = a.input("x", 16), a.input("y", 16)
    for extend in (a.zero_extend, a.sign_extend):
        at_32 = a.make(Kind.BV_MUL, extend(x, 16), extend(y, 16))
        at_64 = a.make(Kind.BV_MUL, extend(x, 48), extend(y, 48))
        assert a.same(extend(at_32, 32), at_64)
    signed_at_32 = a.make(Kind.BV_MUL, a.sign_extend(x, 16), a.sign_extend(y, 16))
    signed_at_64 = a.make(Kind.BV_MUL, a.sign_extend(x, 48), a.sign_extend(y, 48))
    assert not a.same(a.zero_extend(signed_at_32, 32), signed_at_64)


def test_extension_stays_outside_a_sum_that_can_wrap() -> None:
    a = Algebra(64)
    x, y = a.input("x", 32), a.input("y", 32)
    wide = a.make(Kind.BV_ADD, a.zero_extend(x, 32), a.zero_extend(y, 32))
    assert not a.same(a.zero_extend(a.make(Kind.BV_ADD, x, y), 32), wide)
    small = [a.make(Kind.BV_SHR, term, a.manager.mk_bv_value(a.manager.mk_bv_sort(32), 1)) for term in (x, y)]
    wide = a.make(Kind.BV_ADD, *(a.zero_extend(term, 32) for term in small))
    assert a.same(a.zero_extend(a.make(Kind.BV_ADD, *small), 32), wide)


def test_arithmetic_inside_other_terms() -> None:
    a = Algebra(32)
    memory = a.manager.mk_const(a.manager.mk_array_sort(a.sort, a.sort), "memory")
    x, y = a.input("x"), a.input("y")
    left = a.make(Kind.ARRAY_SELECT, memory, a.times(a.plus(x, y), a.plus(x, y)))
    right = a.make(Kind.ARRAY_SELECT, memory, a.plus(a.times(x, x), a.times(2, y, x), a.times(y, y)))
    assert a.same(left, right)
    assert a.same(a.times(left, a.plus(right, 1)), a.plus(a.times(right, left), right))


def test_linear_terms_keep_their_shape() -> None:
    a = Algebra(32)
    x, y, z = (a.input(name) for name in "xyz")
    term = a.make(Kind.BV_XOR, a.plus(x, y, z), a.make(Kind.BV_NOT, a.plus(x, y)))
    assert a.normalizer.normalize(term) == term


def test_a_square_of_squares_is_not_multiplied_out() -> None:
    a = Algebra(32)
    power = a.input("x")
    for _ in range(4):
        power = a.times(power, power)
    assert a.normalizer.normalize(power) == power


def test_size_is_bounded() -> None:
    a = Algebra(32)
    product = a.value(1)
    for index in range(40):
        product = a.times(product, a.plus(a.input(f"x{index}"), a.input(f"y{index}"), index))
    total = a.value(0)
    for index in range(2000):
        total = a.plus(total, a.input(f"z{index}"))
    normal = a.normalizer.normalize(a.make(Kind.BV_XOR, product, total))
    seen, stack = set(), [normal]
    while stack:
        term = stack.pop()
        if term.id() not in seen:
            seen.add(term.id())
            stack.extend(term.children())
    assert len(seen) < 20_000


def test_depth_does_not_matter() -> None:
    a = Algebra(32)
    term, x = a.input("start"), a.input("x")
    for _ in range(20_000):
        term = a.make(Kind.BV_XOR, a.plus(term, x), x)
    assert a.normalizer.normalize(term).sort().bv_size() == 32


def test_garbage_collection_of_a_normalizer() -> None:
    """Terms of bitwuzla in a reference cycle end the process, so there must be none."""
    a = Algebra(16)
    a.normalizer.normalize(a.zero_extend(a.times(a.plus(a.input("x"), 1), a.input("y")), 16))
    normalizer = weakref.ref(a.normalizer)
    gc.disable()
    try:
        del a
        assert normalizer() is None
    finally:
        gc.enable()


def test_whether_there_is_anything_to_gain() -> None:
    a = Algebra(16)
    x, y = a.input("x"), a.input("y")
    assert multiplies([a.make(Kind.BV_XOR, x, a.times(x, y))])
    assert not multiplies([a.plus(x, a.times(3, y)), x])


@pytest.mark.parametrize("seed", range(24))
def test_no_value_changes_and_every_lemma_verifies(seed: int) -> None:
    rng = random.Random(seed)
    print("seed", seed)
    for _ in range(12):
        terms = RandomTerms(rng, rng.choice([(1, 2, 3, 4), (4, 8, 16, 32, 64), (8, 16, 32)]))
        term = terms.term(rng.choice(terms.widths), rng.randrange(3, 8))
        normalizer = Normalizer(terms.manager, expanded=rng.random() < 0.5)
        normal = normalizer.normalize(term)
        for _ in range(100 if seed < 4 else 12):
            point = terms.point()
            assert terms.evaluate(term, point) == terms.evaluate(normal, point), (str(term), str(normal))
        for before, after in normalizer.lemmas:
            definitions, left, right = _lemma_parts("\n".join(formula_lines([], [("lemma-1", before, after)])))
            assert verify_lemma(left, right, terms.declarations(), definitions), (str(before), str(after))


def _lemma_parts(text: str) -> tuple[dict[str, str], str, str]:
    from isoform.check.smtlib import s_expressions

    definitions: dict[str, str] = {}
    for command in s_expressions(text):
        match command:
            case ("define-fun", str(name), (), _, body):
                definitions[name] = _text(body)
            case ("assert", ("!", ("=", left, right), ":named", "lemma-1")):
                return definitions, _text(left), _text(right)
    raise AssertionError(text)


def _text(expression: object) -> str:
    return expression if isinstance(expression, str) else f"({' '.join(map(_text, expression))})"  # type: ignore[call-overload]


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("width", WIDTHS)
def test_random_equal_polynomials_become_one_term(width: int, seed: int) -> None:
    """A polynomial written as a random product of sums, and as its monomials in random order."""
    rng = random.Random(f"{width} {seed}")
    print("seed", seed, "width", width)
    a = Algebra(width, expanded=seed % 2 == 1)
    inputs = [a.input(name) for name in "xyz"]
    factors = [[(rng.getrandbits(width), rng.randrange(4)) for _ in range(rng.randrange(1, 4))] for _ in range(3)]
    product = a.times(*(a.plus(*(_monomial(a, inputs, c, [v]) for c, v in factor)) for factor in factors))
    monomials: list[tuple[int, list[int]]] = [(1, [])]
    for factor in factors:
        monomials = [(c * d, [*vs, v]) for c, vs in monomials for d, v in factor]
    rng.shuffle(monomials)
    expanded = a.plus(*(_monomial(a, inputs, c, vs) for c, vs in monomials))
    assert a.same(product, expanded)
    assert not a.same(product, a.plus(expanded, rng.randrange(1, 1 << width)))


def _monomial(a: Algebra, inputs: list[Term], coefficient: int, variables: list[int]) -> Term:
    """Variable 3 stands for the constant 1."""
    return a.times(a.value(coefficient), *(inputs[v] if v < 3 else a.value(1) for v in variables))


@pytest.mark.parametrize("seed", range(6))
def test_what_becomes_one_term_has_one_value(seed: int) -> None:
    """Sums with carries and functions of bits, over words so narrow that all values can be tried."""
    rng = random.Random(seed)
    algebra = Algebra(2)
    words = [algebra.input(name) for name in "xyz"]
    points = list(product(range(4), repeat=3))
    values = {word: tuple(point[index] for point in points) for index, word in enumerate(words)}
    known = list(words)
    normal: dict[Term, Term] = {}
    met = 0
    for _ in range(1500):
        left, right = (rng.choice(rng.choice((words, known[-12:]))) for _ in range(2))
        name = rng.choice(("and", "or", "xor", "not", "add", "add", "carry"))
        if name == "not":
            term, table = algebra.make(Kind.BV_NOT, left), [~a for a in values[left]]
        elif name == "carry":
            total = algebra.plus(left, right)
            term = algebra.make(Kind.ITE, algebra.make(Kind.BV_ULT, total, left), 1, 0)
            table = [a + b >> 2 for a, b in zip(values[left], values[right], strict=True)]
        else:
            kind, operation = {
                "and": (Kind.BV_AND, operator.and_),
                "or": (Kind.BV_OR, operator.or_),
                "xor": (Kind.BV_XOR, operator.xor),
                "add": (Kind.BV_ADD, operator.add),
            }[name]
            term = algebra.make(kind, left, right)
            table = [operation(a, b) for a, b in zip(values[left], values[right], strict=True)]
        values[term] = tuple(value % 4 for value in table)
        first = normal.setdefault(algebra.normalizer.normalize(term), term)
        met += first != term
        assert values[first] == values[term], (str(first)[:300], str(term)[:300])
        known.append(term)
    assert met > 50


@pytest.mark.parametrize("width", WIDTHS)
def test_carries_of_a_sum_are_the_same_in_any_order(width: int) -> None:
    algebra = Algebra(width)
    x, y, z, high = (algebra.input(name) for name in ("x", "y", "z", "high"))

    def carry(left: Term, right: Term) -> Term:
        return algebra.make(Kind.ITE, algebra.make(Kind.BV_ULT, algebra.plus(left, right), left), 1, 0)

    one = algebra.plus(high, carry(x, y), carry(algebra.plus(x, y), z))
    other = algebra.plus(carry(algebra.plus(z, y), x), carry(z, y), high)
    wrong = algebra.plus(carry(algebra.plus(z, y), x), carry(x, y), high)
    normal = [algebra.normalizer.normalize(term) for term in (one, other, wrong)]
    assert normal[0] == normal[1] != normal[2]


def test_one_form_for_a_function_of_bits() -> None:
    algebra = Algebra(32)
    x, y, z = (algebra.input(name) for name in "xyz")
    kept = algebra.make(
        Kind.BV_OR, algebra.make(Kind.BV_AND, x, y), algebra.make(Kind.BV_AND, algebra.make(Kind.BV_NOT, x), z)
    )
    chosen = algebra.make(Kind.BV_XOR, algebra.make(Kind.BV_AND, algebra.make(Kind.BV_XOR, y, z), x), z)
    normal = [algebra.normalizer.normalize(algebra.plus(term, x)) for term in (kept, chosen)]
    assert normal[0] == normal[1]
    assert algebra.normalizer.normalize(algebra.make(Kind.BV_XOR, algebra.make(Kind.BV_XOR, x, y), y)) == x


def test_the_exclusive_or_of_many_words_in_any_order() -> None:
    """Random trees: two have one form if, and (but for the limit of words) only if, their words are the same, without
    those that occur twice, and with as many complements."""
    rng = random.Random(11)
    algebra = Algebra(16)
    words = [algebra.input(f"w{n}") for n in range(12)]

    def tree(leaves: list[Term]) -> Term:
        """With complements at random; how many decides the form."""
        if len(leaves) == 1:
            return leaves[0]
        middle = rng.randrange(1, len(leaves))
        return algebra.make(Kind.BV_XOR, tree(leaves[:middle]), tree(leaves[middle:]))

    forms: dict[Term, tuple[frozenset[int], bool]] = {}
    for _ in range(400):
        chosen = [rng.randrange(12) for _ in range(rng.randrange(1, 20))]
        leaves = [words[n] for n in chosen]
        inverted = rng.random() < 0.5
        term = tree(leaves)
        term = algebra.make(Kind.BV_NOT, term) if inverted else term
        odd = frozenset(n for n in chosen if chosen.count(n) % 2), inverted
        form = algebra.normalizer.normalize(algebra.make(Kind.BV_AND, term, words[0]))
        assert forms.setdefault(form, odd) == odd or len(odd[0]) <= 4, (chosen, inverted)
    whole = [algebra.normalizer.normalize(tree(rng.sample(words, 12))) for _ in range(8)]
    assert len(set(whole)) == 1
    twice = tree([*words, *rng.sample(words, 11)])
    assert algebra.normalizer.normalize(twice) in words


def test_summands_under_a_condition_in_many_ways() -> None:
    """Jumping around an addition, adding what a mask leaves, subtracting a mask, the absolute value by a mask."""
    a = Algebra(32)
    s, x, y = (a.input(name) for name in "sxy")
    is_equal = a.make(Kind.EQUAL, x, y)
    mask = a.make(Kind.ITE, is_equal, -1, 0)
    jumped = a.make(Kind.ITE, is_equal, a.plus(s, x), s)
    assert a.same(jumped, a.plus(s, a.make(Kind.BV_AND, mask, x)))
    assert a.same(jumped, a.make(Kind.ITE, a.make(Kind.NOT, is_equal), s, a.plus(x, s)))
    assert a.same(a.plus(s, x), a.plus(jumped, a.make(Kind.BV_AND, a.make(Kind.BV_NOT, mask), x)))
    assert a.same(a.make(Kind.ITE, is_equal, a.plus(s, 1), s), a.make(Kind.BV_SUB, s, mask))
    negated = a.make(Kind.ITE, is_equal, a.make(Kind.BV_NEG, x), x)
    assert a.same(negated, a.make(Kind.BV_SUB, a.make(Kind.BV_XOR, x, mask), mask))
    assert not a.same(jumped, a.plus(s, a.make(Kind.BV_AND, mask, y)))
    assert not a.same(jumped, a.make(Kind.ITE, is_equal, s, a.plus(s, x)))


def test_an_extension_of_a_word_under_a_condition() -> None:
    a = Algebra(32)
    x, byte = a.input("x"), a.manager.mk_const(a.manager.mk_bv_sort(8), "byte")
    zero = a.manager.mk_bv_value(a.manager.mk_bv_sort(8), 0)
    most = a.manager.mk_bv_value(a.manager.mk_bv_sort(8), 0x80)
    is_zero = a.make(Kind.EQUAL, x, 0)
    for kind, wide in ((Kind.BV_SIGN_EXTEND, -128), (Kind.BV_ZERO_EXTEND, 128)):
        choice = a.manager.mk_term(Kind.ITE, [is_zero, most, zero])
        extended = a.manager.mk_term(kind, [choice], [24])
        assert a.same(extended, a.make(Kind.ITE, is_zero, wide, 0))
        assert not a.same(extended, a.make(Kind.ITE, is_zero, -wide, 0))
        choice = a.manager.mk_term(Kind.ITE, [is_zero, byte, zero])
        of_byte = a.manager.mk_term(kind, [byte], [24])
        assert a.same(a.manager.mk_term(kind, [choice], [24]), a.make(Kind.ITE, is_zero, of_byte, 0))
