"""AVX-512 and the mask registers: decoded as an assembler encodes them, with the meaning of a plain model.

The encodings come from the system's assembler and a second disassembler, the meaning from `evex_model`: no processor
with AVX-512 and no CPU model that has it is needed.
"""

from __future__ import annotations

import random
import re
import shutil
from pathlib import Path

import pytest
from evex_cases import DATA, DATA_SIZE, Case, State, assemble, mask_cases, vector_cases
from evex_model import MODELS
from test_x86_symbolic import symbolic

from isoform.isa.registry import machine
from isoform.isa.x86_64.evex_lines import EVEX_LINES
from isoform.isa.x86_64.evex_table import ENTRIES
from isoform.isa.x86_64.registers import REGISTERS
from isoform.lift.cfg import control_flow_graph
from isoform.load.image import Image, Section
from isoform.model.evaluate import evaluate
from isoform.model.microop import Instruction, Kind, MicroOp, Space, Var
from isoform.model.outcome import Inputs, Status
from isoform.run.compile import compile_function
from isoform.run.runner import RunOptions, run

SEED = 50
CODE = 0x3000_0000
MACHINE = machine("x86_64")
needs_compiler = pytest.mark.skipif(not (shutil.which("cc") or shutil.which("gcc")), reason="no compiler here")


class Evaluator:
    """Micro-ops by the defining table, on a register file of bytes."""

    def __init__(self, state: State) -> None:
        self.registers = bytearray(0x4000)
        self.memory = bytearray(state.memory)
        self.temps: dict[int, int] = {}
        for name, value in containers(state).items():
            self.set(REGISTERS[name], value)

    def get(self, var: Var) -> int:
        if var.space is Space.REGISTER:
            return int.from_bytes(self.registers[var.offset : var.offset + var.size], "little")
        return self.temps[var.offset] if var.space is Space.TEMP else var.offset

    def set(self, var: Var, value: int) -> None:
        if var.space is Space.REGISTER:
            self.registers[var.offset : var.offset + var.size] = value.to_bytes(var.size, "little")
        else:
            self.temps[var.offset] = value

    def step(self, op: MicroOp) -> None:
        values = [self.get(var) for var in op.ins]
        if op.kind is Kind.STORE:
            start, size = values[0] - DATA, op.ins[1].size
            assert 0 <= start <= DATA_SIZE - size
            self.memory[start : start + size] = values[1].to_bytes(size, "little")
            return
        assert op.out is not None
        if op.kind is Kind.LOAD:
            start = values[0] - DATA
            assert 0 <= start <= DATA_SIZE - op.out.size
            self.set(op.out, int.from_bytes(self.memory[start : start + op.out.size], "little"))
        else:
            self.set(op.out, evaluate(op.kind, op.out.size, [var.size for var in op.ins], values))


def containers(state: State) -> dict[str, int]:
    vectors = {f"zmm{n}": value for n, value in enumerate(state.vectors)}
    return {**state.general, **state.flags, **vectors, **{f"k{n}": value for n, value in enumerate(state.masks)}}


def true_containers(state: State) -> dict[str, int]:
    """The same by the names that hold values of their own."""
    found = containers(state)
    for number in range(16):
        value = found.pop(f"zmm{number}")
        found[f"xmm{number}"] = value & (1 << 128) - 1
        found[f"ymm{number}h"] = value >> 128 & (1 << 128) - 1
        found[f"zmm{number}h"] = value >> 256
    return found


def decoded(case: Case) -> Instruction:
    instruction = MACHINE.decode(case.code + b"\x90" * 4, CODE)
    assert Kind.UNSUPPORTED not in {op.kind for op in instruction.ops}, f"{case.code.hex()} {case.text}"
    assert instruction.length == len(case.code), f"{case.code.hex()} {case.text} is read as {instruction.text}"
    return instruction


def check(case: Case) -> None:
    instruction = decoded(case)
    execution = Evaluator(case.before)
    for op in instruction.ops:
        execution.step(op)
    for name, value in containers(case.after).items():
        found = execution.get(REGISTERS[name])
        assert found == value, f"{case.code.hex()} {case.text}: {name} {found:#x} is {value:#x}"
    assert execution.memory == case.after.memory, f"{case.code.hex()} {case.text}"


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> list[Case]:
    rng = random.Random(SEED)
    drawn = vector_cases(rng, 3) + mask_cases(rng, 6)
    assemble(drawn, tmp_path_factory.mktemp("evex"))
    return drawn


def test_every_line_has_a_model() -> None:
    assert {line.split()[0].lower() for line in EVEX_LINES} == set(MODELS)


@needs_compiler
def test_every_form_means_what_the_model_says(cases: list[Case]) -> None:
    print(f"seed {SEED}")
    for case in cases:
        check(case)


@needs_compiler
@pytest.mark.long
def test_every_form_in_many_states(tmp_path: Path) -> None:
    print(f"seed {SEED + 1}")
    rng = random.Random(SEED + 1)
    drawn = vector_cases(rng, 40) + mask_cases(rng, 100)
    assemble(drawn, tmp_path)
    for case in drawn:
        check(case)


@needs_compiler
def test_the_compiled_runner_agrees(cases: list[Case]) -> None:
    for case in cases[::5]:
        section = Section("code", CODE, case.code + b"\xc3", len(case.code) + 1, writable=False, executable=True)
        function = control_flow_graph(Image("test", "x86_64", (section,), ()), MACHINE, "f", CODE)
        memory = {DATA + n: byte for n, byte in enumerate(case.before.memory)}
        outcome = run(compile_function(function), Inputs(true_containers(case.before), memory), RunOptions(fuel=9))
        assert outcome.status is Status.DONE, case.text
        wanted = true_containers(case.after)
        wanted["rsp"] = (wanted["rsp"] + 8) & (1 << 64) - 1
        found = {name: outcome.registers[name] for name in wanted}
        assert found == wanted, f"{case.code.hex()} {case.text}"


_HEAVY = re.compile(r"vperm[wi]|vpermt|vpmadd52|vpmull|vdiv|vsqrt|vmul|vpmuludq|vpmuldq")
"""Wide products and large choices, which take a solver seconds."""


@needs_compiler
def test_the_symbolic_step_agrees(cases: list[Case]) -> None:
    in_registers = [case for case in cases if "[" not in case.text and not _HEAVY.search(case.text)]
    for case in in_registers[::9]:
        before, wanted = true_containers(case.before), true_containers(case.after)
        assert symbolic(decoded(case), before) == wanted, f"{case.code.hex()} {case.text}"


# Against a second disassembler


def _written(text: str, next_address: int) -> str:
    """One spelling for both: no spaces, decimal numbers, and absolute addresses for those relative to `rip`."""
    text = re.sub(r"\+riz(\*\d)?|riz(\*\d)?\+?", "", re.sub(r"\s", "", text.lower()))  # riz: no index
    text = re.sub(r"0x[0-9a-f]+", lambda found: str(_signed(int(found[0], 16))), text)
    text = text.replace("+-", "-").replace("[rip]", "[rip+0]")
    text = re.sub(r"rip([+-]\d+)", lambda found: str(int(found[1]) + next_address), text)
    return re.sub(r"\*1\b", "", text)


def _signed(number: int) -> int:
    return number - (1 << 64) if number >> 63 else number


_PREDICATES = ("eq", "lt", "le", "", "neq", "nlt", "nle")


def _as_disassembled(text: str) -> str:
    """`vpcmpub k1,...,4` as `vpcmpnequb k1,...`."""
    matched = re.fullmatch(r"vpcmp(u?[bwdq]) (.*),0x([0-24-6])", text)
    if matched is None:
        return text
    suffix, operands, number = matched.groups()
    return f"vpcmp{_PREDICATES[int(number)]}{suffix} {operands}"


def _random_evex(rng: random.Random) -> bytes:
    mandatory, table, wide, opcode, digit = rng.choice(list(ENTRIES))
    first = rng.getrandbits(4) << 4 | table
    vvvv = rng.choice((15, rng.randrange(16)))
    second = wide << 7 | vvvv << 3 | 4 | mandatory
    third = rng.choice((0x08, 0x28, 0x48)) | rng.choice((0, 0, rng.getrandbits(8) & 0x9F))
    modrm = rng.getrandbits(8)
    if digit is not None:
        modrm = modrm & 0xC7 | digit << 3
    return bytes([0x62, first, second, third, opcode, modrm]) + rng.randbytes(9)


def _random_mask(rng: random.Random) -> bytes:
    opcode = rng.choice((0x41, 0x42, 0x44, 0x45, 0x46, 0x47, 0x4A, 0x4B, 0x90, 0x91, 0x92, 0x93, 0x98, 0x99))
    if rng.random() < 0.3:
        return bytes([0xC5, rng.getrandbits(8), opcode]) + rng.randbytes(11)
    table = rng.choice((0xE1, 0xE1, 0xE3, 0x61, 0xC1, 0xA1))
    if table & 31 == 3:
        opcode = rng.choice((0x30, 0x31, 0x32, 0x33))
    return bytes([0xC4, table, rng.getrandbits(8), opcode]) + rng.randbytes(10)


def _is_mistaken(code: bytes, text: str) -> bool:
    """Where capstone is wrong and objdump and the manual agree: it does not know that the W bit of some instructions is
    ignored, and scales the displacement of one `vmovq` by 16."""
    is_wide = code[0] == 0x62 and code[2] >> 7
    ignores_wide = text.startswith(("vpsllw ", "vpsrlw ", "vpsraw ", "vpalignr "))
    return bool(is_wide) and (ignores_wide or (code[4] == 0x7E and text.startswith("vmovq qword")))


_UNTOLD = re.compile(r"\b(?:zmm|ymm|xmm)?word ptr |\bbyte ptr |[dq]word ptr ")


def test_a_second_disassembler_reads_the_same() -> None:
    import capstone

    disassembler = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
    rng = random.Random(SEED)
    print(f"seed {SEED}")
    compared = 0
    for _ in range(20000):
        code = _random_evex(rng) if rng.random() < 0.8 else _random_mask(rng)
        instruction = MACHINE.decode(code, CODE)
        if Kind.UNSUPPORTED in {op.kind for op in instruction.ops}:
            continue
        if _is_mistaken(code, instruction.text):
            continue
        found = next(disassembler.disasm_lite(code, CODE, 1), None)
        assert found is not None, f"{code.hex()} {instruction.text}"
        _, size, name, operands = found
        assert size == instruction.length, f"{code.hex()} {instruction.text}"
        ours, theirs = (
            _written(_UNTOLD.sub("", text), CODE + size)
            for text in (_as_disassembled(instruction.text), f"{name} {operands}")
        )
        assert ours == theirs, f"{code.hex()}: {instruction.text} is {name} {operands}"
        compared += 1
    assert compared > 2000


# What has no semantics


@pytest.mark.parametrize(
    "code",
    [
        "62f16d48fc",  # cut short
        "62f96d48fcd9",  # a reserved bit of P0
        "62f16948fcd9",  # the bit of P1 that must be set
        "62f16d68fcd9",  # no such length
        "62f16d58fcd9",  # rounding of integers
        "62f16c5858d9",  # static rounding
        "62f16dc8fcd9",  # zeroing without a mask
        "62f17d58fc00",  # bytes are not repeated
        "62f175487fd9",  # a second source where there is none
        "62f17dc97f00",  # zeroing of memory
        "62f17d09e700",  # a mask where none is allowed
        "62717d4874d9",  # k11 as target
        "62f37d481ed908",  # a predicate above 7
        "62f16d48ff00",  # an opcode in no table
        "6662f16d48fcd9",  # prefixes before it
        "6762f16d48fc18",
        "c4e1f893c0",  # kmovq needs F2
        "c5fc44c0",  # knotw has no long form
    ],
)
def test_what_faults_or_is_not_known_has_no_semantics(code: str) -> None:
    assert [op.kind for op in MACHINE.decode(bytes.fromhex(code), CODE).ops] == [Kind.UNSUPPORTED]


def test_random_bytes_never_raise() -> None:
    rng = random.Random(SEED)
    for _ in range(5000):
        code = rng.choice((b"\x62", b"\xc4\xe1", b"\xc5")) + rng.randbytes(rng.randrange(15))
        assert MACHINE.decode(code, CODE).length >= 1


def test_vex_instructions_clear_what_is_above_them_and_legacy_ones_do_not() -> None:
    before = State({}, [(1 << 512) - 1] * 32, [0] * 8, bytearray(DATA_SIZE))
    for code, kept in (("c5f1efc2", 0), ("c5f5efc2", 0), ("660fefc1", ((1 << 512) - 1) ^ ((1 << 128) - 1))):
        execution = Evaluator(before)
        for op in MACHINE.decode(bytes.fromhex(code), CODE).ops:
            execution.step(op)
        assert execution.get(REGISTERS["zmm0"]) == kept
