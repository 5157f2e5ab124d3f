"""One formula, one answer: both functions encoded whole, every observable its own query (seed 002).

Complete for code without loops. Loops are unrolled; if some input needs more turns than that, the answer is
at best `bounded`, and says so.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from isoform.borders.linking import link_assumptions
from isoform.borders.question import Question
from isoform.engines.bools import may_hold_bools
from isoform.engines.confirm import NotConfirmed, confirm
from isoform.engines.model import inputs_from_model
from isoform.lift.function import Function
from isoform.lift.lift import relifted
from isoform.model.allocation import AllocationCall
from isoform.model.budget import Budget
from isoform.model.contract import CallRule, PureCall
from isoform.model.errors import UserError
from isoform.model.outcome import STACK_POINTER, Inputs
from isoform.model.verdict import Assumption, Obligation, Witness
from isoform.smt.float_definitions import definitions, without_functions
from isoform.smt.polynomial import Normalizer
from isoform.smt.solver import Answer, Solver
from isoform.smt.sweep import Step, sweep
from isoform.smt.terms import Term, Terms
from isoform.sym.compare import POSSIBLE_RESULT, Goal, goals
from isoform.sym.entry import constrain_entry
from isoform.sym.execute import Execution
from isoform.sym.policy import MOST_FIXED_TURNS, Unrolled
from isoform.sym.recursion import calls_itself
from isoform.sym.scope import Scope
from isoform.sym.side import Side
from isoform.sym.state import initial_state
from isoform.sym.summary import Gap, GapKind, Summary
from isoform.sym.validity import (
    frame_bounds,
    fresh_blocks,
    private_frame,
    reserve_result,
    result_apart,
    valid_addresses,
)
from isoform.sym.world import World


@dataclass(frozen=True)
class Proved:
    """Every obligation is unsatisfiable, and so is every gap."""


@dataclass(frozen=True)
class Found:
    witness: Witness


@dataclass(frozen=True)
class WithinBound:
    """No difference among inputs that need no more than `turns` turns of the loops."""

    turns: int


@dataclass(frozen=True)
class Failed:
    why: str
    helps: str = ""
    is_bug: bool = False
    """Whether what stopped it is a bug of isoform's, to be told before anything else."""
    is_final: bool = False
    """Whether no other engine can say more."""


UNCLEAR_RESULT = (
    "the two leave different values in a register of which the code does not show whether it is the result, or how wide"
)
UNCLEAR_ARGUMENTS = "the two may differ only for arguments that do not fit the narrow type that one of them reads"
QUICK_SECONDS = 0.4
"""For the first look at a goal: most need a few milliseconds."""
MOST_NAMED = 4
"""Callees that a message names."""
MOST_ROUNDS = 12
"""How often a function is lifted again because more is known about its jumps."""

_MOST_NAMES = 6
"""Of objects that are shown."""

Finding = Proved | Found | WithinBound | Failed


@dataclass(frozen=True)
class _Open:
    """Neither shown nor refuted in the time it was given."""


@dataclass(frozen=True)
class Asserted:
    """An obligation as a certificate needs it: what was asserted, and what else was used to show it."""

    goal: Goal
    labelled: list[tuple[str, Term]]
    lemmas: list[tuple[Term, Term]]
    """Rewrites of sums of products."""
    steps: list[Step]
    """Equations between subterms that were merged, in order."""
    place: Mapping[str, int | str] = field(default_factory=dict)
    """Of a proof that goes from cut to cut: from which one, and to which one or the end, it is about."""


@dataclass
class Encoding:
    """Both functions as formulas, and what was asked about them."""

    world: World
    target: Summary
    rewrite: Summary
    goals: list[Goal]
    obligations: list[Obligation] = field(default_factory=list)
    asserted: list[Asserted] = field(default_factory=list)
    timings: dict[str, float] = field(default_factory=dict)
    met: dict[str, list[int]] = field(default_factory=dict)
    """Where paths were followed one by one: for each of the target those of the rewrite that share inputs with it."""

    @property
    def returns(self) -> bool:
        """Whether there is a way for both to return, and so something to compare there."""
        return bool(self.met) or (self.target.final is not None and self.rewrite.final is not None)

    @property
    def calls(self) -> bool:
        """Whether outside functions are called that may do more than compute."""
        return any(not site.pure for summary in (self.target, self.rewrite) for site in summary.calls)

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        return tuple(self.world.assumptions.values())

    @property
    def gaps(self) -> list[Gap]:
        return [*self.target.gaps, *self.rewrite.gaps]


def encode(question: Question, budget: Budget) -> Encoding:
    """Both functions over the same inputs. Where that finds out more about computed jumps, again with those."""
    started = time.perf_counter()
    hints: tuple[dict[int, frozenset[int]], ...] = ({}, {})
    functions = (question.target, question.rewrite)
    for _ in range(MOST_ROUNDS):
        encoding = _encode(question, functions, budget)
        discovered = encoding.target.discovered, encoding.rewrite.discovered
        if not any(_add_hints(known, new) for known, new in zip(hints, discovered, strict=True)):
            break
        inline = question.contract.calls is not CallRule.UNINTERPRETED
        functions = (
            relifted(functions[0], hints[0], inline, budget),
            relifted(functions[1], hints[1], inline, budget),
        )
    encoding.timings["encode"] = time.perf_counter() - started
    return encoding


def _add_hints(known: dict[int, frozenset[int]], new: dict[int, set[int]]) -> bool:
    more = {where: known.get(where, frozenset()) | targets for where, targets in new.items()}
    changed = any(known.get(where) != targets for where, targets in more.items())
    known.update(more)
    return changed


def _encode(question: Question, functions: tuple[Function, Function], budget: Budget) -> Encoding:
    world = World(Terms(), question.contract, recursive=calls_itself(*functions))
    for assumption in link_assumptions(*functions):
        world.assume(assumption)
    sides = [Side(world, f.image, tag) for f, tag in zip(functions, "ab", strict=True)]
    for side in sides:
        side.differing.met = []
        reserve_result(side, initial_state(side))
    constrain_entry(world, initial_state(sides[0]))
    summaries = [
        Execution(Scope(side, function, question.callees), budget, Unrolled(unroll=question.options.unroll)).run()
        for side, function in zip(sides, functions, strict=True)
    ]
    for side in sides:
        world.constraints += [*frame_bounds(side), *fresh_blocks(side), *result_apart(side, initial_state(side))]
    return Encoding(world, summaries[0], summaries[1], goals(world, summaries[0], summaries[1], whole=True))


class Loopfree:
    """Asks the obligations of an encoding one after the other."""

    def __init__(self, question: Question, budget: Budget, encoding: Encoding | None = None) -> None:
        self._question = question
        self._budget = budget
        self.encoding = encoding if encoding is not None else encode(question, budget)
        self._terms = self.encoding.world.terms
        self._solver = Solver(self._terms, budget)
        self._valid: list[tuple[str, Term]] | None = None

    def answer(self) -> Finding:
        self._refuse_impossible_preconditions()
        started = time.perf_counter()
        try:
            return self._answer()
        finally:
            self.encoding.timings["solve"] = time.perf_counter() - started

    def _answer(self) -> Finding:
        """First a quick look at every goal; what that leaves open is swept together, then asked again."""
        hard: list[Goal] = []
        # What may be no result at all is asked last: the other observables may show a difference that counts.
        for goal in sorted(self.encoding.goals, key=lambda goal: goal.name == POSSIBLE_RESULT):
            if goal.name == POSSIBLE_RESULT and hard:
                hard.append(goal)
                continue
            finding = self._ask(goal, goal.bad, min(QUICK_SECONDS, self._budget.left / 2))
            if isinstance(finding, _Open):
                hard.append(goal)
            elif finding is not None:
                return finding
        if hard:
            finding = self._ask_hard(hard)
            if finding is not None:
                return finding
        return self._close_gaps()

    def _ask_hard(self, hard: list[Goal]) -> Finding | None:
        self._question.options.progress(f"merging what both sides compute alike, to prove that {hard[0].shows}")
        swept = sweep(self._terms, self._solver, [goal.bad for goal in hard], 0.6 * self._budget.left)
        for goal, bad in zip(hard, swept.roots, strict=True):
            self._question.options.progress(f"proving that {goal.shows}")
            finding = self._ask(goal, bad, None, swept.steps)
            if isinstance(finding, _Open):
                why = f"{self._budget.why_exhausted()} while proving that {goal.shows}"
                return Failed(why, "a larger --budget may help")
            if finding is not None:
                return finding
        return None

    def _refuse_impossible_preconditions(self) -> None:
        if not self._question.contract.preconditions:
            return
        constraints = [term for label, term in self.encoding.world.constraints if not label.startswith("frame")]
        if self._solver.check([*constraints, *definitions(self._terms, constraints)]) is Answer.UNSAT:
            texts = " and ".join(p.text for p in self._question.contract.preconditions)
            raise UserError(f"--assume admits no input at all: {texts} is never true.")

    # -- one goal -------------------------------------------------------------------------------

    def _ask(self, goal: Goal, bad: Term, seconds: float | None, steps: Sequence[Step] = ()) -> Finding | _Open | None:
        """None if the goal is shown. `bad` is the goal's formula, with equal subterms merged by `steps`."""
        if goal.bad == self._terms.false:
            self._shown(goal, [("differs", goal.bad)], 0.0)
            return None
        started = time.perf_counter()
        for _ in range(2):
            answer, lemmas, defined = self._decide(self._assertions(bad), seconds)
            if answer is Answer.UNSAT:
                labelled = self._assertions(goal.bad)
                if defined:
                    labelled = self._with_definitions(labelled, keep_functions=bool(steps or lemmas))
                self._shown(goal, labelled, time.perf_counter() - started, lemmas, steps)
                return None
            if answer is Answer.UNKNOWN and self._solver.rests_on:
                return self._depends_on_layout(goal)
            if answer is Answer.UNKNOWN:
                return _Open()
            finding = self._from_model(goal)
            if finding is not None:
                return finding
        return Failed(f"no usable input was found for or against it: whether {goal.shows}")

    def _decide(
        self, labelled: list[tuple[str, Term]], seconds: float | None, solver: Solver | None = None
    ) -> tuple[Answer, list[tuple[Term, Term]], bool]:
        """The answer, the rewrites used, and whether it rests on what floating-point operations mean: that is said
        only if the answer depends on it."""
        solver = self._solver if solver is None else solver
        normalizer = Normalizer(self._terms.manager)
        asserted = [normalizer.normalize(term) for _, term in labelled]
        answer = solver.check(asserted, seconds)
        meaning = definitions(self._terms, [term for _, term in labelled]) if answer is Answer.SAT else []
        if meaning:
            asserted += [normalizer.normalize(term) for term in meaning]
            answer = solver.check(asserted, seconds)
        return answer, normalizer.lemmas, bool(meaning)

    def _with_definitions(self, labelled: list[tuple[str, Term]], keep_functions: bool) -> list[tuple[str, Term]]:
        """Assertions for a certificate with what floating-point operations in them mean. Steps and lemmas are about
        terms with functions in them."""
        roots = [term for _, term in labelled]
        if keep_functions:
            found = definitions(self._terms, roots)
        else:
            roots, found = without_functions(self._terms, roots)
        defined = [(f"float-{number}", term) for number, term in enumerate(found, 1)]
        return [*((label, term) for (label, _), term in zip(labelled, roots, strict=True)), *defined]

    def _assertions(self, bad: Term) -> list[tuple[str, Term]]:
        world = self.encoding.world
        outside = [
            (f"covered-{number}", self._terms.negate(gap.condition)) for number, gap in enumerate(self.encoding.gaps, 1)
        ]
        return [*world.constraints, *(self._valid or ()), *outside, ("differs", bad)]

    def _shown(
        self,
        goal: Goal,
        labelled: list[tuple[str, Term]],
        seconds: float,
        lemmas: Sequence[tuple[Term, Term]] = (),
        steps: Sequence[Step] = (),
    ) -> None:
        self.encoding.obligations.append(Obligation(goal.name, goal.shows, seconds))
        self.encoding.asserted.append(Asserted(goal, labelled, list(lemmas), list(steps)))

    def _from_model(self, goal: Goal) -> Finding | None:
        """A witness from the model; None to ask again with the rules for valid memory made explicit."""
        candidates = inputs_from_model(self._question, self.encoding, self._solver)
        if candidates is None and any(s.side.uses_caller_stack for s in (self.encoding.target, self.encoding.rewrite)):
            candidates = self._with_stack_in_place(goal.bad)
        if candidates is None and goal.name == POSSIBLE_RESULT:
            return Failed(UNCLEAR_RESULT, "give --signature")
        if candidates is None and self._question.contract.narrow:
            return Failed(UNCLEAR_ARGUMENTS, "give --signature")
        if candidates is None:
            if self._valid is None and (
                rules := valid_addresses(self.encoding.target.side, self.encoding.rewrite.side)
            ):
                self._valid = rules
                return None
            return self._unrealised(goal)
        result = confirm(self._question, candidates, self._budget)
        if isinstance(result, NotConfirmed):
            return not_confirmed(result)
        return Found(result)

    def _with_stack_in_place(self, bad: Term) -> tuple[Inputs, Inputs] | None:
        """Inputs from a model in which the stack is where runs have it, so that pointers to it point there. Only for a
        model: that there is none says nothing about other places of the stack."""
        pointer = self.encoding.world.stack_pointer
        assert pointer is not None
        placed = self._terms.eq(pointer, self._terms.bv(STACK_POINTER, self._terms.width(pointer)))
        sides = self.encoding.target.side, self.encoding.rewrite.side
        rules = [*valid_addresses(*sides), *(rule for side in sides for rule in private_frame(side))]
        solver = Solver(self._terms, self._budget)
        answer, _, _ = self._decide([*self._assertions(bad), *rules, ("stack", placed)], QUICK_SECONDS, solver)
        return inputs_from_model(self._question, self.encoding, solver) if answer is Answer.SAT else None

    def _depends_on_layout(self, goal: Goal) -> Failed:
        names = self._solver.rests_on
        shown = ", ".join(names[:_MOST_NAMES]) + (" …" if len(names) > _MOST_NAMES else "")
        return Failed(f"whether {goal.shows} depends on where a linker puts {shown}", is_final=True)

    def _unrealised(self, goal: Goal) -> Failed:
        names = self._called_in_model()
        known = {call.name: call for call in self._question.target.library}
        named = ", ".join([*names[:MOST_NAMED], *(["…"] if len(names) > MOST_NAMED else [])])
        if names and all(isinstance(known.get(name), AllocationCall) for name in names):
            return Failed(
                f"whether {goal.shows} depends on the allocator ({named}): the two do not call it alike, and that by "
                "itself is not taken for a difference (fresh-memory)"
            )
        if names and all(isinstance(known.get(name), PureCall) for name in names):
            return Failed(
                f"whether {goal.shows} depends on what {named} gives: with the result that the solver chose they "
                "differ, with the real one they do not"
            )
        if names:
            return Failed(
                f"whether {goal.shows} depends on what an outside function does ({named}), and no simple "
                "behaviour of it shows a difference",
                "give the callee's code, so that it can be inlined",
            )
        unclear = ", ".join(dict.fromkeys(name for name, _, _ in self._question.border.unclear))
        if unclear:
            return Failed(
                f"whether {goal.shows} may depend on what {unclear} holds, of which it is not clear whether anything "
                "writes it",
                "give object files, built with -fdata-sections",
            )
        if may_hold_bools(self._question):
            return Failed(f"whether {goal.shows} may depend on a bool in memory that is neither 0 nor 1")
        return Failed(f"the solver found an input against it that {goal.shows}, {self._why_not_run(goal)}")

    def _why_not_run(self, goal: Goal) -> str:
        """Why runs may not show what a model says."""
        world, terms = self.encoding.world, self._terms
        if world.stack_pointer is not None and terms.depends_on(goal.bad, world.stack_pointer):
            return "but that depends on where the stack is, and no address of it counts as a difference"
        if terms.depends_on(goal.bad, world.return_address):
            return "but that depends on the address of the caller"
        return (
            "but running it shows no difference within the step bound (--fuel): it may rest on a value the manual "
            "leaves undefined, or on what a frame holds before it is written"
        )

    def _called_in_model(self) -> list[str]:
        sites = [*self.encoding.target.calls, *self.encoding.rewrite.calls]
        names = dict.fromkeys(site.callee for site in sites if self._solver.holds(site.condition))
        return [*names]

    # -- gaps -----------------------------------------------------------------------------------

    def _close_gaps(self) -> Finding:
        """With every goal shown where the encoding covers the input: does it cover them all?"""
        open_gaps = []
        for gap in self.encoding.gaps:
            labelled = [*self.encoding.world.constraints, *(self._valid or ()), ("left-out", gap.condition)]
            answer, lemmas, defined = self._decide(labelled, None)
            if answer is not Answer.UNSAT:
                open_gaps.append(gap)
            else:
                goal = Goal("covered", f"no input is left out because {gap.why}", gap.condition)
                if defined:
                    labelled = self._with_definitions(labelled, keep_functions=bool(lemmas))
                self._shown(goal, labelled, 0.0, lemmas)
        if not open_gaps:
            return self._unless_vacuous()
        other = [gap for gap in open_gaps if gap.kind is not GapKind.LOOP_BOUND]
        if other:
            return Failed(other[0].why)
        return WithinBound(min(self._question.options.unroll, MOST_FIXED_TURNS))

    def _unless_vacuous(self) -> Finding:
        """Everything is shown; but a proof that the rules for memory leave no input for says nothing."""
        rules = [term for _, term in (*self.encoding.world.constraints, *(self._valid or ()))]
        if rules and self._decide([("rule", rule) for rule in rules], None)[0] is Answer.UNSAT:
            return Failed("every input makes one of them use memory that it may not use, so nothing can be compared")
        return Proved()


def not_confirmed(result: NotConfirmed) -> Failed:
    helps = "please report it with both functions" if result.is_bug else ""
    return Failed(result.sentence(), helps, is_bug=result.is_bug)
