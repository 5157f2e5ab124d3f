"""What a model of the solver says about a candidate."""

from __future__ import annotations

from collections.abc import Mapping

from isoform.engines.loops.align.cuts import Stop
from isoform.lift.function import BlockId
from isoform.smt.solver import Solver
from isoform.sym.state import State


def stations_passed(solver: Solver, arrivals: Mapping[Stop, State]) -> dict[BlockId | None, list[int]]:
    """Of the stations passed, those that the model passes, by block."""
    found: dict[BlockId | None, list[int]] = {}
    for (steps, block), state in arrivals.items():
        if solver.holds(state.condition):
            found.setdefault(block, []).append(steps)
    return found
