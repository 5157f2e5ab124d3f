"""Points at which the two should agree: calls to outside code, stores, and iterations of their loops (seed 004, section
3.3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from isoform.borders.question import Question
from isoform.engines.loops.align.alignments import alignments
from isoform.engines.loops.observe.stations import body_of, heads
from isoform.engines.loops.observe.tests import GatheredTraces, live_at, traced_again
from isoform.explain.runs import Case, Fix, Runs, Values
from isoform.explain.sites import Role, Site
from isoform.lift.function import BlockId, Function
from isoform.model.outcome import CallRecord, in_frame
from isoform.model.values import dataclass
from isoform.run.running import ShownValues

_FEWEST_VALUES = 3
"""Different values of a site in all runs: with fewer, two sites may have the same values by chance."""


@dataclass(frozen=True)
class Point:
    """The first point at which the two should agree and did not: a call to outside code, a store, or an iteration of
    two loops."""

    number: int
    """Of the call, store or iteration, from 0 on."""
    is_call: bool
    site: int = -1
    """Of a store: the target's site of the stored value."""
    time: int = 0
    """How often that site was executed before."""
    matched: tuple[tuple[int, int], ...] = ()
    """Of an iteration: sites of target and rewrite that correspond, each executed once in an iteration."""


Store = tuple[int, int, int, int]
"""Address, value, the site of the stored value, and how often that was executed before."""


def first_point(runs: Runs, case: Case) -> Point | None:
    """Calls in order, with the memory that they see; where there are none, stores."""
    if case.target.calls or case.rewrite.calls:
        pairs = zip(case.target.calls, case.rewrite.calls, strict=False)
        number = next((n for n, (left, right) in enumerate(pairs) if not _same_call(left, right)), None)
        return None if number is None else Point(number, True)
    stores = [stores_of(m.sites, shown) for m, shown in zip(runs.marked, case.shown, strict=True)]
    for number, (left, right) in enumerate(zip(*stores, strict=False)):
        if left[:2] != right[:2]:
            return Point(number, False, left[2], left[3])
    return None


def reaches(runs: Runs, fix: Fix, case: Case, point: Point) -> bool:
    """Whether the fixed rewrite agrees with the target at a point."""
    now = runs.with_fix(fix, case)
    if point.matched:
        values = [
            (_at(case.values, left, point.number), _at(now.own, right, point.number)) for left, right in point.matched
        ]
        return all(left is not None and left == right for left, right in values)
    if point.is_call:
        calls = now.rewrite.calls
        return len(calls) > point.number and _same_call(case.target.calls[point.number], calls[point.number])
    stores = stores_of(runs.rewrite.sites, now.shown[1])
    wanted = stores_of(runs.target.sites, case.shown[0])[point.number]
    return len(stores) > point.number and stores[point.number][:2] == wanted[:2]


def agreement(runs: Runs, fix: Fix, case: Case, point: Point) -> tuple[int, int]:
    """How much of a call agrees with the target's: its arguments, then the memory that it sees, by the number of bytes
    in which that differs, less than 0; least if it is not that call at all."""
    calls, wanted = runs.with_fix(fix, case).rewrite.calls, case.target.calls[point.number]
    if len(calls) <= point.number or calls[point.number].callee != wanted.callee:
        return -1, 0
    call = calls[point.number]
    pairs = zip(call.arguments, wanted.arguments, strict=False)
    seen = [set((record.sees or {}).items()) for record in (call, wanted)]
    return sum(left == right for left, right in pairs), -len({address for address, _ in seen[0] ^ seen[1]})


def stores_of(sites: Sequence[Site], shown: ShownValues) -> list[Store]:
    """Stores of a run outside the frame, in order."""
    times: dict[int, int] = {}
    found: list[Store] = []
    for number in shown.order:
        time = times.get(number, 0)
        times[number] = time + 1
        if sites[number].role is Role.STORED:
            address = shown.values[number - 1][time]
            if not in_frame(address):
                found.append((address, shown.values[number][time], number, time))
    return found


def _same_call(left: CallRecord, right: CallRecord) -> bool:
    return left == right and left.sees == right.sees


# -- iterations ------------------------------------------------------------------------------------


def first_iteration(question: Question, runs: Runs, case: Case) -> Point | None:
    """The first iteration in which two corresponding loops compute different values. Loops correspond as the loop
    engine aligns them on inputs on which the two functions agree; values correspond if they are equal in all iterations
    there. If the two never agree, all inputs are used, and values correspond whose instructions have the same
    operands."""
    agreeing = [other for other in runs.others if not other.is_apart and _iterates(other)]
    for left, right in _paired_loops(question, agreeing or [case, *runs.others]):
        bodies = [
            _carried(question, runs, (case, *(agreeing or runs.others)), side, head)
            for side, head in enumerate((left, right))
        ]
        matched = list(_with_same_values(agreeing, *bodies) if agreeing else _with_same_text(question, *bodies))
        times = [_first_apart(case, pair) for pair in matched]
        number = min((time for time in times if time is not None), default=None)
        if number is not None and all(_at(case.values, site, number) is not None for site, _ in matched):
            return Point(number, False, matched=tuple(matched))
    return None


def _paired_loops(question: Question, cases: Sequence[Case]) -> Iterator[tuple[BlockId, BlockId]]:
    """Loop headers of target and rewrite."""
    gathered = GatheredTraces(inputs=[case.inputs for case in cases])
    tests = traced_again(question, gathered, (heads(question.target), heads(question.rewrite)))
    found = next(alignments(tests), None) if any(len(test.target) > 1 for test in tests) else None
    for cut in found.cuts if found is not None else ():
        if cut.target is not None and cut.rewrite is not None:
            yield cut.target, cut.rewrite


def _iterates(case: Case) -> bool:
    """Whether some instruction of each side is executed several times."""
    return all(any(len(values) > 1 for values in shown.values.values()) for shown in case.shown)


def _with_same_values(
    cases: Sequence[Case], target: Sequence[Site], rewrite: Sequence[Site]
) -> Iterator[tuple[int, int]]:
    """Sites in the bodies of two loops that have the same values in all cases."""
    taken: set[int] = set()
    for site in rewrite:
        values = [tuple(case.own.get(site.number, ())) for case in cases]
        if len({value for run in values for value in run}) < _FEWEST_VALUES:
            continue
        for other in target:
            is_like = other.size == site.size and other.number not in taken
            if is_like and values == [tuple(case.values.get(other.number, ())) for case in cases]:
                taken.add(other.number)
                yield other.number, site.number
                break


def _with_same_text(question: Question, target: Sequence[Site], rewrite: Sequence[Site]) -> Iterator[tuple[int, int]]:
    """Sites whose instructions have the same operands, in their order."""
    waiting: dict[object, list[int]] = {}
    for site in target:
        waiting.setdefault(_likeness(question.target, site), []).append(site.number)
    for site in rewrite:
        same = waiting.get(_likeness(question.rewrite, site))
        if same:
            yield same.pop(0), site.number


def _likeness(function: Function, site: Site) -> object:
    """Its role and the operands of its instruction: what the instruction does may be what is wrong."""
    return site.role, site.size, site.register, function.instructions[site.address].text.partition(" ")[2]


def _carried(question: Question, runs: Runs, cases: Sequence[Case], side: int, head: BlockId) -> list[Site]:
    """Sites whose values an iteration leaves to the next one: what is stored, and the last writes of registers that are
    live at the header. Each is executed once between two arrivals at the header, in all cases: its n-th execution is
    in the n-th iteration."""
    marked = runs.marked[side]
    body = body_of(marked.function, head)
    outputs = [result.register for result in question.contract.of(side).results]
    live = live_at(marked.function, outputs, head)
    inside = sorted((site for site in marked.sites if site.block in body), key=lambda site: site.address)
    last = {site.container: site for site in inside if site.role is Role.RESULT and site.container in live}
    stored = (site for site in inside if site.role is Role.STORED)

    def is_once(site: Site) -> bool:
        for case in cases:
            arrivals = (case.target, case.rewrite)[side].trace.count(head.address)
            times = len(case.shown[side].values.get(site.number, ()))
            if not arrivals - 1 <= times <= arrivals:
                return False
        return True

    return [site for site in (*stored, *last.values()) if is_once(site)]


def _first_apart(case: Case, pair: tuple[int, int]) -> int | None:
    """The first iteration in which two sites have different values."""
    left, right = case.values.get(pair[0], ()), case.own.get(pair[1], ())
    apart = (n for n, (mine, its) in enumerate(zip(left, right, strict=False)) if mine != its)
    return next(apart, min(len(left), len(right)) if len(left) != len(right) else None)


def _at(values: Values, number: int, time: int) -> int | None:
    found = values.get(number, ())
    return found[time] if time < len(found) else None
