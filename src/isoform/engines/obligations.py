"""The obligations of an encoding, asked one after the other: shown, refuted by a witness, or left open."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from isoform.borders.question import Question
from isoform.engines.bools import may_hold_bools
from isoform.engines.encoding import Encoding
from isoform.engines.finding import Failed, Found, not_confirmed
from isoform.engines.grounds import Asserted
from isoform.engines.model import inputs_from_model
from isoform.engines.witness import NotConfirmed, confirm
from isoform.model.allocation import AllocationCall
from isoform.model.budget import Budget
from isoform.model.contract import PureCall
from isoform.model.errors import UserError
from isoform.model.outcome import STACK_POINTER, Inputs
from isoform.model.values import dataclass
from isoform.model.verdict import Obligation
from isoform.smt.float_definitions import definitions, without_functions
from isoform.smt.polynomial import Normalizer
from isoform.smt.solver import Answer, Solver
from isoform.smt.sweep import Skeleton, Step, sweep
from isoform.smt.terms import Term
from isoform.sym.compare import POSSIBLE_RESULT, Goal
from isoform.sym.restricted import restrict_rules
from isoform.sym.validity import private_frame, valid_addresses

UNCLEAR_RESULT = (
    "the two leave different values in a register, and the code does not show whether it is the result, or how wide"
)
UNCLEAR_ARGUMENTS = "the two may differ only for arguments that do not fit the narrow type that one of them reads"
NOTHING_VALID = "every input makes one of them use memory that it may not use, so nothing can be compared"
QUICK_SECONDS = 0.4
"""For the first look at a goal: most need a few milliseconds."""
MOST_NAMED = 4
"""Callees that a message names."""
_MOST_NAMES = 6
"""Of objects that are shown."""


@dataclass(frozen=True)
class Open:
    """Neither shown nor refuted in the time it was given."""


ChooseModel = Callable[[Goal, Sequence[Term]], bool]
"""Given a goal and all that is asserted with it: put a model into the solver that is as simple as it can be. False if
the solver has none any more."""


class Obligations:
    """Asks about the goals of an encoding, and keeps there what was shown.

    `valid` are the rules for memory that are assumed; None to add them once a model breaks one. `choose_model` is for
    those who care which of several models becomes the witness."""

    def __init__(
        self,
        question: Question,
        budget: Budget,
        encoding: Encoding,
        valid: list[tuple[str, Term]] | None = None,
        choose_model: ChooseModel | None = None,
    ) -> None:
        self._question = question
        self._budget = budget
        self.encoding = encoding
        self._terms = encoding.world.terms
        self.solver = Solver(self._terms, budget)
        self.valid = valid
        self._choose_model = choose_model

    def ask_all(self) -> Found | Failed | None:
        """None if every goal is shown. First a quick look at each; what that leaves open is swept together, then asked
        again."""
        hard: list[Goal] = []
        # What may be no result at all is asked last: the other observables may show a difference that counts.
        for goal in sorted(self.encoding.goals, key=lambda goal: goal.name == POSSIBLE_RESULT):
            if goal.name == POSSIBLE_RESULT and hard:
                hard.append(goal)
                continue
            finding = self.ask(goal, goal.bad, min(QUICK_SECONDS, self._budget.left / 2))
            if isinstance(finding, Open):
                hard.append(goal)
            elif finding is not None:
                return finding
        return self.ask_hard(hard) if hard else None

    def all_hold(self, seconds: float, known: dict[Skeleton, bool] | None = None) -> Answer:
        """Whether every goal is shown and no input is left out (UNSAT), each in so many seconds. Where that is refuted
        the solver has a model (SAT), and no witness is looked for. `known` is that of `sweep`."""
        hard: list[Goal] = []
        for goal in self.encoding.goals:
            answer = self._shown_or_not(goal.bad, min(QUICK_SECONDS, seconds))
            if answer is Answer.SAT:
                return answer
            if answer is Answer.UNKNOWN:
                hard.append(goal)
        if hard:
            swept = sweep(self._terms, self.solver, [goal.bad for goal in hard], seconds, known)
            for bad in swept.roots:
                answer = self._shown_or_not(bad, seconds)
                if answer is not Answer.UNSAT:
                    return answer
        gaps = (Goal("covered", gap.why, gap.condition) for gap in self.encoding.gaps)
        is_whole = all(self.leaves_nothing_out(gap) for gap in gaps) and not self.is_vacuous()
        return Answer.UNSAT if is_whole else Answer.UNKNOWN

    def _shown_or_not(self, bad: Term, seconds: float) -> Answer:
        if bad == self._terms.false:
            return Answer.UNSAT
        answer = self._decide(self._assertions(bad), seconds)[0]
        if answer is Answer.SAT and self.valid is None:
            self.valid = self._memory_rules()
            answer = self._decide(self._assertions(bad), seconds)[0]
        return answer

    def ask_hard(self, hard: Sequence[Goal]) -> Found | Failed | None:
        self._question.options.progress(f"merging what both sides compute alike, to prove that {hard[0].shows}")
        swept = sweep(self._terms, self.solver, [goal.bad for goal in hard], 0.6 * self._budget.left)
        for goal, bad in zip(hard, swept.roots, strict=True):
            self._question.options.progress(f"proving that {goal.shows}")
            finding = self.ask(goal, bad, None, swept.steps)
            if isinstance(finding, Open):
                why = f"{self._budget.why_exhausted()} while proving that {goal.shows}"
                return Failed(why, "a larger --budget may help")
            if finding is not None:
                return finding
        return None

    def refuse_impossible_preconditions(self) -> None:
        if not self._question.contract.preconditions:
            return
        constraints = [term for label, term in self.encoding.world.constraints if not label.startswith("frame")]
        if self.solver.check([*constraints, *definitions(self._terms, constraints)]) is Answer.UNSAT:
            texts = " and ".join(p.text for p in self._question.contract.preconditions)
            raise UserError(f"--assume admits no input at all: {texts} is never true.")

    # -- one goal -------------------------------------------------------------------------------

    def ask(
        self, goal: Goal, bad: Term, seconds: float | None, steps: Sequence[Step] = ()
    ) -> Found | Failed | Open | None:
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
            if answer is Answer.UNKNOWN and self.solver.rests_on:
                return self._depends_on_layout(goal)
            if answer is Answer.UNKNOWN:
                return Open()
            finding = self._from_model(goal)
            if finding is not None:
                return finding
        return Failed(f"it is open whether {goal.shows}: no usable input was found for or against it")

    def _decide(
        self, labelled: list[tuple[str, Term]], seconds: float | None, solver: Solver | None = None
    ) -> tuple[Answer, list[tuple[Term, Term]], bool]:
        """The answer, the rewrites used, and whether it rests on what floating-point operations mean: that is said
        only if the answer depends on it."""
        solver = self.solver if solver is None else solver
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
        return [*world.constraints, *(self.valid or ()), *outside, ("differs", bad)]

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

    def _from_model(self, goal: Goal) -> Found | Failed | Open | None:
        """A witness from the model; None to ask again with the rules for valid memory made explicit."""
        if self._choose_model is not None:
            assertions = [term for _, term in self._assertions(goal.bad)]
            if not self._choose_model(goal, [*assertions, *definitions(self._terms, assertions)]):
                return Open()
        candidates = inputs_from_model(self._question, self.encoding, self.solver)
        if candidates is None and any(s.side.uses_caller_stack for s in (self.encoding.target, self.encoding.rewrite)):
            candidates = self._with_stack_in_place(goal.bad)
        if candidates is None:
            candidates = self._with_what_is_likely(goal.bad)
        if candidates is None and goal.name == POSSIBLE_RESULT:
            return Failed(UNCLEAR_RESULT, "give --signature")
        if candidates is None and self._question.contract.narrow:
            return Failed(UNCLEAR_ARGUMENTS, "give --signature")
        if candidates is None:
            if self.valid is None and (rules := self._memory_rules()):
                self.valid = rules
                return None
            return self._unrealised(goal)
        result = confirm(self._question, candidates, self._budget)
        if isinstance(result, NotConfirmed):
            return not_confirmed(result)
        return Found(result)

    def _memory_rules(self) -> list[tuple[str, Term]]:
        """Rules that are asserted only once a model breaks one: most proofs need none, and do not rest on them then.
        There are none if a side was changed: where the other side's code stands in the place of a deeper call, the
        accesses that it makes there are not among those that programs are known to make."""
        if self._question.changed:
            return []
        target, rewrite = self.encoding.target.side, self.encoding.rewrite.side
        return [*valid_addresses(target, rewrite), *restrict_rules(target)]

    def _with_stack_in_place(self, bad: Term) -> tuple[Inputs, Inputs] | None:
        """Inputs from a model in which the stack is where runs have it, so that pointers to it point there."""
        sides = self.encoding.target.side, self.encoding.rewrite.side
        pointers = dict.fromkeys(side.entry.stack_pointer for side in sides)
        placed = self._terms.all_of(
            [self._terms.eq(p, self._terms.bv(STACK_POINTER, self._terms.width(p))) for p in pointers if p is not None]
        )
        rules = [*valid_addresses(*sides), *(rule for side in sides for rule in private_frame(side))]
        return self._from_model_with(bad, [*rules, ("stack", placed)])

    def _with_what_is_likely(self, bad: Term) -> tuple[Inputs, Inputs] | None:
        """Inputs from a model in which the two stay inside the objects that they probably mean."""
        sides = self.encoding.target.side, self.encoding.rewrite.side
        rules = [("likely", self._terms.implies(*rule)) for side in sides for rule in side.likely]
        return self._from_model_with(bad, rules) if rules else None

    def _from_model_with(self, bad: Term, rules: Sequence[tuple[str, Term]]) -> tuple[Inputs, Inputs] | None:
        """Inputs from a model in which more holds. Only for a model: that there is none says nothing."""
        solver = Solver(self._terms, self._budget)
        answer, _, _ = self._decide([*self._assertions(bad), *rules], QUICK_SECONDS, solver)
        return inputs_from_model(self._question, self.encoding, solver) if answer is Answer.SAT else None

    def _depends_on_layout(self, goal: Goal) -> Failed:
        names = self.solver.rests_on
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
                f"whether {goal.shows} may depend on what {unclear} holds, and it is not clear whether anything "
                "writes it",
                "give object files, built with -fdata-sections",
            )
        if may_hold_bools(self._question):
            return Failed(f"whether {goal.shows} may depend on a bool in memory that is neither 0 nor 1")
        return Failed(f"the solver found a counterexample to '{goal.shows}', {self._why_not_run(goal)}")

    def _why_not_run(self, goal: Goal) -> str:
        """Why runs may not show what a model says."""
        terms, entries = self._terms, [self.encoding.target.side.entry, self.encoding.rewrite.side.entry]
        pointers = [entry.stack_pointer for entry in entries if entry.stack_pointer is not None]
        if any(terms.depends_on(goal.bad, pointer) for pointer in pointers):
            return "but that depends on where the stack is, and no address of it counts as a difference"
        if any(terms.depends_on(goal.bad, entry.return_address) for entry in entries):
            return "but that depends on the address of the caller"
        if any(terms.depends_on(goal.bad, distance) for distance in self.encoding.world.code_distances):
            return "but that depends on where a linker puts the code: a return address is used as a number"
        return (
            "but running it shows no difference within the step bound (--fuel): it may rest on a value the manual "
            "leaves undefined, or on what a frame holds before it is written"
        )

    def _called_in_model(self) -> list[str]:
        sites = [*self.encoding.target.calls, *self.encoding.rewrite.calls]
        names = dict.fromkeys(site.callee for site in sites if self.solver.holds(site.condition))
        return [*names]

    # -- gaps -----------------------------------------------------------------------------------

    def leaves_nothing_out(self, goal: Goal) -> bool:
        """Whether no input, of those the rules admit, satisfies what the goal says must not be."""
        labelled = [*self.encoding.world.constraints, *(self.valid or ()), ("left-out", goal.bad)]
        answer, lemmas, defined = self._decide(labelled, None)
        if answer is not Answer.UNSAT:
            return False
        if defined:
            labelled = self._with_definitions(labelled, keep_functions=bool(lemmas))
        self._shown(goal, labelled, 0.0, lemmas)
        return True

    def is_vacuous(self) -> bool:
        """Whether the rules for memory leave no input at all: a proof then says nothing."""
        rules = [term for _, term in (*self.encoding.world.constraints, *(self.valid or ()))]
        return bool(rules) and self._decide([("rule", rule) for rule in rules], None)[0] is Answer.UNSAT
