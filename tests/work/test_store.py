"""What is kept, when it counts, and who may answer."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from questions import task
from sqlalchemy import Table, func, select
from stores import server, where  # noqa: F401 (fixtures)

from isoform.model.errors import UserError
from isoform.work import owner, schema
from isoform.work import store as store_module
from isoform.work.database import Database
from isoform.work.local import LocalWorkers
from isoform.work.queue import Queue, Rules
from isoform.work.store import Claim, Store
from isoform.work.task import ResultOrigin, Task, TaskEnd, TaskResult


def answer(number: int, result: object = None, is_final: bool = True, effort: float = 1.0) -> TaskResult:
    asked = task("double", number, effort=effort, label=f"number {number}")
    return TaskResult(asked, asked.key, TaskEnd.DONE, result, "because \0\ud800", 0.5, is_final=is_final)


def test_an_answer_survives(where: str) -> None:
    kept = answer(1, {"a": [1, None, "\0é"], "big": 1 << 70})
    with Store(where) as store:
        store.put(kept)
    with Store(where) as store:
        found = store.get("test", kept.key)
        assert store.get("test", "other") is None
        assert store.get("other", kept.key) is None
        assert list(store.get_many("test", [kept.key, "other"])) == [kept.key]
        assert [one.label for one in store.all_of("test")] == ["number 1"]
    assert found is not None
    assert (found.result, found.ending, found.effort, found.is_final) == (kept.result, TaskEnd.DONE, 1.0, True)
    assert set(found.versions) >= {"isoform", "bitwuzla"}


@pytest.mark.parametrize(
    ("first", "second", "stays"),
    [
        ((True, 1.0), (False, 9.0), True),
        ((False, 5.0), (False, 1.0), True),
        ((False, 1.0), (False, 5.0), False),
        ((False, 5.0), (True, 1.0), False),
        ((True, 5.0), (True, 1.0), False),
    ],
)
def test_only_a_better_answer_replaces_one(
    where: str, first: tuple[bool, float], second: tuple[bool, float], stays: bool
) -> None:
    with Store(where) as store:
        store.put(answer(1, "first", *first))
        store.put(answer(1, "second", *second))
        found = store.get("test", answer(1).key)
        assert found is not None
        assert found.result == ("first" if stays else "second")


def asked(where: str, tasks: list[Task], rules: Rules | None = None) -> list[TaskResult]:
    with Store(where) as store, Queue(LocalWorkers(2), store, rules) as queue:
        queue.add_all(tasks)
        return list(queue.answers())


def test_a_second_run_asks_nothing(where: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    tasks = [task("noted", (str(log), n)) for n in range(20)] + [
        task("of_parity", (str(log), n), key="") for n in (3, 4)
    ]
    first, second = asked(where, tasks), asked(where, tasks)
    assert {a.origin for a in first} == {ResultOrigin.ASKED}
    assert {a.origin for a in second} == {ResultOrigin.KEPT}
    assert {(a.task, a.key): (a.result, a.found) for a in first} == {
        (a.task, a.key): (a.result, a.found) for a in second
    }
    assert len(log.read_text().split()) == 22


def test_an_answer_that_is_not_final_is_asked_for_again_with_more_time(where: str) -> None:
    rules = Rules(is_final=lambda answer: answer.result != 2)
    tasks = [task("double", 1), task("double", 2)]
    with_time = {effort: [replace(one, effort=effort) for one in tasks] for effort in (1.0, 2.0)}
    asked(where, with_time[1.0], rules)
    assert {a.origin for a in asked(where, with_time[1.0], rules)} == {ResultOrigin.KEPT}
    again = asked(where, with_time[2.0], rules)
    assert {a.task.payload: a.origin for a in again} == {1: ResultOrigin.ASKED, 2: ResultOrigin.KEPT}
    assert {a.origin for a in asked(where, with_time[1.0], rules)} == {ResultOrigin.KEPT}


def test_the_caller_says_what_is_kept_and_what_is_asked_again(where: str) -> None:
    tasks = [task("stumble"), task("double", 1)]
    asked(where, tasks, Rules(is_kept=lambda answer: answer.ending is TaskEnd.DONE))
    found = asked(where, tasks)
    assert {a.task.function.split(":")[1]: a.origin for a in found} == {
        "stumble": ResultOrigin.ASKED,
        "double": ResultOrigin.KEPT,
    }
    retried = asked(where, tasks, Rules(is_reused=lambda kept: kept.ending is TaskEnd.DONE))
    assert {a.task.function.split(":")[1]: a.origin for a in retried} == {
        "stumble": ResultOrigin.ASKED,
        "double": ResultOrigin.KEPT,
    }
    assert [a.why for a in asked(where, tasks) if a.origin is ResultOrigin.KEPT and a.why] == ["ValueError: of our own"]


def test_one_run_at_a_time_has_a_question(where: str) -> None:
    with Store(where) as one, Store(where) as other:
        assert one.claim("test", "k") is Claim.OURS
        assert one.claim("test", "k") is Claim.OURS
        assert other.claim("test", "k") is Claim.TAKEN
        assert other.claim("test", "l") is Claim.OURS
        one.release("test", "k")
        assert other.claim("test", "k") is Claim.OURS
        one.put(answer(1))
        assert other.claim("test", "k") is Claim.OURS  # another's answer does not take it away


CLAIM_AND_DIE = """
import os, sys
from isoform.work.store import Store
store = Store(sys.argv[1])
store.claim("test", "k")
print(store._run, flush=True)
os.kill(os.getpid(), 9)
"""


def test_what_a_dead_run_had_claimed_is_free(where: str) -> None:
    with Store(where) as store:
        subprocess.run([sys.executable, "-c", CLAIM_AND_DIE, where], check=False)
        assert store.claim("test", "k") is Claim.OURS
    subprocess.run([sys.executable, "-c", CLAIM_AND_DIE, where], check=False)
    with Store(where) as store:
        assert store.claim("test", "k") is Claim.OURS
    assert rows_of(where, schema.claims) == rows_of(where, schema.runs) == 0


def rows_of(where: str, table: Table) -> int:
    database = Database(where)
    query = select(func.count()).select_from(table)
    try:
        return database.transact(lambda connection: connection.execute(query).scalar_one())
    finally:
        database.close()


def test_a_run_on_another_machine_is_dead_when_it_has_not_been_seen(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(owner, "this_host", lambda: "elsewhere")
        other = Store(where)
        other.claim("test", "k")
    with Store(where) as store:
        assert store.claim("test", "k") is Claim.TAKEN
        monkeypatch.setattr(store_module, "LEASE_SECONDS", -1.0)
        assert store.claim("test", "k") is Claim.OURS
        monkeypatch.undo()
    other.close()


def test_a_run_that_is_paused_does_not_keep_its_questions(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store(where) as paused, Store(where) as other:
        assert paused.claim("test", "k") is Claim.OURS
        assert other.claim("test", "k") is Claim.TAKEN
        monkeypatch.setattr(store_module, "LEASE_SECONDS", -1.0)
        assert other.claim("test", "k") is Claim.OURS
        monkeypatch.undo()
        assert paused.claim("test", "k") is Claim.TAKEN


def test_a_process_of_the_same_number_is_another_one() -> None:
    own = owner.this_process()
    assert own.is_local
    assert own.is_alive
    assert not replace(own, started="1").is_alive
    assert not replace(own, host="elsewhere").is_local
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    child = owner.Owner(own.host, process.pid, owner.start_of(process.pid))
    assert child.is_alive
    os.kill(process.pid, signal.SIGKILL)
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert not child.is_alive  # a zombie
    process.communicate()
    assert not child.is_alive


def test_damaged_rows_are_ignored(tmp_path: Path) -> None:
    with Store(tmp_path / "s") as store:
        for number in range(3):
            store.put(answer(number))
        with closing(sqlite3.connect(tmp_path / "s")) as database, database:
            database.execute("update isoform_answers set result = '{' where key = ?", (answer(0).key,))
            database.execute("update isoform_answers set ending = 'well' where key = ?", (answer(1).key,))
        assert [kept.key for kept in store.all_of("test")] == [answer(2).key]


# -- trouble --------------------------------------------------------------------------------------


def refused(where: str | Path, **more: object) -> str:
    with pytest.raises(UserError) as caught:
        Store(where, **more)  # type: ignore[arg-type]
    said = str(caught.value)
    assert said.endswith(".")
    assert "\n" not in said
    return said


def test_the_store_of_another_question(where: str) -> None:
    Store(where, {"command": "mine", "library": "a.so"}).close()
    Store(where, {"command": "mine", "library": "a.so"}).close()
    said = refused(where, question={"command": "mine", "library": "b.so"})
    assert "is the store of another question (library is a.so there, and b.so here)" in said
    assert "library is a.so there, and not given here" in refused(where, question={"command": "mine"})
    Store(where, {"command": "diff"}, fresh=True).close()


def test_fresh_forgets(where: str) -> None:
    with Store(where) as store:
        store.put(answer(1))
    with Store(where, fresh=True) as store:
        assert store.get("test", answer(1).key) is None


def test_a_store_of_another_schema(tmp_path: Path) -> None:
    Store(tmp_path / "s").close()
    with closing(sqlite3.connect(tmp_path / "s")) as database, database:
        database.execute("update isoform_notes set value = '0' where name = 'schema'")
    assert "another version of isoform (its schema is 0, that of this one is 1)" in refused(tmp_path / "s")


def test_files_of_another_kind_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "thesis.txt"
    path.write_text("Chapter 1\n")
    assert "--state" in refused(path, fresh=True, option="--state")
    assert "is not a store of isoform" in refused(path, fresh=True)
    assert path.read_text() == "Chapter 1\n"
    with closing(sqlite3.connect(tmp_path / "contacts")) as database, database:
        database.execute("create table people (name text)")
    assert "is a database of something else" in refused(tmp_path / "contacts", fresh=True)
    Store(tmp_path / "cut").close()
    os.truncate(tmp_path / "cut", 3000)
    assert "is damaged" in refused(tmp_path / "cut")


@pytest.mark.parametrize("table", ["isoform_notes", "isoform_answers", "isoform_claims", "isoform_runs"])
def test_tables_of_our_names_that_are_not_ours(tmp_path: Path, table: str) -> None:
    Store(tmp_path / "s").close()
    with closing(sqlite3.connect(tmp_path / "s")) as database, database:
        database.execute(f"drop table {table}")
    if table != "isoform_notes":
        assert f"has lost its table {table}" in refused(tmp_path / "s")
    with closing(sqlite3.connect(tmp_path / "s")) as database, database:
        database.execute(f"create table {table} (name text)")
    assert f"has a table {table} that is not isoform's" in refused(tmp_path / "s")


def test_places_where_no_store_can_be(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    assert "is not an ordinary file" in refused(tmp_path / "fifo")
    assert "is not an ordinary file" in refused(tmp_path)
    assert "check that its folder is there" in refused(tmp_path / "missing" / "s")
    assert "oracle://… is not supported" in refused("oracle://scott:tiger@here/db")
    assert "is not an address" in refused("://")


def test_results_are_plain_json(tmp_path: Path) -> None:
    """Other programs may read them."""
    with Store(tmp_path / "s") as store:
        store.put(answer(1, {"a": 1}))
    with closing(sqlite3.connect(tmp_path / "s")) as database, database:
        (text,) = database.execute("select result from isoform_answers").fetchone()
    assert json.loads(text) == {"a": 1}
