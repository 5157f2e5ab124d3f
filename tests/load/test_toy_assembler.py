from __future__ import annotations

import time
from functools import partial
from pathlib import Path

import pytest

from isoform.load.text import assemble_text, load_text
from isoform.model.errors import UserError

assemble = partial(assemble_text, "toy")

PAIRS = Path(__file__).parent.parent / "pairs" / "toy"


def code(text: str) -> bytes:
    return assemble(text, "p.toy").sections[0].data


def test_encoding() -> None:
    assert code("MOVXC r2, 15\nRET r2") == bytes([4, 2, 0, 0, 15, 0, 0, 0, 13, 2, 0, 0, 0, 0, 0, 0])


def test_pasted_lines_and_plain_lines_mean_the_same() -> None:
    pasted = "inst(MOVXC, 2, 15), // 0 a comment\n  inst(JMPGT, 0, 2, 1),\ninst(RET, 2),\ninst( RET , 0 )\n"
    plain = "movxc 2 15 ; a comment\nJMPGT r0, r2, 1 # another\n\n// and one\nRET R2\nRET 0x0"
    assert code(pasted) == code(plain)


def test_a_program_that_returns_on_every_path_gets_no_further_return() -> None:
    assert len(code("JMPEQ 0 1 1\nRETC 1\nRETC 2")) == 3 * 8


@pytest.mark.parametrize("text", ["NOP", "JMPEQ 0 1 1\nRETC 1", "RETC 1\nJMP 0"])
def test_a_program_that_can_reach_its_end_returns_r0_there(text: str) -> None:
    assert code(text)[-8:] == bytes([13, 0, 0, 1, 0, 0, 0, 0])


def test_image_for_the_report() -> None:
    image = assemble("; first\n\nMOVXC 0 1\nRET 0", "some/where/p.toy")
    assert str(image.signatures["p"]) == "int p(int r0)"
    assert image.functions["p"].size == 16
    assert {address: line.number for address, line in image.lines.items()} == {0: 3, 8: 4}
    assert image.source["some/where/p.toy"][2] == "MOVXC 0 1"
    assert image.machine == "toy"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("NOP\nMUL 0 1", "p.toy:2: unknown mnemonic 'MUL'"),
        ("inst(MUL, 0, 1),", "p.toy:1: unknown mnemonic 'MUL'"),
        ("\n\nADDXY 0", "p.toy:3: ADDXY takes a register, a register, not 1 operand"),
        ("NOP 1", "p.toy:1: NOP takes no operands, not 1 operand"),
        ("RET 4", "p.toy:1: register '4' is out of range"),
        ("RET r-1", "p.toy:1: register 'r-1' is out of range"),
        ("RET x", "p.toy:1: 'x' is not a register"),
        ("ADDXY 0, r", "p.toy:1: 'r' is not a register"),
        ("RETC 4294967296", "p.toy:1: the constant '4294967296' does not fit in 32 bits"),
        ("RETC -2147483649", "p.toy:1: the constant '-2147483649' does not fit in 32 bits"),
        ("RETC r0", "p.toy:1: 'r0' is not a number"),
        ("RETC " + "9" * 5000, "p.toy:1: '9999"),
        ("RETC ٣", "p.toy:1: '٣' is not a number"),
        ("NOP\nJMP 1", "p.toy:2: JMP by 1 jumps out of range, 1 past the end; the largest offset here is 0"),
        ("JMPEQ 0 1 2\nNOP", "p.toy:1: JMPEQ by 2 jumps out of range"),
        ("NOP\nJMPLE 0 1 -1", "p.toy:2: JMPLE by -1 jumps backward, a loop"),
        ("JMP far", "p.toy:1: 'far' is not a jump offset"),
        ("", "p.toy has no instructions"),
        ("; nothing\n\n// here", "p.toy has no instructions"),
        ("NOP\n\x1b[31mRET 0", "p.toy:2: control characters"),
    ],
)
def test_errors_name_the_line(text: str, complaint: str) -> None:
    with pytest.raises(UserError) as caught:
        assemble(text, "p.toy")
    assert str(caught.value).startswith(complaint)
    assert len(str(caught.value)) < 250
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("value", ["-2147483648", "2147483648", "0x80000000", "+2147483648"])
def test_constants_may_be_signed_or_unsigned(value: str) -> None:
    assert code(f"RETC {value}")[4:] == bytes([0, 0, 0, 0x80])


def test_files_that_are_no_program(tmp_path: Path) -> None:
    binary, large = tmp_path / "binary.toy", tmp_path / "large.toy"
    binary.write_bytes(b"\x7fELF\x02\xff\xfe")
    large.write_bytes(b"NOP\n" * (1 << 19))
    for path, complaint in [
        (tmp_path / "missing.toy", "no such file"),
        (tmp_path, "not a regular file"),
        (binary, "not a text file"),
        (large, "larger than 1 MiB"),
        (Path("/dev/zero"), "not a regular file"),
    ]:
        with pytest.raises(UserError, match=complaint):
            load_text("toy", path)


def test_the_largest_file_assembles_in_seconds() -> None:
    started = time.monotonic()
    assert len(code("JMP 1\n" * 170_000 + "NOP")) > 1_000_000
    assert time.monotonic() - started < 20


def test_every_program_of_the_pairs_assembles() -> None:
    programs = sorted(PAIRS.glob("*.toy"))
    assert len(programs) >= 24
    for path in programs:
        load_text("toy", path)
