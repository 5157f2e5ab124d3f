"""One submission as a question for the queue."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import Any

from isoform.grade.examine import Examiner, Rejected
from isoform.grade.submissions import Submission
from isoform.model.grades import GradedAnswer, Standing, answer_from_json
from isoform.model.values import dataclass
from isoform.work.limited import limit_memory
from isoform.work.task import Keyed, Task, TaskEnd, TaskLimits, TaskResult, content_key

KIND = "grade"
COMPILER_MEMORY = 4
"""A compiler gets this many times the memory, as it reserves more than it uses."""


@dataclass(frozen=True)
class Grading:
    """What all submissions of a run share."""

    examiner: Examiner
    common: str
    """A digest of what every answer depends on, apart from the submission's code and from time."""
    limits: TaskLimits

    def task(self, submission: Submission) -> Task:
        """Its key is the submission's code, which is not known before it is compiled."""
        effort = self.examiner.options.budget
        where = f"{__name__}:{examine.__name__}"
        return Task(KIND, "", where, submission, self.limits, effort, label=submission.name)


def examine(grading: Grading, submission: Submission) -> Generator[Keyed, None, dict[str, Any]]:
    """Two submissions with the same code are one question."""
    try:
        compiled = submission.path.suffix in (".c", ".s", ".S")
        limit_memory(grading.limits.memory * (COMPILER_MEMORY if compiled else 1))
        prepared, loaded = grading.examiner.open(submission)
        limit_memory(grading.limits.memory)
        yield Keyed(content_key([grading.common, prepared.key]), prepared.to_json())
        return grading.examiner.answer(loaded).to_json()
    except Rejected as reason:
        return GradedAnswer(Standing.REJECTED, str(reason)).to_json()


def graded(answer: TaskResult) -> GradedAnswer:
    """A process that could not answer gives a row like any other."""
    if answer.ending in (TaskEnd.OUT_OF_TIME, TaskEnd.OUT_OF_MEMORY):
        return GradedAnswer(Standing.NO_ANSWER, answer.why, seconds=answer.seconds)
    if answer.ending is not TaskEnd.DONE:
        return GradedAnswer(Standing.CRASHED, f"crashed the checker ({answer.why})", seconds=answer.seconds)
    found = read(answer.result) or GradedAnswer(Standing.CRASHED, "crashed the checker (its answer cannot be read)")
    return replace(found, seconds=found.seconds or answer.seconds)


def read(result: Any) -> GradedAnswer | None:
    try:
        return answer_from_json(result)
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
