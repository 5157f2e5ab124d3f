"""Polynomials modulo 2^width over the terms of a certificate, the numbers that stand for them, and bounds of values.

Part of the trusted base, like `expansion.py`, which says what these are for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from math import prod

from isoform.check.smtlib import Node, ReadTerms
from isoform.check.sorts import bit_vector

Monomial = tuple[int, ...]
"""Sorted numbers of atoms, repeated for powers."""
Polynomial = dict[Monomial, int]
Interval = tuple[int, int]

_POLYNOMIAL = "a polynomial"
_WORK = 200_000
"""Products of monomials computed for one lemma; beyond this number, or beyond this degree, a term counts as an atom."""
_DEGREE = 64


class TooMuchWorkError(Exception):
    pass


class Polynomials:
    """Polynomials over terms: each is a term with a number of its own, and equal polynomials have one number."""

    def __init__(self, terms: ReadTerms) -> None:
        self._terms = terms
        self._meanings: dict[int, Polynomial] = {}
        self._intervals: dict[int, tuple[Interval, Interval]] = {}
        self._carrying: dict[object, int] = {}
        """The first number for each sum that contains carries."""
        self._work = 0

    def _width(self, number: int) -> int:
        width = self._terms.width(number)
        assert width is not None
        return width

    def _number(self, polynomial: Polynomial, width: int) -> int:
        kept = self._reduced(polynomial, width)
        if not kept or kept.keys() == {()}:
            return self._terms.intern(Node("value", (kept.get((), 0), width), ()), bit_vector(width))
        number = self._atom_or_polynomial(kept, width)
        try:
            words = self._words_of_carries(kept, width)
        except TooMuchWorkError:
            words = None
        return number if words is None else self._carrying.setdefault((width, words), number)

    def _atom_or_polynomial(self, kept: Polynomial, width: int) -> int:
        if len(kept) == 1:
            ((monomial, coefficient),) = kept.items()
            if coefficient == 1 and len(monomial) == 1:
                return monomial[0]
        indices = tuple(repr(item) for item in sorted(kept.items()))
        atoms = tuple(sorted({atom for monomial in kept for atom in monomial}))
        number = self._terms.intern(Node(_POLYNOMIAL, indices, atoms), bit_vector(width))
        self._meanings[number] = kept
        return number

    def _words_of_carries(self, polynomial: Polynomial, width: int) -> object | None:
        """2^width times the polynomial, with each comparison in it written in words: multiples of words modulo 2^(2
        width), by the word's width and polynomial, and the remaining terms unchanged."""
        rest: Polynomial = {}
        words: Counter[tuple[int, tuple[tuple[Monomial, int], ...]]] = Counter()
        for monomial, coefficient in polynomial.items():
            compared = self._compared(monomial[0]) if len(monomial) == 1 else None
            if compared is None or self._width(compared[0]) > width:
                rest[monomial] = coefficient
                continue
            bits = self._width(compared[0])
            left, right = (self._polynomial(operand) for operand in compared)
            left, right = self._reduced(left, bits), self._reduced(right, bits)
            difference = self._sum([left, times(right, -1)], bits)
            for word, sign in ((difference, 1), (left, -1), (right, 1)):
                words[bits, tuple(sorted(word.items()))] += sign * coefficient * (1 << (width - bits))
        if len(rest) == len(polynomial):
            return None
        left_over = {word: factor % (1 << 2 * width) for word, factor in words.items()}
        return tuple(sorted(rest.items())), tuple(sorted(item for item in left_over.items() if item[1]))

    def _compared(self, number: int) -> tuple[int, int] | None:
        """x and y, for a term that is 1 if x < y and else 0."""
        node = self._terms.nodes[number]
        if node.operator != "ite" or [self._constant(operand) for operand in node.operands[1:]] != [1, 0]:
            return None
        condition = self._terms.nodes[node.operands[0]]
        if condition.operator != "bvult" or len(condition.operands) != 2:
            return None
        return condition.operands[0], condition.operands[1]

    def _polynomial(self, number: int) -> Polynomial:
        value = self._constant(number)
        if value is not None:
            return {(): value}
        return self._meanings.get(number, {(number,): 1})

    def _constant(self, number: int) -> int | None:
        node = self._terms.nodes[number]
        return int(node.indices[0]) if node.operator == "value" else None

    def _sum(self, polynomials: list[Polynomial], width: int) -> Polynomial:
        total: Counter[Monomial] = Counter()
        for polynomial in polynomials:
            self._spend(len(polynomial))
            for monomial, coefficient in polynomial.items():
                total[monomial] += coefficient
        return self._reduced(total, width)

    def _product(self, polynomials: list[Polynomial], width: int) -> Polynomial:
        product: Polynomial = {(): 1}
        for polynomial in polynomials:
            self._spend(len(product) * len(polynomial))
            longer: Counter[Monomial] = Counter()
            for left, c in product.items():
                for right, d in polynomial.items():
                    if len(left) + len(right) > _DEGREE:
                        raise TooMuchWorkError
                    longer[tuple(sorted(left + right))] += c * d
            product = self._reduced(longer, width)
        return product

    def _spend(self, work: int) -> None:
        self._work += work
        if self._work > _WORK:
            raise TooMuchWorkError

    def _reduced(self, polynomial: Mapping[Monomial, int], width: int) -> Polynomial:
        """Coefficients modulo 2^width, and those of squares and higher powers modulo less.

        With 2^v the largest power of two that divides the product of k! over the powers x^k of a monomial, 2^(w-v)
        times the product of x(x-1)…(x-k+1) is 0 modulo 2^w. It begins with that monomial and else has lower ones only.
        """
        rest = Counter(polynomial)
        for monomial in sorted(polynomial, key=len, reverse=True):
            self._reduce_one(rest, monomial, width)
        if any(monomial not in polynomial for monomial in rest):
            return self._reduced(rest, width)
        return {monomial: c % (1 << width) for monomial, c in rest.items() if c % (1 << width)}

    def _reduce_one(self, rest: Counter[Monomial], monomial: Monomial, width: int) -> None:
        powers = Counter(monomial)
        if len(powers) == len(monomial):
            return
        twos = sum(k >> shift for k in powers.values() for shift in range(1, k.bit_length()))
        surplus = centred(rest[monomial], width) - centred(rest[monomial], max(0, width - twos))
        if surplus:
            self._spend(prod(power + 1 for power in powers.values()) * len(monomial))
            vanishing: dict[Monomial, int] = {(): surplus}
            for atom in monomial:
                vanishing = _next_factor(vanishing, atom)
            for lower, coefficient in vanishing.items():
                rest[lower] -= coefficient

    def _over(self, polynomial: Polynomial, change: Callable[[int], int], width: int) -> int:
        """The polynomial at another width, with each atom replaced by the result of `change`."""
        parts = [
            self._product([{(): c}, *(self._polynomial(change(atom)) for atom in monomial)], width)
            for monomial, c in polynomial.items()
        ]
        return self._number(self._sum(parts, width), width)

    # Bounds of a term's value, as an unsigned and as a signed number.

    def _integer_bounds(self, polynomial: Polynomial, width: int, signed: bool) -> Interval:
        low = high = 0
        for monomial, coefficient in polynomial.items():
            bounds = (centred(coefficient, width),) * 2
            for atom, power in Counter(monomial).items():
                bounds = _corners(bounds, _power(self._bounds(atom)[signed], power))
            low, high = low + bounds[0], high + bounds[1]
        return low, high

    def _bounds(self, root: int) -> tuple[Interval, Interval]:
        stack = [root]
        while stack:
            number = stack[-1]
            waiting = [o for o in self._bounding_operands(number) if o not in self._intervals]
            if waiting and number not in self._intervals:
                stack.extend(waiting)
                continue
            stack.pop()
            if number not in self._intervals:
                self._intervals[number] = self._bounds_from_operands(number)
        return self._intervals[root]

    def _bounding_operands(self, number: int) -> Iterator[int]:
        node = self._terms.nodes[number]
        if number in self._meanings or node.operator in _BOUNDED:
            yield from (operand for operand in node.operands if self._terms.width(operand) is not None)

    def _bounds_from_operands(self, number: int) -> tuple[Interval, Interval]:
        node, width = self._terms.nodes[number], self._width(number)
        if number in self._meanings:
            candidates = [self._integer_bounds(self._meanings[number], width, signed) for signed in (False, True)]
        elif node.operator in _BOUNDED:
            candidates = list(self._candidates(node))
        else:
            candidates = []
        return _tightest(candidates, width, False), _tightest(candidates, width, True)

    def _candidates(self, node: Node) -> Iterator[Interval]:
        """Integer intervals that contain some number congruent to the term's value modulo 2^width."""
        operands = [o for o in node.operands if self._terms.width(o) is not None]
        unsigned, signed = ([self._intervals[o][which] for o in operands] for which in (0, 1))
        constant = self._constant(operands[1]) if len(operands) == 2 else None
        match node.operator:
            case "value":
                yield int(node.indices[0]), int(node.indices[0])
            case "zero_extend":
                yield unsigned[0]
            case "sign_extend":
                yield signed[0]
            case "bvand":
                yield 0, min(high for _, high in unsigned)
            case "bvor" | "bvxor":
                yield 0, (1 << max(high.bit_length() for _, high in unsigned)) - 1
            case "ite":
                yield _hull(unsigned)
                yield _hull(signed)
            case "bvlshr" if constant is not None:
                yield unsigned[0][0] >> constant, unsigned[0][1] >> constant
            case "bvashr" if constant is not None:
                yield signed[0][0] >> constant, signed[0][1] >> constant
            case "bvudiv" if constant:
                yield unsigned[0][0] // constant, unsigned[0][1] // constant
            case "bvurem" if constant:
                yield 0, constant - 1
            case "extract":
                low, high = (bound >> int(node.indices[1]) for bound in unsigned[0])
                if high >> (int(node.indices[0]) - int(node.indices[1]) + 1) == 0:
                    yield low, high
            case "concat" if len(operands) == 2:
                shift = self._width(operands[1])
                yield (unsigned[0][0] << shift) + unsigned[1][0], (unsigned[0][1] << shift) + unsigned[1][1]


_BOUNDED = frozenset(
    (
        *("value", "zero_extend", "sign_extend", "extract", "concat", "ite"),
        *("bvand", "bvor", "bvxor", "bvlshr", "bvashr", "bvudiv", "bvurem"),
    )
)


def times(polynomial: Polynomial, factor: int) -> Polynomial:
    return {monomial: coefficient * factor for monomial, coefficient in polynomial.items()}


def centred(coefficient: int, width: int) -> int:
    """The representative modulo 2^width in (-2^(width-1), 2^(width-1)]."""
    half = 1 << width >> 1
    return (coefficient + half - 1) % (1 << width) - half + 1 if width else 0


def _next_factor(product: dict[Monomial, int], atom: int) -> dict[Monomial, int]:
    """The product times (x - j), where x^j is the power of the atom x in it so far."""
    times = max(monomial.count(atom) for monomial in product)
    longer: Counter[Monomial] = Counter()
    for monomial, coefficient in product.items():
        longer[tuple(sorted((*monomial, atom)))] += coefficient
        longer[monomial] -= times * coefficient
    return dict(longer)


def shift_into(bounds: Interval, width: int, signed: bool) -> int | None:
    """The multiple of 2^width that moves the interval into the unsigned or signed numbers of that width."""
    modulus = 1 << width
    first = -(modulus // 2) if signed else 0
    shift = (first - bounds[0] + modulus - 1) // modulus * modulus
    return shift if bounds[1] + shift < first + modulus else None


def _tightest(candidates: list[Interval], width: int, signed: bool) -> Interval:
    first = -(1 << (width - 1)) if signed else 0
    best = (first, first + (1 << width) - 1)
    for low, high in candidates:
        shift = shift_into((low, high), width, signed)
        if shift is not None and high - low < best[1] - best[0]:
            best = low + shift, high + shift
    return best


def _hull(intervals: list[Interval]) -> Interval:
    return min(low for low, _ in intervals), max(high for _, high in intervals)


def _corners(left: Interval, right: Interval) -> Interval:
    corners = [a * b for a in left for b in right]
    return min(corners), max(corners)


def _power(bounds: Interval, power: int) -> Interval:
    low, high = sorted(bound**power for bound in bounds)
    return (0 if power % 2 == 0 and bounds[0] <= 0 <= bounds[1] else low), high
