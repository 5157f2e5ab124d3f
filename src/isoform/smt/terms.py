"""Smart constructors over bitwuzla terms.

Every rule here and in the modules beside (conditions, comparisons, division, quotient) is an identity of bit-vectors;
`tests/smt/test_terms.py` checks each against plain numbers.

Normal forms that others rely on: a sum has its constant outermost on the right; a boolean that became a
byte is `ite(c, 1, 0)`; a shift right by a constant is an extraction.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bitwuzla import Kind as K  # noqa: N817 (it stands in every line below)

from isoform.smt.comparisons import compare, equal
from isoform.smt.conditions import Conditions
from isoform.smt.division import signed, signed_division, unsigned_division, unsigned_width
from isoform.smt.layout import Layout
from isoform.smt.leaves import Shape, Term
from isoform.smt.quotient import (
    halved_sum_as_quotient,
    high_bits_as_quotient,
    raised_as_quotient,
    rounded_as_quotient,
)

__all__ = ["Shape", "Term", "Terms"]

_KEEP_SHIFTED = frozenset({"add", "sub", "mul", "neg", "and", "or", "xor", "not", "scaled", "ite"})
_PUSH_DEPTH = 24
"""How deep an extraction of low bits is pushed into sums and products."""
_MOST_BITS_SUMMED = 32
"""Things in an exclusive or that are brought into one order."""


class Terms(Conditions):
    """The terms of one question. Constants first: most rules begin with them."""

    def __init__(self) -> None:
        super().__init__()
        self.layout = Layout(self)

    def constants_in(self, term: Term) -> Iterator[int]:
        """The numbers that stand anywhere in a term; those of addresses, where isoform placed them."""
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
        width = self.width(term)
        if low == 0 and high == width - 1:
            return term
        value = self._values.get(term)
        if value is not None:
            return self.bv(value >> low, high - low + 1)
        key = (term, high, low)
        found = self._extracts.get(key)
        if found is None:
            found = self._push_extract(term, high, low, depth)
            if found is None:
                found = self.make(K.BV_EXTRACT, [term], [high, low], high - low + 1, ("extract", term, high, low))
            self._extracts[key] = found
        return found

    def piece(self, term: Term, high: int, low: int) -> Term:
        """The same as a part of the whole, not as arithmetic of its own: pieces of equal words stay equal."""
        return self.extract(term, high, low, _PUSH_DEPTH)

    def _push_extract(self, term: Term, high: int, low: int, depth: int) -> Term | None:
        shape = self._shapes.get(term)
        if shape is None:
            return None
        size = high - low + 1
        match shape:
            case ("concat", top, bottom):
                split = self.width(bottom)
                if low >= split:
                    return self.extract(top, high - split, low - split, depth)
                if high < split:
                    return self.extract(bottom, high, low, depth)
                if low == 0 and self._values.get(bottom) == 0:
                    # A product by a power of two stays one at the smaller width.
                    return self._shifted_to(top, split, size, depth)
                upper = self.extract(top, high - split, 0, depth)
                return self.concat(upper, self.extract(bottom, split - 1, low, depth))
            case ("extract", inner, _, base):
                return self.extract(inner, high + base, low + base, depth)
            case ("zext", inner):
                return self._extract_extended(inner, high, low, depth)
            case ("sext", inner) if high < self.width(inner):
                return self.extract(inner, high, low, depth)
            case ("sext", inner) if low == 0:
                return self.sext(inner, size)
            case ("ite", _, then, otherwise) if self._worth_pushing(then, otherwise):
                return self._extract_choice(term, high, low, depth)
            case (("and" | "or" | "xor") as name, left, right) if depth < _PUSH_DEPTH:
                build = getattr(self, name + "_")
                result: Term = build(
                    self.extract(left, high, low, depth + 1), self.extract(right, high, low, depth + 1)
                )
                return result
            case ("not", inner) if depth < _PUSH_DEPTH:
                return self.not_(self.extract(inner, high, low, depth + 1))
            case (("add" | "sub" | "mul") as name, left, right) if low == 0 and depth < _PUSH_DEPTH:
                # Truncation is a homomorphism of the ring of integers modulo a power of two.
                build = getattr(self, name)
                truncated: Term = build(self.extract(left, high, 0, depth + 1), self.extract(right, high, 0, depth + 1))
                return truncated
            case ("neg", inner) if low == 0 and depth < _PUSH_DEPTH:
                return self.neg(self.extract(inner, high, 0, depth + 1))
            case ("mul", _, _):
                return high_bits_as_quotient(self, term, high, low)
            case ("add", _, _):
                return halved_sum_as_quotient(self, term, high, low)
            case ("scaled", _, bits) if high < bits:
                return self.bv(0, size)
            case ("scaled", inner, bits) if low >= bits:
                return self.extract(inner, high - bits, low - bits, depth)
            case ("scaled", inner, bits) if low == 0:
                return self.shl(self.extract(inner, high, 0, depth), self.bv(bits, size))
            case ("scaled", inner, bits):
                return self.concat(self.extract(inner, high - bits, 0, depth), self.bv(0, bits - low))
        return None

    def _extract_choice(self, term: Term, high: int, low: int, depth: int) -> Term:
        """A choice of parts. Choices are nested as deeply as code has branches: this does not call itself for them."""
        pending = [term]
        while pending:
            _, condition, *ways = self._shapes[pending[-1]]
            missing = [way for way in ways if self._is_choice_to_cut(way, high, low)]
            if missing:
                pending += missing
                continue
            then, otherwise = (self.extract(way, high, low, depth) for way in ways)
            self._extracts[pending.pop(), high, low] = self.ite(condition, then, otherwise)
        return self._extracts[term, high, low]

    def _is_choice_to_cut(self, term: Term, high: int, low: int) -> bool:
        shape = self._shapes.get(term)
        if shape is None or shape[0] != "ite" or (term, high, low) in self._extracts:
            return False
        return self._worth_pushing(shape[2], shape[3])

    def _shifted_to(self, top: Term, bits: int, width: int, depth: int) -> Term:
        """The low `width` bits of `top` above `bits` zeros."""
        shape = self._shapes.get(top)
        if shape is not None and shape[0] == "zext":
            top = shape[1]
        have = self.width(top)
        whole = self.zext(top, width) if have <= width else self.extract(top, width - 1, 0, depth)
        return self._shift_left(whole, bits, self.bv(bits, width), width)

    def _worth_pushing(self, then: Term, otherwise: Term) -> bool:
        return then in self._values or otherwise in self._values

    def _extract_extended(self, inner: Term, high: int, low: int, depth: int) -> Term:
        inside = self.width(inner)
        if low >= inside:
            return self.bv(0, high - low + 1)
        if high < inside:
            return self.extract(inner, high, low, depth)
        return self.zext(self.extract(inner, inside - 1, low, depth), high - low + 1)

    def concat(self, top: Term, bottom: Term) -> Term:
        """`top` above `bottom`."""
        low_width = self.width(bottom)
        width = self.width(top) + low_width
        high_value, low_value = self._values.get(top), self._values.get(bottom)
        if high_value is not None and low_value is not None:
            return self.bv(high_value << low_width | low_value, width)
        if high_value == 0:
            return self.zext(bottom, width)
        joined = self._join_extracts(top, bottom, low_width)
        if joined is not None:
            return joined
        return self.make(K.BV_CONCAT, [top, bottom], [], width, ("concat", top, bottom))

    def _join_extracts(self, top: Term, bottom: Term, low_width: int) -> Term | None:
        """Neighbouring parts of one term are one part of it."""
        match self._shapes.get(top), self._shapes.get(bottom):
            case ("extract", a, high, middle), ("extract", b, below, low) if a is b or a == b:
                if middle == below + 1:
                    return self.extract(a, high, low)
        match self._shapes.get(top):
            case ("sext", sign) if self.width(sign) == 1 and sign == self.extract(bottom, low_width - 1, low_width - 1):
                return self.sext(bottom, self.width(top) + low_width)
            case ("extract", whole, high, low) if low == low_width:
                match self._shapes.get(whole):
                    case ("sext" | "zext", inner) if inner == bottom:
                        return self.extract(whole, high, 0)
            case ("ite", c, then, otherwise) if then in self._values and otherwise in self._values:
                bottom_shape = self._shapes.get(bottom)
                if bottom_shape is not None and bottom_shape[0] == "ite" and bottom_shape[1] == c:
                    return self.ite(c, self.concat(then, bottom_shape[2]), self.concat(otherwise, bottom_shape[3]))
        return None

    def zext(self, term: Term, width: int) -> Term:
        have = self.width(term)
        if have == width:
            return term
        value = self._values.get(term)
        if value is not None:
            return self.bv(value, width)
        match self._shapes.get(term):
            case ("zext", inner):
                return self.zext(inner, width)
            case ("ite", condition, then, otherwise) if then in self._values and otherwise in self._values:
                return self.ite(condition, self.zext(then, width), self.zext(otherwise, width))
        return self.make(K.BV_ZERO_EXTEND, [term], [width - have], width, ("zext", term))

    def sext(self, term: Term, width: int) -> Term:
        have = self.width(term)
        if have == width:
            return term
        value = self._values.get(term)
        if value is not None:
            return self.bv(value - (1 << have) if value >> (have - 1) else value, width)
        match self._shapes.get(term):
            case ("sext", inner):
                return self.sext(inner, width)
            case ("zext", inner):  # strictly wider than what it extends: its sign is 0
                return self.zext(inner, width)
            case ("ite", condition, then, otherwise) if then in self._values and otherwise in self._values:
                return self.ite(condition, self.sext(then, width), self.sext(otherwise, width))
        return self.make(K.BV_SIGN_EXTEND, [term], [width - have], width, ("sext", term))

    # -- arithmetic -----------------------------------------------------------------------------

    def split_sum(self, term: Term) -> tuple[Term | None, int]:
        """`term` as base + constant; the base of a constant is None."""
        value = self._values.get(term)
        if value is not None:
            return None, value
        shape = self._shapes.get(term)
        if shape is not None and shape[0] == "add" and (constant := self._values.get(shape[2])) is not None:
            return shape[1], constant
        return term, 0

    def add(self, left: Term, right: Term) -> Term:
        width = self.width(left)
        (a, m), (b, n) = self.split_sum(left), self.split_sum(right)
        constant = (m + n) & ((1 << width) - 1)
        if a is None or b is None:
            base = a if b is None else b
            if base is None:
                return self.bv(constant, width)
        else:
            base = self._add_bases(a, b, width)
            if m or n:
                (base_part, more) = self.split_sum(base)
                constant = (constant + more) & ((1 << width) - 1)
                if base_part is None:
                    return self.bv(constant, width)
                base = base_part
            else:
                return base
        if constant == 0:
            return base
        number = self.bv(constant, width)
        return self.make(K.BV_ADD, [base, number], [], width, ("add", base, number))

    def _add_bases(self, a: Term, b: Term, width: int) -> Term:
        found = self._without_thread(a, b) if self.layout.mention_thread(a, b) else None
        if found is not None:
            return found
        match self._shapes.get(a), self._shapes.get(b):
            case ("neg", inner), _ if inner == b:
                return self.bv(0, width)
            case _, ("neg", inner) if inner == a:
                return self.bv(0, width)
            case _, ("neg", inner):
                return self._subtract(a, inner, width)
            case ("neg", inner), _:
                return self._subtract(b, inner, width)
            case ("sub", x, y), _ if y == b:
                return x
            case _, ("sub", x, y) if y == a:
                return x
        quotient = raised_as_quotient(self, a, b) or raised_as_quotient(self, b, a)
        if quotient is not None:
            return quotient
        if b.id() < a.id():
            a, b = b, a
        return self.make(K.BV_ADD, [a, b], [], width, ("add", a, b))

    def _without_thread(self, a: Term, b: Term) -> Term | None:
        """The sum of the thread pointer and a distance from it, whatever else is added: the thread pointer cancels."""
        thread = self.layout.thread
        left, right = list(self._summands(a)), list(self._summands(b))
        for one, other in ((left, right), (right, left)):
            if (1, thread) in one and (-1, thread) in other:
                one.remove((1, thread))
                other.remove((-1, thread))
                total = self.bv(0, self.width(a))
                for sign, part in (*left, *right):
                    total = self.add(total, part) if sign > 0 else self.sub(total, part)
                return total
        return None

    def _summands(self, term: Term) -> Iterator[tuple[int, Term]]:
        pending = [(1, term)]
        while pending:
            sign, top = pending.pop()
            match self._shapes.get(top):
                case ("add", x, y):
                    pending += [(sign, y), (sign, x)]
                case ("sub", x, y):
                    pending += [(-sign, y), (sign, x)]
                case ("neg", x):
                    pending.append((-sign, x))
                case _:
                    yield sign, top

    def sub(self, left: Term, right: Term) -> Term:
        width = self.width(left)
        (a, m), (b, n) = self.split_sum(left), self.split_sum(right)
        constant = self.bv(m - n, width)
        if b is None:
            return constant if a is None else self.add(a, constant)
        if a is None:
            return self.add(self.neg(b), constant)
        if a == b:
            return constant
        return self.add(self._subtract(a, b, width), constant)

    def _subtract(self, a: Term, b: Term, width: int) -> Term:
        if a == b:
            return self.bv(0, width)
        match self._shapes.get(a), self._shapes.get(b):
            case ("add", x, y), _ if y == b:
                return x
            case ("add", x, y), _ if x == b:
                return y
            case _, ("sub", x, y) if x == a:
                return y
        quotient = rounded_as_quotient(self, a, b)
        if quotient is not None:
            return quotient
        quotient = rounded_as_quotient(self, b, a)
        if quotient is not None:
            return self.neg(quotient)
        return self.make(K.BV_SUB, [a, b], [], width, ("sub", a, b))

    def neg(self, term: Term) -> Term:
        width = self.width(term)
        value = self._values.get(term)
        if value is not None:
            return self.bv(-value, width)
        match self._shapes.get(term):
            case ("neg", inner):
                return inner
            case ("sub", a, b):
                return self._subtract(b, a, width)
            case ("add", a, b) if b in self._values:
                return self.add(self.neg(a), self.bv(-self._values[b], width))
        return self.make(K.BV_NEG, [term], [], width, ("neg", term))

    def mul(self, left: Term, right: Term) -> Term:
        width = self.width(left)
        a, b = self._values.get(left), self._values.get(right)
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
        return self.make(K.BV_MUL, [left, right], [], width, ("mul", left, right))

    def udiv(self, left: Term, right: Term) -> Term:
        return unsigned_division(self, K.BV_UDIV, "udiv", left, right)

    def urem(self, left: Term, right: Term) -> Term:
        return unsigned_division(self, K.BV_UREM, "urem", left, right)

    def sdiv(self, left: Term, right: Term) -> Term:
        return signed_division(self, K.BV_SDIV, "sdiv", left, right)

    def srem(self, left: Term, right: Term) -> Term:
        return signed_division(self, K.BV_SREM, "srem", left, right)

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
        bits = self._values.get(amount)
        if bits is not None:
            if bits >= width:
                return self.bv(0, width)
            return self._shift_left(term, bits, amount, width) if bits else term
        return self.make(K.BV_SHL, [term, amount], [], width, ("shl", term, amount))

    def _shift_left(self, term: Term, bits: int, amount: Term, width: int) -> Term:
        """A concatenation with zeros, except over sums and the like: there the shift stays a product, so that
        the arithmetic around it can be seen."""
        shape = self._shapes.get(term)
        if shape is not None and shape[0] in _KEEP_SHIFTED:
            return self.make(K.BV_SHL, [term, amount], [], width, ("scaled", term, bits))
        return self.concat(self.extract(term, width - 1 - bits, 0), self.bv(0, bits))

    def lshr(self, term: Term, amount: Term) -> Term:
        width = self.width(term)
        amount = self._amount(amount, width)
        bits = self._values.get(amount)
        if bits is not None:
            if bits >= width:
                return self.bv(0, width)
            return self.zext(self.extract(term, width - 1, bits), width)
        return self.make(K.BV_SHR, [term, amount], [], width, ("lshr", term, amount))

    def ashr(self, term: Term, amount: Term) -> Term:
        width = self.width(term)
        amount = self._amount(amount, width)
        bits = self._values.get(amount)
        if bits is not None:
            bits = min(bits, width - 1)
            return self.sext(self.extract(term, width - 1, bits), width)
        return self.make(K.BV_ASHR, [term, amount], [], width, ("ashr", term, amount))

    # -- bitwise --------------------------------------------------------------------------------

    def and_(self, left: Term, right: Term) -> Term:
        width = self.width(left)
        a, b = self._values.get(left), self._values.get(right)
        if a is not None and b is not None:
            return self.bv(a & b, width)
        if a is not None:
            left, right, b = right, left, a
        if left == right:
            return left
        if b == 0:
            return right
        if b == (1 << width) - 1:
            return left
        if b is not None:
            masked = self._mask(left, b, width)
            if masked is not None:
                return masked
        flags = self._as_flags(left, right)
        if flags is not None:
            return self.flag(self.conj(*flags), width)
        for mask, kept in ((left, right), (right, left)):
            shape = self._shapes.get(mask)
            if shape is not None and shape[0] == "ite" and self._is_mask(shape[2], shape[3], width):
                # All ones or all zeros: vector code chooses by masks.
                return self.ite(shape[1], self.and_(shape[2], kept), self.and_(shape[3], kept))
        return self._bitwise(K.BV_AND, "and", left, right, width)

    def _is_mask(self, then: Term, otherwise: Term, width: int) -> bool:
        return {self._values.get(then), self._values.get(otherwise)} == {0, (1 << width) - 1}

    def _mask(self, term: Term, mask: int, width: int) -> Term | None:
        """A run of ones selects bits."""
        low = (mask & -mask).bit_length() - 1
        high = mask.bit_length() - 1
        if mask == (1 << (high + 1)) - (1 << low):
            part = self.zext(self.extract(term, high, low), width - low)
            return self.concat(part, self.bv(0, low)) if low else part
        return None

    def or_(self, left: Term, right: Term) -> Term:
        width = self.width(left)
        a, b = self._values.get(left), self._values.get(right)
        if a is not None and b is not None:
            return self.bv(a | b, width)
        if a is not None:
            left, right, b = right, left, a
        if left == right or b == 0:
            return left
        if b == (1 << width) - 1:
            return right
        joined = self._disjoint_or(left, right) or self._disjoint_or(right, left)
        if joined is not None:
            return joined
        flags = self._as_flags(left, right)
        if flags is not None:
            return self.flag(self.disj(*flags), width)
        chosen = self._one_or_the_other(left, right)
        return chosen if chosen is not None else self._bitwise(K.BV_OR, "or", left, right, width)

    def _one_or_the_other(self, left: Term, right: Term) -> Term | None:
        """(c ? x : 0) | (c ? 0 : y) is c ? x : y."""
        one, other = self._shapes.get(left, ("?",)), self._shapes.get(right, ("?",))
        if one[0] != "ite" or other[0] != "ite" or one[1] != other[1]:
            return None
        if 0 not in (self._values.get(one[2]), self._values.get(other[2])):
            return None
        if 0 not in (self._values.get(one[3]), self._values.get(other[3])):
            return None
        return self.ite(one[1], self.or_(one[2], other[2]), self.or_(one[3], other[3]))

    def _disjoint_or(self, upper: Term, lower: Term) -> Term | None:
        """x·2^k | y with y below 2^k is a concatenation."""
        shape = self._shapes.get(upper)
        if shape is not None and shape[0] == "zext":
            inner = self._shapes.get(shape[1])
            if inner is not None and inner[0] == "concat" and self._values.get(inner[2]) == 0:
                top = self.zext(inner[1], self.width(upper) - self.width(inner[2]))
                shape = ("concat", top, inner[2])
        if shape is not None and shape[0] == "scaled":
            top = self.extract(shape[1], self.width(upper) - 1 - shape[2], 0)
            shape = ("concat", top, self.bv(0, shape[2]))
        if shape is None or shape[0] != "concat" or self._values.get(shape[2]) != 0:
            return None
        room = self.width(shape[2])
        if unsigned_width(self, lower) > room:
            return None
        return self.concat(shape[1], self.extract(lower, room - 1, 0))

    def xor_(self, left: Term, right: Term) -> Term:
        width = self.width(left)
        a, b = self._values.get(left), self._values.get(right)
        if a is not None and b is not None:
            return self.bv(a ^ b, width)
        if a is not None:
            left, right, b = right, left, a
        if left == right:
            return self.bv(0, width)
        if b == 0:
            return left
        if b == (1 << width) - 1 and self._shapes.get(left, ("",))[0] != "xor":
            return self.not_(left)
        flags = self._as_flags(left, right)
        if flags is not None:
            return self.flag(self.exclusive(*flags), width)
        return self._sum_of_bits(left, right, width)

    def _sum_of_bits(self, left: Term, right: Term, width: int) -> Term:
        """An exclusive or of several things in one order, each once: solvers find it very hard to see that two such are
        the same."""
        parts: dict[Term, None] = {}
        constant, ones = 0, (1 << width) - 1
        pending = [left, right]
        while pending:
            part = pending.pop()
            shape, value = self._shapes.get(part), self._values.get(part)
            if value is not None:
                constant ^= value
            elif shape is not None and shape[0] in ("xor", "not"):
                constant ^= ones if shape[0] == "not" else 0
                pending += shape[1:]
            elif part in parts:
                del parts[part]
            else:
                parts[part] = None
            if len(parts) > _MOST_BITS_SUMMED:
                return self._bitwise(K.BV_XOR, "xor", left, right, width)
        ordered = sorted(parts, key=lambda part: int(part.id()))
        total = ordered.pop(0) if ordered else self.bv(0, width)
        for part in ordered:
            total = self.make(K.BV_XOR, [total, part], [], width, ("xor", total, part))
        if constant == ones:
            return self.not_(total)
        if not constant:
            return total
        if not parts:
            return self.bv(constant, width)
        return self._bitwise(K.BV_XOR, "xor", total, self.bv(constant, width), width)

    def _bitwise(self, kind: Any, name: str, left: Term, right: Term, width: int) -> Term:
        if right not in self._values and right.id() < left.id():
            left, right = right, left
        return self.make(kind, [left, right], [], width, (name, left, right))

    def not_(self, term: Term) -> Term:
        width = self.width(term)
        value = self._values.get(term)
        if value is not None:
            return self.bv(~value, width)
        shape = self._shapes.get(term)
        if shape is not None and shape[0] == "not":
            return shape[1]
        if shape is not None and shape[0] == "ite" and shape[2] in self._values and shape[3] in self._values:
            return self.ite(shape[1], self.not_(shape[2]), self.not_(shape[3]))
        return self.make(K.BV_NOT, [term], [], width, ("not", term))

    # -- booleans as bytes ----------------------------------------------------------------------

    def flag(self, condition: Term, width: int = 8) -> Term:
        """A condition as a number, 1 or 0."""
        return self.ite(condition, self.bv(1, width), self.bv(0, width))

    def _flag_condition(self, term: Term) -> Term | None:
        value = self._values.get(term)
        if value is not None:
            return self.true if value == 1 else self.false if value == 0 else None
        match self._shapes.get(term):
            case ("ite", condition, then, otherwise):
                one, zero = self._values.get(then), self._values.get(otherwise)
                if (one, zero) == (1, 0):
                    return condition
                if (one, zero) == (0, 1):
                    return self.negate(condition)
        return None

    def _as_flags(self, left: Term, right: Term) -> tuple[Term, Term] | None:
        a = self._flag_condition(left)
        if a is None:
            return None
        b = self._flag_condition(right)
        return None if b is None else (a, b)

    def condition(self, term: Term) -> Term:
        """A number as a condition: is it nonzero?"""
        found = self._flag_condition(term)
        return found if found is not None else self.negate(self.eq(term, self.bv(0, self.width(term))))

    # -- comparisons ----------------------------------------------------------------------------

    def eq(self, left: Term, right: Term) -> Term:
        return equal(self, left, right)

    def ult(self, left: Term, right: Term) -> Term:
        return compare(self, K.BV_ULT, "ult", left, right, lambda a, b, w: a < b)

    def ule(self, left: Term, right: Term) -> Term:
        return self.negate(self.ult(right, left))

    def slt(self, left: Term, right: Term) -> Term:
        return compare(self, K.BV_SLT, "slt", left, right, lambda a, b, w: signed(a, w) < signed(b, w))

    def sle(self, left: Term, right: Term) -> Term:
        return self.negate(self.slt(right, left))

    # -- counting -------------------------------------------------------------------------------

    def popcount(self, term: Term, width: int) -> Term:
        """The number of ones, by adding neighbours: log(n) additions instead of n."""
        value = self._values.get(term)
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
        bits = self.width(term)
        result = self.bv(bits, width)
        for i in range(bits):
            result = self.ite(self.eq(self.extract(term, i, i), self.bv(1, 1)), self.bv(bits - 1 - i, width), result)
        return result
