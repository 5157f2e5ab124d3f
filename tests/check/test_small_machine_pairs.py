"""The expected verdicts of the toy and cs241 pairs, checked against the plain interpreters alone: no input on which
an `equivalent` pair differs is found, and one is found for every `different` pair."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import partial

import pytest

from isoform.check import cs241, toy
from isoform.load.image import Image
from isoform.load.text import load_text
from isoform.model.outcome import Inputs, Outcome, Status
from pairfile import PAIRS, Pair, read_all

ALL = read_all([PAIRS / "toy", PAIRS / "cs241"])
EDGES = {0, 1, 2, 3, 4, 100, 0x7FFF_FFFF, 0x8000_0000, 0x8000_0001, 0xFFFF_FFFE, 0xFFFF_FFFF}


def images(pair: Pair) -> tuple[Image, Image]:
    load = partial(load_text, pair.path.parent.name)
    return load(pair.path.parent / pair.fields["a"]), load(pair.path.parent / pair.fields["b"])


def interesting(image: Image) -> Iterator[int]:
    order = "little" if image.machine == "toy" else "big"
    data = image.sections[0].data
    for offset in range(0, len(data), 4):
        word = int.from_bytes(data[offset : offset + 4], order)  # type: ignore[arg-type]
        yield from ((word + change) % 2**32 for change in (-10, -4, -1, 0, 1, 4))


def inputs(pair: tuple[Image, Image], seed: int) -> Iterator[Inputs]:
    values = sorted(EDGES.union(*(interesting(image) for image in pair)))
    if pair[0].machine == "toy":
        yield from (Inputs({"r0": value}) for value in values)
        return
    rng = random.Random(seed)
    yield from (Inputs({"$1": value, "$2": rng.choice(values)}) for value in values)
    yield from (Inputs({"$1": rng.choice(values), "$2": value}) for value in values)
    yield from (Inputs({"$1": rng.getrandbits(32), "$2": rng.getrandbits(32)}) for _ in range(50))


def run(image: Image, given: Inputs) -> Outcome:
    interpreter = toy.run if image.machine == "toy" else cs241.run
    return interpreter(image, 0, given, 2000)


def differ(target: Outcome, rewrite: Outcome) -> bool:
    if Status.OUT_OF_FUEL in (target.status, rewrite.status):
        return False
    answer = "out" if "out" in target.registers else "$3"
    if target.status is not rewrite.status:
        return True
    return target.status is Status.DONE and target.registers[answer] != rewrite.registers[answer]


@pytest.mark.parametrize(
    "pair", [p for p in ALL if "--assume" not in p.fields.get("options", "")], ids=lambda p: p.name
)
def test_sampled_inputs_agree_with_the_expected_verdict(pair: Pair) -> None:
    seed = 241
    both = images(pair)
    found = [given for given in inputs(both, seed) if differ(run(both[0], given), run(both[1], given))]
    assert pair.verdict == ("different" if found else "equivalent"), f"seed {seed}: {found[:1]}"


def test_every_program_is_in_a_pair() -> None:
    assert len(ALL) >= 50
    used = {pair.path.parent / pair.fields[side] for pair in ALL for side in "ab"}
    written = {*(PAIRS / "toy").glob("*.toy"), *(PAIRS / "cs241").glob("*.asm")}
    assert written - used == {PAIRS / "cs241" / "figure8.asm"}
