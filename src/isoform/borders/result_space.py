"""The space for a result that is returned in memory: where it is in runs that decide something.

The System V ABI (3.2.3) says of it: "This storage must not overlap any data visible to the callee through other names
than this argument." Compilers rely on it: they write members of the result while they still read what they are made of.
"""

from __future__ import annotations

from dataclasses import replace

from isoform.model.contract import Contract
from isoform.model.outcome import RESULT_SPACES, Inputs
from isoform.model.verdict import Assumption

RESULT_APART = Assumption(
    "result-space-apart",
    "the space for a result that is returned in memory overlaps nothing that is reached by another name, as the "
    "convention says",
)


def with_space_apart(contract: Contract, inputs: Inputs, start: int = RESULT_SPACES[0]) -> Inputs:
    """The inputs with the space at `start`, holding what it held."""
    if not contract.result_space:
        return inputs
    register = contract.arguments[0].places[0].register
    assert register is not None
    before = inputs.registers.get(register, 0)
    held = {start + i: inputs.memory[before + i] for i in range(contract.result_space) if before + i in inputs.memory}
    return replace(inputs, registers={**inputs.registers, register: start}, memory={**inputs.memory, **held})
