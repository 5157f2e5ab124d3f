"""Which runs keep the promise that `restrict` makes.

C says which pointers are computed from a parameter by what happens if the parameter leads elsewhere, and so does this
module: it moves what each `restrict` pointer leads to far away from everything else, runs the target again, and sees
which accesses move along. If all of them are where they were, apart from that, and no byte that is written is accessed
both through such a pointer and otherwise, the run keeps the promise. If not, the inputs with everything moved are used
instead: where nothing overlaps, no promise is broken.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from isoform.borders.question import Question
from isoform.model.contract import argument_value
from isoform.model.outcome import Inputs, Outcome, Pair, Status, in_frame
from isoform.model.placement import put_argument
from isoform.run.runner import run

_FIRST, _SPACING = 0x40_0000_0000, 0x40_0000_0000
"""The places are so far apart that a 32-bit index does not lead from one to the next."""
_BANK, _LAST = 0x40 * _SPACING, 0x7F00_0000_0000
"""Other places for the same pointers, if something is there: up to the end of what programs may use."""
_OFFSET = 0xFFF
"""Bits of the address that are kept: it remains aligned as it was."""
_REACH = 1 << 16
"""Bytes on either side of the pointer that are moved with it."""

_Moves = dict[int, int]
"""By the place that a pointer is moved to: how far that is."""


def as_promised(question: Question, inputs: Pair) -> Pair:
    """The inputs, if the target keeps the promise of `restrict` on them; else with all such pointers apart."""
    if not question.contract.restricted:
        return inputs
    target = _run(question, inputs[0])
    if not (_stored(target) or target.writes or _calls(target)):
        return inputs  # nothing is modified, so that everything may overlap
    held = {**question.run_both(inputs, record=True)[1].reads, **target.reads}
    moves: _Moves = {}
    moved = _apart(question, inputs[0], held, moves), _apart(question, inputs[1], held, moves)
    if not moves:
        return inputs
    return inputs if _is_kept(target, _run(question, moved[0]), moves) else moved


def _run(question: Question, inputs: Inputs) -> Outcome:
    """The target's run, with all that it reads and writes."""
    options = replace(question.run_options(0, record=True), note_stores=True)
    return run(question.programs[0], inputs, options, question.callees)


def _calls(outcome: Outcome) -> bool:
    """Whether a run made an outside call, which may access more than is known."""
    return bool(outcome.calls or outcome.results)


def _stored(outcome: Outcome) -> set[int]:
    """The bytes outside the frame that a run wrote, whatever was there before."""
    return {a for start, size in outcome.stores for a in range(start, start + size) if not in_frame(a)}


def _apart(question: Question, inputs: Inputs, held: Mapping[int, int], moves: _Moves) -> Inputs:
    """The inputs with each `restrict` pointer, unless it is null, in a place of its own, holding what was there."""
    contract = question.contract
    registers, memory = dict(inputs.registers), dict(inputs.memory)
    known = {**held, **inputs.memory}
    for position in contract.restricted:
        argument = contract.arguments[position]
        before = argument_value(argument, inputs)
        place = _place(position, [argument_value(a, inputs) for a in contract.arguments if a is not argument])
        start = place + (before & _OFFSET)
        if before <= _OFFSET or before == start:
            continue
        near = [address for address in known if -_REACH <= address - before < _REACH]
        memory.update({start + address - before: known[address] for address in near})
        put_argument(contract.machine, argument, start, registers, memory, 0)
        moves[place] = start - before
    return replace(inputs, registers=registers, memory=memory)


def _place(position: int, others: Sequence[int]) -> int:
    """A place for the pointer in this position that no other argument leads to."""
    places = range(_FIRST + position * _SPACING, _LAST, _BANK)
    free = (place for place in places if not any(place in _near(other, [place]) for other in others))
    return next(free, places[0])


def _is_kept(target: Outcome, moved: Outcome, moves: _Moves) -> bool:
    """Whether a run of the target keeps the promise, as its run with the pointers apart shows. Where no byte that is
    written is reached in two ways, the two runs read the same and take the same path."""
    if any(outcome.status is not Status.DONE or _calls(outcome) for outcome in (target, moved)):
        return False
    accessed: dict[int, int | None] = {}
    written = {_back(address, moves)[0] for address in _stored(moved)}
    for address in (*moved.reads, *_stored(moved)):
        before, place = _back(address, moves)
        if accessed.setdefault(before, place) != place and before in written:
            return False
    return target.steps == moved.steps and accessed.keys() == {*target.reads, *_stored(target)}


def _back(address: int, moves: _Moves) -> tuple[int, int | None]:
    """Where an address was before, and the place that it is near now."""
    place = next(iter(_near(address, moves)), None)
    return (address, None) if place is None else (address - moves[place], place)


def _near(address: int, places: Iterable[int]) -> Iterable[int]:
    return (place for place in places if abs(address - place) < _SPACING // 2)
