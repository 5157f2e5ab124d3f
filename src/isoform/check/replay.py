"""The CPU model for each machine that replays witnesses. It shares no code with the lifter."""

from __future__ import annotations

from collections.abc import Callable

from isoform.check.surroundings import ALONE, Runner, Surroundings
from isoform.load.image import Image
from isoform.model.errors import Unsupported
from isoform.model.outcome import Inputs, Outcome


def _riscv() -> tuple[str, Runner]:
    from isoform.check import unicorn_riscv64

    return "unicorn", unicorn_riscv64.run


def _unicorn() -> tuple[str, Runner]:
    from isoform.check import unicorn_x86

    return "unicorn", unicorn_x86.run


def _toy() -> tuple[str, Runner]:
    from isoform.check import toy

    return "toy interpreter", _without_calls(toy.run)


def _cs241() -> tuple[str, Runner]:
    from isoform.check import cs241

    return "cs241 interpreter", _without_calls(cs241.run)


def _without_calls(plain: Callable[[Image, int, Inputs, int, bool], Outcome]) -> Runner:
    """The uniform call for a machine that has neither outside calls nor arguments on the stack."""

    def run(
        image: Image, entry: int, inputs: Inputs, fuel: int, trace: bool = False, around: Surroundings = ALONE
    ) -> Outcome:
        return plain(image, entry, inputs, fuel, trace)

    return run


_MODELS: dict[str, Callable[[], tuple[str, Runner]]] = {
    "x86_64": _unicorn,
    "riscv64": _riscv,
    "toy": _toy,
    "cs241": _cs241,
}
"""By machine name; each entry imports its model only when it is asked for."""


def independent_runner(machine_name: str) -> tuple[str, Runner]:
    """The name of the machine's independent CPU model, and the function that runs it."""
    model = _MODELS.get(machine_name)
    if model is None:
        raise Unsupported(f"there is no independent CPU model for {machine_name}, so no witness can be replayed")
    return model()
