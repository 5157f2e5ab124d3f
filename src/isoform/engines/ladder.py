"""The ladder: engines in order of expected cost, one budget, and what each one said.

This is the one place where `Unsupported` becomes `unknown`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from isoform.budget import Budget
from isoform.engines.loopfree import Failed, Found, Loopfree, Proved, WithinBound
from isoform.engines.testing import Tested, run_tests
from isoform.errors import Unsupported
from isoform.question import Engine, Question
from isoform.verdict import Assumption, Bounded, Different, Equivalent, Proof, Subject, Tried, Unknown, Verdict


@dataclass
class Ladder:
    question: Question
    subjects: tuple[Subject, Subject]
    budget: Budget
    tried: list[Tried] = field(default_factory=list)
    timings: dict[str, float] = field(default_factory=dict)

    def climb(self) -> Verdict:
        """The verdict of the first engine that settles the question, else the most that any could say."""
        engine = self.question.options.engine
        tested: Tested | None = None
        if engine in (Engine.AUTO, Engine.TESTING):
            tested = self._try("testing", self._test)
            if tested is not None and tested.witness is not None:
                return self._verdict(Different, "testing", witness=tested.witness)
        if engine is Engine.TESTING:
            return self._after_testing(tested)
        finding = self._try("loopfree", self._loopfree)
        if isinstance(finding, Verdict):
            return finding
        return self._unknown(finding if isinstance(finding, Failed) else Failed(self._last()))

    def _try(self, engine: str, run: Callable[[], Any]) -> Any:
        """What the engine found, None where it cannot answer; either way a line of `tried`."""
        started = time.perf_counter()
        try:
            result, said = run()
        except Unsupported as reason:
            result, said = None, str(reason)
        seconds = time.perf_counter() - started
        self.tried.append(Tried(engine, said, seconds))
        return result

    def _last(self) -> str:
        return self.tried[-1].said if self.tried else ""

    # -- testing --------------------------------------------------------------------------------

    def _test(self) -> tuple[Tested, str]:
        started = time.perf_counter()
        tested = run_tests(self.question, self.budget, thorough=self.question.options.engine is Engine.TESTING)
        self.timings["test"] = time.perf_counter() - started
        return tested, tested.sentence()

    def _after_testing(self, tested: Tested | None) -> Verdict:
        if tested is None:
            return self._unknown(Failed(self._last()))
        if tested.unconfirmed is not None:
            return self._unknown(Failed(tested.unconfirmed.why))
        if tested.ran == 0:
            return self._unknown(Failed("no test satisfies the preconditions", "drop --engine testing"))
        bound = {"tests": tested.ran, "undecided": tested.undecided, "fuel": self.question.options.fuel}
        why = f"no difference in {tested.ran} tests; nothing is claimed about other inputs"
        return self._verdict(Bounded, "testing", bound=bound, why=why)

    # -- loopfree -------------------------------------------------------------------------------

    def _loopfree(self) -> tuple[Verdict | Failed, str]:
        engine = Loopfree(self.question, self.budget)
        finding = engine.answer()
        self.timings |= engine.encoding.timings
        assumptions = engine.encoding.assumptions
        match finding:
            case Found(witness):
                return self._verdict(Different, "loopfree", assumptions, witness=witness), "a difference"
            case Proved():
                certificate = self._certificate(engine, assumptions)
                proof = Proof(tuple(engine.encoding.obligations), certificate=certificate)
                said = f"{len(proof.obligations)} obligations shown"
                return self._verdict(Equivalent, "loopfree", assumptions, proof=proof), said
            case WithinBound(turns):
                why = f"no difference while loops turn at most {turns} times; nothing is claimed beyond that"
                bound = {"unroll": turns, "covered": f"every input on which no loop turns more than {turns} times"}
                return self._verdict(Bounded, "loopfree", assumptions, bound=bound, why=why), why
            case Failed() as failed:
                return failed, failed.why

    def _certificate(self, engine: Loopfree, assumptions: tuple[Assumption, ...]) -> str | None:
        if self.question.options.cert is None:
            return None
        from isoform.engines.certify import write_certificate

        every = _all_assumptions(self.question, assumptions)
        return write_certificate(self.question, self.subjects, engine.encoding, every, self.question.options.cert)

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
            assumptions=_all_assumptions(self.question, assumptions),
            **rest,
        )


def _all_assumptions(question: Question, more: tuple[Assumption, ...]) -> tuple[Assumption, ...]:
    return tuple({a.name: a for a in (*question.assumptions, *more)}.values())
