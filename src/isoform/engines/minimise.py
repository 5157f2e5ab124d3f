"""Witnesses that a person can follow: small, round numbers first, and nothing in them that does not matter."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from isoform.borders.question import Question
from isoform.engines.inputs import BUFFERS
from isoform.model.budget import Budget
from isoform.model.contract import Argument, argument_value
from isoform.model.outcome import STACK_POINTER, Inputs, Pair
from isoform.model.placement import extended_size, put_argument
from isoform.model.signature import TypeKind

MOST_TRIALS = 400
_ROUND = (0, 1, 2, 3, -1, 4, 5, 8, 10, -2, 16, 100, 256, 1000, -10)

Keeps = Callable[[Question, Pair], bool]


def minimise(question: Question, inputs: Pair, budget: Budget, keeps: Keeps) -> Pair:
    """Inputs as simple as a few hundred runs can make them, for which `keeps` still holds."""
    return _Minimiser(question, budget, keeps).run(inputs)


class _Minimiser:
    def __init__(self, question: Question, budget: Budget, keeps: Keeps) -> None:
        self._question = question
        self._budget = budget
        self._keeps = keeps
        self._trials = 0

    def run(self, inputs: Pair) -> Pair:
        inputs = self._first(inputs, self._plainer_backgrounds(inputs))
        inputs = self._simpler_calls(inputs)
        arguments = self._question.contract.arguments
        for _ in range(2):  # a second round, as one argument's size may depend on another's
            before = inputs
            for number, argument in enumerate(arguments):
                inputs = self._simplify(inputs, argument, number)
            if inputs == before:
                break
        return self._drop_memory(inputs)

    def _first(self, inputs: Pair, candidates: Iterator[Pair]) -> Pair:
        """The first candidate that keeps the difference, else `inputs`."""
        for candidate in candidates:
            if self._trials >= MOST_TRIALS or self._budget.exhausted:
                return inputs
            if candidate == inputs:
                continue
            self._trials += 1
            if self._keeps(self._question, candidate):
                return candidate
        return inputs

    def _plainer_backgrounds(self, inputs: Pair) -> Iterator[Pair]:
        """Without noise in what is not an argument, as far as possible."""
        for fill, sides, registers in (
            (0, True, True),
            (0, False, True),
            (None, True, True),
            (None, False, True),
            (0, False, False),
        ):
            yield (self._plain(inputs[0], fill, sides, registers), self._plain(inputs[1], fill, sides, registers))

    def _simpler_calls(self, inputs: Pair) -> Pair:
        """Without what outside calls do, else without what they write, call by call."""
        none = replace(inputs[0], call_results={}), replace(inputs[1], call_results={})
        inputs = self._first(inputs, iter([none]))
        for key, effect in list(inputs[0].call_results.items()):
            rest = {k: e for k, e in inputs[0].call_results.items() if k != key}
            simpler = [rest, {**rest, key: replace(effect, memory={})}]
            pairs = ((replace(inputs[0], call_results=c), replace(inputs[1], call_results=c)) for c in simpler)
            inputs = self._first(inputs, pairs)
        return inputs

    def _plain(self, inputs: Inputs, fill: int | None, sides: bool, registers: bool) -> Inputs:
        kept: dict[str, int] = {}
        memory = dict(inputs.memory)
        if registers:
            for argument in self._question.contract.arguments:
                value = argument_value(argument, inputs)
                put_argument(self._question.contract.machine, argument, value, kept, memory, 0)
        return replace(
            inputs,
            registers=kept if registers else inputs.registers,
            memory=memory,
            fill_seed=inputs.fill_seed if fill is None else fill,
            side_seed=0 if sides else inputs.side_seed,
        )

    def _simplify(self, inputs: Pair, argument: Argument, number: int) -> Pair:
        value = argument_value(argument, inputs[0])
        bits = 8 * sum(p.size for p in argument.places)
        if argument.type.kind is TypeKind.POINTER:
            simpler: Sequence[int] = (BUFFERS + 0x1000 * number, BUFFERS)
        else:
            simpler = [v & ((1 << bits) - 1) for v in _ROUND]
        if value in simpler:
            simpler = simpler[: simpler.index(value)]
        found = self._first(inputs, (self._with(inputs, argument, v) for v in simpler))
        if found is not inputs or argument.type.kind is TypeKind.POINTER:
            return found
        return self._fewer_bits(inputs, argument, value, bits)

    def _fewer_bits(self, inputs: Pair, argument: Argument, value: int, bits: int) -> Pair:
        """Clear set bits one at a time from the top; a negative number approaches -1 instead."""
        negative = argument.type.signed and value >> (bits - 1) == 1
        for bit in reversed(range(bits - 1 if negative else bits)):
            changed = value | 1 << bit if negative else value & ~(1 << bit)
            if changed == value:
                continue
            candidate = self._first(inputs, iter([self._with(inputs, argument, changed)]))
            if candidate is not inputs:
                inputs, value = candidate, changed
        return inputs

    def _with(self, inputs: Pair, argument: Argument, value: int) -> Pair:
        left, right = (self._put(side, argument, value) for side in inputs)
        return left, right

    def _put(self, inputs: Inputs, argument: Argument, value: int) -> Inputs:
        registers, memory = dict(inputs.registers), dict(inputs.memory)
        garbage = 0
        if argument.places and argument.places[0].register is not None:
            garbage = inputs.registers.get(argument.places[0].register, 0)
        put_argument(self._question.contract.machine, argument, value, registers, memory, garbage)
        return replace(inputs, registers=registers, memory=memory)

    def _drop_memory(self, inputs: Pair) -> Pair:
        """Clear memory that can be zero: all of it, then halves, then single bytes. Arguments do not change."""
        arguments = {
            STACK_POINTER + place.offset + i
            for argument in self._question.contract.arguments
            for place in argument.places
            if place.register is None
            for i in range(extended_size(self._question.contract.machine, argument.type, place))
        }
        for address in self._groups(sorted(inputs[0].memory.keys() - arguments)):
            removed = set(address)
            left, right = (replace(i, memory={a: b for a, b in i.memory.items() if a not in removed}) for i in inputs)
            inputs = self._first(inputs, iter([(left, right)]))
        return inputs

    def _groups(self, addresses: list[int]) -> Iterator[list[int]]:
        yield addresses
        size = len(addresses) // 2
        while size >= 1:
            for start in range(0, len(addresses), size):
                yield addresses[start : start + size]
            size //= 4
