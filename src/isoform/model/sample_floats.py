"""Floats that are worth trying, as bit patterns."""

from __future__ import annotations

import random

from isoform.model.evaluate_floats import canonical_nan, infinity, quiet_bit, to_bits


def sample_float(rng: random.Random, size: int) -> int:
    """The bits of a float: special values, whole and half numbers, and what is near them; any pattern now and then."""
    sign = rng.getrandbits(1) << 8 * size - 1
    one = infinity(size) >> 1 & ~(quiet_bit(size) - 1) & infinity(size)
    fraction = 2 * quiet_bit(size) - 1
    choice = rng.random()
    if choice < 0.35:
        edges = (0, 1, fraction, fraction + 1, infinity(size), infinity(size) - 1, infinity(size) + 1)
        nans = (canonical_nan(size), canonical_nan(size) + 5, infinity(size) | rng.getrandbits(8 * size) & fraction)
        return sign | rng.choice((*edges, *nans, one, rng.getrandbits(8 * size) & fraction))
    if choice < 0.7:
        number = rng.choice((rng.randrange(300), rng.randrange(300) / 2, rng.randrange(1 << 24, 1 << 26)))
        number = rng.choice((number, number * 2.0 ** rng.choice((7, 22, 30, 31, 38, 55, 62))))
        return (sign | to_bits(float(number), size)) + rng.choice((0, 0, 0, 1, -1)) & (1 << 8 * size) - 1
    if choice < 0.9:
        near_one = rng.randrange(-40, 80) << quiet_bit(size).bit_length()
        return sign | (one + near_one | rng.getrandbits(8 * size) & fraction)
    return rng.getrandbits(8 * size)
