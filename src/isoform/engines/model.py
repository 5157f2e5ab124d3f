"""From a model of the solver to inputs that separate the two functions when run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from isoform.engines.confirm import Pair, differs
from isoform.outcome import STACK_POINTER, Inputs
from isoform.question import Question
from isoform.smt.solver import Solver
from isoform.sym.entry import argument_term
from isoform.sym.execute import CallSite
from isoform.sym.state import Side

if TYPE_CHECKING:
    from isoform.engines.loopfree import Encoding

_SIDE_SEEDS = ((0, 0), (1, 2), (3, 3), (5, 6), (7, 8))
"""Garbage to try in what is each side's own (fresh frame bytes, undefined flags)."""


def inputs_from_model(question: Question, encoding: Encoding, solver: Solver) -> Pair | None:
    """Inputs that our own runner agrees separate the two; None if the model does not give any."""
    registers, memory = values_at_entry(question, encoding.target.side, solver)
    calls = _calls(encoding, solver)
    for left, right in _SIDE_SEEDS:
        pair = tuple(Inputs(registers, memory, 0, seed, calls) for seed in (left, right))
        assert len(pair) == 2
        if differs(question, pair):
            return pair
    return None


def values_at_entry(question: Question, side: Side, solver: Solver) -> tuple[dict[str, int], dict[int, int]]:
    """What a model says that registers and memory hold at entry."""
    return _registers(side, solver), _memory(question, side, solver)


def _registers(side: Side, solver: Solver) -> dict[str, int]:
    machine = side.world.machine
    skip = {*machine.initial, machine.convention.stack_pointer, machine.convention.return_address}
    return {name: solver.value(side.world.register(name)) for name in machine.containers if name not in skip}


def _calls(encoding: Encoding, solver: Solver) -> dict[tuple[str, tuple[int, ...]], int]:
    results: dict[tuple[str, tuple[int, ...]], int] = {}
    for summary in (encoding.target, encoding.rewrite):
        for site in summary.calls:
            if solver.holds(site.condition):
                result = 0 if site.result is None else solver.value(site.result)
                results.setdefault((site.callee, noted_arguments(site, solver)), result)
    return results


def noted_arguments(site: CallSite, solver: Solver) -> tuple[int, ...]:
    """The arguments of a call in a model, as a runner notes them."""
    arguments = next(noted for condition, noted in site.keys if solver.holds(condition))
    return tuple(solver.value(a) for a in arguments)


def _memory(question: Question, side: Side, solver: Solver) -> dict[int, int]:
    layout = question.contract.machine.memory
    if layout is None or layout.zeroed:
        return {}
    cells = solver.array_cells(side.terms.array_variable("memory", side.width))
    images = question.target.image, question.rewrite.image
    cells = {a: b for a, b in cells.items() if all(image.constant_bytes(a, 1) is None for image in images)}
    return {**cells, **dict(_stack_arguments(question, side, solver))}


def _stack_arguments(question: Question, side: Side, solver: Solver) -> Iterator[tuple[int, int]]:
    entry = side.initial_state()
    for argument in question.contract.arguments:
        if any(place.register is None for place in argument.places):
            value = solver.value(argument_term(entry, argument))
            for place in argument.places:
                for index in range(place.size):
                    if place.register is None:
                        yield STACK_POINTER + place.offset + index, value >> (8 * index) & 0xFF
                value >>= 8 * place.size
