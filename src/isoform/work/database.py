"""A connection to SQLite (a file) or PostgreSQL (a URL), and transactions that are done whole or not at all.

SQLite writes ahead (WAL), so that a process that is killed at any moment leaves a store with every transaction that
was committed, and nothing of the one that was not. With `synchronous=NORMAL` the last transactions may be missing after
a power failure, and none is damaged. Every transaction takes the lock for writing at its beginning, so that what it has
read still holds when it writes.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, InterfaceError, OperationalError, SQLAlchemyError

from isoform.model.errors import UserError
from isoform.work.trouble import StoreTrouble, trouble

BUSY_SECONDS = 60.0
"""How long to wait for another run that is writing."""
LOST_SECONDS = 60.0
"""How long to try to reach a database again that was lost: it may be restarted."""
AGAIN_SECONDS = 0.5
_MAGIC = b"SQLite format 3\0"
_Result = TypeVar("_Result")


class Database:
    """One process, one thread. It connects when it is first used."""

    def __init__(self, where: str | Path, option: str = "--store") -> None:
        self.url = _url(where, option)
        self.named = f"{option} {_without_password(self.url) if self.is_server else where}"
        self._engine = _engine(self.url, self.named)
        self._was_reached = False

    @property
    def is_server(self) -> bool:
        return self.url.get_backend_name() != "sqlite"

    def transact(self, work: Callable[[Connection], _Result]) -> _Result:
        """`work` in one transaction. It is done again where the connection was lost, so it must be such that twice is
        as good as once. Raises `StoreTrouble`."""
        deadline = time.monotonic() + LOST_SECONDS
        while True:
            try:
                with self._engine.begin() as connection:
                    result = work(connection)
                self._was_reached = True
                return result
            except (SQLAlchemyError, sqlite3.Error) as error:  # the second while it connects
                if not self._is_lost(error) or time.monotonic() > deadline:
                    raise trouble(error, self.named) from None
                self._engine.dispose()
                time.sleep(AGAIN_SECONDS)

    def _is_lost(self, error: Exception) -> bool:
        """Whether a server that was there is not any more."""
        if not (self.is_server and self._was_reached and isinstance(error, DBAPIError)):
            return False
        return error.connection_invalidated or isinstance(error, OperationalError | InterfaceError)

    def insert(self, table: Any) -> Any:
        """As `sqlalchemy.insert`, with `on_conflict_do_…`, which both have."""
        return postgresql.insert(table) if self.is_server else sqlite.insert(table)

    def close(self) -> None:
        self._engine.dispose()


def _url(where: str | Path, option: str) -> URL:
    if not (isinstance(where, str) and "://" in where):
        _refuse_other_files(Path(where), option)
        return URL.create("sqlite", database=str(where))
    try:
        url = make_url(where)
    except (ArgumentError, ValueError):
        raise UserError(
            f"{option} {where} is not an address: name a file, or postgresql://USER@HOST/DATABASE."
        ) from None
    if url.drivername in ("postgresql", "postgres", "postgresql+psycopg"):
        return url.set(drivername="postgresql+psycopg")
    raise UserError(f"{option} {url.drivername}://… is not supported: name a file, or postgresql://USER@HOST/DATABASE.")


def _without_password(url: URL) -> str:
    return unquote(url.set(drivername="postgresql").render_as_string(hide_password=True))


def _refuse_other_files(path: Path, option: str) -> None:
    """Whatever SQLite would take for an empty or damaged store is left alone."""
    if path.exists() and not path.is_file():
        raise UserError(f"{option} {path} is not an ordinary file: name another.")
    try:
        with path.open("rb") as file:
            first = file.read(len(_MAGIC))
    except FileNotFoundError:
        return
    except OSError as error:
        raise UserError(f"{option} {path} cannot be read: {error.strerror}.") from None
    if first and first != _MAGIC:
        raise StoreTrouble(f"{option} {path} is not a store of isoform: name another file, or remove it.")


def _engine(url: URL, named: str) -> Engine:
    if url.get_backend_name() != "sqlite":
        try:
            return create_engine(url, pool_size=1, max_overflow=0)
        except ImportError:
            raise UserError(f"{named} needs isoform[postgresql]: pip install 'isoform[postgresql]'.") from None
    engine = create_engine(url, connect_args={"timeout": BUSY_SECONDS}, pool_size=1, max_overflow=0)
    event.listen(engine, "connect", _set_up)
    event.listen(engine, "begin", _begin)
    return engine


def _set_up(connection: Any, record: Any) -> None:
    """Transactions are ours to begin: Python's sqlite3 would begin them at the first write."""
    connection.isolation_level = None
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            break
        except sqlite3.OperationalError as error:  # SQLite does not wait here for others that do the same
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(AGAIN_SECONDS / 10)
    connection.execute("PRAGMA synchronous=NORMAL")


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")
