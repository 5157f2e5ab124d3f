"""Differences that may only be due to where unnamed data was placed in memory."""

from __future__ import annotations

from collections.abc import Iterable

from isoform.borders.padding import leave_out
from isoform.load.image import Image
from isoform.model.outcome import Outcome, Pair

_NEAR = 1 << 20
"""Bytes around unnamed data within which a number counts as an address of it; less than the lowest such address."""


def without_private(image: Image, outcome: Outcome) -> Outcome:
    """The outcome without what was stored to data that only this side has: a compiler removes stores to a static
    variable that nothing reads."""
    cells = frozenset(a for a in outcome.writes if any(low <= a < high for low, high in image.private))
    return leave_out(outcome, outcome.unread | cells, outcome.unseen | cells) if cells else outcome


def rests_on_placement(image: Image, other: Image, outcome: Outcome, results: Iterable[str]) -> bool:
    """Whether a run shows, or used as input, an address or cell of data that only this side has, or shows an address of
    code that only this side has: a function of another name may do the same."""

    def private(address: int) -> bool:
        return any(low <= address < high for low, high in image.private)

    def unnamed(address: int) -> bool:
        """Whether it is in a program at fixed addresses, where nothing shared by name is."""
        return image.is_fixed and image.section_at(address) is not None

    def own_code(address: int) -> bool:
        if address in image.aliases:
            return address not in other.aliases and address not in other.externals
        return address not in image.externals and bool(image.code_at(address, 1)) and not other.code_at(address, 1)

    shown = [outcome.registers.get(name, 0) for name in results]
    shown += [argument for call in outcome.calls if call.output is None for argument in call.arguments]
    words = [sum(outcome.writes.get(a + i, 0) << (8 * i) for i in range(8)) for a in outcome.writes]
    # Bytes that did not change were zero, as those of an address often are.
    starts = {address - back for address in outcome.writes for back in range(8)}
    left = [sum(outcome.writes.get(start + i, 0) << (8 * i) for i in range(8)) for start in starts]
    if any(own_code(value) or unnamed(value) for value in (*shown, *left)):
        return True
    return any(private(value) for value in (*shown, *words, *outcome.writes, *outcome.reads))


def differ_by_placement(
    images: tuple[Image, Image], outcomes: tuple[Outcome, Outcome], results: Iterable[str], inputs: Pair
) -> bool:
    """Whether two results or arguments differ by the distance between unnamed data of the two sides: both may then be
    addresses plus something, and the difference only their placement. Small numbers are no such sums, unless an input
    is about as large as an address and is subtracted from it."""
    shown = [
        [
            *(outcome.registers.get(name, 0) for name in results),
            *(argument for call in outcome.calls if call.output is None for argument in call.arguments),
        ]
        for outcome in outcomes
    ]
    private = images[0].private, images[1].private
    pairs = [(left, right) for left, right in zip(*shown, strict=False) if left != right]
    if not _may_cancel_address(inputs, (*private[0], *private[1])):
        pairs = [pair for pair in pairs if not all(_is_small(value) for value in pair)]
    return any(
        (low - other_high) % (1 << 64) <= (left - right) % (1 << 64) <= (high - other_low) % (1 << 64)
        for left, right in pairs
        for low, high in private[0]
        for other_low, other_high in private[1]
    )


def _is_small(value: int) -> bool:
    """As a number of 64 or of 32 bits, with a sign."""
    return any((value + _NEAR) % (1 << bits) < 2 * _NEAR and value >> bits == 0 for bits in (32, 64))


def _may_cancel_address(inputs: Pair, private: Iterable[tuple[int, int]]) -> bool:
    """Whether an input is close to an address of unnamed data, or to its negative."""
    memory = {**inputs[0].memory, **inputs[1].memory}
    words = [sum(memory.get(start + i, 0) << (8 * i) for i in range(8)) for start in memory]
    numbers = [*words, *(value for side in inputs for value in side.registers.values())]
    return any(
        (sign * number - low + _NEAR) % (1 << bits) < high - low + 2 * _NEAR
        for low, high in private
        for number in numbers
        for sign in (1, -1)
        for bits in (32, 64)
    )
