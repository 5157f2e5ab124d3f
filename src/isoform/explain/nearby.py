"""Inputs near the witness: they refute changes that fit it by chance.

Tests are made at random and seldom take the target along the path of the witness, where a value that is right by chance
is right in all of them. An input that differs from the witness in one argument, or in one byte that the target reads,
mostly takes that path, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from random import Random

from isoform.borders.question import Question
from isoform.model.contract import Argument, argument_value
from isoform.model.outcome import Inputs, Pair, in_frame
from isoform.model.placement import put_argument
from isoform.model.signature import TypeKind

MOST_NEARBY = 48
"""Inputs that are tried."""
_BYTES_AT_ONCE = 4


def nearby(question: Question, inputs: Pair, reads: Mapping[int, int]) -> Iterator[Pair]:
    """Inputs that differ from these in one place. `reads` are the bytes that the target reads on them."""
    random = Random(question.options.seed)
    arguments = [a for a in question.contract.arguments if a.type.kind is TypeKind.INTEGER]
    memory = sorted(address for address in reads if not in_frame(address))
    image = question.target.image
    memory = [address for address in memory if image.section_at(address) is None]
    if not arguments and not memory:
        return
    for number in range(MOST_NEARBY):
        if memory and (not arguments or number % 2):
            changed = _bytes(question, inputs[0], memory, random)
            yield tuple(replace(side, memory={**side.memory, **changed}) for side in inputs)  # type: ignore[misc]
        else:
            argument = arguments[number // 2 % len(arguments)]
            value = _near(argument_value(argument, inputs[0]), 8 * sum(p.size for p in argument.places), random)
            yield tuple(_with_argument(question, side, argument, value) for side in inputs)  # type: ignore[misc]


def _near(value: int, bits: int, random: Random) -> int:
    steps = 1, -1, 2, 1 << random.randrange(bits), random.getrandbits(bits), -random.randrange(1, 100)
    return (value + random.choice(steps)) & ((1 << bits) - 1)


def _bytes(question: Question, inputs: Inputs, memory: list[int], random: Random) -> dict[int, int]:
    """A few bytes of memory that follow each other. Where there are truth values, 0 and 1 stay so."""
    start = random.randrange(len(memory))
    found: dict[int, int] = {}
    for address in memory[start : start + random.randrange(1, _BYTES_AT_ONCE + 1)]:
        is_truth = bool(question.contract.bools) and inputs.byte(address) < 2
        found[address] = random.getrandbits(1 if is_truth else 8)
    return found


def _with_argument(question: Question, inputs: Inputs, argument: Argument, value: int) -> Inputs:
    registers, memory = dict(inputs.registers), dict(inputs.memory)
    place = argument.places[0]
    garbage = registers.get(place.register, 0) if place.register is not None else 0
    put_argument(question.contract.machine, argument, value, registers, memory, garbage)
    return replace(inputs, registers=registers, memory=memory)
