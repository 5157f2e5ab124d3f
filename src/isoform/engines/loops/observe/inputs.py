"""Inputs that make loops iterate a few times: small numbers, buffers that may overlap, text, linked structures."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random

from isoform.borders.question import Question
from isoform.engines.inputs import BUFFERS, put_bools
from isoform.engines.loops.observe.letters import letters
from isoform.engines.loops.tuning import (
    HOLDS_ARGUMENT_SHARE,
    LARGE_SIZES,
    LEADS_BACK_EVERY,
    LETTERS_SHARE,
    MOSTLY_LARGEST_SHARE,
    NOISE_BYTES,
    ONLY_SOME_LARGE_SHARE,
    POINTEE_BYTES,
    POINTER_FUEL_STEPS,
)
from isoform.model.contract import Argument
from isoform.model.outcome import Inputs, Outcome
from isoform.model.placement import put_argument
from isoform.model.signature import TypeKind
from isoform.run.runner import RunOptions, run

_SPACING = 0x1000
_NODES = BUFFERS + 0x80_0000
_NODE_SPACING = 0x60
_MOST_NODES = 10
BUFFERS_END = _NODES + (_MOST_NODES + 2) * _NODE_SPACING
_ALIGNMENT = 4


class LoopInputs:
    """An endless, reproducible stream of inputs for one question."""

    def __init__(self, question: Question, seed: int) -> None:
        self._question = question
        self._contract = question.contract
        self._random = Random(seed)
        self._number = 0
        self.stretch = 1
        """How many times as large as usual sizes are."""
        self.mostly_largest = False
        """Whether most numbers are among the largest sizes."""
        self._letters = [found for f in (question.target, question.rewrite) if (found := letters(f))]
        self.follows_pointers = False
        """Whether the target was observed to use a loaded value as an address."""
        memory = question.contract.machine.memory
        kinds = [argument.type.kind for argument in question.contract.arguments]
        self._pointers = [position for position, kind in enumerate(kinds) if kind is TypeKind.POINTER]
        self._is_bounded = memory is not None and memory.size is not None
        """Whether most numbers are no address: then words without a type must be tried as addresses, too."""

    def __iter__(self) -> Iterator[tuple[Inputs, Inputs]]:
        while True:
            yield self._linked(self._make())
            self._number += 1

    # -- arguments ------------------------------------------------------------------------------

    def _make(self) -> Inputs:
        random, machine = self._random, self._contract.machine
        fixed = {*machine.initial, machine.convention.stack_pointer}
        registers = {
            name: random.getrandbits(8 * machine.registers[name].size if machine.registers[name].size > 1 else 1)
            for name in machine.containers
            if name not in fixed
        }
        memory: dict[int, int] = {}
        size = random.choice((0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 17, 24, 31))
        if self.stretch > 1 and random.random() < 0.5:
            size = random.randrange(LARGE_SIZES)
        if self.mostly_largest and random.random() < MOSTLY_LARGEST_SHARE:
            size = random.randrange(2 * LARGE_SIZES // 3, LARGE_SIZES)
        size = size * self.stretch + random.randrange(self.stretch)
        values = [self._value(argument, position, size) for position, argument in enumerate(self._contract.arguments)]
        for argument, value in zip(self._contract.arguments, values, strict=True):
            put_argument(self._contract.machine, argument, value, registers, memory, random.getrandbits(64))
        contents = self._contents()
        if random.random() < HOLDS_ARGUMENT_SHARE or self._leads_back:
            self._put(contents, values, size)
        put_bools(self._contract, values, contents, random)
        fill = self._number + 1 if self._number % 3 == 1 and not self.follows_pointers else 0
        return Inputs(registers, contents | memory, fill, 2 * self._number + 1, {}, self._number + 1)

    def _value(self, argument: Argument, position: int, size: int) -> int:
        random, kind = self._random, argument.type
        if kind.kind is TypeKind.POINTER:
            return self._pointer(position, size)
        if kind.kind is TypeKind.BOOL:
            return random.getrandbits(1)
        if self._is_bounded and random.random() < 0.4:
            return BUFFERS + position * _SPACING + _ALIGNMENT * random.randrange(8)
        bits = max(1, kind.bits)
        choice = random.random()
        if self.stretch > 1 and choice < ONLY_SOME_LARGE_SHARE:
            # For nested loops, or several in sequence: not all of them can make many iterations.
            return random.randrange(4)
        if choice < 0.55 or kind.is_float or self.mostly_largest:
            value = size + random.choice((0, 0, 0, -1, 1, random.randrange(20)))
        elif choice < 0.8:
            value = random.randrange(40)
        elif choice < 0.9:
            value = -random.randrange(10)
        else:
            value = random.getrandbits(bits)
        return value & ((1 << bits) - 1)

    def _pointer(self, position: int, size: int) -> int:
        random = self._random
        if self.follows_pointers and random.random() < 0.1:
            return 0
        if self._number % 3 == 2 and random.random() < 0.5:
            position = random.choice(self._pointers)
            distance = random.choice((0, 0, 1, 2, 4, 8, 12, 16, 20, 32, size, 4 * size, 8 * size))
            return BUFFERS + position * _SPACING + distance
        return BUFFERS + position * _SPACING + 16 * random.randrange(4) + random.choice((0, 0, 0, 4, 8, 1))

    def _contents(self) -> dict[int, int]:
        """The contents of the buffers: noise, small words, or terminated text, equal in all of them up to some offset.
        All other memory is zero, so that a pointer made of noise does not lead far."""
        memory: dict[int, int] = {}
        style = self._number % 4
        random = self._random
        common = [random.randrange(1, 5) for _ in range(random.randrange(24))]
        alphabet = random.choice(self._letters) if self._letters and random.random() < LETTERS_SHARE else ()
        for position in range(len(self._contract.arguments)):
            start = BUFFERS + position * _SPACING
            if style == 1 and alphabet:
                content = (
                    bytes(random.choice(alphabet) if random.random() < LETTERS_SHARE else 1 for _ in range(80)) + b"\0"
                )
            elif style == 1:
                text = [*common, *(random.randrange(0, 4) for _ in range(random.randrange(8))), 0]
                content = bytes(1 + i % 3 for i in range(64)) + bytes(text)
            elif style == 3:
                content = b"".join(random.randrange(6).to_bytes(4, "little") for _ in range(64))
            else:
                content = random.randbytes(NOISE_BYTES)
            memory.update(enumerate(content, start))
        if self.follows_pointers:
            memory.update(enumerate(random.randbytes(BUFFERS_END - _NODES), _NODES))
        return memory

    def _put(self, contents: dict[int, int], values: Sequence[int], size: int) -> None:
        """Put the arguments into the buffers at some places: the code may search for them. If no argument is a number,
        a size."""
        kinds = [argument.type for argument in self._contract.arguments]
        pointers = [v for v, kind in zip(values, kinds, strict=True) if kind.kind is TypeKind.POINTER and v]
        words = [(v, kind.bits // 8) for v, kind in zip(values, kinds, strict=True) if kind.kind is TypeKind.INTEGER]
        near = size + 2
        if not words:
            # Then the trip count is in memory, near the start of a structure.
            words, near = [(size, 4), (size, 8)], 4
        for _ in range(self._random.randrange(1, 4) if pointers else 0):
            value, count = self._random.choice(words)
            start = self._random.choice(pointers) + count * self._random.randrange(near)
            contents.update({start + i: value >> (8 * i) & 0xFF for i in range(count)})

    @property
    def _leads_back(self) -> bool:
        return self.follows_pointers and self._number % LEADS_BACK_EVERY == 0

    # -- structures -----------------------------------------------------------------------------

    def _linked(self, inputs: Inputs) -> tuple[Inputs, Inputs]:
        """Where the target dereferences a loaded value, put pointers to further cells, and null in the last one."""
        length = self._random.randrange(_MOST_NODES)
        placed: set[int] = set()
        for _ in range(_MOST_NODES):
            outcome = self._run(inputs)
            cells = [c for c in _pointer_cells(outcome) if c not in placed and BUFFERS <= c < BUFFERS_END]
            if not cells:
                break
            memory = dict(inputs.memory)
            self.follows_pointers = True
            for cell in cells:
                placed.add(cell)
                pointer = _NODES + len(placed) * _NODE_SPACING if len(placed) <= length else 0
                if self._leads_back and len(placed) <= length:
                    words = [a for a in outcome.reads if not (a - cell) % _ALIGNMENT and not cell <= a < cell + 8]
                    pointer = self._random.choice(words or [cell])
                memory.update({cell + i: pointer >> (8 * i) & 0xFF for i in range(8)})
            inputs = replace(inputs, memory=memory)
        return inputs, replace(inputs, side_seed=inputs.side_seed + 1)

    def _run(self, inputs: Inputs) -> Outcome:
        options = RunOptions(POINTER_FUEL_STEPS, False, True, self._contract.stack_argument_bytes)
        # With noise everywhere, even a stored zero changes something.
        noisy = replace(inputs, fill_seed=inputs.fill_seed or 1)
        return run(self._question.programs[0], noisy, options, self._question.callees)


def _pointer_cells(outcome: Outcome) -> list[int]:
    """Where the run loaded eight bytes whose value is the address of something else that it accessed."""
    addresses = sorted({*outcome.reads, *outcome.writes})
    found = []
    for cell in sorted(outcome.reads):
        if any(cell + i not in outcome.reads for i in range(8)):
            continue
        value = sum(outcome.reads[cell + i] << (8 * i) for i in range(8))
        position = bisect_left(addresses, value)
        near = position < len(addresses) and addresses[position] - value < POINTEE_BYTES
        if near and value >> 12 and not BUFFERS <= value < BUFFERS_END:
            found.append(cell)
    return found
