"""AVX-512 on the processor of this machine, where it has that: floating point with special values, too."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from evex_cases import DATA_SIZE, Case, State, assemble, mask_cases, vector_cases
from evex_host import AFTER, BEFORE, FLAG_BITS, FLAGS_AT, GENERAL, GENERAL_AT, MASKS_AT, SIZE, is_available, on_host
from evex_model import whole
from test_x86_evex import check

SEED = 52
SINGLES = (0, 1 << 31, 0x7F800000, 0xFF800000, 0x7FC00001, 0xFFC12345, 0x7F800001, 0xFF812345, 1, 0x7FFFFF, 0x800000)
DOUBLES = (0, 1 << 63, 0x7FF << 52, 0xFFF << 52, 0x7FF8 << 48 | 1, 0xFFF8 << 48 | 5, 0x7FF << 52 | 1, 1, (1 << 52) - 1)
"""Zeros, infinities, quiet and signalling NaNs, denormals."""
needs_processor = pytest.mark.skipif(not is_available(), reason="this processor has no AVX-512")


def _packed(state: State) -> bytes:
    flags = 0x202 | sum(state.flags.get(name, 0) << bit for name, bit in FLAG_BITS.items())
    vectors = b"".join(value.to_bytes(64, "little") for value in state.vectors)
    words = [*state.masks, *(state.general[name] for name in GENERAL), flags]
    return vectors + b"".join(word.to_bytes(8, "little") for word in words) + bytes(state.memory)


def _unpacked(found: bytes, before: State) -> State:
    def word(at: int) -> int:
        return int.from_bytes(found[at : at + 8], "little")

    return State(
        {**{name: word(GENERAL_AT + 8 * n) for n, name in enumerate(GENERAL)}, "rsp": before.general["rsp"]},
        [int.from_bytes(found[64 * n : 64 * n + 64], "little") for n in range(32)],
        [word(MASKS_AT + 8 * n) for n in range(8)],
        bytearray(found[SIZE:]),
        {name: word(FLAGS_AT) >> bit & 1 for name, bit in FLAG_BITS.items()},
    )


def _check_on_host(cases: list[Case], folder: Path) -> None:
    assemble(cases, folder)
    found = on_host([case.code for case in cases], [_packed(case.before) for case in cases], folder)
    for case, after in zip(cases, found, strict=True):
        check(Case(case.text, case.before, _unpacked(after, case.before), case.code))


def _with_special_values(case: Case, rng: random.Random) -> Case:
    size = 4 if case.text.split()[1].endswith("ps") else 8
    values = SINGLES if size == 4 else DOUBLES

    def vector() -> int:
        return whole([rng.choice((rng.choice(values), rng.getrandbits(8 * size))) for _ in range(64 // size)], size)

    drawn = [vector() for _ in range(8)]
    case.before.vectors[:] = [rng.choice(drawn) for _ in range(32)]
    case.before.memory[:] = b"".join(vector().to_bytes(64, "little") for _ in range(DATA_SIZE // 64))
    return case


def _floats(cases: list[Case], rng: random.Random) -> list[Case]:
    return [_with_special_values(case, rng) for case in cases if case.text.split()[1].endswith(("ps", "pd"))]


@needs_processor
def test_the_processor_does_the_same(tmp_path: Path) -> None:
    print(f"seed {SEED}")
    rng = random.Random(SEED)
    cases = vector_cases(rng, 1) + mask_cases(rng, 1)
    _check_on_host(rng.sample(cases, 400) + _floats(rng.sample(cases, 400), rng), tmp_path)


@needs_processor
@pytest.mark.long
def test_the_processor_does_the_same_in_many_states(tmp_path: Path) -> None:
    print(f"seed {SEED + 1}")
    rng = random.Random(SEED + 1)
    _check_on_host(vector_cases(rng, 10) + mask_cases(rng, 30) + _floats(vector_cases(rng, 10), rng), tmp_path)


def test_areas_do_not_overlap() -> None:
    assert BEFORE + SIZE <= AFTER
