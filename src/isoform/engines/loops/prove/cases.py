"""Hard questions, case by case: the claims of a case are proved first, then both sides are executed again in it alone.

A merged formula describes everything that could happen after a cut: every number of iterations, every order of
addresses. On one edge to the next cut few possibilities are left: which branches are taken, which addresses are equal,
which accesses do not overlap. One model of the case suggests claims, the solver proves those that hold, and in that
context execution gives formulas that often need no solver at all. If a branch is still open, there are two cases.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from isoform.engines.loops.align.cuts import Cut
from isoform.engines.loops.prove.case import Bad, Case, CaseClaim, Suggestions, naming
from isoform.engines.loops.prove.node import Horizon, Pass
from isoform.engines.loops.prove.questions import Questions, Refutation
from isoform.engines.loops.prove.simulation import Simulation
from isoform.engines.loops.tuning import (
    FEW_BRANCHES,
    FEW_VAIN,
    GLANCE_SECONDS,
    MOST_CASES,
    MOST_NARROWINGS,
    MOST_SWEEP_SECONDS,
    MOST_UNDECIDED,
    MOST_VAIN,
    QUICK_SECONDS,
    VERY_FEW_VAIN,
)
from isoform.model.budget import Budget
from isoform.smt.solver import Answer
from isoform.smt.terms import Term
from isoform.sym.context import Context

_Key = tuple[Cut, int, Term, Horizon, tuple[Horizon, int]]
"""Of a case: its cut, the version of the invariant there, its condition, its horizon and its widths."""


class Cases(Questions):
    """Decides questions about one simulation."""

    def __init__(self, simulation: Simulation, budget: Budget) -> None:
        super().__init__(simulation.setting.terms, budget)
        self._simulation = simulation
        self._suggestions = Suggestions(self._terms, self)
        self.proofs: list[Refutation] = []
        """Of the last question that was decided."""
        self._cases: dict[_Key, Case] = {}
        self._wholes: dict[_Key, Case | None] = {}
        self._cut_short: set[_Key] = set()
        self._same_before: dict[Cut, dict[Term, Term]] = {}
        """Addresses that were proved equal last."""
        self._looked_at = 0
        self._in_vain = 0
        """How often a quick query was not enough."""
        self._undecided: Counter[Term] = Counter()
        """How often a claim could not be decided."""
        self._decided: dict[tuple[_Key, Term], tuple[Sequence[Refutation], float]] = {}
        """What was refuted, by cut and condition; and the seconds for it."""
        self.seconds = 0.0
        """Seconds to decide the last question, whenever that was."""

    def decide(self, cut: Cut, under: Term, bad: Bad, horizon: Horizon | None = None) -> Answer:
        """Whether something bad can happen after a cut where `under` holds: first a quick query, then by cases. Nothing
        bad depends on what comes after the horizon."""
        started = time.perf_counter()
        followed = self.followed(cut)
        whole = self._terms.conj(under, bad(followed))
        self.proofs, self.seconds = [Refutation("", followed.assumed, whole)], 0.0
        if whole == self._terms.false:
            return Answer.UNSAT
        key = self._key(cut, under, horizon)
        decided = self._decided.get((key, whole))
        if decided is not None:
            self.proofs, self.seconds = list(decided[0]), decided[1]
            return Answer.UNSAT
        # What was split into cases before was too hard as a whole; and if one question was hard, the next may be too.
        seconds = GLANCE_SECONDS if key in self._cases else max(QUICK_SECONDS / (1 + self._in_vain), GLANCE_SECONDS / 3)
        answer = self.look(followed.assumed, whole, seconds)
        self.proofs = [self.proof]
        if answer is Answer.UNKNOWN:
            self._in_vain += 1
            self.proofs, self._looked_at = [], 0
            answer = self._by_cases(self.case(cut, under, horizon, bad), bad)
        self.seconds = time.perf_counter() - started
        if answer is Answer.UNSAT:
            self._decided[key, whole] = tuple(self.proofs), self.seconds
        return answer

    def remember(
        self, cut: Cut, under: Term, bad: Bad, horizon: Horizon, proofs: Sequence[Refutation], seconds: float
    ) -> None:
        """Record a refutation that was found elsewhere: it is not asked again."""
        whole = self._terms.conj(under, bad(self.followed(cut)))
        self._decided[self._key(cut, under, horizon), whole] = tuple(proofs), seconds

    def case(self, cut: Cut, under: Term, horizon: Horizon | None, bad: Bad) -> Case:
        """The case where `under` holds, with all that is known there, including the memory that `bad` reads."""
        key = self._key(cut, under, horizon)
        found = self._cases.get(key)
        if found is None:
            whole = self._whole(cut)
            contexts = self._contexts(cut) if whole is None else _copied(whole.contexts)
            followed = self._simulation.passes.followed_in(cut, contexts, horizon)
            found = self._cases[key] = Case(cut, under, horizon, contexts, followed)
        self._narrow(found, bad)
        return found

    def followed(self, cut: Cut) -> Pass:
        """Both sides executed from a cut, with equal addresses written as one term."""
        whole = self._whole(cut)
        return self._simulation.passes.followed(cut) if whole is None else whole.followed

    def addresses(self, cut: Cut) -> list[Refutation]:
        """The proofs that those addresses are equal. Everything that is decided about the cut rests on them."""
        whole = self._whole(cut)
        return whole.shown if whole is not None else []

    def resume(self) -> None:
        """There is time again. Cases that were begun when time ran out rest on what was known of the cut then; now more
        may be found, so they are begun again, too."""
        cuts = {key[0] for key in self._cut_short}
        for key in self._cut_short:
            self._wholes.pop(key, None)
        self._cases = {key: case for key, case in self._cases.items() if key[0] not in cuts}
        self._decided = {what: proofs for what, proofs in self._decided.items() if what[0][0] not in cuts}
        self._cut_short.clear()

    def _whole(self, cut: Cut) -> Case | None:
        """Everything after a cut, as a case without a condition. Its claims are needed again and again, and otherwise
        the solver would prove them within every question. None if there is nothing to claim."""
        key = self._key(cut, self._terms.true, None)
        if key not in self._wholes:
            self._wholes[key] = self._unified(cut)
            if self._budget.exhausted:
                self._cut_short.add(key)
        return self._wholes[key]

    def _unified(self, cut: Cut) -> Case | None:
        plain = self._simulation.passes.followed(cut)
        accesses = [access for segment in plain.segments for access in segment.side.heap_accesses]
        if len({self._terms.split_sum(address)[0] for _, address, _ in accesses}) < 2:
            return None
        contexts = self._contexts(cut)
        case = Case(cut, self._terms.true, None, contexts, self._simulation.passes.followed_in(cut, contexts, None))
        known = [
            CaseClaim(self._terms.eq(base, other), naming(contexts, base, other))
            for base, other in self._same_before.get(cut, {}).items()
            if any(base in context.bases for context in contexts)
        ]
        for number in range(MOST_NARROWINGS):
            # Claims that held with another version of the invariant most likely still hold.
            if number == 0 and known:
                taken = [c for chosen in self._shown(case, known, QUICK_SECONDS, FEW_VAIN) for c in chosen]
                self._take(case, taken)
                continue
            if self.ask(case.followed.assumed, case.under, GLANCE_SECONDS) is not Answer.SAT:
                break
            candidates = list(self._suggestions.same(case))
            taken = [c for chosen in self._shown(case, candidates, GLANCE_SECONDS, FEW_VAIN) for c in chosen]
            if not taken:
                break
            self._take(case, taken)
        self._same_before[cut] = dict(contexts[0].same)
        return case if any(context.same for context in contexts) else None

    def _take(self, case: Case, candidates: Sequence[CaseClaim]) -> None:
        for candidate in candidates:
            candidate.take()
        for context in case.contexts:
            context.forget()
        case.followed = self._simulation.passes.followed_in(case.cut, case.contexts, None)

    def _contexts(self, cut: Cut) -> tuple[Context, Context]:
        grain = self._grain(self._simulation.passes.followed(cut))
        return Context(grain=grain), Context(grain=grain)

    def _key(self, cut: Cut, under: Term, horizon: Horizon | None) -> _Key:
        node = self._simulation.nodes.get(cut)
        # A new edge extends the horizon or the set of paths: the earlier execution is not enough then, and the equal
        # addresses, on which every case of the cut rests, are asked again.
        reach = self._simulation.routes.furthest(cut)
        version = node.version if node is not None else 0
        return cut, version, under, horizon or reach, (reach, self._simulation.routes.breadth(cut))

    def _grain(self, followed: Pass) -> int | None:
        """The smallest access to memory, if there are larger ones."""
        sizes = {size for segment in followed.segments for _, _, size in segment.side.heap_accesses}
        return min(sizes) if len(sizes) > 1 else None

    def _by_cases(self, case: Case, bad: Bad) -> Answer:
        self._looked_at += 1
        self._narrow(case, bad)
        self.proofs += case.shown
        if case.empty:
            return Answer.UNSAT
        assumed = case.followed.assumed
        whole = self._terms.conj(case.under, bad(case.followed))
        if whole == self._terms.false:
            self.proofs.append(Refutation("", assumed, whole))
            return Answer.UNSAT
        open_ways = self._open(case) if self._looked_at < MOST_CASES else []
        branch = open_ways[0] if open_ways else None
        if branch is None:
            answer = self.settle(assumed, whole, max(QUICK_SECONDS, self._budget.left / 4), MOST_SWEEP_SECONDS)
        elif self._looked_at == 1 and len(open_ways) > FEW_BRANCHES:
            answer = self.settle(assumed, whole, QUICK_SECONDS)
        else:
            answer = self.ask(assumed, whole, GLANCE_SECONDS)
        if answer is Answer.UNSAT:
            self.proofs.append(self.proof)
        if answer is not Answer.UNKNOWN or self._budget.exhausted or branch is None:
            return answer
        for part in self._split(case, branch):
            answer = self._by_cases(part, bad)
            if answer is not Answer.UNSAT:
                break
        return answer

    # -- what holds in a case -------------------------------------------------------------------

    def _narrow(self, case: Case, bad: Bad) -> None:
        """Execute both sides again, each time with the claims proved before, until there are no new ones. If time runs
        out, the next call continues."""
        if case.about is not bad:
            noted, case.about = case.noted, bad
            bad(case.followed)
            if case.noted != noted:
                case.narrowed, case.rounds = False, 0
        while not case.narrowed and not case.empty and not self._budget.exhausted:
            if case.outdated:
                for context in case.contexts:
                    context.forget()
                case.followed = self._simulation.passes.followed_in(case.cut, case.contexts, case.horizon)
                bad(case.followed)
                case.outdated = False
            if case.rounds < MOST_NARROWINGS:
                case.rounds += 1
                case.outdated = self._learn(case)
            case.narrowed = not case.outdated and not self._budget.exhausted

    def _learn(self, case: Case) -> bool:
        """Add the claims that can be proved to the contexts. True if there was one."""
        assumed = case.followed.assumed
        answer = self.ask(assumed, case.under, QUICK_SECONDS)
        if answer is Answer.UNSAT:
            case.empty = True
            case.shown.append(replace(self.proof, shows="this case does not happen"))
        if answer is not Answer.SAT:
            return False
        some = self._suggestions
        # Claims about branches that are not taken are not worth asking, nor is the distance of equal addresses.
        for kind in (some.same, some.same_read, some.dead, some.ranges_apart, some.apart, some.apart_if_made):
            candidates = list(kind(case))
            if not candidates:
                continue
            limits = (GLANCE_SECONDS, VERY_FEW_VAIN) if kind == some.same_read else (QUICK_SECONDS, MOST_VAIN)
            taken = [candidate for chosen in self._shown(case, candidates, *limits) for candidate in chosen]
            for candidate in taken:
                candidate.take()
            if taken:
                return True
            if self.ask(assumed, case.under, QUICK_SECONDS) is not Answer.SAT:
                return False
        return False

    def _shown(
        self, case: Case, candidates: list[CaseClaim], seconds: float = QUICK_SECONDS, most: int = MOST_VAIN
    ) -> Iterator[list[CaseClaim]]:
        """The claims that can be proved: all together, or else each half separately, until too many stay undecided."""
        assumed = case.followed.assumed
        pending = [candidates]
        while pending:
            some = [c for c in pending.pop(0) if self._undecided[c.fact] < MOST_UNDECIDED]
            if not some:
                continue
            wrong = self._terms.negate(self._terms.all_of([c.fact for c in some]))
            answer = self._ask_about(assumed, case.under, wrong, seconds)
            if answer is Answer.UNSAT:
                case.shown.append(replace(self.proof, shows="what holds in this case"))
                yield some
            elif answer is Answer.SAT:
                pending = [[c for c in group if self.solver.holds(c.fact)] for group in (some, *pending)]
            else:
                # What there was no time for may still be decided.
                self._undecided.update([c.fact for c in some] if len(some) == 1 and not self._budget.exhausted else ())
                middle = (len(some) + 1) // 2
                pending[:0] = [some[:middle], some[middle:]] if len(some) > 1 else []
                most -= 1
                if most < 0:
                    return

    # -- two cases ------------------------------------------------------------------------------

    def _split(self, case: Case, branch: Term) -> tuple[Case, Case]:
        """Split by whether a branch is taken."""
        if case.parts is None:
            parts = [
                Case(case.cut, self._terms.conj(case.under, side), case.horizon, _copied(case.contexts), case.followed)
                for side in (branch, self._terms.negate(branch))
            ]
            for part in parts:
                part.followed = self._simulation.passes.followed_in(case.cut, part.contexts, case.horizon)
            case.parts = parts[0], parts[1]
        return case.parts

    def _open(self, case: Case) -> list[Term]:
        """Branches that may still be taken or not, the first one first."""
        found = [
            (layer, number + side, condition)
            for side, context in enumerate(case.contexts)
            for number, ((layer, _, taken), condition) in enumerate(context.edges.items())
            if taken and condition not in (self._terms.true, self._terms.false)
        ]
        return [condition for _, _, condition in sorted(found, key=lambda f: f[:2])]


def _copied(contexts: tuple[Context, Context]) -> tuple[Context, Context]:
    left, right = (Context(set(c.dead), dict(c.same), set(c.apart), set(c.apart_if), c.grain) for c in contexts)
    return left, right
