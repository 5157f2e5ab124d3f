"""Which registers matter at entry: those that some path reads before it writes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from assembled import lifted, source
from isoform.lift.function import Call, Function
from isoform.lift.liveness import Liveness, output_containers, sources
from isoform.model.microop import Kind, MicroOp, Space, Var, const

FUNCTIONS = {
    "adds": "lea eax, [rdi+rsi]; ret",
    "unread": "xor edi, edi; mov eax, edi; ret",
    "one_path": "test edi, edi; je 1f; mov eax, esi; ret; 1: mov eax, 1; ret",
    "other_path": "test edi, edi; je 1f; mov esi, 5; 1: mov eax, esi; ret",
    "low_byte": "mov al, 1; ret",
    "low_half": "mov eax, 1; ret",
    "loop": "xor eax, eax; 1: add eax, edx; dec edi; jne 1b; ret",
    "calls": "push rbx; mov ebx, r10d; call outside; mov eax, ebx; add eax, r11d; pop rbx; ret",
    "tail": "mov edi, 1; jmp outside",
    "stores": "mov dword ptr [rdi], esi; ret",
    "conditional": "mov eax, edi; test esi, esi; cmovne eax, edx; ret",
    "high_byte": "movzx eax, dh; ret",
    "recursive": "test edi, edi; je 1f; dec edi; sub rsp, 8; call recursive; add rsp, 8; ret; 1: mov eax, r10d; ret",
    "jumps": "lea r11, [rdi+rsi]; xor edi, edi; xor esi, esi; add rsp, 8; jmp r11",
    "asks": "mov eax, 39; syscall; lea eax, [rax+r11]; ret",
    "stops": "mov r11d, 3; call abort",
}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return source(tmp_path_factory.mktemp("liveness"), FUNCTIONS)


def liveness(function: Function, calls_read: bool = True) -> Liveness:
    return Liveness(function, output_containers(function.machine, ("rax",)), calls_read=calls_read)


def live_at_entry(function: Function, calls_read: bool = True) -> set[str]:
    found = liveness(function, calls_read)
    names = ("rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11")
    return {name for name in names if found.is_live_at_entry(function.machine.registers[name])}


@pytest.mark.parametrize(
    ("name", "live"),
    [
        ("adds", {"rdi", "rsi"}),
        ("unread", set()),
        ("one_path", {"rdi", "rsi"}),
        ("other_path", {"rdi", "rsi"}),
        ("low_byte", {"rax"}),
        ("low_half", set()),
        ("loop", {"rdi", "rdx"}),
        ("stores", {"rdi", "rsi", "rax"}),
        ("conditional", {"rdi", "rsi", "rdx"}),
        ("high_byte", {"rdx"}),
    ],
)
def test_what_the_code_reads(file: Path, name: str, live: set[str]) -> None:
    assert live_at_entry(lifted(file, name)) == live


def test_parts_of_a_register_are_told_apart(file: Path) -> None:
    low, high = lifted(file, "low_byte"), lifted(file, "high_byte")
    registers = low.machine.registers
    assert not liveness(low).is_live_at_entry(registers["al"])
    assert liveness(low).is_live_at_entry(registers["ah"])
    assert liveness(high).is_live_at_entry(registers["dh"])
    assert not liveness(high).is_live_at_entry(registers["dl"])


def test_a_call_reads_its_arguments_and_loses_scratch_registers(file: Path) -> None:
    """What r11 holds after the call is nothing that the caller gave."""
    function = lifted(file, "calls")
    assert live_at_entry(function) >= {"rdi", "rsi", "rdx", "rcx", "r8", "r9", "r10"}
    assert "r11" not in live_at_entry(function)
    assert live_at_entry(function, calls_read=False) == {"r10"}


def test_a_tail_call_reads_arguments_that_are_not_set_here(file: Path) -> None:
    assert "rsi" in live_at_entry(lifted(file, "tail"))
    assert "rdi" not in live_at_entry(lifted(file, "tail"))


def test_a_function_that_calls_itself_reads_there_what_it_reads_at_entry(file: Path) -> None:
    """r10 is no argument, and the inner call finds in it what the outer one left."""
    function = lifted(file, "recursive")
    block = next(b for b in function.blocks.values() if isinstance(b.exit, Call))
    found = liveness(function)
    assert found.live_out(block) & found.mask(function.machine.registers["r10"])


def test_code_behind_an_unknown_jump_may_read_every_register(file: Path) -> None:
    function = lifted(file, "jumps")
    assert live_at_entry(function) >= {"rdi", "rsi", "rdx", "r10"}
    assert live_at_entry(function, calls_read=False) == {"rdi", "rsi"}


def test_a_system_call_reads_its_arguments_and_loses_two_registers(file: Path) -> None:
    live = live_at_entry(lifted(file, "asks"))
    assert live >= {"rdi", "rsi", "rdx", "r10", "r8", "r9"}
    assert not live & {"rax", "rcx", "r11"}


def test_a_call_that_does_not_return_reads_its_arguments_only(file: Path) -> None:
    function = lifted(file, "stops")
    assert {"rdi", "rsi"} <= live_at_entry(function)
    assert not liveness(function).is_live_at_entry(function.machine.registers["rbx"])


def test_what_a_callee_must_restore_is_read_at_the_end(file: Path) -> None:
    function = lifted(file, "adds")
    assert liveness(function).is_live_at_entry(function.machine.registers["rbx"])


def test_dead_flags_are_removed_and_read_ones_stay(file: Path) -> None:
    dead, read = lifted(file, "adds"), lifted(file, "one_path")
    flag = read.machine.registers["zf"]
    assert not [op for block in dead.blocks.values() for op in block.ops if op.out == flag]
    assert [op for block in read.blocks.values() for op in block.ops if op.kind is Kind.INT_EQUAL]


def test_where_each_byte_of_a_move_comes_from() -> None:
    low, high = Var(Space.REGISTER, 0, 2), Var(Space.REGISTER, 8, 2)
    out = Var(Space.REGISTER, 16, 4)

    def byte(offset: int) -> Var:
        return Var(Space.REGISTER, offset, 1)

    assert sources(MicroOp(Kind.PIECE, out, (high, low))) == [byte(0), byte(1), byte(8), byte(9)]
    assert sources(MicroOp(Kind.INT_ZEXT, out, (low,))) == [byte(0), byte(1), None, None]
    assert sources(MicroOp(Kind.SUBPIECE, low, (out, const(2, 4)))) == [byte(18), byte(19)]
    assert sources(MicroOp(Kind.COPY, low, (const(0x1234, 2),))) == [const(0x34, 1), const(0x12, 1)]
