"""Identities of floating point that terms are rewritten by: for all numbers of small formats, and in the real formats
against Python's own arithmetic."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import pytest

from isoform.model.evaluate_floats import canonical_nan, infinity, sign_bit, to_bits, to_float
from isoform.model.microop import Kind
from isoform.smt import floats
from isoform.smt.simulate import Simulator
from isoform.smt.terms import Term, Terms

# -- small formats, exactly -----------------------------------------------------------------------


@dataclass(frozen=True)
class Format:
    """An IEEE 754 format by its bits. Numbers are patterns, and there is one NaN."""

    exponent_bits: int
    fraction_bits: int

    @property
    def sign(self) -> int:
        return 1 << (self.exponent_bits + self.fraction_bits)

    @property
    def infinity(self) -> int:
        return self.sign - (1 << self.fraction_bits)

    @property
    def nan(self) -> int:
        return self.infinity + 1

    @property
    def numbers(self) -> list[int]:
        """All patterns, with one NaN."""
        positive = range(self.infinity + 1)
        return [*positive, *(self.sign | bits for bits in positive), self.nan]

    @property
    def _least(self) -> int:
        """Of the lowest bit of subnormal numbers."""
        return 2 - (1 << (self.exponent_bits - 1)) - self.fraction_bits

    def exact(self, bits: int) -> Fraction:
        magnitude = bits & (self.sign - 1)
        exponent, fraction = magnitude >> self.fraction_bits, magnitude & ((1 << self.fraction_bits) - 1)
        whole = fraction + (1 << self.fraction_bits) if exponent else fraction
        value = whole * Fraction(2) ** (self._least + max(exponent - 1, 0))
        return -value if bits & self.sign else value

    def rounded(self, value: Fraction, sign: int) -> int:
        """To nearest, ties to even; `sign` is that of a zero."""
        magnitude, sign = abs(value), self.sign if value < 0 else (sign if value == 0 else 0)
        exponent = 0
        while magnitude / Fraction(2) ** (self._least + exponent) >= 1 << (self.fraction_bits + 1):
            exponent += 1
        whole = round(magnitude / Fraction(2) ** (self._least + exponent))  # Python rounds ties to even
        bits = whole if not exponent else (exponent << self.fraction_bits) + whole
        return sign | min(bits, self.infinity)

    def is_nan(self, bits: int) -> bool:
        return bits & (self.sign - 1) > self.infinity

    def is_infinite(self, bits: int) -> bool:
        return bits & (self.sign - 1) == self.infinity

    def negated(self, bits: int) -> int:
        return bits if self.is_nan(bits) else bits ^ self.sign

    def add(self, a: int, b: int) -> int:
        if self.is_nan(a) or self.is_nan(b) or (self.is_infinite(a) and self.is_infinite(b) and a != b):
            return self.nan
        if self.is_infinite(a) or self.is_infinite(b):
            return a if self.is_infinite(a) else b
        return self.rounded(self.exact(a) + self.exact(b), a & b & self.sign)

    def subtract(self, a: int, b: int) -> int:
        """By itself, not as a sum."""
        if self.is_nan(a) or self.is_nan(b) or (self.is_infinite(a) and a == b):
            return self.nan
        if self.is_infinite(a) or self.is_infinite(b):
            return a if self.is_infinite(a) else b ^ self.sign
        return self.rounded(self.exact(a) - self.exact(b), a & ~b & self.sign)

    def multiply(self, a: int, b: int) -> int:
        sign = (a ^ b) & self.sign
        if self.is_nan(a) or self.is_nan(b):
            return self.nan
        if self.is_infinite(a) or self.is_infinite(b):
            return self.nan if self.exact_zero(a) or self.exact_zero(b) else sign | self.infinity
        return self.rounded(self.exact(a) * self.exact(b), sign)

    def divide(self, a: int, b: int) -> int:
        sign = (a ^ b) & self.sign
        if self.is_nan(a) or self.is_nan(b) or (self.is_infinite(a) and self.is_infinite(b)):
            return self.nan
        if self.is_infinite(b):
            return sign
        if self.exact_zero(b):
            return self.nan if self.exact_zero(a) else sign | self.infinity
        return sign | self.infinity if self.is_infinite(a) else self.rounded(self.exact(a) / self.exact(b), sign)

    def exact_zero(self, bits: int) -> bool:
        return bits & (self.sign - 1) == 0

    def of(self, number: Fraction) -> int | None:
        """The pattern of a number, if it has one."""
        bits = self.rounded(number, 0)
        return bits if not self.is_infinite(bits) and self.exact(bits) == number else None


FORMATS = [Format(2, 2), Format(3, 2), Format(3, 3)]
SIGNED_TWICE = {
    "subtraction": lambda f, a, b: (f.subtract(a, b), f.add(a, f.negated(b))),
    "order of a sum": lambda f, a, b: (f.add(a, b), f.add(b, a)),
    "order of a product": lambda f, a, b: (f.multiply(a, b), f.multiply(b, a)),
    "sign of a product": lambda f, a, b: (f.multiply(f.negated(a), b), f.negated(f.multiply(a, b))),
    "sign of a quotient": lambda f, a, b: (f.divide(f.negated(a), b), f.negated(f.divide(a, b))),
    "sign of a divisor": lambda f, a, b: (f.divide(a, f.negated(b)), f.negated(f.divide(a, b))),
}
ids = {"ids": lambda f: f"{f.exponent_bits}-{f.fraction_bits}"}


@pytest.mark.parametrize("name", SIGNED_TWICE)
@pytest.mark.parametrize("small", FORMATS, **ids)  # type: ignore[arg-type]
def test_identities_of_two_numbers(small: Format, name: str) -> None:
    for a, b in product(small.numbers, repeat=2):
        left, right = SIGNED_TWICE[name](small, a, b)
        assert left == right, (a, b)


@pytest.mark.parametrize("small", FORMATS, **ids)  # type: ignore[arg-type]
def test_identities_with_constants(small: Format) -> None:
    one, two = small.of(Fraction(1)), small.of(Fraction(2))
    assert one is not None
    assert two is not None
    for x in small.numbers:
        assert small.add(x, small.sign) == x, "x + (-0) = x"
        assert small.multiply(x, one) == x
        assert small.multiply(x, two) == small.add(x, x)


@pytest.mark.parametrize("small", FORMATS, **ids)  # type: ignore[arg-type]
def test_division_is_multiplication_exactly_if_the_inverse_is_exact(small: Format) -> None:
    finite = [bits for bits in small.numbers if not small.is_nan(bits) and not small.is_infinite(bits)]
    found = 0
    for divisor in (bits for bits in finite if not small.exact_zero(bits)):
        inverse = small.of(1 / small.exact(divisor))
        if inverse is not None:
            found += 1
            assert all(small.divide(x, divisor) == small.multiply(x, inverse) for x in small.numbers), divisor
    assert found >= 4


@pytest.mark.parametrize("small", FORMATS, **ids)  # type: ignore[arg-type]
def test_rounded_inverses_will_not_do(small: Format) -> None:
    """Without the condition the rule would be wrong: 3 has no exact inverse."""
    three = small.of(Fraction(3))
    assert three is not None
    inverse = small.rounded(Fraction(1, 3), 0)
    assert any(small.divide(x, three) != small.multiply(x, inverse) for x in small.numbers)


# -- the real formats -----------------------------------------------------------------------------


def patterns(size: int) -> list[int]:
    """Numbers at the edges of everything, of both signs."""
    infinite, fraction = infinity(size), (1 << (23 if size == 4 else 52)) - 1
    plain = [to_bits(number, size) for number in (1.0, 1.5, 2.0, 3.0, 0.1, 1e30, 1e-30, 7.0, 0.5, 2.0**24 + 2)]
    edges = [0, 1, 2, fraction, fraction + 1, fraction + 2, infinite - 1, infinite, infinite + 1, infinite | fraction]
    positive = [*edges, *plain, to_bits(1.0, size) - 1, to_bits(1.0, size) + 1]
    return [*positive, *(bits | sign_bit(size) for bits in positive)]


def value_of(term: Term, numbers: dict[Term, int]) -> int:
    simulator = Simulator([term])
    simulator.add_sample(lambda variable, width: numbers[variable])
    return int(simulator.values[term][0])


COMPARISONS: dict[str, tuple[Callable[[Terms, Term, Term], Term], Callable[[float, float], bool]]] = {
    "equal": (floats.equal, lambda a, b: a == b),
    "less": (floats.less, lambda a, b: a < b),
    "less-or-equal": (floats.less_or_equal, lambda a, b: a <= b),
    "nan": (lambda t, a, b: floats.is_nan_term(t, a), lambda a, b: math.isnan(a)),
}


@pytest.mark.parametrize("size", [4, 8])
@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons_are_pythons(name: str, size: int) -> None:
    terms = Terms()
    x, y = (terms.variable(letter, 8 * size) for letter in "xy")
    build, compare = COMPARISONS[name]
    flag = terms.ite(build(terms, x, y), terms.bv(1, 8), terms.bv(0, 8))
    for a, b in product(patterns(size), repeat=2):
        wanted = compare(_number(a, size), _number(b, size))
        assert value_of(flag, {x: a, y: b}) == wanted, (hex(a), hex(b))


def _number(bits: int, size: int) -> float:
    return float(struct.unpack("<f" if size == 4 else "<d", bits.to_bytes(size, "little"))[0])


def pythons(kind: Kind, a: int, b: int, size: int) -> int:
    """Python's result, as a pattern. Doubles hold sums, products and quotients of singles well enough to be rounded
    a second time: they have more than twice the digits and two more."""
    left, right = _number(a, size), _number(b, size)
    if math.isnan(left) or math.isnan(right):
        return canonical_nan(size)
    if kind is Kind.FLOAT_DIV and right == 0:
        sign = (a ^ b) & sign_bit(size)
        return canonical_nan(size) if left == 0 else sign | infinity(size)
    found = {
        Kind.FLOAT_ADD: lambda: left + right,
        Kind.FLOAT_SUB: lambda: left - right,
        Kind.FLOAT_MUL: lambda: left * right,
        Kind.FLOAT_DIV: lambda: left / right,
    }[kind]()
    if math.isnan(found):
        return canonical_nan(size)
    try:
        return int.from_bytes(struct.pack("<f" if size == 4 else "<d", found), "little")
    except OverflowError:
        return infinity(size) | (sign_bit(size) if found < 0 else 0)


def powers(size: int) -> list[int]:
    """Every power of two of singles, and those at the edges for doubles."""
    exponents = range(-149, 128) if size == 4 else (*range(-1074, -1018), *range(-3, 4), *range(1019, 1024))
    return [to_bits(2.0**exponent, size) for exponent in exponents]


@pytest.mark.parametrize("size", [4, 8])
def test_division_by_powers_of_two(size: int) -> None:
    """It becomes a product wherever the inverse is a number, and is Python's quotient either way."""
    width, terms = 8 * size, Terms()
    x = terms.variable("x", width)
    products = 0
    some = patterns(size)[::3]
    for divisor in (bits | sign for bits in powers(size) for sign in (0, sign_bit(size))):
        quotient = floats.result(terms, Kind.FLOAT_DIV, width, [x, terms.bv(divisor, width)])
        products += "float-divide" not in str(quotient)
        for a in some:
            assert value_of(quotient, {x: a}) == pythons(Kind.FLOAT_DIV, a, divisor, size), (hex(a), hex(divisor))
    assert products > 20


@pytest.mark.parametrize("size", [4, 8])
@pytest.mark.parametrize("kind", [Kind.FLOAT_ADD, Kind.FLOAT_SUB, Kind.FLOAT_MUL, Kind.FLOAT_DIV], ids=lambda k: k.name)
def test_arithmetic_is_pythons(kind: Kind, size: int) -> None:
    """With every edge as a constant on either side, and of two opposites."""
    width, terms = 8 * size, Terms()
    x, y = (terms.variable(letter, width) for letter in "xy")
    sign = terms.bv(sign_bit(size), width)
    negative = [terms.xor_(x, sign), terms.xor_(y, sign)]
    opposites = floats.result(terms, kind, width, negative)
    for number in patterns(size):
        constant = terms.bv(number, width)
        right, left = (floats.result(terms, kind, width, pair) for pair in ([x, constant], [constant, x]))
        for a in patterns(size)[::4]:
            assert value_of(right, {x: a}) == pythons(kind, a, number, size), (hex(a), hex(number))
            assert value_of(left, {x: a}) == pythons(kind, number, a, size), (hex(number), hex(a))
            wanted = pythons(kind, a ^ sign_bit(size), number ^ sign_bit(size), size)
            assert value_of(opposites, {x: a, y: number}) == wanted, (hex(a), hex(number))


def test_the_small_formats_are_those_of_python() -> None:
    """The same code with the bits of singles gives Python's results."""
    single = Format(8, 23)
    for a, b in product(patterns(4)[::3], repeat=2):
        one, other = (single.nan if single.is_nan(bits) else bits for bits in (a, b))
        for kind, operation in ((Kind.FLOAT_ADD, single.add), (Kind.FLOAT_MUL, single.multiply)):
            wanted = pythons(kind, a, b, 4)
            found = operation(one, other)
            assert found == (single.nan if single.is_nan(wanted) else wanted), (hex(a), hex(b))
        wanted = pythons(Kind.FLOAT_DIV, a, b, 4)
        assert single.divide(one, other) == (single.nan if single.is_nan(wanted) else wanted)
    assert to_float(single.rounded(Fraction(1, 3), 0), 4) == _number(to_bits(1 / 3, 4), 4)
