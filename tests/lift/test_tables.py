"""Jump tables: which addresses a computed jump may go to. What is missed is left open, what is found must be right."""

from __future__ import annotations

from collections.abc import Iterable

from isoform.lift.tables import MOST_ENTRIES, jump_targets
from isoform.load.image import Image, Section
from isoform.model.microop import Kind, MicroOp, Space, Var, const

TABLE, CODE = 0x4000, 0x1000
CASES = (0x1010, 0x1030, 0x1020)
INDEX = Var(Space.REGISTER, 0, 8)


def temp(number: int, size: int = 8) -> Var:
    return Var(Space.TEMP, 16 * number, size)


def image(data: bytes, writable: bool = False) -> Image:
    code = Section(".text", CODE, bytes(0x100), 0x100, False, True)
    table = Section(".rodata", TABLE, data, len(data), writable, False)
    return Image("f.o", "x86_64", (code, table), ())


def words(values: Iterable[int], size: int) -> bytes:
    return b"".join(value.to_bytes(size, "little", signed=value < 0) for value in values)


def is_code(address: int) -> bool:
    return CODE <= address < CODE + 0x100


ABSOLUTE = [
    MicroOp(Kind.INT_MULT, temp(0), (INDEX, const(8, 8))),
    MicroOp(Kind.INT_ADD, temp(1), (const(TABLE, 8), temp(0))),
    MicroOp(Kind.LOAD, temp(2), (temp(1),)),
]
"""jmp [table + 8*index]"""
RELATIVE = [
    MicroOp(Kind.COPY, temp(0), (const(TABLE, 8),)),
    MicroOp(Kind.INT_LEFT, temp(1), (INDEX, const(2, 1))),
    MicroOp(Kind.INT_ADD, temp(2), (temp(0), temp(1))),
    MicroOp(Kind.LOAD, temp(3, 4), (temp(2),)),
    MicroOp(Kind.INT_SEXT, temp(4), (temp(3, 4),)),
    MicroOp(Kind.INT_ADD, temp(5), (temp(4), temp(0))),
]
"""lea rdx, table; movsxd rax, [rdx + 4*index]; add rax, rdx; jmp rax"""


def test_a_table_of_addresses() -> None:
    found = jump_targets(ABSOLUTE, temp(2), image(words((*CASES, 0), 8)), is_code)
    assert found == list(CASES)


def test_a_table_of_distances() -> None:
    distances = [case - TABLE for case in CASES]
    assert jump_targets(RELATIVE, temp(5), image(words((*distances, 0), 4)), is_code) == list(CASES)


def test_distances_are_signed_only_where_the_code_extends_them_so() -> None:
    distances = [case - TABLE for case in CASES]
    zero_extended = [op if op.kind is not Kind.INT_SEXT else MicroOp(Kind.INT_ZEXT, op.out, op.ins) for op in RELATIVE]
    assert jump_targets(zero_extended, temp(5), image(words(distances, 4)), is_code) is None


def test_the_end_of_the_section_ends_the_table() -> None:
    assert jump_targets(ABSOLUTE, temp(2), image(words(CASES, 8)), is_code) == list(CASES)
    assert jump_targets(ABSOLUTE, temp(2), image(words(CASES, 8)[:-1]), is_code) == list(CASES[:2])


def test_entries_apart() -> None:
    """Structures of 16 bytes, each with an address at its start."""
    apart = [MicroOp(Kind.INT_MULT, temp(0), (INDEX, const(16, 8))), *ABSOLUTE[1:]]
    data = words([word for case in CASES for word in (case, 0x1050)], 8)
    assert jump_targets(apart, temp(2), image(data), is_code) == list(CASES)


def test_a_table_that_may_be_written_says_nothing() -> None:
    assert jump_targets(ABSOLUTE, temp(2), image(words(CASES, 8), writable=True), is_code) is None


def test_an_address_that_is_known() -> None:
    ops = [
        MicroOp(Kind.COPY, temp(0), (const(0x1000, 8),)),
        MicroOp(Kind.INT_ADD, temp(1), (temp(0), const(0x40, 8))),
    ]
    assert jump_targets(ops, temp(1), image(b""), is_code) == [0x1040]


def test_an_address_from_elsewhere() -> None:
    through_memory = [MicroOp(Kind.LOAD, temp(0), (INDEX,))]
    assert jump_targets(through_memory, temp(0), image(words(CASES, 8)), is_code) is None
    assert jump_targets([], INDEX, image(words(CASES, 8)), is_code) is None


def test_a_value_that_is_written_over_is_forgotten() -> None:
    """Half of the table's address is written over before it is used."""
    over = MicroOp(Kind.COPY, temp(0, 4), (Var(Space.REGISTER, 8, 4),))
    found = jump_targets([*RELATIVE[:1], over, *RELATIVE[1:]], temp(5), image(words(CASES, 4)), is_code)
    assert found is None


def test_there_is_an_end_to_it() -> None:
    data = words([0x1010] * (MOST_ENTRIES + 10), 8)
    assert jump_targets(ABSOLUTE, temp(2), image(data), is_code) == [0x1010] * MOST_ENTRIES
