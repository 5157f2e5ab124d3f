"""Division: by constants, by powers of two, and at no more width than the operands need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoform.smt.leaves import Term

if TYPE_CHECKING:
    from isoform.smt.terms import Terms


def unsigned_division(terms: Terms, kind: Any, name: str, left: Term, right: Term) -> Term:
    width = terms.width(left)
    a, b = terms.value(left), terms.value(right)
    if b and a is not None:
        return terms.bv(a // b if name == "udiv" else a % b, width)
    if b and name == "urem" and b & (b - 1):
        # One division serves both: what is left over is the dividend less the multiple.
        return terms.sub(left, terms.mul(terms.udiv(left, right), right))
    if b and b & (b - 1) == 0:
        bits = b.bit_length() - 1
        if name == "udiv":
            return terms.lshr(left, terms.bv(bits, width))
        return terms.and_(left, terms.bv(b - 1, width))
    narrow = max(unsigned_width(terms, left), unsigned_width(terms, right))
    if narrow < width and b != 0:
        inner = unsigned_division(
            terms, kind, name, terms.extract(left, narrow - 1, 0), terms.extract(right, narrow - 1, 0)
        )
        # By zero the wide quotient is all ones and the narrow one is not: keep that case apart.
        if name == "udiv" and b is None:
            by_zero = terms.eq(right, terms.bv(0, width))
            return terms.ite(by_zero, terms.bv(-1, width), terms.zext(inner, width))
        return terms.zext(inner, width)
    return terms.make(kind, [left, right], [], width, (name, left, right))


def signed_division(terms: Terms, kind: Any, name: str, left: Term, right: Term) -> Term:
    """Narrowed where both operands are sign-extended: one bit more than they need holds the quotient of
    the least number by -1, and the results by zero (1, -1 and the dividend) fit as well."""
    width = terms.width(left)
    a, b = terms.value(left), terms.value(right)
    if a is not None and b:
        return terms.bv(_divide(name, signed(a, width), signed(b, width)), width)
    if b and name == "srem":
        return terms.sub(left, terms.mul(terms.sdiv(left, right), right))
    needed = max(signed_width(terms, left), signed_width(terms, right))
    # Only -1 makes a quotient too large for the operands' width.
    narrow = needed if b and signed(b, width) > 0 else needed + 1
    if narrow < width:
        inner = signed_division(
            terms, kind, name, terms.extract(left, narrow - 1, 0), terms.extract(right, narrow - 1, 0)
        )
        return terms.sext(inner, width)
    return terms.make(kind, [left, right], [], width, (name, left, right))


def unsigned_width(terms: Terms, term: Term) -> int:
    """A number of bits that the value certainly fits in."""
    value = terms.value(term)
    if value is not None:
        return max(1, value.bit_length())
    shape = terms.shape(term)
    return terms.width(shape[1]) if shape is not None and shape[0] == "zext" else terms.width(term)


def signed_width(terms: Terms, term: Term) -> int:
    value = terms.value(term)
    width = terms.width(term)
    if value is not None:
        return (value if value >> (width - 1) == 0 else ~value & ((1 << width) - 1)).bit_length() + 1
    match terms.shape(term):
        case ("sext", inner):
            return terms.width(inner)
        case ("zext", inner):
            return terms.width(inner) + 1
    return width


def signed(value: int, width: int) -> int:
    return value - (1 << width) if value >> (width - 1) else value


def _divide(name: str, a: int, b: int) -> int:
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return quotient if name == "sdiv" else a - b * quotient
