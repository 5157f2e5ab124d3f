"""Questions to the solver: whether something bad is possible under some assumptions; and how it is asked.

First with products and quotients as uninterpreted functions, then as they are; in normal form; and if that is not
enough, with equal subterms of both sides merged.
"""

from __future__ import annotations

from collections.abc import Sequence

from isoform.engines.loops.tuning import (
    EXPANDED_SECONDS,
    GLANCE_SECONDS,
    MANY_RULES,
    MEANING_SECONDS,
    MERGING_SECONDS,
    MOST_ROUNDS,
    QUICK_SECONDS,
    SWEEP_SECONDS,
)
from isoform.model.budget import Budget
from isoform.model.values import dataclass
from isoform.smt.float_definitions import definitions
from isoform.smt.opaque import Opaque
from isoform.smt.polynomial import Normalizer
from isoform.smt.simulate import topological
from isoform.smt.solver import Answer, Solver
from isoform.smt.sweep import Skeleton, Step, sweep
from isoform.smt.terms import Term, Terms

Assumed = Sequence[tuple[str, Term]]
_RULES = ("restrict-", "valid-", "frame-")
"""What the labels of assumptions about single accesses begin with."""


@dataclass
class Refutation:
    """Something that was proved unsatisfiable, with what was used for it."""

    shows: str
    assumed: Assumed
    bad: Term
    steps: Sequence[Step] = ()
    """Equations by which subterms of `bad` were merged first."""
    merged: Term | None = None
    """What `bad` became by them, if there are any."""


class Questions:
    """Asks about the terms of one simulation."""

    def __init__(self, terms: Terms, budget: Budget) -> None:
        self._terms = terms
        self._budget = budget
        self.solver = Solver(terms, budget, anywhere=True)
        self.proof: Refutation
        """Of the last question that was asked, if the answer was no."""
        self._opaque, self._symmetric = Opaque(terms), Opaque(terms, symmetric=True)
        self.is_searching = False
        """Whether invariants are still being looked for. Then a model counts even if it was not found out in a short
        time whether the floating-point operations in it may have these results: to claim less is always sound."""
        self._merging = False
        """Whether some question was decided only with equal subterms of both sides merged."""
        self._swept: dict[Skeleton, bool] = {}
        self._unknowns_of: dict[Term, frozenset[Term]] = {}

    def ask(self, assumed: Assumed, bad: Term, seconds: float | None) -> Answer:
        """Whether something bad is possible, as far as the solver can decide. If it is not, `proof` holds the
        refutation."""
        simple = self._without_products(assumed, bad)
        if simple is not None:
            answer = self._ask(*simple, seconds)
            if answer is not Answer.SAT:
                return answer
            if self._with_these_factors(assumed, bad, seconds) is Answer.SAT:
                return Answer.SAT
            if self._with_symmetric_products(assumed, bad) is Answer.UNSAT:
                return Answer.UNSAT
        return self._ask(assumed, bad, seconds)

    def _with_these_factors(self, assumed: Assumed, bad: Term, seconds: float | None) -> Answer:
        """SAT if there is a real model in which all factors are as in the current one; else UNKNOWN."""
        terms, solver = self._terms, self.solver
        factors = self._opaque.operands([*(term for _, term in assumed), bad])
        values = [(factor, terms.bv(solver.value(simple), terms.width(factor))) for factor, simple in factors]
        pinned = [("factor", terms.eq(factor, value)) for factor, value in values]
        answer = self._ask([*assumed, *pinned], bad, seconds)
        return answer if answer is Answer.SAT else Answer.UNKNOWN

    def _with_symmetric_products(self, assumed: Assumed, bad: Term) -> Answer:
        """UNSAT if it is unsatisfiable for every commutative product; else UNKNOWN."""
        simple = self._without_products(assumed, bad, symmetric=True)
        answer = self._ask(*simple, GLANCE_SECONDS) if simple is not None else Answer.UNKNOWN
        return answer if answer is Answer.UNSAT else Answer.UNKNOWN

    def _without_products(self, assumed: Assumed, bad: Term, symmetric: bool = False) -> tuple[Assumed, Term] | None:
        """The question with products and quotients as uninterpreted functions."""
        opaque = self._symmetric if symmetric else self._opaque
        *simple, last = opaque.rewritten([*(term for _, term in assumed), bad])
        if last == bad and all(new == old for new, (_, old) in zip(simple, assumed, strict=True)):
            return None
        return [(label, term) for (label, _), term in zip(assumed, simple, strict=True)], last

    def _ask(self, assumed: Assumed, bad: Term, seconds: float | None) -> Answer:
        """First without the rules about single accesses. There are hundreds, and hardly any matters for one question;
        those that a model breaks are added. What is unsatisfiable with some of them is so with all, and what is too
        hard without them hardly is easy with them."""
        rules = [one for one in assumed if one[0].startswith(_RULES)]
        some = [one for one in assumed if not one[0].startswith(_RULES)]
        for _ in range(MOST_ROUNDS if len(rules) >= MANY_RULES else 0):
            answer = self._ask_with(some, bad, seconds)
            broken = [rule for rule in rules if not self.solver.holds(rule[1])] if answer is Answer.SAT else []
            if answer is Answer.UNSAT or (answer is Answer.SAT and not broken):
                return answer
            if answer is Answer.UNKNOWN and seconds is not None and seconds <= QUICK_SECONDS:
                return answer
            if answer is Answer.UNKNOWN or len(broken) == len(rules):
                break
            some += broken
            rules = [rule for rule in rules if rule not in broken]
        return self._ask_with(assumed, bad, seconds)

    def _ask_with(self, assumed: Assumed, bad: Term, seconds: float | None) -> Answer:
        self.proof = Refutation("", assumed, bad)
        answer = self._ask_in(Normalizer(self._terms.manager), assumed, bad, seconds)
        if answer is Answer.UNKNOWN and not self._budget.exhausted:
            # Sums of monomials share more subterms: that helps at once or never.
            limit = EXPANDED_SECONDS if seconds is None else min(seconds, EXPANDED_SECONDS)
            answer = self._ask_in(Normalizer(self._terms.manager, expanded=True), assumed, bad, limit)
        return answer

    def _ask_in(self, normalizer: Normalizer, assumed: Assumed, bad: Term, seconds: float | None) -> Answer:
        asserted = [normalizer.normalize(term) for _, term in (*assumed, ("bad", bad))]
        answer = self.solver.check(asserted, seconds)
        meaning = definitions(self._terms, [*(t for _, t in assumed), bad]) if answer is Answer.SAT else []
        if meaning:
            limit = MEANING_SECONDS if self.is_searching else seconds
            exact = self.solver.check([*asserted, *(normalizer.normalize(term) for term in meaning)], limit)
            if exact is Answer.UNKNOWN and self.is_searching:
                return self.solver.check(asserted, seconds)
            defined = [(f"float-{number}", term) for number, term in enumerate(meaning, 1)]
            self.proof = Refutation("", [*assumed, *defined], bad)
            return exact
        return answer

    def settle(self, assumed: Assumed, bad: Term, seconds: float, sweeping: float = SWEEP_SECONDS) -> Answer:
        """Ask, and if that is not enough once more with equal subterms of both sides merged: where two compilers wrote
        an expression differently, the equality is proved by itself, not within everything that depends on it."""
        simple = self._without_products(assumed, bad)
        if simple is not None:
            answer = self._settle(*simple, seconds, sweeping)
            if answer is Answer.SAT:
                answer = self._with_these_factors(assumed, bad, seconds)
                if answer is not Answer.SAT:
                    answer = self._with_symmetric_products(assumed, bad)
            if answer is not Answer.UNKNOWN:
                return answer
        return self._settle(assumed, bad, seconds, sweeping)

    def _settle(self, assumed: Assumed, bad: Term, seconds: float, sweeping: float) -> Answer:
        answer = self._ask(assumed, bad, min(seconds, MERGING_SECONDS if self._merging else GLANCE_SECONDS))
        if answer is not Answer.UNKNOWN or self._budget.exhausted:
            return answer
        swept = sweep(self._terms, self.solver, [bad], min(sweeping, self._budget.left / 4), self._swept)
        answer = self._ask(assumed, swept.roots[0], seconds)
        self.proof = Refutation("", self.proof.assumed, bad, swept.steps, swept.roots[0])
        self._merging = self._merging or (answer is Answer.UNSAT and bool(swept.steps))
        return answer

    def look(self, assumed: Assumed, bad: Term, seconds: float) -> Answer:
        """Ask; or settle, if questions before were decided only so: the next ones are similar."""
        return self.settle(assumed, bad, seconds) if self._merging else self.ask(assumed, bad, seconds)

    def _ask_about(self, assumed: Assumed, under: Term, bad: Term, seconds: float) -> Answer:
        """Whether something bad is possible `under` some condition. Ask first without it, assuming only what mentions
        the same unknowns; then with it: the order of two addresses has little to do with a third, but a solver cannot
        know that. What is unsatisfiable stays so when more is assumed."""
        for something, limit in ((bad, MERGING_SECONDS), (self._terms.conj(under, bad), seconds)):
            about = self.unknowns(something)
            relevant = [(label, term) for label, term in assumed if self.unknowns(term) <= about]
            if len(relevant) < len(assumed) and self.ask(relevant, something, min(seconds, limit)) is Answer.UNSAT:
                return Answer.UNSAT
        return self.ask(assumed, self._terms.conj(under, bad), seconds)

    def unknowns(self, term: Term) -> frozenset[Term]:
        found = self._unknowns_of.get(term)
        if found is None:
            found = self._unknowns_of[term] = frozenset(t for t in topological([term]) if t.is_const())
        return found
