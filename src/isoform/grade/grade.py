"""`isoform grade`: one reference against a folder of submissions."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isoform import __version__
from isoform.borders.question import Options
from isoform.grade.examine import Examiner
from isoform.grade.fixed_tests import read_tests, tests_digest
from isoform.grade.state import open_state
from isoform.grade.submissions import Submission, find_submissions, refuse_to_overwrite
from isoform.grade.submitted import Grading, graded, read
from isoform.isa.registry import TEXT_ISAS
from isoform.load.open import LoadOptions
from isoform.load.resolve import split_spec
from isoform.model.errors import UserError
from isoform.model.grades import CodeLine, GradedAnswer, Grades, Prepared, Row, prepared_from_json
from isoform.model.values import dataclass
from isoform.work.local import LocalWorkers
from isoform.work.queue import Queue, Rules
from isoform.work.task import ResultOrigin, TaskEnd, TaskLimits, TaskResult, content_key

if TYPE_CHECKING:
    from isoform.work.store import Store

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
    with open_state(grading.state, grading.fresh) if grading.state is not None else nullcontext() as store:
        run = _Run(examiner, grading, store)
        rows = run.rows(submissions)
    return Grades(
        reference=reference,
        function=examiner.function,
        folder=str(folder),
        rows=tuple(rows),
        total=len(submissions),
        tests=len(tests),
        seconds=time.monotonic() - started,
        resumed=run.resumed,
        state=str(grading.state) if run.keeps else None,
    )


def _is_text(examiner: Examiner) -> bool:
    return examiner.isa in TEXT_ISAS.values()


class _Run:
    """The work of one `grade`: answers by code, rows."""

    def __init__(self, examiner: Examiner, grading: GradeOptions, store: Store | None) -> None:
        budget = examiner.options.budget * (2 if examiner.tests else 1)
        limits = TaskLimits(budget + GRACE, grading.memory_limit << 20)
        self._shared = Grading(examiner, content_key(_common_parts(examiner)), limits)
        self._jobs = grading.jobs
        self._progress = grading.progress
        self._store = store
        self._by_code: dict[str, GradedAnswer] = {}
        self._kept: set[str] = set()
        self._prepared: dict[Submission, Prepared] = {}
        self._answers: dict[Submission, GradedAnswer] = {}
        self.resumed = 0
        self.keeps = store is not None

    def rows(self, submissions: Sequence[Submission]) -> list[Row]:
        """One for each submission that was answered: all of them, unless interrupted."""
        with Queue(
            LocalWorkers(self._jobs, self._shared),
            self._store,
            RULES,
            lambda progress: self._progress(progress.done, progress.total),
            on_store_trouble=self._keep_no_more,
        ) as queue:
            queue.add_all(map(self._shared.task, submissions))
            for answer in queue.answers():
                self._settle(answer)
        return _rows(self._answers, self._prepared)

    def _keep_no_more(self, error: UserError) -> None:
        """A full disk costs the resuming, not the grading."""
        self.keeps = False

    def _settle(self, answer: TaskResult) -> None:
        submission: Submission = answer.task.payload
        if answer.found is not None:
            self._prepared[submission] = prepared_from_json(answer.found)
        if answer.origin is ResultOrigin.KEPT:
            self._kept.add(answer.key)
        self.resumed += answer.key in self._kept
        self._answers[submission] = self._read_once(answer)

    def _read_once(self, answer: TaskResult) -> GradedAnswer:
        if not answer.key:
            return graded(answer)
        return self._by_code.setdefault(answer.key, graded(answer))


def _is_final(answer: TaskResult) -> bool:
    return answer.ending is TaskEnd.DONE and graded(answer).is_final


RULES = Rules(
    is_final=_is_final,
    is_kept=lambda answer: answer.ending is TaskEnd.DONE,
    is_reused=lambda kept: kept.ending is TaskEnd.DONE and read(kept.result) is not None,
)


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
