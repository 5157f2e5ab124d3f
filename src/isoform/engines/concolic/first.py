"""The inputs with which a search begins, and fresh ones after a run left its predicted path."""

from __future__ import annotations

from collections.abc import Iterator

from isoform.borders.question import Question
from isoform.engines.concolic.pointers import Pointers
from isoform.engines.concolic.solve import InputSolver
from isoform.engines.inputs import InputMaker
from isoform.model.budget import Budget
from isoform.model.contract import Argument
from isoform.model.errors import Unsupported
from isoform.model.evaluate_floats import to_bits
from isoform.model.outcome import Inputs
from isoform.model.placement import put_argument
from isoform.model.signature import TypeKind
from isoform.sym.side import Side


def usual_inputs(question: Question) -> Inputs:
    """Every number 1, every pointer null."""
    registers: dict[str, int] = {}
    memory: dict[int, int] = {}
    for argument in question.contract.arguments:
        put_argument(question.contract.machine, argument, _usual_value(argument), registers, memory, 0)
    return Inputs(registers, memory)


def _usual_value(argument: Argument) -> int:
    kind = argument.type
    if kind.kind in (TypeKind.POINTER, TypeKind.STRUCT):
        return 0
    return to_bits(1.0, kind.bits // 8) if kind.is_float else 1


def solved_first_inputs(question: Question, side: Side, budget: Budget, pointers: Pointers, like: Inputs) -> Inputs:
    """Inputs that the preconditions allow."""
    solver = InputSolver(question, side, budget, pointers)
    everything = side.terms.all_of([term for _, term in side.world.constraints])
    _, inputs = solver.solve([], everything, None, like)
    if inputs is None or not question.admits(inputs):
        raise Unsupported("no input was found that the preconditions allow")
    return inputs


def fresh_inputs(question: Question) -> Iterator[Inputs]:
    """An endless stream of inputs that the preconditions allow, if random inputs satisfy them."""
    rejected = 0
    for inputs, _ in InputMaker(question.contract, question.options.seed):
        if question.admits(inputs) or rejected > _MOST_REJECTED:
            yield Inputs(inputs.registers, inputs.memory, inputs.fill_seed)
            rejected = 0
        else:
            rejected += 1


_MOST_REJECTED = 1000
