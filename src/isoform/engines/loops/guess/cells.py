"""Words of memory as features: what a loop loads next, or again and again, at an address that is a sum of registers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from isoform.engines.loops.guess.features import Cell, Column, Extend, Feature, ObjectStart
from isoform.engines.loops.segment import Place
from isoform.engines.loops.tuning import MOST_CELL_SUMMANDS
from isoform.smt.shapes import Add, Concat, Extract, Multiply, Negative, ShiftLeft, SignExtend, Subtract, ZeroExtend
from isoform.smt.terms import Term, Terms

Sum = tuple[int, dict[Column, int]]


def cells_of(
    terms: Terms,
    tag: str,
    accesses: Iterable[tuple[Term, int]],
    places: Mapping[Term, tuple[str, Place]],
    features: Collection[Feature],
) -> tuple[Cell, ...]:
    """The accesses (address, bytes) of a side whose address is a sum over `features` or constant, as cells. `places`
    says which variable stands for which place."""
    found: dict[Cell, None] = {}
    for address, size in accesses:
        if size not in (1, 2, 4, 8):
            continue
        total = _sum(terms, address, places)
        if total is None or len(total[1]) > MOST_CELL_SUMMANDS:
            continue
        constant, summands = total
        if any(column.feature.tag and column.feature not in features for column in summands):
            continue
        ordered = sorted(summands.items(), key=lambda item: str(item[0]))
        found[Cell(tag, "memory", 0, 8 * size, constant, tuple((k, c) for c, k in ordered))] = None
    return tuple(found)


def _sum(terms: Terms, term: Term, places: Mapping[Term, tuple[str, Place]], depth: int = 12) -> Sum | None:
    """A term as a constant plus multiples of features."""
    width = terms.width(term)
    modulus = 1 << width
    number = terms.value(term)
    if number is not None:
        return number, {}
    column = _column(terms, term, places)
    if column is not None:
        return 0, {column: 1}
    if depth == 0:
        return None
    shape = terms.shape(term)
    match shape:
        case Add(left, right) | Subtract(left, right):
            one, other = (_sum(terms, t, places, depth - 1) for t in (left, right))
            if one is None or other is None:
                return None
            sign = 1 if isinstance(shape, Add) else -1
            total = dict(one[1])
            for c, k in other[1].items():
                total[c] = (total.get(c, 0) + sign * k) % modulus
            return (one[0] + sign * other[0]) % modulus, total
        case Multiply(left, right) if terms.value(right) is not None:
            return _scaled(_sum(terms, left, places, depth - 1), terms.value(right) or 0, modulus)
        case ShiftLeft(left, right) if terms.value(right) is not None:
            return _scaled(_sum(terms, left, places, depth - 1), 1 << (terms.value(right) or 0), modulus)
        case Concat(high, low) if terms.value(low) == 0:
            # The sum of `high` is exact in its own width, and there is no room for more.
            return _scaled(_sum(terms, high, places, depth - 1), 1 << terms.width(low), modulus)
        case Negative(inner):
            return _scaled(_sum(terms, inner, places, depth - 1), -1, modulus)
        case ZeroExtend(inner) | SignExtend(inner):
            extend = Extend.SIGN if isinstance(shape, SignExtend) else Extend.ZERO
            return _widened(_sum(terms, inner, places, depth - 1), extend, terms.width(inner), modulus)
    return None


def _widened(total: Sum | None, extend: Extend, bits: int, modulus: int) -> Sum | None:
    """An extended index, as if it had not wrapped: then it is the sum of its extended summands."""
    if total is None or any(column.feature.bits != bits for column in total[1]):
        return None
    half = 1 << (bits - 1)
    constant, *factors = (((number + half) % (2 * half) - half) % modulus for number in (total[0], *total[1].values()))
    return constant, {Column(c.feature, extend): k for c, k in zip(total[1], factors, strict=True)}


def _scaled(total: Sum | None, factor: int, modulus: int) -> Sum | None:
    if total is None:
        return None
    return total[0] * factor % modulus, {c: k * factor % modulus for c, k in total[1].items()}


def _column(terms: Terms, term: Term, places: Mapping[Term, tuple[str, Place]]) -> Column | None:
    """A feature, or an extended one."""
    item = terms.layout.object_at(term)
    if item is not None:
        return Column(ObjectStart.of(item))
    match terms.shape(term):
        case ZeroExtend(inner):
            feature = _feature(terms, inner, places)
            return Column(feature) if feature is not None else None
        case SignExtend(inner):
            feature = _feature(terms, inner, places)
            return Column(feature, Extend.SIGN) if feature is not None else None
    feature = _feature(terms, term, places)
    return Column(feature) if feature is not None else None


def _feature(terms: Terms, term: Term, places: Mapping[Term, tuple[str, Place]]) -> Feature | None:
    if term in places:
        tag, place = places[term]
        return Feature(tag, place, 0, terms.width(term))
    match terms.shape(term):
        case Extract(inner, high, low) if inner in places:
            tag, place = places[inner]
            return Feature(tag, place, low, high - low + 1)
    return None
