"""Inputs along the paths of the reference: they cover it, and they find what random tests would not."""

from __future__ import annotations

from pathlib import Path

from isoform.borders.question import Options, Question
from isoform.borders.settle import settle
from isoform.engines.answer import lifted
from isoform.grade.reference_paths import MOST_PATHS, inputs_of_paths, never_stops, separated
from isoform.load.open import open_one
from isoform.model.budget import Budget

SUBMISSIONS = Path(__file__).parent / "submissions"

PASSWORDS = """
        lis  $4
        .word 31415926
        bne  $1, $4, no
        lis  $4
        .word 27182818
        bne  $2, $4, no
        add  $3, $1, $2
        jr   $31
no:     add  $3, $0, $0
        jr   $31
"""


def question(target: Path, rewrite: Path) -> Question:
    left, right = (lifted(open_one(str(path))) for path in (target, rewrite))
    return settle(left, right, Options())


def values(target: Path) -> set[tuple[int, int]]:
    inputs = inputs_of_paths(question(target, target))
    return {(i.registers["$1"] & 0xFFFFFFFF, i.registers["$2"] & 0xFFFFFFFF) for i in inputs}


def test_every_path_of_the_reference_has_an_input(tmp_path: Path) -> None:
    path = tmp_path / "a.asm"
    path.write_text(PASSWORDS)
    found = values(path)
    assert (31415926, 27182818) in found
    assert any(first == 31415926 and second != 27182818 for first, second in found)
    assert any(first != 31415926 for first, _ in found)


def test_they_are_the_same_every_time_and_not_too_many() -> None:
    path = SUBMISSIONS / "sum_reference.asm"
    assert values(path) == values(path)
    assert 1 < len(values(path)) <= MOST_PATHS


def test_a_mistake_behind_two_equalities_is_found(tmp_path: Path) -> None:
    reference, wrong = tmp_path / "a.asm", tmp_path / "b.asm"
    reference.write_text(PASSWORDS)
    wrong.write_text(PASSWORDS.replace("add  $3, $1, $2", "sub  $3, $1, $2"))
    inputs = inputs_of_paths(question(reference, reference))
    assert separated(question(reference, reference), inputs, Budget(10)) is None
    witness = separated(question(reference, wrong), inputs, Budget(10))
    assert witness is not None
    assert dict(witness.arguments) == {"$1": 31415926, "$2": 27182818}


def test_a_program_that_never_stops() -> None:
    reference = SUBMISSIONS / "max_reference.asm"
    inputs = inputs_of_paths(question(reference, reference))
    endless = SUBMISSIONS / "sum" / "never_stops.asm"
    assert not never_stops(question(reference, SUBMISSIONS / "max" / "right.asm"), inputs)
    assert not never_stops(question(reference, endless), inputs[:2])
