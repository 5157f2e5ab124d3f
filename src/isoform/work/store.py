"""Answers that outlive the run: what was asked once is not asked again.

An answer is kept under the kind and key of its task. Before a question is asked it is claimed, and a claim is void as
soon as its owner is known to be gone: on the same machine when there is no such process, elsewhere when it has not been
seen for a while. So any number of runs can use one store, and none does what another does.

More time cannot change what was shown, so a final answer counts whatever the time given; another one counts only if it
had at least as much time as is given now.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from enum import Enum
from pathlib import Path
from types import TracebackType
from typing import Any
from uuid import uuid4

from sqlalchemy import Connection, Row, Select, Table, and_, delete, func, inspect, not_, or_, select

from isoform.model.errors import UserError
from isoform.model.values import dataclass
from isoform.work import schema
from isoform.work.database import Database
from isoform.work.owner import Owner, this_process
from isoform.work.task import TaskEnd, TaskResult
from isoform.work.trouble import StoreTrouble

LEASE_SECONDS = 120.0
"""After so long without a sign of life a run counts as dead: it is paused, or its machine is gone."""
BEAT_SECONDS = 10.0
"""From one sign of life to the next."""
_AT_ONCE = 500
"""Keys in one statement."""
_CREATING = 0x69736F666F726D
"""The advisory lock of PostgreSQL under which tables are made."""


@dataclass(frozen=True)
class Kept:
    """An answer as the store has it."""

    kind: str
    key: str
    ending: TaskEnd
    result: Any
    why: str
    label: str
    is_final: bool
    effort: float
    """Seconds that the question was given."""
    seconds: float
    """Seconds that it took."""
    attempts: int
    versions: Mapping[str, str]
    created: float
    """Seconds since 1970."""

    def is_enough(self, effort: float) -> bool:
        """Whether asking again with so many seconds could say no more."""
        return self.is_final or self.effort >= effort


class Claim(Enum):
    OURS = "ours"
    TAKEN = "taken"
    """Another run, which is alive, is about to answer it."""


class Store:
    """Use as a context manager. `where` is a file or the URL of a PostgreSQL database; `question` says what the store
    is about, and one that is about something else is refused. All methods raise `StoreTrouble` where the store cannot
    be used."""

    def __init__(
        self,
        where: str | Path,
        question: Mapping[str, str] | None = None,
        option: str = "--store",
        fresh: bool = False,
    ) -> None:
        self._database = Database(where, option)
        self.named = self._database.named
        self._run = uuid4().hex
        self._versions = json.dumps(current_versions(), sort_keys=True)
        self._clock = 0.0
        self._beaten = time.monotonic()
        try:
            self._database.transact(lambda connection: self._open(connection, dict(question or {}), fresh))
        except BaseException:
            self._database.close()
            raise

    # -- opening and closing ----------------------------------------------------------------------------

    def _open(self, connection: Connection, question: dict[str, str], fresh: bool) -> None:
        tables = self._tables(connection)
        if schema.notes.name in tables:
            self._refuse_other_schema(connection)
            self._refuse_other_tables(connection, tables)
        elif tables and not self._database.is_server:
            raise StoreTrouble(f"{self.named} is a database of something else: name another file.")
        else:
            schema.metadata.create_all(connection)
            self._note(connection, "schema", schema.SCHEMA)
        if fresh:
            connection.execute(delete(schema.answers))
            connection.execute(delete(schema.notes).where(schema.notes.c.name == "question"))
        self._refuse_other_question(connection, question)
        self._note(connection, "question", json.dumps(question, sort_keys=True))
        if self._database.is_server:
            clock = connection.execute(select(func.extract("epoch", func.clock_timestamp()))).scalar_one()
            self._clock = float(clock) - time.time()
        self._remove_dead_runs(connection)
        self._register(connection)

    def _tables(self, connection: Connection) -> list[str]:
        """Those that are there. Nobody else makes any meanwhile; on SQLite the transaction sees to that."""
        if self._database.is_server:
            connection.execute(select(func.pg_advisory_xact_lock(_CREATING)))
        return inspect(connection).get_table_names()

    def _refuse_other_tables(self, connection: Connection, tables: Sequence[str]) -> None:
        """Tables of our names that somebody else made, or that somebody changed."""
        for table in schema.metadata.sorted_tables:
            if table.name not in tables:
                raise StoreTrouble(f"{self.named} has lost its table {table.name}: name another, or remove it.")
            self._require_columns(connection, table)

    def _require_columns(self, connection: Connection, table: Table) -> None:
        found = {one["name"] for one in inspect(connection).get_columns(table.name)}
        if found != {column.name for column in table.columns}:
            raise StoreTrouble(f"{self.named} has a table {table.name} that is not isoform's: name another.")

    def _refuse_other_schema(self, connection: Connection) -> None:
        self._require_columns(connection, schema.notes)
        query = select(schema.notes.c.value).where(schema.notes.c.name == "schema")
        found = connection.execute(query).scalar_one_or_none()
        if found != schema.SCHEMA:
            other = f"its schema is {found}, that of this one is {schema.SCHEMA}"
            raise StoreTrouble(f"{self.named} was made by another version of isoform ({other}): name another.")

    def _refuse_other_question(self, connection: Connection, question: Mapping[str, str]) -> None:
        query = select(schema.notes.c.value).where(schema.notes.c.name == "question")
        found = connection.execute(query).scalar_one_or_none()
        remembered = json.loads(found) if found else question
        for name in sorted({*question, *remembered}):
            ours, theirs = question.get(name), remembered.get(name)
            if ours != theirs:
                raise StoreTrouble(
                    f"{self.named} is the store of another question ({name} is {theirs or 'not given'} there, and "
                    f"{ours or 'not given'} here): name another."
                )

    def _note(self, connection: Connection, name: str, value: str) -> None:
        insert = self._database.insert(schema.notes).values(name=name, value=value)
        connection.execute(insert.on_conflict_do_update(index_elements=["name"], set_={"value": value}))

    def close(self) -> None:
        """Never fails: claims that cannot be given up are void as soon as this process has ended."""

        def leave(connection: Connection) -> None:
            connection.execute(delete(schema.claims).where(schema.claims.c.run == self._run))
            connection.execute(delete(schema.runs).where(schema.runs.c.run == self._run))

        with suppress(UserError):
            self._database.transact(leave)
        self._database.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    # -- answers --------------------------------------------------------------------------------------

    def get(self, kind: str, key: str) -> Kept | None:
        return self.get_many(kind, [key]).get(key)

    def get_many(self, kind: str, keys: Iterable[str]) -> dict[str, Kept]:
        """Those that are there."""
        wanted = list(dict.fromkeys(keys))
        return self._database.transact(lambda connection: dict(self._found(connection, kind, wanted)))

    def _found(self, connection: Connection, kind: str, keys: Sequence[str]) -> Iterator[tuple[str, Kept]]:
        for start in range(0, len(keys), _AT_ONCE):
            some = keys[start : start + _AT_ONCE]
            query = select(schema.answers).where(schema.answers.c.kind == kind, schema.answers.c.key.in_(some))
            yield from ((row.key, kept) for row in connection.execute(query) if (kept := _kept(row)) is not None)

    def all_of(self, kind: str) -> list[Kept]:
        """In the order in which they came."""
        query = select(schema.answers).where(schema.answers.c.kind == kind)
        query = query.order_by(schema.answers.c.created, schema.answers.c.key)
        rows = self._database.transact(lambda connection: connection.execute(query).all())
        return [kept for kept in map(_kept, rows) if kept is not None]

    def put(self, answer: TaskResult) -> None:
        """Once it returns, the answer is kept. One that is there already is replaced only by a better one."""
        values = {
            "kind": answer.task.kind,
            "key": answer.key,
            "ending": answer.ending.value,
            "result": json.dumps(answer.result, separators=(",", ":")),
            "why": _plain(answer.why),
            "label": _plain(answer.task.label),
            "is_final": answer.is_final,
            "effort": answer.task.effort,
            "seconds": answer.seconds,
            "attempts": answer.attempts,
            "versions": self._versions,
            "created": self._now(),
        }

        def keep(connection: Connection) -> None:
            table = schema.answers
            insert = self._database.insert(table).values(**values)
            new = insert.excluded
            better = or_(new.is_final, and_(not_(table.c.is_final), new.effort >= table.c.effort))
            changed = {name: new[name] for name in values if name not in ("kind", "key")}
            keys = ["kind", "key"]
            connection.execute(insert.on_conflict_do_update(index_elements=keys, set_=changed, where=better))
            self._drop_claim(connection, answer.task.kind, answer.key)

        self._database.transact(keep)

    # -- claims ---------------------------------------------------------------------------------------

    def claim(self, kind: str, key: str) -> Claim:
        """`OURS` if nobody else is about to answer the question: whether it was answered must be asked after that,
        because whoever answers it keeps the answer and gives up the claim in one transaction."""

        def take(connection: Connection) -> Claim:
            holder = connection.execute(_holder(kind, key)).one_or_none()
            if holder is not None and holder.run != self._run:
                if self._is_alive(holder):
                    return Claim.TAKEN
                connection.execute(delete(schema.claims).where(*_is(kind, key), schema.claims.c.run == holder.run))
            insert = self._database.insert(schema.claims).values(kind=kind, key=key, run=self._run)
            connection.execute(insert.on_conflict_do_nothing())
            now = connection.execute(select(schema.claims.c.run).where(*_is(kind, key))).scalar_one_or_none()
            return Claim.OURS if now == self._run else Claim.TAKEN

        return self._database.transact(take)

    def release(self, kind: str, key: str) -> None:
        """Give up a claim without an answer."""
        self._database.transact(lambda connection: self._drop_claim(connection, kind, key))

    def _drop_claim(self, connection: Connection, kind: str, key: str) -> None:
        connection.execute(delete(schema.claims).where(*_is(kind, key), schema.claims.c.run == self._run))

    # -- who is alive -----------------------------------------------------------------------------------

    def beat(self) -> None:
        """Say that this run is alive, if that is due. To be called now and then."""
        if time.monotonic() - self._beaten < BEAT_SECONDS:
            return
        self._beaten = time.monotonic()
        self._database.transact(self._register)

    def _register(self, connection: Connection) -> None:
        own = this_process()
        values = {"run": self._run, "host": own.host, "pid": own.pid, "started": own.started, "seen": self._now()}
        insert = self._database.insert(schema.runs).values(**values)
        connection.execute(insert.on_conflict_do_update(index_elements=["run"], set_={"seen": values["seen"]}))

    def _remove_dead_runs(self, connection: Connection) -> None:
        for row in connection.execute(select(schema.runs)).all():
            if not self._is_alive(row):
                connection.execute(delete(schema.claims).where(schema.claims.c.run == row.run))
                connection.execute(delete(schema.runs).where(schema.runs.c.run == row.run))

    def _is_alive(self, run: Row[Any]) -> bool:
        """A claim of a run that is not registered has no owner."""
        if run.pid is None:
            return False
        owner = Owner(run.host, run.pid, run.started)
        return self._now() - run.seen < LEASE_SECONDS and (owner.is_alive if owner.is_local else True)

    def _now(self) -> float:
        """Seconds since 1970 by the clock of the store, which is one for all its runs."""
        return time.time() + self._clock


def current_versions() -> dict[str, str]:
    """What an answer may depend on beside the question: a part of every key."""
    from importlib.metadata import PackageNotFoundError, version

    from isoform import __version__

    found = {"isoform": __version__}
    for name in ("bitwuzla", "pypcode"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = ""
    return found


def _is(kind: str, key: str) -> tuple[Any, Any]:
    return schema.claims.c.kind == kind, schema.claims.c.key == key


def _holder(kind: str, key: str) -> Select[Any]:
    """The run that has claimed a question."""
    runs, claims = schema.runs, schema.claims
    joined = claims.outerjoin(runs, claims.c.run == runs.c.run)
    columns = (claims.c.run, runs.c.host, runs.c.pid, runs.c.started, runs.c.seen)
    return select(*columns).select_from(joined).where(*_is(kind, key))


def _kept(row: Row[Any]) -> Kept | None:
    """None if the row is not one that isoform writes."""
    try:
        fields = dict(row._mapping)
        fields["ending"], fields["is_final"] = TaskEnd(row.ending), bool(row.is_final)
        return Kept(**{**fields, "result": json.loads(row.result), "versions": json.loads(row.versions)})
    except (ValueError, TypeError, RecursionError):
        return None


def _plain(text: str) -> str:
    """As both databases take it."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()
