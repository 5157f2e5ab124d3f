"""The ladder: engines in order of expected cost, one budget, and what each one said.

This is the one place where `Unsupported` becomes `unknown`.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isoform.borders.bools import without_bools_in_memory
from isoform.borders.question import Engine, Question
from isoform.engines.loopfree import Encoding, Failed, Finding, Found, Loopfree, Proved, WithinBound, encode
from isoform.engines.testing import Tested, run_tests
from isoform.model.budget import Budget
from isoform.model.errors import OutOfLimits, Unsupported
from isoform.model.outcome import Inputs
from isoform.model.verdict import (
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
from isoform.sym.execute import CALLS_AGREE
from isoform.sym.recursion import calls_itself

if TYPE_CHECKING:
    from isoform.engines.loops.engine import Loops

QUICK_SECONDS, GLANCE_SECONDS = 1.0, 0.25
"""For unrolling loops before anything is tried to prove about them; and where that cannot be all there is."""
LOOPS_SECONDS, LOOPS_SHARE = 60.0, 0.7
"""For proving loops, and of what is left of the budget at most."""
LAST_SECONDS = 10.0
"""For unrolling loops after no proof about them was found: so much, or as much as was spent until then. It can only
give a bound, and what takes longer hardly ever finishes."""
AUTO_SECONDS, EXPLORE_SECONDS = 12.0, 2.5
"""For the concolic engine as a rung of the ladder: what it finds it mostly finds early. And while a proof goes on."""

MORE_HELPS = "a larger --budget or --memory-limit may help"
UNFINISHED = "the question has not been answered yet"
"""Why a verdict is `unknown` while the engines are at work."""


@dataclass
class Ladder:
    question: Question
    subjects: tuple[Subject, Subject]
    budget: Budget
    tried: list[Tried] = field(default_factory=list)
    timings: dict[str, float] = field(default_factory=dict)
    steps: tuple[SearchStep, ...] = ()
    own: tuple[tuple[Inputs, Inputs], ...] = ()
    """The user's own tests."""
    _so_far: Verdict | None = None
    """The most that any engine could say."""
    _engine: str = ""
    """Which one is at work."""
    _explored: Verdict | Failed | None = None
    """What the concolic engine said while a proof of loops took long."""

    def climb(self) -> Verdict:
        """The verdict of the first engine that settles the question, else the most that any could say. What an engine
        was at when it had to be ended counts for nothing. A difference that was found and cannot be replayed is neither
        hidden behind a bound nor outvoted by a proof."""
        verdict = self._within_limits()
        if isinstance(verdict, Different) or not self.question.unreplayed:
            return verdict
        return self._unknown(Failed(self.question.unreplayed[0]))

    def _within_limits(self) -> Verdict:
        try:
            return self._climb()
        except OutOfLimits as reason:
            return self._cut_short(str(reason))
        except MemoryError:
            return self._cut_short("memory ran out")
        finally:
            self.budget.is_closed = True

    def _cut_short(self, why: str) -> Verdict:
        if self._so_far is not None:
            return self._so_far
        return self._unknown(Failed(f"{why} in {self._engine or 'the beginning'}", MORE_HELPS))

    def _climb(self) -> Verdict:
        engine = self.question.options.engine
        self._read_tests()
        tested: Tested | None = None
        if engine in (Engine.AUTO, Engine.TESTING):
            tested = self._try("testing", self._test)
            if tested is not None and tested.witness is not None:
                return self._verdict(Different, "testing", witness=tested.witness)
        if engine is Engine.TESTING:
            return self._after_testing(tested)
        finding = None
        questions = (self.question, *self.question.versions)
        turning = any(f.has_loop for question in questions for f in (question.target, question.rewrite))
        if engine is Engine.AUTO and turning:
            # Loops that turn a fixed number of times, and differences in the first turns, show quickly.
            varying = tested is not None and tested.turns_vary
            quick = min(GLANCE_SECONDS if varying else QUICK_SECONDS, self.budget.left / 8)
            finding = self._try("loopfree", lambda: self._loopfree(self.budget.counted_part(quick)))
        if engine is Engine.LOOPS or (engine is Engine.AUTO and turning and _leaves_more(finding)):
            proving = self._try("loops", self._loops)
            # What a quick look could not do says less than what stopped a proof.
            quick_failed = isinstance(finding, Failed) and isinstance(proving, Failed)
            finding = proving if quick_failed else self._stronger(finding, proving)
            if isinstance(self._explored, (Different, Equivalent)):
                return self._explored
        if engine in (Engine.AUTO, Engine.LOOPFREE) and not isinstance(finding, Verdict):
            last = self.budget.part(max(LAST_SECONDS, self.budget.spent)) if turning and engine is Engine.AUTO else None
            encoded = self._try("loopfree", lambda: self._loopfree(last))
            finding = self._stronger(finding, Failed(self._last()) if encoded is None else encoded)
        if engine is Engine.CONCOLIC or (engine is Engine.AUTO and _leaves_more(finding)):
            searched = self._try("concolic", self._concolic)
            finding = self._stronger(finding, self._explored if searched is None else searched)
        if isinstance(finding, Verdict):
            return finding
        return self._unknown(finding if isinstance(finding, Failed) else Failed(self._last()))

    def _read_tests(self) -> None:
        path = self.question.options.tests
        if path is not None:
            from isoform.engines.loops.own_tests import read_own_tests

            self.own = read_own_tests(path, self.question.contract)

    def _stronger(self, said: Verdict | Failed | None, now: Verdict | Failed | None) -> Verdict | Failed | None:
        """Of what two engines said the one that says more. A bound on loops says more than one on paths."""
        if isinstance(now, (Different, Equivalent)) or not isinstance(said, Verdict):
            return now if isinstance(now, Verdict) or said is None else said
        return said

    def _try(self, engine: str, run: Callable[[], Any]) -> Any:
        """What the engine found, None where it cannot answer; either way a line of `tried`."""
        started = time.perf_counter()
        outer, self._engine = self._engine, engine
        self._tell()
        try:
            result, said = run()
        except Unsupported as reason:
            result, said = None, str(reason)
        except RecursionError as error:
            # Terms are taken apart by functions that call themselves: this need not be a bug, but it may be one.
            result, said = None, _nested_too_deeply(error)
        except (OutOfLimits, MemoryError) as reason:
            self.tried.append(Tried(engine, str(reason) or "memory ran out", time.perf_counter() - started))
            raise
        self._engine = outer
        seconds = time.perf_counter() - started
        self.tried.append(Tried(engine, said, seconds))
        if isinstance(result, Verdict):
            self._so_far = result
        return result

    def _tell(self) -> None:
        """What is known before the next engine begins."""
        verdict = self._so_far
        if verdict is None:
            verdict = self._verdict(Unknown, self._engine, why=UNFINISHED, helps=MORE_HELPS)
        self.question.options.so_far(replace(verdict, tried=tuple(self.tried)))

    def _last(self) -> str:
        return self.tried[-1].said if self.tried else ""

    # -- testing --------------------------------------------------------------------------------

    def _test(self) -> tuple[Tested, str]:
        started = time.perf_counter()
        thorough = self.question.options.engine is Engine.TESTING
        tested = run_tests(self.question, self.budget, thorough, self.own)
        self.timings["test"] = time.perf_counter() - started
        return tested, tested.sentence()

    def _after_testing(self, tested: Tested | None) -> Verdict:
        if tested is None:
            return self._unknown(Failed(self._last()))
        if tested.unconfirmed is not None:
            return self._unknown(Failed(tested.unconfirmed.sentence()))
        if tested.ran == 0:
            return self._unknown(Failed("no test satisfies the preconditions", "drop --engine testing"))
        decided = tested.ran - tested.undecided
        if not decided:
            why = f"on none of {tested.ran} tests both came to an end ({tested.why_undecided})"
            return self._unknown(Failed(why, "another engine, or a larger --fuel, may help"))
        bound = {"tests": tested.ran, "undecided": tested.undecided, "fuel": self.question.options.fuel}
        undecided = f" ({tested.undecided} more were undecided)" if tested.undecided else ""
        why = f"no difference in {decided} tests{undecided}; nothing is claimed about other inputs"
        return self._verdict(Bounded, "testing", bound=bound, why=why)

    # -- loopfree -------------------------------------------------------------------------------

    def _loopfree(self, budget: Budget | None = None) -> tuple[Verdict | Failed, str]:
        engine, finding = self._follow_whole(budget or self.budget)
        self.timings |= engine.encoding.timings
        assumptions = engine.encoding.assumptions
        match finding:
            case Found(witness):
                return self._verdict(Different, "loopfree", assumptions, witness=witness), "a difference"
            case Proved():
                certificate = self._certificate("loopfree", engine.encoding, assumptions)
                proof = Proof(tuple(engine.encoding.obligations), certificate=certificate)
                said = f"{len(proof.obligations)} obligations shown"
                return self._verdict(Equivalent, "loopfree", assumptions, proof=proof), said
            case WithinBound(turns):
                why = f"no difference while loops turn at most {turns} times in all; nothing is claimed beyond that"
                covered = f"every input on which the loops of each function turn at most {turns} times in all"
                bound = {"unroll": turns, "covered": covered}
                return self._verdict(Bounded, "loopfree", assumptions, bound=bound, why=why), why
            case Failed() as failed:
                return failed, failed.why

    def _follow_whole(self, budget: Budget) -> tuple[Loopfree, Finding]:
        """What the encoding of both functions says. Of a function that calls itself, bools in memory may be assumed at
        entry only if they are shown at the deeper call. Where that fails, a proof may do without them."""
        question = self.question
        engine = Loopfree(question, budget)
        finding = engine.answer()
        weaker = replace(question, contract=without_bools_in_memory(question.contract))
        recursive = calls_itself(question.target, question.rewrite)
        if recursive and weaker.contract != question.contract and isinstance(finding, Failed) and not finding.is_bug:
            engine = Loopfree(question, budget, encode(weaker, budget))
            finding = engine.answer()
        return engine, finding

    def _certificate(
        self, engine: str, encoding: Encoding | Loops, assumptions: tuple[Assumption, ...], how: str = ""
    ) -> str | None:
        if self.question.options.cert is None:
            return None
        from isoform.engines.certify import write_certificate

        every = _all_assumptions(self.question, assumptions)
        more = {"how": how} if how else {}
        folder = self.question.options.cert
        return write_certificate(self.question, self.subjects, encoding, every, folder, engine, **more)

    # -- loops ----------------------------------------------------------------------------------

    def _loops(self) -> tuple[Verdict | Failed, str]:
        from isoform.engines.loops.engine import HOW

        alone = self.question.options.engine is Engine.LOOPS
        budget = self.budget if alone else self.budget.part(min(LOOPS_SECONDS, self.budget.left * LOOPS_SHARE))
        engine, finding = self._prove_loops(budget)
        self.timings |= engine.timings
        match finding:
            case Found(witness):
                return self._verdict(Different, "loops", witness=witness), "a difference while looking for invariants"
            case Proved():
                certificate = self._certificate("loops", engine, engine.assumptions, HOW)
                cuts, invariants = engine.in_words()
                proof = Proof(engine.obligations, cuts, invariants, certificate)
                said = f"{len(proof.obligations)} obligations shown, with what {engine.tests} tests suggested"
                return self._verdict(Equivalent, "loops", engine.assumptions, proof=proof), said
            case Failed() as failed:
                return failed, failed.why

    def _prove_loops(self, budget: Budget) -> tuple[Loops, Proved | Found | Failed]:
        """What the first version of the question says that there is an answer to."""
        from isoform.engines.loops.engine import Loops

        *earlier, last = self.question.versions or (self.question,)
        meanwhile = self._explore if self.question.options.engine is Engine.AUTO else None
        for version in earlier:
            engine = Loops(version, budget.part(budget.left / 2), self.own, meanwhile)
            try:
                finding = engine.answer()
            except Unsupported:
                continue
            if not isinstance(finding, Failed) or isinstance(self._explored, (Different, Equivalent)):
                return engine, finding
        engine = Loops(last, budget, self.own, meanwhile if self._explored is None else None)
        return engine, engine.answer()

    def _explore(self) -> bool:
        """Whether the concolic engine settles the question."""
        self._explored = self._try("concolic", lambda: self._concolic(EXPLORE_SECONDS))
        return isinstance(self._explored, (Different, Equivalent))

    # -- concolic -------------------------------------------------------------------------------

    def _concolic(self, seconds: float = AUTO_SECONDS) -> tuple[Verdict | Failed, str]:
        from isoform.engines.concolic import Concolic, WithinPaths
        from isoform.engines.concolic.pairs import HOW

        alone = self.question.options.engine is Engine.CONCOLIC
        budget = self.budget if alone else self.budget.counted_part(min(seconds, self.budget.left / 4))
        engine = Concolic(self.question, budget)
        finding = engine.answer()
        self.steps = tuple(engine.rows)
        self.timings["solver"] = engine.solver_seconds
        assumptions = engine.encoding.assumptions
        match finding:
            case Found(witness):
                said = f"a difference after {engine.counts.runs} runs"
                return self._verdict(Different, "concolic", assumptions, witness=witness), said
            case Proved():
                certificate = self._certificate("concolic", engine.encoding, assumptions, HOW)
                proof = Proof(tuple(engine.encoding.obligations), certificate=certificate)
                target, rewrite = engine.paths
                said = f"all {target} paths of the target and {rewrite} of the rewrite, nothing cut"
                return self._verdict(Equivalent, "concolic", assumptions, proof=proof), said
            case WithinPaths(bound, why) if bound["compared"] == 0 and not alone:
                # A bound within which nothing came to its end would hide what another engine found.
                return Failed("no run of both came to its end within the step bound (--fuel)"), why
            case WithinPaths(bound, why):
                return self._verdict(Bounded, "concolic", assumptions, bound=bound, why=why), why
            case Failed() as failed:
                return failed, failed.why

    # -- verdicts -------------------------------------------------------------------------------

    def _unknown(self, failed: Failed) -> Verdict:
        return self._verdict(
            Unknown, self.tried[-1].engine if self.tried else "none", why=failed.why, helps=failed.helps
        )

    def _verdict(
        self, kind: type[Verdict], engine: str, assumptions: tuple[Assumption, ...] = (), **rest: Any
    ) -> Verdict:
        return kind(
            target=self.subjects[0],
            rewrite=self.subjects[1],
            contract=self.question.contract,
            engine=engine,
            seconds=self.budget.elapsed,
            assumptions=_all_assumptions(self.question, (*assumptions, *_about_calls(rest.get("witness")))),
            **rest,
        )


def _nested_too_deeply(error: RecursionError) -> str:
    """What to say of an engine that Python's recursion limit ended, with the place: a bug must look like one."""
    innermost = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{Path(innermost.filename).name}:{innermost.lineno}"
    return (
        f"Python's recursion limit was reached at {place}: a formula is nested too deeply, or this is a bug in isoform "
        "(if both functions are small, please report it)"
    )


def _leaves_more(finding: Verdict | Failed | None) -> bool:
    """Whether another engine may say more than this. A bug of isoform's is told, not hidden behind a bound, and so is
    that the answer is another one for another layout."""
    if isinstance(finding, Failed):
        return not finding.is_bug and not finding.is_final
    return finding is None or isinstance(finding, Bounded)


def _about_calls(witness: Witness | None) -> tuple[Assumption, ...]:
    """What a witness rests on in which outside functions are called: that they come back, as they did in its runs."""
    outcomes = () if witness is None else (witness.target, witness.rewrite)
    return (CALLS_AGREE,) if any(outcome.calls for outcome in outcomes) else ()


def _all_assumptions(question: Question, more: tuple[Assumption, ...]) -> tuple[Assumption, ...]:
    return tuple({a.name: a for a in (*question.assumptions, *more)}.values())
