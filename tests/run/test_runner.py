"""Concrete runs: how they end, what they leave behind, and what they note on the way."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from assembled import lifted, source
from isoform.borders.question import Options
from isoform.borders.settle import settle
from isoform.check import toy
from isoform.isa.toy.machine import MACHINE, OPERATIONS
from isoform.lift.lift import lift
from isoform.load.text import assemble_text
from isoform.model.outcome import RETURN_ADDRESS, STACK_POINTER, CallEffect, CallKey, Inputs, Outcome, Status
from isoform.run.compile import compile_function
from isoform.run.runner import RunOptions, run, run_traced

FUNCTIONS = {
    "adds": "lea eax, [rdi+rsi]; ret",
    "divides": "mov eax, edi; cdq; idiv esi; ret",
    "spins": "1: jmp 1b",
    "counts": "xor eax, eax; 1: inc eax; dec edi; jne 1b; ret",
    "writes": "mov dword ptr [rsp-8], 7; mov eax, dword ptr [rsp-8]; mov byte ptr [rdi+1], al; ret",
    "reads": "movzx eax, word ptr [rdi]; ret",
    "traps": "ud2",
    "calls": "sub rsp, 8; mov edi, 5; call outside; add eax, 1; add rsp, 8; ret",
    "returns_elsewhere": "mov qword ptr [rsp], 64; ret",
    "undefined": "xor eax, eax; bsf eax, edi; mov eax, 0; seto al; ret",
    "keeps_rbx": "push rbx; mov ebx, 9; mov eax, ebx; pop rbx; ret",
    "computed": "lea rax, [rip+1f]; jmp rax; 2: mov eax, 3; ret; 1: mov eax, 4; ret",
}
BUFFER = 0x200000


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return source(tmp_path_factory.mktemp("runner"), FUNCTIONS)


def outcome(file: Path, name: str, inputs: Inputs, **options: object) -> Outcome:
    return run(compile_function(lifted(file, name)), inputs, RunOptions(**options))  # type: ignore[arg-type]


def test_a_run_that_returns(file: Path) -> None:
    found = outcome(file, "adds", Inputs({"rdi": 40, "rsi": 2}))
    assert found.status is Status.DONE
    assert found.registers["rax"] == 42
    assert found.return_target == RETURN_ADDRESS
    assert found.registers["rsp"] == STACK_POINTER + 8
    assert (found.writes, found.calls) == ({}, ())


@pytest.mark.parametrize("divisor", [0, 0xFFFF_FFFF])
def test_a_fault_ends_the_run(file: Path, divisor: int) -> None:
    """Division by zero, and of the smallest number by -1."""
    found = outcome(file, "divides", Inputs({"rdi": 0x8000_0000, "rsi": divisor}))
    assert found.status is Status.ABORTED
    assert "divi" in found.reason


def test_an_undefined_instruction_aborts(file: Path) -> None:
    assert outcome(file, "traps", Inputs({})).status is Status.ABORTED


def test_fuel_ends_what_does_not_stop(file: Path) -> None:
    found = outcome(file, "spins", Inputs({}), fuel=50)
    assert found.status is Status.OUT_OF_FUEL
    assert found.steps <= 51


@pytest.mark.parametrize("iterations", [1, 2, 30])
def test_steps_are_counted(file: Path, iterations: int) -> None:
    steps = 1 + 3 * iterations + 1
    assert outcome(file, "counts", Inputs({"rdi": iterations})).steps == steps
    assert outcome(file, "counts", Inputs({"rdi": iterations}), fuel=steps).status is Status.DONE
    assert outcome(file, "counts", Inputs({"rdi": iterations}), fuel=steps - 2).status is Status.OUT_OF_FUEL


def test_writes_outside_the_frame_are_left_behind(file: Path) -> None:
    found = outcome(file, "writes", Inputs({"rdi": BUFFER}))
    assert found.registers["rax"] == 7
    assert found.writes == {BUFFER + 1: 7}


def test_what_is_written_as_it_was_is_no_write(file: Path) -> None:
    assert outcome(file, "writes", Inputs({"rdi": BUFFER}, {BUFFER + 1: 7})).writes == {}


def test_reads_are_noted_where_asked(file: Path) -> None:
    inputs = Inputs({"rdi": BUFFER}, {BUFFER: 0x34, BUFFER + 1: 0x12})
    assert outcome(file, "reads", inputs).reads == {}
    found = outcome(file, "reads", inputs, record_reads=True)
    assert found.registers["rax"] == 0x1234
    assert found.reads == {BUFFER: 0x34, BUFFER + 1: 0x12}


def test_memory_that_is_not_given_is_filled(file: Path) -> None:
    zeros = outcome(file, "reads", Inputs({"rdi": BUFFER}))
    filled = [outcome(file, "reads", Inputs({"rdi": BUFFER}, fill_seed=seed)).registers["rax"] for seed in (1, 1, 2)]
    assert zeros.registers["rax"] == 0
    assert filled[0] == filled[1] != filled[2]


def test_an_outside_call_is_noted_and_gives_what_is_given(file: Path) -> None:
    function = lifted(file, "calls")
    program = compile_function(function)
    callees = settle(function, function, Options(signature="int calls(void)")).callees
    nothing = run(program, Inputs({}), RunOptions(), callees)
    assert [(call.callee, call.arguments[0]) for call in nothing.calls] == [("outside", 5)]
    assert nothing.registers["rax"] == 1
    key = CallKey("outside", nothing.calls[0].arguments, 0)
    effects = {key: CallEffect({"rax": 41}, {BUFFER: 9})}
    given = run(program, Inputs({}, call_results=effects), RunOptions(), callees)
    assert given.registers["rax"] == 42
    assert given.writes == {BUFFER: 9}


def test_a_return_to_another_place_is_seen(file: Path) -> None:
    found = outcome(file, "returns_elsewhere", Inputs({}))
    assert found.status is not Status.DONE or found.return_target == 64


def test_what_is_undefined_has_a_value_of_its_side(file: Path) -> None:
    seen = {outcome(file, "undefined", Inputs({"rdi": 6}, side_seed=seed)).registers["rax"] for seed in range(40)}
    assert seen == {0, 1}


def test_registers_are_restored(file: Path) -> None:
    found = outcome(file, "keeps_rbx", Inputs({"rbx": 77}))
    assert (found.registers["rax"], found.registers["rbx"]) == (9, 77)


def test_a_computed_jump_is_followed(file: Path) -> None:
    assert outcome(file, "computed", Inputs({})).registers["rax"] == 4


def test_the_trace_has_every_instruction(file: Path) -> None:
    function = lifted(file, "counts")
    found = run(compile_function(function), Inputs({"rdi": 3}), RunOptions(trace=True))
    first, *iterations, last = found.trace
    assert len(iterations) == 9
    assert [address for address in iterations if address == iterations[0]] == [iterations[0]] * 3
    assert first == function.entry.address < last


def test_a_traced_run_has_its_blocks_and_addresses(file: Path) -> None:
    program = compile_function(lifted(file, "writes"))
    traced = run_traced(program, Inputs({"rdi": BUFFER}), RunOptions())
    assert traced.outcome == run(program, Inputs({"rdi": BUFFER}), RunOptions())
    below = STACK_POINTER - 8
    assert [a for a in traced.touched if a in (below, BUFFER + 1)] == [below, below, BUFFER + 1]
    assert traced.abort == -1


def random_program(rng: random.Random) -> str:
    length = rng.randint(1, 12)
    lines = []
    for index in range(length):
        name = rng.choice(list(OPERATIONS))
        operands = {"x": rng.randrange(4), "y": rng.randrange(4), "c": rng.randrange(-3, 4)}
        operands["o"] = rng.randint(0, length - index - 1)
        lines.append(" ".join([name, *(str(operands[letter]) for letter in OPERATIONS[name].operands)]))
    return "\n".join(lines)


def test_lifted_and_compiled_programs_do_what_the_interpreter_does() -> None:
    """Constants folded, copies propagated and dead writes removed."""
    for seed in range(150):
        rng = random.Random(seed)
        text = random_program(rng)
        image = assemble_text("toy", text, "random.toy")
        program = compile_function(lift(image, MACHINE, "random", 0))
        for argument in (0, 1, 2, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF):
            expected = toy.run(image, 0, Inputs({"r0": argument}), 100)
            found = run(program, Inputs({"r0": argument}), RunOptions(fuel=100))
            assert found.status is expected.status, f"seed {seed}:\n{text}"
            assert found.registers["out"] == expected.registers["out"], f"seed {seed}:\n{text}"
