"""Smart constructors over bitwuzla terms.

There is no expression tree of our own: a term is a bitwuzla term. What is kept beside it is its `Shape`, the
operator and operands it was built from, so that constructors can simplify without asking the solver's
library. Every rule below is an identity of bit-vectors; `tests/smt/test_terms.py` checks each against
`evaluate.py` on random numbers.

Normal forms that others rely on: a sum has its constant outermost on the right; a boolean that became a
byte is `ite(c, 1, 0)`; a shift right by a constant is an extraction.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import bitwuzla
from bitwuzla import Kind as K  # noqa: N817 (it stands in every line below)

from isoform.smt.quotient import (
    halved_sum_as_quotient,
    high_bits_as_quotient,
    raised_as_quotient,
    rounded_as_quotient,
)

Term = Any
"""A `bitwuzla.Term`. (The library ships no types.)"""
Shape = tuple[Any, ...]

_KEEP_SHIFTED = frozenset({"add", "sub", "mul", "neg", "and", "or", "xor", "not", "scaled", "ite"})
_PUSH_DEPTH = 24
"""How deep an extraction of low bits is pushed into sums and products."""


@cache
def _manager() -> Any:
    """The one term manager of the process, made immortal: bitwuzla crashes if a manager is collected before
    its terms, and inside a reference cycle or at exit Python does not keep that order. Terms themselves
    are counted and freed as usual."""
    manager = bitwuzla.TermManager()
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(manager))
    return manager


class Terms:
    """The terms of one question, with memory of how they were built."""

    def __init__(self) -> None:
        self.manager = _manager()
        self._sorts: dict[int, Any] = {}
        self._constants: dict[tuple[int, int], Term] = {}
        self._values: dict[Term, int] = {}
        self._shapes: dict[Term, Shape] = {}
        self._widths: dict[Term, int] = {}
        self._extracts: dict[tuple[Term, int, int], Term] = {}
        """Parts already taken: without it, a part of a shared term is taken once for every way to reach it."""
        self._variables: dict[str, Term] = {}
        self.uses_floats = False
        """Whether there is any application of a floating-point operation (see `floats.py`)."""
        self.true = self.manager.mk_true()
        self.false = self.manager.mk_false()

    # -- leaves ---------------------------------------------------------------------------------

    def sort(self, width: int) -> Any:
        found = self._sorts.get(width)
        if found is None:
            found = self._sorts[width] = self.manager.mk_bv_sort(width)
        return found

    def bv(self, value: int, width: int) -> Term:
        value &= (1 << width) - 1
        key = (value, width)
        found = self._constants.get(key)
        if found is None:
            found = self._constants[key] = self.manager.mk_bv_value(self.sort(width), value)
            self._values[found] = value
            self._widths[found] = width
        return found

    def variable(self, name: str, width: int) -> Term:
        """The one symbol of this name."""
        found = self._variables.get(name)
        if found is None:
            found = self._variables[name] = self.manager.mk_const(self.sort(width), name)
            self._widths[found] = width
        return found

    def array_variable(self, name: str, address_width: int) -> Term:
        found = self._variables.get(name)
        if found is None:
            sort = self.manager.mk_array_sort(self.sort(address_width), self.sort(8))
            found = self._variables[name] = self.manager.mk_const(sort, name)
        return found

    def function_variable(self, name: str, domain: Sequence[Any], codomain: Any) -> Term:
        found = self._variables.get(name)
        if found is None:
            found = self._variables[name] = self.manager.mk_const(
                self.manager.mk_fun_sort(list(domain), codomain), name
            )
        return found

    def array_sort(self, address_width: int) -> Any:
        return self.manager.mk_array_sort(self.sort(address_width), self.sort(8))

    def value(self, term: Term) -> int | None:
        """The number a constant term stands for, None if it is not constant."""
        return self._values.get(term)

    def width(self, term: Term) -> int:
        found = self._widths.get(term)
        if found is None:
            found = self._widths[term] = term.sort().bv_size()
        return found

    def shape(self, term: Term) -> Shape:
        return self._shapes.get(term, ("?",))

    def _make(self, kind: Any, arguments: list[Term], indices: list[int], width: int, shape: Shape | None) -> Term:
        term = self.manager.mk_term(kind, arguments, indices) if indices else self.manager.mk_term(kind, arguments)
        if width:
            self._widths[term] = width
        if shape is not None:
            self._shapes[term] = shape
        return term

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
                found = self._make(K.BV_EXTRACT, [term], [high, low], high - low + 1, ("extract", term, high, low))
            self._extracts[key] = found
        return found

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
            case ("ite", condition, then, otherwise) if self._worth_pushing(then, otherwise):
                return self.ite(
                    condition, self.extract(then, high, low, depth), self.extract(otherwise, high, low, depth)
                )
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
        return self._make(K.BV_CONCAT, [top, bottom], [], width, ("concat", top, bottom))

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
        return self._make(K.BV_ZERO_EXTEND, [term], [width - have], width, ("zext", term))

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
        return self._make(K.BV_SIGN_EXTEND, [term], [width - have], width, ("sext", term))

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
        return self._make(K.BV_ADD, [base, number], [], width, ("add", base, number))

    def _add_bases(self, a: Term, b: Term, width: int) -> Term:
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
        return self._make(K.BV_ADD, [a, b], [], width, ("add", a, b))

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
        return self._make(K.BV_SUB, [a, b], [], width, ("sub", a, b))

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
        return self._make(K.BV_NEG, [term], [], width, ("neg", term))

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
        return self._make(K.BV_MUL, [left, right], [], width, ("mul", left, right))

    def udiv(self, left: Term, right: Term) -> Term:
        return self._unsigned_division(K.BV_UDIV, "udiv", left, right)

    def urem(self, left: Term, right: Term) -> Term:
        return self._unsigned_division(K.BV_UREM, "urem", left, right)

    def _unsigned_division(self, kind: Any, name: str, left: Term, right: Term) -> Term:
        width = self.width(left)
        a, b = self._values.get(left), self._values.get(right)
        if b and a is not None:
            return self.bv(a // b if name == "udiv" else a % b, width)
        if b and name == "urem" and b & (b - 1):
            # One division serves both: what is left over is the dividend less the multiple.
            return self.sub(left, self.mul(self.udiv(left, right), right))
        if b and b & (b - 1) == 0:
            bits = b.bit_length() - 1
            if name == "udiv":
                return self.lshr(left, self.bv(bits, width))
            return self.and_(left, self.bv(b - 1, width))
        narrow = max(self._unsigned_width(left), self._unsigned_width(right))
        if narrow < width and b != 0:
            inner = self._unsigned_division(
                kind, name, self.extract(left, narrow - 1, 0), self.extract(right, narrow - 1, 0)
            )
            # By zero the wide quotient is all ones and the narrow one is not: keep that case apart.
            if name == "udiv" and b is None:
                by_zero = self.eq(right, self.bv(0, width))
                return self.ite(by_zero, self.bv(-1, width), self.zext(inner, width))
            return self.zext(inner, width)
        return self._make(kind, [left, right], [], width, (name, left, right))

    def _unsigned_width(self, term: Term) -> int:
        """A number of bits that the value certainly fits in."""
        value = self._values.get(term)
        if value is not None:
            return max(1, value.bit_length())
        shape = self._shapes.get(term)
        return self.width(shape[1]) if shape is not None and shape[0] == "zext" else self.width(term)

    def _signed_width(self, term: Term) -> int:
        value = self._values.get(term)
        width = self.width(term)
        if value is not None:
            return (value if value >> (width - 1) == 0 else ~value & ((1 << width) - 1)).bit_length() + 1
        match self._shapes.get(term):
            case ("sext", inner):
                return self.width(inner)
            case ("zext", inner):
                return self.width(inner) + 1
        return width

    def sdiv(self, left: Term, right: Term) -> Term:
        return self._signed_division(K.BV_SDIV, "sdiv", left, right)

    def srem(self, left: Term, right: Term) -> Term:
        return self._signed_division(K.BV_SREM, "srem", left, right)

    def _signed_division(self, kind: Any, name: str, left: Term, right: Term) -> Term:
        """Narrowed where both operands are sign-extended: one bit more than they need holds the quotient of
        the least number by -1, and the results by zero (1, -1 and the dividend) fit as well."""
        width = self.width(left)
        a, b = self._values.get(left), self._values.get(right)
        if a is not None and b:
            return self.bv(_divide(name, _signed(a, width), _signed(b, width)), width)
        if b and name == "srem":
            return self.sub(left, self.mul(self.sdiv(left, right), right))
        needed = max(self._signed_width(left), self._signed_width(right))
        # Only -1 makes a quotient too large for the operands' width.
        narrow = needed if b and _signed(b, width) > 0 else needed + 1
        if narrow < width:
            inner = self._signed_division(
                kind, name, self.extract(left, narrow - 1, 0), self.extract(right, narrow - 1, 0)
            )
            return self.sext(inner, width)
        return self._make(kind, [left, right], [], width, (name, left, right))

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
        return self._make(K.BV_SHL, [term, amount], [], width, ("shl", term, amount))

    def _shift_left(self, term: Term, bits: int, amount: Term, width: int) -> Term:
        """A concatenation with zeros, except over sums and the like: there the shift stays a product, so that
        the arithmetic around it can be seen."""
        shape = self._shapes.get(term)
        if shape is not None and shape[0] in _KEEP_SHIFTED:
            return self._make(K.BV_SHL, [term, amount], [], width, ("scaled", term, bits))
        return self.concat(self.extract(term, width - 1 - bits, 0), self.bv(0, bits))

    def lshr(self, term: Term, amount: Term) -> Term:
        width = self.width(term)
        amount = self._amount(amount, width)
        bits = self._values.get(amount)
        if bits is not None:
            if bits >= width:
                return self.bv(0, width)
            return self.zext(self.extract(term, width - 1, bits), width)
        return self._make(K.BV_SHR, [term, amount], [], width, ("lshr", term, amount))

    def ashr(self, term: Term, amount: Term) -> Term:
        width = self.width(term)
        amount = self._amount(amount, width)
        bits = self._values.get(amount)
        if bits is not None:
            bits = min(bits, width - 1)
            return self.sext(self.extract(term, width - 1, bits), width)
        return self._make(K.BV_ASHR, [term, amount], [], width, ("ashr", term, amount))

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
        return self._bitwise(K.BV_AND, "and", left, right, width)

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
        return self._bitwise(K.BV_OR, "or", left, right, width)

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
        if self._unsigned_width(lower) > room:
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
        if b == (1 << width) - 1:
            return self.not_(left)
        flags = self._as_flags(left, right)
        if flags is not None:
            return self.flag(self.exclusive(*flags), width)
        return self._bitwise(K.BV_XOR, "xor", left, right, width)

    def _bitwise(self, kind: Any, name: str, left: Term, right: Term, width: int) -> Term:
        if right not in self._values and right.id() < left.id():
            left, right = right, left
        return self._make(kind, [left, right], [], width, (name, left, right))

    def not_(self, term: Term) -> Term:
        width = self.width(term)
        value = self._values.get(term)
        if value is not None:
            return self.bv(~value, width)
        shape = self._shapes.get(term)
        if shape is not None and shape[0] == "not":
            return shape[1]
        return self._make(K.BV_NOT, [term], [], width, ("not", term))

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
        if left == right:
            return self.true
        a, b = self._values.get(left), self._values.get(right)
        if a is not None and b is not None:
            return self.false
        if a is not None:
            left, right, b = right, left, a
        if b is not None:
            folded = self._equals_constant(left, b)
            if folded is not None:
                return folded
        else:
            (x, m), (y, n) = self.split_sum(left), self.split_sum(right)
            if x is not None and x == y:
                return self.true if m == n else self.false
            if right.id() < left.id():
                left, right = right, left
        return self._make(K.EQUAL, [left, right], [], 0, ("eq", left, right))

    def _equals_constant(self, term: Term, value: int) -> Term | None:
        width = self.width(term)
        match self._shapes.get(term):
            case ("ite", condition, then, otherwise):
                a, b = self._values.get(then), self._values.get(otherwise)
                if a is not None and b is not None:
                    hits = (a == value, b == value)
                    if hits == (True, True):
                        return self.true
                    if hits == (False, False):
                        return self.false
                    return condition if hits[0] else self.negate(condition)
                if a is not None and a != value:
                    return self.conj(self.negate(condition), self.eq(otherwise, self.bv(value, width)))
                if b is not None and b != value:
                    return self.conj(condition, self.eq(then, self.bv(value, width)))
            case ("zext", inner):
                inside = self.width(inner)
                return self.false if value >> inside else self.eq(inner, self.bv(value, inside))
            case ("add", base, constant) if constant in self._values:
                return self.eq(base, self.bv(value - self._values[constant], width))
            case ("sub", a, b) if value == 0:
                return self.eq(a, b)
            case ("neg", inner):
                return self.eq(inner, self.bv(-value, width))
            case ("not", inner):
                return self.eq(inner, self.bv(~value, width))
            case ("xor", a, b) if value == 0:
                return self.eq(a, b)
            case ("concat", top, bottom):
                split = self.width(bottom)
                return self.conj(
                    self.eq(top, self.bv(value >> split, width - split)), self.eq(bottom, self.bv(value, split))
                )
        return None

    def ult(self, left: Term, right: Term) -> Term:
        return self._compare(K.BV_ULT, "ult", left, right, lambda a, b, w: a < b)

    def ule(self, left: Term, right: Term) -> Term:
        return self.negate(self.ult(right, left))

    def slt(self, left: Term, right: Term) -> Term:
        return self._compare(K.BV_SLT, "slt", left, right, lambda a, b, w: _signed(a, w) < _signed(b, w))

    def sle(self, left: Term, right: Term) -> Term:
        return self.negate(self.slt(right, left))

    def _compare(self, kind: Any, name: str, left: Term, right: Term, holds: Callable[[int, int, int], bool]) -> Term:
        if left == right:
            return self.false
        width = self.width(left)
        a, b = self._values.get(left), self._values.get(right)
        if a is not None and b is not None:
            return self.true if holds(a, b, width) else self.false
        if name == "ult":
            if b == 0:
                return self.false
            if b == 1:
                return self.eq(left, self.bv(0, width))
            if a == 0:
                return self.negate(self.eq(right, left))
            narrowed = self._compare_extended(left, right, a, b, width)
            if narrowed is not None:
                return narrowed
        else:
            narrowed = self._compare_sign_extended(kind, left, right, holds)
            if narrowed is not None:
                return narrowed
        return self._make(kind, [left, right], [], 0, (name, left, right))

    def _compare_sign_extended(
        self, kind: Any, left: Term, right: Term, holds: Callable[[int, int, int], bool]
    ) -> Term | None:
        narrow = max(self._signed_width(left), self._signed_width(right))
        if narrow >= self.width(left):
            return None
        return self._compare(kind, "slt", self.extract(left, narrow - 1, 0), self.extract(right, narrow - 1, 0), holds)

    def _compare_extended(self, left: Term, right: Term, a: int | None, b: int | None, width: int) -> Term | None:
        narrow = max(self._unsigned_width(left), self._unsigned_width(right))
        if narrow >= width:
            return None
        if b is not None and b >> self._unsigned_width(left):
            return self.true
        if a is not None and a >> self._unsigned_width(right):
            return self.false
        return self.ult(self.extract(left, narrow - 1, 0), self.extract(right, narrow - 1, 0))

    # -- propositional --------------------------------------------------------------------------

    def negate(self, term: Term) -> Term:
        if term == self.true:
            return self.false
        if term == self.false:
            return self.true
        shape = self._shapes.get(term)
        if shape is not None and shape[0] == "negate":
            return shape[1]
        return self._make(K.NOT, [term], [], 0, ("negate", term))

    def conj(self, left: Term, right: Term) -> Term:
        if left == self.true or left == right:
            return right
        if right == self.true:
            return left
        if left == self.false or right == self.false or left == self.negate(right):
            return self.false
        match self._shapes.get(left):
            case ("conj", a, b) if right in (a, b):
                return left
            case ("conj", a, b) if self.negate(right) in (a, b):
                return self.false
        return self._make(K.AND, [left, right], [], 0, ("conj", left, right))

    def disj(self, left: Term, right: Term) -> Term:
        if left == self.false or left == right:
            return right
        if right == self.false:
            return left
        if left == self.true or right == self.true or left == self.negate(right):
            return self.true
        merged = self._merge_paths(left, right)
        if merged is not None:
            return merged
        return self._make(K.OR, [left, right], [], 0, ("disj", left, right))

    def _merge_paths(self, left: Term, right: Term) -> Term | None:
        """(p ∧ c) ∨ (p ∧ ¬c) = p: what joins after a branch is as free as what went into it."""
        match self._shapes.get(left), self._shapes.get(right):
            case ("conj", p, c), ("conj", q, d) if p == q:
                return self.conj(p, self.disj(c, d)) if c == self.negate(d) else None
            case ("conj", p, c), _ if p == right:
                return right
            case _, ("conj", q, d) if q == left:
                return left
        return None

    def selector(self, left: Term, right: Term) -> Term:
        """A condition that tells two exclusive path conditions apart where one of them holds."""
        match self._shapes.get(left), self._shapes.get(right):
            case ("conj", p, c), ("conj", q, d) if p == q and c == self.negate(d):
                return c
        return left

    def exclusive(self, left: Term, right: Term) -> Term:
        """Exclusive or of two conditions."""
        if left == right:
            return self.false
        for a, b in ((left, right), (right, left)):
            if a == self.true:
                return self.negate(b)
            if a == self.false:
                return b
        if left == self.negate(right):
            return self.true
        return self._make(K.XOR, [left, right], [], 0, ("exclusive", left, right))

    def implies(self, left: Term, right: Term) -> Term:
        return self.disj(self.negate(left), right)

    def all_of(self, conditions: Sequence[Term]) -> Term:
        result = self.true
        for condition in conditions:
            result = self.conj(result, condition)
        return result

    def any_of(self, conditions: Sequence[Term]) -> Term:
        result = self.false
        for condition in conditions:
            result = self.disj(result, condition)
        return result

    def ite(self, condition: Term, then: Term, otherwise: Term) -> Term:
        if then == otherwise or condition == self.true:
            return then
        if condition == self.false:
            return otherwise
        shape = self._shapes.get(condition)
        if shape is not None and shape[0] == "negate":
            condition, then, otherwise = shape[1], otherwise, then
        inner = self._shapes.get(then)
        if inner is not None and inner[0] == "ite" and inner[1] == condition:
            return self.ite(condition, inner[2], otherwise)
        inner = self._shapes.get(otherwise)
        if inner is not None and inner[0] == "ite" and inner[1] == condition:
            return self.ite(condition, then, inner[3])
        width = self._widths.get(then, 0)
        return self._make(K.ITE, [condition, then, otherwise], [], width, ("ite", condition, then, otherwise))

    # -- arrays and functions -------------------------------------------------------------------

    def select(self, array: Term, address: Term) -> Term:
        return self._make(K.ARRAY_SELECT, [array, address], [], 8, ("select", array, address))

    def store(self, array: Term, address: Term, byte: Term) -> Term:
        return self._make(K.ARRAY_STORE, [array, address, byte], [], 0, None)

    def array_ite(self, condition: Term, then: Term, otherwise: Term) -> Term:
        if then == otherwise or condition == self.true:
            return then
        if condition == self.false:
            return otherwise
        return self._make(K.ITE, [condition, then, otherwise], [], 0, None)

    def apply(self, function: Term, arguments: Sequence[Term]) -> Term:
        return self._make(K.APPLY, [function, *arguments], [], 0, None)

    def raw_equal(self, left: Term, right: Term) -> Term:
        """Equality of terms of any sort."""
        return self.true if left == right else self._make(K.EQUAL, [left, right], [], 0, None)

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


def _signed(value: int, width: int) -> int:
    return value - (1 << width) if value >> (width - 1) else value


def _divide(name: str, a: int, b: int) -> int:
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return quotient if name == "sdiv" else a - b * quotient
