"""Linear equations that hold in data: the kernel of a matrix over the integers modulo a power of two.

Machine arithmetic wraps, so the equations are modular. The set of all vectors v with row · v = 0 (mod 2^w) for every
row is a module, not a vector space: it has generators, some of them multiples of a power of two, and those are
congruences modulo a smaller power.
"""

from __future__ import annotations

from collections.abc import Sequence

from flint import fmpz_mat

from isoform.engines.loops.tuning import (
    COEFFICIENT_WEIGHT,
    LARGE_COEFFICIENT,
    MOST_LATTICE_COLUMNS,
    REDUCING_SWEEPS,
    SHORT_SUMMANDS,
)


def hermite(generators: Sequence[Sequence[int]], modulus: int) -> list[list[int]]:
    """The Hermite normal form of the lattice of all vectors that are combinations of these, modulo a power of two.

    Elimination modulo the power of two keeps the numbers small. A general algorithm (FLINT's) does not see that the
    lattice contains the modulus in every direction, and takes a minute for 80 columns."""
    width = len(generators[0])
    rows = [[c % modulus for c in g] for g in generators]
    found: list[list[int]] = []
    for column in range(width):
        rows = [row for row in rows if any(row)]
        pivot = min((row for row in rows if row[column]), key=lambda row: row[column] & -row[column], default=None)
        if pivot is None:
            found.append([modulus if index == column else 0 for index in range(width)])
        else:
            power = pivot[column] & -pivot[column]
            inverse = pow(pivot[column] // power, -1, modulus)
            head = [c * inverse % modulus for c in pivot]
            # Times modulus / power the pivot vanishes in this column, and not always in the others.
            rest = [c * (modulus // power) % modulus for c in head]
            rows = [_without(row, head, row[column] // power, modulus) for row in rows if row is not pivot]
            rows.append(rest)
            found.append(head)
        for index in range(column):
            found[index] = _without(found[index], found[column], found[index][column] // found[column][column], modulus)
    return found


def _without(row: Sequence[int], head: Sequence[int], times: int, modulus: int) -> list[int]:
    return [(a - times * b) % modulus for a, b in zip(row, head, strict=True)] if times else list(row)


class Kernel:
    """The generators, row by row: each new row only shrinks what the rows before it left."""

    def __init__(self, columns: int, bits: int) -> None:
        self._bits = bits
        self._modulus = 1 << bits
        self.generators = [[int(i == j) for j in range(columns)] for i in range(columns)]
        """An initial generator has 1 in column k and says nothing about other columns. The first columns are used up
        first, so later columns are expressed by earlier ones."""

    def add(self, row: Sequence[int]) -> bool:
        """Take one more observation into account. True if it broke an equation."""
        modulus = self._modulus
        products = [sum(a * b for a, b in zip(row, g, strict=True) if b) % modulus for g in self.generators]
        pivot = self._least_divisible(products)
        if pivot is None:
            return False
        power = products[pivot] & -products[pivot]
        inverse = pow(products[pivot] // power, -1, modulus)
        chosen = self.generators[pivot]
        for index, product in enumerate(products):
            if index != pivot and product:
                factor = product // power * inverse % modulus
                mine = self.generators[index]
                self.generators[index] = [(a - factor * b) % modulus for a, b in zip(mine, chosen, strict=True)]
        # What is left of the pivot: its multiple that is zero here too.
        rest = [modulus // power * a % modulus for a in chosen]
        self.generators[pivot : pivot + 1] = [rest] if any(rest) else []
        return True

    def reduced(self) -> list[list[int]]:
        """The generators with coefficients reduced by those that are multiples of a power of two."""
        generators = [list(g) for g in self.generators]
        for _ in range(REDUCING_SWEEPS):
            before = [list(g) for g in generators]
            for index in range(len(generators)):
                self._reduce_by(generators, index)
            if generators == before:
                break
        return [g for g in generators if any(g)]

    def plain(self) -> list[list[int]]:
        """The equations that a program may keep. Few observations satisfy many meaningless equations: then only those
        with small coefficients, and short ones."""
        generators = self.reduced()
        odd = [g for g in generators if any(c & 1 for c in g)]
        if all(self._is_small(g) for g in odd):
            return generators
        short = [g for g in generators if g not in odd or sum(map(bool, g[1:])) <= SHORT_SUMMANDS]
        return [*self._small(), *short]

    def _is_small(self, generator: Sequence[int]) -> bool:
        return all(min(c, self._modulus - c) < LARGE_COEFFICIENT for c in generator[1:])

    def _small(self) -> list[list[int]]:
        """Members of the module with small coefficients: they are short vectors of a lattice (LLL finds them)."""
        width = len(self.generators[0])
        if width > MOST_LATTICE_COLUMNS:
            return []
        reduced = [
            [row[0], *(COEFFICIENT_WEIGHT * c for c in row[1:])] for row in hermite(self.generators, self._modulus)
        ]
        found = [[int(c) for c in row] for row in fmpz_mat(reduced).lll().table()]
        members = [
            [row[0] % self._modulus, *(c // COEFFICIENT_WEIGHT % self._modulus for c in row[1:])] for row in found
        ]
        return [member for member in members if any(member) and self._is_small(member)]

    def _reduce_by(self, generators: list[list[int]], index: int) -> None:
        torsion = generators[index]
        column = self._least_divisible(torsion)
        if column is None or torsion[column] & 1:
            return
        power = torsion[column] & -torsion[column]
        inverse = pow(torsion[column] // power, -1, self._modulus)
        for other, generator in enumerate(generators):
            times = (generator[column] + power // 2) // power * inverse % self._modulus
            if other != index and times:
                generators[other] = [(a - times * b) % self._modulus for a, b in zip(generator, torsion, strict=True)]

    def _least_divisible(self, products: Sequence[int]) -> int | None:
        """The first product with the fewest factors of two: all the others are divisible by it."""
        best, least = None, self._modulus
        for index, product in enumerate(products):
            if product and product & -product < least:
                best, least = index, product & -product
        return best
