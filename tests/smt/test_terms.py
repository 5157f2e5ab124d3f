"""Every rewriting rule of the smart constructors, on random terms against plain numbers."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from isoform.model.budget import Budget
from isoform.smt.solver import Answer, Solver
from isoform.smt.terms import Terms

SEED = 738308
BINARY = ("add", "sub", "mul", "and_", "or_", "xor_", "udiv", "urem", "sdiv", "srem")
COMPARISONS = ("eq", "ult", "ule", "slt", "sle")
Tree = tuple[Any, ...]


def value_tree(rnd: random.Random, depth: int, width: int) -> Tree:
    """A random bit-vector expression; its last entry is its width."""
    if depth == 0:
        if rnd.random() < 0.6:
            return ("variable", rnd.choice("xyz"), width)
        number = rnd.choice((0, 1, 2, 3, -1, 1 << (width - 1), rnd.getrandbits(width)))
        return ("constant", number & ((1 << width) - 1), width)

    def below(wide: int = width) -> Tree:
        return value_tree(rnd, depth - 1, wide)

    kind = rnd.choice(
        (*BINARY, "neg", "not_", "shl", "lshr", "ashr", "ite", "extract", "zext", "sext", "concat", "flag")
    )
    if kind in BINARY:
        return (kind, below(), below(), width)
    if kind in ("neg", "not_"):
        return (kind, below(), width)
    if kind in ("shl", "lshr", "ashr"):
        return (kind, below(), below(rnd.choice((width, 4, 8, 16))), width)
    if kind == "ite":
        return (kind, condition_tree(rnd, depth - 1), below(), below(), width)
    if kind == "flag":
        return (kind, condition_tree(rnd, depth - 1), width)
    if kind == "extract":
        wide = rnd.choice((width, width + 1, width + 4, 2 * width))
        return (kind, below(wide), rnd.choice((0, rnd.randint(0, wide - width))), width)
    if kind in ("zext", "sext"):
        return (kind, below(rnd.randint(1, width)), width)
    if width == 1:
        return below()
    low = rnd.randint(1, width - 1)
    return ("concat", below(width - low), below(low), width)


def condition_tree(rnd: random.Random, depth: int) -> Tree:
    kind = rnd.choice((*COMPARISONS, "conj", "disj", "negate", "exclusive", "condition"))
    if depth <= 0 or kind in COMPARISONS:
        width = rnd.choice((1, 4, 8))
        operands = [value_tree(rnd, max(0, depth - 1), width) for _ in range(2)]
        return (kind if kind in COMPARISONS else "eq", *operands)
    if kind == "negate":
        return (kind, condition_tree(rnd, depth - 1))
    if kind == "condition":
        return (kind, value_tree(rnd, depth - 1, rnd.choice((1, 4, 8))))
    return (kind, condition_tree(rnd, depth - 1), condition_tree(rnd, depth - 1))


def build(terms: Terms, tree: Tree) -> Any:
    kind, *rest = tree
    if kind == "variable":
        return terms.variable(f"{rest[0]}{rest[1]}", rest[1])
    if kind == "constant":
        return terms.bv(rest[0], rest[1])
    if kind == "extract":
        return terms.extract(build(terms, rest[0]), rest[1] + rest[2] - 1, rest[1])
    if kind in ("zext", "sext", "flag"):
        return getattr(terms, kind)(build(terms, rest[0]), rest[1])
    return getattr(terms, kind)(*(build(terms, part) for part in rest if isinstance(part, tuple)))


def signed(value: int, width: int) -> int:
    return value - (1 << width) if value >> (width - 1) else value


def divide(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def number(tree: Tree, values: dict[str, int]) -> int:
    """What the expression is, by plain arithmetic."""
    kind, *rest = tree
    width = tree[-1] if isinstance(tree[-1], int) else 0
    if kind == "variable":
        return values[f"{rest[0]}{rest[1]}"]
    if kind == "constant":
        return int(rest[0])
    parts = [number(part, values) for part in rest if isinstance(part, tuple)]
    a, b = parts[0], parts[1] if len(parts) > 1 else 0
    inside = rest[0][-1] if isinstance(rest[0][-1], int) else 0
    sa, sb = (signed(p, inside) if inside else p for p in (a, b))
    results: dict[str, Callable[[], int]] = {
        "add": lambda: a + b,
        "sub": lambda: a - b,
        "mul": lambda: a * b,
        "and_": lambda: a & b,
        "or_": lambda: a | b,
        "xor_": lambda: a ^ b,
        "neg": lambda: -a,
        "not_": lambda: ~a,
        "udiv": lambda: a // b if b else -1,
        "urem": lambda: a % b if b else a,
        "sdiv": lambda: divide(sa, sb) if b else (1 if sa < 0 else -1),
        "srem": lambda: sa - sb * divide(sa, sb) if b else sa,
        "shl": lambda: a << b if b < width else 0,
        "lshr": lambda: a >> b if b < width else 0,
        "ashr": lambda: sa >> min(b, width),
        "ite": lambda: parts[1] if parts[0] else parts[2],
        "extract": lambda: a >> rest[1],
        "zext": lambda: a,
        "sext": lambda: sa,
        "concat": lambda: a << rest[1][-1] | b,
        "flag": lambda: int(bool(a)),
        "eq": lambda: a == b,
        "ult": lambda: a < b,
        "ule": lambda: a <= b,
        "slt": lambda: sa < sb,
        "sle": lambda: sa <= sb,
        "conj": lambda: bool(a) and bool(b),
        "disj": lambda: bool(a) or bool(b),
        "negate": lambda: not a,
        "exclusive": lambda: bool(a) != bool(b),
        "condition": lambda: a != 0,
    }
    result = int(results[kind]())
    return result & ((1 << width) - 1) if width else result


def variables(tree: Tree) -> dict[str, int]:
    if tree[0] == "variable":
        return {f"{tree[1]}{tree[2]}": tree[2]}
    found: dict[str, int] = {}
    for part in tree:
        if isinstance(part, tuple):
            found |= variables(part)
    return found


@pytest.mark.parametrize("chunk", range(8))
def test_random_terms_mean_what_they_say(chunk: int) -> None:
    rnd = random.Random(SEED + chunk)
    terms = Terms()
    solver = Solver(terms, Budget(120))
    for _ in range(250):
        tree = value_tree(rnd, rnd.randint(1, 4), rnd.choice((1, 4, 8, 8, 16)))
        term = build(terms, tree)
        assert terms.width(term) == tree[-1], (SEED, tree)
        widths = variables(tree)
        values = {
            name: rnd.choice((0, 1, -1, 1 << (width - 1), rnd.getrandbits(width))) & ((1 << width) - 1)
            for name, width in widths.items()
        }
        pins = [terms.raw_equal(terms.variable(n, w), terms.bv(values[n], w)) for n, w in widths.items()]
        assert solver.check(pins) is Answer.SAT
        constant = terms.value(term)
        got = constant if constant is not None else solver.value(term)
        assert got == number(tree, values), (SEED + chunk, tree, values)


@pytest.fixture
def terms() -> Terms:
    return Terms()


def test_a_sum_keeps_its_constant_outermost(terms: Terms) -> None:
    x, y = terms.variable("x", 64), terms.variable("y", 64)
    total = terms.add(terms.add(x, terms.bv(3, 64)), terms.add(y, terms.bv(5, 64)))
    base, constant = terms.split_sum(total)
    assert base == terms.add(x, y)
    assert constant == 8
    assert terms.sub(total, y) == terms.add(x, terms.bv(8, 64))


def test_parts_of_a_term_join_back_to_it(terms: Terms) -> None:
    x = terms.variable("x", 32)
    word = terms.extract(x, 7, 0)
    for low in (8, 16, 24):
        word = terms.concat(terms.extract(x, low + 7, low), word)
    assert word == x


def test_a_sign_extended_dividend_is_recognised(terms: Terms) -> None:
    """cdq; idiv: edx above eax is the sign extension of eax."""
    x = terms.variable("x", 32)
    wide = terms.sext(x, 64)
    assert terms.concat(terms.extract(wide, 63, 32), x) == wide


def test_paths_that_join_are_as_free_as_before(terms: Terms) -> None:
    p, c = terms.eq(terms.variable("p", 8), terms.bv(1, 8)), terms.eq(terms.variable("c", 8), terms.bv(1, 8))
    assert terms.disj(terms.conj(p, c), terms.conj(p, terms.negate(c))) == p
    assert terms.selector(terms.conj(p, c), terms.conj(p, terms.negate(c))) == c


def test_terms_survive_garbage_collection_in_cycles() -> None:
    """bitwuzla crashes if a manager dies before its terms; ours never dies."""
    import gc

    for _ in range(20):
        terms = Terms()
        cycle: dict[str, Any] = {"terms": terms, "x": terms.variable("x", 8)}
        cycle["self"] = cycle
        del terms, cycle
        gc.collect()


def test_a_signed_jump_compares_again(terms: Terms) -> None:
    """The flags of a comparison say, together, which is less; with the one for equality, which is not greater."""
    a, b = terms.variable("a", 32), terms.variable("b", 32)
    less, negative = terms.slt(a, b), terms.slt(terms.sub(a, b), terms.bv(0, 32))
    overflow = terms.exclusive(less, negative)
    assert terms.exclusive(negative, overflow) == less
    assert terms.disj(terms.eq(a, b), less) == terms.negate(terms.slt(b, a))
    assert terms.conj(terms.negate(less), terms.negate(terms.eq(b, a))) == terms.slt(b, a)
    assert terms.disj(terms.ult(a, b), terms.eq(a, b)) == terms.ule(a, b)


def test_exclusive_or_of_many_is_one_term_in_any_order(terms: Terms) -> None:
    rnd = random.Random(SEED)
    solver = Solver(terms, Budget(120))
    for _ in range(100):
        width = rnd.choice((1, 8, 32))
        ones = (1 << width) - 1
        values = {terms.variable(f"x{n}.{width}", width): rnd.getrandbits(width) for n in range(rnd.randint(1, 8))}
        parts = list(rnd.choices(list(values.items()), k=rnd.randint(1, 11)))
        parts += [(terms.bv(c, width), c) for c in (rnd.getrandbits(width), ones) if rnd.random() < 0.5]
        totals = []
        for _ in range(2):
            rnd.shuffle(parts)
            total, number = terms.bv(0, width), 0
            for part, value in parts:
                total, number = terms.xor_(total, part), number ^ value
            totals.append(total)
        assert totals[0] == totals[1], f"seed {SEED}"
        known = [terms.eq(variable, terms.bv(value, width)) for variable, value in values.items()]
        wrong = terms.negate(terms.eq(totals[0], terms.bv(number, width)))
        assert solver.check([*known, wrong]) is Answer.UNSAT, f"seed {SEED}"
