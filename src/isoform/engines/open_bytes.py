"""Undefined values in runs: what a frame holds before it is written, and registers that hold no argument."""

from __future__ import annotations

from dataclasses import replace

from isoform.borders.question import Question
from isoform.model.outcome import CallRecord, Inputs, Outcome, Pair

OPEN_BYTES = (0, 1, 0xA5, 0xFF)
"""What every byte of undefined values may be, the same on both sides, in a run that refutes something."""
_WORD_BYTES = 8


def with_open_bytes(question: Question, inputs: Inputs, byte: int) -> Inputs:
    """The inputs in which everything undefined consists of `byte`, including registers that hold no argument and need
    not be preserved: code that makes room by pushing one leaves its value in a local."""
    machine, convention = question.contract.machine, question.contract.machine.convention
    arguments = {place.register for argument in question.contract.arguments for place in argument.places}
    scratch = {*convention.integer_arguments, *convention.scratch_after_call, *convention.result[:1]} - arguments
    sizes = {name: machine.registers[name].size for name in scratch if name is not None}
    open_ = {
        name: int.from_bytes(bytes([byte]) * size, "little") for name, size in sizes.items() if size == _WORD_BYTES
    }
    return replace(inputs, side_seed=-byte, registers={**inputs.registers, **open_})


def rests_on_open_arguments(question: Question, inputs: Pair) -> bool:
    """Whether the first outside call in which the two differ has the same arguments but for bits that are undefined on
    one side: the padding of a structure that a callee without a declaration is given. The callee does not read them,
    and what comes after that call is the same if it returns the same."""
    outcomes = question.run_both(inputs)
    pairs = list(zip(outcomes[0].calls, outcomes[1].calls, strict=False))
    place = next((number for number, (one, other) in enumerate(pairs) if one != other), None)
    if place is None:
        return False
    one, other = pairs[place]
    if one.callee != other.callee or len(one.arguments) != len(other.arguments) or one.sees != other.sees:
        return False
    unequal = [a ^ b for a, b in zip(one.arguments, other.arguments, strict=True)]
    for byte in OPEN_BYTES:
        left, right = (with_open_bytes(question, side, byte) for side in inputs)
        varied = question.run_both((left, right))
        for record, outcome in zip((one, other), varied, strict=True):
            unequal = _without(unequal, record, outcome, place)
    return not any(unequal)


def _without(unequal: list[int], record: CallRecord, outcome: Outcome, place: int) -> list[int]:
    """The unequal bits, without those that change with the undefined values of one side."""
    again = outcome.calls[place] if place < len(outcome.calls) else None
    if again is None or again.callee != record.callee or len(again.arguments) != len(record.arguments):
        return unequal
    varying = (a ^ b for a, b in zip(record.arguments, again.arguments, strict=True))
    return [bits & ~open_ for bits, open_ in zip(unequal, varying, strict=True)]
