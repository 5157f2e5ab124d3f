"""Limits that hold everywhere: a timer checks the budget and the memory, and ends what does not end by itself.

Every loop that may be long asks its budget, and so do solvers. Work that continues anyway is ended from here, by an
exception that only the ladder and the verbs catch: nothing that the interrupted engine had begun is used. The timer
needs the main thread; in other threads only the loops' own checks apply. Code that does not return to Python at all is
ended by `supervise`.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from isoform.model.budget import Budget
from isoform.model.errors import OutOfLimits
from isoform.model.processes import resident_bytes

DEFAULT_MEMORY = 2 << 30
"""Bytes that a question may take."""
NEARLY = 0.9
"""The share of the memory at which work stops: what is still in progress needs a little more."""
GRACE_SECONDS = 0.3
"""Seconds of processor time. Code that asks its budget has stopped by then."""
TICK_SECONDS = 0.1
"""Seconds of processor time between two checks."""

_in_solver = False


@contextmanager
def in_solver() -> Iterator[None]:
    """Around calls of a solver: an exception must not pass through its code, and it asks the budget itself."""
    global _in_solver
    _in_solver = True
    try:
        yield
    finally:
        _in_solver = False


class _Watch:
    def __init__(self, budget: Budget, memory: int) -> None:
        self._budget = budget
        self._memory = memory
        self._before = resident_bytes()
        self.active = True

    def look(self, number: int, frame: FrameType | None) -> None:
        if not self.active or self._budget.is_closed:
            return
        if self._memory and resident_bytes() - self._before > NEARLY * self._memory:
            self._budget.stop(f"the memory limit of {as_size(self._memory)} was reached")
        if self._budget.overdrawn > GRACE_SECONDS and not _in_solver:
            raise OutOfLimits(self._budget.why_exhausted())


@contextmanager
def enforced(budget: Budget, memory: int = 0) -> Iterator[None]:
    """Raises `OutOfLimits` in code that does not stop when the budget is spent, or when `memory` bytes more are in use
    than now."""
    if not hasattr(signal, "setitimer"):
        yield
        return
    watch = _Watch(budget, memory)
    try:
        previous = signal.signal(signal.SIGVTALRM, watch.look)
    except ValueError:  # not the main thread
        yield
        return
    before = signal.setitimer(signal.ITIMER_VIRTUAL, TICK_SECONDS, TICK_SECONDS)
    try:
        yield
    finally:
        watch.active = False
        signal.setitimer(signal.ITIMER_VIRTUAL, *before)
        signal.signal(signal.SIGVTALRM, previous)


def as_size(size: int) -> str:
    """2147483648 as "2 GB"."""
    for unit, name in ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB")):
        if size >= unit:
            return f"{size / unit:.4g} {name}"
    return f"{size} bytes"
