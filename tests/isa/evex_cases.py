"""Random AVX-512 instructions as assembly text, states for them, and what the model says comes out."""

from __future__ import annotations

import random
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from evex_model import MASK_MODELS, MASK_TESTS, MODELS, MaskModel, Model, bits_of, lanes, whole

DATA = 0x2000_0000
DATA_SIZE = 0x1000
WIDE = ("rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", *(f"r{n}" for n in range(8, 16)))
NARROW = ("eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi", *(f"r{n}d" for n in range(8, 16)))
NAMES = {16: "xmm", 32: "ymm", 64: "zmm"}
POINTERS = {1: "byte", 2: "word", 4: "dword", 8: "qword", 16: "xmmword", 32: "ymmword", 64: "zmmword"}
FIXED = {"x": 16, "y": 32}
SHARES = {"h": 2, "q": 4, "e": 8}


@dataclass
class State:
    general: dict[str, int]
    vectors: list[int]
    masks: list[int]
    memory: bytearray
    flags: dict[str, int] = field(default_factory=dict)


@dataclass
class Case:
    text: str
    before: State
    after: State
    code: bytes = b""


def random_state(rng: random.Random, floats: int) -> State:
    general = {name: rng.getrandbits(64) for name in WIDE}
    drawn = [_vector(rng, floats) for _ in range(6)]
    vectors = [rng.choice(drawn) if floats else _changed(rng, rng.choice(drawn)) for _ in range(32)]
    masks = [rng.choice((rng.getrandbits(64), rng.getrandbits(64), 0, (1 << 64) - 1)) for _ in range(8)]
    memory = b"".join(rng.choice(drawn).to_bytes(64, "little") for _ in range(DATA_SIZE // 64))
    return State(general, vectors, masks, bytearray(memory), dict.fromkeys(("cf", "pf", "zf", "sf", "of"), 1))


def _changed(rng: random.Random, vector: int) -> int:
    """Mostly another vector with some of the same parts."""
    return vector if rng.random() < 0.2 else vector ^ rng.getrandbits(512) & rng.getrandbits(512) & rng.getrandbits(512)


def _vector(rng: random.Random, floats: int) -> int:
    if floats:
        return whole([bits_of(abs(rng.gauss(0, 100)) + 0.001, floats) for _ in range(64 // floats)], floats)
    size = rng.choice((1, 2, 4, 8))
    edges = (0, 1, -1, 1 << 8 * size - 1, (1 << 8 * size - 1) - 1, 2, rng.randrange(8 * size))
    return whole([rng.choice((rng.getrandbits(8 * size), rng.choice(edges))) for _ in range(64 // size)], size)


class Drawer:
    """One case: operands drawn, written as text, and evaluated by the model."""

    def __init__(self, name: str, model: Model, length: int, rng: random.Random) -> None:
        self._name, self._model, self._length, self._rng = name, model, length, rng
        floats = (4 if name.endswith("s") else 8) if model.kind == "float" else 0
        self._before = random_state(rng, floats)
        self._memory: tuple[int, int] | None = None
        """Address and size of the access."""
        if model.kind == "count":
            for number in range(32):
                if rng.random() < 0.7:
                    vector = self._before.vectors[number]
                    self._before.vectors[number] = vector >> 64 << 64 | rng.randrange(70)

    def case(self) -> Case:
        model, rng = self._model, self._rng
        texts, values = [], []
        for position, kind in enumerate(model.operands):
            text, value = self._operand(kind, position)
            texts.append(text)
            values.append(value)
        mask = rng.choice((0, rng.randrange(1, 8))) if model.lane else 0
        to_memory, to_mask = texts[0].endswith("]"), model.operands[0] == "k"
        zeroing = bool(mask) and not to_memory and not to_mask and rng.random() < 0.5
        extra = [] if model.immediates is None else [rng.choice(list(model.immediates))]
        decorated = texts[0] + (f"{{k{mask}}}" if mask else "") + ("{z}" if zeroing else "")
        line = f"{{evex}} {self._name} {', '.join([decorated, *texts[1:], *map(str, extra)])}"
        result = model.result(self._length, values[0], *values[1:], *extra)
        if to_mask:
            result &= self._before.masks[mask] if mask else (1 << 64) - 1
        elif mask:
            result = self._masked(result, values, mask, zeroing)
        return Case(line, self._before, self._written(texts[0], result))

    def _masked(self, result: int, values: list[int], mask: int, zeroing: bool) -> int:
        model = self._model
        size = self._size(model.operands[0])
        kept = values[1] if model.kind == "blend" else values[0]
        parts = zip(lanes(result, model.lane, size), lanes(kept, model.lane, size), strict=True)
        bits = self._before.masks[mask]
        chosen = [new if bits >> n & 1 else 0 if zeroing else old for n, (new, old) in enumerate(parts)]
        return whole(chosen, model.lane)

    def _size(self, kind: str) -> int:
        """Bytes of a vector operand that count."""
        letter = kind[0]
        if letter == "r":
            return int(kind[1])
        return FIXED.get(letter) or self._length // SHARES.get(letter, 1)

    def _operand(self, kind: str, position: int) -> tuple[str, int]:
        rng = self._rng
        size = self._size(kind)
        in_memory = kind == "m" or ((kind == "w" or kind.endswith("/m")) and rng.random() < 0.5)
        if kind == "k":
            number = rng.randrange(8)
            return f"k{number}", self._before.masks[number]
        if in_memory:
            return self._in_memory(kind, position)
        if kind[0] == "r":
            number = rng.choice([n for n in range(16) if n != 4])
            value = self._before.general[WIDE[number]] & ((1 << 8 * size) - 1)
            return (WIDE if size == 8 else NARROW)[number], value
        number = rng.randrange(32)
        value = self._before.vectors[number] & ((1 << 8 * size) - 1)
        return f"{NAMES[max(16, size)]}{number}", value

    def _in_memory(self, kind: str, position: int) -> tuple[str, int]:
        model, rng = self._model, self._rng
        size = self._size(kind)
        if "broadcast" in self._name and position == 1:
            size = {"b": 1, "w": 2, "d": 4, "q": 8, "s": 4}.get(self._name[-1], 8)
            size = 8 if self._name.endswith(("sd", "x2")) and "64" not in self._name else size
            size = {"32x4": 16, "64x2": 16, "32x8": 32, "64x4": 32}.get(self._name[-4:], size)
        repeated = model.repeats if model.repeats and rng.random() < 0.5 else 0
        text, address = self._address(repeated or size)
        start = address - DATA
        access = repeated or size
        value = int.from_bytes(self._before.memory[start : start + access], "little")
        if repeated:
            value = whole([value] * (size // repeated), repeated)
            return f"{POINTERS[repeated]} ptr {text}{{1to{size // repeated}}}", value
        return f"{POINTERS[size]} ptr {text}", value

    def _address(self, unit: int) -> tuple[str, int]:
        rng = self._rng
        target = DATA + 0x400 + 64 * rng.randrange(16)
        base, index = rng.sample([n for n in range(16) if n != 4], 2)
        displacement = rng.choice((0, unit * rng.randrange(-128, 128), rng.randrange(-500, 500), 0x12345))
        scale, has_index = rng.choice((1, 2, 4, 8)), rng.random() < 0.5
        offset = displacement
        text = WIDE[base]
        if has_index:
            factor = rng.randrange(-100, 100)
            self._before.general[WIDE[index]] = factor & ((1 << 64) - 1)
            offset += factor * scale
            text += f"+{WIDE[index]}*{scale}"
        self._before.general[WIDE[base]] = (target - offset) & ((1 << 64) - 1)
        self._memory = target, unit
        return f"[{text}{displacement:+d}]", target

    def _written(self, target: str, result: int) -> State:
        before = self._before
        after = State(dict(before.general), list(before.vectors), list(before.masks), bytearray(before.memory))
        after.flags = dict(before.flags)
        if target.endswith("]"):
            assert self._memory is not None
            start, size = self._memory[0] - DATA, self._memory[1]
            after.memory[start : start + size] = result.to_bytes(size, "little")
        elif target.startswith("k"):
            after.masks[int(target[1:])] = result
        elif target[1:3] == "mm":
            after.vectors[int(target[3:])] = result
        else:
            number = NARROW.index(target) if target in NARROW else WIDE.index(target)
            after.general[WIDE[number]] = result
        return after


def vector_cases(rng: random.Random, count: int) -> list[Case]:
    return [
        Drawer(name, model, length, rng).case()
        for name, models in MODELS.items()
        for model in models
        for length in model.lengths
        for _ in range(count)
    ]


def mask_cases(rng: random.Random, count: int) -> list[Case]:
    found = [
        _mask_case(name, model, rng) for name, models in MASK_MODELS.items() for model in models for _ in range(count)
    ]
    return found + [_mask_test(name, rng) for name in MASK_TESTS for _ in range(count)]


def _mask_case(name: str, model: MaskModel, rng: random.Random) -> Case:
    stand_in = Model(model.operands, 0, lambda length, _old, *sources: 0)
    drawer = Drawer(name, stand_in, model.size, rng)
    texts, values = zip(*(drawer._operand(kind, n) for n, kind in enumerate(model.operands)), strict=True)
    extra = [rng.choice((0, 1, 7, 8, 15, 16, 31, 63, 64, 255))] if model.immediate else []
    result = model.result(*values[1:], *extra) & ((1 << 8 * model.size) - 1)
    line = f"{name} {', '.join([*texts, *map(str, extra)])}"
    return Case(line, drawer._before, drawer._written(texts[0], result))


def _mask_test(name: str, rng: random.Random) -> Case:
    size, rule = MASK_TESTS[name]
    before = random_state(rng, 0)
    top = (1 << 8 * size) - 1
    first, second = rng.randrange(8), rng.randrange(8)
    if rng.random() < 0.5:
        before.masks[second] = rng.choice((before.masks[first], ~before.masks[first] & ((1 << 64) - 1)))
    zero, carry = rule(before.masks[first] & top, before.masks[second] & top, top)
    after = State(dict(before.general), list(before.vectors), list(before.masks), bytearray(before.memory))
    after.flags = {"cf": int(carry), "zf": int(zero), "pf": 0, "sf": 0, "of": 0}
    return Case(f"{name} k{first}, k{second}", before, after)


def assemble(cases: list[Case], folder: Path) -> None:
    """Put the bytes of each case's text, by the system's assembler, into the case."""
    source, target = folder / "cases.s", folder / "cases.o"
    lines = (f"i{n}: {case.text}" for n, case in enumerate(cases))
    source.write_text("\n".join([".intel_syntax noprefix", ".text", *lines, f"i{len(cases)}:", ""]))
    compiler = shutil.which("cc") or shutil.which("gcc")
    assert compiler is not None
    subprocess.run([compiler, "-c", str(source), "-o", str(target)], check=True)
    code, places = _text_section(target)
    for number, case in enumerate(cases):
        case.code = code[places[f"i{number}"] : places[f"i{number + 1}"]]


def _text_section(path: Path) -> tuple[bytes, Mapping[str, int]]:
    from elftools.elf.elffile import ELFFile

    with path.open("rb") as stream:
        elf = ELFFile(stream)
        symbols = elf.get_section_by_name(".symtab").iter_symbols()
        return elf.get_section_by_name(".text").data(), {s.name: s["st_value"] for s in symbols}
