"""Polynomials with integer coefficients modulo 2^width, as plain dictionaries.

A monomial is the sorted tuple of its atoms' numbers, repeated for powers: x²y is (x, x, y), and () is the
constant. A polynomial maps monomials to coefficients in [1, 2^width); what is missing is 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

Monomial = tuple[int, ...]
Polynomial = dict[Monomial, int]
Interval = tuple[int, int]
"""Smallest and largest value, both included."""

MONOMIALS = 256
DEGREE = 16
LINEAR_MONOMIALS = 64


class ExpansionError(Exception):
    """An expansion exceeded the bounds above; the caller keeps a factor as it is."""


def constant(value: int, width: int) -> Polynomial:
    value %= 1 << width
    return {(): value} if value else {}


def degree(polynomial: Polynomial) -> int:
    return max(map(len, polynomial), default=0)


def signed(coefficient: int, width: int) -> int:
    """The representative of smallest magnitude; 2^(width-1) stays positive."""
    return coefficient - (1 << width) if coefficient > 1 << (width - 1) else coefficient


def scaled(polynomial: Polynomial, factor: int, width: int) -> Polynomial:
    return _canonical(((m, c * factor) for m, c in polynomial.items()), width)


def added(left: Polynomial, right: Polynomial, width: int) -> Polynomial:
    total = Counter(left)
    for monomial, coefficient in right.items():
        total[monomial] += coefficient
    return _bounded(_canonical(total.items(), width))


def multiplied(left: Polynomial, right: Polynomial, width: int) -> Polynomial:
    if len(left) * len(right) > 4 * MONOMIALS or degree(left) + degree(right) > DEGREE:
        raise ExpansionError
    total: Counter[Monomial] = Counter()
    for a, c in left.items():
        for b, d in right.items():
            total[tuple(sorted(a + b)) if a and b else a or b] += c * d
    return _bounded(_canonical(total.items(), width))


def substituted(polynomial: Polynomial, replacement: Callable[[int], Polynomial], width: int) -> Polynomial:
    """The polynomial with each atom replaced by a polynomial, modulo 2^width."""
    total: Polynomial = {}
    for monomial, coefficient in polynomial.items():
        product = constant(coefficient, width)
        for atom in monomial:
            product = multiplied(product, replacement(atom), width)
        total = added(total, product, width)
    return total


def value_range(polynomial: Polynomial, width: int, atom_range: Callable[[int], Interval]) -> Interval:
    """Bounds of the polynomial over the integers (not modulo 2^width), with coefficients of smallest magnitude."""
    low = high = 0
    for monomial, coefficient in polynomial.items():
        bounds = (1, 1)
        for atom, power in Counter(monomial).items():
            bounds = _product(bounds, _power(atom_range(atom), power))
        factor = signed(coefficient, width)
        bounds = _product(bounds, (factor, factor))
        low, high = low + bounds[0], high + bounds[1]
    return low, high


def shift_to_fit(bounds: Interval, width: int, signed: bool) -> int | None:
    """The multiple of 2^width that moves the interval into the numbers of that width, if there is one. A polynomial
    with these bounds, plus that constant, is then equal to its value at that width, not only modulo 2^width."""
    modulus = 1 << width
    least = -(modulus >> 1) if signed else 0
    shift = -((bounds[0] - least) // modulus) * modulus
    return shift if bounds[1] + shift < least + modulus else None


def _product(left: Interval, right: Interval) -> Interval:
    corners = [a * b for a in left for b in right]
    return min(corners), max(corners)


def _power(bounds: Interval, power: int) -> Interval:
    corners = [bound**power for bound in bounds]
    if power % 2 == 0 and bounds[0] < 0 < bounds[1]:
        return 0, max(corners)
    return min(corners), max(corners)


def _canonical(terms: Iterable[tuple[Monomial, int]], width: int) -> Polynomial:
    return _without_vanishing(_without_zeros(terms, width), width)


def _bounded(polynomial: Polynomial) -> Polynomial:
    if len(polynomial) > LINEAR_MONOMIALS and (len(polynomial) > MONOMIALS or degree(polynomial) < 2):
        raise ExpansionError
    return polynomial


def _without_zeros(terms: Iterable[tuple[Monomial, int]], width: int) -> Polynomial:
    mask = (1 << width) - 1
    return {m: c & mask for m, c in terms if c & mask}


def _without_vanishing(polynomial: Polynomial, width: int) -> Polynomial:
    """The representative of the polynomial modulo those that are zero everywhere.

    k consecutive integers have a product divisible by k!, so x(x-1)…(x-k+1), and the product of such falling
    factorials of several atoms, is divisible by the product of the k!. With 2^v the largest power of two in that,
    2^(width-v) times the product vanishes modulo 2^width, and its leading coefficient can be cleared down to
    (-M/2, M/2] for M = 2^(width-v). Monomials are taken from the highest degree down; clearing one only touches
    lower ones.
    """
    rest = polynomial
    for total_degree in range(degree(polynomial), 1, -1):
        for monomial in [m for m in rest if len(m) == total_degree]:
            if len(set(monomial)) == total_degree:
                continue
            powers = Counter(monomial)
            modulus = 1 << max(0, width - sum(_twos_in_factorial(k) for k in powers.values()))
            kept = signed(rest[monomial] % modulus, modulus.bit_length() - 1) if modulus > 1 else 0
            surplus = signed(rest[monomial], width) - kept
            if surplus:
                total = Counter(rest)
                for lower, factor in _falling_factorials(powers).items():
                    total[lower] -= surplus * factor
                rest = _without_zeros(total.items(), width)
    return rest


def _twos_in_factorial(k: int) -> int:
    return k - k.bit_count()  # Legendre's formula


def _falling_factorials(powers: Counter[int]) -> dict[Monomial, int]:
    """The product over all atoms x of x(x-1)…(x-k+1)."""
    product: dict[Monomial, int] = {(): 1}
    for atom, power in powers.items():
        for subtrahend in range(power):
            longer: Counter[Monomial] = Counter()
            for monomial, coefficient in product.items():
                longer[tuple(sorted((*monomial, atom)))] += coefficient
                longer[monomial] -= subtrahend * coefficient
            product = longer
    return product
