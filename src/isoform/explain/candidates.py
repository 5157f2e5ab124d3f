"""Candidates for a cause: single changes of the rewrite that make it agree with the target on the witness."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product

from isoform.explain.contexts import Contexts
from isoform.explain.runs import Added, Case, Fix, Runs, Values
from isoform.explain.sites import Cut, Marked, Role, Site, calls_of
from isoform.lift.function import Function
from isoform.model.budget import Budget
from isoform.model.evaluate import mask
from isoform.model.outcome import RETURN_ADDRESS, CallRecord, Outcome, in_frame
from isoform.model.values import dataclass
from isoform.run.running import ShownValues


@dataclass(frozen=True)
class Candidate:
    """One change. A side that is None has no such store or call."""

    target: Site | None
    rewrite: Site | None
    fix: Fix
    time: int
    """How often the site was executed before its value differs for the first time."""
    is_partial: bool = False
    """Whether it changes the instruction in one of several contexts only: no cause, but it may be part of one."""


def single_changes(runs: Runs, case: Case) -> Iterator[Candidate]:
    """All that change anything on an input."""
    executed = [_executed_in([case.shown[side].values for case in (case, *runs.others)]) for side in range(2)]
    for candidate in _values(runs, case):
        yield candidate
        target, rewrite = candidate.target, candidate.rewrite
        assert target is not None
        assert rewrite is not None
        if target.is_constant and executed[1][rewrite.number] & ~executed[0][target.number]:
            yield replace(candidate, fix=replace(candidate.fix, kept=frozenset(candidate.fix.values)))
    yield from _without_counterpart(runs, case)


def _executed_in(runs: Sequence[Values]) -> Counter[int]:
    """For each site a number with a bit for each run that executes it."""
    found: Counter[int] = Counter()
    for number, values in enumerate(runs):
        for site in values:
            found[site] |= 1 << number
    return found


def _values(runs: Runs, case: Case) -> Iterator[Candidate]:
    """Those that give a value of the rewrite another one."""
    contexts = Contexts(runs, case)
    seen: set[Hashable] = set()
    for site in runs.rewrite.sites:
        for candidate in _replaced(runs, case, site):
            if len(runs.rewrite.contexts[site.number]) == 1:
                yield candidate
                continue
            for found in _in_contexts(runs, contexts, candidate):
                if found.fix.key not in seen:
                    seen.add(found.fix.key)
                    yield found


def _in_contexts(runs: Runs, contexts: Contexts, candidate: Candidate) -> Iterator[Candidate]:
    """A change of an instruction that is inlined several times: in all its contexts; where the target has not as many
    of its own, also in one."""
    target, rewrite = candidate.target, candidate.rewrite
    assert target is not None
    assert rewrite is not None
    pairs = contexts.pairs(target.number, rewrite.number)
    if pairs is not None and pairs[rewrite.number] == target.number:
        yield replace(candidate, fix=Fix(pairs, frozenset(pairs if candidate.fix.negated else ())))
    if len(runs.target.contexts[target.number]) != len(runs.rewrite.contexts[rewrite.number]):
        yield replace(candidate, is_partial=True)


def _replaced(runs: Runs, case: Case, site: Site) -> Iterator[Candidate]:
    own = case.own.get(site.number)
    if site.role is Role.ADDRESS and own and in_frame(own[0]):
        return  # where a frame has its variables is its own business
    if site.role is Role.CONSTANT and _is_place_in_frame(runs, case, site):
        return
    for other in runs.target.sites if own else ():
        values = case.values.get(other.number)
        if not values or not own or not _widths_fit(other, site):
            continue
        if other.number in runs.undefined or other.number in runs.saved:
            continue
        if any(map(_is_of_the_stack, values)) and not any(map(_is_of_the_stack, own)):
            continue
        for negated in (False, True) if _are_conditions(other, site) else (False,):
            fitted = [(value & mask(site.size)) ^ negated for value in values[: len(own)]]
            time = _first_difference(own, fitted)
            if time is not None:
                fix = Fix({site.number: other.number}, frozenset({site.number} if negated else ()))
                yield Candidate(other, site, fix, time)


def _is_place_in_frame(runs: Runs, case: Case, constant: Site) -> bool:
    """Whether an instruction computes the address of a variable in the frame with a constant."""
    same = (other for other in runs.rewrite.sites if other.address == constant.address and other.role is Role.RESULT)
    return any(in_frame(value) for other in same for value in case.own.get(other.number, ()))


def _is_of_the_stack(value: int) -> bool:
    """Where a frame is, or the caller: by chance the right thing in a comparison, and never the reason."""
    return in_frame(value) or value == RETURN_ADDRESS


def _first_difference(own: Sequence[int], given: Sequence[int]) -> int | None:
    """At which execution a site gets another value than its own."""
    found = next((n for n, (left, right) in enumerate(zip(own, given, strict=False)) if left != right), None)
    return len(given) if found is None and len(given) < len(own) else found


def _widths_fit(target: Site, rewrite: Site) -> bool:
    """Whether it is clear what the value of one is at the width of the other: the low part, or extended with zeros. A
    condition is a number only where the other one is a condition, too, or a byte that is computed, as by `sete`. A
    constant is replaced only by another constant."""
    if Role.CONSTANT in (target.role, rewrite.role) and not (target.is_constant and rewrite.is_constant):
        return False
    others = [site for site in (target, rewrite) if site.role is not Role.CONDITION]
    if len(others) == 1:
        return target.size == rewrite.size and others[0].role is Role.RESULT and not others[0].only_moves
    return target.size == rewrite.size or len(others) == 2


def _are_conditions(target: Site, rewrite: Site) -> bool:
    return Role.CONDITION in (target.role, rewrite.role)


def _without_counterpart(runs: Runs, case: Case) -> Iterator[Candidate]:
    """Stores that one side makes more often, and outside calls."""
    stores = [list(_all_stores(m.sites, shown)) for m, shown in zip(runs.marked, case.shown, strict=True)]
    counts = [Counter(place for place, _ in made) for made in stores]
    for site in _sites_at(runs.target, stores[0], counts[0] - counts[1]):
        contexts = runs.target.contexts[site.number]
        if not all(map(in_frame, case.values.get(site.number - 1, ()))):
            for before in (None, *_anchors(runs, case)):
                yield Candidate(site, None, Fix({}, added=tuple(Added(n, before) for n in contexts)), 0)
        yield Candidate(site, None, Fix({}, left_out=contexts), 0)
    for site in _sites_at(runs.rewrite, stores[1], counts[1] - counts[0]):
        yield Candidate(None, site, Fix({}, dropped=runs.rewrite.contexts[site.number]), 0)
    yield from _calls(runs, case)


def _anchors(runs: Runs, case: Case) -> Iterator[int]:
    """Sites of the rewrite at which a further store may be made, each the last before some access to memory or a call.
    It matters where: the store may be overwritten later, or what it stores be read."""
    sites, order = runs.sites_with_operands()[1], list(dict.fromkeys(case.shown[1].order))
    for earlier, site in zip((None, *order), order, strict=False):
        if sites[site].role in (Role.ADDRESS, Role.ARGUMENT):
            yield site
        elif sites[site].loaded_from and earlier is not None and sites[earlier].role is not Role.ADDRESS:
            yield earlier


_Stored = tuple[int, int]
"""An address, and how many bytes are stored there."""


def _all_stores(sites: Sequence[Site], shown: ShownValues) -> Iterator[tuple[_Stored, int]]:
    """Where each store of a run stores to, and the site of its value."""
    for site in sites:
        if site.role is Role.STORED:
            yield from (((address, site.size), site.number) for address in shown.values.get(site.number - 1, ()))


def _sites_at(marked: Marked, stores: Sequence[tuple[_Stored, int]], places: Counter[_Stored]) -> list[Site]:
    """Of an instruction in several contexts: one."""
    found = (number for place, number in stores if places[place] > 0)
    return list({marked.contexts[number]: marked.sites[number] for number in found}.values())


def _calls(runs: Runs, case: Case) -> Iterator[Candidate]:
    """Calls that one side makes more often, and the same call at another place in the order of all."""
    records = case.target.calls, case.rewrite.calls
    counts = [Counter(record.callee for record in made) for made in records]
    made = [
        list(_executed_calls(side, marked.function, run))
        for side, (marked, run) in enumerate(zip(runs.marked, (case.target, case.rewrite), strict=True))
    ]
    for side in range(2):
        for site, cuts in made[side]:
            if counts[side][site.register] > counts[1 - side][site.register]:
                fix = Fix({}, cuts=cuts)
                yield Candidate(site if side == 0 else None, site if side == 1 else None, fix, 0)
    moved = _moved(*records)
    for (left, cuts), (right, others) in product(*made):
        if left.register == right.register and left.register in moved:
            yield Candidate(left, right, Fix({}, cuts=(*cuts, *others)), 0)


def _executed_calls(side: int, function: Function, run: Outcome) -> Iterator[tuple[Site, tuple[Cut, ...]]]:
    """Outside calls of a run, each with what leaves it out in every context that it is inlined in."""
    executed = set(run.trace)
    calls: dict[tuple[int, str], list[Site]] = {}
    for site in calls_of(function):
        if site.address in executed:
            calls.setdefault((site.address, site.register), []).append(site)
    for sites in calls.values():
        yield sites[0], tuple(Cut(side, site.block) for site in sites)


def _moved(target: Sequence[CallRecord], rewrite: Sequence[CallRecord]) -> set[str]:
    """Callees that both call alike, but at another place in the order."""
    if Counter(record.callee for record in target) != Counter(record.callee for record in rewrite):
        return set()
    apart = [(left, right) for left, right in zip(target, rewrite, strict=True) if left.callee != right.callee]
    rewrites = [right for _, right in apart]
    return {left.callee for left, _ in apart if left in rewrites}


def that_fix(
    runs: Runs, case: Case, candidates: Iterable[Candidate], budget: Budget, known: dict[tuple[object, ...], bool]
) -> Iterator[Candidate]:
    """Those with which the two agree on an input. Changes that give a site the same values are tried once: `known` has
    those that were."""
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
    given = ((to, tuple(value & fitting for value in case.values.get(n, ()))) for to, n in candidate.fix.values.items())
    is_constant = target.is_constant and not candidate.fix.kept
    return rewrite.number in candidate.fix.negated, is_constant, *given
