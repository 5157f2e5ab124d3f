"""The two compilers mean what the interpreter of the tree says, and every bug shows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random

import pytest

from isoform.borders.question import Options
from isoform.borders.settle import settle
from isoform.isa.registry import machine
from isoform.lift.lift import lift
from isoform.load.text import assemble_text
from isoform.model.outcome import Inputs
from minicompiler.bugs import Bug, Style, styles_of
from minicompiler.cases import CASES, Case
from minicompiler.compiler import Compiler
from minicompiler.generate import random_program
from minicompiler.interpret import Ending, arithmetic, interpret
from minicompiler.source import parse, written
from minicompiler.submissions import assembled, ending_of, sample_inputs
from minicompiler.tasks import TASKS
from minicompiler.tree import Program
from minicompiler.variants import endless, mistaken, rewritten

assemble = partial(assemble_text, "cs241")

FUEL = 100_000
PROGRAMS = 30

Ends = Callable[[int, int], int | Ending]


def on_runner(text: str) -> Ends:
    """The text on isoform's own lifter and runner."""
    image = assemble(text, "program.asm")
    function = lift(image, machine("cs241"), image.symbols[0].name, 0)
    question = settle(function, function, Options(fuel=FUEL))

    def ends(first: int, second: int) -> int | Ending:
        inputs = Inputs({"$1": first % (1 << 32), "$2": second % (1 << 32)})
        return ending_of(question.run_both((inputs, inputs))[0])

    return ends


def on_check(text: str) -> Ends:
    """The text on the interpreter that shares no code with the lifter."""
    return assembled(text, FUEL)


@pytest.mark.parametrize("place", [on_runner, on_check])
@pytest.mark.parametrize("style", Style)
def test_compilers_agree_with_the_tree(style: Style, place: Callable[[str], Ends]) -> None:
    compared = 0
    for seed in range(PROGRAMS):
        program = random_program(seed)
        ends = place(Compiler(style).compile(program))
        for pair in sample_inputs(seed, 6):
            wanted = interpret(program, *pair)
            if wanted is not Ending.ENDLESS:
                assert ends(*pair) == wanted, (seed, pair, written(program))
                compared += 1
    assert compared > 5 * PROGRAMS


@pytest.mark.parametrize("program", [case.program for case in CASES] + list(TASKS))
def test_compilers_agree_on_written_programs(program: Program) -> None:
    for style in Style:
        ends = on_check(Compiler(style).compile(program))
        for pair in sample_inputs(7, 40):
            wanted = interpret(program, *pair)
            if wanted is not Ending.ENDLESS:
                assert ends(*pair) == wanted, (style, pair)


def test_every_bug_has_a_program() -> None:
    assert {case.bug for case in CASES} == set(Bug)


@pytest.mark.parametrize("place", [on_runner, on_check])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.bug.name)
def test_every_bug_shows(case: Case, place: Callable[[str], Ends]) -> None:
    wanted = interpret(case.program, *case.witness)
    for style in styles_of(case.bug):
        assert place(Compiler(style).compile(case.program))(*case.witness) == wanted
        shown = place(Compiler(style, case.bug).compile(case.program))(*case.witness)
        assert shown not in (wanted, Ending.ENDLESS)


@pytest.mark.parametrize("bug", Bug)
def test_a_bug_leaves_other_styles_and_programs_alone(bug: Bug) -> None:
    plain = parse("def main(a, b):\n    return a + b\n")
    for style in Style:
        assert Compiler(style, bug).compile(plain) == Compiler(style).compile(plain)
        if style not in styles_of(bug):
            for case in CASES:
                assert Compiler(style, bug).compile(case.program) == Compiler(style).compile(case.program)


def test_text_is_read_back() -> None:
    for seed in range(100):
        program = random_program(seed)
        assert parse(written(program)) == program, seed


def test_programs_are_a_function_of_the_seed() -> None:
    assert random_program(5) == random_program(5)
    assert len({written(random_program(seed)) for seed in range(50)}) == 50


@pytest.mark.parametrize(
    ("operator", "left", "right", "wanted"),
    [
        ("/", -7, 2, -3),
        ("%", -7, 2, -1),
        ("/", 7, -2, -3),
        ("%", 7, -2, 1),
        ("/", -(1 << 31), -1, -(1 << 31)),
        ("%", -(1 << 31), -1, 0),
        ("/", 1, 0, None),
        ("%", 1, 0, None),
        ("*", 1 << 16, 1 << 16, 0),
        ("+", (1 << 31) - 1, 1, -(1 << 31)),
        ("-", -(1 << 31), 1, (1 << 31) - 1),
    ],
)
def test_arithmetic_is_the_machines(operator: str, left: int, right: int, wanted: int | None) -> None:
    assert arithmetic(operator, left, right) == wanted


def test_rewrites_keep_the_meaning_and_change_the_text() -> None:
    changed = 0
    for seed in range(60):
        program = random_program(seed)
        other = rewritten(program, Random(seed))
        changed += other != program
        for pair in sample_inputs(seed, 10):
            results = {interpret(program, *pair), interpret(other, *pair)}
            assert len(results) == 1 or Ending.ENDLESS in results, (seed, pair, written(program), written(other))
    assert changed > 50


def test_mistakes_change_the_text() -> None:
    programs = [random_program(seed) for seed in range(60)]
    assert sum(mistaken(program, Random(n)) != program for n, program in enumerate(programs)) > 55


def test_endless_programs_never_stop() -> None:
    for style in Style:
        assert on_check(Compiler(style).compile(endless(TASKS[0])))(2000, 2) is Ending.ENDLESS
