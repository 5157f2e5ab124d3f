"""Formulas on many numbers at once, with numpy: which of thousands of argument values fit a case."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np
from bitwuzla import Bitwuzla, Options
from bitwuzla import Kind as K  # noqa: N817 (it stands in every line below)

from isoform.model.expression import Operator
from isoform.smt.simulate import topological
from isoform.smt.terms import Term, Terms

Numbers = Any
"""A numpy array of `uint64`, or one such number; of conditions, of `bool`."""
WORD = 64


class NotInBulk(Exception):
    """The formula has something in it that is not computed here: memory, outside calls, wide registers."""


class BulkFormula:
    """A condition over some variables of at most 64 bits."""

    def __init__(self, terms: Terms, condition: Term, variables: Sequence[Term]) -> None:
        simple = Bitwuzla(terms.manager, Options()).simplify_term(condition)
        order = topological([simple])
        place = {term: n for n, term in enumerate(order)}
        given = {variable: n for n, variable in enumerate(variables)}
        self._steps: list[tuple[Callable[[Sequence[Numbers]], Numbers], list[int]]] = []
        self._inputs: dict[int, int] = {}
        self._constants: dict[int, Numbers] = {}
        for term in order:
            if term in given:
                self._inputs[place[term]] = given[term]
            elif term.is_value():
                self._constants[place[term]] = _constant(term)
            else:
                self._steps.append((_rule(term), [place[child] for child in term.children()]))
        self._places = [place[t] for t in order if t not in given and not t.is_value()]
        self._size = len(order)

    def holds(self, values: Sequence[Numbers]) -> Numbers:
        """Where the condition holds: one truth value for each number (or one for all)."""
        found: list[Numbers] = [None] * self._size
        for place, number in self._inputs.items():
            found[place] = values[number]
        for place, constant in self._constants.items():
            found[place] = constant
        for place, (rule, operands) in zip(self._places, self._steps, strict=True):
            found[place] = rule([found[n] for n in operands])
        return found[-1]


def _constant(term: Term) -> Numbers:
    sort = term.sort()
    if sort.is_bool():
        return np.bool_(term.is_true())
    if not sort.is_bv() or sort.bv_size() > WORD:
        raise NotInBulk(str(sort))
    return np.uint64(int(term.value(10)))


def _width(term: Term) -> int:
    sort = term.sort()
    if sort.is_bool():
        return 0
    if not sort.is_bv() or sort.bv_size() > WORD:
        raise NotInBulk(str(sort))
    return int(sort.bv_size())


def _rule(term: Term) -> Callable[[Sequence[Numbers]], Numbers]:
    kind, width = term.kind(), _width(term)
    children = term.children()
    widths = [_width(child) for child in children]
    if kind in _INDEXED:
        return _INDEXED[kind](width, term.indices(), widths[0])
    if kind == K.BV_CONCAT:
        return lambda v: _concat(v, widths)
    if kind in _COMPARED:
        compare, is_signed = _COMPARED[kind]
        return (
            (lambda v: compare(to_signed(v[0], widths[0]), to_signed(v[1], widths[0])))
            if is_signed
            else (lambda v: compare(v[0], v[1]))
        )
    if kind in _PLAIN:
        plain, mask = _PLAIN[kind], mask_of(width) if width else None
        return plain if mask is None else lambda v: plain(v) & mask
    if kind in _AT_WIDTH:
        at_width = _AT_WIDTH[kind]
        return lambda v: at_width(v, width)
    raise NotInBulk(str(kind))


def _concat(values: Sequence[Numbers], widths: Sequence[int]) -> Numbers:
    total = values[0]
    for value, width in zip(values[1:], widths[1:], strict=True):
        total = total << np.uint64(width) | value
    return total


def mask_of(width: int) -> np.uint64:
    return np.uint64((1 << width) - 1)


def to_signed(value: Numbers, width: int) -> Numbers:
    """As `int64`, with the sign of numbers of so many bits."""
    up = np.uint64(WORD - width)
    return np.asarray(value << up).view(np.int64) >> np.int64(WORD - width)


def _from_signed(value: Numbers, width: int) -> Numbers:
    return np.asarray(value).view(np.uint64) & mask_of(width)


def _all(values: Sequence[Numbers], operation: Callable[[Numbers, Numbers], Numbers]) -> Numbers:
    return reduce(operation, values)


def _shift(values: Sequence[Numbers], width: int, operator: Operator) -> Numbers:
    """Amounts not less than the width give zeros, or copies of the sign."""
    value, amount = values
    is_far = amount >= np.uint64(width)
    near = np.where(is_far, np.uint64(width - 1), amount).astype(np.uint64)
    if operator is Operator.ARITHMETIC_SHIFT_RIGHT:
        return _from_signed(to_signed(value, width) >> near.astype(np.int64), width)
    shifted = value << near & mask_of(width) if operator is Operator.SHIFT_LEFT else value >> near
    return np.where(is_far, np.uint64(0), shifted)


def divided(left: Numbers, right: Numbers, by_zero: Numbers, remainder: bool) -> Numbers:
    """Quotient or remainder of numbers without a sign."""
    safe = np.where(right == 0, np.uint64(1), right).astype(np.uint64)
    found = left % safe if remainder else left // safe
    return np.where(right == 0, by_zero, found).astype(np.uint64)


def magnitude(value: Numbers, width: int) -> Numbers:
    is_negative = value >> np.uint64(width - 1) != 0
    return np.where(is_negative, (~value + np.uint64(1)) & mask_of(width), value).astype(np.uint64)


def signed_divided(left: Numbers, right: Numbers, width: int, remainder: bool, by_zero: Numbers) -> Numbers:
    """The quotient rounded toward zero, or the remainder, which has the sign of the dividend."""
    one, zero, mask = np.uint64(1), np.uint64(0), mask_of(width)
    found = divided(magnitude(left, width), magnitude(right, width), zero, remainder)
    top = np.uint64(width - 1)
    is_negative = (left if remainder else left ^ right) >> top & one != 0
    found = np.where(is_negative, (~found + one) & mask, found)
    return np.asarray(np.where(np.equal(right, zero), by_zero, found), dtype=np.uint64)


_COMPARED: Mapping[K, tuple[Callable[[Numbers, Numbers], Numbers], bool]] = {
    K.BV_ULT: (np.less, False),
    K.BV_ULE: (np.less_equal, False),
    K.BV_UGT: (np.greater, False),
    K.BV_UGE: (np.greater_equal, False),
    K.BV_SLT: (np.less, True),
    K.BV_SLE: (np.less_equal, True),
    K.BV_SGT: (np.greater, True),
    K.BV_SGE: (np.greater_equal, True),
    K.EQUAL: (np.equal, False),
    K.DISTINCT: (np.not_equal, False),
}
_PLAIN: Mapping[K, Callable[[Sequence[Numbers]], Numbers]] = {
    K.BV_ADD: lambda v: _all(v, np.add),
    K.BV_SUB: lambda v: v[0] - v[1],
    K.BV_MUL: lambda v: _all(v, np.multiply),
    K.BV_NEG: lambda v: ~v[0] + np.uint64(1),
    K.BV_NOT: lambda v: ~v[0],
    K.BV_AND: lambda v: _all(v, np.bitwise_and),
    K.BV_OR: lambda v: _all(v, np.bitwise_or),
    K.BV_XOR: lambda v: _all(v, np.bitwise_xor),
    K.NOT: lambda v: ~v[0],
    K.AND: lambda v: _all(v, np.logical_and),
    K.OR: lambda v: _all(v, np.logical_or),
    K.XOR: lambda v: _all(v, np.logical_xor),
    K.IMPLIES: lambda v: np.logical_or(~v[0], v[1]),
    K.IFF: lambda v: np.equal(v[0], v[1]),
    K.ITE: lambda v: np.where(v[0], v[1], v[2]),
}
_AT_WIDTH: Mapping[K, Callable[[Sequence[Numbers], int], Numbers]] = {
    K.BV_SHL: lambda v, w: _shift(v, w, Operator.SHIFT_LEFT),
    K.BV_SHR: lambda v, w: _shift(v, w, Operator.SHIFT_RIGHT),
    K.BV_ASHR: lambda v, w: _shift(v, w, Operator.ARITHMETIC_SHIFT_RIGHT),
    K.BV_UDIV: lambda v, w: divided(v[0], v[1], mask_of(w), remainder=False),
    K.BV_UREM: lambda v, w: divided(v[0], v[1], v[0], remainder=True),
    K.BV_COMP: lambda v, w: np.equal(v[0], v[1]).astype(np.uint64),
}
_INDEXED: Mapping[K, Callable[[int, Sequence[int], int], Callable[[Sequence[Numbers]], Numbers]]] = {
    K.BV_EXTRACT: lambda width, at, inner: lambda v: v[0] >> np.uint64(at[1]) & mask_of(width),
    K.BV_ZERO_EXTEND: lambda width, at, inner: lambda v: v[0],
    K.BV_SIGN_EXTEND: lambda width, at, inner: lambda v: _from_signed(to_signed(v[0], inner), width),
}


def apply_in_bulk(operator: Operator, bits: int, left: Numbers, right: Numbers) -> Numbers:
    """An operator of expressions, as `model.expression` defines it."""
    mask, zero = mask_of(bits), np.uint64(0)
    match operator:
        case Operator.ADD:
            return left + right & mask
        case Operator.SUBTRACT:
            return left - right & mask
        case Operator.MULTIPLY:
            return left * right & mask
        case Operator.AND:
            return left & right
        case Operator.OR:
            return left | right
        case Operator.XOR:
            return left ^ right
        case Operator.NEGATE:
            return ~left + np.uint64(1) & mask
        case Operator.NOT:
            return ~left & mask
        case Operator.UNSIGNED_DIVIDE:
            return divided(left, right, zero, remainder=False)
        case Operator.UNSIGNED_REMAINDER:
            return divided(left, right, zero, remainder=True)
        case Operator.SIGNED_DIVIDE:
            return signed_divided(left, right, bits, remainder=False, by_zero=zero)
        case Operator.SIGNED_REMAINDER:
            return signed_divided(left, right, bits, remainder=True, by_zero=zero)
        case _:
            return _shift([left, np.asarray(right) % np.uint64(bits)], bits, operator)
