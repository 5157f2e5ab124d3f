from __future__ import annotations

from functools import partial

import pytest

from isoform.check.toy import run
from isoform.load.image import Image, Section
from isoform.load.text import assemble_text
from isoform.model.outcome import RETURN_ADDRESS, Inputs, Outcome, Status

assemble = partial(assemble_text, "toy")

MIN, MAX, MINUS_ONE = 0x8000_0000, 0x7FFF_FFFF, 0xFFFF_FFFF


def outcome(text: str, argument: int, fuel: int = 1000) -> Outcome:
    return run(assemble(text, "p.toy"), 0, Inputs({"r0": argument}), fuel, trace=True)


@pytest.mark.parametrize(
    ("text", "argument", "returned"),
    [
        ("ADDXY 0 0", MIN, 0),
        ("ADDXC 0 1", MAX, MIN),
        ("ADDXC 0 -1", 0, MINUS_ONE),
        ("MOVXY 1 0\nRET 1", 9, 9),
        ("MOVXC 1 -5\nMOVXY 0 1", 9, 0xFFFF_FFFB),
        ("RET 1", 9, 0),
        ("MAXX 0 1", MINUS_ONE, 0),
        ("MAXX 0 1", MIN, 0),
        ("MAXX 0 1", MAX, MAX),
        ("MAXC 0 -3", MIN, 0xFFFF_FFFD),
        ("MAXC 0 -3", MINUS_ONE, MINUS_ONE),
        ("JMP 1\nRETC 1\nRETC 2", 0, 2),
        ("JMPEQ 0 1 1\nRETC 1\nRETC 2", 0, 2),
        ("JMPEQ 0 1 1\nRETC 1\nRETC 2", 1, 1),
        ("JMPGT 0 1 1\nRETC 1\nRETC 2", MINUS_ONE, 1),
        ("JMPGT 0 1 1\nRETC 1\nRETC 2", 0, 1),
        ("JMPGT 0 1 1\nRETC 1\nRETC 2", MAX, 2),
        ("JMPGE 0 1 1\nRETC 1\nRETC 2", 0, 2),
        ("JMPGE 0 1 1\nRETC 1\nRETC 2", MIN, 1),
        ("JMPLT 0 1 1\nRETC 1\nRETC 2", MIN, 2),
        ("JMPLT 0 1 1\nRETC 1\nRETC 2", 0, 1),
        ("JMPLE 0 1 1\nRETC 1\nRETC 2", 0, 2),
        ("JMPLE 0 1 1\nRETC 1\nRETC 2", 1, 1),
        ("RETX 0", 3, 3),
        ("NOP", 3, 3),
    ],
)
def test_one_instruction(text: str, argument: int, returned: int) -> None:
    found = outcome(text, argument)
    assert found.status is Status.DONE
    assert found.registers["out"] == returned
    assert found.return_target == RETURN_ADDRESS


def test_steps_trace_and_fuel() -> None:
    text = "JMPEQ 0 1 1\nRETC 1\nNOP\nRETC 2"
    found = outcome(text, 0)
    assert (found.steps, found.trace) == (3, (0, 16, 24))
    assert outcome(text, 0, fuel=3).status is Status.DONE
    assert outcome(text, 0, fuel=2).status is Status.OUT_OF_FUEL


def test_only_r0_is_an_input() -> None:
    found = run(assemble("ADDXY 0 1", "p.toy"), 0, Inputs({"r0": 1, "r1": 7}), 10)
    assert found.registers == {"r0": 1, "r1": 0, "r2": 0, "r3": 0, "out": 1, "ra": RETURN_ADDRESS}


@pytest.mark.parametrize(
    ("data", "reason"), [(b"\x63" + bytes(7), "invalid instruction"), (bytes(8), "jump outside the program")]
)
def test_bytes_no_assembler_made_abort(data: bytes, reason: str) -> None:
    image = Image("p.toy", "toy", (Section(".text", 0, data, len(data), False, True),), ())
    found = run(image, 0, Inputs({}), 10)
    assert (found.status, found.reason) == (Status.ABORTED, reason)
