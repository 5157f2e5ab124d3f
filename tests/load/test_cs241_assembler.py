from __future__ import annotations

import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from isoform.load.text import assemble_text, load_text
from isoform.model.errors import UserError

assemble = partial(assemble_text, "cs241")

PAIRS = Path(__file__).parent.parent / "pairs" / "cs241"


def words(text: str) -> list[int]:
    data = assemble(text, "p.asm").sections[0].data
    return [int.from_bytes(data[n : n + 4], "big") for n in range(0, len(data), 4)]


@pytest.mark.parametrize(
    ("line", "word"),
    [
        # Encodings from the course's reference sheet.
        ("add $3, $1, $2", 0x0022_1820),
        ("sub $3, $1, $2", 0x0022_1822),
        ("mult $1, $2", 0x0022_0018),
        ("multu $1, $2", 0x0022_0019),
        ("div $1, $2", 0x0022_001A),
        ("divu $1, $2", 0x0022_001B),
        ("mfhi $3", 0x0000_1810),
        ("mflo $3", 0x0000_1812),
        ("lw $3, 4($30)", 0x8FC3_0004),
        ("lw $3, -4 ( $30 )", 0x8FC3_FFFC),
        ("lw $3, ($30)", 0x8FC3_0000),
        ("sw $31, -8($30)", 0xAFDF_FFF8),
        ("sw $4, 0, $5", 0xACA4_0000),
        ("sw $4, 0xfffc($5)", 0xACA4_FFFC),
        ("slt $3, $1, $2", 0x0022_182A),
        ("sltu $3, $1, $2", 0x0022_182B),
        ("beq $1, $2, 3", 0x1022_0003),
        ("bne $1, $2, -1", 0x1422_FFFF),
        ("bne $1, $2, 0xffff", 0x1422_FFFF),
        ("jr $31", 0x03E0_0008),
        ("JALR $5", 0x00A0_0009),
        (".word 0xdeadbeef", 0xDEAD_BEEF),
        (".word -1", 0xFFFF_FFFF),
    ],
)
def test_encoding(line: str, word: int) -> None:
    assert words(line)[0] == word


HOME = 0x03E0_0008


def test_labels_and_branches() -> None:
    text = """
    start: begin:          ; two labels, one place
      beq $0, $0, end      # forward
      bne $1, $2, start    // backward
    alone:
    end: jr $31
    """
    assert words(text) == [0x1000_0001, 0x1422_FFFE, HOME]


def test_a_label_as_a_value() -> None:
    expected = [0x0000_2814, 12, HOME, 12]
    assert words("lis $5\n.word here\njr $31\nhere: .word here") == expected
    assert words("lis $5\nhere\njr $31\nhere: .word here") == expected


def test_a_bare_number_after_lis() -> None:
    assert words("lis $5\n\n  ; a comment\n42\njr $31") == [0x0000_2814, 42, HOME]


def test_an_immediate_goes_through_a_register_the_program_does_not_mention() -> None:
    assert words("add $4, $0, 7") == [0x0000_E814, 7, 0x001D_2020, HOME]
    assert words("add $29, $28, 7") == [0x0000_D814, 7, 0x039B_E820, HOME]


def test_the_register_of_an_immediate_is_not_one_of_an_instruction_given_as_a_word() -> None:
    assert words("add $4, $0, 7\n.word 0x03a01820\njr $31")[0] == 0x0000_E014


def test_an_immediate_zero_is_register_zero() -> None:
    assert words("beq 0, 0, 1\njr $31") == [0x1000_0001, HOME]


def test_two_immediates_in_one_instruction() -> None:
    assert words("mult 6, -7") == [0x0000_E814, 6, 0x0000_E014, 0xFFFF_FFF9, 0x03BC_0018, HOME]


def test_branches_to_labels_count_expanded_instructions() -> None:
    assert words("bne $1, 42, end\nadd $3, $3, 1\nend: jr $31") == [
        0x0000_E814, 42, 0x143D_0003,
        0x0000_E814, 1, 0x007D_1820,
        HOME,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "appended"),
    [
        ("add $3, $1, $2", True),
        ("jr $31", False),
        ("jr $31\nend:", True),
        ("jr $31\n.word 5", False),
        ("jr $31\nlis $4\n5", True),
        ("jalr $4", True),
        ("lis $3\njr $31", True),
        ("lis $3\n.word 20\njr $31", False),
        ("lis $3\nlis $4\njr $31", False),
        (".word 0x03e00008", False),
        (".word 0x00221820", True),
    ],
)
def test_a_program_that_can_run_off_its_end_goes_home(text: str, appended: bool) -> None:
    written = sum(1 for line in text.split("\n") if not line.endswith(":"))
    found = words(text)
    assert len(found) == written + appended
    assert not appended or found[-1] == HOME


def test_image_for_the_report() -> None:
    image = assemble("# first\nadd $4, $1, 5\nx: jr $31", "some/where/p.asm")
    assert str(image.signatures["p"]) == "int p(int $1, int $2)"
    assert {address: line.number for address, line in image.lines.items()} == {0: 2, 4: 2, 8: 2, 12: 3}
    assert image.source["some/where/p.asm"][1] == "add $4, $1, 5"
    (section,) = image.sections
    assert (section.address, section.executable, section.writable, image.machine) == (0, True, True, "cs241")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("jr $31\nmove $3, $4", "p.asm:2: unknown mnemonic 'move'"),
        ("add $3, $1", "p.asm:1: add takes a register, a register, a register, separated by commas, not '$3, $1'"),
        ("add $3 $1 $2", "p.asm:1: add takes"),
        ("jr", "p.asm:1: jr takes a register"),
        ("lw $3, 4", "p.asm:1: lw takes a register, a number, a register"),
        ("add $3, $1, $32", "p.asm:1: register '$32' is out of range; cs241 has $0 to $31"),
        ("add 3, $1, $2", "p.asm:1: '3' is not a register"),
        ("add $3, $1, $2 $4", "p.asm:1: '$2 $4' is not a register"),
        ("jr 5", "p.asm:1: '5' is not a register"),
        ("add $3, $1, 0x100000000", "p.asm:1: the constant '0x100000000' does not fit in 32 bits"),
        (".word 4294967296", "p.asm:1: the constant '4294967296' does not fit in 32 bits"),
        (".word", "p.asm:1: .word takes a number or a label, not ''"),
        (".word a b", "p.asm:1: .word takes a number or a label"),
        ("lw $3, 32768($1)", "p.asm:1: the offset '32768' is out of range"),
        ("lw $3, 0x10000($1)", "p.asm:1: the offset '0x10000' is out of range"),
        ("beq $1, $2, -32769", "p.asm:1: the offset '-32769' is out of range"),
        ("lw $3, x($1)", "p.asm:1: 'x' is not a number"),
        ("a: jr $31\n\na: jr $31", "p.asm:3: label 'a' is defined twice"),
        ("beq $1, $2, nowhere", "p.asm:1: undefined label 'nowhere'"),
        ("jr $31\n.word nowhere", "p.asm:2: undefined label 'nowhere'"),
        ("jr $31\n42", "p.asm:2: the bare number '42' may only follow lis; write .word 42"),
        ("lis $5", "p.asm:1: lis needs a value on the next line"),
        ("x: beq $0, $0, far\n" + "jr $31\n" * 32768 + "far: jr $31", "p.asm:1: label 'far' is 32768 words away"),
        ("x: jr $31\n" + "jr $31\n" * 32768 + "beq $0, $0, x", "p.asm:32770: label 'x' is -32770 words away"),
        ("beq $1, $2, 3\nadd $3, $3, 1\njr $31", "p.asm:1: a branch by a number crosses line 2"),
        ("add $3, $3, 1\nbeq $1, $2, -2\njr $31", "p.asm:2: a branch by a number crosses line 1"),
        ("bne $1, 5, -1", "p.asm:1: a branch by a number crosses line 1"),
        (
            "\n".join(f"add ${n}, $0, $0" for n in range(32)) + "\nadd $3, $1, 5",
            "p.asm:33: an immediate needs a register",
        ),
        ("", "p.asm has no instructions"),
        ("# only\n\nlabel:", "p.asm has no instructions"),
        ("jr $31\n\x00", "p.asm:2: control characters"),
    ],
)
def test_errors_name_the_line(text: str, complaint: str) -> None:
    with pytest.raises(UserError) as caught:
        assemble(text, "p.asm")
    assert str(caught.value).startswith(complaint)
    assert len(str(caught.value)) < 250


def test_branches_reach_as_far_as_they_can() -> None:
    assert words("beq $0, $0, far\n" + "jr $31\n" * 32767 + "far: jr $31")[0] == 0x1000_7FFF


def test_a_branch_by_a_number_may_stand_beside_immediates() -> None:
    assert words("bne $1, 5, 1\nmflo $4\nadd $3, $3, 1\njr $31")[2] == 0x143D_0001


@pytest.mark.parametrize(
    "text",
    [
        "beq $1, $2, 1\n" * 70_000,
        "add $3, 1, 2\n" * 70_000,
        "jr $31\n" + "".join(f"l{n}:" for n in range(130_000)),
        "jr $31 " + " " * 1_000_000,
        "(" * 1_000_000,
        "lw $1, " + "(" * 1_000_000,
        ",".join(["add"] * 200_000),
    ],
)
def test_large_and_odd_files_are_done_in_seconds(text: str) -> None:
    started = time.monotonic()
    with suppress(UserError):
        assemble(text, "p.asm")
    assert time.monotonic() - started < 20


def test_every_program_of_the_pairs_assembles() -> None:
    programs = sorted(PAIRS.glob("*.asm"))
    assert len(programs) >= 50
    for path in programs:
        load_text("cs241", path)
