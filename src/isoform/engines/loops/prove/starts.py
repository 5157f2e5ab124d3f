"""States to start from at a cut: of plain variables, to see what is live, or such that an invariant holds."""

from __future__ import annotations

from collections.abc import Sequence

from isoform.engines.loops.align.cuts import Cut
from isoform.engines.loops.guess.features import TAGS, Cell, Feature
from isoform.engines.loops.prove.node import KnownCut
from isoform.engines.loops.prove.setting import Observed, Setting
from isoform.engines.loops.segment import Place, start_state
from isoform.model.outcome import FRAME_LIMIT, STACK_POINTER
from isoform.smt.terms import Term, Terms
from isoform.sym.side import Side
from isoform.sym.state import State


class Plain:
    """A start state of plain variables, in which only addresses of the frame are known as such."""

    def __init__(self, setting: Setting, cut: Cut, observed: Sequence[Observed]) -> None:
        self._setting = setting
        self._cut = cut
        self.pinned: list[Feature] = []
        """Live places that hold an address of the frame."""
        self._observed = observed
        self.widths: dict[Term, int] = {}
        self.places: dict[Term, tuple[str, Place]] = {}
        self._found: dict[tuple[str, Place], Term] = {}

    def state(self, side: Side) -> State:
        return start_state(side, lambda place: self._known(side, place), self._setting.memory.here(side))

    def value(self, feature: Feature) -> Term:
        """A feature of a place that was read."""
        if not feature.tag:
            return self._setting.given_value(feature)
        whole = self._found[feature.tag, feature.place]
        return self._setting.terms.extract(whole, feature.low + feature.bits - 1, feature.low)

    def _known(self, side: Side, place: Place) -> Term:
        key = side.tag, place
        if key not in self._found:
            self._found[key] = self._new(side, place)
        return self._found[key]

    def _new(self, side: Side, place: Place) -> Term:
        machine, terms = self._setting.machine, side.terms
        if place in self._setting.untouched[TAGS.index(side.tag)]:
            return side.entry.register(str(place))
        bits = 64 if isinstance(place, int) else 8 * machine.registers[place].size
        feature = Feature(side.tag, place, 0, bits)
        pointer = self._setting.given.pointer
        if pointer is not None and pointer.bits == bits:
            distance = self._distance(feature)
            if distance is not None:
                if isinstance(place, int) or self._setting.is_live(self._cut, feature):
                    self.pinned.append(feature)
                return terms.add(self._setting.given_value(pointer), terms.bv(distance, bits))
        variable = terms.variable(f"{side.tag}.{place}", bits)
        self.widths[variable] = bits
        self.places[variable] = side.tag, place
        return _as_flag(terms, variable) if place in machine.boolean else variable

    def _distance(self, feature: Feature) -> int | None:
        machine = self._setting.machine
        index = TAGS.index(feature.tag) + 1
        values = {feature.of_snapshot(observed[index], machine) for observed in self._observed}
        if len(values) != 1:
            return None
        distance = values.pop() - STACK_POINTER
        return distance if -FRAME_LIMIT <= distance < 4096 else None


class Known:
    """A start state in which an invariant holds: defined features are expressed by their definitions, the others are
    variables."""

    def __init__(self, setting: Setting, node: KnownCut) -> None:
        self._setting = setting
        self._node = node
        self._values: dict[Feature, Term] = {}
        self._by_place: dict[tuple[str, Place], list[Feature]] = {}
        for feature in node.features:
            self._by_place.setdefault((feature.tag, feature.place), []).append(feature)

    def state(self, side: Side) -> State:
        state = start_state(side, lambda place: self._known(side, place), self._setting.memory.here(side))
        state.holds_addresses = self._node.holds_addresses[TAGS.index(side.tag)]
        return state

    def value(self, feature: Feature) -> Term:
        if not feature.tag:
            return self._setting.given_value(feature)
        if isinstance(feature, Cell):
            return self._setting.cell_here(feature, self.value)
        found = self._values.get(feature)
        if found is None:
            invariant, terms = self._node.invariant, self._setting.terms
            if feature in invariant.definitions:
                found = invariant.value_of(terms, feature, self.value)
            elif feature in invariant.not_negative:
                found = terms.zext(terms.variable(f"{feature_name(feature)}.low", feature.bits - 1), feature.bits)
            else:
                found = terms.variable(feature_name(feature), feature.bits)
                if feature in invariant.measured:
                    # Any value is at some distance from any other: this assumes nothing.
                    found = terms.add(self.value(invariant.measured[feature]), found)
            self._values[feature] = found
        return found

    def _known(self, side: Side, place: Place) -> Term:
        """A whole register or slot: its features, and variables for the bits that are dead."""
        machine, terms = self._setting.machine, side.terms
        if place in self._setting.untouched[TAGS.index(side.tag)]:
            return side.entry.register(str(place))
        width = 64 if isinstance(place, int) else 8 * machine.registers[place].size
        if place in machine.boolean:
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
