"""What stays the same while a candidate is proved: the two functions, their inputs, and what tests showed at the
cuts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from isoform.borders.question import Question
from isoform.engines.loops.align.cuts import Alignment, Cut
from isoform.engines.loops.guess.features import TAGS, Cell, Feature
from isoform.engines.loops.guess.objects import ObjectStarts
from isoform.engines.loops.observe.letters import letters
from isoform.engines.loops.observe.stations import Stations
from isoform.engines.loops.observe.traces import Traces
from isoform.engines.loops.prove.given import compared_constants, extends_signs, given_at_entry, untouched
from isoform.engines.loops.prove.memory import SharedMemory
from isoform.lift.function import Function, outside_call
from isoform.lift.liveness import Liveness, output_containers
from isoform.model.contract import MemoryRule
from isoform.run.observe import Snapshot
from isoform.smt.terms import Term, Terms
from isoform.sym.chain import Base
from isoform.sym.entry import constrain_entry
from isoform.sym.places import distance_name
from isoform.sym.recursion import calls_itself
from isoform.sym.side import Side
from isoform.sym.state import initial_state
from isoform.sym.world import World

Observed = tuple[Snapshot, Snapshot, Snapshot]
"""At entry, and of each side at a cut."""


class Setting:
    def __init__(self, question: Question, alignment: Alignment, tests: Sequence[Traces], stations: Stations) -> None:
        self.question = question
        self.stations = stations
        self.functions: tuple[Function, Function] = question.target, question.rewrite
        self.machine = question.contract.machine
        self.terms = Terms()
        self.world = World(self.terms, question.contract, recursive=calls_itself(question.target, question.rewrite))
        sides = [Side(self.world, f.image, tag) for f, tag in zip(self.functions, TAGS, strict=True)]
        self.sides = sides[0], sides[1]
        self.entry = initial_state(sides[0])
        constrain_entry(self.world, self.entry)
        self.given = given_at_entry(question)
        self.objects = ObjectStarts(self.functions)
        self.untouched = tuple(untouched(f) for f in self.functions)
        """Registers that a side never writes: everywhere they hold their values at entry."""
        self.constants = frozenset(number for f in self.functions for number in compared_constants(f))
        self.letters = tuple(sorted({letter for f in self.functions for letter in letters(f)}))
        self.extends_signs = any(extends_signs(f) for f in self.functions)
        self.observed = _observed(alignment, tests)
        outputs = output_containers(self.machine, [r.register for r in question.contract.results])
        self._liveness = tuple(Liveness(f, outputs) for f in self.functions)
        self.memory = SharedMemory(self.sides, self._shares_memory())
        self.code = self._return_addresses()

    def given_value(self, feature: Feature) -> Term:
        return feature.of_state(self.entry)

    def is_live(self, cut: Cut, feature: Feature) -> bool:
        index = TAGS.index(feature.tag)
        block = (cut.target, cut.rewrite)[index]
        assert block is not None
        live = self._liveness[index]
        return bool(live.entry[block] & live.mask(self.machine.registers[str(feature.place)]))

    def cell_here(self, cell: Cell, value: Callable[[Feature], Term]) -> Term:
        """The contents of memory at a cut at an address that is a sum of features there."""
        side = self.sides[TAGS.index(cell.tag)]
        memory = self.memory.here(side)
        address = cell.at(self.terms, value, side.width)
        return side.heap.load(Base(lambda: memory, side.constant_byte), address, cell.bits // 8)

    def _shares_memory(self) -> bool:
        """Whether memory is claimed to be the same on both sides at every cut. The effects of outside calls show only
        in the memory that they leave. If memory is no output, tests decide whether to claim it."""
        if self.question.contract.memory is MemoryRule.COMPARE or self._calls():
            return True
        return all(left.changes == right.changes for seen in self.observed.values() for _, left, right in seen)

    def _return_addresses(self) -> dict[tuple[str, int], str]:
        """Where inlined calls return to, with the name of the unknown that each contains."""
        found: dict[tuple[str, int], str] = {}
        for side, function in zip(self.sides, self.functions, strict=True):
            for number in {number for block in function.blocks for number in block.context}:
                side.code_address(number, side.width)  # so that it is known to be one at a cut
                found[side.tag, number] = distance_name(side.image, side.machine, side.tag, number)
        return found

    def _calls(self) -> bool:
        return any(outside_call(b.exit) is not None for f in self.functions for b in f.blocks.values())


def _observed(alignment: Alignment, tests: Sequence[Traces]) -> dict[Cut, list[Observed]]:
    """What the tests showed at each cut."""
    found: dict[Cut, list[Observed]] = {cut: [] for cut in alignment.cuts}
    for test, matched in zip(tests, alignment.matched, strict=True):
        for one in (test, *test.alike):
            for cut, i, j in matched:
                found[cut].append((one.target[0], one.target[i], one.rewrite[j]))
    return found
