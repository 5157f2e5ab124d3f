"""The ladder: engines in order of expected cost, one budget, and what each one said.

This is the one place where `Unsupported` becomes `unknown`.
"""

from __future__ import annotations

import time
import traceback
from dataclasses import field, replace
from pathlib import Path
from typing import TypedDict

from isoform.borders.question import Question
from isoform.engines.finding import Failed, Finding, Found, Proved, WithinBound, sentence
from isoform.engines.rungs import EXPLORING, RUNGS, Climb, Reached, Rung, rungs_for
from isoform.model.budget import Budget
from isoform.model.contract import Contract
from isoform.model.errors import OutOfLimits, Unsupported
from isoform.model.outcome import Inputs
from isoform.model.values import dataclass
from isoform.model.verdict import (
    CALLS_AGREE,
    Assumption,
    Bounded,
    Different,
    Equivalent,
    Proof,
    SearchStep,
    Subject,
    Tried,
    Unknown,
    Verdict,
    Witness,
)

MORE_HELPS = "a larger --budget or --memory-limit may help"
UNFINISHED = "the question has not been answered yet"
"""Why a verdict is `unknown` while the engines are at work."""


class _Common(TypedDict):
    """What all verdicts of a question have."""

    target: Subject
    rewrite: Subject
    contract: Contract
    engine: str
    seconds: float
    assumptions: tuple[Assumption, ...]


@dataclass
class Ladder:
    question: Question
    subjects: tuple[Subject, Subject]
    budget: Budget
    rungs: tuple[Rung, ...] = RUNGS
    exploring: Rung = EXPLORING
    tried: list[Tried] = field(default_factory=list)
    timings: dict[str, float] = field(default_factory=dict)
    steps: tuple[SearchStep, ...] = ()
    _so_far: Verdict | None = None
    """The last thing that an engine could say."""
    _engine: str = ""
    """Which one is at work."""

    def climb(self) -> Verdict:
        """The verdict of the first engine that settles the question, else the strongest that any could give. What an
        engine was doing when it was stopped counts for nothing. A difference that was found and cannot be replayed is
        neither hidden behind a bound nor outvoted by a proof."""
        verdict = self._within_limits()
        if isinstance(verdict, Different) or not self.question.unreplayed:
            return verdict
        return self._unknown(Failed(self.question.unreplayed[0]))

    def settled_by(self, name: str, proved: Proved) -> Verdict:
        """The verdict where a proof is there before any engine is asked."""
        self.tried.append(Tried(name, proved.said, self.budget.elapsed))
        self.budget.is_closed = True
        return Equivalent(**self._common(name, proved.assumptions), proof=proved.proof)

    def _within_limits(self) -> Verdict:
        try:
            verdict = self._climb()
        except OutOfLimits as reason:
            verdict = self._cut_short(str(reason))
        except MemoryError:
            verdict = self._cut_short("memory ran out")
        self.budget.is_closed = True
        return verdict

    def _cut_short(self, why: str) -> Verdict:
        if self._so_far is not None:
            return self._so_far
        return self._unknown(Failed(f"{why} in {self._engine or 'the beginning'}", MORE_HELPS))

    def _climb(self) -> Verdict:
        climb = Climb(self.question, self.budget, self._own_tests())
        climb.meanwhile = None if climb.is_alone else _Exploring(self, climb)
        for rung in rungs_for(self.question.options.engine, self.rungs):
            if climb.is_alone or rung.when(climb):
                now = self._try(rung, climb)
                climb.reached = now if climb.is_alone else rung.weigh(climb, now)
            if climb.settled is not None:
                return climb.settled
        if isinstance(climb.reached, Verdict):
            return climb.reached
        return self._unknown(climb.reached or Failed(climb.last_said))

    def _own_tests(self) -> tuple[tuple[Inputs, Inputs], ...]:
        path = self.question.options.tests
        if path is None:
            return ()
        from isoform.engines.loops.observe.own_tests import read_own_tests

        return read_own_tests(path, self.question.contract)

    def _try(self, rung: Rung, climb: Climb) -> Reached:
        """What the engine found, None if it cannot answer; either way a line of `tried`."""
        started = time.perf_counter()
        outer, self._engine = self._engine, rung.name
        self._tell()
        result: Reached = None
        examined = ""
        budget = climb.budget if climb.is_alone else rung.part(climb)
        try:
            finding = rung.make(climb).answer(self.question, budget)
            finding = self._about_all_code(finding)
            said, examined = self._note(finding, climb), finding.examined
            if climb.is_alone or isinstance(finding, Found) or not rung.only_differences:
                result = self._result(rung.name, finding)
        except Unsupported as reason:
            said = str(reason)
        except RecursionError as error:
            # Terms are traversed by recursive functions: this need not be a bug, but it may be one.
            said = _nested_too_deeply(error)
        except (OutOfLimits, MemoryError) as reason:
            self.tried.append(Tried(rung.name, str(reason) or "memory ran out", time.perf_counter() - started))
            raise
        if budget.exhausted:
            climb.ran_out.add(rung.choice)
        else:
            climb.ran_out.discard(rung.choice)
        self._engine = outer
        self.tried.append(Tried(rung.name, said, time.perf_counter() - started, examined))
        climb.last_said = said
        if isinstance(result, Verdict):
            self._so_far = result
        return result

    def _about_all_code(self, finding: Finding) -> Finding:
        """A finding about all inputs that covers all the code that they lead to: otherwise the question is asked
        again."""
        if not isinstance(finding, (Proved, WithinBound)):
            return finding
        why = self.question.require_met_code()
        is_open = why and isinstance(finding, Proved)
        return Failed(f"runs came to code that is not compared: {why}") if is_open else finding

    def _note(self, finding: Finding, climb: Climb) -> str:
        """Keep what comes with a finding. Returns what the engine said."""
        self.timings |= finding.timings
        self.steps = finding.steps or self.steps
        climb.iterations_vary |= finding.iterations_vary
        climb.never_ends |= finding.never_ends
        return sentence(finding)

    def _tell(self) -> None:
        """What is known before the next engine begins."""
        verdict = self._so_far
        if verdict is None:
            verdict = Unknown(**self._common(self._engine), why=UNFINISHED, helps=MORE_HELPS)
        self.question.options.so_far(replace(verdict, tried=tuple(self.tried)))

    # -- verdicts -------------------------------------------------------------------------------

    def _result(self, engine: str, finding: Finding) -> Verdict | Failed:
        match finding:
            case Found(witness=witness):
                assumptions = (*finding.assumptions, *_about_calls(witness))
                return Different(**self._common(engine, assumptions), witness=witness)
            case Proved():
                return Equivalent(**self._common(engine, finding.assumptions), proof=self._certified(engine, finding))
            case WithinBound(bound=bound, why=why):
                return Bounded(**self._common(engine, finding.assumptions), bound=bound, why=why)
            case Failed():
                return finding

    def _certified(self, engine: str, finding: Proved) -> Proof:
        """The proof, with a certificate if one is wanted."""
        folder = self.question.options.cert
        if folder is None:
            return finding.proof
        from isoform.engines.certify import write_certificate

        every = _all_assumptions(self.question, finding.assumptions)
        written = write_certificate(self.question, self.subjects, finding.grounds, every, folder, engine)
        return replace(finding.proof, certificate=written)

    def _unknown(self, failed: Failed) -> Verdict:
        engine = self.tried[-1].engine if self.tried else "none"
        return Unknown(**self._common(engine), why=failed.why, helps=failed.helps)

    def _common(self, engine: str, assumptions: tuple[Assumption, ...] = ()) -> _Common:
        return {
            "target": self.subjects[0],
            "rewrite": self.subjects[1],
            "contract": self.question.contract,
            "engine": engine,
            "seconds": self.budget.elapsed,
            "assumptions": _all_assumptions(self.question, assumptions),
        }


@dataclass(frozen=True)
class _Exploring:
    """The concolic engine, while a proof takes long."""

    ladder: Ladder
    climb: Climb

    def settles(self) -> bool:
        self.climb.explored = self.ladder._try(self.ladder.exploring, self.climb)
        return self.has_settled

    @property
    def has_settled(self) -> bool:
        return isinstance(self.climb.explored, (Different, Equivalent))

    @property
    def has_answered(self) -> bool:
        return self.climb.explored is not None


def _nested_too_deeply(error: RecursionError) -> str:
    """The message for an engine that Python's recursion limit ended, with the place: a bug must look like one."""
    innermost = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{Path(innermost.filename).name}:{innermost.lineno}"
    return (
        f"Python's recursion limit was reached at {place}: a formula is nested too deeply, or this is a bug in isoform "
        "(if both functions are small, please report it)"
    )


def _about_calls(witness: Witness) -> tuple[Assumption, ...]:
    """What a witness with calls of outside functions rests on: that they return, as they did in its runs."""
    return (CALLS_AGREE,) if any(outcome.calls for outcome in (witness.target, witness.rewrite)) else ()


def _all_assumptions(question: Question, more: tuple[Assumption, ...]) -> tuple[Assumption, ...]:
    return tuple({a.name: a for a in (*question.assumptions, *more)}.values())
