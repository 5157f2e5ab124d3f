"""Whether a fix makes the two equivalent: the checks of seed 004, each an ordinary equivalence question of the target
against the changed rewrite.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from isoform.borders.question import Question
from isoform.engines.encoding import Encoding, encode_as
from isoform.engines.model import pairs_from_model
from isoform.engines.obligations import Obligations
from isoform.explain.along import Beside, OnPath, ends
from isoform.explain.points import Point
from isoform.explain.rules import Unchanged, admits_as_before
from isoform.explain.runs import Added, Fix
from isoform.explain.sites import Marked, Role, without_calls
from isoform.explain.undefined import as_given
from isoform.lift.function import BlockId, Function
from isoform.model.budget import Budget
from isoform.model.contract import AbortRule
from isoform.model.errors import Unsupported
from isoform.model.outcome import Pair
from isoform.model.values import dataclass
from isoform.smt.solver import Answer
from isoform.smt.sweep import Skeleton
from isoform.smt.terms import Term, Terms
from isoform.sym import policy as policies
from isoform.sym.policy import Policy, Unrolled, ValueRule
from isoform.sym.scope import Scope
from isoform.sym.state import State
from isoform.sym.summary import Summary

GOAL_SECONDS = 2.0
"""For one obligation of a fix, in counted effort (`smt/solver.py`): mostly a fifth of that in processor time."""
EFFORT_IN_A_SECOND = 8.0
"""Seconds of counted effort for a question that may take a second of processor time. On large functions solvers ask six
times as often whether to stop as they are counted for."""


@dataclass(frozen=True)
class Held:
    """The target is held to the path that it takes on the witness. With a point, inputs on which the fixed rewrite
    agrees there need not agree further on."""

    path: Sequence[BlockId]
    point: Point | None = None
    unroll: int = 0
    """How often loops of the rewrite are iterated: inputs on which they iterate more often are not shown."""
    store: tuple[int, int] | None = None
    """Of a point that is a store: the site of the rewrite's, and how often that is executed before."""


class _Occurrences:
    """The values at the sites of one side, in the order in which they were encoded."""

    def __init__(self, marked: Marked, wanted: frozenset[int]) -> None:
        self._marked = marked
        self._wanted = wanted
        self._found: dict[int, list[tuple[Term, Term]]] = {}

    def note(self, site: int | None, state: State, value: Term) -> None:
        self._terms = state.side.terms
        if site in self._wanted:
            assert site is not None
            self._found.setdefault(site, []).append((state.condition, value))

    def of(self, site: int) -> list[tuple[Term, Term]]:
        """Each with the condition under which it is computed."""
        return self._found.get(site, [])

    def constant(self, site: int) -> Term | None:
        """The constant that the instruction has there, if it has one: it is the same on all inputs."""
        found = self.of(site)
        return found[0][1] if found and self._marked.sites[site].is_constant else None

    def in_order(self, site: int) -> list[tuple[Term, Term]]:
        """One for each time that the site is executed. Of the result, which one of several returns leaves: one."""
        found = self.of(site)
        if self._marked.sites[site].role is not Role.LEFT or len(found) < 2:
            return found
        terms = self._terms
        merged = found[-1][1]
        for condition, value in found[:-1]:
            merged = terms.ite(condition, value, merged)
        return [(terms.any_of([condition for condition, _ in found]), merged)]


@dataclass(kw_only=True)
class _Changed(Beside):
    """The rewrite with stores of the target added before it returns."""

    added: Sequence[Added] = ()
    seen: _Occurrences | None = None

    def finish(self, scope: Scope, target: Term, state: State) -> None:
        for added in self.added:
            assert self.seen is not None
            for number in range(len(self.seen.of(added.site)) if added.before is None else 0):
                _store(state, self.seen, added, number)
        super().finish(scope, target, state)


def _store(state: State, seen: _Occurrences, added: Added, number: int) -> None:
    """Store what the target's n-th execution stores, on inputs on which there is one."""
    terms = state.side.terms
    (condition, where), (_, stored) = seen.of(added.site - 1)[number], seen.of(added.site)[number]
    size = terms.width(stored) // 8
    stored = as_given(terms, stored)
    state.store(where, terms.ite(condition, stored, state.load(where, size)), size)


class Fixed:
    """The question with the rewrite changed."""

    def __init__(self, question: Question, target: Marked, rewrite: Marked, budget: Budget) -> None:
        self._question = question
        self._target = target
        self._rewrite = rewrite
        self._budget = budget
        self._swept: dict[Skeleton, bool] = {}
        """What sweeping has shown so far: most of the formulas of two changes is the same."""
        self.asked = 0
        self.refuted_by: tuple[Pair, ...] = ()
        """Inputs for which the last fix that was asked about does not hold, with one or other in what is undefined."""
        self.is_open = False
        """Whether the solver did not answer the last question in time."""

    def holds(
        self, fix: Fix, held: Held | None = None, seconds: float = GOAL_SECONDS, budget: Budget | None = None
    ) -> bool:
        """Whether the two are equivalent with the fix, for all inputs or for those of which `held` speaks."""
        self.asked += 1
        self.refuted_by = ()
        self.is_open = False
        try:
            encoding = self._encoded(fix, held)
            obligations = Obligations(self._question, budget or self._budget, encoding)
            answer = obligations.all_hold(seconds, self._swept)
            self.is_open = answer is Answer.UNKNOWN
            if answer is Answer.SAT:
                self.refuted_by = tuple(pairs_from_model(self._question, encoding, obligations.solver))
            if answer is not Answer.UNSAT:
                return False
            return admits_as_before(self._question, self._budget, obligations, self._unchanged(fix, held))
        except Unsupported:
            return False

    def _unchanged(self, fix: Fix, held: Held | None) -> tuple[Unchanged, ...]:
        unroll = self._question.options.unroll if held is None else held.unroll
        target = Unrolled(unroll=unroll) if held is None else OnPath(path=held.path)
        rewrite = "b", self._rewrite.function, Unrolled(unroll=unroll)
        return (("a", self._target.function, target), rewrite) if fix.changes_target else (rewrite,)

    def _asked_with(self, fix: Fix) -> Question:
        """Where the target may abort and the rewrite do anything then, a changed target might abort more often: there
        both have to abort or neither."""
        question = self._question
        if not fix.changes_target:
            return question
        return replace(question, contract=replace(question.contract, aborts=AbortRule.EQUAL))

    def _encoded(self, fix: Fix, held: Held | None) -> Encoding:
        wanted = {*fix.values.values(), *(place for a in fix.added for place in (a.site - 1, a.site))}
        point = held.point if held is not None else None
        if point is not None and not point.is_call:
            wanted |= {point.site - 1, point.site, *(left for left, _ in point.matched)}
        wanted |= {place for site in fix.left_out for place in (site - 1, site)}
        seen = _Occurrences(self._target, frozenset(wanted))
        stores = {s.number for s in self._rewrite.sites if _is_store(s.role)}
        own = _Occurrences(self._rewrite, frozenset(stores | {right for _, right in _matched(point)}))
        unroll = self._question.options.unroll if held is None else held.unroll
        noting = _noting(self._target, fix, seen)
        target: Policy = Unrolled(unroll=unroll, value=noting)
        along: OnPath | None = None
        if held is not None:
            target = on_path = OnPath(path=held.path, value=noting)
            along = on_path if held.point is None else None
        value = _changing(self._rewrite, fix, seen, own)
        rewrite = _Changed(unroll=unroll, value=value, added=fix.added, seen=seen, along=along, budget=self._budget)
        functions = (
            without_calls(self._target.function, fix.cut(0)),
            without_calls(self._rewrite.function, fix.cut(1)),
        )
        encoding = encode_as(self._asked_with(fix), functions, (target, rewrite), self._budget)
        if any(_leads_out(s, f) for s, f in zip((encoding.target, encoding.rewrite), functions, strict=True)):
            raise Unsupported("computed jumps lead to code that was not lifted")
        if held is not None:
            encoding.world.constraints.append(("path", ends(encoding.world.terms, encoding.target)))
        if held is not None and held.point is not None:
            _ask_only_before(encoding, held, seen, own)
        return encoding


def _leads_out(summary: Summary, function: Function) -> bool:
    """Whether computed jumps lead to code that the function was lifted without."""
    return any(targets - function.hints.get(jump, frozenset()) for jump, targets in summary.discovered.items())


def _matched(point: Point | None) -> tuple[tuple[int, int], ...]:
    return point.matched if point is not None else ()


def _is_store(role: Role) -> bool:
    return role in (Role.ADDRESS, Role.STORED)


def _ask_only_before(encoding: Encoding, held: Held, seen: _Occurrences, own: _Occurrences) -> None:
    """Nothing is asked of inputs on which the two agree at the point."""
    assert held.point is not None
    terms = encoding.world.terms
    if held.point.is_call:
        agrees = _agree_at_call(encoding, held.point)
    elif held.point.matched:
        agrees = _agree_in_iteration(terms, held.point, seen, own)
    else:
        agrees = _agree_at_store(terms, held, seen, own)
    apart = terms.negate(agrees)
    encoding.goals = [replace(goal, bad=terms.conj(goal.bad, apart)) for goal in encoding.goals]
    for summary in (encoding.target, encoding.rewrite):
        summary.gaps = [replace(gap, condition=terms.conj(gap.condition, apart)) for gap in summary.gaps]


def _agree_at_call(encoding: Encoding, point: Point) -> Term:
    """Memory after a call is a function of the call and of memory before it, and so of all calls before: if it is the
    same on both sides, the two have made the same calls until there."""
    terms = encoding.world.terms
    made = [site.memory for site in encoding.target.calls if not site.pure]
    there = made[point.number] if point.number < len(made) else None
    if there is None:
        return terms.false
    after = [(site.condition, site.memory) for site in encoding.rewrite.calls]
    return terms.any_of([terms.conj(c, terms.eq(there, memory)) for c, memory in after if memory is not None])


def _agree_in_iteration(terms: Terms, point: Point, seen: _Occurrences, own: _Occurrences) -> Term:
    """All values that correspond are the same in this iteration, and the rewrite comes to it."""
    found: list[Term] = []
    for left, right in point.matched:
        theirs, mine = seen.of(left), own.of(right)
        if point.number >= min(len(theirs), len(mine)):
            return terms.false
        condition, value = mine[point.number]
        found += [condition, terms.eq(theirs[point.number][1], value)]
    return terms.all_of(found)


def _agree_at_store(terms: Terms, held: Held, seen: _Occurrences, own: _Occurrences) -> Term:
    assert held.point is not None
    sides = []
    for found, (site, time) in zip(
        (seen, own), ((held.point.site, held.point.time), held.store or (-1, 0)), strict=True
    ):
        addresses, values = found.of(site - 1), found.of(site)
        if time >= len(values):
            return terms.false
        sides.append((addresses[time], values[time]))
    (left_at, left), (right_at, right) = sides
    if terms.width(left[1]) != terms.width(right[1]):
        return terms.false  # stores of different widths are not the same point
    return terms.all_of([right[0], terms.eq(left_at[1], right_at[1]), terms.eq(left[1], right[1])])


def _noting(marked: Marked, fix: Fix, seen: _Occurrences) -> ValueRule:
    def note(point: policies.Point, state: State, value: Term) -> Term:
        site = marked.at.get((point.block, point.number))
        if site is not None and site in fix.left_out:
            value = state.load(seen.of(site - 1)[-1][1], state.side.terms.width(value) // 8)
        seen.note(site, state, value)
        return value

    return note


def _changing(marked: Marked, fix: Fix, seen: _Occurrences, own: _Occurrences) -> ValueRule:
    times = dict.fromkeys(fix.values, 0)
    reached = dict.fromkeys((added.before for added in fix.added), 0)

    def add(site: int, state: State) -> None:
        number = reached[site]
        reached[site] += 1
        for added in fix.added:
            if added.before == site and number < len(seen.of(added.site)):
                _store(state, seen, added, number)

    def fitted(value: Term, site: int, terms: Terms, width: int) -> Term:
        value = _fitted(terms, as_given(terms, value), width)
        return terms.xor_(value, terms.bv(1, width)) if site in fix.negated else value

    def changed(site: int | None, state: State, value: Term) -> Term:
        terms, width = state.side.terms, state.side.terms.width(value)
        if site in fix.dropped:
            return state.load(own.of(site - 1)[-1][1], width // 8)
        if site not in times:
            return value
        number = times[site]
        times[site] += marked.sites[site].role is not Role.LEFT
        constant = seen.constant(fix.values[site]) if site not in fix.kept else None
        if constant is not None:
            return fitted(constant, site, terms, width)
        values = seen.in_order(fix.values[site])
        if number < len(values) and values[number][0] == state.condition:
            return fitted(values[number][1], site, terms, width)
        # Where the target executes this more seldom than the rewrite, any value must do; where it never does, the
        # fix changes nothing.
        executed = terms.any_of([condition for condition, _ in values])
        other = terms.ite(executed, state.side.undefined(width), value)
        if number >= len(values):
            return other
        condition, found = values[number]
        return terms.ite(condition, fitted(found, site, terms, width), other)

    def change(point: policies.Point, state: State, value: Term) -> Term:
        site = marked.at.get((point.block, point.number))
        value = changed(site, state, value)
        if site is not None and site in reached:
            add(site, state)
        own.note(site, state, value)
        return value

    return change


def _fitted(terms: Terms, value: Term, width: int) -> Term:
    if terms.width(value) > width:
        return terms.extract(value, width - 1, 0)
    return terms.zext(value, width) if terms.width(value) < width else value
