"""The questions about matched functions: what is asked when, and what becomes of the answers.

First all are run on the same inputs, which finds most differences. Then they are asked one by one, callees before their
callers, small ones first.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from isoform.diff.ask import TESTING_SECONDS, AskedPair, where
from isoform.diff.compose import Composer, Shown
from isoform.diff.cycles import Cycle, Node
from isoform.diff.graph import components
from isoform.diff.matching import Matched
from isoform.diff.options import DiffOptions
from isoform.diff.unit import Unit
from isoform.engines.answer import seconds_for_explaining
from isoform.engines.same_code.engine import SAME_CODE
from isoform.load.described import SourceLine
from isoform.model.library_diff import OPEN, SETTLED, FunctionAnswer, FunctionPlace, Row
from isoform.model.values import dataclass
from isoform.model.verdict import Assumption, merged_assumptions
from isoform.work import task as work
from isoform.work.queue import Progress, Queue, Rules

if TYPE_CHECKING:
    from isoform.work.store import Kept, Store
    from isoform.work.workers import Workers

KIND, TEST_KIND, CYCLE_KIND = "diff", "diff-test", "diff-cycle"
GRACE_SECONDS = 10.0
"""After its budget and the search for a cause, until the process of a question is ended."""
_FINAL = ("equivalent", "different")


@dataclass
class PlanRow:
    unit: int
    pair: Matched
    row: Row
    is_wanted: bool = True
    """Whether it is asked about: not if it is settled, or left out."""
    is_done: bool = False

    @property
    def node(self) -> Node:
        return self.unit, self.pair.old.address

    @property
    def entries(self) -> tuple[int, int]:
        return self.pair.old.address, self.pair.new.address


class Plan:
    def __init__(
        self, units: Sequence[Unit], rows: Sequence[PlanRow], options: DiffOptions, store: Store | None
    ) -> None:
        self._units = units
        self._options = options
        self._store = store
        self._started = time.monotonic()
        self._all = {row.node: row for row in rows}
        self._asked = {row.node: row for row in rows if row.is_wanted}
        self._waits = {node: self._unsettled_callees(node) for node in self._asked}
        """For each function that is asked about: the callees that are not answered yet."""
        self._tested: set[Node] = set()
        """Functions that were run without a difference, and wait for their callees."""
        self._by_key: dict[str, PlanRow] = {}
        self._cycles: dict[int, Cycle] = {}
        """By the number of the component: functions that call each other."""
        self._shown_together: set[Node] = set()
        self.why_ended = ""

    # -- the call graph -------------------------------------------------------------------------------

    def _callees(self, node: Node) -> list[Node]:
        pair = self._all[node].pair
        old = dict.fromkeys(pair.old.callees)
        new = {self._old_of[node[0]].get(address) for address in pair.new.callees}
        return [(node[0], address) for address in dict.fromkeys([*old, *new]) if address is not None]

    @cached_property
    def _old_of(self) -> list[dict[int, int]]:
        """By unit: the address of the old function by that of the new one."""
        found: list[dict[int, int]] = [{} for _ in self._units]
        for row in self._all.values():
            found[row.unit][row.pair.new.address] = row.pair.old.address
        return found

    @cached_property
    def _components(self) -> list[tuple[Node, ...]]:
        return components({node: [c for c in self._callees(node) if c in self._all] for node in self._all})

    @cached_property
    def _component_of(self) -> dict[Node, int]:
        return {node: number for number, nodes in enumerate(self._components) for node in nodes}

    def _unsettled_callees(self, node: Node) -> set[Node]:
        """Callees that are asked about first. Functions that call each other do not wait for each other."""
        own = self._component_of[node]
        return {c for c in self._callees(node) if c in self._asked and self._component_of[c] != own}

    # -- asking ---------------------------------------------------------------------------------------

    def rows(self) -> list[Row]:
        """The row of every function that is asked about."""
        if self._asked:
            self._ask_all()
        return [row.row for row in self._with_effects() if row.is_wanted]

    def _ask_all(self) -> None:
        rules = Rules(is_final=_is_final, is_reused=self._is_reused)
        with Queue(self._workers(), self._store, rules, progress=self._show, seconds=self._options.seconds) as queue:
            queue.add_all(self._tests())
            for answer in queue.answers():
                queue.add_all(self._next(answer))
            self.why_ended = queue.why_ended

    def _workers(self) -> Workers:
        if self._options.cluster is not None:
            from isoform.work.cluster import ClusterWorkers

            payload = [(unit.members, self._options.loading) for unit in self._units]
            return ClusterWorkers(self._options.cluster, work.Recipe("isoform.diff.plan:reopened", payload))
        from isoform.work.local import LocalWorkers

        for unit in self._units:
            assert unit.functions  # read before processes are forked
        return LocalWorkers(self._options.jobs, self._units)

    def _tests(self) -> Iterator[work.Task]:
        for row in self._asked.values():
            row.row = self._with_digests(row)
        if self._options.budget > TESTING_SECONDS:
            yield from (self._task(row, is_test=True) for row in self._asked.values())
        else:
            self._tested |= self._asked.keys()
            yield from self._ready()

    def _with_digests(self, row: PlanRow) -> Row:
        places = row.row.old, row.row.new
        unit = self._units[row.unit]
        contents = unit.contents(row.entries)
        declared = unit.declared(row.entries, contents)
        lines = unit.lines(row.entries)
        old, new = (
            replace(_at_line(place, line), digest=work.content_key([content.digest, types]))
            for place, content, types, line in zip(places, contents, declared, lines, strict=True)
            if place is not None
        )
        return replace(row.row, old=old, new=new)

    def _task(self, row: PlanRow, is_test: bool = False, assumed: tuple[Shown, ...] = ()) -> work.Task:
        from isoform.work.store import current_versions

        options = self._options.of_questions
        callees, rests_on = ((), ()) if is_test else self._shown_callees(row)
        asked = AskedPair(
            row.unit,
            row.entries,
            options.budget,
            options.seed,
            options.memory_limit,
            is_test,
            callees,
            rests_on,
            assumed,
        )
        unit = self._units[row.unit]
        contents = unit.contents(row.entries)
        names = [function.name for function in (row.pair.old, row.pair.new)]
        digests = [content.digest for content in contents]
        said = [names, digests, unit.declared(row.entries, contents), options.seed, options.memory_limit]
        said += [[callee.name for callee in callees], [(one.name, one.why) for one in rests_on]]
        said += [[callee.name for callee in assumed]]
        seconds = TESTING_SECONDS if is_test else options.budget
        explaining = seconds_for_explaining(replace(options, budget=seconds))
        key = work.content_key([current_versions(), said])
        self._by_key[key] = row
        return work.Task(
            kind=TEST_KIND if is_test else CYCLE_KIND if assumed else KIND,
            key=key,
            function="isoform.diff.ask:ask",
            payload=asked,
            limits=work.TaskLimits(seconds + explaining + GRACE_SECONDS, options.memory_limit),
            effort=seconds,
            priority=0 if is_test else 1,
            cost=float(row.row.size),
            label=row.row.name,
        )

    def _shown_callees(self, row: PlanRow) -> tuple[tuple[Shown, ...], tuple[Assumption, ...]]:
        """The callees that do the same, and what that rests on. Functions that call each other are among them only if
        they were shown together: otherwise it would depend on the order of answers which are known."""
        found, rests_on = list[Shown](), list[Assumption]()
        own = self._component_of[row.node]
        for node in self._callees(row.node):
            callee = self._all.get(node)
            if callee is None or callee.row.answer not in SETTLED:
                continue
            if self._component_of[node] == own and node not in self._shown_together:
                continue
            assumptions = [Assumption(one["name"], one["why"]) for one in (callee.row.verdict or {})["assumptions"]]
            shown = self._composers[row.unit].shown(callee.entries, [one.name for one in assumptions])
            if shown is not None:
                found.append(shown)
                rests_on += assumptions
        return tuple(found), merged_assumptions(rests_on)

    @cached_property
    def _composers(self) -> list[Composer]:
        return [Composer(unit) for unit in self._units]

    def _next(self, answer: work.TaskResult) -> list[work.Task]:
        """Note an answer. Returns the tasks that can be asked now."""
        asked: AskedPair = answer.task.payload
        row = self._all[asked.unit, asked.entries[0]]
        if asked.assumed:
            return self._next_in_cycle(row, answer)
        verdict = answer.result["verdict"]["verdict"] if answer.ending is work.TaskEnd.DONE else "unknown"
        if asked.is_test and verdict != "different":
            self._tested.add(row.node)
            return list(self._ready())
        self._note(row, answer)
        return list(self._ready())

    def _note(self, row: PlanRow, answer: work.TaskResult) -> None:
        row.row = _answered(row.row, answer)
        row.is_done = True
        self._tested.discard(row.node)
        for waits in self._waits.values():
            waits.discard(row.node)

    def _ready(self) -> Iterator[work.Task]:
        for node in [node for node in self._tested if not self._waits[node]]:
            number = self._component_of[node]
            cycle = self._cycle(number)
            if cycle is not None and not cycle.is_over and not cycle.is_started and self._may_begin(number):
                yield from self._begun(cycle, number)
            if cycle is None or cycle.is_over:
                self._tested.discard(node)
                yield self._task(self._asked[node])

    # -- functions that call each other ---------------------------------------------------------------

    def _cycle(self, number: int) -> Cycle | None:
        """Of a component that has several functions which are asked about."""
        asked = [node for node in self._components[number] if node in self._asked]
        if len(asked) < 2:
            return None
        if number not in self._cycles:
            self._cycles[number] = Cycle([])
        return self._cycles[number]

    def _may_begin(self, number: int) -> bool:
        """Whether all of them have been run, and all their callees are answered."""
        asked = [node for node in self._components[number] if node in self._asked]
        return all(self._asked[n].is_done or (n in self._tested and not self._waits[n]) for n in asked)

    def _begun(self, cycle: Cycle, number: int) -> list[work.Task]:
        """The first questions about a component, if some of its functions can count as outside functions."""
        unsettled = [n for n in sorted(self._components[number]) if n in self._asked and not self._asked[n].is_done]
        cycle.members = [n for n in unsettled if self._as_outside(n) is not None]
        cycle.is_over = not cycle.members
        return self._round(cycle)

    def _round(self, cycle: Cycle) -> list[work.Task]:
        members = cycle.begin()
        assumed = tuple(shown for node in members if (shown := self._as_outside(node)) is not None)
        return [self._task(self._asked[node], assumed=assumed) for node in members]

    def _as_outside(self, node: Node) -> Shown | None:
        return self._composers[node[0]].shown(self._all[node].entries, ())

    def _next_in_cycle(self, row: PlanRow, answer: work.TaskResult) -> list[work.Task]:
        cycle = self._cycles[self._component_of[row.node]]
        cycle.note(row.node, answer)
        if not cycle.is_round_complete:
            return []
        if cycle.is_shown:
            for node, one in cycle.answers.items():
                self._shown_together.add(node)
                self._note(self._asked[node], cycle.with_all_assumptions(one))
        elif cycle.shrink():
            return self._round(cycle)
        cycle.is_over = True
        return list(self._ready())

    def _is_reused(self, kept: Kept) -> bool:
        return self._is_enough(kept) and self._is_still_there(kept)

    def _is_still_there(self, kept: Kept) -> bool:
        """A difference is shown with addresses and lines of source: it is found again if these have changed."""
        if kept.ending is not work.TaskEnd.DONE or kept.kind == CYCLE_KIND:
            return True
        if kept.result["verdict"]["verdict"] != "different":
            return True
        row = self._by_key[kept.key]
        return bool(kept.result["where"] == where(self._units[row.unit], row.entries))

    def _is_enough(self, kept: Kept) -> bool:
        if kept.is_final or kept.ending is not work.TaskEnd.DONE:
            return kept.is_final or FunctionAnswer.UNKNOWN not in self._options.retry
        found = FunctionAnswer.UNKNOWN if kept.result["verdict"] is None else kept.result["verdict"]["verdict"]
        return kept.kind == TEST_KIND or FunctionAnswer(found) not in self._options.retry

    def _show(self, progress: Progress) -> None:
        rows = [row.row for row in self._asked.values() if row.is_done]
        differ = sum(row.answer is FunctionAnswer.DIFFERENT for row in rows)
        same = sum(row.answer in SETTLED for row in rows)
        rate = len(rows) / (time.monotonic() - self._started or 1.0)
        left = f", about {(len(self._asked) - len(rows)) / rate:.0f} s left" if rows else ""
        self._options.progress(
            f"{len(rows)} of {len(self._asked)} functions answered ({same} the same, {differ} different), "
            f"{rate:.1f} a second{left}"
        )

    # -- what differences affect ----------------------------------------------------------------------

    def _with_effects(self) -> list[PlanRow]:
        """What is open, and calls something that differs, is affected by it."""
        blamed: dict[Node, tuple[str, ...]] = {}
        for component in self._components:
            names: list[str] = []
            for node in component:
                for callee in self._callees(node):
                    names += blamed.get(callee, ())
            for node in component:
                own = self._all[node]
                if own.row.answer is FunctionAnswer.DIFFERENT:
                    blamed[node] = (own.row.name,)
                    names.append(own.row.name)
            affected = tuple(dict.fromkeys(names))
            for node in component:
                own = self._all[node]
                others = tuple(name for name in affected if name != own.row.name)
                if own.is_wanted and own.row.answer in OPEN and others:
                    why = f"it calls {others[0]}, which differs, and is open itself: {own.row.why}"
                    own.row = replace(own.row, answer=FunctionAnswer.AFFECTED, affected_by=others, why=why)
                    blamed[node] = others
        return list(self._all.values())


def reopened(sources: Sequence[tuple[Any, Any]]) -> list[Unit]:
    """The units, in a process on another machine."""
    from isoform.diff.unit import opened

    return [opened(number, members, loading) for number, (members, loading) in enumerate(sources)]


def _at_line(place: FunctionPlace, line: SourceLine | None) -> FunctionPlace:
    return place if line is None else replace(place, source_file=line.file, source_line=line.number)


def _is_final(answer: work.TaskResult) -> bool:
    verdict = answer.result["verdict"] if answer.ending is work.TaskEnd.DONE else None
    return verdict is not None and verdict["verdict"] in _FINAL


def _answered(row: Row, answer: work.TaskResult) -> Row:
    is_kept = answer.origin is work.ResultOrigin.KEPT
    if answer.ending is not work.TaskEnd.DONE:
        return replace(row, answer=FunctionAnswer.UNKNOWN, why=answer.reason, seconds=answer.seconds, is_kept=is_kept)
    verdict = _about(answer.result["verdict"], row)
    return replace(
        row,
        answer=_answer(verdict),
        why=_why(verdict),
        seconds=answer.seconds,
        verdict=verdict,
        listings=answer.result["listings"],
        is_kept=is_kept,
    )


def _about(verdict: Mapping[str, Any], row: Row) -> Mapping[str, Any]:
    """With the files that are compared now: in the store it may be of others."""
    sides = {
        side: {**verdict[side], "path": place.file}
        for side, place in (("target", row.old), ("rewrite", row.new))
        if place is not None
    }
    return {**verdict, **sides}


def _answer(verdict: Mapping[str, Any]) -> FunctionAnswer:
    """`compare` has an argument about the same code, too, which holds on more machines."""
    return FunctionAnswer.IDENTICAL if verdict["engine"] == SAME_CODE else FunctionAnswer(verdict["verdict"])


def _why(verdict: Mapping[str, Any]) -> str:
    """One sentence."""
    if verdict["witness"] is not None:
        witness = verdict["witness"]
        inputs = ", ".join(f"{name} = {value}" for name, value in witness["inputs"].items())
        first = witness["differences"][0]
        given = f"for {inputs}: " if inputs else ""
        return f"{given}{first['what']} is {first['target']} in the old version and {first['rewrite']} in the new one"
    if verdict["verdict"] == "equivalent":
        return f"proved by {verdict['engine']}"
    return str(verdict.get("why") or verdict["verdict"])
