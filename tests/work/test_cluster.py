"""The same questions on a Dask cluster: the same answers, whatever happens to its workers."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from questions import task

from isoform.model.errors import UserError
from isoform.work import cluster as cluster_module
from isoform.work.cluster import ClusterWorkers
from isoform.work.local import LocalWorkers
from isoform.work.queue import Queue
from isoform.work.store import Store
from isoform.work.task import Recipe, ResultOrigin, Task, TaskEnd, TaskLimits, TaskResult, content_key

distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
pytestmark = pytest.mark.filterwarnings("ignore")  # Dask's own, while workers are killed


@contextmanager
def running(workers: int) -> Iterator[Any]:
    path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", path)
        with distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address=None, silence_logs=60, memory_limit=0
        ) as made:
            yield made


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with running(workers=2) as made:
        yield made


def answered(
    cluster: Any, tasks: list[Task], shared: Recipe | None = None, store: Store | None = None
) -> list[TaskResult]:
    with Queue(ClusterWorkers(cluster.scheduler_address, shared), store) as queue:
        queue.add_all(tasks)
        return list(queue.answers())


def test_the_same_answers_as_on_one_machine(cluster: Any) -> None:
    tasks = [
        *(task("add_shared", number) for number in range(30)),
        task("stumble"),
        task("die", "kill"),
        task("die", "exit"),
        task("kill_the_worker"),
        task("spin", limits=TaskLimits(0.5, 64 << 20)),
        task("hoard", limits=TaskLimits(20, 128 << 20)),
    ]
    there = answered(cluster, tasks, Recipe("questions:forty"))
    with Queue(LocalWorkers(2, 40)) as queue:
        queue.add_all(tasks)
        here = list(queue.answers())
    assert {(a.key, a.ending, a.result, a.why, a.attempts) for a in there} == {
        (a.key, a.ending, a.result, a.why, a.attempts) for a in here
    }
    assert len(there) == len(tasks)


def test_answers_are_kept(cluster: Any, tmp_path: Path) -> None:
    log = str(tmp_path / "log")
    tasks = [task("noted", (log, n)) for n in range(20)] + [task("of_parity", (log, 3), key="")]
    with Store(tmp_path / "s") as store:
        first = answered(cluster, tasks, store=store)
        second = answered(cluster, tasks[:20], store=store)
    assert {a.origin for a in first} == {ResultOrigin.ASKED}
    assert {a.origin for a in second} == {ResultOrigin.KEPT}
    assert len(Path(log).read_text().split()) == 21
    (parity,) = [answer for answer in first if answer.found]
    assert (parity.key, parity.found, parity.result) == (content_key(["parity", 1]), {"number": 3}, "odd")


def test_questions_of_a_lost_worker_are_asked_again(cluster: Any, tmp_path: Path) -> None:
    log = tmp_path / "log"
    killed = []
    with Queue(ClusterWorkers(cluster.scheduler_address)) as queue:
        queue.add_all(task("noted", (str(log), n)) for n in range(100))
        answers = []
        for answer in queue.answers():
            answers.append(answer)
            if len(answers) in (10, 40):
                nanny = next(iter(cluster.workers.values()))
                os.kill(nanny.pid, signal.SIGKILL)
                killed.append(nanny.pid)
    assert len(killed) == 2
    assert sorted(answer.task.payload[1] for answer in answers) == list(range(100))
    assert {answer.ending for answer in answers} == {TaskEnd.DONE}


@pytest.mark.parametrize("allowed", [0, pytest.param(1, marks=pytest.mark.long)])
def test_a_question_that_kills_the_worker_of_dask_twice(allowed: int) -> None:
    """Dask itself may have tried it again."""
    import dask

    with dask.config.set({"distributed.scheduler.allowed-failures": allowed}), running(workers=1) as cluster:
        answers = answered(
            cluster, [task("double", 1), task("kill_the_machine", cost=1.0), task("double", 2, cost=2.0)]
        )
    died = next(answer for answer in answers if answer.ending is not TaskEnd.DONE)
    assert (died.ending, died.attempts) == (TaskEnd.DIED, 2)
    assert died.reason == "its process died twice (its workers were lost (KilledWorker))"
    assert len(answers) == 3


def test_ctrl_c_ends_what_runs_there(cluster: Any, tmp_path: Path) -> None:
    mark = str(tmp_path / "pid")
    with Queue(ClusterWorkers(cluster.scheduler_address)) as queue:
        queue.add(task("hang_noted", mark))
        threading.Thread(target=interrupt_when, args=(Path(mark),)).start()
        assert list(queue.answers()) == []
    assert queue.why_ended == "it was interrupted"
    pid = int(Path(mark).read_text())
    deadline = time.monotonic() + 20
    while Path(f"/proc/{pid}").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def interrupt_when(path: Path) -> None:
    while not (path.exists() and path.read_text()):
        time.sleep(0.05)
    os.kill(os.getpid(), signal.SIGINT)


def refused(address: str) -> str:
    with pytest.raises(UserError) as caught:
        ClusterWorkers(address)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_scheduler_that_cannot_be_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_module, "REACH_SECONDS", 0.5)
    assert refused("tcp://127.0.0.1:1").startswith("--cluster tcp://127.0.0.1:1 cannot be reached")
    assert "is not the address of a scheduler" in refused("nonsense://here")


def test_a_scheduler_that_is_lost(tmp_path: Path) -> None:
    log = str(tmp_path / "log")
    with running(workers=1) as cluster, Store(tmp_path / "s") as store:
        with Queue(ClusterWorkers(cluster.scheduler_address), store) as queue:
            queue.add_all(task("noted", (log, number)) for number in range(500))
            answers = queue.answers()
            seen = [next(answers)]
            cluster.close()
            with pytest.raises(UserError, match="was lost: start its scheduler"):
                seen += answers
        assert len(store.all_of("test")) >= len(seen)


def test_another_version_of_isoform(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_module, "__version__", "9.9")
    assert "and here it is 9.9" in refused(cluster.scheduler_address)


def test_without_dask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert refused("tcp://127.0.0.1:1") == "--cluster needs isoform[cluster]: pip install 'isoform[cluster]'."
