"""`pcmpistri` and its relatives on strings whose answer is plain; random ones run in `test_x86_semantics`."""

from __future__ import annotations

import pytest

from isoform.isa.registry import machine
from semantics import ours
from semantics.encoding import CODE_ADDRESS, DATA_ADDRESS, DATA_SIZE, GENERAL
from semantics.state import FLAGS, State

ANY, RANGES, EACH, ORDERED = 0x0, 0x4, 0x8, 0xC
INVERTED, VALID_ONLY, LAST, WORDS, SIGNED = 0x10, 0x20, 0x40, 0x1, 0x2


def execute(code: str, first: bytes, second: bytes, **registers: int) -> State:
    """With the operands in xmm1 and xmm2."""
    vectors = [0, *(int.from_bytes(text.ljust(16, b"\0"), "little") for text in (first, second)), *[0] * 13]
    general = {**dict.fromkeys(GENERAL, 0), "rsp": DATA_ADDRESS + 0x1000, "rcx": 1 << 63, **registers}
    before = State(general, dict.fromkeys(FLAGS, 1), vectors, bytes(DATA_SIZE))
    return ours.run(machine("x86_64").decode(bytes.fromhex(code), CODE_ADDRESS), before, undefined=False)


@pytest.mark.parametrize(
    ("first", "second", "steer", "index"),
    [
        (b"aeiou", b"string", ANY, 3),
        (b"aeiou", b"xyz", ANY, 16),
        (b"aeiou", b"aeixyz", ANY | INVERTED, 3),
        (b"aeiou", b"banana", ANY | LAST, 5),
        (b"az09", b"-- x1", RANGES, 3),
        (b"\x80\x10", b"\x20\x90", RANGES | SIGNED, 1),
        (b"\x80\x10", b"\x20\x90", RANGES, 16),
        (b"same string", b"same strIng", EACH | INVERTED, 8),
        (b"same", b"same", EACH | INVERTED | VALID_ONLY, 4),  # where both have ended they agree
        (b"same", b"same", EACH | INVERTED, 16),
        (b"same", b"same and more", EACH | INVERTED, 4),
        (b"need", b"a needle", ORDERED, 2),
        (b"cut off", b"ends in a cut of", ORDERED, 10),
        (b"a\0b\0", b"x\0b\0", ANY | WORDS, 1),
    ],
)
def test_the_index(first: bytes, second: bytes, steer: int, index: int) -> None:
    after = execute(f"660f3a63ca{steer:02x}", first, second)
    assert after.general["rcx"] == index
    assert after.flags["cf"] == (index < (8 if steer & WORDS else 16))
    assert after.flags["zf"] == (len(second) < 16)  # the text ends within the vector
    assert after.flags["sf"] == 1
    assert after.flags["pf"] == 0


def test_strings_that_fill_the_vector_do_not_end_in_it() -> None:
    after = execute("660f3a63ca08", b"0123456789abcdef", b"0123456789abcdef")
    assert (after.flags["zf"], after.flags["sf"], after.flags["of"]) == (0, 0, 1)


@pytest.mark.parametrize(("steer", "mask"), [(ANY, 0b1010), (ANY | LAST, 0xFF00FF00)])
def test_the_mask(steer: int, mask: int) -> None:
    assert execute(f"660f3a62ca{steer:02x}", b"xy", b"axby").vectors[0] == mask


@pytest.mark.parametrize(("length", "index"), [(6, 5), (5, 16), (-6, 5), (1 << 31, 5), (0, 16)])
def test_lengths_are_absolute_values_and_zeros_count(length: int, index: int) -> None:
    found = execute("660f3a61ca00", b"z", b"a\0b\0cz", rax=1, rdx=length & 0xFFFFFFFF)
    assert found.general["rcx"] == index
