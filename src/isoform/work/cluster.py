"""Workers on many machines: a running Dask cluster.

Dask cannot stop a task that runs, and its memory limit is not the system's. So a thread of a Dask worker answers no
question itself: it has a worker process of its own, as there are on one machine, which forks a limited process for
every question. A question of a Dask worker that is lost is asked again, by Dask itself, elsewhere.

Questions that find their key on the way (`Keyed`) are answered in any case: nobody can be asked from there.
"""

from __future__ import annotations

import os
import pickle
import re
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from multiprocessing.connection import Connection
from queue import Empty, SimpleQueue
from typing import Any
from uuid import uuid4

from isoform import __version__
from isoform.model.budget import WALL_FACTOR
from isoform.model.errors import UserError
from isoform.work.limited import Message
from isoform.work.task import Recipe, Task, TaskEnd, TaskResult
from isoform.work.workers import Heard, answer_of

_ADDRESS = re.compile(r"(\w+://)?([^\s:/]+|\[[0-9a-fA-F:.]+\]):\d+")
"""Of what else is given, Dask makes a client that cannot be closed."""
REACH_SECONDS = 10.0
"""To find the scheduler."""
AHEAD = 2
"""Tasks given for each thread of the cluster: the next one is there when one ends."""
ANSWER_SECONDS = 60.0
"""Beyond the limits of a question, after which the process that answers it counts as dead."""


class ClusterWorkers:
    """`shared` says how the first argument of every function is made, once a thread of the cluster."""

    def __init__(self, address: str, shared: Recipe | None = None, option: str = "--cluster") -> None:
        try:
            from distributed import Client
        except ImportError:
            raise UserError(f"{option} needs isoform[cluster]: pip install 'isoform[cluster]'.") from None
        self._named = f"{option} {address}"
        if _ADDRESS.fullmatch(address) is None:
            raise UserError(f"{self._named} is not the address of a scheduler: write tcp://HOST:PORT.")
        try:
            self._client = Client(address, timeout=REACH_SECONDS, set_as_default=False)
        except (OSError, TimeoutError, ValueError):
            raise UserError(f"{self._named} cannot be reached: check that a Dask scheduler runs there.") from None
        self._shared = shared
        self._pool = uuid4().hex
        self._futures: dict[int, Any] = {}
        self._tasks: dict[int, Task] = {}
        self._done: SimpleQueue[int] = SimpleQueue()
        try:
            self._refuse_other_versions()
        except BaseException:
            self._client.close()
            raise

    def _refuse_other_versions(self) -> None:
        """Same results whatever worker answers."""
        try:
            versions = self._client.run(_version)
        except ModuleNotFoundError:
            raise UserError(f"{self._named} has workers without isoform {__version__}: install it there.") from None
        if not versions:
            raise UserError(f"{self._named} has no workers: start some with `dask worker`.")
        for worker, found in versions.items():
            if found != __version__:
                raise UserError(f"{self._named} has isoform {found} on {worker}, and here it is {__version__}.")

    @property
    def free(self) -> int:
        try:
            threads: int = sum(self._client.nthreads().values())
        except Exception:
            self._refuse_if_lost()
            raise
        return max(1, AHEAD * threads) - len(self._futures)

    def _refuse_if_lost(self) -> None:
        if self._client.status != "running":
            raise UserError(f"{self._named} was lost: start its scheduler, and run the same command again.") from None

    def give(self, ticket: int, task: Task) -> None:
        words = pickle.dumps((task, self._shared))
        future = self._client.submit(
            _answered, words, self._pool, pure=False, key=f"isoform-{self._pool}-{ticket}-{uuid4().hex}"
        )
        self._futures[ticket], self._tasks[ticket] = future, task
        future.add_done_callback(lambda _: self._done.put(ticket))

    def reply(self, ticket: int, go: bool) -> None:
        raise AssertionError("nothing on a cluster asks whether to go on")

    def hear(self, seconds: float) -> list[Heard]:
        heard = []
        deadline = time.monotonic() + seconds
        with suppress(Empty):
            ticket = self._done.get(timeout=seconds)
            while True:
                if ticket in self._futures:
                    heard.append(Heard(ticket, self._answer(ticket)))
                ticket = self._done.get(timeout=0 if heard else max(0.0, deadline - time.monotonic()))
        return heard

    def _answer(self, ticket: int) -> TaskResult:
        future, task = self._futures.pop(ticket), self._tasks.pop(ticket)
        try:
            messages, seconds = future.result()
        except Exception as error:  # of Dask: it has lost too many workers over this task
            self._refuse_if_lost()
            why = f"its workers were lost ({type(error).__name__})"
            attempts = getattr(error, "allowed_failures", 0) + 1
            return TaskResult(task, task.key, TaskEnd.DIED, None, why, attempts=attempts, is_final=False)
        key = next((message["keyed"] for message in messages if "keyed" in message), task.key)
        found = next((message["found"] for message in messages if "keyed" in message), None)
        return answer_of(task, messages[-1], seconds, key, found)

    def end(self) -> None:
        with suppress(Exception):
            if self._client.status == "running":
                self._client.cancel(list(self._futures.values()), force=True)
                self._client.run(_end_processes, self._pool)
        self._futures, self._tasks = {}, {}
        with suppress(Exception):
            self._client.close()


# -- on the cluster ---------------------------------------------------------------------------------


_lock = threading.Lock()
_processes: dict[tuple[str, int], _Process] = {}
"""By queue and thread."""
_ended: set[str] = set()
"""Queues that have no use for answers any more."""


def _version() -> str:
    return __version__


def _answered(words: bytes, pool: str) -> tuple[list[Message], float]:
    """What the limited process of a question says, and the seconds it took. Runs in a thread of a Dask worker."""
    task, shared = pickle.loads(words)  # written by the command that the cluster works for
    where = pool, threading.get_ident()
    with _lock:
        if pool in _ended:
            return [{"ending": TaskEnd.DIED.value, "result": None, "why": "nobody waits for it"}], 0.0
        process = _processes.get(where) or _processes.setdefault(where, _Process(shared))
    try:
        return process.ask(task)
    except (EOFError, OSError):
        with _lock:
            _processes.pop(where, None)
        return [{"ending": TaskEnd.DIED.value, "result": None, "why": process.end()}], 0.0


def _end_processes(pool: str) -> None:
    """The command is done, or interrupted: questions that run are of no use any more."""
    with _lock:
        _ended.add(pool)
        own = [key for key in _processes if key[0] == pool]
        ended = [_processes.pop(key) for key in own]
    for process in ended:
        process.end()


class _Process:
    """A worker process (`serving.py`). A Dask worker has threads, and may itself be a process that must not have
    children by `multiprocessing`: it is started as a program, and ends when this one does."""

    def __init__(self, shared: Recipe | None) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, "-m", "isoform.work.serving", str(theirs.fileno())]
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
            self._process = subprocess.Popen(
                command,
                pass_fds=[theirs.fileno()],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )
        self._socket = ours.dup()
        self._connection = Connection(ours.detach())
        self._connection.send_bytes(pickle.dumps((sys.path, shared)))

    def ask(self, task: Task) -> tuple[list[Message], float]:
        messages: list[Message] = []
        self._connection.send(task)
        while not messages or "ending" not in messages[-1]:
            if not self._connection.poll(WALL_FACTOR * task.limits.seconds + ANSWER_SECONDS):
                raise EOFError
            message, seconds = self._connection.recv()
            messages.append(message)
            if "keyed" in message:
                self._connection.send(True)
        return messages, seconds

    def end(self) -> str:
        """How it ended."""
        with suppress(OSError), self._socket:
            self._socket.shutdown(socket.SHUT_RDWR)  # seen at once, even if a thread of ours is waiting
        try:
            code = self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        return f"signal {-code}" if code < 0 else f"exit code {code}"
