"""Division: by constants, by powers of two, and at no more width than the operands need.

By zero SMT-LIB has the quotient all ones (unsigned), 1 for negative dividends and else -1 (signed), and the remainder
the dividend.
"""

from __future__ import annotations

from isoform.smt.constructors import Constructors
from isoform.smt.leaves import Term
from isoform.smt.rules.widths import signed, signed_width, unsigned_width
from isoform.smt.shapes import (
    Division,
    SignedQuotient,
    SignedRemainder,
    UnsignedQuotient,
    UnsignedRemainder,
)


def divided(terms: Constructors, operator: type[Division], left: Term, right: Term) -> Term:
    """An operator of division applied to two terms."""
    for rule in _RULES[operator]:
        found = rule(terms, operator, left, right)
        if found is not None:
            return found
    return terms.make(operator(left, right), terms.width(left))


# -- unsigned ---------------------------------------------------------------------------------------


def unsigned_constants(terms: Constructors, operator: type[Division], left: Term, right: Term) -> Term | None:
    """Two numbers, the divisor not 0, are divided."""
    a, b = terms.value(left), terms.value(right)
    if a is None or not b:
        return None
    return terms.bv(a // b if operator is UnsignedQuotient else a % b, terms.width(left))


def unsigned_remainder_by_quotient(
    terms: Constructors, operator: type[Division], left: Term, right: Term
) -> Term | None:
    """x mod k = x - (x / k)·k, where k is no power of two and not 0: one division serves both."""
    b = terms.value(right)
    if not b or not b & (b - 1) or operator is not UnsignedRemainder:
        return None
    return terms.sub(left, terms.mul(terms.udiv(left, right), right))


def by_power_of_two(terms: Constructors, operator: type[Division], left: Term, right: Term) -> Term | None:
    """x / 2^k = x >> k, and x mod 2^k = x & (2^k - 1)."""
    b = terms.value(right)
    if not b or b & (b - 1):
        return None
    width = terms.width(left)
    if operator is UnsignedQuotient:
        return terms.lshr(left, terms.bv(b.bit_length() - 1, width))
    return terms.and_(left, terms.bv(b - 1, width))


def narrow_unsigned_division(terms: Constructors, operator: type[Division], left: Term, right: Term) -> Term | None:
    """zext(x) / zext(y) = zext(x / y), at a width that both fit in, if y is not 0; of remainders also if it is. By zero
    the wide quotient is all ones and the extended one is not: that case is kept apart."""
    width, b = terms.width(left), terms.value(right)
    narrow = max(unsigned_width(terms, left), unsigned_width(terms, right))
    if narrow >= width or b == 0:
        return None
    inner = divided(terms, operator, terms.extract(left, narrow - 1, 0), terms.extract(right, narrow - 1, 0))
    if operator is UnsignedQuotient and b is None:
        by_zero = terms.eq(right, terms.bv(0, width))
        return terms.ite(by_zero, terms.bv(-1, width), terms.zext(inner, width))
    return terms.zext(inner, width)


# -- signed -----------------------------------------------------------------------------------------


def signed_constants(terms: Constructors, operator: type[Division], left: Term, right: Term) -> Term | None:
    """Two numbers, the divisor not 0, are divided; quotients are truncated."""
    a, b = terms.value(left), terms.value(right)
    if a is None or not b:
        return None
    width = terms.width(left)
    dividend, divisor = signed(a, width), signed(b, width)
    quotient = abs(dividend) // abs(divisor) * (1 if (dividend < 0) == (divisor < 0) else -1)
    return terms.bv(quotient if operator is SignedQuotient else dividend - divisor * quotient, width)


def signed_remainder_by_quotient(terms: Constructors, operator: type[Division], left: Term, right: Term) -> Term | None:
    """x rem k = x - (x / k)·k, where k is not 0: one division serves both."""
    if not terms.value(right) or operator is not SignedRemainder:
        return None
    return terms.sub(left, terms.mul(terms.sdiv(left, right), right))


def narrow_signed_division(terms: Constructors, operator: type[Division], left: Term, right: Term) -> Term | None:
    """sext(x) / sext(y) = sext(x / y) at one bit more than both need: that holds the quotient of the least number by
    -1, and the results by zero (1, -1 and the dividend). By a positive constant the bit is not needed."""
    width, b = terms.width(left), terms.value(right)
    needed = max(signed_width(terms, left), signed_width(terms, right))
    narrow = needed if b and signed(b, width) > 0 else needed + 1
    if narrow >= width:
        return None
    inner = divided(terms, operator, terms.extract(left, narrow - 1, 0), terms.extract(right, narrow - 1, 0))
    return terms.sext(inner, width)


_UNSIGNED = (unsigned_constants, unsigned_remainder_by_quotient, by_power_of_two, narrow_unsigned_division)
_SIGNED = (signed_constants, signed_remainder_by_quotient, narrow_signed_division)
_RULES = {
    UnsignedQuotient: _UNSIGNED,
    UnsignedRemainder: _UNSIGNED,
    SignedQuotient: _SIGNED,
    SignedRemainder: _SIGNED,
}
