"""Worker processes with limits on time and memory, one for each submission.

A worker is forked from a process that has everything loaded, so that it starts in milliseconds, and it looks at one
submission only: what one submission does to a solver's caches, or to the process, can neither change nor delay the
answer about another, and the order of the work cannot show in the answers.

The talk: the worker sends the prepared submission, hears whether its code is still to be answered, and sends the
answer. Everything sent is JSON.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import resource
import signal
import time
import warnings
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from isoform.grade.examine import Examiner, Rejected
from isoform.grade.submissions import Submission
from isoform.model.budget import WALL_FACTOR
from isoform.model.errors import UserError
from isoform.model.grades import GradedAnswer, Standing
from isoform.model.processes import processor_seconds
from isoform.model.values import dataclass

TICK = 0.2
"""Seconds after which the waiting process runs in between."""
_GO, _SKIP = b"go", b"skip"
_KILL_AFTER = 2.0
_COMPILER_MEMORY = 4
"""A compiler gets this many times the memory, as it reserves more than it uses."""


@dataclass(frozen=True)
class Limits:
    seconds: float
    """Of processor time, from the start of a worker to its end."""
    memory: int
    """Bytes beyond what a worker has when it starts."""


class Worker:
    """One process, seen from the one that started it."""

    def __init__(
        self, examiner: Examiner, submission: Submission, limits: Limits, others: Sequence[Connection]
    ) -> None:
        self.submission = submission
        self.key: str | None = None
        """Of its code, once it is known."""
        self._limits = limits
        context = multiprocessing.get_context("fork")
        self.connection, theirs = context.Pipe()
        self._process: BaseProcess = context.Process(
            target=_work, args=(examiner, submission, limits, theirs, [*others, self.connection]), daemon=True
        )
        self._started = time.monotonic()
        with warnings.catch_warnings():
            # The caller may have threads (a notebook has); a worker takes no lock that one of them could hold.
            warnings.simplefilter("ignore", DeprecationWarning)
            self._process.start()
        theirs.close()

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self._started

    @property
    def is_late(self) -> bool:
        """Processor time counts, so that a busy machine gives the same answers; one that only waits is late too."""
        seconds = self._limits.seconds
        if self.elapsed > WALL_FACTOR * seconds:
            return True
        return self.elapsed > seconds and processor_seconds(self._process.pid or 0) > seconds

    def message(self) -> dict[str, Any] | None:
        """What the worker says; None if it ended without a word."""
        try:
            message = json.loads(self.connection.recv_bytes())
        except (EOFError, OSError, ValueError):
            return None
        return message if isinstance(message, dict) else None

    def tell(self, answer_it: bool) -> None:
        with suppress(OSError):
            self.connection.send_bytes(_GO if answer_it else _SKIP)

    def crash(self) -> GradedAnswer:
        self._process.join(_KILL_AFTER)
        code = self._process.exitcode
        how = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
        self.end()
        return GradedAnswer(Standing.CRASHED, f"crashed the checker ({how})", seconds=self.elapsed)

    def too_late(self) -> GradedAnswer:
        self.end()
        return GradedAnswer(Standing.NO_ANSWER, f"no answer in {self._limits.seconds:g} s", seconds=self.elapsed)

    def end(self) -> None:
        """A worker that can is given a moment to end a compiler it has started."""
        if self._process.is_alive():
            self._process.terminate()
            self._process.join(_KILL_AFTER)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self.connection.close()


def ready(workers: Sequence[Worker]) -> list[Worker]:
    """The workers that have something to say, after at most a moment."""
    heard = set(wait([worker.connection for worker in workers], TICK))
    return [worker for worker in workers if worker.connection in heard]


def refuse_without_fork() -> None:
    if "fork" not in multiprocessing.get_all_start_methods():
        raise UserError("isoform grade needs a system that can fork processes, such as Linux or macOS.")


# -- inside the process ---------------------------------------------------------------------------


def _work(
    examiner: Examiner, submission: Submission, limits: Limits, connection: Connection, inherited: Sequence[Connection]
) -> None:
    for other in inherited:
        other.close()  # or a worker would keep the others from hearing that their parent has ended
    _set_up(limits)
    try:
        _limit_memory(limits.memory * (_COMPILER_MEMORY if submission.path.suffix in (".c", ".s", ".S") else 1))
        prepared, loaded = examiner.open(submission)
        _limit_memory(limits.memory)
        _send(connection, {"prepared": prepared.to_json()})
        if connection.recv_bytes() == _GO:
            _send(connection, {"answer": examiner.answer(loaded).to_json()})
    except Rejected as reason:
        _send(connection, {"answer": GradedAnswer(Standing.REJECTED, str(reason)).to_json()})
    except (EOFError, OSError):
        pass  # nobody is listening any more
    except MemoryError:
        why = f"needs more than {limits.memory >> 20} MiB of memory"
        _send(connection, {"answer": GradedAnswer(Standing.NO_ANSWER, why).to_json()})
    except Exception as error:
        why = f"crashed the checker ({type(error).__name__}: {str(error)[:200]})"
        _send(connection, {"answer": GradedAnswer(Standing.CRASHED, why).to_json()})


def _set_up(limits: Limits) -> None:
    """A session of its own, so that Ctrl-C reaches only the process that decides; no output; an end in any case."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    seconds = int(limits.seconds) + 5
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _leave(number: int, frame: object) -> None:
    raise SystemExit(1)


def _limit_memory(extra: int) -> None:
    """`extra` bytes beyond what is in use. Only the soft limit moves, so that it can be set again."""
    with suppress(ValueError, OSError):
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        wanted = _in_use() + extra
        resource.setrlimit(resource.RLIMIT_AS, (wanted if hard < 0 else min(wanted, hard), hard))


def _in_use() -> int:
    statistics = Path("/proc/self/statm")
    if not statistics.exists():
        return 0
    return int(statistics.read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")


def _send(connection: Connection, message: dict[str, Any]) -> None:
    with suppress(OSError):
        connection.send_bytes(json.dumps(message).encode())
