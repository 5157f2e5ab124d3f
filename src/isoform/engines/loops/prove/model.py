"""What a model of the solver says about a candidate."""

from __future__ import annotations

from collections.abc import Mapping

from isoform.engines.inputs import BUFFERS
from isoform.engines.loops.align.cuts import Stop
from isoform.engines.loops.prove.node import Pass
from isoform.engines.loops.prove.questions import Questions
from isoform.engines.loops.prove.simulation import Simulation
from isoform.engines.loops.tuning import QUICK_SECONDS, SMALL_NUMBER
from isoform.engines.model import values_at_entry
from isoform.lift.function import BlockId
from isoform.model.contract import Argument
from isoform.model.outcome import Inputs
from isoform.model.signature import TypeKind
from isoform.smt.solver import Answer, Solver
from isoform.smt.terms import Term
from isoform.sym.entry import argument_term
from isoform.sym.state import State


def stations_passed(solver: Solver, arrivals: Mapping[Stop, State]) -> dict[BlockId | None, list[int]]:
    """Of the stations passed, those that the model passes, by block."""
    found: dict[BlockId | None, list[int]] = {}
    for (steps, block), state in arrivals.items():
        if solver.holds(state.condition):
            found.setdefault(block, []).append(steps)
    return found


def inputs_with(simulation: Simulation, questions: Questions, followed: Pass, bad: Term) -> Inputs | None:
    """Inputs with which something bad may happen after a cut; small ones, if there are any."""
    terms, question = simulation.setting.terms, simulation.setting.question
    small = terms.all_of([_is_small(simulation, argument) for argument in question.contract.arguments])
    for wanted in (terms.conj(bad, small), bad):
        if questions.ask(followed.assumed, wanted, QUICK_SECONDS) is Answer.SAT:
            return Inputs(*values_at_entry(question, followed.segments[0].side, questions.solver))
    return None


def _is_small(simulation: Simulation, argument: Argument) -> Term:
    terms = simulation.setting.terms
    value = argument_term(simulation.setting.entry, argument)
    width = terms.width(value)
    low, count = (BUFFERS, 1 << 16) if argument.type.kind is TypeKind.POINTER else (0, SMALL_NUMBER)
    if argument.type.is_float or count >> width:
        return terms.true
    return terms.ult(terms.sub(value, terms.bv(low, width)), terms.bv(count, width))
