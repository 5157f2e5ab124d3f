"""Whatever is killed, at any moment: every question is answered once, and nothing that was answered is lost."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from postgres import Server
from questions import task
from stores import server, where  # noqa: F401 (fixtures)

from isoform.model.errors import UserError
from isoform.model.processes import descendants
from isoform.work import database as database_module
from isoform.work.local import LocalWorkers
from isoform.work.queue import Queue
from isoform.work.store import Store
from isoform.work.task import TaskEnd, TaskResult

ASKING = str(Path(__file__).parent / "asking.py")
COUNT = 150
KILLS = 3


class Asking:
    """Runs of the command on one store."""

    def __init__(self, where: str, log: Path, jobs: int = 2) -> None:
        self.where, self.log = where, log
        self.words = [sys.executable, ASKING, where, str(log), str(COUNT), str(jobs)]

    def start(self, *more: str) -> subprocess.Popen[str]:
        return subprocess.Popen([*self.words, *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def asked(self) -> Counter[int]:
        """How often each question was asked so far."""
        return Counter(map(int, self.log.read_text().split())) if self.log.exists() else Counter()

    def kept(self) -> set[int]:
        """The questions whose answer the store has."""
        with Store(self.where, {"command": "asking"}) as store:
            kept = {one.key: one for one in store.all_of("test")}
        numbers = {n: task("noted", (str(self.log), n)).key for n in range(COUNT)}
        assert all(kept[key].result == n * n for n, key in numbers.items() if key in kept)
        return {n for n, key in numbers.items() if key in kept}


def finished(process: subprocess.Popen[str]) -> dict[str, Any]:
    out, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (0, "")
    said: dict[str, Any] = json.loads(out)
    assert said["results"] == {str(n): n * n for n in range(COUNT)}
    assert said["answers"] == COUNT
    return said


def kill_at_random(asking: Asking, kills: int, seed: int) -> None:
    """The whole command, again and again; what it had answered is not asked again."""
    moments = random.Random(seed)
    answered: set[int] = set()
    asked = asking.asked()
    for _ in range(kills):
        process = asking.start()
        before = asking.log.stat().st_size if asking.log.exists() else 0
        while process.poll() is None and not (asking.log.exists() and asking.log.stat().st_size > before):
            time.sleep(0.002)
        with suppress(subprocess.TimeoutExpired):
            process.wait(moments.random() * 0.3)
        process.kill()
        process.communicate()
        assert asking.kept() >= answered
        now = asking.asked()
        assert {n for n in answered if now[n] > asked[n]} == set()
        answered, asked = asking.kept(), asking.asked()
    finished(asking.start())
    assert asking.kept() == set(range(COUNT))
    assert {n for n in answered if asking.asked()[n] > asked[n]} == set()
    assert finished(asking.start())["origins"] == {"kept": COUNT}


def test_the_command_is_killed_again_and_again(where: str, tmp_path: Path) -> None:
    kill_at_random(Asking(where, tmp_path / "log"), KILLS, seed=7)


@pytest.mark.long
def test_the_command_is_killed_fifty_times(where: str, tmp_path: Path) -> None:
    kill_at_random(Asking(where, tmp_path / "log"), 50, seed=8)


def test_workers_and_their_questions_are_killed(tmp_path: Path) -> None:
    """A question that was unlucky twice has that as its answer; the others have theirs."""
    moments = random.Random(9)
    log = tmp_path / "log"
    count = COUNT // 2
    answers: list[TaskResult] = []
    kills = 0
    others = set(descendants(os.getpid()))  # a server of other tests
    with Store(tmp_path / "s") as store, Queue(LocalWorkers(2), store) as queue:
        queue.add_all(task("noted", (str(log), number)) for number in range(count))
        for answer in queue.answers():
            answers.append(answer)
            victims = started_since(others) if moments.random() < 0.2 else []
            if victims:
                with suppress(ProcessLookupError):
                    os.kill(moments.choice(victims), signal.SIGKILL)
                    kills += 1
    assert kills > 5
    assert sorted(answer.task.payload[1] for answer in answers) == list(range(count))
    assert {answer.ending for answer in answers} <= {TaskEnd.DONE, TaskEnd.DIED}
    assert all(answer.why == "signal 9" for answer in answers if answer.ending is TaskEnd.DIED)
    assert [answer.ending for answer in answers].count(TaskEnd.DONE) > count / 2


def started_since(others: set[int]) -> list[int]:
    """Processes below this one, apart from others and what they have started."""
    theirs = {process for other in others for process in descendants(other)}
    return sorted(set(descendants(os.getpid())) - others - theirs)


def test_two_runs_at_once_do_nothing_twice(where: str, tmp_path: Path) -> None:
    asking = Asking(where, tmp_path / "log", jobs=1)
    runs = [asking.start(), asking.start()]
    said = [finished(run) for run in runs]
    assert asking.asked() == Counter(range(COUNT))
    assert sum(one["origins"].get("asked", 0) for one in said) == COUNT


def test_a_run_goes_on_with_what_another_had_begun_when_it_was_killed(where: str, tmp_path: Path) -> None:
    asking = Asking(where, tmp_path / "log", jobs=1)
    runs = [asking.start(), asking.start()]
    while len(asking.asked()) < 20:
        time.sleep(0.01)
    runs[0].kill()
    runs[0].communicate()
    finished(runs[1])
    assert sum((asking.asked() - Counter(range(COUNT))).values()) <= 1  # the one that it was at


def test_a_full_disk(tmp_path: Path) -> None:
    """The size that files may have stands for the disk."""
    asking = Asking(str(tmp_path / "s"), tmp_path / "log")
    process = asking.start(str(100_000))
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (2, "")
    assert err.startswith(f"--store {asking.where} cannot ")
    assert "make room, and run the same command again." in err
    assert len(err.splitlines()) == 1
    kept = asking.kept()
    assert 0 < len(kept) < COUNT
    before = asking.asked()
    finished(asking.start())
    assert {n for n in kept if asking.asked()[n] > before[n]} == set()


def test_a_file_system_that_is_full(tmp_path: Path) -> None:
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=160k", "tmpfs", str(folder)]
    if os.getuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("cannot mount a small file system here")
    try:
        asking = Asking(str(folder / "s"), tmp_path / "log")
        process = asking.start()
        _, err = process.communicate(timeout=120)
        assert process.returncode == 2
        assert "because the disk is full: make room, and run the same command again." in err
        subprocess.run(["mount", "-o", "remount,size=8m", str(folder)], check=True)
        assert 0 < len(asking.kept()) < COUNT
        finished(asking.start())
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_store_that_can_only_be_read() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s"
        Store(path).close()
        path.chmod(0o444)
        os.chmod(folder, 0o555)
        try:
            said = as_nobody(lambda: Store(path))
        finally:
            os.chmod(folder, 0o755)
    assert said == f"--store {path} can only be read: check its permissions, or name another."


def as_nobody(work: Any) -> str:
    """What a user without rights is told."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.getuid() == 0:
                os.setuid(65534)
            work()
        except UserError as error:
            os.write(writing, str(error).encode())
        finally:
            os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with os.fdopen(reading) as file:
        return file.read()


# -- PostgreSQL -------------------------------------------------------------------------------------


def test_a_server_that_is_restarted_in_the_middle(server: Server, tmp_path: Path) -> None:
    asking = Asking(server.new_database(), tmp_path / "log", jobs=1)
    process = asking.start()
    for lines in (20, 60):
        while len(asking.asked()) < lines:
            assert process.poll() is None
            time.sleep(0.01)
        server.stop()
        time.sleep(0.3)
        server.start()
    finished(process)
    assert asking.asked() == Counter(range(COUNT))


def test_a_server_that_is_gone_for_good(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_module, "LOST_SECONDS", 1.0)
    url = server.new_database()
    with Store(url) as store:
        server.stop()
        try:
            with pytest.raises(UserError, match="cannot be reached") as caught:
                store.get("test", "k")
        finally:
            server.start()
    assert "\n" not in str(caught.value)


def test_a_server_that_cannot_be_reached(tmp_path: Path, server: Server) -> None:
    with pytest.raises(UserError, match="cannot be reached") as caught:
        Store("postgresql://somebody:secret@127.0.0.1:1/nothing")
    assert "\n" not in str(caught.value)
    assert "secret" not in str(caught.value)
    host = server.new_database().partition("?")[2]
    with pytest.raises(UserError, match='database "missing" does not exist'):
        Store(f"postgresql://isoform@/missing?{host}")
