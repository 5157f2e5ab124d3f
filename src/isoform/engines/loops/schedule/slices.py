"""Attempts run in time slices: the first ones get more time than later ones, but none waits for long, since the right
one is often quick."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import field

from isoform.borders.question import Question
from isoform.engines.loops.guess.invariant import Order
from isoform.engines.loops.observe.tests import GatheredTraces, add_test
from isoform.engines.loops.prove.result import NotShownError, Shown
from isoform.engines.loops.schedule.attempt import Run
from isoform.engines.loops.schedule.candidates import Candidates, Coming
from isoform.engines.loops.tuning import LONG_SECONDS, MOST_WAITING, NEARLY_LONGER, SLICE_SECONDS, SLICE_SHARE
from isoform.model.budget import Budget
from isoform.model.values import dataclass


@dataclass
class TimeSlices:
    question: Question
    budget: Budget
    meanwhile: Callable[[], bool] | None = None
    """Something else that may settle the question, tried once if a proof takes long. True if it did."""
    shown: Shown | None = None
    reasons: list[tuple[Order, NotShownError]] = field(default_factory=list)
    """Why attempts failed."""
    is_settled: bool = False
    """Whether something else has the answer."""
    guess_seconds: float = 0.0
    _tried: set[Hashable] = field(default_factory=set)
    _waiting: list[Run] = field(default_factory=list)
    """Attempts that were begun. They continue beside those that a further test leads to."""

    def run(self, gathered: GatheredTraces) -> bool:
        """Run attempts until there is a proof, or nothing is left to try, or no time. True if an attempt led to a test
        that was missing."""
        candidates = Candidates(self.question, gathered)
        try:
            return self._run(gathered, candidates)
        finally:
            self.guess_seconds += candidates.seconds

    def _run(self, gathered: GatheredTraces, candidates: Candidates) -> bool:
        waiting = self._waiting
        quick = max(SLICE_SECONDS, self.budget.left * SLICE_SHARE)
        coming = Coming(candidates, self._tried.union(run.attempt.key for run in waiting))
        learned = False
        while not self.budget.exhausted and not self._look_elsewhere():
            run = min(waiting, key=lambda r: r.cost(quick, coming.best), default=None)
            # Only now: choosing the stations and aligning the traces may take a while.
            if run is None or coming.cost(quick) < run.cost(quick, coming.best):
                if learned:
                    return True
                begun = coming.begin(self.budget)
                if begun is not None:
                    waiting.append(begun)
                    continue
            if run is None:
                break
            reason = self._slice(run, run.slice_seconds(quick, coming.best), coming)
            if reason is None:
                return False
            learned |= reason.inputs is not None and add_test(self.question, gathered, reason.inputs)
            if gathered.differs:
                return True
            for dropped in sorted(waiting, key=lambda r: r.cost(quick, coming.best))[MOST_WAITING:]:
                dropped.prover = None
        return learned

    def _slice(self, run: Run, seconds: float, coming: Coming) -> NotShownError | None:
        """One time slice of an attempt. None if there is a proof now."""
        self.question.options.progress(f"proving loops, attempt {run.number}")
        result = run.resume(self.question, seconds, self.budget)
        if isinstance(result, Shown):
            self.shown = result
            return None
        if not run.out_of_time:
            self._waiting.remove(run)
            self._tried.add(run.attempt.key)
            stronger = coming.stronger(run, self.budget)
            self._waiting += [stronger] if stronger is not None else []
        if not run.out_of_time or self.budget.exhausted:
            self.reasons.append((run.attempt.order, result))
        return result

    def _look_elsewhere(self) -> bool:
        """Whether something else has the answer meanwhile."""
        nearly = any(run.is_settled for run in self._waiting)
        if self.meanwhile is not None and self.budget.spent >= LONG_SECONDS * (NEARLY_LONGER if nearly else 1):
            settles, self.meanwhile = self.meanwhile, None
            self.is_settled = settles()
        return self.is_settled
