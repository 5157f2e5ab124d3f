"""Operands are read from the bytes. What SLEIGH prints is a second opinion on them, for every form."""

from __future__ import annotations

import random

import pytest
from printed_operands import printed_operands

from isoform.isa.registry import machine
from isoform.isa.sleigh import Decoded
from isoform.isa.x86_64.encoded import operands
from isoform.isa.x86_64.machine import DECODER
from isoform.isa.x86_64.opcode_lines import OPCODE_LINES
from isoform.isa.x86_64.operands import (
    ImmediateOperand,
    MemoryOperand,
    NoSemanticsError,
    Operand,
    Register,
    prefixes,
    register,
)
from isoform.isa.x86_64.registers import REGISTERS
from isoform.model.microop import Kind
from semantics.encoding import CODE_ADDRESS, Encoder
from semantics.forms import all_forms
from semantics.host_oracle import HostOracle, is_available
from semantics.state import draw

SEED = 31
QUICK, MANY = 3, 60
"""Encodings of each form."""
_ADDRESS_SIZE = 0x67

_MISPRINTED = {
    "EXTRACTPS": "a register and memory of 64 bits, where 32 are written",
    "PINSRB": "memory of 32 bits, where 8 are read",
    "PINSRQ": "behind 67, memory of 32 bits, where 64 are read",
    "VBLENDPD": "the bits of the control byte that count",
    "PCLMULQDQ": "no control byte where the name says it",
    "VPCLMULQDQ": "no control byte where the name says it",
    "ENDBR64": "no operand of this hint",
}
"""What SLEIGH prints of these is not what their bytes say."""


def _decoded(code: bytes) -> Decoded | None:
    decoded = DECODER.sleigh(code, CODE_ADDRESS)
    return decoded if isinstance(decoded, Decoded) else None


def _read(code: str) -> tuple[Operand, ...]:
    decoded = _decoded(bytes.fromhex(code))
    assert decoded is not None
    return operands(decoded, prefixes(decoded.code))


def _width(read: tuple[Operand, ...]) -> int:
    """Bytes of a number that count: those of the operand it is applied to."""
    sizes = [operand.var.size for operand in read if isinstance(operand, Register)]
    sizes += [operand.size for operand in read if isinstance(operand, MemoryOperand) and operand.size]
    return min(8, *sizes) if sizes else 8


def _agree(read: Operand, printed: Operand, width: int) -> bool:
    """SLEIGH prints some numbers with a sign and others without, and leaves out the size of some operands."""
    if isinstance(read, ImmediateOperand) and isinstance(printed, ImmediateOperand):
        return (read.value - printed.value) % (1 << 8 * width) == 0
    if not isinstance(read, MemoryOperand) or not isinstance(printed, MemoryOperand):
        return read == printed
    registers = [var for var in (read.base, read.index) if var is not None]
    bits = 8 * registers[0].size if registers else 64
    same_place = (read.segment, read.base, read.index, read.scale) == (
        printed.segment,
        printed.base,
        printed.index,
        printed.scale,
    )
    same_displacement = (read.displacement - printed.displacement) % (1 << bits) == 0
    return same_place and same_displacement and printed.size in (None, read.size)


def _disagreements(encodings: int, seed: int) -> tuple[int, list[str]]:
    rng = random.Random(seed)
    compared, found = 0, []
    for form in all_forms():
        for _ in range(encodings):
            code = Encoder(form, rng).encode().code
            decoded = _decoded(code)
            if form.mnemonic in _MISPRINTED or (decoded is None and _ADDRESS_SIZE in code):
                continue
            assert decoded is not None, code.hex()
            read, printed = operands(decoded, prefixes(code)), printed_operands(decoded)
            compared += 1
            if len(read) != len(printed) or not all(map(_agree, read, printed, [_width(read)] * len(read))):
                found.append(f"{code.hex()} {form.name}: {decoded.operands}")
    return compared, found


def test_operands_read_from_the_bytes_are_those_that_are_printed() -> None:
    compared, found = _disagreements(QUICK, SEED)
    assert not found, f"seed {SEED}: {found[:5]}"
    assert compared > 2.9 * len(all_forms())


@pytest.mark.long
def test_operands_of_many_encodings_are_those_that_are_printed() -> None:
    compared, found = _disagreements(MANY, SEED + 1)
    assert not found, f"seed {SEED + 1}: {found[:5]}"
    assert compared > (MANY - 2) * len(all_forms())


@pytest.mark.usefixtures("changed_tables")
def test_a_wrong_line_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    from isoform.isa.x86_64 import encoded

    monkeypatch.setitem(encoded._TEXTS, (None, 0, 0x01), "Gv,Ev")
    _, found = _disagreements(1, SEED)
    assert any(" add " in line for line in found)


def _memory(base: str | None, index: str | None, scale: int, displacement: int, size: int | None) -> MemoryOperand:
    return MemoryOperand(
        "", REGISTERS[base] if base else None, REGISTERS[index] if index else None, scale, displacement, size
    )


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("00e5", (register("ch"), register("ah"))),
        ("4000e5", (register("bpl"), register("spl"))),
        ("66 41 03 44 4b fe", (register("ax"), _memory("r11", "rcx", 2, -2, 2))),
        ("67 8b 40 80", (register("eax"), _memory("eax", None, 1, -128, 4))),
        ("8b 05 fcffffff", (register("eax"), _memory(None, None, 1, CODE_ADDRESS + 2, 4))),
        ("4a 8b 04 25 00000080", (register("rax"), _memory(None, "r12", 1, -(1 << 31), 8))),
        ("48 b8 ffffffffffffffff", (register("rax"), ImmediateOperand(-1))),
        ("66 41 50", (register("r8w"),)),
        ("d3 f8", (register("eax"), register("cl"))),
        ("eb fe", (ImmediateOperand(CODE_ADDRESS),)),
        ("f2 48 0f 2c 0f", (register("rcx"), _memory("rdi", None, 1, 0, 8))),
        ("66 0f 73 dc 03", (register("xmm4"), ImmediateOperand(3))),
        ("c5 f9 73 dc 03", (register("xmm0"), register("xmm4"), ImmediateOperand(3))),
        (
            "c4 c3 6d 4b 48 10 f0",
            (register("ymm1"), register("ymm2"), _memory("r8", None, 1, 16, 32), register("ymm15")),
        ),
        ("c4 e2 7d 21 00", (register("ymm0"), _memory("rax", None, 1, 0, 8))),
        ("c4 e2 f0 f3 c8", (register("rcx"), register("rax"))),
    ],
)
def test_operands_of_some_encodings(code: str, expected: tuple[Operand, ...]) -> None:
    assert _read(code.replace(" ", "")) == expected


def test_no_opcode_is_in_two_lines() -> None:
    seen: set[tuple[str, str, int]] = set()
    for line in OPCODE_LINES:
        prefix, _, *opcodes = line.split()
        for opcode in opcodes:
            first, _, last = opcode.partition("-")
            stem, _, digit = first.partition("/")
            for number in range(int(stem, 16), int(last or stem, 16) + 1):
                key = (prefix, digit, number | len(stem) << 32)
                assert key not in seen, line
                seen.add(key)


FAULTING = {
    "fe23": "no member of the group of inc, though SLEIGH calls it so",
    "f0ff13": "lock before a call, which SLEIGH calls inc",
    "0f5003": "movmskps of memory",
    "660fc50301": "pextrw of memory",
    "660ff703": "maskmovdqu of memory",
    "c4e27d1ac0": "vbroadcastf128 of a register",
    "c5e85b03": "vcvtdq2ps with VEX.vvvv, which is no operand",
    "c5ea1003": "vmovss from memory with VEX.vvvv, which is no operand then",
    "c5e877": "vzeroupper with VEX.vvvv",
}
"""Bytes that SLEIGH decodes and that are undefined instructions."""


def _is_unsupported(code: str) -> bool:
    instruction = machine("x86_64").decode(bytes.fromhex(code), CODE_ADDRESS)
    return [op.kind for op in instruction.ops] == [Kind.UNSUPPORTED]


@pytest.mark.parametrize("code", FAULTING)
def test_what_processors_fault_on_has_no_semantics(code: str) -> None:
    assert _is_unsupported(code), FAULTING[code]


@pytest.mark.skipif(not is_available(), reason="no processor of this kind here")
def test_processors_do_fault_on_it() -> None:
    rng = random.Random(SEED)
    form = next(form for form in all_forms() if form.memory)
    host = HostOracle()
    try:
        for code, why in FAULTING.items():
            state = draw(form, Encoder(form, rng).encode(), rng)
            assert host.run(bytes.fromhex(code), state, branch=False).fault == "undefined instruction", why
    finally:
        host.close()


def test_several_segments_have_no_semantics_where_one_of_them_counts() -> None:
    assert _is_unsupported("642e8b03")  # fs, and cs after it, which SLEIGH takes to undo it and processors do not
    assert _is_unsupported("64658b03")
    assert not _is_unsupported("64648b03")
    assert not _is_unsupported("2e368b03")


def test_bytes_of_another_length_than_sleigh_says_have_no_semantics() -> None:
    decoded = _decoded(bytes.fromhex("83c00500"))
    assert decoded is not None
    assert operands(decoded, prefixes(decoded.code)) == (register("eax"), ImmediateOperand(5))
    longer = Decoded(decoded.address, 4, decoded.mnemonic, decoded.operands, bytes.fromhex("83c00500"), None)
    with pytest.raises(NoSemanticsError):
        operands(longer, prefixes(longer.code))
