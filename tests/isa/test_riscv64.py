"""Every instruction of RV64I with M against Unicorn, from states that are random and at the edges; and what has no
semantics."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from isoform.check.required import KEPT
from isoform.check.unicorn_riscv64 import run as replay
from isoform.isa.registry import linkage, machine, machine_names
from isoform.isa.riscv64.linkage import RELOCATIONS
from isoform.isa.riscv64.parts import joined
from isoform.isa.riscv64.registers import NAMES
from isoform.lift.cfg import control_flow_graph
from isoform.lift.lift import lift
from isoform.load.image import Image, Section, Symbol
from isoform.model.contract import Place
from isoform.model.errors import Unsupported
from isoform.model.microop import Kind
from isoform.model.outcome import Inputs, Outcome, Status
from isoform.model.signature import CType, Parameter, Signature, TypeKind
from isoform.run.compile import compile_function
from isoform.run.runner import RunOptions, run

RISCV = machine("riscv64")
CODE, DATA = 0x1_0000, 0x20_0000
RETURN = 0x0000_8067
EDGES = (0, 1, 2, 31, 32, 63, 64, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)
A0, A1, A2 = (NAMES.index(name) for name in ("a0", "a1", "a2"))


def register_form(opcode: int, funct3: int, funct7: int) -> int:
    return funct7 << 25 | A2 << 20 | A1 << 15 | funct3 << 12 | A0 << 7 | opcode


def immediate_form(opcode: int, funct3: int, immediate: int) -> int:
    return (immediate & 0xFFF) << 20 | A1 << 15 | funct3 << 12 | A0 << 7 | opcode


def store_form(funct3: int, offset: int) -> int:
    return (offset >> 5 & 0x7F) << 25 | A2 << 20 | A1 << 15 | funct3 << 12 | (offset & 31) << 7 | 0x23


def branch_over_one(funct3: int) -> int:
    return A2 << 20 | A1 << 15 | funct3 << 12 | 8 << 7 | 0x63


def forms() -> Iterator[tuple[str, list[int]]]:
    multiplying = [(number, 0x01) for number in range(8)]
    for funct3, funct7 in [*((number, 0) for number in range(8)), (0, 0x20), (5, 0x20), *multiplying]:
        yield f"register-{funct3}-{funct7:#x}", [register_form(0x33, funct3, funct7)]
    for funct3, funct7 in [(0, 0), (1, 0), (5, 0), (0, 0x20), (5, 0x20), *((n, 1) for n in (0, 4, 5, 6, 7))]:
        yield f"word-{funct3}-{funct7:#x}", [register_form(0x3B, funct3, funct7)]
    for funct3 in (0, 2, 3, 4, 6, 7):
        for immediate in (0, 5, -1, 2047, -2048):
            yield f"immediate-{funct3}-{immediate}", [immediate_form(0x13, funct3, immediate)]
    for funct3, kind in ((1, 0), (5, 0), (5, 0x400)):
        for count in (0, 1, 31, 32, 63):
            yield f"shift-{funct3}-{kind:#x}-{count}", [immediate_form(0x13, funct3, kind | count)]
        for count in (0, 1, 31):
            yield f"word-shift-{funct3}-{kind:#x}-{count}", [immediate_form(0x1B, funct3, kind | count)]
    for immediate in (0, 1, -1, -2048):
        yield f"word-immediate-{immediate}", [immediate_form(0x1B, 0, immediate)]
    for funct3 in (0, 1, 4, 5, 6, 7):
        yield f"branch-{funct3}", [branch_over_one(funct3), immediate_form(0x13, 0, 1)]
    for upper in (0, 1, 0x7FFFF, 0x80000, 0xFFFFF):
        yield f"lui-{upper:#x}", [upper << 12 | A0 << 7 | 0x37]
        yield f"auipc-{upper:#x}", [upper << 12 | A0 << 7 | 0x17]
    yield "jal", [0x0080_006F, immediate_form(0x13, 0, 1)]
    yield "fence", [0x0FF0_000F]
    yield "to-zero", [register_form(0x33, 0, 0) & ~(31 << 7)]


def memory_forms() -> Iterator[tuple[str, list[int]]]:
    for funct3 in range(7):
        for offset in (0, 3, 2047, -2048):
            yield f"load-{funct3}-{offset}", [immediate_form(0x03, funct3, offset)]
    for funct3 in range(4):
        for offset in (0, 3, 2047, -2048):
            yield f"store-{funct3}-{offset}", [store_form(funct3, offset)]


def image_of(words: list[int]) -> Image:
    data = b"".join(word.to_bytes(4 if word & 3 == 3 else 2, "little") for word in (*words, RETURN))
    section = Section(".text", CODE, data, len(data), writable=False, executable=True)
    return Image(path="f.o", machine="riscv64", sections=(section,), symbols=(Symbol("f", CODE, len(data), True),))


def compare(words: list[int], inputs: Inputs) -> tuple[Outcome, Outcome]:
    image = image_of(words)
    ours = run(compile_function(lift(image, RISCV, "f", CODE)), inputs, RunOptions(100))
    return ours, replay(image, CODE, inputs, 100)


def require_same(words: list[int], inputs: Inputs) -> None:
    ours, theirs = compare(words, inputs)
    assert (ours.status, theirs.status) == (Status.DONE, Status.DONE), (ours.reason, theirs.reason)
    assert ours.writes == theirs.writes
    assert {name: ours.registers[name] for name in theirs.registers} == theirs.registers


@pytest.mark.parametrize("words", [pytest.param(words, id=name) for name, words in forms()])
def test_computations(words: list[int]) -> None:
    source = random.Random(f"{words}")
    pairs = [(source.choice(EDGES), source.choice(EDGES)) for _ in range(12)]
    pairs += [(source.getrandbits(64), source.getrandbits(64)) for _ in range(6)]
    for left, right in [(1 << 63, (1 << 64) - 1), (1 << 31, (1 << 64) - 1), (5, 0), ((1 << 64) - 5, 0), *pairs]:
        require_same(words, Inputs({"a0": source.getrandbits(64), "a1": left, "a2": right}))


@pytest.mark.parametrize("words", [pytest.param(words, id=name) for name, words in memory_forms()])
def test_memory(words: list[int]) -> None:
    source = random.Random(f"{words}")
    for _ in range(4):
        require_same(words, Inputs({"a1": DATA + source.randrange(64), "a2": source.getrandbits(64)}, fill_seed=7))


def every_compressed() -> list[int]:
    """All of them that have semantics here and neither jump nor write to the stack pointer or the link register."""
    controls = (Kind.BRANCH, Kind.CBRANCH, Kind.CALLIND, Kind.BRANCHIND, Kind.RETURN, Kind.ABORT, Kind.UNSUPPORTED)
    kept = {RISCV.registers[name] for name in ("sp", "ra")}
    found = []
    for half in range(1, 1 << 16):
        ops = RISCV.decode(half.to_bytes(2, "little"), CODE).ops if half & 3 != 3 else ()
        if ops and not any(op.kind in controls or op.out in kept for op in ops):
            found.append(half)
    return found


def test_compressed_computations() -> None:
    source = random.Random(5)
    found = every_compressed()
    assert len(found) > 30_000
    for half in source.sample(found, 1500):
        registers = {name: DATA + source.randrange(1 << 12) for name in NAMES[3:]}
        registers |= {name: source.choice(EDGES) for name in ("a2", "a3")}
        ours, theirs = compare([half], Inputs(registers, fill_seed=3))
        changed = RISCV.decode(half.to_bytes(2, "little"), CODE)
        assert theirs.status is Status.DONE, (hex(half), changed.text, theirs.reason)
        outs = [op.out for op in changed.ops if op.out is not None and op.out in RISCV.registers.values()]
        written = [RISCV.register_name(out) for out in outs]
        assert [listed(half, registers)[name] for name in written] == [theirs.registers[name] for name in written]
        assert ours.writes == theirs.writes


def listed(half: int, registers: dict[str, int]) -> dict[str, int]:
    """The registers after one instruction, those included that nobody reads any more."""
    image = image_of([half])
    program = compile_function(control_flow_graph(image, RISCV, "f", CODE))
    return dict(run(program, Inputs(registers, fill_seed=3), RunOptions(100)).registers)


@pytest.mark.parametrize("half", [0xC111, 0xC199, 0xE111, 0xA011, 0x8082], ids=["beqz", "beqz-2", "bnez", "j", "jr"])
def test_compressed_jumps(half: int) -> None:
    for value in (0, 1, 1 << 63):
        require_same([half, 0x0505, 0x0505, 0x0505, 0x0505], Inputs({"a0": value, "a1": value}))


@pytest.mark.parametrize(("word", "reason"), [(0x0010_0073, "trap"), (0xC000_1073, "undefined instruction")])
def test_what_ends_a_run(word: int, reason: str) -> None:
    for outcome in compare([word], Inputs({})):
        assert (outcome.status, outcome.reason) == (Status.ABORTED, reason)


UNKNOWN = {
    "c.fld": 0x2188,
    "c.zext.b": 0x9D61,
    "ecall": 0x0000_0073,
    "csrrs": 0xC000_2573,
    "fadd.s": 0x00B5_7553,
    "lr.d": 0x1005_B52F,
    "andn": register_form(0x33, 7, 0x20),
    "rori": immediate_form(0x13, 5, 0x601),
    "jal-to-t0": 0x0080_02EF,
}


@pytest.mark.parametrize("word", [pytest.param(word, id=name) for name, word in UNKNOWN.items()])
def test_without_semantics(word: int) -> None:
    found = RISCV.decode(word.to_bytes(4, "little"), CODE)
    assert [op.kind for op in found.ops] == [Kind.UNSUPPORTED]


def test_a_call_is_filled_into_two_instructions() -> None:
    put = RELOCATIONS[19].put
    assert put is not None
    call = bytes.fromhex("97000000 e7800000")
    for distance in (0, 4, 0x7FF, 0x800, -0x800, -0x801, 0x7FFF_F7FE, -0x8000_0000):
        filled = put(call, distance)
        assert filled is not None
        upper, lower = int.from_bytes(filled[:4], "little") >> 12, int.from_bytes(filled[4:], "little") >> 20
        assert (upper << 12) + (lower ^ 0x800) - 0x800 - distance in (0, 1 << 32)
    assert put(call, 0x7FFF_F800) is None
    assert put(bytes.fromhex("97000000 67800000"), 0) is None


def test_an_address_of_its_own_is_not_followed() -> None:
    code = bytes.fromhex("97000000 e7800000 97050000 67800000")
    assert list(linkage("riscv64").own_addresses(code)) == [(8, 12)]


def test_a_lower_part_is_of_what_its_upper_part_names() -> None:
    symbols = [(0, 0), (1, 8), (3, 0), (1, 40), (5, 8)]
    upper, lower, store = (8, 23, 2, 4), (12, 24, 1, 0), (16, 25, 1, 0)
    found = joined([upper, lower, store], symbols, 1)
    assert found.rows == [upper, (12, -2, 2, 4), (16, -3, 2, 4)]
    assert found.uppers == {12: 8, 16: 8}
    for lone in [(12, 24, 3, 0), (12, 24, 4, 0), (12, 24, 1, 4), (12, 24, 99, 0)]:
        assert joined([upper, lone], symbols, 1) == ([upper, lone], {})
    assert joined([upper, upper, lower], symbols, 1).uppers == {}  # two for one instruction
    assert joined([(12, -2, 2, 4)], symbols, 1).rows == [(12, -1, 2, 4)]  # no file has these


def test_a_difference_of_labels_is_a_distance() -> None:
    symbols = [(0, 0), (1, 0x30), (3, 8)]
    assert joined([(16, 35, 1, 0), (16, 39, 2, 0)], symbols, 3).rows == [(16, 57, 1, 8)]
    for rows in ([(16, 35, 1, 0)], [(16, 35, 1, 0), (16, 39, 1, 0)], [(16, 35, 1, 0), (16, 39, 2, 0), (16, 35, 1, 0)]):
        assert joined(rows, symbols, 3).rows == rows


@pytest.mark.parametrize("value", [0, 1, 0x7FF, 0x800, 0xFFF, 0x1234_5678, -1, -0x800, -0x801])
def test_parts_of_an_address_add_up(value: int) -> None:
    filled = []
    for kind, code in ((23, "17050000"), (-2, "13050500"), (-2, "03250500"), (-3, "2320b500")):
        put = linkage("riscv64").relocations[kind].put
        assert put is not None
        field = put(bytes.fromhex(code), value)
        assert field is not None
        filled.append(int.from_bytes(field, "little"))
    upper, added, loaded, stored = filled
    for lower in (added >> 20, loaded >> 20, stored >> 25 << 5 | stored >> 7 & 0x1F):
        assert ((upper >> 12 << 12) + (lower ^ 0x800) - 0x800 - value) % (1 << 32) == 0
    assert upper & 0xFFF == 0x517
    assert stored & 0x01FF_F07F == 0x00B5_2023


def test_arguments() -> None:
    short = CType(TypeKind.INTEGER, 16, signed=True, spelling="short")
    placed = RISCV.place(Signature("f", tuple(Parameter(f"x{n}", short) for n in range(10)), short))
    assert [a.places for a in placed.arguments[7:]] == [
        (Place("a7", 0, 2),),
        (Place(None, 0, 2),),
        (Place(None, 8, 2),),
    ]
    assert [(r.register, r.bits) for r in placed.results] == [("a0", 64)]
    double = CType(TypeKind.FLOAT, 64, spelling="double")
    with pytest.raises(Unsupported, match="only integers and pointers"):
        RISCV.place(Signature("f", (Parameter("x", double),), short))


@pytest.mark.parametrize("name", machine_names())
def test_a_certificate_must_show_that_registers_are_restored(name: str) -> None:
    convention = machine(name).convention
    pointer = (convention.stack_pointer,) if convention.stack_pointer is not None else ()
    assert {*KEPT[name]} == {*convention.callee_saved, *pointer}
