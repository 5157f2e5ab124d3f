"""States to start from at a cut: of plain variables, to see what matters, or such that an invariant holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from isoform.borders.question import Question
from isoform.engines.loops.cuts import Cut
from isoform.engines.loops.features import TAGS, Cell, Feature
from isoform.engines.loops.invariant import Given
from isoform.engines.loops.letters import COMPARING
from isoform.engines.loops.segment import Place, start_state
from isoform.lift.function import Call, Function, Switch
from isoform.model.microop import Kind, Space
from isoform.model.outcome import FRAME_LIMIT, STACK_POINTER
from isoform.model.signature import TypeKind
from isoform.run.observe import Snapshot
from isoform.smt.terms import Term, Terms
from isoform.sym.state import BOOLEAN, Side, State

if TYPE_CHECKING:
    from isoform.engines.loops.simulation import Node, Simulation

_MOST_CONSTANTS = 24
_MOST_PARTS, _MOST_PART_BITS = 4, 6
_WORD = 4


def untouched(function: Function) -> frozenset[str]:
    machine = function.machine
    names = machine.containers
    containers = machine.container_vars()
    by_byte = {b: n for n, v in zip(names, containers, strict=True) for b in range(v.offset, v.offset + v.size)}
    written: set[str] = set()
    for block in function.blocks.values():
        for op in block.ops:
            if op.out is not None and op.out.space is Space.REGISTER:
                written.update(by_byte[b] for b in range(op.out.offset, op.out.offset + op.out.size))
        if isinstance(block.exit, Call | Switch):
            convention = machine.convention
            written.update((*convention.scratch_after_call, *convention.result, *convention.float_result))
            written.update((convention.stack_pointer,) if convention.stack_pointer else ())
    return frozenset(names) - written


def compared_constants(function: Function) -> frozenset[int]:
    """Numbers that the code compares something with, as far as they stand in it, and their neighbours."""
    found = {0, 1, -1}
    for block in function.blocks.values():
        for op in block.ops:
            if op.kind in COMPARING:
                found.update(var.offset for var in op.ins if var.space is Space.CONST and var.offset < 1 << 32)
    return frozenset(sorted(found)[:_MOST_CONSTANTS])


def parts_taken(function: Function) -> frozenset[int]:
    """Numbers of low bits that the code sets apart, by masks and shifts: of a count, what is left over when loops take
    several at a time."""
    found: set[int] = set()
    for block in function.blocks.values():
        for op in block.ops:
            for var in op.ins:
                if var.space is Space.CONST and op.kind is Kind.INT_AND and var.offset:
                    mask = var.offset
                    found.add((mask & -mask).bit_length() - 1)
                    found.add(mask.bit_length() if mask & (mask + 1) == 0 else 0)
                elif var.space is Space.CONST and op.kind is Kind.INT_RIGHT:
                    found.add(var.offset)
    return frozenset(sorted(bits for bits in found if 1 <= bits <= _MOST_PART_BITS)[:_MOST_PARTS])


def extends_signs(function: Function) -> bool:
    """Whether the code makes words wider by their sign: only then does it help to know which are not negative."""
    ops = (op for block in function.blocks.values() for op in block.ops)
    return any(op.kind is Kind.INT_SEXT and op.ins[0].size >= _WORD for op in ops)


def given_at_entry(question: Question) -> Given:
    """The arguments and what else is carried along from the entry on."""
    contract = question.contract
    machine = contract.machine
    convention = machine.convention
    pointer = None
    if convention.stack_pointer is not None:
        pointer = Feature("", convention.stack_pointer, 0, 8 * machine.registers[convention.stack_pointer].size)
    arguments, kept = [], []
    low = sorted({bits for function in (question.target, question.rewrite) for bits in parts_taken(function)})
    for argument in contract.arguments:
        for place in argument.places:
            if place.register is None:
                whole = Feature("", place.offset, 0, 64)
            else:
                whole = Feature("", place.register, 0, 8 * machine.registers[place.register].size)
            kept.append(whole)
            if whole.bits > 64 or place.size > 8 or (place.register is not None and argument.type.is_float):
                continue
            arguments.append(Feature("", whole.place, 0, 8 * place.size))
            if argument.type.kind is not TypeKind.POINTER:
                arguments += [Feature("", whole.place, 0, bits) for bits in low]
    kept += [Feature("", name, 0, 8 * machine.registers[name].size) for name in convention.callee_saved]
    if convention.return_address_on_stack:
        kept.append(Feature("", 0, 0, 64))
    return Given(pointer, tuple(dict.fromkeys(kept)), tuple(dict.fromkeys(arguments)))


class Plain:
    """A start state of plain variables, in which only addresses of the frame are known as such."""

    def __init__(
        self, simulation: Simulation, cut: Cut, observed: Sequence[tuple[Snapshot, Snapshot, Snapshot]]
    ) -> None:
        self._simulation = simulation
        self._cut = cut
        self.pinned: list[Feature] = []
        """Places that matter and hold an address of the frame."""
        self._observed = observed
        self.widths: dict[Term, int] = {}
        self.places: dict[Term, tuple[str, Place]] = {}
        self._found: dict[tuple[str, Place], Term] = {}

    def state(self, side: Side) -> State:
        return start_state(side, lambda place: self._known(side, place), self._simulation.memory.here(side))

    def value(self, feature: Feature) -> Term:
        """A feature of a place that was read."""
        if not feature.tag:
            return self._simulation.given_value(feature)
        whole = self._found[feature.tag, feature.place]
        return self._simulation.terms.extract(whole, feature.low + feature.bits - 1, feature.low)

    def _known(self, side: Side, place: Place) -> Term:
        key = side.tag, place
        if key not in self._found:
            self._found[key] = self._new(side, place)
        return self._found[key]

    def _new(self, side: Side, place: Place) -> Term:
        machine, terms = self._simulation.machine, side.terms
        if place in self._simulation.untouched[TAGS.index(side.tag)]:
            return side.world.register(str(place))
        bits = 64 if isinstance(place, int) else 8 * machine.registers[place].size
        feature = Feature(side.tag, place, 0, bits)
        pointer = self._simulation.given.pointer
        if pointer is not None and pointer.bits == bits:
            distance = self._distance(feature)
            if distance is not None:
                if isinstance(place, int) or self._simulation.is_live(self._cut, feature):
                    self.pinned.append(feature)
                return terms.add(self._simulation.given_value(pointer), terms.bv(distance, bits))
        variable = terms.variable(f"{side.tag}.{place}", bits)
        self.widths[variable] = bits
        self.places[variable] = side.tag, place
        return _as_flag(terms, variable) if place in BOOLEAN else variable

    def _distance(self, feature: Feature) -> int | None:
        machine = self._simulation.machine
        index = TAGS.index(feature.tag) + 1
        values = {feature.of_snapshot(observed[index], machine) for observed in self._observed}
        if len(values) != 1:
            return None
        distance = values.pop() - STACK_POINTER
        return distance if -FRAME_LIMIT <= distance < 4096 else None


class Known:
    """A start state in which an invariant holds: what it defines is written out, what it leaves is a variable."""

    def __init__(self, simulation: Simulation, node: Node) -> None:
        self._simulation = simulation
        self._node = node
        self._values: dict[Feature, Term] = {}
        self._by_place: dict[tuple[str, Place], list[Feature]] = {}
        for feature in node.features:
            self._by_place.setdefault((feature.tag, feature.place), []).append(feature)

    def state(self, side: Side) -> State:
        state = start_state(side, lambda place: self._known(side, place), self._simulation.memory.here(side))
        state.holds_addresses = self._node.holds_addresses[TAGS.index(side.tag)]
        return state

    def value(self, feature: Feature) -> Term:
        if not feature.tag:
            return self._simulation.given_value(feature)
        if isinstance(feature, Cell):
            return self._simulation.cell_here(feature, self.value)
        found = self._values.get(feature)
        if found is None:
            invariant, terms = self._node.invariant, self._simulation.terms
            if feature in invariant.definitions:
                found = invariant.value_of(terms, feature, self.value)
            elif feature in invariant.not_negative:
                found = terms.zext(terms.variable(f"{feature_name(feature)}.low", feature.bits - 1), feature.bits)
            else:
                found = terms.variable(feature_name(feature), feature.bits)
                if feature in invariant.measured:
                    # Any value is at some distance from any other: nothing is assumed by this.
                    found = terms.add(self.value(invariant.measured[feature]), found)
            self._values[feature] = found
        return found

    def _known(self, side: Side, place: Place) -> Term:
        """A whole register or slot: its features, and variables for the bits that do not matter."""
        machine, terms = self._simulation.machine, side.terms
        if place in self._simulation.untouched[TAGS.index(side.tag)]:
            return side.world.register(str(place))
        width = 64 if isinstance(place, int) else 8 * machine.registers[place].size
        if place in BOOLEAN:
            features = self._by_place.get((side.tag, place))
            return _as_flag(terms, self.value(features[0]) if features else self._unused(side, place, 0, 1))
        whole: Term | None = None
        position = 0
        for feature in [*self._by_place.get((side.tag, place), ()), None]:
            low = feature.low if feature is not None else width
            if low > position:
                unused = self._unused(side, place, position, low)
                whole = unused if whole is None else terms.concat(unused, whole)
            if feature is not None:
                value = self.value(feature)
                whole = value if whole is None else terms.concat(value, whole)
                position = feature.low + feature.bits
        assert whole is not None
        return whole

    def _unused(self, side: Side, place: Place, low: int, end: int) -> Term:
        variable = side.terms.variable(f"{side.tag}.{place}.unused.{low}.{end}", end - low)
        if (side.tag, place) in self._node.suspects:
            side.suspect(variable)
        return variable


def feature_name(feature: Feature) -> str:
    return f"{feature.tag}.{feature.place}.{feature.low}.{feature.bits}"


def _as_flag(terms: Terms, variable: Term) -> Term:
    return terms.flag(terms.eq(terms.extract(variable, 0, 0), terms.bv(1, 1)))
