"""The Unicorn replay against the real CPU (through ctypes), and against what the manual says."""

from __future__ import annotations

import ctypes
import random
import subprocess
import sys
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from isoform.check.replay import independent_runner
from isoform.check.surroundings import Surroundings
from isoform.check.unicorn_x86 import run
from isoform.load.image import Image, Section
from isoform.model.callee import ArgumentPart, Callee, Callees, Given
from isoform.model.errors import Unsupported
from isoform.model.outcome import (
    RETURN_ADDRESS,
    STACK_POINTER,
    CallEffect,
    CallKey,
    CallRecord,
    Inputs,
    Outcome,
    Status,
    mixed_byte,
)

CODE = 0x401000
OUTSIDE = 0x700000
ZIG = (sys.executable, "-m", "ziglang", "cc")
COMPILERS = {"gcc-O0": ("gcc", "-O0"), "gcc-O2": ("gcc", "-O2"), "clang-O2": (*ZIG, "-O2", "-target", "x86_64-linux")}


def registers_of(callees: dict[str, tuple[str, ...]]) -> Callees:
    """Outside functions that take whole registers, by name, and give back one."""
    every = (1 << 64) - 1
    return lambda name: Callee(
        tuple(ArgumentPart(register, 0, 8, every, every) for register in callees.get(name, ())), (Given("rax", every),)
    )


def assembled(tmp_path: Path, text: str, **externals: int) -> Image:
    """The text, in GNU assembler's Intel syntax, linked at CODE; `externals` are its outside functions."""
    source, linked = tmp_path / "f.s", tmp_path / "f.elf"
    source.write_text(f".intel_syntax noprefix\n.text\n.globl _start\n_start:\n{text}\n")
    symbols = [f"-Wl,--defsym={name}={address}" for name, address in externals.items()]
    place = ("-static", "-nostdlib", f"-Wl,-Ttext={CODE:#x},--build-id=none", *symbols)
    subprocess.run(["gcc", *place, str(source), "-o", str(linked)], check=True, capture_output=True)
    return image_of(linked, externals)


def image_of(path: Path, externals: dict[str, int]) -> Image:
    with path.open("rb") as stream:
        sections = tuple(
            Section(s.name, s["sh_addr"], s.data(), s["sh_size"], bool(s["sh_flags"] & 1), bool(s["sh_flags"] & 4))
            for s in ELFFile(stream).iter_sections()
            if s["sh_flags"] & 2 and s["sh_size"]
        )
    return Image(str(path), "x86_64", sections, (), {address: name for name, address in externals.items()})


def ran(tmp_path: Path, text: str, fuel: int = 1000, **registers: int) -> Outcome:
    return run(assembled(tmp_path, text), CODE, Inputs(registers), fuel, trace=True)


# --- against the real CPU ---

C_FUNCTIONS = r"""
typedef unsigned long u64; typedef unsigned u32;
u64 arithmetic(u64 a, u64 b) { return a * 31 + (b ^ (a >> 7)) - (u32)b * 3u; }
u64 signed_division(u64 a, u64 b) {
    int n = (int)a, d = (int)b | 1;
    return d == -1 ? 3 : (u64)(u32)(n / d + n % d);
}
u64 bits(u64 a, u64 b) {
    return __builtin_popcountl(a) + 64 * (b ? __builtin_ctzl(b) : 7) + (b ? __builtin_clzl(b) : 9);
}
u64 wide(u64 a, u64 b) { return (u64)(((unsigned __int128)a * b) >> 64); }
u64 loop(u64 a, u64 b) { u64 h = 5; for (u32 i = 0; i < (a & 15); i++) h = h * 33 + (b >> i); return h; }
u64 select(u64 a, u64 b) {
    switch (a & 7) {
    case 0: return b;
    case 1: return b + 9;
    case 2: return b * b;
    case 3: return ~b;
    case 4: return b >> 3;
    case 5: return 1;
    default: return a;
    }
}
u64 local(u64 a, u64 b) {
    volatile unsigned char t[300];
    for (int i = 0; i < 300; i++) t[i] = a >> (i & 7);
    return t[b % 300];
}
u64 lanes(u64 a, u64 b) {
    u32 x[16]; u64 s = 0;
    for (int i = 0; i < 16; i++) x[i] = a * i + b;
    for (int i = 0; i < 16; i++) s += x[i] ^ 5;
    return s;
}
u64 real(u64 a, u64 b) { return (u64)((double)(a >> 40) * 1.5 + (double)(b >> 41) / 3.0); }
"""
NAMES = [line.split("(")[0].removeprefix("u64 ") for line in C_FUNCTIONS.splitlines() if line.startswith("u64 ")]


@pytest.mark.parametrize("compiler", COMPILERS.values(), ids=COMPILERS.keys())
def test_compiled_functions_give_what_the_real_cpu_gives(tmp_path: Path, compiler: tuple[str, ...]) -> None:
    source, compiled, library = tmp_path / "f.c", tmp_path / "f.o", tmp_path / "f.so"
    source.write_text(C_FUNCTIONS)
    options = ("-c", "-fPIC", "-g0", "-fno-sanitize=all")
    subprocess.run([*compiler, *options, str(source), "-o", str(compiled)], check=True, capture_output=True)
    subprocess.run(["gcc", "-shared", str(compiled), "-o", str(library)], check=True, capture_output=True)
    native = ctypes.CDLL(str(library))
    image = image_of(library, {})
    with library.open("rb") as stream:
        table = ELFFile(stream).get_section_by_name(".dynsym")
        entries = {name: table.get_symbol_by_name(name)[0]["st_value"] for name in NAMES}
    numbers = random.Random(20)
    for name in NAMES:
        function = getattr(native, name)
        function.restype, function.argtypes = ctypes.c_uint64, (ctypes.c_uint64, ctypes.c_uint64)
        for _ in range(12):
            a, b = (numbers.choice([numbers.getrandbits(64), numbers.getrandbits(8), 2**64 - 1, 0]) for _ in "ab")
            outcome = run(image, entries[name], Inputs({"rdi": a, "rsi": b}, fill_seed=3, side_seed=4), 10_000)
            assert outcome.status is Status.DONE, (name, outcome)
            assert outcome.return_target == RETURN_ADDRESS
            assert outcome.registers["rax"] == function(a, b), f"{name}({a:#x}, {b:#x}), seed 20"
            assert outcome.registers["rsp"] == STACK_POINTER + 8
            assert not outcome.writes


# --- registers, flags, memory ---


def test_all_containers_go_in_and_come_out(tmp_path: Path) -> None:
    given = {"rbx": 7, "r15": 2**64 - 1, "xmm3": 2**127 + 5, "ymm3h": 99, "cf": 1, "of": 1, "zf": 0, "df": 1, "af": 1}
    outcome = run(assembled(tmp_path, "ret"), CODE, Inputs({**given, "no_such_register": 5}), 10)
    assert {name: outcome.registers[name] for name in given} == given
    assert outcome.steps == 1


def test_an_instruction_between_sees_and_sets_flags(tmp_path: Path) -> None:
    outcome = ran(tmp_path, "adc rax, 0; ret", cf=1, rax=2**64 - 1)
    assert (outcome.registers["rax"], outcome.registers["cf"], outcome.registers["zf"]) == (0, 1, 1)


def test_the_first_touch_of_a_page_keeps_flags_and_is_done_once(tmp_path: Path) -> None:
    text = "cmp rdi, rsi; mov rax, [r8]; setb cl; stc; adc qword ptr [r9], 5; setz dl; lock xadd [r10], rbx; ret"
    given = {"rdi": 1, "rsi": 2, "r8": 0x20FFC, "r9": 0x30FFE, "r10": 0x40FFA, "rbx": 6}
    outcome = run(assembled(tmp_path, text), CODE, Inputs(given, {0x40FFA: 4}), 20)
    assert (outcome.registers["rcx"], outcome.registers["rdx"], outcome.registers["rbx"]) == (1, 0, 4)
    assert outcome.writes == {0x30FFE: 6, 0x40FFA: 10}


@pytest.mark.parametrize("address", [0, 8, 0xFFC, 0x1234_5678_9ABC_DEF0, 2**63 - 4, 2**64 - 8, 0xFFFF_8000_0000_0FFF])
def test_any_64_bit_address_can_be_used(tmp_path: Path, address: int) -> None:
    image = assembled(tmp_path, "mov rax, [rdi]; mov dword ptr [rdi], 0x11223344; ret")
    given = {address + n: n + 1 for n in range(8)}
    outcome = run(image, CODE, Inputs({"rdi": address}, given), 10)
    assert outcome.registers["rax"] == 0x0807060504030201
    assert outcome.writes == {address: 0x44, address + 1: 0x33, address + 2: 0x22, address + 3: 0x11}


def test_memory_not_given_is_the_fill_and_the_frame_is_this_sides_own(tmp_path: Path) -> None:
    image = assembled(tmp_path, "mov al, [rdi]; mov cl, [rsp - 1]; mov dl, [rsp + 8]; ret")
    outcome = run(image, CODE, Inputs({"rdi": 0x5005}, fill_seed=11, side_seed=12), 10)
    seen = [outcome.registers[name] & 0xFF for name in ("rax", "rcx", "rdx")]
    expected = [mixed_byte(11, 0x5005), mixed_byte(12, STACK_POINTER - 1), mixed_byte(11, STACK_POINTER + 8)]
    assert seen == expected
    assert len(set(expected)) > 1


def test_a_write_that_restores_the_old_value_is_none_and_the_frame_is_not_reported(tmp_path: Path) -> None:
    outcome = ran(
        tmp_path, "mov byte ptr [rdi], 0; mov qword ptr [rsp - 64], 5; mov byte ptr [rsp + 8], 1; ret", rdi=64
    )
    assert outcome.writes == {STACK_POINTER + 8: 1}
    image = assembled(tmp_path, "mov byte ptr [rsp + 8], 1; ret")
    assert run(image, CODE, Inputs({}), 10, around=Surroundings(stack_argument_bytes=8)).writes == {}


def test_read_only_sections_are_constants_and_writable_ones_are_inputs(tmp_path: Path) -> None:
    text = """mov eax, [rip + constant]; mov edx, [rip + variable]; mov ecx, [rip + zero]; ret
        .section .rodata
        constant: .long 0x1234
        .data
        variable: .long 0x77
        .bss
        zero: .space 4"""
    image = assembled(tmp_path, text)
    variable = next(s.address for s in image.sections if s.name == ".data")
    outcome = run(image, CODE, Inputs({}, {variable: 9}), 10)
    assert [outcome.registers[name] for name in ("rax", "rdx", "rcx")] == [0x1234, 9, 0]


def test_nothing_leaks_from_one_run_to_the_next(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    first = assembled(tmp_path / "one", "mov qword ptr [rdi], 5; fld1; movq xmm0, rdi; mov eax, 1; ret")
    second = assembled(tmp_path / "two", "fnstsw ax; movzx edx, ax; mov rax, [rdi]; movq rcx, xmm0; ret")
    run(first, CODE, Inputs({"rdi": 0x9000, "rbx": 3}), 10)
    outcome = run(second, CODE, Inputs({"rdi": 0x9000}), 10)
    assert [outcome.registers[name] for name in ("rax", "rcx", "rdx", "rbx")] == [0, 0, 0, 0]


def test_too_much_memory_is_unsupported(tmp_path: Path) -> None:
    outcome = ran(
        tmp_path, "again: mov byte ptr [rdi], 1; add rdi, 0x1000; jmp again", fuel=100_000, rdi=0x10_0000_0000
    )
    assert outcome.status is Status.UNSUPPORTED
    assert "pages" in outcome.reason


# --- how a run ends ---


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("xor ecx, ecx; div rcx", "division fault"),
        ("mov rdx, 5; mov rcx, 1; div rcx", "division fault"),
        ("mov eax, 0x80000000; mov edx, -1; mov ecx, -1; idiv ecx", "division fault"),
        ("ud2", "undefined instruction"),
        ("int3", "trap"),
    ],
)
def test_faults_abort(tmp_path: Path, text: str, reason: str) -> None:
    outcome = ran(tmp_path, text + "; ret")
    assert (outcome.status, outcome.reason) == (Status.ABORTED, reason)


def test_fuel_counts_instructions(tmp_path: Path) -> None:
    outcome = ran(tmp_path, "again: jmp again", fuel=77)
    assert (outcome.status, outcome.steps) == (Status.OUT_OF_FUEL, 77)
    assert ran(tmp_path, "nop; nop; ret", fuel=3).status is Status.DONE
    assert ran(tmp_path, "nop; nop; ret", fuel=2).status is Status.OUT_OF_FUEL


def test_a_string_instruction_is_one_step(tmp_path: Path) -> None:
    outcome = ran(tmp_path, "mov ecx, 500; mov al, 1; rep stosb; ret", rdi=0x7000)
    assert (outcome.steps, len(outcome.writes)) == (4, 500)
    assert outcome.trace == (CODE, CODE + 5, CODE + 7, CODE + 9)


def test_an_endless_string_instruction_ends(tmp_path: Path) -> None:
    assert ran(tmp_path, "again: mov ecx, 400000; mov rdi, r8; rep stosb; jmp again").status is Status.OUT_OF_FUEL


@pytest.mark.parametrize("target", [0x5000, STACK_POINTER + 0x100, 2**64 - 16, 0])
def test_leaving_the_code_ends_the_run_there(tmp_path: Path, target: int) -> None:
    outcome = ran(tmp_path, "mov [rdi], rax; push rax; jmp rdi", rdi=target)
    assert (outcome.status, outcome.return_target) == (Status.DONE, target)


def test_leaving_with_the_stack_as_at_entry_is_a_tail_call(tmp_path: Path) -> None:
    outcome = ran(tmp_path, "jmp rdi", rdi=0x5000)
    assert (outcome.status, outcome.return_target) == (Status.DONE, RETURN_ADDRESS)
    assert outcome.calls == (CallRecord("through a pointer", (0x5000,)),)


def test_the_trace_is_the_path_taken(tmp_path: Path) -> None:
    text = "test edi, edi; je zero; nop; zero: ret"
    assert ran(tmp_path, text, rdi=0).trace == (CODE, CODE + 2, CODE + 5)
    assert ran(tmp_path, text, rdi=1).trace == (CODE, CODE + 2, CODE + 4, CODE + 5)


@pytest.mark.parametrize(
    "text",
    [
        "vpaddd xmm0, xmm1, xmm2",
        "vaddps ymm0, ymm1, ymm2",
        "cpuid",
        "rdtsc",
        "syscall",
        "int 0x80",
        "hlt",
        "in al, dx",
        "mov rax, cr0",
        "mov ax, fs",
        "mov ds, ax",
        "pushfq",
        ".byte 0x06",
        "pdep rsi, rsi, rdi",
        "cmpxchg ecx, edx",
    ],
)
def test_what_the_model_makes_up_is_refused(tmp_path: Path, text: str) -> None:
    outcome = ran(tmp_path, text + "; ret")
    assert outcome.status is Status.UNSUPPORTED, text
    assert outcome.reason


def test_bit_manipulation_is_not_refused(tmp_path: Path) -> None:
    outcome = ran(tmp_path, "lzcnt rax, rdi; andn rcx, rdi, rsi; mulx r8, r9, rsi; blsr rsi, rsi; ret", rdi=1, rsi=3)
    assert [outcome.registers[name] for name in ("rax", "rcx", "rsi")] == [63, 2, 2]


def test_self_modifying_code_is_refused(tmp_path: Path) -> None:
    outcome = ran(tmp_path, "lea rax, [rip + end]; mov byte ptr [rax + 1], 0xc3; end: nop; nop; ret")
    assert outcome.status is Status.UNSUPPORTED
    assert "own code" in outcome.reason


def test_the_canary_is_read_but_no_pointer_reaches_it(tmp_path: Path) -> None:
    outcome = ran(
        tmp_path,
        "mov rax, fs:[0x28]; mov rcx, [rdi]; sub rax, fs:[0x28]; mov rdx, fs:[0x28]; ret",
        rdi=0x28,
        canary=0xABCD,
    )
    assert [outcome.registers[name] for name in ("rax", "rcx", "rdx")] == [0, 0, 0xABCD]
    assert not outcome.writes


def test_segment_bases(tmp_path: Path) -> None:
    image = assembled(tmp_path, "mov rax, fs:[0x10]; mov rcx, gs:[8]; ret")
    outcome = run(image, CODE, Inputs({"fs_offset": 0x8000, "gs_offset": 0x9000}, {0x8010: 1, 0x9008: 2}), 10)
    assert (outcome.registers["rax"], outcome.registers["rcx"]) == (1, 2)


# --- outside calls ---


def test_an_outside_call_is_recorded_answered_and_leaves_scratch_registers_open(tmp_path: Path) -> None:
    image = assembled(tmp_path, "push rbx; mov edi, 5; call outside; pop rbx; ret", outside=OUTSIDE)
    inputs = Inputs(
        {"rbx": 3, "rsi": 9}, side_seed=7, call_results={CallKey("outside", (5, 9), 0): CallEffect({"rax": 42})}
    )
    outcome = run(image, CODE, inputs, 10, trace=True, around=Surroundings(registers_of({"outside": ("rdi", "rsi")})))
    assert outcome.calls == (CallRecord("outside", (5, 9)),)
    assert (outcome.registers["rax"], outcome.registers["rbx"], outcome.return_target) == (42, 3, RETURN_ADDRESS)
    assert outcome.registers["rdi"] != 5
    assert OUTSIDE not in outcome.trace
    other = run(image, CODE, Inputs({"rbx": 3, "rsi": 9}, side_seed=8), 10, around=Surroundings(registers_of({})))
    assert other.registers["rsi"] != outcome.registers["rsi"]
    assert other.calls == (CallRecord("outside", ()),)
    assert other.registers["rax"] == 0
    assert other.registers["rdx"] != 0


def test_bits_beside_the_result_are_each_sides_own(tmp_path: Path) -> None:
    image = assembled(tmp_path, "call outside; ret", outside=OUTSIDE)
    callee = Callee((), (Given("rax", 0xFF, zeros=0xFE),))
    inputs = [
        Inputs({}, side_seed=seed, call_results={CallKey("outside", (), 0): CallEffect({"rax": 3})}) for seed in (7, 8)
    ]
    results = [run(image, CODE, i, 10, around=Surroundings(lambda _: callee)).registers["rax"] for i in inputs]
    assert [result & 0xFF for result in results] == [1, 1]
    assert results[0] != results[1]


def test_a_tail_call_returns_to_the_caller(tmp_path: Path) -> None:
    image = assembled(tmp_path, "jmp outside", outside=OUTSIDE)
    outcome = run(image, CODE, Inputs({}), 10)
    assert (outcome.status, outcome.return_target, len(outcome.calls)) == (Status.DONE, RETURN_ADDRESS, 1)


def test_a_function_that_does_not_return_ends_the_run(tmp_path: Path) -> None:
    image = assembled(tmp_path, "mov byte ptr [rdi], 1; call abort", abort=OUTSIDE)
    outcome = run(image, CODE, Inputs({"rdi": 64}), 10, around=Surroundings(lambda _: Callee((), (), returns=False)))
    assert (outcome.status, outcome.reason, outcome.writes) == (Status.EXITED, "abort", {64: 1})


def test_a_shared_function_address_leads_to_this_images_code(tmp_path: Path) -> None:
    image = assembled(tmp_path, "call rdi; add eax, 1; ret; other: mov eax, 6; ret")
    aliased = Image(image.path, image.machine, image.sections, (), aliases={0x900000: CODE + 6})
    assert run(aliased, CODE, Inputs({"rdi": 0x900000}), 20).registers["rax"] == 7


def test_an_alias_that_leads_nowhere_ends(tmp_path: Path) -> None:
    image = assembled(tmp_path, "jmp rdi")
    aliased = Image(image.path, image.machine, image.sections, (), aliases={0x900000: 0x900000})
    assert run(aliased, CODE, Inputs({"rdi": 0x900000}), 20).status is Status.OUT_OF_FUEL


def test_a_call_through_a_pointer_to_nowhere_is_an_outside_call(tmp_path: Path) -> None:
    image = assembled(tmp_path, "call rdi; add eax, 1; ret")
    inputs = Inputs(
        {"rdi": 0x900000}, call_results={CallKey("through a pointer", (0x900000, 0x900000), 0): CallEffect({"rax": 41})}
    )
    outcome = run(image, CODE, inputs, 20, around=Surroundings(registers_of({"": ("rdi",)})))
    assert outcome.calls == (CallRecord("through a pointer", (0x900000, 0x900000)),)
    assert (outcome.registers["rax"], outcome.return_target) == (42, RETURN_ADDRESS)


def test_own_functions_can_count_as_outside(tmp_path: Path) -> None:
    image = assembled(tmp_path, "call own; add eax, 1; ret; own: mov eax, 6; ret")
    own = CODE + 9
    assert run(image, CODE, Inputs({}), 20).registers["rax"] == 7
    outcome = run(
        image,
        CODE,
        Inputs({}, call_results={CallKey("own", (), 0): CallEffect({"rax": 10})}),
        20,
        around=Surroundings(registers_of({}), outside={own: "own"}),
    )
    assert (outcome.registers["rax"], outcome.calls) == (11, (CallRecord("own", ()),))
    recursive = run(image, CODE, Inputs({}), 20, around=Surroundings(outside={CODE: "f"}))
    assert (recursive.registers["rax"], recursive.calls) == (7, ())


# --- linked files, whose code names its own addresses ---

GLOBALS = """lea rax, [rip + table]; mov ecx, [rax + 4]; mov edx, [rip + variable]; mov dword ptr [rip + variable], 0x77
    mov edi, offset table; mov esi, [table + r9*4]; ret
    .section .rodata
    .balign 64
    table: .long 5, 6
    .data
    .balign 64
    variable: .long 0x11"""


def test_moved_objects_are_used_at_their_shared_address(tmp_path: Path) -> None:
    image = assembled(tmp_path, GLOBALS)
    table, variable = (next(s for s in image.sections if s.name == name) for name in (".rodata", ".data"))
    moved = sorted([(table.address, table.end, 0x600100), (variable.address, variable.end, 0x600200)])
    shared = Image(image.path, image.machine, image.sections, (), moved=tuple(moved))
    outcome = run(shared, CODE, Inputs({"r9": 1}, {0x600200: 9}), 20, trace=True)
    seen = [outcome.registers[name] for name in ("rax", "rcx", "rdx", "rdi", "rsi")]
    assert (outcome.status, seen) == (Status.DONE, [0x600100, 6, 9, 0x600100, 6])
    assert outcome.writes == {0x600200: 0x77}
    assert (outcome.steps, len(outcome.trace)) == (7, 7)


def test_a_shared_address_out_of_reach_is_unsupported(tmp_path: Path) -> None:
    image = assembled(tmp_path, GLOBALS)
    table = next(s for s in image.sections if s.name == ".rodata")
    shared = Image(image.path, image.machine, image.sections, (), moved=((table.address, table.end, 1 << 40),))
    assert run(shared, CODE, Inputs({}), 20).status is Status.UNSUPPORTED


def test_an_instruction_with_an_unknown_field_is_unsupported(tmp_path: Path) -> None:
    image = assembled(tmp_path, "nop; mov eax, 5; ret")
    broken = Image(image.path, image.machine, image.sections, (), broken={CODE + 2: "the reference is odd"})
    outcome = run(broken, CODE, Inputs({}), 20)
    assert (outcome.status, outcome.reason) == (Status.UNSUPPORTED, "the reference is odd")


def test_the_registry_names_the_model() -> None:
    assert independent_runner("x86_64") == ("unicorn", run)
    for machine, title in (("toy", "toy interpreter"), ("cs241", "cs241 interpreter")):
        name, runner = independent_runner(machine)
        section = Section(".text", 0, b"\xff" * 8, 8, False, True)
        outcome = runner(Image("p", machine, (section,), ()), 0, Inputs({}), 5, around=Surroundings(registers_of({})))
        assert (name, outcome.status) == (title, Status.ABORTED)
    with pytest.raises(Unsupported, match="vax"):
        independent_runner("vax")
