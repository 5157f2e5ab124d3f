"""One question in one process, with limits on time and memory.

The process is forked from one that has everything loaded, which takes a few milliseconds, and looks at one question
only: what a question does to a solver's caches, or to the process, can neither change nor delay another answer, and
the order of the work cannot show in the answers. The process that forks it only waits; it survives whatever the
question does.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import time
from collections.abc import Generator
from contextlib import suppress
from functools import cache
from multiprocessing.connection import Connection, Pipe
from types import FrameType
from typing import Any, NoReturn

from isoform.model.budget import WALL_FACTOR
from isoform.model.errors import OutOfLimits
from isoform.model.processes import kill_with_descendants, processor_seconds
from isoform.work.task import Keyed, Task, TaskEnd, TaskLimits, imported

TERMINATED_SECONDS = 2.0
"""From the request to end to the kill: time in which a process removes its temporary files."""
EXIT_SECONDS = 5
"""Of processor time beyond the limit, at which the system itself ends the process."""
LONGEST_WHY = 200
"""Characters of an exception's message."""
_GO = b"go"
_PDEATHSIG = 1

Message = dict[str, Any]
"""From the process of a question: `{"keyed", "found"}`, and at last `{"ending", "result", "why"}`."""


class LimitedProcess:
    """The process of one question, seen from the one that forked it."""

    def __init__(self, task: Task, shared: Any, inherited: tuple[Connection, ...] = ()) -> None:
        self._limits = task.limits
        self.connection, theirs = Pipe()
        parent = os.getpid()
        self._started = time.monotonic()
        self._pid = os.fork()
        if self._pid == 0:
            for connection in (self.connection, *inherited):
                connection.close()
            _answer(task, shared, theirs, parent)
        theirs.close()
        self._status: int | None = None

    @property
    def elapsed(self) -> float:
        """Seconds on the wall clock."""
        return time.monotonic() - self._started

    @property
    def is_late(self) -> bool:
        """Processor time counts, so that a busy machine gives the same answers; one that only waits is late too."""
        seconds = self._limits.seconds
        if self.elapsed > WALL_FACTOR * seconds:
            return True
        return self.elapsed > seconds and processor_seconds(self._pid) > seconds

    def message(self) -> Message:
        """What the process says, or how it ended."""
        try:
            message = json.loads(self.connection.recv_bytes())
        except (EOFError, OSError, ValueError):
            return self.death()
        return message if isinstance(message, dict) else self.death()

    def reply(self, go: bool) -> None:
        with suppress(OSError):
            self.connection.send_bytes(_GO if go else b"")

    def too_late(self) -> Message:
        return _ending(TaskEnd.OUT_OF_TIME, why=f"no answer in {self._limits.seconds:g} s")

    @property
    def has_died(self) -> bool:
        """Whether it has ended without a word. What it has started may still hold its connection open."""
        return self._wait(0) and not self.connection.poll()

    def death(self) -> Message:
        """How it ended, if that was without a word."""
        self._wait(TERMINATED_SECONDS)
        if self._status is None:
            why = "it closed its connection"
        else:
            code = os.waitstatus_to_exitcode(self._status)
            why = f"signal {-code}" if code < 0 else f"exit code {code}"
        return _ending(TaskEnd.DIED, why=why)

    def end(self) -> None:
        """A process that can is given a moment to end a compiler that it has started."""
        if not self._wait(0):
            with suppress(OSError):
                os.kill(self._pid, signal.SIGTERM)
            self._wait(TERMINATED_SECONDS)
        if self._status is None:
            kill_with_descendants(self._pid)
            self._wait(None)
        with suppress(OSError):
            os.killpg(self._pid, signal.SIGKILL)  # what it started and left behind
        self.connection.close()

    def _wait(self, seconds: float | None) -> bool:
        """Whether it has ended, after at most so long."""
        deadline = None if seconds is None else time.monotonic() + seconds
        pause = 0.0005
        while self._status is None:
            pid, status = os.waitpid(self._pid, 0 if deadline is None else os.WNOHANG)
            if pid:
                self._status = status
            elif deadline is not None and time.monotonic() >= deadline:
                return False
            else:
                time.sleep(pause)
                pause = min(2 * pause, 0.05)
        return True


def warm_up(task: Task) -> None:
    """Load what the process of every such question needs, before it is forked."""
    _system()
    with suppress(Exception):  # whatever is wrong, the question's own process says it
        imported(task.function)


# -- inside the process ---------------------------------------------------------------------------


def _answer(task: Task, shared: Any, connection: Connection, parent: int) -> NoReturn:
    try:
        _set_up(task.limits, parent)
        _say(connection, _encoded_outcome(task, shared, connection))
    finally:
        os._exit(0)  # without freeing what was built for the question, which can take a second


def _encoded_outcome(task: Task, shared: Any, connection: Connection) -> bytes:
    try:
        limit_memory(task.limits.memory)
        result = imported(task.function)(shared, task.payload)
        if isinstance(result, Generator):
            result = _of_generator(result, connection)
        return _encoded(_ending(TaskEnd.DONE, result))
    except MemoryError:
        why = f"needs more than {task.limits.memory >> 20} MiB of memory"
        return _encoded(_ending(TaskEnd.OUT_OF_MEMORY, why=why))
    except OutOfLimits as reason:
        return _encoded(_ending(TaskEnd.OUT_OF_TIME, why=str(reason)))
    except Exception as error:
        return _encoded(_ending(TaskEnd.BROKE, why=f"{type(error).__name__}: {str(error)[:LONGEST_WHY]}"))


def _of_generator(steps: Generator[Keyed, None, Any], connection: Connection) -> Any:
    """What it returns, unless the question turns out to be one that need not be answered here."""
    try:
        keyed = next(steps)
        _say(connection, _encoded({"keyed": keyed.key, "found": keyed.found}))
        if _heard(connection) != _GO:
            os._exit(0)
        next(steps)
    except StopIteration as end:
        return end.value
    raise ValueError("a question can have one key only")


def _heard(connection: Connection) -> bytes:
    try:
        return connection.recv_bytes()
    except (EOFError, OSError):
        return b""  # nobody is listening any more


def _say(connection: Connection, message: bytes) -> None:
    with suppress(OSError):
        connection.send_bytes(message)


def _encoded(message: Message) -> bytes:
    return json.dumps(message).encode()


def _ending(ending: TaskEnd, result: Any = None, why: str = "") -> Message:
    return {"ending": ending.value, "result": result, "why": why}


def _set_up(limits: TaskLimits, parent: int) -> None:
    """A session of its own, so that Ctrl-C reaches only the process that decides; no output; an end in any case."""
    os.setsid()
    _die_with_parent(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    seconds = int(limits.seconds) + EXIT_SECONDS
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _leave(number: int, frame: FrameType | None) -> None:
    raise SystemExit(1)


def _die_with_parent(parent: int) -> None:
    """The system kills this process when its parent ends, where it can (Linux)."""
    with suppress(OSError, AttributeError):
        _system().prctl(_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


@cache
def _system() -> Any:
    """The C library; None where it cannot be had."""
    with suppress(ImportError, OSError):
        import ctypes

        return ctypes.CDLL(None)
    return None


def limit_memory(extra: int) -> None:
    """`extra` bytes beyond what is in use now. Only the soft limit moves, so that a question can set it again: a
    compiler reserves more than it uses."""
    with suppress(ValueError, OSError):
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        wanted = _reserved() + extra
        resource.setrlimit(resource.RLIMIT_AS, (wanted if hard < 0 else min(wanted, hard), hard))


def _reserved() -> int:
    """Bytes of address space in use; 0 where that is not known."""
    with suppress(OSError), open("/proc/self/statm") as statistics:
        return int(statistics.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    return 0
