"""What the queue needs of workers, wherever they are: `LocalWorkers` on this machine, `ClusterWorkers` on many."""

from __future__ import annotations

from typing import Any, Protocol

from isoform.model.values import dataclass
from isoform.work.limited import Message
from isoform.work.task import Task, TaskEnd, TaskResult


@dataclass(frozen=True)
class Heard:
    """What workers say about a task: an answer at last, and before that perhaps what its key is."""

    ticket: int
    """The one under which the task was given."""
    answer: TaskResult | None = None
    key: str = ""
    found: Any = None


class Workers(Protocol):
    """To be used by one thread."""

    @property
    def free(self) -> int:
        """How many more tasks can be given now."""

    def give(self, ticket: int, task: Task) -> None: ...

    def reply(self, ticket: int, go: bool) -> None:
        """To a task that said its key: whether to go on, or to leave it. What is left is not heard of again."""

    def hear(self, seconds: float) -> list[Heard]:
        """What was said, after at most so many seconds."""

    def end(self) -> None:
        """At once. No process is left, and nothing is heard of what was given."""


def answer_of(task: Task, message: Message, seconds: float, key: str, found: Any) -> TaskResult:
    """From the last message of a task's process. A message of another form is a bug in its process."""
    try:
        ending, why = TaskEnd(message["ending"]), str(message["why"])
        return TaskResult(
            task, key, ending, message["result"], why, seconds, found=found, is_final=ending is TaskEnd.DONE
        )
    except (KeyError, ValueError):
        return TaskResult(task, key, TaskEnd.BROKE, why="its message cannot be read", seconds=seconds, is_final=False)
