"""The concolic engine, as the ladder asks it."""

from __future__ import annotations

from dataclasses import replace

from isoform.borders.question import Question
from isoform.engines.concolic.search import Search
from isoform.engines.finding import Failed, Finding, Found, Proved, WithinBound
from isoform.model.budget import Budget
from isoform.model.values import dataclass


@dataclass(frozen=True)
class Concolic:
    is_alone: bool = True
    """Whether no other engine is asked."""

    def answer(self, question: Question, budget: Budget) -> Finding:
        question.require_one_machine("concolic")
        search = Search(question, budget)
        finding = self._as_said(search.answer(), search)
        return replace(
            finding,
            assumptions=search.encoding.assumptions,
            timings={"solver": search.solver_seconds},
            steps=tuple(search.rows),
            examined=f"{search.counts.compared} runs along different paths" if search.counts.compared else "",
        )

    def _as_said(self, finding: Finding, search: Search) -> Finding:
        target, rewrite = search.paths
        match finding:
            case Found():
                return replace(finding, said=f"a difference after {search.counts.runs} runs")
            case Proved():
                said = f"all {target} paths of the target and {rewrite} of the rewrite, nothing cut"
                return replace(finding, said=said)
            case WithinBound(why=why) if not search.counts.compared and not self.is_alone:
                # A bound within which no run ended would hide what another engine found.
                return Failed("no run of both functions ended within the step bound (--fuel)", said=why)
            case _:
                return finding
