"""What an engine is: something that answers a question within a budget."""

from __future__ import annotations

from typing import Protocol

from isoform.borders.question import Question
from isoform.engines.finding import Finding
from isoform.model.budget import Budget


class EngineProtocol(Protocol):
    """An engine that cannot handle a question raises `Unsupported`. It stops soon after its budget is exhausted."""

    def answer(self, question: Question, budget: Budget) -> Finding: ...


class Meanwhile(Protocol):
    """Something else that may settle the question while an engine is at work."""

    def settles(self) -> bool:
        """Try it now: whether it settles the question."""
        ...

    @property
    def has_settled(self) -> bool: ...

    @property
    def has_answered(self) -> bool:
        """Whether it said anything when it was tried."""
        ...
