"""The root cause of a difference: the search, cheap before dear (seed 004, algorithm 1)."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from isoform.borders.question import Options, Question
from isoform.engines.answer import Explainer
from isoform.engines.finding import Proved
from isoform.explain.candidates import Candidate, single_changes, that_fix
from isoform.explain.contexts import in_all_contexts
from isoform.explain.filters import filter_of
from isoform.explain.places import Places
from isoform.explain.points import Point, first_iteration, first_point, reaches, stores_of
from isoform.explain.proof import EFFORT_IN_A_SECOND, GOAL_SECONDS, Fixed, Held
from isoform.explain.ranking import Ranking
from isoform.explain.runs import Case, Fix, Runs
from isoform.explain.together import Accepts, Together, union
from isoform.explain.transplant import transplants
from isoform.lift.function import BlockId
from isoform.model.budget import Budget
from isoform.model.cause import Cause, Explain, RootCause, Strength
from isoform.model.contract import CallRule
from isoform.model.errors import OutOfLimits, Unsupported
from isoform.model.values import dataclass
from isoform.model.verdict import Witness
from isoform.run.runner import RunOptions, run_traced

SHARE_OF_ALL_INPUTS, SHARE_OF_TRIVIAL, SHARE_OF_PATH = 0.6, 0.4, 0.6
"""Of what is left of the budget, for the strongest check, then for it with the result itself, then for the next one."""
SHARE_OF_BRIEF = 0.5
"""Of the time for the strongest check, for brief questions about one candidate after the other."""
SHARE_OF_WITNESS = 0.3
"""Of the budget, for runs on the witness. Candidates are tried in the order of the ranking: in a function of hundreds
of instructions there are tens of thousands, and what is not tried in this time is hardly ever the cause."""
SHARE_OF_OTHERS = 0.05
"""The same for all but the best change of every instruction, if one of those agrees in all runs and is not that of the
result itself: then time is worth more for a proof."""
SHARE_OF_LOOPS, SHARE_OF_LOOP, MOST_PROVED = 0.6, 0.35, 4
"""Of what is left of the budget, for proofs about loops; of that, for one; and candidates that are tried."""
MOST_ROUNDS = 8
"""Sets that are asked about."""
SHARE_OF_FIRST, SHARE_OF_ONLY = 0.75, 0.9
"""Of what is left, for the most likely candidate: it is worth more than the others; where there are few, it is nearly
all that there is to ask."""
MOST_LEFT = 3
"""Candidates that are named where none was shown."""
FEW_LEFT = 3
"""Values of the rewrite: if no others are left to be changed, the first candidate is asked about for long at once."""
MOST_ASKED, MOST_BEGUN = 24, 6
"""Candidates that are asked about at one strength, and that a set begins with: those further down the ranking are
hardly ever the cause."""


def explainer(options: Options) -> Explainer | None:
    """What looks for the cause of a difference, if that is wanted."""
    how = options.explain or Explain.FIRST
    if how is Explain.NONE:
        return None
    return lambda question, witness, budget: root_cause(question, witness, how, options.causes, budget)


@dataclass(frozen=True)
class Pruning:
    """What leaves candidates out before a solver is asked: everything, unless it is measured what each step saves."""

    by_witness: bool = True
    """Candidates must make the run on the witness agree."""
    by_runs: bool = True
    """And runs on more inputs."""
    by_models: bool = True
    """And runs on inputs that refuted another candidate."""


ALL_PRUNING = Pruning()


def root_cause(
    question: Question, witness: Witness, how: Explain, most: int, budget: Budget, pruning: Pruning = ALL_PRUNING
) -> RootCause:
    """The cause of the difference that a witness shows: one change of the rewrite, or at most `most` together."""
    return _Search(question, witness, how, most, budget, pruning).root_cause()


def _turns(ranked: Sequence[Candidate]) -> Iterator[int]:
    """For each candidate, how many before it change the same site: the best of every site is tried before the second
    best of any, so that the time suffices for late instructions, too."""
    before: Counter[tuple[int, int]] = Counter()
    for candidate in ranked:
        site = candidate.rewrite or candidate.target
        key = (candidate.rewrite is None, site.number if site is not None else -1)
        yield before[key]
        before[key] += 1


def _places_of(candidates: Sequence[Candidate]) -> int:
    """How many values of the rewrite are changed, each by one or more of them; a store that it lacks may be made at
    several places."""
    return len({(c.rewrite.number,) if c.rewrite is not None else c.fix.key for c in candidates})


class _Search:
    def __init__(
        self, question: Question, witness: Witness, how: Explain, most: int, budget: Budget, pruning: Pruning
    ) -> None:
        self._pruning = pruning
        self._most_asked = MOST_ASKED if pruning == ALL_PRUNING else sys.maxsize
        self._question = question
        self._how = how
        self._most = most
        self._budget = budget
        self._runs = Runs(question, witness.inputs, budget)
        self._fixed = Fixed(question, self._runs.target, self._runs.rewrite, budget)
        self._counts: dict[str, int] = {}
        self._holding_on_path: Candidate | None = None
        """The first of which it was shown that it does for the path of the witness."""
        self._has_long_question = False
        """Whether some candidate had much of the time for a proof."""
        self._is_easier_on_path = True

    def root_cause(self) -> RootCause:
        case = self._runs.witness
        if case is None:
            return self._none("the difference does not show in the code as it is listed")
        self._case = case
        functions = self._question.target, self._question.rewrite
        self._ranking = Ranking(self._runs, case, functions, self._runs.others)
        self._places = Places(self._question, case, self._runs.others)
        self._keeps = filter_of(self._question.options.cause_filter, self._runs, case, functions)
        sites = self._runs.marked
        self._counts["values of the target"] = sum(s.number in case.values for s in sites[0].sites)
        self._counts["values of the rewrite"] = sum(s.number in case.own for s in sites[1].sites)
        ranked = self._that_fix_witness(self._ranking.sort(list(self._counted("pairs"))))
        self._counts["agree on the witness"] = len(ranked)
        self._left = ranked
        self._unrefuted = bool(ranked)
        try:
            return self._shown(ranked) or self._none(self._why_not(), ranked)
        except OutOfLimits as reason:
            # A solver that is at work when the budget ends is interrupted: what is left is known all the same.
            self._budget.is_closed = True
            is_late = self._budget.exhausted and not self._budget.interrupted
            return self._none(self._why_not() if is_late else f"no cause found: {reason}", ranked)

    def _that_fix_witness(self, ranked: Sequence[Candidate]) -> list[Candidate]:
        if not self._pruning.by_witness:
            return list(ranked)
        order = sorted(zip(_turns(ranked), range(len(ranked)), strict=True))
        numbers = {id(ranked[number]): number for _, number in order}
        best = [ranked[number] for turn, number in order if turn == 0]
        others = [ranked[number] for turn, number in order if turn > 0]
        known: dict[tuple[object, ...], bool] = {}
        part = self._budget.part(self._budget.left * SHARE_OF_WITNESS)
        found = list(that_fix(self._runs, self._case, best, part, known))
        if any(self._is_promising(candidate) for candidate in found):
            part = self._budget.part(self._budget.left * SHARE_OF_OTHERS)
        found += that_fix(self._runs, self._case, others, part, known)
        return sorted(found, key=lambda candidate: numbers[id(candidate)])

    def _is_promising(self, candidate: Candidate) -> bool:
        return not self._ranking.is_last(candidate) and self._fixes_all(candidate.fix, self._runs.others)

    def _counted(self, name: str) -> Iterator[Candidate]:
        for candidate in filter(self._keeps, single_changes(self._runs, self._case)):
            self._counts[name] = self._counts.get(name, 0) + 1
            yield candidate

    # -- strongest first ------------------------------------------------------------------------

    def _shown(self, ranked: Sequence[Candidate]) -> RootCause | None:
        by_runs = self._pruning.by_runs
        on_path = [c for c in ranked if not by_runs or self._fixes_all(c.fix, self._same_path)]
        everywhere = [c for c in on_path if not by_runs or self._fixes_all(c.fix, self._runs.others)]
        self._counts["agree on runs of the same path"] = len(on_path)
        self._counts["agree on all runs"] = len(everywhere)
        self._left = everywhere or on_path or list(ranked)
        self._unrefuted = bool(on_path)
        part = self._budget.part(self._budget.left * SHARE_OF_ALL_INPUTS)
        if self._has_loop:
            found = self._by_loops([c for c in everywhere if not c.is_partial])
            if found is not None:
                return self._found(Strength.ALL_INPUTS, [found], everywhere)
        telling = [c for c in everywhere if not self._ranking.is_last(c)]
        found = self._first_that_holds(telling, part)
        if found is not None:
            return self._found(Strength.ALL_INPUTS, [found], everywhere)
        together = self._all_inputs_together(on_path) if self._how is Explain.ALL or not part.exhausted else []
        if together:
            return self._found(Strength.ALL_INPUTS, together, on_path)
        part = self._budget.part(self._budget.left * SHARE_OF_TRIVIAL)
        found = self._first_that_holds([c for c in everywhere if c not in telling], part)
        if found is not None:
            return self._found(Strength.ALL_INPUTS, [found], everywhere)
        surest = sorted(on_path, key=lambda c: (self._ranking.is_last(c), c not in everywhere))
        found_on_path = self._on_path(surest, self._path) if self._path is not None else None
        return found_on_path or self._several()

    def _several(self) -> RootCause | None:
        """What no single change does, a few together may."""
        together = self._proved_together((), lambda candidate, chosen: True) if self._how is Explain.FIRST else ()
        if together:
            return self._found(Strength.ALL_INPUTS, together, together)
        found = self._cover_path() if self._path is not None and self._how is Explain.FIRST else []
        return self._found(Strength.THIS_PATH, found, found) if found else None

    def _first_that_holds(self, candidates: Sequence[Candidate], budget: Budget) -> Candidate | None:
        """The first of which a solver shows that it does for all inputs. All are asked about briefly before any is for
        long, unless there are few."""
        whole = [candidate for candidate in candidates if not candidate.is_partial]
        is_few = _places_of(whole) <= FEW_LEFT
        brief = budget.part(budget.left * SHARE_OF_BRIEF)
        asked = self._fixed.asked
        is_open: list[Candidate] = []
        for candidate in whole if not self._has_loop else ():
            if brief.exhausted or self._fixed.asked - asked > self._most_asked:
                break
            if not self._is_unrefuted(candidate):
                continue
            if is_few and not self._has_long_question:
                if self._holds_for_long(candidate):
                    return candidate
            elif self._holds(candidate.fix) or (self._fixed.is_open and self._holds_after_all(candidate)):
                return candidate
            elif self._fixed.is_open:
                is_open.append(candidate)
        for candidate in filter(self._is_unrefuted, is_open):
            return candidate if not self._has_long_question and self._holds_for_long(candidate) else None
        return None

    def _is_unrefuted(self, candidate: Candidate) -> bool:
        return self._fixes_all(candidate.fix, self._runs.learned)

    def _holds_for_long(self, candidate: Candidate) -> bool:
        self._has_long_question = True
        share = SHARE_OF_FIRST if _places_of(self._left) > FEW_LEFT else SHARE_OF_ONLY
        part = self._budget.part(self._budget.left * share)
        return self._holds(candidate.fix, seconds=EFFORT_IN_A_SECOND * part.left, budget=part)

    def _holds_after_all(self, candidate: Candidate) -> bool:
        """For a candidate of which the solver did not know at once: whether it does for the witness's path is mostly
        easier to say. If it does not, that is one more input for all others; if it does, it is worth much of the
        time."""
        if self._path is None or not self._is_easier_on_path or not self._stays_on_path(candidate.fix):
            return False
        if self._holds(candidate.fix, self._held(candidate.fix, self._path)):
            self._holding_on_path = self._holding_on_path or candidate
            return self._holds_for_long(candidate)
        self._is_easier_on_path = not self._fixed.is_open
        return False

    @property
    def _has_loop(self) -> bool:
        return self._question.target.has_loop or self._question.rewrite.has_loop

    def _by_loops(self, candidates: Sequence[Candidate]) -> Candidate | None:
        """The first candidate of which the loop engine proves that the two are equivalent with the target's computation
        in the place of the rewrite's."""
        part = self._budget.part(self._budget.left * SHARE_OF_LOOPS)
        for candidate in candidates[:MOST_PROVED]:
            for function in transplants(self._runs.target, self._runs.rewrite, candidate):
                if part.exhausted:
                    return None
                if self._is_equivalent(
                    replace(self._question, rewrite=function, versions=(), changed=frozenset({1})), part
                ):
                    return candidate
        return None

    def _is_equivalent(self, question: Question, budget: Budget) -> bool:
        cases = (self._case, *self._runs.others)
        if any(question.differences(*question.run_both(case.inputs)) for case in cases):
            return False
        from isoform.engines.loops.engine import Loops  # most causes do without, and it takes a third of all imports

        self._fixed.asked += 1
        try:
            return isinstance(Loops().answer(question, budget.part(budget.left * SHARE_OF_LOOP)), Proved)
        except Unsupported:
            return False

    def _on_path(self, candidates: Sequence[Candidate], path: Sequence[BlockId]) -> RootCause | None:
        part = self._budget.part(self._budget.left * SHARE_OF_PATH)
        whole = [c for c in candidates if not c.is_partial and self._stays_on_path(c.fix)]
        if self._holding_on_path is not None:
            return self._found(Strength.THIS_PATH, [self._holding_on_path], candidates)
        for candidate in whole[: self._most_asked]:
            if part.exhausted:
                break
            if not self._fixes_all(candidate.fix, [c for c in self._runs.learned if self._is_on_path(c)]):
                continue
            is_first = candidate is whole[0]
            limit = part.part(part.left * SHARE_OF_FIRST) if is_first else part
            seconds = EFFORT_IN_A_SECOND * limit.left if is_first else GOAL_SECONDS
            if self._holds(candidate.fix, self._held(candidate.fix, path), seconds, limit):
                return self._found(Strength.THIS_PATH, [candidate], candidates)
        together = self._path_together(path)
        if together:
            return self._found(Strength.THIS_PATH, together, candidates)
        return self._up_to_here(path)

    def _up_to_here(self, path: Sequence[BlockId]) -> RootCause | None:
        for point in self._points():
            found = self._up_to(point, path)
            if found is not None:
                return found
        return None

    def _points(self) -> Iterator[Point]:
        """Calls, or else stores; where no change makes these agree, iterations of loops."""
        point = first_point(self._runs, self._case)
        if point is not None:
            yield point
        is_call = point is not None and point.is_call
        if self._question.target.has_loop and self._question.rewrite.has_loop and not is_call:
            iteration = first_iteration(self._question, self._runs, self._case)
            if iteration is not None:
                yield iteration

    def _up_to(self, point: Point, path: Sequence[BlockId]) -> RootCause | None:
        changes = filter(self._keeps, single_changes(self._runs, self._case))
        every = (c for c in changes if not c.fix.changes_target and not c.is_partial)
        reaching = [c for c in every if reaches(self._runs, c.fix, self._case, point) and self._ends_alike(c.fix)]
        self._counts["agree at the first point that differed"] = len(reaching)
        for candidate in self._ranking.sort(reaching)[:MOST_ASKED]:
            if self._budget.exhausted:
                break
            if self._fixed.holds(candidate.fix, self._held(candidate.fix, path, point)):
                return self._found(Strength.UP_TO_HERE, [candidate], reaching)
        return None

    def _ends_alike(self, fix: Fix) -> bool:
        """Whether the changed rewrite ends as the target does, in runs of the same path: one that agrees at a point and
        then aborts, or runs for ever, is not fixed."""
        cases = self._case, *self._same_path
        return all(self._runs.with_fix(fix, case).rewrite.status is case.target.status for case in cases)

    def _held(self, fix: Fix, path: Sequence[BlockId], point: Point | None = None) -> Held:
        """The target's path, with as many iterations of the rewrite's loops as it takes on the witness."""
        outcome = self._runs.with_fix(fix, self._case).rewrite
        loops = {block.address for _, block in self._question.rewrite.back_edges}
        iterations = sum(address in loops for address in outcome.trace)
        store = self._store_at(fix, point) if point is not None else None
        return Held(path, point, iterations + 1 if loops else 0, store)

    def _store_at(self, fix: Fix, point: Point) -> tuple[int, int] | None:
        """The rewrite's store that is the one of a point."""
        if point.is_call or point.matched:
            return None
        stores = stores_of(self._runs.rewrite.sites, self._runs.with_fix(fix, self._case).shown[1])
        return stores[point.number][2:] if len(stores) > point.number else None

    def _fixes_all(self, fix: Fix, cases: Sequence[Case]) -> bool:
        return all(self._runs.fixes(fix, case) for case in cases)

    @property
    def _same_path(self) -> tuple[Case, ...]:
        return tuple(filter(self._is_on_path, self._runs.others))

    def _is_on_path(self, case: Case) -> bool:
        return case.target.trace == self._case.target.trace

    @cached_property
    def _path(self) -> tuple[BlockId, ...] | None:
        """The blocks that the target goes through on the witness; None if some were only found by running."""
        question = self._question
        options = RunOptions(
            fuel=question.options.fuel,
            stack_argument_bytes=question.contract.stack_argument_bytes,
            inline=question.contract.calls is not CallRule.UNINTERPRETED,
        )
        program = question.programs[0]
        traced = run_traced(program, self._case.inputs[0], options, question.callees)
        if any(visit.program is not program for visit in traced.visits):
            return None
        return tuple(visit.block.id for visit in traced.visits)

    # -- several changes ------------------------------------------------------------------------

    def _all_inputs_together(self, on_path: Sequence[Candidate]) -> list[Candidate]:
        """Changes that together do for all inputs. Unless all causes are asked for, only copies of one instruction are
        changed together: they are one cause."""
        if self._how is Explain.ALL:
            return self._proved_together((), lambda candidate, chosen: True)
        for first in on_path[:MOST_BEGUN]:
            found = self._proved_together(
                (first,), lambda candidate, chosen: self._places.is_copy(candidate, chosen[0])
            )
            if found:
                return found
        return []

    def _proved_together(self, begun: Sequence[Candidate], accepts: Accepts) -> list[Candidate]:
        """By counterexamples: what a set does not do for is one more run that the next set has to do for."""
        together = Together(self._question, self._runs, self._keeps, self._most, self._budget)
        for _ in range(MOST_ROUNDS):
            found = together.cover((self._case, *self._runs.others), begun, accepts)
            if len(found) <= 1 or self._budget.exhausted or not self._is_whole(found):
                return []
            if self._holds(union(found)):
                return self._without_idle(found)
            if not self._has_learned:
                return []
        return []

    def _without_idle(self, found: Sequence[Candidate]) -> list[Candidate]:
        """A set without the changes that it does not need."""
        kept = list(found)
        for candidate in found:
            rest = [other for other in kept if other is not candidate]
            if not rest or not self._is_whole(rest):
                continue
            if self._fixes_all(union(rest), (self._case, *self._runs.others)) and self._holds(union(rest)):
                kept = rest
        return kept

    def _is_whole(self, chosen: Sequence[Candidate]) -> bool:
        """Whether what is changed of an instruction is changed in all its contexts."""
        return in_all_contexts(self._runs.rewrite, union(chosen), (self._case, *self._runs.others))

    def _stays_on_path(self, fix: Fix) -> bool:
        """Whether the target, where it is changed, still takes the path on the witness: else nothing is shown on it."""
        if not fix.changes_target:
            return True
        return self._runs.with_fix(fix, self._case).target.trace == self._case.target.trace

    def _path_together(self, path: Sequence[BlockId]) -> list[Candidate]:
        return self._cover_path() if self._how is Explain.ALL else []

    def _cover_path(self) -> list[Candidate]:
        path = self._path
        assert path is not None
        together = Together(self._question, self._runs, self._keeps, self._most, self._budget)
        found = together.cover((self._case, *self._same_path), (), lambda candidate, chosen: True)
        if not found or not self._is_whole(found):
            return []
        fix = union(found)
        return found if self._stays_on_path(fix) and self._holds(fix, self._held(fix, path)) else []

    def _holds(
        self, fix: Fix, held: Held | None = None, seconds: float = GOAL_SECONDS, budget: Budget | None = None
    ) -> bool:
        """Asks a solver. An input that it finds against the fix is one more run for all others."""
        holds = self._fixed.holds(fix, held, seconds, budget)
        refuted_by = self._fixed.refuted_by if self._pruning.by_models else ()
        self._has_learned = not holds and self._runs.learn(fix, refuted_by)
        return holds

    # -- what to say ----------------------------------------------------------------------------

    def _found(self, strength: Strength, chosen: Sequence[Candidate], similar: Sequence[Candidate]) -> RootCause:
        causes = self._places.causes(chosen, similar, self._ranking)
        return RootCause(strength, tuple(causes), self._budget.spent, self._all_counts())

    def _none(self, why: str, ranked: Sequence[Candidate] = ()) -> RootCause:
        left: tuple[Cause, ...] = ()
        if ranked:
            self._counts["candidates left"] = len(self._left)
            left = tuple(self._places.cause(candidate, self._ranking) for candidate in self._left[:MOST_LEFT])
        return RootCause(None, (), self._budget.spent, self._all_counts(), why, left)

    def _why_not(self) -> str:
        if self._budget.exhausted:
            # On a busy machine the wall clock may end it before its processor time is spent.
            return f"no cause found in {min(self._budget.spent, self._budget.seconds):.2g} s"
        among = " among those that --cause-filter keeps" if self._question.options.cause_filter is not None else ""
        if self._unrefuted:
            # Runs agree with these changes, and no proof was found: one of them may be the cause.
            return f"no single change{among} was shown to make the two equivalent"
        return f"no single change{among} makes the two equivalent, not even on this path"

    def _all_counts(self) -> dict[str, int]:
        return {**self._counts, "runs": self._runs.count, "asked a solver": self._fixed.asked}
