"""Inputs for concrete runs: boundary values first, then random ones, pointers to buffers that may overlap."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations
from random import Random

from isoform.model.contract import Contract
from isoform.model.outcome import Inputs
from isoform.model.placement import put_argument
from isoform.model.sample_floats import sample_float
from isoform.model.signature import CType, TypeKind

BUFFERS = 0x10_0000
"""Where invented buffers start: away from files, frames and small numbers."""
_SPACING = 0x1000
_SHIFTS = (4, 8, 1, 16, 2, 32)
"""Bytes by which one buffer begins inside another: an element of the usual sizes, or a few."""
_BOOLS = 40
_LENGTHS = (16, 9, 33)
"""Elements of overlapping buffers: more than unrolled or vectorised code processes at once, and a remainder."""
_FURTHEST = 32
"""Bytes between the starts of two overlapping buffers, in tests that try every distance: a vector of 256 bits."""
_LENGTHS_AT_EVERY_DISTANCE = (33, 9)


class InputMaker:
    """An endless, reproducible stream of inputs for one contract."""

    def __init__(self, contract: Contract, seed: int) -> None:
        self._contract = contract
        self._random = Random(seed)
        machine = contract.machine
        fixed = {*machine.initial, machine.convention.stack_pointer}
        sizes = {name: machine.registers[name].size for name in machine.containers if name not in fixed}
        self._others = [(name, 8 * size if size > 1 else 1) for name, size in sizes.items()]
        """Registers that an input may set, with their bits."""
        pointers = [i for i, a in enumerate(contract.arguments) if a.type.kind is TypeKind.POINTER]
        self._overlaps = list(permutations(pointers, 2))
        """Pairs of arguments of which the first may point into the buffer of the second."""

    def __iter__(self) -> Iterator[tuple[Inputs, Inputs]]:
        number = 0
        while True:
            yield self._make(number)
            number += 1

    def overlapping(self) -> Iterator[tuple[Inputs, Inputs]]:
        """Buffers that overlap at every small distance, likely ones first: whole elements. Pointers that are declared
        `restrict` are left out."""
        restricted = self._contract.restricted
        pairs = [pair for pair in self._overlaps if not set(pair) & set(restricted)]
        types = [argument.type.pointee for argument in self._contract.arguments]
        sizes = {kind.size for kind in types if kind is not None and 0 < kind.size <= _FURTHEST}
        near = range(1, _FURTHEST + 1)
        number = 1
        for length in _LENGTHS_AT_EVERY_DISTANCE:
            for distance in sorted(near, key=lambda d: (not any(d % size == 0 for size in sizes), d)):
                for inner, outer in pairs:
                    number += 1
                    yield self._with_values(number, self._buffers(inner, outer, distance, length), overlapping=True)

    def _make(self, number: int) -> tuple[Inputs, Inputs]:
        overlapping = self._overlaps and number > 4 and number % 3 == 2
        values = self._overlapping(number // 3) if overlapping else self._values(number)
        return self._with_values(number, values, bool(overlapping))

    def _with_values(self, number: int, values: Sequence[int], overlapping: bool) -> tuple[Inputs, Inputs]:
        registers = self._background(number)
        memory: dict[int, int] = {}
        for argument, value in zip(self._contract.arguments, values, strict=True):
            put_argument(self._contract.machine, argument, value, registers, memory, self._garbage())
        put_bools(self._contract, values, memory, self._random)
        fill = 0 if number % 4 == 0 and not overlapping else number
        return tuple(Inputs(registers, memory, fill, side) for side in (2 * number + 1, 2 * number + 2))  # type: ignore[return-value]

    def _values(self, number: int) -> list[int]:
        boundary = number < 40 or self._random.random() < 0.3
        kinds = [argument.type for argument in self._contract.arguments]
        return [self._value(kind, position, boundary) for position, kind in enumerate(kinds)]

    def _overlapping(self, number: int) -> list[int]:
        """One buffer begins a few elements into another, and every number is a length for which that matters: this
        exposes code that was compiled for disjoint buffers."""
        inner, outer = self._overlaps[number % len(self._overlaps)]
        variant = number // len(self._overlaps) + number
        return self._buffers(inner, outer, _SHIFTS[variant % len(_SHIFTS)], _LENGTHS[variant % len(_LENGTHS)])

    def _buffers(self, inner: int, outer: int, distance: int, length: int) -> list[int]:
        """One buffer begins so many bytes into another, and every number is this length."""
        values = self._values(distance)
        for position, argument in enumerate(self._contract.arguments):
            if argument.type.kind is TypeKind.INTEGER:
                values[position] = length & ((1 << max(1, argument.type.bits)) - 1)
            elif argument.type.kind is TypeKind.POINTER:
                values[position] = BUFFERS + position * _SPACING
        values[inner] = BUFFERS + outer * _SPACING + distance
        return values

    def _background(self, number: int) -> dict[str, int]:
        """Registers that are not arguments: zero at first, then noise, so that reading one shows."""
        bits = self._random.getrandbits
        return {name: bits(size) for name, size in self._others} if number else {}

    def _garbage(self) -> int:
        return self._random.getrandbits(64) if self._random.random() < 0.7 else 0

    def _value(self, kind: CType, position: int, boundary: bool) -> int:
        if kind.kind is TypeKind.POINTER:
            return self._pointer(position)
        if kind.kind is TypeKind.BOOL:
            return self._random.getrandbits(1)
        if kind.is_float and self._random.random() < 0.9:
            return sample_float(self._random, kind.bits // 8)
        bits = max(1, kind.bits)
        return self._boundary(bits) if boundary else self._random.getrandbits(bits) >> self._random.randrange(bits)

    def _boundary(self, bits: int) -> int:
        top = 1 << (bits - 1)
        small = self._random.randrange(0, 20)
        near = self._random.choice((0, 1 << self._random.randrange(bits), top, top - 1, 2 * top - 1, 0x80, 0x100))
        choices = (0, 1, 2, small, -1, -2, -small, top, top - 1, near, near - 1, near + 1, 2 * top - small)
        return self._random.choice(choices) & (2 * top - 1)

    def _pointer(self, position: int) -> int:
        """Mostly a buffer of its own; sometimes another argument's, or a few bytes into it."""
        if self._random.random() < 0.3:
            position = self._random.randrange(len(self._contract.arguments))
            return BUFFERS + position * _SPACING + self._random.choice((0, 0, 1, 2, 4, 8, 12, 16))
        return BUFFERS + position * _SPACING


def put_bools(contract: Contract, values: Sequence[int], memory: dict[int, int], random: Random) -> None:
    """Put 0 or 1 where arguments point to a declared bool, in the first few elements."""
    pointers = {a.name: value for a, value in zip(contract.arguments, values, strict=True)}
    for cell in contract.bools:
        first = pointers[cell.argument.name] + cell.offset
        memory.update({first + cell.stride * element: random.getrandbits(1) for element in range(_BOOLS)})
