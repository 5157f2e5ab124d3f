"""Candidates in the order in which a person would want them.

A difference is born where an instruction reads the same as its counterpart and yields something else; later
instructions only pass it on. So a change where the operands agree comes before one where they do not, then an early
one before a late one, then one with a counterpart of the same kind. (The seed takes the first in order of the two
programs.)
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from isoform.explain.candidates import Candidate
from isoform.explain.runs import Case, Runs, Values
from isoform.explain.sites import Role, Site
from isoform.lift.function import Function
from isoform.model.evaluate import mask
from isoform.model.outcome import in_frame
from isoform.run.running import ShownValues

_WORD = re.compile(r"\w+")
_PASSED_ON = (Role.ARGUMENT, Role.RETURNED, Role.LEFT)
"""Roles of values that were made elsewhere."""


_FEWEST = {Role.CONSTANT: 1, Role.CONDITION: 2}
"""How many different values a constant and a condition must have had in the runs to count as right, if their
instructions read the same."""


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
        self._loaded = [_loaded_by_address(sites) for sites in self._sites]
        self._known_operands: dict[tuple[int, int, int], list[int] | None] = {}
        self._words: dict[tuple[int, int], Counter[str]] = {}
        self._other: dict[tuple[int | None, int | None], int] = {}
        self._stored = [_loads_of_stored(sites, side) for sites, side in zip(self._sites, shown, strict=True)]
        self._order = [_first_times(shown.order) for shown in case.shown]
        self._last = _last_results(runs.rewrite.sites, case.shown[1], runs.results)
        target, rewrite = self._sites
        every = (case, *cases)
        self._right = (
            _right_values(target, rewrite, every, functions)
            | _right_loads(target, rewrite, every)
            | _kept_arguments(rewrite, every)
        )

    def sort(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        return sorted(candidates, key=self._key)

    def is_born(self, candidate: Candidate) -> bool:
        """Whether the two instructions read the same where they yield something else."""
        target, rewrite = candidate.target, candidate.rewrite
        if target is None or rewrite is None:
            site = target or rewrite
            assert site is not None
            side = 0 if rewrite is None else 1
            return site.role is Role.CALL or not (self._is_in_frame(side, site) or self._is_elsewhere(side, site))
        if target.role is Role.CALL or target.role in _PASSED_ON or rewrite.role in _PASSED_ON:
            return False
        if any(self._only_reloads(side, site, candidate.time) for side, site in enumerate((target, rewrite))):
            return False
        if self._loads_at_computed(1, rewrite) and not self._sites[0][target.number].loaded_from:
            return False  # the same memory is at the same address: what is loaded is wrong if the address is
        left = self._operands(0, target, candidate.time)
        return left is not None and left == self._operands(1, rewrite, candidate.time)

    def _is_in_frame(self, side: int, store: Site) -> bool:
        return all(in_frame(address) for address in self._case.shown[side].values.get(store.number - 1, ()))

    def _is_elsewhere(self, side: int, store: Site) -> bool:
        """Whether the other side stores to the same address as often, only with another width."""
        counts = [self._stores(0), self._stores(1)]
        addresses = self._case.shown[side].values.get(store.number - 1, ())
        return all(counts[side][address] <= counts[1 - side][address] for address in addresses)

    def _stores(self, side: int) -> Counter[int]:
        stores = (site for site in self._sites[side] if site.role is Role.STORED)
        return Counter(a for site in stores for a in self._case.shown[side].values.get(site.number - 1, ()))

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
            self._order[1].get((rewrite.number, candidate.time), 0) if rewrite is not None else self._unpaired(is_born),
            target is not None and self._is_moved(0, target, candidate.time),
            self._unlikeness(candidate),
            self._other_words(candidate),
            self._order[0].get((target.number, candidate.time), 0) if target is not None else 0,
        )

    def _unpaired(self, is_born: bool) -> int:
        """The place in the run of what only the target does: first, or last if the rewrite does it in another form."""
        return 0 if is_born else len(self._case.shown[1].order)

    def _only_reloads(self, side: int, site: Site, time: int) -> bool:
        """Whether the instruction loads what was stored in the same run, and does nothing with it."""
        read = self._sites[side][site.number]
        return read.only_moves and any((number, time) in self._stored[side] for number in read.loaded_from)

    def _loads_at_computed(self, side: int, site: Site) -> bool:
        """Whether the value is loaded, and not a constant that code has in memory."""
        read = self._sites[side][site.number]
        return bool(read.loaded_from and read.operands) and (site.role is Role.LOADED or read.only_moves)

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
        key = side, site.number, time
        if key not in self._known_operands:
            self._known_operands[key] = self._read_by(side, site, time)
        return self._known_operands[key]

    def _read_by(self, side: int, site: Site, time: int) -> list[int] | None:
        if site.role is Role.CONSTANT:
            return []
        read = self._sites[side][site.number]
        found = [_at(self._read[side], number, time) for number in read.operands]
        places = dict.fromkeys((site.address, site.compared_at))
        loaded = [s for place in places if place is not None for s in self._loaded[side].get(place, ())]
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
            + 2 * self._loads_elsewhere(target, rewrite, candidate.time)
            + (words[0] != words[1])
            + bool(candidate.fix.negated)
        )

    def _loads_elsewhere(self, target: Site, rewrite: Site, time: int) -> bool:
        """Whether both instructions load, and from different addresses."""
        left, right = (
            [_at(self._read[side], number, time) for number in self._sites[side][site.number].loaded_from]
            for side, site in enumerate((target, rewrite))
        )
        return bool(left and right) and left != right

    def _other_words(self, candidate: Candidate) -> int:
        """In how many words their instructions differ: of the places where the target has a constant, say, the one that
        reads most like the rewrite's is named."""
        sites = candidate.target, candidate.rewrite
        target, rewrite = (None if site is None else site.address for site in sites)
        if (target, rewrite) not in self._other:
            left, right = (self._words_of(side, site) for side, site in enumerate(sites))
            self._other[target, rewrite] = ((left - right) + (right - left)).total()
        return self._other[target, rewrite]

    def _words_of(self, side: int, site: Site | None) -> Counter[str]:
        if site is None:
            return Counter()
        key = side, site.address
        if key not in self._words:
            self._words[key] = Counter(_WORD.findall(self._functions[side].instructions[site.address].text))
        return self._words[key]


def _right_values(
    target: Sequence[Site], rewrite: Sequence[Site], cases: Sequence[Case], functions: tuple[Function, Function]
) -> frozenset[int]:
    """Sites of the rewrite that have the values which a site of the target has as well, in all runs. Where the rewrite
    only moves a value, has a constant or a condition, the target may have it at another place: it is right if it is
    the same instruction of the two. Otherwise a value that is equal in all runs says nothing: it may be chance."""
    left, right = (_moves(sites, f) for sites, f in zip((target, rewrite), functions, strict=True))
    counts = [Counter(text for text, _ in moves.values()) for moves in (left, right)]
    common = {text for text in counts[0] if counts[0][text] == counts[1][text]}
    runs = [case.values for case in cases], [case.own for case in cases]
    seen = {(_signature(site, runs[0]), left.get(site.number)) for site in target if _says_much(site, left, common)}
    found = ((site, _signature(site, runs[1])) for site in rewrite if _says_much(site, right, common))
    return frozenset(
        site.number
        for site, values in found
        if (values, right.get(site.number)) in seen and len(set(values[1:])) >= _FEWEST.get(site.role, 3)
    )


def _right_loads(target: Sequence[Site], rewrite: Sequence[Site], cases: Sequence[Case]) -> frozenset[int]:
    """Sites of the rewrite that load what the target loads as well, in all runs."""
    runs = [case.values for case in cases], [case.own for case in cases]
    seen = {_signature(site, runs[0])[1:] for site in target if _is_loaded(site)}
    found = ((site, _signature(site, runs[1])[1:]) for site in rewrite if _is_loaded(site))
    return frozenset(site.number for site, values in found if values in seen and len(set(values)) > 2)


def _kept_arguments(rewrite: Sequence[Site], cases: Sequence[Case]) -> frozenset[int]:
    """Sites at which the rewrite keeps an argument in its frame, as it came: both functions are called with it."""
    kept = (site for site in rewrite if site.role is Role.STORED and site.only_moves and site.container)
    return frozenset(site.number for site in kept if all(_keeps_argument(site, case) for case in cases))


def _keeps_argument(site: Site, case: Case) -> bool:
    came = case.inputs[1].registers.get(site.container)
    values, addresses = (case.own.get(number, ()) for number in (site.number, site.number - 1))
    return came is not None and all(map(in_frame, addresses)) and all(v == came & mask(site.size) for v in values)


def _is_loaded(site: Site) -> bool:
    return site.role is Role.LOADED or (site.role is Role.RESULT and site.only_moves and bool(site.loaded_from))


_Moves = Mapping[int, tuple[str, int]]
"""Sites of moved values: how their instructions read, and which one it is of those that read so."""


def _says_much(site: Site, moves: _Moves, common: Collection[str]) -> bool:
    is_copied = site.only_moves or site.role in _FEWEST
    return not is_copied or (site.number in moves and moves[site.number][0] in common)


def _moves(sites: Sequence[Site], function: Function) -> _Moves:
    counts: Counter[str] = Counter()
    found: dict[int, tuple[str, int]] = {}
    for site in sorted(sites, key=lambda site: site.address):
        if site.role in _FEWEST or (site.role in (Role.STORED, Role.RESULT) and site.only_moves):
            text = f"{site.role.value} {_text(site, function)}"
            found[site.number] = text, counts[text]
            counts[text] += 1
    return found


def _text(site: Site, function: Function) -> str:
    """How its instruction reads; of a condition, the comparison and what is done with it, wherever that leads."""
    text = function.instructions[site.address].text
    if site.role is not Role.CONDITION:
        return text
    compared = function.instructions[site.compared_at].text if site.compared_at is not None else ""
    return f"{compared}; {text.split()[0]}"


def _signature(site: Site, runs: Sequence[Values]) -> tuple[object, ...]:
    return site.role, *(tuple(run.get(site.number, ())) for run in runs)


def _loads_of_stored(sites: Sequence[Site], shown: ShownValues) -> frozenset[tuple[int, int]]:
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


def _loaded_by_address(sites: Sequence[Site]) -> dict[int, list[Site]]:
    found: dict[int, list[Site]] = {}
    for site in sites:
        if site.role is Role.LOADED:
            found.setdefault(site.address, []).append(site)
    return found


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


def _last_results(sites: Sequence[Site], shown: ShownValues, registers: Collection[str]) -> frozenset[int]:
    """The sites that wrote last to each register of the result."""
    last: dict[str, int] = {}
    for number in shown.order:
        if number >= 0 and sites[number].role is Role.RESULT and sites[number].container in registers:
            last[sites[number].container] = number
    return frozenset(last.values())
