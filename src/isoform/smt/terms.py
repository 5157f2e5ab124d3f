"""Smart constructors over bitwuzla terms: constants are folded, and the rules in `rules/` rewrite the rest.

Normal forms that others rely on: a sum has its constant outermost on the right; a boolean that became a
byte is `ite(c, 1, 0)`; a shift right by a constant is an extraction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from isoform.smt.constructors import Constructors
from isoform.smt.layout import AddressLayout
from isoform.smt.leaves import Term
from isoform.smt.rules import bits, comparisons, cutting, joining, sums
from isoform.smt.rules.division import divided
from isoform.smt.rules.flags import flag_condition
from isoform.smt.rules.widths import signed
from isoform.smt.shapes import (
    Add,
    And,
    ArithmeticShiftRight,
    Bitwise,
    Choice,
    Concat,
    Extract,
    Multiply,
    Negative,
    Not,
    Or,
    Scaled,
    ShiftLeft,
    ShiftRight,
    SignedQuotient,
    SignedRemainder,
    SignExtend,
    Subtract,
    UnsignedQuotient,
    UnsignedRemainder,
    Xor,
    ZeroExtend,
)

__all__ = ["Term", "Terms"]

_Rule = Callable[[Constructors, Any, Term, Term], Term | None]
"""For the shape of the first term."""
_KEEP_SHIFTED = (Add, Subtract, Multiply, Negative, Bitwise, Not, Scaled, Choice)
"""Over these a shift left stays a product, so that the arithmetic around it can be seen."""


class Terms(Constructors):
    """The terms of one question. Constants come first: most rules begin with them."""

    def __init__(self) -> None:
        super().__init__()
        self.layout = AddressLayout(self)

    def constants_in(self, term: Term) -> Iterator[int]:
        """The numbers that occur anywhere in a term; for addresses, those at which isoform placed them."""
        pending, seen = [term], set()
        while pending:
            top = pending.pop()
            if top in seen:
                continue
            seen.add(top)
            anchor = self.layout.anchor(top)
            number = self.value(top) if anchor is None else anchor[0]
            if number is not None:
                yield number
            if anchor is None:
                pending += top.children()
            elif anchor[1] is not None:
                pending.append(anchor[1])

    # -- cutting and joining --------------------------------------------------------------------

    def extract(self, term: Term, high: int, low: int, depth: int = 0) -> Term:
        if low == 0 and high == self.width(term) - 1:
            return term
        value = self.value(term)
        if value is not None:
            return self.bv(value >> low, high - low + 1)
        key = (term, high, low)
        found = self.parts.get(key)
        if found is None:
            found = cutting.part(self, term, high, low, depth)
            if found is None:
                found = self.make(Extract(term, high, low), high - low + 1)
            self.parts[key] = found
        return found

    def piece(self, term: Term, high: int, low: int) -> Term:
        """The same as a part of the whole, not as arithmetic of its own: pieces of equal words stay equal."""
        return self.extract(term, high, low, cutting.PUSH_DEPTH)

    def concat(self, top: Term, bottom: Term) -> Term:
        low_width = self.width(bottom)
        width = self.width(top) + low_width
        high_value, low_value = self.value(top), self.value(bottom)
        if high_value is not None and low_value is not None:
            return self.bv(high_value << low_width | low_value, width)
        if high_value == 0:
            return self.zext(bottom, width)
        shape = self.shape(top)
        for rule in joining.JOINED.get(type(shape), ()):
            found = rule(self, shape, top, bottom)
            if found is not None:
                return found
        return self.make(Concat(top, bottom), width)

    def zext(self, term: Term, width: int) -> Term:
        have = self.width(term)
        if have == width:
            return term
        value = self.value(term)
        if value is not None:
            return self.bv(value, width)
        shape = self.shape(term)
        rule = joining.ZERO_EXTENDED.get(type(shape))
        found = rule(self, shape, width) if rule is not None else None
        return found if found is not None else self.make(ZeroExtend(term, width - have), width)

    def sext(self, term: Term, width: int) -> Term:
        have = self.width(term)
        if have == width:
            return term
        value = self.value(term)
        if value is not None:
            return self.bv(signed(value, have), width)
        shape = self.shape(term)
        rule = joining.SIGN_EXTENDED.get(type(shape))
        found = rule(self, shape, width) if rule is not None else None
        return found if found is not None else self.make(SignExtend(term, width - have), width)

    # -- arithmetic -----------------------------------------------------------------------------

    def split_sum(self, term: Term) -> tuple[Term | None, int]:
        value = self.value(term)
        if value is not None:
            return None, value
        shape = self.shape(term)
        if isinstance(shape, Add) and (constant := self.value(shape.right)) is not None:
            return shape.left, constant
        return term, 0

    def add(self, left: Term, right: Term) -> Term:
        """(x + k) + (y + m) = (x + y) + (k + m), where k and m are constants."""
        width = self.width(left)
        (x, k), (y, m) = self.split_sum(left), self.split_sum(right)
        if x is None or y is None:
            return self._plus(y if x is None else x, k + m, width)
        total = self._add_bases(x, y, width)
        if not (k or m):
            return total
        base, more = self.split_sum(total)
        return self._plus(base, k + m + more, width)

    def _plus(self, base: Term | None, constant: int, width: int) -> Term:
        """A base without a constant (None: 0), and a constant."""
        constant &= (1 << width) - 1
        if base is None:
            return self.bv(constant, width)
        return self.make(Add(base, self.bv(constant, width)), width) if constant else base

    def _add_bases(self, left: Term, right: Term, width: int) -> Term:
        thread = self.layout.thread
        if thread is not None and self.layout.mention_thread(left, right):
            found = sums.without_thread_pointer(self, thread, left, right)
            if found is not None:
                return found
        found = self._of_either(sums.ADDED, right, left)
        if found is not None:
            return found
        if right.id() < left.id():
            left, right = right, left
        return self.make(Add(left, right), width)

    def _of_either(self, table: Mapping[Any, tuple[_Rule, ...]], first: Term, second: Term) -> Term | None:
        """The result of the rules of a commutative operator on two operands, by the shape of the first and then of the
        other."""
        shape = self.shape(first)
        for rule in table.get(type(shape), ()):
            found = rule(self, shape, first, second)
            if found is not None:
                return found
        shape = self.shape(second)
        for rule in table.get(type(shape), ()):
            found = rule(self, shape, second, first)
            if found is not None:
                return found
        return None

    def sub(self, left: Term, right: Term) -> Term:
        """(x + k) - (y + m) = (x - y) + (k - m), where k and m are constants."""
        width = self.width(left)
        (x, k), (y, m) = self.split_sum(left), self.split_sum(right)
        constant = self.bv(k - m, width)
        if y is None:
            return constant if x is None else self.add(x, constant)
        if x is None:
            return self.add(self.neg(y), constant)
        return constant if x == y else self.add(self.subtract_bases(x, y), constant)

    def subtract_bases(self, left: Term, right: Term) -> Term:
        width = self.width(left)
        if left == right:
            return self.bv(0, width)
        shape = self.shape(left)
        for rule in sums.TAKEN_FROM.get(type(shape), ()):
            found = rule(self, shape, left, right)
            if found is not None:
                return found
        shape = self.shape(right)
        for rule in sums.TAKEN_AWAY.get(type(shape), ()):
            found = rule(self, shape, right, left)
            if found is not None:
                return found
        return self.make(Subtract(left, right), width)

    def neg(self, term: Term) -> Term:
        width = self.width(term)
        value = self.value(term)
        if value is not None:
            return self.bv(-value, width)
        shape = self.shape(term)
        rule = sums.NEGATED.get(type(shape))
        found = rule(self, shape, term) if rule is not None else None
        return found if found is not None else self.make(Negative(term), width)

    def mul(self, left: Term, right: Term) -> Term:
        width = self.width(left)
        a, b = self.value(left), self.value(right)
        if a is not None and b is not None:
            return self.bv(a * b, width)
        if a is not None:
            left, right, b = right, left, a
        if b is not None:
            if b == 0:
                return right
            if b == 1:
                return left
            if b & (b - 1) == 0:
                return self.shl(left, self.bv(b.bit_length() - 1, width))
            if b == (1 << width) - 1:
                return self.neg(left)
        elif right.id() < left.id():
            left, right = right, left
        return self.make(Multiply(left, right), width)

    def udiv(self, left: Term, right: Term) -> Term:
        return divided(self, UnsignedQuotient, left, right)

    def urem(self, left: Term, right: Term) -> Term:
        return divided(self, UnsignedRemainder, left, right)

    def sdiv(self, left: Term, right: Term) -> Term:
        return divided(self, SignedQuotient, left, right)

    def srem(self, left: Term, right: Term) -> Term:
        return divided(self, SignedRemainder, left, right)

    # -- shifts ---------------------------------------------------------------------------------

    def _amount(self, term: Term, width: int) -> Term:
        """A shift amount at the width of what is shifted; one too wide to fit saturates."""
        have = self.width(term)
        if have <= width:
            return self.zext(term, width)
        limit = self.bv(width, have)
        low = self.extract(term, width - 1, 0)
        return self.ite(self.ult(term, limit), low, self.bv(width if width > 3 else (1 << width) - 1, width))

    def shl(self, term: Term, amount: Term) -> Term:
        width = self.width(term)
        amount = self._amount(amount, width)
        count = self.value(amount)
        if count is None:
            return self.make(ShiftLeft(term, amount), width)
        if count >= width:
            return self.bv(0, width)
        return self.shift_left(term, count) if count else term

    def shift_left(self, term: Term, bits: int) -> Term:
        """A concatenation with zeros, except over sums and the like."""
        width = self.width(term)
        if isinstance(self.shape(term), _KEEP_SHIFTED):
            return self.make(Scaled(term, bits, self.bv(bits, width)), width)
        return self.concat(self.extract(term, width - 1 - bits, 0), self.bv(0, bits))

    def lshr(self, term: Term, amount: Term) -> Term:
        width = self.width(term)
        amount = self._amount(amount, width)
        count = self.value(amount)
        if count is None:
            return self.make(ShiftRight(term, amount), width)
        if count >= width:
            return self.bv(0, width)
        return self.zext(self.extract(term, width - 1, count), width)

    def ashr(self, term: Term, amount: Term) -> Term:
        """Copies of the sign if the amount is not less than the width."""
        width = self.width(term)
        amount = self._amount(amount, width)
        count = self.value(amount)
        if count is None:
            return self.make(ArithmeticShiftRight(term, amount), width)
        return self.sext(self.extract(term, width - 1, min(count, width - 1)), width)

    # -- bitwise --------------------------------------------------------------------------------

    def and_(self, left: Term, right: Term) -> Term:
        width = self.width(left)
        a, b = self.value(left), self.value(right)
        if a is not None and b is not None:
            return self.bv(a & b, width)
        if a is not None:
            left, right, b = right, left, a
        if left == right or b == (1 << width) - 1:
            return left
        if b == 0:
            return right
        found = bits.run_of_ones(self, left, b) if b is not None else None
        if found is None:
            found = self._of_either(bits.CONJOINED, left, right)
        return found if found is not None else self._bitwise(And, left, right, width)

    def or_(self, left: Term, right: Term) -> Term:
        width = self.width(left)
        a, b = self.value(left), self.value(right)
        if a is not None and b is not None:
            return self.bv(a | b, width)
        if a is not None:
            left, right, b = right, left, a
        if left == right or b == 0:
            return left
        if b == (1 << width) - 1:
            return right
        found = self._of_either(bits.DISJOINED, left, right)
        return found if found is not None else self._bitwise(Or, left, right, width)

    def xor_(self, left: Term, right: Term) -> Term:
        width = self.width(left)
        a, b = self.value(left), self.value(right)
        if a is not None and b is not None:
            return self.bv(a ^ b, width)
        if a is not None:
            left, right, b = right, left, a
        if left == right:
            return self.bv(0, width)
        if b == 0:
            return left
        if b == (1 << width) - 1 and not isinstance(self.shape(left), Xor):
            return self.not_(left)
        found = self._of_either(bits.EXCLUDED, left, right)
        if found is None:
            found = bits.in_one_order(self, left, right)
        return found if found is not None else self._bitwise(Xor, left, right, width)

    def _bitwise(self, operator: type[Bitwise], left: Term, right: Term, width: int) -> Term:
        if self.value(right) is None and right.id() < left.id():
            left, right = right, left
        return self.make(operator(left, right), width)

    def not_(self, term: Term) -> Term:
        width = self.width(term)
        value = self.value(term)
        if value is not None:
            return self.bv(~value, width)
        shape = self.shape(term)
        rule = bits.COMPLEMENTED.get(type(shape))
        found = rule(self, shape) if rule is not None else None
        return found if found is not None else self.make(Not(term), width)

    # -- booleans as bytes ----------------------------------------------------------------------

    def flag(self, condition: Term, width: int = 8) -> Term:
        return self.ite(condition, self.bv(1, width), self.bv(0, width))

    def condition(self, term: Term) -> Term:
        """A number as a condition: is it nonzero?"""
        found = flag_condition(self, term)
        return found if found is not None else self.negate(self.eq(term, self.bv(0, self.width(term))))

    # -- comparisons ----------------------------------------------------------------------------

    def eq(self, left: Term, right: Term) -> Term:
        if left == right:
            return self.true
        known = self.layout.are_equal(left, right) if self.layout else None
        if known is not None:
            return self.true if known else self.false
        return comparisons.equal(self, left, right)

    def ult(self, left: Term, right: Term) -> Term:
        return comparisons.unsigned_less(self, left, right)

    def ule(self, left: Term, right: Term) -> Term:
        return self.negate(self.ult(right, left))

    def slt(self, left: Term, right: Term) -> Term:
        return comparisons.signed_less(self, left, right)

    def sle(self, left: Term, right: Term) -> Term:
        return self.negate(self.slt(right, left))

    # -- counting -------------------------------------------------------------------------------

    def popcount(self, term: Term, width: int) -> Term:
        """The number of ones, by adding neighbours: log(n) additions instead of n."""
        value = self.value(term)
        if value is not None:
            return self.bv(value.bit_count(), width)
        parts = [self.extract(term, i, i) for i in range(self.width(term))]
        size = 1
        while len(parts) > 1:
            size += 1
            wide = [self.zext(p, size) for p in parts]
            parts = [self.add(a, b) for a, b in zip(wide[::2], wide[1::2], strict=False)]
            if len(wide) % 2:
                parts.append(wide[-1])
        return self.zext(parts[0], width) if size <= width else self.extract(parts[0], width - 1, 0)

    def lzcount(self, term: Term, width: int) -> Term:
        """The number of zeros above the highest one."""
        bits = self.width(term)
        result = self.bv(bits, width)
        for i in range(bits):
            result = self.ite(self.eq(self.extract(term, i, i), self.bv(1, 1)), self.bv(bits - 1 - i, width), result)
        return result
