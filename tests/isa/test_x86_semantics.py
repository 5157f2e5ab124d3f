"""x86-64 semantics: every form against independent CPUs, the compiled runner, and the rules one by one."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import islice

import pytest

from isoform.isa.registry import machine
from isoform.isa.x86_64 import amendments as x86_amendments
from isoform.isa.x86_64.builder import Builder
from isoform.isa.x86_64.registers import CANARY, REGISTERS
from isoform.lift.cfg import control_flow_graph
from isoform.load.image import Image, Section
from isoform.model.microop import ABORT_REASONS, Instruction, Kind, Space
from isoform.model.outcome import Inputs, Status
from isoform.run.compile import compile_function
from isoform.run.runner import RunOptions, run
from semantics import ours
from semantics.campaign import Oracle, Standing, check_form
from semantics.encoding import CODE_ADDRESS, DATA_ADDRESS, Encoder, Template
from semantics.forms import all_forms
from semantics.host_oracle import HostOracle, is_available
from semantics.prefixes import check_prefixes
from semantics.state import FLAGS, State, draw
from semantics.unicorn_oracle import UnicornOracle

SEED = 20
QUICK_STATES = 4
SHARES = 8
MACHINE = machine("x86_64")


@pytest.fixture(scope="module")
def oracles() -> Iterator[list[Oracle]]:
    host = HostOracle() if is_available() else None
    yield [UnicornOracle(), *([host] if host else [])]
    if host is not None:
        host.close()


def decode(code: str) -> Instruction:
    return MACHINE.decode(bytes.fromhex(code), CODE_ADDRESS)


def kinds(code: str) -> list[Kind]:
    return [op.kind for op in decode(code).ops]


def is_unsupported(code: str) -> bool:
    return kinds(code) == [Kind.UNSUPPORTED]


def state(**general: int) -> State:
    zero = dict.fromkeys(("rax", "rcx", "rdx", "rbx", "rbp", "rsi", "rdi", *(f"r{n}" for n in range(8, 16))), 0)
    flags = {name: general.pop(name, 0) for name in FLAGS}
    registers = {**zero, "rsp": DATA_ADDRESS + 0x1000, **general}
    return State(registers, flags, [0] * 16, bytes(0x2000))


# Against independent CPUs


@pytest.mark.parametrize("share", range(SHARES))
def test_every_form_agrees_with_independent_cpus(share: int, oracles: list[Oracle]) -> None:
    forms = all_forms()[share::SHARES]
    reports = [check_form(form, oracles, QUICK_STATES, SEED) for form in forms]
    bad = [r for r in reports if r.standing in (Standing.WRONG, Standing.UNSUPPORTED)]
    assert not bad, f"seed {SEED}: {[(r.template.name, r.disagreements) for r in bad]}"
    assert len(reports) == len(forms)


@pytest.mark.long
def test_every_form_agrees_in_many_states(oracles: list[Oracle]) -> None:
    reports = [check_form(form, oracles, 200, SEED + 1) for form in all_forms()]
    bad = [(r.template.name, r.disagreements) for r in reports if r.standing is Standing.WRONG]
    assert not bad, f"seed {SEED + 1}: {bad}"


def test_needless_prefixes_are_read_as_the_processor_reads_them(oracles: list[Oracle]) -> None:
    host = next((o for o in oracles if isinstance(o, HostOracle)), None)
    if host is None:
        pytest.skip("no processor of this kind here")
    report = check_prefixes(all_forms(), host, 4000, SEED)
    assert not report.disagreements, f"seed {SEED}: {report.disagreements[:5]}"
    assert report.agree > 500


@pytest.mark.usefixtures("changed_tables")
@pytest.mark.parametrize(
    ("name", "broken"),
    [
        ("ADD", lambda b, target, source: b.write(target, b.add(b.read(target), b.read(source, b.read(target).size)))),
        ("BSF", lambda b, target, source: b.write(target, b.read(source, target.var.size))),
        ("DIV", lambda b, source: None),
    ],
)
def test_a_wrong_meaning_is_found(
    name: str, broken: object, oracles: list[Oracle], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(x86_amendments._GENERAL, name, broken)
    forms = [form for form in all_forms() if form.mnemonic == name]
    assert Standing.WRONG in {check_form(form, oracles, 16, SEED).standing for form in forms}


@pytest.mark.usefixtures("changed_tables")
@pytest.mark.parametrize("error", [TypeError, ValueError, AttributeError, IndexError, KeyError])
def test_a_bug_in_a_table_is_no_missing_semantics(error: type[Exception], monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(b: Builder, *operands: object) -> None:
        raise error("a bug")

    monkeypatch.setitem(x86_amendments._GENERAL, "ADD", broken)
    with pytest.raises(error, match="a bug"):
        decode("01d8")


@pytest.mark.usefixtures("changed_tables")
def test_an_entry_for_another_number_of_operands_is_a_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(x86_amendments._GENERAL, "ADD", lambda b, target: None)
    with pytest.raises(TypeError):
        decode("01d8")


# The table of forms itself

_SAME = {("xchg", "nop"), ("mov", "movabs"), ("movabs", "mov")}
"""What the disassembler calls otherwise."""


def test_the_bytes_of_a_form_are_what_its_line_says() -> None:
    import capstone

    disassembler = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
    rng = random.Random(SEED)
    for form in all_forms():
        code = Encoder(form, rng).encode().code
        _, size, name, _ = next(disassembler.disasm_lite(code, CODE_ADDRESS, 1))
        name, wanted = name.rpartition(" ")[2], form.mnemonic.lower()
        assert size == len(code), form.name
        stem = next((stem for stem in ("pclmul", "cmp") if wanted.removeprefix("v").startswith(stem)), None)
        named_by_control = stem is not None and stem in name and name.endswith(wanted[-2:])
        assert name == wanted or (wanted, name) in _SAME or named_by_control, f"{code.hex()} is {name}, not {wanted}"


# What micro-ops promise their readers


def _drawn(count: int) -> Iterator[tuple[Template, bytes, State]]:
    rng = random.Random(SEED)
    for form in all_forms():
        for _ in range(count):
            encoded = Encoder(form, rng).encode()
            yield form, encoded.code, draw(form, encoded, rng)


def test_no_instruction_loops_or_branches_inside_itself() -> None:
    for form, code, _ in _drawn(1):
        for op in MACHINE.decode(code, CODE_ADDRESS).ops:
            assert all(var.space is not Space.INNER for var in op.ins), form.name


def test_flags_stay_booleans_whatever_is_undefined() -> None:
    for form, code, before in _drawn(1):
        instruction = MACHINE.decode(code, CODE_ADDRESS)
        if Kind.UNSUPPORTED in {op.kind for op in instruction.ops}:
            continue
        after = ours.run(instruction, before, undefined=True, branch=form.branch)
        assert set(after.flags.values()) <= {0, 1}, form.name


def _run_compiled(code: bytes, before: State) -> tuple[Status, str, dict[str, int], dict[int, int]]:
    """The instruction and a return, through lifting, compilation and the runner."""
    section = Section("code", CODE_ADDRESS, code + b"\xc3", len(code) + 1, writable=False, executable=True)
    function = control_flow_graph(Image("test", "x86_64", (section,), ()), MACHINE, "f", CODE_ADDRESS)
    vectors = {f"xmm{n}": v & (1 << 128) - 1 for n, v in enumerate(before.vectors)}
    vectors |= {f"ymm{n}h": v >> 128 for n, v in enumerate(before.vectors)}
    memory = {DATA_ADDRESS + n: byte for n, byte in enumerate(before.memory)}
    inputs = Inputs({**before.general, **before.flags, **vectors}, memory)
    outcome = run(compile_function(function), inputs, RunOptions(fuel=200))
    return outcome.status, outcome.reason, dict(outcome.registers), dict(outcome.writes)


def test_the_compiled_runner_agrees_with_the_defining_table(pytestconfig: pytest.Config) -> None:
    """By default on every second form: each is compiled for this one run, which takes milliseconds."""
    for form, code, before in islice(_drawn(1), 0, None, 1 if pytestconfig.getoption("--long") else 2):
        instruction = MACHINE.decode(code, CODE_ADDRESS)
        if form.branch or Kind.UNSUPPORTED in {op.kind for op in instruction.ops}:
            continue
        before.flags["df"] = 0  # the runner starts functions with a clear direction flag
        wanted = ours.run(instruction, before, undefined=False)
        if wanted.fault == ours.MEMORY_FAULT:
            continue
        status, reason, registers, _ = _run_compiled(code, before)
        if wanted.fault:
            assert (status, reason) == (Status.ABORTED, wanted.fault), form.name
            continue
        assert status is Status.DONE, f"{form.name}: {status} {reason}"
        wanted.general["rsp"] += 8
        for name, value in (*wanted.general.items(), *wanted.flags.items()):
            assert registers[name] == value, f"{code.hex()} {form.name}: {name}"
        for number, value in enumerate(wanted.vectors):
            assert registers[f"xmm{number}"] | registers[f"ymm{number}h"] << 128 == value, f"{code.hex()} {form.name}"


# Rules one by one


@pytest.mark.parametrize(
    "code",
    [
        *("f4", "0f31", "0fa2", "cd80", "e403", "e643", "0f01d0", "0fc7f0", "9d", "0f53c1", "d9fe", "0fae10"),
        *("0ffcc1", "c8080001", "8ed8", "0f20c0", "f30fc2c108", "c4e2f198c2"),
    ],
)
def test_what_depends_on_the_system_or_is_not_known_has_no_semantics(code: str) -> None:
    assert is_unsupported(code)


@pytest.mark.parametrize(
    "code", ["4066ffc0", "f2f3a4", "f089c0", "6666ffc0", "67678b00", "660fc8", "66c3", "66c5f16ec0", "678d0501000000"]
)
def test_what_sleigh_may_misread_has_no_semantics(code: str) -> None:
    assert is_unsupported(code)


@pytest.mark.parametrize("code", ["90", "6690", "660f1f840000000000", "66662e0f1f840000000000", "f390", "f30f1efa"])
def test_hints_do_nothing(code: str) -> None:
    assert kinds(code) == []


@pytest.mark.parametrize(("code", "reason"), [("0f0b", "undefined instruction"), ("cc", "trap")])
def test_traps_abort(code: str, reason: str) -> None:
    (op,) = decode(code).ops
    assert op.kind is Kind.ABORT
    assert ABORT_REASONS[op.ins[1].offset] == reason


def test_random_bytes_never_raise() -> None:
    rng = random.Random(SEED)
    for _ in range(3000):
        instruction = MACHINE.decode(rng.randbytes(rng.randrange(1, 16)), CODE_ADDRESS)
        assert instruction.length >= 1


def test_an_instruction_cut_short_has_no_semantics() -> None:
    assert is_unsupported("48b81122")


@pytest.mark.parametrize("code", ["0fc11b", "480fc11b", "871b", "0fb11b"])
def test_a_register_that_is_also_the_address_is_written_last(code: str) -> None:
    before = state(rbx=DATA_ADDRESS + 0x100, rax=1)
    after = ours.run(decode(code), before, undefined=False)
    assert not after.fault


@pytest.mark.parametrize("code", ["64488b042528000000", "644833042528000000", "64482b142528000000"])
def test_the_canary_is_read_from_its_own_place(code: str) -> None:
    ops = decode(code).ops
    assert any(CANARY in op.ins for op in ops)
    assert Kind.LOAD not in {op.kind for op in ops}


@pytest.mark.parametrize("code", ["6489042528000000", "648b042528000000", "64488b04252c000000", "640f10042520000000"])
def test_part_of_the_canary_or_a_write_to_it_has_no_semantics(code: str) -> None:
    assert is_unsupported(code)


@pytest.mark.parametrize(("code", "segment"), [("648b03", "fs_offset"), ("658b03", "gs_offset")])
def test_segments_have_a_base(code: str, segment: str) -> None:
    assert any(REGISTERS[segment] in op.ins for op in decode(code).ops)


@pytest.mark.parametrize(
    ("code", "undefined"),
    [
        ("0fafc1", "szp"),  # imul
        ("f7e1", "szp"),  # mul
        ("f7f1", "coszp"),  # div
        ("0fbcc1", "cosp"),  # bsf
        ("f30fbcc1", "osp"),  # tzcnt
        ("0fa3c8", "osp"),  # bt
        ("c1e005", "o"),  # shl by 5
        ("d1e0", ""),  # shl by 1
        ("c0e009", "co"),  # shl of 8 bits by 9
        ("c1c005", "o"),  # rol by 5
        ("c1e000", ""),  # shl by 0
        ("21c8", ""),  # and
        ("c4e270f2d0", "p"),  # andn
    ],
)
def test_undefined_flags_are_those_of_the_manual(code: str, undefined: str) -> None:
    before = state(rax=5, rcx=3, cf=1, of=0)
    low, high = (ours.run(decode(code), before, bits) for bits in (False, True))
    found = "".join(letter for letter in "coszp" if low.flags[letter + "f"] != high.flags[letter + "f"])
    assert found == undefined


def test_lahf_and_pushf_see_an_undefined_adjust_flag() -> None:
    low, high = (ours.run(decode("9f"), state(), bits) for bits in (False, True))
    assert low.general["rax"] ^ high.general["rax"] == 0x1000
    low, high = (ours.run(decode("9c"), state(), bits) for bits in (False, True))
    changed = [a ^ b for a, b in zip(low.memory, high.memory, strict=True)]
    assert int.from_bytes(bytes(changed[0xFF8:0x1000]), "little") == 0x244010


@pytest.mark.parametrize(
    ("code", "before", "register", "value"),
    [
        ("0fbcc1", {"rax": 0x7_0000_0005, "rcx": 0}, "rax", 5),  # bsf of zero keeps the low half
        ("66f30fbcc1", {"rax": 7, "rcx": 0}, "rax", 16),  # tzcnt of zero
        ("0f44c1", {"rax": 0xAAAA_0000_0001, "zf": 0}, "rax", 1),  # cmov that does not move clears the upper half
        ("d3e0", {"rax": 0xAAAA_0000_0001, "rcx": 32}, "rax", 1),  # so does a shift by a masked 0
        ("678b03", {"rbx": 0xFFFF_FFFF_2000_0100}, "rax", 0),  # a 32-bit address has no upper half
        ("0fb1d1", {"rax": 0xBBBB_0000_0003, "rcx": 3, "rdx": 9}, "rax", 0xBBBB_0000_0003),  # cmpxchg that succeeds
        ("0fb1d1", {"rax": 4, "rcx": 0xCCCC_0000_0003, "rdx": 9}, "rcx", 0xCCCC_0000_0003),  # and one that fails
    ],
)
def test_values_that_lifters_get_wrong(code: str, before: dict[str, int], register: str, value: int) -> None:
    assert ours.run(decode(code), state(**before), undefined=False).general[register] == value


def test_division_faults_before_anything_is_written() -> None:
    for code in ("f6f1", "66f7f1", "f7f1", "48f7f1", "f6f9", "66f7f9", "f7f9", "48f7f9"):
        ops = decode(code).ops
        last_abort = max(n for n, op in enumerate(ops) if op.kind is Kind.ABORT)
        first_write = min(n for n, op in enumerate(ops) if op.out is not None and op.out.space is Space.REGISTER)
        assert last_abort < first_write
        assert ours.run(decode(code), state(rax=1, rcx=0), undefined=False).fault == "division fault"


def test_needless_copies_are_gone() -> None:
    b = Builder(0, 1)
    b.set(REGISTERS["rax"], b.add(REGISTERS["rax"], 1))
    assert [op.kind for op in b.finish()] == [Kind.INT_ADD]


@pytest.mark.parametrize("opcode", ["a3", "ab", "b3", "bb"])  # bt, bts, btr, btc
@pytest.mark.parametrize(
    ("prefixes", "registers"),
    [
        ("67480f", {"rcx": (1 << 35) + 3}),  # 4 GiB further on: the sum is cut to 32 bits, so that is where it began
        ("67480f", {"rcx": -(1 << 35) + 11, "rbx": 0xABCD_0000_0000 + DATA_ADDRESS + 0x100}),
        ("67480f", {"rcx": 8 * (DATA_ADDRESS + 0x140), "rbx": 0}),
        ("67480f", {"rcx": -8 * 0x8000, "rbx": DATA_ADDRESS + 0x8200}),
        ("670f", {"rcx": 0x1_0000_0105}),
        ("67660f", {"rcx": 0x0007_0105}),
        ("480f", {"rcx": -8 * 0x40}),
    ],
)
def test_a_bit_of_memory_far_from_a_32_bit_address(
    oracles: list[Oracle], opcode: str, prefixes: str, registers: dict[str, int]
) -> None:
    code = f"{prefixes}{opcode}0b"
    before = state(**{"rbx": DATA_ADDRESS + 0x100, **registers})
    before.general["rcx"] %= 1 << 64
    after = ours.run(decode(code), before, undefined=False)
    assert not after.fault
    for oracle in oracles if "67" not in prefixes else oracles[1:]:
        told = oracle.run(bytes.fromhex(code), before, branch=False)
        assert (told.memory, told.flags["cf"], told.fault) == (after.memory, after.flags["cf"], after.fault)
    assert any(after.memory) == (opcode in ("ab", "bb"))
