"""Sorts of SMT-LIB terms, as far as bit-vectors and arrays go. A sort that is not known here is None."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

SExpression = str | tuple["SExpression", ...]
Sort = SExpression | None
"""As it is written, such as ("_", "BitVec", "32")."""
Indices = tuple[int | str, ...]

BOOL = "Bool"
WIDEST = 1 << 16


class ReadError(Exception):
    """The text is not one that a certificate may contain. The message is part of a sentence."""


def bit_vector(width: int) -> Sort:
    return ("_", "BitVec", str(width))


@lru_cache(1024)
def width_of(sort: Sort) -> int | None:
    if isinstance(sort, tuple) and sort[:2] == ("_", "BitVec"):
        width = number(sort[2]) if len(sort) == 3 else 0
        if not 0 < width <= WIDEST:
            raise ReadError("has a bit-vector sort of impossible width")
        return width
    return None


def number(written: SExpression) -> int:
    if not isinstance(written, str) or not written.isascii() or not written.isdecimal() or len(written) > 4000:
        raise ReadError("contains something else where a number should be")
    return int(written)


def _width(sorts: list[Sort]) -> int:
    width = width_of(sorts[0])
    if width is None or len(sorts) != 1:
        raise ReadError("applies a bit-vector operator to something else")
    return width


def _like_operands(sorts: list[Sort], _: Indices) -> Sort:
    if None in sorts:
        return None
    if any(sort != sorts[0] for sort in sorts):
        raise ReadError("applies an operator to operands of different sorts")
    return sorts[0]


def _truth(_: list[Sort], __: Indices) -> Sort:
    return BOOL


def _one_bit(_: list[Sort], __: Indices) -> Sort:
    return bit_vector(1)


def _joined(sorts: list[Sort], _: Indices) -> Sort:
    if None in sorts:
        return None
    return bit_vector(sum(_width([sort]) for sort in sorts))


def _cut_out(sorts: list[Sort], indices: Indices) -> Sort:
    if sorts[0] is None:
        return None
    match indices:
        case (int(high), int(low)) if low <= high < _width(sorts):
            return bit_vector(high - low + 1)
    raise ReadError("extracts bits that are not there")


def _widened(sorts: list[Sort], indices: Indices) -> Sort:
    if sorts[0] is None:
        return None
    match indices:
        case (int(extra),) if _width(sorts) + extra <= WIDEST:
            return bit_vector(_width(sorts) + extra)
    raise ReadError("extends something by an impossible width")


def _repeated(sorts: list[Sort], indices: Indices) -> Sort:
    if sorts[0] is None:
        return None
    match indices:
        case (int(times),) if 0 < times * _width(sorts) <= WIDEST:
            return bit_vector(_width(sorts) * times)
    raise ReadError("repeats something an impossible number of times")


def _converted(_: list[Sort], indices: Indices) -> Sort:
    match indices:
        case (int(width),) if 0 < width <= WIDEST:
            return bit_vector(width)
    raise ReadError("converts a number to an impossible width")


def _chosen(sorts: list[Sort], _: Indices) -> Sort:
    if len(sorts) != 3 or sorts[0] not in (BOOL, None):
        raise ReadError("contains an ite without a condition and two branches")
    return _like_operands(sorts[1:], ())


def _selected(sorts: list[Sort], _: Indices) -> Sort:
    array = sorts[0]
    return array[2] if isinstance(array, tuple) and len(array) == 3 and array[0] == "Array" else None


def _stored(sorts: list[Sort], _: Indices) -> Sort:
    return sorts[0]


_LIKE_OPERANDS = (
    *("bvadd", "bvsub", "bvmul", "bvneg", "bvnot", "bvand", "bvor", "bvxor", "bvnand", "bvnor", "bvxnor"),
    *("bvshl", "bvlshr", "bvashr", "bvudiv", "bvurem", "bvsdiv", "bvsrem", "bvsmod", "rotate_left", "rotate_right"),
)
_TRUTH = (
    *("=", "distinct", "not", "and", "or", "xor", "=>", "true", "false"),
    *("bvult", "bvule", "bvugt", "bvuge", "bvslt", "bvsle", "bvsgt", "bvsge"),
    *("bvuaddo", "bvsaddo", "bvusubo", "bvssubo", "bvumulo", "bvsmulo", "bvsdivo", "bvnego"),
)

SORT_RULES: dict[str, Callable[[list[Sort], Indices], Sort]] = {
    **dict.fromkeys(_LIKE_OPERANDS, _like_operands),
    **dict.fromkeys(_TRUTH, _truth),
    "bvcomp": _one_bit,
    "concat": _joined,
    "extract": _cut_out,
    "zero_extend": _widened,
    "sign_extend": _widened,
    "repeat": _repeated,
    "ite": _chosen,
    "select": _selected,
    "store": _stored,
    "fp.to_ubv": _converted,
    "fp.to_sbv": _converted,
}
"""The sort of a term from those of its operands and its indices."""
