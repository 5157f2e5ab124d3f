"""Candidates for a cause: single changes of the rewrite that make it agree with the target on the witness, in the order
in which a person would want them.

A difference is born where an instruction reads the same as its counterpart and yields something else; later
instructions only pass it on. So a change where the operands agree comes before one where they do not, then an early
one before a late one, then one with a counterpart of the same kind. (The seed takes the first in order of the two
programs.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import product

from isoform.explain.runs import Case, Fix, Runs, Values
from isoform.explain.sites import Cut, Role, Site, calls_of
from isoform.lift.function import Function
from isoform.model.budget import Budget
from isoform.model.evaluate import mask
from isoform.model.outcome import RETURN_ADDRESS, CallRecord, in_frame
from isoform.model.values import dataclass
from isoform.run.running import Shown

_PASSED_ON = (Role.ARGUMENT, Role.RETURNED, Role.LEFT)
"""Roles of values that were made elsewhere."""


@dataclass(frozen=True)
class Candidate:
    """One change. A side that is None has no such store or call."""

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
    own = case.own.get(site.number)
    if site.role is Role.ADDRESS and own and in_frame(own[0]):
        return  # where a frame has its variables is its own business
    for other in runs.target.sites if own else ():
        values = case.values.get(other.number)
        if not values or not own or not _widths_fit(other, site) or other.number in runs.undefined:
            continue
        if any(map(_is_of_the_stack, values)) and not any(map(_is_of_the_stack, own)):
            continue
        for negated in (False, True) if _are_conditions(other, site) else (False,):
            fitted = [(value & mask(site.size)) ^ negated for value in values[: len(own)]]
            time = _first_difference(own, fitted)
            if time is not None:
                fix = Fix({site.number: other.number}, frozenset({site.number} if negated else ()))
                yield Candidate(other, site, fix, time)


def _is_of_the_stack(value: int) -> bool:
    """Where a frame is, or the caller: by chance the right thing in a comparison, and never the reason."""
    return in_frame(value) or value == RETURN_ADDRESS


def _first_difference(own: Sequence[int], given: Sequence[int]) -> int | None:
    """At which execution a site gets another value than its own."""
    found = next((n for n, (left, right) in enumerate(zip(own, given, strict=False)) if left != right), None)
    return len(given) if found is None and len(given) < len(own) else found


def _widths_fit(target: Site, rewrite: Site) -> bool:
    """Whether it is clear what the value of one is at the width of the other: the low part, or extended with zeros. A
    condition is a number only where the other one is, too."""
    conditions = (target.role is Role.CONDITION) + (rewrite.role is Role.CONDITION)
    return target.size == rewrite.size or not conditions


def _are_conditions(target: Site, rewrite: Site) -> bool:
    return Role.CONDITION in (target.role, rewrite.role)


def _without_counterpart(runs: Runs, case: Case) -> Iterator[Candidate]:
    """Stores that one side makes more often, and outside calls."""
    stores = [list(_all_stores(m.sites, shown)) for m, shown in zip(runs.marked, case.shown, strict=True)]
    counts = [Counter(address for address, _ in made) for made in stores]
    for site in _sites_at(runs.target.sites, stores[0], counts[0] - counts[1]):
        yield Candidate(site, None, Fix({}, added=(site.number,)), 0)
        yield Candidate(site, None, Fix({}, left_out=(site.number,)), 0)
    for site in _sites_at(runs.rewrite.sites, stores[1], counts[1] - counts[0]):
        yield Candidate(None, site, Fix({}, dropped=(site.number,)), 0)
    yield from _calls(runs, case)


def _all_stores(sites: Sequence[Site], shown: Shown) -> Iterator[tuple[int, int]]:
    """The address of each store of a run, and the site of its value."""
    for site in sites:
        if site.role is Role.STORED:
            yield from ((address, site.number) for address in shown.values.get(site.number - 1, ()))


def _sites_at(sites: Sequence[Site], stores: Sequence[tuple[int, int]], addresses: Counter[int]) -> list[Site]:
    return [sites[number] for number in dict.fromkeys(n for address, n in stores if addresses[address] > 0)]


def _calls(runs: Runs, case: Case) -> Iterator[Candidate]:
    """Calls that one side makes more often, and the same call at another place in the order of all."""
    records = case.target.calls, case.rewrite.calls
    counts = [Counter(record.callee for record in made) for made in records]
    made = [
        [site for site in calls_of(m.function) if site.address in set(run.trace)]
        for m, run in zip(runs.marked, (case.target, case.rewrite), strict=True)
    ]
    for side in range(2):
        for site in made[side]:
            if counts[side][site.register] > counts[1 - side][site.register]:
                fix = Fix({}, cuts=(Cut(side, site.block),))
                yield Candidate(site if side == 0 else None, site if side == 1 else None, fix, 0)
    moved = _moved(*records)
    for left, right in product(*made):
        if left.register == right.register and left.register in moved:
            yield Candidate(left, right, Fix({}, cuts=(Cut(0, left.block), Cut(1, right.block))), 0)


def _moved(target: Sequence[CallRecord], rewrite: Sequence[CallRecord]) -> set[str]:
    """Callees that both call alike, but at another place in the order."""
    if Counter(record.callee for record in target) != Counter(record.callee for record in rewrite):
        return set()
    apart = [(left, right) for left, right in zip(target, rewrite, strict=True) if left.callee != right.callee]
    rewrites = [right for _, right in apart]
    return {left.callee for left, _ in apart if left in rewrites}


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
    if target is None or rewrite is None or target.role is Role.CALL:
        return candidate.fix.added, candidate.fix.dropped, candidate.fix.left_out, candidate.fix.cuts
    fitting = mask(rewrite.size)
    # All of them: with the change, the site may be executed more often than it was.
    given = (value & fitting for value in case.values[target.number])
    return rewrite.number, rewrite.number in candidate.fix.negated, tuple(given)


class Ranking:
    """Sorts candidates by what they look like on the witness."""

    def __init__(
        self, runs: Runs, case: Case, functions: tuple[Function, Function], cases: Sequence[Case] = ()
    ) -> None:
        self._case = case
        self._functions = functions
        self._sites = runs.sites_with_operands()
        shown = runs.operands(case)
        self._read = [side.values for side in shown]
        self._stored = [_loads_of_stored(sites, side) for sites, side in zip(self._sites, shown, strict=True)]
        self._order = [_first_times(shown.order) for shown in case.shown]
        self._last = _last_results(runs.rewrite.sites, case.shown[1], runs.results)
        self._right = _right_values(runs.target.sites, runs.rewrite.sites, (case, *cases), functions)

    def sort(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        return sorted(candidates, key=self._key)

    def is_born(self, candidate: Candidate) -> bool:
        """Whether the two instructions read the same where they yield something else."""
        target, rewrite = candidate.target, candidate.rewrite
        if target is None or rewrite is None:
            site = target or rewrite
            assert site is not None
            return site.role is Role.CALL or not self._is_in_frame(0 if rewrite is None else 1, site)
        if target.role is Role.CALL or target.role in _PASSED_ON or rewrite.role in _PASSED_ON:
            return False
        if any(self._only_reloads(side, site, candidate.time) for side, site in enumerate((target, rewrite))):
            return False
        left = self._operands(0, target, candidate.time)
        return left is not None and left == self._operands(1, rewrite, candidate.time)

    def _is_in_frame(self, side: int, store: Site) -> bool:
        return all(in_frame(address) for address in self._case.shown[side].values.get(store.number - 1, ()))

    def is_trivial(self, candidate: Candidate) -> bool:
        """Whether it is the result itself, passed on at the very end."""
        site = candidate.rewrite
        return site is not None and self.is_last(candidate) and self._is_moved(1, site, candidate.time)

    def is_last(self, candidate: Candidate) -> bool:
        """Whether it is the last write of the result, and the difference is not born there: any wrong result can be
        overwritten at the end."""
        site = candidate.rewrite
        is_result = site is not None and (site.role is Role.LEFT or site.number in self._last)
        return is_result and not self.is_born(candidate)

    def _key(self, candidate: Candidate) -> tuple[int, ...]:
        target, rewrite = candidate.target, candidate.rewrite
        is_born = self.is_born(candidate)
        return (
            self.is_last(candidate),
            rewrite is not None and rewrite.role is Role.LEFT,
            rewrite is not None and rewrite.number in self._right,
            not is_born,
            self._order[1].get((rewrite.number, candidate.time), 0) if rewrite is not None else 0,
            target is not None and self._is_moved(0, target, candidate.time),
            self._unlikeness(candidate),
            self._order[0].get((target.number, candidate.time), 0) if target is not None else 0,
        )

    def _only_reloads(self, side: int, site: Site, time: int) -> bool:
        """Whether the instruction loads what was stored in the same run, and does nothing with it."""
        read = self._sites[side][site.number]
        return read.only_moves and any((number, time) in self._stored[side] for number in read.loaded_from)

    def _is_moved(self, side: int, site: Site, time: int) -> bool:
        """Whether the value was made by an earlier instruction."""
        if site.role is Role.CALL:
            return False
        read = self._sites[side][site.number]
        if site.role in _PASSED_ON or self._only_reloads(side, site, time):
            return True
        return read.only_moves and not read.loaded_from and bool(self._operands(side, site, time))

    def _operands(self, side: int, site: Site, time: int) -> list[int] | None:
        """Their values, sorted; None if they are not known. Where the stack is says nothing."""
        read = self._sites[side][site.number]
        found = [_at(self._read[side], number, time) for number in read.operands]
        places = (site.address, site.compared_at)
        loaded = [s for s in self._sites[side] if s.address in places and s.role is Role.LOADED]
        found += [_at(self._case.shown[side].values, s.number, time) for s in loaded if s.number != site.number]
        if None in found:
            return None
        return sorted(value for value in found if value is not None and not in_frame(value))

    def _unlikeness(self, candidate: Candidate) -> int:
        target, rewrite = candidate.target, candidate.rewrite
        if target is None or rewrite is None:
            return 0
        words = [
            f.instructions[s.address].text.split()[0] for f, s in zip(self._functions, (target, rewrite), strict=True)
        ]
        return (
            4 * (target.role is not rewrite.role)
            + 2 * (target.size != rewrite.size)
            + (words[0] != words[1])
            + bool(candidate.fix.negated)
        )


def _right_values(
    target: Sequence[Site], rewrite: Sequence[Site], cases: Sequence[Case], functions: tuple[Function, Function]
) -> frozenset[int]:
    """Sites of the rewrite that have the values which a site of the target has as well, in all runs. Where the rewrite
    only moves a value the target may have it at another place: it is right if it is the same store of the two. A value
    that is the same in all runs says nothing: another constant may be the same by chance."""
    left, right = (_moving_stores(sites, f) for sites, f in zip((target, rewrite), functions, strict=True))
    counts = [Counter(text for text, _ in stores.values()) for stores in (left, right)]
    common = {text for text in counts[0] if counts[0][text] == counts[1][text]}
    runs = [case.values for case in cases], [case.own for case in cases]
    seen = {(_signature(site, runs[0]), left.get(site.number)) for site in target if _says_much(site, left, common)}
    found = ((site, _signature(site, runs[1])) for site in rewrite if _says_much(site, right, common))
    return frozenset(
        site.number for site, values in found if (values, right.get(site.number)) in seen and len(set(values[1:])) > 2
    )


_Stores = Mapping[int, tuple[str, int]]
"""Stores of moved values: how they read, and which one it is of those that read so."""


def _says_much(site: Site, stores: _Stores, common: Collection[str]) -> bool:
    return not site.only_moves or (site.number in stores and stores[site.number][0] in common)


def _moving_stores(sites: Sequence[Site], function: Function) -> _Stores:
    counts: Counter[str] = Counter()
    found: dict[int, tuple[str, int]] = {}
    for site in sorted(sites, key=lambda site: site.address):
        if site.role is Role.STORED and site.only_moves:
            text = function.instructions[site.address].text
            found[site.number] = text, counts[text]
            counts[text] += 1
    return found


def _signature(site: Site, runs: Sequence[Values]) -> tuple[object, ...]:
    return site.role, *(tuple(run.get(site.number, ())) for run in runs)


def _loads_of_stored(sites: Sequence[Site], shown: Shown) -> frozenset[tuple[int, int]]:
    """Under which numbers and for which time a run shows the address of a load from where it has stored before."""
    loads = {number for site in sites for number in site.loaded_from}
    stores = {site.number - 1: site.size for site in sites if site.role is Role.STORED}
    written: set[int] = set()
    times: dict[int, int] = {}
    found: set[tuple[int, int]] = set()
    for number in shown.order:
        time = times.get(number, 0)
        times[number] = time + 1
        address = shown.values[number][time]
        if number in stores:
            written.update(range(address, address + stores[number]))
        elif number in loads and address in written:
            found.add((number, time))
    return frozenset(found)


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


def _last_results(sites: Sequence[Site], shown: Shown, registers: Collection[str]) -> frozenset[int]:
    """The sites that wrote last to each register of the result."""
    last: dict[str, int] = {}
    for number in shown.order:
        if number >= 0 and sites[number].role is Role.RESULT and sites[number].container in registers:
            last[sites[number].container] = number
    return frozenset(last.values())
