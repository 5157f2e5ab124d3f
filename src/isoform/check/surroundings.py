"""What an independent CPU model is told of the world around the function that it runs."""

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
    """Functions that the image does have but whose calls count as calls to outside code."""
    watched: Sequence[tuple[int, int]] = ()
    """Ranges of which the outcome says what was read before it was written."""
    through: Mapping[int, str] = field(default_factory=dict)
    """What `call_arguments` is asked for a call through a pointer, by the address of the instruction."""
    library: Sequence[LibraryCall] = ()
    """What is known of outside functions."""


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
