"""One budget for a whole question: seconds, and the user's wish to stop."""

from __future__ import annotations

import resource
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from types import FrameType

from isoform.model.errors import Unsupported

WALL_FACTOR = 3.0
"""The whole budget ends after this many times its seconds on the wall clock, however little processor time was spent: a
very busy machine, or a child that waits for something, must not block anybody for ever."""
LOADING_SECONDS = 30.0
"""Additional wall-clock seconds for reading and building the files: on a busy machine this waits for the disk and for
compilers, which have limits of their own. The time for a proof begins after it."""
SLOWEST = 3.0
"""The factor of processor time at which a counted limit ends anyway: not all work is counted."""


def processor_time() -> float:
    """Seconds of processor time used by this thread and by child processes that have ended. Other threads and other
    processes do not count."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.thread_time() + children.ru_utime + children.ru_stime


class Budget:
    """Seconds of processor time. To be used in the thread that made it.

    A part that decides what is tried next can be counted: its seconds are then those charged to it, for steps of
    solvers and of symbolic execution, so that it ends at the same point on any machine, busy or idle.
    """

    def __init__(self, seconds: float, whole: Budget | None = None, is_counted: bool = False) -> None:
        self._whole = whole
        self.is_counted = is_counted
        self._begun = time.monotonic()
        self._stopped_at: float | None = None
        self._why_stopped = ""
        self.is_closed = False
        """Whether the work is done, and only the answer remains to be assembled."""
        self._start(seconds)

    def _start(self, seconds: float) -> None:
        self.seconds = seconds
        self._charged = 0.0
        self._started = processor_time()
        self._deadline = self._started + (SLOWEST * seconds if self.is_counted else seconds)
        # Only for the whole: the time that other processes take must not decide what is tried next.
        wall = WALL_FACTOR * (self._deadline - self._started) if self._whole is None else inf
        self._latest = time.monotonic() + wall

    def begin_loading(self) -> None:
        """While files are read and built, the wall-clock limit is extended."""
        self._latest += LOADING_SECONDS

    def end_loading(self) -> None:
        """From now on the wall-clock limit starts again."""
        self._latest = time.monotonic() + WALL_FACTOR * max(0.0, self._deadline - processor_time())

    def part(self, seconds: float) -> Budget:
        """For one engine: at most this many seconds, and never more than this budget has."""
        return Budget(max(0.0, min(seconds, self.left)), self)

    def counted_part(self, seconds: float) -> Budget:
        """The same, in counted seconds."""
        return Budget(max(0.0, min(seconds, self.left)), self, is_counted=True)

    def charge(self, seconds: float) -> None:
        """Counted work was done that takes this long on an idle reference machine."""
        self._charged += seconds
        if self._whole is not None:
            self._whole.charge(seconds)

    def renew(self, seconds: float) -> None:
        """For a part that continues: this many seconds from now on."""
        self._start(max(0.0, seconds if self._whole is None else min(seconds, self._whole.left)))

    def stop(self, why: str) -> None:
        """Nothing is left of it, for this reason."""
        if self._stopped_at is None:
            self._stopped_at, self._why_stopped = processor_time(), why

    @property
    def interrupted(self) -> bool:
        """Whether it was stopped before its time."""
        return self._stopped_at is not None

    @property
    def elapsed(self) -> float:
        """Seconds on the wall clock since it was made: for reports, never for decisions."""
        return time.monotonic() - self._begun

    @property
    def spent(self) -> float:
        """Seconds of processor time since it was made, or renewed."""
        return processor_time() - self._started

    @property
    def left(self) -> float:
        """Seconds of processor time, or counted ones; 0 once another limit is reached."""
        return self._left(processor_time(), time.monotonic())

    def _left(self, used: float, now: float) -> float:
        if now >= self._latest or used >= self._deadline:
            return 0.0
        return self.seconds - self._charged if self.is_counted else self._deadline - used

    @property
    def exhausted(self) -> bool:
        return self._is_exhausted(processor_time(), time.monotonic())

    def _is_exhausted(self, used: float, now: float) -> bool:
        if self.interrupted or self._left(used, now) <= 0:
            return True
        return self._whole is not None and self._whole._is_exhausted(used, now)

    @property
    def overdrawn(self) -> float:
        """Seconds of processor time for which it has been exhausted (on the wall clock, if that ended it); negative
        while it lasts."""
        used, now = processor_time(), time.monotonic()
        stopped = used - self._stopped_at if self._stopped_at is not None else float("-inf")
        return max(stopped, used - self._deadline, now - self._latest)

    def why_exhausted(self) -> str:
        if self._whole is not None and self._whole.exhausted:
            return self._whole.why_exhausted()
        if self._whole is not None:
            return f"its {self.seconds:.2g} s of the budget ran out"
        return self._why_stopped or f"the budget of {self.seconds:g} s ran out"

    def require(self, doing: str) -> None:
        """Stop here if it is exhausted."""
        if self.exhausted:
            raise Unsupported(f"{self.why_exhausted()} while {doing}")


@contextmanager
def interruptible(budget: Budget) -> Iterator[None]:
    """Ctrl-C ends the question with what is known so far; a second one ends the program."""

    def stop(number: int, frame: FrameType | None) -> None:
        if budget.interrupted:
            raise KeyboardInterrupt
        budget.stop("it was interrupted")

    try:
        previous = signal.signal(signal.SIGINT, stop)
    except ValueError:  # not the main thread, whose owner handles Ctrl-C
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
