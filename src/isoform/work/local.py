"""Workers on this machine: processes forked from this one, which inherit what all questions share."""

from __future__ import annotations

import multiprocessing
import os
import time
import warnings
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from isoform.model.errors import UserError
from isoform.work.limited import TERMINATED_SECONDS
from isoform.work.serving import serve
from isoform.work.task import Task, TaskEnd, TaskResult
from isoform.work.workers import Heard, answer_of

END_SECONDS = TERMINATED_SECONDS + 2.0
"""From the request to end to the kill: a worker first ends the question that it is at."""


def processors() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class LocalWorkers:
    """`shared` is the first argument of every function. It is made before, so that whatever is wrong with it shows
    before any work, and it is inherited, so that it need not be picklable."""

    def __init__(self, jobs: int | None = None, shared: Any = None) -> None:
        if "fork" not in multiprocessing.get_all_start_methods():
            raise UserError("this needs a system that can fork processes, such as Linux or macOS.")
        self._jobs = jobs or processors()
        self._shared = shared
        self._idle: list[_Worker] = []
        self._busy: dict[int, _Worker] = {}

    @property
    def free(self) -> int:
        return self._jobs - len(self._busy)

    def give(self, ticket: int, task: Task) -> None:
        worker = self._ready()
        worker.give(task)
        self._busy[ticket] = worker

    def _ready(self) -> _Worker:
        """One that waits for work, or a new one. What has died while it waited is no task's fault."""
        while self._idle:
            worker = self._idle.pop()
            if worker.is_running:
                return worker
            worker.connection.close()
        return _Worker(self._shared, [worker.connection for worker in self._busy.values()])

    def reply(self, ticket: int, go: bool) -> None:
        worker = self._busy[ticket]
        worker.reply(go)
        if not go:
            self._idle.append(self._busy.pop(ticket))

    def hear(self, seconds: float) -> list[Heard]:
        by_connection = {worker.connection: ticket for ticket, worker in self._busy.items()}
        ready = wait(by_connection, seconds)
        return [self._heard(by_connection[connection]) for connection in by_connection if connection in ready]

    def _heard(self, ticket: int) -> Heard:
        worker = self._busy[ticket]
        key_or_answer = worker.heard()
        if not isinstance(key_or_answer, TaskResult):
            return Heard(ticket, None, *key_or_answer)
        del self._busy[ticket]
        if not worker.has_died:
            self._idle.append(worker)
        return Heard(ticket, key_or_answer)

    def end(self) -> None:
        workers = [*self._idle, *self._busy.values()]
        self._idle, self._busy = [], {}
        for worker in workers:
            worker.connection.close()
        deadline = time.monotonic() + END_SECONDS
        for worker in workers:
            worker.end(deadline)


class _Worker:
    """One worker process, seen from the one that started it."""

    def __init__(self, shared: Any, others: Sequence[Connection]) -> None:
        context = multiprocessing.get_context("fork")
        self.connection, theirs = context.Pipe()
        inherited = (*others, self.connection)
        self._process: BaseProcess = context.Process(target=_serve, args=(theirs, shared, inherited), daemon=True)
        with warnings.catch_warnings():
            # The caller may have threads (a notebook has); a worker takes no lock that one of them could hold.
            warnings.simplefilter("ignore", DeprecationWarning)
            self._process.start()
        theirs.close()
        self.has_died = False
        self._task: Task | None = None
        self._key, self._found = "", None

    @property
    def is_running(self) -> bool:
        return self._process.is_alive()

    def give(self, task: Task) -> None:
        self._task, self._key, self._found = task, task.key, None
        self._started = time.monotonic()
        with suppress(OSError):  # it has died, which is heard soon
            self.connection.send(task)

    def reply(self, go: bool) -> None:
        with suppress(OSError):
            self.connection.send(go)

    def heard(self) -> TaskResult | tuple[str, Any]:
        """The key of its task, with what was found beside it, or the answer."""
        assert self._task is not None
        try:
            message, seconds = self.connection.recv()
        except (EOFError, OSError):
            return self._death()
        if "keyed" in message:
            self._key, self._found = message["keyed"], message["found"]
            return self._key, self._found
        return answer_of(self._task, message, seconds, self._key, self._found)

    def _death(self) -> TaskResult:
        """Of the worker itself: somebody has killed it, and its question with it."""
        assert self._task is not None
        self.has_died = True
        self.connection.close()
        self.end(time.monotonic() + END_SECONDS)
        code = self._process.exitcode
        how = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
        seconds = time.monotonic() - self._started
        return TaskResult(self._task, self._key, TaskEnd.DIED, None, how, seconds, found=self._found, is_final=False)

    def end(self, deadline: float) -> None:
        """Its connection is closed, so that it ends by itself."""
        self._process.join(max(0.0, deadline - time.monotonic()))
        if self._process.is_alive():
            self._process.kill()
            self._process.join()


def _serve(connection: Connection, shared: Any, inherited: Sequence[Connection]) -> None:
    for other in inherited:
        other.close()  # or a worker would keep the others from hearing that their parent has ended
    serve(connection, shared)
