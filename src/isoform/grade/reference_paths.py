"""Inputs that together take many paths of the reference: found once, tried on every submission first.

Most mistakes show on some path of the reference, so that most wrong submissions are known after a few milliseconds.
"""

from __future__ import annotations

from isoform.borders.question import Question
from isoform.engines.concolic.driver import Driver
from isoform.engines.concolic.first import fresh_inputs, solved_first_inputs, usual_inputs
from isoform.engines.concolic.pointers import Pointers
from isoform.engines.separate import differs
from isoform.engines.witness import confirm
from isoform.model.budget import Budget
from isoform.model.errors import Unsupported
from isoform.model.outcome import Inputs, Status
from isoform.model.verdict import Witness
from isoform.smt.terms import Terms
from isoform.sym.entry import constrain_entry
from isoform.sym.side import Side
from isoform.sym.state import initial_state
from isoform.sym.world import World

MOST_PATHS = 100
SECONDS = 10.0
"""A limit that is hardly ever met: what is found must not depend on how busy the machine is."""

FEWEST_RUNS, RUNS_OF_ENDLESS = 3, 8


def inputs_of_paths(question: Question) -> tuple[Inputs, ...]:
    """Inputs on which the reference ends, one for each path explored. `question` has the reference on
    both sides."""
    budget = Budget(SECONDS)
    try:
        driver = _driver(question, budget)
        fresh = fresh_inputs(question)
        found: list[Inputs] = []
        for _ in range(MOST_PATHS):
            proposal = None if budget.exhausted else driver.propose(fresh)
            if proposal is None:
                break
            traced = driver.run(proposal.inputs)
            driver.explore(proposal, traced)
            if traced.outcome.status in (Status.DONE, Status.ABORTED, Status.EXITED):
                found.append(proposal.inputs)
    except Unsupported:
        return ()
    return tuple(found)


def _driver(question: Question, budget: Budget) -> Driver:
    world = World(Terms(), question.contract)
    side = Side(world, question.target.image, "a")
    constrain_entry(world, initial_state(side))
    pointers = Pointers(side)
    first = usual_inputs(question)
    if not question.admits(first):
        first = solved_first_inputs(question, side, budget, pointers, first)
    return Driver(question, side, question.target, question.programs[0], first, pointers, budget)


def never_stops(question: Question, inputs: tuple[Inputs, ...]) -> bool:
    """Whether the submission ends on none of the first few inputs, where the reference does: then there is
    nothing to compare."""
    first = inputs[:RUNS_OF_ENDLESS]
    return len(first) >= FEWEST_RUNS and all(
        question.run_both((each, each))[1].status is Status.OUT_OF_FUEL for each in first
    )


def separated(question: Question, inputs: tuple[Inputs, ...], budget: Budget) -> Witness | None:
    """The first of the inputs that separates the two, minimised and replayed."""
    for candidate in inputs:
        if budget.exhausted:
            return None
        pair = (candidate, candidate)
        if question.differences(*question.run_both(pair)) and differs(question, pair):
            found = confirm(question, pair, budget)
            if isinstance(found, Witness):
                return found
    return None
