"""Sums with carries, written so that equal ones look equal.

A carry or a borrow is a comparison: for n-bit words, 2^n·[x < y] = (x - y mod 2^n) - x + y, over the integers. So 2^w
times a w-bit sum with comparisons as summands is, modulo 2^2w, a sum of words of which most cancel: the carries of a
sum of several words add up to the same however it was computed. Two w-bit numbers are equal if and only if 2^w times
them are equal modulo 2^2w.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from bitwuzla import Kind, Term

from isoform.smt import ring
from isoform.smt.ring import Polynomial

_MOST_MONOMIALS = 24
Key = tuple[int, frozenset[tuple[ring.Monomial, int]], frozenset[tuple[object, int]]]
"""The width, the part without carries, and the multiples of words that the carries leave, by polynomial."""


def key_with_carries(
    polynomial: Polynomial, width: int, atom: Callable[[int], Term], meaning: Callable[[Term], Polynomial]
) -> Key | None:
    """Equal keys mean equal values; None if there are no carries. `atom` gives the term of a number, and `meaning` the
    polynomial of a term."""
    if len(polynomial) > _MOST_MONOMIALS:
        return None
    rest: Polynomial = {}
    words: Counter[object] = Counter()
    for monomial, coefficient in polynomial.items():
        compared = _compared(atom(monomial[0])) if len(monomial) == 1 else None
        if compared is None or compared[0].sort().bv_size() > width:
            rest[monomial] = coefficient
            continue
        own = compared[0].sort().bv_size()
        left, right = (meaning(term) for term in compared)
        difference = ring.added(left, ring.scaled(right, -1, own), own)
        for word, sign in ((difference, 1), (left, -1), (right, 1)):
            words[own, frozenset(word.items())] += sign * coefficient << (width - own)
    kept = {word: factor % (1 << 2 * width) for word, factor in words.items()}
    if len(rest) == len(polynomial):
        return None
    return width, frozenset(rest.items()), frozenset((word, factor) for word, factor in kept.items() if factor)


def _compared(term: Term) -> tuple[Term, Term] | None:
    """x and y, for a number that is 1 if x < y and else 0."""
    if term.kind() is not Kind.ITE or term[0].kind() is not Kind.BV_ULT:
        return None
    values = [int(child.value(10)) if child.is_value() else None for child in (term[1], term[2])]
    return (term[0][0], term[0][1]) if values == [1, 0] else None
