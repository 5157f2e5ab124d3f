"""Tasks in their order, given to workers, and their answers.

    with Queue(LocalWorkers(jobs=2), store) as queue:
        queue.add(task)
        for answer in queue.answers():
            queue.add(another)  # while it runs, if need be

Every task has one answer: from the store, from another task with the same kind and key, or from a worker. An answer is
in the store before the caller sees it. A question whose process dies is asked once more; if that dies too, this is its
answer. Ctrl-C, and the end of the time for all, end the loop with what is known; `why_ended` says which.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import field, replace
from heapq import heappop, heappush
from types import TracebackType
from typing import TYPE_CHECKING

from isoform.model.budget import Budget, interruptible
from isoform.model.errors import UserError
from isoform.model.values import dataclass
from isoform.work.task import ResultOrigin, Task, TaskEnd, TaskResult
from isoform.work.workers import Heard, Workers

if TYPE_CHECKING:
    from isoform.work.store import Kept, Store

TICK_SECONDS = 0.2
"""The longest wait for workers: Ctrl-C, the time and other runs are looked at in between."""
OTHERS_SECONDS = 1.0
"""From one look at what other runs have answered to the next."""
MOST_ATTEMPTS = 2

Make = Callable[[Sequence[TaskResult]], Task | None]
"""From the answers that were waited for, in the order of their keys, to the task; None if there is nothing to ask."""


@dataclass(frozen=True)
class Rules:
    """What the caller knows about answers, and the queue does not."""

    is_final: Callable[[TaskResult], bool] = lambda answer: answer.ending is TaskEnd.DONE
    """Whether more time could not say more."""
    is_kept: Callable[[TaskResult], bool] = lambda answer: True
    """Whether it is put into the store."""
    is_reused: Callable[[Kept], bool] = lambda kept: True
    """Whether what the store has will do, beside the rule about time (`Kept.is_enough`)."""


@dataclass(frozen=True)
class Progress:
    done: int
    total: int
    """Of the tasks that were added so far."""
    kept: int
    """Answers that came from the store."""
    running: int
    seconds: float
    """Since the beginning."""

    @property
    def rate(self) -> float:
        """Answers a second, those from the store not counted."""
        return (self.done - self.kept) / self.seconds if self.seconds else 0.0

    @property
    def seconds_left(self) -> float | None:
        """At this rate; None while nothing is known."""
        return (self.total - self.done) / self.rate if self.rate else None


@dataclass(eq=False)
class _Entry:
    """A task that has no answer yet."""

    task: Task
    order: tuple[int, float, int]
    key: str = ""
    """The task's, or the one that was found."""
    attempts: int = 0
    found: object = None
    is_claimed: bool = False

    @property
    def ticket(self) -> int:
        return self.order[2]

    @property
    def name(self) -> tuple[str, str]:
        return self.task.kind, self.key

    def __lt__(self, other: _Entry) -> bool:
        return self.order < other.order


@dataclass(eq=False)
class _Deferred:
    """A task that cannot be made yet."""

    names: tuple[tuple[str, str], ...]
    make: Make
    missing: set[tuple[str, str]] = field(default_factory=set)


class Queue:
    """Use as a context manager: afterwards no process is left. `seconds` is the time for all, on the wall clock.

    Where the store fails meanwhile, `on_store_trouble` is told, and the work goes on without it; if there is no such
    function, the trouble is raised."""

    def __init__(
        self,
        workers: Workers,
        store: Store | None = None,
        rules: Rules | None = None,
        progress: Callable[[Progress], None] = lambda progress: None,
        seconds: float | None = None,
        on_store_trouble: Callable[[UserError], None] | None = None,
    ) -> None:
        self._workers = workers
        self._store = store
        self._rules = rules or Rules()
        self._progress = progress
        self._seconds = seconds
        self._on_store_trouble = on_store_trouble
        self._started = time.monotonic()
        self._interrupts = Budget(float("inf"))
        self._context = ExitStack()
        self._new: list[_Entry] = []
        self._waiting: list[_Entry] = []
        self._running: dict[int, _Entry] = {}
        self._elsewhere: list[_Entry] = []
        """Claimed by other runs."""
        self._looked_elsewhere = 0.0
        self._asked: dict[tuple[str, str], list[_Entry]] = {}
        """By kind and key: the one that stands for all, and those that share its answer."""
        self._answers: dict[tuple[str, str], TaskResult] = {}
        self._deferred: dict[tuple[str, str], list[_Deferred]] = {}
        """By the answers that they wait for."""
        self._due: deque[_Deferred] = deque()
        self._ready: deque[TaskResult] = deque()
        self._total = self._done = self._kept = 0
        self.why_ended = ""
        """Why tasks are without an answer; empty if none is."""

    def __enter__(self) -> Queue:
        self._context.enter_context(interruptible(self._interrupts))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        try:
            self._workers.end()
        finally:
            self._context.close()

    # -- adding ---------------------------------------------------------------------------------------

    def add(self, task: Task) -> None:
        self._total += 1
        entry = _Entry(task, (task.priority, task.cost, self._total), task.key)
        if task.key and not self._is_first(entry):
            return
        self._new.append(entry)

    def add_all(self, tasks: Iterable[Task]) -> None:
        for task in tasks:
            self.add(task)

    def add_after(self, names: Iterable[tuple[str, str]], make: Make) -> None:
        """A task that needs the answers of others, which are named by kind and key, and are added before or later."""
        deferred = _Deferred(tuple(names), make)
        deferred.missing = {name for name in deferred.names if name not in self._answers}
        for name in deferred.missing:
            self._deferred.setdefault(name, []).append(deferred)
        if not deferred.missing:
            self._due.append(deferred)

    def _is_first(self, entry: _Entry) -> bool:
        """Whether no other task has its kind and key; else it gets that one's answer."""
        if entry.name in self._answers:
            self._settle_one(entry, self._answers[entry.name], ResultOrigin.SHARED)
            return False
        sharing = self._asked.setdefault(entry.name, [])
        sharing.append(entry)
        return sharing[0] is entry

    # -- the loop -------------------------------------------------------------------------------------

    def answers(self) -> Iterator[TaskResult]:
        """Until every task has its answer, those added meanwhile included; or until `why_ended`."""
        while True:
            while self._ready:
                yield self._ready.popleft()
            self._make_due()
            self._look_up_new()
            if self._ready:
                continue
            if not (self._waiting or self._running or self._elsewhere):
                break
            if self._is_over():
                return
            self._step()
        if self._deferred:
            raise ValueError(f"tasks wait for {len(self._deferred)} answers to what was never asked")

    def _is_over(self) -> bool:
        if self._interrupts.interrupted:
            self.why_ended = "it was interrupted"
        elif self._seconds is not None and self._elapsed > self._seconds:
            self.why_ended = f"the time of {self._seconds:g} s is up"
        return bool(self.why_ended)

    @property
    def _elapsed(self) -> float:
        return time.monotonic() - self._started

    def _step(self) -> None:
        self._look_elsewhere()
        while self._waiting and self._workers.free > 0:
            self._start(heappop(self._waiting))
        if self._ready:
            return
        if self._running:
            for heard in self._workers.hear(TICK_SECONDS):
                self._hear(heard)
        elif self._elsewhere:
            time.sleep(TICK_SECONDS)
        self._with_store(lambda store: store.beat())
        self._tell()

    def _tell(self) -> None:
        self._progress(Progress(self._done, self._total, self._kept, len(self._running), self._elapsed))

    def _make_due(self) -> None:
        while self._due:
            deferred = self._due.popleft()
            task = deferred.make([self._answers[name] for name in deferred.names])
            if task is not None:
                self.add(task)

    # -- the store ------------------------------------------------------------------------------------

    def _with_store(self, work: Callable[[Store], None]) -> None:
        if self._store is None:
            return
        try:
            work(self._store)
        except UserError as error:
            if self._on_store_trouble is None:
                raise
            self._store = None
            self._on_store_trouble(error)

    def _look_up_new(self) -> None:
        """New tasks, all at once: the store knows the answers of some."""
        new, self._new = self._new, []
        for entry in self._without_answer(new):
            heappush(self._waiting, entry)

    def _look_elsewhere(self) -> None:
        """What other runs were about to answer: it is answered, or its turn comes again."""
        if not self._elsewhere or time.monotonic() - self._looked_elsewhere < OTHERS_SECONDS:
            return
        self._looked_elsewhere = time.monotonic()
        entries, self._elsewhere = self._elsewhere, []
        for entry in self._without_answer(entries):
            heappush(self._waiting, entry)

    def _without_answer(self, entries: Sequence[_Entry]) -> list[_Entry]:
        known: dict[tuple[str, str], Kept] = {}

        def look(store: Store) -> None:
            for kind in {entry.task.kind for entry in entries}:
                keys = [entry.key for entry in entries if entry.key and entry.task.kind == kind]
                known.update({(kind, key): kept for key, kept in store.get_many(kind, keys).items()})

        if any(entry.key for entry in entries):
            self._with_store(look)
        return [entry for entry in entries if not self._is_settled(entry, known.get(entry.name))]

    def _is_settled(self, entry: _Entry, kept: Kept | None) -> bool:
        if kept is None or not kept.is_enough(entry.task.effort) or not self._rules.is_reused(kept):
            return False
        answer = TaskResult(
            entry.task,
            kept.key,
            kept.ending,
            kept.result,
            kept.why,
            kept.seconds,
            kept.attempts,
            ResultOrigin.KEPT,
            entry.found,
            kept.is_final,
        )
        self._settle(entry, answer)
        return True

    def _may_ask(self, entry: _Entry) -> bool:
        """Whether the question is to be asked here and now; else it is settled, or another run is at it."""
        may = True

        def claim(store: Store) -> None:
            nonlocal may
            from isoform.work.store import Claim

            if store.claim(*entry.name) is Claim.TAKEN:
                self._elsewhere.append(entry)
                may = False
                return
            entry.is_claimed = True
            if self._is_settled(entry, store.get(*entry.name)):
                store.release(*entry.name)
                may = False

        if not entry.is_claimed:
            self._with_store(claim)
        return may

    # -- asking ---------------------------------------------------------------------------------------

    def _start(self, entry: _Entry) -> None:
        if entry.key and not self._may_ask(entry):
            return
        entry.attempts += 1
        self._running[entry.ticket] = entry
        self._workers.give(entry.ticket, entry.task)

    def _hear(self, heard: Heard) -> None:
        entry = self._running[heard.ticket]
        if heard.answer is not None:
            del self._running[heard.ticket]
            self._finish(entry, heard.answer)
            return
        go = self._found_key(entry, heard)
        self._workers.reply(heard.ticket, go)
        if not go:
            del self._running[heard.ticket]

    def _found_key(self, entry: _Entry, heard: Heard) -> bool:
        """Whether a task that says what its key is shall go on."""
        entry.found = heard.found
        if entry.key == heard.key:  # it is asked again
            return self._may_ask(entry)
        if entry.key:
            self._forget_key(entry)
        entry.key = heard.key
        return self._is_first(entry) and self._may_ask(entry)

    def _forget_key(self, entry: _Entry) -> None:
        """What it is about has changed since it was asked first. Those that waited for its answer find their own."""
        if entry.is_claimed:
            self._with_store(lambda store: store.release(*entry.name))
            entry.is_claimed = False
        for other in self._asked.pop(entry.name, []):
            other.key = ""
            if other is not entry:
                heappush(self._waiting, other)

    def _finish(self, entry: _Entry, answer: TaskResult) -> None:
        entry.attempts += answer.attempts - 1  # those of which only the workers know
        if answer.ending is TaskEnd.DIED and entry.attempts < MOST_ATTEMPTS:
            heappush(self._waiting, entry)
            return
        if not entry.key:  # workers that go on without asking tell the key with the answer
            entry.key, entry.found = answer.key, answer.found
        answer = replace(answer, attempts=entry.attempts)
        answer = replace(answer, is_final=self._rules.is_final(answer))
        if answer.key:
            kept = self._rules.is_kept(answer)
            self._with_store(lambda store: store.put(answer) if kept else store.release(answer.task.kind, answer.key))
        self._settle(entry, answer)

    def _settle(self, entry: _Entry, answer: TaskResult) -> None:
        sharing: Sequence[_Entry] = (entry,)
        if answer.key:
            self._answers[entry.name] = answer
            for deferred in self._deferred.pop(entry.name, ()):
                deferred.missing.discard(entry.name)
                if not deferred.missing:
                    self._due.append(deferred)
            sharing = self._asked.pop(entry.name, sharing)
        for other in sharing:
            self._settle_one(other, answer, answer.origin if other is entry else ResultOrigin.SHARED)

    def _settle_one(self, entry: _Entry, answer: TaskResult, origin: ResultOrigin) -> None:
        self._done += 1
        self._kept += origin is ResultOrigin.KEPT
        self._ready.append(replace(answer, task=entry.task, origin=origin, found=entry.found))
        self._tell()
