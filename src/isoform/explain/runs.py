"""Fixes tried on runs: a pair of sites that does not make the two agree there is no cause.

A fix gives each execution of a site of the rewrite the value that a site of the target has when it is executed for the
same time in the run on the same input. On inputs on which the target does not execute that site at all, it changes
nothing.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from isoform.borders.question import Question
from isoform.borders.restrict_space import as_promised
from isoform.engines.inputs import InputMaker
from isoform.explain.nearby import nearby
from isoform.explain.sites import Cut, Marked, Site, mark, without_calls
from isoform.lift.function import BlockId
from isoform.model.budget import Budget
from isoform.model.contract import CallRule
from isoform.model.evaluate import mask
from isoform.model.outcome import Inputs, Outcome, Pair, Status, in_frame, mixed_number
from isoform.model.values import dataclass
from isoform.run.compile import Program, compile_function
from isoform.run.runner import RunOptions, run, run_shown
from isoform.run.running import AddedStore, Given, ShownValues

Values = Mapping[int, Sequence[int]]
"""By site: its values in a run, in order."""

MORE_INPUTS = 80
"""Beside the witness: those that are tried for more that separate the two, and for some that do not."""
MOST_USED = 16
"""Of either kind, in addition to the witness."""
_OTHER_SEED = 1000
"""Added to that of what is undefined, for a run in which all of that is something else."""
_ENDED = (Status.DONE, Status.ABORTED, Status.EXITED)
_PAST_THE_END = 7
"""Seed of what a site gets that is executed more often than that of the target."""


class Added(NamedTuple):
    """A store of the target that the rewrite makes too."""

    site: int
    """Of the stored value, in the target."""
    before: int | None = None
    """A site of the rewrite: the store is made there, the n-th at its n-th execution. None: before it returns."""


@dataclass(frozen=True)
class Fix:
    """What is changed in the rewrite."""

    values: Mapping[int, int]
    """For a site of the rewrite, the site of the target whose value it gets."""
    negated: frozenset[int] = frozenset()
    """Conditions of the rewrite that get the opposite of that: its branch is taken where the target's is not."""
    kept: frozenset[int] = frozenset()
    """Sites of the rewrite that get a constant only on inputs on which the target comes to it. Others get it always: it
    is the same whether or not it is executed."""
    added: tuple[Added, ...] = ()
    """Stores of the target that the rewrite makes too."""
    dropped: tuple[int, ...] = ()
    """Stores of the rewrite, by the site of the stored value, that leave memory as it is."""
    left_out: tuple[int, ...] = ()
    """Stores of the target that do so."""
    cuts: tuple[Cut, ...] = ()
    """Calls of either side that are not made."""

    def __or__(self, other: Fix) -> Fix:
        return Fix(
            {**self.values, **other.values},
            self.negated | other.negated,
            self.kept | other.kept,
            (*self.added, *other.added),
            (*self.dropped, *other.dropped),
            (*self.left_out, *other.left_out),
            (*self.cuts, *other.cuts),
        )

    @cached_property
    def key(self) -> Hashable:
        """The same for fixes that change the same."""
        values = tuple(sorted(self.values.items()))
        return values, self.negated, self.kept, self.added, self.dropped, self.left_out, self.cuts

    @property
    def sites(self) -> frozenset[int]:
        """Those of the rewrite that it changes."""
        return frozenset((*self.values, *self.dropped))

    @property
    def changes_target(self) -> bool:
        return bool(self.left_out) or any(cut.side == 0 for cut in self.cuts)

    def cut(self, side: int) -> frozenset[BlockId]:
        """Blocks of one side whose calls are not made."""
        return frozenset(cut.block for cut in self.cuts if cut.side == side)


_UNCHANGED = Fix({})


@dataclass(frozen=True)
class Case:
    """One input, with what both do on it as they are."""

    inputs: Pair
    target: Outcome
    rewrite: Outcome
    shown: tuple[ShownValues, ShownValues]
    is_apart: bool

    @property
    def values(self) -> Values:
        return self.shown[0].values

    @property
    def own(self) -> Values:
        return self.shown[1].values


class Runs:
    """Runs of the two functions, marked, on the witness and more inputs."""

    def __init__(self, question: Question, witness: Inputs, budget: Budget) -> None:
        self._question = question
        self._budget = budget
        self._witness = witness
        self.marked = tuple(self._mark(side) for side in range(2))
        self._programs: dict[tuple[int, frozenset[BlockId]], Program] = {}
        self._options = RunOptions(
            fuel=question.options.fuel,
            trace=True,
            stack_argument_bytes=question.contract.stack_argument_bytes,
            inline=question.contract.calls is not CallRule.UNINTERPRETED,
        )
        self._fixed: dict[tuple[Hashable, int], tuple[bool, Case]] = {}
        """What `fixes` found, by fix and the identity of the case, which is kept so that no other one gets it."""
        self.count = 0
        self.learned: list[Case] = []
        """Inputs that a solver found."""

    @property
    def target(self) -> Marked:
        return self.marked[0]

    @property
    def rewrite(self) -> Marked:
        return self.marked[1]

    # -- inputs ---------------------------------------------------------------------------------

    @cached_property
    def witness(self) -> Case | None:
        """The run that separates them; None if marked code does not show the difference."""
        for seeds in ((self._witness.side_seed,) * 2, (1, 2)):
            left, right = (replace(self._witness, side_seed=seed) for seed in seeds)
            case = self.case((left, right))
            if case is not None and case.is_apart:
                return case
        return None

    @cached_property
    def undefined(self) -> frozenset[int]:
        """Sites of the target with a value that the manual or the program leaves open on the witness: they explain
        nothing."""
        if self.witness is None:
            return frozenset()
        inputs, values = self.witness.inputs[0], self.witness.values
        again = self._run(0, replace(inputs, side_seed=inputs.side_seed + _OTHER_SEED))[1].values
        return frozenset(number for number in values if values[number] != again.get(number))

    @cached_property
    def saved(self) -> frozenset[int]:
        """Sites of the target that save or restore a register of the caller: they have its value in all runs."""
        cases = [case for case in (self.witness, *self._made_up) if case is not None]
        found: set[int] = set()
        for register in self.target.function.machine.convention.callee_saved:
            entry = [case.inputs[0].registers.get(register, 0) for case in cases]
            if len(set(entry)) > 1:
                held = [(case.values, {value}) for case, value in zip(cases, entry, strict=True)]
                every = set.intersection(*(set(values) for values, _ in held))
                found.update(n for n in every if all(set(values[n]) == value for values, value in held))
        return frozenset(found)

    @property
    def others(self) -> tuple[Case, ...]:
        """More inputs, those that a solver found first."""
        return (*self.learned, *self._made_up)

    def learn(self, fix: Fix, pairs: Sequence[Pair]) -> bool:
        """Keep an input for which a fix does not hold; False if runs do not show that of any of these."""
        for inputs in pairs:
            case = self.case(inputs)
            if case is not None and not self.fixes(fix, case):
                self.learned.append(case)
                return True
        return False

    @cached_property
    def _made_up(self) -> tuple[Case, ...]:
        """Some that separate the two, if there are any, and some that do not."""
        maker = InputMaker(self._question.contract, self._question.options.seed)
        found: list[Case] = []
        for case in self._cases(islice(maker, MORE_INPUTS)):
            if sum(other.is_apart is case.is_apart for other in found) < MOST_USED:
                found.append(case)
        return (*found, *self._nearby)

    @property
    def _nearby(self) -> Iterator[Case]:
        """Some that the target takes the same path for as for the witness."""
        if self.witness is None:
            return
        inputs, path = self.witness.inputs, self.witness.target.trace
        question = self._question
        reads = run(question.programs[0], inputs[0], question.run_options(0, record=True), question.callees).reads
        same = (case for case in self._cases(nearby(self._question, inputs, reads)) if case.target.trace == path)
        yield from islice(same, MOST_USED)

    def _cases(self, made: Iterable[Pair]) -> Iterator[Case]:
        """Those of which the target says something."""
        for pair in made:
            if self._budget.exhausted:
                return
            inputs = as_promised(self._question, pair)
            case = self.case(inputs) if self._question.admits(inputs[0]) else None
            if case is not None:
                yield case

    def case(self, inputs: Pair) -> Case | None:
        """None if the target says nothing about this input."""
        target, values = self._run(0, inputs[0])
        if target.status not in _ENDED or target.outside:
            return None
        rewrite, own = self._run(1, inputs[1])
        return Case(inputs, target, rewrite, (values, own), self._differ(target, rewrite, inputs))

    # -- fixes ----------------------------------------------------------------------------------

    def with_fix(self, fix: Fix, case: Case) -> Case:
        """The same input, with the rewrite as the fix makes it."""
        sites = self.rewrite.sites
        given = {}
        for to, source in fix.values.items():
            constant = None if to in fix.kept else self._constants.get(source)
            values = case.values.get(source, ())
            if values or constant is not None:
                given[to] = given_by(values, sites[to].size, to in fix.negated, constant)
        stores = tuple(store for added in fix.added for store in self._stores_at(added, case))
        if fix.changes_target:
            case = self._with_target(fix, case)
        outcome, shown = self._run(1, case.inputs[1], fix, given, stores)
        shown_by_both = case.shown[0], shown
        return Case(case.inputs, case.target, outcome, shown_by_both, not self.agrees(outcome, case))

    @cached_property
    def _constants(self) -> dict[int, int]:
        """Sites of the target that have a constant, with it: that is the same however often they are executed."""
        seen = self.witness.values if self.witness is not None else {}
        return {s.number: seen[s.number][0] for s in self.target.sites if s.is_constant and seen.get(s.number)}

    def _with_target(self, fix: Fix, case: Case) -> Case:
        outcome, shown = self._run(0, case.inputs[0], fix)
        return replace(case, target=outcome, shown=(shown, case.shown[1]))

    def _stores_at(self, added: Added, case: Case) -> Iterator[AddedStore]:
        """What the target stores there, if it is not in its frame."""
        site = added.site
        addresses, values = case.values.get(site - 1, ()), case.values.get(site, ())
        size = self.target.sites[site].size
        for number, (address, value) in enumerate(zip(addresses, values, strict=True)):
            if not in_frame(address):
                yield AddedStore(address, size, value, added.before, 0 if added.before is None else number)

    def agrees(self, outcome: Outcome, case: Case) -> bool:
        """Whether a run of the fixed rewrite gives what the target gives."""
        ended = all(run.status in _ENDED for run in (case.target, outcome)) and not case.target.outside
        return ended and not self._differ(case.target, outcome, case.inputs)

    def fixes(self, fix: Fix, case: Case) -> bool:
        """Whether the two agree on an input with the rewrite as the fix makes it. The same is asked several times: for
        runs of the same path and for all runs, for one change and for several together."""
        key = fix.key, id(case)
        if key not in self._fixed:
            self._fixed[key] = not self.with_fix(fix, case).is_apart, case
        return self._fixed[key][0]

    def _run(
        self,
        side: int,
        inputs: Inputs,
        fix: Fix | None = None,
        given: Mapping[int, Given] | None = None,
        added: Sequence[AddedStore] = (),
    ) -> tuple[Outcome, ShownValues]:
        self.count += 1
        fix = fix or _UNCHANGED
        sites = self.marked[side].sites
        dropped = {site: sites[site].size for site in (fix.left_out, fix.dropped)[side]}
        program = self._program(side, fix.cut(side))
        return run_shown(program, inputs, self._options, self._question.callees, given, dropped, added)

    def _program(self, side: int, cut: frozenset[BlockId]) -> Program:
        if (side, cut) not in self._programs:
            marked = self.marked[side]
            self._programs[side, cut] = compile_function(without_calls(marked.function, cut), sites=marked.at)
        return self._programs[side, cut]

    def _differ(self, target: Outcome, rewrite: Outcome, inputs: Pair) -> bool:
        left, right = self._question.without_padding(inputs[0], (target, rewrite))
        return self._question.differ(left, right)

    # -- what instructions read -----------------------------------------------------------------

    def operands(self, case: Case) -> tuple[ShownValues, ShownValues]:
        """What the instructions of either side read on an input, under the numbers of `Site.operands`."""
        left, right = (
            run_shown(program, inputs, self._options, self._question.callees)[1]
            for (_, program), inputs in zip(self._reading, case.inputs, strict=True)
        )
        return left, right

    def sites_with_operands(self) -> tuple[tuple[Site, ...], ...]:
        return tuple(marked.sites for marked, _ in self._reading)

    @cached_property
    def _reading(self) -> tuple[tuple[Marked, Program], ...]:
        both = [self._mark(side, operands=True) for side in range(2)]
        return tuple((marked, compile_function(marked.function, sites=marked.at)) for marked in both)

    def _mark(self, side: int, operands: bool = False) -> Marked:
        question = self._question
        function = (question.target, question.rewrite)[side]
        return mark(function, question.callees, operands, self.results)

    @property
    def results(self) -> tuple[str, ...]:
        """Registers in which the result is."""
        return tuple(dict.fromkeys(result.register for result in self._question.contract.results))


def given_by(values: Sequence[int], size: int, is_negated: bool = False, constant: int | None = None) -> Given:
    """The values in their order, as wide as the site; past their end the constant that they are, or something that
    nothing agrees with by chance."""
    fitting = mask(size)

    def give(number: int, own: int) -> int:
        if number >= len(values) and constant is not None:
            return (constant & fitting) ^ is_negated
        if number >= len(values):
            return mixed_number(_PAST_THE_END, number, size)
        return (values[number] & fitting) ^ is_negated

    return give
