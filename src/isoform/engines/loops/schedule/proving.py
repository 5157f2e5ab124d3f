"""From tests to a proof, or to why there is none."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import field, replace

from isoform.borders.question import Question
from isoform.engines.finding import Failed, Found, Proved
from isoform.engines.grounds import Grounds
from isoform.engines.loops.observe.many import after_many_iterations
from isoform.engines.loops.observe.stations import heads
from isoform.engines.loops.observe.tests import GatheredTraces, gather
from isoform.engines.loops.observe.untaken import untaken
from isoform.engines.loops.observe.windows import long_fuel
from isoform.engines.loops.prove.claims import STATE_AT
from isoform.engines.loops.prove.result import MORE_TIME, Shown
from isoform.engines.loops.prove.words import cuts, invariants
from isoform.engines.loops.schedule.slices import TimeSlices
from isoform.engines.loops.tuning import MOST_LEARNED
from isoform.engines.separate import differs
from isoform.engines.witness import confirm
from isoform.model.budget import Budget
from isoform.model.outcome import Inputs
from isoform.model.values import dataclass
from isoform.model.verdict import Proof, Witness

HOW = (
    "The two functions are cut up at pairs of points, one in each. The obligations of a cut assert its invariant and "
    "that a claim fails after it; each is unsatisfiable. 'addresses' shows which addresses are equal, and the others "
    "write equal addresses as one term. 'covered' shows that both reach the same next cut, or abort or end together; "
    "'invariant' and 'memory' that what is claimed at the next cut holds there; the others that all observables agree "
    "at the end. 'ends' shows that a number decreases whenever one side iterates while the other waits; if loops are "
    "nested, one that never grows decreases in some, and others in the cycles that remain. By induction "
    "from the entry, the two stay together for ever or end alike. If the assumption both-end is listed, 'ends' is not "
    "shown for all of these cycles, and runs that never leave one are outside the claim."
)


@dataclass
class Proving:
    """Looks for a proof about two functions that have loops."""

    question: Question
    budget: Budget
    own: Sequence[tuple[Inputs, Inputs]] = ()
    """The user's own tests."""
    meanwhile: Callable[[], bool] | None = None
    """Something else that may settle the question, tried once if a proof takes long. True if it did."""
    timings: dict[str, float] = field(default_factory=dict)
    _late: Found | None = None
    """A difference that shows only after very many iterations, as where a narrow counter wraps."""
    _examined: str = ""
    """In how many long runs the two agree."""
    _is_always_long: bool = False
    """Whether loops that are entered always iterate often: following single paths would not come to their end."""
    _has_run_long: bool = False
    """Whether such a difference was looked for."""

    def answer(self) -> Proved | Found | Failed:
        if not (heads(self.question.target) or heads(self.question.rewrite)):
            return Failed("neither function has a loop")
        gathered = self._gather()
        self._is_always_long = bool(gathered.long) and not gathered.has_iterations
        if gathered.differing is not None:
            question = _with_long_runs(self.question) if gathered.is_long else self.question
            if differs(question, gathered.differing):
                result = confirm(question, gathered.differing, self.budget)
                if isinstance(result, Witness):
                    return _found(result)
        if len(gathered.inputs) + len(gathered.long) < 2:
            return _too_few(gathered)
        return self._prove(gathered)

    def _gather(self) -> GatheredTraces:
        started = time.perf_counter()
        self.question.options.progress("running both on inputs that make their loops iterate")
        gathered = gather(self.question, self.budget, self.question.options.seed, self.own)
        self.timings["trace"] = time.perf_counter() - started
        return gathered

    def _prove(self, gathered: GatheredTraces) -> Proved | Found | Failed:
        started = time.perf_counter()
        slices = TimeSlices(self.question, self.budget, self._settles_elsewhere)
        # If a proof fails because a test is missing, a model becomes one, and everything starts again with it.
        for _ in range(1 + MOST_LEARNED):
            if not slices.run(gathered) or slices.is_settled:
                break
            if gathered.differs and gathered.differing is not None:
                question = _with_long_runs(self.question) if gathered.is_long else self.question
                result = confirm(question, gathered.differing, self.budget)
                if isinstance(result, Witness):
                    return _found(result)
                break
        self.timings["guess"] = slices.guess_seconds
        self.timings["solve"] = time.perf_counter() - started - slices.guess_seconds
        if slices.shown is not None:
            return _proved(slices.shown, len(gathered.inputs) + len(gathered.long))
        if not slices.is_settled:
            self._run_long()
        return self._late or replace(self._failed(gathered, slices), examined=self._examined)

    def _settles_elsewhere(self) -> bool:
        """Whether another engine has the answer, or very long runs have."""
        if self.meanwhile is not None and not self._is_always_long and self.meanwhile():
            return True
        self._run_long()
        return self._late is not None

    def _run_long(self) -> None:
        if self._has_run_long:
            return
        self._has_run_long = True
        self.question.options.progress("looking for a difference after many iterations")
        question = _with_long_runs(self.question)
        runs = after_many_iterations(question, self.budget)
        self._examined = runs.examined
        result = confirm(question, runs.differing, self.budget) if runs.differing is not None else None
        self._late = _found(result) if isinstance(result, Witness) else None

    def _failed(self, gathered: GatheredTraces, slices: TimeSlices) -> Failed:
        """What stopped the strongest attempt, of several the first."""
        if not slices.reasons:
            return Failed("the traces of the two could not be aligned", _helps(gathered, ""))
        reason = max(slices.reasons, key=lambda r: (r[1].helps != MORE_TIME, r[0]))[1]
        missed = untaken(self.question, gathered.inputs + gathered.long) if not self.budget.exhausted else []
        why = f"no proof was found for the loops: {reason.why}"
        return Failed(f"{why}; {missed[0]}" if missed else why, _helps(gathered, reason.helps, bool(missed)))


def _with_long_runs(question: Question) -> Question:
    """The question, for a difference that shows after many iterations."""
    return replace(question, options=replace(question.options, fuel=long_fuel(question)))


def _proved(shown: Shown, tests: int) -> Proved:
    simulation = shown.simulation
    proof = Proof(tuple(shown.obligations), cuts(simulation), invariants(simulation))
    ends = [part.goal.name for part in shown.asserted if part.place.get("to") == "end"]
    returns = any(not name.startswith(STATE_AT) for name in ends)
    return Proved(
        proof,
        Grounds(simulation.setting.world.terms, shown.asserted, HOW, returns, calls=True),
        said=f"{len(proof.obligations)} obligations shown, with what {tests} tests suggested",
        assumptions=tuple(simulation.setting.world.assumptions.values()),
    )


def _found(witness: Witness) -> Found:
    return Found(witness, said="a difference while looking for invariants")


def _too_few(gathered: GatheredTraces) -> Failed:
    if not gathered.ran:
        return Failed("no test satisfies the preconditions", _helps(gathered, "tests that do (--tests)"))
    ended = ", ".join(f"on {count} {what}" for what, count in gathered.ended.most_common(3))
    why = f"of {gathered.ran} tests {len(gathered.traces) or 'none'} could be used" + (f": {ended}" if ended else "")
    return Failed(why, _helps(gathered, "a precondition (--assume) or tests (--tests) with which both stop early"))


def _helps(gathered: GatheredTraces, specific: str, missed: bool = False) -> str:
    """What would help, most specific first."""
    if gathered.own and gathered.own_excluded == gathered.own:
        return f"tests that --assume allows: it excludes all {gathered.own} of --tests"
    if gathered.own_unused:
        return f"other tests: {gathered.own_unused[0]}"
    if missed:
        return "tests that take it (--tests), or a precondition that excludes it (--assume)"
    return specific or "a precondition (--assume), more tests (--tests), or more time (--budget)"
