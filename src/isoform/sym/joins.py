"""Where paths join: one state that stands for all that arrive."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from isoform.lift.function import BlockId
from isoform.smt.terms import Term, Terms
from isoform.sym.giving import give_alike
from isoform.sym.state import State
from isoform.sym.step import Temps

_Key = tuple[int, int]
"""Layer and position of a block in the order."""


class Joins:
    """States that wait at blocks, each block taken after all that lead to it in its layer."""

    def __init__(self, terms: Terms, order: Sequence[BlockId]) -> None:
        self._terms = terms
        self._order = order
        self._positions = {block: index for index, block in enumerate(order)}
        self._waiting: dict[_Key, list[tuple[State, Temps]]] = {}
        self._queue: list[_Key] = []

    def __bool__(self) -> bool:
        return bool(self._queue)

    def arrive(self, target: BlockId, state: State, temps: Temps, layer: int) -> None:
        if state.condition == self._terms.false:
            return
        key = (layer, self._positions[target])
        if key not in self._waiting:
            self._waiting[key] = []
            heapq.heappush(self._queue, key)
        self._waiting[key].append((state, temps))

    @property
    def next_layer(self) -> int:
        return self._queue[0][0]

    @property
    def next_block(self) -> BlockId:
        return self._order[self._queue[0][1]]

    def conditions(self, layer: int) -> list[Term]:
        """The condition of everything pending in a layer."""
        return [s.condition for key, arrivals in self._waiting.items() if key[0] == layer for s, _ in arrivals]

    def take(self) -> tuple[BlockId, State, Temps]:
        """The next block, with its pending states merged into one."""
        key = heapq.heappop(self._queue)
        state, temps = self._merge(self._waiting.pop(key))
        return self._order[key[1]], state, temps

    def _merge(self, arrivals: list[tuple[State, Temps]]) -> tuple[State, Temps]:
        state, temps = arrivals[0]
        for other, other_temps in arrivals[1:]:
            selector = self._terms.selector(state.condition, other.condition)
            state = join(selector, state, other)
            temps = _join_temps(self._terms, selector, temps, other_temps)
        return state, temps


def join(selector: Term, state: State, other: State) -> State:
    """`state` where `selector` holds, else `other`."""
    side, terms = state.side, state.side.terms
    if state.given or other.given:
        give_alike(state, other)
    registers = {
        index: terms.ite(selector, state.container(index), other.container(index))
        for index in state.registers.keys() | other.registers.keys()
    }
    return State(
        side,
        registers,
        state.frame.joined(selector, other.frame),
        side.heap.join(selector, state.heap, other.heap),
        terms.disj(state.condition, other.condition),
        state.escaped or other.escaped,
        state.holds_addresses or other.holds_addresses,
        state.given,
    )


def _join_temps(terms: Terms, selector: Term, temps: Temps, other: Temps) -> Temps:
    """A temporary that only one of two paths set is not read on the other."""
    joined = {**temps, **other}
    for number in temps.keys() & other.keys():
        if terms.width(temps[number]) == terms.width(other[number]):
            joined[number] = terms.ite(selector, temps[number], other[number])
    return joined
