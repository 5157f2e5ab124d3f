"""A machine state before or after one instruction, and how states are drawn."""

from __future__ import annotations

import random
from dataclasses import dataclass

from isoform.model.sample_floats import sample_float
from semantics.encoding import DATA_ADDRESS, DATA_SIZE, GENERAL, TARGET_HIGH, TARGET_LOW, Encoded, Template
from semantics.x86_float_forms import FLOAT_MNEMONICS

FLAGS = ("cf", "pf", "zf", "sf", "of", "df")
VECTORS = tuple(range(16))
_STRING_INSTRUCTIONS = ("MOVS", "CMPS", "STOS", "LODS", "SCAS")
_PART = 512
_SPECIAL = (0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 33, 63, 64, 127, 128, 255, 256)


@dataclass
class State:
    general: dict[str, int]
    flags: dict[str, int]
    vectors: list[int]
    """32 bytes each."""
    memory: bytes
    """Of the data window."""
    next_address: int = 0
    fault: str = ""
    """Empty, or the reason; the rest then means nothing."""


def draw(template: Template, encoded: Encoded, rng: random.Random) -> State:
    general = {name: _number(rng) for name in GENERAL}
    _make_some_equal(rng, general)
    general["rsp"] = DATA_ADDRESS + 0x1000 + rng.randrange(-64, 64)
    general["rbp"] = rng.randrange(TARGET_LOW, TARGET_HIGH) if template.mnemonic == "LEAVE" else general["rbp"]
    _pin_by_mnemonic(template, rng, general)
    general.update(encoded.pins)
    _cut_bit_index(template, encoded, rng, general)
    state = State(
        general=general,
        flags={name: rng.getrandbits(1) for name in FLAGS},
        vectors=_vectors(rng) if _uses_vectors(template) else _any_vectors(rng),
        memory=_memory(rng, general),
    )
    if template.mnemonic.removeprefix("V") in FLOAT_MNEMONICS:
        _put_floats(rng, state)
    _make_division_fit(template, rng, state)
    return state


def _number(rng: random.Random) -> int:
    choice = rng.random()
    if choice < 0.4:
        return rng.getrandbits(64)
    if choice < 0.6:
        value = rng.choice(_SPECIAL)
    elif choice < 0.8:
        value = rng.choice((1 << 7, 1 << 8, 1 << 15, 1 << 16, 1 << 31, 1 << 32, 1 << 63)) + rng.choice((-2, -1, 0, 1))
    else:
        value = rng.getrandbits(64) >> rng.randrange(64)
    value = -value if rng.random() < 0.3 else value
    upper = rng.getrandbits(32) << 32 if rng.random() < 0.3 else 0
    return (value ^ upper) & (1 << 64) - 1


def _make_some_equal(rng: random.Random, general: dict[str, int]) -> None:
    """Comparisons that hold are rare among random numbers."""
    for name in GENERAL:
        if rng.random() < 0.25:
            general[name] = general[rng.choice(("rax", "rdx", rng.choice(GENERAL)))]


def _pin_by_mnemonic(template: Template, rng: random.Random, general: dict[str, int]) -> None:
    name = template.mnemonic
    if name.startswith(_STRING_INSTRUCTIONS) and not template.operands:
        general["rsi"] = rng.randrange(TARGET_LOW + 0x100, TARGET_HIGH - 0x100)
        general["rdi"] = rng.choice((rng.randrange(TARGET_LOW + 0x100, TARGET_HIGH - 0x100), general["rsi"] + 1))
        general["rcx"] = rng.randrange(8)
    elif name.endswith("MASKMOVDQU"):
        general["rdi"] = rng.randrange(TARGET_LOW, TARGET_HIGH)
    elif name == "XLATB":
        general["rbx"] = rng.randrange(TARGET_LOW, TARGET_HIGH)
    elif name in ("JMP", "CALL"):
        general.update({register: TARGET_LOW + rng.randrange(0x400) for register in GENERAL if register != "rsp"})


def _cut_bit_index(template: Template, encoded: Encoded, rng: random.Random, general: dict[str, int]) -> None:
    """A bit string reaches as far as its index says: keep it within the data."""
    if template.bit_string:
        bits = 8 * template.width
        for name in set(GENERAL) - set(encoded.pins) - {"rsp"}:
            small = rng.randrange(-0x1000, 0x1000)
            upper = rng.getrandbits(64) >> bits << bits if bits < 64 else 0
            general[name] = small & (1 << bits) - 1 | upper


def _make_division_fit(template: Template, rng: random.Random, state: State) -> None:
    """Random dividends nearly always overflow: let most quotients fit."""
    if template.mnemonic in ("DIV", "IDIV") and rng.random() < 0.7:
        state.general["rdx"] = rng.choice((0, 0, 1, (1 << 64) - 1))
        if template.width == 0:
            state.general["rax"] &= ~0xFF00 | rng.choice((0, 0x100, 0xFF00))


def _uses_vectors(template: Template) -> bool:
    return template.vector > 0 or any(operand[0] in "VHUWL" for operand in template.operands)


def _any_vectors(rng: random.Random) -> list[int]:
    """For instructions that only have to leave them alone."""
    data = rng.randbytes(32 * len(VECTORS))
    return [int.from_bytes(data[32 * number : 32 * number + 32], "little") for number in VECTORS]


def _vectors(rng: random.Random) -> list[int]:
    drawn = [int.from_bytes(_lanes(rng), "little") for _ in VECTORS]
    for number in VECTORS:
        if rng.random() < 0.2:
            drawn[number] = drawn[rng.randrange(16)]
        elif rng.random() < 0.1:
            drawn[number] = drawn[rng.randrange(16)] ^ (1 << rng.randrange(256))
        elif rng.random() < 0.15:
            # A small count in the low part, for shifts by a vector.
            drawn[number] = drawn[number] >> 64 << 64 | rng.randrange(70)
    return drawn


def _lanes(rng: random.Random) -> bytes:
    data = bytearray(rng.randbytes(32))
    for _ in range(rng.randrange(24)):
        size = rng.choice((1, 2, 4, 8))
        at = rng.randrange(32 // size) * size
        value = rng.choice((0, 1, -1, 1 << 8 * size - 1, (1 << 8 * size - 1) - 1, 2, rng.randrange(8 * size)))
        data[at : at + size] = (value & (1 << 8 * size) - 1).to_bytes(size, "little")
    return bytes(data)


def _floats(rng: random.Random, length: int) -> bytes:
    """Singles and doubles side by side."""
    data = b""
    while len(data) < length:
        size = rng.choice((4, 8))
        data += b"".join(sample_float(rng, size).to_bytes(size, "little") for _ in range(8 // size))
    return data


def _put_floats(rng: random.Random, state: State) -> None:
    state.vectors = [int.from_bytes(_floats(rng, 32), "little") for _ in VECTORS]
    for number in VECTORS:
        if rng.random() < 0.25:
            state.vectors[number] = state.vectors[rng.randrange(16)]
    state.memory = _floats(rng, 256) * (DATA_SIZE // 256)


def _memory(rng: random.Random, general: dict[str, int]) -> bytes:
    """A part that repeats: an instruction reads a few bytes of it, and drawing all takes longer than the rest."""
    data = bytearray(rng.randbytes(64) * (_PART // 64))
    for _ in range(_PART // 32):
        at = rng.randrange(_PART - 8)
        data[at : at + 8] = (_number(rng) if rng.random() < 0.7 else general["rax"]).to_bytes(8, "little")
    return bytes(data) * (DATA_SIZE // _PART)
