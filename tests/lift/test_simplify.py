"""Simplified micro-ops do what the listed ones do."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from isoform.lift.simplify import known_value, propagate
from isoform.load.image import Image, Section
from isoform.model.evaluate import evaluate
from isoform.model.microop import Kind, MicroOp, Space, Var, const, linked_address

BINARY = (
    Kind.INT_ADD,
    Kind.INT_SUB,
    Kind.INT_XOR,
    Kind.INT_AND,
    Kind.INT_OR,
    Kind.INT_MULT,
    Kind.INT_LEFT,
    Kind.INT_RIGHT,
    Kind.INT_SRIGHT,
)
BOOLEAN = (Kind.INT_EQUAL, Kind.INT_NOTEQUAL, Kind.INT_LESS, Kind.INT_SLESS, Kind.INT_LESSEQUAL, Kind.INT_SLESSEQUAL)
OVERFLOW = (Kind.INT_SBORROW, Kind.INT_CARRY, Kind.INT_SCARRY)
EDGES = (0, 1, 2, 7, 0x7F, 0x80, 0xFF, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 63, (1 << 64) - 1)
REGISTERS = 32
"""Bytes of the register file."""


def register(offset: int, size: int = 8) -> Var:
    return Var(Space.REGISTER, offset, size)


def temp(number: int, size: int = 8) -> Var:
    return Var(Space.TEMP, 16 * number, size)


class Machine:
    """Registers as bytes, so that parts of them overlap as they do in a CPU."""

    def __init__(self, registers: bytes) -> None:
        self.registers = bytearray(registers)
        self.temps: dict[Var, int] = {}

    def read(self, var: Var) -> int:
        if var.space is Space.CONST:
            return var.offset & ((1 << 8 * var.size) - 1)
        if var.space is Space.TEMP:
            return self.temps.get(var, 0)
        return int.from_bytes(self.registers[var.offset : var.offset + var.size], "little")

    def step(self, op: MicroOp) -> None:
        assert op.out is not None
        values = [self.read(var) for var in op.ins]
        value = values[0] if op.kind is Kind.COPY else evaluate(op.kind, op.out.size, [v.size for v in op.ins], values)
        if op.out.space is Space.TEMP:
            self.temps[op.out] = value
        else:
            self.registers[op.out.offset : op.out.offset + op.out.size] = value.to_bytes(op.out.size, "little")


def random_var(rng: random.Random, size: int) -> Var:
    match rng.randrange(4):
        case 0:
            return const(rng.choice(EDGES), size)
        case 1 if size == 8:
            return temp(rng.randrange(3))
        case _:
            return register(rng.randrange(0, REGISTERS - size + 1, size), size)


def random_op(rng: random.Random) -> MicroOp:
    size = rng.choice((1, 2, 4, 8, 8))
    out = register(rng.randrange(0, REGISTERS - size + 1, size), size)
    out = temp(rng.randrange(3)) if size == 8 and rng.random() < 0.3 else out
    kind = rng.choice((Kind.COPY, Kind.COPY, *BINARY, *BOOLEAN, *OVERFLOW, Kind.INT_ZEXT, Kind.SUBPIECE, Kind.SELECT))
    first = random_var(rng, size)
    second = first if rng.random() < 0.2 else random_var(rng, size)
    if kind is Kind.COPY:
        return MicroOp(kind, out, (first,))
    if kind in (*BOOLEAN, *OVERFLOW):
        return MicroOp(kind, register(rng.randrange(REGISTERS), 1), (first, second))
    if kind is Kind.INT_ZEXT and size > 1:
        return MicroOp(kind, out, (random_var(rng, size // 2),))
    if kind is Kind.SUBPIECE and size < 8:
        return MicroOp(kind, out, (random_var(rng, 8), const(rng.randrange(8 - size + 1), 4)))
    if kind is Kind.SELECT:
        return MicroOp(kind, out, (const(rng.randrange(2), 1), first, second))
    return MicroOp(rng.choice(BINARY), out, (first, second))


def run(ops: Sequence[MicroOp], registers: bytes) -> tuple[bytes, dict[Var, int]]:
    machine = Machine(registers)
    for op in ops:
        machine.step(op)
    return bytes(machine.registers), machine.temps


def test_random_blocks_do_the_same_when_simplified() -> None:
    shorter = 0
    for seed in range(400):
        rng = random.Random(seed)
        ops = [random_op(rng) for _ in range(rng.randint(1, 14))]
        simple = propagate(ops, None, {})
        shorter += sum(op.kind is Kind.COPY for op in simple) > sum(op.kind is Kind.COPY for op in ops)
        for _ in range(4):
            registers = rng.randbytes(REGISTERS)
            assert run(simple, registers) == run(ops, registers), f"seed {seed}: {ops}"
    assert shorter > 100


@pytest.mark.parametrize("kind", [*BINARY, *BOOLEAN, *OVERFLOW])
def test_what_is_known_of_an_operator_without_its_operands(kind: Kind) -> None:
    """Equal operands, and each constant on the right: whatever it is simplified to has the operator's value."""
    size = 1 if kind in (*BOOLEAN, *OVERFLOW) else 8
    for right in (register(0), *(const(value, 8) for value in EDGES)):
        op = MicroOp(kind, register(16, size), (register(0), right))
        (simple,) = propagate([op], None, {})
        for value in EDGES:
            registers = value.to_bytes(8, "little") + bytes(24)
            assert run([simple], registers) == run([op], registers), (kind, right, value)


def test_a_copy_ends_where_its_source_is_written() -> None:
    copied = MicroOp(Kind.COPY, register(8), (register(0),))
    used = MicroOp(Kind.INT_ADD, register(16), (register(8), const(1, 8)))
    assert propagate([copied, used], None, {})[1].ins[0] == register(0)
    for written in (register(0), register(3, 1), register(8), register(14, 2)):
        changed = MicroOp(Kind.INT_2COMP, written, (register(24, written.size),))
        assert propagate([copied, changed, used], None, {})[2].ins[0] == register(8), written


def test_a_part_of_a_known_constant_is_known() -> None:
    known: dict[Var, Var] = {}
    propagate([MicroOp(Kind.COPY, register(8), (const(0x1122334455667788, 8),))], None, known)
    assert known_value(register(8, 1), known) == const(0x88, 1)
    assert known_value(register(10, 2), known) == const(0x5566, 2)
    assert known_value(register(6, 4), known) == register(6, 4)


def test_a_part_of_a_copy_is_not_guessed() -> None:
    known: dict[Var, Var] = {}
    propagate([MicroOp(Kind.COPY, register(8), (register(0),))], None, known)
    assert known_value(register(8, 4), known) == register(8, 4)


def test_floating_point_constants_are_left_to_those_who_name_the_rounding_mode() -> None:
    one, three = const(0x3FF0000000000000, 8), const(0x4008000000000000, 8)
    divided = MicroOp(Kind.FLOAT_DIV, register(0), (one, three))
    assert propagate([divided], None, {}) == [divided]


def image(writable: bool = False, **more: object) -> Image:
    data = bytes(range(1, 33))
    return Image("f.o", "x86_64", (Section(".data", 0x1000, data, 32, writable, False),), (), **more)  # type: ignore[arg-type]


def load(address: int, size: int = 8) -> MicroOp:
    return MicroOp(Kind.LOAD, register(0, size), (const(address, 8),))


def test_constants_of_the_file_are_read() -> None:
    assert propagate([load(0x1000, 4)], image(), {}) == [MicroOp(Kind.COPY, register(0, 4), (const(0x04030201, 4),))]


@pytest.mark.parametrize("address", [0x0FFF, 0x101C, 0x2000])
def test_what_is_not_wholly_inside_the_constants_is_loaded(address: int) -> None:
    assert propagate([load(address)], image(), {}) == [load(address)]


def test_what_may_be_written_is_loaded() -> None:
    assert propagate([load(0x1000)], image(writable=True), {}) == [load(0x1000)]


def test_a_pointer_that_a_linker_fills_is_no_number() -> None:
    filled = image(linked_words={0x1008: 0x5000})
    (whole,) = propagate([load(0x1008)], filled, {})
    assert whole.ins == (linked_address(int.from_bytes(bytes(range(9, 17)), "little"), 0x5000, 8),)
    for part in (load(0x1008, 4), load(0x100C, 4), load(0x1004)):
        assert propagate([part], filled, {}) == [part]
