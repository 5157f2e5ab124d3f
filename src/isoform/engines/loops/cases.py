"""Hard questions, case by case: what holds in a case is shown first, then both sides are followed again in it alone.

A merged formula says everything that could happen from a cut on: every number of turns, every order of addresses. On
one way from a cut to the next little of that is left: which branches are taken, which addresses are one address, which
accesses do not overlap. One model of the case tells what may be so, the solver shows what is so, and with that as its
context execution gives formulas that often need no solver at all. If a branch is still open, there are two cases.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import TypeVar

from isoform.engines.loops.cuts import Cut
from isoform.engines.loops.questions import GLANCE_SECONDS, QUICK_SECONDS, Proof, Questions
from isoform.engines.loops.simulation import Horizon, Pass, Simulation
from isoform.model.budget import Budget
from isoform.smt.simulate import topological
from isoform.smt.solver import Answer
from isoform.smt.terms import Term
from isoform.sym.context import Access, Context

FACT_SECONDS = 1.0
MOST_SWEEP_SECONDS = 10.0
_MOST_ROUNDS, _MOST_CASES = 8, 40
_MOST_VAIN, _FEW_VAIN, _VERY_FEW_VAIN = 40, 6, 2
_NEAR, _MOST_NEAR = 4096, 6
_MOST_UNDECIDED = 2
_FEW_WAYS = 3
"""So many open branches are quickly gone through."""

Item = TypeVar("Item")
Bad = Callable[[Pass], Term]
"""What must not be, by a pass."""
_Key = tuple[Cut, int, Term, Horizon, tuple[Horizon, int]]
"""Of a case: where it begins, which version of the invariant there it goes by, what holds, how far and how broad."""


@dataclass
class Case:
    """Both sides followed from a cut where `under` holds."""

    cut: Cut
    under: Term
    horizon: Horizon | None
    contexts: tuple[Context, Context]
    followed: Pass
    narrowed: bool = False
    rounds: int = 0
    outdated: bool = False
    """Whether more is known than when both sides were followed last."""
    empty: bool = False
    """Whether `under` cannot hold."""
    shown: list[Proof] = field(default_factory=list)
    """Why the contexts are right."""
    parts: tuple[Case, Case] | None = None
    about: Bad | None = None
    """What was asked last: it may read memory at addresses of its own."""

    @property
    def noted(self) -> int:
        return sum(len(context.bases) + len(context.doubts) for context in self.contexts)


@dataclass(frozen=True)
class _Candidate:
    """Something that may hold in a case, and what to do if it does."""

    fact: Term
    take: Callable[[], None]


class Cases(Questions):
    """Decides questions about one simulation."""

    def __init__(self, simulation: Simulation, budget: Budget) -> None:
        super().__init__(simulation.terms, budget)
        self._simulation = simulation
        self.proofs: list[Proof] = []
        """Of the last question that was decided."""
        self._cases: dict[_Key, Case] = {}
        self._wholes: dict[_Key, Case | None] = {}
        self._cut_short: set[_Key] = set()
        self._same_before: dict[Cut, dict[Term, Term]] = {}
        """Addresses of which it was shown last that they are one."""
        self._looked_at = 0
        self._in_vain = 0
        """How often a quick look was not enough."""
        self._undecided: Counter[Term] = Counter()
        """How often it could not be told of something whether it holds."""
        self._decided: dict[tuple[_Key, Term], tuple[Sequence[Proof], float]] = {}
        """What was shown not to be, by where and what it is; and in what time."""
        self.seconds = 0.0
        """That it took to decide the last question, whenever that was."""

    def decide(self, cut: Cut, under: Term, bad: Bad, horizon: Horizon | None = None) -> Answer:
        """Whether something bad can happen from a cut where `under` holds: first a quick look, then by cases. Nothing
        bad depends on what comes after the horizon."""
        started = time.perf_counter()
        followed = self.followed(cut)
        whole = self._terms.conj(under, bad(followed))
        self.proofs, self.seconds = [Proof("", followed.assumed, whole)], 0.0
        if whole == self._terms.false:
            return Answer.UNSAT
        key = self._key(cut, under, horizon)
        decided = self._decided.get((key, whole))
        if decided is not None:
            self.proofs, self.seconds = list(decided[0]), decided[1]
            return Answer.UNSAT
        # What was a case before was too hard as a whole; and where one question was, the next one may be.
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
        self, cut: Cut, under: Term, bad: Bad, horizon: Horizon, proofs: Sequence[Proof], seconds: float
    ) -> None:
        """That something was shown not to be in another way: it is not asked again."""
        whole = self._terms.conj(under, bad(self.followed(cut)))
        self._decided[self._key(cut, under, horizon), whole] = tuple(proofs), seconds

    def case(self, cut: Cut, under: Term, horizon: Horizon | None, bad: Bad) -> Case:
        """Where `under` holds, with all that is known then, and of what `bad` reads."""
        key = self._key(cut, under, horizon)
        found = self._cases.get(key)
        if found is None:
            whole = self._whole(cut)
            contexts = self._contexts(cut) if whole is None else _copied(whole.contexts)
            followed = self._simulation.followed_in(cut, contexts, horizon)
            found = self._cases[key] = Case(cut, under, horizon, contexts, followed)
        self._narrow(found, bad)
        return found

    def followed(self, cut: Cut) -> Pass:
        """Both sides followed from a cut, with addresses that are one written as one."""
        whole = self._whole(cut)
        return self._simulation.followed(cut) if whole is None else whole.followed

    def addresses(self, cut: Cut) -> list[Proof]:
        """Why those addresses are one. Whatever is decided about the cut rests on it."""
        whole = self._whole(cut)
        return whole.shown if whole is not None else []

    def go_on(self) -> None:
        """There is time again. Cases that were begun with what was known of a cut when time ran out rest on that, and
        what is found now may be something else: they are begun again, too."""
        cuts = {key[0] for key in self._cut_short}
        for key in self._cut_short:
            self._wholes.pop(key, None)
        self._cases = {key: case for key, case in self._cases.items() if key[0] not in cuts}
        self._decided = {what: proofs for what, proofs in self._decided.items() if what[0][0] not in cuts}
        self._cut_short.clear()

    def _whole(self, cut: Cut) -> Case | None:
        """All there is from a cut, as a case of which only that is known: it is needed again and again, and without it
        the solver finds out in the midst of everything else. None if there is nothing to know."""
        key = self._key(cut, self._terms.true, None)
        if key not in self._wholes:
            self._wholes[key] = self._unified(cut)
            if self._budget.exhausted:
                self._cut_short.add(key)
        return self._wholes[key]

    def _unified(self, cut: Cut) -> Case | None:
        plain = self._simulation.followed(cut)
        accesses = [access for segment in plain.segments for access in segment.side.heap_accesses]
        if len({self._terms.split_sum(address)[0] for _, address, _ in accesses}) < 2:
            return None
        contexts = self._contexts(cut)
        case = Case(cut, self._terms.true, None, contexts, self._simulation.followed_in(cut, contexts, None))
        known = [
            _Candidate(self._terms.eq(base, other), _naming(contexts, base, other))
            for base, other in self._same_before.get(cut, {}).items()
            if any(base in context.bases for context in contexts)
        ]
        for number in range(_MOST_ROUNDS):
            # What was so when the invariant was another one most likely still is.
            if number == 0 and known:
                taken = [c for chosen in self._shown(case, known, QUICK_SECONDS, _FEW_VAIN) for c in chosen]
                self._take(case, taken)
                continue
            if self.ask(case.followed.assumed, case.under, GLANCE_SECONDS) is not Answer.SAT:
                break
            candidates = list(self._same(case))
            taken = [c for chosen in self._shown(case, candidates, GLANCE_SECONDS, _FEW_VAIN) for c in chosen]
            if not taken:
                break
            self._take(case, taken)
        self._same_before[cut] = dict(contexts[0].same)
        return case if any(context.same for context in contexts) else None

    def _take(self, case: Case, candidates: Sequence[_Candidate]) -> None:
        for candidate in candidates:
            candidate.take()
        for context in case.contexts:
            context.forget()
        case.followed = self._simulation.followed_in(case.cut, case.contexts, None)

    def _contexts(self, cut: Cut) -> tuple[Context, Context]:
        grain = self._grain(self._simulation.followed(cut))
        return Context(grain=grain), Context(grain=grain)

    def _key(self, cut: Cut, under: Term, horizon: Horizon | None) -> _Key:
        node = self._simulation.nodes.get(cut)
        # A way that was added makes the whole of them longer or broader: what was followed before is not enough then,
        # and which addresses are one, on which every case of the cut rests, is asked anew.
        reach = self._simulation.furthest(cut)
        version = node.version if node is not None else 0
        return cut, version, under, horizon or reach, (reach, self._simulation.breadth(cut))

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
            self.proofs.append(Proof("", assumed, whole))
            return Answer.UNSAT
        open_ways = self._open(case) if self._looked_at < _MOST_CASES else []
        branch = open_ways[0] if open_ways else None
        if branch is None:
            answer = self.settle(assumed, whole, max(QUICK_SECONDS, self._budget.left / 4), MOST_SWEEP_SECONDS)
        elif self._looked_at == 1 and len(open_ways) > _FEW_WAYS:
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
        """Follow both sides again, each time with what was shown about the time before, until nothing is new. If time
        runs out, it goes on from there the next time."""
        if case.about is not bad:
            noted, case.about = case.noted, bad
            bad(case.followed)
            if case.noted != noted:
                case.narrowed, case.rounds = False, 0
        while not case.narrowed and not case.empty and not self._budget.exhausted:
            if case.outdated:
                for context in case.contexts:
                    context.forget()
                case.followed = self._simulation.followed_in(case.cut, case.contexts, case.horizon)
                bad(case.followed)
                case.outdated = False
            if case.rounds < _MOST_ROUNDS:
                case.rounds += 1
                case.outdated = self._learn(case)
            case.narrowed = not case.outdated and not self._budget.exhausted

    def _learn(self, case: Case) -> bool:
        """Take what can be shown into the contexts. True if there was something."""
        assumed = case.followed.assumed
        answer = self.ask(assumed, case.under, QUICK_SECONDS)
        if answer is Answer.UNSAT:
            case.empty = True
            case.shown.append(replace(self.proof, shows="this case does not happen"))
        if answer is not Answer.SAT:
            return False
        # What is on ways that are not gone is not worth asking about, nor is the distance of what is one address.
        for kind in (self._same, self._same_read, self._dead, self._ranges_apart, self._apart):
            limits = (GLANCE_SECONDS, _VERY_FEW_VAIN) if kind == self._same_read else (QUICK_SECONDS, _MOST_VAIN)
            taken = [candidate for chosen in self._shown(case, list(kind(case)), *limits) for candidate in chosen]
            for candidate in taken:
                candidate.take()
            if taken:
                return True
            if self.ask(assumed, case.under, QUICK_SECONDS) is not Answer.SAT:
                return False
        return False

    def _shown(
        self, case: Case, candidates: list[_Candidate], seconds: float = QUICK_SECONDS, most: int = _MOST_VAIN
    ) -> Iterator[list[_Candidate]]:
        """Those that hold, as far as it can be shown: all together, or else the halves of them for themselves, until it
        could not be told so many times."""
        assumed = case.followed.assumed
        pending = [candidates]
        while pending:
            some = [c for c in pending.pop(0) if self._undecided[c.fact] < _MOST_UNDECIDED]
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
                # What there was no time for may still be told.
                self._undecided.update([c.fact for c in some] if len(some) == 1 and not self._budget.exhausted else ())
                middle = (len(some) + 1) // 2
                pending[:0] = [some[:middle], some[middle:]] if len(some) > 1 else []
                most -= 1
                if most < 0:
                    return

    def _reads(self, term: Term) -> bool:
        return any(unknown.sort().is_array() for unknown in self._unknowns(term))

    def _dead(self, case: Case) -> Iterator[_Candidate]:
        """Ways that the model does not go."""
        for context in case.contexts:
            for way, condition in context.ways.items():
                if condition != self._terms.false and not self.solver.holds(condition):
                    yield _Candidate(self._terms.negate(condition), _adding(context.dead, way))

    def _same(self, case: Case) -> Iterator[_Candidate]:
        return (c for c in self._near(case) if not self._reads(c.fact))

    def _same_read(self, case: Case) -> Iterator[_Candidate]:
        """How pointers lie that depend on what is in memory is seldom known, and hard to find out."""
        return (c for c in self._near(case) if self._reads(c.fact))

    def _near(self, case: Case) -> Iterator[_Candidate]:
        """Addresses that in the model are near a simpler one, as that one and a distance."""
        terms = self._terms
        bases = dict.fromkeys(base for context in case.contexts for base in context.bases)
        values = {base: self.solver.value(base) for base in bases}
        simple_first = sorted(bases, key=lambda b: len(topological([b])))
        for number, base in enumerate(simple_first):
            width = terms.width(base)
            near = (b for b in simple_first[:number] if (values[base] - values[b] + _NEAR) % (1 << width) < 2 * _NEAR)
            for simpler in islice(near, _MOST_NEAR):
                distance = (values[base] - values[simpler]) % (1 << width)
                other = terms.add(simpler, terms.bv(distance, width))
                yield _Candidate(terms.eq(base, other), _naming(case.contexts, base, other))

    def _ranges_apart(self, case: Case) -> Iterator[_Candidate]:
        """Of stores and loads at known distances from the same two places, that all from the first to the last do not
        overlap: what a loop takes from two arrays in a few turns. One question instead of many."""
        for context in case.contexts:
            pairs: dict[tuple[Term, Term], list[tuple[Access, Access]]] = {}
            for store, load in context.doubts:
                one, other = self._terms.split_sum(store[0])[0], self._terms.split_sum(load[0])[0]
                if one is not None and other is not None:
                    pairs.setdefault((one, other), []).append((store, load))
            for doubts in pairs.values():
                store, load = (self._range(dict.fromkeys(accesses)) for accesses in zip(*doubts, strict=True))
                # A range that goes once around all addresses has no length that an address could have.
                if len(doubts) < 2 or max(store[1], load[1]) >> self._terms.width(store[0]):
                    continue
                fact = self._disjoint(store, load)
                if self.solver.holds(fact):
                    yield _Candidate(fact, partial(context.apart.update, doubts))

    def _range(self, accesses: Iterable[Access]) -> Access:
        """From the first to the last byte of accesses at known distances from one place."""
        terms = self._terms
        splits = [(*terms.split_sum(address), size) for address, size in accesses]
        base = splits[0][0]
        assert base is not None
        half = 1 << (terms.width(base) - 1)
        offsets = [((constant + half) % (2 * half) - half, size) for _, constant, size in splits]
        low = min(offset for offset, _ in offsets)
        size = max(offset + size for offset, size in offsets) - low
        return terms.add(base, terms.bv(low, terms.width(base))), size

    def _apart(self, case: Case) -> Iterator[_Candidate]:
        """Stores and loads that do not overlap in the model."""
        for context in case.contexts:
            for doubt in context.doubts:
                fact = self._disjoint(*doubt)
                if self.solver.holds(fact):
                    yield _Candidate(fact, _adding(context.apart, doubt))

    def _disjoint(self, store: Access, load: Access) -> Term:
        terms, width = self._terms, self._terms.width(store[0])
        distance = terms.sub(load[0], store[0])
        above = terms.ule(terms.bv(store[1], width), distance)
        return terms.conj(above, terms.ule(distance, terms.bv(-load[1], width)))

    # -- two cases ------------------------------------------------------------------------------

    def _split(self, case: Case, branch: Term) -> tuple[Case, Case]:
        """By whether a branch is taken."""
        if case.parts is None:
            parts = [
                Case(case.cut, self._terms.conj(case.under, way), case.horizon, _copied(case.contexts), case.followed)
                for way in (branch, self._terms.negate(branch))
            ]
            for part in parts:
                part.followed = self._simulation.followed_in(case.cut, part.contexts, case.horizon)
            case.parts = parts[0], parts[1]
        return case.parts

    def _open(self, case: Case) -> list[Term]:
        """Branches that may still be taken or not, the first one first."""
        found = [
            (layer, number + side, condition)
            for side, context in enumerate(case.contexts)
            for number, ((layer, _, taken), condition) in enumerate(context.ways.items())
            if taken and condition not in (self._terms.true, self._terms.false)
        ]
        return [condition for _, _, condition in sorted(found, key=lambda f: f[:2])]


def _adding(known: set[Item], item: Item) -> Callable[[], None]:
    return lambda: known.add(item)


def _naming(contexts: tuple[Context, Context], base: Term, other: Term) -> Callable[[], None]:
    def take() -> None:
        for context in contexts:
            context.same.setdefault(base, other)

    return take


def _copied(contexts: tuple[Context, Context]) -> tuple[Context, Context]:
    left, right = (Context(set(c.dead), dict(c.same), set(c.apart), c.grain) for c in contexts)
    return left, right
