"""A simulation relation in words."""

from __future__ import annotations

from typing import Any

from isoform.engines.loops.facts import AtLeast, Compare, Constant, Fact, OnStack, Relation, Same
from isoform.engines.loops.features import Feature
from isoform.engines.loops.simulation import Simulation
from isoform.lift.function import BlockId

_MOST_FACTS = 24


def cuts(simulation: Simulation) -> tuple[dict[str, Any], ...]:
    return tuple(
        {"target": place(simulation, 0, cut.target), "rewrite": place(simulation, 1, cut.rewrite)}
        for cut in simulation.nodes
    )


def place(simulation: Simulation, side: int, block: BlockId | None) -> str:
    """An address as the file has it."""
    if block is None:
        return "entry"
    return f"{block.address:#x}"


def invariants(simulation: Simulation) -> tuple[str, ...]:
    """What holds at each cut, the telling facts only."""
    found = []
    for cut, node in simulation.nodes.items():
        facts = [f for f in node.invariant.facts if is_telling(f)]
        text = ", ".join(dict.fromkeys(f.text(lambda f: name(simulation, f)) for f in facts[:_MOST_FACTS]))
        where = f"{place(simulation, 0, cut.target)} / {place(simulation, 1, cut.rewrite)}"
        found.append(f"at {where}: {text or 'memory is the same'}")
    return tuple(found)


def is_telling(fact: Fact) -> bool:
    """Not what every function keeps: its frame, and what it must give back."""
    match fact:
        case OnStack() | Constant():
            return isinstance(fact, Constant)
        case Same(left, right):
            return bool(right.tag) or (isinstance(right.place, str) and left.tag != right.tag and right.low == 0)
        case Compare(_, Relation.AT_MOST, int()):
            return False
        case AtLeast():
            return False
    return True


def name(simulation: Simulation, feature: Feature) -> str:
    """An argument by its name, else the register or slot; a prime marks the rewrite's."""
    if feature.tag:
        return feature.text(simulation.machine)
    for argument in simulation.question.contract.arguments:
        for at in argument.places:
            if at.register == feature.place or (at.register is None and at.offset == feature.place):
                return argument.name
    return f"{feature.text(simulation.machine)} at entry"
