"""Filters for candidates: the heuristics of seed 004, section 5.2. A filter leaves out candidates, so that fewer causes
may be found; what is found is proved all the same."""

from __future__ import annotations

from collections.abc import Callable

from isoform.explain.candidates import Candidate
from isoform.explain.points import first_point
from isoform.explain.runs import Case, Runs
from isoform.explain.sites import MOVES, Role, Site, calls_of, is_callee
from isoform.lift.function import Function
from isoform.model.cause import CauseFilter
from isoform.model.microop import Kind, Space

Keeps = Callable[[Candidate], bool]


def filter_of(
    wanted: CauseFilter | None, runs: Runs, case: Case, functions: tuple[Function, Function]
) -> Callable[[Candidate], bool]:
    """Whether a candidate is one of those that are asked for: on both sides, where it has two."""
    if wanted is None:
        return lambda candidate: True
    if wanted.name == CauseFilter.CALL_WINDOW:
        return _in_window(runs, case, functions, wanted.window)
    test = {"callee": _is_callee, "load": _is_load, "imm": _is_arithmetic}[wanted.name]
    return lambda candidate: all(
        test(function, site)
        for function, site in zip(functions, (candidate.target, candidate.rewrite), strict=True)
        if site is not None
    )


def _is_callee(function: Function, site: Site) -> bool:
    return is_callee(function, site)


def _is_load(function: Function, site: Site) -> bool:
    if site.role is Role.LOADED:
        return True
    ops = function.instructions[site.address].ops
    return site.role is Role.RESULT and site.only_moves and any(op.kind is Kind.LOAD for op in ops)


def _is_arithmetic(function: Function, site: Site) -> bool:
    """Assignments of constants, and of what is computed."""
    if site.role in (Role.CONDITION, Role.ARGUMENT, Role.RETURNED, Role.LEFT, Role.CALL):
        return False
    ops = function.instructions[site.address].ops
    has_constant = any(var.space is Space.CONST for op in ops if op.kind is Kind.COPY for var in op.ins)
    return has_constant or any(op.kind not in MOVES and op.kind is not Kind.STORE for op in ops)


def _in_window(runs: Runs, case: Case, functions: tuple[Function, Function], window: int) -> Keeps:
    """What is executed between the outside call `window` calls before the first that differs and that one; where none
    differs, before the end."""
    point = first_point(runs, case)
    made = case.target.calls, case.rewrite.calls
    last = point.number if point is not None and point.is_call else min(map(len, made))
    traces = case.target.trace, case.rewrite.trace
    calls = [{call.address for call in calls_of(function)} for function in functions]

    def is_inside(side: int, site: Site) -> bool:
        trace = traces[side]
        until = trace.index(site.address) if site.address in trace else len(trace)
        before = sum(address in calls[side] for address in trace[:until])
        return last - window < before <= last

    def keeps(candidate: Candidate) -> bool:
        sites = candidate.target, candidate.rewrite
        return all(is_inside(side, site) for side, site in enumerate(sites) if site is not None)

    return keeps
