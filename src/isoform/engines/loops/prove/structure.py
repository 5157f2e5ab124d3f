"""What formulas cannot express about a cut: that addresses of a frame, and of objects private to each side, stay known
as such. A loop that does not keep that is refused."""

from __future__ import annotations

from isoform.engines.loops.align.cuts import Edge
from isoform.engines.loops.guess.facts import AtEntry, ConstantFact, Linear, OnStack, Same
from isoform.engines.loops.guess.features import TAGS, Feature, ObjectStart
from isoform.engines.loops.prove.node import KnownCut
from isoform.engines.loops.prove.simulation import Simulation
from isoform.engines.loops.segment import Place
from isoform.lift.function import Call, Function, Switch
from isoform.model.errors import Unsupported
from isoform.smt.terms import Term
from isoform.sym.frame import SLOT_BYTES
from isoform.sym.side import Side
from isoform.sym.state import State


class Structure:
    """Checks the states in which edges of one simulation end."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self._machine = simulation.setting.machine
        self._calls_by_address = any(_calls_by_address(f) for f in simulation.setting.functions)

    def check(self, edge: Edge, arrived: tuple[State, State]) -> None:
        """Refuse what is not known enough. A new requirement at the cut changes its version."""
        node = self._simulation.nodes[edge.to]
        for state in arrived:
            if state.escaped:
                raise Unsupported("an address of the stack frame is in memory while a loop runs")
            if state.frame.is_indexed:
                raise Unsupported("an array on the stack is indexed while a loop runs")
            self._note_addresses(node, state)
            for feature in (f for f in node.features if f.tag == state.side.tag):
                self._check_feature(node, feature, state)
            self._suspect(edge, state)

    def _note_addresses(self, node: KnownCut, state: State) -> None:
        side = TAGS.index(state.side.tag)
        if state.holds_addresses and not node.holds_addresses[side]:
            flags = list(node.holds_addresses)
            flags[side] = True
            node.holds_addresses = flags[0], flags[1]
            node.version += 1

    def _check_feature(self, node: KnownCut, feature: Feature, state: State) -> None:
        term = feature.of_state(state)
        if state.side.mentions_stack(term) and not _is_on_stack(node, feature):
            raise Unsupported(f"{feature.text(self._machine)} is an address of the stack frame, and a loop moves it")
        if not _is_written_out(node, feature) and not _is_at_entry(node, feature):
            state.side.refuse_open(term)
        if self._is_own_address(state.side, term) and not _is_written_out(node, feature):
            raise Unsupported(
                f"{feature.text(self._machine)} is an address of code or of constants that differ between the sides, "
                "and a loop carries it"
            )

    def _suspect(self, edge: Edge, state: State) -> None:
        """What is no feature is an unknown at a cut, and an unknown is assumed to be no address of the frame. Edges
        that were added after features were found, or memory that is no output, may make it live nevertheless."""
        nodes, tag = self._simulation.nodes, state.side.tag
        node = nodes[edge.to]
        slots = state.frame.written_slots()
        if edge.source in nodes:
            source = nodes[edge.source]
            slots |= {f.place for f in source.features if f.tag == tag and isinstance(f.place, int)}
            slots |= {place for side, place in source.suspects if side == tag and isinstance(place, int)}
        containers = enumerate(self._machine.containers)
        values: dict[Place, Term] = {name: state.container(index) for index, name in containers}
        values |= {slot: state.frame.load(slot, SLOT_BYTES) for slot in slots}
        known = {f.place for f in node.features if f.tag == tag and _is_on_stack(node, f)}
        mentioned = {(tag, p) for p, value in values.items() if p not in known and state.side.mentions_stack(value)}
        if not mentioned <= node.suspects:
            node.suspects |= mentioned
            node.version += 1

    def _is_own_address(self, side: Side, term: Term) -> bool:
        """Whether a value may be the address of something private to each side: then the contents are not shared,
        though the address is. If nothing is called or jumped to by its address, code is no such thing."""
        if side.differing.is_reached_by(term):
            return True
        if not self._calls_by_address:
            return False
        image = side.image
        return any(number in image.aliases or image.code_at(number) for number in side.terms.constants_in(term))


def _is_on_stack(node: KnownCut, feature: Feature) -> bool:
    """Whether the cut's state has the feature as an address of the frame."""
    fact = node.invariant.definitions.get(feature, (None, None))[0]
    if isinstance(fact, Same):
        return _is_on_stack(node, fact.right)
    return isinstance(fact, OnStack)


def _is_at_entry(node: KnownCut, feature: Feature) -> bool:
    """Whether the cut's state expresses a feature as what an input holds at entry."""
    fact = node.invariant.definitions.get(feature, (None, None))[0]
    return not feature.tag or (isinstance(fact, Same) and _is_at_entry(node, fact.right))


def _is_written_out(node: KnownCut, feature: Feature) -> bool:
    """Whether the cut's state expresses a feature with all its constants."""
    if isinstance(feature, ObjectStart):
        return True
    fact = node.invariant.definitions.get(feature, (None, None))[0]
    if isinstance(fact, Same):
        return _is_written_out(node, fact.right)
    if isinstance(fact, Linear):
        return all(isinstance(f, ObjectStart) for f in fact.features() if f != feature)
    return isinstance(fact, ConstantFact | AtEntry)


def _calls_by_address(function: Function) -> bool:
    """Whether it calls or jumps to an address that it computes, on a machine where that may be a call."""
    exits = [block.exit for block in function.blocks.values()]
    computed = any(isinstance(e, Switch) or (isinstance(e, Call) and e.callee is None) for e in exits)
    return computed and function.machine.convention.stack_pointer is not None
