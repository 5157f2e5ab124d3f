"""Division by a constant in its compiled shapes: every rewrite, on every number of a small width."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from isoform.smt.rules.magic import signed_divisor, unsigned_divisor
from isoform.smt.simulate import Simulator
from isoform.smt.terms import Terms


def values_of(term: Any, variable: Any, bits: int) -> list[int]:
    simulator = Simulator([term, variable])
    for x in range(1 << bits):
        simulator.add_sample(lambda v, w, x=x: x)  # type: ignore[misc]
    return [int(v) for v in simulator.values[term]]


def signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value


def truncated(a: int, b: int) -> int:
    return abs(a) // b if a >= 0 else -(abs(a) // b)


@pytest.mark.parametrize("bits", [4, 5, 6])
def test_the_theorem_on_every_number(bits: int) -> None:
    found = 0
    for shift in range(2 * bits + 3):
        for multiplier in range(1, 1 << (bits + 2)):
            divisor = unsigned_divisor(multiplier, shift, bits)
            if divisor is not None:
                found += 1
                assert all((x * multiplier) >> shift == x // divisor for x in range(1 << bits))
            divisor = signed_divisor(multiplier, shift, bits)
            if divisor is not None:
                found += 1
                numbers = range(-(1 << (bits - 1)), 1 << (bits - 1))
                assert all(((x * multiplier) >> shift) + (x < 0) == truncated(x, divisor) for x in numbers)
    assert found > 50


def is_division(terms: Terms, term: Any) -> bool:
    return any(word in str(term) for word in ("bvudiv", "bvsdiv"))


def check_all(bits: int, build: Callable[[Terms, Any, int, int], Any], value: Callable[[int, int, int], int]) -> int:
    """Build with every multiplier and shift; the term must mean what it says. How many became divisions?"""
    recognised = 0
    for low in range(bits + 2):
        for multiplier in range(1, 1 << bits):
            terms = Terms()
            x = terms.variable("x", bits)
            term = build(terms, x, multiplier, low)
            mask = (1 << terms.width(term)) - 1
            got = values_of(term, x, bits)
            assert got == [value(v, multiplier, low) & mask for v in range(1 << bits)], (bits, multiplier, low)
            recognised += is_division(terms, term)
    return recognised


def test_unsigned_high_bits() -> None:
    bits = 5

    def build(terms: Terms, x: Any, multiplier: int, low: int) -> Any:
        product = terms.mul(terms.zext(x, 2 * bits), terms.bv(multiplier, 2 * bits))
        return terms.extract(product, 2 * bits - 1, min(bits - 1 + low, 2 * bits - 1))

    assert check_all(bits, build, lambda x, m, low: (x * m) >> min(bits - 1 + low, 2 * bits - 1)) > 5


def test_unsigned_with_one_more_bit() -> None:
    bits = 5

    def build(terms: Terms, x: Any, multiplier: int, low: int) -> Any:
        product = terms.mul(terms.zext(x, 2 * bits), terms.bv(multiplier, 2 * bits))
        t = terms.extract(product, 2 * bits - 1, bits)
        half = terms.zext(terms.extract(terms.sub(x, t), bits - 1, 1), bits)
        total = terms.add(t, half)
        return terms.extract(total, bits - 1, min(low, bits - 1))

    def value(x: int, m: int, low: int) -> int:
        t = (x * m) >> bits
        return (t + ((x - t) >> 1)) >> min(low, bits - 1)

    assert check_all(bits, build, value) > 3


@pytest.mark.parametrize("sign_from", ["x", "product"])
@pytest.mark.parametrize("negative", [False, True])
def test_signed(sign_from: str, negative: bool) -> None:
    """The high bits of a signed product, or of x plus those of a product with a negative multiplier."""
    bits = 5
    wide = 2 * bits

    def build(terms: Terms, x: Any, multiplier: int, low: int) -> Any:
        factor = multiplier - (1 << bits) if negative else multiplier
        product = terms.mul(terms.sext(x, wide), terms.bv(factor, wide))
        low = min(low, bits - 2)
        if negative:
            whole = terms.add(terms.extract(product, wide - 1, bits), x)
            floor = terms.sext(terms.extract(whole, bits - 1, low), bits)
            top = terms.extract(whole if sign_from == "product" else x, bits - 1, bits - 1)
        else:
            floor = terms.sext(terms.extract(product, wide - 1, bits + low), bits)
            top = (
                terms.extract(product, wide - 1, wide - 1)
                if sign_from == "product"
                else terms.extract(x, bits - 1, bits - 1)
            )
        if sign_from == "product":
            return terms.add(floor, terms.zext(top, bits))
        return terms.sub(floor, terms.sext(top, bits))

    def value(x: int, m: int, low: int) -> int:
        number = signed(x, bits)
        low = min(low, bits - 2)
        if negative:
            high = ((number * (m - (1 << bits))) >> bits) + number
            whole = signed(high & ((1 << bits) - 1), bits)
            return (whole >> low) + (whole < 0 if sign_from == "product" else number < 0)
        product = number * m
        return (product >> (bits + low)) + (product < 0 if sign_from == "product" else number < 0)

    assert check_all(bits, build, value) > 2


def test_a_remainder_by_a_constant_is_what_a_division_leaves() -> None:
    terms = Terms()
    x = terms.variable("x", 32)
    ten = terms.bv(10, 32)
    assert terms.urem(x, ten) == terms.sub(x, terms.mul(terms.udiv(x, ten), ten))
    assert terms.srem(x, ten) == terms.sub(x, terms.mul(terms.sdiv(x, ten), ten))
