"""From an address to a function that is ready to run or to prove things about."""

from __future__ import annotations

from dataclasses import replace

from isoform.lift.alignment import with_misaligned_refused
from isoform.lift.bounds import with_bounds
from isoform.lift.cfg import control_flow_graph
from isoform.lift.function import Block, Function, Hints, Listed, exit_value, with_value
from isoform.lift.liveness import Liveness, output_containers
from isoform.lift.resolvers import with_resolved
from isoform.lift.simplify import Known, known_value, propagate
from isoform.load.image import Image
from isoform.model.budget import Budget
from isoform.model.machine import Machine


def lift(
    image: Image,
    machine: Machine,
    name: str,
    entry: int,
    inline: bool = True,
    hints: Hints | None = None,
    budget: Budget | None = None,
) -> Function:
    """The function at `entry`, simplified: constants folded, copies propagated, dead writes removed."""
    image = with_resolved(image, machine)
    listed = control_flow_graph(image, machine, name, entry, inline, hints, budget)
    function = with_bounds(with_misaligned_refused(listed))
    _spend(budget, name)
    return simplified(function)


def simplified(function: Function) -> Function:
    """The function with constants folded, copies propagated and dead writes removed."""
    blocks = {number: _fold(block, function.image) for number, block in function.blocks.items()}
    return remove_dead_writes(replace(function, blocks=blocks))


def _spend(budget: Budget | None, name: str) -> None:
    if budget is not None:
        budget.require(f"lifting {name}")


def _fold(block: Block, image: Image) -> Block:
    known: Known = {}
    value = exit_value(block.exit)
    ops = tuple(propagate(block.ops, image, known))
    exit_ = block.exit if value is None else with_value(block.exit, known_value(value, known))
    return replace(block, ops=ops, exit=exit_, listed=Listed(block.ops, block.addresses, value))


def remove_dead_writes(function: Function) -> Function:
    """Without the micro-ops whose results nothing reads. All result registers count as read: the contract,
    which comes later, decides how much of them is compared."""
    convention = function.machine.convention
    results = (*convention.result, *convention.float_result)
    liveness = Liveness(function, output_containers(function.machine, results))
    return replace(function, blocks={i: _sweep(b, liveness) for i, b in function.blocks.items()})


def _sweep(block: Block, liveness: Liveness) -> Block:
    live = liveness.live_out(block)
    kept = []
    for op, address in zip(reversed(block.ops), reversed(block.addresses), strict=True):
        if liveness.needed(op, live):
            kept.append((op, address))
            live = liveness.before(op, live)
    kept.reverse()
    return replace(block, ops=tuple(op for op, _ in kept), addresses=tuple(address for _, address in kept))
