"""Limits that hold wherever the work is: a timer looks at the budget and at memory, and ends what does not end itself.

Every loop that may be long asks its budget, and solvers do. What takes long all the same is ended from here, by an
exception that only the ladder and the verbs catch: nothing of what the interrupted engine had begun is used. The timer
needs the main thread; elsewhere only the loops' own checks hold. What does not return to Python at all is for
`supervise` to end.
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
"""Of the memory, the share at which work stops: what is then still being done takes a little more."""
GRACE_SECONDS = 0.3
"""Of processor time. What asks its budget has stopped by then."""
TICK_SECONDS = 0.1
"""Of processor time, from one look to the next."""

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
    """Raises `OutOfLimits` in what does not stop when the budget is spent, or `memory` bytes more are in use than
    now."""
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
    """2147483648 as "2 GB", as people say it."""
    for unit, name in ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB")):
        if size >= unit:
            return f"{size / unit:.4g} {name}"
    return f"{size} bytes"
