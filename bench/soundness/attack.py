"""Attacks on an `equivalent`: concrete runs that try to tell the two functions apart after all."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random

from isoform.borders.question import Question
from isoform.check.replay import independent_runner
from isoform.check.surroundings import Surroundings
from isoform.engines.separate import uses_valid_memory
from isoform.lift.function import Function
from isoform.model.contract import Contract
from isoform.model.microop import Kind, Space
from isoform.model.outcome import CallEffect, CallKey, Inputs, Outcome, Status
from isoform.model.placement import put_argument
from isoform.model.signature import CType, TypeKind

Sides = tuple[Inputs, Inputs]
_BUFFERS = 0x20_0000
_SECONDS, _LOOP_SECONDS = 600.0, 8.0
"""At most, for one pair: runs with loops take long, and many do not end."""
_OVERLAPS = (0, 0, 0, 1, 2, 3, 4, 8, 12, 16, 24, -1, -2, -4, -8)


@dataclass(frozen=True)
class Attack:
    """How many runs on each model."""

    independent: int
    own: int


FULL = Attack(independent=2_000, own=20_000)
QUICK = Attack(independent=40, own=400)


@dataclass(frozen=True)
class Broken:
    """An input that contradicts the verdict, or one on which our runner and the independent model disagree."""

    inputs: Sides
    how: str


def attack(question: Question, size: Attack, seed: int) -> Broken | None:
    """Every input on our runner, the first few (boundary values) and then every so many on the other model."""
    candidates = AttackInputs(question, seed)
    until = time.monotonic() + (_LOOP_SECONDS if candidates.loops else _SECONDS)
    every = max(1, size.own // max(1, size.independent))
    on_both = size.independent // 2
    for number in range(size.own):
        if time.monotonic() > until:
            break
        inputs = candidates.make(number)
        if not question.admits(inputs[0]):
            continue
        inputs, ours = with_call_results(question, inputs, candidates.random)
        found = question.contract.differences(*ours)
        if found and uses_valid_memory(question, inputs):
            return Broken(inputs, f"isoform's runner shows a difference: {found[0]}")
        if number < on_both or number % (2 * every) == 0:
            broken = independent_attack(question, inputs, ours)
            if broken is not None:
                return broken
    return None


def independent_attack(question: Question, inputs: Sides, ours: tuple[Outcome, Outcome]) -> Broken | None:
    undecided = (Status.UNSUPPORTED, Status.OUT_OF_FUEL)
    if any(o.status in undecided for o in ours):
        return None
    theirs = question.without_padding(inputs[0], independent_outcomes(question, inputs))
    if any(o.status in undecided for o in theirs):
        return None
    trouble = _trouble(question, ours, theirs)
    return Broken(inputs, trouble) if trouble and uses_valid_memory(question, inputs) else None


def _trouble(question: Question, ours: tuple[Outcome, Outcome], theirs: tuple[Outcome, Outcome]) -> str:
    found = question.contract.differences(*theirs)
    if found:
        return f"the independent model shows a difference: {found[0]}"
    if question.contract.padded:
        return ""  # what is left out as padding is decided for a pair of runs, not for two runs of one side
    for function, mine, other in zip((question.target, question.rewrite), ours, theirs, strict=True):
        apart = question.contract.differences(mine, other)
        if apart and not leaves_values_open(function):
            return f"the independent model and isoform's runner disagree on {function.name}: {apart[0]}"
    return ""


def independent_outcomes(question: Question, inputs: Sides) -> tuple[Outcome, Outcome]:
    _, runner = independent_runner(question.contract.machine.name)
    left, right = (
        runner(
            function.image,
            function.entry.address,
            side,
            4 * question.options.fuel + 100,
            around=Surroundings(question.callees, question.contract.stack_argument_bytes),
        )
        for function, side in zip((question.target, question.rewrite), inputs, strict=True)
    )
    return left, right


def leaves_values_open(function: Function) -> bool:
    """Whether some instruction has a result that the manual leaves undefined: then models may differ."""
    return any(op.kind is Kind.UNDEFINED for block in function.blocks.values() for op in block.ops)


def with_call_results(question: Question, inputs: Sides, random: Random) -> tuple[Sides, tuple[Outcome, Outcome]]:
    """Outside calls get random results, by callee and arguments, as they turn up in the runs."""
    outcomes = question.run_both(inputs)
    results: dict[CallKey, CallEffect] = {}
    for _ in range(6):
        made = {CallKey(c.callee, c.arguments, number) for o in outcomes for number, c in enumerate(o.calls)}
        fresh = sorted(made - results.keys())
        if not fresh:
            break
        registers = question.contract.machine.convention
        for call in fresh:
            value = random.choice((0, 1, random.getrandbits(32), random.getrandbits(64)))
            results[call] = CallEffect(dict.fromkeys((*registers.result[:1], *registers.float_result[:1]), value))
        left, right = (replace(side, call_results=dict(results)) for side in inputs)
        inputs = left, right
        outcomes = question.run_both(inputs)
    return inputs, outcomes


class AttackInputs:
    """Boundary values first; constants of the code and their neighbours; pointers that overlap each other and
    globals; garbage in every bit that the convention leaves open."""

    def __init__(self, question: Question, seed: int) -> None:
        self.random = Random(seed)
        self._contract: Contract = question.contract
        self.loops = any(f.has_loop for f in (question.target, question.rewrite))
        self._constants = sorted(set(_constants(question.target)) | set(_constants(question.rewrite)))[:200] or [0]
        self._globals = [
            symbol.address
            for symbol in question.target.image.symbols
            if not symbol.is_function and _is_writable(question.target, symbol.address)
        ]
        if self.loops:
            self._globals = []  # a loop that starts in a global goes on into what each side has of its own

    def make(self, number: int) -> Sides:
        random = self.random
        boundary = number < 200 or random.random() < 0.4
        registers = self._background()
        memory: dict[int, int] = {}
        for position, argument in enumerate(self._contract.arguments):
            value = self._value(argument.type, position, boundary)
            garbage = random.getrandbits(64) if random.random() < 0.8 else 0
            put_argument(self._contract.machine, argument, value, registers, memory, garbage)
        fill = 0 if random.random() < 0.15 else random.getrandbits(32) + 1
        return (
            Inputs(registers, memory, fill, 2 * number + 1),
            Inputs(registers, memory, fill, 2 * number + 2),
        )

    def _background(self) -> dict[str, int]:
        machine = self._contract.machine
        fixed = {*machine.initial, machine.convention.stack_pointer}
        sizes = {name: machine.registers[name].size for name in machine.containers if name not in fixed}
        return {name: self.random.getrandbits(1 if size == 1 else 8 * size) for name, size in sizes.items()}

    def _value(self, kind: CType, position: int, boundary: bool) -> int:
        random = self.random
        if kind.kind is TypeKind.POINTER:
            return self._pointer(position)
        if kind.kind is TypeKind.BOOL:
            return random.getrandbits(1)
        if self.loops and random.random() < 0.6:
            return random.choice((random.randrange(8), random.randrange(60), random.randrange(400)))
        whole = (1 << max(1, kind.bits)) - 1
        if not boundary:
            return random.getrandbits(kind.bits) >> random.randrange(kind.bits)
        near = random.choice((0, 1 << random.randrange(kind.bits), whole, whole >> 1, random.choice(self._constants)))
        return (near + random.choice((0, 0, 1, -1, 2, -2, random.randrange(-20, 20)))) & whole

    def _pointer(self, position: int) -> int:
        random = self.random
        if self._globals and random.random() < 0.15:
            return random.choice(self._globals) + random.choice((0, 0, 1, -1, 4, -4))
        if random.random() < 0.5:
            position = random.randrange(len(self._contract.arguments))
        return _BUFFERS + 0x1000 * position + random.choice(_OVERLAPS)


def _constants(function: Function) -> Iterator[int]:
    for block in function.blocks.values():
        for op in block.ops:
            yield from (var.offset for var in op.ins if var.space is Space.CONST)


def _is_writable(function: Function, address: int) -> bool:
    section = function.image.section_at(address)
    return section is not None and section.writable
