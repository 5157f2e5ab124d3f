"""The result for a candidate: it is proved to be a simulation relation, or the reason why not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from isoform.engines.grounds import Asserted
from isoform.engines.loops.prove.simulation import Simulation
from isoform.model.outcome import Inputs
from isoform.model.values import dataclass
from isoform.model.verdict import Obligation

MORE_TIME = "more time (--budget), or a precondition (--assume)"


class NotShownError(Exception):
    """The candidate is not a simulation relation, or it could not be proved to be one."""

    def __init__(self, why: str, helps: str = "", inputs: Inputs | None = None) -> None:
        super().__init__(why)
        self.why = why
        self.helps = helps
        self.inputs = inputs
        """Inputs whose path no test took before."""


@dataclass
class Shown:
    """Every obligation of a candidate is unsatisfiable."""

    simulation: Simulation
    obligations: list[Obligation] = field(default_factory=list)
    asserted: list[Asserted] = field(default_factory=list)
    place: Mapping[str, int | str] = field(default_factory=dict)
    """What the next obligations are about: the cut they start from, by its number, and where they lead."""
