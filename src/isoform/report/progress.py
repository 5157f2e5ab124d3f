"""How far a long command is: a line on stderr, with a bar, the rate and the time that is left."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

REDRAWN_SECONDS = 0.1
"""From one drawing to the next: answers that were kept come by the thousand."""


class ProgressLine:
    """Nothing is shown unless stderr is a terminal. It is drawn by the calls alone: no thread may run while workers are
    forked. Use as a context manager: afterwards the line is gone."""

    def __init__(self, doing: str, enabled: bool = True, stream: TextIO | None = None) -> None:
        self._doing = doing
        self._stream = stream if stream is not None else sys.stderr
        self._enabled = enabled and self._stream.isatty()
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._drawn = 0.0
        self._first: tuple[float, int] | None = None

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, done: int, total: int, rate: float | None = None, seconds_left: float | None = None) -> None:
        """So many are done, of those known now. If the rate is not given, it is that since the first call."""
        now = time.monotonic()
        self._first = self._first or (now, done)
        if rate is None and done > self._first[1]:
            rate = (done - self._first[1]) / max(now - self._first[0], REDRAWN_SECONDS)
            seconds_left = (total - done) / rate
        if not self._enabled or (done < total and now - self._drawn < REDRAWN_SECONDS):
            return
        self._drawn = now
        if self._bar is None:
            self._start(total)
        assert self._bar is not None
        assert self._task is not None
        pace = _in_words(rate, seconds_left)
        self._bar.update(self._task, completed=done, total=total, pace=pace, refresh=True)

    def _start(self, total: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        columns = (TextColumn(self._doing), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[pace]}"))
        self._bar = Progress(*columns, console=Console(file=self._stream), transient=True, auto_refresh=False)
        self._bar.start()
        self._task = self._bar.add_task("", total=total, pace="")


def _in_words(rate: float | None, seconds_left: float | None) -> str:
    pace = f"{rate:.1f}/s" if rate else ""
    if seconds_left is None:
        return pace
    minutes, seconds = divmod(round(seconds_left), 60)
    hours, minutes = divmod(minutes, 60)
    left = f"{hours}:{minutes:02}:{seconds:02} left" if hours else f"{minutes}:{seconds:02} left"
    return f"{pace}, {left}" if pace else left
