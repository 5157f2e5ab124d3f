"""Which function of the new version is which of the old one, how that was seen, and how sure it is."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from isoform.diff.functions import Function
from isoform.load.resolve import as_typed
from isoform.model.errors import UserError
from isoform.model.values import dataclass

SURE, BY_CODE, BY_PART, IN_ORDER = 1.0, 0.95, 0.8, 0.7
"""How sure a match is: by name, by code under another name, by a name up to its number, by order among equal names."""
LEAST_ALIKE = 0.6
"""Of what two functions refer to, the share that they must have in common to be taken for one."""
_NUMBER = re.compile(r"\.\d+")
"""Compilers number what they split off: `f.part.0`, `f.constprop.1`."""
_Key = TypeVar("_Key")


@dataclass(frozen=True)
class Matched:
    old: Function
    new: Function
    how: str
    confidence: float


@dataclass(frozen=True)
class Matching:
    pairs: tuple[Matched, ...]
    removed: tuple[Function, ...]
    added: tuple[Function, ...]


def match(old: Sequence[Function], new: Sequence[Function], forced: Iterable[tuple[str, str]] = ()) -> Matching:
    matcher = _Matcher(old, new)
    for left, right in forced:
        matcher.force(left, right)
    matcher.by_names()
    matcher.by_key(lambda function: function.digest, "the same code", BY_CODE)
    matcher.by_key(_part_name, "a name that differs only in a number", BY_PART)
    matcher.by_surroundings()
    return matcher.matching()


def _part_name(function: Function) -> str:
    """The name without the compiler's numbers; "" for other names."""
    return _NUMBER.sub(".N", function.name) if _NUMBER.search(function.name) else ""


class _Matcher:
    def __init__(self, old: Sequence[Function], new: Sequence[Function]) -> None:
        self._old, self._new = old, new
        self._pairs: dict[int, Matched] = {}
        """By the address of the old one."""
        self._taken: dict[int, int] = {}
        """The address of the old one by that of the new one."""

    def _left(self) -> tuple[list[Function], list[Function]]:
        old = [one for one in self._old if one.address not in self._pairs]
        return old, [one for one in self._new if one.address not in self._taken]

    def _add(self, old: Function, new: Function, how: str, confidence: float) -> None:
        self._pairs[old.address] = Matched(old, new, how, confidence)
        self._taken[new.address] = old.address

    def force(self, left: str, right: str) -> None:
        """Nothing, if this file does not have both."""
        given = f"--match {left}={right}"
        old, new = _named(self._old, left, f"{given}: the old"), _named(self._new, right, f"{given}: the new")
        if old is None or new is None:
            return
        if old.address in self._pairs or new.address in self._taken:
            raise UserError(f"{given}: one of the two is matched already.")
        self._add(old, new, "--match", SURE)

    def by_names(self) -> None:
        """Functions of one name; if there are several, those of the same code, and then in their order."""
        old, new = self._left()
        left, right = _grouped(old, lambda f: f.name), _grouped(new, lambda f: f.name)
        for name in left.keys() & right.keys():
            if len(left[name]) == len(right[name]) == 1:
                self._add(left[name][0], right[name][0], "the same name", SURE)
                continue
            self._by_key(left[name], right[name], lambda f: f.digest, "the same name and code", SURE)
            rest = [
                [f for f in side if not self._is_taken(f, is_old)]
                for side, is_old in ((left[name], True), (right[name], False))
            ]
            if len(rest[0]) == len(rest[1]):
                for one, other in zip(*rest, strict=True):
                    self._add(one, other, f"the same name, one of {len(left[name])} in their order", IN_ORDER)
        uses = [Counter(name for f in side for name in f.aliases) for side in (self._old, self._new)]
        old, new = self._left()
        aliases = {name: f for f in new for name in f.aliases if uses[0][name] == uses[1][name] == 1}
        for one in old:
            other = next((aliases[name] for name in one.aliases if name in aliases), None)
            if other is not None and not self._is_taken(other, False):
                self._add(one, other, "another name of the same function", SURE)

    def _is_taken(self, function: Function, is_old: bool) -> bool:
        return function.address in (self._pairs if is_old else self._taken)

    def by_key(self, key: Callable[[Function], str], how: str, confidence: float) -> None:
        self._by_key(*self._left(), key, how, confidence)

    def _by_key(
        self,
        old: Sequence[Function],
        new: Sequence[Function],
        key: Callable[[Function], str],
        how: str,
        confidence: float,
    ) -> None:
        """Those with a key that only one of each side has."""
        left, right = _grouped(old, key), _grouped(new, key)
        for value in left.keys() & right.keys():
            if value and len(left[value]) == len(right[value]) == 1:
                self._add(left[value][0], right[value][0], how, confidence)

    def by_surroundings(self) -> None:
        """What is left: functions that refer to the same things, call the same, and are called by the same. The best
        ones first, and each only if it is the best for both."""
        old, new = self._left()
        left, right = self._surroundings(self._old, True), self._surroundings(self._new, False)
        scores = [
            (score, one, other)
            for one in old
            for other in new
            if (score := _share(left[one.address], right[other.address])) >= LEAST_ALIKE
        ]
        scores.sort(key=lambda scored: (-scored[0], scored[1].name, scored[2].name))
        best = Counter((address, score) for score, one, other in scores for address in (one.address, -other.address))
        for score, one, other in scores:
            if self._is_taken(one, True) or self._is_taken(other, False):
                continue
            if best[one.address, score] == 1 and best[-other.address, score] == 1:
                self._add(one, other, f"callers, callees and texts ({score:.0%} in common)", 0.9 * score)

    def _surroundings(self, functions: Sequence[Function], is_old: bool) -> dict[int, frozenset[str]]:
        """What each function refers to, calls and is called by. Functions that are matched count as one."""
        by_address = {function.address: function for function in functions}
        callers: dict[int, set[int]] = defaultdict(set)
        for function in functions:
            for callee in function.callees:
                callers[callee].add(function.address)

        def known(address: int) -> str:
            if is_old:
                return f"@{address}" if address in self._pairs else ""
            return f"@{self._taken[address]}" if address in self._taken else ""

        found = {}
        for address, function in by_address.items():
            calls = {f"calls {k}" for callee in function.callees if (k := known(callee))}
            called = {f"called by {k}" for caller in callers[address] if (k := known(caller))}
            found[address] = frozenset(function.words | calls | called)
        return found

    def matching(self) -> Matching:
        old, new = self._left()
        pairs = tuple(self._pairs[one.address] for one in self._old if one.address in self._pairs)
        return Matching(pairs, tuple(old), tuple(new))


def require_forced(
    forced: Iterable[tuple[str, str]], files: Sequence[tuple[Sequence[Function], Sequence[Function]]]
) -> None:
    """Every forced match is one of some file: others are mistakes of whoever asks."""
    for left, right in forced:
        given = f"--match {left}={right}"
        found = [
            (_named(old, left, f"{given}: the old"), _named(new, right, f"{given}: the new")) for old, new in files
        ]
        for side, name, number in (("old", left, 0), ("new", right, 1)):
            if all(pair[number] is None for pair in found):
                raise UserError(f"--match {left}={right}: the {side} version has no function {name}.")
        if not any(old and new for old, new in found):
            raise UserError(f"{given}: the two are in files that do not belong together.")


def _named(functions: Sequence[Function], typed: str, whose: str) -> Function | None:
    """The function that is meant. C++ names may be written as in the source."""
    by_name: dict[str, list[Function]] = {}
    for function in functions:
        for alias in function.aliases:
            by_name.setdefault(alias, []).append(function)
    found = {one.address: one for name in as_typed(by_name, typed) for one in by_name[name]}
    if len(found) > 1:
        raise UserError(f"{whose} version has {len(found)} functions that {typed} may mean.")
    return next(iter(found.values()), None)


def _grouped(functions: Sequence[Function], key: Callable[[Function], str]) -> dict[str, list[Function]]:
    found: dict[str, list[Function]] = {}
    for function in functions:
        found.setdefault(key(function), []).append(function)
    return found


def _share(left: frozenset[str], right: frozenset[str]) -> float:
    return len(left & right) / len(left | right) if len(left & right) > 1 else 0.0
