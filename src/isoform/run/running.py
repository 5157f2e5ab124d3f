"""What the code of a run sees as `M`: memory, and the few registers of the runner itself."""

from __future__ import annotations

from typing import Any

from isoform.model.evaluate import evaluate
from isoform.model.microop import Kind
from isoform.model.outcome import mixed_number
from isoform.run.memory import Memory


class RunningMemory(Memory):
    """What generated code sees as `M`: memory and the few registers of the runner itself."""

    reason = 0
    where = -1
    """Index in its block of the ABORT that ended the run; -1 if none did."""
    target = 0
    through = ""
    """Type of the pointer that the last computed jump went through, where known."""
    jump = 0
    """The address of that jump."""
    outside: int | None = None
    """Number of the first ASSUME that did not hold."""
    side_seed = 0
    _undefined = 0

    def undefined(self, size: int) -> int:
        self._undefined += 1
        return mixed_number(self.side_seed, self._undefined, size)

    def evaluate(self, kind: str, out_size: int, sizes: tuple[int, ...], values: tuple[int, ...]) -> int:
        return evaluate(Kind[kind], out_size, sizes, values)


class WatchedMemory(RunningMemory):
    """Also notes the address of every load and store that the code makes, in order."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.touched: list[int] = []

    def load(self, address: int, size: int) -> int:
        self.touched.append(address)
        return super().load(address, size)

    def store(self, address: int, size: int, value: int) -> None:
        self.touched.append(address)
        made = len(self.touched)
        super().store(address, size, value)
        del self.touched[made:]  # a store across two pages is made byte by byte
