"""Runs of all functions on the same inputs.

What a run shows counts only if it is certain: the run ends, touches valid memory only, does not depend on undefined
values, and makes no call to outside code (whose effects two functions may have in different ways), system calls aside.
Everything else decides nothing, and refutes nothing."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from random import Random

from isoform.engines.inputs import BUFFERS
from isoform.engines.separate import in_own_frame, is_stack_argument
from isoform.lift.cfg import SYSTEM_CALL
from isoform.load.image import Image
from isoform.mine.functions import MOST_PARAMETERS, Mined
from isoform.model.contract import argument_value
from isoform.model.outcome import RETURN_ADDRESS, Inputs, Outcome, Status, is_own_object
from isoform.model.placement import put_argument
from isoform.model.signature import TypeKind
from isoform.model.values import dataclass
from isoform.run.runner import run
from isoform.sym.validity import HIGHEST_ADDRESS

_SEEDS = (1, 2)
"""Of undefined values: what depends on them differs between two runs."""
_SPACING = 0x1000
HIGHEST_PLACED = 1 << 40
"""Only thread-local data of a file is placed above."""
MOST_WORDS = 64
_TABLES, _TABLE_SPACING = 0x4000_0000, 0x10_0000
_POINTERS = 0x100
"""Bytes at the beginning of such a table that hold pointers."""
_STRUCTURES, _CONTENTS = range(1 << 45, 1 << 46), range(1 << 44, 1 << 45)
"""Where these pointers lead: to structures of pointers, and those to plain contents."""
MOST_LEVELS = 6
"""How often a run is repeated because it read more pointers."""


@dataclass(frozen=True)
class World:
    """One input for all functions: contents of memory, and a value for each parameter, cut to its type."""

    fill: int
    values: tuple[int, ...]


def _buffer(number: int) -> int:
    return BUFFERS + number * _SPACING


def _worlds() -> tuple[World, ...]:
    """Small numbers first: there conversions between widths do not matter, so that few runs tell most functions
    apart."""
    p, q, r, s = (_buffer(number) for number in range(MOST_PARAMETERS))
    return (
        World(11, (5, 3, 7, 11)),
        World(12, (p, 6, 3, 9)),
        World(13, (p, q, 5, 2)),
        World(14, (p, q, r, s)),
        World(15, (65, 98, 48, 32)),
        World(23, (52, 57, 122, 95)),
        World(16, (q, 33, p, 4)),
        World(17, (0x7FFF_FFFF, 2, 0x80, 0x8000_0000)),
        World(18, (0xFFFF_FFFF_FFFF_FFFF, 0x1_0000_0001, 0xFFFF_FF80, 1)),
        World(19, (0, 1, 0, 1)),
        World(20, (0x9E37_79B9_7F4A_7C15, 0xC2B2_AE3D_27D4_EB4F, 0x1656_67B1_9E37_79F9, 0x27D4_EB2F_1656_67C5)),
        World(21, (p, 0xFFFF_FFFF_FFFF_FFFE, 8, 1)),
        World(22, (0x3333_0000, 0x8888_1234, 17, 0xFF)),
    )


WORLDS = _worlds()
_OTHER_VALUES = ((9, 2, 13, 4), (6, 40, 0x2000, 0x8000_0003), (0x1234_5678_9ABC, 0x11, 0x80, 0xFFFF_FFFF_FFFF_0000))
_OTHER_BUFFER = 6


def variants(world: World, position: int) -> list[World]:
    """The same with another value for one parameter."""
    value = world.values[position]
    others = [other[position] for other in _OTHER_VALUES]
    if value >= BUFFERS and value < _buffer(MOST_PARAMETERS):
        others = [_buffer(_OTHER_BUFFER + position)]
    changed = [(*world.values[:position], other, *world.values[position + 1 :]) for other in others if other != value]
    return [World(world.fill, values) for values in changed]


@dataclass(frozen=True)
class Seen:
    """What a run did for certain."""

    effects: Hashable
    """How it ended, what it wrote, which system calls it made."""
    result: int | None
    """None if it returns nothing, or did not return."""
    is_without_effects: bool = False
    """Whether it returned, wrote nothing, and made no calls."""


class Observed:
    """A function with what its runs showed."""

    def __init__(self, mined: Mined, is_one_file: bool) -> None:
        self.mined = mined
        self._is_one_file = is_one_file
        """Else an address of a file says nothing to the other one."""
        self._parameters = mined.signature.parameters
        self._background = _thread_contents(mined.loaded.image)
        self._kept: dict[tuple[int, tuple[int, ...]], Seen | None] = {}

    def in_world(self, world: World) -> Seen | None:
        return self.run(world.fill, self.values_in(world))

    def values_in(self, world: World) -> tuple[int, ...]:
        """Its arguments in a world. A bool is 0 or 1."""
        return tuple(
            value & 1 if p.type.kind is TypeKind.BOOL else value & ((1 << p.type.bits) - 1)
            for p, value in zip(self._parameters, world.values, strict=False)
        )

    def run(self, fill: int, arguments: tuple[int, ...]) -> Seen | None:
        """What it does with these arguments; None if that is not certain."""
        key = fill, arguments
        if key not in self._kept:
            self._kept[key] = self._run(fill, arguments)
        return self._kept[key]

    def _run(self, fill: int, arguments: tuple[int, ...]) -> Seen | None:
        contract = self.mined.question.contract
        registers: dict[str, int] = {}
        memory = dict(self._background)
        for argument, value in zip(contract.arguments, arguments, strict=True):
            if argument.type.kind is TypeKind.BOOL and value > 1:
                return None  # no caller passes that
            put_argument(contract.machine, argument, value, registers, memory, 0)
        if any(registers.get(name, 0) >= 1 << (bits - 1) for name, bits in contract.narrow):
            return None
        first, second = (self._seen(Inputs(registers, memory, fill, seed, call_seed=fill)) for seed in _SEEDS)
        return first if first == second else None

    def _outcome(self, inputs: Inputs) -> tuple[Inputs, Outcome] | None:
        """The run, with all pointers of tables that it reads in place. Their places and values depend on the address
        and the contents of memory alone, so that all functions find the same; None if it reads ever more of them."""
        question = self.mined.question
        for _ in range(MOST_LEVELS):
            outcome = run(question.programs[0], inputs, question.run_options(0, record=True), question.callees)
            more = self._pointers(inputs, outcome) if self._background else {}
            if not more:
                return inputs, outcome
            inputs = replace(inputs, memory={**inputs.memory, **more})
        return None

    def _pointers(self, inputs: Inputs, outcome: Outcome) -> dict[int, int]:
        """The words of tables that a run read and that were not in place."""
        found: dict[int, int] = {}
        order = self.mined.question.contract.machine.byte_order
        for word in dict.fromkeys(address - address % 8 for address in outcome.reads if address not in inputs.memory):
            to = _pointer_at(word, inputs.fill_seed)
            if to is not None:
                found |= {word + i: byte for i, byte in enumerate(to.to_bytes(8, order))}
        return found

    def _seen(self, inputs: Inputs) -> Seen | None:
        question = self.mined.question
        done = self._outcome(inputs)
        if done is None or not self._is_certain(*done):
            return None
        outcome = done[1]
        calls = tuple((call.callee, call.arguments) for call in outcome.calls)
        writes = tuple(sorted(outcome.writes.items()))
        ending = (outcome.status, outcome.reason if outcome.status is Status.EXITED else "")
        result = None
        if outcome.status is Status.DONE and question.contract.results:
            result = question.contract.result_value(outcome)
        is_done = outcome.status is Status.DONE
        return Seen((ending, calls, writes if is_done else ()), result, is_done and not calls and not writes)

    def _is_certain(self, inputs: Inputs, outcome: Outcome) -> bool:
        if outcome.status in (Status.OUT_OF_FUEL, Status.UNSUPPORTED) or outcome.outside or outcome.overlaps:
            return False
        if outcome.status is Status.DONE and not self._came_back(outcome):
            return False
        if any(call.callee != SYSTEM_CALL for call in outcome.calls) or len(outcome.results) != len(outcome.calls):
            return False
        shown = [argument for call in outcome.calls for argument in call.arguments]
        shown += self._left(outcome)
        if any(is_own_object(value) for value in shown):
            return False
        if not self._is_one_file and any(
            self._is_of_file(value) for value in (*shown, *outcome.reads, *outcome.writes)
        ):
            return False
        return self._is_valid(inputs, outcome)

    def _came_back(self, outcome: Outcome) -> bool:
        """Whether it restored what it must: the comparison says more about those that do not."""
        machine = self.mined.question.contract.machine
        pointer = machine.convention.stack_pointer
        if outcome.return_target != RETURN_ADDRESS or pointer is None:
            return False
        return all(
            outcome.registers.get(name, 0) == machine.initial.get(name, 0) for name in machine.convention.callee_saved
        )

    def _left(self, outcome: Outcome) -> list[int]:
        """The words that it leaves behind."""
        writes = outcome.writes
        words = [sum(writes.get(a + i, 0) << (8 * i) for i in range(8)) for a in writes]
        return words + [outcome.registers.get(result.register, 0) for result in self.mined.question.contract.results]

    def _is_of_file(self, value: int) -> bool:
        image = self.mined.question.target.image
        section = image.section_at(image.own_address(value))
        return section is not None

    def _is_valid(self, inputs: Inputs, outcome: Outcome) -> bool:
        """The assumption `valid-memory`."""
        question = self.mined.question
        image = question.target.image
        pointers = [a for a in question.contract.arguments if a.type.kind is TypeKind.POINTER]
        touched = [*outcome.reads, *outcome.writes]
        if any(argument_value(pointer, inputs) == 0 for pointer in pointers) and any(a < BUFFERS for a in touched):
            return False
        if any((s := image.section_at(image.own_address(a))) is not None and not s.writable for a in outcome.writes):
            return False
        return all(
            BUFFERS <= a < HIGHEST_ADDRESS and not in_own_frame(question, a)
            for a in touched
            if not is_stack_argument(question, a)
        )


def _pointer_at(word: int, fill: int) -> int | None:
    """The pointer in a word of a table, or of a structure that a table leads to; None where other words are."""
    in_table = 0 <= word - _TABLES < MOST_WORDS * _TABLE_SPACING and (word - _TABLES) % _TABLE_SPACING < _POINTERS
    if not in_table and word not in _STRUCTURES:
        return None
    region = _STRUCTURES if in_table else _CONTENTS
    place = Random(word << 8 ^ fill).randrange(len(region) >> 1)
    return region.start + place - place % 16


def _thread_contents(image: Image) -> dict[int, int]:
    """Thread-local words of a library are mostly pointers to tables, as for `isalpha`, which are set when a thread
    starts: in all worlds each leads to memory of its own. Tables begin with pointers, as the locale of `iswalpha`."""
    found: dict[int, int] = {}
    own = [section for section in image.sections if section.address > HIGHEST_PLACED]
    if not own:
        return found
    # Not all thread-local words have a symbol: those before the first one count as well.
    last = -(-max(section.end for section in own) // 8) * 8
    for number, at in enumerate(range(last - 8 * MOST_WORDS, last, 8)):
        address = _TABLES + number * _TABLE_SPACING
        found |= {at + i: address >> (8 * i) & 0xFF for i in range(8)}
    return found


def depends_on(observed: Observed, position: int, worlds: Sequence[World] = WORLDS) -> bool:
    """Whether runs show that what the function does depends on this parameter: two runs that differ in it alone do
    different things. An adaptor that leaves the parameter out gives the rewrite the same arguments in both, so that it
    does the same in both, and does not fit one of them."""
    for world in worlds:
        before = observed.in_world(world)
        if before is None:
            continue
        for variant in variants(world, position):
            after = observed.in_world(variant)
            if after is not None and after != before:
                return True
    return False
