"""Several causes: a small set of changes that together make the two agree, found by runs that are still apart.

Each step looks at the first run that the changes so far leave apart and at the first point where it still differs. Of
the best changes that make the two agree from there to the end it adds the one that does so in most runs; or else one
that makes them agree at that point, or else in one more argument of the call that the point is, or in more of the
memory that it sees.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from isoform.borders.question import Question
from isoform.explain.candidates import Candidate, single_changes
from isoform.explain.filters import Keeps
from isoform.explain.points import agreement, first_point, reaches
from isoform.explain.ranking import Ranking
from isoform.explain.runs import Case, Fix, Runs
from isoform.explain.sites import Role
from isoform.model.budget import Budget

MOST_COMPARED = 12
"""Changes that make a run agree, of which the one that helps most is chosen."""

Accepts = Callable[[Candidate, Sequence[Candidate]], bool]
"""Whether a change may be added to others."""


def union(candidates: Sequence[Candidate]) -> Fix:
    fix = Fix({})
    for candidate in candidates:
        fix |= candidate.fix
    return fix


class Together:
    def __init__(self, question: Question, runs: Runs, keeps: Keeps, most: int, budget: Budget) -> None:
        self._keeps = keeps
        self._functions = question.target, question.rewrite
        self._runs = runs
        self._most = most
        self._budget = budget

    def cover(self, cases: Sequence[Case], begun: Sequence[Candidate], accepts: Accepts) -> list[Candidate]:
        """Changes, `begun` among them, with which the two agree in all cases; empty if there are none so few."""
        chosen = list(begun)
        while not self._budget.exhausted:
            fix = union(chosen)
            apart = next((case for case in cases if not self._runs.fixes(fix, case)), None)
            if apart is None:
                return chosen
            more = self._next(chosen, fix, apart, accepts, cases) if len(chosen) < self._most else None
            if more is None:
                return []
            chosen.append(more)
        return []

    def _next(
        self, chosen: Sequence[Candidate], fix: Fix, case: Case, accepts: Accepts, cases: Sequence[Case]
    ) -> Candidate | None:
        runs = self._runs
        now = runs.with_fix(fix, case)
        point = first_point(runs, now)
        changes = filter(self._keeps, single_changes(runs, now))
        found = [c for c in changes if _may_join(c, fix) and accepts(c, chosen)]
        reaching: Candidate | None = None
        nearer: Candidate | None = None
        agreed = agreement(runs, fix, case, point) if point is not None and point.is_call else (0, 0)
        fixing: list[Candidate] = []
        ranking = Ranking(runs, now, self._functions)
        ranked = ranking.sort(found)
        if any(map(_is_argument, chosen)):  # arguments that are in the wrong order are all at one call
            ranked.sort(key=lambda candidate: not _is_argument(candidate))
        for candidate in ranked:
            if self._budget.exhausted:
                return None
            changed = fix | candidate.fix
            if runs.fixes(changed, case):
                fixing.append(candidate)
                if len(fixing) == MOST_COMPARED:
                    break
            if fixing or point is None or reaching is not None:
                continue
            if reaches(runs, changed, case, point):
                reaching = candidate
            elif point.is_call and not _is_argument(nearer) and agreement(runs, changed, case, point) > agreed:
                nearer = candidate if nearer is None or _is_argument(candidate) else nearer
        if fixing:  # what is right on this input by chance helps in fewer of the others
            telling = [candidate for candidate in fixing if not ranking.is_last(candidate)] or fixing
            return max(telling, key=lambda c: sum(runs.fixes(fix | c.fix, other) for other in cases))
        return reaching or nearer


def _may_join(candidate: Candidate, fix: Fix) -> bool:
    """A target that leaves out what it stores, beside a rewrite with other values, says little about either."""
    return not candidate.fix.sites & fix.sites and not candidate.fix.left_out


def _is_argument(candidate: Candidate | None) -> bool:
    """Whether it gives a call the argument that the target's call has there."""
    sites = (candidate.target, candidate.rewrite) if candidate is not None else ()
    registers = {site.register for site in sites if site is not None and site.role is Role.ARGUMENT}
    return len(registers) == 1 and all(site is not None and site.role is Role.ARGUMENT for site in sites)
