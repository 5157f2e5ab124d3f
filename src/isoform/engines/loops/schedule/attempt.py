"""One candidate for a proof, and how long it is tried."""

from __future__ import annotations

from collections.abc import Hashable
from math import sqrt

from isoform.borders.question import Question
from isoform.engines.loops.align.cuts import Alignment
from isoform.engines.loops.guess.invariant import Order
from isoform.engines.loops.observe.stations import Stations
from isoform.engines.loops.observe.traces import Traces
from isoform.engines.loops.prove.prover import Prover
from isoform.engines.loops.prove.result import MORE_TIME, NotShownError, Shown
from isoform.engines.loops.prove.simulation import Simulation
from isoform.engines.loops.tuning import BEST_FACTOR, BEST_SECONDS, NEARLY_FACTOR
from isoform.model.budget import Budget
from isoform.model.errors import Unsupported
from isoform.model.values import dataclass

_USUAL = (1, Order.COMPARED)
"""The degree and the comparisons that most proofs need."""


@dataclass(frozen=True)
class Attempt:
    stations: Stations
    traces: list[Traces]
    alignment: Alignment
    degree: int
    order: Order

    @property
    def key(self) -> Hashable:
        """What another test may change: if it is the same, the attempt would fail for the same reason."""
        return self.stations, frozenset(self.alignment.edges), self.degree, self.order

    def simulation(self, question: Question, budget: Budget) -> Simulation:
        return Simulation(question, budget, self.alignment, self.traces, self.stations, self.degree, self.order)


@dataclass
class Run:
    """An attempt that was begun. It keeps what it learned when its time slice ends."""

    attempt: Attempt
    number: int
    place: int
    """Of its alignment, in the order in which they are found: of two with similar costs the first one is better."""
    budget: Budget
    used: float = 0.0
    """Seconds that it got so far."""
    prover: Prover | None = None
    out_of_time: bool = False

    def cost(self, least: float, best: float) -> float:
        """Priority of its next time slice (smaller is sooner): less for a promising attempt, with an alignment as good
        as the `best`, few facts and no products; and for one that is nearly done."""
        attempt = self.attempt
        pairing = attempt.alignment.cost / best if attempt.alignment.is_comparable else 1.5
        weight = sqrt(self.place) * pairing * attempt.degree
        if attempt.order is Order.ALL or (attempt.order is Order.NONE and self.used):
            weight *= 2  # without comparisons it succeeds, or fails, soon
        return weight * (self.used + max(least, self.used)) / (NEARLY_FACTOR if self.is_settled else 1)

    def slice_seconds(self, least: float, best: float) -> float:
        """The length of its next time slice: much of it repeats what the slice before had not finished. The best
        alignment is the right one more often than not."""
        attempt, pairing = self.attempt, self.attempt.alignment
        is_best = pairing.is_comparable and pairing.cost <= best and (attempt.degree, attempt.order) == _USUAL
        first = max(least * BEST_FACTOR, BEST_SECONDS) if is_best else least
        return max(first, 2 * self.used)

    @property
    def is_settled(self) -> bool:
        """Whether it has its invariants."""
        return self.prover is not None and self.prover.settled

    def resume(self, question: Question, seconds: float, whole: Budget) -> Shown | NotShownError:
        """One time slice. The `whole` budget is for all attempts."""
        self.budget.renew(seconds)
        self.used += seconds
        try:
            if self.prover is None:
                self.prover = Prover(self.attempt.simulation(question, self.budget), self.budget)
            return self.prover.prove()
        except NotShownError as error:
            reason = error
        except Unsupported as error:
            reason = NotShownError(str(error), MORE_TIME if self.budget.exhausted else "")
        # What was not decided in the rest of a time slice may be in the next one, if that is longer.
        self.out_of_time = self.budget.exhausted or (reason.helps == MORE_TIME and self.used < whole.left)
        return reason
