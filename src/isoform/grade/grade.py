"""`isoform grade`: one reference against a folder of submissions."""

from __future__ import annotations

import os
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, fields, replace
from pathlib import Path
from typing import Any

from isoform import __version__
from isoform.borders.question import Options
from isoform.grade.examine import Examiner
from isoform.grade.fixed_tests import read_tests, tests_digest
from isoform.grade.store import Store, question_key
from isoform.grade.submissions import Submission, find_submissions, refuse_to_overwrite
from isoform.grade.workers import Limits, Worker, ready, refuse_without_fork
from isoform.isa.registry import TEXT_ISAS
from isoform.load.open import LoadOptions
from isoform.load.resolve import split_spec
from isoform.model.budget import Budget, interruptible
from isoform.model.grades import (
    CodeLine,
    GradedAnswer,
    Grades,
    Prepared,
    Row,
    Standing,
    answer_from_json,
    prepared_from_json,
)
from isoform.model.values import dataclass

GRACE = 10.0
"""Seconds beyond the budget that a worker has for loading, replaying and reporting."""
DEFAULT_BUDGET = 2.0
DEFAULT_MEMORY = 2048
"""MiB a worker may use."""
_NO_PART_OF_KEY = ("budget", "cert")


@dataclass(frozen=True)
class GradeOptions:
    """The options of `grade` that `compare` has not."""

    jobs: int | None = None
    """Processes at the same time; as many as there are processors if None."""
    tests: Path | None = None
    state: Path | None = None
    """File that keeps answers, for resuming."""
    fresh: bool = False
    """Forget the answers kept there."""
    pattern: str | None = None
    memory_limit: int = DEFAULT_MEMORY
    progress: Callable[[int, int], None] = field(default=lambda done, total: None, compare=False)
    """Told how many rows are done, of how many."""
    outputs: Mapping[str, Path | None] = field(default_factory=dict, compare=False)
    """Files that will be written, by option: none of them may be a submission."""


def grade(
    reference: str,
    folder: str | Path,
    options: Options | None = None,
    load_reference: LoadOptions | None = None,
    load_submission: LoadOptions | None = None,
    grading: GradeOptions | None = None,
) -> Grades:
    """Compare every submission in a folder with the reference."""
    options = options or Options(budget=DEFAULT_BUDGET)
    grading = grading or GradeOptions()
    refuse_without_fork()
    started = time.monotonic()
    path, _ = split_spec(reference)
    load_reference, load_submission = load_reference or LoadOptions(), load_submission or LoadOptions()
    tests = read_tests(grading.tests) if grading.tests is not None else ()
    examiner = Examiner(reference, options, load_reference, load_submission, tests)
    submissions = find_submissions(Path(folder), path, examiner.isa, grading.pattern)
    refuse_to_overwrite(submissions, grading.outputs)
    if _is_text(examiner):
        # The machine is the reference's, whatever a submission's suffix (`.ASM`, or what --pattern takes).
        examiner.load_submission = replace(load_submission, isa=examiner.isa)
    with Store(grading.state, grading.fresh) as store:
        run = _Run(examiner, grading, store, deque(submissions))
        rows = run.rows()
    return Grades(
        reference=reference,
        function=examiner.function,
        folder=str(folder),
        rows=tuple(rows),
        total=len(submissions),
        tests=len(tests),
        seconds=time.monotonic() - started,
        resumed=run.resumed,
        state=str(grading.state) if grading.state is not None else None,
    )


def _is_text(examiner: Examiner) -> bool:
    return examiner.isa in TEXT_ISAS.values()


class _Run:
    """The work of one `grade`: workers, answers by code, rows."""

    def __init__(self, examiner: Examiner, grading: GradeOptions, store: Store, waiting: deque[Submission]) -> None:
        self._examiner = examiner
        self._store = store
        self._waiting = waiting
        self._total = len(waiting)
        self._progress = grading.progress
        self._jobs = grading.jobs or _processors()
        budget = examiner.options.budget * (2 if examiner.tests else 1)
        self._limits = Limits(budget + GRACE, grading.memory_limit << 20)
        self._common = question_key(_common_parts(examiner))
        self._workers: list[Worker] = []
        self._answered_now: set[str] = set()
        self._sharing: dict[str, list[Submission]] = {}
        """Code that is being answered, and the submissions that wait for it."""
        self._prepared: dict[Submission, Prepared] = {}
        self._answers: dict[Submission, GradedAnswer] = {}
        self.resumed = 0

    def rows(self) -> list[Row]:
        """One for each submission that was answered: all of them, unless interrupted."""
        wish = Budget(float("inf"))
        try:
            with interruptible(wish):
                while (self._waiting or self._workers) and not wish.interrupted:
                    self._step()
        finally:
            for worker in self._workers:
                worker.end()
        return _rows(self._answers, self._prepared)

    def _step(self) -> None:
        while self._waiting and len(self._workers) < self._jobs:
            others = [worker.connection for worker in self._workers]
            self._workers.append(Worker(self._examiner, self._waiting.popleft(), self._limits, others))
        for worker in ready(self._workers):
            self._hear(worker)
        for worker in [worker for worker in self._workers if worker.is_late]:
            self._finish(worker, worker.too_late())

    def _hear(self, worker: Worker) -> None:
        message = worker.message()
        try:
            if message is None:
                self._finish(worker, worker.crash())
            elif "prepared" in message:
                self._prepare(worker, prepared_from_json(message["prepared"]))
            else:
                answer = answer_from_json(message["answer"])
                self._finish(worker, replace(answer, seconds=answer.seconds or worker.elapsed))
        except (KeyError, TypeError, ValueError):
            self._finish(worker, worker.crash())

    def _prepare(self, worker: Worker, prepared: Prepared) -> None:
        """Whether the code must be answered: not if it was, or if another worker is at it."""
        submission = worker.submission
        self._prepared[submission] = prepared
        key = question_key([self._common, prepared.key])
        known = self._store.get(key, self._examiner.options.budget)
        worker.tell(known is None and key not in self._sharing)
        if known is not None:
            self.resumed += key not in self._answered_now
            self._settle([submission], known)
            self._leave(worker)
        elif key in self._sharing:
            self._sharing[key].append(submission)
            self._leave(worker)
        else:
            self._sharing[key] = []
            worker.key = key

    def _finish(self, worker: Worker, answer: GradedAnswer) -> None:
        self._leave(worker)
        sharing = []
        if worker.key is not None:
            if answer.standing not in (Standing.NO_ANSWER, Standing.CRASHED):
                self._store.put(worker.key, self._examiner.options.budget, answer)
            self._answered_now.add(worker.key)
            sharing = self._sharing.pop(worker.key)
        self._settle([worker.submission, *sharing], answer)

    def _leave(self, worker: Worker) -> None:
        self._workers.remove(worker)
        worker.end()

    def _settle(self, submissions: Sequence[Submission], answer: GradedAnswer) -> None:
        self._answers.update(dict.fromkeys(submissions, answer))
        self._progress(len(self._answers), self._total)


def _processors() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _common_parts(examiner: Examiner) -> list[Any]:
    """What every answer of a run depends on, apart from the submission's code and from time."""
    options = examiner.options
    settings = {
        f.name: getattr(options, f.name) for f in fields(options) if f.compare and f.name not in _NO_PART_OF_KEY
    }
    return [__version__, examiner.key, settings, tests_digest(examiner.tests)]


def _rows(answers: dict[Submission, GradedAnswer], prepared: dict[Submission, Prepared]) -> list[Row]:
    first: dict[str, str] = {}
    rows = []
    for submission in sorted(answers):
        answer, known = answers[submission], prepared.get(submission)
        line = known.lines.get(answer.divergent) if known is not None and answer.divergent is not None else None
        same = first.setdefault(known.key, submission.name) if known is not None else submission.name
        rows.append(
            Row(
                submission.name,
                str(submission.path),
                answer,
                line,
                answer.listing or (_source_listing(known, answer, line) if known is not None else ()),
                same if same != submission.name else None,
            )
        )
    return rows


def _source_listing(prepared: Prepared, answer: GradedAnswer, divergent: int | None) -> tuple[CodeLine, ...]:
    """The submission's text, with how often each line was executed."""
    times: Counter[int] = Counter()
    for address, count in answer.executed:
        if address in prepared.lines:
            number = prepared.lines[address]
            times[number] = max(times[number], count)
    with_code = frozenset(prepared.lines.values())
    source = prepared.source[:-1] if prepared.source[-1:] == ("",) else prepared.source
    return tuple(
        CodeLine(str(number), text, times[number], number == divergent, number in with_code)
        for number, text in enumerate(source, start=1)
    )
