"""Division by a constant, as compilers write it: multiply by a scaled reciprocal and keep the high bits.

Each function gives the divisor for which a product's high bits are exactly the quotient, or None. The conditions are
those of Granlund and Montgomery's theorem, checked on the numbers at hand, so a rewrite that uses them is an identity.
"""

from __future__ import annotations


def unsigned_divisor(multiplier: int, shift: int, bits: int) -> int | None:
    """d with x·multiplier >> shift = x / d for every x of so many bits.

    With m·d = 2^k + e and 0 <= e <= 2^(k - n), x·m / 2^k = x/d + x·e/(d·2^k), and the error is less than 1/d for every
    x below 2^n: too little to reach the next integer.
    """
    if multiplier <= 0 or shift < bits:
        return None
    divisor = -(-(1 << shift) // multiplier)
    error = multiplier * divisor - (1 << shift)
    if divisor < 2 or divisor >= 1 << bits or not 0 <= error <= 1 << (shift - bits):
        return None
    return divisor


def signed_divisor(multiplier: int, shift: int, bits: int, is_negated: bool = False) -> int | None:
    """d with (x·multiplier >> shift) + (x < 0) = x / d, truncating, for every signed x of so many bits.

    The same bound for positive x, which are below 2^(n-1); the error must not be zero, or a negative multiple of d
    would be rounded one too far. With `is_negated`, for every -x, so that 2^(n-1) is among the positive numbers, for
    which an error of exactly the bound would reach the next integer.
    """
    if multiplier <= 0 or shift < bits - 1:
        return None
    divisor = (1 << shift) // multiplier + 1
    error = multiplier * divisor - (1 << shift)
    bound = 1 << (shift - (bits - 1))
    if divisor < 2 or divisor >= 1 << (bits - 1) or not 0 < error <= bound or (is_negated and error == bound):
        return None
    return divisor
