"""Every task has one answer, whatever happens to the process that answers it."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterable
from pathlib import Path

import pytest
from questions import task

from isoform.work.limited import TERMINATED_SECONDS
from isoform.work.local import LocalWorkers
from isoform.work.queue import Progress, Queue
from isoform.work.task import ResultOrigin, Task, TaskEnd, TaskLimits, TaskResult


def answered(tasks: Iterable[Task], jobs: int = 2, shared: object = None) -> list[TaskResult]:
    with Queue(LocalWorkers(jobs, shared)) as queue:
        queue.add_all(tasks)
        return list(queue.answers())


def only(one: Task) -> TaskResult:
    (answer,) = answered([one])
    return answer


def test_many_answers() -> None:
    answers = answered(task("double", n) for n in range(40))
    assert sorted(answer.result for answer in answers) == [2 * n for n in range(40)]
    assert {(answer.ending, answer.origin, answer.attempts) for answer in answers} == {
        (TaskEnd.DONE, ResultOrigin.ASKED, 1)
    }


def test_what_all_questions_share_is_inherited() -> None:
    assert [answer.result for answer in answered([task("add_shared", 2)], shared=40)] == [42]


def test_order_is_by_priority_then_cost_then_age() -> None:
    tasks = [
        task("double", 1, priority=1),
        task("double", 2, cost=5.0),
        task("double", 3, cost=1.0),
        task("double", 4, cost=1.0),
    ]
    assert [answer.task.payload for answer in answered(tasks, jobs=1)] == [3, 4, 2, 1]


@pytest.mark.parametrize(("how", "why"), [("kill", "signal 9"), ("exit", "exit code 3")])
def test_a_question_that_kills_its_process_twice(how: str, why: str) -> None:
    answers = answered([task("die", how), *(task("double", n) for n in range(5))])
    (died,) = [answer for answer in answers if answer.ending is not TaskEnd.DONE]
    assert (died.ending, died.why, died.attempts, died.is_final) == (TaskEnd.DIED, why, 2, False)
    assert died.reason == f"its process died twice ({why})"
    assert len(answers) == 6


def test_a_question_that_kills_its_process_once(tmp_path: Path) -> None:
    answer = only(task("die_once", str(tmp_path / "mark")))
    assert (answer.result, answer.attempts) == ("alive", 2)


def test_a_question_that_kills_the_worker() -> None:
    answers = answered([task("kill_the_worker"), *(task("double", n) for n in range(5))], jobs=1)
    assert [answer.ending for answer in answers].count(TaskEnd.DONE) == 5
    (died,) = [answer for answer in answers if answer.ending is not TaskEnd.DONE]
    assert (died.ending, died.why) == (TaskEnd.DIED, "signal 9")


def test_a_bug() -> None:
    answer = only(task("stumble"))
    assert (answer.ending, answer.why, answer.attempts) == (TaskEnd.BROKE, "ValueError: of our own", 1)


def test_a_result_that_is_no_json() -> None:
    assert only(task("unspeakable")).ending is TaskEnd.BROKE


def test_too_much_processor_time() -> None:
    answer = only(task("spin", limits=TaskLimits(0.5, 64 << 20)))
    assert (answer.ending, answer.why, answer.attempts) == (TaskEnd.OUT_OF_TIME, "no answer in 0.5 s", 1)


@pytest.mark.parametrize("deaf", [False, True])
def test_one_that_only_waits(deaf: bool) -> None:
    answer = only(task("hang", deaf, limits=TaskLimits(0.2, 64 << 20)))
    assert answer.ending is TaskEnd.OUT_OF_TIME
    assert answer.seconds < 0.6 + TERMINATED_SECONDS + 5


def test_too_much_memory() -> None:
    answer = only(task("hoard", limits=TaskLimits(20, 128 << 20)))
    assert (answer.ending, answer.why) == (TaskEnd.OUT_OF_MEMORY, "needs more than 128 MiB of memory")


def test_words_go_nowhere(capfd: pytest.CaptureFixture[str]) -> None:
    only(task("loud"))
    assert capfd.readouterr() == ("", "")


def test_what_a_question_left_behind_is_ended(tmp_path: Path) -> None:
    answer = only(task("leave_a_child", str(tmp_path / "pid")))
    assert answer.ending is TaskEnd.DIED
    assert answer.seconds < 10
    deadline = time.monotonic() + 20
    while is_running(int((tmp_path / "pid").read_text())):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def is_running(pid: int) -> bool:
    """A zombie has ended, even if nobody has asked for its exit code."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_tasks_may_be_added_by_whoever_reads_the_answers() -> None:
    with Queue(LocalWorkers(2)) as queue:
        queue.add(task("double", 1))
        found = []
        for answer in queue.answers():
            found.append(answer.result)
            if answer.result < 100:
                queue.add(task("double", answer.result))
    assert found == [2, 4, 8, 16, 32, 64, 128]


def test_tasks_may_wait_for_the_answers_of_others() -> None:
    first, second = task("double", 1), task("double", 10)
    with Queue(LocalWorkers(2)) as queue:
        names = [(first.kind, first.key), (second.kind, second.key)]
        queue.add_after(names, lambda answers: task("double", sum(answer.result for answer in answers)))
        queue.add_after(names[:1], lambda answers: None)
        queue.add_all([first, second])
        assert sorted(answer.result for answer in queue.answers()) == [2, 20, 44]


def test_waiting_for_what_nobody_asks_is_a_bug() -> None:
    with Queue(LocalWorkers(1)) as queue:
        queue.add(task("double", 1))
        queue.add_after([("test", "missing")], lambda answers: None)
        with pytest.raises(ValueError, match="never asked"):
            list(queue.answers())


def test_the_same_question_is_asked_once(tmp_path: Path) -> None:
    log = str(tmp_path / "log")
    with Queue(LocalWorkers(2)) as queue:
        queue.add_all(task("noted", (log, 3), label=str(n)) for n in range(3))
        answers = list(queue.answers())
        queue.add(task("noted", (log, 3), label="later"))
        answers += queue.answers()
    assert [answer.task.label for answer in answers] == ["0", "1", "2", "later"]
    assert [answer.origin for answer in answers] == [ResultOrigin.ASKED, *[ResultOrigin.SHARED] * 3]
    assert Path(log).read_text() == "3\n"


def test_a_question_whose_key_is_found_on_the_way_is_answered_once(tmp_path: Path) -> None:
    log = str(tmp_path / "log")
    answers = answered(task("of_parity", (log, n), key="") for n in range(9))
    assert {answer.found["number"]: answer.result for answer in answers} == {
        n: "odd" if n % 2 else "even" for n in range(9)
    }
    assert len(Path(log).read_text().split()) == 2
    assert sorted(answer.origin.value for answer in answers) == ["asked"] * 2 + ["shared"] * 7


def test_progress() -> None:
    seen: list[Progress] = []
    with Queue(LocalWorkers(2), progress=seen.append) as queue:
        queue.add_all(task("double", n) for n in range(10))
        list(queue.answers())
    assert [p.done for p in seen] == sorted(p.done for p in seen)
    assert (seen[-1].done, seen[-1].total, seen[-1].running, seen[-1].seconds_left) == (10, 10, 0, 0.0)
    assert seen[-1].rate > 0


def test_the_time_for_all() -> None:
    with Queue(LocalWorkers(2), seconds=0.5) as queue:
        queue.add_all(task("hang", False, key=str(n)) for n in range(5))
        assert list(queue.answers()) == []
        assert queue.why_ended == "the time of 0.5 s is up"


def test_ctrl_c_ends_with_what_is_known(tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    with Queue(LocalWorkers(1)) as queue:
        queue.add(task("double", 1))
        queue.add(task("hang_noted", str(mark), cost=1.0))
        threading.Thread(target=interrupt_when, args=(mark,)).start()
        assert [answer.result for answer in queue.answers()] == [2]
    assert queue.why_ended == "it was interrupted"
    assert not is_running(int(mark.read_text()))


def interrupt_when(path: Path) -> None:
    while not (path.exists() and path.read_text()):
        time.sleep(0.02)
    os.kill(os.getpid(), signal.SIGINT)
