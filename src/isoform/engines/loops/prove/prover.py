"""Proving a candidate: invariants to a fixpoint, then that they suffice."""

from __future__ import annotations

from isoform.engines.loops.prove.cases import Cases
from isoform.engines.loops.prove.cover import Coverage
from isoform.engines.loops.prove.keep import Keeping
from isoform.engines.loops.prove.rank import RankingSearch
from isoform.engines.loops.prove.record import Recording
from isoform.engines.loops.prove.result import NotShownError, Shown
from isoform.engines.loops.prove.simulation import Simulation
from isoform.engines.loops.tuning import MOST_REPAIRS
from isoform.model.budget import Budget


class Prover:
    """Proves one candidate or raises NotShownError."""

    def __init__(self, simulation: Simulation, budget: Budget) -> None:
        self._cases = Cases(simulation, budget)
        self._keeping = Keeping(simulation, self._cases, budget)
        self._coverage = Coverage(simulation, self._cases, budget)
        self._ranking = RankingSearch(simulation, self._cases)
        self._recording = Recording(simulation, self._cases, self._ranking)
        self.settled = False
        """Whether inductive invariants were found and the edges cover all paths: the rest is to record the proof."""

    def prove(self) -> Shown:
        self._cases.resume()
        self._cases.is_searching = True
        for _ in range(MOST_REPAIRS):
            # If the guessed facts do not suffice, fewer of them do not either.
            if not self._coverage.is_complete(glance=True):
                continue
            self._keeping.to_fixpoint()
            if self._coverage.is_complete():
                break
        else:
            raise NotShownError("the two keep taking paths on which they were not aligned")
        self.settled = True
        self._cases.is_searching = False
        return self._recording.finish(self._ranking.find())
