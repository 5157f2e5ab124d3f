"""Questions that the tests of `work` ask: each does one thing to the process that answers it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

from isoform.work.task import Keyed, Task, TaskLimits, content_key

LIMITS = TaskLimits(seconds=10, memory=256 << 20)


def task(name: str, payload: Any = None, **more: Any) -> Task:
    """A question of the function `name` of this module, about its payload."""
    key = more.pop("key", content_key([name, payload]))
    limits = more.pop("limits", LIMITS)
    return Task("test", key, f"questions:{name}", payload, limits, **more)


def double(shared: Any, number: int) -> int:
    return 2 * number


def add_shared(shared: Any, number: int) -> int:
    return int(shared) + number


def noted(shared: Any, payload: tuple[str, int]) -> int:
    """Leaves a line in a file each time it is asked."""
    path, number = payload
    with Path(path).open("a") as file:
        file.write(f"{number}\n")
    time.sleep(0.002 * (number % 7))
    return number * number


def slow(shared: Any, seconds: float) -> str:
    time.sleep(seconds)
    return "done"


def die(shared: Any, how: str) -> None:
    if how == "exit":
        os._exit(3)
    os.kill(os.getpid(), signal.SIGKILL)


def die_once(shared: Any, path: str) -> str:
    if not Path(path).exists():
        Path(path).write_text("")
        os.kill(os.getpid(), signal.SIGKILL)
    return "alive"


def kill_the_worker(shared: Any, payload: Any) -> None:
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(30)


def kill_the_machine(shared: Any, payload: Any) -> None:
    """The process that started the worker: on a cluster, Dask's."""
    worker = Path(f"/proc/{os.getppid()}/stat").read_text().rpartition(")")[2].split()
    os.kill(int(worker[1]), signal.SIGKILL)
    time.sleep(30)


def spin(shared: Any, payload: Any) -> None:
    while True:
        pass


def hang(shared: Any, deaf: bool) -> None:
    if deaf:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(600)


def hoard(shared: Any, payload: Any) -> None:
    held = []
    while True:
        held.append(bytes(1 << 24))


def stumble(shared: Any, payload: Any) -> None:
    raise ValueError("of our own")


def unspeakable(shared: Any, payload: Any) -> object:
    return {1, 2}


def loud(shared: Any, payload: Any) -> None:
    os.write(1, b"noise")
    os.write(2, b"noise")


def leave_a_child(shared: Any, path: str) -> None:
    child = os.fork()
    if child == 0:
        time.sleep(600)
        os._exit(0)
    Path(path).write_text(str(child))
    os.kill(os.getpid(), signal.SIGKILL)


def of_parity(shared: Any, payload: tuple[str, int]) -> Generator[Keyed, None, str]:
    """A question that turns out to be about whether a number is even: its key is found on the way."""
    path, number = payload
    yield Keyed(content_key(["parity", number % 2]), {"number": number})
    with Path(path).open("a") as file:
        file.write(f"{number}\n")
    return "odd" if number % 2 else "even"


def forty(payload: Any) -> int:
    """What all questions of a test share, made where they are answered."""
    return 40


def hang_noted(shared: Any, path: str) -> None:
    Path(path).write_text(str(os.getpid()))
    time.sleep(600)
