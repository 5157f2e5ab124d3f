"""Candidates as a person reads them: instructions, source lines, values, and what kind of mistake it is."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from isoform.borders.question import Question
from isoform.explain.candidates import Candidate
from isoform.explain.ranking import Ranking
from isoform.explain.runs import Case
from isoform.explain.sites import Role, Site, calls_of, is_callee
from isoform.lift.function import Function
from isoform.lift.listing import functions_of, views_of
from isoform.model.cause import Cause, CauseKind, ValuePlace

_NUMBER = re.compile(r"(?<![$\w])-?(0x[0-9a-f]+|\d+)\b")
_WHAT = {
    Role.LOADED: "the loaded value",
    Role.STORED: "the stored value",
    Role.ADDRESS: "the address",
    Role.CONSTANT: "the constant",
    Role.CONDITION: "the condition",
    Role.CALL: "the call",
}
_COMPARING = ("set", "slt", "seq", "sne", "cmp")
_EXTENSIONS = ("movs", "movz", "cbw", "cwde", "cdqe", "sext", "zext")


class Places:
    def __init__(self, question: Question, case: Case, others: Sequence[Case] = ()) -> None:
        self._functions = question.target, question.rewrite
        self._case = case
        self._others = others
        self._order = question.contract.machine.byte_order

    def causes(self, chosen: Sequence[Candidate], similar: Sequence[Candidate], ranking: Ranking) -> list[Cause]:
        """The chosen ones; copies of one instruction are one cause, shown with all its places."""
        groups: list[list[Candidate]] = []
        for candidate in chosen:
            group = next((g for g in groups if self.is_copy(candidate, g[0])), None)
            if group is None:
                groups.append([candidate])
            else:
                group.append(candidate)
        return [self._grouped(group, similar, ranking) for group in groups]

    def _grouped(self, group: Sequence[Candidate], similar: Sequence[Candidate], ranking: Ranking) -> Cause:
        first = group[0]
        same = [c for c in similar if c is not first and self._is_same_value(c, first)]
        pairs = [self._pair(candidate) for candidate in (*group[1:], *same)]
        cause = self.cause(first, ranking)
        shown = (cause.target, cause.rewrite)
        copies = tuple(dict.fromkeys(pair for pair in pairs if pair != shown))
        return replace(cause, copies=copies)

    def _is_same_value(self, candidate: Candidate, other: Candidate) -> bool:
        """Whether the rewrite is changed at the same site, to values that are the same in all runs: the target has
        copies of them."""
        if candidate.rewrite != other.rewrite or candidate.target is None or other.target is None:
            return False
        numbers = candidate.target.number, other.target.number
        runs = (case.values for case in (self._case, *self._others))
        return all(values.get(numbers[0], ()) == values.get(numbers[1], ()) for values in runs)

    def cause(self, candidate: Candidate, ranking: Ranking) -> Cause:
        target, rewrite = self._pair(candidate)
        is_negated = bool(candidate.fix.negated)
        fix = candidate.fix
        is_left_out = bool(fix.left_out or fix.dropped or fix.cuts)
        return Cause(target, rewrite, self._kind(candidate), ranking.is_trivial(candidate), is_negated, is_left_out)

    def _pair(self, candidate: Candidate) -> tuple[ValuePlace | None, ValuePlace | None]:
        return self._place(0, candidate.target, candidate.time), self._place(1, candidate.rewrite, candidate.time)

    def _place(self, side: int, site: Site | None, time: int) -> ValuePlace | None:
        if site is None:
            return None
        values = self._case.shown[side].values.get(site.number, ())
        value = values[min(time, len(values) - 1)] if values else 0
        # A condition is computed where the two are compared; debug information may have that elsewhere.
        file, line = self._line(side, site.address if site.compared_at is None else site.compared_at)
        return ValuePlace(site.address, self.text(side, site), _what(site), value, file, line)

    def text(self, side: int, site: Site) -> str:
        """The instruction; a condition with the comparison before it."""
        texts = self._texts[side]
        own = texts.get(site.address, "")
        compared = texts.get(site.compared_at, "") if site.compared_at is not None else ""
        return f"{compared}; {own}" if compared else own

    @cached_property
    def _texts(self) -> tuple[dict[int, str], ...]:
        return tuple({row.address: row.text for row in view.rows} for view in views_of(self._functions))

    def _line(self, side: int, address: int) -> tuple[str, int | None]:
        image, starts = self._functions[side].image, self._line_starts[side]
        position = bisect_right(starts, address) - 1
        around = functions_of((address,), image)
        if position < 0 or (around and starts[position] < around[0].address):
            return "", None
        found = image.lines[starts[position]]
        return found.file, found.number

    @cached_property
    def _line_starts(self) -> tuple[list[int], ...]:
        return tuple(sorted(function.image.lines) for function in self._functions)

    # -- likeness -------------------------------------------------------------------------------

    def is_copy(self, candidate: Candidate, other: Candidate) -> bool:
        """Whether two changes are of instructions that read the same on each side, as in duplicated code."""
        return all(
            self._likeness(side, mine) == self._likeness(side, its)
            for side, mine, its in ((0, candidate.target, other.target), (1, candidate.rewrite, other.rewrite))
        )

    def _likeness(self, side: int, site: Site | None) -> object:
        if site is None:
            return None
        line = self._line(side, site.address)
        return site.role, line if line[1] is not None else self._functions[side].instructions[site.address].text

    def _kind(self, candidate: Candidate) -> CauseKind:
        target, rewrite = candidate.target, candidate.rewrite
        if target is None or rewrite is None:
            return _without_counterpart(candidate)
        if rewrite.role is Role.CALL:
            return CauseKind.ORDER if target.register == rewrite.register else CauseKind.CALLEE
        if rewrite.role is Role.CONSTANT:
            return CauseKind.CONSTANT
        if is_callee(self._functions[1], rewrite):
            return CauseKind.CALLEE
        texts = [_instruction(f, s) for f, s in zip(self._functions, (target, rewrite), strict=True)]
        words = [text.split()[0] for text in texts]
        if rewrite.role is Role.CONDITION or rewrite.compared_at is not None:
            return CauseKind.COMPARISON
        if rewrite.role is Role.ARGUMENT:
            return CauseKind.ARGUMENT
        if self._calls_before(0, target) != self._calls_before(1, rewrite) and all("[" in text for text in texts):
            return CauseKind.LOAD_AFTER_CALL
        if all(word.startswith(_COMPARING) for word in words):
            return CauseKind.COMPARISON
        if words[0] != words[1] and any(word.startswith(_EXTENSIONS) for word in words):
            return CauseKind.WIDTH
        if words[0] != words[1]:
            return CauseKind.OPERATION
        without = [_NUMBER.sub("#", text) for text in texts]
        if texts[0] != texts[1] and without[0] == without[1]:
            return CauseKind.OFFSET if "[" in texts[0] and not words[0].startswith("lea") else CauseKind.CONSTANT
        return CauseKind.OPERAND

    def _calls_before(self, side: int, site: Site) -> int:
        """How many outside calls a run makes before it executes an instruction for the first time."""
        outcome = (self._case.target, self._case.rewrite)[side]
        calls = {call.address for call in calls_of(self._functions[side])}
        trace = outcome.trace
        until = trace.index(site.address) if site.address in trace else len(trace)
        return sum(address in calls for address in trace[:until])


def _without_counterpart(candidate: Candidate) -> CauseKind:
    site = candidate.target or candidate.rewrite
    is_call = site is not None and site.role is Role.CALL
    if candidate.rewrite is None:
        return CauseKind.MISSING_CALL if is_call else CauseKind.MISSING_STORE
    return CauseKind.EXTRA_CALL if is_call else CauseKind.EXTRA_STORE


def _instruction(function: Function, site: Site) -> str:
    return function.instructions[site.address].text


def _what(site: Site) -> str:
    if site.role is Role.ARGUMENT:
        return f"the argument {site.register}"
    if site.role in (Role.RETURNED, Role.LEFT):
        return f"the result {site.register}"
    return _WHAT.get(site.role, site.register)
