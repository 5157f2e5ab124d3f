"""One budget for a whole question: seconds, and the user's wish to stop."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from isoform.errors import Unsupported


class Budget:
    def __init__(self, seconds: float) -> None:
        self._started = time.monotonic()
        self._deadline = self._started + seconds
        self.seconds = seconds
        self.interrupted = False

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self._started

    @property
    def left(self) -> float:
        return self._deadline - time.monotonic()

    @property
    def exhausted(self) -> bool:
        return self.interrupted or self.left <= 0

    def why_exhausted(self) -> str:
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
