"""Expressions that are built twice: as terms, by the constructors under test, and as plain Python numbers.

Everything is computed for all values of the variables at once: a column has the value in each row of a `Sample`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from bitwuzla import Kind, Term

from isoform.smt.terms import Terms

Column = list[int]
Sample = dict[str, Column]
"""By variable, its value in each assignment."""


def all_values(widths: dict[str, int]) -> Sample:
    """Every assignment of numbers to variables of these widths."""
    return dict(zip(widths, _every(tuple(widths.values())), strict=True))


@lru_cache(maxsize=4)  # most tests ask for the same two, and the larger one has 65,536 rows
def _every(widths: tuple[int, ...]) -> list[Column]:
    rows = list(itertools.product(*(range(1 << width) for width in widths)))
    return [[row[position] for row in rows] for position in range(len(widths))]


@dataclass(frozen=True)
class Expression:
    width: int
    """0 of a condition."""
    build: Callable[[Terms], Term]
    numbers: Callable[[Sample], Column]
    variables: dict[str, int] = field(default_factory=dict)

    def __add__(self, other: Expression) -> Expression:
        return apply(Terms.add, lambda a, b: a + b, self, other)

    def __sub__(self, other: Expression) -> Expression:
        return apply(Terms.sub, lambda a, b: a - b, self, other)

    def __mul__(self, other: Expression) -> Expression:
        return apply(Terms.mul, lambda a, b: a * b, self, other)

    def __and__(self, other: Expression) -> Expression:
        return apply(Terms.and_, lambda a, b: a & b, self, other)

    def __or__(self, other: Expression) -> Expression:
        return apply(Terms.or_, lambda a, b: a | b, self, other)

    def __xor__(self, other: Expression) -> Expression:
        return apply(Terms.xor_, lambda a, b: a ^ b, self, other)

    def __neg__(self) -> Expression:
        return apply(Terms.neg, lambda a: -a, self)

    def __invert__(self) -> Expression:
        return apply(Terms.not_, lambda a: ~a, self)

    def part(self, high: int, low: int) -> Expression:
        return apply(lambda t, x: t.extract(x, high, low), lambda a: a >> low, self, width=high - low + 1)

    def above(self, other: Expression) -> Expression:
        shift = other.width
        return apply(Terms.concat, lambda a, b: a << shift | b, self, other, width=self.width + shift)

    def zext(self, width: int) -> Expression:
        return apply(lambda t, x: t.zext(x, width), lambda a: a, self, width=width)

    def sext(self, width: int) -> Expression:
        return apply(lambda t, x: t.sext(x, width), lambda a: signed(a, self.width), self, width=width)


def apply(
    build: Callable[..., Term], number: Callable[..., int], *operands: Expression, width: int | None = None
) -> Expression:
    """An operator as a constructor of terms and as a function of numbers; its width is that of the first operand."""
    width = operands[0].width if width is None else width
    mask = (1 << width) - 1 if width else 1

    def numbers(sample: Sample) -> Column:
        return [number(*row) & mask for row in zip(*(o.numbers(sample) for o in operands), strict=True)]

    variables = {name: bits for operand in operands for name, bits in operand.variables.items()}
    return Expression(width, lambda terms: build(terms, *(o.build(terms) for o in operands)), numbers, variables)


def variable(name: str, width: int) -> Expression:
    named = f"{name}{width}"
    return Expression(width, lambda t: t.variable(named, width), lambda sample: sample[named], {named: width})


def constant(value: int, width: int) -> Expression:
    number = value % (1 << width)
    return Expression(width, lambda t: t.bv(number, width), lambda sample: [number] * rows(sample))


def rows(sample: Sample) -> int:
    return len(next(iter(sample.values()), [0]))


def signed(value: int, width: int) -> int:
    return value - (1 << width) if value >> (width - 1) else value


def truncated(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def signed_quotient(a: int, b: int) -> int:
    return truncated(a, b) if b else (1 if a < 0 else -1)


def signed_remainder(a: int, b: int) -> int:
    return a - b * truncated(a, b) if b else a


def udiv(x: Expression, y: Expression) -> Expression:
    return apply(Terms.udiv, lambda a, b: a // b if b else -1, x, y)


def urem(x: Expression, y: Expression) -> Expression:
    return apply(Terms.urem, lambda a, b: a % b if b else a, x, y)


def sdiv(x: Expression, y: Expression) -> Expression:
    return apply(Terms.sdiv, lambda a, b: signed_quotient(signed(a, x.width), signed(b, x.width)), x, y)


def srem(x: Expression, y: Expression) -> Expression:
    return apply(Terms.srem, lambda a, b: signed_remainder(signed(a, x.width), signed(b, x.width)), x, y)


def shl(x: Expression, y: Expression) -> Expression:
    return apply(Terms.shl, lambda a, b: a << b if b < x.width else 0, x, y)


def lshr(x: Expression, y: Expression) -> Expression:
    return apply(Terms.lshr, lambda a, b: a >> b if b < x.width else 0, x, y)


def ashr(x: Expression, y: Expression) -> Expression:
    return apply(Terms.ashr, lambda a, b: signed(a, x.width) >> min(b, x.width), x, y)


def eq(x: Expression, y: Expression) -> Expression:
    return apply(Terms.eq, lambda a, b: a == b, x, y, width=0)


def ult(x: Expression, y: Expression) -> Expression:
    return apply(Terms.ult, lambda a, b: a < b, x, y, width=0)


def ule(x: Expression, y: Expression) -> Expression:
    return apply(Terms.ule, lambda a, b: a <= b, x, y, width=0)


def slt(x: Expression, y: Expression) -> Expression:
    return apply(Terms.slt, lambda a, b: signed(a, x.width) < signed(b, x.width), x, y, width=0)


def sle(x: Expression, y: Expression) -> Expression:
    return apply(Terms.sle, lambda a, b: signed(a, x.width) <= signed(b, x.width), x, y, width=0)


def negate(c: Expression) -> Expression:
    return apply(Terms.negate, lambda a: not a, c)


def conj(c: Expression, d: Expression) -> Expression:
    return apply(Terms.conj, lambda a, b: a & b, c, d)


def disj(c: Expression, d: Expression) -> Expression:
    return apply(Terms.disj, lambda a, b: a | b, c, d)


def exclusive(c: Expression, d: Expression) -> Expression:
    return apply(Terms.exclusive, lambda a, b: a ^ b, c, d)


def ite(c: Expression, x: Expression, y: Expression) -> Expression:
    return apply(Terms.ite, lambda a, b, otherwise: b if a else otherwise, c, x, y, width=x.width)


def flag(c: Expression, width: int) -> Expression:
    return apply(lambda t, a: t.flag(a, width), lambda a: a, c, width=width)


def nonzero(x: Expression) -> Expression:
    return apply(Terms.condition, lambda a: a != 0, x, width=0)


# -- terms on numbers -------------------------------------------------------------------------------


def evaluate(root: Term, sample: Sample) -> Column:
    """The value of a term in each assignment, by what SMT-LIB says of its operators."""
    return evaluate_all((root,), sample)[0]


def evaluate_all(roots: Sequence[Term], sample: Sample) -> list[Column]:
    """Those of several terms, with what they have in common evaluated once."""
    found: dict[Term, Column] = {}
    pending = list(roots)
    while pending:
        term = pending[-1]
        if term in found:
            pending.pop()
            continue
        missing = [child for child in term.children() if child not in found]
        if missing:
            pending += missing
            continue
        found[pending.pop()] = _evaluated(term, [found[child] for child in term.children()], sample)
    return [found[root] for root in roots]


def _evaluated(term: Term, operands: Sequence[Column], sample: Sample) -> Column:
    is_number = term.sort().is_bv()
    if term.is_value():
        return [int(term.value(10)) if is_number else int(term.is_true())] * rows(sample)
    if term.is_const():
        return sample[term.symbol() or ""]
    mask = (1 << term.sort().bv_size()) - 1 if is_number else 1
    meaning, indices = MEANING[term.kind()], term.indices()
    width = term[0].sort().bv_size() if term[0].sort().is_bv() else 0
    last = term[term.num_children() - 1]
    widths = (width, last.sort().bv_size() if last.sort().is_bv() else 0)
    return [meaning(widths, indices, *row) & mask for row in zip(*operands, strict=True)]


Meaning = Callable[..., int]
"""Of the widths of the first and the last operand, the indices, and the operands."""

MEANING: dict[Kind, Meaning] = {
    Kind.BV_ADD: lambda w, i, a, b: a + b,
    Kind.BV_SUB: lambda w, i, a, b: a - b,
    Kind.BV_MUL: lambda w, i, a, b: a * b,
    Kind.BV_NEG: lambda w, i, a: -a,
    Kind.BV_NOT: lambda w, i, a: ~a,
    Kind.BV_INC: lambda w, i, a: a + 1,
    Kind.BV_DEC: lambda w, i, a: a - 1,
    Kind.BV_AND: lambda w, i, a, b: a & b,
    Kind.BV_OR: lambda w, i, a, b: a | b,
    Kind.BV_XOR: lambda w, i, a, b: a ^ b,
    Kind.BV_UDIV: lambda w, i, a, b: a // b if b else -1,
    Kind.BV_UREM: lambda w, i, a, b: a % b if b else a,
    Kind.BV_SDIV: lambda w, i, a, b: signed_quotient(signed(a, w[0]), signed(b, w[0])),
    Kind.BV_SREM: lambda w, i, a, b: signed_remainder(signed(a, w[0]), signed(b, w[0])),
    Kind.BV_SHL: lambda w, i, a, b: a << b if b < w[0] else 0,
    Kind.BV_SHR: lambda w, i, a, b: a >> b if b < w[0] else 0,
    Kind.BV_ASHR: lambda w, i, a, b: signed(a, w[0]) >> min(b, w[0]),
    Kind.BV_EXTRACT: lambda w, i, a: a >> i[1],
    Kind.BV_CONCAT: lambda w, i, a, b: a << w[1] | b,
    Kind.BV_ZERO_EXTEND: lambda w, i, a: a,
    Kind.BV_SIGN_EXTEND: lambda w, i, a: signed(a, w[0]),
    Kind.BV_ULT: lambda w, i, a, b: a < b,
    Kind.BV_SLT: lambda w, i, a, b: signed(a, w[0]) < signed(b, w[0]),
    Kind.EQUAL: lambda w, i, a, b: a == b,
    Kind.NOT: lambda w, i, a: not a,
    Kind.AND: lambda w, i, a, b: a & b,
    Kind.OR: lambda w, i, a, b: a | b,
    Kind.XOR: lambda w, i, a, b: a ^ b,
    Kind.ITE: lambda w, i, a, b, otherwise: b if a else otherwise,
}
