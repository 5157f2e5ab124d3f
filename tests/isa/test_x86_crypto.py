"""AES and SHA instructions on known answers; every form also runs against independent CPUs in `test_x86_semantics`."""

from __future__ import annotations

import hashlib
import struct

import pytest

from isoform.isa.registry import machine
from isoform.isa.x86_64.builder import Builder
from isoform.isa.x86_64.crypto import mix_columns, mix_columns_back, substitute, substitute_back
from isoform.model.evaluate import evaluate
from isoform.model.microop import Space, Var, const
from semantics import ours
from semantics.encoding import CODE_ADDRESS, DATA_ADDRESS, DATA_SIZE, GENERAL
from semantics.state import FLAGS, State

MACHINE = machine("x86_64")
MASK = (1 << 128) - 1


def computed(b: Builder, result: Var) -> int:
    """The value of a temporary, by the defining table."""
    values: dict[Var, int] = {}
    for op in b.ops:
        assert op.out is not None
        ins = [var.offset if var.space is Space.CONST else values[var] for var in op.ins]
        values[op.out] = evaluate(op.kind, op.out.size, [var.size for var in op.ins], ins)
    return values[result]


def product(x: int, y: int) -> int:
    """In the field of AES, whose polynomial is x^8 + x^4 + x^3 + x + 1."""
    total = 0
    for n in range(8):
        if y >> n & 1:
            total ^= x << n
    for n in range(14, 7, -1):
        if total >> n & 1:
            total ^= 0x11B << (n - 8)
    return total


def box(x: int) -> int:
    inverse = next((y for y in range(256) if product(x, y) == 1), 0)
    rotations = (inverse << n | inverse >> (8 - n) for n in range(5))
    result = 0x63
    for rotation in rotations:
        result ^= rotation & 0xFF
    return result


def on_blocks(operator: object, values: list[int]) -> list[int]:
    found: list[int] = []
    for start in range(0, len(values), 16):
        b = Builder(0, 1)
        block = bytes(values[start : start + 16])
        result = operator(b, b.hold(const(int.from_bytes(block, "little"), 16)))  # type: ignore[operator]
        found += computed(b, result).to_bytes(16, "little")
    return found


def test_the_circuit_is_the_table_of_the_cipher() -> None:
    table = [box(x) for x in range(256)]
    assert table[:4] == [0x63, 0x7C, 0x77, 0x7B]
    assert on_blocks(substitute, list(range(256))) == table
    assert on_blocks(substitute_back, table) == list(range(256))


def test_mixing_columns_back_undoes_it() -> None:
    column = [0xDB, 0x13, 0x53, 0x45, 0xF2, 0x0A, 0x22, 0x5C, 1, 1, 1, 1, 0xD4, 0xD4, 0xD4, 0xD5]
    mixed = on_blocks(mix_columns, column)
    assert mixed == [0x8E, 0x4D, 0xA1, 0xBC, 0x9F, 0xDC, 0x58, 0x9D, 1, 1, 1, 1, 0xD5, 0xD5, 0xD7, 0xD6]
    assert on_blocks(mix_columns_back, mixed) == column


def execute(code: str, vectors: dict[int, int]) -> list[int]:
    """Vector registers after the instructions."""
    state = State(
        {**dict.fromkeys(GENERAL, 0), "rsp": DATA_ADDRESS + 0x1000},
        dict.fromkeys(FLAGS, 0),
        [vectors.get(n, 0) for n in range(16)],
        bytes(DATA_SIZE),
    )
    left = bytes.fromhex(code)
    while left:
        instruction = MACHINE.decode(left, CODE_ADDRESS)
        state = ours.run(instruction, state, undefined=False)
        assert not state.fault
        left = left[instruction.length :]
    return state.vectors


def number(text: str) -> int:
    return int.from_bytes(bytes.fromhex(text), "little")


def test_a_block_of_the_standard() -> None:
    """FIPS 197, appendix C.1: the key schedule by `aeskeygenassist`, ten rounds, and back."""
    key, plain = number("000102030405060708090a0b0c0d0e0f"), number("00112233445566778899aabbccddeeff")
    keys = [key]
    for constant in (1, 2, 4, 8, 16, 32, 64, 128, 0x1B, 0x36):
        assist = execute(f"660f3adfc8{constant:02x}", {0: keys[-1]})[1] >> 96
        words = [keys[-1] >> (32 * n) & 0xFFFFFFFF for n in range(4)]
        for n in range(4):
            assist ^= words[n]
            words[n] = assist
        keys.append(sum(word << (32 * n) for n, word in enumerate(words)))
    state = plain ^ keys[0]
    for round_key in keys[1:10]:
        state = execute("660f38dcc1", {0: state, 1: round_key})[0]  # aesenc xmm0, xmm1
    cipher = execute("660f38ddc1", {0: state, 1: keys[10]})[0]
    assert cipher == number("69c4e0d86a7b0430d8cdb78070b4c55a")
    state = cipher ^ keys[10]
    for round_key in reversed(keys[1:10]):
        mixed = execute("660f38dbc8", {0: round_key})[1]  # aesimc xmm1, xmm0
        state = execute("660f38dec1", {0: state, 1: mixed})[0]  # aesdec xmm0, xmm1
    assert execute("660f38dfc1", {0: state, 1: keys[0]})[0] == plain


def words_of(data: bytes) -> list[int]:
    return list(struct.unpack(">16I", data))


def vector(words: list[int]) -> int:
    return sum(word << (32 * n) for n, word in enumerate(words))


def root_bits(prime: int, degree: int) -> int:
    """The first 32 bits after the point of a root, as SHA-256 takes its constants."""
    scaled, low, high = prime << 32 * degree, 0, 1 << 40
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle**degree <= scaled else (low, middle - 1)
    return low & 0xFFFFFFFF


PRIMES = [p for p in range(2, 312) if all(p % q for q in range(2, p))][:64]


def test_a_block_of_sha256() -> None:
    message = b"abc"
    block = message + b"\x80" + bytes(52) + struct.pack(">Q", 8 * len(message))
    start = [root_bits(p, 2) for p in PRIMES[:8]]
    a, b, c, d, e, f, g, h = start
    upper, lower = vector([f, e, b, a]), vector([h, g, d, c])
    schedule = [vector(words_of(block)[4 * n : 4 * n + 4]) for n in range(4)]
    for step in range(16):
        if step >= 4:
            first = execute("0f38ccc1", {0: schedule[-4], 1: schedule[-3]})[0]  # sha256msg1 xmm0, xmm1
            later = schedule[-1] << 96 & MASK | schedule[-2] >> 32
            total = vector(
                [(first >> s & 0xFFFFFFFF) + (later >> s & 0xFFFFFFFF) & 0xFFFFFFFF for s in (0, 32, 64, 96)]
            )
            schedule.append(execute("0f38cdc1", {0: total, 1: schedule[-1]})[0])  # sha256msg2 xmm0, xmm1
        constants = [root_bits(p, 3) for p in PRIMES[4 * step : 4 * step + 4]]
        keyed = [(schedule[step] >> 32 * n) + k & 0xFFFFFFFF for n, k in enumerate(constants)]
        for pair in (keyed[:2], keyed[2:]):
            lower, upper = upper, execute("0f38cbca", {0: vector(pair), 1: lower, 2: upper})[1]
    f, e, b, a = (upper >> s & 0xFFFFFFFF for s in (0, 32, 64, 96))
    h, g, d, c = (lower >> s & 0xFFFFFFFF for s in (0, 32, 64, 96))
    found = struct.pack(">8I", *((x + y) & 0xFFFFFFFF for x, y in zip(start, (a, b, c, d, e, f, g, h), strict=True)))
    assert found == hashlib.sha256(message).digest()


def test_a_block_of_sha1() -> None:
    message = b"abc"
    block = message + b"\x80" + bytes(52) + struct.pack(">Q", 8 * len(message))
    start = (0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0)
    state, e = vector(list(reversed(start[:4]))), start[4] << 96
    schedule = [vector(list(reversed(words_of(block)[4 * n : 4 * n + 4]))) for n in range(4)]
    for step in range(20):
        if step >= 4:
            first = execute("0f38c9c1", {0: schedule[-4], 1: schedule[-3]})[0]  # sha1msg1 xmm0, xmm1
            schedule.append(execute("0f38cac1", {0: first ^ schedule[-2], 1: schedule[-1]})[0])  # sha1msg2 xmm0, xmm1
        if step == 0:
            keyed = (schedule[0] & (1 << 96) - 1) | ((schedule[0] >> 96) + (e >> 96) & 0xFFFFFFFF) << 96
        else:
            keyed = execute("0f38c8c1", {0: e, 1: schedule[step]})[0]  # sha1nexte xmm0, xmm1
        e, state = state, execute(f"0f3accc1{step // 5:02x}", {0: state, 1: keyed})[0]  # sha1rnds4 xmm0, xmm1, n
    last = execute("0f38c8c1", {0: e, 1: start[4] << 96})[0] >> 96
    words = [*(state >> s & 0xFFFFFFFF for s in (96, 64, 32, 0))]
    found = struct.pack(">5I", *((x + y) & 0xFFFFFFFF for x, y in zip(start[:4], words, strict=True)), last)
    assert found == hashlib.sha1(message).digest()


@pytest.mark.parametrize(
    "code", ["660f38c8c1", "f30f38cbc1", "f20f3accc100", "66480f3a61c11a", "c4e3f961c11a", "66470f38dccc"]
)
def test_what_a_processor_reads_otherwise_has_no_semantics(code: str) -> None:
    from isoform.model.microop import Kind

    assert [op.kind for op in MACHINE.decode(bytes.fromhex(code), CODE_ADDRESS).ops] == [Kind.UNSUPPORTED]
