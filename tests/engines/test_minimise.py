"""Witnesses become small and round, and stay witnesses."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from assembled import lifted, source
from isoform.borders.question import Options, Question
from isoform.borders.settle import settle
from isoform.engines.minimise import MOST_TRIALS, minimise
from isoform.model.budget import Budget
from isoform.model.outcome import CallEffect, CallKey, Inputs, Pair

BUFFER = 0x200000
MASK = (1 << 32) - 1


@pytest.fixture(scope="module")
def question(tmp_path_factory: pytest.TempPathFactory) -> Question:
    file = source(tmp_path_factory.mktemp("minimise"), {"f": "lea eax, [rdi+rsi]; ret"})
    function = lifted(file, "f")
    return settle(function, function, Options(signature="int f(int x, unsigned y, char *p)"))


class Watched:
    """A condition on the inputs, and everything it was asked about."""

    def __init__(self, holds: Callable[[Inputs], bool]) -> None:
        self.holds = holds
        self.asked: list[Inputs] = []

    def __call__(self, question: Question, pair: Pair) -> bool:
        self.asked.append(pair[0])
        return self.holds(pair[0])


def smallest(question: Question, inputs: Inputs, holds: Callable[[Inputs], bool]) -> Inputs:
    watched = Watched(holds)
    left, right = minimise(question, (inputs, inputs), Budget(60), watched)
    assert left == right
    assert holds(left)
    assert len(watched.asked) <= MOST_TRIALS
    return left


def x(inputs: Inputs) -> int:
    value = inputs.registers.get("rdi", 0) & MASK
    return value - (1 << 32) if value >> 31 else value


def y(inputs: Inputs) -> int:
    return inputs.registers.get("rsi", 0) & MASK


WILD = Inputs({"rdi": 0x7EAD_BEEF, "rsi": 0xCAFE_F00D, "rdx": BUFFER, "r9": 5}, fill_seed=7, side_seed=3)


@pytest.mark.parametrize(
    ("holds", "expected"),
    [
        (lambda inputs: True, 0),
        (lambda inputs: x(inputs) > 4, 5),
        (lambda inputs: x(inputs) == 1000, 1000),
        (lambda inputs: x(inputs) > 0 and x(inputs) & 0x10000 != 0, 0x10000),
        (lambda inputs: x(inputs) % 7 == 3, 3),
    ],
)
def test_a_number_becomes_the_first_round_one_that_will_do(
    question: Question, holds: Callable[[Inputs], bool], expected: int
) -> None:
    assert x(smallest(question, WILD, lambda inputs: holds(inputs) or inputs == WILD)) == expected


def test_a_negative_number_gets_nearer_to_minus_one(question: Question) -> None:
    start = Inputs({"rdi": (-5_000_000) & MASK, "rdx": BUFFER})
    found = x(smallest(question, start, lambda inputs: x(inputs) < -100_000))
    assert -300_000 < found < -100_000


def test_what_does_not_matter_is_zero(question: Question) -> None:
    found = smallest(question, WILD, lambda inputs: y(inputs) >= 8)
    assert (x(found), y(found)) == (0, 8)
    assert (found.fill_seed, found.side_seed, found.registers.get("r9", 0)) == (0, 0, 0)


def test_what_matters_of_the_background_stays(question: Question) -> None:
    assert smallest(question, WILD, lambda inputs: inputs.side_seed == 3).side_seed == 3
    assert smallest(question, WILD, lambda inputs: inputs.registers.get("r9") == 5).registers["r9"] == 5


def test_only_memory_that_matters_stays(question: Question) -> None:
    memory = {BUFFER + i: i + 1 for i in range(40)}
    start = Inputs({"rdx": BUFFER}, memory)
    found = smallest(question, start, lambda inputs: inputs.memory.get(BUFFER + 17) == 18)
    assert found.memory == {BUFFER + 17: 18}


def test_two_arguments_that_depend_on_each_other(question: Question) -> None:
    found = smallest(question, WILD, lambda inputs: y(inputs) > x(inputs) > 2 or inputs == WILD)
    assert (x(found), y(found)) == (3, 4)


def test_calls_that_do_not_matter_are_left_out(question: Question) -> None:
    one, other = CallKey("f", (1,), 0), CallKey("g", (), 1)
    effects = {one: CallEffect({"rax": 7}, {BUFFER: 1}), other: CallEffect({"rax": 8})}
    start = Inputs({}, call_results=effects)
    found = smallest(question, start, lambda inputs: one in inputs.call_results)
    assert found.call_results == {one: CallEffect({"rax": 7})}


def test_without_time_nothing_changes(question: Question) -> None:
    watched = Watched(lambda inputs: True)
    assert minimise(question, (WILD, WILD), Budget(0), watched) == (WILD, WILD)
    assert watched.asked == []


def test_the_number_of_trials_is_limited(question: Question) -> None:
    memory = {BUFFER + i: 1 for i in range(600)}
    watched = Watched(lambda inputs: False)
    start = Inputs({"rdi": 0x7EAD_BEEF, "rsi": 0xCAFE_F00D}, memory)
    assert minimise(question, (start, start), Budget(60), watched) == (start, start)
    assert 100 < len(watched.asked) <= MOST_TRIALS
