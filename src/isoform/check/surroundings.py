"""What an independent CPU model is told about the world around the function that it runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from isoform.load.image import Image
from isoform.model.allocation import LibraryCall
from isoform.model.callee import NOTHING, Callees
from isoform.model.outcome import Inputs, Outcome


@dataclass(frozen=True)
class Surroundings:
    call_arguments: Callees = lambda _name: NOTHING
    """Which arguments of an outside function are recorded ("" for a call through a pointer)."""
    stack_argument_bytes: int = 0
    outside: Mapping[int, str] = field(default_factory=dict)
    """Functions whose code the image has, but whose calls count as calls to outside code."""
    watched: Sequence[tuple[int, int]] = ()
    """Ranges for which the outcome lists what was read before it was written."""
    through: Mapping[int, str] = field(default_factory=dict)
    """The argument of `call_arguments` for a call through a pointer, by the address of the instruction."""
    library: Sequence[LibraryCall] = ()
    """What is known about outside functions."""


ALONE = Surroundings()


class Runner(Protocol):
    """Runs the function at `entry` until control leaves the image's code."""

    def __call__(
        self,
        image: Image,
        entry: int,
        inputs: Inputs,
        fuel: int,
        trace: bool = False,
        around: Surroundings = ALONE,
    ) -> Outcome: ...
