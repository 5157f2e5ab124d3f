"""The cs241 lifter against the plain interpreter, which shares no code with it."""

from __future__ import annotations

import random
from functools import partial
from itertools import pairwise

import pytest
from microop_evaluator import Evaluator

from isoform.check.cs241 import run
from isoform.isa.cs241.machine import (
    FIELD_SHIFTS,
    MACHINE,
    MEMORY_SIZE,
    OPERATIONS,
    RETURN_ADDRESS,
    decode,
    operation_name,
)
from isoform.isa.registry import machine
from isoform.lift.lift import lift
from isoform.load.image import Image, Section
from isoform.load.text import assemble_text
from isoform.model.microop import ABORT_REASONS, Kind, MicroOp
from isoform.model.outcome import Inputs, Status
from isoform.run.compile import compile_function
from isoform.run.runner import RunOptions
from isoform.run.runner import run as run_lifted

assemble = partial(assemble_text, "cs241")

EDGES = (0, 1, 2, 3, 4, 8, 42, 0x7FFF_FFFF, 0x8000_0000, 0x8000_0001, 0xFFFF_FFFF, MEMORY_SIZE - 4, MEMORY_SIZE)


def image_of(words: list[int]) -> Image:
    data = b"".join(word.to_bytes(4, "big") for word in words)
    return Image("words.asm", "cs241", (Section(".text", 0, data, len(data), True, True),), ())


def random_words(rng: random.Random) -> list[int]:
    """Instructions over a few registers, so that values meet. Stores go above the program: a lifter need not
    run modified code."""
    words: list[int] = []
    length = rng.randint(1, 14)
    while len(words) < length:
        name = rng.choice(list(OPERATIONS))
        register = {letter: rng.choice((0, 1, 2, 3, 4, 5, 30, 31)) for letter in "dst"}
        immediate = rng.choice((0, 4, 8, -4, -8, 1, 2, 3, 100, 0x7FFC, -0x8000))
        if name == "sw":
            register["s"], immediate = rng.choice((30, 4)), rng.choice((-4, -8, -0x8000, 0x4000))
        elif name in ("beq", "bne"):
            immediate = rng.randint(-3, length - len(words) + 1)
        fields = register | {"i": immediate & 0xFFFF}
        words.append(OPERATIONS[name].word | sum(fields[x] << FIELD_SHIFTS[x] for x in OPERATIONS[name].operands))
        if name == "lis":
            words.append(rng.choice((*EDGES, 4 * rng.randrange(length))))
    return [*words, OPERATIONS["jr"].word | 31 << 21]


def test_lifted_random_programs_do_what_the_interpreter_does() -> None:
    for seed in range(600):
        rng = random.Random(seed)
        words = random_words(rng)
        image = image_of(words)
        for _ in range(8):
            registers = {name: rng.choice((*EDGES, rng.getrandbits(32))) for name in ("$1", "$2")}
            evaluator = Evaluator(MACHINE, image, registers)
            found = evaluator.run(fuel=60)
            if any(evaluator.memory[address] != byte for address, byte in enumerate(image.sections[0].data)):
                continue  # it wrote over itself
            expected = run(image, 0, Inputs(registers), fuel=60)
            assert found == expected, f"seed {seed}, {registers}: {[hex(word) for word in words]}"


def lifted(text: str, address: int = 0) -> tuple[str, tuple[MicroOp, ...]]:
    instruction = decode(assemble(text, "one.asm").code_at(address), address)
    return instruction.text, instruction.ops


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("add $3, $1, $2", "add $3, $1, $2"),
        ("multu $1, $2", "multu $1, $2"),
        ("mfhi $7", "mfhi $7"),
        ("lw $3, -4($30)", "lw $3, -4($30)"),
        ("sw $4, 0, $5", "sw $4, 0($5)"),
        ("beq $1, $0, 2", "beq $1, $0, 0xc"),
        ("bne $1, $2, -1", "bne $1, $2, 0x0"),
        ("jalr $5", "jalr $5"),
        ("lis $5\n42", "lis $5; .word 42"),
        ("lis $5\n-1", "lis $5; .word -1"),
        ("lis $5\n0x12345678", "lis $5; .word 0x12345678"),
        (".word 0", ".word 0x00000000"),
    ],
)
def test_disassembly(line: str, text: str) -> None:
    assert lifted(line)[0] == text


def test_lis_takes_two_words() -> None:
    code = assemble("lis $5\n.word 42\n", "one.asm").code_at(0)
    assert decode(code, 0).length == 8
    (abort,) = decode(code[:7], 0).ops
    assert abort.kind is Kind.ABORT


def test_only_jr_31_is_a_return() -> None:
    assert [op.kind for op in lifted("jr $31")[1]] == [Kind.RETURN]
    assert [op.kind for op in lifted("jr $5")[1]] == [Kind.BRANCHIND]


def test_jalr_to_31_uses_its_old_value() -> None:
    copy, link, jump = lifted("jalr $31")[1]
    assert copy.ins == (MACHINE.registers["$31"],)
    assert link.out == MACHINE.registers["$31"]
    assert jump.ins == (copy.out,)


def test_branches_that_compare_a_register_with_itself_are_decided() -> None:
    assert [op.kind for op in lifted("beq $0, $0, 1")[1]] == [Kind.BRANCH]
    assert lifted("bne $4, $4, 1")[1] == ()


def test_a_load_into_register_zero_still_faults() -> None:
    kinds = [op.kind for op in lifted("lw $0, 0($1)")[1]]
    assert kinds.count(Kind.ABORT) == 2
    assert Kind.LOAD not in kinds


@pytest.mark.parametrize(
    "word",
    [0, 0x0022_1821, 0x0022_1860, 0x0022_1018 | 1 << 11, 0x03E0_0048, 0x0020_0812, 0xFFFF_FFFF, 0x2000_0000],
)
def test_words_that_are_no_instruction(word: int) -> None:
    assert operation_name(word) is None
    (abort,) = decode(word.to_bytes(4, "big"), 0).ops
    assert ABORT_REASONS[abort.ins[1].offset] == "invalid instruction"


def test_decode_never_raises_on_random_bytes() -> None:
    rng = random.Random(21)
    for _ in range(5000):
        code = rng.randbytes(rng.randrange(17))
        if rng.random() < 0.5:
            code = b"\0" + code[1:]
        assert decode(code, 4 * rng.randrange(100)).length > 0


def test_machine_is_registered_and_covers_its_registers() -> None:
    assert machine("cs241") is MACHINE
    assert set(MACHINE.containers) - set(MACHINE.initial) == {"$1", "$2"}
    assert MACHINE.initial["$30"] == 0x0100_0000
    assert MACHINE.initial["$31"] == RETURN_ADDRESS == 0x8123_456C
    spans = sorted((v.offset, v.offset + v.size) for v in MACHINE.container_vars())
    assert all(left[1] <= right[0] for left, right in pairwise(spans))


def test_the_runner_stops_where_the_program_runs_what_it_wrote() -> None:
    """Random programs that store instructions and jump to them: what the runner decides, the interpreter confirms."""
    decided = 0
    for seed in range(1000):
        rng = random.Random(seed)
        image = image_of(_writing_words(rng))
        program = compile_function(lift(image, MACHINE, "f", 0))
        for _ in range(4):
            inputs = Inputs({"$1": 4 * rng.randrange(24), "$2": rng.randrange(3)})
            outcome = run_lifted(program, inputs, RunOptions(fuel=200))
            if outcome.status not in (Status.DONE, Status.ABORTED):
                continue
            expected = run(image, 0, inputs, fuel=1000)
            assert outcome.status is expected.status, f"seed {seed}"
            assert outcome.status is Status.ABORTED or outcome.registers["$3"] == expected.registers["$3"], (
                f"seed {seed}"
            )
            decided += 1
    assert decided > 100


def _writing_words(rng: random.Random) -> list[int]:
    def word(name: str, **fields: int) -> int:
        letters = OPERATIONS[name].operands
        return OPERATIONS[name].word | sum(fields[x] << FIELD_SHIFTS[x] for x in letters)

    instructions = [word("add", d=3, s=1, t=0), word("jr", s=31), word("div", s=0, t=0), word("jr", s=5), 0]
    choices = (
        lambda: [word("lis", d=rng.choice((4, 5))), rng.choice(instructions)],
        lambda: [word("lis", d=rng.choice((5, 6))), 4 * rng.randrange(24)],
        lambda: [word("sw", t=rng.choice((1, 4, 5)), i=4 * rng.randrange(24), s=rng.choice((0, 1, 6)))],
        lambda: [word("jr", s=rng.choice((1, 5, 6, 31)))],
        lambda: [word("bne", s=1, t=2, i=rng.randrange(8))],
    )
    return [each for _ in range(rng.randint(4, 9)) for each in rng.choice(choices)()]


def test_memory_outside_the_program_is_zero_for_the_runner_too() -> None:
    """Whatever the inputs say: on this machine memory is no input."""
    image = assemble("lw $3, 0($1)\njr $31", "p.asm")
    inputs = Inputs({"$1": 0x10_0000}, memory={0x10_0000 + n: 7 for n in range(4)}, fill_seed=3)
    program = compile_function(lift(image, MACHINE, "p", 0))
    assert run_lifted(program, inputs, RunOptions()).registers["$3"] == 0
    assert run(image, 0, inputs, 10).registers["$3"] == 0
