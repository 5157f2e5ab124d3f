"""The options of a comparison of libraries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from fnmatch import fnmatchcase
from typing import Any

from isoform.borders.question import Options
from isoform.load.open import LoadOptions
from isoform.model.library_diff import FunctionAnswer
from isoform.model.limits import DEFAULT_MEMORY
from isoform.model.names import spellings, without_spaces
from isoform.model.values import dataclass


@dataclass(frozen=True)
class DiffOptions:
    budget: float = 20.0
    """Seconds of processor time for one function."""
    seconds: float | None = None
    """On the wall clock, for all together."""
    jobs: int | None = None
    store: str | None = None
    cluster: str | None = None
    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    matches: tuple[tuple[str, str], ...] = ()
    """Pairs of names that belong together."""
    retry: frozenset[FunctionAnswer] = frozenset()
    """Answers in the store that are asked about again."""
    accept: str | None = None
    """A file of differences that are meant."""
    cert: str | None = None
    """A folder for the listing of functions that are the same code."""
    memory_limit: int = DEFAULT_MEMORY
    seed: int = 1
    loading: tuple[LoadOptions, LoadOptions] = field(default_factory=lambda: (LoadOptions(), LoadOptions()))
    progress: Callable[[str], None] = lambda what: None

    def has(self, *names: str) -> bool:
        """Whether a function of these names takes part."""
        spelled = [spelling for name in names for spelling in spellings(name)]
        return (not self.only or _fit(spelled, self.only)) and not _fit(spelled, self.skip)

    @property
    def of_questions(self) -> Options:
        return Options(budget=self.budget, seed=self.seed, memory_limit=self.memory_limit)

    def as_json(self) -> dict[str, Any]:
        return {
            "budget": self.budget,
            "time": self.seconds,
            "only": list(self.only),
            "skip": list(self.skip),
            "match": [f"{old}={new}" for old, new in self.matches],
            "seed": self.seed,
        }


def _fit(spelled: Sequence[str], patterns: Sequence[str]) -> bool:
    wanted = [without_spaces(pattern) for pattern in patterns]
    return any(name == pattern or fnmatchcase(name, pattern) for name in spelled for pattern in wanted)
