"""Processes that confirm obligations. Each serves many and is ended if it does not answer in time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from dataclasses import asdict
from queue import SimpleQueue
from threading import Timer
from types import TracebackType

from isoform.check.confirm import Confirmation, Request
from isoform.model.budget import WALL_FACTOR

_GRACE = 15.0
"""Seconds beyond its limit after which a solver is stopped from outside."""
_DECIDED = ("confirmed", "refuted")
_start = subprocess.Popen


class Confirmers:
    """Use as a context manager: afterwards no process is left."""

    def __init__(self, count: int) -> None:
        self._idle: SimpleQueue[_Worker] = SimpleQueue()
        self._all = [_Worker() for _ in range(count)]
        for worker in self._all:
            self._idle.put(worker)

    def ask(self, request: Request) -> Confirmation:
        worker = self._idle.get()
        try:
            return worker.ask(request)
        finally:
            self._idle.put(worker)

    def __enter__(self) -> Confirmers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        for worker in self._all:
            worker.end()


class _Worker:
    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._ended = False

    def ask(self, request: Request) -> Confirmation:
        """A process that did not decide is not reused: the memory it still holds could affect the next question."""
        answer = self._ask(request)
        if answer.result not in _DECIDED:
            self._stop()
        return answer

    def _ask(self, request: Request) -> Confirmation:
        process = self._started()
        limit = None if request.seconds is None else WALL_FACTOR * request.seconds + _GRACE
        timer = Timer(limit, process.kill) if limit is not None else None
        if timer:
            timer.start()
        try:
            return Confirmation(*json.loads(_exchanged(process, json.dumps(asdict(request)))))
        except (OSError, ValueError, TypeError):
            late = timer is not None and not timer.is_alive()
            why = "did not stop in time" if late else f"ended without an answer{_signal(process)}"
            return Confirmation("undecided", f"{request.solver} {why}", request.solver)
        finally:
            if timer:
                timer.cancel()

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None:
            command = [sys.executable, "-P", "-m", "isoform.check.confirm"]
            self._process = _start(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="ascii"
            )
            if self._ended:
                self._process.kill()
        return self._process

    def end(self) -> None:
        """Called from another thread than the one that may be waiting, which is then told that there is no answer."""
        self._ended = True
        self._stop()

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                with suppress(OSError):
                    pipe.close() if pipe else None


def _exchanged(process: subprocess.Popen[str], request: str) -> str:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(request + "\n")
    process.stdin.flush()
    return process.stdout.readline()


def _signal(process: subprocess.Popen[str]) -> str:
    with suppress(subprocess.TimeoutExpired):
        status = process.wait(1)
        return f" (signal {-status})" if status < 0 and os.name == "posix" else ""
    return ""
