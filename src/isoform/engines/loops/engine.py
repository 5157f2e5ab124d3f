"""The loops engine: tests, alignments, invariants, proof."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from isoform.budget import Budget
from isoform.engines.confirm import confirm, differs
from isoform.engines.loopfree import Asserted, Failed, Found, Proved
from isoform.engines.loops.align import Alignment, alignments, heads
from isoform.engines.loops.prove import NotShownError, Prover, Shown
from isoform.engines.loops.simulation import Simulation
from isoform.engines.loops.tests import Gathered, gather
from isoform.errors import Unsupported
from isoform.question import Question
from isoform.sym.state import World
from isoform.verdict import Assumption, Obligation, Witness

MOST_ALIGNMENTS = 6

HOW = (
    "The two functions are cut up at pairs of points, one in each. The obligations of a cut assert its invariant and "
    "that something goes wrong on the way from it; each is unsatisfiable. 'covered' says that the two go on to the "
    "same next cut, or abort or end together; 'invariant' and 'memory' that what is claimed at the next cut holds "
    "there; the others that at the end all observables agree. 'ends' says that a number gets smaller whenever one "
    "side turns while the other waits. From the entry on, by induction, the two stay together for ever or end alike."
)


@dataclass
class Loops:
    """Answers one question whose functions have loops."""

    question: Question
    budget: Budget
    timings: dict[str, float] = field(default_factory=dict)
    shown: Shown | None = None
    tests: int = 0

    def answer(self) -> Proved | Found | Failed:
        if not (heads(self.question.target) or heads(self.question.rewrite)):
            return Failed("neither function has a loop")
        gathered = self._gather()
        if gathered.differing is not None and differs(self.question, gathered.differing):
            result = confirm(self.question, gathered.differing, self.budget)
            if isinstance(result, Witness):
                return Found(result)
        if len(gathered.traces) < 2:
            return _too_few(gathered)
        started = time.perf_counter()
        candidates = alignments(gathered.traces)[:MOST_ALIGNMENTS]
        self.timings["guess"] = time.perf_counter() - started
        if not candidates:
            return Failed("the traces of the two could not be paired", "more tests may help")
        return self._prove(candidates, gathered)

    def _gather(self) -> Gathered:
        started = time.perf_counter()
        self.question.options.progress("running both on inputs on which their loops turn")
        gathered = gather(self.question, self.budget, self.question.options.seed)
        self.timings["trace"] = time.perf_counter() - started
        self.tests = len(gathered.traces)
        return gathered

    def _prove(self, candidates: list[Alignment], gathered: Gathered) -> Proved | Failed:
        started = time.perf_counter()
        why = ""
        attempts = [
            (degree, alignment) for degree in range(1, self.question.options.degree + 1) for alignment in candidates
        ]
        for number, (degree, alignment) in enumerate(attempts):
            share = self.budget.left / max(1, min(3, len(attempts) - number))
            budget = self.budget.part(share)
            self.question.options.progress(f"proving loops, attempt {number + 1} of {len(attempts)}")
            try:
                simulation = Simulation(self.question, budget, alignment, gathered.traces, degree)
                self.shown = Prover(simulation, budget).prove()
                break
            except NotShownError as reason:
                why = why or reason.why
            except Unsupported as reason:
                why = why or str(reason)
            if self.budget.exhausted:
                break
        self.timings["solve"] = time.perf_counter() - started
        if self.shown is None:
            return Failed(f"no proof was found for the loops: {why}", "a precondition (--assume) or tests may help")
        return Proved()

    def in_words(self) -> tuple[tuple[dict[str, Any], ...], tuple[str, ...]]:
        """The cuts, and the invariant at each."""
        from isoform.engines.loops.words import cuts, invariants

        assert self.shown is not None
        return cuts(self.shown.simulation), invariants(self.shown.simulation)

    @property
    def obligations(self) -> tuple[Obligation, ...]:
        return tuple(self.shown.obligations) if self.shown is not None else ()

    @property
    def asserted(self) -> list[Asserted]:
        return self.shown.asserted if self.shown is not None else []

    @property
    def world(self) -> World:
        assert self.shown is not None
        return self.shown.simulation.world

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        return tuple(self.world.assumptions.values()) if self.shown is not None else ()


def _too_few(gathered: Gathered) -> Failed:
    ended = ", ".join(f"{count} {word}" for word, count in gathered.ended.most_common())
    return Failed(f"too few tests came to an end ({ended or 'none was allowed'})", "a precondition may help: --assume")
