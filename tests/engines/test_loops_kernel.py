"""Kernels over the integers modulo a power of two: sound, complete, and reduced without loss."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from random import Random

import pytest
from flint import fmpz_mat

from isoform.engines.loops.guess.kernel import Kernel, hermite

Vector = Sequence[int]


def dot(left: Vector, right: Vector, bits: int) -> int:
    return sum(a * b for a, b in zip(left, right, strict=True)) % (1 << bits)


def kernel_of(rows: Sequence[Vector], columns: int, bits: int) -> Kernel:
    kernel = Kernel(columns, bits)
    for row in rows:
        kernel.add(row)
    return kernel


def spanned(generators: Sequence[Vector], columns: int, bits: int) -> set[tuple[int, ...]]:
    modulus = 1 << bits
    found = {(0,) * columns}
    for generator in generators:
        multiples = {tuple(k * g % modulus for g in generator) for k in range(modulus)}
        found = {tuple((a + b) % modulus for a, b in zip(v, m, strict=True)) for v in found for m in multiples}
    return found


def is_generated(vector: Vector, generators: Sequence[Vector], bits: int) -> bool:
    """In these rings a module is what its annihilator annihilates."""
    annihilator = kernel_of(generators, len(vector), bits).generators
    return all(dot(vector, row, bits) == 0 for row in annihilator)


def random_entry(random: Random, bits: int) -> int:
    """Often a multiple of a power of two: that is where modules are no vector spaces."""
    return random.getrandbits(bits) << random.choice((0, 0, 0, 1, 2, bits - 1)) & ((1 << bits) - 1)


@pytest.mark.parametrize("seed", range(40))
def test_exactly_the_equations_that_hold(seed: int) -> None:
    """By enumeration, in small rings."""
    random = Random(seed)
    bits, columns = random.choice(((1, 4), (2, 3), (3, 3), (4, 2)))
    rows = [[random_entry(random, bits) for _ in range(columns)] for _ in range(random.randrange(4))]
    kernel = kernel_of(rows, columns, bits)
    true = {v for v in product(range(1 << bits), repeat=columns) if all(dot(r, v, bits) == 0 for r in rows)}
    assert spanned(kernel.generators, columns, bits) == true, f"seed {seed}"
    assert spanned(kernel.reduced(), columns, bits) == true, f"seed {seed}"


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
@pytest.mark.parametrize("seed", range(12))
def test_large_rings(seed: int, bits: int) -> None:
    random = Random(1000 * bits + seed)
    columns = random.randrange(2, 8)
    planted = [[random_entry(random, bits) for _ in range(columns)] for _ in range(2)]
    # Every row is one that the planted equations hold of, made from the kernel of the planted equations themselves.
    basis = kernel_of(planted, columns, bits).generators
    rows = []
    for _ in range(12):
        factors = [random.getrandbits(bits) for _ in basis]
        rows.append([sum(f * g[c] for f, g in zip(factors, basis, strict=True)) % (1 << bits) for c in range(columns)])
    kernel = kernel_of(rows, columns, bits)
    for generators in (kernel.generators, kernel.reduced()):
        assert all(dot(row, g, bits) == 0 for row in rows for g in generators), f"seed {seed}"
        assert all(is_generated(equation, generators, bits) for equation in planted), f"seed {seed}"
    assert all(is_generated(g, kernel.reduced(), bits) for g in kernel.generators), f"seed {seed}"


def test_a_row_that_says_nothing_new() -> None:
    kernel = Kernel(3, 32)
    assert kernel.add([1, 2, 4])
    before = [list(g) for g in kernel.generators]
    assert not kernel.add([3, 6, 12])
    assert kernel.generators == before


def test_later_columns_are_expressed_by_earlier_ones() -> None:
    """What an equation is solved for is what comes last: 1, i, a + 4i."""
    kernel = kernel_of([[1, i, (1000 + 4 * i) % (1 << 64)] for i in range(5)], 3, 64)
    (equation,) = kernel.reduced()
    assert equation[2] & 1
    inverse = pow(equation[2], -1, 1 << 64)
    assert [c * inverse % (1 << 64) for c in equation] == [-1000 % (1 << 64), -4 % (1 << 64), 1]


def test_congruences() -> None:
    """x is always 3 more than a multiple of 8: an equation with even coefficients only."""
    kernel = kernel_of([[1, x] for x in (3, 11, 19, 67, 803)], 2, 32)
    (equation,) = kernel.reduced()
    assert equation[1] == 1 << 29
    assert dot(equation, [1, 3 + 8 * 12345], 32) == 0
    assert dot(equation, [1, 4], 32) != 0


def test_wrapping_sums() -> None:
    """Four lanes that add up to a total modulo 2^32, over values that wrap."""
    random = Random(5)
    rows = []
    for _ in range(8):
        lanes = [random.getrandbits(32) for _ in range(4)]
        rows.append([1, *lanes, sum(lanes) % (1 << 32)])
    (equation,) = kernel_of(rows, 6, 32).reduced()
    inverse = pow(equation[5], -1, 1 << 32)
    assert [c * inverse % (1 << 32) for c in equation] == [0, *([(1 << 32) - 1] * 4), 1]


@pytest.mark.parametrize("bits", [32, 64])
def test_few_observations(bits: int) -> None:
    """What a program keeps is found where much else holds by chance."""
    random = Random(bits)
    rows = []
    for _ in range(6):
        i, n, base = random.randrange(20), random.randrange(30), random.getrandbits(30)
        noise = [random.getrandbits(bits) for _ in range(3)]
        rows.append([1, n, base, i, *noise, base + 4 * i, n - i, 10 * i + 3])
    plain = kernel_of(rows, 10, bits).plain()
    wanted = [[0, 0, 1, 4, 0, 0, 0, -1, 0, 0], [0, 1, 0, -1, 0, 0, 0, 0, -1, 0], [3, 0, 0, 10, 0, 0, 0, 0, 0, -1]]
    for row in plain:
        assert all(dot(row, observed, bits) == 0 for observed in rows)
    small = [g for g in plain if all(min(c, (1 << bits) - c) < 4096 for c in g)]
    assert all(g[4:7] == [0, 0, 0] for g in small), "noise is in no equation"
    # Whatever satisfies these satisfies what was wanted.
    solutions = kernel_of(small, 10, bits).generators
    for vector in wanted:
        assert all(dot(vector, solution, bits) == 0 for solution in solutions), vector


def test_the_hermite_form_is_that_of_a_general_algorithm() -> None:
    random = Random(5)
    for _ in range(120):
        bits, width = random.choice((4, 8, 32, 64)), random.choice((2, 3, 5, 9))
        modulus = 1 << bits
        choices = (0, 1, 2, random.getrandbits(bits), random.getrandbits(bits) & ~7)
        generators = [[random.choice(choices) for _ in range(width)] for _ in range(random.randint(1, width + 2))]
        rows = [*generators, *([0] * i + [modulus] + [0] * (width - i - 1) for i in range(width))]
        expected = [[int(c) for c in row] for row in fmpz_mat(rows).hnf().table()[:width]]
        assert hermite(generators, modulus) == expected
