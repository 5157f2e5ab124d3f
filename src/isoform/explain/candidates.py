"""Candidates for a cause: single changes of the rewrite that make it agree with the target on the witness, in the order
in which a person would want them.

A difference is born where an instruction reads the same as its counterpart and yields something else; later
instructions only pass it on. So a change where the operands agree comes before one where they do not, then an early
one before a late one, then one with a counterpart of the same kind. (The seed takes the first in order of the two
programs.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from isoform.explain.runs import Case, Fix, Runs, Values, stores_of
from isoform.explain.sites import Role, Site
from isoform.lift.function import Function
from isoform.model.budget import Budget
from isoform.model.evaluate import mask
from isoform.model.values import dataclass
from isoform.run.runner import Shown

_LEAST_PART = 4
"""Bytes: the low part of a register that has a meaning of its own."""
_PASSED_ON = (Role.ARGUMENT, Role.RETURNED)
"""Roles of values that were made elsewhere."""


@dataclass(frozen=True)
class Candidate:
    """One change. A side that is None has no such store."""

    target: Site | None
    rewrite: Site | None
    fix: Fix
    time: int
    """How often the site was executed before its value differs for the first time."""


def single_changes(runs: Runs, case: Case) -> Iterator[Candidate]:
    """All that change anything on an input."""
    for site in runs.rewrite.sites:
        yield from _replaced(runs, case, site)
    yield from _without_counterpart(runs, case)


def _replaced(runs: Runs, case: Case, site: Site) -> Iterator[Candidate]:
    own, fitting = case.own.get(site.number), mask(site.size)
    for other in runs.target.sites if own else ():
        values = case.values.get(other.number)
        if values and own and _widths_fit(other, site):
            fitted = [value & fitting for value in values[: len(own)]]
            time = _first_difference(own, fitted)
            if time is not None:
                yield Candidate(other, site, Fix({site.number: other.number}), time)


def _first_difference(own: Sequence[int], given: Sequence[int]) -> int | None:
    """At which execution a site gets another value than its own."""
    found = next((n for n, (left, right) in enumerate(zip(own, given, strict=False)) if left != right), None)
    return len(given) if found is None and len(given) < len(own) else found


def _widths_fit(target: Site, rewrite: Site) -> bool:
    """Whether it is clear what the value of one is at the width of the other: the low part, or extended with zeros."""
    return target.size == rewrite.size or min(target.size, rewrite.size) >= _LEAST_PART


def _without_counterpart(runs: Runs, case: Case) -> Iterator[Candidate]:
    """Stores that only one side makes."""
    places = [
        {store[0] for store in stores_of(m.sites, shown)} for m, shown in zip(runs.marked, case.shown, strict=True)
    ]
    for site in _stores_at(runs.target.sites, case.shown[0], places[0] - places[1]):
        yield Candidate(site, None, Fix({}, added=(site.number,)), 0)
    for site in _stores_at(runs.rewrite.sites, case.shown[1], places[1] - places[0]):
        yield Candidate(None, site, Fix({}, dropped=(site.number,)), 0)


def _stores_at(sites: Sequence[Site], shown: Shown, addresses: set[int]) -> list[Site]:
    numbers = dict.fromkeys(store[2] for store in stores_of(sites, shown) if store[0] in addresses)
    return [sites[number] for number in numbers]


def that_fix(runs: Runs, case: Case, candidates: Iterator[Candidate], budget: Budget) -> Iterator[Candidate]:
    """Those with which the two agree on an input. Changes that give a site the same values are tried once."""
    known: dict[tuple[object, ...], bool] = {}
    for candidate in candidates:
        if budget.exhausted:
            return
        key = _change(case, candidate)
        if key not in known:
            known[key] = runs.fixes(candidate.fix, case)
        if known[key]:
            yield candidate


def _change(case: Case, candidate: Candidate) -> tuple[object, ...]:
    target, rewrite = candidate.target, candidate.rewrite
    if target is None or rewrite is None:
        return target, rewrite
    fitting = mask(rewrite.size)
    times = len(case.own[rewrite.number])
    return rewrite.number, tuple(value & fitting for value in case.values[target.number][:times])


class Ranking:
    """Sorts candidates by what they look like on the witness."""

    def __init__(self, runs: Runs, case: Case, functions: tuple[Function, Function]) -> None:
        self._case = case
        self._functions = functions
        self._read = runs.operands(case)
        self._sites = runs.sites_with_operands()
        self._order = [_first_times(shown.order) for shown in case.shown]
        self._last = _last_results(runs.rewrite.sites, case.shown[1])

    def sort(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        return sorted(candidates, key=self._key)

    def is_born(self, candidate: Candidate) -> bool:
        """Whether the two instructions read the same where they yield something else."""
        target, rewrite = candidate.target, candidate.rewrite
        if target is None or rewrite is None:
            return True
        if target.role in _PASSED_ON or rewrite.role in _PASSED_ON:
            return False
        left = self._operands(0, target, candidate.time)
        return left is not None and left == self._operands(1, rewrite, candidate.time)

    def is_trivial(self, candidate: Candidate) -> bool:
        """Whether it is the result itself, passed on at the very end."""
        site = candidate.rewrite
        return site is not None and site.number in self._last and not self.is_born(candidate)

    def _key(self, candidate: Candidate) -> tuple[int, ...]:
        target, rewrite = candidate.target, candidate.rewrite
        return (
            self.is_trivial(candidate),
            not self.is_born(candidate),
            self._order[1].get((rewrite.number, candidate.time), 0) if rewrite is not None else 0,
            self._unlikeness(target, rewrite),
            self._order[0].get((target.number, candidate.time), 0) if target is not None else 0,
        )

    def _operands(self, side: int, site: Site, time: int) -> list[int] | None:
        """Their values, sorted; None if they are not known."""
        numbers = self._sites[side][site.number].operands
        found = [_at(self._read[side], number, time) for number in numbers]
        loaded = [s for s in self._sites[side] if s.address == site.address and s.role is Role.LOADED]
        found += [_at(self._case.shown[side].values, s.number, time) for s in loaded if s.number != site.number]
        return None if None in found else sorted(value for value in found if value is not None)

    def _unlikeness(self, target: Site | None, rewrite: Site | None) -> int:
        if target is None or rewrite is None:
            return 0
        words = [
            f.instructions[s.address].text.split()[0] for f, s in zip(self._functions, (target, rewrite), strict=True)
        ]
        return 2 * (target.role is not rewrite.role) + (words[0] != words[1])


def _at(values: Values, number: int, time: int) -> int | None:
    found = values.get(number, ())
    return found[time] if time < len(found) else None


def _first_times(order: Sequence[int]) -> dict[tuple[int, int], int]:
    """When each execution of a site was."""
    times: dict[int, int] = {}
    found: dict[tuple[int, int], int] = {}
    for when, site in enumerate(order):
        time = times.get(site, 0)
        times[site] = time + 1
        found[site, time] = when
    return found


def _last_results(sites: Sequence[Site], shown: Shown) -> frozenset[int]:
    """The sites that wrote to each register last."""
    last: dict[str, int] = {}
    for number in shown.order:
        if sites[number].role in (Role.RESULT, Role.RETURNED):
            last[sites[number].register] = number
    return frozenset(last.values())
