"""One side of a contract: its machine, and where that machine's ABI puts what the contract refers to.

Inputs are those of the target, in its own places: parameters, memory, and the registers that it finds. A rewrite for
the same machine finds the same. A rewrite for another machine finds the parameters where its own ABI puts them, the
same memory, and values of its own in everything else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from isoform.model.contract import Argument, Result, argument_value
from isoform.model.machine import Machine
from isoform.model.outcome import RETURN_ADDRESS, STACK_POINTER, Inputs, Outcome, Status
from isoform.model.placement import put_argument
from isoform.model.values import dataclass


@dataclass(frozen=True)
class Abi:
    """A signature on a machine."""

    machine: Machine
    arguments: tuple[Argument, ...]
    results: tuple[Result, ...]
    """The bits of the declared type: those that are compared with the other machine's."""
    stack_argument_bytes: int = 0
    result_space: int = 0
    extended_bits: int = 0
    """The width to which the convention extends the result in its register; 0 if it does not."""
    extends_sign: bool = False

    @property
    def kept(self) -> tuple[str, ...]:
        """The registers that a function must restore."""
        convention = self.machine.convention
        return (*convention.callee_saved, *((convention.stack_pointer,) if convention.stack_pointer else ()))


def mapped_inputs(inputs: Inputs, target: Abi, own: Abi) -> Inputs:
    """The inputs of a target as a side for another machine finds them."""
    registers: dict[str, int] = {}
    memory = dict(inputs.memory)
    for theirs, ours in zip(target.arguments, own.arguments, strict=True):
        put_argument(own.machine, ours, argument_value(theirs, inputs), registers, memory, 0)
    return replace(inputs, registers=registers, memory=memory)


def broken_duties(abi: Abi, inputs: Inputs, outcome: Outcome) -> Iterator[str]:
    """What a run should have restored, or extended, by its own ABI and its own state at entry, and did not."""
    if outcome.status is not Status.DONE:
        return
    convention, left = abi.machine.convention, outcome.registers
    for name in abi.kept:
        before = abi.machine.initial.get(name, inputs.registers.get(name, 0))
        if name == convention.stack_pointer:
            before = inputs.registers.get(name, STACK_POINTER) + convention.stack_adjustment
        if left.get(name, 0) != before:
            yield name
    if outcome.return_target != RETURN_ADDRESS:
        yield "the return address"
    for result in abi.results[: 1 if abi.extended_bits else 0]:
        if left.get(result.register, 0) & ((1 << abi.extended_bits) - 1) != _extended(abi, result, left):
            yield f"the extension of {result.register}"


def _extended(abi: Abi, result: Result, registers: Mapping[str, int]) -> int:
    value = registers.get(result.register, 0) & ((1 << result.bits) - 1)
    if abi.extends_sign and value >> (result.bits - 1):
        value |= (1 << abi.extended_bits) - (1 << result.bits)
    return value
