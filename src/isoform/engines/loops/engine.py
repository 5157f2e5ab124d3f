"""The loops engine, as the ladder asks it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from isoform.borders.question import Question
from isoform.engines.finding import Failed, Finding
from isoform.engines.loops.schedule.proving import Proving
from isoform.engines.protocol import Meanwhile
from isoform.model.budget import Budget
from isoform.model.errors import Unsupported
from isoform.model.outcome import Inputs
from isoform.model.values import dataclass


@dataclass(frozen=True)
class Loops:
    own: Sequence[tuple[Inputs, Inputs]] = ()
    """The user's own tests."""
    meanwhile: Meanwhile | None = None
    """Tried if a proof takes long."""

    def answer(self, question: Question, budget: Budget) -> Finding:
        """The answer of the first version of the question that has one."""
        question.require_one_machine("loops")
        *earlier, last = question.versions or (question,)
        for version in earlier:
            try:
                finding = self._prove(version, budget.part(budget.left / 2), self.meanwhile)
            except Unsupported:
                continue
            if not isinstance(finding, Failed) or (self.meanwhile is not None and self.meanwhile.has_settled):
                return finding
        is_open = self.meanwhile is not None and not self.meanwhile.has_answered
        return self._prove(last, budget, self.meanwhile if is_open else None)

    def _prove(self, question: Question, budget: Budget, meanwhile: Meanwhile | None) -> Finding:
        proving = Proving(question, budget, self.own, meanwhile.settles if meanwhile is not None else None)
        return replace(proving.answer(), timings=proving.timings)
