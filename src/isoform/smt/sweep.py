"""Sweeping: find subterms of the two sides that are equal, prove them equal from the bottom up, and merge them.

Two compilers' versions of one function share most of their intermediate values. Samples suggest which subterms may be
equal. Each such equation is a small query over the subterms that both have in common, as free variables; proved
equations are merged before the next query. In the end little is left of the question itself.

Every merge is an equation that the solver proved for all values, so the swept assertions are satisfied by exactly the
same inputs. Soundness does not depend on the samples.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import field
from random import Random
from typing import Any

from bitwuzla import Kind as K  # noqa: N817 (as in terms.py)

from isoform.model.budget import SLOWEST, processor_time
from isoform.model.values import dataclass
from isoform.smt.polynomial import Normalizer
from isoform.smt.simulate import Simulator, topological
from isoform.smt.solver import Answer, Solver
from isoform.smt.terms import Term, Terms

FIRST_SAMPLES = 48
MOST_NODES = 60_000
LEAST_SECONDS = 0.1
"""Smaller formulas are not swept: the samples alone would take as long."""
LOCAL_SECONDS = 0.25
HARD_SECONDS = 0.03
"""The same where unknowns are multiplied and there are choices to split: once these are gone, the normal form of
polynomials decides without a search."""
MOST_CASES = 48
"""Case splits for one pair of subterms."""
PAIR_SECONDS = 3.0
"""For all of them together."""
WHOLE_SECONDS = 1.0
_MOST_IN_SKELETON = 400
MOST_REFUTED = 400
"""After this many pairs that samples could not distinguish but the solver could, sweeping no longer pays."""


@dataclass(frozen=True)
class Step:
    """One equation that was shown. `term` and `other` are subterms of the roots as they were given; with the steps
    before this one applied they are instances of `pattern` and `other_pattern`, in which what they share is a
    free variable, and those are equal for all its values."""

    term: Term
    other: Term
    pattern: Term
    other_pattern: Term


@dataclass
class Sweep:
    """The result: roots with equal subterms merged, and the equations used."""

    roots: list[Term]
    steps: list[Step] = field(default_factory=list)


Skeleton = tuple[tuple[K | str | int | tuple[int, ...], ...], ...]
"""Two terms, but for the names of their variables."""


def sweep(
    terms: Terms, solver: Solver, roots: Sequence[Term], seconds: float, known: dict[Skeleton, bool] | None = None
) -> Sweep:
    """Merge the subterms of `roots` that can be proved equal within this many seconds. `known` records which pairs of
    terms were tried before, and whether they were proved equal."""
    if seconds < LEAST_SECONDS:
        return Sweep(list(roots))
    return _Sweeper(terms, solver, roots, seconds, {} if known is None else known).run()


class _Sweeper:
    def __init__(
        self, terms: Terms, solver: Solver, roots: Sequence[Term], seconds: float, known: dict[Skeleton, bool]
    ) -> None:
        self._terms = terms
        self._solver = solver
        self._roots = list(roots)
        self._known = known
        self._limit = solver.effort + seconds
        """In counted effort, and in processor time because not all work is counted. A long sweep observes both limits,
        since other engines need the rest of the budget."""
        self._deadline = processor_time() + max(seconds, min(SLOWEST * seconds, SLOWEST))
        self._random = Random(1)
        self._replaced: dict[Term, Term] = {}
        """Maps every subterm to its replacement: its operands merged, and perhaps itself."""
        self._representatives: dict[tuple[Any, ...], Term] = {}
        """The first term with each signature."""
        self._steps: list[Step] = []
        self._refuted = 0
        self._cuts = 0
        self._cases = 0
        self._pair_limit = 0.0

    def run(self) -> Sweep:
        self._simulator = Simulator(self._roots)
        if len(self._simulator.order) > MOST_NODES:
            return Sweep(self._roots)
        for _ in range(FIRST_SAMPLES):
            if processor_time() > self._deadline:
                return Sweep(self._roots)
            self._simulator.add_sample(self._draw)
        for term in self._simulator.order:
            self._replaced[term] = self._rebuild(term)
            if self._may_go_on() and self._worth_asking(term):
                self._merge(term)
        return Sweep([self._replaced[root] for root in self._roots], self._steps)

    def _may_go_on(self) -> bool:
        return not self._solver.stopped and self._refuted < MOST_REFUTED and self._is_in_time()

    def _is_in_time(self) -> bool:
        return self._solver.effort < self._limit and processor_time() < self._deadline

    # -- samples --------------------------------------------------------------------------------

    def _draw(self, variable: Term, width: int) -> int:
        if width == 0:
            return self._random.getrandbits(1)
        top = 1 << (width - 1)
        if self._random.random() < 0.35:
            small = self._random.randrange(0, 70)
            return self._random.choice((0, 1, small, -small, top, top - 1, top + small)) & (2 * top - 1)
        return self._random.getrandbits(width) >> self._random.choice((0, 0, 0, self._random.randrange(width)))

    def _signature(self, term: Term) -> tuple[Any, ...]:
        sort = term.sort()
        return (sort.bv_size() if sort.is_bv() else -sort.is_array(), *self._simulator.values[term])

    def _distinguish(self) -> None:
        """A sample from the solver's model, on which two terms that looked equal differ."""
        values = {v: self._solver.value(v) for v in self._simulator.variables if v.sort().is_bv()}
        self._simulator.add_sample(lambda variable, width: values.get(variable, 0))
        kept = list(self._representatives.values())
        self._representatives = {}
        for term in kept:
            self._representatives.setdefault(self._signature(term), term)

    # -- merging --------------------------------------------------------------------------------

    def _worth_asking(self, term: Term) -> bool:
        """Conditions that hardly ever change would look equal too easily."""
        sort = term.sort()
        if sort.is_bool():
            held = sum(self._simulator.values[term])
            return 3 <= held <= len(self._simulator.values[term]) - 3
        return bool(sort.is_bv() or sort.is_array()) and term.num_children() > 0

    def _rebuild(self, term: Term) -> Term:
        """The same operator over the replaced operands, without further rewriting: a checker does the same."""
        return _same_operator(self._terms, term, [self._replaced[child] for child in term.children()])

    def _merge(self, term: Term) -> None:
        """Replace `term` by the first term with the same values, once that is shown."""
        while True:
            other = self._representatives.setdefault(self._signature(term), term)
            left, right = self._replaced[term], self._replaced[other]
            if left == right:
                return
            answer, patterns = self._equal(left, right)
            if answer is Answer.UNSAT:
                self._steps.append(Step(term, other, *patterns))
                self._replaced[term] = right
                return
            if answer is Answer.UNKNOWN or not self._is_in_time():
                return
            self._refuted += 1
            self._distinguish()
            if self._signature(term) == self._signature(other):
                return  # the model tells them apart by something that samples do not vary, such as memory

    def _equal(self, left: Term, right: Term) -> tuple[Answer, tuple[Term, Term]]:
        """First with everything they have in common as free variables; if that is not enough, in full."""
        self._pair_limit = self._solver.effort + PAIR_SECONDS
        mine, theirs = topological([left]), topological([right])
        shared = _shared(mine, theirs) - {left, right}
        above = _dependent(left, right, shared)
        # A shared subterm computed from another one may be needed in full, to show how the two depend on each other.
        for cuts in (shared, shared - above) if above else (shared,):
            patterns = self._cut_at(cuts, mine, theirs)
            if self._is_shown(*patterns):
                return Answer.UNSAT, patterns
        answer = self._ask(left, right, WHOLE_SECONDS)
        if answer is Answer.UNKNOWN and _multiplies_unknowns([left, right]):
            self._cases, self._pair_limit = MOST_CASES, self._solver.effort + PAIR_SECONDS
            answer = Answer.UNSAT if self._by_cases(left, right) else answer
        return answer, (left, right)

    def _is_shown(self, left: Term, right: Term) -> bool:
        """Whether the two could be shown to be equal. An equation that holds for all values of its variables holds
        whatever their names: what is done in every lane, or every iteration, is shown once."""
        skeleton = _skeleton(left, right)
        shown = self._known.get(skeleton) if skeleton is not None else None
        if shown is None:
            self._cases = MOST_CASES
            shown = self._by_cases(left, right)
            if skeleton is not None and (shown or self._may_go_on()):
                self._known[skeleton] = shown
        return shown

    def _by_cases(self, left: Term, right: Term) -> bool:
        """Whether the two are equal, by case splits on their choices if needed: compilers move code into and out of
        branches, and f(c ? a : b) = c ? f(a) : f(b) takes one case split."""
        self._cases -= 1
        if self._cases < 0 or self._solver.effort > self._pair_limit:
            return False
        condition = _most_used_condition([left, right])
        is_hard = condition is not None and _multiplies_unknowns([left, right])
        answer = self._ask(left, right, HARD_SECONDS if is_hard else LOCAL_SECONDS)
        if answer is not Answer.UNKNOWN:
            return answer is Answer.UNSAT
        if condition is None:
            return False
        return all(
            self._by_cases(*self._with_cuts(*self._assuming(condition, value, left, right)))
            for value in (self._terms.true, self._terms.false)
        )

    def _assuming(self, condition: Term, value: Term, *roots: Term) -> list[Term]:
        """The terms under an assumed value of a condition, with the choices on it resolved."""
        made = {condition: value}
        for term in topological(roots):
            if term not in made:
                made[term] = self._remade(term, [made[child] for child in term.children()])
        return [made[root] for root in roots]

    def _remade(self, term: Term, children: list[Term]) -> Term:
        terms = self._terms
        if children == term.children():
            return term
        kind = term.kind()
        if kind == K.ITE and (children[0] == terms.true or children[0] == terms.false):
            return children[1] if children[0] == terms.true else children[2]
        if kind == K.NOT:
            return terms.negate(children[0])
        if kind == K.EQUAL and all(child.is_value() for child in children):
            return terms.eq(*children)
        if kind in (K.AND, K.OR) and len(children) == 2:
            return (terms.conj if kind == K.AND else terms.disj)(*children)
        return _same_operator(terms, term, children)

    def _ask(self, left: Term, right: Term, seconds: float) -> Answer:
        if left == right:
            return Answer.UNSAT
        normalizer = Normalizer(self._terms.manager)
        left, right = normalizer.normalize(left), normalizer.normalize(right)
        if left == right:
            return Answer.UNSAT
        differ = self._terms.negate(self._terms.raw_equal(left, right))
        return self._solver.check_anywhere([differ], min(seconds, max(0.01, self._limit - self._solver.effort)))

    def _with_cuts(self, left: Term, right: Term) -> tuple[Term, Term]:
        mine, theirs = topological([left]), topological([right])
        shared = _shared(mine, theirs) - {left, right}
        # A choice and what depends on the same condition: apart they might take any values.
        return self._cut_at(shared - _dependent(left, right, shared), mine, theirs)

    def _cut_at(self, shared: set[Term], mine: list[Term], theirs: list[Term]) -> tuple[Term, Term]:
        """Both with every shared subterm made a variable. What holds for all its values holds for its own."""
        made: dict[Term, Term] = {}
        cut = [self._cut(order, shared, made) for order in (mine, theirs)]
        return cut[0], cut[1]

    def _cut(self, order: list[Term], shared: set[Term], made: dict[Term, Term]) -> Term:
        manager = self._terms.manager
        for term in order:
            if term in made:
                continue
            if term in shared:
                self._cuts += 1
                made[term] = manager.mk_const(term.sort(), f"cut_{self._cuts}")
                continue
            made[term] = _same_operator(self._terms, term, [made[child] for child in term.children()])
        return made[order[-1]]


def _shared(mine: Sequence[Term], theirs: Sequence[Term]) -> set[Term]:
    """The subterms that two terms have in common, and that hide something if they are made variables. An extension or
    a part of a variable says how two of them depend on each other, at no cost."""
    both = set(mine) & set(theirs)
    return {t for t in both if t.num_children() and not t.sort().is_fun() and t.kind() not in _TRANSPARENT}


_TRANSPARENT = frozenset({K.BV_ZERO_EXTEND, K.BV_SIGN_EXTEND, K.BV_EXTRACT})


def _dependent(left: Term, right: Term, shared: set[Term]) -> set[Term]:
    """The topmost shared terms that have another shared term below them."""
    first: set[Term] = set()
    pending, seen = [left, right], set()
    while pending:
        term = pending.pop()
        if term in seen:
            continue
        seen.add(term)
        if term in shared:
            first.add(term)
        else:
            pending += term.children()
    return {term for term in first if not first.isdisjoint(topological([term])[:-1])}


def _skeleton(left: Term, right: Term) -> Skeleton | None:
    """Two terms without the names of their variables: each node by its operator and the numbers of its operands, each
    variable by its width and its own number. None if they are large, or contain more than words."""
    order = topological([left, right])
    if len(order) > _MOST_IN_SKELETON:
        return None
    numbers = {term: number for number, term in enumerate(order)}
    nodes: list[tuple[K | str | int | tuple[int, ...], ...]] = []
    for term in order:
        sort = term.sort()
        if not (sort.is_bv() or sort.is_bool()):
            return None
        width = sort.bv_size() if sort.is_bv() else 0
        if term.is_value():
            nodes.append(("value", width, str(term)))
        elif term.is_const():
            nodes.append(("variable", width))
        else:
            operands = (numbers[child] for child in term.children())
            nodes.append((term.kind(), width, tuple(term.indices()), *operands))
    return *nodes, (numbers[left], numbers[right])


def _same_operator(terms: Terms, term: Term, children: list[Term]) -> Term:
    if children == term.children():
        return term
    kind, manager = term.kind(), terms.manager
    return manager.mk_term(kind, children, term.indices()) if term.num_indices() else manager.mk_term(kind, children)


def _multiplies_unknowns(roots: Sequence[Term]) -> bool:
    return any(
        term.kind() == K.BV_MUL and not any(child.is_value() for child in term.children())
        for term in topological(roots)
    )


def _most_used_condition(roots: Sequence[Term]) -> Term | None:
    """The condition that most choices depend on; among equals, the one nearest to the inputs."""
    uses: Counter[Term] = Counter()
    for term in topological(roots):
        if term.kind() == K.ITE:
            uses[term.children()[0]] += 1
    return max(uses, key=lambda condition: uses[condition]) if uses else None
