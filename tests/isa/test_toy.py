"""The toy lifter against the plain interpreter, which shares no code with it."""

from __future__ import annotations

import random
from functools import partial
from itertools import pairwise

import pytest
from microop_evaluator import Evaluator

from isoform.check.toy import run
from isoform.isa.registry import machine
from isoform.isa.toy.machine import MACHINE, OPERATIONS, decode, encode
from isoform.load.text import assemble_text
from isoform.model.microop import ABORT_REASONS, Kind, Space
from isoform.model.outcome import Inputs

assemble = partial(assemble_text, "toy")

EDGES = (0, 1, 2, 14, 15, 16, 0x7FFF_FFFE, 0x7FFF_FFFF, 0x8000_0000, 0x8000_0001, 0xFFFF_FFFE, 0xFFFF_FFFF)


def random_program(rng: random.Random) -> str:
    length = rng.randint(1, 12)
    lines = []
    for index in range(length):
        name = rng.choice(list(OPERATIONS))
        operands = {
            "x": rng.randrange(4),
            "y": rng.randrange(4),
            "c": rng.choice(EDGES),
            "o": rng.randint(0, length - index - 1),
        }
        lines.append(" ".join([name, *(str(operands[letter]) for letter in OPERATIONS[name].operands)]))
    return "\n".join(lines)


def test_lifted_random_programs_do_what_the_interpreter_does() -> None:
    for seed in range(300):
        rng = random.Random(seed)
        text = random_program(rng)
        image = assemble(text, "random.toy")
        for argument in (*EDGES, rng.getrandbits(32)):
            expected = run(image, 0, Inputs({"r0": argument}), fuel=100)
            found = Evaluator(MACHINE, image, {"r0": argument}).run(fuel=100)
            assert found == expected, f"seed {seed}, r0 = {argument:#x}:\n{text}"


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("NOP", "NOP"),
        ("addxy 1 2", "ADDXY r1, r2"),
        ("ADDXC r1 -7", "ADDXC r1, -7"),
        ("MOVXC 0 0xffffffff", "MOVXC r0, -1"),
        ("JMP 0", "JMP 0x8"),
        ("JMPGE 2 3 0", "JMPGE r2, r3, 0x8"),
        ("RETX 3", "RETX r3"),
        ("RETC 5", "RETC 5"),
    ],
)
def test_disassembly(line: str, text: str) -> None:
    image = assemble(line, "one.toy")
    assert decode(image.code_at(0), 0).text == text


def test_the_implicit_return_reads_as_the_end() -> None:
    image = assemble("ADDXC 0 1", "one.toy")
    assert decode(image.code_at(8), 8).text == "(end) RET 0"


@pytest.mark.parametrize(
    "code", [b"", b"\x00" * 7, b"\x10" + bytes(7), b"\x01\x04" + bytes(6), b"\x01\x00\x04" + bytes(5)]
)
def test_what_cannot_be_decoded_aborts(code: bytes) -> None:
    (op,) = decode(code, 0x40).ops
    assert op.kind is Kind.ABORT
    assert ABORT_REASONS[op.ins[1].offset] == ("invalid instruction" if code else "jump outside the program")


def test_decode_never_raises_on_random_bytes() -> None:
    rng = random.Random(20)
    for _ in range(5000):
        decode(rng.randbytes(rng.randrange(17)), 8 * rng.randrange(100))


def test_the_return_value_goes_through_out() -> None:
    copy, back = decode(encode("RET", x=2), 0).ops
    assert copy.out == MACHINE.registers["out"]
    assert back.kind is Kind.RETURN
    assert back.ins == (MACHINE.registers["ra"],)


def test_machine_is_registered_and_covers_its_registers() -> None:
    assert machine("toy") is MACHINE
    spans = sorted((v.offset, v.offset + v.size) for v in MACHINE.container_vars())
    assert all(left[1] <= right[0] for left, right in pairwise(spans))
    assert all(v.space is Space.REGISTER for v in MACHINE.registers.values())
    assert set(MACHINE.containers) - set(MACHINE.initial) == {"r0"}
