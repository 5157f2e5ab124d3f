"""The command line's question runs in a child process, and this one supervises it: the child ends within its time and
memory, and when the user interrupts it, even if it hangs in code that checks nothing.

The child is forked before anything is loaded, which takes a millisecond. It reports its limits and what the verdict
would be if it ended now, and prints its own answer. If it has to be killed, this process prints the last such verdict.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import struct
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

from isoform.model.budget import LOADING_SECONDS, WALL_FACTOR
from isoform.model.processes import kill_with_descendants, usage
from isoform.model.values import dataclass

if TYPE_CHECKING:
    from isoform.model.verdict import Verdict

GRACE_SECONDS = 0.6
"""Beyond the budget: by then whatever looks at its budget, or runs in Python, has stopped."""
INTERRUPTED_SECONDS = 0.7
"""From Ctrl-C to the end, on the wall clock."""
PRINTING_SECONDS = 2.0
"""From the answer to the end if Ctrl-C comes meanwhile: on an idle machine it takes a tenth of that."""
OUTPUT_SECONDS = 20.0
"""To print an answer, and to write it to files."""
LOOK_SECONDS = 0.02
"""From one look at the child to the next: it cannot take much more memory in between."""
_LENGTH = struct.Struct(">I")
_PDEATHSIG = 1


@dataclass(frozen=True)
class Limits:
    """Of the question that the child answers."""

    seconds: float
    memory: int


Ending = Callable[["Verdict", Any], int]
"""Shows a verdict in the way that the child was asked to, and gives the exit code."""


class _Channel:
    """From the child to its supervisor. Sends nothing where there is none."""

    def __init__(self) -> None:
        self.file: int | None = None

    def send(self, kind: str, content: Any) -> None:
        if self.file is None:
            return
        message = pickle.dumps((kind, content))
        with suppress(BrokenPipeError):
            os.write(self.file, _LENGTH.pack(len(message)) + message)


_channel = _Channel()


def begin(limits: Limits, how: Any) -> None:
    """A question begins, under these limits. `how` is passed to `Ending` if the child has to be killed."""
    _channel.send("begun", (limits, pickle.dumps(how)))


def so_far(verdict: Verdict) -> None:
    """What the verdict is if this process has to be killed."""
    if _channel.file is not None:
        _channel.send("so far", pickle.dumps(verdict))


def answered() -> None:
    """The answer is there, and will be printed."""
    _channel.send("answered", None)


def supervised(work: Callable[[], int], ending: Ending, complain: Callable[[str], None]) -> int:
    """The exit code of `work`, done in a child process that keeps its limits."""
    reading, writing = os.pipe()
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _channel.file = writing
        _become_a_child(parent)
        _leave(work())
    os.close(writing)
    return _Supervisor(child, reading, ending, complain).watch()


def _leave(code: int) -> NoReturn:
    """Exit without freeing what was built for the question, which can take a second."""
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def _become_a_child(parent: int) -> None:
    """In a process group of its own, so that Ctrl-C comes once, from the parent; killed when the parent ends."""
    os.setpgid(0, 0)
    with suppress(ImportError, OSError, AttributeError):
        import ctypes

        ctypes.CDLL(None).prctl(_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


class _Supervisor:
    def __init__(self, child: int, reading: int, ending: Ending, complain: Callable[[str], None]) -> None:
        self._child = child
        self._reading = reading
        self._ending = ending
        self._complain = complain
        self._received = b""
        self._limits: Limits | None = None
        self._how = b""
        self._so_far = b""
        self._answered_at: float | None = None
        self._begun = time.monotonic()
        self._waited_from = self._begun
        """From when on time on the wall clock counts."""
        self._used_before = 0.0
        self._interrupted_at: float | None = None
        self._impatient = False

    def watch(self) -> int:
        signal.signal(signal.SIGINT, self._interrupt)
        signal.signal(signal.SIGTSTP, self._pause)
        poll = select.poll()
        poll.register(self._reading, select.POLLIN)
        while True:
            for _ in poll.poll(LOOK_SECONDS * 1000):
                data = os.read(self._reading, 1 << 16)
                if not data:
                    return self._ended()
                self._hear(data)
            why = self._why_end()
            if why is not None:
                kill_with_descendants(self._child)
                os.waitpid(self._child, 0)
                return self._last_words(why)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if self._interrupted_at is not None:
            self._impatient = True
            return
        self._interrupted_at = time.monotonic()
        with suppress(ProcessLookupError):
            os.kill(self._child, signal.SIGINT)

    def _pause(self, number: int, frame: FrameType | None) -> None:
        with suppress(ProcessLookupError):
            os.kill(self._child, signal.SIGSTOP)
            os.kill(os.getpid(), signal.SIGSTOP)
            os.kill(self._child, signal.SIGCONT)

    def _hear(self, data: bytes) -> None:
        self._received += data
        while len(self._received) >= _LENGTH.size:
            end = _LENGTH.size + _LENGTH.unpack_from(self._received)[0]
            if len(self._received) < end:
                return
            kind, content = pickle.loads(self._received[_LENGTH.size : end])  # written by our own child
            self._received = self._received[end:]
            if kind == "begun":
                self._limits, self._how = content
                self._begun, self._used_before = time.monotonic(), usage(self._child).seconds
                self._waited_from = self._begun
            elif kind == "so far":
                if not self._so_far:
                    self._waited_from = time.monotonic()  # the files are read, and the work begins
                self._so_far = content
            else:
                self._answered_at = time.monotonic()

    # -- limits -------------------------------------------------------------------------------------

    def _why_end(self) -> str | None:
        """Why the child must be killed now, if it must."""
        now = time.monotonic()
        if self._impatient or (self._interrupted_at is not None and now > self._latest_end(self._interrupted_at)):
            return "it was interrupted"
        if self._limits is None:
            return None
        limit, used = self._limits.memory, usage(self._child)
        if used.resident > limit:
            from isoform.model.limits import as_size

            return f"the memory limit of {as_size(limit)} was reached"
        if self._answered_at is not None:
            return "writing the answer took too long" if now > self._answered_at + OUTPUT_SECONDS else None
        spent, seconds = used.seconds - self._used_before, self._limits.seconds
        patience = GRACE_SECONDS + (0.0 if self._so_far else LOADING_SECONDS)
        if spent > seconds + GRACE_SECONDS or now - self._waited_from > WALL_FACTOR * seconds + patience:
            return f"the budget of {seconds:g} s ran out"
        return None

    def _latest_end(self, interrupted: float) -> float:
        """When a child that was interrupted is killed: later if it is already printing its answer."""
        latest = interrupted + INTERRUPTED_SECONDS
        return latest if self._answered_at is None else max(latest, self._answered_at + PRINTING_SECONDS)

    # -- ends ---------------------------------------------------------------------------------------

    def _ended(self) -> int:
        """By itself: with its exit code, unless something in it broke."""
        _, status = os.waitpid(self._child, 0)
        code = os.waitstatus_to_exitcode(status)
        return code if code >= 0 else self._last_words(f"isoform crashed ({signal.Signals(-code).name})")

    def _last_words(self, why: str) -> int:
        if self._answered_at is not None or not self._so_far:
            self._complain(why if self._answered_at is not None else f"{why} while the files were read")
            return 130 if self._interrupted_at is not None else 2
        from isoform.model.verdict import Unknown

        verdict: Verdict = pickle.loads(self._so_far)
        seconds = time.monotonic() - self._begun
        if isinstance(verdict, Unknown):
            verdict = replace(verdict, why=f"{why} in {verdict.engine}", seconds=seconds)
        return self._ending(replace(verdict, seconds=seconds), pickle.loads(self._how))
