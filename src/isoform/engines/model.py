"""From a model of the solver to inputs that separate the two functions when run."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from isoform.borders.library import is_library, may_return
from isoform.borders.question import Question
from isoform.engines.separate import differs
from isoform.model.outcome import FRAME_LIMIT, STACK_POINTER, CallEffect, CallKey, Inputs, Pair
from isoform.smt.solver import Solver
from isoform.sym.frame import SLOT_BYTES
from isoform.sym.side import LIBRARY_STATE, Side
from isoform.sym.state import initial_state
from isoform.sym.summary import CallSite
from isoform.sym.validity import HIGHEST_ADDRESS, LOWEST_ADDRESS

if TYPE_CHECKING:
    from isoform.engines.encoding import Encoding

_SIDE_SEEDS = ((0, 0), (1, 2), (3, 3), (5, 6), (7, 8))
"""Garbage to try in what differs between the sides (fresh frame bytes, undefined flags)."""
MOST_CELLS = 256
"""Bytes that one outside call may write in a run."""


def inputs_from_model(question: Question, encoding: Encoding, solver: Solver) -> Pair | None:
    """Inputs that separate the two on our own runner; None if the model gives none."""
    return next((pair for pair in pairs_from_model(question, encoding, solver) if differs(question, pair)), None)


def pairs_from_model(question: Question, encoding: Encoding, solver: Solver) -> Iterator[Pair]:
    """The inputs of a model, with different garbage in what differs between the sides."""
    registers, memory = values_at_entry(question, encoding.target.side, solver)
    # If the histories of the two differ, the effects of the next call may differ too; that they differ is then enough.
    made = [*encoding.rewrite.calls, *encoding.target.calls]
    for known in (frozenset(), _cells(made, solver) | frozenset(memory)):
        calls = {
            **call_effects(question, encoding.rewrite.calls, solver, known),
            **call_effects(question, encoding.target.calls, solver, known),
        }
        for left, right in _SIDE_SEEDS:
            yield Inputs(registers, memory, 0, left, calls), Inputs(registers, memory, 0, right, calls)
        if all(site.memory is None for site in made):
            return


def _cells(sites: Iterable[CallSite], solver: Solver) -> frozenset[int]:
    """Addresses that a model sets apart in memory after any call."""
    arrays = (site.memory for site in sites if solver.holds(site.condition))
    return frozenset(address for array in arrays if array is not None for address in solver.array_cells(array))


def values_at_entry(question: Question, side: Side, solver: Solver) -> tuple[dict[str, int], dict[int, int]]:
    """The contents of registers and memory at entry in a model."""
    return _registers(side, solver), _memory(question, side, solver)


def _registers(side: Side, solver: Solver) -> dict[str, int]:
    machine = side.machine
    skip = {*machine.initial, machine.convention.stack_pointer, machine.convention.return_address}
    return {name: solver.value(side.entry.register(name)) for name in machine.containers if name not in skip}


def call_effects(
    question: Question, sites: Iterable[CallSite], solver: Solver, known: Collection[int] = ()
) -> dict[CallKey, CallEffect]:
    """The effects of the calls that one side makes in a model. Sites are in an order in which every path makes its
    calls. At the addresses `known`, a call also writes the byte that the model has in all cells that it does not set
    apart: in a model, a call may change all of memory."""
    found: dict[CallKey, CallEffect] = {}
    number = 0
    last: CallSite | None = None
    for site in sites:
        if not solver.holds(site.condition):
            continue
        arguments = noted_arguments(site, solver)
        if last is not None and _is_repeated(question, last, site, solver):
            continue
        last = site if not site.pure else last
        registers = {register: solver.value(value) for register, value in site.results}
        if site.pure:
            found.setdefault(CallKey(site.callee, arguments, None), CallEffect(registers))
            continue
        key = CallKey(site.callee, arguments, number)
        number += 1
        if not is_library((question.target, question.rewrite), site.callee):
            found[key] = CallEffect(registers, _written(question, site, solver, known))
        elif may_return(site.callee, arguments, next(iter(registers.values()), 0)):
            # The effect of a library function on memory is not for the solver to choose.
            found[key] = CallEffect(registers)
    return found


def _is_repeated(question: Question, last: CallSite, site: CallSite, solver: Solver) -> bool:
    """Whether a call of an idempotent function is the one before once more: a run does not record that."""
    if site.callee != last.callee or not question.callees(site.callee).is_idempotent:
        return False
    if site.memory is None or last.memory is None or noted_arguments(site, solver) != noted_arguments(last, solver):
        return False
    now, before = ((solver.array_cells(m), solver.array_elsewhere(m)) for m in (site.memory, last.memory))
    return now == before


def _written(question: Question, site: CallSite, solver: Solver, known: Collection[int]) -> dict[int, int]:
    if site.memory is None:
        return {}
    cells = solver.array_cells(site.memory)
    elsewhere = solver.array_elsewhere(site.memory) if known else None
    if elsewhere is not None:
        cells = {**dict.fromkeys(sorted(known), elsewhere), **cells}
    return {a: b for a, b in islice(cells.items(), MOST_CELLS) if _may_be_written(question, a)}


def _may_be_written(question: Question, address: int) -> bool:
    """Whether an outside function may write there: not to frames, nor to memory that programs do not own."""
    if not LOWEST_ADDRESS <= address < HIGHEST_ADDRESS or address >= STACK_POINTER - FRAME_LIMIT:
        return False
    images = question.target.image, question.rewrite.image
    sections = [image.section_at(image.own_address(address)) for image in images]
    return all(section is None or section.writable for section in sections)


def noted_arguments(site: CallSite, solver: Solver) -> tuple[int, ...]:
    """The arguments of a call in a model, as a runner records them."""
    arguments = next(noted for condition, noted in site.keys if solver.holds(condition))
    return tuple(solver.value(a) for a in arguments)


def _memory(question: Question, side: Side, solver: Solver) -> dict[int, int]:
    layout = question.contract.machine.memory
    if layout is None or layout.zeroed:
        return {}
    cells = solver.array_cells(side.terms.array_variable("memory", side.width))
    images = question.target.image, question.rewrite.image
    end = (1 << side.width) - LIBRARY_STATE
    cells = {a: b for a, b in cells.items() if a < end and all(image.constant_bytes(a, 1) is None for image in images)}
    return {**cells, **dict(_stack_arguments(question, side, solver))}


def _stack_arguments(question: Question, side: Side, solver: Solver) -> Iterator[tuple[int, int]]:
    """Arguments on the stack, each with the rest of its last word."""
    entry = initial_state(side)
    places = [place for argument in question.contract.arguments for place in argument.places]
    for place in places:
        if place.register is None:
            for offset in range(place.offset, place.offset + -(-place.size // SLOT_BYTES) * SLOT_BYTES):
                yield STACK_POINTER + offset, solver.value(entry.frame.load(offset, 1))
