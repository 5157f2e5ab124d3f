"""Whether a difference rests on where runs have the stack pointer at entry: at one place, whatever the machine."""

from __future__ import annotations

from dataclasses import replace

from isoform.borders.question import Question
from isoform.model.outcome import STACK_POINTER, Inputs, Pair


def differs_aligned(question: Question, inputs: Pair) -> bool:
    """Whether the two differ with the stack pointer aligned as the convention says."""
    convention = question.contract.machine.convention
    rest = (STACK_POINTER + convention.stack_arguments_offset) % convention.stack_alignment
    if convention.stack_pointer is None or not rest:
        return True
    left, right = (_with_stack_at(question, side, STACK_POINTER - rest) for side in inputs)
    return question.differ(*question.run_both((left, right)))


def _with_stack_at(question: Question, inputs: Inputs, pointer: int) -> Inputs:
    convention = question.contract.machine.convention
    assert convention.stack_pointer is not None
    first, size = STACK_POINTER + convention.stack_arguments_offset, question.contract.stack_argument_bytes
    passed = {pointer - STACK_POINTER + a: inputs.byte(a) for a in range(first, first + size)}
    registers = {**inputs.registers, convention.stack_pointer: pointer}
    return replace(inputs, registers=registers, memory={**inputs.memory, **passed})
