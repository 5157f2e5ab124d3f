"""The rungs of the ladder: which engine is asked when, for how long, and what of its answer counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from functools import cached_property

from isoform.borders.question import Engine, Question
from isoform.engines.directed import DirectedTesting
from isoform.engines.finding import Failed
from isoform.engines.loopfree import Loopfree
from isoform.engines.protocol import EngineProtocol, Meanwhile
from isoform.engines.testing import Testing
from isoform.model.budget import Budget
from isoform.model.outcome import Inputs
from isoform.model.values import dataclass
from isoform.model.verdict import Bounded, Different, Equivalent, Verdict
from isoform.sym.recursion import calls_itself

QUICK_SECONDS, GLANCE_SECONDS = 1.0, 0.25
"""For unrolling loops before any proof about them is tried; and if tests show that this cannot be enough."""
QUICK_SHARE = 1 / 8
"""The largest share of the remaining budget for that."""
LOOPS_SECONDS, LOOPS_SHARE = 60.0, 0.7
"""For proving loops, and the largest share of the remaining budget."""
RECURSION_SECONDS, RECURSION_SHARE = 45.0, 0.6
"""For proofs with code in the place of deeper calls, and the largest share of the remaining budget."""
LAST_SECONDS = 10.0
"""For unrolling loops after no proof was found: this long, or as long as was spent until then. It can only give a
bound, and what takes longer hardly ever finishes."""
SEARCH_SECONDS, EXPLORE_SECONDS = 12.0, 2.5
"""For the concolic engine as a rung of the ladder: it finds most differences early. And during a proof attempt."""
SEARCH_SHARE = 1 / 4
"""The largest share of the remaining budget for either."""
WHOLE_SECONDS, WHOLE_SHARE = 5.0, 1 / 4
"""For one formula about two functions without loops, before their paths are compared one by one; and the largest share
of the remaining budget. Most formulas that are decided at all are decided sooner: gz_error of zlib, -O0 against -O2,
takes 3.6 s path by path (30 paths on each side), and more than 60 s as one formula."""
DIRECTED_SECONDS, DIRECTED_SHARE = 0.5, 1 / 20
"""For tests with the code's own constants, and the largest share of the remaining budget. They end by counted steps;
but a step that clears 16 KiB takes as long as thousands of others: tests of LZ4_resetStream_fast took 8 s of 10."""
PATHS_SHARE = 1 / 3
"""The largest share of the remaining budget for that comparison."""

Reached = Verdict | Failed | None
"""The strongest result so far; None if no engine could handle the question."""


@dataclass
class Climb:
    """What is known so far."""

    question: Question
    budget: Budget
    own: tuple[tuple[Inputs, Inputs], ...] = ()
    """The user's own tests."""
    reached: Reached = None
    explored: Reached = None
    """What the concolic engine said while a proof of loops took long."""
    iterations_vary: bool = False
    """Whether tests showed that loops iterate as often as the input says."""
    never_ends: bool = False
    """Whether no test ended within the step bound: with a fixed trip count, that is thousands of iterations."""
    ran_out: set[Engine] = field(default_factory=set)
    """Engines whose part of the budget ended before they did."""
    last_said: str = ""
    meanwhile: Meanwhile | None = None
    """What may be tried while a proof takes long."""

    @property
    def is_alone(self) -> bool:
        """Whether the user asked for one engine, which then has the whole budget."""
        return self.question.options.engine is not Engine.AUTO

    @cached_property
    def has_loop(self) -> bool:
        questions = (self.question, *self.question.versions)
        return any(f.has_loop for question in questions for f in (question.target, question.rewrite))

    @cached_property
    def calls_itself(self) -> bool:
        return calls_itself(self.question.target, self.question.rewrite)

    @property
    def may_call_alike(self) -> bool:
        """Whether both sides call themselves and have no loop: one formula shows whether they call themselves alike."""
        return not self.has_loop and all(map(calls_itself, (self.question.target, self.question.rewrite)))

    @property
    def leaves_more(self) -> bool:
        """Whether another engine may say more than the result so far. A bug of isoform is reported, not hidden behind a
        bound, and so is an answer that depends on the layout."""
        if isinstance(self.reached, Failed):
            return not self.reached.is_bug and not self.reached.is_final
        return self.reached is None or isinstance(self.reached, Bounded)

    @property
    def has_quick_look(self) -> bool:
        """Whether formulas are looked at first. If the two call themselves in different ways, they say nothing."""
        return self.has_loop or not self.calls_itself or self.may_call_alike

    @property
    def needs_another_look(self) -> bool:
        """Whether a longer look at the formulas may say more than the quick one. Of code without loops and recursion it
        says the same again, unless the first was cut short."""
        was_complete = not self.has_loop and not self.calls_itself
        may_say_more = not was_complete or self.reached is None or Engine.LOOPFREE in self.ran_out
        return may_say_more and not isinstance(self.reached, Verdict)

    @property
    def settled(self) -> Verdict | None:
        return next((r for r in (self.explored, self.reached) if isinstance(r, (Different, Equivalent))), None)


def stronger(before: Reached, now: Reached) -> Reached:
    """The stronger of two results. A bound on loops is stronger than one on paths."""
    if isinstance(now, (Different, Equivalent)) or not isinstance(before, Verdict):
        return now if isinstance(now, Verdict) or before is None else before
    return before


@dataclass(frozen=True)
class Rung:
    choice: Engine
    """The engine, by the name with which the user asks for it alone."""
    make: Callable[[Climb], EngineProtocol]
    when: Callable[[Climb], bool]
    part: Callable[[Climb], Budget]
    weigh: Callable[[Climb, Reached], Reached] = lambda climb, now: stronger(climb.reached, now)
    """The result after what this engine says."""
    only_differences: bool = False
    """Whether only a difference counts, because other engines give stronger bounds."""
    is_extra: bool = False
    """Whether the engine has another rung, which is the one to take if it is asked for alone."""

    @property
    def name(self) -> str:
        return self.choice.value


# -- how much ---------------------------------------------------------------------------------------


def _quick_look(climb: Climb) -> Budget:
    seconds = GLANCE_SECONDS if climb.iterations_vary or climb.never_ends else QUICK_SECONDS
    return climb.budget.counted_part(min(seconds, climb.budget.left * QUICK_SHARE))


def _for_loops(climb: Climb) -> Budget:
    return climb.budget.part(min(LOOPS_SECONDS, climb.budget.left * LOOPS_SHARE))


def _for_recursion(climb: Climb) -> Budget:
    return climb.budget.part(min(RECURSION_SECONDS, climb.budget.left * RECURSION_SHARE))


def _last_look(climb: Climb) -> Budget:
    if climb.has_loop:
        return climb.budget.part(max(LAST_SECONDS, climb.budget.spent))
    return climb.budget.part(min(WHOLE_SECONDS, climb.budget.left * WHOLE_SHARE))


def _search(climb: Climb) -> Budget:
    share = SEARCH_SHARE if climb.has_loop else PATHS_SHARE
    return climb.budget.counted_part(min(SEARCH_SECONDS, climb.budget.left * share))


def _for_directed_tests(climb: Climb) -> Budget:
    return climb.budget.counted_part(min(DIRECTED_SECONDS, climb.budget.left * DIRECTED_SHARE))


def _exploration(climb: Climb) -> Budget:
    return climb.budget.counted_part(min(EXPLORE_SECONDS, climb.budget.left * SEARCH_SHARE))


# -- what counts ------------------------------------------------------------------------------------


def _after_proving(climb: Climb, now: Reached) -> Reached:
    """What a quick look could not do says less than what stopped a proof."""
    if isinstance(climb.reached, Failed) and isinstance(now, Failed):
        return now
    return stronger(climb.reached, now)


def _after_unrolling(climb: Climb, now: Reached) -> Reached:
    return stronger(climb.reached, Failed(climb.last_said) if now is None else now)


def _after_search(climb: Climb, now: Reached) -> Reached:
    return stronger(climb.reached, climb.explored if now is None else now)


def _after_the_whole(climb: Climb, now: Reached) -> Reached:
    """The second attempt had more time than the first."""
    if isinstance(climb.reached, Failed) and isinstance(now, Failed):
        return now
    return _after_unrolling(climb, now)


# -- who --------------------------------------------------------------------------------------------


def _testing(climb: Climb) -> EngineProtocol:
    return Testing(climb.own, thorough=climb.is_alone)


def _loops(climb: Climb) -> EngineProtocol:
    from isoform.engines.loops.engine import Loops

    return Loops(climb.own, climb.meanwhile)


def _concolic(climb: Climb) -> EngineProtocol:
    from isoform.engines.concolic import Concolic

    return Concolic(climb.is_alone)


def _recursion(climb: Climb) -> EngineProtocol:
    from isoform.engines.recursion import Recursion

    return Recursion()


def _directed(when: Callable[[Climb], bool]) -> Rung:
    """Half a second of tests, once it is clear that the question is not settled in less."""
    return Rung(
        Engine.TESTING,
        lambda climb: DirectedTesting(),
        when,
        _for_directed_tests,
        only_differences=True,
        is_extra=True,
    )


RUNGS = (
    Rung(Engine.TESTING, _testing, lambda climb: True, lambda climb: climb.budget, only_differences=True),
    # Most formulas are decided at once. So are loops that iterate a fixed number of times, and differences in the first
    # iterations.
    Rung(Engine.LOOPFREE, lambda climb: Loopfree(), lambda climb: climb.has_quick_look, _quick_look, is_extra=True),
    Rung(
        Engine.RECURSION,
        _recursion,
        lambda climb: climb.calls_itself and not climb.may_call_alike and climb.leaves_more,
        _for_recursion,
    ),
    _directed(lambda climb: climb.needs_another_look and climb.leaves_more and not climb.has_loop),
    Rung(Engine.LOOPS, _loops, lambda climb: climb.has_loop and climb.leaves_more, _for_loops, _after_proving),
    _directed(lambda climb: climb.leaves_more and climb.has_loop),
    Rung(
        Engine.LOOPFREE,
        lambda climb: Loopfree(),
        lambda climb: climb.needs_another_look,
        _last_look,
        _after_unrolling,
    ),
    Rung(
        Engine.RECURSION,
        _recursion,
        lambda climb: climb.may_call_alike and climb.leaves_more,
        _for_recursion,
        is_extra=True,
    ),
    Rung(Engine.CONCOLIC, _concolic, lambda climb: climb.leaves_more, _search, _after_search),
    # One formula again, with all the time that is left.
    Rung(
        Engine.LOOPFREE,
        lambda climb: Loopfree(),
        lambda climb: not climb.has_loop and Engine.LOOPFREE in climb.ran_out and climb.leaves_more,
        lambda climb: climb.budget,
        _after_the_whole,
        is_extra=True,
    ),
)
"""In order of expected cost."""

EXPLORING = Rung(Engine.CONCOLIC, _concolic, lambda climb: True, _exploration)
"""While a proof takes long."""


def rungs_for(choice: Engine, rungs: tuple[Rung, ...] = RUNGS) -> tuple[Rung, ...]:
    """Those that are climbed if the user asks for this engine."""
    if choice is Engine.AUTO:
        return rungs
    return tuple(rung for rung in rungs if rung.choice is choice and not rung.is_extra)
