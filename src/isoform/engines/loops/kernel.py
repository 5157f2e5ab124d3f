"""Linear equations that hold in data: the kernel of a matrix over the integers modulo a power of two.

Machine arithmetic wraps, so equations are sought where it happens. The set of all vectors v with row · v = 0 (mod 2^w)
for every row is a module, not a vector space: it has generators, some of them multiples of a power of two, and those
say that something is a multiple of a smaller one.
"""

from __future__ import annotations

from collections.abc import Sequence

from flint import fmpz_mat

_SWEEPS = 3
_SHORT = 2
LARGE = 4096
"""Coefficients in equations that programs keep are smaller."""
_MOST_COLUMNS = 64
"""Features for which short vectors are looked for: 60 take 1.2 s of a computation that no budget ends, 80 take 30 s."""
_WEIGHT = 256
"""How much more a coefficient counts than the constant."""


class Kernel:
    """The generators, row by row: each new row only shrinks what the rows before it left."""

    def __init__(self, columns: int, bits: int) -> None:
        self._bits = bits
        self._modulus = 1 << bits
        self.generators = [[int(i == j) for j in range(columns)] for i in range(columns)]
        """Of a generator that is still as it began, column k holds 1 and it says nothing about other columns; columns
        that come first are the first to be used up, so later columns are expressed by earlier ones."""

    def add(self, row: Sequence[int]) -> bool:
        """Take one more observation into account. True if an equation did not hold of it."""
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
        # What is left of the chosen one: the multiple of it that is zero here too.
        rest = [modulus // power * a % modulus for a in chosen]
        self.generators[pivot : pivot + 1] = [rest] if any(rest) else []
        return True

    def reduced(self) -> list[list[int]]:
        """The generators with coefficients as small as those that are multiples of a power of two can make them."""
        generators = [list(g) for g in self.generators]
        for _ in range(_SWEEPS):
            before = [list(g) for g in generators]
            for index in range(len(generators)):
                self._reduce_by(generators, index)
            if generators == before:
                break
        return [g for g in generators if any(g)]

    def plain(self) -> list[list[int]]:
        """What of all this a program may keep. From few observations much follows that means nothing: then only what
        has small coefficients, and what is short."""
        generators = self.reduced()
        odd = [g for g in generators if any(c & 1 for c in g)]
        if all(self._is_small(g) for g in odd):
            return generators
        short = [g for g in generators if g not in odd or sum(map(bool, g[1:])) <= _SHORT]
        return [*self._small(), *short]

    def _is_small(self, generator: Sequence[int]) -> bool:
        return all(min(c, self._modulus - c) < LARGE for c in generator[1:])

    def _small(self) -> list[list[int]]:
        """Members of the module with small coefficients: they are short vectors of a lattice (LLL finds them)."""
        width = len(self.generators[0])
        if width > _MOST_COLUMNS:
            return []
        rows = [[g[0], *(_WEIGHT * c for c in g[1:])] for g in self.generators]
        rows += [[0] * i + [self._modulus * (_WEIGHT if i else 1)] + [0] * (width - i - 1) for i in range(width)]
        reduced = fmpz_mat(rows).hnf().table()[:width]
        found = [[int(c) for c in row] for row in fmpz_mat(reduced).lll().table()]
        members = [[row[0] % self._modulus, *(c // _WEIGHT % self._modulus for c in row[1:])] for row in found]
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
        """The first product with the fewest factors of two: dividing by it is possible for all the others."""
        best, least = None, self._modulus
        for index, product in enumerate(products):
            if product and product & -product < least:
                best, least = index, product & -product
        return best
