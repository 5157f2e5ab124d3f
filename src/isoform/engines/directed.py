"""Tests made of what the code looks at: its own constants, in the arguments and in the memory that earlier runs read.

Random numbers hardly ever make a comparison with 100000 come out as it rarely does, or a member of a structure one of
the few kinds that a `switch` knows. Inputs that lead to code which none before had reached are changed further.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from random import Random

from isoform.borders.question import Question
from isoform.engines.finding import Failed, Finding, Found
from isoform.engines.inputs import InputMaker
from isoform.engines.testing import Trials
from isoform.lift.function import Function
from isoform.model.budget import Budget
from isoform.model.contract import Argument, argument_value
from isoform.model.microop import Kind, MicroOp, Space
from isoform.model.outcome import Inputs, Pair
from isoform.model.placement import put_argument
from isoform.model.signature import TypeKind
from isoform.model.values import dataclass

MOST_TESTS = 600
MOST_STEPS = 400_000
"""Under half a second."""
FIRST_INPUTS = 6
"""Of the usual tests, changed first."""
MOST_SITES, MOST_NUMBERS = 64, 96
SHARE_OF_NUMBERS, SHARE_OF_COPIES = 0.8, 0.1
"""How often a changed place gets a number of the code, and how often what another place holds; else any number."""
FEW = (0, 1, 2, 3, -1)
"""Numbers that code knows without having them as constants: in tests for zero, and cases of a jump table."""


@dataclass(frozen=True)
class _Word:
    """A place in memory that a run read before it was written."""

    address: int
    size: int


_Site = _Word | Argument


class DirectedTesting:
    def answer(self, question: Question, budget: Budget) -> Finding:
        started = time.perf_counter()
        tests = Trials(question, budget, most_stuck=MOST_TESTS, trace=True)
        # Of many tests one may show a difference on the independent model by chance, through a value that the manual
        # leaves undefined.
        if not any(op.kind is Kind.UNDEFINED for op in _operations(question.target, question.rewrite)):
            _Search(question, tests).run(budget)
        tested = tests.tested()
        finding = Found(tested.witness) if tested.witness is not None else Failed("no test shows a difference")
        said = tested.sentence().replace("tests", "tests with the code's own constants")
        return replace(finding, said=said, timings={"test": time.perf_counter() - started})


class _Search:
    def __init__(self, question: Question, tests: Trials) -> None:
        self._question = question
        self._tests = tests
        self._random = Random(question.options.seed)
        self._numbers, self._telling = _numbers(question)
        self._sizes = sorted(
            {op.out.size for op in _operations(question.target, question.rewrite) if op.kind is Kind.LOAD and op.out}
        )
        self._reached: set[tuple[int, int]] = set()
        """Instructions, by side and address."""

    def run(self, budget: Budget) -> None:
        maker, bases = InputMaker(self._question.contract, self._question.options.seed), list[Pair]()
        first = (inputs for inputs in islice(maker, 4 * FIRST_INPUTS) if self._question.admits(inputs[0]))
        for inputs in islice(first, FIRST_INPUTS):
            self._is_new(inputs)
            bases.append(inputs)
        sites = {id(base): self._sites(base) for base in bases}
        made = 0
        while bases and made < MOST_TESTS and self._tests.steps < MOST_STEPS and not budget.exhausted:
            made += 1
            # What was found last leads furthest into the code.
            base = bases[-1] if self._random.random() < 0.5 else self._random.choice(bases)
            if not sites[id(base)]:
                bases.remove(base)
                continue
            inputs = self._changed(base, sites[id(base)])
            if not self._question.admits(inputs[0]):
                continue
            if self._tests.test(inputs) or self._tests.unconfirmed is not None:
                return
            if self._is_new(inputs):
                bases.append(inputs)
                sites[id(inputs)] = self._sites(inputs)

    def _is_new(self, inputs: Pair) -> bool:
        """Whether the runs reach instructions that no run reached before."""
        outcomes = self._question.run_both(inputs, trace=True)
        reached = {(side, address) for side, outcome in enumerate(outcomes) for address in outcome.trace}
        is_new = not reached <= self._reached
        self._reached |= reached
        return is_new

    def _sites(self, inputs: Pair) -> list[_Site]:
        """Numbers among the arguments, and words of memory that the runs read."""
        outcomes = self._question.run_both(inputs, record=True)
        read = {address for outcome in outcomes for address in outcome.reads}
        words = (
            _Word(address, size)
            for size in reversed(self._sizes)
            for address in sorted(read)
            if address % size == 0 and read.issuperset(range(address, address + size))
        )
        kinds = (TypeKind.INTEGER, TypeKind.BOOL)
        arguments = [argument for argument in self._question.contract.arguments if argument.type.kind in kinds]
        return [*arguments, *islice(words, MOST_SITES)]

    def _changed(self, base: Pair, sites: list[_Site]) -> Pair:
        registers, memory = dict(base[0].registers), dict(base[0].memory)
        for _ in range(1 if self._random.random() < 0.7 else 2):
            self._put(self._random.choice(sites), base[0], sites, registers, memory)
        return replace(base[0], registers=registers, memory=memory), replace(
            base[1], registers=registers, memory=memory
        )

    def _put(
        self, site: _Site, base: Inputs, sites: list[_Site], registers: dict[str, int], memory: dict[int, int]
    ) -> None:
        contract, value = self._question.contract, self._value(base, sites)
        if isinstance(site, Argument):
            value &= 1 if site.type.kind is TypeKind.BOOL else (1 << max(1, site.type.bits)) - 1
            put_argument(contract.machine, site, value, registers, memory, 0)
        else:
            word = (value % (1 << (8 * site.size))).to_bytes(site.size, contract.machine.byte_order)
            memory.update(enumerate(word, site.address))

    def _value(self, base: Inputs, sites: list[_Site]) -> int:
        choice = self._random.random()
        if choice < SHARE_OF_NUMBERS:
            numbers = self._telling if self._telling and self._random.random() < 0.5 else self._numbers
            return self._random.choice(numbers) + self._random.choice((-1, 0, 0, 1))
        if choice < SHARE_OF_NUMBERS + SHARE_OF_COPIES:
            return self._held(self._random.choice(sites), base)
        return self._random.getrandbits(64) >> self._random.randrange(64)

    def _held(self, site: _Site, base: Inputs) -> int:
        if isinstance(site, Argument):
            return argument_value(site, base)
        held = bytes(base.byte(site.address + i) for i in range(site.size))
        return int.from_bytes(held, self._question.contract.machine.byte_order)


def _operations(*functions: Function) -> Iterator[MicroOp]:
    return (op for function in functions for block in function.blocks.values() for op in block.ops)


def _numbers(question: Question) -> tuple[list[int], list[int]]:
    """The constants of both functions, and those that only one of them has: a difference often lies there."""
    size = question.contract.machine.word_bits // 8
    left, right = _constants(question.target, size), _constants(question.rewrite, size)
    return sorted({*left, *right, *FEW})[:MOST_NUMBERS], sorted(left ^ right)[:MOST_NUMBERS]


def _constants(function: Function, address_size: int) -> set[int]:
    """Numbers that the code computes with, apart from offsets in addresses and the sizes of frames."""
    addresses = {op.ins[0] for op in _operations(function) if op.kind in (Kind.LOAD, Kind.STORE)}
    found = set[int]()
    for op in _operations(function):
        is_offset = op.kind in (Kind.INT_ADD, Kind.INT_SUB) and op.out is not None and op.out.size == address_size
        if not is_offset and op.kind not in (Kind.LOAD, Kind.STORE) and op.out not in addresses:
            found.update(var.offset for var in op.ins if var.space is Space.CONST)
    return found
