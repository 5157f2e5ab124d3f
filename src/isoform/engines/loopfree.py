"""One formula, one answer: both functions encoded whole, every observable its own query (seed 002).

Complete for code without loops. Loops are unrolled; if some input needs more iterations than that, the answer is
at best `bounded`, and says so.
"""

from __future__ import annotations

import time
from dataclasses import replace

from isoform.borders.bools import without_bools_in_memory
from isoform.borders.question import Question
from isoform.engines.encoding import Encoding, encode
from isoform.engines.finding import Failed, Finding, Found, Proved, WithinBound
from isoform.engines.obligations import NOTHING_VALID, Obligations
from isoform.model.budget import Budget
from isoform.model.errors import Unsupported
from isoform.model.library import library_function
from isoform.model.verdict import Proof
from isoform.sym.compare import Goal
from isoform.sym.policy import MOST_FIXED_ITERATIONS
from isoform.sym.recursion import calls_itself
from isoform.sym.summary import GapKind

HOW = (
    "Each obligation asserts the rules for the inputs, that the input is one the encoding covers, and that one "
    "observable differs between the two functions; each is unsatisfiable. The obligations named 'covered' show "
    "that no input is left out. Those named 'step' show that two terms are equal for all values of their symbols; "
    "others use instances of them. So for every input the contract allows, all observables agree."
)


class Loopfree:
    def answer(self, question: Question, budget: Budget) -> Finding:
        """What the encoding of both functions shows. For a function that calls itself, bools in memory may be assumed
        at entry only if they are shown at the deeper call. If that fails, a proof may do without them."""
        question, encoding = _encoded(question, budget)
        finding = _decide(question, encoding, budget)
        weaker = replace(question, contract=without_bools_in_memory(question.contract))
        recursive = calls_itself(question.target, question.rewrite)
        if recursive and weaker.contract != question.contract and isinstance(finding, Failed) and not finding.is_bug:
            encoding = encode(weaker, budget)
            finding = _decide(question, encoding, budget)
        return replace(finding, assumptions=encoding.assumptions, timings=encoding.timings)


def _encoded(question: Question, budget: Budget) -> tuple[Question, Encoding]:
    """The formulas, with library calls as calls if all of them can be executed at once: a size that a helper passes on
    is a constant only in the formulas. Otherwise with the loops that they stand for."""
    plain = question.as_called
    if plain is not None:
        try:
            encoding = encode(plain, budget)
        except Unsupported:
            return question, encode(question, budget)
        calls = (*encoding.target.calls, *encoding.rewrite.calls)
        if not any(library_function(site.callee).meaning for site in calls):
            return plain, encoding
    return question, encode(question, budget)


def _decide(question: Question, encoding: Encoding, budget: Budget) -> Finding:
    obligations = Obligations(question, budget, encoding)
    obligations.refuse_impossible_preconditions()
    started = time.perf_counter()
    try:
        finding = obligations.ask_all()
        if isinstance(finding, Found):
            return replace(finding, said="a difference")
        return finding if finding is not None else _close_gaps(question, obligations)
    finally:
        encoding.timings["solve"] = time.perf_counter() - started


def _close_gaps(question: Question, obligations: Obligations) -> Finding:
    """After every goal was shown for inputs that the encoding covers: does it cover all inputs?"""
    encoding = obligations.encoding
    open_gaps = [
        gap
        for gap in encoding.gaps
        if not obligations.leaves_nothing_out(Goal("covered", f"no input is left out because {gap.why}", gap.condition))
    ]
    other = [gap for gap in open_gaps if gap.kind is not GapKind.LOOP_BOUND]
    if other:
        return Failed(other[0].why)
    if open_gaps:
        return _within(min(question.options.unroll, MOST_FIXED_ITERATIONS))
    if obligations.is_vacuous():
        return Failed(NOTHING_VALID)
    proof = Proof(tuple(encoding.obligations))
    return Proved(proof, encoding.grounds(HOW), said=f"{len(proof.obligations)} obligations shown")


def _within(iterations: int) -> WithinBound:
    why = f"no difference while the loops make at most {iterations} iterations in all; nothing is claimed beyond that"
    covered = f"every input on which the loops of each function make at most {iterations} iterations in all"
    return WithinBound({"unroll": iterations, "covered": covered}, why)
