"""One budget for a whole question: seconds, and the user's wish to stop."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from isoform.errors import Unsupported


class Budget:
    def __init__(self, seconds: float, whole: Budget | None = None) -> None:
        self._started = time.monotonic()
        self._deadline = self._started + seconds
        self._whole = whole
        self.seconds = seconds
        self.interrupted = False

    def part(self, seconds: float) -> Budget:
        """For one engine: at most so many seconds, and never more than this one has."""
        return Budget(max(0.0, min(seconds, self.left)), self)

    def renew(self, seconds: float) -> None:
        """For a part that is taken up again: so many seconds from now on."""
        self._started = time.monotonic()
        self.seconds = max(0.0, seconds if self._whole is None else min(seconds, self._whole.left))
        self._deadline = self._started + self.seconds

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self._started

    @property
    def left(self) -> float:
        return self._deadline - time.monotonic()

    @property
    def exhausted(self) -> bool:
        return self.interrupted or self.left <= 0 or (self._whole is not None and self._whole.exhausted)

    def why_exhausted(self) -> str:
        if self._whole is not None and self._whole.exhausted:
            return self._whole.why_exhausted()
        if self._whole is not None:
            return f"its {self.seconds:.2g} s of the budget ran out"
        return "it was interrupted" if self.interrupted else f"the budget of {self.seconds:g} s ran out"

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
        budget.interrupted = True

    try:
        previous = signal.signal(signal.SIGINT, stop)
    except ValueError:  # not the main thread: whoever owns it decides about Ctrl-C
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
