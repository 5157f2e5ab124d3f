"""Terms on concrete numbers, many samples at a time: which subterms may be equal, and which are not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from bitwuzla import Kind as K  # noqa: N817 (it stands in every line below)
from bitwuzla import Sort

from isoform.smt.floats import operation_of
from isoform.smt.terms import Term

Values = list[Any]
"""The value of one term under each sample: a number, or an array as (base, cells)."""


class ArrayValue:
    """A byte array on concrete numbers: the stored bytes, over a base that gives every other byte."""

    __slots__ = ("base", "cells")

    def __init__(self, base: int, cells: dict[int, int]) -> None:
        self.base = base
        self.cells = cells

    def byte(self, address: int) -> int:
        found = self.cells.get(address)
        return found if found is not None else hash((self.base, address)) & 0xFF

    def stored(self, address: int, byte: int) -> ArrayValue:
        return ArrayValue(self.base, {**self.cells, address: byte})

    def __hash__(self) -> int:
        return hash((self.base, frozenset(self.cells.items())))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ArrayValue) and (self.base, self.cells) == (other.base, other.cells)


Draw = Callable[[Term, int], int]
"""The value of a variable (a term and its width, 0 for a condition) in the next sample."""


class Simulator:
    """Values of all subterms of some roots under a growing list of samples."""

    def __init__(self, roots: Iterable[Term]) -> None:
        self.order = topological(roots)
        """Subterms before the terms that use them."""
        self._rules = [_rule(term) for term in self.order]
        self._children = [term.children() for term in self.order]
        self.values: dict[Term, Values] = {term: [] for term in self.order}
        self.variables = [t for t in self.order if t.is_const() and not t.sort().is_fun()]

    def add_sample(self, draw: Draw) -> None:
        values = self.values
        for term, rule, children in zip(self.order, self._rules, self._children, strict=True):
            values[term].append(rule(draw, [values[c][-1] for c in children]))


def topological(roots: Iterable[Term]) -> list[Term]:
    order: list[Term] = []
    seen: set[Term] = set()
    stack: list[tuple[Term, bool]] = [(root, False) for root in roots]
    while stack:
        term, done = stack.pop()
        if done:
            order.append(term)
        elif term not in seen:
            seen.add(term)
            stack.append((term, True))
            stack += [(child, False) for child in term.children() if child not in seen]
    return order


Rule = Callable[[Draw, Sequence[Any]], Any]


def _rule(term: Term) -> Rule:
    """How to compute the value of a term from those of its operands."""
    sort = term.sort()
    if term.is_value():
        if sort.is_bool():
            constant = int(term.is_true())
        else:
            constant = int(term.value(10)) if sort.is_bv() else hash(str(term))
        return lambda draw, v: constant
    if term.is_const():
        return _variable(term, sort)
    kind = term.kind()
    width = sort.bv_size() if sort.is_bv() else 0
    mask = (1 << width) - 1
    if kind in _INDEXED:
        return _INDEXED[kind](width, term.indices(), term.children()[0].sort().bv_size())
    if kind in _SIGNED:
        return _signed_rule(_SIGNED[kind], term.children()[0].sort().bv_size(), mask)
    if kind in (K.BV_SHL, K.BV_SHR, K.BV_ASHR):
        return _shift_rule(kind, width)
    if kind == K.BV_CONCAT:
        low = [child.sort().bv_size() for child in term.children()]
        return lambda draw, v: _concat(v, low)
    if kind == K.CONST_ARRAY:
        return lambda draw, v: ArrayValue(hash(("constant", v[0])), {})
    if kind == K.APPLY:
        operation = operation_of(term)
        if operation is not None:
            return lambda draw, v: operation.on_numbers(v[1:])
        shape = sort.bv_size() if sort.is_bv() else 0
        return lambda draw, v: hash(tuple(v)) & mask if shape else ArrayValue(hash(tuple(v)), {})
    plain = _PLAIN.get(kind)
    if plain is None:
        return lambda draw, v: hash((str(kind), *v)) & (mask if width else 1)
    if width and kind in _WRAPS:
        return lambda draw, v: plain(v) & mask
    return lambda draw, v: plain(v)


def _variable(term: Term, sort: Sort) -> Rule:
    if sort.is_array():
        base = hash(("array", term.symbol()))
        return lambda draw, v: ArrayValue(base, {})
    if sort.is_fun():
        name = hash(("function", term.symbol()))
        return lambda draw, v: name
    width = sort.bv_size() if sort.is_bv() else 0
    return lambda draw, v: draw(term, width)


def _concat(values: Sequence[int], widths: Sequence[int]) -> int:
    total = 0
    for value, width in zip(values, widths, strict=True):
        total = total << width | value
    return total


def _folded(f: Callable[[Any, Any], Any]) -> Callable[[Sequence[Any]], Any]:
    """Operators that take two or more operands, from left to right."""

    def rule(values: Sequence[Any]) -> Any:
        total = values[0]
        for value in values[1:]:
            total = f(total, value)
        return total

    return rule


_WRAPS = {K.BV_ADD, K.BV_SUB, K.BV_MUL, K.BV_NEG, K.BV_NOT, K.BV_UDIV, K.BV_INC, K.BV_DEC}

_PLAIN: dict[K, Callable[[Sequence[Any]], Any]] = {
    K.BV_ADD: _folded(lambda a, b: a + b),
    K.BV_SUB: lambda v: v[0] - v[1],
    K.BV_MUL: _folded(lambda a, b: a * b),
    K.BV_NEG: lambda v: -v[0],
    K.BV_NOT: lambda v: ~v[0],
    K.BV_AND: _folded(lambda a, b: a & b),
    K.BV_OR: _folded(lambda a, b: a | b),
    K.BV_XOR: _folded(lambda a, b: a ^ b),
    K.BV_UDIV: lambda v: v[0] // v[1] if v[1] else -1,
    K.BV_UREM: lambda v: v[0] % v[1] if v[1] else v[0],
    K.BV_ULT: lambda v: int(v[0] < v[1]),
    K.BV_ULE: lambda v: int(v[0] <= v[1]),
    K.BV_UGT: lambda v: int(v[0] > v[1]),
    K.BV_UGE: lambda v: int(v[0] >= v[1]),
    K.BV_INC: lambda v: v[0] + 1,
    K.BV_DEC: lambda v: v[0] - 1,
    K.EQUAL: lambda v: int(v[0] == v[1]),
    K.DISTINCT: lambda v: int(v[0] != v[1]),
    K.NOT: lambda v: v[0] ^ 1,
    K.AND: _folded(lambda a, b: a & b),
    K.OR: _folded(lambda a, b: a | b),
    K.XOR: _folded(lambda a, b: a ^ b),
    K.IMPLIES: lambda v: (v[0] ^ 1) | v[1],
    K.IFF: lambda v: int(v[0] == v[1]),
    K.ITE: lambda v: v[1] if v[0] else v[2],
    K.ARRAY_SELECT: lambda v: v[0].byte(v[1]),
    K.ARRAY_STORE: lambda v: v[0].stored(v[1], v[2]),
}


def _divide(a: int, b: int) -> int:
    if b == 0:
        return 1 if a < 0 else -1
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


_SIGNED: dict[K, Callable[[int, int], int]] = {
    K.BV_SDIV: _divide,
    K.BV_SREM: lambda a, b: a - b * _divide(a, b) if b else a,
    K.BV_SLT: lambda a, b: int(a < b),
    K.BV_SLE: lambda a, b: int(a <= b),
    K.BV_SGT: lambda a, b: int(a > b),
    K.BV_SGE: lambda a, b: int(a >= b),
}


def _signed_rule(f: Callable[[int, int], int], width: int, mask: int) -> Rule:
    sign = 1 << (width - 1)
    keep = mask or 1
    return lambda draw, v: f((v[0] ^ sign) - sign, (v[1] ^ sign) - sign) & keep


def _shift_rule(kind: K, width: int) -> Rule:
    mask, sign = (1 << width) - 1, 1 << (width - 1)
    if kind == K.BV_SHL:
        return lambda draw, v: (v[0] << v[1]) & mask if v[1] < width else 0
    if kind == K.BV_SHR:
        return lambda draw, v: v[0] >> v[1] if v[1] < width else 0
    return lambda draw, v: (((v[0] ^ sign) - sign) >> min(v[1], width)) & mask


def _extract(width: int, indices: list[int], inside: int) -> Rule:
    low, mask = indices[1], (1 << width) - 1
    return lambda draw, v: v[0] >> low & mask


def _zero_extend(width: int, indices: list[int], inside: int) -> Rule:
    return lambda draw, v: v[0]


def _sign_extend(width: int, indices: list[int], inside: int) -> Rule:
    sign, mask = 1 << (inside - 1), (1 << width) - 1
    return lambda draw, v: ((v[0] ^ sign) - sign) & mask


_INDEXED: dict[K, Callable[[int, list[int], int], Rule]] = {
    K.BV_EXTRACT: _extract,
    K.BV_ZERO_EXTEND: _zero_extend,
    K.BV_SIGN_EXTEND: _sign_extend,
}
