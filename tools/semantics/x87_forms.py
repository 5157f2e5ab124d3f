"""x87 instructions against independent CPUs. The stack is no part of a state: each form is a short program that loads
its operands from memory, executes one instruction and stores what it left.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from isoform.isa.registry import machine
from isoform.model.microop import Instruction, Kind, MicroOp
from isoform.model.sample_floats import sample_float
from semantics import ours
from semantics.campaign import Oracle, difference
from semantics.encoding import CODE_ADDRESS, DATA_ADDRESS, DATA_SIZE, GENERAL, TARGET_LOW
from semantics.state import FLAGS, VECTORS, State

# Operands are at rbx and 16 bytes above it, results 32 and 48 bytes above it.
_TWO, _ONE = "db6b10 db2b", "db2b"
_STORE_TWO, _STORE_ONE = "db7b20 db7b30", "db7b20"
_ARITHMETIC = {"FADD": 0, "FMUL": 1, "FSUB": 4, "FSUBR": 5, "FDIV": 6, "FDIVR": 7}


def _programs() -> Iterator[tuple[str, str]]:
    yield "FLD m32", f"d903 {_STORE_ONE}"
    yield "FLD m64", f"dd03 {_STORE_ONE}"
    yield "FLD m80", f"db2b {_STORE_ONE}"
    yield "FLD st1", f"{_TWO} d9c1 {_STORE_TWO}"
    for size, load in (("m16", "df03"), ("m32", "db03"), ("m64", "df2b")):
        yield f"FILD {size}", f"{load} {_STORE_ONE}"
    for name, store in (("FST m32", "d95320"), ("FST m64", "dd5320"), ("FIST m16", "df5320"), ("FIST m32", "db5320")):
        yield name, f"{_ONE} {store} ddd8"
    for name, store in (("FSTP m32", "d95b20"), ("FSTP m64", "dd5b20"), ("FISTP m16", "df5b20")):
        yield name, f"{_ONE} {store}"
    for name, store in (("FISTP m32", "db5b20"), ("FISTP m64", "df7b20"), ("FISTTP m16", "df4b20")):
        yield name, f"{_ONE} {store}"
    for name, store in (("FISTTP m32", "db4b20"), ("FISTTP m64", "dd4b20")):
        yield name, f"{_ONE} {store}"
    yield "FST st1", f"{_TWO} ddd1 {_STORE_TWO}"
    yield "FSTP st1", f"{_TWO} ddd9 {_STORE_ONE}"
    yield "FSTP st0", f"{_TWO} ddd8 {_STORE_ONE}"
    yield "FXCH", f"{_TWO} d9c9 {_STORE_TWO}"
    yield "FCHS", f"{_ONE} d9e0 {_STORE_ONE}"
    yield "FABS", f"{_ONE} d9e1 {_STORE_ONE}"
    for number, name in enumerate(("FLD1", "FLDL2T", "FLDL2E", "FLDPI", "FLDLG2", "FLDLN2", "FLDZ")):
        yield name, f"d9{0xE8 + number:02x} {_STORE_ONE}"
    yield "FNSTCW", "d97b20"
    for name, code in (("FUCOMI", "dbe9"), ("FCOMI", "dbf1")):
        yield name, f"{_TWO} {code} {_STORE_TWO}"
    for name, code in (("FUCOMIP", "dfe9"), ("FCOMIP", "dff1")):
        yield name, f"{_TWO} {code} {_STORE_ONE}"
    for name, field_ in _ARITHMETIC.items():
        yield f"{name} st0,st1", f"{_TWO} d8{0xC1 + 8 * field_:02x} {_STORE_TWO}"
        yield f"{name} st1,st0", f"{_TWO} dc{0xC1 + 8 * field_:02x} {_STORE_TWO}"
        yield f"{name}P", f"{_TWO} de{0xC1 + 8 * field_:02x} {_STORE_ONE}"
        for size, opcode in (("m32", "d8"), ("m64", "dc"), ("m32int", "da"), ("m16int", "de")):
            yield f"{name} {size}", f"{_ONE} {opcode}{0x43 + 8 * field_:02x}10 {_STORE_ONE}"
    yield "FLD1 on an empty stack and on", f"{'d9e8' * 2} {_STORE_TWO} {_STORE_ONE}"
    yield "FCHS of an empty register", f"d9e0 {_STORE_ONE}"
    yield "FADD of an empty register", f"{_ONE} d8c1 {_STORE_TWO}"


@dataclass
class Report:
    name: str
    states: int = 0
    disagreements: list[str] = field(default_factory=list)


PROGRAMS = tuple((name, bytes.fromhex("dbe3" + code.replace(" ", ""))) for name, code in _programs())
"""Each after `fninit`, which our side does without: its stack starts empty."""
_INITIALISE = 2


def x87_programs(only: Iterable[str] = ()) -> Iterator[tuple[str, bytes]]:
    """Name and code of every program, or of those that start with one of these mnemonics."""
    wanted = set(only)
    return ((name, code) for name, code in PROGRAMS if not wanted or name.split(" ")[0] in wanted)


def check_x87(name: str, code: bytes, oracle: Oracle, states: int, seed: int) -> Report:
    """Against a processor: the model has too many mistakes here (empty registers, patterns that are no numbers)."""
    rng = random.Random(f"{seed} {name}")
    report = Report(name)
    program = _lifted(code[_INITIALISE:])
    for _ in range(states):
        before = _drawn(rng)
        low, high = (ours.run(program, before, undefined) for undefined in (False, True))
        found = difference(low, high, oracle.run(code, before, False), compare_address=False)
        report.states += 1
        if found and len(report.disagreements) < 3:
            operands = before.memory[TARGET_LOW - DATA_ADDRESS :][:32].hex()
            report.disagreements.append(f"{operands}: {found}")
    return report


def _lifted(code: bytes) -> Instruction:
    """The whole program as one instruction: temporaries never live beyond their own."""
    ops: list[MicroOp] = []
    at = 0
    while at < len(code):
        instruction = machine("x86_64").decode(code[at:], CODE_ADDRESS + at)
        if any(op.kind is Kind.UNSUPPORTED for op in instruction.ops):
            raise ValueError(f"{instruction.text} has no semantics")
        ops += instruction.ops
        at += instruction.length
    return Instruction(CODE_ADDRESS, len(code), "x87", tuple(ops))


def sample_extended(rng: random.Random) -> int:
    """A pattern of 80 bits: numbers near each other, at the edges, and ones that no processor makes."""
    sign = rng.getrandbits(1) << 79
    exponent = rng.choice((0, 1, 2, 0x3FFE, 0x3FFF, 0x4000, 0x403D, 0x403E, 0x7FFE, 0x7FFF, rng.randrange(1 << 15)))
    if rng.random() < 0.5:
        exponent = rng.choice((0x3FFF, 0x3FFF, 0x3C01, 0x3F81, 0x43FE, 0x407E)) + rng.randrange(-70, 70)
    any_bits = rng.getrandbits(63)
    halfway = any_bits >> 39 << 39 | 1 << 38, any_bits & ~0x7FF | 0x400  # between two singles, two doubles
    edges = 0, 1, (1 << 63) - 1, 1 << 62, 3 << 61
    significand = rng.choice((*edges, *halfway, any_bits, any_bits, any_bits >> 43 << 43, any_bits >> 10 << 10))
    has_one = exponent != 0 if rng.random() < 0.93 else rng.random() < 0.5
    return sign | exponent << 64 | has_one << 63 | significand


def _operand(rng: random.Random) -> bytes:
    kind = rng.random()
    if kind < 0.6:
        return sample_extended(rng).to_bytes(10, "little") + rng.randbytes(6)
    if kind < 0.85:
        size = rng.choice((4, 8))
        return (sample_float(rng, size).to_bytes(size, "little") + rng.randbytes(16))[:16]
    number = rng.choice((0, 1, -1, rng.getrandbits(63), -rng.getrandbits(31), rng.getrandbits(15), -(1 << 63)))
    return number.to_bytes(8, "little", signed=True) + rng.randbytes(8)


def _drawn(rng: random.Random) -> State:
    data = bytearray(DATA_SIZE)
    at = TARGET_LOW - DATA_ADDRESS
    first = _operand(rng)
    second = _operand(rng) if rng.random() < 0.8 else first[:9] + bytes([first[9] ^ rng.choice((0, 0x80))]) + bytes(6)
    data[at : at + 32] = first + second
    general = {name: rng.getrandbits(64) for name in GENERAL} | {"rbx": TARGET_LOW, "rsp": DATA_ADDRESS + 0x1000}
    return State(general, {name: rng.getrandbits(1) for name in FLAGS}, [0 for _ in VECTORS], bytes(data))
