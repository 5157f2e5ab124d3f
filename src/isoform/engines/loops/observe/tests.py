"""Traces for guessing: both functions run on inputs that make their loops iterate a few times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import field, replace
from functools import cached_property
from itertools import chain, islice, pairwise
from random import Random

from isoform.borders.question import Question
from isoform.borders.restrict_space import as_promised
from isoform.engines.loops.observe.inputs import LoopInputs
from isoform.engines.loops.observe.stations import Stations, body_of, heads, straight_iterations
from isoform.engines.loops.observe.traces import Dead, Traces
from isoform.engines.loops.observe.windows import LongRun, long_fuel, long_run, windows_of
from isoform.engines.loops.tuning import (
    FEW_TIMES,
    GATHERING_SECONDS,
    LARGER_TESTS,
    LONG_TESTS,
    LONGEST_RARE_TRACE,
    LONGEST_TRACE,
    MOST_ENDLESS,
    MOST_TESTS_TRIED,
    MOST_TOO_LONG,
    OFTEN_STATIONS,
    SOME_TIMES,
    STRETCH,
    TEST_FUEL_STEPS,
    TESTS_OF_ONE_LENGTH,
    TESTS_WANTED,
    VARIATIONS,
)
from isoform.engines.separate import NOT_COMPARED, differs
from isoform.lift.function import BlockId, Function
from isoform.lift.liveness import Liveness, output_containers
from isoform.model.budget import Budget
from isoform.model.outcome import Inputs, Outcome, Status
from isoform.model.values import dataclass
from isoform.run.observe import MOST_SNAPSHOTS, Snapshot, TooManySnapshotsError, observe, visits
from isoform.run.runner import RunOptions

Head = tuple[int, BlockId]
"""A loop header: the side, and the block."""
_TOO_LONG = "the loops made more than"


@dataclass
class GatheredTraces:
    """The traces, and what else the runs showed."""

    traces: list[Traces] = field(default_factory=list)
    inputs: list[tuple[Inputs, Inputs]] = field(default_factory=list)
    long: list[tuple[Inputs, Inputs]] = field(default_factory=list)
    """Inputs of runs that are too long, of which windows are observed."""
    long_runs: list[LongRun] = field(default_factory=list)
    """Those runs, in the same order."""
    long_kinds: Counter[frozenset[Head]] = field(default_factory=Counter)
    """How many such runs pass exactly these stations."""
    differing: tuple[Inputs, Inputs] | None = None
    """Inputs on which the outcomes of the two differ."""
    differs: bool = False
    """Whether the difference is certain, so that nothing else need be tried."""
    is_long: bool = False
    """Whether it shows in a long run only."""
    ended: Counter[str] = field(default_factory=Counter)
    """How useless runs ended, and how many of each kind."""
    ran: int = 0
    excluded: int = 0
    """Inputs that the preconditions do not allow."""
    own: int = 0
    own_excluded: int = 0
    own_unused: list[str] = field(default_factory=list)
    """Why some of the user's tests could not be used."""

    @property
    def has_iterations(self) -> bool:
        """Whether a test with few iterations reaches a loop."""
        return any(max(len(trace.target), len(trace.rewrite)) > 1 for trace in self.traces)

    def note(self, what: str, number: int) -> None:
        """The test of this number could not be used."""
        self.ended[what] += 1
        if number <= self.own:
            self.own_unused.append(f"on test {number} of --tests {what}")


def gather(question: Question, budget: Budget, seed: int, own: Sequence[tuple[Inputs, Inputs]] = ()) -> GatheredTraces:
    """Run both on `own` inputs and then on generated ones until there are enough traces; on larger ones too, if a loop
    made too few iterations to show its behaviour, for example one that does many iterations of the other's at once."""
    found = GatheredTraces(own=len(own))
    until = budget.left - GATHERING_SECONDS
    inputs = LoopInputs(question, seed)
    gathering = _Gathering(question, found)

    def is_over() -> bool:
        return budget.exhausted or budget.left < until or found.differs

    enough = TESTS_WANTED + FEW_TIMES * gathering.loops
    wanted = max(enough, min(len(own), enough) + TESTS_WANTED // 2)
    for both in chain(own, islice(inputs, MOST_TESTS_TRIED)):
        if len(found.traces) >= wanted or is_over() or gathering.is_always_too_long:
            break
        gathering.take(both)
    gathering.missing = gathering.seldom()
    for both in islice(inputs, MOST_TESTS_TRIED // 2 if gathering.missing else 0):
        if not gathering.missing or is_over() or gathering.is_always_too_long:
            break
        gathering.take(both)
        gathering.missing = gathering.seldom()
    if gathering.missing and gathering.too_long:
        larger = LoopInputs(question, seed)
        for both in islice(larger, MOST_TESTS_TRIED):
            if not gathering.missing or is_over() or gathering.endless >= MOST_ENDLESS:
                break
            gathering.take_long(both if larger.follows_pointers else _with_noise(both))
            gathering.missing = gathering.seldom()
    gathering.missing = frozenset()
    rare = gathering.rare()
    if not rare or found.differs:
        return found
    inputs.stretch, gathering.rarely = STRETCH, rare
    enough = len(found.traces) + LARGER_TESTS
    for both in islice(inputs, MOST_TESTS_TRIED // 2):
        if len(found.traces) >= enough or is_over():
            break
        gathering.take(both)
    return found


def _with_noise(both: tuple[Inputs, Inputs]) -> tuple[Inputs, Inputs]:
    """With noise in memory that is zero, such as global arrays: a copy of zeros to zeros leaves the same memory
    whenever it is made, so nothing would tell which iterations of the two correspond."""
    left, right = both
    noise = left.fill_seed or left.call_seed or 1
    return replace(left, fill_seed=noise), replace(right, fill_seed=noise)


def add_test(question: Question, found: GatheredTraces, inputs: Inputs) -> bool:
    """Run one more test. True if it takes another path than those before, apart from the number of iterations."""
    gathering = _Gathering(question, found)
    before = {step for trace in found.traces for step in gathering.transitions(trace)}
    count = len(found.traces)
    both = inputs, replace(inputs, side_seed=inputs.side_seed + 1)
    gathering.take(both)
    if gathering.too_long and found.long:
        return gathering.take_long(both) or found.differs
    return found.differs or any(not gathering.transitions(trace) <= before for trace in found.traces[count:])


class _Gathering:
    """Runs tests and keeps the useful ones."""

    def __init__(self, question: Question, found: GatheredTraces) -> None:
        self._question = question
        self._found = found
        self._heads = heads(question.target), heads(question.rewrite)
        functions = question.target, question.rewrite
        self._single = straight_iterations(functions[0]), straight_iterations(functions[1])
        self._stations = self._heads[0] | self._single[0], self._heads[1] | self._single[1]
        self._bodies = {
            (side, head): body_of(function, head) for side, function in enumerate(functions) for head in heads(function)
        }
        self._options = _run_options(question)
        self._lengths: Counter[tuple[int, int]] = Counter()
        self._number = found.ran + found.excluded
        self.rarely: dict[Head, int] = {}
        """If not empty: only tests are kept in which one of these loops makes more iterations than this, and some in
        which it makes a few: a remainder loop never makes more."""
        self._no_more = 0
        """How many of the latter there are."""
        self.too_long = 0
        """Runs that were too long to be used."""
        self.endless = 0
        """Runs that did not end even with the steps of a long run."""
        self._idle = 0
        """Runs that reached no loop."""
        self.missing: frozenset[Head] = frozenset()
        """If not empty: only tests are kept that reach one of these blocks."""

    @property
    def loops(self) -> int:
        return len(self._bodies)

    @property
    def is_always_too_long(self) -> bool:
        """Whether it seems that no test will do: trip counts do not depend on the input."""
        return self.too_long >= MOST_TOO_LONG and self.too_long + self._idle == self._found.ran

    def take_long(self, inputs: tuple[Inputs, Inputs]) -> bool:
        """Run a test however often the loops iterate. True if it is the first of its kind."""
        inputs = as_promised(self._question, inputs)
        if self._found.differs or not self._question.admits(inputs[0]):
            return False
        ran = long_run(self._question, inputs, self._stations)
        self.endless += ran is None
        if ran is None or not self._agree(inputs, *ran.outcomes, self._number, is_long=True):
            self._found.is_long |= self._found.differs
            return False
        heads = frozenset((side, point) for side, passed in enumerate(ran.passed) for point in passed[1:])
        self._found.long_kinds[heads] += 1
        if self._found.long_kinds[heads] <= LONG_TESTS:
            self._found.long.append(inputs)
            self._found.long_runs.append(ran)
        return self._found.long_kinds[heads] == 1

    def seldom(self) -> frozenset[Head]:
        """Iterations in straight code that too few tests execute, and loops that too few reach."""
        seen: Counter[Head] = Counter()
        for trace in self._found.traces:
            seen.update(self._passed(trace))
        for passed, times in self._found.long_kinds.items():
            seen.update(dict.fromkeys(passed, times * -(-FEW_TIMES // LONG_TESTS)))
        blocks = {(side, block) for side, single in enumerate(self._single) for block in single}
        found = [block for block in blocks if seen[block] < SOME_TIMES]
        return frozenset(found).union(head for head in self._bodies if seen[head] < FEW_TIMES)

    def transitions(self, trace: Traces) -> set[object]:
        """Which station follows which, with none before the first and after the last, and which loops of both are
        entered."""
        found: set[object] = {frozenset(self._passed(trace) & self._bodies.keys())}
        for side, snapshots in enumerate((trace.target, trace.rewrite)):
            found.update((side, step) for step in pairwise([None, *(s.point for s in snapshots[1:]), None]))
        return found

    def _passed(self, trace: Traces) -> set[Head]:
        sides = enumerate((trace.target, trace.rewrite))
        return {(side, snapshot.point) for side, snapshots in sides for snapshot in snapshots[1:]}

    def rare(self) -> dict[Head, int]:
        """Loops that made few iterations while others made many, and how many: a vectorised loop is not even entered
        for few elements."""
        most: Counter[Head] = Counter()
        often = 0
        for trace in self._found.traces:
            most |= self._iterations(trace)
            often = max(often, len(trace.target), len(trace.rewrite))
        return {head: most[head] for head in self._bodies if most[head] < FEW_TIMES and often >= OFTEN_STATIONS}

    def _iterations(self, trace: Traces) -> Counter[Head]:
        """The most iterations that each loop made between entering and leaving it: how often an outer loop entered it
        says nothing about its behaviour."""
        most: Counter[Head] = Counter()
        now: Counter[Head] = Counter()
        for side, snapshots in enumerate((trace.target, trace.rewrite)):
            for snapshot in snapshots[1:]:
                for head in self._heads[side]:
                    if snapshot.point not in self._bodies[side, head]:
                        now[side, head] = 0
                now[side, snapshot.point] += 1
                most |= now
        return most

    def _is_larger(self, trace: Traces) -> bool:
        iterations = self._iterations(trace)
        if any(iterations[head] > max(most, SOME_TIMES - 1) for head, most in self.rarely.items()):
            return True
        self._no_more += any(iterations[head] >= SOME_TIMES for head in self.rarely)
        return any(iterations[head] >= SOME_TIMES for head in self.rarely) and self._no_more <= LARGER_TESTS // 2

    def take(self, inputs: tuple[Inputs, Inputs]) -> None:
        self._number += 1
        inputs = as_promised(self._question, inputs)
        number, found = self._number, self._found
        is_own = number <= found.own
        if not self._question.admits(inputs[0]):
            found.excluded += 1
            found.own_excluded += is_own
            return
        found.ran += 1
        most = MOST_SNAPSHOTS if is_own else LONGEST_RARE_TRACE + 1
        ran = _observe(self._question, inputs, self._options, self._stations, most)
        if ran is None:
            self.too_long += 1
            why = _why_so_long(self._question, inputs) if is_own else f"{_TOO_LONG} {LONGEST_RARE_TRACE} iterations"
            found.note(why, number)
            return
        (left, target), (right, rewrite) = ran
        self._idle += len(left) == len(right) == 1
        if self._agree(inputs, target, rewrite, number):
            self._keep(inputs, Traces(tuple(left), tuple(right)), number)

    def _agree(
        self, inputs: tuple[Inputs, Inputs], target: Outcome, rewrite: Outcome, number: int, is_long: bool = False
    ) -> bool:
        """Whether both ended, with the same outcome. A test that the contract excludes, as by where its buffers
        overlap, may end differently: it is left out, and decides nothing."""
        found, differ = self._found, _differ(self._question, target, rewrite)
        if target.status is not Status.DONE or rewrite.status is not Status.DONE:
            self.too_long += Status.OUT_OF_FUEL in (target.status, rewrite.status)
            found.note(_how_it_ended(target, rewrite, self._options.fuel), number)
            if target.status is not rewrite.status and differ:
                found.differing = found.differing or _without_results(inputs)
            return False
        if differ:
            witness = _without_results(inputs)
            found.differs = differs(self._with_long_runs if is_long else self._question, witness)
            found.differing = witness if found.differs else found.differing
            if not found.differs:
                found.note(NOT_COMPARED, number)
        return not differ

    @cached_property
    def _with_long_runs(self) -> Question:
        return replace(self._question, options=replace(self._question.options, fuel=long_fuel(self._question)))

    def _keep(self, inputs: tuple[Inputs, Inputs], trace: Traces, number: int) -> None:
        """Keep it if it shows something that others do not."""
        length = len(trace.target), len(trace.rewrite)
        longest = LONGEST_RARE_TRACE if self.rarely else LONGEST_TRACE
        if max(length) > longest:
            self._found.note(f"{_TOO_LONG} {longest} iterations", number)
            return
        if self.rarely and not self._is_larger(trace):
            return
        if self.missing and self.missing.isdisjoint(self._passed(trace)):
            return
        if self._lengths[length] >= TESTS_OF_ONE_LENGTH and number > self._found.own:
            return
        self._lengths[length] += 1
        self._found.traces.append(trace)
        self._found.inputs.append(inputs)


def _why_so_long(question: Question, inputs: tuple[Inputs, Inputs]) -> str:
    target, rewrite = question.run_both(inputs)
    if Status.OUT_OF_FUEL in (target.status, rewrite.status):
        return _how_it_ended(target, rewrite, question.options.fuel)
    return f"{_TOO_LONG} {MOST_SNAPSHOTS} iterations"


def _how_it_ended(target: Outcome, rewrite: Outcome, fuel: int) -> str:
    side, outcome = ("target", target) if target.status is not Status.DONE else ("rewrite", rewrite)
    if outcome.status is Status.OUT_OF_FUEL:
        return f"the {side} did not stop within {fuel} steps"
    return f"the {side} {outcome.status.value}" + (f" ({outcome.reason})" if outcome.reason else "")


def traced_again(question: Question, gathered: GatheredTraces, stations: Stations) -> list[Traces]:
    """The same tests, observed at other stations."""
    found = []
    outputs = [result.register for result in question.contract.results]
    functions = question.target, question.rewrite
    dead = _dead(functions[0], outputs, stations[0]), _dead(functions[1], outputs, stations[1])
    for inputs in gathered.inputs:
        trace = _trace(question, inputs, stations)
        if trace is not None and max(len(trace.target), len(trace.rewrite)) <= LONGEST_RARE_TRACE:
            found.append(replace(trace, alike=_alike(question, inputs, stations, trace), dead=dead))
    for inputs, before in zip(gathered.long, gathered.long_runs, strict=True):
        run = before if before.stations == stations else long_run(question, inputs, stations)
        if run is not None and run.is_done:
            found += [replace(trace, dead=dead) for trace in windows_of(question, inputs, run)]
    return found


def _dead(function: Function, outputs: Sequence[str], stations: Collection[BlockId]) -> Dead:
    machine = function.machine
    live = Liveness(function, output_containers(machine, outputs))
    masks = [live.mask(machine.registers[name]) for name in machine.containers]
    return {s: frozenset(n for n, mask in enumerate(masks) if not mask & live.entry[s]) for s in stations}


def live_at(function: Function, outputs: Sequence[str], station: BlockId) -> frozenset[str]:
    """The registers that are read after a station before they are written."""
    dead = _dead(function, outputs, [station])[station]
    return frozenset(name for number, name in enumerate(function.machine.containers) if number not in dead)


def _alike(question: Question, inputs: tuple[Inputs, Inputs], stations: Stations, trace: Traces) -> tuple[Traces, ...]:
    """The same test with other data in memory, if it passes the same stations: equations that hold by chance do not
    hold there."""
    if len(trace.target) <= 2:
        return ()
    found = []
    for both in _with_other_data(question, inputs):
        other = _trace(question, both, stations)
        if other is not None and _points(other) == _points(trace):
            found.append(other)
    return tuple(found)


def _with_other_data(question: Question, inputs: tuple[Inputs, Inputs]) -> Iterator[tuple[Inputs, Inputs]]:
    for number in range(VARIATIONS if inputs[0].memory else 0):
        random = Random(number)
        memory = {address: random.getrandbits(8) for address in inputs[0].memory}
        left, right = (replace(side, memory=memory) for side in inputs)
        if question.admits(left):
            yield left, right


def _points(trace: Traces) -> tuple[list[object], list[object]]:
    return [s.point for s in trace.target], [s.point for s in trace.rewrite]


def _trace(question: Question, inputs: tuple[Inputs, Inputs], stations: Stations) -> Traces | None:
    ran = _observe(question, inputs, _run_options(question), stations, LONGEST_RARE_TRACE + 1)
    if ran is None or any(outcome.status is not Status.DONE for _, outcome in ran):
        return None
    return Traces(tuple(ran[0][0]), tuple(ran[1][0]))


def _run_options(question: Question) -> RunOptions:
    fuel = min(TEST_FUEL_STEPS, question.options.fuel)
    return RunOptions(fuel, False, False, question.contract.stack_argument_bytes)


def _without_results(inputs: tuple[Inputs, Inputs]) -> tuple[Inputs, Inputs]:
    """A witness must not rest on the values that outside calls were made to return."""
    return replace(inputs[0], call_seed=0), replace(inputs[1], call_seed=0)


def _differ(question: Question, target: Outcome, rewrite: Outcome) -> bool:
    return question.differ(target, rewrite)


def _observe(
    question: Question,
    inputs: tuple[Inputs, Inputs],
    options: RunOptions,
    stations: Stations,
    most: int,
) -> tuple[tuple[list[Snapshot], Outcome], tuple[list[Snapshot], Outcome]] | None:
    sides = list(zip(question.programs, inputs, stations, strict=True))
    try:
        # Snapshots take long: none are taken of a run that is too long to be used.
        for program, side, watched in sides:
            visits(program, side, options, question.callees, watched, most)
        left, right = (
            observe(program, side, options, question.callees, watched, most) for program, side, watched in sides
        )
    except TooManySnapshotsError:
        return None
    return left, right
