"""A worker process: it answers task after task, each in a limited process that it forks, and runs none itself.

It ends when whoever started it has closed the connection, or has died; and ends the question that it is at.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import sys
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import Any, NoReturn

from isoform.work.limited import LimitedProcess, Message, warm_up
from isoform.work.task import Recipe, Task

TICK_SECONDS = 0.1
"""From one look at the time that a question has used to the next."""


class _Gone(Exception):
    """Nobody is there any more who wants an answer."""


def serve(connection: Connection, shared: Any) -> NoReturn:
    """Tasks in, messages out, until the connection is closed."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.collect()
    gc.freeze()  # what is loaded is not collected in forked processes, so that their pages stay shared
    with suppress(_Gone, OSError, EOFError):
        while True:
            task = connection.recv()
            warm_up(task)
            _serve_one(task, shared, connection)
    os._exit(0)


def _serve_one(task: Task, shared: Any, connection: Connection) -> None:
    process = LimitedProcess(task, shared, (connection,))
    try:
        last = _last_message(process, connection)
    finally:
        process.end()
    if last is not None:
        connection.send((last, process.elapsed))


def _last_message(process: LimitedProcess, connection: Connection) -> Message | None:
    """None if it was told to leave the question."""
    while True:
        ready = wait([process.connection, connection], TICK_SECONDS)
        if connection in ready:
            go = _reply(connection)
            process.reply(go)
            if not go:
                return None
        if process.connection in ready:
            message = process.message()
            if "keyed" not in message:
                return message
            connection.send((message, process.elapsed))
        elif process.has_died:
            return process.death()
        if process.is_late:
            return process.too_late()


def _reply(connection: Connection) -> bool:
    try:
        return bool(connection.recv())
    except (EOFError, OSError):
        raise _Gone from None


def main() -> NoReturn:
    """A worker that inherits nothing but a connection: its number is the argument. The first message says where modules
    are found and how `shared` is made."""
    connection = Connection(int(sys.argv[1]))
    path, recipe = pickle.loads(connection.recv_bytes())  # written by the process that started this one
    sys.path[:] = path
    shared = recipe.make() if isinstance(recipe, Recipe) else None
    serve(connection, shared)


if __name__ == "__main__":
    main()
