"""A question as a value that can be sent to another process, and what came of it."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from enum import Enum
from hashlib import sha256
from typing import Any

from isoform.model.values import dataclass


@dataclass(frozen=True)
class TaskLimits:
    """Of the process that answers one question."""

    seconds: float
    """Of processor time, from its start to its end. On the wall clock `WALL_FACTOR` times as many end it, too."""
    memory: int
    """Bytes beyond what the process has when it starts."""


@dataclass(frozen=True)
class Task:
    """One question. `function` is called as `function(shared, payload)` in a limited process, where `shared` is what
    the workers were given for all questions. What it returns must be JSON; what it raises is a bug.

    A function that is a generator may find the key of its question on the way: see `Keyed`."""

    kind: str
    """Which question is asked, by a short name: answers are kept under kind and key."""
    key: str
    """A digest of all that the answer depends on, apart from the time given: see `content_key`. Empty if the function
    finds it."""
    function: str
    """An importable function, as `package.module:name`."""
    payload: Any
    """Its second argument; it must be picklable."""
    limits: TaskLimits
    effort: float = 0.0
    """Seconds that the function is given to find an answer. An answer that is not final is asked for again where more
    are given."""
    priority: int = 0
    """Lower ones are asked first."""
    cost: float = 0.0
    """Expected seconds: among equal priorities the cheapest is asked first, and then the one that was added first."""
    label: str = ""
    """What it is about, for the caller and for reports."""


class TaskEnd(Enum):
    """How the process of a question ended."""

    DONE = "done"
    """The function returned; all other endings have no result."""
    BROKE = "broke"
    """The function raised an exception: a bug."""
    DIED = "died"
    """The process ended without a word, twice."""
    OUT_OF_TIME = "out of time"
    OUT_OF_MEMORY = "out of memory"


class ResultOrigin(Enum):
    """Where an answer comes from."""

    ASKED = "asked"
    KEPT = "kept"
    """From the store."""
    SHARED = "shared"
    """Another task of this run has the same kind and key, and its answer is the answer of both."""


@dataclass(frozen=True)
class TaskResult:
    task: Task
    key: str
    """The task's, or what its function found; empty if it ended before it had found it."""
    ending: TaskEnd
    result: Any = None
    """What the function returned, as JSON gives it back: lists for tuples, strings for keys."""
    why: str = ""
    """How it ended, if it is not `DONE`: "signal 9", "no answer in 5 s"."""
    seconds: float = 0.0
    """On the wall clock, from its start to its end."""
    attempts: int = 1
    origin: ResultOrigin = ResultOrigin.ASKED
    found: Any = None
    """What the function told with the key that it found (`Keyed.found`); None for other tasks."""
    is_final: bool = True
    """Whether more time could not say more, by the rules of the caller."""

    @property
    def reason(self) -> str:
        """Why there is no result, for people; empty if there is one."""
        if self.ending is TaskEnd.DONE:
            return ""
        if self.ending is TaskEnd.BROKE:
            return f"isoform has a bug ({self.why})"
        if self.ending is TaskEnd.DIED:
            often = "its process died twice" if self.attempts > 1 else "its process died"
            return f"{often} ({self.why})"
        return self.why


@dataclass(frozen=True)
class Keyed:
    """What a generator function yields, once, when it has found what its question is: the workers go on with it only
    if nobody has answered the same question, or is about to. `TaskResult.found` has `found` in any case."""

    key: str
    found: Any = None
    """More to tell, as JSON."""


@dataclass(frozen=True)
class Recipe:
    """How `shared` is made, where it cannot be inherited: `function(payload)` is called once a process."""

    function: str
    payload: Any = None

    def make(self) -> Any:
        return imported(self.function)(self.payload)


def imported(reference: str) -> Callable[..., Any]:
    """The function that `package.module:name` is."""
    module, _, name = reference.partition(":")
    found: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return found


def content_key(parts: Any) -> str:
    """A digest of what an answer depends on. Parts are JSON, or values whose `str` says all that they are."""
    return sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()
