from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from isoform.check.cs241 import run
from isoform.load.text import assemble_text, load_text
from isoform.model.outcome import RETURN_ADDRESS, Inputs, Outcome, Status

assemble = partial(assemble_text, "cs241")

PAIRS = Path(__file__).parent.parent / "pairs" / "cs241"
MIN, MAX, MINUS_ONE = 0x8000_0000, 0x7FFF_FFFF, 0xFFFF_FFFF
HOME = 0x8123_456C


def outcome(text: str, first: int = 0, second: int = 0, fuel: int = 1000) -> Outcome:
    return run(assemble(text, "p.asm"), 0, Inputs({"$1": first, "$2": second}), fuel, trace=True)


@pytest.mark.parametrize(
    ("text", "first", "second", "answer"),
    [
        ("add $3, $1, $2", MAX, 1, MIN),
        ("sub $3, $1, $2", 0, 1, MINUS_ONE),
        ("mult $1, $2\nmflo $3", MINUS_ONE, MINUS_ONE, 1),
        ("mult $1, $2\nmfhi $3", MINUS_ONE, 2, MINUS_ONE),
        ("mult $1, $2\nmfhi $3", MIN, MIN, 0x4000_0000),
        ("multu $1, $2\nmfhi $3", MINUS_ONE, 2, 1),
        ("div $1, $2\nmflo $3", -7 % 2**32, 2, -3 % 2**32),
        ("div $1, $2\nmfhi $3", -7 % 2**32, 2, -1 % 2**32),
        ("div $1, $2\nmfhi $3", 7, -2 % 2**32, 1),
        ("div $1, $2\nmflo $3", MIN, MINUS_ONE, MIN),
        ("div $1, $2\nmfhi $3", MIN, MINUS_ONE, 0),
        ("divu $1, $2\nmflo $3", MINUS_ONE, 2, MAX),
        ("divu $1, $2\nmfhi $3", MINUS_ONE, 16, 15),
        ("lis $3\n.word 0x12345678", 0, 0, 0x1234_5678),
        ("lw $3, 0($0)", 0, 0, 0x8C03_0000),
        ("lw $3, -4($30)", 0, 0, 0),
        ("sw $1, -4($30)\nlw $3, -4($30)", 77, 0, 77),
        ("slt $3, $1, $2", MIN, MAX, 1),
        ("sltu $3, $1, $2", MIN, MAX, 0),
        ("beq $1, $2, 1\nlis $3\n.word 5\nx:", 1, 2, 5),
        ("bne $1, $2, end\nadd $3, $1, $2\nend:", 1, 2, 0),
        ("add $3, $31, $0", 0, 0, HOME),
        ("add $3, $30, $0", 0, 0, 0x0100_0000),
        ("add $0, $1, $2\nadd $3, $0, $0", 5, 5, 0),
        ("lis $4\n.word p\nadd $5, $31, $0\njalr $4\nhere: jr $5\np: add $3, $31, $0\njr $31", 0, 0, 16),
    ],
)
def test_one_instruction(text: str, first: int, second: int, answer: int) -> None:
    found = outcome(text, first, second)
    assert found.status is Status.DONE
    assert found.registers["$3"] == answer
    assert found.return_target == RETURN_ADDRESS


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("div $1, $0", "division fault"),
        ("divu $1, $0", "division fault"),
        ("lw $3, 2($0)", "unaligned access"),
        ("sw $3, 1($30)", "unaligned access"),
        ("lw $3, 0($30)", "access outside memory"),
        ("lw $3, -4($0)", "access outside memory"),
        ("lis $4\n0xffff000c\nsw $1, 0($4)", "access outside memory"),
        (".word 0", "invalid instruction"),
        ("jr $30", "jump outside the program"),
        ("lis $4\n0x1000\njr $4", "jump outside the program"),
        ("lis $4\n2\njr $4", "jump outside the program"),
        ("beq $0, $0, -2", "jump outside the program"),
    ],
)
def test_faults(text: str, reason: str) -> None:
    found = outcome(text)
    assert (found.status, found.reason) == (Status.ABORTED, reason)


def test_code_that_was_stored_to_runs_as_stored() -> None:
    text = "lw $4, 16($0)\nsw $4, 8($0)\nadd $3, $1, $1\njr $31\nsub $3, $1, $2\njr $31"
    assert outcome(text, 9, 4).registers["$3"] == 5


def test_code_that_was_written_outside_the_program_runs() -> None:
    text = """
    lis $6
    .word 0x1000
    lis $4
    add $3, $1, $2
    sw $4, 0($6)
    lis $4
    jr $31
    sw $4, 4($6)
    jr $6
    """
    assert outcome(text, 9, 4).registers["$3"] == 13


def test_steps_trace_and_fuel() -> None:
    text = "lis $4\n.word 5\nbeq $1, $2, end\nadd $3, $1, $2\nend: jr $31"
    found = outcome(text)
    assert (found.steps, found.trace) == (3, (0, 8, 16))
    assert outcome(text, fuel=3).status is Status.DONE
    assert outcome(text, fuel=2).status is Status.OUT_OF_FUEL
    assert outcome("x: beq $0, $0, x").status is Status.OUT_OF_FUEL


def test_only_the_two_arguments_are_inputs() -> None:
    image = assemble("lw $3, -4($30)\nadd $3, $3, $4", "p.asm")
    found = run(image, 0, Inputs({"$4": 5, "$30": 0}, memory={0xFF_FFFC: 7}, fill_seed=3), 10)
    assert found.registers["$3"] == 0
    assert found.registers["$30"] == 0x0100_0000
    assert not found.writes


def test_figure_8_reaches_its_labels_by_a_computed_jump() -> None:
    image = load_text("cs241", PAIRS / "figure8.asm")

    def at(first: int, second: int) -> Outcome:
        return run(image, 0, Inputs({"$1": first, "$2": second}), 100)

    good, bad = 8, 16
    assert at(3, good - 3).registers["$3"] == 8
    assert at(3, bad - 3).registers["$3"] == 6
    assert at(HOME - 1, 1).status is Status.DONE
    assert at(1, 1).reason == "jump outside the program"
    assert at(good, 1).reason == "jump outside the program"
    assert at(0, 0).status is Status.OUT_OF_FUEL
