"""Where in the submission a difference shows: the instruction that made the wrong observable, on the separating input.

For a wrong result that is the last executed instruction that writes the result register; for a run that should not end
there the instruction it ends at; for wrong memory the last store. A root cause that an engine found comes first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from isoform.borders.question import Question
from isoform.check.replay import independent_runner
from isoform.lift.function import Function
from isoform.model.microop import Instruction, Kind, Space, Var
from isoform.model.outcome import Status
from isoform.model.values import dataclass
from isoform.model.verdict import Different, Witness


@dataclass(frozen=True)
class Divergence:
    address: int | None
    does: str
    """What the instruction does, for a person."""
    trace: tuple[int, ...]
    """Instructions of the submission that the separating input executes, in order."""


def divergence_of(verdict: Different, question: Question) -> Divergence:
    witness = verdict.witness
    trace = _exact_trace(witness, question)
    root = _root_cause(verdict)
    if root is not None:
        return Divergence(root, "this is where the two programs diverge", trace)
    return Divergence(*_showing(witness, question, trace), trace)


def _root_cause(verdict: Different) -> int | None:
    side = (verdict.root_cause or {}).get("rewrite")
    address = side.get("address") if isinstance(side, dict) else None
    return address if isinstance(address, int) else None


def _exact_trace(witness: Witness, question: Question) -> tuple[int, ...]:
    """isoform's runner records whole blocks; the interpreters of the small machines stop at the instruction that
    aborts."""
    function = question.rewrite
    if not function.machine.fixes_signature:
        return witness.rewrite.trace
    _, runner = independent_runner(function.machine.name)
    fuel = witness.rewrite.steps + 1
    return runner(function.image, function.entry.address, witness.inputs, fuel, trace=True).trace


def _showing(witness: Witness, question: Question, trace: Sequence[int]) -> tuple[int | None, str]:
    function = question.rewrite
    end = next((address for address in reversed(trace) if address in function.instructions), None)
    if end is None:
        return None, ""
    if witness.rewrite.status is not Status.DONE:
        return end, f"the submission ends here: {witness.rewrite.reason or witness.rewrite.status.value}"
    if witness.target.status is not Status.DONE:
        return end, "the submission returns here, where the reference does not return"
    if witness.differences and witness.differences[0].what.startswith("memory"):
        return _last(function, trace, _stores), "the last store"
    for result in question.contract.results:
        register = function.machine.registers[result.register]
        found = _last(function, trace, partial(_writes, register))
        if found is not None:
            return found, f"this sets {result.register} for the last time"
        return end, f"{result.register} is never set on this path"
    return end, "the submission returns here"


def _last(function: Function, trace: Sequence[int], holds: Callable[[Instruction], bool]) -> int | None:
    instructions = function.instructions
    return next((a for a in reversed(trace) if a in instructions and holds(instructions[a])), None)


def _stores(instruction: Instruction) -> bool:
    return any(op.kind is Kind.STORE for op in instruction.ops)


def _writes(register: Var, instruction: Instruction) -> bool:
    return any(
        op.out is not None
        and op.out.space is Space.REGISTER
        and op.out.offset < register.offset + register.size
        and register.offset < op.out.offset + op.out.size
        for op in instruction.ops
    )
