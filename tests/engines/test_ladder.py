"""The ladder with engines that say what they are told: who is asked, for how long, and what counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from isoform import compare
from isoform.borders.question import Engine, Options, Question
from isoform.borders.settle import settle
from isoform.engines.answer import lifted, subject
from isoform.engines.finding import Failed, Finding, Found, Proved, WithinBound
from isoform.engines.grounds import Grounds
from isoform.engines.ladder import MORE_HELPS, Ladder
from isoform.engines.loops.engine import Loops
from isoform.engines.protocol import Meanwhile
from isoform.engines.rungs import (
    EXPLORE_SECONDS,
    EXPLORING,
    GLANCE_SECONDS,
    LAST_SECONDS,
    LOOPS_SECONDS,
    QUICK_SECONDS,
    RUNGS,
    SEARCH_SECONDS,
    WHOLE_SECONDS,
    Climb,
    stronger,
)
from isoform.load.open import open_pair
from isoform.model.budget import Budget
from isoform.model.errors import OutOfLimits, Unsupported, UserError
from isoform.model.verdict import Assumption, Bounded, Different, Equivalent, Obligation, Proof, Unknown, Verdict
from isoform.smt.terms import Terms

TESTING, QUICK, LOOPS, LAST, CONCOLIC, EXPLORED = "testing", "quick", "loops", "last", "concolic", "explored"
AGAIN, DIRECTED, CHANGED = "again", "directed", "changed"
"""Directed tests, without a loop and with one."""
RECURSION, UNFOLDED = "recursion", "unfolded"
ORDER = (TESTING, QUICK, LOOPS, CHANGED, LAST, CONCOLIC)
"""Where there is a loop, and no recursion."""
NAMES = (TESTING, QUICK, RECURSION, DIRECTED, LOOPS, CHANGED, LAST, UNFOLDED, CONCOLIC, AGAIN)
"""Of all rungs."""
STRAIGHT = "RETC 1\n"
LOOP = """
.intel_syntax noprefix
.globl f
.type f, @function
f:  xor eax, eax
1:  add eax, edi
    dec edi
    jnz 1b
    ret
.size f, .-f
.section .note.GNU-stack,"",@progbits
"""
NOTHING = WithinBound({"tests": 24}, "no difference in 24 tests")
UNROLLED = WithinBound({"unroll": 16}, "no difference in 16 iterations")
PATHS = WithinBound({"paths": 3}, "no difference on 3 paths")
OBLIGATIONS = Proof((Obligation("returns", "both return or neither does"),))


def proved() -> Proved:
    return Proved(OBLIGATIONS, Grounds(Terms(), [], "", returns=True, calls=False), said="1 obligations shown")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Found:
    folder: Path = tmp_path_factory.mktemp("ladder")
    for name, number in (("a.toy", 1), ("b.toy", 2)):
        (folder / name).write_text(f"RETC {number}\n")
    verdict = compare(folder / "a.toy", folder / "b.toy")
    assert isinstance(verdict, Different)
    return Found(verdict.witness, said="a difference")


@dataclass(frozen=True)
class Late:
    """What an engine finds when its part of the budget is over."""

    finding: Finding


Says = Finding | Late | BaseException | Callable[[Meanwhile | None], Finding]


@dataclass
class Fake:
    """An engine on one of the rungs."""

    rung: str
    says: Says
    asked: list[tuple[str, Budget]]
    meanwhile: Meanwhile | None

    def answer(self, question: Question, budget: Budget) -> Finding:
        self.asked.append((self.rung, budget))
        if isinstance(self.says, BaseException):
            raise self.says
        if isinstance(self.says, Late):
            budget.renew(0.0)
            return self.says.finding
        return self.says(self.meanwhile) if callable(self.says) else self.says


@dataclass
class Climbed:
    verdict: Verdict
    asked: list[tuple[str, Budget]]
    tried: list[tuple[str, str]]
    told: list[Verdict] = field(default_factory=list)

    @property
    def order(self) -> tuple[str, ...]:
        return tuple(rung for rung, _ in self.asked)

    def seconds(self, rung: str) -> float:
        return next(budget.seconds for name, budget in self.asked if name == rung)

    @property
    def why(self) -> str:
        assert isinstance(self.verdict, (Bounded, Unknown))
        return self.verdict.why


@pytest.fixture(scope="module")
def posed(tmp_path_factory: pytest.TempPathFactory) -> Callable[[bool, Options], tuple[Any, Any]]:
    folder: Path = tmp_path_factory.mktemp("questions")
    (folder / "f.toy").write_text(STRAIGHT)
    (folder / "f.s").write_text(LOOP)

    def pose(loop: bool, options: Options) -> tuple[Any, Any]:
        path = f"{folder}/f.s:f" if loop else f"{folder}/f.toy"
        loaded = open_pair(path, path)
        question = settle(lifted(loaded[0]), lifted(loaded[1]), options)
        return question, (subject(loaded[0]), subject(loaded[1]))

    return pose


@pytest.fixture
def climb(posed: Callable[[bool, Options], tuple[Any, Any]]) -> Callable[..., Climbed]:
    """Climb the ladder; each rung says what is given under its name, and `Unsupported` otherwise."""

    def run(
        loop: bool = True,
        engine: Engine = Engine.AUTO,
        budget: float = 1000.0,
        unreplayed: tuple[str, ...] = (),
        **says: Says,
    ) -> Climbed:
        told: list[Verdict] = []
        question, subjects = posed(loop, Options(engine=engine, so_far=told.append))
        question = replace(question, unreplayed=[*unreplayed])
        asked: list[tuple[str, Budget]] = []

        def fake(rung: str) -> Callable[[Climb], Fake]:
            answer = says.get(rung, Unsupported(f"{rung} cannot do this"))
            return lambda climb: Fake(rung, answer, asked, climb.meanwhile)

        rungs = tuple(replace(rung, make=fake(name)) for name, rung in zip(NAMES, RUNGS, strict=True))
        ladder = Ladder(question, subjects, Budget(budget), rungs, replace(EXPLORING, make=fake(EXPLORED)))
        verdict = ladder.climb()
        return Climbed(verdict, asked, [(tried.engine, tried.said) for tried in ladder.tried], told)

    return run


# -- the order --------------------------------------------------------------------------------------


def test_all_rungs_in_order_where_there_is_a_loop(climb: Callable[..., Climbed]) -> None:
    climbed = climb(testing=NOTHING)
    assert climbed.order == ORDER
    assert [engine for engine, _ in climbed.tried] == [
        "testing",
        "loopfree",
        "loops",
        "testing",
        "loopfree",
        "concolic",
    ]


def test_recursion_comes_first_unless_both_may_call_themselves_alike(tmp_path: Path) -> None:
    for calls, order in ((("call f", "nop"), RECURSION), (("call f", "call f"), UNFOLDED)):
        sides = []
        for side, call in zip("ab", calls, strict=True):
            text = (
                f".globl f\n.type f, @function\nf: test %edi, %edi\n je 1f\n dec %edi\n {call}\n1: ret\n.size f, .-f\n"
            )
            (tmp_path / f"{side}.s").write_text(text + '.section .note.GNU-stack,"",@progbits\n')
            sides.append(f"{tmp_path}/{side}.s:f")
        loaded = open_pair(sides[0], sides[1])
        question = settle(lifted(loaded[0]), lifted(loaded[1]), Options(signature="void f(int n)"))
        state = Climb(question, Budget(10))
        wanted = [name for name, rung in zip(NAMES, RUNGS, strict=True) if rung.when(state)]
        assert order in wanted
        assert len({RECURSION, UNFOLDED} & {*wanted}) == 1


def test_without_a_loop_there_is_no_proof_of_loops(climb: Callable[..., Climbed]) -> None:
    assert climb(loop=False, testing=NOTHING).order == (TESTING, QUICK, DIRECTED, LAST, CONCOLIC)


@pytest.mark.parametrize(
    ("engine", "rung"),
    [
        (Engine.TESTING, TESTING),
        (Engine.LOOPFREE, LAST),
        (Engine.LOOPS, LOOPS),
        (Engine.CONCOLIC, CONCOLIC),
        (Engine.RECURSION, RECURSION),
    ],
)
def test_an_engine_alone_has_the_whole_budget(climb: Callable[..., Climbed], engine: Engine, rung: str) -> None:
    for loop in (True, False):
        climbed = climb(loop=loop, engine=engine, **{rung: Failed("it is too hard", "nothing")})
        assert climbed.order == (rung,)
        assert climbed.seconds(rung) == 1000.0
        assert isinstance(climbed.verdict, Unknown)
        assert (climbed.verdict.why, climbed.verdict.helps) == ("it is too hard", "nothing")


@pytest.mark.parametrize("rung", ORDER)
def test_the_first_difference_ends_the_climb(climb: Callable[..., Climbed], found: Found, rung: str) -> None:
    climbed = climb(**{rung: found})
    assert climbed.order == ORDER[: ORDER.index(rung) + 1]
    assert isinstance(climbed.verdict, Different)
    assert climbed.verdict.witness == found.witness


@pytest.mark.parametrize("rung", [QUICK, LOOPS, LAST, CONCOLIC])
def test_the_first_proof_ends_the_climb(climb: Callable[..., Climbed], rung: str) -> None:
    rests_on = Assumption("some-rule", "it is a rule")
    climbed = climb(**{rung: replace(proved(), assumptions=(rests_on,))})
    assert climbed.order == ORDER[: ORDER.index(rung) + 1]
    assert isinstance(climbed.verdict, Equivalent)
    assert climbed.verdict.proof == OBLIGATIONS
    assert rests_on in climbed.verdict.assumptions


# -- shares of the budget ---------------------------------------------------------------------------


def test_shares_of_a_large_budget(climb: Callable[..., Climbed]) -> None:
    climbed = climb(testing=NOTHING)
    assert climbed.seconds(TESTING) == 1000.0
    assert climbed.seconds(QUICK) == QUICK_SECONDS == 1.0
    assert climbed.seconds(LOOPS) == LOOPS_SECONDS == 60.0
    assert climbed.seconds(LAST) == LAST_SECONDS == 10.0
    assert climbed.seconds(CONCOLIC) == SEARCH_SECONDS == 12.0
    assert [budget.is_counted for _, budget in climbed.asked] == [False, True, False, True, False, True]


def test_shares_of_a_small_budget(climb: Callable[..., Climbed]) -> None:
    climbed = climb(testing=NOTHING, budget=4.0)
    assert climbed.seconds(QUICK) == pytest.approx(4.0 / 8, rel=0.2)
    assert climbed.seconds(LOOPS) == pytest.approx(4.0 * 0.7, rel=0.2)
    assert climbed.seconds(LAST) == pytest.approx(4.0, rel=0.2)
    assert climbed.seconds(CONCOLIC) == pytest.approx(1.0, rel=0.2)


def test_only_a_glance_where_tests_show_that_loops_iterate_as_the_input_says(climb: Callable[..., Climbed]) -> None:
    assert climb(testing=replace(NOTHING, iterations_vary=True)).seconds(QUICK) == GLANCE_SECONDS == 0.25


def test_without_a_loop_paths_are_compared_before_the_formula_gets_all(climb: Callable[..., Climbed]) -> None:
    late = Late(Failed("too hard"))
    climbed = climb(loop=False, quick=late, last=late, again=Failed("still too hard"))
    assert climbed.order == (TESTING, QUICK, DIRECTED, LAST, CONCOLIC, AGAIN)
    assert climb(loop=False).seconds(LAST) == WHOLE_SECONDS == 5.0
    assert climbed.seconds(CONCOLIC) == SEARCH_SECONDS == 12.0
    assert climbed.seconds(AGAIN) == 1000.0
    assert climbed.why == "still too hard"
    small = climb(loop=False, budget=4.0)
    assert small.seconds(LAST) == pytest.approx(1.0, rel=0.2)
    assert small.seconds(CONCOLIC) == pytest.approx(4.0 / 3, rel=0.2)


def test_a_formula_that_failed_in_time_is_not_asked_again(climb: Callable[..., Climbed], found: Found) -> None:
    late = Late(Failed("late"))
    assert climb(loop=False, quick=Failed("no usable input")).order == (TESTING, QUICK, CONCOLIC)
    longer = (TESTING, QUICK, DIRECTED, LAST, CONCOLIC)
    assert climb(loop=False, quick=late, last=Failed("no usable input")).order == longer
    assert climb(loop=False, quick=late, last=late, concolic=proved()).order == longer
    assert isinstance(climb(loop=False, quick=late, last=late, concolic=PATHS, again=found).verdict, Different)


# -- what counts ------------------------------------------------------------------------------------


def test_tests_that_find_nothing_bound_nothing_unless_they_are_all(climb: Callable[..., Climbed]) -> None:
    assert isinstance(climb(testing=NOTHING).verdict, Unknown)
    alone = climb(engine=Engine.TESTING, testing=NOTHING)
    assert isinstance(alone.verdict, Bounded)
    assert alone.verdict.bound == {"tests": 24}


def test_a_bound_on_loops_says_more_than_one_on_paths(climb: Callable[..., Climbed]) -> None:
    climbed = climb(quick=UNROLLED, loops=Failed("no invariant"), concolic=PATHS)
    assert climbed.order == (TESTING, QUICK, LOOPS, CHANGED, CONCOLIC)
    assert climbed.why == UNROLLED.why


def test_a_difference_or_a_proof_says_more_than_a_bound(climb: Callable[..., Climbed], found: Found) -> None:
    assert isinstance(climb(quick=UNROLLED, concolic=found).verdict, Different)
    assert isinstance(climb(quick=UNROLLED, loops=proved()).verdict, Equivalent)


def test_what_stopped_a_proof_says_more_than_what_stopped_a_quick_look(climb: Callable[..., Climbed]) -> None:
    climbed = climb(quick=Failed("quick"), loops=Failed("loops"), last=Failed("last"), concolic=Failed("concolic"))
    assert climbed.order == ORDER
    assert climbed.why == "loops"


def test_an_engine_that_cannot_treat_the_question_says_less_than_one_that_failed(climb: Callable[..., Climbed]) -> None:
    assert climb(quick=Failed("quick"), last=Failed("last")).why == "quick"
    assert climb(last=Failed("last"), concolic=Failed("concolic")).why == "last"


@pytest.mark.parametrize("why", [{"is_bug": True}, {"is_final": True}])
def test_a_bug_is_not_hidden_behind_a_bound(climb: Callable[..., Climbed], why: dict[str, Any]) -> None:
    climbed = climb(quick=Failed("told", **why), loops=proved(), last=Failed("again"), concolic=PATHS)
    assert climbed.order == (TESTING, QUICK, LAST)
    assert isinstance(climbed.verdict, Unknown)
    assert climbed.why == "told"


def test_stronger() -> None:
    first, second = Failed("first"), Failed("second")
    assert stronger(None, None) is None
    assert stronger(None, first) is first
    assert stronger(first, None) is first
    assert stronger(first, second) is first


# -- engines that do not end --------------------------------------------------------------


def test_unsupported_becomes_unknown(climb: Callable[..., Climbed]) -> None:
    climbed = climb()
    assert isinstance(climbed.verdict, Unknown)
    assert climbed.why == "last cannot do this"
    assert climbed.tried[2] == ("loops", "loops cannot do this")


def test_the_recursion_limit_names_the_place(climb: Callable[..., Climbed]) -> None:
    def endless(meanwhile: Meanwhile | None) -> Finding:
        return endless(meanwhile)

    climbed = climb(engine=Engine.LOOPFREE, last=endless)
    assert isinstance(climbed.verdict, Unknown)
    assert "test_ladder.py" in climbed.why
    assert "or this is a bug in isoform" in climbed.why


def test_other_exceptions_are_bugs_and_look_like_it(climb: Callable[..., Climbed]) -> None:
    for error in (AttributeError("no such thing"), UserError("a bad file")):
        with pytest.raises(type(error)):
            climb(quick=error, concolic=PATHS)


@pytest.mark.parametrize(
    ("ended", "why"),
    [(OutOfLimits("the budget ran out"), "the budget ran out in loops"), (MemoryError(), "memory ran out in loops")],
)
def test_an_engine_that_had_to_be_ended_counts_for_nothing(
    climb: Callable[..., Climbed], ended: BaseException, why: str
) -> None:
    without = climb(loops=ended, concolic=PATHS)
    assert without.order == (TESTING, QUICK, LOOPS)
    assert isinstance(without.verdict, Unknown)
    assert (without.verdict.why, without.verdict.helps) == (why, MORE_HELPS)
    assert climb(quick=UNROLLED, loops=ended).why == UNROLLED.why


def test_what_is_known_is_told_before_each_engine(climb: Callable[..., Climbed]) -> None:
    told = climb(quick=UNROLLED, loops=Failed("no invariant")).told
    assert [verdict.word for verdict in told] == ["unknown", "unknown", "bounded", "bounded", "bounded"]
    assert [len(verdict.tried) for verdict in told] == [0, 1, 2, 3, 4]
    assert all(verdict.why for verdict in told[:2] if isinstance(verdict, Unknown))


# -- a difference that cannot be replayed -------------------------------------------------------------


@pytest.mark.parametrize("says", [proved(), UNROLLED, Failed("it is too hard")])
def test_a_difference_that_cannot_be_replayed_is_not_outvoted(climb: Callable[..., Climbed], says: Finding) -> None:
    climbed = climb(unreplayed=("a difference was found that does not replay",), quick=says)
    assert isinstance(climbed.verdict, Unknown)
    assert climbed.why == "a difference was found that does not replay"


def test_a_replayed_difference_counts_beside_one_that_cannot_be(climb: Callable[..., Climbed], found: Found) -> None:
    assert isinstance(climb(unreplayed=("not replayed",), concolic=found).verdict, Different)


# -- while a proof takes long -------------------------------------------------------------------------


def settling(meanwhile: Meanwhile | None) -> Finding:
    assert meanwhile is not None
    return Failed("settled elsewhere" if meanwhile.settles() else "no invariant")


def test_the_search_may_settle_it_while_a_proof_takes_long(climb: Callable[..., Climbed], found: Found) -> None:
    climbed = climb(loops=settling, explored=found)
    assert climbed.order == (TESTING, QUICK, LOOPS, EXPLORED)
    assert climbed.seconds(EXPLORED) == EXPLORE_SECONDS == 2.5
    assert [engine for engine, _ in climbed.tried] == ["testing", "loopfree", "concolic", "loops"]
    assert isinstance(climbed.verdict, Different)
    assert climbed.verdict.engine == "concolic"


def test_what_the_search_said_then_counts_if_it_says_nothing_later(climb: Callable[..., Climbed]) -> None:
    climbed = climb(loops=settling, explored=PATHS)
    assert climbed.order == (TESTING, QUICK, LOOPS, EXPLORED, CHANGED, LAST, CONCOLIC)
    assert climbed.why == PATHS.why


def test_a_proof_alone_is_not_helped(climb: Callable[..., Climbed]) -> None:
    def says(meanwhile: Meanwhile | None) -> Finding:
        assert meanwhile is None
        return proved()

    assert isinstance(climb(engine=Engine.LOOPS, loops=says).verdict, Equivalent)


def test_the_loops_engine_refuses_what_has_no_loop(posed: Callable[[bool, Options], tuple[Any, Any]]) -> None:
    question, _ = posed(False, Options())
    assert Loops().answer(question, Budget(5)) == Failed("neither function has a loop")


def test_directed_tests_have_a_small_part_of_the_budget() -> None:
    climb = Climb(question=None, budget=Budget(10.0))  # type: ignore[arg-type]  # a part depends on the budget only
    directed = [rung for rung in RUNGS if rung.choice is Engine.TESTING and rung.is_extra]
    assert directed
    assert all(rung.part(climb).is_counted and rung.part(climb).seconds <= 0.5 for rung in directed)
